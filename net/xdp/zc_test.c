// SPDX-License-Identifier: GPL-2.0
/* Zero-copy, with the driver and user space played by the test: a device that is
 * never registered, a umem of kernel memory, and the rings filled by hand.
 */

#include <kunit/device.h>
#include <kunit/test.h>
#include <linux/dma-mapping.h>
#include <linux/etherdevice.h>
#include <linux/filter.h>
#include <linux/rtnetlink.h>
#include <linux/vmalloc.h>
#include <net/netdev_rx_queue.h>
#include <net/xdp_sock_drv.h>

#include "ring.h"
#include "xsk.h"

#define CHUNK	2048U
#define CHUNKS	64U
#define SIZE	(CHUNK * CHUNKS)
#define ENTRIES	16U
#define QUEUES	4
#define QUEUE	2

/* What the driver's Tx ring has room for. */
#define TX_ROOM	64

struct fake_driver {
	struct device *dma_dev;
	struct xdp_rxq_info rxq;
	struct xsk_buff_pool *pool;
	int setup_error;
};

struct zc {
	struct net_device *dev;
	struct fake_driver *driver;
	struct xdp_umem umem;
	struct xsk_buff_pool *pool;
	struct xdp_sock *xs;
};

static int fake_setup_pool(struct net_device *dev, struct netdev_bpf *bpf)
{
	struct fake_driver *driver = netdev_priv(dev);
	int err;

	if (!bpf->xsk.pool) {
		xsk_pool_dma_unmap(driver->pool, 0);
		driver->pool = NULL;
		return 0;
	}

	if (driver->setup_error)
		return driver->setup_error;
	driver->pool = bpf->xsk.pool;

	err = xsk_pool_dma_map(driver->pool, driver->dma_dev, 0);
	if (err)
		return err;
	xsk_pool_set_rxq_info(driver->pool, &driver->rxq);
	return 0;
}

static const struct net_device_ops fake_ops = {
	.ndo_bpf = fake_setup_pool,
};

static struct zc *zc_create(struct kunit *test, u32 umem_flags)
{
	struct zc *zc = kunit_kzalloc(test, sizeof(*zc), GFP_KERNEL);
	struct device *dma_dev = kunit_device_register(test, "xsk");
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, zc);
	KUNIT_ASSERT_FALSE(test, IS_ERR(dma_dev));
	dma_dev->dma_mask = &dma_dev->coherent_dma_mask;
	KUNIT_ASSERT_EQ(test, dma_set_mask_and_coherent(dma_dev, DMA_BIT_MASK(64)), 0);

	zc->dev = alloc_etherdev_mq(sizeof(*zc->driver), QUEUES);
	KUNIT_ASSERT_NOT_NULL(test, zc->dev);
	zc->dev->netdev_ops = &fake_ops;
	zc->dev->mtu = 1500;
	zc->dev->xdp_zc_max_segs = 4;
	zc->dev->xdp_features = NETDEV_XDP_ACT_BASIC | NETDEV_XDP_ACT_REDIRECT |
				NETDEV_XDP_ACT_XSK_ZEROCOPY;
	zc->driver = netdev_priv(zc->dev);
	zc->driver->dma_dev = dma_dev;
	zc->driver->rxq.dev = zc->dev;
	zc->driver->rxq.queue_index = QUEUE;
	zc->driver->rxq.mem.type = MEM_TYPE_XSK_BUFF_POOL;

	zc->umem = (struct xdp_umem) {
		.addrs = vzalloc(SIZE),
		.size = SIZE,
		.chunk_size = CHUNK,
		.chunks = CHUNKS,
		.npgs = SIZE / PAGE_SIZE,
		.dma_unit = PAGE_SIZE,
		.flags = umem_flags,
	};
	KUNIT_ASSERT_NOT_NULL(test, zc->umem.addrs);
	INIT_LIST_HEAD(&zc->umem.dma_maps);
	zc->umem.pgs = kunit_kcalloc(test, zc->umem.npgs, sizeof(struct page *),
				     GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, zc->umem.pgs);
	for (i = 0; i < zc->umem.npgs; i++)
		zc->umem.pgs[i] = vmalloc_to_page(zc->umem.addrs + i * PAGE_SIZE);

	zc->pool = xp_create(&zc->umem, xsk_queue_create(XSK_RING_FILL, ENTRIES),
			     xsk_queue_create(XSK_RING_COMPLETION, ENTRIES));
	KUNIT_ASSERT_NOT_NULL(test, zc->pool);
	return zc;
}

static void zc_destroy(struct kunit *test, struct zc *zc)
{
	rtnl_lock();
	xp_detach(zc->pool);
	rtnl_unlock();

	KUNIT_EXPECT_PTR_EQ(test, xsk_get_pool_from_qid(zc->dev, QUEUE), NULL);
	KUNIT_EXPECT_PTR_EQ(test, zc->driver->pool, NULL);
	KUNIT_EXPECT_TRUE(test, list_empty(&zc->umem.dma_maps));
	xp_put(zc->pool);
	vfree(zc->umem.addrs);
	free_netdev(zc->dev);
}

static int zc_attach(struct zc *zc, u32 queue, u16 flags)
{
	int err;

	rtnl_lock();
	err = xp_attach(zc->pool, zc->dev, queue, flags, ENTRIES);
	rtnl_unlock();
	return err;
}

static struct xdp_sock *socket_create(struct kunit *test, struct zc *zc)
{
	struct xdp_sock *xs = kunit_kzalloc(test, sizeof(*xs), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, xs);
	xs->rx = xsk_queue_create(XSK_RING_RX, ENTRIES);
	xs->tx = xsk_queue_create(XSK_RING_TX, ENTRIES);
	KUNIT_ASSERT_FALSE(test, IS_ERR(xs->rx) || IS_ERR(xs->tx));
	xs->pool = zc->pool;
	xs->queue_id = QUEUE;
	xs->rx_max_len = U32_MAX;
	xs->rx_dev = zc->dev;
	xp_add_tx_socket(zc->pool, xs);
	return xs;
}

static void socket_destroy(struct zc *zc, struct xdp_sock *xs)
{
	xp_del_tx_socket(zc->pool, xs);
	synchronize_net();
	xsk_queue_destroy(xs->rx);
	xsk_queue_destroy(xs->tx);
}

/* A queue that runs, with one socket. */
static struct zc *zc_start(struct kunit *test, u32 umem_flags)
{
	struct zc *zc = zc_create(test, umem_flags);

	KUNIT_ASSERT_EQ(test, zc_attach(zc, QUEUE, XDP_ZEROCOPY | XDP_USE_SG), 0);
	zc->xs = socket_create(test, zc);
	return zc;
}

static void zc_stop(struct kunit *test, struct zc *zc)
{
	socket_destroy(zc, zc->xs);
	zc_destroy(test, zc);
}

/* Setting up */

static void zc_attach_refusals(struct kunit *test)
{
	struct zc *zc = zc_create(test, 0);
	struct net_device *dev = zc->dev;
	xdp_features_t features = dev->xdp_features;

	KUNIT_EXPECT_EQ(test, zc_attach(zc, QUEUES, XDP_ZEROCOPY), -ENXIO);
	KUNIT_EXPECT_EQ(test, zc_attach(zc, QUEUES + 65536, XDP_COPY), -ENXIO);
	KUNIT_EXPECT_EQ(test, zc_attach(zc, 65536, XDP_COPY), -ENXIO);

	dev->xdp_features &= ~NETDEV_XDP_ACT_XSK_ZEROCOPY;
	KUNIT_EXPECT_EQ(test, zc_attach(zc, QUEUE, XDP_ZEROCOPY), -EOPNOTSUPP);
	dev->xdp_features = features;

	dev->xdp_zc_max_segs = 1;
	KUNIT_EXPECT_EQ(test, zc_attach(zc, QUEUE, XDP_ZEROCOPY | XDP_USE_SG),
			-EPROTONOSUPPORT);
	dev->xdp_zc_max_segs = 4;

	dev->mtu = 2000;
	KUNIT_EXPECT_EQ(test, zc_attach(zc, QUEUE, XDP_ZEROCOPY), -EMSGSIZE);
	dev->mtu = 9000;
	KUNIT_EXPECT_EQ(test, zc_attach(zc, QUEUE, XDP_ZEROCOPY | XDP_USE_SG), -EMSGSIZE);
	dev->mtu = 1500;

	zc->pool->tx_sw_csum = true;
	KUNIT_EXPECT_EQ(test, zc_attach(zc, QUEUE, XDP_ZEROCOPY), -EPROTOTYPE);
	zc->pool->tx_sw_csum = false;

	/* After all that the queue is as good as new. */
	KUNIT_EXPECT_EQ(test, zc_attach(zc, QUEUE, XDP_ZEROCOPY), 0);
	KUNIT_EXPECT_TRUE(test, zc->pool->zc);
	zc_destroy(test, zc);
}

static void zc_attach_busy(struct kunit *test)
{
	struct zc *zc = zc_create(test, 0);
	struct xsk_buff_pool other = {};

	zc->dev->_rx[QUEUE].pool = &other;
	KUNIT_EXPECT_EQ(test, zc_attach(zc, QUEUE, XDP_COPY), -EBUSY);
	KUNIT_EXPECT_PTR_EQ(test, zc->dev->_rx[QUEUE].pool, &other);
	zc->dev->_rx[QUEUE].pool = NULL;
	zc_destroy(test, zc);
}

/* The driver's own error gets through if zero-copy is a must; else the socket is
 * bound in copy mode, and nothing is left of the attempt.
 */
static void zc_attach_driver_fails(struct kunit *test)
{
	struct zc *zc = zc_create(test, 0);

	zc->driver->setup_error = -ENOTTY;
	KUNIT_EXPECT_EQ(test, zc_attach(zc, QUEUE, XDP_ZEROCOPY), -ENOTTY);
	KUNIT_EXPECT_PTR_EQ(test, xsk_get_pool_from_qid(zc->dev, QUEUE), NULL);

	KUNIT_EXPECT_EQ(test, zc_attach(zc, QUEUE, 0), 0);
	KUNIT_EXPECT_FALSE(test, zc->pool->zc);
	KUNIT_EXPECT_PTR_EQ(test, zc->pool->heads, NULL);
	KUNIT_EXPECT_PTR_EQ(test, zc->pool->tx_descs, NULL);
	KUNIT_EXPECT_PTR_EQ(test, xsk_get_pool_from_qid(zc->dev, QUEUE), zc->pool);
	zc_destroy(test, zc);
}

static void zc_dma_map_is_shared(struct kunit *test)
{
	struct zc *zc = zc_start(test, 0);
	struct xsk_buff_pool *second;

	second = xp_create(&zc->umem, xsk_queue_create(XSK_RING_FILL, ENTRIES),
			   xsk_queue_create(XSK_RING_COMPLETION, ENTRIES));
	KUNIT_ASSERT_NOT_NULL(test, second);

	rtnl_lock();
	KUNIT_EXPECT_EQ(test, xsk_pool_dma_map(second, zc->driver->dma_dev, 0), 0);
	KUNIT_EXPECT_PTR_EQ(test, second->dma_pages, zc->pool->dma_pages);
	xsk_pool_dma_unmap(second, 0);
	xsk_pool_dma_unmap(second, 0);
	rtnl_unlock();

	KUNIT_EXPECT_NOT_NULL(test, zc->pool->dma_pages);
	KUNIT_EXPECT_FALSE(test, list_empty(&zc->umem.dma_maps));
	xp_put(second);
	zc_stop(test, zc);
}

/* Receiving */

static void user_fills(struct xsk_buff_pool *pool, u64 addr)
{
	struct xsk_ring *ring = pool->fq->ring;

	ring->addr[ring->producer & pool->fq->mask] = addr;
	/* As user space does. */
	smp_store_release(&ring->producer, ring->producer + 1);
}

static u32 user_received(struct xdp_sock *xs)
{
	return xsk_ring_fill_level(xs->rx);
}

static struct xdp_desc user_receives(struct xdp_sock *xs)
{
	struct xsk_ring *ring = xs->rx->ring;

	return ring->desc[ring->consumer++ & xs->rx->mask];
}

/* A NAPI poll in which the packet is redirected to the socket. */
static int driver_receives(struct xdp_sock *xs, struct xdp_buff *xdp)
{
	struct bpf_net_context ctx, *old;
	int err;

	local_bh_disable();
	old = bpf_net_ctx_set(&ctx);
	err = __xsk_map_redirect(xs, xdp);
	xdp_do_flush();
	bpf_net_ctx_clear(old);
	local_bh_enable();
	return err;
}

static void zc_rx(struct kunit *test)
{
	struct zc *zc = zc_start(test, 0);
	struct xdp_buff *xdp[8];
	struct xdp_desc desc;
	u32 i;

	for (i = 0; i < 5; i++)
		user_fills(zc->pool, (10 + i) * CHUNK + i);
	KUNIT_ASSERT_EQ(test, xsk_buff_alloc_batch(zc->pool, xdp, 8), 5);
	KUNIT_EXPECT_EQ(test, zc->pool->fq->ring->consumer, 5);

	for (i = 0; i < 5; i++) {
		KUNIT_EXPECT_EQ(test, xsk_buff_xdp_get_dma(xdp[i]) -
				xsk_buff_xdp_get_frame_dma(xdp[i]), XDP_PACKET_HEADROOM);
		xsk_buff_set_size(xdp[i], 60 + i);
		xsk_buff_dma_sync_for_cpu(xdp[i]);
		KUNIT_EXPECT_EQ(test, driver_receives(zc->xs, xdp[i]), 0);
	}

	KUNIT_ASSERT_EQ(test, user_received(zc->xs), 5);
	for (i = 0; i < 5; i++) {
		desc = user_receives(zc->xs);
		KUNIT_EXPECT_EQ(test, desc.addr, (10 + i) * CHUNK + XDP_PACKET_HEADROOM);
		KUNIT_EXPECT_EQ(test, desc.len, 60 + i);
		KUNIT_EXPECT_EQ(test, desc.options, 0);
	}
	zc_stop(test, zc);
}

static void zc_rx_unaligned(struct kunit *test)
{
	struct zc *zc = zc_start(test, XDP_UMEM_UNALIGNED_CHUNK_FLAG);
	const u64 frame = 3 * PAGE_SIZE + 123;
	struct xdp_buff *xdp;
	struct xdp_desc desc;

	user_fills(zc->pool, frame);
	xdp = xsk_buff_alloc(zc->pool);
	KUNIT_ASSERT_NOT_NULL(test, xdp);
	KUNIT_EXPECT_EQ(test, xsk_buff_xdp_get_frame_dma(xdp),
			xsk_buff_raw_get_dma(zc->pool, frame));
	KUNIT_EXPECT_PTR_EQ(test, xdp->data,
			    zc->umem.addrs + frame + XDP_PACKET_HEADROOM);

	xsk_buff_set_size(xdp, 100);
	/* The program takes off a header of 14 bytes. */
	xdp->data += 14;
	KUNIT_EXPECT_EQ(test, driver_receives(zc->xs, xdp), 0);
	desc = user_receives(zc->xs);
	KUNIT_EXPECT_EQ(test, desc.addr, frame | (u64)(XDP_PACKET_HEADROOM + 14) <<
			XSK_UNALIGNED_BUF_OFFSET_SHIFT);
	KUNIT_EXPECT_EQ(test, desc.len, 86);
	zc_stop(test, zc);
}

/* Frames for which there is no room stay with the pool, and are used again. */
static void zc_rx_ring_full(struct kunit *test)
{
	struct zc *zc = zc_start(test, 0);
	struct xdp_buff *xdp, *last;
	u32 i;

	for (i = 0; i < ENTRIES; i++) {
		user_fills(zc->pool, i * CHUNK);
		xdp = xsk_buff_alloc(zc->pool);
		xsk_buff_set_size(xdp, 60);
		KUNIT_EXPECT_EQ(test, driver_receives(zc->xs, xdp), 0);
	}

	user_fills(zc->pool, ENTRIES * CHUNK);
	last = xsk_buff_alloc(zc->pool);
	xsk_buff_set_size(last, 60);
	KUNIT_EXPECT_EQ(test, driver_receives(zc->xs, last), -ENOBUFS);
	KUNIT_EXPECT_EQ(test, zc->xs->rx_queue_full, 1);
	/* Drivers free it once more. */
	xsk_buff_free(last);
	KUNIT_EXPECT_PTR_EQ(test, xsk_buff_alloc(zc->pool), last);
	KUNIT_EXPECT_PTR_EQ(test, xsk_buff_alloc(zc->pool), NULL);
	zc_stop(test, zc);
}

static void zc_rx_invalid_fill(struct kunit *test)
{
	static const u64 bad[] = { SIZE, SIZE + CHUNK, 1ULL << 40, U64_MAX };
	struct zc *zc = zc_start(test, 0);
	struct xdp_buff *xdp[ENTRIES];
	int i;

	user_fills(zc->pool, CHUNK);
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		user_fills(zc->pool, bad[i]);
	user_fills(zc->pool, SIZE - 1);

	KUNIT_EXPECT_EQ(test, xsk_buff_alloc_batch(zc->pool, xdp, ENTRIES), 2);
	KUNIT_EXPECT_EQ(test, zc->pool->fq->invalid_descs, ARRAY_SIZE(bad));
	KUNIT_EXPECT_PTR_EQ(test, xdp[0], &zc->pool->heads[1].xdp);
	KUNIT_EXPECT_PTR_EQ(test, xdp[1], &zc->pool->heads[CHUNKS - 1].xdp);

	for (i = 0; i < ARRAY_SIZE(bad); i++)
		user_fills(zc->pool, bad[i]);
	KUNIT_EXPECT_PTR_EQ(test, xsk_buff_alloc(zc->pool), NULL);
	KUNIT_EXPECT_EQ(test, zc->pool->fq->invalid_descs, 2 * ARRAY_SIZE(bad));
	zc_stop(test, zc);
}

/* User space that gives a frame twice spoils its own packets, no list of ours. */
static void zc_rx_frame_twice(struct kunit *test)
{
	struct zc *zc = zc_start(test, 0);
	struct xdp_buff *xdp[4];
	u32 i;

	for (i = 0; i < 3; i++)
		user_fills(zc->pool, 7 * CHUNK);
	user_fills(zc->pool, 8 * CHUNK);
	KUNIT_ASSERT_EQ(test, xsk_buff_alloc_batch(zc->pool, xdp, 4), 4);
	for (i = 0; i < 4; i++)
		xsk_buff_free(xdp[i]);
	KUNIT_EXPECT_TRUE(test, xsk_buff_can_alloc(zc->pool, 2));
	KUNIT_EXPECT_FALSE(test, xsk_buff_can_alloc(zc->pool, 3));
	KUNIT_EXPECT_EQ(test, xsk_buff_alloc_batch(zc->pool, xdp, 4), 2);
	zc_stop(test, zc);
}

static struct xdp_buff *driver_builds_packet(struct kunit *test, struct zc *zc, u32 segs)
{
	struct xdp_buff *first = NULL;
	u32 i;

	for (i = 0; i < segs; i++) {
		struct xdp_buff *xdp = xsk_buff_alloc(zc->pool);

		KUNIT_ASSERT_NOT_NULL(test, xdp);
		xsk_buff_set_size(xdp, 1000 + i);
		if (!first) {
			first = xdp;
			xdp_buff_set_frags_flag(first);
			xdp_get_shared_info_from_buff(first)->nr_frags = 0;
			xdp_get_shared_info_from_buff(first)->xdp_frags_size = 0;
			continue;
		}
		xdp_get_shared_info_from_buff(first)->nr_frags++;
		xdp_get_shared_info_from_buff(first)->xdp_frags_size += 1000 + i;
		xsk_buff_add_frag(xdp);
		KUNIT_EXPECT_PTR_EQ(test, xsk_buff_get_tail(first), xdp);
	}
	return first;
}

static void user_received_packet(struct kunit *test, struct zc *zc, u32 first_chunk,
				 u32 segs)
{
	struct xdp_desc desc;
	u32 i;

	KUNIT_ASSERT_EQ(test, user_received(zc->xs), segs);
	for (i = 0; i < segs; i++) {
		desc = user_receives(zc->xs);
		KUNIT_EXPECT_EQ(test, desc.addr,
				(first_chunk + i) * CHUNK + XDP_PACKET_HEADROOM);
		KUNIT_EXPECT_EQ(test, desc.len, 1000 + i);
		KUNIT_EXPECT_EQ(test, desc.options, i + 1 < segs ? XDP_PKT_CONTD : 0);
	}
}

static void zc_rx_multi_buffer(struct kunit *test)
{
	struct zc *zc = zc_start(test, 0);
	struct xdp_buff *xdp, *tail;
	u32 i;

	for (i = 0; i < 7; i++)
		user_fills(zc->pool, i * CHUNK);

	xdp = driver_builds_packet(test, zc, 3);
	KUNIT_EXPECT_EQ(test, driver_receives(zc->xs, xdp), 0);
	user_received_packet(test, zc, 0, 3);

	/* The program cuts the last buffer off. */
	xdp = driver_builds_packet(test, zc, 4);
	tail = xsk_buff_get_tail(xdp);
	xsk_buff_del_tail(tail);
	xsk_buff_free(tail);
	xdp_get_shared_info_from_buff(xdp)->nr_frags--;
	KUNIT_EXPECT_EQ(test, driver_receives(zc->xs, xdp), 0);
	user_received_packet(test, zc, 3, 3);
	KUNIT_EXPECT_PTR_EQ(test, xsk_buff_alloc(zc->pool), tail);
	zc_stop(test, zc);
}

/* A packet gets through as a whole or not at all. */
static void zc_rx_multi_buffer_ring_full(struct kunit *test)
{
	struct zc *zc = zc_start(test, 0);
	struct xdp_buff *xdp;
	u32 i;

	for (i = 0; i < ENTRIES - 2; i++) {
		user_fills(zc->pool, i * CHUNK);
		xdp = xsk_buff_alloc(zc->pool);
		xsk_buff_set_size(xdp, 60);
		KUNIT_EXPECT_EQ(test, driver_receives(zc->xs, xdp), 0);
	}

	for (i = 0; i < 3; i++)
		user_fills(zc->pool, (20 + i) * CHUNK);
	xdp = driver_builds_packet(test, zc, 3);
	KUNIT_EXPECT_EQ(test, driver_receives(zc->xs, xdp), -ENOBUFS);
	KUNIT_EXPECT_EQ(test, user_received(zc->xs), ENTRIES - 2);
	KUNIT_EXPECT_TRUE(test, xsk_buff_can_alloc(zc->pool, 3));
	KUNIT_EXPECT_FALSE(test, xsk_buff_can_alloc(zc->pool, 4));

	/* The driver takes a packet apart to copy it for the stack. */
	xdp = driver_builds_packet(test, zc, 3);
	for (i = 0; i < 2; i++)
		xsk_buff_free(xsk_buff_get_frag(xdp));
	KUNIT_EXPECT_PTR_EQ(test, xsk_buff_get_frag(xdp), NULL);
	xsk_buff_free(xdp);
	KUNIT_EXPECT_TRUE(test, xsk_buff_can_alloc(zc->pool, 3));
	zc_stop(test, zc);
}

static void zc_rx_other_queue(struct kunit *test)
{
	struct zc *zc = zc_start(test, 0);
	struct xdp_buff *xdp;

	user_fills(zc->pool, 0);
	xdp = xsk_buff_alloc(zc->pool);
	xsk_buff_set_size(xdp, 60);

	zc->driver->rxq.queue_index = QUEUE + 1;
	KUNIT_EXPECT_EQ(test, driver_receives(zc->xs, xdp), -EINVAL);
	zc->driver->rxq.queue_index = QUEUE;
	zc->xs->rx_dev = NULL;
	KUNIT_EXPECT_EQ(test, driver_receives(zc->xs, xdp), -ENXIO);
	zc->xs->rx_dev = zc->dev;
	zc->xs->rx_max_len = 59;
	KUNIT_EXPECT_EQ(test, driver_receives(zc->xs, xdp), -ENOSPC);
	KUNIT_EXPECT_EQ(test, user_received(zc->xs), 0);
	zc_stop(test, zc);
}

/* Sending */

static void user_sends(struct xdp_sock *xs, u64 addr, u32 len, u32 options)
{
	struct xsk_ring *ring = xs->tx->ring;

	ring->desc[ring->producer & xs->tx->mask] =
		(struct xdp_desc) { .addr = addr, .len = len, .options = options };
	/* As user space does. */
	smp_store_release(&ring->producer, ring->producer + 1);
}

/* The addresses that came back are those from @first on, a chunk apart. */
static void user_gets_back(struct kunit *test, struct zc *zc, u32 first, u32 n)
{
	struct xsk_queue *cq = zc->pool->cq;
	struct xsk_ring *ring = cq->ring;
	u32 i;

	KUNIT_ASSERT_EQ(test, xsk_ring_fill_level(cq), n);
	for (i = 0; i < n; i++)
		KUNIT_EXPECT_EQ(test, ring->addr[ring->consumer++ & cq->mask],
				(u64)(first + i) * CHUNK);
}

static u32 driver_sends(struct zc *zc)
{
	return xsk_tx_peek_release_desc_batch(zc->pool, TX_ROOM);
}

static void zc_tx(struct kunit *test)
{
	struct zc *zc = zc_start(test, 0);
	u32 i;

	for (i = 0; i < 6; i++)
		user_sends(zc->xs, i * CHUNK, 60 + i, 0);

	KUNIT_ASSERT_EQ(test, driver_sends(zc), 6);
	KUNIT_EXPECT_EQ(test, zc->xs->tx->ring->consumer, 6);
	for (i = 0; i < 6; i++) {
		KUNIT_EXPECT_EQ(test, zc->pool->tx_descs[i].addr, i * CHUNK);
		KUNIT_EXPECT_EQ(test, zc->pool->tx_descs[i].len, 60 + i);
	}
	user_gets_back(test, zc, 0, 0);
	xsk_tx_completed(zc->pool, 2);
	user_gets_back(test, zc, 0, 2);
	xsk_tx_completed(zc->pool, 4);
	user_gets_back(test, zc, 2, 4);
	KUNIT_EXPECT_EQ(test, driver_sends(zc), 0);
	zc_stop(test, zc);
}

/* What is invalid does not reach the driver, and comes back once, when all before
 * it is complete.
 */
static void zc_tx_invalid(struct kunit *test)
{
	static const bool valid[] = { 0, 1, 1, 0, 0, 1, 0 };
	struct zc *zc = zc_start(test, 0);
	u32 i;

	for (i = 0; i < ARRAY_SIZE(valid); i++)
		user_sends(zc->xs, i * CHUNK, valid[i] ? 60 : 0, 0);

	KUNIT_ASSERT_EQ(test, driver_sends(zc), 3);
	KUNIT_EXPECT_EQ(test, zc->pool->tx_descs[0].addr, 1 * CHUNK);
	KUNIT_EXPECT_EQ(test, zc->pool->tx_descs[1].addr, 2 * CHUNK);
	KUNIT_EXPECT_EQ(test, zc->pool->tx_descs[2].addr, 5 * CHUNK);
	KUNIT_EXPECT_EQ(test, zc->xs->tx->invalid_descs, 4);

	user_gets_back(test, zc, 0, 1);
	xsk_tx_completed(zc->pool, 1);
	user_gets_back(test, zc, 1, 1);
	xsk_tx_completed(zc->pool, 1);
	user_gets_back(test, zc, 2, 3);
	xsk_tx_completed(zc->pool, 1);
	user_gets_back(test, zc, 5, 2);
	KUNIT_EXPECT_EQ(test, zc->pool->cq_nr_gaps, 0);
	zc_stop(test, zc);
}

static void zc_tx_all_invalid(struct kunit *test)
{
	struct zc *zc = zc_start(test, 0);
	u32 i, round;

	/* Often enough for the slots of the completion ring to wrap around. */
	for (round = 0; round < 3; round++) {
		for (i = 0; i < ENTRIES; i++)
			user_sends(zc->xs, i * CHUNK, CHUNK + 1, 0);
		KUNIT_EXPECT_EQ(test, driver_sends(zc), 0);
		user_gets_back(test, zc, 0, ENTRIES);
	}
	KUNIT_EXPECT_EQ(test, zc->xs->tx->invalid_descs, 3 * ENTRIES);
	zc_stop(test, zc);
}

static void zc_tx_multi_buffer(struct kunit *test)
{
	struct zc *zc = zc_start(test, 0);

	/* Two packets, and the beginning of a third. */
	user_sends(zc->xs, 0 * CHUNK, 100, XDP_PKT_CONTD);
	user_sends(zc->xs, 1 * CHUNK, 100, XDP_PKT_CONTD);
	user_sends(zc->xs, 2 * CHUNK, 100, 0);
	user_sends(zc->xs, 3 * CHUNK, 100, 0);
	user_sends(zc->xs, 4 * CHUNK, 100, XDP_PKT_CONTD);
	KUNIT_EXPECT_EQ(test, driver_sends(zc), 4);
	KUNIT_EXPECT_EQ(test, driver_sends(zc), 0);

	user_sends(zc->xs, 5 * CHUNK, 100, 0);
	KUNIT_EXPECT_EQ(test, driver_sends(zc), 2);
	xsk_tx_completed(zc->pool, 6);
	user_gets_back(test, zc, 0, 6);
	KUNIT_EXPECT_EQ(test, zc->xs->tx->invalid_descs, 0);
	zc_stop(test, zc);
}

/* One invalid descriptor spoils its packet, also what of it comes later. */
static void zc_tx_multi_buffer_invalid(struct kunit *test)
{
	struct zc *zc = zc_start(test, 0);

	user_sends(zc->xs, 0 * CHUNK, 100, 0);
	user_sends(zc->xs, 1 * CHUNK, 100, XDP_PKT_CONTD);
	user_sends(zc->xs, 2 * CHUNK, 0, XDP_PKT_CONTD);
	KUNIT_EXPECT_EQ(test, driver_sends(zc), 1);
	user_gets_back(test, zc, 0, 0);
	xsk_tx_completed(zc->pool, 1);
	user_gets_back(test, zc, 0, 3);

	user_sends(zc->xs, 3 * CHUNK, 100, XDP_PKT_CONTD);
	KUNIT_EXPECT_EQ(test, driver_sends(zc), 0);
	user_sends(zc->xs, 4 * CHUNK, 100, 0);
	user_sends(zc->xs, 5 * CHUNK, 100, 0);
	KUNIT_EXPECT_EQ(test, driver_sends(zc), 1);
	KUNIT_EXPECT_EQ(test, zc->pool->tx_descs[0].addr, 5 * CHUNK);
	xsk_tx_completed(zc->pool, 1);
	user_gets_back(test, zc, 3, 3);
	KUNIT_EXPECT_EQ(test, zc->xs->tx->invalid_descs, 4);
	zc_stop(test, zc);
}

static void zc_tx_too_many_buffers(struct kunit *test)
{
	struct zc *zc = zc_start(test, 0);
	u32 max = zc->dev->xdp_zc_max_segs, i;

	for (i = 0; i < max; i++)
		user_sends(zc->xs, i * CHUNK, 100, i + 1 < max ? XDP_PKT_CONTD : 0);
	for (; i < 2 * max + 1; i++)
		user_sends(zc->xs, i * CHUNK, 100, i < 2 * max ? XDP_PKT_CONTD : 0);
	user_sends(zc->xs, i * CHUNK, 100, 0);

	KUNIT_EXPECT_EQ(test, driver_sends(zc), max + 1);
	KUNIT_EXPECT_EQ(test, zc->xs->tx->invalid_descs, max + 1);
	xsk_tx_completed(zc->pool, max + 1);
	user_gets_back(test, zc, 0, 2 * max + 2);
	zc_stop(test, zc);
}

/* Nothing is sent for which there is no room in the completion ring. */
static void zc_tx_completion_ring_full(struct kunit *test)
{
	struct zc *zc = zc_start(test, 0);
	u32 i;

	for (i = 0; i < ENTRIES; i++)
		user_sends(zc->xs, i * CHUNK, 60, 0);
	KUNIT_EXPECT_EQ(test, driver_sends(zc), ENTRIES);
	for (i = 0; i < 4; i++)
		user_sends(zc->xs, (ENTRIES + i) * CHUNK, 60, 0);
	KUNIT_EXPECT_EQ(test, driver_sends(zc), 0);

	xsk_tx_completed(zc->pool, ENTRIES);
	KUNIT_EXPECT_EQ(test, driver_sends(zc), 0);
	user_gets_back(test, zc, 0, ENTRIES);
	KUNIT_EXPECT_EQ(test, driver_sends(zc), 4);
	xsk_tx_completed(zc->pool, 4);
	user_gets_back(test, zc, ENTRIES, 4);
	zc_stop(test, zc);
}

static void zc_tx_driver_room(struct kunit *test)
{
	struct zc *zc = zc_start(test, 0);

	user_sends(zc->xs, 0 * CHUNK, 60, 0);
	user_sends(zc->xs, 1 * CHUNK, 60, XDP_PKT_CONTD);
	user_sends(zc->xs, 2 * CHUNK, 60, 0);
	KUNIT_EXPECT_EQ(test, xsk_tx_peek_release_desc_batch(zc->pool, 2), 1);
	KUNIT_EXPECT_EQ(test, xsk_tx_peek_release_desc_batch(zc->pool, 1), 0);
	KUNIT_EXPECT_EQ(test, xsk_tx_peek_release_desc_batch(zc->pool, 2), 2);
	xsk_tx_completed(zc->pool, 3);
	user_gets_back(test, zc, 0, 3);
	zc_stop(test, zc);
}

static void zc_tx_peek(struct kunit *test)
{
	struct zc *zc = zc_start(test, 0);
	struct xdp_desc desc;

	user_sends(zc->xs, 0 * CHUNK, 60, 0);
	user_sends(zc->xs, 1 * CHUNK, 0, 0);
	user_sends(zc->xs, 2 * CHUNK, 60, 0);
	user_sends(zc->xs, 3 * CHUNK, 0, 0);

	KUNIT_EXPECT_TRUE(test, xsk_tx_peek_desc(zc->pool, &desc));
	KUNIT_EXPECT_EQ(test, desc.addr, 0);
	KUNIT_EXPECT_TRUE(test, xsk_tx_peek_desc(zc->pool, &desc));
	KUNIT_EXPECT_EQ(test, desc.addr, 2 * CHUNK);
	KUNIT_EXPECT_FALSE(test, xsk_tx_peek_desc(zc->pool, &desc));
	xsk_tx_release(zc->pool);
	KUNIT_EXPECT_EQ(test, zc->xs->tx->ring->consumer, 4);
	xsk_tx_completed(zc->pool, 2);
	user_gets_back(test, zc, 0, 4);
	zc_stop(test, zc);
}

/* Two sockets on a queue, one of which always has something to send. */
static void zc_tx_fair(struct kunit *test)
{
	struct zc *zc = zc_start(test, 0);
	struct xdp_sock *other = socket_create(test, zc);
	u32 sent[2] = {}, round, i, n;

	for (round = 0; round < 100; round++) {
		while (xsk_ring_fill_level(zc->xs->tx) < ENTRIES)
			user_sends(zc->xs, 1 * CHUNK, 60, 0);
		while (xsk_ring_fill_level(other->tx) < ENTRIES)
			user_sends(other, 2 * CHUNK, 60, 0);

		n = xsk_tx_peek_release_desc_batch(zc->pool, 5);
		KUNIT_ASSERT_EQ(test, n, 5);
		for (i = 0; i < n; i++)
			sent[zc->pool->tx_descs[i].addr / CHUNK - 1]++;
		xsk_tx_completed(zc->pool, n);
		zc->pool->cq->ring->consumer += n;
	}
	KUNIT_EXPECT_EQ(test, sent[0] + sent[1], 500);
	KUNIT_EXPECT_LE(test, abs((int)(sent[0] - sent[1])), XSK_TX_BUDGET);
	socket_destroy(zc, other);
	zc_stop(test, zc);
}

/* What is left of a socket's budget may be less than its next packet. */
static void zc_tx_fair_multi_buffer(struct kunit *test)
{
	struct zc *zc = zc_start(test, 0);
	struct xdp_sock *other = socket_create(test, zc);
	u32 round, sent = 0;

	for (round = 0; round < 50; round++) {
		user_sends(zc->xs, 0 * CHUNK, 60, XDP_PKT_CONTD);
		user_sends(zc->xs, 1 * CHUNK, 60, XDP_PKT_CONTD);
		user_sends(zc->xs, 2 * CHUNK, 60, 0);
		sent = driver_sends(zc);
		KUNIT_ASSERT_EQ(test, sent, 3);
		xsk_tx_completed(zc->pool, sent);
		user_gets_back(test, zc, 0, 3);
	}
	socket_destroy(zc, other);
	zc_stop(test, zc);
}

static void zc_tx_need_wakeup(struct kunit *test)
{
	struct zc *zc = zc_start(test, 0);
	struct xsk_ring *tx = zc->xs->tx->ring, *fq = zc->pool->fq->ring;

	xsk_clear_tx_need_wakeup(zc->pool);
	KUNIT_EXPECT_EQ(test, tx->flags, 0);
	xsk_set_tx_need_wakeup(zc->pool);
	KUNIT_EXPECT_EQ(test, tx->flags, XDP_RING_NEED_WAKEUP);
	xsk_set_rx_need_wakeup(zc->pool);
	KUNIT_EXPECT_EQ(test, fq->flags, XDP_RING_NEED_WAKEUP);
	xsk_clear_rx_need_wakeup(zc->pool);
	KUNIT_EXPECT_EQ(test, fq->flags, 0);
	KUNIT_EXPECT_EQ(test, tx->flags, XDP_RING_NEED_WAKEUP);
	zc_stop(test, zc);
}

/* User space changes metadata behind the driver's back, to no avail. */
static void zc_tx_metadata_is_a_copy(struct kunit *test)
{
	struct zc *zc = zc_start(test, 0);
	struct xsk_tx_metadata_compl compl;
	struct xsk_tx_metadata *user, *meta;

	zc->pool->tx_metadata_len = sizeof(*user);
	user = zc->umem.addrs + CHUNK;
	user->flags = XDP_TXMD_FLAGS_CHECKSUM;
	user->request.csum_start = 34;
	user->request.csum_offset = 16;

	KUNIT_EXPECT_PTR_EQ(test, xsk_buff_get_metadata(zc->pool, CHUNK + sizeof(*user), 0),
			    NULL);
	meta = xsk_buff_get_metadata(zc->pool, CHUNK + sizeof(*user), XDP_TX_METADATA);
	KUNIT_ASSERT_NOT_NULL(test, meta);
	user->flags = U64_MAX;
	user->request.csum_start = U16_MAX;
	KUNIT_EXPECT_EQ(test, meta->flags, XDP_TXMD_FLAGS_CHECKSUM);
	KUNIT_EXPECT_EQ(test, meta->request.csum_start, 34);
	xsk_tx_metadata_to_compl(meta, &compl);
	KUNIT_EXPECT_PTR_EQ(test, compl.tx_timestamp, NULL);

	meta = xsk_buff_get_metadata(zc->pool, CHUNK + sizeof(*user), XDP_TX_METADATA);
	KUNIT_EXPECT_PTR_EQ(test, meta, NULL);

	user->flags = XDP_TXMD_FLAGS_TIMESTAMP;
	meta = xsk_buff_get_metadata(zc->pool, CHUNK + sizeof(*user), XDP_TX_METADATA);
	user->flags = 0;
	xsk_tx_metadata_to_compl(meta, &compl);
	KUNIT_EXPECT_PTR_EQ(test, compl.tx_timestamp, &user->completion.tx_timestamp);
	zc_stop(test, zc);
}

static struct kunit_case zc_cases[] = {
	KUNIT_CASE(zc_attach_refusals),
	KUNIT_CASE(zc_attach_busy),
	KUNIT_CASE(zc_attach_driver_fails),
	KUNIT_CASE(zc_dma_map_is_shared),
	KUNIT_CASE(zc_rx),
	KUNIT_CASE(zc_rx_unaligned),
	KUNIT_CASE(zc_rx_ring_full),
	KUNIT_CASE(zc_rx_invalid_fill),
	KUNIT_CASE(zc_rx_frame_twice),
	KUNIT_CASE(zc_rx_multi_buffer),
	KUNIT_CASE(zc_rx_multi_buffer_ring_full),
	KUNIT_CASE(zc_rx_other_queue),
	KUNIT_CASE(zc_tx),
	KUNIT_CASE(zc_tx_invalid),
	KUNIT_CASE(zc_tx_all_invalid),
	KUNIT_CASE(zc_tx_multi_buffer),
	KUNIT_CASE(zc_tx_multi_buffer_invalid),
	KUNIT_CASE(zc_tx_too_many_buffers),
	KUNIT_CASE(zc_tx_completion_ring_full),
	KUNIT_CASE(zc_tx_driver_room),
	KUNIT_CASE(zc_tx_peek),
	KUNIT_CASE(zc_tx_fair),
	KUNIT_CASE(zc_tx_fair_multi_buffer),
	KUNIT_CASE(zc_tx_need_wakeup),
	KUNIT_CASE(zc_tx_metadata_is_a_copy),
	{}
};

static struct kunit_suite zc_suite = {
	.name = "xsk-zc",
	.test_cases = zc_cases,
};

kunit_test_suite(zc_suite);
