// SPDX-License-Identifier: GPL-2.0
/* xdpsock: receives, sends or forwards packets with AF_XDP sockets. */
#include <bpf/libbpf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "xdpsock.h"

void print_notice(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("xdpsock: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
}

/* The kernel takes back what was set up so far when the process ends. */
void exit_err(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("xdpsock: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	exit(EXIT_FAILURE);
}

int main(int argc, char **argv)
{
	libbpf_set_print(NULL);
	options_parse(argc, argv);
	netdev_open();
	sockets_open();
	program_attach();
	report_start();
	traffic_run();
	report_total();
	program_detach();
	sockets_close();

	return opt.verify && !all_verified() ? EXIT_FAILURE : EXIT_SUCCESS;
}
