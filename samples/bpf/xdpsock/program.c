// SPDX-License-Identifier: GPL-2.0
/*
 * Attaches the XDP program through a bpf_link: however this process ends, the
 * kernel detaches it with the last user. Processes on other queues of the
 * interface share the first one's program by holding its link too.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/if_link.h>
#include <string.h>
#include <unistd.h>

#include "xdpsock.h"
#include "xdpsock.skel.h"

#define PROGRAM_NAME	"xdpsock"
#define MAX_QUEUES	256
#define MAX_MAPS	8

static struct xdpsock_bpf *program;
static int link_fd;

static __u32 map_size(void)
{
	return MAX_QUEUES * nr_sockets;
}

static void program_load(void)
{
	int err;

	program = xdpsock_bpf__open();
	if (!program)
		exit_err("cannot prepare the XDP program: %s", strerror(errno));

	program->rodata->sockets_per_queue = nr_sockets;
	bpf_map__set_max_entries(program->maps.sockets, map_size());
	if (uses_frags())
		bpf_program__set_flags(program->progs.xdpsock, BPF_F_XDP_HAS_FRAGS);

	err = xdpsock_bpf__load(program);
	if (err == -EPERM)
		exit_err("no permission to load the XDP program: run as root, or with CAP_BPF and CAP_NET_ADMIN");
	if (err)
		exit_err("the kernel refuses the XDP program: %s; it needs CONFIG_BPF_SYSCALL=y, CONFIG_XDP_SOCKETS=y and, for -F, Linux 5.18",
			 strerror(-err));
}

static bool query(struct bpf_xdp_query_opts *attached)
{
	return !bpf_xdp_query(netdev.ifindex, 0, attached);
}

static int find_link(__u32 prog_id)
{
	__u32 id = 0;

	while (!bpf_link_get_next_id(id, &id)) {
		int fd = bpf_link_get_fd_by_id(id);
		struct bpf_link_info info = {};
		__u32 len = sizeof(info);

		if (fd < 0)
			continue;
		if (!bpf_obj_get_info_by_fd(fd, &info, &len) &&
		    info.type == BPF_LINK_TYPE_XDP && info.prog_id == prog_id)
			return fd;
		close(fd);
	}

	return -1;
}

static int find_socket_map(const __u32 *ids, __u32 nr)
{
	__u32 i;

	for (i = 0; i < nr; i++) {
		int fd = bpf_map_get_fd_by_id(ids[i]);
		struct bpf_map_info info = {};
		__u32 len = sizeof(info);

		if (!bpf_obj_get_info_by_fd(fd, &info, &len) &&
		    info.type == BPF_MAP_TYPE_XSKMAP) {
			if (info.max_entries != map_size())
				exit_err("another xdpsock serves other queues of %s: give -M to both or to none",
					 opt.ifname);
			return fd;
		}
		close(fd);
	}

	return -1;
}

static void __noreturn occupied(__u32 prog_id)
{
	exit_err("another XDP program (id %u) is attached to %s: 'bpftool net' shows it; stop its owner, or remove it: 'ip link set dev %s xdp off' (or xdpgeneric off)",
		 prog_id, opt.ifname, opt.ifname);
}

/* Share the program of an xdpsock on another queue; gives its socket map. */
static int join(void)
{
	LIBBPF_OPTS(bpf_xdp_query_opts, attached);
	__u32 ids[MAX_MAPS];
	struct bpf_prog_info info = {
		.nr_map_ids = MAX_MAPS,
		.map_ids = (__u64)(unsigned long)ids,
	};
	__u32 len = sizeof(info);
	int prog_fd, map_fd;

	if (!query(&attached))
		exit_err("cannot tell which XDP program %s has: %s", opt.ifname, strerror(errno));

	prog_fd = bpf_prog_get_fd_by_id(attached.prog_id);
	if (prog_fd < 0 || bpf_obj_get_info_by_fd(prog_fd, &info, &len) ||
	    strcmp(info.name, PROGRAM_NAME))
		occupied(attached.prog_id);
	close(prog_fd);

	map_fd = find_socket_map(ids, info.nr_map_ids);
	link_fd = find_link(attached.prog_id);
	if (map_fd < 0 || link_fd < 0)
		occupied(attached.prog_id);

	return map_fd;
}

static void __noreturn attach_refused(int err)
{
	if (err == EPERM)
		exit_err("no permission to attach the XDP program to %s: run as root, or with CAP_NET_ADMIN",
			 opt.ifname);
	if (err == EEXIST)
		exit_err("%s has an XDP program in the other mode (-S or -N): 'bpftool net' shows it; use the same mode, or stop its owner",
			 opt.ifname);
	if (opt.xdp_flags & XDP_FLAGS_SKB_MODE)
		exit_err("%s refuses an XDP program: %s; large receive offload must be off ('ethtool -K %s lro off')",
			 opt.ifname, strerror(err), opt.ifname);
	exit_err("the driver of %s refuses an XDP program: %s. Likely: no XDP in the driver (use -S), or MTU %u (of the peer too, on veth) too large for it (use -F or -S, or lower the MTU)",
		 opt.ifname, strerror(err), netdev.mtu);
}

static void publish(int map_fd)
{
	__u32 i;

	for (i = 0; i < nr_sockets; i++) {
		__u32 slot = opt.queue * nr_sockets + i;

		if (bpf_map_update_elem(map_fd, &slot, &sockets[i].fd, BPF_ANY))
			exit_err("cannot give the socket to the XDP program: %s", strerror(errno));
	}
}

/* The sockets go in first when the program is ours: no packet slips by. */
void program_attach(void)
{
	LIBBPF_OPTS(bpf_link_create_opts, link_opts, .flags = opt.xdp_flags);
	int map_fd;

	if (opt.queue >= MAX_QUEUES)
		exit_err("the XDP program serves %d queues: choose one below (-q)", MAX_QUEUES);

	program_load();
	map_fd = bpf_map__fd(program->maps.sockets);
	if (mode_receives())
		publish(map_fd);

	link_fd = bpf_link_create(bpf_program__fd(program->progs.xdpsock), netdev.ifindex,
				  BPF_XDP, &link_opts);
	if (link_fd == -EBUSY) {
		map_fd = join();
		if (mode_receives())
			publish(map_fd);
	} else if (link_fd < 0) {
		attach_refused(-link_fd);
	}
}

void program_detach(void)
{
	close(link_fd);
	xdpsock_bpf__destroy(program);
}

/* The mode that was really obtained. */
const char *program_mode(void)
{
	LIBBPF_OPTS(bpf_xdp_query_opts, attached);

	if (!query(&attached))
		return "unknown";

	switch (attached.attach_mode) {
	case XDP_ATTACHED_SKB:
		return "skb";
	case XDP_ATTACHED_DRV:
		return "native";
	default:
		return "other";
	}
}
