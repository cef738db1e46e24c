// SPDX-License-Identifier: GPL-2.0
/* The umem and the sockets that share it, and why they may be refused. */
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "xdpsock.h"

struct umem umem;
struct xsk sockets[SHARED_SOCKETS];
__u32 nr_sockets;

/* The kernel keeps this much of each frame in front of a received packet. */
#define RX_HEADROOM	256

static size_t area_size(void)
{
	return (size_t)FRAME_COUNT * opt.frame_size;
}

static size_t huge_size(void)
{
	const size_t huge_page = 2 << 20;

	return (area_size() + huge_page - 1) & ~(huge_page - 1);
}

static void *map_area(size_t size, int flags)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
}

/*
 * An unaligned frame may cross pages, which a device can only follow where
 * they are contiguous: in a huge page. Copy mode can do with any memory.
 */
static void *map_unaligned(void)
{
	void *area = map_area(huge_size(), MAP_HUGETLB);

	if (area != MAP_FAILED)
		return area;
	if (opt.bind_flags & XDP_ZEROCOPY)
		exit_err("unaligned frames need %zu huge pages of 2 MiB for zero-copy: 'sysctl vm.nr_hugepages=64', or use copy mode (-c)",
			 huge_size() >> 21);
	opt.bind_flags |= XDP_COPY;

	return map_area(area_size(), 0);
}

static void area_open(void)
{
	void *area = opt.unaligned ? map_unaligned() : map_area(area_size(), 0);

	if (area == MAP_FAILED)
		exit_err("no memory for %d frames of %u bytes: %s; free some, or use smaller frames (-f)",
			 FRAME_COUNT, opt.frame_size, strerror(errno));

	umem.area = area;
}

static void __noreturn umem_refused(int err)
{
	switch (err) {
	case EPERM:
		exit_err("no permission for AF_XDP sockets: run as root, or with CAP_NET_RAW, CAP_NET_ADMIN and CAP_BPF");
	case EAFNOSUPPORT:
		exit_err("this kernel has no AF_XDP: it needs CONFIG_XDP_SOCKETS=y");
	case ENOBUFS:
	case ENOMEM:
		exit_err("the kernel may not lock %zu KiB of memory for the frames: raise the limit ('ulimit -l unlimited'), run with CAP_IPC_LOCK, or use smaller frames (-f)",
			 area_size() >> 10);
	case EINVAL:
		exit_err("the kernel does not take frames of %u bytes%s: it wants at least 2048 and at most a page%s (-f)",
			 opt.frame_size, opt.unaligned ? " unaligned" : "",
			 opt.unaligned ? "" : ", and a power of two unless -u is given");
	default:
		exit_err("cannot register the frames: %s", strerror(err));
	}
}

static void umem_open(void)
{
	struct xsk_umem_config config = {
		.fill_size = RING_SIZE,
		.comp_size = RING_SIZE,
		.frame_size = opt.frame_size,
		.flags = opt.unaligned ? XDP_UMEM_UNALIGNED_CHUNK_FLAG : 0,
	};
	int err;

	area_open();
	err = xsk_umem__create(&umem.handle, umem.area, area_size(), &umem.fill,
			       &umem.completion, &config);
	if (err)
		umem_refused(-err);

	while (umem.nr_free < FRAME_COUNT) {
		umem.free[umem.nr_free] = (__u64)umem.nr_free * opt.frame_size;
		umem.nr_free++;
	}
}

static void __noreturn queue_missing(void)
{
	exit_err("%s has no queue %u: it has %u, numbered from 0; choose another (-q), or make more: 'ethtool -L %s combined %u' (or rx and tx)",
		 opt.ifname, opt.queue, netdev.queues, opt.ifname, opt.queue + 1);
}

static void __noreturn socket_refused(int err)
{
	if (netdev.queues && opt.queue >= netdev.queues)
		queue_missing();

	switch (err) {
	case EPERM:
		exit_err("no permission for AF_XDP sockets: run as root, or with CAP_NET_RAW, CAP_NET_ADMIN and CAP_BPF");
	case EBUSY:
		exit_err("queue %u of %s already has a socket: 'ss --xdp -e' shows who holds it; stop that program, or choose another queue (-q)",
			 opt.queue, opt.ifname);
	case ENXIO:
		exit_err("%s has no queue %u: 'ethtool -l %s' tells how many there are; choose another (-q)",
			 opt.ifname, opt.queue, opt.ifname);
	case ENODEV:
		exit_err("%s is gone: 'ip -br link' lists the interfaces", opt.ifname);
	case EOPNOTSUPP:
		exit_err("the driver of %s has no zero-copy for this queue: use copy mode (-c); 'ethtool -i %s' names the driver",
			 opt.ifname, opt.ifname);
	case EPROTONOSUPPORT:
		exit_err("the driver of %s has no zero-copy for packets in several frames: leave -F away, or use copy mode (-c)",
			 opt.ifname);
	case EMSGSIZE:
		exit_err("MTU %u of %s does not fit a frame of %u bytes: 'ip link set %s mtu %d', a larger frame (-f), or several frames for a packet (-F)",
			 netdev.mtu, opt.ifname, opt.frame_size, opt.ifname,
			 (int)opt.frame_size - RX_HEADROOM - ETH_HLEN);
	case EADDRINUSE:
		exit_err("another memory provider (such as devmem TCP) owns queues of %s: stop its program, or use copy mode (-c)",
			 opt.ifname);
	case EXDEV:
		exit_err("the socket is bound to another device with SO_BINDTODEVICE, not to %s",
			 opt.ifname);
	case ENOBUFS:
	case ENOMEM:
		exit_err("the kernel has no memory for the rings: free some, or raise the limit ('ulimit -l unlimited')");
	case EINVAL:
		exit_err("the kernel refuses queue %u of %s and does not say why. Likely: no such queue ('ethtool -l %s'); no zero-copy in the driver (use -c); MTU %u too large for a frame of %u bytes (use -f or -F, or lower the MTU); a kernel without multi-buffer support (leave -F away)",
			 opt.queue, opt.ifname, opt.ifname, netdev.mtu, opt.frame_size);
	default:
		exit_err("cannot bind to queue %u of %s: %s", opt.queue, opt.ifname, strerror(err));
	}
}

static void socket_option(const struct xsk *xsk, int name, const char *what, int value)
{
	if (setsockopt(xsk->fd, SOL_SOCKET, name, &value, sizeof(value)))
		exit_err("cannot set %s (busy polling, -B): %s; it needs CAP_NET_ADMIN and a kernel with CONFIG_NET_RX_BUSY_POLL",
			 what, strerror(errno));
}

static void enable_busy_poll(const struct xsk *xsk)
{
	const int spin_usecs = 20;

	socket_option(xsk, SO_PREFER_BUSY_POLL, "SO_PREFER_BUSY_POLL", 1);
	socket_option(xsk, SO_BUSY_POLL, "SO_BUSY_POLL", spin_usecs);
	socket_option(xsk, SO_BUSY_POLL_BUDGET, "SO_BUSY_POLL_BUDGET", opt.batch);
}

/* The program is loaded apart from this, to tell its refusals from these. */
static void socket_open(struct xsk *xsk)
{
	struct xsk_socket_config config = {
		.rx_size = RING_SIZE,
		.tx_size = RING_SIZE,
		.libxdp_flags = XSK_LIBXDP_FLAGS__INHIBIT_PROG_LOAD,
		.bind_flags = opt.bind_flags,
	};
	int err;

	err = xsk_socket__create(&xsk->handle, opt.ifname, opt.queue, umem.handle,
				 mode_receives() ? &xsk->rx : NULL,
				 mode_sends() ? &xsk->tx : NULL, &config);
	if (err)
		socket_refused(-err);

	xsk->fd = xsk_socket__fd(xsk->handle);
	if (opt.busy_poll)
		enable_busy_poll(xsk);
}

static void warn_about_netdev(void)
{
	__u32 room = opt.frame_size - RX_HEADROOM;

	if (!netdev.up)
		print_notice("%s is down, nothing will move until 'ip link set %s up'",
			     opt.ifname, opt.ifname);
	if (mode_receives() && !uses_frags() && netdev.mtu + ETH_HLEN > room)
		print_notice("a frame has room for %u bytes, so larger packets will be dropped: MTU %u of %s allows them (use -F, or lower the MTU)",
			     room, netdev.mtu, opt.ifname);
}

static void check_packet_size(void)
{
	if (opt.packet_size > netdev.mtu + ETH_HLEN)
		exit_err("packets of %u bytes are larger than MTU %u of %s allows: -s %u at most, or 'ip link set %s mtu %u'",
			 opt.packet_size, netdev.mtu, opt.ifname, netdev.mtu + ETH_HLEN,
			 opt.ifname, opt.packet_size - ETH_HLEN);
	if (opt.packet_size > opt.frame_size && !uses_frags())
		exit_err("packets of %u bytes do not fit a frame of %u: use several frames for a packet (-F), larger frames (-f) or smaller packets (-s)",
			 opt.packet_size, opt.frame_size);
}

void sockets_open(void)
{
	__u32 wanted = opt.shared ? SHARED_SOCKETS : 1;

	if (opt.mode == TXONLY)
		check_packet_size();
	umem_open();
	while (nr_sockets < wanted)
		socket_open(&sockets[nr_sockets++]);
	warn_about_netdev();
}

void sockets_close(void)
{
	while (nr_sockets)
		xsk_socket__delete(sockets[--nr_sockets].handle);
	xsk_umem__delete(umem.handle);
}

bool sockets_zero_copy(void)
{
	struct xdp_options options = {};
	socklen_t len = sizeof(options);

	return !getsockopt(sockets[0].fd, SOL_XDP, XDP_OPTIONS, &options, &len) &&
	       options.flags & XDP_OPTIONS_ZEROCOPY;
}
