// SPDX-License-Identifier: GPL-2.0
/* Reception: where data and metadata land, and that no frame is ever lost */
#include <string.h>

#include "xsk_harness.h"
#include "xsk_net.h"

#define XDP_HEADROOM 256
#define MAX_PACKET_LEN 1514

FIXTURE(rx)
{
	struct xsk_redirect *xdp;
	struct xsk_umem near_umem;
	struct xsk_umem far_umem;
	struct xsk near;
	struct xsk far;
};

FIXTURE_VARIANT(rx)
{
	__u32 mode;
	__u32 flags;
};

FIXTURE_VARIANT_ADD(rx, skb) { .mode = XDP_FLAGS_SKB_MODE };

FIXTURE_VARIANT_ADD(rx, drv) { .mode = XDP_FLAGS_DRV_MODE };

FIXTURE_VARIANT_ADD(rx, skb_unaligned)
{
	.mode = XDP_FLAGS_SKB_MODE,
	.flags = XDP_UMEM_UNALIGNED_CHUNK_FLAG,
};

FIXTURE_VARIANT_ADD(rx, drv_unaligned)
{
	.mode = XDP_FLAGS_DRV_MODE,
	.flags = XDP_UMEM_UNALIGNED_CHUNK_FLAG,
};

FIXTURE_SETUP(rx)
{
	xsk_net_create();
	self->xdp = xsk_xdp_load();
	xsk_umem_create(&self->near_umem, XSK_FRAMES, XSK_FRAME_SIZE);
	xsk_open(&self->near, &self->near_umem, XSK_NEAR, 0, XDP_COPY);
}

FIXTURE_TEARDOWN(rx)
{
	xsk_close(&self->near);
}

static void open_far(FIXTURE_DATA(rx) *self, const FIXTURE_VARIANT(rx) *variant,
		     __u32 headroom, __u16 bind_flags)
{
	xsk_umem_create(&self->far_umem, XSK_FRAMES, XSK_FRAME_SIZE);
	self->far_umem.reg.flags = variant->flags;
	self->far_umem.reg.headroom = headroom;
	xsk_open(&self->far, &self->far_umem, XSK_FAR, 0, XDP_COPY | bind_flags);
	xsk_xdp_deliver(self->xdp, 0, &self->far);
}

static void close_far(FIXTURE_DATA(rx) *self)
{
	xsk_close(&self->far);
	xsk_umem_destroy(&self->far_umem);
}

static void send_packet(struct __test_metadata *_metadata, FIXTURE_DATA(rx) *self, __u32 len,
			__u32 seed)
{
	xsk_send(&self->near, len, seed);
	EXPECT_TRUE(xsk_drain_tx(&self->near));
}

/* A packet for each frame in the fill ring, until all of them have come back */
static void expect_all_frames_back(struct __test_metadata *_metadata, FIXTURE_DATA(rx) *self)
{
	struct xdp_desc desc;

	while (xsk_take_rx(&self->far, &desc))
		;
	while (xsk_frames_at(&self->far_umem, XSK_FILL)) {
		send_packet(_metadata, self, XSK_PACKET_LEN, 9);
		ASSERT_TRUE(xsk_wait(xsk_take_rx(&self->far, &desc)));
	}
	EXPECT_EQ(XSK_FRAMES, xsk_frames_at(&self->far_umem, XSK_USER));
	EXPECT_EQ(0, xsk_ring_used(self->far.fill));
	EXPECT_EQ(0, xsk_ring_used(&self->far.rx));
}

/* Data starts behind both headrooms, in the frame that was posted */
static void expect_placed(struct __test_metadata *_metadata, FIXTURE_DATA(rx) *self,
			  const struct xdp_desc *desc, __u64 posted)
{
	__u64 offset = XDP_HEADROOM + self->far_umem.reg.headroom;

	if (self->far_umem.reg.flags & XDP_UMEM_UNALIGNED_CHUNK_FLAG)
		offset <<= XSK_UNALIGNED_BUF_OFFSET_SHIFT;
	EXPECT_EQ(posted + offset, desc->addr);
}

TEST_F(rx, headroom)
{
	const __u32 headrooms[] = { 0, 1, 8, 63, 64, 100, 128, 256, 1000, 1024, 2048 };
	struct xdp_desc desc;
	unsigned int i;
	__u64 posted;

	xsk_xdp_attach(XSK_FAR, self->xdp->progs.to_queue, variant->mode);
	for (i = 0; i < ARRAY_SIZE(headrooms); i++) {
		open_far(self, variant, headrooms[i], 0);
		posted = (5 + i) * XSK_FRAME_SIZE;
		xsk_post_fill(&self->far, posted);
		send_packet(_metadata, self, MAX_PACKET_LEN, i);
		ASSERT_TRUE(xsk_wait(xsk_take_rx(&self->far, &desc)));
		expect_placed(_metadata, self, &desc, posted);
		EXPECT_EQ(MAX_PACKET_LEN, desc.len);
		EXPECT_TRUE(xsk_packet_intact(xsk_data(&self->far_umem, desc.addr), desc.len, i));
		close_far(self);
	}
}

/* The program's metadata lies in front of the packet, which stays where it was */
TEST_F(rx, metadata)
{
	struct xdp_desc desc;
	__u64 posted;
	int len, i;

	xsk_xdp_attach(XSK_FAR, self->xdp->progs.with_metadata, variant->mode);
	open_far(self, variant, 64, 0);
	for (len = 0; len <= 32; len += 4) {
		__u8 *packet;

		self->xdp->bss->metadata_len = len;
		posted = xsk_frame_new(&self->far_umem);
		memset(xsk_data(&self->far_umem, posted), 0, XSK_FRAME_SIZE);
		xsk_post_fill(&self->far, posted);
		send_packet(_metadata, self, XSK_PACKET_LEN, len);
		ASSERT_TRUE(xsk_wait(xsk_take_rx(&self->far, &desc)));
		expect_placed(_metadata, self, &desc, posted);
		packet = xsk_data(&self->far_umem, desc.addr);
		EXPECT_EQ(XSK_PACKET_LEN, desc.len);
		EXPECT_TRUE(xsk_packet_intact(packet, desc.len, len));
		for (i = 0; i < len; i++)
			EXPECT_EQ(i + 1, packet[i - len]);
		EXPECT_EQ(0, packet[-len - 1]);
	}
	close_far(self);
}

/*
 * An address stands for the aligned frame that it lies in, or where frames are
 * not aligned for the one that starts there.
 */
TEST_F(rx, frame_addresses)
{
	const __u64 addresses[] = { 0, 1, 2047, 4095, 4097, 100000, (XSK_FRAMES - 1) * 4096 };
	struct xdp_desc desc;
	unsigned int i;

	xsk_xdp_attach(XSK_FAR, self->xdp->progs.to_queue, variant->mode);
	open_far(self, variant, 32, 0);
	for (i = 0; i < ARRAY_SIZE(addresses); i++) {
		__u64 start = addresses[i];

		if (!(variant->flags & XDP_UMEM_UNALIGNED_CHUNK_FLAG))
			start &= ~(XSK_FRAME_SIZE - 1ULL);
		xsk_ring_put_addr(self->far.fill, addresses[i]);
		send_packet(_metadata, self, MAX_PACKET_LEN, i);
		ASSERT_TRUE(xsk_wait(xsk_ring_get_desc(&self->far.rx, &desc)));
		expect_placed(_metadata, self, &desc, start);
		EXPECT_TRUE(xsk_packet_intact(xsk_data(&self->far_umem, desc.addr), desc.len, i));
	}
	close_far(self);
}

/* Addresses outside of the umem are passed over: the next good one is used */
TEST_F(rx, bad_fill_addresses)
{
	const __u64 size = XSK_FRAMES * XSK_FRAME_SIZE;
	const __u64 bad[] = {
		size, size + 1, size + XSK_FRAME_SIZE, 1ULL << 32, 1ULL << 47, -1ULL, -4096ULL,
		/* these two are good ones where frames are aligned */
		size - 1, size - XSK_FRAME_SIZE + 1,
	};
	unsigned int unaligned = variant->flags & XDP_UMEM_UNALIGNED_CHUNK_FLAG;
	unsigned int count = ARRAY_SIZE(bad) - (unaligned ? 0 : 2), i;
	struct xdp_desc desc;

	xsk_xdp_attach(XSK_FAR, self->xdp->progs.to_queue, variant->mode);
	open_far(self, variant, 0, 0);
	for (i = 0; i < count; i++)
		ASSERT_TRUE(xsk_ring_put_addr(self->far.fill, bad[i]));
	xsk_post_fill(&self->far, 3 * XSK_FRAME_SIZE);
	send_packet(_metadata, self, XSK_PACKET_LEN, 1);
	ASSERT_TRUE(xsk_wait(xsk_take_rx(&self->far, &desc)));
	expect_placed(_metadata, self, &desc, 3 * XSK_FRAME_SIZE);
	EXPECT_EQ(0, xsk_ring_used(self->far.fill));
	close_far(self);
}

/* More packets than frames: the rest is dropped and counted */
TEST_F(rx, fill_ring_runs_empty)
{
	int i;

	xsk_xdp_attach(XSK_FAR, self->xdp->progs.to_queue, variant->mode);
	open_far(self, variant, 0, 0);
	for (i = 0; i < 10; i++)
		xsk_post_fill(&self->far, xsk_frame_new(&self->far_umem));
	for (i = 0; i < 15; i++)
		send_packet(_metadata, self, XSK_PACKET_LEN, i);
	EXPECT_TRUE(xsk_wait(xsk_statistics(&self->far).rx_dropped == 5));
	EXPECT_LE(5, xsk_statistics(&self->far).rx_fill_ring_empty_descs);
	EXPECT_EQ(10, xsk_ring_used(&self->far.rx));
	expect_all_frames_back(_metadata, self);
	close_far(self);
}

/* More frames than room in the Rx ring: no frame is lost with its packet */
TEST_F(rx, rx_ring_runs_full)
{
	struct xdp_desc desc;
	__u64 statistics_v1[3];
	socklen_t len = sizeof(statistics_v1);
	int i;

	xsk_xdp_attach(XSK_FAR, self->xdp->progs.to_queue, variant->mode);
	xsk_umem_create(&self->far_umem, 2 * XSK_FRAMES, XSK_FRAME_SIZE);
	self->far_umem.reg.flags = variant->flags;
	xsk_open(&self->far, &self->far_umem, XSK_FAR, 0, XDP_COPY);
	xsk_xdp_deliver(self->xdp, 0, &self->far);
	for (i = 0; i < XSK_RING_SIZE; i++) {
		xsk_post_fill(&self->far, xsk_frame_new(&self->far_umem));
		send_packet(_metadata, self, XSK_PACKET_LEN, i);
	}
	ASSERT_TRUE(xsk_wait(xsk_ring_used(&self->far.rx) == XSK_RING_SIZE));
	for (i = 0; i < 10; i++)
		xsk_post_fill(&self->far, xsk_frame_new(&self->far_umem));
	for (i = 0; i < 5; i++)
		send_packet(_metadata, self, XSK_PACKET_LEN, 200 + i);
	EXPECT_TRUE(xsk_wait(xsk_statistics(&self->far).rx_ring_full == 5));
	EXPECT_EQ(0, xsk_statistics(&self->far).rx_dropped);
	/* the statistics of an old program have one figure for both */
	ASSERT_EQ(0, xsk_get(self->far.fd, XDP_STATISTICS, statistics_v1, &len));
	EXPECT_EQ(5, statistics_v1[0]);

	for (i = 0; i < XSK_RING_SIZE; i++) {
		ASSERT_TRUE(xsk_take_rx(&self->far, &desc));
		EXPECT_TRUE(xsk_packet_intact(xsk_data(&self->far_umem, desc.addr), desc.len, i));
	}
	for (i = 0; i < 10; i++) {
		send_packet(_metadata, self, XSK_PACKET_LEN, i);
		ASSERT_TRUE(xsk_wait(xsk_take_rx(&self->far, &desc)));
	}
	EXPECT_EQ(2 * XSK_FRAMES, xsk_frames_at(&self->far_umem, XSK_USER));
	close_far(self);
}

/* A packet that needs two frames is dropped, unless the socket wants it in parts */
TEST_F(rx, packet_longer_than_the_frame)
{
	const __u32 room = 1024, headroom = XSK_FRAME_SIZE - XDP_HEADROOM - room;
	struct xdp_desc desc;
	__u8 packet[MAX_PACKET_LEN];
	int i;

	xsk_xdp_attach(XSK_FAR, self->xdp->progs.to_queue, variant->mode);
	open_far(self, variant, headroom, 0);
	for (i = 0; i < 4; i++)
		xsk_post_fill(&self->far, xsk_frame_new(&self->far_umem));
	send_packet(_metadata, self, room, 1);
	send_packet(_metadata, self, room + 1, 2);
	send_packet(_metadata, self, MAX_PACKET_LEN, 3);
	EXPECT_TRUE(xsk_wait(xsk_statistics(&self->far).rx_dropped == 2));
	EXPECT_EQ(1, xsk_ring_used(&self->far.rx));
	expect_all_frames_back(_metadata, self);
	close_far(self);

	open_far(self, variant, headroom, XDP_USE_SG);
	for (i = 0; i < 4; i++)
		xsk_post_fill(&self->far, xsk_frame_new(&self->far_umem));
	send_packet(_metadata, self, MAX_PACKET_LEN, 4);
	ASSERT_TRUE(xsk_wait(xsk_take_rx(&self->far, &desc)));
	EXPECT_EQ(room, desc.len);
	EXPECT_EQ(XDP_PKT_CONTD, desc.options);
	memcpy(packet, xsk_data(&self->far_umem, desc.addr), room);
	ASSERT_TRUE(xsk_wait(xsk_take_rx(&self->far, &desc)));
	EXPECT_EQ(MAX_PACKET_LEN - room, desc.len);
	EXPECT_EQ(0, desc.options);
	memcpy(packet + room, xsk_data(&self->far_umem, desc.addr), desc.len);
	EXPECT_TRUE(xsk_packet_intact(packet, sizeof(packet), 4));
	expect_all_frames_back(_metadata, self);
	close_far(self);
}

/* Room for one part of a packet is room for none of it */
TEST_F(rx, no_half_packets)
{
	const __u32 headroom = XSK_FRAME_SIZE - XDP_HEADROOM - 1024;

	xsk_xdp_attach(XSK_FAR, self->xdp->progs.to_queue, variant->mode);
	open_far(self, variant, headroom, XDP_USE_SG);
	xsk_post_fill(&self->far, xsk_frame_new(&self->far_umem));
	send_packet(_metadata, self, MAX_PACKET_LEN, 1);
	EXPECT_TRUE(xsk_wait(xsk_statistics(&self->far).rx_dropped == 1));
	EXPECT_EQ(0, xsk_ring_used(&self->far.rx));
	expect_all_frames_back(_metadata, self);
	close_far(self);
}

TEST_HARNESS_MAIN
