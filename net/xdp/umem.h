/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _NET_XDP_UMEM_H
#define _NET_XDP_UMEM_H

#include <linux/if_xdp.h>

struct xdp_umem;

int xdp_umem_check(struct xdp_umem *umem, const struct xdp_umem_reg *reg);
struct xdp_umem *xdp_umem_create(const struct xdp_umem_reg *reg);
void xdp_umem_get(struct xdp_umem *umem);
void xdp_umem_put(struct xdp_umem *umem);
void xdp_umem_put_deferred(struct xdp_umem *umem);

#endif /* _NET_XDP_UMEM_H */
