// SPDX-License-Identifier: GPL-2.0
/* Mapping the rings: offsets, sizes, before and after bind(), other processes */
#define _GNU_SOURCE
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "xsk_harness.h"
#include "xsk_net.h"

#define PAGE 4096

static const struct {
	int option;
	off_t offset;
	size_t entry_size;
} rings[] = {
	{ XDP_RX_RING, XDP_PGOFF_RX_RING, sizeof(struct xdp_desc) },
	{ XDP_TX_RING, XDP_PGOFF_TX_RING, sizeof(struct xdp_desc) },
	{ XDP_UMEM_FILL_RING, XDP_UMEM_PGOFF_FILL_RING, sizeof(__u64) },
	{ XDP_UMEM_COMPLETION_RING, XDP_UMEM_PGOFF_COMPLETION_RING, sizeof(__u64) },
};

/* Maps @size bytes at @offset, looks at both ends and unmaps them again */
static int try_map(int fd, off_t offset, size_t size)
{
	__u8 *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);

	if (map == MAP_FAILED)
		return -errno;
	__atomic_load_n(&map[0], __ATOMIC_RELAXED);
	__atomic_load_n(&map[size - 1], __ATOMIC_RELAXED);
	munmap(map, size);
	return 0;
}

/* The pages that a ring of @entries needs */
static size_t ring_bytes(int fd, unsigned int ring, __u32 entries)
{
	struct xdp_mmap_offsets offsets;
	socklen_t len = sizeof(offsets);
	size_t bytes;

	if (xsk_get(fd, XDP_MMAP_OFFSETS, &offsets, &len))
		xsk_die("cannot get the offsets");
	bytes = rings[ring].entry_size == sizeof(__u64) ? offsets.fr.desc : offsets.rx.desc;
	bytes += entries * rings[ring].entry_size;
	return (bytes + PAGE - 1) / PAGE * PAGE;
}

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

TEST_F(socket, ring_that_does_not_exist)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rings); i++)
		EXPECT_EQ(-EINVAL, try_map(self->fd, rings[i].offset, PAGE));
}

TEST_F(socket, each_ring_is_at_its_own_offset)
{
	unsigned int made, i;

	for (made = 0; made < ARRAY_SIZE(rings); made++) {
		ASSERT_EQ(0, xsk_set_u32(self->fd, rings[made].option, 64));
		for (i = 0; i < ARRAY_SIZE(rings); i++)
			EXPECT_EQ(i <= made ? 0 : -EINVAL,
				  try_map(self->fd, rings[i].offset, PAGE));
	}
}

TEST_F(socket, wrong_offset)
{
	const off_t offsets[] = {
		PAGE, XDP_PGOFF_TX_RING - PAGE, XDP_PGOFF_TX_RING + PAGE,
		XDP_UMEM_PGOFF_FILL_RING - PAGE, XDP_UMEM_PGOFF_FILL_RING + PAGE,
		XDP_UMEM_PGOFF_COMPLETION_RING + PAGE, 0x200000000, 1L << 40, 1L << 62,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rings); i++)
		ASSERT_EQ(0, xsk_set_u32(self->fd, rings[i].option, 64));
	for (i = 0; i < ARRAY_SIZE(offsets); i++)
		EXPECT_GT(0, try_map(self->fd, offsets[i], PAGE));
}

TEST_F(socket, no_more_than_the_ring)
{
	const __u32 entries[] = { 1, 64, 2048, 65536 };
	unsigned int i, j;

	for (j = 0; j < ARRAY_SIZE(entries); j++) {
		int fd = xsk_socket();

		for (i = 0; i < ARRAY_SIZE(rings); i++) {
			size_t bytes = ring_bytes(fd, i, entries[j]);

			ASSERT_EQ(0, xsk_set_u32(fd, rings[i].option, entries[j]));
			EXPECT_EQ(0, try_map(fd, rings[i].offset, PAGE));
			EXPECT_EQ(0, try_map(fd, rings[i].offset, bytes));
			EXPECT_EQ(-EINVAL, try_map(fd, rings[i].offset, bytes + PAGE));
			EXPECT_GT(0, try_map(fd, rings[i].offset, 1UL << 40));
		}
		close(fd);
	}
}

TEST_F(socket, two_mappings_of_one_ring)
{
	struct xsk_ring first, second;
	__u64 addr;

	ASSERT_EQ(0, xsk_set_u32(self->fd, XDP_UMEM_FILL_RING, 64));
	ASSERT_EQ(0, xsk_map_ring(self->fd, XDP_UMEM_FILL_RING, 64, &first));
	ASSERT_EQ(0, xsk_map_ring(self->fd, XDP_UMEM_FILL_RING, 64, &second));
	ASSERT_NE(first.map, second.map);
	ASSERT_TRUE(xsk_ring_put_addr(&first, 0x123456789000));
	ASSERT_TRUE(xsk_ring_get_addr(&second, &addr));
	EXPECT_EQ(0x123456789000, addr);
	EXPECT_EQ(0, xsk_ring_used(&first));
}

/* A ring lives as long as somebody has it mapped */
TEST_F(socket, mapping_outlives_the_file_descriptor)
{
	struct xsk_ring ring;
	__u64 addr;

	ASSERT_EQ(0, xsk_set_u32(self->fd, XDP_UMEM_FILL_RING, 64));
	ASSERT_EQ(0, xsk_map_ring(self->fd, XDP_UMEM_FILL_RING, 64, &ring));
	close(self->fd);
	ASSERT_TRUE(xsk_ring_put_addr(&ring, 4096));
	ASSERT_TRUE(xsk_ring_get_addr(&ring, &addr));
	EXPECT_EQ(4096, addr);
	xsk_unmap_ring(&ring);
}

FIXTURE(pair)
{
	struct xsk_redirect *xdp;
	struct xsk_umem near_umem;
	struct xsk_umem far_umem;
	struct xsk near;
	struct xsk far;
};

FIXTURE_SETUP(pair)
{
	xsk_net_create();
	self->xdp = xsk_xdp_load();
	xsk_xdp_attach(XSK_FAR, self->xdp->progs.to_queue, XDP_FLAGS_DRV_MODE);
	xsk_umem_create(&self->near_umem, XSK_FRAMES, XSK_FRAME_SIZE);
	xsk_umem_create(&self->far_umem, XSK_FRAMES, XSK_FRAME_SIZE);
	xsk_open(&self->far, &self->far_umem, XSK_FAR, 0, XDP_COPY);
	xsk_xdp_deliver(self->xdp, 0, &self->far);
	xsk_post_fill(&self->far, xsk_frame_new(&self->far_umem));
}

FIXTURE_TEARDOWN(pair)
{
	xsk_close(&self->far);
}

/* Takes the packet that the test sent to the far end */
static bool far_end_gets(FIXTURE_DATA(pair) *self, __u32 seed)
{
	struct xdp_desc desc;

	return xsk_wait(xsk_take_rx(&self->far, &desc)) && desc.len == XSK_PACKET_LEN &&
	       xsk_packet_intact(xsk_data(&self->far_umem, desc.addr), desc.len, seed);
}

TEST_F(pair, map_before_and_after_bind)
{
	struct xsk_ring tx_after, completion_after;
	struct xdp_desc desc = { .addr = 8192, .len = XSK_PACKET_LEN };
	__u64 addr;

	xsk_open(&self->near, &self->near_umem, XSK_NEAR, 0, XDP_COPY);
	ASSERT_EQ(0, xsk_map_ring(self->near.fd, XDP_TX_RING, XSK_RING_SIZE, &tx_after));
	ASSERT_EQ(0, xsk_map_ring(self->near.fd, XDP_UMEM_COMPLETION_RING, XSK_RING_SIZE,
				  &completion_after));
	EXPECT_EQ(0, try_map(self->near.fd, XDP_PGOFF_RX_RING, PAGE));
	EXPECT_EQ(0, try_map(self->near.fd, XDP_UMEM_PGOFF_FILL_RING, PAGE));

	xsk_packet_write(xsk_data(&self->near_umem, desc.addr), desc.len, 1);
	ASSERT_TRUE(xsk_ring_put_desc(&tx_after, desc));
	EXPECT_EQ(0, xsk_kick_tx(&self->near));
	EXPECT_TRUE(far_end_gets(self, 1));
	ASSERT_TRUE(xsk_wait(xsk_ring_used(self->near.completion)));
	ASSERT_TRUE(xsk_ring_get_addr(&completion_after, &addr));
	EXPECT_EQ(desc.addr, addr);
	EXPECT_EQ(0, xsk_ring_used(self->near.completion));
}

/* Takes the socket @fd of process @owner and sends what is in the umem */
static int send_from_another_process(pid_t owner, int fd)
{
	struct xdp_desc desc = { .addr = 4096, .len = XSK_PACKET_LEN };
	struct xsk xsk = { };
	int pidfd;

	pidfd = syscall(SYS_pidfd_open, owner, 0);
	xsk.fd = syscall(SYS_pidfd_getfd, pidfd, fd, 0);
	if (xsk.fd < 0)
		xsk_die("cannot get the socket of the other process");
	if (xsk_map_ring(xsk.fd, XDP_TX_RING, XSK_RING_SIZE, &xsk.tx))
		xsk_die("cannot map the ring of the other process");
	if (!xsk_ring_put_desc(&xsk.tx, desc) || xsk_kick_tx(&xsk))
		xsk_die("cannot send");
	return 0;
}

TEST_F(pair, map_from_another_process)
{
	pid_t child, parent = getpid();
	int status;

	xsk_open(&self->near, &self->near_umem, XSK_NEAR, 0, XDP_COPY);
	xsk_packet_write(xsk_data(&self->near_umem, 4096), XSK_PACKET_LEN, 1);

	child = fork();
	if (!child) {
		xsk_close(&self->near);
		_exit(send_from_another_process(parent, self->near.fd));
	}
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_TRUE(far_end_gets(self, 1));
}

static void exec_32_bit_program(int fd)
{
	char own_path[4096], path[8192], number[16];
	ssize_t len = readlink("/proc/self/exe", own_path, sizeof(own_path) - 1);

	own_path[len] = '\0';
	snprintf(path, sizeof(path), "%s/xsk_mmap32", dirname(own_path));
	snprintf(number, sizeof(number), "%d", fd);
	execl(path, path, number, XSK_NEAR, NULL);
	xsk_die("cannot start %s", path);
}

TEST_F(pair, program_for_32_bit)
{
	int status, fd = xsk_socket();
	struct xsk near = { .fd = fd };
	pid_t child;

	xsk_xdp_attach(XSK_NEAR, self->xdp->progs.to_key, XDP_FLAGS_DRV_MODE);
	self->xdp->bss->key = 1;
	xsk_xdp_deliver(self->xdp, 1, &near);
	fcntl(fd, F_SETFD, 0);

	child = fork();
	if (!child)
		exec_32_bit_program(fd);
	EXPECT_TRUE(far_end_gets(self, 1));
	xsk_send(&self->far, XSK_PACKET_LEN, 2);
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
}

TEST_HARNESS_MAIN
