// SPDX-License-Identifier: GPL-2.0
/* Binding a socket to a queue, and unbinding it.
 *
 * What can go wrong in bind() is documented in
 * Documentation/networking/af_xdp.rst; each cause has an error of its own.
 */

#include <linux/file.h>
#include <linux/net.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <net/xdp_sock_drv.h>

#include "ring.h"
#include "umem.h"
#include "xsk.h"

#define XDP_BIND_FLAGS_VALID \
	(XDP_SHARED_UMEM | XDP_COPY | XDP_ZEROCOPY | XDP_USE_NEED_WAKEUP | \
	 XDP_USE_SG)

/* Who shares a umem shares how it was bound. */
static bool xsk_bind_flags_valid(u16 flags)
{
	if (flags & ~XDP_BIND_FLAGS_VALID)
		return false;
	if (flags & XDP_SHARED_UMEM)
		return flags == XDP_SHARED_UMEM;
	return !(flags & XDP_COPY && flags & XDP_ZEROCOPY);
}

static u32 xsk_tx_entries(const struct xdp_sock *xs)
{
	return xs->tx ? xs->tx->entries : 0;
}

/* The socket gets a pool of its own for the queue, made of its own rings. */
static int xsk_bind_new_pool(struct xdp_sock *xs, struct xdp_umem *umem,
			     struct net_device *dev, u32 queue_id, u16 flags)
{
	struct xsk_buff_pool *pool;
	int err;

	if (!xs->fq || !xs->cq)
		return -EBADFD;

	pool = xp_create(umem, xs->fq, xs->cq);
	if (!pool)
		return -ENOMEM;

	err = xp_attach(pool, dev, queue_id, flags, xsk_tx_entries(xs));
	if (err) {
		pool->fq = NULL;
		pool->cq = NULL;
		xp_put(pool);
		return err;
	}

	xs->pool = pool;
	return 0;
}

/* The socket joins the pool that serves the queue. */
static int xsk_bind_pool(struct xdp_sock *xs, struct xsk_buff_pool *pool)
{
	int err;

	if (xs->fq || xs->cq)
		return -ENOTUNIQ;

	err = xp_prepare_tx(pool, xsk_tx_entries(xs));
	if (err)
		return err;

	xp_get(pool);
	xs->pool = pool;
	return 0;
}

static u16 xsk_shared_flags(const struct xsk_buff_pool *pool)
{
	return (pool->zc ? XDP_ZEROCOPY : XDP_COPY) |
	       (pool->sg ? XDP_USE_SG : 0) |
	       (pool->uses_need_wakeup ? XDP_USE_NEED_WAKEUP : 0);
}

static int xsk_bind_shared_with(struct xdp_sock *xs, struct xdp_sock *other,
				struct net_device *dev, u32 queue_id)
{
	struct xdp_umem *umem;
	int err;

	if (!xsk_is_bound(other))
		return -ENOTCONN;

	umem = other->umem;
	if (other->dev == dev && other->queue_id == queue_id)
		err = xsk_bind_pool(xs, other->pool);
	else
		err = xsk_bind_new_pool(xs, umem, dev, queue_id,
					xsk_shared_flags(other->pool));
	if (err)
		return err;

	xdp_umem_get(umem);
	xs->umem = umem;
	return 0;
}

static int xsk_bind_shared(struct xdp_sock *xs, struct net_device *dev,
			   const struct sockaddr_xdp *sxdp)
{
	struct socket *sock;
	int err;

	if (xs->umem)
		return -EEXIST;

	sock = sockfd_lookup(sxdp->sxdp_shared_umem_fd, &err);
	if (!sock)
		return err;

	/* RTNL keeps the other socket bound, or unbound. */
	if (sock->sk->sk_family == PF_XDP)
		err = xsk_bind_shared_with(xs, xdp_sk(sock->sk), dev,
					   sxdp->sxdp_queue_id);
	else
		err = -ENOPROTOOPT;
	sockfd_put(sock);
	return err;
}

static int xsk_bind_queue(struct xdp_sock *xs, struct net_device *dev,
			  const struct sockaddr_xdp *sxdp)
{
	if (!xs->rx && !xs->tx)
		return -ENOBUFS;

	if (sxdp->sxdp_flags & XDP_SHARED_UMEM)
		return xsk_bind_shared(xs, dev, sxdp);

	if (!xs->umem)
		return -EDESTADDRREQ;
	return xsk_bind_new_pool(xs, xs->umem, dev, sxdp->sxdp_queue_id,
				 sxdp->sxdp_flags);
}

/* From here on packets come and go. */
static void xsk_bind_finish(struct xdp_sock *xs, struct net_device *dev,
			    u16 queue_id)
{
	struct xsk_buff_pool *pool = xs->pool;

	xs->dev = dev;
	xs->queue_id = queue_id;
	xs->zc = pool->zc;
	xs->rx_max_len = pool->sg ? U32_MAX : pool->frame_len;

	pool->bound++;
	xp_add_tx_socket(pool, xs);
	if (xs->rx) {
		/* Pairs with xsk_rx_dev(). */
		smp_store_release(&xs->rx_dev, dev);
	}
	/* Pairs with xsk_is_bound(). */
	smp_store_release(&xs->state, XSK_BOUND);

	/* They are the pool's now. Pairs with xsk_ring_load(). */
	smp_store_release(&xs->fq, NULL);
	/* Likewise. */
	smp_store_release(&xs->cq, NULL);
}

/**
 * xsk_bind - bind() of AF_XDP sockets
 * @sock: the socket
 * @addr: struct sockaddr_xdp: which queue of which device, and how
 * @addr_len: its length
 *
 * Context: process, may sleep; takes RTNL.
 * Return: 0, or an error with the socket and the queue as they were.
 */
int xsk_bind(struct socket *sock, struct sockaddr *addr, int addr_len)
{
	struct sockaddr_xdp *sxdp = (struct sockaddr_xdp *)addr;
	struct xdp_sock *xs = xdp_sk(sock->sk);
	struct net_device *dev;
	int bound_dev_if, err;

	if (addr_len < sizeof(*sxdp))
		return -EINVAL;
	if (sxdp->sxdp_family != AF_XDP)
		return -EAFNOSUPPORT;
	if (!xsk_bind_flags_valid(sxdp->sxdp_flags))
		return -EINVAL;

	bound_dev_if = READ_ONCE(sock->sk->sk_bound_dev_if);
	if (bound_dev_if && bound_dev_if != sxdp->sxdp_ifindex)
		return -EXDEV;

	rtnl_lock();
	mutex_lock(&xs->mutex);
	if (xs->state != XSK_READY) {
		err = -EALREADY;
		goto out;
	}

	dev = netdev_get_by_index(sock_net(sock->sk), sxdp->sxdp_ifindex,
				  &xs->dev_tracker, GFP_KERNEL);
	if (!dev) {
		err = -ENODEV;
		goto out;
	}

	err = xsk_bind_queue(xs, dev, sxdp);
	if (err)
		netdev_put(dev, &xs->dev_tracker);
	else
		xsk_bind_finish(xs, dev, sxdp->sxdp_queue_id);
out:
	mutex_unlock(&xs->mutex);
	rtnl_unlock();
	return err;
}

/**
 * xsk_unbind - take a socket off its queue
 * @xs: the socket; one that is not bound is left alone
 *
 * When this returns nobody looks at the socket's rings any more, and if it was
 * the last on its queue, the queue is free for others. Packets sent in copy mode
 * may still be in flight, and use the socket's pool.
 * Context: process, RTNL and @xs->mutex held.
 */
void xsk_unbind(struct xdp_sock *xs)
{
	struct xsk_buff_pool *pool = xs->pool;

	ASSERT_RTNL();

	if (xs->state != XSK_BOUND)
		return;

	WRITE_ONCE(xs->state, XSK_UNBOUND);
	WRITE_ONCE(xs->rx_dev, NULL);
	xsk_tx_skb_purge(xs);
	xp_del_tx_socket(pool, xs);

	synchronize_net();
	if (!--pool->bound)
		xp_detach(pool);

	netdev_put(xs->dev, &xs->dev_tracker);
	xs->dev = NULL;
}
