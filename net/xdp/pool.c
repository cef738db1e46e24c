// SPDX-License-Identifier: GPL-2.0
/* The pool of a queue: takes frames from the fill ring for the driver, holds
 * those that come back unused, and maps the umem for DMA.
 *
 * A pool serves one queue of one device and all sockets bound to it. It leaves
 * the queue when the last of them is closed or the device goes away; it stays in
 * memory until the last packet that was sent from it in copy mode is done.
 */

#include <linux/bitmap.h>
#include <linux/dma-mapping.h>
#include <linux/mm.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <net/netdev_rx_queue.h>
#include <net/xdp_sock_drv.h>

#include "desc.h"
#include "ring.h"
#include "umem.h"
#include "xsk.h"

/* What one Tx or Rx descriptor of all known devices can carry. The size of an Rx
 * buffer is a multiple of 128.
 */
#define XSK_DMA_MAX_LEN		(SZ_16K - 1)

/* The longest packet that the stack handles. */
#define XSK_SKB_MAX_LEN		U16_MAX

/* Invalid fill ring entries skipped for one frame. They cost time that a hostile
 * user should not get.
 */
#define XSK_FILL_MAX_INVALID	64

#define XSK_VLAN_PAD		(ETH_HLEN + 2 * VLAN_HLEN + ETH_FCS_LEN)

#define NETDEV_XDP_ACT_ZC \
	(NETDEV_XDP_ACT_BASIC | NETDEV_XDP_ACT_REDIRECT | \
	 NETDEV_XDP_ACT_XSK_ZEROCOPY)

/* Life */

static void xp_destroy_tx_descs(struct xsk_buff_pool *pool)
{
	kvfree(pool->cq_gaps);
	kvfree(pool->tx_descs);
	pool->cq_gaps = NULL;
	pool->tx_descs = NULL;
}

static void xp_destroy_heads(struct xsk_buff_pool *pool)
{
	kvfree(pool->heads);
	pool->heads = NULL;
	pool->heads_cnt = 0;
	pool->free_list = XSK_LIST_END;
	pool->idle_heads = XSK_LIST_END;
}

static void xp_destroy(struct xsk_buff_pool *pool)
{
	xsk_queue_destroy(pool->fq);
	xsk_queue_destroy(pool->cq);
	xp_destroy_heads(pool);
	xp_destroy_tx_descs(pool);
	kvfree(pool->tx_slots);
	kfree(pool);
}

static void xp_destroy_work(struct work_struct *work)
{
	xp_destroy(container_of(work, struct xsk_buff_pool, work));
}

/**
 * xp_create - make a pool that serves no queue yet
 * @umem: memory for the frames; must outlive the pool
 * @fq: fill ring, which becomes the pool's
 * @cq: completion ring, which becomes the pool's
 *
 * Context: process, may sleep.
 * Return: the pool, with one user; NULL if there is no memory, and then the
 * rings stay the caller's.
 */
struct xsk_buff_pool *xp_create(struct xdp_umem *umem, struct xsk_queue *fq,
				struct xsk_queue *cq)
{
	struct xsk_buff_pool *pool;

	pool = kzalloc(sizeof(*pool), GFP_KERNEL_ACCOUNT);
	if (!pool)
		return NULL;

	pool->umem = umem;
	pool->fq = fq;
	pool->cq = cq;
	pool->addrs = umem->addrs;
	pool->addrs_cnt = umem->size;
	pool->headroom = umem->headroom;
	pool->chunk_size = umem->chunk_size;
	pool->chunk_shift = ffs(umem->chunk_size) - 1;
	pool->chunk_mask = ~((u64)umem->chunk_size - 1);
	pool->frame_len = umem->chunk_size - umem->headroom - XDP_PACKET_HEADROOM;
	pool->unaligned = umem->flags & XDP_UMEM_UNALIGNED_CHUNK_FLAG;
	pool->tx_sw_csum = umem->flags & XDP_UMEM_TX_SW_CSUM;
	pool->tx_metadata_len = umem->tx_metadata_len;
	pool->tx_options = XDP_PKT_CONTD;
	if (pool->tx_metadata_len)
		pool->tx_options |= XDP_TX_METADATA;

	pool->free_list = XSK_LIST_END;
	pool->idle_heads = XSK_LIST_END;
	INIT_LIST_HEAD(&pool->xsk_tx_list);
	spin_lock_init(&pool->xsk_tx_list_lock);
	spin_lock_init(&pool->rx_lock);
	spin_lock_init(&pool->cq_lock);
	INIT_WORK(&pool->work, xp_destroy_work);
	refcount_set(&pool->users, 1);
	return pool;
}

/**
 * xp_get - use a pool
 * @pool: the pool, in use already
 */
void xp_get(struct xsk_buff_pool *pool)
{
	refcount_inc(&pool->users);
}

/**
 * xp_put - stop using a pool
 * @pool: the pool; it has left its queue if this is the last user
 *
 * Context: process, may sleep.
 */
void xp_put(struct xsk_buff_pool *pool)
{
	if (refcount_dec_and_test(&pool->users))
		xp_destroy(pool);
}

/**
 * xp_put_deferred - stop using a pool, where one may not sleep
 * @pool: the pool; it has left its queue if this is the last user, and a work
 *	item frees it
 *
 * Context: any.
 */
void xp_put_deferred(struct xsk_buff_pool *pool)
{
	if (refcount_dec_and_test(&pool->users))
		schedule_work(&pool->work);
}

static int xp_create_tx_descs(struct xsk_buff_pool *pool, u32 entries)
{
	if (pool->tx_descs)
		return 0;

	entries = max(entries, pool->tx_max_segs);
	pool->cq_gaps = kvcalloc(BITS_TO_LONGS(pool->cq->entries),
				 sizeof(*pool->cq_gaps), GFP_KERNEL_ACCOUNT);
	pool->tx_descs = kvcalloc(entries, sizeof(*pool->tx_descs),
				  GFP_KERNEL_ACCOUNT);
	if (!pool->cq_gaps || !pool->tx_descs) {
		xp_destroy_tx_descs(pool);
		return -ENOMEM;
	}
	pool->tx_descs_nentries = entries;
	return 0;
}

/**
 * xp_prepare_tx - make a pool ready for a socket that sends
 * @pool: the pool
 * @entries: size of the socket's Tx ring; 0 if it has none
 *
 * Context: process, RTNL held.
 * Return: 0 or -ENOMEM.
 */
int xp_prepare_tx(struct xsk_buff_pool *pool, u32 entries)
{
	if (!entries)
		return 0;
	return pool->zc ? xp_create_tx_descs(pool, entries) :
			  xsk_tx_slots_create(pool);
}

/**
 * xp_add_tx_socket - let the driver see a socket's Tx ring
 * @pool: the socket's pool
 * @xs: the socket
 */
void xp_add_tx_socket(struct xsk_buff_pool *pool, struct xdp_sock *xs)
{
	if (!xs->tx)
		return;

	spin_lock_bh(&pool->xsk_tx_list_lock);
	list_add_rcu(&xs->tx_list, &pool->xsk_tx_list);
	spin_unlock_bh(&pool->xsk_tx_list_lock);
}

/**
 * xp_del_tx_socket - hide a socket's Tx ring from the driver
 * @pool: the socket's pool
 * @xs: the socket
 *
 * The driver may look at it until the end of an RCU grace period.
 */
void xp_del_tx_socket(struct xsk_buff_pool *pool, struct xdp_sock *xs)
{
	if (!xs->tx)
		return;

	spin_lock_bh(&pool->xsk_tx_list_lock);
	list_del_rcu(&xs->tx_list);
	spin_unlock_bh(&pool->xsk_tx_list_lock);
}

/* Serving a queue */

/* Either kind of queue may be more numerous. */
static bool xp_queue_exists(const struct net_device *dev, u32 queue_id)
{
	return queue_id < max(dev->real_num_rx_queues, dev->real_num_tx_queues);
}

/**
 * xsk_get_pool_from_qid - the pool of a queue
 * @dev: the device
 * @queue_id: the queue
 *
 * Context: RTNL held, or the queue cannot change.
 * Return: the pool, NULL if the queue has none. It may be one in copy mode,
 * which does not concern the driver.
 */
struct xsk_buff_pool *xsk_get_pool_from_qid(struct net_device *dev,
					    u16 queue_id)
{
	if (!xp_queue_exists(dev, queue_id))
		return NULL;
	return queue_id < dev->real_num_rx_queues ? dev->_rx[queue_id].pool :
						    dev->_tx[queue_id].pool;
}
EXPORT_SYMBOL(xsk_get_pool_from_qid);

static void xp_set_pool_at_qid(struct net_device *dev, u16 queue_id,
			       struct xsk_buff_pool *pool)
{
	if (queue_id < dev->num_rx_queues)
		dev->_rx[queue_id].pool = pool;
	if (queue_id < dev->num_tx_queues)
		dev->_tx[queue_id].pool = pool;
}

static int xp_setup_driver(struct xsk_buff_pool *pool, bool on)
{
	struct netdev_bpf bpf = {
		.command = XDP_SETUP_XSK_POOL,
		.xsk.pool = on ? pool : NULL,
		.xsk.queue_id = pool->queue_id,
	};

	return pool->netdev->netdev_ops->ndo_bpf(pool->netdev, &bpf);
}

static int xp_create_heads(struct xsk_buff_pool *pool)
{
	u32 i;

	pool->heads = kvcalloc(pool->umem->chunks, sizeof(*pool->heads),
			       GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!pool->heads)
		return -ENOMEM;

	pool->heads_cnt = pool->umem->chunks;
	for (i = 0; i < pool->heads_cnt; i++) {
		struct xdp_buff_xsk *xskb = &pool->heads[i];

		xskb->pool = pool;
		xskb->xdp.frame_sz = pool->chunk_size - pool->headroom;
		if (pool->unaligned)
			xp_list_push(&pool->idle_heads, xskb);
		else
			xskb->xdp.data_hard_start = pool->addrs + pool->headroom +
						    (u64)i * pool->chunk_size;
	}
	return 0;
}

/* Can the driver do what the socket wants? Each "no" has an error of its own. */
static int xp_check_zc(struct xsk_buff_pool *pool)
{
	struct net_device *dev = pool->netdev;
	u32 segs = pool->sg ? dev->xdp_zc_max_segs : 1;

	if ((dev->xdp_features & NETDEV_XDP_ACT_ZC) != NETDEV_XDP_ACT_ZC)
		return -EOPNOTSUPP;
	if (pool->sg && segs == 1)
		return -EPROTONOSUPPORT;
	if (pool->tx_sw_csum)
		return -EPROTOTYPE;
	if (dev->mtu + XSK_VLAN_PAD > (u64)pool->rx_frame_size * segs)
		return -EMSGSIZE;
	if (dev_get_min_mp_channel_count(dev))
		return -EADDRINUSE;
	return 0;
}

static u32 xp_zc_rx_frame_size(const struct xsk_buff_pool *pool)
{
	u32 size = pool->frame_len;

	/* The first buffer of a packet also lists the further ones. */
	if (pool->sg)
		size -= SKB_DATA_ALIGN(sizeof(struct skb_shared_info));
	return ALIGN_DOWN(min(size, XSK_DMA_MAX_LEN), 128);
}

static int xp_enable_zc(struct xsk_buff_pool *pool, u32 tx_entries)
{
	int err;

	pool->zc = true;
	pool->rx_frame_size = xp_zc_rx_frame_size(pool);
	pool->tx_max_len = XSK_DMA_MAX_LEN;
	pool->tx_max_segs = pool->netdev->xdp_zc_max_segs;

	err = xp_check_zc(pool);
	if (err)
		return err;

	/* What can fail for want of memory comes before the driver. */
	err = xp_create_heads(pool);
	if (!err)
		err = xp_prepare_tx(pool, tx_entries);
	if (!err)
		err = xp_setup_driver(pool, true);
	if (err)
		return err;

	if (WARN_ONCE(!pool->dma_pages, "%s: driver did not map the umem\n",
		      netdev_name(pool->netdev))) {
		xp_setup_driver(pool, false);
		return -EIO;
	}
	return 0;
}

/* The driver has not got the pool, or has let go of it. */
static void xp_disable_zc(struct xsk_buff_pool *pool)
{
	WARN_ONCE(pool->dma_map, "%s: driver left the umem mapped\n",
		  netdev_name(pool->netdev));
	pool->zc = false;
	xp_destroy_heads(pool);
	xp_destroy_tx_descs(pool);
}

static int xp_enable_copy(struct xsk_buff_pool *pool, u32 tx_entries)
{
	pool->rx_frame_size = pool->frame_len;
	pool->tx_max_len = XSK_SKB_MAX_LEN;
	pool->tx_max_segs = MAX_SKB_FRAGS + 1;
	return xp_prepare_tx(pool, tx_entries);
}

static int xp_enable(struct xsk_buff_pool *pool, u16 flags, u32 tx_entries)
{
	int err;

	if (!(flags & XDP_COPY)) {
		err = xp_enable_zc(pool, tx_entries);
		if (!err)
			return 0;
		xp_disable_zc(pool);
		if (flags & XDP_ZEROCOPY)
			return err;
	}
	return xp_enable_copy(pool, tx_entries);
}

/**
 * xp_attach - let a pool serve a queue
 * @pool: the pool, which serves none
 * @dev: the device
 * @queue_id: the queue
 * @flags: XDP_COPY or XDP_ZEROCOPY, else the best that the driver can do;
 *	XDP_USE_SG, XDP_USE_NEED_WAKEUP
 * @tx_entries: size of the first socket's Tx ring; 0 if it has none
 *
 * Context: process, RTNL held.
 * Return: 0, or an error with the queue as it was: -ENXIO if there is no such
 * queue, -EBUSY if it has a pool, -ENOMEM. With XDP_ZEROCOPY also -EOPNOTSUPP if
 * the driver cannot do it, -EPROTONOSUPPORT if it can, but not with XDP_USE_SG,
 * -EPROTOTYPE if the umem wants software checksums, -EMSGSIZE if packets of the
 * device's MTU do not fit, -EADDRINUSE if a memory provider has the device, and
 * what the driver returns.
 */
int xp_attach(struct xsk_buff_pool *pool, struct net_device *dev, u32 queue_id,
	      u16 flags, u32 tx_entries)
{
	int err;

	ASSERT_RTNL();

	if (!xp_queue_exists(dev, queue_id))
		return -ENXIO;
	if (xsk_get_pool_from_qid(dev, queue_id))
		return -EBUSY;

	pool->netdev = dev;
	pool->queue_id = queue_id;
	pool->sg = flags & XDP_USE_SG;
	pool->uses_need_wakeup = flags & XDP_USE_NEED_WAKEUP;
	/* Nothing is sent before user space asks for it the first time. */
	pool->cached_need_wakeup = XDP_WAKEUP_TX;
	/* Drivers look for the pool there while they set it up. */
	xp_set_pool_at_qid(dev, queue_id, pool);

	err = xp_enable(pool, flags, tx_entries);
	if (err) {
		xp_set_pool_at_qid(dev, queue_id, NULL);
		pool->netdev = NULL;
		return err;
	}

	netdev_hold(dev, &pool->netdev_tracker, GFP_KERNEL);
	return 0;
}

/**
 * xp_detach - let a pool leave its queue
 * @pool: the pool; if it serves none, nothing happens
 *
 * Afterwards the driver knows nothing of the pool, and another one can serve the
 * queue.
 * Context: process, RTNL held.
 */
void xp_detach(struct xsk_buff_pool *pool)
{
	struct net_device *dev = pool->netdev;

	ASSERT_RTNL();

	if (!dev)
		return;

	if (pool->zc) {
		int err = xp_setup_driver(pool, false);

		WARN_ONCE(err, "%s: driver does not let go of queue %u: %d\n",
			  netdev_name(dev), pool->queue_id, err);
	}

	xp_set_pool_at_qid(dev, pool->queue_id, NULL);
	pool->netdev = NULL;
	netdev_put(dev, &pool->netdev_tracker);
}

void xp_set_rxq_info(struct xsk_buff_pool *pool, struct xdp_rxq_info *rxq)
{
	u32 i;

	for (i = 0; i < pool->heads_cnt; i++)
		pool->heads[i].xdp.rxq = rxq;
	WRITE_ONCE(pool->rxq, rxq);
}
EXPORT_SYMBOL(xp_set_rxq_info);

void xp_fill_cb(struct xsk_buff_pool *pool, struct xsk_cb_desc *desc)
{
	u32 i;

	for (i = 0; i < pool->heads_cnt; i++)
		memcpy(pool->heads[i].cb + desc->off, desc->src, desc->bytes);
}
EXPORT_SYMBOL(xp_fill_cb);

/* DMA */

static struct xsk_dma_map *xp_dma_map_find(struct xdp_umem *umem,
					   struct device *dev)
{
	struct xsk_dma_map *map;

	list_for_each_entry(map, &umem->dma_maps, list)
		if (map->dev == dev)
			return map;
	return NULL;
}

/* Undo the mapping of the first @npgs pages. */
static void xp_dma_map_destroy(struct xsk_dma_map *map, u32 npgs,
			       unsigned long attrs)
{
	u32 unit = map->umem->dma_unit >> PAGE_SHIFT;
	u32 i, n;

	for (i = 0; i < npgs; i += n) {
		n = min(unit, map->umem->npgs - i);
		dma_unmap_page_attrs(map->dev,
				     map->dma_pages[i] & ~XSK_NEXT_PG_CONTIG,
				     (size_t)n << PAGE_SHIFT, DMA_BIDIRECTIONAL,
				     attrs);
	}
	kvfree(map->dma_pages);
	kfree(map);
}

/* Frames in unaligned mode may cross from one page to the next. */
static void xp_dma_map_mark_contiguous(struct xsk_dma_map *map)
{
	u32 i;

	for (i = 0; i + 1 < map->umem->npgs; i++)
		if (map->dma_pages[i] + PAGE_SIZE == map->dma_pages[i + 1])
			map->dma_pages[i] |= XSK_NEXT_PG_CONTIG;
}

static struct xsk_dma_map *xp_dma_map_create(struct xdp_umem *umem,
					     struct device *dev,
					     unsigned long attrs)
{
	u32 unit = umem->dma_unit >> PAGE_SHIFT;
	struct xsk_dma_map *map;
	u32 i, j, n;

	map = kzalloc(sizeof(*map), GFP_KERNEL);
	if (!map)
		return NULL;

	map->umem = umem;
	map->dev = dev;
	refcount_set(&map->users, 1);
	map->dma_pages = kvcalloc(umem->npgs, sizeof(*map->dma_pages),
				  GFP_KERNEL | __GFP_NOWARN);
	if (!map->dma_pages) {
		kfree(map);
		return NULL;
	}

	for (i = 0; i < umem->npgs; i += n) {
		dma_addr_t dma;

		n = min(unit, umem->npgs - i);
		dma = dma_map_page_attrs(dev, umem->pgs[i], 0,
					 (size_t)n << PAGE_SHIFT,
					 DMA_BIDIRECTIONAL, attrs);
		if (dma_mapping_error(dev, dma)) {
			xp_dma_map_destroy(map, i, attrs);
			return NULL;
		}
		for (j = 0; j < n; j++)
			map->dma_pages[i + j] = dma + ((dma_addr_t)j << PAGE_SHIFT);
	}

	if (umem->flags & XDP_UMEM_UNALIGNED_CHUNK_FLAG)
		xp_dma_map_mark_contiguous(map);
	list_add(&map->list, &umem->dma_maps);
	return map;
}

static void xp_init_head_dma(struct xdp_buff_xsk *xskb,
			     struct xsk_buff_pool *pool, u64 offset)
{
	xskb->dma = xp_offset_to_dma(pool, offset) + xsk_pool_get_headroom(pool);
}

int xp_dma_map(struct xsk_buff_pool *pool, struct device *dev,
	       unsigned long attrs)
{
	struct xsk_dma_map *map;
	u32 i;

	ASSERT_RTNL();

	map = xp_dma_map_find(pool->umem, dev);
	if (map) {
		refcount_inc(&map->users);
	} else {
		map = xp_dma_map_create(pool->umem, dev, attrs);
		if (!map)
			return -ENOMEM;
	}

	pool->dma_map = map;
	pool->dma_pages = map->dma_pages;
	pool->dev = dev;
	if (!pool->unaligned)
		for (i = 0; i < pool->heads_cnt; i++)
			xp_init_head_dma(&pool->heads[i], pool,
					 (u64)i * pool->chunk_size);
	return 0;
}
EXPORT_SYMBOL(xp_dma_map);

void xp_dma_unmap(struct xsk_buff_pool *pool, unsigned long attrs)
{
	struct xsk_dma_map *map = pool->dma_map;

	ASSERT_RTNL();

	if (!map)
		return;

	if (refcount_dec_and_test(&map->users)) {
		list_del(&map->list);
		xp_dma_map_destroy(map, pool->umem->npgs, attrs);
	}
	pool->dma_map = NULL;
	pool->dma_pages = NULL;
	pool->dev = NULL;
}
EXPORT_SYMBOL(xp_dma_unmap);

/* Frames from the fill ring */

/**
 * xp_take_fill_addr - take a frame from the fill ring
 * @pool: the pool
 * @addr: where the frame starts, as an offset into the umem
 *
 * Invalid entries are dropped and counted. User space gets the entry back with
 * xsk_cons_release().
 * Context: the queue's NAPI, or @pool->rx_lock held.
 * Return: true if there was one.
 */
bool xp_take_fill_addr(struct xsk_buff_pool *pool, u64 *addr)
{
	struct xsk_queue *fq = pool->fq;
	int i;

	for (i = 0; i < XSK_FILL_MAX_INVALID && xsk_cons_avail(fq, 1); i++) {
		*addr = xsk_cons_addr(fq, fq->pos++);
		if (likely(pool->unaligned ? xp_fill_addr_unaligned(pool, addr) :
					     xp_fill_addr_aligned(pool, addr)))
			return true;
		fq->invalid_descs++;
	}

	fq->empty_descs++;
	return false;
}

static struct xdp_buff_xsk *xp_list_pop(struct xdp_buff_xsk **list)
{
	struct xdp_buff_xsk *xskb = *list;

	if (xskb == XSK_LIST_END)
		return NULL;

	*list = xskb->next;
	xskb->next = NULL;
	return xskb;
}

/* In unaligned mode a buffer gets a frame anew each time. */
static struct xdp_buff_xsk *xp_get_unaligned_head(struct xsk_buff_pool *pool,
						  u64 offset)
{
	struct xdp_buff_xsk *xskb = xp_list_pop(&pool->idle_heads);

	xskb->xdp.data_hard_start = pool->addrs + offset + pool->headroom;
	xp_init_head_dma(xskb, pool, offset);
	return xskb;
}

static struct xdp_buff_xsk *xp_alloc_filled(struct xsk_buff_pool *pool)
{
	u64 addr;

	if (pool->unaligned && pool->idle_heads == XSK_LIST_END)
		return NULL;
	/* Once for all that user space filled in at once. */
	if (pool->fq->pos == pool->fq->end)
		xsk_cons_release(pool->fq);
	if (!xp_take_fill_addr(pool, &addr))
		return NULL;

	if (pool->unaligned)
		return xp_get_unaligned_head(pool, addr);
	return &pool->heads[addr >> pool->chunk_shift];
}

struct xdp_buff *xp_alloc(struct xsk_buff_pool *pool)
{
	struct xdp_buff_xsk *xskb;

	xskb = xp_list_pop(&pool->free_list);
	if (!xskb) {
		xskb = xp_alloc_filled(pool);
		if (!xskb)
			return NULL;
	}

	xsk_buff_set_size(&xskb->xdp, 0);
	xsk_buff_raw_dma_sync_for_device(pool, xskb->dma, pool->frame_len);
	return &xskb->xdp;
}
EXPORT_SYMBOL(xp_alloc);

static u32 xp_alloc_batch_freed(struct xsk_buff_pool *pool,
				struct xdp_buff **xdp, u32 max)
{
	struct xdp_buff_xsk *xskb;
	u32 n = 0;

	while (n < max && (xskb = xp_list_pop(&pool->free_list)))
		xdp[n++] = &xskb->xdp;
	return n;
}

static u32 xp_alloc_batch_aligned(struct xsk_buff_pool *pool,
				  struct xdp_buff **xdp, u32 max)
{
	struct xsk_queue *fq = pool->fq;
	u32 end = fq->pos + xsk_cons_avail(fq, max);
	u32 pos, n = 0;

	for (pos = fq->pos; pos != end; pos++) {
		u64 chunk = xsk_cons_addr(fq, pos) >> pool->chunk_shift;

		if (unlikely(chunk >= pool->heads_cnt)) {
			fq->invalid_descs++;
			continue;
		}
		xdp[n++] = &pool->heads[chunk].xdp;
	}
	fq->pos = end;
	return n;
}

static u32 xp_alloc_batch_unaligned(struct xsk_buff_pool *pool,
				    struct xdp_buff **xdp, u32 max)
{
	struct xsk_queue *fq = pool->fq;
	u32 end = fq->pos + xsk_cons_avail(fq, max);
	u32 n = 0;

	while (fq->pos != end && pool->idle_heads != XSK_LIST_END) {
		u64 addr = xsk_cons_addr(fq, fq->pos++);

		if (unlikely(!xp_fill_addr_unaligned(pool, &addr))) {
			fq->invalid_descs++;
			continue;
		}
		xdp[n++] = &xp_get_unaligned_head(pool, addr)->xdp;
	}
	return n;
}

static void xp_sync_batch_for_device(struct xsk_buff_pool *pool,
				     struct xdp_buff **xdp, u32 n)
{
	while (n--)
		xsk_buff_raw_dma_sync_for_device(pool, xdp_to_xskb(xdp[n])->dma,
						 pool->frame_len);
}

u32 xp_alloc_batch(struct xsk_buff_pool *pool, struct xdp_buff **xdp, u32 max)
{
	u32 n = 0;

	if (unlikely(pool->free_list != XSK_LIST_END))
		n = xp_alloc_batch_freed(pool, xdp, max);

	if (n < max) {
		n += pool->unaligned ?
		     xp_alloc_batch_unaligned(pool, xdp + n, max - n) :
		     xp_alloc_batch_aligned(pool, xdp + n, max - n);
		xsk_cons_release(pool->fq);
		if (unlikely(!n))
			pool->fq->empty_descs++;
	}

	if (unlikely(dma_dev_need_sync(pool->dev)))
		xp_sync_batch_for_device(pool, xdp, n);
	return n;
}
EXPORT_SYMBOL(xp_alloc_batch);

bool xp_can_alloc(struct xsk_buff_pool *pool, u32 count)
{
	struct xdp_buff_xsk *xskb = pool->free_list;

	for (; count && xskb != XSK_LIST_END; xskb = xskb->next)
		count--;

	if (xsk_cons_avail(pool->fq, count) == count)
		return true;
	pool->fq->empty_descs++;
	return false;
}
EXPORT_SYMBOL(xp_can_alloc);

void xp_free_frags(struct xsk_buff_pool *pool)
{
	while (pool->frags_first != pool->frags_end)
		xp_free(pool->frags[pool->frags_first++]);
	pool->frags_first = 0;
	pool->frags_end = 0;
}
EXPORT_SYMBOL(xp_free_frags);
