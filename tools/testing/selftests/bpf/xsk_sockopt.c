// SPDX-License-Identifier: GPL-2.0
/* AF_XDP socket options: every length, bad pointers, wrong order */
#include <stdint.h>
#include <string.h>

#include "xsk_harness.h"
#include "xsk_net.h"

/* The structures as they were before they grew */
struct ring_offset_v1 {
	__u64 producer;
	__u64 consumer;
	__u64 desc;
};

struct mmap_offsets_v1 {
	struct ring_offset_v1 rx;
	struct ring_offset_v1 tx;
	struct ring_offset_v1 fr;
	struct ring_offset_v1 cr;
};

#define UMEM_REG_V1_SIZE 24
#define STATISTICS_V1_SIZE 24

#define UNMAPPED ((void *)1)
#define UNTOUCHED 0xa5

static const int ring_options[] = {
	XDP_RX_RING, XDP_TX_RING, XDP_UMEM_FILL_RING, XDP_UMEM_COMPLETION_RING,
};

FIXTURE(socket)
{
	int fd;
};

FIXTURE_SETUP(socket)
{
	self->fd = xsk_socket();
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(socket)
{
	close(self->fd);
}

TEST_F(socket, ring_size_is_a_power_of_two)
{
	/* the last one needs 16 or 32 GiB, so it fails one way or the other */
	const __u32 refused[] = { 0, 3, 63, 65, 0x7fffffff, 0xffffffff, 0x80000000 };
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(ring_options); i++) {
		for (j = 0; j < ARRAY_SIZE(refused) - 1; j++)
			EXPECT_EQ(-EINVAL, xsk_set_u32(self->fd, ring_options[i], refused[j]));
		EXPECT_GT(0, xsk_set_u32(self->fd, ring_options[i], refused[j]));
		EXPECT_EQ(0, xsk_set_u32(self->fd, ring_options[i], 1 << i));
	}
}

TEST_F(socket, ring_is_made_once)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ring_options); i++) {
		EXPECT_EQ(0, xsk_set_u32(self->fd, ring_options[i], 64));
		EXPECT_EQ(-EINVAL, xsk_set_u32(self->fd, ring_options[i], 64));
	}
}

TEST_F(socket, ring_size_lengths)
{
	const __u32 sizes[2] = { 64, 0xdeadbeef };
	unsigned int i;
	int len;

	for (i = 0; i < ARRAY_SIZE(ring_options); i++) {
		for (len = 0; len < (int)sizeof(__u32); len++)
			EXPECT_EQ(-EINVAL, xsk_set(self->fd, ring_options[i], sizes, len));
		EXPECT_EQ(-EINVAL, xsk_set(self->fd, ring_options[i], sizes, -1));
		EXPECT_EQ(-EINVAL, xsk_set(self->fd, ring_options[i], sizes, INT32_MIN));
		EXPECT_EQ(-EFAULT, xsk_set(self->fd, ring_options[i], UNMAPPED, 4));
		EXPECT_EQ(-EFAULT, xsk_set(self->fd, ring_options[i], NULL, 4));
		/* what follows the value is ignored */
		EXPECT_EQ(0, xsk_set(self->fd, ring_options[i], sizes, sizeof(sizes)));
	}
}

TEST_F(socket, unknown_option)
{
	__u64 value = 64;
	socklen_t len = sizeof(value);
	const int unknown[] = { -1, 0, 10, 255, INT32_MAX };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(unknown); i++) {
		EXPECT_EQ(-ENOPROTOOPT, xsk_set(self->fd, unknown[i], &value, len));
		EXPECT_EQ(-EOPNOTSUPP, xsk_get(self->fd, unknown[i], &value, &len));
	}
}

TEST_F(socket, wrong_level)
{
	const int levels[] = { SOL_XDP - 1, SOL_XDP + 1, 0, 6, -1 };
	__u32 value = 64;
	socklen_t len = sizeof(value);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(levels); i++) {
		EXPECT_EQ(-1, setsockopt(self->fd, levels[i], XDP_RX_RING, &value, len));
		EXPECT_EQ(ENOPROTOOPT, errno);
		EXPECT_EQ(-1, getsockopt(self->fd, levels[i], XDP_OPTIONS, &value, &len));
		EXPECT_EQ(ENOPROTOOPT, errno);
	}
}

TEST_F(socket, umem_reg_lengths)
{
	struct xsk_umem umem;
	int len;

	xsk_umem_create(&umem, XSK_FRAMES, XSK_FRAME_SIZE);
	for (len = 0; len < UMEM_REG_V1_SIZE; len++)
		EXPECT_EQ(-EINVAL, xsk_set(self->fd, XDP_UMEM_REG, &umem.reg, len));
	EXPECT_EQ(-EINVAL, xsk_set(self->fd, XDP_UMEM_REG, &umem.reg, -1));
	EXPECT_EQ(-EFAULT, xsk_set(self->fd, XDP_UMEM_REG, UNMAPPED, sizeof(umem.reg)));
	EXPECT_EQ(-EFAULT, xsk_set(self->fd, XDP_UMEM_REG, NULL, sizeof(umem.reg)));
	EXPECT_EQ(0, xsk_set(self->fd, XDP_UMEM_REG, &umem.reg, sizeof(umem.reg)));
	EXPECT_EQ(-EBUSY, xsk_set(self->fd, XDP_UMEM_REG, &umem.reg, sizeof(umem.reg)));
}

/* An old program's structure ends before the flags: no byte of them counts */
TEST_F(socket, umem_reg_of_an_old_program)
{
	struct xsk_umem umem;
	int len;

	xsk_umem_create(&umem, XSK_FRAMES, XSK_FRAME_SIZE);
	umem.reg.flags = ~0;
	umem.reg.tx_metadata_len = ~0;
	for (len = UMEM_REG_V1_SIZE; len < (int)sizeof(umem.reg); len++) {
		int fd = xsk_socket();

		EXPECT_EQ(0, xsk_set(fd, XDP_UMEM_REG, &umem.reg, len));
		close(fd);
	}
	EXPECT_EQ(-EINVAL, xsk_set(self->fd, XDP_UMEM_REG, &umem.reg, sizeof(umem.reg)));
}

TEST_F(socket, umem_reg_longer_than_known)
{
	struct {
		struct xdp_umem_reg reg;
		__u8 tail[4096];
	} future;
	struct xsk_umem umem;

	xsk_umem_create(&umem, XSK_FRAMES, XSK_FRAME_SIZE);
	memset(&future, UNTOUCHED, sizeof(future));
	future.reg = umem.reg;
	EXPECT_EQ(0, xsk_set(self->fd, XDP_UMEM_REG, &future, sizeof(future)));
}

/*
 * What getsockopt() does with each length: @given[len] bytes come back, or
 * EINVAL if that is 0; no byte behind them is touched.
 */
static void check_get(struct __test_metadata *_metadata, int fd, int option,
		      socklen_t v1_size, socklen_t size)
{
	__u8 value[512];
	socklen_t len, given, i;

	for (given = 0; given < sizeof(value); given++) {
		socklen_t expected = given >= size ? size : given >= v1_size ? v1_size : 0;

		memset(value, UNTOUCHED, sizeof(value));
		len = given;
		EXPECT_EQ(expected ? 0 : -EINVAL, xsk_get(fd, option, value, &len));
		EXPECT_EQ(expected ?: given, len);
		for (i = expected; i < sizeof(value); i++)
			ASSERT_EQ(UNTOUCHED, value[i]);
	}

	len = -1;
	EXPECT_EQ(-EINVAL, xsk_get(fd, option, value, &len));
	len = INT32_MIN;
	EXPECT_EQ(-EINVAL, xsk_get(fd, option, value, &len));
	len = INT32_MAX;
	EXPECT_EQ(0, xsk_get(fd, option, value, &len));
	EXPECT_EQ(size, len);
	len = sizeof(value);
	EXPECT_EQ(-EFAULT, xsk_get(fd, option, UNMAPPED, &len));
	EXPECT_EQ(-EFAULT, xsk_get(fd, option, value, UNMAPPED));
}

TEST_F(socket, mmap_offsets_lengths)
{
	check_get(_metadata, self->fd, XDP_MMAP_OFFSETS, sizeof(struct mmap_offsets_v1),
		  sizeof(struct xdp_mmap_offsets));
}

TEST_F(socket, statistics_lengths)
{
	check_get(_metadata, self->fd, XDP_STATISTICS, STATISTICS_V1_SIZE,
		  sizeof(struct xdp_statistics));
}

TEST_F(socket, options_lengths)
{
	check_get(_metadata, self->fd, XDP_OPTIONS, sizeof(struct xdp_options),
		  sizeof(struct xdp_options));
}

static void check_old_offset(struct __test_metadata *_metadata, struct ring_offset_v1 *old,
			     struct xdp_ring_offset *now)
{
	EXPECT_EQ(now->producer, old->producer);
	EXPECT_EQ(now->consumer, old->consumer);
	EXPECT_EQ(now->desc, old->desc);
	/* separate words, and all of them before the entries */
	EXPECT_NE(now->producer, now->consumer);
	EXPECT_NE(now->producer, now->flags);
	EXPECT_NE(now->consumer, now->flags);
	EXPECT_LT(now->producer, now->desc);
	EXPECT_LT(now->consumer, now->desc);
	EXPECT_LT(now->flags, now->desc);
}

TEST_F(socket, mmap_offsets_of_an_old_program)
{
	struct xdp_mmap_offsets now;
	struct mmap_offsets_v1 old;
	socklen_t len = sizeof(now);

	ASSERT_EQ(0, xsk_get(self->fd, XDP_MMAP_OFFSETS, &now, &len));
	len = sizeof(old);
	ASSERT_EQ(0, xsk_get(self->fd, XDP_MMAP_OFFSETS, &old, &len));
	check_old_offset(_metadata, &old.rx, &now.rx);
	check_old_offset(_metadata, &old.tx, &now.tx);
	check_old_offset(_metadata, &old.fr, &now.fr);
	check_old_offset(_metadata, &old.cr, &now.cr);
}

FIXTURE(bound)
{
	struct xsk_umem umem;
	struct xsk xsk;
};

FIXTURE_SETUP(bound)
{
	xsk_net_create();
	xsk_umem_create(&self->umem, XSK_FRAMES, XSK_FRAME_SIZE);
	xsk_open(&self->xsk, &self->umem, XSK_NEAR, 0, XDP_COPY);
}

FIXTURE_TEARDOWN(bound)
{
	xsk_close(&self->xsk);
	xsk_umem_destroy(&self->umem);
}

TEST_F(bound, nothing_can_be_set_up_again)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ring_options); i++)
		EXPECT_EQ(-EBUSY, xsk_set_u32(self->xsk.fd, ring_options[i], 64));
	EXPECT_EQ(-EBUSY, xsk_set(self->xsk.fd, XDP_UMEM_REG, &self->umem.reg,
				  sizeof(self->umem.reg)));
}

TEST_F(bound, options_tell_copy_mode)
{
	struct xdp_options options = { .flags = ~0 };
	socklen_t len = sizeof(options);

	ASSERT_EQ(0, xsk_get(self->xsk.fd, XDP_OPTIONS, &options, &len));
	EXPECT_EQ(0, options.flags);
}

TEST_F(bound, get_lengths)
{
	check_get(_metadata, self->xsk.fd, XDP_MMAP_OFFSETS, sizeof(struct mmap_offsets_v1),
		  sizeof(struct xdp_mmap_offsets));
	check_get(_metadata, self->xsk.fd, XDP_STATISTICS, STATISTICS_V1_SIZE,
		  sizeof(struct xdp_statistics));
	check_get(_metadata, self->xsk.fd, XDP_OPTIONS, sizeof(struct xdp_options),
		  sizeof(struct xdp_options));
}

/* The budget has to be between one batch and the size of the Tx ring */
TEST_F(bound, tx_budget_range)
{
	const __u32 refused[] = { 0, 1, 31, XSK_RING_SIZE + 1, 0x80000000, 0xffffffff };
	__u32 budget[2] = { 32, 0 };
	unsigned int i;
	int len;

	if (!xsk_knows_tx_budget())
		SKIP(return, "this kernel has no XDP_MAX_TX_SKB_BUDGET");

	for (i = 0; i < ARRAY_SIZE(refused); i++)
		EXPECT_EQ(-EACCES, xsk_set_u32(self->xsk.fd, XDP_MAX_TX_SKB_BUDGET, refused[i]));
	EXPECT_EQ(0, xsk_set_u32(self->xsk.fd, XDP_MAX_TX_SKB_BUDGET, 32));
	EXPECT_EQ(0, xsk_set_u32(self->xsk.fd, XDP_MAX_TX_SKB_BUDGET, XSK_RING_SIZE));
	for (len = 0; len <= (int)sizeof(budget); len++)
		EXPECT_EQ(len == sizeof(__u32) ? 0 : -EINVAL,
			  xsk_set(self->xsk.fd, XDP_MAX_TX_SKB_BUDGET, budget, len));
	EXPECT_EQ(-EFAULT, xsk_set(self->xsk.fd, XDP_MAX_TX_SKB_BUDGET, UNMAPPED, 4));
}

/* One call sends as many descriptors as the budget allows */
TEST_F(bound, tx_budget_is_spent)
{
	const __u32 budget = XSK_RING_SIZE - 8;
	__u32 i;

	if (!xsk_knows_tx_budget())
		SKIP(return, "this kernel has no XDP_MAX_TX_SKB_BUDGET");

	ASSERT_EQ(0, xsk_set_u32(self->xsk.fd, XDP_MAX_TX_SKB_BUDGET, budget));
	for (i = 0; i < XSK_RING_SIZE; i++)
		xsk_post_tx(&self->xsk, xsk_frame_new(&self->umem), XSK_PACKET_LEN, 0);
	EXPECT_EQ(-EAGAIN, xsk_kick_tx(&self->xsk));
	EXPECT_EQ(XSK_RING_SIZE - budget, xsk_ring_used(&self->xsk.tx));
	EXPECT_TRUE(xsk_drain_tx(&self->xsk));
}

TEST_F(socket, tx_budget_needs_a_tx_ring)
{
	if (!xsk_knows_tx_budget())
		SKIP(return, "this kernel has no XDP_MAX_TX_SKB_BUDGET");

	EXPECT_EQ(-EACCES, xsk_set_u32(self->fd, XDP_MAX_TX_SKB_BUDGET, 32));
	EXPECT_EQ(0, xsk_set_u32(self->fd, XDP_RX_RING, 64));
	EXPECT_EQ(-EACCES, xsk_set_u32(self->fd, XDP_MAX_TX_SKB_BUDGET, 32));
	EXPECT_EQ(0, xsk_set_u32(self->fd, XDP_TX_RING, 64));
	EXPECT_EQ(0, xsk_set_u32(self->fd, XDP_MAX_TX_SKB_BUDGET, 32));
}

TEST_HARNESS_MAIN
