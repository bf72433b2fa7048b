/* SPDX-License-Identifier: BSD-3-Clause */
/* Which clock a run uses, and the pairs that relate its ticks to CLOCK_MONOTONIC.
 *
 * The time-stamp counter is a clock only if it runs at one rate in all power states,
 * which CPUID reports, and if the counters of all processors agree, which no instruction
 * reports. The kernel measures the latter continuously and stops using the counter when
 * it fails; so its own choice is the test. */
#include "record/clock.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>

/* CPUID 80000007h, EDX bit 8: the counter runs at one rate in every P-, C- and T-state.
 */
static bool tsc_is_invariant(void) {
  unsigned a, b, c, d;
  return __get_cpuid(0x80000007u, &a, &b, &c, &d) && (d & (1u << 8)) != 0;
}

/* The kernel uses the counter as its clock only while its watchdog finds the counters of
 * all processors synchronized. */
static bool kernel_trusts_tsc(void) {
  static const char path[] =
      "/sys/devices/system/clocksource/clocksource0/current_clocksource";
  char name[5] = "";
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  ssize_t count = read(file, name, sizeof name - 1);
  close(file);
  return count == 4 && memcmp(name, "tsc\n", 4) == 0;
}

/* A caller that asks for the counter gets it without the tests: it may know its machine.
 */
int32_t tsn_clock_choose(int32_t wanted) {
  if (wanted != TSANOM_RECORD_CLOCK_AUTO) return wanted;
  return tsc_is_invariant() && kernel_trusts_tsc() ? TSANOM_RECORD_CLOCK_TSC
                                                   : TSANOM_RECORD_CLOCK_MONOTONIC;
}
#else
/* Other architectures: no counter is read. The result AUTO reports to the caller that
 * the clock it asked for does not exist. */
int32_t tsn_clock_choose(int32_t wanted) {
  return wanted == TSANOM_RECORD_CLOCK_TSC ? TSANOM_RECORD_CLOCK_AUTO
                                           : TSANOM_RECORD_CLOCK_MONOTONIC;
}
#endif

/* The two clocks cannot be read at once. CLOCK_MONOTONIC is read between two readings of
 * the counter, and is paired with their middle:
 *
 *   counter   before ──────────┬────────── after        error <= width / 2
 *   clock              nanoseconds
 *
 * An interrupt between them widens the interval, so the narrowest of a few tries is
 * taken. */
tsn_moment tsn_clock_moment(int32_t clock) {
  enum { TRIES = 8 };
  tsn_moment best = {0, 0};
  if (clock == TSANOM_RECORD_CLOCK_MONOTONIC) {
    best.nanoseconds = tsn_clock_monotonic();
    best.ticks = best.nanoseconds;
    return best;
  }
  /* The narrowest interval was not interrupted. */
  uint64_t narrowest = UINT64_MAX;
  for (int i = 0; i < TRIES; i++) {
    uint64_t before = tsn_clock_ticks(clock);
    uint64_t nanoseconds = tsn_clock_monotonic();
    uint64_t width = tsn_clock_ticks(clock) - before;
    if (width < narrowest) {
      narrowest = width;
      best = (tsn_moment){.ticks = before + width / 2, .nanoseconds = nanoseconds};
    }
  }
  return best;
}
