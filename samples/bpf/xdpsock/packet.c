// SPDX-License-Identifier: GPL-2.0
/* The generator's packet, and the check of packets that claim to be one. */
#include <arpa/inet.h>
#include <endian.h>
#include <linux/ip.h>
#include <linux/udp.h>
#include <stddef.h>
#include <string.h>

#include "xdpsock.h"

/* RFC 2544 addresses; nothing on the internet uses them. */
#define SOURCE_ADDRESS		0xc6120001
#define DESTINATION_ADDRESS	0xc6120002
#define UDP_PORT		4242

struct headers {
	struct ethhdr eth;
	struct iphdr ip;
	struct udphdr udp;
	__be64 seq;
} __packed __aligned(2);

#define UDP_OFFSET	offsetof(struct headers, udp)

struct checker checker;

static __u32 sum_words(const void *data, __u32 len)
{
	const __u8 *bytes = data;
	__u32 sum = 0;
	__u32 i;

	for (i = 0; i + 1 < len; i += 2)
		sum += bytes[i] << 8 | bytes[i + 1];
	if (len & 1)
		sum += bytes[len - 1] << 8;

	return sum;
}

static __be16 fold(__u32 sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	sum += sum >> 16;

	return htons(~sum);
}

void packet_build(struct packet *packet, const __u8 *dst, const __u8 *src, __u32 len)
{
	struct headers *headers = (struct headers *)packet->data;
	__u16 udp_len = len - UDP_OFFSET;
	__u32 i;

	for (i = 0; i < len; i++)
		packet->data[i] = i * 7 + (i >> 8);

	memset(headers, 0, sizeof(*headers));
	memcpy(headers->eth.h_dest, dst, ETH_ALEN);
	memcpy(headers->eth.h_source, src, ETH_ALEN);
	headers->eth.h_proto = htons(ETH_P_IP);
	headers->ip.version = 4;
	headers->ip.ihl = sizeof(headers->ip) / 4;
	headers->ip.tot_len = htons(len - sizeof(headers->eth));
	headers->ip.ttl = 64;
	headers->ip.protocol = IPPROTO_UDP;
	headers->ip.saddr = htonl(SOURCE_ADDRESS);
	headers->ip.daddr = htonl(DESTINATION_ADDRESS);
	headers->ip.check = fold(sum_words(&headers->ip, sizeof(headers->ip)));
	headers->udp.source = htons(UDP_PORT);
	headers->udp.dest = htons(UDP_PORT);
	headers->udp.len = htons(udp_len);

	packet->len = len;
	packet->sum = sum_words(&headers->ip.saddr, 2 * sizeof(headers->ip.saddr)) +
		      IPPROTO_UDP + udp_len + sum_words(&headers->udp, udp_len);
}

/* Number the packet at @data, a copy of the start of @packet. */
void packet_stamp(const struct packet *packet, __u8 *data, __u64 seq)
{
	struct headers *headers = (struct headers *)data;
	__be64 wire_seq = htobe64(seq);

	headers->seq = wire_seq;
	headers->udp.check = fold(packet->sum + sum_words(&wire_seq, sizeof(wire_seq)));
	if (!headers->udp.check)
		headers->udp.check = 0xffff;	/* zero would mean "no checksum" */
}

static bool from_generator(const struct iovec *first)
{
	const struct headers *headers = first->iov_base;

	return first->iov_len >= sizeof(*headers) &&
	       headers->eth.h_proto == htons(ETH_P_IP) &&
	       headers->ip.protocol == IPPROTO_UDP &&
	       headers->ip.saddr == htonl(SOURCE_ADDRESS) &&
	       headers->ip.daddr == htonl(DESTINATION_ADDRESS) &&
	       headers->udp.dest == htons(UDP_PORT);
}

/* A receiver cannot know the generator's addresses; an echo must bear ours. */
static bool same_headers(const struct headers *got, const struct headers *expected)
{
	size_t skip = opt.mode == TXONLY ? 0 : offsetof(struct headers, eth.h_proto);

	return !memcmp((const __u8 *)got + skip, (const __u8 *)expected + skip,
		       sizeof(*got) - skip);
}

static bool same_payload(const struct packet *expected, const struct iovec *pieces, __u32 nr)
{
	size_t skip = sizeof(struct headers);
	size_t offset = 0;
	__u32 i;

	for (i = 0; i < nr; i++) {
		if (memcmp(pieces[i].iov_base + skip, expected->data + offset + skip,
			   pieces[i].iov_len - skip))
			return false;
		offset += pieces[i].iov_len;
		skip = 0;
	}

	return true;
}

static bool intact(struct packet *expected, const struct iovec *pieces, __u32 nr)
{
	const struct headers *got = pieces[0].iov_base;
	size_t len = 0;
	__u32 i;

	for (i = 0; i < nr; i++)
		len += pieces[i].iov_len;
	if (len < PACKET_MIN || len > PACKET_MAX)
		return false;

	/* An echo comes back with its addresses swapped. */
	if (len != expected->len)
		packet_build(expected, netdev.mac, opt.dst_mac, len);
	packet_stamp(expected, expected->data, be64toh(got->seq));

	return same_headers(got, (struct headers *)expected->data) &&
	       same_payload(expected, pieces, nr);
}

void check_packet(const struct iovec *pieces, __u32 nr)
{
	const struct headers *headers = pieces[0].iov_base;
	__u64 seq;

	if (!from_generator(&pieces[0])) {
		checker.foreign++;
		return;
	}
	if (!intact(&checker.expected, pieces, nr)) {
		checker.corrupt++;
		return;
	}

	seq = be64toh(headers->seq);
	if (!checker.good++ || seq < checker.first)
		checker.first = seq;
	if (seq < checker.next)
		checker.late++;
	else
		checker.next = seq + 1;
}

__u64 missing_packets(void)
{
	__u64 span = checker.next - checker.first;

	return span > checker.good ? span - checker.good : 0;
}

bool all_verified(void)
{
	/* Several sockets of a queue are read in turn, which reorders packets. */
	bool ordered = opt.shared || !checker.late;

	if (!checker.good)
		print_notice("verify: no packet of a generator arrived; is 'xdpsock -t' running at the other end, and does -q name the queue its packets go to?");
	if (checker.corrupt)
		print_notice("verify: %llu packets came with wrong bytes", checker.corrupt);
	if (!ordered)
		print_notice("verify: %llu packets came out of order or twice", checker.late);

	return checker.good && !checker.corrupt && ordered;
}
