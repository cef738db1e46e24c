/* SPDX-License-Identifier: GPL-2.0 */
/* What user space writes into the fill and Tx rings: is it inside the umem, and
 * in one piece for the device?
 */
#ifndef _NET_XDP_DESC_H
#define _NET_XDP_DESC_H

#include <net/xsk_buff_pool.h>

/* Chunks in aligned mode are contiguous. In unaligned mode the bytes from
 * @offset on may lie on pages that the device sees apart from each other.
 */
static inline bool xp_is_contiguous(const struct xsk_buff_pool *pool, u64 offset,
				    u64 len)
{
	u64 page = offset >> PAGE_SHIFT, last = (offset + len - 1) >> PAGE_SHIFT;

	if (!pool->dma_pages)
		return true;

	for (; page < last; page++)
		if (!(pool->dma_pages[page] & XSK_NEXT_PG_CONTIG))
			return false;
	return true;
}

/* Fill ring, aligned mode: @addr may be anywhere in the chunk. */
static inline bool xp_fill_addr_aligned(const struct xsk_buff_pool *pool,
					u64 *addr)
{
	*addr &= pool->chunk_mask;
	return *addr < pool->addrs_cnt;
}

/* Fill ring, unaligned mode: the offset in @addr does not count. */
static inline bool xp_fill_addr_unaligned(const struct xsk_buff_pool *pool,
					  u64 *addr)
{
	*addr = xp_unaligned_base(*addr);
	return *addr + pool->chunk_size <= pool->addrs_cnt &&
	       xp_is_contiguous(pool, *addr, pool->chunk_size);
}

/* The packet has the Tx metadata in front of it, if the umem was registered
 * with such. Both are in the umem; in aligned mode they are in one chunk.
 *
 * If the metadata would begin before the umem, its offset wraps around to
 * something that is larger than any umem.
 */
static inline bool xp_tx_desc_aligned(const struct xsk_buff_pool *pool,
				      const struct xdp_desc *desc)
{
	u64 start = desc->addr - pool->tx_metadata_len;
	u64 len = (u64)desc->len + pool->tx_metadata_len;

	return (start & ~pool->chunk_mask) + len <= pool->chunk_size &&
	       start < pool->addrs_cnt;
}

static inline bool xp_tx_desc_unaligned(const struct xsk_buff_pool *pool,
					const struct xdp_desc *desc)
{
	u64 start = xp_addr_to_offset(pool, desc->addr) - pool->tx_metadata_len;
	u64 len = (u64)desc->len + pool->tx_metadata_len;

	return len <= pool->chunk_size &&
	       start < pool->addrs_cnt && len <= pool->addrs_cnt - start &&
	       xp_is_contiguous(pool, start, len);
}

/* May the descriptor be sent? Its packet may still be too long a chain. */
static inline bool xp_tx_desc_valid(const struct xsk_buff_pool *pool,
				    const struct xdp_desc *desc)
{
	if (!desc->len || desc->len > pool->tx_max_len ||
	    desc->options & ~pool->tx_options)
		return false;

	return pool->unaligned ? xp_tx_desc_unaligned(pool, desc) :
				 xp_tx_desc_aligned(pool, desc);
}

#endif /* _NET_XDP_DESC_H */
