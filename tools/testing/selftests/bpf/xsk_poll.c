// SPDX-License-Identifier: GPL-2.0
/* poll() and busy polling: who sleeps, and what wakes them up */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "xsk_harness.h"
#include "xsk_net.h"

#ifndef SO_PREFER_BUSY_POLL
#define SO_PREFER_BUSY_POLL 69
#define SO_BUSY_POLL_BUDGET 70
#endif

#define FOREVER (XSK_WAIT_SECONDS * 1000)

FIXTURE(poll)
{
	struct xsk_redirect *xdp;
	struct xsk_umem near_umem;
	struct xsk_umem far_umem;
	struct xsk near;
	struct xsk far;
};

FIXTURE_SETUP(poll)
{
	int i;

	xsk_net_create();
	self->xdp = xsk_xdp_load();
	xsk_xdp_attach(XSK_FAR, self->xdp->progs.to_queue, XDP_FLAGS_DRV_MODE);
	xsk_umem_create(&self->near_umem, XSK_FRAMES, XSK_FRAME_SIZE);
	xsk_umem_create(&self->far_umem, XSK_FRAMES, XSK_FRAME_SIZE);
	xsk_open(&self->near, &self->near_umem, XSK_NEAR, 0, XDP_COPY);
	xsk_open(&self->far, &self->far_umem, XSK_FAR, 0, XDP_COPY);
	xsk_xdp_deliver(self->xdp, 0, &self->far);
	for (i = 0; i < XSK_FRAMES / 2; i++)
		xsk_post_fill(&self->far, xsk_frame_new(&self->far_umem));
}

FIXTURE_TEARDOWN(poll)
{
	xsk_close(&self->near);
	xsk_close(&self->far);
}

/* What poll() returns for @events, which it also returns in full */
static short poll_events(struct xsk *xsk, short events, int timeout)
{
	struct pollfd poll_fd = { .fd = xsk->fd, .events = events };
	int ready = poll(&poll_fd, 1, timeout);

	return ready == 1 ? poll_fd.revents : ready;
}

static bool sleeps(pid_t process)
{
	char path[32], state = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", process);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%*d %*s %c", &state) != 1)
		xsk_die("cannot read %s", path);
	fclose(file);
	return state == 'S';
}

/* A process that sleeps in poll(); its exit status is 0 if @events woke it up */
static pid_t start_sleeper(struct xsk *xsk, short events)
{
	pid_t child = fork();

	if (!child)
		_exit(poll_events(xsk, events, FOREVER) != events);
	if (!xsk_wait(sleeps(child)))
		xsk_die("the process does not go to sleep");
	return child;
}

static int end_of(pid_t process)
{
	int status;

	waitpid(process, &status, 0);
	return status;
}

TEST_F(poll, sleeps_without_traffic)
{
	struct rusage before, after;

	getrusage(RUSAGE_SELF, &before);
	EXPECT_EQ(0, poll_events(&self->far, POLLIN, 500));
	getrusage(RUSAGE_SELF, &after);
	EXPECT_LE(1, after.ru_nvcsw - before.ru_nvcsw);
	/* it was woken up by its timeout alone, not again and again to look */
	EXPECT_GE(20, after.ru_nvcsw - before.ru_nvcsw);
	EXPECT_EQ(0, xsk_ring_used(&self->far.rx));
}

TEST_F(poll, returns_at_once_what_is_there)
{
	EXPECT_EQ(0, poll_events(&self->far, POLLIN, 0));
	EXPECT_EQ(POLLOUT, poll_events(&self->far, POLLIN | POLLOUT, 0));
	xsk_send(&self->near, XSK_PACKET_LEN, 1);
	EXPECT_EQ(POLLIN, poll_events(&self->far, POLLIN, FOREVER));
	EXPECT_EQ(POLLIN | POLLOUT, poll_events(&self->far, POLLIN | POLLOUT, 0));
}

TEST_F(poll, wakes_up_on_rx)
{
	pid_t sleeper = start_sleeper(&self->far, POLLIN);

	xsk_send(&self->near, XSK_PACKET_LEN, 1);
	EXPECT_EQ(0, end_of(sleeper));
}

/* Fills the Tx ring behind a completion ring that nobody empties */
static void fill_tx_ring(struct __test_metadata *_metadata, FIXTURE_DATA(poll) *self)
{
	const struct xdp_desc desc = { .len = XSK_PACKET_LEN };
	int i;

	for (i = 0; i < 2 * XSK_RING_SIZE; i++) {
		xsk_ring_put_desc(&self->near.tx, desc);
		xsk_kick_tx(&self->near);
	}
	ASSERT_TRUE(xsk_wait(xsk_ring_used(self->near.completion) == XSK_RING_SIZE));
	while (xsk_ring_put_desc(&self->near.tx, desc))
		;
	EXPECT_EQ(XSK_RING_SIZE, xsk_ring_used(&self->near.tx));
}

static void empty_completion_ring(FIXTURE_DATA(poll) *self)
{
	__u64 addr;

	while (xsk_ring_get_addr(self->near.completion, &addr))
		;
}

TEST_F(poll, no_pollout_while_the_tx_ring_is_full)
{
	fill_tx_ring(_metadata, self);
	EXPECT_EQ(0, poll_events(&self->near, POLLOUT, 0));
	EXPECT_EQ(0, poll_events(&self->near, POLLOUT, 200));
	EXPECT_EQ(XSK_RING_SIZE, xsk_ring_used(&self->near.tx));
}

/* poll() sends by itself: no sendto() is needed */
TEST_F(poll, pollout_comes_back)
{
	fill_tx_ring(_metadata, self);
	empty_completion_ring(self);
	EXPECT_EQ(POLLOUT, poll_events(&self->near, POLLOUT, FOREVER));
	EXPECT_GE(XSK_RING_SIZE / 2, xsk_ring_used(&self->near.tx));
}

TEST_F(poll, wakes_up_when_another_empties_the_tx_ring)
{
	pid_t sleeper;

	fill_tx_ring(_metadata, self);
	sleeper = start_sleeper(&self->near, POLLOUT);
	EXPECT_TRUE(xsk_wait(({
		empty_completion_ring(self);
		xsk_kick_tx(&self->near);
		xsk_ring_used(&self->near.tx) == 0;
	})));
	EXPECT_EQ(0, end_of(sleeper));
}

/* It is enough that the Tx ring is half empty */
TEST_F(poll, pollout_threshold)
{
	const struct xdp_desc desc = { .len = XSK_PACKET_LEN };
	int i;

	if (!xsk_knows_tx_budget())
		SKIP(return, "this kernel does not show at once what it took from the Tx ring");

	fill_tx_ring(_metadata, self);
	for (i = 0; i < XSK_RING_SIZE / 2; i++) {
		__u64 addr;

		EXPECT_EQ(0, poll_events(&self->near, POLLOUT, 0));
		ASSERT_TRUE(xsk_ring_get_addr(self->near.completion, &addr));
		xsk_kick_tx(&self->near);
		EXPECT_EQ(XSK_RING_SIZE - i - 1, xsk_ring_used(&self->near.tx));
		ASSERT_TRUE(xsk_wait(xsk_ring_used(self->near.completion) == XSK_RING_SIZE));
	}
	EXPECT_EQ(POLLOUT, poll_events(&self->near, POLLOUT, 0));
	xsk_ring_put_desc(&self->near.tx, desc);
	EXPECT_EQ(0, poll_events(&self->near, POLLOUT, 0));
}

TEST_F(poll, only_the_directions_of_the_socket)
{
	int fd = xsk_socket();
	struct xsk tx_only = { .fd = fd };

	ASSERT_EQ(0, xsk_set_u32(fd, XDP_TX_RING, 64));
	ASSERT_EQ(0, xsk_bind(fd, XSK_NEAR, 0, XDP_SHARED_UMEM, self->near.fd));
	EXPECT_EQ(POLLOUT, poll_events(&tx_only, POLLIN | POLLOUT, 0));
	EXPECT_EQ(-ENOBUFS, xsk_kick_rx(&tx_only));
	close(fd);

	fd = xsk_socket();
	struct xsk rx_only = { .fd = fd };

	ASSERT_EQ(0, xsk_set_u32(fd, XDP_RX_RING, 64));
	ASSERT_EQ(0, xsk_bind(fd, XSK_NEAR, 0, XDP_SHARED_UMEM, self->near.fd));
	EXPECT_EQ(0, poll_events(&rx_only, POLLIN | POLLOUT, 0));
	EXPECT_EQ(-ENOBUFS, xsk_kick_tx(&rx_only));
	close(fd);
}

TEST_F(poll, unbound_socket)
{
	struct xsk unbound = { .fd = xsk_socket() };

	EXPECT_EQ(0, poll_events(&unbound, POLLIN | POLLOUT, 0));
	EXPECT_EQ(-ENXIO, xsk_kick_tx(&unbound));
	EXPECT_EQ(-ENXIO, xsk_kick_rx(&unbound));
	close(unbound.fd);
}

/* AF_XDP carries no data through the call, and it never blocks */
TEST_F(poll, blocking_calls_are_refused)
{
	EXPECT_EQ(-1, sendto(self->near.fd, NULL, 0, 0, NULL, 0));
	EXPECT_EQ(EOPNOTSUPP, errno);
	EXPECT_EQ(-1, recvfrom(self->near.fd, NULL, 0, 0, NULL, NULL));
	EXPECT_EQ(EOPNOTSUPP, errno);
}

static void set_busy_poll(struct __test_metadata *_metadata, struct xsk *xsk, int budget)
{
	const int on = 1, microseconds = 20;

	ASSERT_EQ(0, setsockopt(xsk->fd, SOL_SOCKET, SO_PREFER_BUSY_POLL, &on, sizeof(on)));
	ASSERT_EQ(0, setsockopt(xsk->fd, SOL_SOCKET, SO_BUSY_POLL, &microseconds,
				sizeof(microseconds)));
	ASSERT_EQ(0, setsockopt(xsk->fd, SOL_SOCKET, SO_BUSY_POLL_BUDGET, &budget,
				sizeof(budget)));
}

/* With the interrupt put off, the packets come with the receiver's own call */
TEST_F(poll, busy_poll_fetches_packets)
{
	struct xdp_desc desc;
	int i;

	set_busy_poll(_metadata, &self->far, 64);
	xsk_hold_packets(XSK_FAR, &self->near);
	ASSERT_TRUE(xsk_wait(xsk_take_rx(&self->far, &desc)));

	for (i = 1; i < 20; i++) {
		xsk_send(&self->near, XSK_PACKET_LEN, i);
		EXPECT_EQ(0, xsk_ring_used(&self->far.rx));
		EXPECT_EQ(0, xsk_kick_rx(&self->far));
		ASSERT_TRUE(xsk_take_rx(&self->far, &desc));
		EXPECT_TRUE(xsk_packet_intact(xsk_data(&self->far_umem, desc.addr), desc.len, i));
	}
	EXPECT_TRUE(xsk_drain_tx(&self->near));
}

/* The timer that takes over from a busy poller runs out while he still polls */
TEST_F(poll, busy_poller_who_leaves_strands_no_packet)
{
	struct xdp_desc desc;
	int i;

	set_busy_poll(_metadata, &self->far, 1);
	xsk_hold_packets(XSK_FAR, &self->near);
	ASSERT_TRUE(xsk_wait(xsk_take_rx(&self->far, &desc)));
	for (i = 1; i < 20; i++)
		xsk_send(&self->near, XSK_PACKET_LEN, i);
	EXPECT_EQ(0, xsk_ring_used(&self->far.rx));

	xsk_run("echo 1 > /sys/class/net/%s/gro_flush_timeout", XSK_FAR);
	EXPECT_EQ(0, xsk_kick_rx(&self->far));
	for (i = 1; i < 20; i++) {
		ASSERT_TRUE(xsk_wait(xsk_take_rx(&self->far, &desc)));
		EXPECT_TRUE(xsk_packet_intact(xsk_data(&self->far_umem, desc.addr), desc.len, i));
	}
	EXPECT_TRUE(xsk_drain_tx(&self->near));
}

TEST_HARNESS_MAIN
