// SPDX-License-Identifier: GPL-2.0
/* Receiving: a packet that an XDP program redirects to a socket goes into the
 * socket's Rx ring, either as it is, in the frame that the device wrote, or copied
 * into frames from the fill ring.
 */

#include <linux/filter.h>
#include <net/busy_poll.h>
#include <net/xdp_sock_drv.h>

#include "desc.h"
#include "ring.h"
#include "xsk.h"

/* How user space is told of a frame. */
static u64 xsk_rx_addr(const struct xsk_buff_pool *pool, u64 frame, u64 data)
{
	if (!pool->unaligned)
		return data;
	return frame | (data - frame) << XSK_UNALIGNED_BUF_OFFSET_SHIFT;
}

/* Zero-copy */

/* The frame becomes user space's, and leaves its buffer behind. */
static void xsk_rcv_frame(struct xdp_sock *xs, struct xdp_buff_xsk *xskb,
			  u32 options)
{
	struct xsk_buff_pool *pool = xskb->pool;
	struct xdp_buff *xdp = &xskb->xdp;
	u64 data = xdp->data - pool->addrs;

	if (pool->unaligned) {
		u64 frame = xdp->data_hard_start - pool->addrs - pool->headroom;

		data = xsk_rx_addr(pool, frame, data);
		xp_list_push(&pool->idle_heads, xskb);
	}
	xsk_prod_desc(xs->rx, data, xdp->data_end - xdp->data, options);
}

static noinline int xsk_rcv_zc_frags(struct xdp_sock *xs, struct xdp_buff *xdp)
{
	struct xsk_buff_pool *pool = xdp_to_xskb(xdp)->pool;
	u32 nb_frags = pool->frags_end - pool->frags_first;
	struct xdp_buff *frag;

	if (xsk_prod_free(xs->rx, nb_frags + 1) < nb_frags + 1) {
		xs->rx_queue_full++;
		xsk_buff_free(xdp);
		return -ENOBUFS;
	}

	xsk_rcv_frame(xs, xdp_to_xskb(xdp), nb_frags ? XDP_PKT_CONTD : 0);
	while ((frag = xsk_buff_get_frag(xdp)))
		xsk_rcv_frame(xs, xdp_to_xskb(frag), --nb_frags ? XDP_PKT_CONTD : 0);
	return 0;
}

static int xsk_rcv_zc(struct xdp_sock *xs, struct xdp_buff *xdp)
{
	if (unlikely(xdp_buff_has_frags(xdp)))
		return xsk_rcv_zc_frags(xs, xdp);

	if (unlikely(!xsk_prod_free(xs->rx, 1))) {
		xs->rx_queue_full++;
		xsk_buff_free(xdp);
		return -ENOBUFS;
	}

	xsk_rcv_frame(xs, xdp_to_xskb(xdp), 0);
	return 0;
}

/* Copy mode */

/* Where the next byte of a packet is: in its linear part, then in one fragment
 * after the other.
 */
struct xsk_rx_cursor {
	const void *pos;
	u32 left;
	const skb_frag_t *frag;
};

static void xsk_cursor_copy(struct xsk_rx_cursor *cursor, void *to, u32 len)
{
	for (;;) {
		u32 n = min(len, cursor->left);

		memcpy(to, cursor->pos, n);
		cursor->pos += n;
		cursor->left -= n;
		len -= n;
		if (!len)
			return;

		to += n;
		cursor->pos = skb_frag_address(cursor->frag);
		cursor->left = skb_frag_size(cursor->frag++);
	}
}

/* XDP metadata goes along, in front of the packet. */
static u32 xsk_cursor_init(struct xsk_rx_cursor *cursor, struct xdp_buff *xdp)
{
	u32 meta_len = xdp_data_meta_unsupported(xdp) ? 0 : xdp->data - xdp->data_meta;

	cursor->pos = xdp->data - meta_len;
	cursor->left = xdp->data_end - xdp->data + meta_len;
	if (unlikely(xdp_buff_has_frags(xdp)))
		cursor->frag = xdp_get_shared_info_from_buff(xdp)->frags;
	return meta_len;
}

/* Put @len bytes, with @meta_len bytes in front that do not count, into a frame
 * from the fill ring, and the frame into the Rx ring, which has room.
 */
static bool xsk_rcv_copy_frame(struct xdp_sock *xs, struct xsk_rx_cursor *cursor,
			       u32 len, u32 meta_len, u32 options)
{
	struct xsk_buff_pool *pool = xs->pool;
	u64 frame, data;

	if (!xp_take_fill_addr(pool, &frame))
		return false;

	data = frame + xsk_pool_get_headroom(pool);
	xsk_cursor_copy(cursor, pool->addrs + data - meta_len, len + meta_len);
	xsk_prod_desc(xs->rx, xsk_rx_addr(pool, frame, data), len, options);
	return true;
}

/* Either the whole packet gets through, or no frame is used for it. */
static noinline int xsk_rcv_copy_many(struct xdp_sock *xs,
				      struct xsk_rx_cursor *cursor, u32 len,
				      u32 meta_len)
{
	u32 frame_size = xs->pool->rx_frame_size;
	u32 nb_frames = DIV_ROUND_UP(len, frame_size);
	struct xsk_queue *rx = xs->rx, *fq = xs->pool->fq;
	u32 rx_start = rx->pos, fq_start = 0;
	bool first = true;
	u64 invalid = 0;

	if (xsk_prod_free(rx, nb_frames) < nb_frames) {
		xs->rx_queue_full++;
		return -ENOBUFS;
	}
	/* Most often this tells before anything is copied. */
	if (xsk_cons_avail(fq, nb_frames) < nb_frames) {
		fq->empty_descs++;
		xs->rx_dropped++;
		return -ENOMEM;
	}

	while (nb_frames--) {
		u32 n = min(len, frame_size);

		if (!xsk_rcv_copy_frame(xs, cursor, n, meta_len,
					nb_frames ? XDP_PKT_CONTD : 0))
			goto err;
		if (first) {
			fq_start = fq->pos - 1;
			invalid = fq->invalid_descs;
			first = false;
		}
		len -= n;
		meta_len = 0;
	}
	return 0;

err:
	if (!first) {
		rx->pos = rx_start;
		fq->pos = fq_start;
		fq->invalid_descs = invalid;
	}
	xs->rx_dropped++;
	return -ENOMEM;
}

static int xsk_rcv_copy(struct xdp_sock *xs, struct xdp_buff *xdp, u32 len)
{
	struct xsk_rx_cursor cursor;
	u32 meta_len = xsk_cursor_init(&cursor, xdp);

	if (unlikely(len > xs->pool->rx_frame_size))
		return xsk_rcv_copy_many(xs, &cursor, len, meta_len);

	if (unlikely(!xsk_prod_free(xs->rx, 1))) {
		xs->rx_queue_full++;
		return -ENOBUFS;
	}
	if (unlikely(!xsk_rcv_copy_frame(xs, &cursor, len, meta_len, 0))) {
		xs->rx_dropped++;
		return -ENOMEM;
	}
	return 0;
}

/* Both modes */

/* The device that the socket takes packets from, if it takes any. */
static struct net_device *xsk_rx_dev(const struct xdp_sock *xs)
{
	/* Who sees the device sees all that bind() has set. */
	return smp_load_acquire(&xs->rx_dev);
}

/* Is the packet from the socket's own queue, and can the socket take it? */
static int xsk_rcv_check(struct xdp_sock *xs, struct xdp_buff *xdp, u32 len)
{
	struct net_device *dev = xsk_rx_dev(xs);

	if (unlikely(dev != xdp->rxq->dev))
		return dev ? -EINVAL : -ENXIO;
	if (unlikely(xs->queue_id != xdp->rxq->queue_index))
		return -EINVAL;
	if (unlikely(len > xs->rx_max_len)) {
		xs->rx_dropped++;
		return -ENOSPC;
	}
	return 0;
}

static void xsk_flush(struct xdp_sock *xs)
{
	xsk_prod_publish(xs->rx);
	xsk_cons_release(xs->pool->fq);
	sock_def_readable(&xs->sk);
}

/**
 * xsk_generic_rcv - receive a packet from generic XDP
 * @xs: the socket
 * @xdp: the packet, which stays the caller's
 *
 * Context: softirq, under RCU, on any CPU.
 * Return: 0; -ENXIO if the socket does not receive, -EINVAL if the packet is
 * from another queue, -ENOSPC if it is too long, -ENOBUFS if the Rx ring is full,
 * -ENOMEM if the fill ring is empty.
 */
int xsk_generic_rcv(struct xdp_sock *xs, struct xdp_buff *xdp)
{
	u32 len = xdp_get_buff_len(xdp);
	int err;

	/* Without a device there may be no pool, and no lock. */
	if (unlikely(!xsk_rx_dev(xs)))
		return -ENXIO;

	spin_lock_bh(&xs->pool->rx_lock);
	err = xsk_rcv_check(xs, xdp, len);
	if (likely(!err)) {
		sk_mark_napi_id_once_xdp(&xs->sk, xdp);
		err = xsk_rcv_copy(xs, xdp, len);
		xsk_flush(xs);
	}
	spin_unlock_bh(&xs->pool->rx_lock);
	return err;
}

/**
 * __xsk_map_redirect - receive a packet from a driver
 * @xs: the socket
 * @xdp: the packet, which becomes the socket's if this succeeds. A zero-copy
 *	packet for which there is no room in the Rx ring goes back to the pool,
 *	otherwise an unsuccessful packet stays the caller's.
 *
 * User space sees the packet after __xsk_map_flush().
 * Context: NAPI poll of the queue.
 * Return: 0, or an error as of xsk_generic_rcv().
 */
int __xsk_map_redirect(struct xdp_sock *xs, struct xdp_buff *xdp)
{
	u32 len = xdp_get_buff_len(xdp);
	int err;

	err = xsk_rcv_check(xs, xdp, len);
	if (unlikely(err))
		return err;

	if (xdp->rxq->mem.type == MEM_TYPE_XSK_BUFF_POOL) {
		err = xsk_rcv_zc(xs, xdp);
	} else {
		err = xsk_rcv_copy(xs, xdp, len);
		if (likely(!err))
			xdp_return_buff(xdp);
	}
	if (unlikely(err))
		return err;

	if (!xs->flush_node.prev) {
		sk_mark_napi_id_once_xdp(&xs->sk, xdp);
		list_add(&xs->flush_node, bpf_net_ctx_get_xskmap_flush_list());
	}
	return 0;
}

/**
 * __xsk_map_flush - show user space what sockets have received
 * @flush_list: the sockets
 *
 * Context: end of a NAPI poll, on the CPU of the redirects before.
 */
void __xsk_map_flush(struct list_head *flush_list)
{
	struct xdp_sock *xs, *tmp;

	list_for_each_entry_safe(xs, tmp, flush_list, flush_node) {
		__list_del_clearprev(&xs->flush_node);
		xsk_flush(xs);
	}
}
