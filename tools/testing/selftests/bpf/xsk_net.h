/* SPDX-License-Identifier: GPL-2.0 */
/* The network that the AF_XDP tests run on: one veth pair in an own namespace */
#ifndef XSK_NET_H
#define XSK_NET_H

#include <linux/if_link.h>
#include <linux/types.h>

#include "xsk_redirect.skel.h"
#include "xsk_test.h"

#define XSK_NEAR "xsk0"
#define XSK_FAR "xsk1"
#define XSK_QUEUES 4

/*
 * Moves the process to a new network namespace that holds a veth pair, both
 * ends up and without addresses, so that only the test sends packets.
 */
void xsk_net_create(void);

/* Runs a shell command that must succeed */
void __printf(1, 2) xsk_run(const char *format, ...);

struct xsk_redirect *xsk_xdp_load(void);
/* @mode is XDP_FLAGS_SKB_MODE or XDP_FLAGS_DRV_MODE */
void xsk_xdp_attach(const char *device, struct bpf_program *program, __u32 mode);
void xsk_xdp_detach(const char *device, __u32 mode);
/* Sends the packets that the XDP program finds under @key to @xsk */
void xsk_xdp_deliver(struct xsk_redirect *xdp, __u32 key, struct xsk *xsk);

/*
 * Keeps the skbs that @from sends to @to in flight, from the next packet on:
 * NAPI of @to puts off its next poll for an hour. Needs a program of driver
 * mode at @to; detaching it frees the skbs.
 */
void xsk_hold_packets(const char *to, struct xsk *from);

#endif
