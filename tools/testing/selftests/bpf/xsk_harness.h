/* SPDX-License-Identifier: GPL-2.0 */
/* The kselftest harness with a time limit for emulated and debug machines */
#ifndef XSK_HARNESS_H
#define XSK_HARNESS_H

#include "../kselftest_harness.h"

/* Only ends a test that hangs: no verdict depends on how fast something is */
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT 600

#endif
