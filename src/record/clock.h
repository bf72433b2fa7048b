/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSN_RECORD_CLOCK_H
#define TSN_RECORD_CLOCK_H

#include <time.h>
#include <tsanom/heartbeat.h>

#include "record/format.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

static inline uint64_t tsn_clock_monotonic(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Ticks of a clock that tsn_clock_choose() returned. */
static inline uint64_t tsn_clock_ticks(int32_t clock) {
#if defined(__x86_64__)
  if (clock == TSANOM_HEARTBEAT_CLOCK_TSC) return __rdtsc();
#else
  (void)clock;
#endif
  return tsn_clock_monotonic();
}

/* The clock that `wanted` selects on this machine; AUTO: it does not have that clock. */
int32_t tsn_clock_choose(int32_t wanted);

/* Read the clock and CLOCK_MONOTONIC at the same moment, within about 20 ns. */
tsn_moment tsn_clock_moment(int32_t clock);

#endif
