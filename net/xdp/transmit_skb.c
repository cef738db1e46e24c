// SPDX-License-Identifier: GPL-2.0
/* Sending in copy mode: each packet becomes an skb that is handed to the device's
 * queue, past the qdiscs.
 *
 * A frame is in use until its skb is freed, and the skbs of a queue are freed in
 * any order and on any CPU. So what is reserved in the completion ring is room,
 * not a place: the address waits in a slot of the kernel's own, and goes into the
 * ring when the skb is freed. The slots of a packet form a chain, and the skb
 * knows the first of them. There are as many slots as the completion ring has
 * entries.
 *
 * A packet is taken from the Tx ring when all of it is there, and as a whole or
 * not at all. The one that the device is too busy for waits as an skb.
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

/* Slots for the frames of a packet, with room in the completion ring. */
static u32 xsk_slots_take(struct xsk_buff_pool *pool, const struct xdp_desc *descs,
			  u32 n)
{
	struct xsk_tx_slot *slots = pool->tx_slots;
	u32 first, last = XSK_SLOT_NONE, slot, i;
	unsigned long flags;

	spin_lock_irqsave(&pool->cq_lock, flags);
	first = pool->tx_slots_free;
	slot = first;
	/* User space may claim more room in the ring than there is. */
	for (i = 0; i < n && slot != XSK_SLOT_NONE; i++) {
		slots[slot].addr = descs[i].addr;
		last = slot;
		slot = slots[slot].next;
	}
	if (i < n || xsk_prod_free(pool->cq, n) < n) {
		first = XSK_SLOT_NONE;
	} else {
		pool->tx_slots_free = slot;
		slots[last].next = XSK_SLOT_NONE;
		pool->cq->pos += n;
	}
	spin_unlock_irqrestore(&pool->cq_lock, flags);
	return first;
}

static void xsk_slots_free(struct xsk_buff_pool *pool, u32 first, u32 last)
{
	pool->tx_slots[last].next = pool->tx_slots_free;
	pool->tx_slots_free = first;
}

/* The frames stay in the Tx ring. */
static void xsk_slots_untake(struct xsk_buff_pool *pool, u32 first, u32 n)
{
	u32 last = first, i;
	unsigned long flags;

	spin_lock_irqsave(&pool->cq_lock, flags);
	for (i = 1; i < n; i++)
		last = pool->tx_slots[last].next;
	xsk_slots_free(pool, first, last);
	pool->cq->pos -= n;
	spin_unlock_irqrestore(&pool->cq_lock, flags);
}

/* The frames are user space's again. */
static void xsk_slots_complete(struct xsk_buff_pool *pool, u32 first)
{
	struct xsk_tx_slot *slots = pool->tx_slots;
	struct xsk_queue *cq = pool->cq;
	u32 slot, last = first;
	unsigned long flags;

	spin_lock_irqsave(&pool->cq_lock, flags);
	for (slot = first; slot != XSK_SLOT_NONE; slot = slots[slot].next) {
		xsk_prod_addr(cq, cq->published++, slots[slot].addr);
		last = slot;
	}
	xsk_slots_free(pool, first, last);
	__xsk_prod_publish(cq, cq->published);
	spin_unlock_irqrestore(&pool->cq_lock, flags);
}

/* Frames that are not sent come back at once. */
static bool xsk_cq_give_back(struct xsk_buff_pool *pool, const struct xdp_desc *descs,
			     u32 n)
{
	struct xsk_queue *cq = pool->cq;
	unsigned long flags;
	bool room;
	u32 i;

	spin_lock_irqsave(&pool->cq_lock, flags);
	room = xsk_prod_free(cq, n) == n;
	if (room) {
		for (i = 0; i < n; i++)
			xsk_prod_addr(cq, cq->published++, descs[i].addr);
		cq->pos += n;
		__xsk_prod_publish(cq, cq->published);
	}
	spin_unlock_irqrestore(&pool->cq_lock, flags);
	return room;
}

static void xsk_skb_destruct(struct sk_buff *skb)
{
	struct xsk_tx_metadata_compl *compl = &skb_shinfo(skb)->xsk_meta;
	struct xsk_buff_pool *pool = xdp_sk(skb->sk)->pool;

	/* The device's own time is not to be had here. */
	if (compl->tx_timestamp)
		*compl->tx_timestamp = ktime_get_tai_fast_ns();
	/* An skb that lives on has its own time stamp in this place. */
	compl->tx_timestamp = NULL;

	xsk_slots_complete(pool, (uintptr_t)skb_shinfo(skb)->destructor_arg);
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

static int xsk_skb_add_metadata(struct sk_buff *skb, struct xsk_tx_metadata *meta,
				u32 len)
{
	if (meta->flags & XDP_TXMD_FLAGS_CHECKSUM) {
		u32 start = meta->request.csum_start;
		u32 offset = meta->request.csum_offset;

		if (start + offset + sizeof(__sum16) > len ||
		    skb_headroom(skb) + start > U16_MAX)
			return -EINVAL;
		skb->csum_start = skb_headroom(skb) + start;
		skb->csum_offset = offset;
		skb->ip_summed = CHECKSUM_PARTIAL;
	}
	xsk_tx_metadata_to_compl(meta, &skb_shinfo(skb)->xsk_meta);
	return 0;
}

/* The first buffer of a packet. Who computes a checksum wants it in the linear
 * part.
 */
static struct sk_buff *xsk_skb_begin(struct xdp_sock *xs, const struct xdp_desc *desc)
{
	bool in_place = xs->dev->priv_flags & IFF_TX_SKB_NO_LINEAR;
	void *data = xp_raw_get_data(xs->pool, desc->addr);
	struct xsk_tx_metadata *meta = NULL;
	struct xsk_tx_metadata_copy copy;
	struct sk_buff *skb;
	int err = 0;

	if (desc->options & XDP_TX_METADATA) {
		meta = xp_get_tx_metadata(xs->pool, desc->addr, &copy);
		if (!meta)
			return ERR_PTR(-EINVAL);
		if (meta->flags & XDP_TXMD_FLAGS_CHECKSUM)
			in_place = false;
	}

	skb = xsk_skb_alloc(xs, in_place ? 0 : desc->len);
	if (IS_ERR(skb))
		return skb;

	if (in_place)
		err = xsk_skb_add_pages(xs, skb, data, desc->len);
	else
		memcpy(skb->data, data, desc->len);
	if (!err && meta)
		err = xsk_skb_add_metadata(skb, meta, desc->len);
	if (err) {
		kfree_skb(skb);
		return ERR_PTR(err);
	}
	return skb;
}

static int xsk_skb_continue(struct xdp_sock *xs, struct sk_buff *skb,
			    const struct xdp_desc *desc)
{
	void *data = xp_raw_get_data(xs->pool, desc->addr);

	if (xs->dev->priv_flags & IFF_TX_SKB_NO_LINEAR)
		return xsk_skb_add_pages(xs, skb, data, desc->len);
	return xsk_skb_add_copy(xs, skb, data, desc->len);
}

/* -EINVAL: the packet is invalid. Other errors pass. */
static struct sk_buff *xsk_skb_build(struct xdp_sock *xs, const struct xdp_desc *descs,
				     u32 n)
{
	struct sk_buff *skb;
	int err = 0;
	u32 i;

	skb = xsk_skb_begin(xs, &descs[0]);
	if (IS_ERR(skb))
		return skb;

	for (i = 1; i < n && !err; i++)
		err = xsk_skb_continue(xs, skb, &descs[i]);
	if (!err && xs->pool->tx_sw_csum && skb->ip_summed == CHECKSUM_PARTIAL)
		err = skb_checksum_help(skb);
	if (err) {
		kfree_skb(skb);
		return ERR_PTR(err);
	}
	return skb;
}

/* Hand the packet to the device. If that is busy, the packet waits. */
static int xsk_skb_xmit(struct xdp_sock *xs)
{
	int err;

	err = __dev_direct_xmit(xs->skb, xs->queue_id);
	if (err == NETDEV_TX_BUSY)
		return -EAGAIN;

	xs->skb = NULL;
	return err == NET_XMIT_DROP ? -EBUSY : 0;
}

/* What is next in the Tx ring: a packet, or as much of an invalid one as there
 * is.
 */
struct xsk_tx_packet {
	struct xdp_desc descs[MAX_SKB_FRAGS + 1];
	u32 n;
	bool ends;
	bool invalid;
};

static bool xsk_tx_peek_packet(struct xdp_sock *xs, struct xsk_tx_packet *pkt)
{
	u32 max = xsk_tx_max_segs(xs);
	u32 avail = xsk_cons_avail(xs->tx, max);

	pkt->n = 0;
	pkt->ends = false;
	pkt->invalid = xs->tx_skip;
	while (pkt->n < avail && !pkt->ends) {
		struct xdp_desc *desc = &pkt->descs[pkt->n];

		xsk_cons_desc(xs->tx, xs->tx->pos + pkt->n++, desc);
		pkt->ends = xsk_is_eop_desc(desc);
		pkt->invalid |= !xp_tx_desc_valid(xs->pool, desc);
	}
	pkt->invalid |= !pkt->ends && pkt->n == max;
	return pkt->n && (pkt->ends || pkt->invalid);
}

static int xsk_tx_drop_packet(struct xdp_sock *xs, const struct xsk_tx_packet *pkt)
{
	if (!xsk_cq_give_back(xs->pool, pkt->descs, pkt->n))
		return -ENOSPC;

	xs->tx->pos += pkt->n;
	xs->tx->invalid_descs += pkt->n;
	xs->tx_skip = !pkt->ends;
	return 0;
}

/* -ENOSPC: the completion ring is full. If the error is -EBUSY, or -EAGAIN from
 * the device, the packet has left the Tx ring all the same.
 */
static int xsk_tx_send_packet(struct xdp_sock *xs, const struct xsk_tx_packet *pkt)
{
	struct sk_buff *skb;
	u32 slots;

	slots = xsk_slots_take(xs->pool, pkt->descs, pkt->n);
	if (slots == XSK_SLOT_NONE)
		return -ENOSPC;

	skb = xsk_skb_build(xs, pkt->descs, pkt->n);
	if (IS_ERR(skb)) {
		xsk_slots_untake(xs->pool, slots, pkt->n);
		if (PTR_ERR(skb) == -EINVAL)
			return xsk_tx_drop_packet(xs, pkt);
		return PTR_ERR(skb);
	}

	skb_shinfo(skb)->destructor_arg = (void *)(uintptr_t)slots;
	skb->destructor = xsk_skb_destruct;
	xs->skb = skb;
	xs->tx->pos += pkt->n;
	return xsk_skb_xmit(xs);
}

static int xsk_tx_skb_ring(struct xdp_sock *xs)
{
	u32 budget = READ_ONCE(xs->max_tx_budget);
	struct xsk_tx_packet pkt;
	int err = 0;

	if (xs->skb)
		err = xsk_skb_xmit(xs);

	while (!err) {
		if (!xsk_tx_peek_packet(xs, &pkt)) {
			xs->tx->empty_descs++;
			break;
		}
		if (!budget)
			return -EAGAIN;

		budget -= min(budget, pkt.n);
		err = pkt.invalid ? xsk_tx_drop_packet(xs, &pkt) :
				    xsk_tx_send_packet(xs, &pkt);
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
 * xsk_tx_skb_purge - forget the packet that waits for the device
 * @xs: a socket that is leaving its device
 *
 * Its frames come back on the completion ring.
 * Context: process, @xs->mutex held.
 */
void xsk_tx_skb_purge(struct xdp_sock *xs)
{
	kfree_skb(xs->skb);
	xs->skb = NULL;
}
