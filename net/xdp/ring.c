// SPDX-License-Identifier: GPL-2.0
/* Allocation of the rings that the kernel and user space share. */

#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <asm/shmparam.h>

#include "ring.h"

static size_t xsk_ring_size(enum xsk_ring_kind kind, u32 entries)
{
	struct xsk_ring *ring;

	if (kind == XSK_RING_RX || kind == XSK_RING_TX)
		return struct_size(ring, desc, entries);
	return struct_size(ring, addr, entries);
}

/* To be mapped by user space, which may see it at an address of another cache
 * colour, and charged to the memory cgroup of who asks for it.
 */
static struct xsk_ring *xsk_ring_alloc(size_t size)
{
	return __vmalloc_node_range(size, SHMLBA, VMALLOC_START, VMALLOC_END,
				    GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN,
				    PAGE_KERNEL, VM_USERMAP, NUMA_NO_NODE,
				    __builtin_return_address(0));
}

/**
 * xsk_queue_create - make a ring, with nothing in it
 * @kind: which of the four rings
 * @entries: number of entries
 *
 * Context: process, may sleep.
 * Return: the ring, or ERR_PTR: -EINVAL if @entries is no power of two,
 * -ENOMEM.
 */
struct xsk_queue *xsk_queue_create(enum xsk_ring_kind kind, u32 entries)
{
	struct xsk_queue *q;
	size_t size;

	if (!is_power_of_2(entries))
		return ERR_PTR(-EINVAL);

	size = xsk_ring_size(kind, entries);
	if (size > SIZE_MAX - PAGE_SIZE)
		return ERR_PTR(-ENOMEM);

	q = kzalloc(sizeof(*q), GFP_KERNEL_ACCOUNT);
	if (!q)
		return ERR_PTR(-ENOMEM);

	q->map_size = PAGE_ALIGN(size);
	q->ring = xsk_ring_alloc(q->map_size);
	if (!q->ring) {
		kfree(q);
		return ERR_PTR(-ENOMEM);
	}

	q->entries = entries;
	q->mask = entries - 1;
	if (kind == XSK_RING_RX || kind == XSK_RING_COMPLETION)
		q->end = entries;
	return q;
}

/**
 * xsk_queue_destroy - free a ring
 * @q: the ring, or NULL
 *
 * Pages that user space still has mapped live on until they are unmapped.
 * Context: process, may sleep.
 */
void xsk_queue_destroy(struct xsk_queue *q)
{
	if (!q)
		return;

	vfree(q->ring);
	kfree(q);
}
