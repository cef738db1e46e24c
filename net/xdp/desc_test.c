// SPDX-License-Identifier: GPL-2.0
/* Addresses and descriptors at, over and around the edges of a umem. */

#include <kunit/test.h>
#include <net/xdp_sock_drv.h>

#include "desc.h"

#define CHUNK	2048U
#define CHUNKS	16U
#define SIZE	((u64)CHUNK * CHUNKS)

static struct xsk_buff_pool *pool_create(struct kunit *test, bool unaligned,
					 u8 tx_metadata_len)
{
	struct xsk_buff_pool *pool = kunit_kzalloc(test, sizeof(*pool), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, pool);
	pool->unaligned = unaligned;
	pool->addrs_cnt = SIZE;
	pool->chunk_size = CHUNK;
	pool->chunk_mask = ~((u64)CHUNK - 1);
	pool->tx_metadata_len = tx_metadata_len;
	pool->tx_max_len = SZ_64K;
	pool->tx_options = XDP_PKT_CONTD | (tx_metadata_len ? XDP_TX_METADATA : 0);
	return pool;
}

static bool valid(const struct xsk_buff_pool *pool, u64 addr, u32 len)
{
	return xp_tx_desc_valid(pool, &(struct xdp_desc) { .addr = addr, .len = len });
}

/* The high bits of an unaligned address are the distance of the packet. */
static u64 offset(u64 addr, u64 distance)
{
	return addr | distance << XSK_UNALIGNED_BUF_OFFSET_SHIFT;
}

static void desc_aligned(struct kunit *test)
{
	struct xsk_buff_pool *pool = pool_create(test, false, 0);
	u64 chunk;

	for (chunk = 0; chunk < SIZE; chunk += CHUNK) {
		KUNIT_EXPECT_TRUE(test, valid(pool, chunk, CHUNK));
		KUNIT_EXPECT_TRUE(test, valid(pool, chunk, 1));
		KUNIT_EXPECT_TRUE(test, valid(pool, chunk + CHUNK - 1, 1));
		KUNIT_EXPECT_TRUE(test, valid(pool, chunk + 100, CHUNK - 100));
		KUNIT_EXPECT_FALSE(test, valid(pool, chunk, CHUNK + 1));
		KUNIT_EXPECT_FALSE(test, valid(pool, chunk + 100, CHUNK - 99));
		KUNIT_EXPECT_FALSE(test, valid(pool, chunk + CHUNK - 1, 2));
		KUNIT_EXPECT_FALSE(test, valid(pool, chunk, U32_MAX));
	}
}

static void desc_aligned_outside(struct kunit *test)
{
	static const u64 bad[] = {
		SIZE, SIZE + 1, SIZE + CHUNK, 2 * SIZE, 1ULL << 32, 1ULL << 48,
		1ULL << 63, U64_MAX - CHUNK + 1, U64_MAX - 1, U64_MAX,
	};
	struct xsk_buff_pool *pool = pool_create(test, false, 0);
	int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++)
		KUNIT_EXPECT_FALSE(test, valid(pool, bad[i], 1));
}

static void desc_aligned_metadata(struct kunit *test)
{
	struct xsk_buff_pool *pool = pool_create(test, false, 16);
	u64 addr;

	/* No room in front of the packet, in the first chunk and in others. */
	for (addr = 0; addr < 16; addr++) {
		KUNIT_EXPECT_FALSE(test, valid(pool, addr, 64));
		KUNIT_EXPECT_FALSE(test, valid(pool, CHUNK + addr, 64));
	}
	KUNIT_EXPECT_TRUE(test, valid(pool, 16, CHUNK - 16));
	KUNIT_EXPECT_TRUE(test, valid(pool, SIZE - CHUNK + 16, CHUNK - 16));
	KUNIT_EXPECT_FALSE(test, valid(pool, 16, CHUNK - 15));
	KUNIT_EXPECT_FALSE(test, valid(pool, SIZE + 16, 1));
	KUNIT_EXPECT_FALSE(test, valid(pool, SIZE + 15, 1));
}

static void desc_unaligned(struct kunit *test)
{
	struct xsk_buff_pool *pool = pool_create(test, true, 0);

	KUNIT_EXPECT_TRUE(test, valid(pool, 0, CHUNK));
	KUNIT_EXPECT_TRUE(test, valid(pool, 1000, CHUNK));
	KUNIT_EXPECT_TRUE(test, valid(pool, SIZE - CHUNK, CHUNK));
	KUNIT_EXPECT_TRUE(test, valid(pool, SIZE - 1, 1));
	KUNIT_EXPECT_FALSE(test, valid(pool, 0, CHUNK + 1));
	KUNIT_EXPECT_FALSE(test, valid(pool, SIZE - CHUNK + 1, CHUNK));
	KUNIT_EXPECT_FALSE(test, valid(pool, SIZE - 1, 2));
	KUNIT_EXPECT_FALSE(test, valid(pool, SIZE, 1));
	KUNIT_EXPECT_FALSE(test, valid(pool, 0, U32_MAX));
}

static void desc_unaligned_offset(struct kunit *test)
{
	struct xsk_buff_pool *pool = pool_create(test, true, 0);

	KUNIT_EXPECT_TRUE(test, valid(pool, offset(0, 256), 64));
	KUNIT_EXPECT_TRUE(test, valid(pool, offset(SIZE - CHUNK, CHUNK - 64), 64));
	KUNIT_EXPECT_FALSE(test, valid(pool, offset(SIZE - CHUNK, CHUNK - 64), 65));
	KUNIT_EXPECT_FALSE(test, valid(pool, offset(SIZE - 64, 64), 1));
	KUNIT_EXPECT_FALSE(test, valid(pool, offset(0, U16_MAX), 1));
	KUNIT_EXPECT_FALSE(test, valid(pool, offset(XSK_UNALIGNED_BUF_ADDR_MASK,
						    U16_MAX), 1));
}

static void desc_unaligned_metadata(struct kunit *test)
{
	struct xsk_buff_pool *pool = pool_create(test, true, 16);
	u64 addr;

	for (addr = 0; addr < 16; addr++)
		KUNIT_EXPECT_FALSE(test, valid(pool, addr, 64));
	KUNIT_EXPECT_TRUE(test, valid(pool, 16, CHUNK - 16));
	KUNIT_EXPECT_FALSE(test, valid(pool, 16, CHUNK - 15));
	KUNIT_EXPECT_TRUE(test, valid(pool, offset(0, 16), 64));
	KUNIT_EXPECT_TRUE(test, valid(pool, SIZE - 64, 64));
	KUNIT_EXPECT_FALSE(test, valid(pool, SIZE - 64, 65));
}

static void desc_empty_or_unknown(struct kunit *test)
{
	struct xsk_buff_pool *plain = pool_create(test, false, 0);
	struct xsk_buff_pool *meta = pool_create(test, false, 16);
	int bit;

	KUNIT_EXPECT_FALSE(test, valid(plain, 0, 0));
	for (bit = 0; bit < 32; bit++) {
		struct xdp_desc desc = { .addr = 16, .len = 64, .options = BIT(bit) };

		KUNIT_EXPECT_EQ(test, xp_tx_desc_valid(plain, &desc),
				desc.options == XDP_PKT_CONTD);
		KUNIT_EXPECT_EQ(test, xp_tx_desc_valid(meta, &desc),
				desc.options == XDP_PKT_CONTD ||
				desc.options == XDP_TX_METADATA);
	}
}

static void desc_max_len(struct kunit *test)
{
	struct xsk_buff_pool *pool = pool_create(test, false, 0);

	pool->tx_max_len = 1000;
	KUNIT_EXPECT_TRUE(test, valid(pool, 0, 1000));
	KUNIT_EXPECT_FALSE(test, valid(pool, 0, 1001));
}

static void fill_addr_aligned(struct kunit *test)
{
	struct xsk_buff_pool *pool = pool_create(test, false, 0);
	u64 addr = 3 * CHUNK + 77;

	/* Anywhere in the chunk stands for the chunk. */
	KUNIT_EXPECT_TRUE(test, xp_fill_addr_aligned(pool, &addr));
	KUNIT_EXPECT_EQ(test, addr, 3 * CHUNK);
	addr = SIZE - 1;
	KUNIT_EXPECT_TRUE(test, xp_fill_addr_aligned(pool, &addr));
	KUNIT_EXPECT_EQ(test, addr, SIZE - CHUNK);
	addr = SIZE;
	KUNIT_EXPECT_FALSE(test, xp_fill_addr_aligned(pool, &addr));
	addr = U64_MAX;
	KUNIT_EXPECT_FALSE(test, xp_fill_addr_aligned(pool, &addr));
}

static void fill_addr_unaligned(struct kunit *test)
{
	struct xsk_buff_pool *pool = pool_create(test, true, 0);
	u64 addr = offset(1234, 256);

	KUNIT_EXPECT_TRUE(test, xp_fill_addr_unaligned(pool, &addr));
	KUNIT_EXPECT_EQ(test, addr, 1234);
	addr = SIZE - CHUNK;
	KUNIT_EXPECT_TRUE(test, xp_fill_addr_unaligned(pool, &addr));
	addr = SIZE - CHUNK + 1;
	KUNIT_EXPECT_FALSE(test, xp_fill_addr_unaligned(pool, &addr));
	addr = U64_MAX;
	KUNIT_EXPECT_FALSE(test, xp_fill_addr_unaligned(pool, &addr));
}

/* Eight pages: 0 and 1 follow each other for the device, 2 is elsewhere, and so
 * are 3 to 7, which follow each other.
 */
static void desc_contiguity(struct kunit *test)
{
	const u64 c = XSK_NEXT_PG_CONTIG;
	dma_addr_t pages[] = { c, 0, 0, c, c, c, c, 0 };
	struct xsk_buff_pool *pool = pool_create(test, true, 0);

	pool->dma_pages = pages;
	pool->addrs_cnt = ARRAY_SIZE(pages) * PAGE_SIZE;
	pool->chunk_size = 3 * PAGE_SIZE;

	KUNIT_EXPECT_TRUE(test, valid(pool, 0, 2 * PAGE_SIZE));
	KUNIT_EXPECT_FALSE(test, valid(pool, 0, 2 * PAGE_SIZE + 1));
	KUNIT_EXPECT_TRUE(test, valid(pool, 2 * PAGE_SIZE - 1, 1));
	KUNIT_EXPECT_FALSE(test, valid(pool, 2 * PAGE_SIZE - 1, 2));
	KUNIT_EXPECT_TRUE(test, valid(pool, 2 * PAGE_SIZE, PAGE_SIZE));
	KUNIT_EXPECT_FALSE(test, valid(pool, 3 * PAGE_SIZE - 1, 2));
	KUNIT_EXPECT_TRUE(test, valid(pool, 3 * PAGE_SIZE + 5, 3 * PAGE_SIZE - 5));
	KUNIT_EXPECT_TRUE(test, valid(pool, 5 * PAGE_SIZE, 3 * PAGE_SIZE));
}

static void addr_arithmetic(struct kunit *test)
{
	struct xsk_buff_pool *aligned = pool_create(test, false, 0);
	struct xsk_buff_pool *unaligned = pool_create(test, true, 0);

	KUNIT_EXPECT_EQ(test, xp_addr_to_offset(aligned, offset(5, 7)), offset(5, 7));
	KUNIT_EXPECT_EQ(test, xp_addr_to_offset(unaligned, offset(5, 7)), 12);
	KUNIT_EXPECT_EQ(test, xp_unaligned_base(offset(5, 7)), 5);
	KUNIT_EXPECT_EQ(test, xp_addr_to_offset(unaligned, U64_MAX),
			XSK_UNALIGNED_BUF_ADDR_MASK + U16_MAX);
}

static struct kunit_case desc_cases[] = {
	KUNIT_CASE(desc_aligned),
	KUNIT_CASE(desc_aligned_outside),
	KUNIT_CASE(desc_aligned_metadata),
	KUNIT_CASE(desc_unaligned),
	KUNIT_CASE(desc_unaligned_offset),
	KUNIT_CASE(desc_unaligned_metadata),
	KUNIT_CASE(desc_empty_or_unknown),
	KUNIT_CASE(desc_max_len),
	KUNIT_CASE(fill_addr_aligned),
	KUNIT_CASE(fill_addr_unaligned),
	KUNIT_CASE(desc_contiguity),
	KUNIT_CASE(addr_arithmetic),
	{}
};

static struct kunit_suite desc_suite = {
	.name = "xsk-desc",
	.test_cases = desc_cases,
};

kunit_test_suite(desc_suite);
