/* SPDX-License-Identifier: BSD-3-Clause */
/* The clock of a run: the processor's time-stamp counter where it can be trusted, else
 * CLOCK_MONOTONIC.
 *
 * The counter is preferred because it is faster: a beat takes 10.0 ns by the counter and
 * 20.7 ns by CLOCK_MONOTONIC (docs/benchmarks.md). Records contain raw ticks; the reader
 * converts them by two pairs of ticks and nanoseconds in the run's header,
 *
 *   tick    = (latest.ns - first.ns) / (latest.ticks - first.ticks)
 *   seconds = (ticks - first.ticks) * tick * 1e-9
 *
 * so that the beat does no arithmetic. For CLOCK_MONOTONIC a tick is a nanosecond, and
 * the same formula holds. */
#ifndef TSN_RECORD_CLOCK_H
#define TSN_RECORD_CLOCK_H

#include <time.h>
#include <tsanom/record.h>

#include "record/format.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

/* Nanoseconds. Read by the vDSO: no system call where the kernel's clock source allows
 * it. */
static inline uint64_t tsn_clock_monotonic(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Ticks of a clock that tsn_clock_choose() returned. The counter is read without a
 * fence: the processor may read it a few instructions early or late, which is below the
 * resolution of what is measured, and a fence would hold up the program. */
static inline uint64_t tsn_clock_ticks(int32_t clock) {
#if defined(__x86_64__)
  if (clock == TSANOM_RECORD_CLOCK_TSC) return __rdtsc();
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
