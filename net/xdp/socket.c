// SPDX-License-Identifier: GPL-2.0
/* AF_XDP sockets: life cycle and system calls. */

#include <linux/init.h>
#include <linux/mm.h>
#include <linux/net.h>
#include <linux/netdevice.h>
#include <linux/poll.h>
#include <linux/rtnetlink.h>
#include <linux/socket.h>
#include <linux/vmalloc.h>
#include <net/busy_poll.h>
#include <net/xdp_sock_drv.h>

#include "ring.h"
#include "umem.h"
#include "xsk.h"

static struct proto xsk_proto = {
	.name		= "XDP",
	.owner		= THIS_MODULE,
	.obj_size	= sizeof(struct xdp_sock),
};

/* Sending and receiving: the data is in the rings, the system calls only get
 * things going.
 */

static int xsk_check_usable(const struct xdp_sock *xs)
{
	if (unlikely(!xsk_is_bound(xs)))
		return -ENXIO;
	if (unlikely(!(READ_ONCE(xs->dev->flags) & IFF_UP)))
		return -ENETDOWN;
	return 0;
}

static int xsk_wakeup(struct xdp_sock *xs, u8 flags)
{
	return xs->dev->netdev_ops->ndo_xsk_wakeup(xs->dev, xs->queue_id, flags);
}

/* Who busy polls runs the queue himself, and needs no interrupt for it. */
static bool xsk_prefers_busy_poll(const struct sock *sk)
{
#ifdef CONFIG_NET_RX_BUSY_POLL
	return READ_ONCE(sk->sk_prefer_busy_poll) && READ_ONCE(sk->sk_ll_usec) &&
	       READ_ONCE(sk->sk_napi_id) >= MIN_NAPI_ID;
#else
	return false;
#endif
}

static void xsk_busy_poll(struct xdp_sock *xs)
{
	struct sock *sk = &xs->sk;

	if (!sk_can_busy_loop(sk))
		return;

	/* A socket that only sends learns its NAPI from nobody else. */
	if (xs->zc)
		__sk_mark_napi_id_once(sk, xsk_pool_get_napi_id(xs->pool));
	sk_busy_loop(sk, 1);
}

/* Under RCU, which keeps the socket bound. */
static int xsk_kick_driver(struct xdp_sock *xs, u8 flags)
{
	if (!xs->zc || xsk_prefers_busy_poll(&xs->sk) ||
	    !(READ_ONCE(xs->pool->cached_need_wakeup) & flags))
		return 0;
	return xsk_wakeup(xs, flags);
}

static int xsk_sendmsg(struct socket *sock, struct msghdr *msg, size_t len)
{
	struct xdp_sock *xs = xdp_sk(sock->sk);
	bool zc = false;
	int err;

	rcu_read_lock();
	err = xsk_check_usable(xs);
	if (err)
		goto out;

	if (!(msg->msg_flags & MSG_DONTWAIT)) {
		err = -EOPNOTSUPP;
		goto out;
	}
	if (!xs->tx) {
		err = -ENOBUFS;
		goto out;
	}

	zc = xs->zc;
	xsk_busy_poll(xs);
	err = xsk_kick_driver(xs, XDP_WAKEUP_TX);
out:
	rcu_read_unlock();
	if (err || zc)
		return err;
	return xsk_tx_skb(xs);
}

static int xsk_recvmsg(struct socket *sock, struct msghdr *msg, size_t len,
		       int flags)
{
	struct xdp_sock *xs = xdp_sk(sock->sk);
	int err;

	rcu_read_lock();
	err = xsk_check_usable(xs);
	if (err)
		goto out;

	if (!xs->rx) {
		err = -ENOBUFS;
		goto out;
	}
	if (!(flags & MSG_DONTWAIT)) {
		err = -EOPNOTSUPP;
		goto out;
	}

	xsk_busy_poll(xs);
	err = xsk_kick_driver(xs, XDP_WAKEUP_RX);
out:
	rcu_read_unlock();
	return err;
}

/* poll() is also a way to get things going. Returns false if nothing goes. */
static bool xsk_poll_kick(struct xdp_sock *xs)
{
	bool zc = false, usable;
	u8 need_wakeup;

	rcu_read_lock();
	usable = !xsk_check_usable(xs);
	if (usable) {
		zc = xs->zc;
		need_wakeup = READ_ONCE(xs->pool->cached_need_wakeup);
		if (zc && need_wakeup)
			xsk_wakeup(xs, need_wakeup);
	}
	rcu_read_unlock();

	if (usable && !zc && xs->tx)
		xsk_tx_skb(xs);
	return usable;
}

static __poll_t xsk_poll(struct file *file, struct socket *sock,
			 struct poll_table_struct *wait)
{
	struct xdp_sock *xs = xdp_sk(sock->sk);
	__poll_t mask = 0;
	bool usable;

	sock_poll_wait(file, sock, wait);

	if (READ_ONCE(xs->sk.sk_err))
		mask |= EPOLLERR;
	if (READ_ONCE(xs->state) == XSK_UNBOUND)
		mask |= EPOLLHUP;
	if (!xsk_is_bound(xs))
		return mask;

	usable = xsk_poll_kick(xs);
	if (xs->rx && xsk_ring_fill_level(xs->rx))
		mask |= EPOLLIN | EPOLLRDNORM;
	if (xs->tx && usable && xsk_tx_writeable(xs))
		mask |= EPOLLOUT | EPOLLWRNORM;
	return mask;
}

static struct xsk_queue *xsk_ring_load(struct xsk_queue **ring)
{
	/* Pairs with xsk_set_ring() and xsk_bind_finish(). */
	return smp_load_acquire(ring);
}

/* bind() gives the fill and completion rings to the pool. */
static struct xsk_queue *xsk_ring_at(struct xdp_sock *xs, loff_t offset)
{
	struct xsk_queue *q;

	switch (offset) {
	case XDP_PGOFF_RX_RING:
		return xsk_ring_load(&xs->rx);
	case XDP_PGOFF_TX_RING:
		return xsk_ring_load(&xs->tx);
	case XDP_UMEM_PGOFF_FILL_RING:
		q = xsk_ring_load(&xs->fq);
		return q || !xsk_is_bound(xs) ? q : xs->pool->fq;
	case XDP_UMEM_PGOFF_COMPLETION_RING:
		q = xsk_ring_load(&xs->cq);
		return q || !xsk_is_bound(xs) ? q : xs->pool->cq;
	default:
		return NULL;
	}
}

static int xsk_mmap(struct file *file, struct socket *sock,
		    struct vm_area_struct *vma)
{
	loff_t offset = (loff_t)vma->vm_pgoff << PAGE_SHIFT;
	struct xdp_sock *xs = xdp_sk(sock->sk);
	struct xsk_queue *q;

	if (READ_ONCE(xs->state) == XSK_UNBOUND)
		return -EBUSY;

	q = xsk_ring_at(xs, offset);
	if (!q || vma->vm_end - vma->vm_start > q->map_size)
		return -EINVAL;
	return remap_vmalloc_range(vma, q->ring, 0);
}

/* Life cycle */

/* The last packet that was in flight when the socket was closed is done. */
static void xsk_destruct(struct sock *sk)
{
	struct xdp_sock *xs = xdp_sk(sk);

	if (xs->pool) {
		xp_put_deferred(xs->pool);
		xdp_umem_put_deferred(xs->umem);
	}
}

/* Packets sent in copy mode give their frames back to the pool when they are
 * done, and hold the socket until then.
 */
static void xsk_put_memory(struct xdp_sock *xs)
{
	if (sk_wmem_alloc_get(&xs->sk))
		return;
	smp_acquire__after_ctrl_dep();

	if (xs->pool)
		xp_put(xs->pool);
	xs->pool = NULL;
	xdp_umem_put(xs->umem);
	xs->umem = NULL;
}

/* As long as the socket is bound the netdev notifier has to find it. */
static int xsk_release(struct socket *sock)
{
	struct sock *sk = sock->sk;
	struct xdp_sock *xs;
	struct net *net;

	if (!sk)
		return 0;

	xs = xdp_sk(sk);
	net = sock_net(sk);

	xsk_map_delete_socket(xs);
	if (xsk_is_bound(xs)) {
		rtnl_lock();
		mutex_lock(&xs->mutex);
		xsk_unbind(xs);
		mutex_unlock(&xs->mutex);
		rtnl_unlock();
	}

	mutex_lock(&net->xdp.lock);
	sk_del_node_init_rcu(sk);
	mutex_unlock(&net->xdp.lock);
	sock_prot_inuse_add(net, sk->sk_prot, -1);

	xsk_queue_destroy(xs->rx);
	xsk_queue_destroy(xs->tx);
	xsk_queue_destroy(xs->fq);
	xsk_queue_destroy(xs->cq);
	xsk_put_memory(xs);

	sock_orphan(sk);
	sock->sk = NULL;
	sock_put(sk);
	return 0;
}

static const struct proto_ops xsk_proto_ops = {
	.family		= PF_XDP,
	.owner		= THIS_MODULE,
	.release	= xsk_release,
	.bind		= xsk_bind,
	.connect	= sock_no_connect,
	.socketpair	= sock_no_socketpair,
	.accept		= sock_no_accept,
	.getname	= sock_no_getname,
	.poll		= xsk_poll,
	.ioctl		= sock_no_ioctl,
	.listen		= sock_no_listen,
	.shutdown	= sock_no_shutdown,
	.setsockopt	= xsk_setsockopt,
	.getsockopt	= xsk_getsockopt,
	.sendmsg	= xsk_sendmsg,
	.recvmsg	= xsk_recvmsg,
	.mmap		= xsk_mmap,
};

static int xsk_create(struct net *net, struct socket *sock, int protocol, int kern)
{
	struct xdp_sock *xs;
	struct sock *sk;

	if (!ns_capable(net->user_ns, CAP_NET_RAW))
		return -EPERM;
	if (sock->type != SOCK_RAW)
		return -ESOCKTNOSUPPORT;
	if (protocol)
		return -EPROTONOSUPPORT;

	sk = sk_alloc(net, PF_XDP, GFP_KERNEL, &xsk_proto, kern);
	if (!sk)
		return -ENOBUFS;

	sock->ops = &xsk_proto_ops;
	sock->state = SS_UNCONNECTED;
	sock_init_data(sock, sk);
	sk->sk_family = PF_XDP;
	sk->sk_destruct = xsk_destruct;
	/* Redirects look at the socket under RCU. */
	sock_set_flag(sk, SOCK_RCU_FREE);

	xs = xdp_sk(sk);
	xs->state = XSK_READY;
	xs->max_tx_budget = XSK_TX_BUDGET;
	mutex_init(&xs->mutex);
	INIT_LIST_HEAD(&xs->map_list);
	spin_lock_init(&xs->map_list_lock);

	mutex_lock(&net->xdp.lock);
	sk_add_node_rcu(sk, &net->xdp.list);
	mutex_unlock(&net->xdp.lock);
	sock_prot_inuse_add(net, &xsk_proto, 1);
	return 0;
}

static const struct net_proto_family xsk_family_ops = {
	.family	= PF_XDP,
	.create	= xsk_create,
	.owner	= THIS_MODULE,
};

static void xsk_device_gone(struct xdp_sock *xs)
{
	mutex_lock(&xs->mutex);
	xsk_unbind(xs);
	mutex_unlock(&xs->mutex);

	WRITE_ONCE(xs->sk.sk_err, ENETDOWN);
	sk_error_report(&xs->sk);
}

static int xsk_netdev_event(struct notifier_block *nb, unsigned long event,
			    void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);
	struct net *net = dev_net(dev);
	struct sock *sk;

	if (event != NETDEV_UNREGISTER)
		return NOTIFY_DONE;

	/* RTNL is held, so no socket comes to the device, or leaves it. */
	mutex_lock(&net->xdp.lock);
	sk_for_each(sk, &net->xdp.list)
		if (xdp_sk(sk)->dev == dev)
			xsk_device_gone(xdp_sk(sk));
	mutex_unlock(&net->xdp.lock);
	return NOTIFY_DONE;
}

static struct notifier_block xsk_netdev_notifier = {
	.notifier_call	= xsk_netdev_event,
};

static int __net_init xsk_net_init(struct net *net)
{
	mutex_init(&net->xdp.lock);
	INIT_HLIST_HEAD(&net->xdp.list);
	return 0;
}

static void __net_exit xsk_net_exit(struct net *net)
{
	WARN_ON_ONCE(!hlist_empty(&net->xdp.list));
}

static struct pernet_operations xsk_net_ops = {
	.init = xsk_net_init,
	.exit = xsk_net_exit,
};

static int __init xsk_init(void)
{
	int err;

	err = proto_register(&xsk_proto, 0);
	if (err)
		return err;

	err = register_pernet_subsys(&xsk_net_ops);
	if (err)
		goto err_proto;

	err = register_netdevice_notifier(&xsk_netdev_notifier);
	if (err)
		goto err_pernet;

	/* From here on there are sockets. */
	err = sock_register(&xsk_family_ops);
	if (err)
		goto err_notifier;
	return 0;

err_notifier:
	unregister_netdevice_notifier(&xsk_netdev_notifier);
err_pernet:
	unregister_pernet_subsys(&xsk_net_ops);
err_proto:
	proto_unregister(&xsk_proto);
	return err;
}
fs_initcall(xsk_init);
