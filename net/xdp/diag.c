// SPDX-License-Identifier: GPL-2.0
/* sock_diag for AF_XDP sockets, as "ss --xdp" shows it. */

#include <linux/module.h>
#include <linux/net.h>
#include <linux/sock_diag.h>
#include <linux/xdp_diag.h>
#include <net/netlink.h>
#include <net/xdp_sock_drv.h>

#include "ring.h"
#include "xsk.h"

static int xsk_diag_put_info(struct sk_buff *nlskb, const struct xdp_sock *xs)
{
	struct xdp_diag_info info = {
		.ifindex = xs->dev ? xs->dev->ifindex : 0,
		.queue_id = xs->queue_id,
	};

	return nla_put(nlskb, XDP_DIAG_INFO, sizeof(info), &info);
}

static int xsk_diag_put_uid(struct sk_buff *nlskb, struct xdp_sock *xs,
			    struct user_namespace *user_ns)
{
	return nla_put_u32(nlskb, XDP_DIAG_UID,
			   from_kuid_munged(user_ns, sock_i_uid(&xs->sk)));
}

static int xsk_diag_put_ring(struct sk_buff *nlskb, int type,
			     const struct xsk_queue *q)
{
	struct xdp_diag_ring ring = {};

	if (!q)
		return 0;

	ring.entries = q->entries;
	return nla_put(nlskb, type, sizeof(ring), &ring);
}

static int xsk_diag_put_rings(struct sk_buff *nlskb, const struct xdp_sock *xs)
{
	return xsk_diag_put_ring(nlskb, XDP_DIAG_RX_RING, xs->rx) ?:
	       xsk_diag_put_ring(nlskb, XDP_DIAG_TX_RING, xs->tx);
}

static int xsk_diag_put_umem(struct sk_buff *nlskb, const struct xdp_sock *xs)
{
	const struct xsk_buff_pool *pool = xs->pool;
	const struct xdp_umem *umem = xs->umem;
	struct xdp_diag_umem du;
	int err;

	if (!umem)
		return 0;

	du = (struct xdp_diag_umem) {
		.size = umem->size,
		.id = umem->id,
		.num_pages = umem->npgs,
		.chunk_size = umem->chunk_size,
		.headroom = umem->headroom,
		.ifindex = xs->dev ? xs->dev->ifindex : 0,
		.queue_id = pool ? pool->queue_id : 0,
		.flags = pool && pool->zc ? XDP_DU_F_ZEROCOPY : 0,
		.refs = refcount_read(&umem->users),
	};

	err = nla_put(nlskb, XDP_DIAG_UMEM, sizeof(du), &du);
	if (err || !pool)
		return err;
	return xsk_diag_put_ring(nlskb, XDP_DIAG_UMEM_FILL_RING, pool->fq) ?:
	       xsk_diag_put_ring(nlskb, XDP_DIAG_UMEM_COMPLETION_RING, pool->cq);
}

static int xsk_diag_put_stats(struct sk_buff *nlskb, const struct xdp_sock *xs)
{
	struct xdp_diag_stats ds = {};
	struct xdp_statistics stats;

	xsk_get_statistics(xs, &stats);
	ds.n_rx_dropped = stats.rx_dropped;
	ds.n_rx_invalid = stats.rx_invalid_descs;
	ds.n_rx_full = stats.rx_ring_full;
	ds.n_fill_ring_empty = stats.rx_fill_ring_empty_descs;
	ds.n_tx_invalid = stats.tx_invalid_descs;
	ds.n_tx_ring_empty = stats.tx_ring_empty_descs;
	return nla_put(nlskb, XDP_DIAG_STATS, sizeof(ds), &ds);
}

static int xsk_diag_put(struct sk_buff *nlskb, struct xdp_sock *xs, u32 show,
			struct user_namespace *user_ns)
{
	int err = 0;

	if (show & XDP_SHOW_INFO)
		err = xsk_diag_put_info(nlskb, xs) ?:
		      xsk_diag_put_uid(nlskb, xs, user_ns);
	if (!err && show & XDP_SHOW_RING_CFG)
		err = xsk_diag_put_rings(nlskb, xs);
	if (!err && show & XDP_SHOW_UMEM)
		err = xsk_diag_put_umem(nlskb, xs);
	if (!err && show & XDP_SHOW_MEMINFO)
		err = sock_diag_put_meminfo(&xs->sk, nlskb, XDP_DIAG_MEMINFO);
	if (!err && show & XDP_SHOW_STATS)
		err = xsk_diag_put_stats(nlskb, xs);
	return err;
}

static int xsk_diag_fill(struct sk_buff *nlskb, struct netlink_callback *cb,
			 struct sock *sk)
{
	struct user_namespace *user_ns = sk_user_ns(NETLINK_CB(cb->skb).sk);
	const struct xdp_diag_req *req = nlmsg_data(cb->nlh);
	struct xdp_sock *xs = xdp_sk(sk);
	struct xdp_diag_msg *msg;
	struct nlmsghdr *nlh;
	int err;

	nlh = nlmsg_put(nlskb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
			SOCK_DIAG_BY_FAMILY, sizeof(*msg), NLM_F_MULTI);
	if (!nlh)
		return -EMSGSIZE;

	msg = nlmsg_data(nlh);
	*msg = (struct xdp_diag_msg) {
		.xdiag_family = AF_XDP,
		.xdiag_type = sk->sk_type,
		.xdiag_ino = sock_i_ino(sk),
	};
	sock_diag_save_cookie(sk, msg->xdiag_cookie);

	mutex_lock(&xs->mutex);
	err = xsk_diag_put(nlskb, xs, req->xdiag_show, user_ns);
	mutex_unlock(&xs->mutex);

	if (err)
		nlmsg_cancel(nlskb, nlh);
	else
		nlmsg_end(nlskb, nlh);
	return err;
}

static int xsk_diag_dump(struct sk_buff *nlskb, struct netlink_callback *cb)
{
	struct net *net = sock_net(nlskb->sk);
	int num = 0, done = cb->args[0];
	struct sock *sk;

	mutex_lock(&net->xdp.lock);
	sk_for_each(sk, &net->xdp.list) {
		/* Those before went into earlier messages of the dump. */
		if (num >= done && xsk_diag_fill(nlskb, cb, sk))
			break;
		num++;
	}
	mutex_unlock(&net->xdp.lock);

	cb->args[0] = num;
	return nlskb->len;
}

static int xsk_diag_handler_dump(struct sk_buff *nlskb, struct nlmsghdr *nlh)
{
	struct netlink_dump_control control = { .dump = xsk_diag_dump };

	if (nlmsg_len(nlh) < sizeof(struct xdp_diag_req))
		return -EINVAL;
	if (!(nlh->nlmsg_flags & NLM_F_DUMP))
		return -EOPNOTSUPP;

	return netlink_dump_start(sock_net(nlskb->sk)->diag_nlsk, nlskb, nlh, &control);
}

static const struct sock_diag_handler xsk_diag_handler = {
	.owner = THIS_MODULE,
	.family = AF_XDP,
	.dump = xsk_diag_handler_dump,
};

static int __init xsk_diag_init(void)
{
	return sock_diag_register(&xsk_diag_handler);
}
module_init(xsk_diag_init);

static void __exit xsk_diag_exit(void)
{
	sock_diag_unregister(&xsk_diag_handler);
}
module_exit(xsk_diag_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("XDP socket monitoring via SOCK_DIAG");
MODULE_ALIAS_NET_PF_PROTO_TYPE(PF_NETLINK, NETLINK_SOCK_DIAG, AF_XDP);
