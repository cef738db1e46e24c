// SPDX-License-Identifier: GPL-2.0
/* Registration of a umem: every limit from both sides, hostile sizes, memlock */
#define _GNU_SOURCE
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "xsk_harness.h"
#include "xsk_net.h"

#define MIB (1024 * 1024ULL)
#define GIB (1024 * MIB)
#define HUGE_PAGE (2 * MIB)
#define PAGE 4096ULL

/* The result of registering @reg at a socket of its own */
static int try_reg(struct xdp_umem_reg reg)
{
	int fd = xsk_socket();
	int err = xsk_set(fd, XDP_UMEM_REG, &reg, sizeof(reg));

	close(fd);
	return err;
}

/* Memory on pages of the normal size, or with MAP_HUGETLB on huge ones */
static void *map_area(size_t size, int flags)
{
	void *area = mmap(NULL, size, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

	if (area != MAP_FAILED && !(flags & MAP_HUGETLB))
		madvise(area, size, MADV_NOHUGEPAGE);
	return area;
}

FIXTURE(umem)
{
	struct xdp_umem_reg reg;
};

FIXTURE_SETUP(umem)
{
	void *area = map_area(4 * MIB, 0);

	ASSERT_NE(MAP_FAILED, area);
	self->reg = (struct xdp_umem_reg) {
		.addr = (uintptr_t)area,
		.len = 16 * PAGE,
		.chunk_size = 4096,
	};
	ASSERT_EQ(0, try_reg(self->reg));
}

FIXTURE_TEARDOWN(umem)
{
	munmap((void *)(uintptr_t)self->reg.addr, 4 * MIB);
}

TEST_F(umem, aligned_chunk_size)
{
	const __u32 refused[] = {
		0, 1, 1024, 2047, 2049, 3000, 4095, 4097, 6144, 8192, 65536, 2 * MIB, 4 * MIB,
		0x80000000, 0xffffffff,
	};
	unsigned int i;

	self->reg.len = 4 * MIB;
	for (i = 0; i < ARRAY_SIZE(refused); i++) {
		self->reg.chunk_size = refused[i];
		EXPECT_EQ(-EINVAL, try_reg(self->reg));
	}
	self->reg.chunk_size = 2048;
	EXPECT_EQ(0, try_reg(self->reg));
	self->reg.chunk_size = 4096;
	EXPECT_EQ(0, try_reg(self->reg));
}

TEST_F(umem, unaligned_chunk_size)
{
	const __u32 accepted[] = { 2048, 2049, 3000, 4001, 4095, 4096 };
	const __u32 refused[] = { 0, 1, 2047, 4097, 8192, 0x80000000, 0xffffffff };
	unsigned int i;

	self->reg.flags = XDP_UMEM_UNALIGNED_CHUNK_FLAG;
	for (i = 0; i < ARRAY_SIZE(accepted); i++) {
		self->reg.chunk_size = accepted[i];
		EXPECT_EQ(0, try_reg(self->reg));
	}
	for (i = 0; i < ARRAY_SIZE(refused); i++) {
		self->reg.chunk_size = refused[i];
		EXPECT_EQ(-EINVAL, try_reg(self->reg));
	}
}

TEST_F(umem, huge_chunks_need_huge_pages)
{
	const __u32 accepted[] = { 8192, 65536, HUGE_PAGE };
	void *area = map_area(2 * HUGE_PAGE, MAP_HUGETLB);
	unsigned int i;

	if (!xsk_knows_tx_budget())
		SKIP(return, "this kernel takes no chunks bigger than a page");
	if (area == MAP_FAILED)
		SKIP(return, "needs huge pages: echo 64 > /proc/sys/vm/nr_hugepages");

	self->reg.len = 2 * HUGE_PAGE;
	for (i = 0; i < ARRAY_SIZE(accepted); i++) {
		self->reg.chunk_size = accepted[i];
		EXPECT_EQ(-EINVAL, try_reg(self->reg));
	}
	self->reg.addr = (uintptr_t)area;
	for (i = 0; i < ARRAY_SIZE(accepted); i++) {
		self->reg.chunk_size = accepted[i];
		EXPECT_EQ(0, try_reg(self->reg));
	}
	self->reg.chunk_size = 2 * HUGE_PAGE;
	EXPECT_EQ(-EINVAL, try_reg(self->reg));

	/* one small page in the middle spoils it */
	self->reg.chunk_size = 8192;
	munmap(area + HUGE_PAGE, HUGE_PAGE);
	ASSERT_EQ(area + HUGE_PAGE,
		  mmap(area + HUGE_PAGE, PAGE * 2, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
	self->reg.len = HUGE_PAGE + 2 * PAGE;
	EXPECT_EQ(-EINVAL, try_reg(self->reg));
}

TEST_F(umem, address_is_page_aligned)
{
	const __u64 offsets[] = { 1, 8, 64, 2048, 4095 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(offsets); i++) {
		struct xdp_umem_reg reg = self->reg;

		reg.addr += offsets[i];
		EXPECT_EQ(-EINVAL, try_reg(reg));
	}
}

TEST_F(umem, length_is_a_multiple_of_the_chunk)
{
	const __u64 refused[] = { 0, 1, 2048, 4095, 4097, 16 * PAGE - 1, 16 * PAGE + 2048 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(refused); i++) {
		self->reg.len = refused[i];
		EXPECT_EQ(-EINVAL, try_reg(self->reg));
	}
	/* an unaligned umem may end anywhere, but holds at least one chunk */
	self->reg.flags = XDP_UMEM_UNALIGNED_CHUNK_FLAG;
	self->reg.len = 16 * PAGE + 1;
	EXPECT_EQ(0, try_reg(self->reg));
	self->reg.len = 4095;
	EXPECT_EQ(-EINVAL, try_reg(self->reg));
}

TEST_F(umem, sizes_that_overflow)
{
	struct xdp_umem_reg reg = self->reg;

	/* wraps around the end of the address space */
	reg.addr = -PAGE;
	reg.len = 2 * PAGE;
	EXPECT_EQ(-EINVAL, try_reg(reg));
	reg = self->reg;
	reg.len = -PAGE;
	EXPECT_EQ(-EINVAL, try_reg(reg));
	/* rounds up to zero pages */
	reg.flags = XDP_UMEM_UNALIGNED_CHUNK_FLAG;
	reg.len = ~0ULL;
	EXPECT_EQ(-EINVAL, try_reg(reg));
	/* more pages, or more chunks, than 32 bits count */
	reg = self->reg;
	reg.len = PAGE << 32;
	EXPECT_EQ(-EINVAL, try_reg(reg));
	reg.len = 2048ULL << 32;
	reg.chunk_size = 2048;
	EXPECT_EQ(-EINVAL, try_reg(reg));
}

TEST_F(umem, memory_that_is_not_there)
{
	void *area = (void *)(uintptr_t)self->reg.addr;

	munmap(area + 8 * PAGE, PAGE);
	EXPECT_GT(0, try_reg(self->reg));
	munmap(area, PAGE);
	EXPECT_GT(0, try_reg(self->reg));
	self->reg.addr = 0;
	EXPECT_GT(0, try_reg(self->reg));
	/* kernel memory is nobody's umem */
	self->reg.addr = 0xffff888000000000;
	EXPECT_GT(0, try_reg(self->reg));
}

TEST_F(umem, memory_that_cannot_be_written)
{
	mprotect((void *)(uintptr_t)self->reg.addr, 16 * PAGE, PROT_READ);
	EXPECT_EQ(-EFAULT, try_reg(self->reg));
}

/* Up to some limit each headroom is accepted, above it none is */
TEST_F(umem, headroom)
{
	const __u32 chunk_sizes[] = { 2048, 4096 };
	unsigned int i;
	__u32 low, high;

	for (i = 0; i < ARRAY_SIZE(chunk_sizes); i++) {
		self->reg.chunk_size = chunk_sizes[i];
		low = 0;
		high = chunk_sizes[i];
		while (low + 1 < high) {
			self->reg.headroom = (low + high) / 2;
			if (try_reg(self->reg) == 0)
				low = self->reg.headroom;
			else
				high = self->reg.headroom;
		}
		/* room for XDP's own headroom, a small packet and a skb's tail */
		EXPECT_GE(chunk_sizes[i] - 256 - 64, low);
		EXPECT_LE(chunk_sizes[i] - 256 - 1024, low);

		for (self->reg.headroom = 0; self->reg.headroom <= low;
		     self->reg.headroom += 61)
			EXPECT_EQ(0, try_reg(self->reg));
		for (self->reg.headroom = high; self->reg.headroom <= 2 * chunk_sizes[i];
		     self->reg.headroom += 61)
			EXPECT_EQ(-EINVAL, try_reg(self->reg));
	}
	self->reg.headroom = 0x80000000;
	EXPECT_EQ(-EINVAL, try_reg(self->reg));
	self->reg.headroom = 0xffffffff;
	EXPECT_EQ(-EINVAL, try_reg(self->reg));
}

TEST_F(umem, tx_metadata_len)
{
	__u32 *len = &self->reg.tx_metadata_len;

	self->reg.flags = XDP_UMEM_TX_METADATA_LEN;
	for (*len = 0; *len <= 512; (*len)++)
		EXPECT_EQ(*len >= 16 && *len < 256 && *len % 8 == 0 ? 0 : -EINVAL,
			  try_reg(self->reg));
	*len = 0x80000000;
	EXPECT_EQ(-EINVAL, try_reg(self->reg));
	*len = 0xfffffff8;
	EXPECT_EQ(-EINVAL, try_reg(self->reg));
}

TEST_F(umem, flags)
{
	int bit;

	for (bit = 3; bit < 32; bit++) {
		self->reg.flags = 1U << bit;
		EXPECT_EQ(-EINVAL, try_reg(self->reg));
	}
	self->reg.flags = XDP_UMEM_TX_SW_CSUM;
	EXPECT_EQ(0, try_reg(self->reg));
}

/*
 * The memlock limit binds whoever has no CAP_IPC_LOCK. A user of their own user
 * namespace may make AF_XDP sockets and has no such capability outside.
 */
#define LOCKED_PAGES 32

static bool registers(struct xdp_umem_reg *reg, int *fd)
{
	*fd = xsk_socket();
	if (xsk_set(*fd, XDP_UMEM_REG, reg, sizeof(*reg)) == 0)
		return true;
	close(*fd);
	return false;
}

static void check_memlock(struct __test_metadata *_metadata, struct xdp_umem_reg reg)
{
	struct rlimit limit = { LOCKED_PAGES * PAGE, LOCKED_PAGES * PAGE };
	struct xdp_umem_reg hole = reg;
	int first, second, all;

	ASSERT_EQ(0, setgid(65534));
	ASSERT_EQ(0, setuid(65534));
	ASSERT_EQ(0, unshare(CLONE_NEWUSER | CLONE_NEWNET));
	ASSERT_EQ(0, setrlimit(RLIMIT_MEMLOCK, &limit));

	reg.len = (LOCKED_PAGES + 1) * PAGE;
	EXPECT_EQ(-ENOBUFS, try_reg(reg));

	reg.len = LOCKED_PAGES / 2 * PAGE;
	ASSERT_TRUE(registers(&reg, &first));
	ASSERT_TRUE(registers(&reg, &second));
	EXPECT_EQ(-ENOBUFS, try_reg(reg));
	close(first);
	close(second);

	/* all of it was given back, also by an attempt that failed later */
	munmap((void *)(uintptr_t)(hole.addr + (LOCKED_PAGES - 1) * PAGE), PAGE);
	hole.len = LOCKED_PAGES * PAGE;
	EXPECT_TRUE(xsk_wait(try_reg(hole) != -ENOBUFS));
	reg.addr += LOCKED_PAGES * PAGE;
	reg.len = LOCKED_PAGES * PAGE;
	EXPECT_TRUE(xsk_wait(registers(&reg, &all)));
	EXPECT_EQ(-ENOBUFS, try_reg(hole));
	close(all);
}

TEST_F(umem, memlock_limit)
{
	check_memlock(_metadata, self->reg);
}

/* Memory of which the packet path is checked end to end */

FIXTURE(traffic)
{
	struct xsk_redirect *xdp;
	struct xsk_umem near_umem;
	struct xsk_umem far_umem;
	struct xsk near;
	struct xsk far;
};

FIXTURE_SETUP(traffic)
{
	xsk_net_create();
	self->xdp = xsk_xdp_load();
	xsk_xdp_attach(XSK_FAR, self->xdp->progs.to_queue, XDP_FLAGS_DRV_MODE);
}

FIXTURE_TEARDOWN(traffic)
{
	xsk_close(&self->near);
	xsk_close(&self->far);
}

static void open_both(FIXTURE_DATA(traffic) *self)
{
	xsk_open(&self->near, &self->near_umem, XSK_NEAR, 0, XDP_COPY);
	xsk_open(&self->far, &self->far_umem, XSK_FAR, 0, XDP_COPY);
	xsk_xdp_deliver(self->xdp, 0, &self->far);
}

/* Sends from @from, a place in the near umem, to @to, a frame of the far one */
static void check_packet(struct __test_metadata *_metadata, FIXTURE_DATA(traffic) *self,
			 __u64 from, __u64 to, __u32 len, __u32 seed)
{
	struct xdp_desc desc = { .addr = from, .len = len };
	__u64 completed;

	xsk_packet_write(xsk_data(&self->near_umem, from), len, seed);
	ASSERT_TRUE(xsk_ring_put_addr(self->far.fill, to));
	ASSERT_TRUE(xsk_ring_put_desc(&self->near.tx, desc));
	ASSERT_EQ(0, xsk_kick_tx(&self->near));
	ASSERT_TRUE(xsk_wait(xsk_ring_get_desc(&self->far.rx, &desc)));
	ASSERT_TRUE(xsk_wait(xsk_ring_get_addr(self->near.completion, &completed)));

	EXPECT_EQ(from, completed);
	EXPECT_EQ(to + 256, desc.addr);
	EXPECT_EQ(len, desc.len);
	EXPECT_TRUE(xsk_packet_intact(xsk_data(&self->far_umem, desc.addr), len, seed));
}

/*
 * Over 4 GiB of address space on little memory: one file, mapped again and
 * again. Its size does not divide 4 GiB, so that an address that loses its
 * upper half meets another place of the file.
 */
#define WINDOW (48 * MIB)
#define WINDOWS 86

static void create_big_umem(struct __test_metadata *_metadata, struct xsk_umem *umem)
{
	int file = memfd_create("umem", 0);
	void *area;
	int i;

	ASSERT_EQ(0, ftruncate(file, WINDOW));
	area = map_area(WINDOW * WINDOWS, MAP_NORESERVE);
	ASSERT_NE(MAP_FAILED, area);
	for (i = 0; i < WINDOWS; i++)
		ASSERT_NE(MAP_FAILED, mmap(area + i * WINDOW, WINDOW, PROT_READ | PROT_WRITE,
					   MAP_SHARED | MAP_FIXED, file, 0));
	close(file);

	memset(umem, 0, sizeof(*umem));
	umem->area = area;
	umem->reg.addr = (uintptr_t)area;
	umem->reg.len = WINDOW * WINDOWS;
	umem->reg.chunk_size = XSK_FRAME_SIZE;
}

TEST_F(traffic, over_4_gib)
{
	const __u64 frames[] = {
		0, 4 * GIB - 4096, 4 * GIB, 4 * GIB + 4096, WINDOW * WINDOWS - 4096,
	};
	unsigned int i;

	/* the kernel maps no more pages in a row than the machine has */
	if (sysconf(_SC_PHYS_PAGES) * PAGE < WINDOW * WINDOWS)
		SKIP(return, "needs a machine with 5 GiB of memory");

	create_big_umem(_metadata, &self->near_umem);
	/* one end at a time: the kernel keeps hundreds of MiB of notes about each */
	xsk_umem_create(&self->far_umem, XSK_FRAMES, XSK_FRAME_SIZE);
	open_both(self);
	for (i = 0; i < ARRAY_SIZE(frames); i++)
		check_packet(_metadata, self, frames[i] + 512, i * XSK_FRAME_SIZE, 1000, i);
	xsk_close(&self->near);
	xsk_close(&self->far);

	self->far_umem = self->near_umem;
	xsk_umem_create(&self->near_umem, XSK_FRAMES, XSK_FRAME_SIZE);
	open_both(self);
	for (i = 0; i < ARRAY_SIZE(frames); i++)
		check_packet(_metadata, self, i * XSK_FRAME_SIZE, frames[i], 1000, i);
}

static void create_huge_umem(struct xsk_umem *umem, __u32 chunk_size)
{
	memset(umem, 0, sizeof(*umem));
	umem->area = map_area(HUGE_PAGE, MAP_HUGETLB);
	umem->reg.addr = (uintptr_t)umem->area;
	umem->reg.len = HUGE_PAGE;
	umem->reg.chunk_size = chunk_size;
}

TEST_F(traffic, jumbo_packet_in_one_chunk)
{
	const __u32 chunk_size = 16384;

	if (!xsk_knows_tx_budget())
		SKIP(return, "this kernel takes no chunks bigger than a page");
	create_huge_umem(&self->near_umem, chunk_size);
	create_huge_umem(&self->far_umem, chunk_size);
	if (self->far_umem.area == MAP_FAILED)
		SKIP(return, "needs huge pages: echo 64 > /proc/sys/vm/nr_hugepages");

	xsk_run("ip link set %s mtu 9000 && ip link set %s mtu 9000", XSK_NEAR, XSK_FAR);
	open_both(self);
	check_packet(_metadata, self, 0, 0, 9000, 1);
	check_packet(_metadata, self, HUGE_PAGE - 9014, HUGE_PAGE - chunk_size, 9014, 2);
}

/* Data starts behind XDP's headroom and the user's */
TEST_F(traffic, chunks_of_2048)
{
	xsk_umem_create(&self->near_umem, XSK_FRAMES, 2048);
	xsk_umem_create(&self->far_umem, XSK_FRAMES, 2048);
	open_both(self);
	check_packet(_metadata, self, 2048 - 1514, 0, 1514, 1);
	check_packet(_metadata, self, 63 * 2048, 63 * 2048, 1514, 2);
}

TEST_HARNESS_MAIN
