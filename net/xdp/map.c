// SPDX-License-Identifier: GPL-2.0
/* XSKMAP: the map from which an XDP program picks the socket for a packet.
 *
 * Each used entry has a node in the list of the socket that it points to, so that
 * a socket that is closed finds all its entries. Entry and node change together,
 * under the map's lock; the lock of a socket's list is taken inside of it. A node
 * keeps its map alive.
 */

#include <linux/bpf.h>
#include <linux/btf_ids.h>
#include <linux/filter.h>
#include <linux/net.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <net/xdp_sock.h>

#include "xsk.h"

static struct xsk_map *to_xsk_map(const struct bpf_map *map)
{
	return container_of(map, struct xsk_map, map);
}

static struct bpf_map *xsk_map_alloc(union bpf_attr *attr)
{
	const u32 flags = BPF_F_NUMA_NODE | BPF_F_RDONLY | BPF_F_WRONLY;
	struct xsk_map *m;

	if (!attr->max_entries || attr->key_size != sizeof(u32) ||
	    attr->value_size != sizeof(u32) || attr->map_flags & ~flags)
		return ERR_PTR(-EINVAL);

	m = bpf_map_area_alloc(struct_size(m, xsk_map, attr->max_entries),
			       bpf_map_attr_numa_node(attr));
	if (!m)
		return ERR_PTR(-ENOMEM);

	bpf_map_init_from_attr(&m->map, attr);
	spin_lock_init(&m->lock);
	return &m->map;
}

static void xsk_map_free(struct bpf_map *map)
{
	/* Redirects may still look at the entries. */
	synchronize_net();
	bpf_map_area_free(to_xsk_map(map));
}

static u64 xsk_map_mem_usage(const struct bpf_map *map)
{
	struct xsk_map *m = to_xsk_map(map);
	u64 nodes = atomic_read(&m->count);

	return struct_size(m, xsk_map, map->max_entries) +
	       nodes * sizeof(struct xsk_map_node);
}

static int xsk_map_get_next_key(struct bpf_map *map, void *key, void *next_key)
{
	u32 last = map->max_entries - 1;
	u32 *next = next_key;

	if (!key || *(u32 *)key > last) {
		*next = 0;
		return 0;
	}
	if (*(u32 *)key == last)
		return -ENOENT;
	*next = *(u32 *)key + 1;
	return 0;
}

static void *__xsk_map_lookup_elem(struct bpf_map *map, u32 key)
{
	if (key >= map->max_entries)
		return NULL;

	/* Programs that run in NAPI have softirqs disabled instead. */
	return rcu_dereference_check(to_xsk_map(map)->xsk_map[key],
				     rcu_read_lock_bh_held());
}

static void *xsk_map_lookup_elem(struct bpf_map *map, void *key)
{
	return __xsk_map_lookup_elem(map, *(u32 *)key);
}

/* A socket is no value that user space could read. */
static void *xsk_map_lookup_elem_sys_only(struct bpf_map *map, void *key)
{
	return ERR_PTR(-EOPNOTSUPP);
}

/* __xsk_map_lookup_elem() for the JIT. */
static int xsk_map_gen_lookup(struct bpf_map *map, struct bpf_insn *insn_buf)
{
	const int result = BPF_REG_0, mp = BPF_REG_1, key = BPF_REG_2;
	const int shift = ilog2(sizeof(struct xdp_sock *));
	const struct bpf_insn lookup[] = {
		BPF_LDX_MEM(BPF_W, result, key, 0),
		BPF_JMP32_IMM(BPF_JGE, result, map->max_entries, 4),
		BPF_ALU64_IMM(BPF_LSH, result, shift),
		BPF_ALU64_REG(BPF_ADD, result, mp),
		BPF_LDX_MEM(BPF_SIZEOF(struct xdp_sock *), result, result,
			    offsetof(struct xsk_map, xsk_map)),
		BPF_JMP_IMM(BPF_JA, 0, 0, 1),
		BPF_MOV64_IMM(result, 0),
	};

	memcpy(insn_buf, lookup, sizeof(lookup));
	return ARRAY_SIZE(lookup);
}

static long xsk_map_redirect(struct bpf_map *map, u64 index, u64 flags)
{
	return __bpf_xdp_redirect_map(map, index, flags, 0, __xsk_map_lookup_elem);
}

static struct xsk_map_node *xsk_map_node_alloc(struct xsk_map *m,
					       struct xdp_sock __rcu **entry)
{
	struct xsk_map_node *node;

	node = bpf_map_kzalloc(&m->map, sizeof(*node), GFP_ATOMIC | __GFP_NOWARN);
	if (!node)
		return NULL;

	bpf_map_inc(&m->map);
	atomic_inc(&m->count);
	node->map = m;
	node->entry = entry;
	return node;
}

static void xsk_map_node_free(struct xsk_map_node *node)
{
	struct xsk_map *m = node->map;

	kfree(node);
	atomic_dec(&m->count);
	bpf_map_put(&m->map);
}

static void xsk_map_link(struct xdp_sock *xs, struct xsk_map_node *node)
{
	spin_lock_bh(&xs->map_list_lock);
	list_add_tail(&node->node, &xs->map_list);
	spin_unlock_bh(&xs->map_list_lock);
}

static void xsk_map_unlink(struct xdp_sock *xs, struct xdp_sock __rcu **entry)
{
	struct xsk_map_node *node;

	spin_lock_bh(&xs->map_list_lock);
	list_for_each_entry(node, &xs->map_list, node) {
		if (node->entry == entry) {
			list_del(&node->node);
			xsk_map_node_free(node);
			break;
		}
	}
	spin_unlock_bh(&xs->map_list_lock);
}

/* Point an entry to the socket of @node, or to none. The map's lock is held. */
static void xsk_map_set(struct xsk_map *m, struct xdp_sock __rcu **entry,
			struct xdp_sock *xs, struct xsk_map_node *node)
{
	struct xdp_sock *old;

	old = rcu_replace_pointer(*entry, xs, lockdep_is_held(&m->lock));
	if (old)
		xsk_map_unlink(old, entry);
	if (xs)
		xsk_map_link(xs, node);
}

static int xsk_map_update(struct xsk_map *m, struct xdp_sock __rcu **entry,
			  struct xdp_sock *xs, u64 flags)
{
	struct xsk_map_node *node;
	int err = 0;

	node = xsk_map_node_alloc(m, entry);
	if (!node)
		return -ENOMEM;

	spin_lock_bh(&m->lock);
	if (rcu_access_pointer(*entry))
		err = flags == BPF_NOEXIST ? -EEXIST : 0;
	else
		err = flags == BPF_EXIST ? -ENOENT : 0;
	if (!err)
		xsk_map_set(m, entry, xs, node);
	spin_unlock_bh(&m->lock);

	if (err)
		xsk_map_node_free(node);
	return err;
}

static long xsk_map_update_elem(struct bpf_map *map, void *key, void *value,
				u64 flags)
{
	struct xsk_map *m = to_xsk_map(map);
	u32 index = *(u32 *)key;
	struct socket *sock;
	int err;

	if (flags > BPF_EXIST)
		return -EINVAL;
	if (index >= map->max_entries)
		return -E2BIG;

	sock = sockfd_lookup(*(u32 *)value, &err);
	if (!sock)
		return err;

	/* The file that is looked up keeps the socket from being closed. */
	if (sock->sk->sk_family == PF_XDP)
		err = xsk_map_update(m, &m->xsk_map[index], xdp_sk(sock->sk), flags);
	else
		err = -EOPNOTSUPP;
	sockfd_put(sock);
	return err;
}

static long xsk_map_delete_elem(struct bpf_map *map, void *key)
{
	struct xsk_map *m = to_xsk_map(map);
	u32 index = *(u32 *)key;

	if (index >= map->max_entries)
		return -EINVAL;

	spin_lock_bh(&m->lock);
	xsk_map_set(m, &m->xsk_map[index], NULL, NULL);
	spin_unlock_bh(&m->lock);
	return 0;
}

/* One of the entries that a socket is in, and its map, which is kept alive. */
static struct xsk_map *xsk_map_of(struct xdp_sock *xs,
				  struct xdp_sock __rcu ***entry)
{
	struct xsk_map_node *node;
	struct xsk_map *m = NULL;

	spin_lock_bh(&xs->map_list_lock);
	node = list_first_entry_or_null(&xs->map_list, struct xsk_map_node, node);
	if (node) {
		m = node->map;
		*entry = node->entry;
		bpf_map_inc(&m->map);
	}
	spin_unlock_bh(&xs->map_list_lock);
	return m;
}

/**
 * xsk_map_delete_socket - take a socket out of all maps
 * @xs: a socket that is being closed
 *
 * Redirects may see it until the end of an RCU grace period.
 * Context: process.
 */
void xsk_map_delete_socket(struct xdp_sock *xs)
{
	struct xdp_sock __rcu **entry;
	struct xsk_map *m;

	while ((m = xsk_map_of(xs, &entry))) {
		spin_lock_bh(&m->lock);
		/* Somebody may have been faster. */
		if (rcu_access_pointer(*entry) == xs)
			xsk_map_set(m, entry, NULL, NULL);
		spin_unlock_bh(&m->lock);
		bpf_map_put(&m->map);
	}
}

static bool xsk_map_meta_equal(const struct bpf_map *meta0,
			       const struct bpf_map *meta1)
{
	/* The size is built into the inlined lookup. */
	return meta0->max_entries == meta1->max_entries &&
	       bpf_map_meta_equal(meta0, meta1);
}

BTF_ID_LIST_SINGLE(xsk_map_btf_ids, struct, xsk_map)
const struct bpf_map_ops xsk_map_ops = {
	.map_meta_equal		= xsk_map_meta_equal,
	.map_alloc		= xsk_map_alloc,
	.map_free		= xsk_map_free,
	.map_get_next_key	= xsk_map_get_next_key,
	.map_lookup_elem	= xsk_map_lookup_elem,
	.map_gen_lookup		= xsk_map_gen_lookup,
	.map_lookup_elem_sys_only = xsk_map_lookup_elem_sys_only,
	.map_update_elem	= xsk_map_update_elem,
	.map_delete_elem	= xsk_map_delete_elem,
	.map_check_btf		= map_check_no_btf,
	.map_mem_usage		= xsk_map_mem_usage,
	.map_btf_id		= &xsk_map_btf_ids[0],
	.map_redirect		= xsk_map_redirect,
};
