/* SPDX-License-Identifier: BSD-3-Clause */
/* The clock of the run: a counter of which a reading takes 10 ns, or CLOCK_MONOTONIC,
 * 23 ns. */
#ifndef TSN_INTERCEPT_TICKS_H
#define TSN_INTERCEPT_TICKS_H

#include <stdbool.h>
#include <stdint.h>

#include "now.h"

extern bool icp_by_counter;

/* Nanoseconds of a tick, by the time since the run began, which is 0.5 ms or more. */
double icp_tick_length(void);

static inline uint64_t icp_ticks(void) {
#if defined(__x86_64__)
  if (__builtin_expect(icp_by_counter, 1)) return __builtin_ia32_rdtsc();
#endif
  return icp_now();
}

#endif
