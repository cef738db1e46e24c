// SPDX-License-Identifier: GPL-2.0
/* The rings: both sides of one, with user space played by the test. */

#include <kunit/test.h>
#include <linux/err.h>

#include "ring.h"

#define ENTRIES	8

static struct xsk_queue *ring_create(struct kunit *test, enum xsk_ring_kind kind,
				     u32 first_index)
{
	struct xsk_queue *q = xsk_queue_create(kind, ENTRIES);

	KUNIT_ASSERT_FALSE(test, IS_ERR(q));
	/* Start anywhere, so that the indices wrap around in between. */
	q->ring->producer = first_index;
	q->ring->consumer = first_index;
	q->pos += first_index;
	q->end += first_index;
	return q;
}

static void ring_create_refuses_bad_sizes(struct kunit *test)
{
	static const u32 bad[] = { 0, 3, 7, 1000, U32_MAX };
	int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++)
		KUNIT_EXPECT_EQ(test, PTR_ERR(xsk_queue_create(XSK_RING_RX, bad[i])),
				-EINVAL);
}

static void ring_create_too_large(struct kunit *test)
{
	/* 32 GiB: there is no such memory, and on 32 bit no such number. */
	KUNIT_EXPECT_EQ(test, PTR_ERR(xsk_queue_create(XSK_RING_RX, BIT(31))),
			-ENOMEM);
}

static void ring_new_is_empty(struct kunit *test)
{
	struct xsk_queue *rx = ring_create(test, XSK_RING_RX, 0);
	struct xsk_queue *tx = ring_create(test, XSK_RING_TX, 0);

	KUNIT_EXPECT_EQ(test, xsk_prod_free(rx, U32_MAX), ENTRIES);
	KUNIT_EXPECT_EQ(test, xsk_cons_avail(tx, U32_MAX), 0);
	KUNIT_EXPECT_EQ(test, xsk_ring_fill_level(rx), 0);
	KUNIT_EXPECT_TRUE(test, IS_ALIGNED(rx->map_size, PAGE_SIZE));
	xsk_queue_destroy(rx);
	xsk_queue_destroy(tx);
}

static void ring_layout_keeps_writers_apart(struct kunit *test)
{
	const size_t apart = 2 * SMP_CACHE_BYTES;

	KUNIT_EXPECT_GE(test, offsetof(struct xsk_ring, consumer), apart);
	KUNIT_EXPECT_GE(test, offsetof(struct xsk_ring, flags) -
			offsetof(struct xsk_ring, consumer), apart);
	KUNIT_EXPECT_GE(test, offsetof(struct xsk_ring, desc) -
			offsetof(struct xsk_ring, flags), apart);
	KUNIT_EXPECT_EQ(test, offsetof(struct xsk_ring, desc),
			offsetof(struct xsk_ring, addr));
}

/* The kernel produces: nothing is seen before it is published, and the ring is
 * full exactly when all entries are taken.
 */
static void ring_produce(struct kunit *test)
{
	u32 first = U32_MAX - ENTRIES / 2;
	struct xsk_queue *q = ring_create(test, XSK_RING_RX, first);
	u32 i;

	for (i = 0; i < ENTRIES; i++) {
		KUNIT_EXPECT_EQ(test, xsk_prod_free(q, 1), 1);
		xsk_prod_desc(q, i, 100 + i, 0);
	}
	KUNIT_EXPECT_EQ(test, xsk_prod_free(q, 1), 0);
	KUNIT_EXPECT_EQ(test, xsk_ring_fill_level(q), 0);

	xsk_prod_publish(q);
	KUNIT_EXPECT_EQ(test, xsk_ring_fill_level(q), ENTRIES);
	for (i = 0; i < ENTRIES; i++) {
		struct xdp_desc *desc = &q->ring->desc[(first + i) & (ENTRIES - 1)];

		KUNIT_EXPECT_EQ(test, desc->addr, i);
		KUNIT_EXPECT_EQ(test, desc->len, 100 + i);
	}

	/* User space takes three. */
	q->ring->consumer += 3;
	KUNIT_EXPECT_EQ(test, xsk_prod_free(q, ENTRIES), 3);
	KUNIT_EXPECT_EQ(test, xsk_prod_free(q, 2), 2);
	xsk_queue_destroy(q);
}

/* The kernel consumes: what user space fills in while we work on what we know of
 * is found when we need it, and entries go back when they are released.
 */
static void ring_consume(struct kunit *test)
{
	u32 first = U32_MAX - 1;
	struct xsk_queue *q = ring_create(test, XSK_RING_FILL, first);
	u32 i;

	for (i = 0; i < ENTRIES; i++)
		q->ring->addr[(first + i) & (ENTRIES - 1)] = 1000 + i;
	q->ring->producer += 2;

	KUNIT_EXPECT_EQ(test, xsk_cons_avail(q, 1), 1);
	KUNIT_EXPECT_EQ(test, xsk_cons_addr(q, q->pos++), 1000);
	q->ring->producer += ENTRIES - 2;
	KUNIT_EXPECT_EQ(test, xsk_cons_avail(q, ENTRIES), ENTRIES - 1);
	for (i = 1; i < ENTRIES; i++)
		KUNIT_EXPECT_EQ(test, xsk_cons_addr(q, q->pos++), 1000 + i);
	KUNIT_EXPECT_EQ(test, xsk_cons_avail(q, 1), 0);

	KUNIT_EXPECT_EQ(test, q->ring->consumer, first);
	xsk_cons_release(q);
	KUNIT_EXPECT_EQ(test, q->ring->consumer, first + ENTRIES);
	xsk_queue_destroy(q);
}

/* The other side's index is looked at only if what we know of is not enough. */
static void ring_looks_only_if_needed(struct kunit *test)
{
	struct xsk_queue *q = ring_create(test, XSK_RING_FILL, 0);

	q->ring->producer = 4;
	KUNIT_EXPECT_EQ(test, xsk_cons_avail(q, 2), 2);
	q->ring->producer = 8;
	KUNIT_EXPECT_EQ(test, xsk_cons_avail(q, 4), 4);
	KUNIT_EXPECT_EQ(test, q->end, 4);
	KUNIT_EXPECT_EQ(test, xsk_cons_avail(q, 5), 5);
	KUNIT_EXPECT_EQ(test, q->end, 8);
	xsk_queue_destroy(q);
}

/* User space that writes nonsense gets nonsense, but no more than asked for, and
 * nothing outside of the ring is touched.
 */
static void ring_bounds_what_user_space_claims(struct kunit *test)
{
	struct xsk_queue *fill = ring_create(test, XSK_RING_FILL, 0);
	struct xsk_queue *rx = ring_create(test, XSK_RING_RX, 0);
	u32 i;

	fill->ring->producer = U32_MAX;
	KUNIT_EXPECT_EQ(test, xsk_cons_avail(fill, 64), 64);
	for (i = 0; i < 3 * ENTRIES; i++)
		xsk_cons_addr(fill, fill->pos++);

	rx->ring->consumer = U32_MAX / 2;
	for (i = 0; i < 3 * ENTRIES; i++)
		if (xsk_prod_free(rx, 1))
			xsk_prod_desc(rx, i, 1, 0);
	/* The kernel's index does not follow what user space writes into it. */
	rx->ring->producer = 12345;
	xsk_prod_publish(rx);
	KUNIT_EXPECT_EQ(test, rx->ring->producer, rx->pos);

	xsk_queue_destroy(fill);
	xsk_queue_destroy(rx);
}

static void ring_descriptor_is_a_copy(struct kunit *test)
{
	struct xsk_queue *q = ring_create(test, XSK_RING_TX, 0);
	struct xdp_desc desc;

	q->ring->desc[0] = (struct xdp_desc) { .addr = 1, .len = 2, .options = 3 };
	xsk_cons_desc(q, 0, &desc);
	q->ring->desc[0] = (struct xdp_desc) {};
	KUNIT_EXPECT_EQ(test, desc.addr, 1);
	KUNIT_EXPECT_EQ(test, desc.len, 2);
	KUNIT_EXPECT_EQ(test, desc.options, 3);
	xsk_queue_destroy(q);
}

static struct kunit_case ring_cases[] = {
	KUNIT_CASE(ring_create_refuses_bad_sizes),
	KUNIT_CASE(ring_create_too_large),
	KUNIT_CASE(ring_new_is_empty),
	KUNIT_CASE(ring_layout_keeps_writers_apart),
	KUNIT_CASE(ring_produce),
	KUNIT_CASE(ring_consume),
	KUNIT_CASE(ring_looks_only_if_needed),
	KUNIT_CASE(ring_bounds_what_user_space_claims),
	KUNIT_CASE(ring_descriptor_is_a_copy),
	{}
};

static struct kunit_suite ring_suite = {
	.name = "xsk-ring",
	.test_cases = ring_cases,
};

kunit_test_suite(ring_suite);
