// SPDX-License-Identifier: GPL-2.0
/* Sockets that come and go: close, kill, and devices that vanish under them */
#define _GNU_SOURCE
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "xsk_harness.h"
#include "xsk_net.h"

#define REBINDS 1000
#define KILLS 20

FIXTURE(life)
{
	struct xsk_umem umem;
	struct xsk xsk;
};

FIXTURE_SETUP(life)
{
	xsk_net_create();
	xsk_umem_create(&self->umem, XSK_FRAMES, XSK_FRAME_SIZE);
}

FIXTURE_TEARDOWN(life)
{
	xsk_umem_destroy(&self->umem);
}

TEST_F(life, rebind_at_once)
{
	int round;

	for (round = 0; round < REBINDS; round++) {
		xsk_prepare(&self->xsk, &self->umem);
		ASSERT_EQ(0, xsk_bind(self->xsk.fd, XSK_NEAR, 0, XDP_COPY, 0))
			TH_LOG("bind() was refused in round %d", round);
		xsk_close(&self->xsk);
	}
}

TEST_F(life, rebind_after_traffic)
{
	struct xsk_redirect *xdp = xsk_xdp_load();
	struct xsk_umem far_umem;
	struct xsk far;
	int round, i;

	xsk_xdp_attach(XSK_FAR, xdp->progs.to_queue, XDP_FLAGS_DRV_MODE);
	xsk_umem_create(&far_umem, XSK_FRAMES, XSK_FRAME_SIZE);
	for (round = 0; round < 20; round++) {
		xsk_prepare(&self->xsk, &self->umem);
		ASSERT_EQ(0, xsk_bind(self->xsk.fd, XSK_NEAR, 0, XDP_COPY, 0));
		xsk_prepare(&far, &far_umem);
		ASSERT_EQ(0, xsk_bind(far.fd, XSK_FAR, 0, XDP_COPY, 0));
		xsk_xdp_deliver(xdp, 0, &far);
		for (i = 0; i < XSK_FRAMES / 2; i++)
			xsk_post_fill(&far, xsk_frame_new(&far_umem));
		for (i = 0; i < XSK_FRAMES; i++)
			xsk_send(&self->xsk, XSK_PACKET_LEN, i);
		/* packets are still on all of their ways */
		xsk_close(&far);
		xsk_close(&self->xsk);
		memset(self->umem.owner, XSK_USER, XSK_FRAMES);
		memset(far_umem.owner, XSK_USER, XSK_FRAMES);
	}
}

/* Sends for ever; says so on @ready as soon as it has begun */
static void flood(FIXTURE_DATA(life) *self, int ready)
{
	__u64 addr;

	xsk_open(&self->xsk, &self->umem, XSK_NEAR, 0, XDP_COPY);
	for (;;) {
		while (xsk_ring_put_desc(&self->xsk.tx, (struct xdp_desc) { .len = 64 }))
			;
		xsk_kick_tx(&self->xsk);
		if (xsk_ring_used(self->xsk.completion) && ready >= 0) {
			if (write(ready, "", 1) != 1)
				_exit(1);
			ready = -1;
		}
		while (xsk_ring_get_addr(self->xsk.completion, &addr))
			;
	}
}

TEST_F(life, kill_under_traffic)
{
	int round, status, ready[2];
	pid_t child;
	char byte;

	for (round = 0; round < KILLS; round++) {
		ASSERT_EQ(0, pipe(ready));
		child = fork();
		if (!child) {
			close(ready[0]);
			flood(self, ready[1]);
		}
		close(ready[1]);
		ASSERT_EQ(1, read(ready[0], &byte, 1));
		close(ready[0]);
		ASSERT_EQ(0, kill(child, SIGKILL));
		ASSERT_EQ(child, waitpid(child, &status, 0));
		ASSERT_TRUE(WIFSIGNALED(status));

		xsk_prepare(&self->xsk, &self->umem);
		ASSERT_EQ(0, xsk_bind(self->xsk.fd, XSK_NEAR, 0, XDP_COPY, 0));
		xsk_close(&self->xsk);
	}
}

/* Who shares the queue goes on when the socket that made the umem is closed */
TEST_F(life, sharer_outlives_the_owner)
{
	struct xsk sharer;
	int i;

	xsk_open(&self->xsk, &self->umem, XSK_NEAR, 0, XDP_COPY);
	xsk_open_same_queue(&sharer, &self->xsk, XSK_NEAR, 0);
	xsk_send(&self->xsk, XSK_PACKET_LEN, 1);
	xsk_close(&self->xsk);

	/* the rings of the queue can be had from either socket */
	ASSERT_EQ(0, xsk_map_ring(sharer.fd, XDP_UMEM_FILL_RING, XSK_RING_SIZE,
				  &sharer.own_fill));
	ASSERT_EQ(0, xsk_map_ring(sharer.fd, XDP_UMEM_COMPLETION_RING, XSK_RING_SIZE,
				  &sharer.own_completion));
	sharer.fill = &sharer.own_fill;
	sharer.completion = &sharer.own_completion;
	for (i = 0; i < XSK_RING_SIZE / 2; i++)
		xsk_send(&sharer, XSK_PACKET_LEN, i);
	EXPECT_TRUE(xsk_drain_tx(&sharer));
	EXPECT_EQ(XSK_FRAMES, xsk_frames_at(&self->umem, XSK_USER));
	xsk_close(&sharer);

	xsk_prepare(&self->xsk, &self->umem);
	EXPECT_EQ(0, xsk_bind(self->xsk.fd, XSK_NEAR, 0, XDP_COPY, 0));
	xsk_close(&self->xsk);
}

/* The kernel holds the pages itself */
TEST_F(life, memory_is_unmapped_under_the_socket)
{
	xsk_open(&self->xsk, &self->umem, XSK_NEAR, 0, XDP_COPY);
	munmap(self->umem.area, self->umem.reg.len);
	xsk_post_tx(&self->xsk, 0, XSK_PACKET_LEN, 0);
	EXPECT_TRUE(xsk_drain_tx(&self->xsk));
	xsk_close(&self->xsk);
}

/* What is left of a socket whose device has gone */
static void expect_dead(struct __test_metadata *_metadata, struct xsk *xsk)
{
	struct pollfd poll_fd = { .fd = xsk->fd, .events = POLLIN | POLLOUT };
	int err;

	/* older kernels wake a poll() up and then have nothing to tell it */
	if (xsk_knows_tx_budget()) {
		EXPECT_EQ(1, poll(&poll_fd, 1, XSK_WAIT_SECONDS * 1000));
		EXPECT_TRUE(poll_fd.revents & POLLERR);
	}
	xsk_ring_put_desc(&xsk->tx, (struct xdp_desc) { .len = XSK_PACKET_LEN });
	err = xsk_kick_tx(xsk);
	EXPECT_TRUE(err == -ENXIO || err == -ENETDOWN) TH_LOG("sendto() gives %d", err);
	err = xsk_kick_rx(xsk);
	EXPECT_TRUE(err == -ENXIO || err == -ENETDOWN) TH_LOG("recvfrom() gives %d", err);
	EXPECT_NE(0, xsk_bind(xsk->fd, "lo", 0, XDP_COPY, 0));
	xsk_statistics(xsk);
	EXPECT_EQ(1, xsk_ring_used(&xsk->tx));
}

TEST_F(life, device_is_deleted)
{
	struct xsk sharer, other;

	xsk_open(&self->xsk, &self->umem, XSK_NEAR, 0, XDP_COPY);
	xsk_open_same_queue(&sharer, &self->xsk, XSK_NEAR, 0);
	xsk_open_other_queue(&other, &self->xsk, XSK_FAR, 1);
	xsk_send(&self->xsk, XSK_PACKET_LEN, 1);
	xsk_run("ip link del %s", XSK_NEAR);

	expect_dead(_metadata, &self->xsk);
	expect_dead(_metadata, &sharer);
	expect_dead(_metadata, &other);
	xsk_close(&sharer);
	xsk_close(&other);
	xsk_close(&self->xsk);
}

TEST_F(life, device_moves_to_another_namespace)
{
	xsk_open(&self->xsk, &self->umem, XSK_NEAR, 0, XDP_COPY);
	xsk_run("ip netns add elsewhere && ip link set %s netns elsewhere", XSK_NEAR);
	expect_dead(_metadata, &self->xsk);
	xsk_run("ip netns del elsewhere");
	xsk_close(&self->xsk);
}

TEST_F(life, device_is_down)
{
	xsk_open(&self->xsk, &self->umem, XSK_NEAR, 0, XDP_COPY);
	xsk_run("ip link set %s down", XSK_NEAR);
	xsk_post_tx(&self->xsk, 0, XSK_PACKET_LEN, 0);
	EXPECT_EQ(-ENETDOWN, xsk_kick_tx(&self->xsk));
	EXPECT_EQ(-ENETDOWN, xsk_kick_rx(&self->xsk));
	xsk_run("ip link set %s up", XSK_NEAR);
	EXPECT_TRUE(xsk_drain_tx(&self->xsk));
	xsk_close(&self->xsk);
}

TEST_F(life, process_and_its_namespace_end)
{
	int round, status;
	pid_t child;

	for (round = 0; round < 5; round++) {
		child = fork();
		if (!child) {
			xsk_net_create();
			xsk_open(&self->xsk, &self->umem, XSK_NEAR, 0, XDP_COPY);
			xsk_send(&self->xsk, XSK_PACKET_LEN, 1);
			_exit(0);
		}
		ASSERT_EQ(child, waitpid(child, &status, 0));
		ASSERT_EQ(0, status);
	}
}

/* The last socket closes in a process that lives in another namespace */
TEST_F(life, socket_is_all_that_is_left_of_its_namespace)
{
	int pidfd, fd, status, ready[2], done[2];
	pid_t child;

	ASSERT_EQ(0, pipe(ready));
	ASSERT_EQ(0, pipe(done));
	child = fork();
	if (!child) {
		xsk_net_create();
		xsk_open(&self->xsk, &self->umem, XSK_NEAR, 0, XDP_COPY);
		if (write(ready[1], &self->xsk.fd, sizeof(int)) != sizeof(int) ||
		    read(done[0], &fd, 1) != 1)
			_exit(1);
		_exit(0);
	}
	ASSERT_EQ(sizeof(fd), read(ready[0], &fd, sizeof(fd)));
	pidfd = syscall(SYS_pidfd_open, child, 0);
	fd = syscall(SYS_pidfd_getfd, pidfd, fd, 0);
	ASSERT_LE(0, fd);
	ASSERT_EQ(1, write(done[1], "", 1));
	ASSERT_EQ(child, waitpid(child, &status, 0));
	ASSERT_EQ(0, status);

	self->xsk.fd = fd;
	EXPECT_EQ(0, xsk_kick_tx(&self->xsk));
	EXPECT_EQ(0, xsk_statistics(&self->xsk).tx_invalid_descs);
	close(fd);
}

/* A refused bind() says why, and can be repeated when the cause is removed */

FIXTURE(bind)
{
	struct xsk_umem umem;
	struct xsk xsk;
	bool exact;
};

FIXTURE_SETUP(bind)
{
	xsk_net_create();
	xsk_umem_create(&self->umem, XSK_FRAMES, XSK_FRAME_SIZE);
	xsk_prepare(&self->xsk, &self->umem);
	self->exact = xsk_knows_tx_budget();
}

FIXTURE_TEARDOWN(bind)
{
	xsk_close(&self->xsk);
	xsk_umem_destroy(&self->umem);
}

static int bind_to(FIXTURE_DATA(bind) *self, const char *device, __u32 queue, __u16 flags)
{
	return xsk_bind(self->xsk.fd, device, queue, flags, 0);
}

TEST_F(bind, malformed_address)
{
	struct sockaddr_xdp address = {
		.sxdp_family = AF_XDP,
		.sxdp_flags = XDP_COPY,
		.sxdp_ifindex = if_nametoindex(XSK_NEAR),
	};
	int bit;

	for (int len = 0; len < (int)sizeof(address); len++) {
		EXPECT_EQ(-1, bind(self->xsk.fd, (struct sockaddr *)&address, len));
		EXPECT_EQ(EINVAL, errno);
	}
	address.sxdp_family = AF_UNSPEC;
	EXPECT_EQ(-1, bind(self->xsk.fd, (struct sockaddr *)&address, sizeof(address)));
	EXPECT_EQ(self->exact ? EAFNOSUPPORT : EINVAL, errno);

	for (bit = 5; bit < 16; bit++)
		EXPECT_EQ(-EINVAL, bind_to(self, XSK_NEAR, 0, XDP_COPY | 1 << bit));
	EXPECT_EQ(-EINVAL, bind_to(self, XSK_NEAR, 0, XDP_COPY | XDP_ZEROCOPY));
	EXPECT_EQ(0, bind_to(self, XSK_NEAR, 0, XDP_COPY));
}

TEST_F(bind, no_such_device)
{
	struct sockaddr_xdp address = { .sxdp_family = AF_XDP, .sxdp_ifindex = 0x7fffffff };

	EXPECT_EQ(-ENODEV, bind_to(self, "nosuchdevice", 0, XDP_COPY));
	EXPECT_EQ(-1, bind(self->xsk.fd, (struct sockaddr *)&address, sizeof(address)));
	EXPECT_EQ(ENODEV, errno);
	EXPECT_EQ(0, bind_to(self, XSK_NEAR, 0, XDP_COPY));
}

TEST_F(bind, queue_is_in_use)
{
	struct xsk_umem umem;
	struct xsk other;

	xsk_umem_create(&umem, XSK_FRAMES, XSK_FRAME_SIZE);
	xsk_open(&other, &umem, XSK_NEAR, 0, XDP_COPY);
	EXPECT_EQ(-EBUSY, bind_to(self, XSK_NEAR, 0, XDP_COPY));
	EXPECT_EQ(0, bind_to(self, XSK_NEAR, 1, XDP_COPY));
	xsk_close(&other);
}

/* A veth has no zero-copy: without a wish it is copy mode, else refused */
TEST_F(bind, no_zero_copy)
{
	struct xdp_options options;
	socklen_t len = sizeof(options);

	EXPECT_EQ(-EOPNOTSUPP, bind_to(self, XSK_NEAR, 0, XDP_ZEROCOPY));
	EXPECT_EQ(0, bind_to(self, XSK_NEAR, 0, 0));
	ASSERT_EQ(0, xsk_get(self->xsk.fd, XDP_OPTIONS, &options, &len));
	EXPECT_EQ(0, options.flags);
}

TEST_F(bind, no_such_queue)
{
	const __u32 queues[] = { XSK_QUEUES, 0x8000, 0x10000, 0x80000000, 0xffffffff };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(queues); i++) {
		int err = bind_to(self, XSK_NEAR, queues[i], XDP_COPY);

		if (!self->exact && !err)
			SKIP(return, "this kernel takes queue %#x for another one", queues[i]);
		EXPECT_EQ(self->exact ? -ENXIO : -EINVAL, err) TH_LOG("queue %#x", queues[i]);
	}
	EXPECT_EQ(0, bind_to(self, XSK_NEAR, XSK_QUEUES - 1, XDP_COPY));
}

TEST_F(bind, bound_to_another_device)
{
	ASSERT_EQ(0, setsockopt(self->xsk.fd, SOL_SOCKET, SO_BINDTODEVICE, XSK_FAR,
				sizeof(XSK_FAR)));
	EXPECT_EQ(self->exact ? -EXDEV : -EINVAL, bind_to(self, XSK_NEAR, 0, XDP_COPY));
	EXPECT_EQ(0, bind_to(self, XSK_FAR, 0, XDP_COPY));
}

TEST_F(bind, twice)
{
	ASSERT_EQ(0, bind_to(self, XSK_NEAR, 0, XDP_COPY));
	EXPECT_EQ(self->exact ? -EALREADY : -EBUSY, bind_to(self, XSK_NEAR, 0, XDP_COPY));
	EXPECT_EQ(self->exact ? -EALREADY : -EBUSY, bind_to(self, XSK_FAR, 1, XDP_COPY));
}

TEST_F(bind, something_is_missing)
{
	int fd = xsk_socket();

	EXPECT_EQ(self->exact ? -ENOBUFS : -EINVAL, xsk_bind(fd, XSK_NEAR, 0, XDP_COPY, 0));
	ASSERT_EQ(0, xsk_set_u32(fd, XDP_RX_RING, 64));
	EXPECT_EQ(self->exact ? -EDESTADDRREQ : -EINVAL,
		  xsk_bind(fd, XSK_NEAR, 0, XDP_COPY, 0));
	ASSERT_EQ(0, xsk_set(fd, XDP_UMEM_REG, &self->umem.reg, sizeof(self->umem.reg)));
	EXPECT_EQ(self->exact ? -EBADFD : -EINVAL, xsk_bind(fd, XSK_NEAR, 0, XDP_COPY, 0));
	ASSERT_EQ(0, xsk_set_u32(fd, XDP_UMEM_FILL_RING, 64));
	EXPECT_EQ(self->exact ? -EBADFD : -EINVAL, xsk_bind(fd, XSK_NEAR, 0, XDP_COPY, 0));
	ASSERT_EQ(0, xsk_set_u32(fd, XDP_UMEM_COMPLETION_RING, 64));
	EXPECT_EQ(0, xsk_bind(fd, XSK_NEAR, 0, XDP_COPY, 0));
	close(fd);
}

TEST_F(bind, sharing)
{
	const __u16 forbidden[] = { XDP_COPY, XDP_ZEROCOPY, XDP_USE_NEED_WAKEUP, XDP_USE_SG };
	int tcp = socket(AF_INET, SOCK_STREAM, 0), sharer = xsk_socket();
	unsigned int i;

	ASSERT_EQ(0, xsk_set_u32(sharer, XDP_TX_RING, 64));
	EXPECT_EQ(self->exact ? -ENOTCONN : -EBADF,
		  xsk_bind(sharer, XSK_NEAR, 0, XDP_SHARED_UMEM, self->xsk.fd));
	ASSERT_EQ(0, bind_to(self, XSK_NEAR, 0, XDP_COPY));

	for (i = 0; i < ARRAY_SIZE(forbidden); i++)
		EXPECT_EQ(-EINVAL, xsk_bind(sharer, XSK_NEAR, 0, XDP_SHARED_UMEM | forbidden[i],
					    self->xsk.fd));
	EXPECT_EQ(-ENOPROTOOPT, xsk_bind(sharer, XSK_NEAR, 0, XDP_SHARED_UMEM, tcp));
	EXPECT_EQ(self->exact ? -EBADF : -ENOTSOCK,
		  xsk_bind(sharer, XSK_NEAR, 0, XDP_SHARED_UMEM, 9999));
	EXPECT_EQ(self->exact ? -ENOTCONN : -EBADF,
		  xsk_bind(sharer, XSK_NEAR, 0, XDP_SHARED_UMEM, sharer));
	/* another queue needs rings of its own */
	EXPECT_EQ(self->exact ? -EBADFD : -EINVAL,
		  xsk_bind(sharer, XSK_NEAR, 1, XDP_SHARED_UMEM, self->xsk.fd));
	EXPECT_EQ(0, xsk_bind(sharer, XSK_NEAR, 0, XDP_SHARED_UMEM, self->xsk.fd));
	close(sharer);
}

TEST_HARNESS_MAIN
