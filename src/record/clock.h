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

#include <stdbool.h>
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

/* Ticks of the clock of a run. The counter is read without a fence: the processor may read it
 * a few instructions early or late, which is below the resolution of what is measured, and
 * a fence would hold up the program. */
static inline uint64_t tsn_clock_ticks(int32_t clock) {
#if defined(__x86_64__)
  if (clock == TSANOM_RECORD_CLOCK_TSC) return __rdtsc();
#else
  (void)clock;
#endif
  return tsn_clock_monotonic();
}

/* ---- CPU time of the calling thread, read in user space where the kernel allows it.
 *
 * CPU time excludes what a thread waits: of a region it shows the work, not the wait for
 * others at its end. Asking the kernel takes a system call; see clock.c for how most
 * of them are avoided. A begin and end of a region by this clock takes 39.6 ns, by two
 * system calls 347 ns (docs/benchmarks.md). */

/* Nanoseconds since an arbitrary instant; never less than the previous result in this
 * thread. In the child of a fork it continues from the parent's value. */
int64_t tsn_cpu_clock_now(void);

/* Whether this thread reads it in user space. The first call in a process sleeps three
 * times for 20 us to find out. */
bool tsn_cpu_clock_is_in_user_space(void);

/* A number of the time that this thread has had its processor without a pause until now:
 * between two calls with the same result, CPU time has passed as elapsed time did. 0: the kernel
 * must be asked. */
int64_t tsn_cpu_clock_stretch(void);

#endif
