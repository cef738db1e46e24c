// SPDX-License-Identifier: GPL-2.0
/* What has to be known about the network interface. */
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "xdpsock.h"

struct netdev netdev;

static int query(int fd, unsigned long request, struct ifreq *ifr)
{
	snprintf(ifr->ifr_name, IFNAMSIZ, "%s", opt.ifname);

	return ioctl(fd, request, ifr);
}

static __u32 max(__u32 a, __u32 b)
{
	return a > b ? a : b;
}

static __u32 count_queues(int fd)
{
	struct ethtool_channels channels = { .cmd = ETHTOOL_GCHANNELS };
	struct ifreq ifr = { .ifr_data = (char *)&channels };

	if (query(fd, SIOCETHTOOL, &ifr))
		return 0;

	return channels.combined_count + max(channels.rx_count, channels.tx_count);
}

void netdev_open(void)
{
	struct ifreq ifr = {};
	int fd;

	netdev.ifindex = if_nametoindex(opt.ifname);
	if (!netdev.ifindex)
		exit_err("there is no interface %s; 'ip -br link' lists them (for another network namespace: 'ip netns exec NAME xdpsock ...')",
			 opt.ifname);

	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || query(fd, SIOCGIFMTU, &ifr))
		exit_err("cannot read the MTU of %s: %s", opt.ifname, strerror(errno));
	netdev.mtu = ifr.ifr_mtu;

	if (query(fd, SIOCGIFHWADDR, &ifr))
		exit_err("cannot read the address of %s: %s", opt.ifname, strerror(errno));
	memcpy(netdev.mac, ifr.ifr_hwaddr.sa_data, ETH_ALEN);

	if (query(fd, SIOCGIFFLAGS, &ifr))
		exit_err("cannot read the state of %s: %s", opt.ifname, strerror(errno));
	netdev.up = ifr.ifr_flags & IFF_UP;

	netdev.queues = count_queues(fd);
	close(fd);
}
