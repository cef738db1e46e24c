// SPDX-License-Identifier: GPL-2.0
/* Socket options of AF_XDP. */

#include <linux/export.h>
#include <linux/net.h>
#include <linux/sockptr.h>
#include <linux/uaccess.h>
#include <net/xdp_sock_drv.h>

#include "ring.h"
#include "umem.h"
#include "xsk.h"

/* What user space that was built for older kernels passes. */

struct xdp_umem_reg_v1 {
	__u64 addr;
	__u64 len;
	__u32 chunk_size;
	__u32 headroom;
};

struct xdp_statistics_v1 {
	__u64 rx_dropped;
	__u64 rx_invalid_descs;
	__u64 tx_invalid_descs;
};

struct xdp_ring_offset_v1 {
	__u64 producer;
	__u64 consumer;
	__u64 desc;
};

struct xdp_mmap_offsets_v1 {
	struct xdp_ring_offset_v1 rx;
	struct xdp_ring_offset_v1 tx;
	struct xdp_ring_offset_v1 fr;
	struct xdp_ring_offset_v1 cr;
};

/* Setting */

static struct xsk_queue **xsk_ring_of(struct xdp_sock *xs, enum xsk_ring_kind kind)
{
	switch (kind) {
	case XSK_RING_FILL:
		return &xs->fq;
	case XSK_RING_COMPLETION:
		return &xs->cq;
	case XSK_RING_RX:
		return &xs->rx;
	case XSK_RING_TX:
	default:
		return &xs->tx;
	}
}

static int xsk_set_ring(struct xdp_sock *xs, enum xsk_ring_kind kind, u32 entries)
{
	struct xsk_queue *q, **ring = xsk_ring_of(xs, kind);

	if (*ring)
		return -EINVAL;

	q = xsk_queue_create(kind, entries);
	if (IS_ERR(q))
		return PTR_ERR(q);

	/* Nothing is sent before user space asks for it the first time. */
	if (kind == XSK_RING_TX)
		q->ring->flags = XDP_RING_NEED_WAKEUP;
	/* Pairs with xsk_ring_load(). */
	smp_store_release(ring, q);
	return 0;
}

static int xsk_set_tx_budget(struct xdp_sock *xs, u32 budget)
{
	if (!xs->tx || budget < XSK_TX_BUDGET || budget > xs->tx->entries)
		return -EACCES;
	WRITE_ONCE(xs->max_tx_budget, budget);
	return 0;
}

static int xsk_set_number(struct xdp_sock *xs, int optname, u32 value)
{
	if (optname == XDP_MAX_TX_SKB_BUDGET)
		return xsk_set_tx_budget(xs, value);

	if (xs->state != XSK_READY)
		return -EBUSY;

	switch (optname) {
	case XDP_RX_RING:
		return xsk_set_ring(xs, XSK_RING_RX, value);
	case XDP_TX_RING:
		return xsk_set_ring(xs, XSK_RING_TX, value);
	case XDP_UMEM_FILL_RING:
		return xsk_set_ring(xs, XSK_RING_FILL, value);
	default:
		return xsk_set_ring(xs, XSK_RING_COMPLETION, value);
	}
}

static int xsk_setsockopt_number(struct xdp_sock *xs, int optname, sockptr_t optval,
				 unsigned int optlen)
{
	u32 value;
	int err;

	if (optlen < sizeof(value) ||
	    (optname == XDP_MAX_TX_SKB_BUDGET && optlen != sizeof(value)))
		return -EINVAL;
	if (copy_from_sockptr(&value, optval, sizeof(value)))
		return -EFAULT;

	mutex_lock(&xs->mutex);
	err = xsk_set_number(xs, optname, value);
	mutex_unlock(&xs->mutex);
	return err;
}

static int xsk_setsockopt_umem(struct xdp_sock *xs, sockptr_t optval,
			       unsigned int optlen)
{
	struct xdp_umem_reg reg = {};
	struct xdp_umem *umem;
	int err = 0;
	size_t len;

	/* The kernel must not take padding for options. */
	BUILD_BUG_ON(offsetofend(struct xdp_umem_reg, tx_metadata_len) != sizeof(reg));

	if (optlen < sizeof(struct xdp_umem_reg_v1))
		return -EINVAL;
	len = optlen < sizeof(reg) ? sizeof(struct xdp_umem_reg_v1) : sizeof(reg);
	if (copy_from_sockptr(&reg, optval, len))
		return -EFAULT;

	/* Before the work, as a matter of courtesy; what counts comes after. */
	if (READ_ONCE(xs->umem))
		return -EBUSY;

	umem = xdp_umem_create(&reg);
	if (IS_ERR(umem))
		return PTR_ERR(umem);

	mutex_lock(&xs->mutex);
	if (xs->state != XSK_READY || xs->umem)
		err = -EBUSY;
	else
		xs->umem = umem;
	mutex_unlock(&xs->mutex);

	if (err)
		xdp_umem_put(umem);
	return err;
}

/**
 * xsk_setsockopt - setsockopt() of AF_XDP sockets
 * @sock: the socket
 * @level: SOL_XDP
 * @optname: XDP_*
 * @optval: the value
 * @optlen: its length
 *
 * Memory of user space is touched without the socket's mutex: the page fault may
 * take as long as user space likes, and who has RTNL waits for the mutex.
 * Context: process, may sleep.
 * Return: 0, or an error with nothing changed.
 */
int xsk_setsockopt(struct socket *sock, int level, int optname,
		   sockptr_t optval, unsigned int optlen)
{
	struct xdp_sock *xs = xdp_sk(sock->sk);

	if (level != SOL_XDP)
		return -ENOPROTOOPT;

	switch (optname) {
	case XDP_RX_RING:
	case XDP_TX_RING:
	case XDP_UMEM_FILL_RING:
	case XDP_UMEM_COMPLETION_RING:
	case XDP_MAX_TX_SKB_BUDGET:
		return xsk_setsockopt_number(xs, optname, optval, optlen);
	case XDP_UMEM_REG:
		return xsk_setsockopt_umem(xs, optval, optlen);
	default:
		return -ENOPROTOOPT;
	}
}

/* Getting */

static u64 xsk_nb_invalid(const struct xsk_queue *q)
{
	return q ? q->invalid_descs : 0;
}

static u64 xsk_nb_empty(const struct xsk_queue *q)
{
	return q ? q->empty_descs : 0;
}

/**
 * xsk_get_statistics - what went wrong on a socket so far
 * @xs: the socket
 * @stats: where to put it
 *
 * Context: process, @xs->mutex held.
 */
void xsk_get_statistics(const struct xdp_sock *xs, struct xdp_statistics *stats)
{
	const struct xsk_queue *fq = xs->pool ? xs->pool->fq : NULL;

	*stats = (struct xdp_statistics) {
		.rx_dropped = xs->rx_dropped,
		.rx_invalid_descs = xsk_nb_invalid(fq),
		.tx_invalid_descs = xsk_nb_invalid(xs->tx),
		.rx_ring_full = xs->rx_queue_full,
		.rx_fill_ring_empty_descs = xsk_nb_empty(fq),
		.tx_ring_empty_descs = xsk_nb_empty(xs->tx),
	};
}
EXPORT_SYMBOL_GPL(xsk_get_statistics);

static int xsk_put_value(const void *value, int len, char __user *optval,
			 int __user *optlen)
{
	if (copy_to_user(optval, value, len) || put_user(len, optlen))
		return -EFAULT;
	return 0;
}

static int xsk_put_statistics(struct xdp_sock *xs, int len, char __user *optval,
			      int __user *optlen)
{
	struct xdp_statistics stats;

	if (len < sizeof(struct xdp_statistics_v1))
		return -EINVAL;

	mutex_lock(&xs->mutex);
	xsk_get_statistics(xs, &stats);
	mutex_unlock(&xs->mutex);

	if (len >= sizeof(stats))
		return xsk_put_value(&stats, sizeof(stats), optval, optlen);

	/* The old structure has one count for all that was dropped. */
	stats.rx_dropped += stats.rx_ring_full;
	return xsk_put_value(&stats, sizeof(struct xdp_statistics_v1), optval, optlen);
}

static int xsk_put_mmap_offsets(int len, char __user *optval, int __user *optlen)
{
	const struct xdp_ring_offset ring = {
		.producer = offsetof(struct xsk_ring, producer),
		.consumer = offsetof(struct xsk_ring, consumer),
		.desc = offsetof(struct xsk_ring, desc),
		.flags = offsetof(struct xsk_ring, flags),
	};
	const struct xdp_ring_offset_v1 ring_v1 = {
		.producer = ring.producer,
		.consumer = ring.consumer,
		.desc = ring.desc,
	};
	const struct xdp_mmap_offsets off = { ring, ring, ring, ring };
	const struct xdp_mmap_offsets_v1 off_v1 = { ring_v1, ring_v1, ring_v1, ring_v1 };

	/* One layout for all four rings. */
	BUILD_BUG_ON(offsetof(struct xsk_ring, desc) != offsetof(struct xsk_ring, addr));

	if (len >= sizeof(off))
		return xsk_put_value(&off, sizeof(off), optval, optlen);
	if (len >= sizeof(off_v1))
		return xsk_put_value(&off_v1, sizeof(off_v1), optval, optlen);
	return -EINVAL;
}

static int xsk_put_options(struct xdp_sock *xs, int len, char __user *optval,
			   int __user *optlen)
{
	struct xdp_options opts = {};

	if (len < sizeof(opts))
		return -EINVAL;

	mutex_lock(&xs->mutex);
	if (xs->zc)
		opts.flags |= XDP_OPTIONS_ZEROCOPY;
	mutex_unlock(&xs->mutex);
	return xsk_put_value(&opts, sizeof(opts), optval, optlen);
}

/**
 * xsk_getsockopt - getsockopt() of AF_XDP sockets
 * @sock: the socket
 * @level: SOL_XDP
 * @optname: XDP_*
 * @optval: where to put the value
 * @optlen: how much room there is, and then the length of the value
 *
 * Context: process, may sleep.
 * Return: 0 or an error.
 */
int xsk_getsockopt(struct socket *sock, int level, int optname,
		   char __user *optval, int __user *optlen)
{
	struct xdp_sock *xs = xdp_sk(sock->sk);
	int len;

	if (level != SOL_XDP)
		return -ENOPROTOOPT;
	if (get_user(len, optlen))
		return -EFAULT;
	if (len < 0)
		return -EINVAL;

	switch (optname) {
	case XDP_STATISTICS:
		return xsk_put_statistics(xs, len, optval, optlen);
	case XDP_MMAP_OFFSETS:
		return xsk_put_mmap_offsets(len, optval, optlen);
	case XDP_OPTIONS:
		return xsk_put_options(xs, len, optval, optlen);
	default:
		return -EOPNOTSUPP;
	}
}
