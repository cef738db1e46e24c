/* SPDX-License-Identifier: GPL-2.0 */
/* What the parts of the AF_XDP core know of each other. */
#ifndef _NET_XDP_XSK_H
#define _NET_XDP_XSK_H

#include <linux/list.h>
#include <linux/socket.h>
#include <net/xdp_sock.h>

struct xsk_buff_pool;

/* A socket gives way to the others of its queue after so many descriptors, and
 * a system call in copy mode sends no more, unless user space raises it with
 * XDP_MAX_TX_SKB_BUDGET.
 */
#define XSK_TX_BUDGET	32

/* An entry of an XSKMAP, as the socket in it sees it. */
struct xsk_map_node {
	struct list_head node;
	struct xsk_map *map;
	struct xdp_sock __rcu **entry;
};

static inline struct xdp_sock *xdp_sk(struct sock *sk)
{
	return (struct xdp_sock *)sk;
}

static inline bool xsk_is_bound(const struct xdp_sock *xs)
{
	/* Who sees the socket bound sees all that bind() has set. */
	return smp_load_acquire(&xs->state) == XSK_BOUND;
}

/* pool.c */
struct xsk_buff_pool *xp_create(struct xdp_umem *umem, struct xsk_queue *fq,
				struct xsk_queue *cq);
int xp_attach(struct xsk_buff_pool *pool, struct net_device *dev, u32 queue_id,
	      u16 flags, u32 tx_entries);
void xp_detach(struct xsk_buff_pool *pool);
int xp_prepare_tx(struct xsk_buff_pool *pool, u32 entries);
void xp_get(struct xsk_buff_pool *pool);
void xp_put(struct xsk_buff_pool *pool);
void xp_put_deferred(struct xsk_buff_pool *pool);
void xp_add_tx_socket(struct xsk_buff_pool *pool, struct xdp_sock *xs);
void xp_del_tx_socket(struct xsk_buff_pool *pool, struct xdp_sock *xs);
bool xp_take_fill_addr(struct xsk_buff_pool *pool, u64 *addr);

/* transmit.c */
void xsk_tx_wake(struct xdp_sock *xs);
bool xsk_tx_writeable(const struct xdp_sock *xs);
u32 xsk_tx_max_segs(const struct xdp_sock *xs);

/* transmit_skb.c */
int xsk_tx_slots_create(struct xsk_buff_pool *pool);
int xsk_tx_skb(struct xdp_sock *xs);
void xsk_tx_skb_purge(struct xdp_sock *xs);

/* bind.c */
int xsk_bind(struct socket *sock, struct sockaddr *addr, int addr_len);
void xsk_unbind(struct xdp_sock *xs);

/* sockopt.c */
int xsk_setsockopt(struct socket *sock, int level, int optname,
		   sockptr_t optval, unsigned int optlen);
int xsk_getsockopt(struct socket *sock, int level, int optname,
		   char __user *optval, int __user *optlen);
void xsk_get_statistics(const struct xdp_sock *xs, struct xdp_statistics *stats);

/* map.c */
void xsk_map_delete_socket(struct xdp_sock *xs);

#endif /* _NET_XDP_XSK_H */
