// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <net/if.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <bpf/bpf.h>

#include "xsk_net.h"

#define QUEUES "numrxqueues %d numtxqueues %d"

void xsk_run(const char *format, ...)
{
	char *command;
	va_list args;

	va_start(args, format);
	if (vasprintf(&command, format, args) < 0)
		xsk_die("no memory");
	va_end(args);
	if (system(command))
		xsk_die("this command fails: %s", command);
	free(command);
}

void xsk_net_create(void)
{
	if (unshare(CLONE_NEWNET | CLONE_NEWNS))
		xsk_die("cannot make a network namespace: run the test as root");
	/* /sys shows the devices of the namespace that it was mounted in */
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("sysfs", "/sys", "sysfs", 0, NULL))
		xsk_die("cannot mount the sysfs of the namespace");
	xsk_run("echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6");
	xsk_run("ip link add %s up " QUEUES " type veth peer name %s " QUEUES,
		XSK_NEAR, XSK_QUEUES, XSK_QUEUES, XSK_FAR, XSK_QUEUES, XSK_QUEUES);
	xsk_run("ip link set %s up", XSK_FAR);
}

struct xsk_redirect *xsk_xdp_load(void)
{
	struct xsk_redirect *xdp = xsk_redirect__open_and_load();

	if (!xdp)
		xsk_die("cannot load the XDP programs");
	return xdp;
}

void xsk_xdp_attach(const char *device, struct bpf_program *program, __u32 mode)
{
	if (bpf_xdp_attach(if_nametoindex(device), bpf_program__fd(program), mode, NULL))
		xsk_die("cannot attach the XDP program to %s", device);
}

void xsk_xdp_detach(const char *device, __u32 mode)
{
	if (bpf_xdp_detach(if_nametoindex(device), mode, NULL))
		xsk_die("cannot detach the XDP program from %s", device);
}

void xsk_xdp_deliver(struct xsk_redirect *xdp, __u32 key, struct xsk *xsk)
{
	if (bpf_map_update_elem(bpf_map__fd(xdp->maps.sockets), &key, &xsk->fd, BPF_ANY))
		xsk_die("cannot put the socket into the XSKMAP");
}

void xsk_hold_packets(const char *to, struct xsk *from)
{
	xsk_run("echo 3600000000000 > /sys/class/net/%s/gro_flush_timeout", to);
	xsk_run("echo 1 > /sys/class/net/%s/napi_defer_hard_irqs", to);
	/* The poll that takes this packet puts off the next one */
	xsk_send(from, XSK_PACKET_LEN, 0);
	if (!xsk_drain_tx(from))
		xsk_die("%s takes no packets", to);
}
