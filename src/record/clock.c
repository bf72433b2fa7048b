/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/clock.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>

/* CPUID 80000007h, EDX bit 8: the counter runs at one rate in every state. */
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

int32_t tsn_clock_choose(int32_t wanted) {
  if (wanted != TSANOM_HEARTBEAT_CLOCK_AUTO) return wanted;
  return tsc_is_invariant() && kernel_trusts_tsc() ? TSANOM_HEARTBEAT_CLOCK_TSC
                                                   : TSANOM_HEARTBEAT_CLOCK_MONOTONIC;
}
#else
int32_t tsn_clock_choose(int32_t wanted) {
  return wanted == TSANOM_HEARTBEAT_CLOCK_TSC ? TSANOM_HEARTBEAT_CLOCK_AUTO
                                              : TSANOM_HEARTBEAT_CLOCK_MONOTONIC;
}
#endif

tsn_moment tsn_clock_moment(int32_t clock) {
  enum { TRIES = 8 };
  tsn_moment best = {0, 0};
  if (clock == TSANOM_HEARTBEAT_CLOCK_MONOTONIC) {
    best.nanoseconds = tsn_clock_monotonic();
    best.ticks = best.nanoseconds;
    return best;
  }
  /* The reading between the two nearest ticks was not interrupted. */
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
