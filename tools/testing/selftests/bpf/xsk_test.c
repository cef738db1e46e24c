// SPDX-License-Identifier: GPL-2.0
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <linux/if_ether.h>

#include "xsk_test.h"

void xsk_die(const char *format, ...)
{
	int error = errno;
	va_list args;

	va_start(args, format);
	printf("# ");
	vprintf(format, args);
	printf(" (errno: %s)\n", strerror(error));
	va_end(args);
	fflush(stdout);
	_exit(EXIT_FAILURE);
}

/* System calls */

static int error_of(int result)
{
	return result < 0 ? -errno : result;
}

int xsk_socket(void)
{
	return error_of(socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0));
}

int xsk_set(int fd, int option, const void *value, socklen_t len)
{
	return error_of(setsockopt(fd, SOL_XDP, option, value, len));
}

int xsk_set_u32(int fd, int option, __u32 value)
{
	return xsk_set(fd, option, &value, sizeof(value));
}

int xsk_get(int fd, int option, void *value, socklen_t *len)
{
	return error_of(getsockopt(fd, SOL_XDP, option, value, len));
}

int xsk_bind(int fd, const char *device, __u32 queue, __u16 flags, int shared_fd)
{
	struct sockaddr_xdp address = {
		.sxdp_family = AF_XDP,
		.sxdp_flags = flags,
		.sxdp_ifindex = if_nametoindex(device),
		.sxdp_queue_id = queue,
		.sxdp_shared_umem_fd = shared_fd,
	};

	return error_of(bind(fd, (struct sockaddr *)&address, sizeof(address)));
}

static off_t ring_offset(int option)
{
	switch (option) {
	case XDP_RX_RING:
		return XDP_PGOFF_RX_RING;
	case XDP_TX_RING:
		return XDP_PGOFF_TX_RING;
	case XDP_UMEM_FILL_RING:
		return XDP_UMEM_PGOFF_FILL_RING;
	default:
		return XDP_UMEM_PGOFF_COMPLETION_RING;
	}
}

static struct xdp_ring_offset *ring_layout(struct xdp_mmap_offsets *offsets, int option)
{
	switch (option) {
	case XDP_RX_RING:
		return &offsets->rx;
	case XDP_TX_RING:
		return &offsets->tx;
	case XDP_UMEM_FILL_RING:
		return &offsets->fr;
	default:
		return &offsets->cr;
	}
}

static size_t entry_size(int option)
{
	bool descriptors = option == XDP_RX_RING || option == XDP_TX_RING;

	return descriptors ? sizeof(struct xdp_desc) : sizeof(__u64);
}

int xsk_map_ring(int fd, int option, __u32 size, struct xsk_ring *ring)
{
	struct xdp_ring_offset *layout;
	struct xdp_mmap_offsets offsets;
	socklen_t len = sizeof(offsets);
	int err;

	err = xsk_get(fd, XDP_MMAP_OFFSETS, &offsets, &len);
	if (err)
		return err;
	layout = ring_layout(&offsets, option);

	ring->size = size;
	ring->map_size = layout->desc + size * entry_size(option);
	ring->map = mmap(NULL, ring->map_size, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_POPULATE, fd, ring_offset(option));
	if (ring->map == MAP_FAILED) {
		ring->map = NULL;
		return -errno;
	}
	ring->producer = ring->map + layout->producer;
	ring->consumer = ring->map + layout->consumer;
	ring->flags = ring->map + layout->flags;
	ring->entries = ring->map + layout->desc;
	return 0;
}

void xsk_unmap_ring(struct xsk_ring *ring)
{
	if (ring->map)
		munmap(ring->map, ring->map_size);
	ring->map = NULL;
}

int xsk_kick_tx(struct xsk *xsk)
{
	return error_of(sendto(xsk->fd, NULL, 0, MSG_DONTWAIT, NULL, 0));
}

int xsk_kick_rx(struct xsk *xsk)
{
	return error_of(recvfrom(xsk->fd, NULL, 0, MSG_DONTWAIT, NULL, NULL));
}

struct xdp_statistics xsk_statistics(struct xsk *xsk)
{
	struct xdp_statistics statistics;
	socklen_t len = sizeof(statistics);

	if (xsk_get(xsk->fd, XDP_STATISTICS, &statistics, &len))
		xsk_die("cannot get the statistics");
	return statistics;
}

bool xsk_knows_tx_budget(void)
{
	int fd = xsk_socket();
	bool known;

	if (fd < 0)
		xsk_die("cannot make a socket: the tests need root and CONFIG_XDP_SOCKETS");
	known = xsk_set_u32(fd, XDP_MAX_TX_SKB_BUDGET, 0) != -ENOPROTOOPT;
	close(fd);
	return known;
}

/* Memory */

void xsk_umem_create(struct xsk_umem *umem, __u32 frames, __u32 frame_size)
{
	size_t size = (size_t)frames * frame_size;

	memset(umem, 0, sizeof(*umem));
	umem->area = mmap(NULL, size, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	umem->owner = calloc(frames, 1);
	if (umem->area == MAP_FAILED || !umem->owner)
		xsk_die("no memory for %u frames", frames);
	umem->frames = frames;
	umem->reg.addr = (uintptr_t)umem->area;
	umem->reg.len = size;
	umem->reg.chunk_size = frame_size;
}

void xsk_umem_destroy(struct xsk_umem *umem)
{
	munmap(umem->area, umem->reg.len);
	free(umem->owner);
}

/* Sockets */

static void make_ring(struct xsk *xsk, int option, struct xsk_ring *ring)
{
	if (xsk_set_u32(xsk->fd, option, XSK_RING_SIZE) ||
	    xsk_map_ring(xsk->fd, option, XSK_RING_SIZE, ring))
		xsk_die("cannot make the ring of socket option %d", option);
}

static void use_socket(struct xsk *xsk, struct xsk_umem *umem, int fd)
{
	if (fd < 0)
		xsk_die("cannot make a socket");
	memset(xsk, 0, sizeof(*xsk));
	xsk->umem = umem;
	xsk->fd = fd;
	make_ring(xsk, XDP_RX_RING, &xsk->rx);
	make_ring(xsk, XDP_TX_RING, &xsk->tx);
}

static void make_queue_rings(struct xsk *xsk)
{
	make_ring(xsk, XDP_UMEM_FILL_RING, &xsk->own_fill);
	make_ring(xsk, XDP_UMEM_COMPLETION_RING, &xsk->own_completion);
	xsk->fill = &xsk->own_fill;
	xsk->completion = &xsk->own_completion;
}

/*
 * Older kernels free a queue some time after its socket was closed. That this
 * must not be so has tests of its own; the others are about something else.
 */
static void bind_or_die(struct xsk *xsk, const char *device, __u32 queue, __u16 flags,
			int shared_fd)
{
	int err;

	xsk_wait((err = xsk_bind(xsk->fd, device, queue, flags, shared_fd)) != -EBUSY);
	if (err)
		xsk_die("cannot bind to queue %u of %s", queue, device);
}

static void prepare_fd(struct xsk *xsk, struct xsk_umem *umem, int fd)
{
	use_socket(xsk, umem, fd);
	if (xsk_set(xsk->fd, XDP_UMEM_REG, &umem->reg, sizeof(umem->reg)))
		xsk_die("cannot register the umem");
	make_queue_rings(xsk);
}

void xsk_prepare(struct xsk *xsk, struct xsk_umem *umem)
{
	prepare_fd(xsk, umem, xsk_socket());
}

void xsk_open_fd(struct xsk *xsk, struct xsk_umem *umem, int fd, const char *device,
		 __u32 queue, __u16 flags)
{
	prepare_fd(xsk, umem, fd);
	bind_or_die(xsk, device, queue, flags, 0);
}

void xsk_open(struct xsk *xsk, struct xsk_umem *umem, const char *device, __u32 queue,
	      __u16 flags)
{
	xsk_open_fd(xsk, umem, xsk_socket(), device, queue, flags);
}

void xsk_open_same_queue(struct xsk *xsk, struct xsk *owner, const char *device, __u32 queue)
{
	use_socket(xsk, owner->umem, xsk_socket());
	xsk->fill = owner->fill;
	xsk->completion = owner->completion;
	bind_or_die(xsk, device, queue, XDP_SHARED_UMEM, owner->fd);
}

void xsk_open_other_queue(struct xsk *xsk, struct xsk *owner, const char *device, __u32 queue)
{
	use_socket(xsk, owner->umem, xsk_socket());
	make_queue_rings(xsk);
	bind_or_die(xsk, device, queue, XDP_SHARED_UMEM, owner->fd);
}

void xsk_close(struct xsk *xsk)
{
	xsk_unmap_ring(&xsk->rx);
	xsk_unmap_ring(&xsk->tx);
	xsk_unmap_ring(&xsk->own_fill);
	xsk_unmap_ring(&xsk->own_completion);
	close(xsk->fd);
}

/* Rings */

__u32 xsk_ring_used(const struct xsk_ring *ring)
{
	return __atomic_load_n(ring->producer, __ATOMIC_ACQUIRE) -
	       __atomic_load_n(ring->consumer, __ATOMIC_ACQUIRE);
}

__u32 xsk_ring_free(const struct xsk_ring *ring)
{
	return ring->size - xsk_ring_used(ring);
}

static void *ring_entry(struct xsk_ring *ring, __u32 index, size_t size)
{
	return ring->entries + (index & (ring->size - 1)) * size;
}

static bool ring_put(struct xsk_ring *ring, const void *entry, size_t size)
{
	if (!xsk_ring_free(ring))
		return false;
	memcpy(ring_entry(ring, *ring->producer, size), entry, size);
	__atomic_store_n(ring->producer, *ring->producer + 1, __ATOMIC_RELEASE);
	return true;
}

static bool ring_get(struct xsk_ring *ring, void *entry, size_t size)
{
	if (!xsk_ring_used(ring))
		return false;
	memcpy(entry, ring_entry(ring, *ring->consumer, size), size);
	__atomic_store_n(ring->consumer, *ring->consumer + 1, __ATOMIC_RELEASE);
	return true;
}

bool xsk_ring_put_addr(struct xsk_ring *ring, __u64 addr)
{
	return ring_put(ring, &addr, sizeof(addr));
}

bool xsk_ring_get_addr(struct xsk_ring *ring, __u64 *addr)
{
	return ring_get(ring, addr, sizeof(*addr));
}

bool xsk_ring_put_desc(struct xsk_ring *ring, struct xdp_desc desc)
{
	return ring_put(ring, &desc, sizeof(desc));
}

bool xsk_ring_get_desc(struct xsk_ring *ring, struct xdp_desc *desc)
{
	return ring_get(ring, desc, sizeof(*desc));
}

/* Frames */

static __u64 plain_addr(const struct xsk_umem *umem, __u64 addr)
{
	if (!(umem->reg.flags & XDP_UMEM_UNALIGNED_CHUNK_FLAG))
		return addr;
	return (addr & XSK_UNALIGNED_BUF_ADDR_MASK) + (addr >> XSK_UNALIGNED_BUF_OFFSET_SHIFT);
}

void *xsk_data(const struct xsk_umem *umem, __u64 addr)
{
	return umem->area + plain_addr(umem, addr);
}

static void move_frame(struct xsk_umem *umem, __u64 addr, enum xsk_owner from,
		       enum xsk_owner to)
{
	__u64 frame = plain_addr(umem, addr) / umem->reg.chunk_size;

	if (frame >= umem->frames)
		xsk_die("address %#llx is outside of the umem", (unsigned long long)addr);
	if (umem->owner[frame] != from)
		xsk_die("frame %llu moves from place %d to %d, but is at place %d",
			(unsigned long long)frame, from, to, umem->owner[frame]);
	umem->owner[frame] = to;
}

__u64 xsk_frame_new(struct xsk_umem *umem)
{
	__u32 tries;

	for (tries = 0; tries < umem->frames; tries++) {
		__u32 frame = umem->next++ % umem->frames;

		if (umem->owner[frame] == XSK_USER)
			return (__u64)frame * umem->reg.chunk_size;
	}
	xsk_die("no frame is free");
}

void xsk_post_fill(struct xsk *xsk, __u64 addr)
{
	move_frame(xsk->umem, addr, XSK_USER, XSK_FILL);
	if (!xsk_ring_put_addr(xsk->fill, addr))
		xsk_die("the fill ring is full");
}

void xsk_post_tx(struct xsk *xsk, __u64 addr, __u32 len, __u32 options)
{
	struct xdp_desc desc = { .addr = addr, .len = len, .options = options };

	move_frame(xsk->umem, addr, XSK_USER, XSK_TX);
	if (!xsk_ring_put_desc(&xsk->tx, desc))
		xsk_die("the Tx ring is full");
}

bool xsk_take_rx(struct xsk *xsk, struct xdp_desc *desc)
{
	if (!xsk_ring_get_desc(&xsk->rx, desc))
		return false;
	move_frame(xsk->umem, desc->addr, XSK_FILL, XSK_USER);
	return true;
}

bool xsk_take_completion(struct xsk *xsk, __u64 *addr)
{
	if (!xsk_ring_get_addr(xsk->completion, addr))
		return false;
	move_frame(xsk->umem, *addr, XSK_TX, XSK_USER);
	return true;
}

__u32 xsk_frames_at(const struct xsk_umem *umem, enum xsk_owner owner)
{
	__u32 frame, count = 0;

	for (frame = 0; frame < umem->frames; frame++)
		count += umem->owner[frame] == owner;
	return count;
}

/* Packets */

static __u8 pattern(__u32 seed, __u32 place)
{
	return seed * 31 + place * 7 + (place >> 8);
}

static void ethernet_header(struct ethhdr *header, __u32 seed)
{
	memset(header, 0, sizeof(*header));
	memset(header->h_dest, 0xff, ETH_ALEN);
	header->h_source[0] = 2;
	header->h_source[5] = seed;
	header->h_proto = __builtin_bswap16(ETH_P_LOOPBACK);
}

void xsk_packet_write(void *packet, __u32 len, __u32 seed)
{
	__u8 *bytes = packet;
	__u32 place;

	ethernet_header(packet, seed);
	for (place = ETH_HLEN; place < len; place++)
		bytes[place] = pattern(seed, place);
}

bool xsk_packet_intact(const void *packet, __u32 len, __u32 seed)
{
	const __u8 *bytes = packet;
	struct ethhdr header;
	__u32 place;

	ethernet_header(&header, seed);
	if (memcmp(packet, &header, sizeof(header)))
		return false;
	for (place = ETH_HLEN; place < len; place++)
		if (bytes[place] != pattern(seed, place))
			return false;
	return true;
}

__u64 xsk_send(struct xsk *xsk, __u32 len, __u32 seed)
{
	__u64 addr = xsk_frame_new(xsk->umem) + xsk->umem->reg.tx_metadata_len;

	xsk_packet_write(xsk_data(xsk->umem, addr), len, seed);
	xsk_post_tx(xsk, addr, len, 0);
	xsk_kick_tx(xsk);
	return addr;
}

static bool tx_is_drained(struct xsk *xsk)
{
	__u64 addr;

	xsk_kick_tx(xsk);
	while (xsk_take_completion(xsk, &addr))
		;
	return !xsk_frames_at(xsk->umem, XSK_TX);
}

bool xsk_drain_tx(struct xsk *xsk)
{
	return xsk_wait(tx_is_drained(xsk));
}
