// SPDX-License-Identifier: GPL-2.0
/*
 * Figures for people and for scripts: a table in place on a terminal, a line
 * for each interval elsewhere, or JSON lines.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "xdpsock.h"

static const char * const mode_names[] = {
	[RXDROP] = "rxdrop",
	[TXONLY] = "txonly",
	[L2FWD] = "l2fwd",
};

/* What the counters were at a moment. */
struct sample {
	double seconds;
	struct counters counters;
	struct xdp_statistics kernel;
};

static struct sample start;
static struct sample previous;
static double stop_seconds;
static int lines_on_screen;

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);

	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static struct xdp_statistics kernel_statistics(const struct xsk *xsk)
{
	struct xdp_statistics stats = {};
	socklen_t len = sizeof(stats);

	if (getsockopt(xsk->fd, SOL_XDP, XDP_STATISTICS, &stats, &len))
		print_notice("the kernel does not tell the statistics of a socket");

	return stats;
}

/* The sockets share one fill ring, and each reports what happened there. */
static void add_statistics(struct xdp_statistics *sum, const struct xdp_statistics *stats)
{
	sum->rx_dropped += stats->rx_dropped;
	sum->tx_invalid_descs += stats->tx_invalid_descs;
	sum->rx_ring_full += stats->rx_ring_full;
	sum->tx_ring_empty_descs += stats->tx_ring_empty_descs;
	sum->rx_invalid_descs = stats->rx_invalid_descs;
	sum->rx_fill_ring_empty_descs = stats->rx_fill_ring_empty_descs;
}

static struct sample take_sample(void)
{
	struct sample sample = { .seconds = now() };
	__u32 i;

	for (i = 0; i < nr_sockets; i++) {
		struct xdp_statistics stats = kernel_statistics(&sockets[i]);

		sample.counters.rx_packets += sockets[i].counters.rx_packets;
		sample.counters.rx_bytes += sockets[i].counters.rx_bytes;
		sample.counters.tx_packets += sockets[i].counters.tx_packets;
		sample.counters.tx_bytes += sockets[i].counters.tx_bytes;
		add_statistics(&sample.kernel, &stats);
	}

	return sample;
}

static const char *bind_mode(void)
{
	return sockets_zero_copy() ? "zero-copy" : "copy";
}

static double rate(__u64 then, __u64 later, double seconds)
{
	return seconds > 0 ? (later - then) / seconds : 0;
}

struct rates {
	double seconds;
	double rx;
	double tx;
};

static struct rates rates_between(const struct sample *a, const struct sample *b)
{
	double seconds = b->seconds - a->seconds;

	return (struct rates){
		.seconds = seconds,
		.rx = rate(a->counters.rx_packets, b->counters.rx_packets, seconds),
		.tx = rate(a->counters.tx_packets, b->counters.tx_packets, seconds),
	};
}

/* JSON */

static void json_statistics(const struct xdp_statistics *stats)
{
	printf("\"rx_dropped\":%llu,\"rx_invalid_descs\":%llu,\"rx_ring_full\":%llu,",
	       stats->rx_dropped, stats->rx_invalid_descs, stats->rx_ring_full);
	printf("\"rx_fill_ring_empty_descs\":%llu,", stats->rx_fill_ring_empty_descs);
	printf("\"tx_invalid_descs\":%llu,\"tx_ring_empty_descs\":%llu",
	       stats->tx_invalid_descs, stats->tx_ring_empty_descs);
}

static void json_counters(const struct counters *counters)
{
	printf("\"rx_packets\":%llu,\"rx_bytes\":%llu,\"tx_packets\":%llu,\"tx_bytes\":%llu,",
	       counters->rx_packets, counters->rx_bytes, counters->tx_packets,
	       counters->tx_bytes);
}

static void json_sockets(void)
{
	__u32 i;

	printf(",\"sockets\":[");
	for (i = 0; i < nr_sockets; i++) {
		struct xdp_statistics stats = kernel_statistics(&sockets[i]);

		printf("%s{", i ? "," : "");
		json_counters(&sockets[i].counters);
		json_statistics(&stats);
		printf("}");
	}
	printf("]");
}

static void json_checker(void)
{
	printf(",\"good\":%llu,\"missing\":%llu,\"late\":%llu,",
	       checker.good, missing_packets(), checker.late);
	printf("\"corrupt\":%llu,\"foreign\":%llu", checker.corrupt, checker.foreign);
}

static void json_record(const char *event, const struct rates *rates, const struct sample *sample)
{
	printf("{\"event\":\"%s\",\"seconds\":%.3f,\"rx_pps\":%.0f,\"tx_pps\":%.0f,",
	       event, rates->seconds, rates->rx, rates->tx);
	json_counters(&sample->counters);
	printf("\"tx_frames\":%llu,\"tx_completed\":%llu,", umem.tx_frames, umem.tx_completed);
	json_statistics(&sample->kernel);
	if (opt.verify)
		json_checker();
	if (opt.extra)
		json_sockets();
	printf("}\n");
}

static void json_start(void)
{
	printf("{\"event\":\"start\",\"mode\":\"%s\",\"interface\":\"%s\",\"queue\":%u,",
	       mode_names[opt.mode], opt.ifname, opt.queue);
	printf("\"xdp\":\"%s\",\"bind\":\"%s\",\"sockets\":%u,", program_mode(), bind_mode(),
	       nr_sockets);
	printf("\"frames\":%d,\"frame_size\":%u,\"batch\":%u}\n", FRAME_COUNT, opt.frame_size,
	       opt.batch);
}

/* Text */

static void print_info(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	lines_on_screen++;
}

static void extra_lines(void)
{
	__u32 i;

	for (i = 0; i < nr_sockets; i++) {
		struct xdp_statistics stats = kernel_statistics(&sockets[i]);

		print_info("socket %u rx: dropped %llu  ring full %llu  fill ring empty %llu  invalid fill %llu",
			   i, stats.rx_dropped, stats.rx_ring_full, stats.rx_fill_ring_empty_descs,
			   stats.rx_invalid_descs);
		print_info("socket %u tx: invalid %llu  ring empty %llu", i, stats.tx_invalid_descs,
			   stats.tx_ring_empty_descs);
	}
}

static void verify_line(void)
{
	print_info("verify: good %llu  missing %llu  late %llu  corrupt %llu  foreign %llu",
		   checker.good, missing_packets(), checker.late, checker.corrupt, checker.foreign);
}

static void details(void)
{
	if (opt.verify)
		verify_line();
	if (opt.extra)
		extra_lines();
}

static void table(const char *title, const struct rates *rates, const struct sample *sample)
{
	print_info("%-20s%14s%16s%18s%12s%12s", title, "packets/s", "packets", "bytes", "dropped",
		   "ring full");
	if (mode_receives())
		print_info("%-20s%14.0f%16llu%18llu%12llu%12llu", "rx", rates->rx,
			   sample->counters.rx_packets, sample->counters.rx_bytes,
			   sample->kernel.rx_dropped, sample->kernel.rx_ring_full);
	if (mode_sends())
		print_info("%-20s%14.0f%16llu%18llu%12llu%12s", "tx", rates->tx,
			   sample->counters.tx_packets, sample->counters.tx_bytes,
			   sample->kernel.tx_invalid_descs, "-");
	details();
}

static void plain_line(double elapsed, const struct rates *rates, const struct sample *sample)
{
	printf("%6.0f s", elapsed);
	if (mode_receives())
		printf("  rx %.0f pps, %llu packets, dropped %llu, ring full %llu", rates->rx,
		       sample->counters.rx_packets, sample->kernel.rx_dropped,
		       sample->kernel.rx_ring_full);
	if (mode_sends())
		printf("  tx %.0f pps, %llu packets, dropped %llu", rates->tx,
		       sample->counters.tx_packets, sample->kernel.tx_invalid_descs);
	printf("\n");
	details();
}

static void text_start(void)
{
	printf("%s on %s, queue %u: ", mode_names[opt.mode], opt.ifname, opt.queue);
	printf("XDP program %s, bind %s, %u socket%s, ", program_mode(), bind_mode(), nr_sockets,
	       nr_sockets > 1 ? "s" : "");
	printf("%d frames of %u bytes; end with ^C\n", FRAME_COUNT, opt.frame_size);
}

/* Back to the top of the table, which is then written anew. */
static void rewind_screen(void)
{
	if (lines_on_screen && isatty(STDOUT_FILENO))
		printf("\033[%dF\033[J", lines_on_screen);
	lines_on_screen = 0;
}

void report_start(void)
{
	start = take_sample();
	previous = start;

	if (opt.json)
		json_start();
	else
		text_start();
	fflush(stdout);
}

void report_interval(void)
{
	struct sample sample = take_sample();
	struct rates rates = rates_between(&previous, &sample);
	double elapsed = sample.seconds - start.seconds;
	char title[32];

	if (opt.json) {
		json_record("interval", &rates, &sample);
	} else if (isatty(STDOUT_FILENO)) {
		rewind_screen();
		snprintf(title, sizeof(title), "after %.0f s", elapsed);
		table(title, &rates, &sample);
	} else {
		plain_line(elapsed, &rates, &sample);
	}
	fflush(stdout);
	previous = sample;
}

/* What comes back later counts, but not the time it takes. */
void report_stop(void)
{
	struct sample sample = take_sample();
	struct rates rates = rates_between(&start, &sample);

	stop_seconds = sample.seconds;
	if (opt.json)
		json_record("stop", &rates, &sample);
	fflush(stdout);
}

void report_total(void)
{
	struct sample sample = take_sample();
	struct rates rates;
	char title[32];

	sample.seconds = stop_seconds;
	rates = rates_between(&start, &sample);

	if (opt.json) {
		json_record("total", &rates, &sample);
	} else {
		rewind_screen();
		snprintf(title, sizeof(title), "total of %.1f s", rates.seconds);
		table(title, &rates, &sample);
	}
	fflush(stdout);
}
