/* SPDX-License-Identifier: GPL-2.0 */
#ifndef XDPSOCK_H
#define XDPSOCK_H

#include <linux/if_ether.h>
#include <linux/types.h>
#include <stdbool.h>
#include <sys/uio.h>
#include <xdp/xsk.h>

/* Newer than the headers of some distributions. */
#ifndef XDP_USE_SG
#define XDP_USE_SG	0x10
#endif
#ifndef XDP_PKT_CONTD
#define XDP_PKT_CONTD	0x1
#endif

#define __printf(string, first)	__attribute__((format(printf, string, first)))
#define __noreturn		__attribute__((noreturn))
#define __packed		__attribute__((packed))
#define __aligned(bytes)	__attribute__((aligned(bytes)))

#define RING_SIZE	2048
#define FRAME_COUNT	(2 * RING_SIZE)
#define SHARED_SOCKETS	4

/* The kernel's limit for the descriptors of one packet: MAX_SKB_FRAGS + 1. */
#define MAX_PIECES	18

#define PACKET_MIN	60
#define PACKET_MAX	9728

#define EXIT_USAGE	2

enum mode { RXDROP, TXONLY, L2FWD };

/* What the command line asks for. */
struct options {
	enum mode mode;
	const char *ifname;
	__u32 queue;
	__u32 xdp_flags;
	__u32 bind_flags;
	__u32 batch;
	__u32 packet_size;
	__u32 frame_size;
	__u32 duration;
	__u32 interval;
	__u64 count;
	__u8 dst_mac[ETH_ALEN];
	bool poll;
	bool busy_poll;
	bool unaligned;
	bool shared;
	bool extra;
	bool json;
	bool verify;
};

extern struct options opt;

void options_parse(int argc, char **argv);

/* A verifying generator receives as well: what comes back is checked. */
static inline bool mode_receives(void)
{
	return opt.mode != TXONLY || opt.verify;
}

static inline bool mode_sends(void)
{
	return opt.mode != RXDROP;
}

static inline bool uses_frags(void)
{
	return opt.bind_flags & XDP_USE_SG;
}

static inline bool uses_need_wakeup(void)
{
	return opt.bind_flags & XDP_USE_NEED_WAKEUP;
}

/* Facts about the interface, read once before anything is set up. */
struct netdev {
	int ifindex;
	__u32 mtu;
	__u32 queues;		/* 0: the driver does not tell */
	__u8 mac[ETH_ALEN];
	bool up;
};

extern struct netdev netdev;

void netdev_open(void);

/* The UDP packet every generator sends; only the sequence number changes. */
struct packet {
	__u32 len;
	__u32 sum;		/* of the UDP packet with sequence number 0 */
	__u8 data[PACKET_MAX];
};

void packet_build(struct packet *packet, const __u8 *dst, const __u8 *src, __u32 len);
void packet_stamp(const struct packet *packet, __u8 *data, __u64 seq);

struct checker {
	struct packet expected;
	__u64 first;		/* lowest sequence number seen */
	__u64 next;		/* highest sequence number seen, plus one */
	__u64 good;
	__u64 late;		/* of the good: overtaken, or a duplicate */
	__u64 corrupt;
	__u64 foreign;		/* not from a generator */
};

extern struct checker checker;

void check_packet(const struct iovec *pieces, __u32 nr);
__u64 missing_packets(void);
bool all_verified(void);

struct counters {
	__u64 rx_packets;
	__u64 rx_bytes;
	__u64 tx_packets;
	__u64 tx_bytes;
};

struct xsk {
	struct xsk_socket *handle;
	struct xsk_ring_cons rx;
	struct xsk_ring_prod tx;
	struct counters counters;
	int fd;
};

/*
 * Each frame is on the free stack, in one of the rings or in the kernel.
 * tx_frames - tx_completed of them are on their way out.
 */
struct umem {
	struct xsk_umem *handle;
	struct xsk_ring_prod fill;
	struct xsk_ring_cons completion;
	__u8 *area;
	__u64 tx_frames;
	__u64 tx_completed;
	__u32 nr_free;
	__u64 free[FRAME_COUNT];
};

extern struct umem umem;
extern struct xsk sockets[SHARED_SOCKETS];
extern __u32 nr_sockets;

void sockets_open(void);
void sockets_close(void);
bool sockets_zero_copy(void);

static inline __u64 frame_of(__u64 addr)
{
	return opt.unaligned ? xsk_umem__extract_addr(addr) : addr & ~(opt.frame_size - 1ULL);
}

static inline __u8 *frame_data(__u64 addr)
{
	return umem.area + (opt.unaligned ? xsk_umem__add_offset_to_addr(addr) : addr);
}

void program_attach(void);
void program_detach(void);
const char *program_mode(void);

void traffic_run(void);

void report_start(void);
void report_interval(void);
void report_stop(void);
void report_total(void);

/* Both print what is wrong and what to do about it. */
void print_notice(const char *format, ...) __printf(1, 2);
void exit_err(const char *format, ...) __printf(1, 2) __noreturn;

#endif
