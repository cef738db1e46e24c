// SPDX-License-Identifier: GPL-2.0
/* XDP programs that take packets to AF_XDP sockets, for the xsk_* tests */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

struct {
	__uint(type, BPF_MAP_TYPE_XSKMAP);
	__uint(max_entries, 4);
	__type(key, __u32);
	__type(value, __u32);
} sockets SEC(".maps");

/* What the test wants */
__u32 key;
__u64 fallback = XDP_DROP;
int metadata_len;

/* What the program saw */
__u64 packets;
__u64 sockets_found;

SEC("xdp.frags")
int to_queue(struct xdp_md *packet)
{
	return bpf_redirect_map(&sockets, packet->rx_queue_index, XDP_DROP);
}

SEC("xdp.frags")
int to_key(struct xdp_md *packet)
{
	packets++;
	return bpf_redirect_map(&sockets, key, fallback);
}

/* The lookup is inlined into the program: its bounds check is there as well */
SEC("xdp.frags")
int lookup_key(struct xdp_md *packet)
{
	packets++;
	if (bpf_map_lookup_elem(&sockets, &key))
		sockets_found++;
	return XDP_DROP;
}

/* Puts metadata_len bytes, numbered from 1, in front of the packet */
SEC("xdp.frags")
int with_metadata(struct xdp_md *packet)
{
	__u8 *byte, *data;
	int i;

	if (bpf_xdp_adjust_meta(packet, -metadata_len))
		return XDP_DROP;

	byte = (void *)(long)packet->data_meta;
	data = (void *)(long)packet->data;
	for (i = 1; i <= 32 && byte + 1 <= data; i++)
		*byte++ = i;
	return bpf_redirect_map(&sockets, packet->rx_queue_index, XDP_DROP);
}

SEC("xdp.frags")
int drop(struct xdp_md *packet)
{
	packets++;
	return XDP_DROP;
}

char _license[] SEC("license") = "GPL";
