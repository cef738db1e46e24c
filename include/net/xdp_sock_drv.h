/* SPDX-License-Identifier: GPL-2.0 */
/* AF_XDP zero-copy: what the core offers to network drivers.
 *
 * A driver gets a pool for a queue with XDP_SETUP_XSK_POOL through ndo_bpf, maps
 * it for DMA, takes frames from it for its Rx ring, and takes descriptors from
 * it for its Tx ring. All functions here that move frames or descriptors of a
 * pool are to be called from one context at a time, which is the NAPI poll of
 * the queue, or a time when the queue is stopped.
 */
#ifndef _LINUX_XDP_SOCK_DRV_H
#define _LINUX_XDP_SOCK_DRV_H

#include <linux/sizes.h>
#include <net/xdp_sock.h>
#include <net/xsk_buff_pool.h>

/* A chunk is never smaller than this. */
#define XDP_UMEM_MIN_CHUNK_SHIFT 11
#define XDP_UMEM_MIN_CHUNK_SIZE SZ_2K

/**
 * struct xsk_cb_desc - what to put into the private bytes of each buffer
 * @src: the bytes
 * @off: where they go, from the start of the private bytes
 * @bytes: how many
 */
struct xsk_cb_desc {
	void *src;
	u8 off;
	u8 bytes;
};

/* Tx metadata that the core and drivers understand. */
#define XDP_TXMD_FLAGS_VALID \
	(XDP_TXMD_FLAGS_TIMESTAMP | XDP_TXMD_FLAGS_CHECKSUM)

#ifdef CONFIG_XDP_SOCKETS

void xsk_tx_completed(struct xsk_buff_pool *pool, u32 nb_entries);
bool xsk_tx_peek_desc(struct xsk_buff_pool *pool, struct xdp_desc *desc);
u32 xsk_tx_peek_release_desc_batch(struct xsk_buff_pool *pool, u32 max);
void xsk_tx_release(struct xsk_buff_pool *pool);
struct xsk_buff_pool *xsk_get_pool_from_qid(struct net_device *dev,
					    u16 queue_id);
void xsk_set_rx_need_wakeup(struct xsk_buff_pool *pool);
void xsk_set_tx_need_wakeup(struct xsk_buff_pool *pool);
void xsk_clear_rx_need_wakeup(struct xsk_buff_pool *pool);
void xsk_clear_tx_need_wakeup(struct xsk_buff_pool *pool);
bool xsk_uses_need_wakeup(struct xsk_buff_pool *pool);

/**
 * xsk_pool_get_headroom - where in a chunk the device may put a packet
 * @pool: the pool
 *
 * Return: bytes from the start of the chunk.
 */
static inline u32 xsk_pool_get_headroom(struct xsk_buff_pool *pool)
{
	return XDP_PACKET_HEADROOM + pool->headroom;
}

/**
 * xsk_pool_get_chunk_size - size of a chunk
 * @pool: the pool
 *
 * Return: the size in bytes.
 */
static inline u32 xsk_pool_get_chunk_size(struct xsk_buff_pool *pool)
{
	return pool->chunk_size;
}

/**
 * xsk_pool_get_rx_frame_size - how much of a packet fits a buffer
 * @pool: the pool
 *
 * Return: bytes, a multiple of 128. What a longer packet has more goes into
 * further buffers.
 */
static inline u32 xsk_pool_get_rx_frame_size(struct xsk_buff_pool *pool)
{
	return pool->rx_frame_size;
}

/**
 * xsk_pool_get_rx_frag_step - the frag_size for xdp_rxq_info_reg()
 * @pool: the pool
 *
 * Return: distance of two buffers in bytes, 0 if there is no fixed one.
 */
static inline u32 xsk_pool_get_rx_frag_step(struct xsk_buff_pool *pool)
{
	return pool->unaligned ? 0 : pool->chunk_size;
}

/**
 * xsk_pool_set_rxq_info - say which Rx queue the pool's buffers are for
 * @pool: the pool
 * @rxq: must stay valid as long as the driver has the pool
 *
 * Context: the queue is stopped.
 */
static inline void xsk_pool_set_rxq_info(struct xsk_buff_pool *pool,
					 struct xdp_rxq_info *rxq)
{
	xp_set_rxq_info(pool, rxq);
}

/**
 * xsk_pool_fill_cb - initialise the private bytes of all buffers
 * @pool: the pool
 * @desc: with what
 *
 * Context: the queue is stopped.
 */
static inline void xsk_pool_fill_cb(struct xsk_buff_pool *pool,
				    struct xsk_cb_desc *desc)
{
	xp_fill_cb(pool, desc);
}

/**
 * xsk_pool_get_napi_id - the NAPI that runs the pool's queue
 * @pool: the pool
 *
 * Return: its id, 0 if the driver has not named it.
 */
static inline unsigned int xsk_pool_get_napi_id(struct xsk_buff_pool *pool)
{
#ifdef CONFIG_NET_RX_BUSY_POLL
	struct xdp_rxq_info *rxq = READ_ONCE(pool->rxq);

	return rxq ? rxq->napi_id : 0;
#else
	return 0;
#endif
}

/**
 * xsk_pool_dma_map - map the pool's umem for DMA
 * @pool: the pool
 * @dev: the device that does DMA
 * @attrs: DMA_ATTR_* flags
 *
 * Pools of one umem and one device share the mapping.
 * Context: process, RTNL held.
 * Return: 0, or -ENOMEM with nothing left mapped.
 */
static inline int xsk_pool_dma_map(struct xsk_buff_pool *pool,
				   struct device *dev, unsigned long attrs)
{
	return xp_dma_map(pool, dev, attrs);
}

/**
 * xsk_pool_dma_unmap - undo xsk_pool_dma_map()
 * @pool: the pool; one that is not mapped is left alone
 * @attrs: as they were at xsk_pool_dma_map()
 *
 * The device must not have any of the pool's frames any more.
 * Context: process, RTNL held.
 */
static inline void xsk_pool_dma_unmap(struct xsk_buff_pool *pool,
				      unsigned long attrs)
{
	xp_dma_unmap(pool, attrs);
}

/**
 * xsk_buff_xdp_get_dma - where the device puts the packet
 * @xdp: a buffer of a pool
 *
 * Return: the DMA address.
 */
static inline dma_addr_t xsk_buff_xdp_get_dma(struct xdp_buff *xdp)
{
	return xdp_to_xskb(xdp)->dma;
}

/**
 * xsk_buff_xdp_get_frame_dma - DMA address of a buffer's chunk
 * @xdp: a buffer of a pool
 *
 * Return: the DMA address.
 */
static inline dma_addr_t xsk_buff_xdp_get_frame_dma(struct xdp_buff *xdp)
{
	struct xdp_buff_xsk *xskb = xdp_to_xskb(xdp);

	return xskb->dma - xsk_pool_get_headroom(xskb->pool);
}

/**
 * xsk_buff_alloc - take a frame, for the device to fill
 * @pool: the pool
 *
 * Return: the buffer, empty and ready for the device, or NULL if there is none.
 */
static inline struct xdp_buff *xsk_buff_alloc(struct xsk_buff_pool *pool)
{
	return xp_alloc(pool);
}

/**
 * xsk_buff_alloc_batch - take frames, for the device to fill
 * @pool: the pool
 * @xdp: where to put the buffers
 * @max: how many
 *
 * The buffers are ready for the device, but what they hold of an earlier packet
 * is cleared by xsk_buff_set_size() only.
 * Return: how many there were, up to @max.
 */
static inline u32 xsk_buff_alloc_batch(struct xsk_buff_pool *pool,
				       struct xdp_buff **xdp, u32 max)
{
	return xp_alloc_batch(pool, xdp, max);
}

/**
 * xsk_buff_can_alloc - are there frames?
 * @pool: the pool
 * @count: how many
 *
 * Return: true if there are @count. User space may have filled in invalid ones,
 * so that fewer can be allocated.
 */
static inline bool xsk_buff_can_alloc(struct xsk_buff_pool *pool, u32 count)
{
	return xp_can_alloc(pool, count);
}

/**
 * xsk_buff_free - give back a frame that is not passed on
 * @xdp: the buffer, with all further buffers of its packet
 *
 * The frames stay with the pool, and xsk_buff_alloc() takes them first.
 */
static inline void xsk_buff_free(struct xdp_buff *xdp)
{
	struct xdp_buff_xsk *xskb = xdp_to_xskb(xdp);

	if (unlikely(xdp_buff_has_frags(xdp))) {
		xp_free_frags(xskb->pool);
		xdp_get_shared_info_from_buff(xdp)->nr_frags = 0;
	}
	xp_free(xskb);
}

/* The buffers of a packet behind its first one. A pool has one such packet at a
 * time: a driver puts one together, and it is consumed before the next begins.
 */

/**
 * xsk_buff_add_frag - add a buffer to the packet in work
 * @xdp: the buffer
 *
 * The first buffer of a packet is not added. The caller counts the buffers in
 * the skb_shared_info of the first, and adds no more than MAX_SKB_FRAGS.
 */
static inline void xsk_buff_add_frag(struct xdp_buff *xdp)
{
	struct xdp_buff_xsk *frag = xdp_to_xskb(xdp);
	struct xsk_buff_pool *pool = frag->pool;

	if (WARN_ON_ONCE(pool->frags_end == ARRAY_SIZE(pool->frags))) {
		xp_free(frag);
		return;
	}
	pool->frags[pool->frags_end++] = frag;
}

static inline void xsk_pool_frag_taken(struct xsk_buff_pool *pool)
{
	if (pool->frags_first == pool->frags_end) {
		pool->frags_first = 0;
		pool->frags_end = 0;
	}
}

/**
 * xsk_buff_get_frag - take the next buffer of the packet in work
 * @first: first buffer of the packet
 *
 * Return: the buffer, which is not part of the packet any more; NULL if there is
 * none left.
 */
static inline struct xdp_buff *xsk_buff_get_frag(const struct xdp_buff *first)
{
	struct xsk_buff_pool *pool = xdp_to_xskb(first)->pool;
	struct xdp_buff_xsk *frag;

	if (pool->frags_first == pool->frags_end)
		return NULL;

	frag = pool->frags[pool->frags_first++];
	xsk_pool_frag_taken(pool);
	return &frag->xdp;
}

/**
 * xsk_buff_get_tail - look at the last buffer of the packet in work
 * @first: first buffer of the packet
 *
 * The count of buffers that the XDP core goes by lies in the umem, where user
 * space can change it.
 * Return: the last buffer, which stays part of the packet; @first if there is no
 * other.
 */
static inline struct xdp_buff *xsk_buff_get_tail(struct xdp_buff *first)
{
	struct xsk_buff_pool *pool = xdp_to_xskb(first)->pool;

	if (pool->frags_first == pool->frags_end)
		return first;
	return &pool->frags[pool->frags_end - 1]->xdp;
}

/**
 * xsk_buff_del_tail - cut off the last buffer of the packet in work
 * @tail: the buffer, from xsk_buff_get_tail()
 */
static inline void xsk_buff_del_tail(struct xdp_buff *tail)
{
	struct xsk_buff_pool *pool = xdp_to_xskb(tail)->pool;

	if (pool->frags_first == pool->frags_end)
		return;
	pool->frags_end--;
	xsk_pool_frag_taken(pool);
}

/**
 * xsk_buff_set_size - say what the device has put into a buffer
 * @xdp: the buffer
 * @size: bytes of the packet in it
 */
static inline void xsk_buff_set_size(struct xdp_buff *xdp, u32 size)
{
	void *data = xdp->data_hard_start + XDP_PACKET_HEADROOM;

	xdp->data = data;
	xdp->data_meta = data;
	xdp->data_end = data + size;
	xdp->flags = 0;
}

/**
 * xsk_buff_dma_sync_for_cpu - what the device wrote becomes visible
 * @xdp: the buffer
 */
static inline void xsk_buff_dma_sync_for_cpu(struct xdp_buff *xdp)
{
	struct xdp_buff_xsk *xskb = xdp_to_xskb(xdp);

	dma_sync_single_for_cpu(xskb->pool->dev, xskb->dma,
				xskb->pool->frame_len, DMA_BIDIRECTIONAL);
}

/**
 * xsk_is_eop_desc - does the packet end here?
 * @desc: a Tx descriptor
 *
 * Return: true if @desc is the last of its packet.
 */
static inline bool xsk_is_eop_desc(const struct xdp_desc *desc)
{
	return !(desc->options & XDP_PKT_CONTD);
}

/**
 * xsk_buff_raw_get_dma - where the device finds what it is to send
 * @pool: the pool
 * @addr: address in a Tx descriptor
 *
 * Return: the DMA address.
 */
static inline dma_addr_t xsk_buff_raw_get_dma(struct xsk_buff_pool *pool,
					      u64 addr)
{
	return xp_raw_get_dma(pool, addr);
}

/**
 * xsk_buff_raw_get_data - where the CPU finds what is to be sent
 * @pool: the pool
 * @addr: address in a Tx descriptor
 *
 * Return: the address.
 */
static inline void *xsk_buff_raw_get_data(struct xsk_buff_pool *pool, u64 addr)
{
	return xp_raw_get_data(pool, addr);
}

/**
 * xsk_buff_raw_dma_sync_for_device - what is to be sent becomes visible to it
 * @pool: the pool
 * @dma: from xsk_buff_raw_get_dma()
 * @size: length of the Tx descriptor
 */
static inline void xsk_buff_raw_dma_sync_for_device(struct xsk_buff_pool *pool,
						    dma_addr_t dma,
						    size_t size)
{
	dma_sync_single_for_device(pool->dev, dma, size, DMA_BIDIRECTIONAL);
}

/**
 * xsk_buff_get_metadata - the Tx metadata of a packet
 * @pool: the pool
 * @addr: address in the packet's first Tx descriptor
 * @options: options of this descriptor
 *
 * What the driver gets is a copy, which user space cannot change. It is valid
 * until the function is called again for @pool.
 * Return: the metadata; NULL if the packet has none, or some that the kernel
 * does not know.
 */
static inline struct xsk_tx_metadata *
xsk_buff_get_metadata(struct xsk_buff_pool *pool, u64 addr, u32 options)
{
	if (!(options & XDP_TX_METADATA))
		return NULL;
	return xp_get_tx_metadata(pool, addr, &pool->tx_meta);
}

#else

static inline void xsk_tx_completed(struct xsk_buff_pool *pool, u32 nb_entries)
{
}

static inline bool xsk_tx_peek_desc(struct xsk_buff_pool *pool,
				    struct xdp_desc *desc)
{
	return false;
}

static inline u32 xsk_tx_peek_release_desc_batch(struct xsk_buff_pool *pool,
						 u32 max)
{
	return 0;
}

static inline void xsk_tx_release(struct xsk_buff_pool *pool)
{
}

static inline struct xsk_buff_pool *
xsk_get_pool_from_qid(struct net_device *dev, u16 queue_id)
{
	return NULL;
}

static inline void xsk_set_rx_need_wakeup(struct xsk_buff_pool *pool)
{
}

static inline void xsk_set_tx_need_wakeup(struct xsk_buff_pool *pool)
{
}

static inline void xsk_clear_rx_need_wakeup(struct xsk_buff_pool *pool)
{
}

static inline void xsk_clear_tx_need_wakeup(struct xsk_buff_pool *pool)
{
}

static inline bool xsk_uses_need_wakeup(struct xsk_buff_pool *pool)
{
	return false;
}

static inline u32 xsk_pool_get_headroom(struct xsk_buff_pool *pool)
{
	return 0;
}

static inline u32 xsk_pool_get_chunk_size(struct xsk_buff_pool *pool)
{
	return 0;
}

static inline u32 xsk_pool_get_rx_frame_size(struct xsk_buff_pool *pool)
{
	return 0;
}

static inline u32 xsk_pool_get_rx_frag_step(struct xsk_buff_pool *pool)
{
	return 0;
}

static inline void xsk_pool_set_rxq_info(struct xsk_buff_pool *pool,
					 struct xdp_rxq_info *rxq)
{
}

static inline void xsk_pool_fill_cb(struct xsk_buff_pool *pool,
				    struct xsk_cb_desc *desc)
{
}

static inline unsigned int xsk_pool_get_napi_id(struct xsk_buff_pool *pool)
{
	return 0;
}

static inline int xsk_pool_dma_map(struct xsk_buff_pool *pool,
				   struct device *dev, unsigned long attrs)
{
	return 0;
}

static inline void xsk_pool_dma_unmap(struct xsk_buff_pool *pool,
				      unsigned long attrs)
{
}

static inline dma_addr_t xsk_buff_xdp_get_dma(struct xdp_buff *xdp)
{
	return 0;
}

static inline dma_addr_t xsk_buff_xdp_get_frame_dma(struct xdp_buff *xdp)
{
	return 0;
}

static inline struct xdp_buff *xsk_buff_alloc(struct xsk_buff_pool *pool)
{
	return NULL;
}

static inline u32 xsk_buff_alloc_batch(struct xsk_buff_pool *pool,
				       struct xdp_buff **xdp, u32 max)
{
	return 0;
}

static inline bool xsk_buff_can_alloc(struct xsk_buff_pool *pool, u32 count)
{
	return false;
}

static inline void xsk_buff_free(struct xdp_buff *xdp)
{
}

static inline void xsk_buff_add_frag(struct xdp_buff *xdp)
{
}

static inline struct xdp_buff *xsk_buff_get_frag(const struct xdp_buff *first)
{
	return NULL;
}

static inline struct xdp_buff *xsk_buff_get_tail(struct xdp_buff *first)
{
	return NULL;
}

static inline void xsk_buff_del_tail(struct xdp_buff *tail)
{
}

static inline void xsk_buff_set_size(struct xdp_buff *xdp, u32 size)
{
}

static inline void xsk_buff_dma_sync_for_cpu(struct xdp_buff *xdp)
{
}

static inline bool xsk_is_eop_desc(const struct xdp_desc *desc)
{
	return false;
}

static inline dma_addr_t xsk_buff_raw_get_dma(struct xsk_buff_pool *pool,
					      u64 addr)
{
	return 0;
}

static inline void *xsk_buff_raw_get_data(struct xsk_buff_pool *pool, u64 addr)
{
	return NULL;
}

static inline void xsk_buff_raw_dma_sync_for_device(struct xsk_buff_pool *pool,
						    dma_addr_t dma,
						    size_t size)
{
}

static inline struct xsk_tx_metadata *
xsk_buff_get_metadata(struct xsk_buff_pool *pool, u64 addr, u32 options)
{
	return NULL;
}

#endif /* CONFIG_XDP_SOCKETS */

#endif /* _LINUX_XDP_SOCK_DRV_H */
