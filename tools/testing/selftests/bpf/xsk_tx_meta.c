// SPDX-License-Identifier: GPL-2.0
/* Tx metadata: checksum, timestamp, and requests that are wrong or change */
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "xsk_harness.h"
#include "xsk_net.h"

#define METADATA_LEN sizeof(struct xsk_tx_metadata)
#define LEN 256
#define CSUM_START 34
#define CSUM_OFFSET 6

FIXTURE(meta)
{
	struct xsk_redirect *xdp;
	struct xsk_umem near_umem;
	struct xsk_umem far_umem;
	struct xsk near;
	struct xsk far;
	bool strict;
};

FIXTURE_SETUP(meta)
{
	int frame;

	/* older kernels leave a descriptor with bad metadata in the ring for ever */
	self->strict = xsk_knows_tx_budget();
	xsk_net_create();
	self->xdp = xsk_xdp_load();
	xsk_xdp_attach(XSK_FAR, self->xdp->progs.to_queue, XDP_FLAGS_DRV_MODE);

	xsk_umem_create(&self->near_umem, XSK_FRAMES, XSK_FRAME_SIZE);
	self->near_umem.reg.flags = XDP_UMEM_TX_METADATA_LEN | XDP_UMEM_TX_SW_CSUM;
	self->near_umem.reg.tx_metadata_len = METADATA_LEN;
	xsk_open(&self->near, &self->near_umem, XSK_NEAR, 0, XDP_COPY);

	xsk_umem_create(&self->far_umem, XSK_FRAMES, XSK_FRAME_SIZE);
	xsk_open(&self->far, &self->far_umem, XSK_FAR, 0, XDP_COPY);
	xsk_xdp_deliver(self->xdp, 0, &self->far);
	for (frame = 0; frame < XSK_FRAMES; frame++)
		xsk_post_fill(&self->far, frame * XSK_FRAME_SIZE);
}

FIXTURE_TEARDOWN(meta)
{
	xsk_close(&self->near);
	xsk_close(&self->far);
	xsk_umem_destroy(&self->near_umem);
	xsk_umem_destroy(&self->far_umem);
}

static struct xsk_tx_metadata *metadata_of(FIXTURE_DATA(meta) *self, __u64 addr)
{
	return xsk_data(&self->near_umem, addr - METADATA_LEN);
}

/* A packet in a new frame, its checksum field empty, with @metadata in front */
static __u64 write_packet(FIXTURE_DATA(meta) *self, struct xsk_tx_metadata metadata, __u32 seed)
{
	__u64 addr = xsk_frame_new(&self->near_umem) + METADATA_LEN;
	__u8 *packet = xsk_data(&self->near_umem, addr);

	xsk_packet_write(packet, LEN, seed);
	memset(packet + CSUM_START + CSUM_OFFSET, 0, 2);
	*metadata_of(self, addr) = metadata;
	return addr;
}

static __u64 send_packet(struct __test_metadata *_metadata, FIXTURE_DATA(meta) *self,
			 struct xsk_tx_metadata metadata, __u32 seed)
{
	__u64 addr = write_packet(self, metadata, seed);

	xsk_post_tx(&self->near, addr, LEN, XDP_TX_METADATA);
	EXPECT_TRUE(xsk_drain_tx(&self->near));
	return addr;
}

/* The packet that the far end gets next; good until the next one is asked for */
static __u8 *receive(struct __test_metadata *_metadata, FIXTURE_DATA(meta) *self)
{
	struct xdp_desc desc;

	ASSERT_TRUE(xsk_wait(xsk_take_rx(&self->far, &desc)));
	EXPECT_EQ(LEN, desc.len);
	xsk_post_fill(&self->far, desc.addr & ~(XSK_FRAME_SIZE - 1ULL));
	return xsk_data(&self->far_umem, desc.addr);
}

static bool rest_is_intact(__u8 *packet, __u32 seed)
{
	__u8 expected[LEN];

	xsk_packet_write(expected, LEN, seed);
	memcpy(expected + CSUM_START + CSUM_OFFSET, packet + CSUM_START + CSUM_OFFSET, 2);
	return !memcmp(expected, packet, LEN);
}

static __u16 checksum_field(__u8 *packet)
{
	packet += CSUM_START + CSUM_OFFSET;
	return packet[0] << 8 | packet[1];
}

/* Of the words from CSUM_START on, 0xffff if their checksum is among them */
static __u16 sum(const __u8 *packet)
{
	__u32 total = 0;
	int i;

	for (i = CSUM_START; i < LEN; i += 2)
		total += packet[i] << 8 | packet[i + 1];
	while (total >> 16)
		total = (total & 0xffff) + (total >> 16);
	return total;
}

static struct xsk_tx_metadata checksum_request(__u16 start, __u16 offset)
{
	return (struct xsk_tx_metadata) {
		.flags = XDP_TXMD_FLAGS_CHECKSUM,
		.request.csum_start = start,
		.request.csum_offset = offset,
	};
}

TEST_F(meta, no_request)
{
	__u8 *packet;

	send_packet(_metadata, self, (struct xsk_tx_metadata) {}, 1);
	packet = receive(_metadata, self);
	EXPECT_TRUE(rest_is_intact(packet, 1));
	EXPECT_EQ(0, checksum_field(packet));
}

/* What is in front of the packet counts only if the descriptor says so */
TEST_F(meta, request_without_the_option)
{
	__u64 addr = write_packet(self, checksum_request(CSUM_START, CSUM_OFFSET), 1);
	__u8 *packet;

	xsk_post_tx(&self->near, addr, LEN, 0);
	EXPECT_TRUE(xsk_drain_tx(&self->near));
	packet = receive(_metadata, self);
	EXPECT_TRUE(rest_is_intact(packet, 1));
	EXPECT_EQ(0, checksum_field(packet));
}

TEST_F(meta, checksum_on_the_wire)
{
	__u8 *packet;
	__u32 seed;

	for (seed = 1; seed < 20; seed++) {
		send_packet(_metadata, self, checksum_request(CSUM_START, CSUM_OFFSET), seed);
		packet = receive(_metadata, self);
		EXPECT_TRUE(rest_is_intact(packet, seed));
		EXPECT_NE(0, checksum_field(packet));
		EXPECT_EQ(0xffff, sum(packet));
	}
}

TEST_F(meta, timestamp)
{
	const struct xsk_tx_metadata request = { .flags = XDP_TXMD_FLAGS_TIMESTAMP };
	struct timespec before, after;
	__u64 addr, stamp;

	clock_gettime(CLOCK_TAI, &before);
	addr = send_packet(_metadata, self, request, 1);
	clock_gettime(CLOCK_TAI, &after);
	stamp = metadata_of(self, addr)->completion.tx_timestamp;
	EXPECT_LE(before.tv_sec * 1000000000ULL + before.tv_nsec, stamp);
	EXPECT_GE(after.tv_sec * 1000000000ULL + after.tv_nsec, stamp);
	EXPECT_TRUE(rest_is_intact(receive(_metadata, self), 1));
}

TEST_F(meta, timestamp_and_checksum)
{
	struct xsk_tx_metadata request = checksum_request(CSUM_START, CSUM_OFFSET);
	__u64 addr;

	request.flags |= XDP_TXMD_FLAGS_TIMESTAMP;
	addr = send_packet(_metadata, self, request, 1);
	EXPECT_NE(CSUM_START | CSUM_OFFSET << 16,
		  metadata_of(self, addr)->completion.tx_timestamp);
	EXPECT_EQ(0xffff, sum(receive(_metadata, self)));
}

/* No packet leaves with a request that the kernel cannot fulfil */
static void expect_refused(struct __test_metadata *_metadata, FIXTURE_DATA(meta) *self,
			   struct xsk_tx_metadata request)
{
	__u64 invalid = xsk_statistics(&self->near).tx_invalid_descs;

	send_packet(_metadata, self, request, 7);
	EXPECT_EQ(invalid + 1, xsk_statistics(&self->near).tx_invalid_descs);
	send_packet(_metadata, self, (struct xsk_tx_metadata) {}, 8);
	EXPECT_TRUE(rest_is_intact(receive(_metadata, self), 8));
}

TEST_F(meta, unknown_flags)
{
	int bit;

	if (!self->strict)
		SKIP(return, "this kernel never consumes a descriptor with bad metadata");
	for (bit = 2; bit < 64; bit++)
		expect_refused(_metadata, self, (struct xsk_tx_metadata) { .flags = 1ULL << bit });
	expect_refused(_metadata, self, (struct xsk_tx_metadata) { .flags = ~0ULL });
}

TEST_F(meta, checksum_outside_of_the_packet)
{
	const __u16 outside[][2] = {
		{ LEN - 1, 0 }, { LEN, 0 }, { 0, LEN - 1 }, { CSUM_START, LEN - CSUM_START - 1 },
		{ 0xffff, 0 }, { 0, 0xffff }, { 0xffff, 0xffff }, { 0x8000, 0x8000 },
		{ 0xffff, 1 }, { 0xffff - CSUM_OFFSET, CSUM_OFFSET },
	};
	unsigned int i;

	if (!self->strict)
		SKIP(return, "this kernel never consumes a descriptor with bad metadata");
	for (i = 0; i < ARRAY_SIZE(outside); i++)
		expect_refused(_metadata, self, checksum_request(outside[i][0], outside[i][1]));
}

TEST_F(meta, checksum_at_the_very_end)
{
	__u64 addr = write_packet(self, checksum_request(LEN - 4, 2), 1);
	__u8 *packet = xsk_data(&self->near_umem, addr);

	memset(packet + LEN - 2, 0, 2);
	xsk_post_tx(&self->near, addr, LEN, XDP_TX_METADATA);
	EXPECT_TRUE(xsk_drain_tx(&self->near));
	packet = receive(_metadata, self);
	/* the word before, inverted: field and word add up to all ones */
	EXPECT_EQ(0xff, packet[LEN - 4] ^ packet[LEN - 2]);
	EXPECT_EQ(0xff, packet[LEN - 3] ^ packet[LEN - 1]);
}

/* Nobody registered room for metadata, so there is none to be read */
TEST_F(meta, option_without_room)
{
	struct xsk_umem umem;
	struct xsk other;

	if (!self->strict)
		SKIP(return, "this kernel never consumes a descriptor with bad metadata");
	xsk_umem_create(&umem, XSK_FRAMES, XSK_FRAME_SIZE);
	xsk_open(&other, &umem, XSK_NEAR, 1, XDP_COPY);
	xsk_post_tx(&other, xsk_frame_new(&umem), LEN, XDP_TX_METADATA);
	EXPECT_TRUE(xsk_drain_tx(&other));
	EXPECT_EQ(1, xsk_statistics(&other).tx_invalid_descs);
	xsk_close(&other);
}

/*
 * A second thread changes the requests all the time. Whatever the kernel reads
 * of them, it does all of it or nothing, and nothing outside of the packet.
 */
#define store(place, value) __atomic_store_n(place, value, __ATOMIC_RELAXED)

struct changer {
	FIXTURE_DATA(meta) *self;
	bool stop;
};

static void *change_requests(void *context)
{
	struct changer *changer = context;
	unsigned int turn = 0;
	int frame;

	while (!__atomic_load_n(&changer->stop, __ATOMIC_RELAXED)) {
		for (frame = 0; frame < XSK_FRAMES; frame++) {
			struct xsk_tx_metadata *metadata =
				xsk_data(&changer->self->near_umem, frame * XSK_FRAME_SIZE);

			turn++;
			store(&metadata->flags, turn % 3 ? turn & 3 : ~0ULL);
			store(&metadata->request.csum_start, turn % 5 ? CSUM_START : 0xffff);
			store(&metadata->request.csum_offset, turn % 7 ? CSUM_OFFSET : 0xffff);
		}
	}
	return NULL;
}

TEST_F(meta, requests_that_change_under_way)
{
	struct changer changer = { .self = self };
	unsigned int round, received = 0, checksums = 0;
	pthread_t thread;

	ASSERT_EQ(0, pthread_create(&thread, NULL, change_requests, &changer));
	/* until the other thread was in time for some of them */
	for (round = 0; round < 2000 || !checksums || checksums == received; round++) {
		struct xdp_desc desc;

		send_packet(_metadata, self, checksum_request(CSUM_START, CSUM_OFFSET), round);
		while (xsk_take_rx(&self->far, &desc)) {
			__u8 *packet = xsk_data(&self->far_umem, desc.addr);

			received++;
			EXPECT_EQ(LEN, desc.len);
			EXPECT_TRUE(rest_is_intact(packet, packet[11]));
			if (checksum_field(packet)) {
				checksums++;
				EXPECT_EQ(0xffff, sum(packet));
			}
			xsk_post_fill(&self->far, desc.addr & ~(XSK_FRAME_SIZE - 1ULL));
		}
	}
	__atomic_store_n(&changer.stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	TH_LOG("%u packets sent, %u received, %u with a checksum", round, received, checksums);
	EXPECT_EQ(XSK_FRAMES, xsk_frames_at(&self->near_umem, XSK_USER));
}

TEST_HARNESS_MAIN
