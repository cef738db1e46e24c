// SPDX-License-Identifier: GPL-2.0
/* Sockets that share a umem: on one queue, on two queues, on two devices */
#include <string.h>

#include "xsk_harness.h"
#include "xsk_net.h"

#define PACKETS 500

FIXTURE(shared)
{
	struct xsk_redirect *xdp;
	struct xsk_umem umem;
	struct xsk_umem far_umem;
	struct xsk owner;
	struct xsk sharer;
	struct xsk far;
	struct xsk far_sharer;
};

FIXTURE_VARIANT(shared)
{
	__u32 mode;
};

FIXTURE_VARIANT_ADD(shared, skb) { .mode = XDP_FLAGS_SKB_MODE };

FIXTURE_VARIANT_ADD(shared, drv) { .mode = XDP_FLAGS_DRV_MODE };

FIXTURE_SETUP(shared)
{
	xsk_net_create();
	self->xdp = xsk_xdp_load();
	xsk_xdp_attach(XSK_FAR, self->xdp->progs.to_queue, variant->mode);
	xsk_umem_create(&self->umem, XSK_FRAMES, XSK_FRAME_SIZE);
	xsk_umem_create(&self->far_umem, XSK_FRAMES, XSK_FRAME_SIZE);
	xsk_open(&self->owner, &self->umem, XSK_NEAR, 0, XDP_COPY);
	xsk_open(&self->far, &self->far_umem, XSK_FAR, 0, XDP_COPY);
	xsk_xdp_deliver(self->xdp, 0, &self->far);
}

FIXTURE_TEARDOWN(shared)
{
	xsk_close(&self->sharer);
	xsk_close(&self->owner);
	xsk_close(&self->far);
}

static void fill(struct xsk *xsk, int frames)
{
	while (frames--)
		xsk_post_fill(xsk, xsk_frame_new(xsk->umem));
}

/* The next packet of @xsk is number @seed; its frame goes back at once */
static void expect_packet(struct __test_metadata *_metadata, struct xsk *xsk, __u32 seed)
{
	struct xdp_desc desc;

	ASSERT_TRUE(xsk_wait(xsk_take_rx(xsk, &desc)));
	EXPECT_EQ(XSK_PACKET_LEN, desc.len);
	EXPECT_TRUE(xsk_packet_intact(xsk_data(xsk->umem, desc.addr), desc.len, seed));
	xsk_post_fill(xsk, desc.addr & ~(XSK_FRAME_SIZE - 1ULL));
}

/* No frame is anywhere but with the user, or in a fill ring */
static void expect_all_frames(struct __test_metadata *_metadata, struct xsk_umem *umem,
			      __u32 in_fill_rings)
{
	EXPECT_EQ(0, xsk_frames_at(umem, XSK_TX));
	EXPECT_EQ(in_fill_rings, xsk_frames_at(umem, XSK_FILL));
	EXPECT_EQ(umem->frames - in_fill_rings, xsk_frames_at(umem, XSK_USER));
}

TEST_F(shared, same_queue_tx)
{
	int i;

	xsk_open_same_queue(&self->sharer, &self->owner, XSK_NEAR, 0);
	fill(&self->far, XSK_FRAMES / 2);
	for (i = 0; i < PACKETS; i++) {
		xsk_send(i & 1 ? &self->sharer : &self->owner, XSK_PACKET_LEN, i);
		expect_packet(_metadata, &self->far, i);
		EXPECT_TRUE(xsk_drain_tx(&self->owner));
	}
	expect_all_frames(_metadata, &self->umem, 0);
	expect_all_frames(_metadata, &self->far_umem, XSK_FRAMES / 2);
}

TEST_F(shared, same_queue_rx)
{
	int i;

	xsk_open_same_queue(&self->sharer, &self->owner, XSK_NEAR, 0);
	xsk_open_same_queue(&self->far_sharer, &self->far, XSK_FAR, 0);
	fill(&self->far, XSK_FRAMES / 2);
	for (i = 0; i < PACKETS; i++) {
		struct xsk *receiver = i % 3 ? &self->far_sharer : &self->far;

		xsk_xdp_deliver(self->xdp, 0, receiver);
		xsk_send(&self->owner, XSK_PACKET_LEN, i);
		expect_packet(_metadata, receiver, i);
		EXPECT_TRUE(xsk_drain_tx(&self->owner));
	}
	expect_all_frames(_metadata, &self->far_umem, XSK_FRAMES / 2);
	xsk_close(&self->far_sharer);
}

/* A queue of its own: own fill and completion ring, frames of the same umem */
TEST_F(shared, other_queue)
{
	/* the queue of an skb gets lost between two veths without NAPI */
	bool far_has_queues = variant->mode == XDP_FLAGS_DRV_MODE;
	__u64 addr;
	int i;

	xsk_open_other_queue(&self->sharer, &self->owner, XSK_NEAR, 1);
	xsk_open_other_queue(&self->far_sharer, &self->far, XSK_FAR, 1);
	xsk_xdp_deliver(self->xdp, 1, &self->far_sharer);
	fill(&self->far, XSK_FRAMES / 4);
	fill(&self->far_sharer, XSK_FRAMES / 4);
	for (i = 0; i < PACKETS; i++) {
		struct xsk *sender = i & 1 ? &self->sharer : &self->owner;

		xsk_send(sender, XSK_PACKET_LEN, i);
		expect_packet(_metadata, far_has_queues && i & 1 ? &self->far_sharer : &self->far,
			      i);
		ASSERT_TRUE(xsk_wait(xsk_take_completion(sender, &addr)));
	}
	expect_all_frames(_metadata, &self->umem, 0);
	expect_all_frames(_metadata, &self->far_umem, XSK_FRAMES / 2);
	xsk_close(&self->far_sharer);
}

/* One umem at both ends: what is sent from it arrives in it */
TEST_F(shared, other_device)
{
	struct xsk end;
	__u64 addr;
	int i;

	xsk_run("ip link add other0 up type veth peer name other1");
	xsk_run("ip link set other1 up");
	xsk_open_other_queue(&self->sharer, &self->owner, "other0", 0);
	xsk_open_other_queue(&end, &self->owner, "other1", 0);
	xsk_xdp_attach("other1", self->xdp->progs.to_key, variant->mode);
	self->xdp->bss->key = 2;
	xsk_xdp_deliver(self->xdp, 2, &end);
	fill(&end, XSK_FRAMES / 4);
	fill(&self->far, XSK_FRAMES / 4);

	for (i = 0; i < PACKETS; i++) {
		xsk_send(&self->sharer, XSK_PACKET_LEN, i);
		expect_packet(_metadata, &end, i);
		ASSERT_TRUE(xsk_wait(xsk_take_completion(&self->sharer, &addr)));
		xsk_send(&self->owner, XSK_PACKET_LEN, i + 1);
		expect_packet(_metadata, &self->far, i + 1);
		ASSERT_TRUE(xsk_wait(xsk_take_completion(&self->owner, &addr)));
	}
	expect_all_frames(_metadata, &self->umem, XSK_FRAMES / 4);
	expect_all_frames(_metadata, &self->far_umem, XSK_FRAMES / 4);
	xsk_close(&end);
}

/* Neither of two senders that always have packets is left behind */
TEST_F(shared, fairness)
{
	struct xsk *senders[] = { &self->owner, &self->sharer };
	const struct xdp_desc desc = { .len = XSK_PACKET_LEN };
	unsigned int sent[2] = { }, turn, i;
	__u64 addr;

	xsk_open_same_queue(&self->sharer, &self->owner, XSK_NEAR, 0);
	xsk_packet_write(xsk_data(&self->umem, 0), XSK_PACKET_LEN, 1);
	for (turn = 0; turn < 200; turn++) {
		for (i = 0; i < 2; i++) {
			__u32 before;

			while (xsk_ring_put_desc(&senders[i]->tx, desc))
				;
			before = xsk_ring_used(&senders[i]->tx);
			xsk_kick_tx(senders[i]);
			sent[i] += before - xsk_ring_used(&senders[i]->tx);
			while (xsk_ring_get_addr(self->owner.completion, &addr))
				;
		}
	}
	EXPECT_LE(200, sent[0]);
	EXPECT_GE(2 * sent[1], sent[0]) TH_LOG("%u and %u packets", sent[0], sent[1]);
	EXPECT_GE(2 * sent[0], sent[1]) TH_LOG("%u and %u packets", sent[0], sent[1]);
}

TEST_HARNESS_MAIN
