// SPDX-License-Identifier: GPL-2.0
/* Sending in copy mode: each packet becomes an skb that is handed to the device's
 * queue, past the qdiscs.
 *
 * A frame is in use until its skb is freed, and the skbs of a queue are freed in
 * any order and on any CPU. So what is reserved in the completion ring is room,
 * not a place: the address waits in a slot of the kernel's own, and goes into the
 * ring when the skb is freed. The slots of a packet form a circle, and the skb
 * knows the last of them. There are as many slots as the completion ring has
 * entries, so who has a slot has room in the ring.
 */

#include <linux/export.h>
#include <linux/mm.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <net/xdp_sock_drv.h>

#include "desc.h"
#include "ring.h"
#include "xsk.h"

/* A frame in flight. */
struct xsk_tx_slot {
	u64 addr;
	u32 next;
};

#define XSK_SLOT_NONE	U32_MAX

/**
 * xsk_tx_slots_create - make a pool ready to send in copy mode
 * @pool: the pool
 *
 * Context: process, RTNL held.
 * Return: 0 or -ENOMEM.
 */
int xsk_tx_slots_create(struct xsk_buff_pool *pool)
{
	u32 i, n = pool->cq->entries;

	if (pool->tx_slots)
		return 0;

	pool->tx_slots = kvmalloc_array(n, sizeof(*pool->tx_slots),
					GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!pool->tx_slots)
		return -ENOMEM;

	for (i = 0; i < n; i++)
		pool->tx_slots[i].next = i + 1 < n ? i + 1 : XSK_SLOT_NONE;
	pool->tx_slots_free = 0;
	return 0;
}

/* Take a slot for a frame: a circle of its own. */
static u32 xsk_slot_take(struct xsk_buff_pool *pool, u64 addr)
{
	struct xsk_tx_slot *slots = pool->tx_slots;
	u32 slot = XSK_SLOT_NONE;
	unsigned long flags;

	spin_lock_irqsave(&pool->cq_lock, flags);
	if (xsk_prod_free(pool->cq, 1))
		slot = pool->tx_slots_free;
	if (slot != XSK_SLOT_NONE) {
		pool->tx_slots_free = slots[slot].next;
		pool->cq->pos++;
	}
	spin_unlock_irqrestore(&pool->cq_lock, flags);

	if (slot != XSK_SLOT_NONE) {
		slots[slot].addr = addr;
		slots[slot].next = slot;
	}
	return slot;
}

/* The frame stays in the Tx ring. */
static void xsk_slot_untake(struct xsk_buff_pool *pool, u32 slot)
{
	unsigned long flags;

	spin_lock_irqsave(&pool->cq_lock, flags);
	pool->tx_slots[slot].next = pool->tx_slots_free;
	pool->tx_slots_free = slot;
	pool->cq->pos--;
	spin_unlock_irqrestore(&pool->cq_lock, flags);
}

/* All frames of a circle are user space's again. Returns how many. */
static u32 xsk_slots_complete(struct xsk_buff_pool *pool, u32 last)
{
	struct xsk_tx_slot *slots = pool->tx_slots;
	u32 first = slots[last].next, slot = last, n = 0;
	struct xsk_queue *cq = pool->cq;
	unsigned long flags;

	spin_lock_irqsave(&pool->cq_lock, flags);
	do {
		slot = slots[slot].next;
		xsk_prod_addr(cq, cq->published + n++, slots[slot].addr);
	} while (slot != last);

	slots[last].next = pool->tx_slots_free;
	pool->tx_slots_free = first;
	cq->published += n;
	__xsk_prod_publish(cq, cq->published);
	spin_unlock_irqrestore(&pool->cq_lock, flags);
	return n;
}

static u32 xsk_skb_last_slot(const struct sk_buff *skb)
{
	return (uintptr_t)skb_shinfo(skb)->destructor_arg;
}

static void xsk_skb_set_last_slot(struct sk_buff *skb, u32 slot)
{
	skb_shinfo(skb)->destructor_arg = (void *)(uintptr_t)slot;
}

static void xsk_skb_destruct(struct sk_buff *skb)
{
	struct xsk_tx_metadata_compl *compl = &skb_shinfo(skb)->xsk_meta;
	struct xsk_buff_pool *pool = xdp_sk(skb->sk)->pool;

	/* The device's own time is not to be had here. */
	if (compl->tx_timestamp)
		*compl->tx_timestamp = ktime_get_tai_fast_ns();

	xsk_slots_complete(pool, xsk_skb_last_slot(skb));
	/* Last, as it lets go of the socket, and so of the pool. */
	sock_wfree(skb);
}

/* The skb of a packet, with @len bytes of linear data to fill. */
static struct sk_buff *xsk_skb_alloc(struct xdp_sock *xs, u32 len)
{
	struct net_device *dev = xs->dev;
	u32 headroom = max(NET_SKB_PAD, L1_CACHE_ALIGN(dev->needed_headroom));
	struct sk_buff *skb;
	int err;

	skb = sock_alloc_send_skb(&xs->sk, headroom + len + dev->needed_tailroom,
				  1, &err);
	if (!skb)
		return ERR_PTR(err);

	skb_reserve(skb, headroom);
	skb_put(skb, len);
	skb->dev = dev;
	skb->priority = READ_ONCE(xs->sk.sk_priority);
	skb->mark = READ_ONCE(xs->sk.sk_mark);
	return skb;
}

static void xsk_skb_account_frag(struct xdp_sock *xs, struct sk_buff *skb,
				 u32 len, u32 truesize)
{
	skb->len += len;
	skb->data_len += len;
	skb->truesize += truesize;
	refcount_add(truesize, &xs->sk.sk_wmem_alloc);
}

/* A further buffer of a packet, copied. */
static int xsk_skb_add_copy(struct xdp_sock *xs, struct sk_buff *skb,
			    const void *data, u32 len)
{
	u32 nr_frags = skb_shinfo(skb)->nr_frags;
	u32 order = get_order(len);
	struct page *page;

	if (nr_frags == MAX_SKB_FRAGS)
		return -EINVAL;

	page = alloc_pages(xs->sk.sk_allocation | (order ? __GFP_COMP : 0), order);
	if (!page)
		return -EAGAIN;

	memcpy(page_address(page), data, len);
	skb_fill_page_desc(skb, nr_frags, page, 0, len);
	xsk_skb_account_frag(xs, skb, len, PAGE_SIZE << order);
	return 0;
}

/* A buffer for a device that takes it from where it is. */
static int xsk_skb_add_pages(struct xdp_sock *xs, struct sk_buff *skb,
			     const void *data, u32 len)
{
	struct xsk_buff_pool *pool = xs->pool;
	u32 nr_frags = skb_shinfo(skb)->nr_frags;
	u32 offset = offset_in_page(data), left = len;
	u64 page_nr = (data - pool->addrs) >> PAGE_SHIFT;

	if (nr_frags + DIV_ROUND_UP(offset + len, PAGE_SIZE) > MAX_SKB_FRAGS)
		return -EINVAL;

	while (left) {
		u32 n = min_t(u32, left, PAGE_SIZE - offset);
		struct page *page = pool->umem->pgs[page_nr++];

		get_page(page);
		skb_fill_page_desc(skb, nr_frags++, page, offset, n);
		left -= n;
		offset = 0;
	}
	xsk_skb_account_frag(xs, skb, len, pool->unaligned ? len : pool->chunk_size);
	return 0;
}

static int xsk_skb_add_metadata(struct xdp_sock *xs, struct sk_buff *skb,
				const struct xdp_desc *desc)
{
	struct xsk_tx_metadata_copy copy;
	struct xsk_tx_metadata *meta;

	meta = xp_get_tx_metadata(xs->pool, desc->addr, &copy);
	if (!meta)
		return -EINVAL;

	if (meta->flags & XDP_TXMD_FLAGS_CHECKSUM) {
		u32 start = meta->request.csum_start;
		u32 offset = meta->request.csum_offset;

		if (start + offset + sizeof(__sum16) > desc->len)
			return -EINVAL;
		skb->csum_start = skb_headroom(skb) + start;
		skb->csum_offset = offset;
		skb->ip_summed = CHECKSUM_PARTIAL;
	}
	xsk_tx_metadata_to_compl(meta, &skb_shinfo(skb)->xsk_meta);
	return 0;
}

/* -EINVAL: the packet is invalid. Other errors pass. */
static int xsk_skb_begin(struct xdp_sock *xs, const struct xdp_desc *desc,
			 u32 slot)
{
	bool in_place = xs->dev->priv_flags & IFF_TX_SKB_NO_LINEAR;
	void *data = xp_raw_get_data(xs->pool, desc->addr);
	struct sk_buff *skb;
	int err = 0;

	skb = xsk_skb_alloc(xs, in_place ? 0 : desc->len);
	if (IS_ERR(skb))
		return PTR_ERR(skb);

	if (in_place)
		err = xsk_skb_add_pages(xs, skb, data, desc->len);
	else
		memcpy(skb->data, data, desc->len);
	if (!err && desc->options & XDP_TX_METADATA)
		err = xsk_skb_add_metadata(xs, skb, desc);
	if (err) {
		kfree_skb(skb);
		return err;
	}

	xsk_skb_set_last_slot(skb, slot);
	skb->destructor = xsk_skb_destruct;
	xs->skb = skb;
	return 0;
}

static int xsk_skb_continue(struct xdp_sock *xs, const struct xdp_desc *desc,
			    u32 slot)
{
	void *data = xp_raw_get_data(xs->pool, desc->addr);
	struct xsk_tx_slot *slots = xs->pool->tx_slots;
	struct sk_buff *skb = xs->skb;
	u32 last = xsk_skb_last_slot(skb);
	int err;

	if (xs->dev->priv_flags & IFF_TX_SKB_NO_LINEAR)
		err = xsk_skb_add_pages(xs, skb, data, desc->len);
	else
		err = xsk_skb_add_copy(xs, skb, data, desc->len);
	if (err)
		return err;

	slots[slot].next = slots[last].next;
	slots[last].next = slot;
	xsk_skb_set_last_slot(skb, slot);
	return 0;
}

static int xsk_skb_add(struct xdp_sock *xs, const struct xdp_desc *desc, u32 slot)
{
	int err;

	if (xs->tx_skip || !xp_tx_desc_valid(xs->pool, desc))
		return -EINVAL;

	err = xs->skb ? xsk_skb_continue(xs, desc, slot) :
			xsk_skb_begin(xs, desc, slot);
	return err;
}

/* Drop the packet that is put together; its frames come back. */
static void xsk_skb_drop(struct xdp_sock *xs)
{
	struct sk_buff *skb = xs->skb;
	u32 last, slot;

	if (!skb)
		return;

	last = xsk_skb_last_slot(skb);
	slot = last;
	do {
		slot = xs->pool->tx_slots[slot].next;
		xs->tx->invalid_descs++;
	} while (slot != last);

	xs->skb = NULL;
	kfree_skb(skb);
}

/* Hand the packet to the device. If that is busy, the packet waits. */
static int xsk_skb_xmit(struct xdp_sock *xs)
{
	int err;

	err = __dev_direct_xmit(xs->skb, xs->queue_id);
	if (err == NETDEV_TX_BUSY)
		return -EAGAIN;

	xs->skb = NULL;
	xs->tx_ready = false;
	return err == NET_XMIT_DROP ? -EBUSY : 0;
}

/* Put a descriptor's frame into the packet that it belongs to, and send the
 * packet if it ends here. If the return value is an error the descriptor may
 * still have been used up, and what is wrong concerns the packet.
 */
static int xsk_tx_skb_desc(struct xdp_sock *xs, const struct xdp_desc *desc)
{
	bool last = xsk_is_eop_desc(desc);
	struct xsk_buff_pool *pool = xs->pool;
	u32 slot;
	int err;

	slot = xsk_slot_take(pool, desc->addr);
	if (slot == XSK_SLOT_NONE)
		return -ENOSPC;

	err = xsk_skb_add(xs, desc, slot);
	if (err && err != -EINVAL) {
		xsk_slot_untake(pool, slot);
		return err;
	}

	xs->tx->pos++;
	if (err) {
		xsk_skb_drop(xs);
		xs->tx->invalid_descs += xsk_slots_complete(pool, slot);
		xs->tx_skip = !last;
		return 0;
	}
	if (!last)
		return 0;

	if (pool->tx_sw_csum && xs->skb->ip_summed == CHECKSUM_PARTIAL &&
	    skb_checksum_help(xs->skb)) {
		xsk_skb_drop(xs);
		return 0;
	}
	xs->tx_ready = true;
	return xsk_skb_xmit(xs);
}

static int xsk_tx_skb_ring(struct xdp_sock *xs)
{
	u32 budget = READ_ONCE(xs->max_tx_budget);
	struct xsk_queue *tx = xs->tx;
	struct xdp_desc desc;
	int err = 0;

	if (xs->tx_ready)
		err = xsk_skb_xmit(xs);

	while (!err) {
		if (!xsk_cons_avail(tx, 1)) {
			tx->empty_descs++;
			break;
		}
		if (!budget--)
			return -EAGAIN;

		xsk_cons_desc(tx, tx->pos, &desc);
		err = xsk_tx_skb_desc(xs, &desc);
	}

	/* With the completion ring full, user space knows what to do. */
	return err == -ENOSPC ? 0 : err;
}

/**
 * xsk_tx_skb - send what is in the Tx ring of a socket in copy mode
 * @xs: the socket
 *
 * Context: process, may sleep.
 * Return: 0 if all was sent, or the completion ring is full; -EAGAIN if there is
 * more to send, for which the device is busy, the budget is spent, or memory is
 * short; -EBUSY if the device dropped a packet; -ENXIO if the socket is not bound
 * any more, or the device has fewer Tx queues by now; -ENOBUFS.
 */
int xsk_tx_skb(struct xdp_sock *xs)
{
	u32 start;
	int err;

	mutex_lock(&xs->mutex);
	if (!xsk_is_bound(xs) || xs->queue_id >= xs->dev->real_num_tx_queues) {
		mutex_unlock(&xs->mutex);
		return -ENXIO;
	}

	start = xs->tx->pos;
	err = xsk_tx_skb_ring(xs);
	if (xs->tx->pos != start) {
		xsk_cons_release(xs->tx);
		xsk_tx_wake(xs);
	}
	mutex_unlock(&xs->mutex);
	return err;
}

/**
 * xsk_tx_skb_purge - forget the packet that waits for more, or for the device
 * @xs: a socket that is leaving its device
 *
 * Its frames come back on the completion ring.
 * Context: process, @xs->mutex held.
 */
void xsk_tx_skb_purge(struct xdp_sock *xs)
{
	struct sk_buff *skb = xs->skb;

	xs->skb = NULL;
	xs->tx_ready = false;
	kfree_skb(skb);
}
