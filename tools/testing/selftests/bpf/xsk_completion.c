// SPDX-License-Identifier: GPL-2.0
/*
 * A frame's address comes back on the completion ring exactly once, and only
 * when the kernel no longer uses the frame, in whatever order the skbs end.
 *
 * The far end keeps the skbs that reach it in flight until the test lets them
 * go, while a packet that is longer than the MTU ends at once.
 */
#include "xsk_harness.h"
#include "xsk_net.h"

#define TOO_LONG 2000
#define MANY 16

FIXTURE(held)
{
	struct xsk_redirect *xdp;
	struct xsk_umem umem;
	struct xsk first;
	struct xsk second;
};

FIXTURE_SETUP(held)
{
	xsk_net_create();
	self->xdp = xsk_xdp_load();
	xsk_xdp_attach(XSK_FAR, self->xdp->progs.drop, XDP_FLAGS_DRV_MODE);
	xsk_umem_create(&self->umem, XSK_FRAMES, XSK_FRAME_SIZE);
	xsk_open(&self->first, &self->umem, XSK_NEAR, 0, XDP_COPY);
	xsk_open_same_queue(&self->second, &self->first, XSK_NEAR, 0);
	xsk_hold_packets(XSK_FAR, &self->first);
}

FIXTURE_TEARDOWN(held)
{
	xsk_close(&self->second);
	xsk_close(&self->first);
	xsk_umem_destroy(&self->umem);
}

static __u64 send_held(struct xsk *xsk)
{
	return xsk_send(xsk, XSK_PACKET_LEN, 1);
}

static __u64 send_ending_at_once(struct xsk *xsk)
{
	return xsk_send(xsk, TOO_LONG, 2);
}

static void let_go(void)
{
	xsk_xdp_detach(XSK_FAR, XDP_FLAGS_DRV_MODE);
}

/* The completion ring holds @addr and nothing else */
static void expect_only(struct __test_metadata *_metadata, struct xsk *xsk, __u64 addr)
{
	__u64 completed;

	ASSERT_TRUE(xsk_take_completion(xsk, &completed));
	EXPECT_EQ(addr, completed);
	EXPECT_EQ(0, xsk_ring_used(xsk->completion));
}

static void expect_all_back(struct __test_metadata *_metadata, struct xsk *xsk)
{
	EXPECT_TRUE(xsk_drain_tx(xsk));
	EXPECT_EQ(0, xsk_ring_used(xsk->completion));
	EXPECT_EQ(xsk->umem->frames, xsk_frames_at(xsk->umem, XSK_USER));
}

TEST_F(held, packet_in_flight_is_not_completed)
{
	__u64 held = send_held(&self->first);

	EXPECT_EQ(0, xsk_ring_used(&self->first.tx));
	EXPECT_EQ(0, xsk_ring_used(self->first.completion));
	let_go();
	ASSERT_TRUE(xsk_wait(xsk_ring_used(self->first.completion)));
	expect_only(_metadata, &self->first, held);
}

TEST_F(held, second_socket_overtakes_the_first)
{
	__u64 held = send_held(&self->first);
	__u64 ended = send_ending_at_once(&self->second);

	expect_only(_metadata, &self->second, ended);
	let_go();
	ASSERT_TRUE(xsk_wait(xsk_ring_used(self->first.completion)));
	expect_only(_metadata, &self->first, held);
	expect_all_back(_metadata, &self->first);
}

TEST_F(held, packets_of_one_socket_overtake_each_other)
{
	__u64 held = send_held(&self->first);
	__u64 ended = send_ending_at_once(&self->first);

	expect_only(_metadata, &self->first, ended);
	let_go();
	ASSERT_TRUE(xsk_wait(xsk_ring_used(self->first.completion)));
	expect_only(_metadata, &self->first, held);
	expect_all_back(_metadata, &self->first);
}

TEST_F(held, sockets_take_turns)
{
	struct xsk *sender[] = { &self->first, &self->second };
	__u64 ended;
	int i;

	for (i = 0; i < MANY; i++) {
		send_held(sender[i % 2]);
		ended = send_ending_at_once(sender[(i / 2) % 2]);
		expect_only(_metadata, &self->first, ended);
	}
	EXPECT_EQ(MANY, xsk_frames_at(&self->umem, XSK_TX));
	let_go();
	expect_all_back(_metadata, &self->first);
}

TEST_F(held, invalid_descriptor_behind_a_held_packet)
{
	__u64 held = send_held(&self->first);
	__u64 invalid = xsk_frame_new(&self->umem), completed = held;

	xsk_post_tx(&self->second, invalid, 0, 0);
	xsk_kick_tx(&self->second);
	/* it may come back now or later, the held one only later */
	if (xsk_take_completion(&self->second, &completed))
		EXPECT_EQ(invalid, completed);
	EXPECT_EQ(0, xsk_ring_used(self->first.completion));

	let_go();
	xsk_kick_tx(&self->second);
	expect_all_back(_metadata, &self->second);
	EXPECT_EQ(1, xsk_statistics(&self->second).tx_invalid_descs);
}

TEST_F(held, packet_of_many_descriptors)
{
	__u64 ended, completed;
	int i, count = 0;

	for (i = 0; i < 4; i++)
		xsk_post_tx(&self->first, xsk_frame_new(&self->umem), XSK_PACKET_LEN,
			    i < 3 ? XDP_PKT_CONTD : 0);
	xsk_kick_tx(&self->first);
	EXPECT_EQ(0, xsk_ring_used(&self->first.tx));
	ended = send_ending_at_once(&self->second);
	expect_only(_metadata, &self->second, ended);
	EXPECT_EQ(4, xsk_frames_at(&self->umem, XSK_TX));

	let_go();
	ASSERT_TRUE(xsk_wait(xsk_ring_used(self->first.completion) == 4));
	while (xsk_take_completion(&self->first, &completed))
		count++;
	EXPECT_EQ(4, count);
	expect_all_back(_metadata, &self->first);
}

/* Frames in flight keep their place on the completion ring: it never overflows */
TEST_F(held, completion_ring_is_reserved)
{
	int i, sent = 0;

	for (i = 0; i < XSK_RING_SIZE / 2; i++)
		send_held(&self->first);
	for (i = 0; i < XSK_RING_SIZE / 2; i++)
		send_held(&self->second);
	EXPECT_EQ(0, xsk_ring_used(&self->first.tx));
	EXPECT_EQ(0, xsk_ring_used(&self->second.tx));

	/* all places are taken: a further descriptor has to wait */
	xsk_ring_put_desc(&self->second.tx, (struct xdp_desc) { .len = XSK_PACKET_LEN });
	xsk_kick_tx(&self->second);
	EXPECT_EQ(1, xsk_ring_used(&self->second.tx));

	let_go();
	ASSERT_TRUE(xsk_wait(xsk_ring_used(self->first.completion) == XSK_RING_SIZE));
	for (__u64 addr; xsk_take_completion(&self->first, &addr); sent++)
		;
	EXPECT_EQ(XSK_RING_SIZE, sent);
	EXPECT_EQ(XSK_FRAMES, xsk_frames_at(&self->umem, XSK_USER));
	self->umem.owner[0] = XSK_TX;
	expect_all_back(_metadata, &self->second);
}

/* The skbs outlive the sockets; what they complete into must as well */
TEST_F(held, sockets_close_while_packets_are_in_flight)
{
	struct xsk next;

	send_held(&self->first);
	send_held(&self->second);
	xsk_close(&self->second);
	xsk_close(&self->first);
	xsk_prepare(&next, &self->umem);
	ASSERT_EQ(0, xsk_bind(next.fd, XSK_NEAR, 0, XDP_COPY, 0));
	let_go();
	/* they do not complete into the ring of the new socket */
	EXPECT_EQ(0, xsk_ring_used(next.completion));
	self->first = next;
	xsk_open_same_queue(&self->second, &self->first, XSK_NEAR, 0);
}

TEST_HARNESS_MAIN
