/* SPDX-License-Identifier: GPL-2.0 */
/* The pool of a queue: its frames, as long as the kernel or the device has them.
 *
 * Only the AF_XDP core includes this file by itself; drivers get it, and the
 * interface that is meant for them, from <net/xdp_sock_drv.h>.
 */
#ifndef _NET_XSK_BUFF_POOL_H
#define _NET_XSK_BUFF_POOL_H

#include <linux/dma-mapping.h>
#include <linux/if_xdp.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/types.h>
#include <linux/workqueue.h>
#include <net/xdp.h>
#include <net/xdp_sock.h>

struct device;
struct page;
struct xsk_buff_pool;
struct xsk_cb_desc;
struct xsk_queue;
struct xsk_tx_slot;

/* Bytes that a driver may keep with each buffer. */
#define XSK_PRIV_MAX 24

/**
 * struct xdp_buff_xsk - a frame while the kernel or the device has it
 * @xdp: what drivers and XDP programs see
 * @cb: for the driver; it lies right behind @xdp
 * @dma: where the device puts the packet
 * @pool: the pool that the frame belongs to
 * @next: in one of the pool's lists; NULL while in none
 */
struct xdp_buff_xsk {
	struct xdp_buff xdp;
	u8 cb[XSK_PRIV_MAX];
	dma_addr_t dma;
	struct xsk_buff_pool *pool;
	struct xdp_buff_xsk *next;
};

#define XSK_CHECK_PRIV_TYPE(t) \
	BUILD_BUG_ON(sizeof(t) > offsetofend(struct xdp_buff_xsk, cb))
#define XSK_TX_COMPL_FITS(t) \
	BUILD_BUG_ON(sizeof(struct xsk_tx_metadata_compl) > sizeof(t))

/**
 * struct xsk_dma_map - a umem as one device sees it
 * @dma_pages: DMA address of each page; bit 0 says that the next page follows
 *	it without a gap
 * @dev: the device
 * @umem: the umem
 * @users: pools that use the mapping
 * @list: in the umem's @dma_maps; RTNL
 */
struct xsk_dma_map {
	dma_addr_t *dma_pages;
	struct device *dev;
	struct xdp_umem *umem;
	refcount_t users;
	struct list_head list;
};

/* DMA addresses of pages leave the low bits free for a flag. */
#define XSK_NEXT_PG_CONTIG	BIT_ULL(0)

/**
 * struct xsk_buff_pool - the frames and rings of one queue of a device
 * @netdev: the device; NULL when the pool has left its queue
 * @netdev_tracker: tracks the reference to @netdev
 * @umem: the memory
 * @dma_map: the mapping behind @dma_pages
 * @xsk_tx_list: sockets with a Tx ring, under RCU
 * @xsk_tx_list_lock: serialises changes of @xsk_tx_list
 * @users: sockets that hold the pool in memory
 * @bound: sockets bound to the queue through this pool; RTNL
 * @work: releases the pool where the last user may not sleep
 * @heads_cnt: number of @heads
 * @queue_id: the queue
 * @rx_lock: serialises receiving from CPUs that do not run the queue, as generic
 *	XDP does
 * @fq: fill ring
 * @cq: completion ring
 * @addrs: the umem as the kernel sees it
 * @addrs_cnt: its size in bytes
 * @chunk_mask: takes a umem address to the start of its chunk (aligned mode)
 * @heads: zero-copy: a buffer for each chunk, in aligned mode in order
 * @free_list: zero-copy: frames that came back from the driver unused
 * @idle_heads: unaligned zero-copy: buffers that have no frame
 * @dma_pages: the umem as the device sees it
 * @dev: the device that DMA is done by; NULL unless mapped
 * @frags: zero-copy: what follows the first buffer of the packet in work
 * @frags_first: first used entry of @frags
 * @frags_end: first unused entry of @frags
 * @rxq: what the driver said of its Rx queue
 * @headroom: bytes that user space keeps at the start of each chunk
 * @chunk_size: size of a chunk in bytes
 * @chunk_shift: its logarithm (aligned mode)
 * @frame_len: bytes of a chunk that the device may write
 * @rx_frame_size: longest piece of a packet that a driver may put in a frame
 * @tx_descs: the batch that xsk_tx_peek_release_desc_batch() hands out
 * @tx_descs_nentries: number of @tx_descs
 * @tx_max_len: longest Tx descriptor
 * @tx_max_segs: most Tx descriptors of a packet
 * @tx_options: option bits that a Tx descriptor may have
 * @cq_gaps: zero-copy: entries of the completion ring that no completion of the
 *	driver stands for, a bit for each slot
 * @cq_nr_gaps: number of bits set in @cq_gaps
 * @tx_metadata_len: bytes of Tx metadata in front of each packet
 * @cached_need_wakeup: XDP_WAKEUP_* flags that user space sees now
 * @uses_need_wakeup: user space asked for them with XDP_USE_NEED_WAKEUP
 * @unaligned: frames may start anywhere in the umem
 * @zc: the driver works on the umem itself
 * @sg: packets of several buffers are wanted, with XDP_USE_SG
 * @tx_sw_csum: checksums are computed by the CPU
 * @tx_meta: the Tx metadata that the driver looks at
 * @cq_lock: copy mode: protects the members below and the kernel's side of @cq
 * @tx_slots: copy mode: what is in flight, see transmit_skb.c
 * @tx_slots_free: first of the unused @tx_slots
 */
struct xsk_buff_pool {
	/* Control */
	struct net_device *netdev;
	netdevice_tracker netdev_tracker;
	struct xdp_umem *umem;
	struct xsk_dma_map *dma_map;
	struct list_head xsk_tx_list;
	spinlock_t xsk_tx_list_lock; /* serialises changes of xsk_tx_list */
	refcount_t users;
	u32 bound;
	struct work_struct work;
	u32 heads_cnt;
	u16 queue_id;
	spinlock_t rx_lock; /* serialises receiving by generic XDP */

	/* Receiving */
	struct xsk_queue *fq ____cacheline_aligned_in_smp;
	void *addrs;
	u64 addrs_cnt;
	u64 chunk_mask;
	struct xdp_buff_xsk *heads;
	struct xdp_buff_xsk *free_list;
	struct xdp_buff_xsk *idle_heads;
	dma_addr_t *dma_pages;
	struct device *dev;
	struct xdp_rxq_info *rxq;
	u32 headroom;
	u32 chunk_size;
	u32 chunk_shift;
	u32 frame_len;
	u32 rx_frame_size;
	u8 cached_need_wakeup;
	bool uses_need_wakeup;
	bool unaligned;
	bool zc;
	bool sg;

	/* Sending */
	struct xsk_queue *cq ____cacheline_aligned_in_smp;
	struct xdp_desc *tx_descs;
	u32 tx_descs_nentries;
	u32 tx_max_len;
	u32 tx_max_segs;
	u32 tx_options;
	unsigned long *cq_gaps;
	u32 cq_nr_gaps;
	u8 tx_metadata_len;
	bool tx_sw_csum;
	struct xsk_tx_metadata_copy tx_meta;
	spinlock_t cq_lock; /* copy mode: protects cq and tx_slots */
	struct xsk_tx_slot *tx_slots;
	u32 tx_slots_free;

	u32 frags_first;
	u32 frags_end;
	struct xdp_buff_xsk *frags[MAX_SKB_FRAGS];
};

/* Ends the lists of buffers, where NULL says "in no list". */
#define XSK_LIST_END	((struct xdp_buff_xsk *)1UL)

/* For <net/xdp_sock_drv.h>, which documents what they do. */
void xp_set_rxq_info(struct xsk_buff_pool *pool, struct xdp_rxq_info *rxq);
void xp_fill_cb(struct xsk_buff_pool *pool, struct xsk_cb_desc *desc);
int xp_dma_map(struct xsk_buff_pool *pool, struct device *dev,
	       unsigned long attrs);
void xp_dma_unmap(struct xsk_buff_pool *pool, unsigned long attrs);
struct xdp_buff *xp_alloc(struct xsk_buff_pool *pool);
u32 xp_alloc_batch(struct xsk_buff_pool *pool, struct xdp_buff **xdp, u32 max);
bool xp_can_alloc(struct xsk_buff_pool *pool, u32 count);
void xp_free_frags(struct xsk_buff_pool *pool);
struct xsk_tx_metadata *xp_get_tx_metadata(struct xsk_buff_pool *pool, u64 addr,
					   struct xsk_tx_metadata_copy *copy);

static inline struct xdp_buff_xsk *xdp_to_xskb(const struct xdp_buff *xdp)
{
	return container_of(xdp, struct xdp_buff_xsk, xdp);
}

static inline void xp_list_push(struct xdp_buff_xsk **list,
				struct xdp_buff_xsk *xskb)
{
	xskb->next = *list;
	*list = xskb;
}

/* User space can give the same frame twice, and then it comes back twice. */
static inline void xp_free(struct xdp_buff_xsk *xskb)
{
	if (likely(!xskb->next))
		xp_list_push(&xskb->pool->free_list, xskb);
}

/* A umem address has two forms. In aligned mode it is the offset into the umem.
 * In unaligned mode the low 48 bits are the offset of the frame, and the high 16
 * bits say how far behind it the packet starts.
 */
static inline u64 xp_unaligned_base(u64 addr)
{
	return addr & XSK_UNALIGNED_BUF_ADDR_MASK;
}

static inline u64 xp_addr_to_offset(const struct xsk_buff_pool *pool, u64 addr)
{
	if (!pool->unaligned)
		return addr;
	return xp_unaligned_base(addr) + (addr >> XSK_UNALIGNED_BUF_OFFSET_SHIFT);
}

static inline void *xp_raw_get_data(struct xsk_buff_pool *pool, u64 addr)
{
	return pool->addrs + xp_addr_to_offset(pool, addr);
}

static inline dma_addr_t xp_offset_to_dma(const struct xsk_buff_pool *pool,
					  u64 offset)
{
	dma_addr_t page = pool->dma_pages[offset >> PAGE_SHIFT];

	return (page & ~XSK_NEXT_PG_CONTIG) + offset_in_page(offset);
}

static inline dma_addr_t xp_raw_get_dma(struct xsk_buff_pool *pool, u64 addr)
{
	return xp_offset_to_dma(pool, xp_addr_to_offset(pool, addr));
}

static inline bool xp_tx_metadata_enabled(const struct xsk_buff_pool *pool)
{
	return pool->tx_metadata_len > 0;
}

#endif /* _NET_XSK_BUFF_POOL_H */
