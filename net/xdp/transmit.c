// SPDX-License-Identifier: GPL-2.0
/* Sending in zero-copy mode: from the Tx rings to the driver, and from the driver
 * to the completion ring.
 *
 * A driver completes descriptors in the order in which it got them. So the
 * address of each goes into the completion ring at once, at the place where it
 * will be needed, and a completion only has to move the index on. What user
 * space got wrong never reaches the driver, but has its place in the completion
 * ring too, as a gap that is passed over when all before it is complete.
 */

#include <linux/bitops.h>
#include <linux/export.h>
#include <linux/rculist.h>
#include <net/xdp_sock_drv.h>

#include "desc.h"
#include "ring.h"
#include "xsk.h"

/* Need for wakeups, as user space sees it */

static void xsk_ring_need_wakeup(struct xsk_queue *q, bool needed)
{
	WRITE_ONCE(q->ring->flags, needed ? XDP_RING_NEED_WAKEUP : 0);
}

static void xsk_tx_rings_need_wakeup(struct xsk_buff_pool *pool, bool needed)
{
	struct xdp_sock *xs;

	rcu_read_lock();
	list_for_each_entry_rcu(xs, &pool->xsk_tx_list, tx_list)
		xsk_ring_need_wakeup(xs->tx, needed);
	rcu_read_unlock();
}

/**
 * xsk_set_rx_need_wakeup - ask user space to wake the driver for more frames
 * @pool: the pool
 *
 * The driver then does not look at the fill ring before ndo_xsk_wakeup().
 */
void xsk_set_rx_need_wakeup(struct xsk_buff_pool *pool)
{
	if (pool->cached_need_wakeup & XDP_WAKEUP_RX)
		return;

	xsk_ring_need_wakeup(pool->fq, true);
	pool->cached_need_wakeup |= XDP_WAKEUP_RX;
}
EXPORT_SYMBOL(xsk_set_rx_need_wakeup);

/**
 * xsk_clear_rx_need_wakeup - the driver looks at the fill ring by itself
 * @pool: the pool
 */
void xsk_clear_rx_need_wakeup(struct xsk_buff_pool *pool)
{
	if (!(pool->cached_need_wakeup & XDP_WAKEUP_RX))
		return;

	xsk_ring_need_wakeup(pool->fq, false);
	pool->cached_need_wakeup &= ~XDP_WAKEUP_RX;
}
EXPORT_SYMBOL(xsk_clear_rx_need_wakeup);

/**
 * xsk_set_tx_need_wakeup - ask user space to wake the driver to send
 * @pool: the pool
 *
 * The driver then does not look at the Tx rings before ndo_xsk_wakeup().
 */
void xsk_set_tx_need_wakeup(struct xsk_buff_pool *pool)
{
	if (pool->cached_need_wakeup & XDP_WAKEUP_TX)
		return;

	xsk_tx_rings_need_wakeup(pool, true);
	pool->cached_need_wakeup |= XDP_WAKEUP_TX;
}
EXPORT_SYMBOL(xsk_set_tx_need_wakeup);

/**
 * xsk_clear_tx_need_wakeup - the driver looks at the Tx rings by itself
 * @pool: the pool
 */
void xsk_clear_tx_need_wakeup(struct xsk_buff_pool *pool)
{
	if (!(pool->cached_need_wakeup & XDP_WAKEUP_TX))
		return;

	xsk_tx_rings_need_wakeup(pool, false);
	pool->cached_need_wakeup &= ~XDP_WAKEUP_TX;
}
EXPORT_SYMBOL(xsk_clear_tx_need_wakeup);

/**
 * xsk_uses_need_wakeup - does user space heed the flags?
 * @pool: the pool
 *
 * Return: true if it was bound with XDP_USE_NEED_WAKEUP. Otherwise the driver
 * must look at the rings all the time.
 */
bool xsk_uses_need_wakeup(struct xsk_buff_pool *pool)
{
	return pool->uses_need_wakeup;
}
EXPORT_SYMBOL(xsk_uses_need_wakeup);

/**
 * xsk_tx_writeable - does poll() say that the socket can send?
 * @xs: a socket with a Tx ring
 *
 * Return: true if at least half of the ring is free.
 */
bool xsk_tx_writeable(const struct xdp_sock *xs)
{
	return xsk_ring_fill_level(xs->tx) <= xs->tx->entries / 2;
}

/**
 * xsk_tx_wake - tell those who wait for room in the Tx ring
 * @xs: a socket with a Tx ring, from which descriptors were taken
 *
 * Context: any but hard interrupts, under RCU or with the socket's mutex held.
 */
void xsk_tx_wake(struct xdp_sock *xs)
{
	struct sock *sk = &xs->sk;
	bool anyone;

	if (!xsk_tx_writeable(xs))
		return;

	rcu_read_lock();
	anyone = skwq_has_sleeper(rcu_dereference(sk->sk_wq)) ||
		 sock_flag(sk, SOCK_FASYNC);
	rcu_read_unlock();
	if (anyone)
		sk->sk_write_space(sk);
}

/* Completion ring */

/* Move on over @nb_entries completions of the driver, and all gaps up to the next
 * one that is missing.
 */
static void xsk_cq_complete_over_gaps(struct xsk_buff_pool *pool, u32 nb_entries)
{
	struct xsk_queue *cq = pool->cq;

	for (; cq->published != cq->pos; cq->published++) {
		if (__test_and_clear_bit(cq->published & cq->mask, pool->cq_gaps))
			pool->cq_nr_gaps--;
		else if (!nb_entries--)
			break;
	}
	__xsk_prod_publish(cq, cq->published);
}

/**
 * xsk_tx_completed - give frames back that were sent
 * @pool: the pool
 * @nb_entries: number of descriptors, in the order in which the driver got them
 */
void xsk_tx_completed(struct xsk_buff_pool *pool, u32 nb_entries)
{
	struct xsk_queue *cq = pool->cq;

	if (unlikely(pool->cq_nr_gaps)) {
		xsk_cq_complete_over_gaps(pool, nb_entries);
		return;
	}

	cq->published += nb_entries;
	__xsk_prod_publish(cq, cq->published);
}
EXPORT_SYMBOL(xsk_tx_completed);

/* Tx rings */

/* Descriptors that are next in the Tx ring and the completion ring are dropped:
 * after @skip others, @count of them.
 */
static void xsk_tx_drop(struct xsk_buff_pool *pool, struct xdp_sock *xs,
			u32 skip, u32 count)
{
	struct xsk_queue *cq = pool->cq;
	u32 i;

	for (i = skip; i < skip + count; i++)
		__set_bit((cq->pos + i) & cq->mask, pool->cq_gaps);
	pool->cq_nr_gaps += count;
	xs->tx->invalid_descs += count;
}

/**
 * xsk_tx_max_segs - most descriptors that a packet of a socket may have
 * @xs: a socket with a Tx ring
 *
 * A packet that never fits the completion ring or the Tx ring would block both.
 * Return: their number.
 */
u32 xsk_tx_max_segs(const struct xdp_sock *xs)
{
	return min3(xs->pool->tx_max_segs, xs->pool->cq->entries, xs->tx->entries);
}

/* Take packets off a Tx ring, as far as they are there as a whole, and write
 * their addresses to the completion ring, which has room for @max.
 *
 * One pass: the descriptors before @done belong to packets that are dealt with,
 * those from @done on to the packet that is being looked at. Of what is dealt
 * with, @sent descriptors go to the driver. If the packet turns out to be
 * invalid, all of it is dropped, and what is missing of it, when it comes.
 */
static u32 xsk_tx_take(struct xsk_buff_pool *pool, struct xdp_sock *xs,
		       struct xdp_desc *descs, u32 max)
{
	struct xsk_queue *tx = xs->tx, *cq = pool->cq;
	u32 max_segs = xsk_tx_max_segs(xs);
	u32 avail = xsk_cons_avail(tx, max);
	u32 i, done = 0, sent = 0, n = 0;
	bool drop = xs->tx_skip;

	if (!avail)
		tx->empty_descs++;

	for (i = 0; i < avail; i++) {
		struct xdp_desc *desc = &descs[n];
		u32 segs = i + 1 - done;
		bool last;

		xsk_cons_desc(tx, tx->pos + i, desc);
		xsk_prod_addr(cq, cq->pos + i, desc->addr);
		last = xsk_is_eop_desc(desc);

		if (unlikely(!xp_tx_desc_valid(pool, desc) ||
			     segs + !last > max_segs))
			drop = true;
		if (likely(!drop))
			n++;
		if (!last)
			continue;

		if (unlikely(drop)) {
			xsk_tx_drop(pool, xs, done, segs);
			n = sent;
			drop = false;
		}
		sent = n;
		done = i + 1;
	}

	if (unlikely(drop)) {
		xsk_tx_drop(pool, xs, done, avail - done);
		done = avail;
	}
	xs->tx_skip = drop;
	tx->pos += done;
	cq->pos += done;
	return sent;
}

/* Several sockets send through the queue: each may take as much as its budget in
 * turn, until nobody has anything left or @max is reached. The completion ring
 * has room for @max.
 */
static u32 xsk_tx_take_fair(struct xsk_buff_pool *pool, struct xdp_desc *descs,
			    u32 max)
{
	u32 budget = max(XSK_TX_BUDGET, pool->tx_max_segs);
	u32 limit = pool->cq->pos + max;
	bool progress, spent;
	struct xdp_sock *xs;
	u32 sent = 0;

	do {
		progress = false;
		spent = false;
		list_for_each_entry_rcu(xs, &pool->xsk_tx_list, tx_list) {
			u32 start = pool->cq->pos;
			u32 quota = min(limit - start, budget - xs->tx_budget_spent);

			if (start == limit)
				return sent;

			sent += xsk_tx_take(pool, xs, descs + sent, quota);
			xs->tx_budget_spent += pool->cq->pos - start;
			progress |= pool->cq->pos != start;
			spent |= xs->tx_budget_spent;
		}

		/* All have had their turn, or wait for a larger quota: the next
		 * round begins.
		 */
		if (!progress && spent)
			list_for_each_entry_rcu(xs, &pool->xsk_tx_list, tx_list)
				xs->tx_budget_spent = 0;
	} while (progress || spent);

	return sent;
}

/* Under RCU. */
static u32 xsk_tx_take_any(struct xsk_buff_pool *pool, struct xdp_desc *descs,
			   u32 max)
{
	struct xdp_sock *xs;
	u32 sent;

	xs = list_first_or_null_rcu(&pool->xsk_tx_list, struct xdp_sock, tx_list);
	if (!xs)
		return 0;

	max = xsk_prod_free(pool->cq, max);
	if (!max)
		return 0;

	sent = likely(list_is_singular(&pool->xsk_tx_list)) ?
	       xsk_tx_take(pool, xs, descs, max) :
	       xsk_tx_take_fair(pool, descs, max);
	if (unlikely(pool->cq_nr_gaps))
		xsk_cq_complete_over_gaps(pool, 0);
	return sent;
}

/**
 * xsk_tx_release - give user space its Tx ring entries back
 * @pool: the pool
 *
 * To be called after xsk_tx_peek_desc(), once for a batch.
 */
void xsk_tx_release(struct xsk_buff_pool *pool)
{
	struct xdp_sock *xs;

	rcu_read_lock();
	list_for_each_entry_rcu(xs, &pool->xsk_tx_list, tx_list) {
		xsk_cons_release(xs->tx);
		xsk_tx_wake(xs);
	}
	rcu_read_unlock();
}
EXPORT_SYMBOL(xsk_tx_release);

/**
 * xsk_tx_peek_desc - take one descriptor to send
 * @pool: the pool
 * @desc: the descriptor; it is valid, and a packet by itself
 *
 * For drivers whose packets have one buffer.
 * Return: true if there was one. It must be sent, and completed with
 * xsk_tx_completed().
 */
bool xsk_tx_peek_desc(struct xsk_buff_pool *pool, struct xdp_desc *desc)
{
	struct xsk_queue *cq = pool->cq;
	u32 start = cq->pos, last, tries;
	bool found = false;

	rcu_read_lock();
	/* What is dropped on the way costs time, too. */
	for (tries = XSK_TX_BUDGET; !found && tries; tries--) {
		last = cq->pos;
		found = xsk_tx_take_any(pool, desc, 1);
		if (cq->pos == last)
			break;
	}
	if (!found && cq->pos != start)
		xsk_tx_release(pool);
	rcu_read_unlock();
	return found;
}
EXPORT_SYMBOL(xsk_tx_peek_desc);

/**
 * xsk_tx_peek_release_desc_batch - take descriptors to send
 * @pool: the pool
 * @max: most that the driver has room for
 *
 * The descriptors are in @pool->tx_descs until the function is called again. They
 * are valid, and make up whole packets.
 * Return: how many there are. All must be sent, and completed with
 * xsk_tx_completed().
 */
u32 xsk_tx_peek_release_desc_batch(struct xsk_buff_pool *pool, u32 max)
{
	u32 start = pool->cq->pos;
	u32 sent;

	rcu_read_lock();
	sent = xsk_tx_take_any(pool, pool->tx_descs,
			       min(max, pool->tx_descs_nentries));
	if (pool->cq->pos != start)
		xsk_tx_release(pool);
	rcu_read_unlock();
	return sent;
}
EXPORT_SYMBOL(xsk_tx_peek_release_desc_batch);

/* Tx metadata */

struct xsk_tx_metadata *xp_get_tx_metadata(struct xsk_buff_pool *pool, u64 addr,
					   struct xsk_tx_metadata_copy *copy)
{
	if (!pool->tx_metadata_len)
		return NULL;

	copy->frame = xp_raw_get_data(pool, addr) - pool->tx_metadata_len;
	memcpy(&copy->meta, copy->frame, sizeof(copy->meta));
	/* User space may change the frame at any time: look at the copy only. */
	barrier_data(&copy->meta);

	if (copy->meta.flags & ~XDP_TXMD_FLAGS_VALID)
		return NULL;
	return &copy->meta;
}
EXPORT_SYMBOL(xp_get_tx_metadata);
