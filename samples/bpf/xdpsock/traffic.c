// SPDX-License-Identifier: GPL-2.0
/*
 * The loop that moves packets. A frame goes round: free stack, fill ring,
 * Rx ring, Tx ring, completion ring, free stack. Signals keep the time, so
 * that the loop need not look at a clock.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>

#include "xdpsock.h"

#define POLL_TIMEOUT_MS		1000

/* At the end, wait this long for one more frame to come back. */
#define DRAIN_SECONDS		10

static atomic_int stop_signals;
static atomic_bool report_due;

static struct packet template;

static void on_signal(int signo)
{
	if (signo == SIGALRM)
		report_due = true;
	else
		stop_signals++;
}

static void catch_signal(int signo)
{
	struct sigaction action = { .sa_handler = on_signal };

	if (sigaction(signo, &action, NULL))
		exit_err("cannot handle signal %d: %s", signo, strerror(errno));
}

static void start_timers(void)
{
	struct itimerval every = {
		.it_interval.tv_sec = opt.interval,
		.it_value.tv_sec = opt.interval,
	};
	struct sigevent stop = {
		.sigev_notify = SIGEV_SIGNAL,
		.sigev_signo = SIGTERM,
	};
	struct itimerspec once = { .it_value.tv_sec = opt.duration };
	timer_t timer;

	catch_signal(SIGINT);
	catch_signal(SIGTERM);
	catch_signal(SIGALRM);

	if (setitimer(ITIMER_REAL, &every, NULL) ||
	    timer_create(CLOCK_MONOTONIC, &stop, &timer) ||
	    timer_settime(timer, 0, &once, NULL))
		exit_err("cannot set a timer: %s", strerror(errno));
}

static __u32 min(__u32 a, __u32 b)
{
	return a < b ? a : b;
}

/* Frames to and from the kernel */

static void put_frame(__u64 addr)
{
	umem.free[umem.nr_free++] = frame_of(addr);
}

static __u64 get_frame(void)
{
	return umem.free[--umem.nr_free];
}

static __u32 frames_in_flight(void)
{
	return umem.tx_frames - umem.tx_completed;
}

static void refill(void)
{
	__u32 nr = min(umem.nr_free, xsk_prod_nb_free(&umem.fill, umem.nr_free));
	__u32 i, at;

	if (!nr || !xsk_ring_prod__reserve(&umem.fill, nr, &at))
		return;

	for (i = 0; i < nr; i++)
		*xsk_ring_prod__fill_addr(&umem.fill, at + i) = get_frame();
	xsk_ring_prod__submit(&umem.fill, nr);
}

static void reclaim(void)
{
	__u32 i, nr, at;

	nr = xsk_ring_cons__peek(&umem.completion, RING_SIZE, &at);
	if (!nr)
		return;

	for (i = 0; i < nr; i++)
		put_frame(*xsk_ring_cons__comp_addr(&umem.completion, at + i));
	xsk_ring_cons__release(&umem.completion, nr);
	umem.tx_completed += nr;
}

/* Receiving */

/*
 * Peek at @packets packets at most, and only at whole ones: the rest of a
 * packet that is cut off stays in the ring. Gives the number of descriptors.
 */
static __u32 peek_packets(struct xsk_ring_cons *rx, __u32 packets, __u32 room, __u32 *at)
{
	__u32 wanted = uses_frags() && packets < MAX_PIECES ? MAX_PIECES : packets;
	__u32 nr = xsk_ring_cons__peek(rx, min(wanted, room), at);
	__u32 whole = 0;
	__u32 i;

	for (i = 0; i < nr && packets; i++) {
		if (xsk_ring_cons__rx_desc(rx, *at + i)->options & XDP_PKT_CONTD)
			continue;
		whole = i + 1;
		packets--;
	}
	xsk_ring_cons__cancel(rx, nr - whole);

	return whole;
}

/* Account for one packet; gives the number of its descriptors. */
static __u32 receive_packet(struct xsk *xsk, __u32 at)
{
	struct iovec pieces[MAX_PIECES];
	const struct xdp_desc *desc;
	__u32 nr = 0;

	do {
		desc = xsk_ring_cons__rx_desc(&xsk->rx, at + nr);
		pieces[nr].iov_base = frame_data(desc->addr);
		pieces[nr].iov_len = desc->len;
		xsk->counters.rx_bytes += desc->len;
		nr++;
	} while (desc->options & XDP_PKT_CONTD && nr < MAX_PIECES);

	xsk->counters.rx_packets++;
	if (opt.verify)
		check_packet(pieces, nr);

	return nr;
}

static __u32 receive(struct xsk *xsk, __u32 at, __u32 nr)
{
	__u32 packets = 0;
	__u32 i = 0;

	while (i < nr) {
		i += receive_packet(xsk, at + i);
		packets++;
	}

	return packets;
}

static __u32 rxdrop(struct xsk *xsk, __u32 packets)
{
	__u32 i, nr, at;

	nr = peek_packets(&xsk->rx, packets, RING_SIZE, &at);
	if (!nr)
		return 0;

	packets = receive(xsk, at, nr);
	for (i = 0; i < nr; i++)
		put_frame(xsk_ring_cons__rx_desc(&xsk->rx, at + i)->addr);
	xsk_ring_cons__release(&xsk->rx, nr);

	return packets;
}

/* Sending */

static void count_sent(struct xsk *xsk, __u32 frames, __u32 packets, __u64 bytes)
{
	xsk_ring_prod__submit(&xsk->tx, frames);
	umem.tx_frames += frames;
	xsk->counters.tx_packets += packets;
	xsk->counters.tx_bytes += bytes;
}

static __u32 pieces_per_packet(void)
{
	return (opt.packet_size + opt.frame_size - 1) / opt.frame_size;
}

/* Write the next packet of the sequence to frames, one for each piece. */
static void write_packet(struct xsk_ring_prod *tx, __u32 at)
{
	static __u64 seq;
	__u32 done = 0;

	while (done < template.len) {
		struct xdp_desc *desc = xsk_ring_prod__tx_desc(tx, at++);
		__u32 len = min(opt.frame_size, template.len - done);

		desc->addr = get_frame();
		desc->len = len;
		memcpy(frame_data(desc->addr), template.data + done, len);
		if (!done)
			packet_stamp(&template, frame_data(desc->addr), seq++);
		done += len;
		desc->options = done < template.len ? XDP_PKT_CONTD : 0;
	}
}

static __u32 generate(struct xsk *xsk, __u32 packets)
{
	__u32 pieces = pieces_per_packet();
	__u32 i, at, room;

	room = min(umem.nr_free, xsk_prod_nb_free(&xsk->tx, packets * pieces));
	packets = min(packets, room / pieces);
	if (!packets || !xsk_ring_prod__reserve(&xsk->tx, packets * pieces, &at))
		return 0;

	for (i = 0; i < packets; i++)
		write_packet(&xsk->tx, at + i * pieces);
	count_sent(xsk, packets * pieces, packets, (__u64)packets * template.len);

	return packets;
}

static __u32 txonly(struct xsk *xsk, __u32 packets)
{
	if (mode_receives())
		rxdrop(xsk, opt.batch);

	return generate(xsk, packets);
}

static void swap_addresses(__u8 *data)
{
	struct ethhdr *eth = (struct ethhdr *)data;
	__u8 dest[ETH_ALEN];

	memcpy(dest, eth->h_dest, ETH_ALEN);
	memcpy(eth->h_dest, eth->h_source, ETH_ALEN);
	memcpy(eth->h_source, dest, ETH_ALEN);
}

/* Takes no more than the Tx ring has room for, so that nothing is dropped. */
static __u32 l2fwd(struct xsk *xsk, __u32 packets)
{
	__u64 bytes_before = xsk->counters.rx_bytes;
	__u32 i, nr, from, to;
	bool starts = true;

	nr = peek_packets(&xsk->rx, packets, xsk_prod_nb_free(&xsk->tx, RING_SIZE), &from);
	if (!nr || !xsk_ring_prod__reserve(&xsk->tx, nr, &to))
		return 0;

	packets = receive(xsk, from, nr);
	for (i = 0; i < nr; i++) {
		const struct xdp_desc *desc = xsk_ring_cons__rx_desc(&xsk->rx, from + i);

		if (starts)
			swap_addresses(frame_data(desc->addr));
		starts = !(desc->options & XDP_PKT_CONTD);
		*xsk_ring_prod__tx_desc(&xsk->tx, to + i) = *desc;
	}
	xsk_ring_cons__release(&xsk->rx, nr);
	count_sent(xsk, nr, packets, xsk->counters.rx_bytes - bytes_before);

	return packets;
}

static __u32 (* const move[])(struct xsk *xsk, __u32 packets) = {
	[RXDROP] = rxdrop,
	[TXONLY] = txonly,
	[L2FWD] = l2fwd,
};

/* Waking the kernel */

static void check_wakeup(ssize_t result)
{
	static bool told;

	if (result >= 0)
		return;

	switch (errno) {
	case EAGAIN:	/* there is more to send, or nothing to receive */
	case EBUSY:	/* the completion ring is full, or the device is */
	case ENOBUFS:	/* no memory for a packet at the moment */
	case EINTR:
		return;
	case ENETDOWN:
		if (!told)
			print_notice("%s is down, waiting: 'ip link set %s up'", opt.ifname,
				     opt.ifname);
		told = true;
		return;
	case ENXIO:
	case ENODEV:
		exit_err("%s is gone: 'ip -br link' lists the interfaces", opt.ifname);
	default:
		exit_err("cannot wake up the kernel for %s: %s", opt.ifname, strerror(errno));
	}
}

static void wake_rx(const struct xsk *xsk)
{
	if (opt.busy_poll || xsk_ring_prod__needs_wakeup(&umem.fill))
		check_wakeup(recvfrom(xsk->fd, NULL, 0, MSG_DONTWAIT, NULL, NULL));
}

/* poll() wakes the sender too, unless it cannot know that it has to. */
static void wake_tx(const struct xsk *xsk)
{
	bool asked = !uses_need_wakeup() || xsk_ring_prod__needs_wakeup(&xsk->tx);

	if (!frames_in_flight() || (opt.poll && uses_need_wakeup()))
		return;
	if (opt.busy_poll || asked)
		check_wakeup(sendto(xsk->fd, NULL, 0, MSG_DONTWAIT, NULL, 0));
}

static void sleep_until_ready(bool more_to_send)
{
	struct pollfd fds[SHARED_SOCKETS];
	short events = 0;
	__u32 i;

	if (mode_receives())
		events |= POLLIN;
	if (more_to_send || frames_in_flight())
		events |= POLLOUT;

	for (i = 0; i < nr_sockets; i++)
		fds[i] = (struct pollfd){ .fd = sockets[i].fd, .events = events };
	check_wakeup(poll(fds, nr_sockets, POLL_TIMEOUT_MS));
}

static void wake_kernel(bool more_to_send)
{
	__u32 i;

	for (i = 0; i < nr_sockets; i++) {
		if (mode_receives())
			wake_rx(&sockets[i]);
		if (mode_sends())
			wake_tx(&sockets[i]);
	}
	if (opt.poll)
		sleep_until_ready(more_to_send);
}

/* An interface that went away shows as an error of the socket, once. */
static void check_netdev(void)
{
	socklen_t len = sizeof(int);
	int err = 0;

	if (!getsockopt(sockets[0].fd, SOL_SOCKET, SO_ERROR, &err, &len) && err)
		exit_err("%s is gone: 'ip -br link' lists the interfaces", opt.ifname);
}

static void report_if_due(void)
{
	if (!report_due)
		return;

	report_due = false;
	check_netdev();
	report_interval();
}

static void exchange_frames(void)
{
	if (mode_sends())
		reclaim();
	if (mode_receives())
		refill();
}

static __u64 left(__u64 moved)
{
	return opt.count ? opt.count - moved : opt.batch;
}

static void move_packets(void)
{
	__u64 moved = 0;
	__u32 i;

	while (!stop_signals && left(moved)) {
		exchange_frames();
		for (i = 0; i < nr_sockets && left(moved); i++) {
			__u32 packets = left(moved) < opt.batch ? left(moved) : opt.batch;

			moved += move[opt.mode](&sockets[i], packets);
		}
		wake_kernel(opt.mode == TXONLY);

		report_if_due();
	}
}

static time_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);

	return ts.tv_sec;
}

static bool expects_echo(void)
{
	return opt.mode == TXONLY && opt.verify;
}

/* Frames, or echoes of ours, that still have to come back. */
static __u64 awaited(void)
{
	__u64 echoes = 0;
	__u32 i;

	for (i = 0; i < nr_sockets && expects_echo(); i++)
		echoes += sockets[i].counters.tx_packets - sockets[i].counters.rx_packets;

	return frames_in_flight() + echoes;
}

/* A second signal ends the wait. */
static void drain(void)
{
	__u64 before = awaited();
	time_t deadline = now() + DRAIN_SECONDS;
	int signals = stop_signals;
	__u32 i;

	while (before && now() <= deadline && stop_signals == signals) {
		exchange_frames();
		for (i = 0; i < nr_sockets && expects_echo(); i++)
			rxdrop(&sockets[i], opt.batch);
		wake_kernel(false);
		report_if_due();

		if (awaited() == before)
			continue;
		before = awaited();
		deadline = now() + DRAIN_SECONDS;
	}

	if (frames_in_flight())
		print_notice("%u frames did not come back from %s; is its link up ('ethtool %s')?",
			     frames_in_flight(), opt.ifname, opt.ifname);
}

void traffic_run(void)
{
	if (opt.mode == TXONLY)
		packet_build(&template, opt.dst_mac, netdev.mac, opt.packet_size);

	start_timers();
	move_packets();
	report_stop();
	drain();
}
