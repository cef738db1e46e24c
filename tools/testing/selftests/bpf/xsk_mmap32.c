// SPDX-License-Identifier: GPL-2.0
/*
 * What a program for 32 bit does on a kernel for 64 bit: it makes its umem and
 * rings at a socket that it is given, sends a packet and waits for the answer.
 *
 *	xsk_mmap32 SOCKET DEVICE
 *
 * Exit status 0: the answer was the packet with seed 2.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "xsk_test.h"

static_assert(sizeof(void *) == 4, "this program is about 32 bit");

int main(int argc, char **argv)
{
	struct xsk_umem umem;
	struct xdp_desc desc;
	struct xsk xsk;

	if (argc != 3)
		xsk_die("usage: xsk_mmap32 SOCKET DEVICE");

	xsk_umem_create(&umem, XSK_FRAMES, XSK_FRAME_SIZE);
	xsk_open_fd(&xsk, &umem, atoi(argv[1]), argv[2], 0, XDP_COPY);
	xsk_post_fill(&xsk, xsk_frame_new(&umem));
	xsk_send(&xsk, XSK_PACKET_LEN, 1);
	if (!xsk_drain_tx(&xsk))
		xsk_die("the packet is not completed");
	if (!xsk_wait(xsk_take_rx(&xsk, &desc)))
		xsk_die("no answer came");
	if (!xsk_packet_intact(xsk_data(&umem, desc.addr), desc.len, 2))
		xsk_die("the answer is not intact");
	return EXIT_SUCCESS;
}
