// SPDX-License-Identifier: GPL-2.0
/* The map of AF_XDP sockets, from user space and from XDP programs */
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <bpf/bpf.h>

#include "xsk_harness.h"
#include "xsk_net.h"

#define ENTRIES 4

static const __u32 bad_keys[] = { ENTRIES, ENTRIES + 1, 0x7fffffff, 0x80000000, 0xffffffff };

FIXTURE(map)
{
	struct xsk_redirect *xdp;
	int map;
	int fd;
};

FIXTURE_SETUP(map)
{
	self->xdp = xsk_xdp_load();
	self->map = bpf_map__fd(self->xdp->maps.sockets);
	self->fd = xsk_socket();
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(map)
{
	close(self->fd);
	xsk_redirect__destroy(self->xdp);
}

static int update(FIXTURE_DATA(map) *self, __u32 key, int fd, __u64 flags)
{
	return bpf_map_update_elem(self->map, &key, &fd, flags);
}

static int delete(FIXTURE_DATA(map) *self, __u32 key)
{
	return bpf_map_delete_elem(self->map, &key);
}

/* What @program does with a packet on queue 0 */
static __u32 verdict(struct bpf_program *program)
{
	char packet[64] = { };

	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = packet,
		    .data_size_in = sizeof(packet), .repeat = 1);

	if (bpf_prog_test_run_opts(bpf_program__fd(program), &options))
		xsk_die("cannot run the XDP program");
	return options.retval;
}

static bool program_finds(FIXTURE_DATA(map) *self, __u32 key)
{
	__u64 found = self->xdp->bss->sockets_found;

	self->xdp->bss->key = key;
	verdict(self->xdp->progs.lookup_key);
	return self->xdp->bss->sockets_found == found + 1;
}

static __u32 redirect_to(FIXTURE_DATA(map) *self, __u32 key, __u64 fallback)
{
	self->xdp->bss->key = key;
	self->xdp->data->fallback = fallback;
	return verdict(self->xdp->progs.to_key);
}

TEST_F(map, bad_keys_from_user_space)
{
	unsigned int i;
	int value;

	for (i = 0; i < ARRAY_SIZE(bad_keys); i++) {
		EXPECT_EQ(-E2BIG, update(self, bad_keys[i], self->fd, BPF_ANY));
		EXPECT_EQ(-EINVAL, delete(self, bad_keys[i]));
		EXPECT_EQ(-EOPNOTSUPP, bpf_map_lookup_elem(self->map, &bad_keys[i], &value));
	}
}

TEST_F(map, bad_keys_from_a_program)
{
	const __u64 fallbacks[] = { XDP_ABORTED, XDP_DROP, XDP_PASS, XDP_TX };
	unsigned int i, j;

	for (i = 0; i < ENTRIES; i++)
		ASSERT_EQ(0, update(self, i, self->fd, BPF_ANY));
	for (i = 0; i < ARRAY_SIZE(bad_keys); i++) {
		EXPECT_FALSE(program_finds(self, bad_keys[i]));
		for (j = 0; j < ARRAY_SIZE(fallbacks); j++)
			EXPECT_EQ(fallbacks[j], redirect_to(self, bad_keys[i], fallbacks[j]));
	}
	for (i = 0; i < ENTRIES; i++) {
		EXPECT_TRUE(program_finds(self, i));
		EXPECT_EQ(XDP_REDIRECT, redirect_to(self, i, XDP_DROP));
	}
}

TEST_F(map, empty_entries)
{
	unsigned int key;

	for (key = 0; key < ENTRIES; key++) {
		EXPECT_FALSE(program_finds(self, key));
		EXPECT_EQ(XDP_PASS, redirect_to(self, key, XDP_PASS));
		EXPECT_EQ(0, delete(self, key));
	}
}

TEST_F(map, user_space_cannot_look_up)
{
	__u32 key = 0;
	int value;

	ASSERT_EQ(0, update(self, 0, self->fd, BPF_ANY));
	EXPECT_EQ(-EOPNOTSUPP, bpf_map_lookup_elem(self->map, &key, &value));
}

TEST_F(map, update_flags)
{
	int other = xsk_socket();

	EXPECT_EQ(-ENOENT, update(self, 1, self->fd, BPF_EXIST));
	EXPECT_EQ(0, update(self, 1, self->fd, BPF_NOEXIST));
	EXPECT_EQ(-EEXIST, update(self, 1, other, BPF_NOEXIST));
	EXPECT_EQ(0, update(self, 1, other, BPF_EXIST));
	EXPECT_EQ(0, update(self, 1, self->fd, BPF_ANY));
	EXPECT_EQ(-EINVAL, update(self, 1, self->fd, BPF_F_LOCK));
	EXPECT_EQ(-EINVAL, update(self, 1, self->fd, 1ULL << 63));
	/* a socket of which the last entry was replaced is in no map */
	close(other);
	EXPECT_TRUE(program_finds(self, 1));
	EXPECT_EQ(0, delete(self, 1));
	EXPECT_FALSE(program_finds(self, 1));
}

TEST_F(map, only_sockets_of_af_xdp)
{
	int udp = socket(AF_INET, SOCK_DGRAM, 0);

	EXPECT_EQ(-EOPNOTSUPP, update(self, 0, udp, BPF_ANY));
	EXPECT_EQ(-ENOTSOCK, update(self, 0, self->map, BPF_ANY));
	EXPECT_EQ(-EBADF, update(self, 0, 9999, BPF_ANY));
	EXPECT_EQ(-EBADF, update(self, 0, -1, BPF_ANY));
	close(udp);
}

TEST_F(map, keys_in_order)
{
	__u32 next, key;

	ASSERT_EQ(0, bpf_map_get_next_key(self->map, NULL, &next));
	EXPECT_EQ(0, next);
	for (key = 0; key < ENTRIES - 1; key++) {
		ASSERT_EQ(0, bpf_map_get_next_key(self->map, &key, &next));
		EXPECT_EQ(key + 1, next);
	}
	EXPECT_EQ(-ENOENT, bpf_map_get_next_key(self->map, &key, &next));
	for (key = 0; key < ARRAY_SIZE(bad_keys); key++) {
		ASSERT_EQ(0, bpf_map_get_next_key(self->map, &bad_keys[key], &next));
		EXPECT_EQ(0, next);
	}
}

TEST_F(map, socket_leaves_all_its_maps)
{
	struct xsk_redirect *second = xsk_xdp_load();
	__u32 key;

	for (key = 0; key < ENTRIES; key++) {
		ASSERT_EQ(0, update(self, key, self->fd, BPF_ANY));
		ASSERT_EQ(0, bpf_map_update_elem(bpf_map__fd(second->maps.sockets), &key,
						 &self->fd, BPF_ANY));
	}
	close(self->fd);
	for (key = 0; key < ENTRIES; key++) {
		EXPECT_FALSE(program_finds(self, key));
		EXPECT_EQ(XDP_PASS, redirect_to(self, key, XDP_PASS));
	}
	EXPECT_EQ(XDP_DROP, verdict(second->progs.to_key));
	xsk_redirect__destroy(second);
}

TEST_F(map, map_goes_before_its_sockets)
{
	struct xsk_redirect *second = xsk_xdp_load();
	__u32 key = 0;

	ASSERT_EQ(0, bpf_map_update_elem(bpf_map__fd(second->maps.sockets), &key, &self->fd,
					 BPF_ANY));
	xsk_redirect__destroy(second);
	EXPECT_EQ(0, update(self, 0, self->fd, BPF_ANY));
	EXPECT_TRUE(program_finds(self, 0));
}

static int make_xskmap(__u32 key_size, __u32 value_size, __u32 entries, __u32 flags)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = flags);
	int fd = bpf_map_create(BPF_MAP_TYPE_XSKMAP, "xskmap", key_size, value_size, entries,
				&options);

	return fd < 0 ? fd : (close(fd), 0);
}

TEST_F(map, sizes_of_a_map)
{
	EXPECT_EQ(0, make_xskmap(4, 4, 1, 0));
	EXPECT_EQ(0, make_xskmap(4, 4, 3, BPF_F_RDONLY));
	EXPECT_EQ(0, make_xskmap(4, 4, 65536, BPF_F_WRONLY));
	EXPECT_EQ(-EINVAL, make_xskmap(4, 4, 0, 0));
	EXPECT_EQ(-EINVAL, make_xskmap(3, 4, 1, 0));
	EXPECT_EQ(-EINVAL, make_xskmap(8, 4, 1, 0));
	EXPECT_EQ(-EINVAL, make_xskmap(4, 8, 1, 0));
	EXPECT_EQ(-EINVAL, make_xskmap(4, 4, 1, BPF_F_NO_PREALLOC));
	EXPECT_GT(0, make_xskmap(4, 4, 0xffffffff, 0));
}

/* The bounds check of an inlined lookup holds for all maps that can be inner ones */
TEST_F(map, inner_maps_have_the_size_of_the_first)
{
	LIBBPF_OPTS(bpf_map_create_opts, options);
	int same, other, outer;
	__u32 key = 0;

	same = bpf_map_create(BPF_MAP_TYPE_XSKMAP, "same", 4, 4, ENTRIES, NULL);
	other = bpf_map_create(BPF_MAP_TYPE_XSKMAP, "other", 4, 4, ENTRIES * 2, NULL);
	options.inner_map_fd = same;
	outer = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "outer", 4, 4, 1, &options);
	ASSERT_LE(0, outer);
	EXPECT_EQ(-EINVAL, bpf_map_update_elem(outer, &key, &other, BPF_ANY));
	EXPECT_EQ(0, bpf_map_update_elem(outer, &key, &same, BPF_ANY));
	EXPECT_EQ(0, bpf_map_update_elem(outer, &key, &self->map, BPF_ANY));
	close(outer);
	close(other);
	close(same);
}

/* Redirects that meet a socket which cannot take the packet drop it */

FIXTURE(redirect)
{
	struct xsk_redirect *xdp;
	struct xsk_umem near_umem;
	struct xsk_umem far_umem;
	struct xsk near;
	struct xsk far;
};

FIXTURE_VARIANT(redirect)
{
	__u32 mode;
};

FIXTURE_VARIANT_ADD(redirect, skb) { .mode = XDP_FLAGS_SKB_MODE };

FIXTURE_VARIANT_ADD(redirect, drv) { .mode = XDP_FLAGS_DRV_MODE };

FIXTURE_SETUP(redirect)
{
	int i;

	xsk_net_create();
	self->xdp = xsk_xdp_load();
	xsk_xdp_attach(XSK_FAR, self->xdp->progs.to_key, variant->mode);
	xsk_umem_create(&self->near_umem, XSK_FRAMES, XSK_FRAME_SIZE);
	xsk_umem_create(&self->far_umem, XSK_FRAMES, XSK_FRAME_SIZE);
	xsk_open(&self->near, &self->near_umem, XSK_NEAR, 0, XDP_COPY);
	xsk_open(&self->far, &self->far_umem, XSK_FAR, 0, XDP_COPY);
	for (i = 0; i < XSK_FRAMES / 2; i++)
		xsk_post_fill(&self->far, xsk_frame_new(&self->far_umem));
}

FIXTURE_TEARDOWN(redirect)
{
	xsk_close(&self->near);
	xsk_close(&self->far);
}

/* Sends a packet and waits until the program has seen it and its skb is gone */
static void send_through_program(struct __test_metadata *_metadata,
				 FIXTURE_DATA(redirect) *self)
{
	__u64 *packets = &self->xdp->bss->packets;
	__u64 before = *packets;

	xsk_send(&self->near, XSK_PACKET_LEN, 1);
	EXPECT_TRUE(xsk_drain_tx(&self->near));
	EXPECT_TRUE(xsk_wait(__atomic_load_n(packets, __ATOMIC_RELAXED) > before));
}

TEST_F(redirect, to_a_socket_that_is_bound)
{
	struct xdp_desc desc;

	xsk_xdp_deliver(self->xdp, 0, &self->far);
	send_through_program(_metadata, self);
	EXPECT_TRUE(xsk_wait(xsk_take_rx(&self->far, &desc)));
}

TEST_F(redirect, to_a_socket_that_is_not_bound)
{
	struct xsk unbound = { .fd = xsk_socket() };

	xsk_xdp_deliver(self->xdp, 0, &unbound);
	send_through_program(_metadata, self);
	send_through_program(_metadata, self);
	EXPECT_EQ(0, xsk_ring_used(&self->far.rx));
	close(unbound.fd);
	send_through_program(_metadata, self);
}

TEST_F(redirect, to_a_socket_of_another_queue_or_device)
{
	struct xsk other_queue;

	xsk_xdp_deliver(self->xdp, 0, &self->near);
	send_through_program(_metadata, self);
	EXPECT_EQ(0, xsk_ring_used(&self->near.rx));

	xsk_open_other_queue(&other_queue, &self->far, XSK_FAR, 1);
	xsk_ring_put_addr(other_queue.fill, 0);
	xsk_xdp_deliver(self->xdp, 0, &other_queue);
	send_through_program(_metadata, self);
	EXPECT_EQ(0, xsk_ring_used(&other_queue.rx));
	EXPECT_EQ(1, xsk_ring_used(other_queue.fill));
	xsk_close(&other_queue);
}

TEST_F(redirect, to_a_socket_that_only_sends)
{
	struct xsk sender = { .fd = xsk_socket() };
	struct xdp_desc desc;

	if (!xsk_knows_tx_budget())
		SKIP(return, "this kernel crashes");

	ASSERT_EQ(0, xsk_set_u32(sender.fd, XDP_TX_RING, 64));
	ASSERT_EQ(0, xsk_bind(sender.fd, XSK_FAR, 0, XDP_SHARED_UMEM, self->far.fd));
	xsk_xdp_deliver(self->xdp, 0, &sender);
	send_through_program(_metadata, self);
	send_through_program(_metadata, self);

	/* and costs no frame of the queue */
	xsk_xdp_deliver(self->xdp, 0, &self->far);
	while (xsk_frames_at(&self->far_umem, XSK_FILL)) {
		send_through_program(_metadata, self);
		ASSERT_TRUE(xsk_wait(xsk_take_rx(&self->far, &desc)));
	}
	close(sender.fd);
}

/* The tracepoints of the XDP core see redirects to sockets */

#define TRACING "/sys/kernel/tracing/"

static bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_TRUNC);
	bool written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	close(fd);
	return written;
}

static bool trace_redirects(const char *on)
{
	return write_file(TRACING "events/xdp/xdp_redirect/enable", on) &&
	       write_file(TRACING "events/xdp/xdp_redirect_err/enable", on);
}

static bool trace_has(const char *event, const char *detail)
{
	FILE *trace = fopen(TRACING "trace", "r");
	char line[512];
	bool found = false;

	while (trace && !found && fgets(line, sizeof(line), trace))
		found = strstr(line, event) && strstr(line, detail);
	if (trace)
		fclose(trace);
	return found;
}

TEST_F(redirect, is_traced)
{
	struct xsk unbound = { .fd = xsk_socket() };
	struct xdp_desc desc;

	/* the namespace of the test has a /sys of its own */
	ASSERT_EQ(0, mount("tracefs", TRACING, "tracefs", 0, NULL));
	ASSERT_TRUE(trace_redirects("1"));
	ASSERT_TRUE(write_file(TRACING "trace", ""));
	xsk_xdp_deliver(self->xdp, 0, &self->far);
	send_through_program(_metadata, self);
	EXPECT_TRUE(xsk_wait(xsk_take_rx(&self->far, &desc)));
	EXPECT_TRUE(xsk_wait(trace_has(" xdp_redirect: ", "err=0")));
	EXPECT_FALSE(trace_has(" xdp_redirect_err: ", "err="));

	xsk_xdp_deliver(self->xdp, 0, &unbound);
	send_through_program(_metadata, self);
	EXPECT_TRUE(xsk_wait(trace_has(" xdp_redirect_err: ", "err=-6")));
	EXPECT_TRUE(trace_redirects("0"));
	close(unbound.fd);
}

TEST_HARNESS_MAIN
