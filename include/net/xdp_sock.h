/* SPDX-License-Identifier: GPL-2.0 */
/* AF_XDP sockets: what the XDP core and network drivers see of them.
 *
 * Drivers with zero-copy include <net/xdp_sock_drv.h> instead.
 */
#ifndef _LINUX_XDP_SOCK_H
#define _LINUX_XDP_SOCK_H

#include <linux/bpf.h>
#include <linux/if_xdp.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <net/sock.h>

struct page;
struct user_struct;
struct xdp_buff;
struct xsk_buff_pool;
struct xsk_queue;

/**
 * struct xdp_umem - memory of user space that holds packets
 * @addrs: the whole area, as the kernel sees it
 * @size: size of the area in bytes
 * @headroom: bytes that user space keeps for itself at the start of each chunk
 * @chunk_size: size of a chunk in bytes; a chunk holds one frame
 * @chunks: number of whole chunks in the area
 * @npgs: number of pages pinned
 * @dma_unit: bytes that are mapped for DMA at once, and so are contiguous
 * @flags: XDP_UMEM_* flags of the registration
 * @tx_metadata_len: bytes of Tx metadata in front of each packet to send
 * @id: identifies the umem in sock_diag
 * @users: sockets that use the umem
 * @pgs: the pinned pages
 * @user: who is charged for the locked memory; NULL if nobody is
 * @dma_maps: a struct xsk_dma_map for each device; RTNL
 * @work: releases the umem where the last user may not sleep
 */
struct xdp_umem {
	void *addrs;
	u64 size;
	u32 headroom;
	u32 chunk_size;
	u32 chunks;
	u32 npgs;
	u32 dma_unit;
	u32 flags;
	u8 tx_metadata_len;
	int id;
	refcount_t users;
	struct page **pgs;
	struct user_struct *user;
	struct list_head dma_maps;
	struct work_struct work;
};

/**
 * struct xsk_map - BPF_MAP_TYPE_XSKMAP
 * @map: the common part
 * @lock: serialises updates of entries
 * @count: entries in use
 * @xsk_map: the sockets, by key
 */
struct xsk_map {
	struct bpf_map map;
	spinlock_t lock; /* serialises updates of entries */
	atomic_t count;
	struct xdp_sock __rcu *xsk_map[];
};

enum xsk_state {
	XSK_READY,
	XSK_BOUND,
	XSK_UNBOUND,
};

/**
 * struct xdp_sock - an AF_XDP socket
 * @sk: the common part; must be first
 * @rx: Rx ring, or NULL
 * @pool: frames and rings shared by all sockets of the queue; set by bind()
 * @rx_dev: the bound device as long as the socket takes packets, else NULL
 * @rx_max_len: longest packet in bytes that the socket takes
 * @queue_id: the bound queue
 * @zc: bound in zero-copy mode
 * @flush_node: in the list of sockets with packets not yet shown to user space;
 *	unused while its prev is NULL. Owned by the CPU that runs the queue.
 * @rx_dropped: packets dropped for another reason than a full Rx ring
 * @rx_queue_full: packets dropped as the Rx ring was full
 * @tx: Tx ring, or NULL
 * @tx_list: in the pool's list of sockets with a Tx ring
 * @tx_budget_spent: descriptors that the driver took in this round, so that
 *	each socket of a queue gets its turn
 * @max_tx_budget: most descriptors that one system call sends in copy mode
 * @tx_skip: the packet at the head of the Tx ring is invalid; its descriptors
 *	are given back until it ends
 * @skb: the packet for which the device was too busy; @mutex
 * @dev: the bound device
 * @dev_tracker: tracks the reference to @dev
 * @umem: registered with this socket, or shared with another
 * @state: where the socket is in its life; written under @mutex
 * @map_list: entries of XSKMAPs that point to the socket
 * @map_list_lock: protects @map_list
 * @mutex: serialises system calls on the socket
 * @fq: fill ring from XDP_UMEM_FILL_RING until bind() gives it to the pool
 * @cq: completion ring, likewise
 */
struct xdp_sock {
	struct sock sk;

	/* Receiving */
	struct xsk_queue *rx ____cacheline_aligned_in_smp;
	struct xsk_buff_pool *pool;
	struct net_device *rx_dev;
	u32 rx_max_len;
	u16 queue_id;
	bool zc;
	struct list_head flush_node;
	u64 rx_dropped;
	u64 rx_queue_full;

	/* Sending */
	struct xsk_queue *tx ____cacheline_aligned_in_smp;
	struct list_head tx_list;
	u32 tx_budget_spent;
	u32 max_tx_budget;
	bool tx_skip;
	struct sk_buff *skb;

	/* Control */
	struct net_device *dev;
	netdevice_tracker dev_tracker;
	struct xdp_umem *umem;
	enum xsk_state state;
	struct list_head map_list;
	spinlock_t map_list_lock; /* protects map_list */
	struct mutex mutex; /* serialises system calls */
	struct xsk_queue *fq;
	struct xsk_queue *cq;
};

/**
 * struct xsk_tx_metadata_ops - how a driver does what Tx metadata asks for
 * @tmo_request_timestamp: the packet's time of sending is wanted
 * @tmo_fill_timestamp: returns the time of sending of a packet for which it was
 *	wanted, in ns, now that it is sent
 * @tmo_request_checksum: a checksum is wanted from byte @csum_start of the
 *	packet on, to be put @csum_offset bytes behind @csum_start
 *
 * A driver leaves out, as NULL, what it does not do. Each hook gets the private
 * pointer that the driver passed to xsk_tx_metadata_request() or
 * xsk_tx_metadata_complete(). Context: the driver's Tx path.
 */
struct xsk_tx_metadata_ops {
	void	(*tmo_request_timestamp)(void *priv);
	u64	(*tmo_fill_timestamp)(void *priv);
	void	(*tmo_request_checksum)(u16 csum_start, u16 csum_offset, void *priv);
};

/**
 * struct xsk_tx_metadata_copy - Tx metadata, read once
 * @meta: the copy; user space cannot change it any more
 * @frame: where it came from, in the umem, and where the time of sending goes
 */
struct xsk_tx_metadata_copy {
	struct xsk_tx_metadata meta;
	struct xsk_tx_metadata *frame;
};

#ifdef CONFIG_XDP_SOCKETS

int xsk_generic_rcv(struct xdp_sock *xs, struct xdp_buff *xdp);
int __xsk_map_redirect(struct xdp_sock *xs, struct xdp_buff *xdp);
void __xsk_map_flush(struct list_head *flush_list);

/**
 * xsk_tx_metadata_to_compl - keep what completion will need
 * @meta: Tx metadata from xsk_buff_get_metadata(), or NULL
 * @compl: kept by the driver until the packet is sent, then given to
 *	xsk_tx_metadata_complete()
 *
 * Context: the driver's Tx path.
 */
static inline void xsk_tx_metadata_to_compl(struct xsk_tx_metadata *meta,
					    struct xsk_tx_metadata_compl *compl)
{
	struct xsk_tx_metadata_copy *copy;

	if (!meta)
		return;

	copy = container_of(meta, struct xsk_tx_metadata_copy, meta);
	compl->tx_timestamp = meta->flags & XDP_TXMD_FLAGS_TIMESTAMP ?
			      &copy->frame->completion.tx_timestamp : NULL;
}

/**
 * xsk_tx_metadata_request - have the driver do what Tx metadata asks for
 * @meta: Tx metadata from xsk_buff_get_metadata(), or NULL
 * @ops: the driver's hooks
 * @priv: handed to the hooks
 *
 * Context: the driver's Tx path.
 */
static inline void xsk_tx_metadata_request(const struct xsk_tx_metadata *meta,
					   const struct xsk_tx_metadata_ops *ops,
					   void *priv)
{
	if (!meta)
		return;

	if ((meta->flags & XDP_TXMD_FLAGS_TIMESTAMP) && ops->tmo_request_timestamp)
		ops->tmo_request_timestamp(priv);
	if ((meta->flags & XDP_TXMD_FLAGS_CHECKSUM) && ops->tmo_request_checksum)
		ops->tmo_request_checksum(meta->request.csum_start,
					  meta->request.csum_offset, priv);
}

/**
 * xsk_tx_metadata_complete - tell user space when a packet was sent
 * @compl: from xsk_tx_metadata_to_compl(), or NULL
 * @ops: the driver's hooks
 * @priv: handed to the hooks
 *
 * To be called before the frame is given back with xsk_tx_completed().
 * Context: the driver's Tx completion path.
 */
static inline void xsk_tx_metadata_complete(struct xsk_tx_metadata_compl *compl,
					    const struct xsk_tx_metadata_ops *ops,
					    void *priv)
{
	if (compl && compl->tx_timestamp)
		*compl->tx_timestamp = ops->tmo_fill_timestamp(priv);
}

#else

static inline int xsk_generic_rcv(struct xdp_sock *xs, struct xdp_buff *xdp)
{
	return -EOPNOTSUPP;
}

static inline int __xsk_map_redirect(struct xdp_sock *xs, struct xdp_buff *xdp)
{
	return -EOPNOTSUPP;
}

static inline void __xsk_map_flush(struct list_head *flush_list)
{
}

static inline void xsk_tx_metadata_to_compl(struct xsk_tx_metadata *meta,
					    struct xsk_tx_metadata_compl *compl)
{
}

static inline void xsk_tx_metadata_request(const struct xsk_tx_metadata *meta,
					   const struct xsk_tx_metadata_ops *ops,
					   void *priv)
{
}

static inline void xsk_tx_metadata_complete(struct xsk_tx_metadata_compl *compl,
					    const struct xsk_tx_metadata_ops *ops,
					    void *priv)
{
}

#endif /* CONFIG_XDP_SOCKETS */
#endif /* _LINUX_XDP_SOCK_H */
