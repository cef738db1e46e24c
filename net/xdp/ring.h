/* SPDX-License-Identifier: GPL-2.0 */
/* The rings that the kernel and user space share.
 *
 * Every AF_XDP ring has one producer and one consumer, one of them the kernel:
 *
 *	ring		producer	consumer	entries
 *	fill		user space	kernel		umem addresses
 *	completion	kernel		user space	umem addresses
 *	Rx		kernel		user space	descriptors
 *	Tx		user space	kernel		descriptors
 *
 * The two indices run freely through all 32 bits; an entry's slot is its index
 * modulo the ring's size. The entries from the consumer index up to, but not
 * including, the producer index belong to the consumer, the others to the
 * producer. So a ring is empty when the indices are equal, and full when they
 * are a ring's size apart.
 *
 * The kernel's side of a ring is a struct xsk_queue, and both roles speak the
 * same language: the entries from @pos up to, but not including, @end are ours.
 * We take them one by one by moving @pos on, tell the other side now and then
 * how far we are, and only if what we have is not enough we look at the other
 * side's index, which costs a cache miss:
 *
 *	producer				consumer
 *
 *	xsk_prod_free()	  entries to write?	xsk_cons_avail()   to read?
 *	xsk_prod_addr()	  write one		xsk_cons_addr()	   read one
 *	xsk_prod_desc()				xsk_cons_desc()
 *	xsk_prod_publish() tell the consumer	xsk_cons_release() tell the producer
 *
 * Entries cross over in both directions with a release and an acquire:
 *
 *	producer				consumer
 *
 *	LOAD consumer		(A)		LOAD.acquire producer	(C)
 *	WRITE entries				READ entries
 *	STORE.release producer	(B)		STORE.release consumer	(D)
 *
 * (B) and (C): who sees the new producer index sees the entries written before
 * it. (D) and (A): who sees the new consumer index may overwrite the entries,
 * since they were read before. (A) needs no acquire: writing the entries
 * depends on what it returned, and a CPU does not store speculatively.
 *
 * User space can write anything to a ring at any time. So the kernel never
 * reads back an index that it owns, masks each index, bounds each count by what
 * its caller can take, and judges only a private copy of a descriptor.
 */
#ifndef _NET_XDP_RING_H
#define _NET_XDP_RING_H

#include <linux/cache.h>
#include <linux/compiler.h>
#include <linux/if_xdp.h>
#include <linux/minmax.h>
#include <linux/stddef.h>
#include <linux/types.h>
#include <asm/barrier.h>

/* CPUs prefetch cache lines in pairs: what different CPUs write lies in
 * different pairs.
 */
#define XSK_RING_ALIGN	(2 * SMP_CACHE_BYTES)

/* What user space maps. XDP_MMAP_OFFSETS tells it where each member is. */
struct xsk_ring {
	u32 producer __aligned(XSK_RING_ALIGN);
	u32 consumer __aligned(XSK_RING_ALIGN);
	u32 flags __aligned(XSK_RING_ALIGN);
	union {
		DECLARE_FLEX_ARRAY(struct xdp_desc, desc);	/* Rx and Tx */
		DECLARE_FLEX_ARRAY(u64, addr);		/* fill and completion */
	} __aligned(XSK_RING_ALIGN);
};

enum xsk_ring_kind {
	XSK_RING_FILL,
	XSK_RING_COMPLETION,
	XSK_RING_RX,
	XSK_RING_TX,
};

/**
 * struct xsk_queue - the kernel's side of a ring
 * @ring: the memory shared with user space
 * @mask: number of entries - 1
 * @entries: number of entries, a power of two
 * @pos: the first entry that is ours
 * @end: the first entry, from @pos on, that is not known to be ours
 * @published: completion ring: how far user space may read; behind @pos by the
 *	entries that are reserved for frames still in use
 * @invalid_descs: entries found invalid, and so dropped
 * @empty_descs: how often the consumer found nothing
 * @map_size: size of @ring in bytes, a multiple of the page size
 */
struct xsk_queue {
	struct xsk_ring *ring;
	u32 mask;
	u32 entries;
	u32 pos;
	u32 end;
	u32 published;
	u64 invalid_descs;
	u64 empty_descs;
	size_t map_size;
};

struct xsk_queue *xsk_queue_create(enum xsk_ring_kind kind, u32 entries);
void xsk_queue_destroy(struct xsk_queue *q);

/* Consumer */

static inline u32 xsk_cons_refresh(struct xsk_queue *q)
{
	q->end = smp_load_acquire(&q->ring->producer);	/* (C), see above */
	return q->end - q->pos;
}

/* Number of entries to read, not more than @max. */
static inline u32 xsk_cons_avail(struct xsk_queue *q, u32 max)
{
	u32 avail = q->end - q->pos;

	if (avail < max)
		avail = xsk_cons_refresh(q);
	return min(avail, max);
}

static inline u64 xsk_cons_addr(const struct xsk_queue *q, u32 idx)
{
	return q->ring->addr[idx & q->mask];
}

/* User space may rewrite the slot while we look, so the copy must not be
 * replaced by a second read.
 */
static inline void xsk_cons_desc(const struct xsk_queue *q, u32 idx,
				 struct xdp_desc *desc)
{
	*desc = q->ring->desc[idx & q->mask];
	barrier_data(desc);
}

static inline void xsk_cons_release(struct xsk_queue *q)
{
	smp_store_release(&q->ring->consumer, q->pos);	/* (D), see above */
}

/* Producer */

static inline u32 xsk_prod_refresh(struct xsk_queue *q)
{
	q->end = READ_ONCE(q->ring->consumer) + q->entries;	/* (A), see above */
	return q->end - q->pos;
}

/* Number of entries to write, not more than @max. */
static inline u32 xsk_prod_free(struct xsk_queue *q, u32 max)
{
	u32 nb_free = q->end - q->pos;

	if (nb_free < max)
		nb_free = xsk_prod_refresh(q);
	return min(nb_free, max);
}

static inline void xsk_prod_addr(struct xsk_queue *q, u32 idx, u64 addr)
{
	q->ring->addr[idx & q->mask] = addr;
}

static inline void xsk_prod_desc(struct xsk_queue *q, u64 addr, u32 len,
				 u32 options)
{
	struct xdp_desc *desc = &q->ring->desc[q->pos++ & q->mask];

	desc->addr = addr;
	desc->len = len;
	desc->options = options;
}

static inline void __xsk_prod_publish(struct xsk_queue *q, u32 idx)
{
	smp_store_release(&q->ring->producer, idx);	/* (B), see above */
}

static inline void xsk_prod_publish(struct xsk_queue *q)
{
	__xsk_prod_publish(q, q->pos);
}

/* For poll() and statistics: what user space sees. Orders nothing. */

static inline u32 xsk_ring_fill_level(const struct xsk_queue *q)
{
	return READ_ONCE(q->ring->producer) - READ_ONCE(q->ring->consumer);
}

#endif /* _NET_XDP_RING_H */
