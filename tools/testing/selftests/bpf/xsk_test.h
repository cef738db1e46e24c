/* SPDX-License-Identifier: GPL-2.0 */
/*
 * AF_XDP by bare system calls, for tests that must see and do what a library
 * would hide: hostile lengths, rings mapped twice, single descriptors.
 *
 * The functions that say what went wrong return 0 or a negative errno. All
 * others end the test with a message when they fail, because they only prepare
 * what the test is about.
 */
#ifndef XSK_TEST_H
#define XSK_TEST_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>
#include <linux/compiler.h>
#include <linux/if_xdp.h>
#include <linux/types.h>

#ifndef SOL_XDP
#define SOL_XDP 283
#endif

/* Newer than the headers of the base kernel */
#ifndef XDP_MAX_TX_SKB_BUDGET
#define XDP_MAX_TX_SKB_BUDGET 9
#endif

#define XSK_RING_SIZE 64
#define XSK_FRAME_SIZE 4096
#define XSK_FRAMES 64
#define XSK_PACKET_LEN 64

/* Ends a wait that hangs. No verdict depends on how fast something is. */
#define XSK_WAIT_SECONDS 30

struct xsk_ring {
	__u32 *producer;
	__u32 *consumer;
	__u32 *flags;
	void *entries;
	__u32 size;
	void *map;
	size_t map_size;
};

/* Where a frame is, as far as user space knows */
enum xsk_owner { XSK_USER, XSK_FILL, XSK_TX };

struct xsk_umem {
	__u8 *area;
	struct xdp_umem_reg reg;
	__u8 *owner;
	__u32 frames;
	__u32 next;
};

struct xsk {
	int fd;
	struct xsk_umem *umem;
	struct xsk_ring rx;
	struct xsk_ring tx;
	/* those of another socket if it shares the queue with that one */
	struct xsk_ring *fill;
	struct xsk_ring *completion;
	struct xsk_ring own_fill;
	struct xsk_ring own_completion;
};

/* Polls for @condition; false only if it never came true */
#define xsk_wait(condition) ({						\
	unsigned int _polls = XSK_WAIT_SECONDS * 1000;			\
	bool _met;							\
	while (!(_met = (condition)) && _polls--)			\
		usleep(1000);						\
	_met;								\
})

void __noreturn __printf(1, 2) xsk_die(const char *format, ...);

/* System calls */
int xsk_socket(void);
int xsk_set(int fd, int option, const void *value, socklen_t len);
int xsk_set_u32(int fd, int option, __u32 value);
int xsk_get(int fd, int option, void *value, socklen_t *len);
int xsk_bind(int fd, const char *device, __u32 queue, __u16 flags, int shared_fd);
int xsk_map_ring(int fd, int option, __u32 size, struct xsk_ring *ring);
void xsk_unmap_ring(struct xsk_ring *ring);
int xsk_kick_tx(struct xsk *xsk);
int xsk_kick_rx(struct xsk *xsk);
struct xdp_statistics xsk_statistics(struct xsk *xsk);

/* Only the kernel that has this option tells the causes of a refusal apart */
bool xsk_knows_tx_budget(void);

/* A umem of @frames frames, not yet registered: the caller may edit ->reg */
void xsk_umem_create(struct xsk_umem *umem, __u32 frames, __u32 frame_size);
void xsk_umem_destroy(struct xsk_umem *umem);

/* A socket with all of its rings, bound */
void xsk_open(struct xsk *xsk, struct xsk_umem *umem, const char *device, __u32 queue,
	      __u16 flags);
/* The same, at a socket that somebody else made */
void xsk_open_fd(struct xsk *xsk, struct xsk_umem *umem, int fd, const char *device,
		 __u32 queue, __u16 flags);
/* The same, on the queue and with the umem, fill and completion ring of @owner */
void xsk_open_same_queue(struct xsk *xsk, struct xsk *owner, const char *device, __u32 queue);
/* The same, with the umem of @owner on another queue or device */
void xsk_open_other_queue(struct xsk *xsk, struct xsk *owner, const char *device, __u32 queue);
/* All but the bind(), for tests of bind() */
void xsk_prepare(struct xsk *xsk, struct xsk_umem *umem);
void xsk_close(struct xsk *xsk);

/* One entry at a time, visible to the kernel at once */
__u32 xsk_ring_used(const struct xsk_ring *ring);
__u32 xsk_ring_free(const struct xsk_ring *ring);
bool xsk_ring_put_addr(struct xsk_ring *ring, __u64 addr);
bool xsk_ring_get_addr(struct xsk_ring *ring, __u64 *addr);
bool xsk_ring_put_desc(struct xsk_ring *ring, struct xdp_desc desc);
bool xsk_ring_get_desc(struct xsk_ring *ring, struct xdp_desc *desc);

/* The same for whole frames, with a check that no frame is at two places */
__u64 xsk_frame_new(struct xsk_umem *umem);
void xsk_post_fill(struct xsk *xsk, __u64 addr);
void xsk_post_tx(struct xsk *xsk, __u64 addr, __u32 len, __u32 options);
bool xsk_take_rx(struct xsk *xsk, struct xdp_desc *desc);
bool xsk_take_completion(struct xsk *xsk, __u64 *addr);
__u32 xsk_frames_at(const struct xsk_umem *umem, enum xsk_owner owner);

/* Packets whose every byte depends on @seed and on its place */
void xsk_packet_write(void *packet, __u32 len, __u32 seed);
bool xsk_packet_intact(const void *packet, __u32 len, __u32 seed);
void *xsk_data(const struct xsk_umem *umem, __u64 addr);

/* Writes packet @seed to a new frame, posts it and wakes the kernel up */
__u64 xsk_send(struct xsk *xsk, __u32 len, __u32 seed);
/* Takes completions until all posted Tx frames are back */
bool xsk_drain_tx(struct xsk *xsk);

#endif
