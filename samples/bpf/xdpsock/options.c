// SPDX-License-Identifier: GPL-2.0
/* The command line. */
#include <errno.h>
#include <getopt.h>
#include <linux/if_link.h>
#include <netinet/ether.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "xdpsock.h"

struct options opt = {
	.bind_flags = XDP_USE_NEED_WAKEUP,
	.batch = 64,
	.packet_size = 64,
	.frame_size = 4096,
	.interval = 1,
	/* Locally administered, nobody's. */
	.dst_mac = { 0x02, 0x78, 0x64, 0x70, 0x00, 0x01 },
};

static const char help[] =
"Usage: xdpsock [-r|-t|-l] -i INTERFACE [OPTION]...\n"
"Moves packets through AF_XDP sockets on one queue of a network interface.\n"
"\n"
"What to do\n"
"  -r, --rxdrop           receive packets and drop them (the default)\n"
"  -t, --txonly           send numbered UDP packets as fast as possible\n"
"  -l, --l2fwd            send each packet back, its MAC addresses swapped\n"
"\n"
"Where\n"
"  -i, --interface=NAME   the network interface\n"
"  -q, --queue=N          its queue, from 0 (default 0)\n"
"  -M, --shared-umem      4 sockets on the queue share one umem; packets are\n"
"                         spread over them in turn\n"
"\n"
"How the XDP program is attached (default: native where the driver can)\n"
"  -S, --xdp-skb          for every driver: XDP_SKB; forces copy mode\n"
"  -N, --xdp-native       in the driver: XDP_DRV\n"
"\n"
"How packets get to the socket (default: zero-copy where the driver can)\n"
"  -z, --zero-copy        zero-copy or nothing\n"
"  -c, --copy             copy mode\n"
"  -F, --frags            packets may take several frames\n"
"\n"
"How to wait (default: spin, and wake the kernel when it asks for that)\n"
"  -p, --poll             sleep in poll() until there is something to do\n"
"  -B, --busy-poll        drive the NIC from the system calls of this process;\n"
"                         wants interrupts deferred: napi_defer_hard_irqs and\n"
"                         gro_flush_timeout in /sys/class/net/NAME/\n"
"  -m, --no-need-wakeup   no need_wakeup flags: the driver never sleeps, and\n"
"                         every batch to send costs a system call\n"
"\n"
"Sizes\n"
"  -b, --batch-size=N     packets handled at a time, 1..1024 (default 64)\n"
"  -s, --packet-size=N    bytes of a packet that -t sends, with headers and\n"
"                         without checksum, 60..9728 (default 64)\n"
"  -G, --dst-mac=MAC      where -t sends to (default 02:78:64:70:00:01)\n"
"  -f, --frame-size=N     bytes of a frame, a power of two unless -u is given\n"
"                         (default 4096)\n"
"  -u, --unaligned        frames of any size; uses huge pages where there are\n"
"                         some, which zero-copy needs\n"
"\n"
"When to stop (default: at ^C)\n"
"  -d, --duration=N       after N seconds\n"
"  -C, --count=N          after N packets\n"
"\n"
"Figures\n"
"  -n, --interval=N       every N seconds (default 1)\n"
"  -x, --extra-stats      all the kernel's statistics of each socket\n"
"  -j, --json             JSON, one record a line: start, interval..., stop, and\n"
"                         total when all frames have come back\n"
"      --verify           check sequence and bytes of what xdpsock -t sent; with\n"
"                         -t, check what an xdpsock -l sends back\n"
"  -h, --help             this text\n"
"\n"
"Examples\n"
"  xdpsock -r -i eth0 -q 16 -N         how fast can queue 16 receive?\n"
"  xdpsock -t -i eth0 -s 1500 -d 10    send 1500-byte packets for 10 seconds\n"
"  xdpsock -l -i eth0 -S               forward, on any driver\n"
"\n"
"The exit status is 0, 1 if something failed (or was found wrong by --verify), 2\n"
"if the command line cannot be understood.\n";

enum { OPT_VERIFY = 256 };

static const char letters[] = "rtli:q:MSNzcFpBmb:s:G:f:ud:C:n:xjh";

static const struct option long_options[] = {
	{ "rxdrop", no_argument, NULL, 'r' },
	{ "txonly", no_argument, NULL, 't' },
	{ "l2fwd", no_argument, NULL, 'l' },
	{ "interface", required_argument, NULL, 'i' },
	{ "queue", required_argument, NULL, 'q' },
	{ "shared-umem", no_argument, NULL, 'M' },
	{ "xdp-skb", no_argument, NULL, 'S' },
	{ "xdp-native", no_argument, NULL, 'N' },
	{ "zero-copy", no_argument, NULL, 'z' },
	{ "copy", no_argument, NULL, 'c' },
	{ "frags", no_argument, NULL, 'F' },
	{ "poll", no_argument, NULL, 'p' },
	{ "busy-poll", no_argument, NULL, 'B' },
	{ "no-need-wakeup", no_argument, NULL, 'm' },
	{ "batch-size", required_argument, NULL, 'b' },
	{ "packet-size", required_argument, NULL, 's' },
	{ "dst-mac", required_argument, NULL, 'G' },
	{ "frame-size", required_argument, NULL, 'f' },
	{ "unaligned", no_argument, NULL, 'u' },
	{ "duration", required_argument, NULL, 'd' },
	{ "count", required_argument, NULL, 'C' },
	{ "interval", required_argument, NULL, 'n' },
	{ "extra-stats", no_argument, NULL, 'x' },
	{ "json", no_argument, NULL, 'j' },
	{ "verify", no_argument, NULL, OPT_VERIFY },
	{ "help", no_argument, NULL, 'h' },
	{}
};

static void __printf(1, 2) __noreturn usage_err(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("xdpsock: ", stderr);
	vfprintf(stderr, format, args);
	fputs(" ('xdpsock --help' explains the options)\n", stderr);
	va_end(args);
	exit(EXIT_USAGE);
}

static __u64 parse_number(int letter, __u64 least, __u64 most)
{
	char *end;
	__u64 value;

	errno = 0;
	value = strtoull(optarg, &end, 0);
	if (errno || end == optarg || *end || *optarg == '-' || value < least || value > most)
		usage_err("-%c takes a number from %llu to %llu, not '%s'", letter, least, most,
			  optarg);

	return value;
}

static void parse_mac(void)
{
	const struct ether_addr *address = ether_aton(optarg);

	if (!address)
		usage_err("-G takes a MAC address like 02:00:00:00:00:01, not '%s'", optarg);
	memcpy(opt.dst_mac, address, ETH_ALEN);
}

static void take_option(int letter)
{
	switch (letter) {
	case 'r':
		opt.mode = RXDROP;
		break;
	case 't':
		opt.mode = TXONLY;
		break;
	case 'l':
		opt.mode = L2FWD;
		break;
	case 'i':
		opt.ifname = optarg;
		break;
	case 'q':
		opt.queue = parse_number(letter, 0, UINT16_MAX);
		break;
	case 'M':
		opt.shared = true;
		break;
	case 'S':
		opt.xdp_flags |= XDP_FLAGS_SKB_MODE;
		opt.bind_flags |= XDP_COPY;
		break;
	case 'N':
		opt.xdp_flags |= XDP_FLAGS_DRV_MODE;
		break;
	case 'z':
		opt.bind_flags |= XDP_ZEROCOPY;
		break;
	case 'c':
		opt.bind_flags |= XDP_COPY;
		break;
	case 'F':
		opt.bind_flags |= XDP_USE_SG;
		break;
	case 'p':
		opt.poll = true;
		break;
	case 'B':
		opt.busy_poll = true;
		break;
	case 'm':
		opt.bind_flags &= ~XDP_USE_NEED_WAKEUP;
		break;
	case 'b':
		opt.batch = parse_number(letter, 1, RING_SIZE / 2);
		break;
	case 's':
		opt.packet_size = parse_number(letter, PACKET_MIN, PACKET_MAX);
		break;
	case 'G':
		parse_mac();
		break;
	case 'f':
		opt.frame_size = parse_number(letter, 2048, 2 << 20);
		break;
	case 'u':
		opt.unaligned = true;
		break;
	case 'd':
		opt.duration = parse_number(letter, 1, INT32_MAX);
		break;
	case 'C':
		opt.count = parse_number(letter, 1, INT64_MAX);
		break;
	case 'n':
		opt.interval = parse_number(letter, 1, INT32_MAX);
		break;
	case 'x':
		opt.extra = true;
		break;
	case 'j':
		opt.json = true;
		break;
	case OPT_VERIFY:
		opt.verify = true;
		break;
	case 'h':
		fputs(help, stdout);
		exit(EXIT_SUCCESS);
	default:
		usage_err("cannot understand the command line");
	}
}

static void check_combination(void)
{
	if (!opt.ifname)
		usage_err("which interface? Name it with -i; 'ip -br link' lists them");
	if (opt.xdp_flags == (XDP_FLAGS_SKB_MODE | XDP_FLAGS_DRV_MODE))
		usage_err("-S and -N exclude each other: choose one");
	if ((opt.bind_flags & XDP_COPY) && (opt.bind_flags & XDP_ZEROCOPY))
		usage_err("-z excludes copy mode: leave -c and -S away");
	if (!opt.unaligned && opt.frame_size & (opt.frame_size - 1))
		usage_err("-f %u is not a power of two: choose 2048 or 4096, or add -u",
			  opt.frame_size);
}

void options_parse(int argc, char **argv)
{
	int letter;

	while ((letter = getopt_long(argc, argv, letters, long_options, NULL)) != -1)
		take_option(letter);
	if (optind < argc)
		usage_err("'%s' is not an option", argv[optind]);
	check_combination();
}
