// SPDX-License-Identifier: GPL-2.0
/* Which registrations of memory make sense. */

#include <kunit/test.h>
#include <net/xdp_sock_drv.h>

#include "umem.h"

/* What a chunk needs besides the headroom. */
#define OVERHEAD	(XDP_PACKET_HEADROOM + 128 + \
			 SKB_DATA_ALIGN(sizeof(struct skb_shared_info)))

static int check(struct xdp_umem *umem, struct xdp_umem_reg reg)
{
	*umem = (struct xdp_umem) {};
	return xdp_umem_check(umem, &reg);
}

static int check_only(struct xdp_umem_reg reg)
{
	struct xdp_umem umem;

	return check(&umem, reg);
}

static const struct xdp_umem_reg plain = {
	.addr = SZ_1M,
	.len = SZ_64K,
	.chunk_size = SZ_2K,
};

/* The same, but for some members. */
#define REG(...) ({ struct xdp_umem_reg reg = plain; __VA_ARGS__; reg; })

static void umem_plain(struct kunit *test)
{
	struct xdp_umem umem;

	KUNIT_EXPECT_EQ(test, check(&umem, REG(reg.headroom = 64)), 0);
	KUNIT_EXPECT_EQ(test, umem.size, SZ_64K);
	KUNIT_EXPECT_EQ(test, umem.chunks, 32);
	KUNIT_EXPECT_EQ(test, umem.npgs, SZ_64K / PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, umem.headroom, 64);
	KUNIT_EXPECT_EQ(test, umem.dma_unit, PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, umem.tx_metadata_len, 0);
}

static void umem_chunk_size(struct kunit *test)
{
	const u32 unaligned = XDP_UMEM_UNALIGNED_CHUNK_FLAG;
	u32 size;

	KUNIT_EXPECT_EQ(test, check_only(REG(reg.chunk_size = 0)), -EINVAL);
	KUNIT_EXPECT_EQ(test, check_only(REG(reg.chunk_size = SZ_1K)), -EINVAL);
	KUNIT_EXPECT_EQ(test, check_only(REG(reg.chunk_size = 2047, reg.flags = unaligned)),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, check_only(REG(reg.chunk_size = 3000)), -EINVAL);
	KUNIT_EXPECT_EQ(test, check_only(REG(reg.chunk_size = U32_MAX)), -EINVAL);
	KUNIT_EXPECT_EQ(test, check_only(REG(reg.chunk_size = BIT(31))), -EINVAL);

	for (size = 2048; size <= 4096; size++)
		KUNIT_EXPECT_EQ(test, check_only(REG(reg.chunk_size = size,
						     reg.flags = unaligned)), 0);
	KUNIT_EXPECT_EQ(test, check_only(REG(reg.chunk_size = PAGE_SIZE)), 0);
}

static void umem_large_chunks(struct kunit *test)
{
	const u32 unaligned = XDP_UMEM_UNALIGNED_CHUNK_FLAG;
	struct xdp_umem umem;

	if (!IS_ENABLED(CONFIG_HUGETLB_PAGE))
		kunit_skip(test, "no huge pages");

	KUNIT_EXPECT_EQ(test, check(&umem, REG(reg.chunk_size = 4 * PAGE_SIZE)), 0);
	KUNIT_EXPECT_EQ(test, umem.dma_unit, 4 * PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, check(&umem, REG(reg.chunk_size = PAGE_SIZE + 1,
					       reg.flags = unaligned)), 0);
	KUNIT_EXPECT_EQ(test, umem.dma_unit, 2 * PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, check_only(REG(reg.len = SZ_1G, reg.chunk_size = SZ_2M)), 0);
	KUNIT_EXPECT_EQ(test, check_only(REG(reg.len = SZ_1G, reg.chunk_size = SZ_4M)),
			-EINVAL);
}

static void umem_area(struct kunit *test)
{
	const u32 unaligned = XDP_UMEM_UNALIGNED_CHUNK_FLAG;

	KUNIT_EXPECT_EQ(test, check_only(REG(reg.addr = SZ_1M + 8)), -EINVAL);
	KUNIT_EXPECT_EQ(test, check_only(REG(reg.len = 0)), -EINVAL);
	KUNIT_EXPECT_EQ(test, check_only(REG(reg.len = SZ_2K - 1)), -EINVAL);
	KUNIT_EXPECT_EQ(test, check_only(REG(reg.len = SZ_64K + 1)), -EINVAL);
	/* Frames may start anywhere, so that a rest is of use. */
	KUNIT_EXPECT_EQ(test, check_only(REG(reg.len = SZ_64K + 1, reg.flags = unaligned)), 0);
}

static void umem_overflow(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, check_only(REG(reg.len = U64_MAX)), -EINVAL);
	KUNIT_EXPECT_EQ(test, check_only(REG(reg.len = U64_MAX - SZ_2K + 1)), -EINVAL);
	KUNIT_EXPECT_EQ(test, check_only(REG(reg.addr = U64_MAX - PAGE_SIZE + 1)), -EINVAL);
	KUNIT_EXPECT_EQ(test, check_only(REG(reg.addr = U64_MAX - SZ_64K + 1)), -EINVAL);
	/* More chunks, or pages, than can be counted. */
	KUNIT_EXPECT_EQ(test, check_only(REG(reg.len = SZ_2K * (1ULL << 32))), -EINVAL);
	KUNIT_EXPECT_EQ(test, check_only(REG(reg.len = PAGE_SIZE * (1ULL << 32),
					     reg.chunk_size = PAGE_SIZE)), -EINVAL);
}

static void umem_over_4g(struct kunit *test)
{
	struct xdp_umem umem;

	if (!IS_ENABLED(CONFIG_64BIT))
		kunit_skip(test, "needs 64 bit");

	KUNIT_EXPECT_EQ(test, check(&umem, REG(reg.len = 5ULL << 30)), 0);
	KUNIT_EXPECT_EQ(test, umem.size, 5ULL << 30);
	KUNIT_EXPECT_EQ(test, umem.chunks, (5ULL << 30) / SZ_2K);
}

static void umem_headroom(struct kunit *test)
{
	const u32 most = SZ_2K - OVERHEAD;

	KUNIT_EXPECT_EQ(test, check_only(REG(reg.headroom = most)), 0);
	KUNIT_EXPECT_EQ(test, check_only(REG(reg.headroom = most + 1)), -EINVAL);
	KUNIT_EXPECT_EQ(test, check_only(REG(reg.headroom = SZ_2K)), -EINVAL);
	KUNIT_EXPECT_EQ(test, check_only(REG(reg.headroom = U32_MAX)), -EINVAL);
}

/* In unaligned mode an address has 16 bits for where the packet starts. */
static void umem_headroom_unaligned(struct kunit *test)
{
	const u32 unaligned = XDP_UMEM_UNALIGNED_CHUNK_FLAG;
	const u32 most = U16_MAX - XDP_PACKET_HEADROOM - SZ_16K;

	if (!IS_ENABLED(CONFIG_HUGETLB_PAGE))
		kunit_skip(test, "no huge pages");

	KUNIT_EXPECT_EQ(test, check_only(REG(reg.len = SZ_2M, reg.chunk_size = SZ_128K,
					     reg.headroom = most + 1)), 0);
	KUNIT_EXPECT_EQ(test, check_only(REG(reg.len = SZ_2M, reg.chunk_size = SZ_128K,
					     reg.headroom = most, reg.flags = unaligned)), 0);
	KUNIT_EXPECT_EQ(test, check_only(REG(reg.len = SZ_2M, reg.chunk_size = SZ_128K,
					     reg.headroom = most + 1, reg.flags = unaligned)),
			-EINVAL);
}

static void umem_tx_metadata(struct kunit *test)
{
	const u32 flag = XDP_UMEM_TX_METADATA_LEN;
	struct xdp_umem umem;
	u32 len;

	for (len = 0; len <= 512; len++) {
		bool ok = len >= 16 && len < 256 && len % 8 == 0;

		KUNIT_EXPECT_EQ(test, check(&umem, REG(reg.flags = flag,
						       reg.tx_metadata_len = len)),
				ok ? 0 : -EINVAL);
		KUNIT_EXPECT_EQ(test, umem.tx_metadata_len, ok ? len : 0);
	}

	/* Without the flag the field does not count. */
	KUNIT_EXPECT_EQ(test, check(&umem, REG(reg.tx_metadata_len = 7)), 0);
	KUNIT_EXPECT_EQ(test, umem.tx_metadata_len, 0);
}

static void umem_flags(struct kunit *test)
{
	int bit;

	for (bit = 0; bit < 32; bit++)
		KUNIT_EXPECT_EQ(test, check_only(REG(reg.flags = BIT(bit),
						     reg.tx_metadata_len = 16)),
				bit < 3 ? 0 : -EINVAL);
}

static struct kunit_case umem_cases[] = {
	KUNIT_CASE(umem_plain),
	KUNIT_CASE(umem_chunk_size),
	KUNIT_CASE(umem_large_chunks),
	KUNIT_CASE(umem_area),
	KUNIT_CASE(umem_overflow),
	KUNIT_CASE(umem_over_4g),
	KUNIT_CASE(umem_headroom),
	KUNIT_CASE(umem_headroom_unaligned),
	KUNIT_CASE(umem_tx_metadata),
	KUNIT_CASE(umem_flags),
	{}
};

static struct kunit_suite umem_suite = {
	.name = "xsk-umem",
	.test_cases = umem_cases,
};

kunit_test_suite(umem_suite);
