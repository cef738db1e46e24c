// SPDX-License-Identifier: GPL-2.0
/* What sock_diag tells about AF_XDP sockets is what was set up and what happened */
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/xdp_diag.h>

#include "xsk_harness.h"
#include "xsk_net.h"

#define ALL_PARTS (XDP_SHOW_INFO | XDP_SHOW_RING_CFG | XDP_SHOW_UMEM | \
		   XDP_SHOW_MEMINFO | XDP_SHOW_STATS)
#define HEADROOM 128

/* One socket of the dump; an attribute that is missing is NULL */
struct seen {
	struct xdp_diag_msg message;
	struct nlattr *attributes[XDP_DIAG_MAX + 1];
	char buffer[2048];
};

FIXTURE(diag)
{
	struct xsk_umem umem;
	struct xsk xsk;
	int netlink;
};

FIXTURE_SETUP(diag)
{
	xsk_net_create();
	self->netlink = socket(AF_NETLINK, SOCK_RAW, NETLINK_SOCK_DIAG);
	ASSERT_LE(0, self->netlink);
	xsk_umem_create(&self->umem, XSK_FRAMES, XSK_FRAME_SIZE);
	self->umem.reg.headroom = HEADROOM;
	xsk_open(&self->xsk, &self->umem, XSK_NEAR, 2, XDP_COPY);
}

FIXTURE_TEARDOWN(diag)
{
	xsk_close(&self->xsk);
	close(self->netlink);
}

static __u32 inode_of(int fd)
{
	struct stat status;

	if (fstat(fd, &status))
		xsk_die("cannot get the inode of a socket");
	return status.st_ino;
}

static void request(int netlink, __u32 parts, __u16 flags, size_t size)
{
	struct {
		struct nlmsghdr header;
		struct xdp_diag_req request;
	} message = {
		.header.nlmsg_len = sizeof(message.header) + size,
		.header.nlmsg_type = SOCK_DIAG_BY_FAMILY,
		.header.nlmsg_flags = NLM_F_REQUEST | flags,
		.request.sdiag_family = AF_XDP,
		.request.xdiag_show = parts,
	};

	if (send(netlink, &message, message.header.nlmsg_len, 0) < 0)
		xsk_die("cannot send to netlink");
}

static void parse(struct seen *seen, const struct nlmsghdr *header)
{
	struct nlattr *attribute;
	int left;

	memset(seen, 0, sizeof(*seen));
	memcpy(seen->buffer, header, header->nlmsg_len);
	header = (void *)seen->buffer;
	seen->message = *(struct xdp_diag_msg *)NLMSG_DATA(header);
	attribute = NLMSG_DATA(header) + NLMSG_ALIGN(sizeof(seen->message));
	left = header->nlmsg_len - NLMSG_LENGTH(NLMSG_ALIGN(sizeof(seen->message)));
	while (left >= (int)sizeof(*attribute)) {
		if (attribute->nla_type <= XDP_DIAG_MAX)
			seen->attributes[attribute->nla_type] = attribute;
		left -= NLA_ALIGN(attribute->nla_len);
		attribute = (void *)attribute + NLA_ALIGN(attribute->nla_len);
	}
}

/* Dumps all sockets of the namespace; the number of them or a negative error */
static int dump(int netlink, __u32 parts, __u32 inode, struct seen *found)
{
	char buffer[32768];
	int count = 0;

	request(netlink, parts, NLM_F_DUMP, sizeof(struct xdp_diag_req));
	for (;;) {
		int len = recv(netlink, buffer, sizeof(buffer), 0);
		struct nlmsghdr *header = (void *)buffer;

		for (; NLMSG_OK(header, len); header = NLMSG_NEXT(header, len)) {
			struct xdp_diag_msg *message = NLMSG_DATA(header);

			if (header->nlmsg_type == NLMSG_DONE)
				return count;
			if (header->nlmsg_type == NLMSG_ERROR)
				return ((struct nlmsgerr *)NLMSG_DATA(header))->error;
			count++;
			if (message->xdiag_ino == inode && found)
				parse(found, header);
		}
	}
}

#define PART(seen, number, type) ((struct type *)((seen)->attributes[number] + 1))

TEST_F(diag, all_parts)
{
	struct seen seen = { };
	int i;

	ASSERT_EQ(1, dump(self->netlink, ALL_PARTS, inode_of(self->xsk.fd), &seen));
	EXPECT_EQ(AF_XDP, seen.message.xdiag_family);
	EXPECT_EQ(SOCK_RAW, seen.message.xdiag_type);
	for (i = XDP_DIAG_INFO; i <= XDP_DIAG_MAX; i++)
		ASSERT_NE(NULL, seen.attributes[i]) TH_LOG("attribute %d is missing", i);

	EXPECT_EQ(if_nametoindex(XSK_NEAR), PART(&seen, XDP_DIAG_INFO, xdp_diag_info)->ifindex);
	EXPECT_EQ(2, PART(&seen, XDP_DIAG_INFO, xdp_diag_info)->queue_id);
	EXPECT_EQ(0, *(__u32 *)(seen.attributes[XDP_DIAG_UID] + 1));
}

TEST_F(diag, rings_have_their_own_sizes)
{
	struct xsk_umem umem;
	struct seen seen = { };
	int fd = xsk_socket();

	xsk_umem_create(&umem, XSK_FRAMES, XSK_FRAME_SIZE);
	ASSERT_EQ(0, xsk_set(fd, XDP_UMEM_REG, &umem.reg, sizeof(umem.reg)));
	ASSERT_EQ(0, xsk_set_u32(fd, XDP_RX_RING, 8));
	ASSERT_EQ(0, xsk_set_u32(fd, XDP_TX_RING, 16));
	ASSERT_EQ(0, xsk_set_u32(fd, XDP_UMEM_FILL_RING, 32));
	ASSERT_EQ(0, xsk_set_u32(fd, XDP_UMEM_COMPLETION_RING, 128));
	ASSERT_EQ(0, xsk_bind(fd, XSK_FAR, 1, XDP_COPY, 0));
	ASSERT_EQ(2, dump(self->netlink, ALL_PARTS, inode_of(fd), &seen));
	EXPECT_EQ(8, PART(&seen, XDP_DIAG_RX_RING, xdp_diag_ring)->entries);
	EXPECT_EQ(16, PART(&seen, XDP_DIAG_TX_RING, xdp_diag_ring)->entries);
	EXPECT_EQ(32, PART(&seen, XDP_DIAG_UMEM_FILL_RING, xdp_diag_ring)->entries);
	EXPECT_EQ(128, PART(&seen, XDP_DIAG_UMEM_COMPLETION_RING, xdp_diag_ring)->entries);
	close(fd);
}

TEST_F(diag, umem)
{
	struct xdp_diag_umem umem;
	struct seen seen = { };
	struct xsk sharer;

	ASSERT_EQ(1, dump(self->netlink, XDP_SHOW_UMEM, inode_of(self->xsk.fd), &seen));
	umem = *PART(&seen, XDP_DIAG_UMEM, xdp_diag_umem);
	EXPECT_EQ(XSK_FRAMES * XSK_FRAME_SIZE, umem.size);
	EXPECT_EQ(XSK_FRAMES, umem.num_pages);
	EXPECT_EQ(XSK_FRAME_SIZE, umem.chunk_size);
	EXPECT_EQ(HEADROOM, umem.headroom);
	EXPECT_EQ(if_nametoindex(XSK_NEAR), umem.ifindex);
	EXPECT_EQ(2, umem.queue_id);
	EXPECT_EQ(0, umem.flags & XDP_DU_F_ZEROCOPY);

	xsk_open_other_queue(&sharer, &self->xsk, XSK_NEAR, 3);
	ASSERT_EQ(2, dump(self->netlink, XDP_SHOW_UMEM, inode_of(sharer.fd), &seen));
	EXPECT_EQ(umem.id, PART(&seen, XDP_DIAG_UMEM, xdp_diag_umem)->id);
	EXPECT_LT(umem.refs, PART(&seen, XDP_DIAG_UMEM, xdp_diag_umem)->refs);
	EXPECT_EQ(3, PART(&seen, XDP_DIAG_UMEM, xdp_diag_umem)->queue_id);
	xsk_close(&sharer);
}

TEST_F(diag, statistics)
{
	struct xdp_diag_stats *told;
	struct xdp_statistics real;
	struct seen seen = { };
	int i;

	for (i = 0; i < 7; i++)
		xsk_post_tx(&self->xsk, xsk_frame_new(&self->umem), i < 5 ? 0 : 64, 0);
	ASSERT_TRUE(xsk_drain_tx(&self->xsk));
	ASSERT_EQ(1, dump(self->netlink, XDP_SHOW_STATS, inode_of(self->xsk.fd), &seen));
	told = PART(&seen, XDP_DIAG_STATS, xdp_diag_stats);
	real = xsk_statistics(&self->xsk);
	EXPECT_EQ(5, told->n_tx_invalid);
	EXPECT_EQ(real.tx_invalid_descs, told->n_tx_invalid);
	EXPECT_EQ(real.tx_ring_empty_descs, told->n_tx_ring_empty);
	EXPECT_EQ(real.rx_dropped, told->n_rx_dropped);
	EXPECT_EQ(real.rx_invalid_descs, told->n_rx_invalid);
	EXPECT_EQ(real.rx_ring_full, told->n_rx_full);
	EXPECT_EQ(real.rx_fill_ring_empty_descs, told->n_fill_ring_empty);
}

TEST_F(diag, only_what_is_asked_for)
{
	const struct { __u32 parts; int attribute; } parts[] = {
		{ XDP_SHOW_INFO, XDP_DIAG_INFO }, { XDP_SHOW_RING_CFG, XDP_DIAG_RX_RING },
		{ XDP_SHOW_UMEM, XDP_DIAG_UMEM }, { XDP_SHOW_MEMINFO, XDP_DIAG_MEMINFO },
		{ XDP_SHOW_STATS, XDP_DIAG_STATS }, { 0, 0 },
	};
	struct seen seen = { };
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		ASSERT_EQ(1, dump(self->netlink, parts[i].parts, inode_of(self->xsk.fd), &seen));
		for (j = 0; j < ARRAY_SIZE(parts) - 1; j++)
			EXPECT_EQ(i == j, seen.attributes[parts[j].attribute] != NULL);
	}
}

/* Sockets that are not, or no longer, bound show what they have */
TEST_F(diag, unbound_socket)
{
	struct seen seen = { };
	int fd = xsk_socket();

	ASSERT_EQ(2, dump(self->netlink, ALL_PARTS, inode_of(fd), &seen));
	ASSERT_NE(NULL, seen.attributes[XDP_DIAG_INFO]);
	EXPECT_EQ(0, PART(&seen, XDP_DIAG_INFO, xdp_diag_info)->ifindex);
	EXPECT_EQ(NULL, seen.attributes[XDP_DIAG_RX_RING]);
	EXPECT_EQ(NULL, seen.attributes[XDP_DIAG_UMEM]);
	close(fd);
	EXPECT_EQ(1, dump(self->netlink, ALL_PARTS, 0, NULL));
}

/* A socket whose device has gone does not hide those that are older */
TEST_F(diag, dead_socket_among_others)
{
	struct xsk_umem umem;
	struct seen seen = { };
	struct xsk dead;

	if (!xsk_knows_tx_budget())
		SKIP(return, "this kernel ends the dump at a dead socket");

	xsk_run("ip link add other0 type veth peer name other1");
	xsk_umem_create(&umem, XSK_FRAMES, XSK_FRAME_SIZE);
	xsk_open(&dead, &umem, "other0", 0, XDP_COPY);
	xsk_run("ip link del other0");
	EXPECT_LE(1, dump(self->netlink, ALL_PARTS, inode_of(self->xsk.fd), &seen));
	EXPECT_EQ(inode_of(self->xsk.fd), seen.message.xdiag_ino);
	xsk_close(&dead);
}

TEST_F(diag, many_sockets)
{
	int fds[300];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(fds); i++)
		fds[i] = xsk_socket();
	EXPECT_EQ(ARRAY_SIZE(fds) + 1, dump(self->netlink, ALL_PARTS, 0, NULL));
	for (i = 0; i < ARRAY_SIZE(fds); i++)
		close(fds[i]);
}

TEST_F(diag, malformed_requests)
{
	struct {
		struct nlmsghdr header;
		struct nlmsgerr error;
	} answer;

	request(self->netlink, ALL_PARTS, 0, sizeof(struct xdp_diag_req));
	ASSERT_LT(0, recv(self->netlink, &answer, sizeof(answer), 0));
	EXPECT_EQ(NLMSG_ERROR, answer.header.nlmsg_type);
	EXPECT_EQ(-EOPNOTSUPP, answer.error.error);
	request(self->netlink, ALL_PARTS, NLM_F_DUMP, sizeof(struct xdp_diag_req) - 4);
	ASSERT_LT(0, recv(self->netlink, &answer, sizeof(answer), 0));
	EXPECT_EQ(NLMSG_ERROR, answer.header.nlmsg_type);
	EXPECT_EQ(-EINVAL, answer.error.error);
}

TEST_F(diag, ss_prints_it)
{
	char line[4096] = "";
	FILE *ss = popen("ss --xdp -e", "r");
	size_t len;

	ASSERT_NE(NULL, ss);
	len = fread(line, 1, sizeof(line) - 1, ss);
	line[len] = '\0';
	EXPECT_EQ(0, pclose(ss));
	EXPECT_NE(NULL, strstr(line, XSK_NEAR ":q2")) TH_LOG("%s", line);
	EXPECT_NE(NULL, strstr(line, "rx(entries:64)")) TH_LOG("%s", line);
	EXPECT_NE(NULL, strstr(line, "tx(entries:64)")) TH_LOG("%s", line);
	EXPECT_NE(NULL, strstr(line, "chunk_size:4096")) TH_LOG("%s", line);
	EXPECT_NE(NULL, strstr(line, "headroom:128")) TH_LOG("%s", line);
	EXPECT_NE(NULL, strstr(line, "fr(entries:64)")) TH_LOG("%s", line);
	EXPECT_NE(NULL, strstr(line, "cr(entries:64)")) TH_LOG("%s", line);
}

TEST_HARNESS_MAIN
