// SPDX-License-Identifier: GPL-2.0
/*
 * Takes a queue's packets to its sockets, one after the other when several
 * sockets share the queue. A queue without a socket keeps its packets.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

/* The loader sets the size: sockets_per_queue slots for each queue. */
struct {
	__uint(type, BPF_MAP_TYPE_XSKMAP);
	__type(key, __u32);
	__type(value, __u32);
} sockets SEC(".maps");

const volatile __u32 sockets_per_queue = 1;
static __u32 turn;

SEC("xdp")
int xdpsock(struct xdp_md *ctx)
{
	__u32 slot = ctx->rx_queue_index * sockets_per_queue;

	/* The verifier removes this for a queue with a single socket. */
	if (sockets_per_queue > 1)
		slot += turn++ % sockets_per_queue;

	return bpf_redirect_map(&sockets, slot, XDP_PASS);
}

char LICENSE[] SEC("license") = "GPL";
