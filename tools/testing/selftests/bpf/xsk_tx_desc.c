// SPDX-License-Identifier: GPL-2.0
/*
 * Tx descriptors at, over and around every edge of the umem: the valid ones
 * arrive intact, the invalid ones are counted, and the address of each comes
 * back exactly once.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "xsk_harness.h"
#include "xsk_net.h"

#define CHUNK ((__u64)XSK_FRAME_SIZE)
#define SIZE (XSK_FRAMES * CHUNK)
#define LEN XSK_PACKET_LEN
#define METADATA_LEN 64
#define OFFSET(bytes) ((__u64)(bytes) << XSK_UNALIGNED_BUF_OFFSET_SHIFT)

#define MTU 9000

FIXTURE(tx)
{
	struct xsk_redirect *xdp;
	struct xsk_umem near_umem;
	struct xsk_umem far_umem;
	struct xsk near;
	struct xsk far;
	__u64 invalid;
	unsigned int max_parts;
};

FIXTURE_VARIANT(tx)
{
	__u32 flags;
	__u32 metadata_len;
};

FIXTURE_VARIANT_ADD(tx, aligned) {};

FIXTURE_VARIANT_ADD(tx, unaligned) { .flags = XDP_UMEM_UNALIGNED_CHUNK_FLAG };

FIXTURE_VARIANT_ADD(tx, aligned_with_metadata)
{
	.flags = XDP_UMEM_TX_METADATA_LEN,
	.metadata_len = METADATA_LEN,
};

FIXTURE_VARIANT_ADD(tx, unaligned_with_metadata)
{
	.flags = XDP_UMEM_UNALIGNED_CHUNK_FLAG | XDP_UMEM_TX_METADATA_LEN,
	.metadata_len = METADATA_LEN,
};

/* One in the linear part of the skb, the others as its fragments */
static unsigned int max_parts(void)
{
	FILE *file = fopen("/proc/sys/net/core/max_skb_frags", "r");
	unsigned int frags;

	if (!file || fscanf(file, "%u", &frags) != 1)
		xsk_die("cannot read max_skb_frags");
	fclose(file);
	return frags + 1;
}

FIXTURE_SETUP(tx)
{
	int frame;

	/* only the first network namespace shows the limit */
	self->max_parts = max_parts();
	xsk_net_create();
	xsk_run("ip link set %s mtu %d && ip link set %s mtu %d", XSK_NEAR, MTU, XSK_FAR, MTU);
	self->xdp = xsk_xdp_load();
	xsk_xdp_attach(XSK_FAR, self->xdp->progs.to_queue, XDP_FLAGS_DRV_MODE);

	xsk_umem_create(&self->near_umem, XSK_FRAMES, XSK_FRAME_SIZE);
	self->near_umem.reg.flags = variant->flags;
	self->near_umem.reg.tx_metadata_len = variant->metadata_len;
	xsk_open(&self->near, &self->near_umem, XSK_NEAR, 0, XDP_COPY | XDP_USE_SG);

	xsk_umem_create(&self->far_umem, XSK_FRAMES, XSK_FRAME_SIZE);
	xsk_open(&self->far, &self->far_umem, XSK_FAR, 0, XDP_COPY | XDP_USE_SG);
	xsk_xdp_deliver(self->xdp, 0, &self->far);
	for (frame = 0; frame < XSK_FRAMES; frame++)
		xsk_post_fill(&self->far, frame * CHUNK);
	self->invalid = 0;
}

FIXTURE_TEARDOWN(tx)
{
	xsk_close(&self->near);
	xsk_close(&self->far);
	xsk_umem_destroy(&self->near_umem);
	xsk_umem_destroy(&self->far_umem);
}

/* The next packet of the far end, put together; its length */
static __u32 receive(FIXTURE_DATA(tx) *self, __u8 *packet)
{
	struct xdp_desc desc;
	__u32 len = 0;

	do {
		if (!xsk_wait(xsk_take_rx(&self->far, &desc)))
			xsk_die("the far end gets no packet");
		memcpy(packet + len, xsk_data(&self->far_umem, desc.addr), desc.len);
		len += desc.len;
		xsk_post_fill(&self->far, desc.addr & ~(CHUNK - 1));
	} while (desc.options & XDP_PKT_CONTD);
	return len;
}

static void expect_packet(struct __test_metadata *_metadata, FIXTURE_DATA(tx) *self,
			  __u32 len, __u32 seed)
{
	static __u8 packet[64 * 1024];

	EXPECT_EQ(len, receive(self, packet));
	EXPECT_TRUE(xsk_packet_intact(packet, len, seed));
}

static int compare(const void *a, const void *b)
{
	__u64 x = *(const __u64 *)a, y = *(const __u64 *)b;

	return x < y ? -1 : x > y;
}

/*
 * Posts @count descriptors, and expects each of their addresses back once and
 * @invalid more invalid ones in the statistics.
 */
static void post_all(struct __test_metadata *_metadata, FIXTURE_DATA(tx) *self,
		     const struct xdp_desc *descs, unsigned int count, unsigned int invalid)
{
	__u64 posted[XSK_RING_SIZE], completed[XSK_RING_SIZE];
	unsigned int i;

	for (i = 0; i < count; i++) {
		ASSERT_TRUE(xsk_ring_put_desc(&self->near.tx, descs[i]));
		posted[i] = descs[i].addr;
	}
	ASSERT_TRUE(xsk_wait(({
		xsk_kick_tx(&self->near);
		xsk_ring_used(self->near.completion) >= count;
	})));
	EXPECT_EQ(0, xsk_ring_used(&self->near.tx));

	for (i = 0; i < count && xsk_ring_get_addr(self->near.completion, &completed[i]); i++)
		;
	EXPECT_EQ(count, i);
	EXPECT_EQ(0, xsk_ring_used(self->near.completion));
	qsort(posted, count, sizeof(*posted), compare);
	qsort(completed, i, sizeof(*completed), compare);
	EXPECT_EQ(0, memcmp(posted, completed, count * sizeof(*posted)));

	self->invalid += invalid;
	EXPECT_EQ(self->invalid, xsk_statistics(&self->near).tx_invalid_descs);
}

/* A place in the umem that is never near an edge */
static struct xdp_desc good_desc(FIXTURE_DATA(tx) *self, unsigned int n)
{
	struct xdp_desc desc = { .addr = (20 + n) * CHUNK + 1024, .len = LEN };

	xsk_packet_write(xsk_data(&self->near_umem, desc.addr), desc.len, 100 + n);
	return desc;
}

/* @desc between two good ones that arrive whatever becomes of it */
static void check(struct __test_metadata *_metadata, FIXTURE_DATA(tx) *self,
		  struct xdp_desc desc, bool valid)
{
	const struct xdp_desc descs[] = { good_desc(self, 1), desc, good_desc(self, 2) };
	bool failed_before = _metadata->exit_code;

	if (valid)
		xsk_packet_write(xsk_data(&self->near_umem, desc.addr), desc.len, 3);
	post_all(_metadata, self, descs, ARRAY_SIZE(descs), valid ? 0 : 1);
	expect_packet(_metadata, self, LEN, 101);
	if (valid)
		expect_packet(_metadata, self, desc.len, 3);
	expect_packet(_metadata, self, LEN, 102);

	if (_metadata->exit_code && !failed_before)
		TH_LOG("first failure: address %#llx length %u options %#x, to be %s",
		       (unsigned long long)desc.addr, desc.len, desc.options,
		       valid ? "valid" : "invalid");
}

#define VALID(address, length) \
	check(_metadata, self, (struct xdp_desc) { .addr = (address), .len = (length) }, true)
#define INVALID(address, length) \
	check(_metadata, self, (struct xdp_desc) { .addr = (address), .len = (length) }, false)

TEST_F(tx, lower_edge)
{
	const __u64 metadata = variant->metadata_len;
	__u64 below;

	VALID(metadata, LEN);
	VALID(metadata, CHUNK - metadata);
	for (below = 1; below <= LEN + metadata; below += 3)
		INVALID(metadata - below, LEN);
}

TEST_F(tx, upper_edge)
{
	const __u64 metadata = variant->metadata_len;
	__u64 over;

	VALID(SIZE - LEN, LEN);
	VALID(SIZE - CHUNK + metadata, CHUNK - metadata);
	for (over = 1; over <= LEN; over += 3)
		INVALID(SIZE - LEN + over, LEN);
	INVALID(SIZE, LEN);
	INVALID(SIZE + metadata, LEN);
	INVALID(SIZE + CHUNK + metadata, LEN);
	INVALID(SIZE - 1, 2);
	INVALID(SIZE - CHUNK + metadata, CHUNK - metadata + 1);
}

TEST_F(tx, chunk_edge)
{
	const __u64 metadata = variant->metadata_len;
	bool unaligned = variant->flags & XDP_UMEM_UNALIGNED_CHUNK_FLAG;
	__u64 over;

	VALID(2 * CHUNK - LEN, LEN);
	VALID(2 * CHUNK + metadata, LEN);
	for (over = 1; over < LEN + metadata; over += 7)
		check(_metadata, self,
		      (struct xdp_desc) { .addr = 2 * CHUNK - LEN + over, .len = LEN }, unaligned);
	/* a packet is no longer than a chunk wherever it starts */
	INVALID(2 * CHUNK + metadata, CHUNK - metadata + 1);
	INVALID(2 * CHUNK + 1024, CHUNK + 1);
}

TEST_F(tx, length)
{
	const __u64 addr = 4 * CHUNK + METADATA_LEN;

	INVALID(addr, 0);
	INVALID(addr, 0x7fffffff);
	INVALID(addr, 0x80000000);
	INVALID(addr, 0xffffffff);
	/* the sum of address, metadata and length must not wrap either */
	INVALID(addr, 0xffffffff - METADATA_LEN);
	INVALID(addr, -(__u32)addr);
}

TEST_F(tx, far_away)
{
	const __u64 metadata = variant->metadata_len;
	int bit;

	/* from the first address above the umem; the offset of an unaligned one has 16 bits */
	for (bit = 18; bit < (variant->flags & XDP_UMEM_UNALIGNED_CHUNK_FLAG ? 48 : 64); bit++) {
		INVALID((1ULL << bit) + metadata, LEN);
		INVALID(-(1ULL << bit), LEN);
	}
	INVALID(-1ULL, LEN);
	INVALID(-1ULL, 1);
	INVALID(-(__u64)LEN, LEN);
}

/* The upper 16 bits are added where frames are not aligned, else they are far away */
TEST_F(tx, offset_in_the_address)
{
	const bool unaligned = variant->flags & XDP_UMEM_UNALIGNED_CHUNK_FLAG;
	const __u64 good[] = {
		OFFSET(variant->metadata_len ?: 1), OFFSET(0xffff),
		(SIZE - LEN - 128) | OFFSET(128),
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(good); i++)
		check(_metadata, self, (struct xdp_desc) { .addr = good[i], .len = LEN },
		      unaligned);
	INVALID((SIZE - LEN - 128) | OFFSET(129), LEN);
	INVALID((SIZE - 128) | OFFSET(128), LEN);
	INVALID((SIZE - 1) | OFFSET(0xffff), LEN);
	INVALID(((1ULL << 48) - 1) | OFFSET(1), LEN);
	INVALID(((1ULL << 48) - LEN) | OFFSET(LEN), LEN);
}

TEST_F(tx, options)
{
	struct xdp_desc desc = { .addr = 4 * CHUNK + METADATA_LEN, .len = LEN };
	int bit;

	for (bit = 2; bit < 32; bit++) {
		desc.options = 1U << bit;
		check(_metadata, self, desc, false);
	}
}

/* A packet in three parts */
static void fill_chain(FIXTURE_DATA(tx) *self, struct xdp_desc *chain)
{
	__u8 packet[3 * 1024];
	int part;

	xsk_packet_write(packet, sizeof(packet), 5);
	for (part = 0; part < 3; part++) {
		chain[part].addr = (30 + part) * CHUNK + 512;
		chain[part].len = 1024;
		chain[part].options = part < 2 ? XDP_PKT_CONTD : 0;
		memcpy(xsk_data(&self->near_umem, chain[part].addr), packet + part * 1024, 1024);
	}
}

TEST_F(tx, valid_chain)
{
	struct xdp_desc descs[5] = { good_desc(self, 1) };

	descs[4] = good_desc(self, 2);
	fill_chain(self, &descs[1]);
	post_all(_metadata, self, descs, 5, 0);
	expect_packet(_metadata, self, LEN, 101);
	expect_packet(_metadata, self, 3 * 1024, 5);
	expect_packet(_metadata, self, LEN, 102);
}

/* One bad part makes the whole packet invalid and no other */
TEST_F(tx, chain_with_an_invalid_part)
{
	const struct { __u64 addr; __u32 len; __u32 options; } bad[] = {
		{ SIZE, 1024 },
		{ -512ULL, 1024 },
		{ 4 * CHUNK + 512, 0 },
		{ 4 * CHUNK + 512, CHUNK + 1 },
		{ 4 * CHUNK + 512, 1024, 1U << 5 },
	};
	struct xdp_desc descs[5];
	unsigned int kind, part;

	for (kind = 0; kind < ARRAY_SIZE(bad); kind++) {
		for (part = 0; part < 3; part++) {
			descs[0] = good_desc(self, 1);
			descs[4] = good_desc(self, 2);
			fill_chain(self, &descs[1]);
			descs[1 + part].addr = bad[kind].addr;
			descs[1 + part].len = bad[kind].len;
			descs[1 + part].options |= bad[kind].options;

			post_all(_metadata, self, descs, 5, 3);
			expect_packet(_metadata, self, LEN, 101);
			expect_packet(_metadata, self, LEN, 102);
		}
	}
}

/* A chain of @parts small parts between two good packets */
static unsigned int long_chain(FIXTURE_DATA(tx) *self, struct xdp_desc *descs,
			       unsigned int parts)
{
	__u8 packet[XSK_RING_SIZE * LEN];
	unsigned int i;

	descs[0] = good_desc(self, 1);
	xsk_packet_write(packet, parts * LEN, 6);
	for (i = 0; i < parts; i++) {
		descs[1 + i].addr = (3 + i) * CHUNK + 2048;
		descs[1 + i].len = LEN;
		descs[1 + i].options = i + 1 < parts ? XDP_PKT_CONTD : 0;
		memcpy(xsk_data(&self->near_umem, descs[1 + i].addr), packet + i * LEN, LEN);
	}
	descs[1 + parts] = good_desc(self, 40);
	return 2 + parts;
}

TEST_F(tx, chain_as_long_as_allowed)
{
	struct xdp_desc descs[XSK_RING_SIZE];
	unsigned int parts = self->max_parts;

	post_all(_metadata, self, descs, long_chain(self, descs, parts), 0);
	expect_packet(_metadata, self, LEN, 101);
	expect_packet(_metadata, self, parts * LEN, 6);
	expect_packet(_metadata, self, LEN, 140);
}

TEST_F(tx, chain_that_is_too_long)
{
	struct xdp_desc descs[XSK_RING_SIZE];
	unsigned int more;

	for (more = 1; more <= 40; more = more * 2 + 1) {
		unsigned int parts = self->max_parts + more;

		if (parts + 2 > XSK_RING_SIZE)
			break;
		post_all(_metadata, self, descs, long_chain(self, descs, parts), parts);
		expect_packet(_metadata, self, LEN, 101);
		expect_packet(_metadata, self, LEN, 140);
	}
}

TEST_HARNESS_MAIN
