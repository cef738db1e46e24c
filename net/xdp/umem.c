// SPDX-License-Identifier: GPL-2.0
/* umem: an area of user space that is pinned and charged, and that the kernel
 * maps, so that packets can be in it.
 */

#include <linux/cred.h>
#include <linux/hugetlb.h>
#include <linux/idr.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/user.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <net/xdp_sock_drv.h>

#include "umem.h"

/* What an address in unaligned mode can say of where the packet starts: room for
 * a program to take headers off the largest packet.
 */
#define XDP_UMEM_UNALIGNED_MAX_HEADROOM	(U16_MAX - XDP_PACKET_HEADROOM - SZ_16K)

/* Room for a small packet behind what XDP and the user keep of a chunk. */
#define XDP_UMEM_MIN_DATA	128
#define XDP_UMEM_OVERHEAD	(XDP_PACKET_HEADROOM + XDP_UMEM_MIN_DATA + \
				 SKB_DATA_ALIGN(sizeof(struct skb_shared_info)))

#ifdef CONFIG_HUGETLB_PAGE
#define XDP_UMEM_MAX_CHUNK_SIZE	HPAGE_SIZE
#else
#define XDP_UMEM_MAX_CHUNK_SIZE	PAGE_SIZE
#endif

#define XDP_UMEM_FLAGS_VALID \
	(XDP_UMEM_UNALIGNED_CHUNK_FLAG | XDP_UMEM_TX_SW_CSUM | \
	 XDP_UMEM_TX_METADATA_LEN)

static DEFINE_IDA(umem_ida);

static bool xdp_umem_tx_metadata_ok(u32 len)
{
	return len >= sizeof(struct xsk_tx_metadata) && len <= U8_MAX &&
	       IS_ALIGNED(len, 8);
}

/**
 * xdp_umem_check - does a registration make sense?
 * @umem: gets what follows from @reg, as far as it needs no memory
 * @reg: what user space asks for
 *
 * Return: 0, or -EINVAL.
 */
int xdp_umem_check(struct xdp_umem *umem, const struct xdp_umem_reg *reg)
{
	bool unaligned = reg->flags & XDP_UMEM_UNALIGNED_CHUNK_FLAG;
	u32 chunk_size = reg->chunk_size;
	u64 chunks, npgs, end;
	u32 rest;

	if (reg->flags & ~XDP_UMEM_FLAGS_VALID)
		return -EINVAL;

	if (chunk_size < XDP_UMEM_MIN_CHUNK_SIZE ||
	    chunk_size > XDP_UMEM_MAX_CHUNK_SIZE)
		return -EINVAL;
	if (!unaligned && !is_power_of_2(chunk_size))
		return -EINVAL;
	if (reg->headroom > chunk_size - XDP_UMEM_OVERHEAD ||
	    (unaligned && reg->headroom > XDP_UMEM_UNALIGNED_MAX_HEADROOM))
		return -EINVAL;

	if (!IS_ALIGNED(reg->addr, PAGE_SIZE) ||
	    check_add_overflow(reg->addr, reg->len, &end) || end > ULONG_MAX)
		return -EINVAL;
	chunks = div_u64_rem(reg->len, chunk_size, &rest);
	npgs = (reg->len >> PAGE_SHIFT) + !!offset_in_page(reg->len);
	if (!chunks || chunks > U32_MAX || npgs > U32_MAX)
		return -EINVAL;
	if (!unaligned && rest)
		return -EINVAL;

	if (reg->flags & XDP_UMEM_TX_METADATA_LEN) {
		if (!xdp_umem_tx_metadata_ok(reg->tx_metadata_len))
			return -EINVAL;
		umem->tx_metadata_len = reg->tx_metadata_len;
	}

	umem->size = reg->len;
	umem->headroom = reg->headroom;
	umem->chunk_size = chunk_size;
	umem->chunks = chunks;
	umem->npgs = npgs;
	umem->dma_unit = max(PAGE_SIZE, roundup_pow_of_two(chunk_size));
	umem->flags = reg->flags;
	return 0;
}

/* Locked memory is charged to the user, as RLIMIT_MEMLOCK is. */
static int xdp_umem_charge(struct xdp_umem *umem)
{
	unsigned long limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;
	struct user_struct *user = current_user();
	long locked;

	if (capable(CAP_IPC_LOCK))
		return 0;

	locked = atomic_long_read(&user->locked_vm);
	do {
		if (locked + umem->npgs > limit)
			return -ENOBUFS;
	} while (!atomic_long_try_cmpxchg(&user->locked_vm, &locked,
					  locked + umem->npgs));

	umem->user = get_uid(user);
	return 0;
}

static void xdp_umem_uncharge(struct xdp_umem *umem)
{
	if (!umem->user)
		return;

	atomic_long_sub(umem->npgs, &umem->user->locked_vm);
	free_uid(umem->user);
}

static int xdp_umem_pin(struct xdp_umem *umem, unsigned long addr)
{
	u32 pinned = 0;

	umem->pgs = kvcalloc(umem->npgs, sizeof(*umem->pgs),
			     GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!umem->pgs)
		return -ENOMEM;

	while (pinned < umem->npgs) {
		int want = min_t(u32, umem->npgs - pinned, INT_MAX);
		int got;

		got = pin_user_pages_fast(addr + (unsigned long)pinned * PAGE_SIZE,
					  want, FOLL_WRITE | FOLL_LONGTERM,
					  umem->pgs + pinned);
		if (got <= 0) {
			unpin_user_pages(umem->pgs, pinned);
			kvfree(umem->pgs);
			return got ?: -ENOMEM;
		}
		pinned += got;
	}
	return 0;
}

static void xdp_umem_unpin(struct xdp_umem *umem)
{
	unpin_user_pages_dirty_lock(umem->pgs, umem->npgs, true);
	kvfree(umem->pgs);
}

static bool xdp_umem_unit_is_contiguous(struct xdp_umem *umem, u32 first, u32 n)
{
	struct page **pgs = umem->pgs + first;
	u32 i;

	for (i = 1; i < n; i++)
		if (page_folio(pgs[i]) != page_folio(pgs[0]) ||
		    page_to_pfn(pgs[i]) != page_to_pfn(pgs[0]) + i)
			return false;
	return true;
}

/* A chunk that is larger than a page lies in one piece only if the area is made
 * of pages that large.
 */
static bool xdp_umem_is_contiguous(struct xdp_umem *umem)
{
	u32 unit = umem->dma_unit >> PAGE_SHIFT;
	u32 i, n;

	if (unit == 1)
		return true;

	for (i = 0; i < umem->npgs; i += n) {
		n = min(unit, umem->npgs - i);
		if (!xdp_umem_unit_is_contiguous(umem, i, n))
			return false;
		cond_resched();
	}
	return true;
}

static void xdp_umem_destroy(struct xdp_umem *umem)
{
	ida_free(&umem_ida, umem->id);
	vunmap(umem->addrs);
	xdp_umem_unpin(umem);
	xdp_umem_uncharge(umem);
	kfree(umem);
}

static void xdp_umem_destroy_work(struct work_struct *work)
{
	xdp_umem_destroy(container_of(work, struct xdp_umem, work));
}

/**
 * xdp_umem_create - register memory of the calling process
 * @reg: what user space asks for
 *
 * Context: process, may sleep.
 * Return: the umem, to be given back with xdp_umem_put(), or ERR_PTR: -EINVAL
 * if @reg makes no sense, or asks for chunks larger than the pages that the
 * memory is made of; -ENOBUFS if RLIMIT_MEMLOCK would be exceeded; -EFAULT if
 * the memory is not there or cannot be pinned; -ENOMEM.
 */
struct xdp_umem *xdp_umem_create(const struct xdp_umem_reg *reg)
{
	struct xdp_umem *umem;
	int err;

	umem = kzalloc(sizeof(*umem), GFP_KERNEL_ACCOUNT);
	if (!umem)
		return ERR_PTR(-ENOMEM);

	err = xdp_umem_check(umem, reg);
	if (err)
		goto err_free;

	err = xdp_umem_charge(umem);
	if (err)
		goto err_free;

	err = xdp_umem_pin(umem, reg->addr);
	if (err)
		goto err_uncharge;

	if (!xdp_umem_is_contiguous(umem)) {
		err = -EINVAL;
		goto err_unpin;
	}

	umem->addrs = vmap(umem->pgs, umem->npgs, VM_MAP, PAGE_KERNEL);
	if (!umem->addrs) {
		err = -ENOMEM;
		goto err_unpin;
	}

	err = ida_alloc(&umem_ida, GFP_KERNEL);
	if (err < 0)
		goto err_vunmap;
	umem->id = err;

	INIT_LIST_HEAD(&umem->dma_maps);
	INIT_WORK(&umem->work, xdp_umem_destroy_work);
	refcount_set(&umem->users, 1);
	return umem;

err_vunmap:
	vunmap(umem->addrs);
err_unpin:
	xdp_umem_unpin(umem);
err_uncharge:
	xdp_umem_uncharge(umem);
err_free:
	kfree(umem);
	return ERR_PTR(err);
}

/**
 * xdp_umem_get - use a umem
 * @umem: the umem, in use already
 */
void xdp_umem_get(struct xdp_umem *umem)
{
	refcount_inc(&umem->users);
}

/**
 * xdp_umem_put - stop using a umem
 * @umem: the umem, or NULL; the last user frees it
 *
 * Context: process, may sleep.
 */
void xdp_umem_put(struct xdp_umem *umem)
{
	if (umem && refcount_dec_and_test(&umem->users))
		xdp_umem_destroy(umem);
}

/**
 * xdp_umem_put_deferred - stop using a umem, where one may not sleep
 * @umem: the umem; when the last user is gone a work item frees it
 *
 * Context: any.
 */
void xdp_umem_put_deferred(struct xdp_umem *umem)
{
	if (refcount_dec_and_test(&umem->users))
		schedule_work(&umem->work);
}
