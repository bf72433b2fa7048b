/* SPDX-License-Identifier: BSD-3-Clause */
/* A measurement of a visit is two to four readings of the processor time and an event. What it
 * takes is measured at the start, since it depends on the system: 60 ns where the time is
 * read in user space (record/cpu_clock.c), else 0.5 to 1 us.
 *
 *   visits of a place          . . . M . . . . . . M . M . . . . M
 *   between two that are       3       6           1   4           at random
 *
 * If the mean visit of a place lasts long enough for a measurement to be within the budget,
 * all are measured; else one in n = enough / mean. The number between two is drawn from 0
 * to 2 (n - 1): at equal distances it could be always the same visit of a period of the
 * program. Each place has a budget of its own, so that short ones do not hide a long one.
 * The mean follows the visits, as a program has phases. */
#include "visits.h"

#include "record/cpu_clock.h"
#include "record/inside.h"
#include "section.h"
#include "thread.h"
#include "ticks.h"

enum { BUDGET = 333, FOLLOWS = 8, MOST = 1 << 20 };

icp_visits icp_visits_of[TSN_REGIONS_PLACES_MAX];
bool icp_by_counter;

uint64_t icp_enough; /* 0: all are measured */

/* The shortest of some tries was not interrupted. The event takes about one reading. */
void icp_visits_start(bool all) {
  enum { TRIES = 8, READINGS = 16 };
  uint64_t least = UINT64_MAX;
  tsn_moment first;
  icp_by_counter = tsn_record_clock(icp_set.record, &first) == TSANOM_RECORD_CLOCK_TSC;
  (void)tsn_cpu_clock_is_in_user_space();
  for (int i = 0; i < TRIES && !all; i++) {
    uint64_t begin = icp_ticks();
    for (int k = 0; k < READINGS; k++) (void)tsn_cpu_clock_now();
    uint64_t ticks = icp_ticks() - begin;
    if (ticks < least) least = ticks;
  }
  icp_enough = all ? 0 : least * 5 / READINGS * BUDGET;
  tsn_record_set_cpu_times(icp_set.record, TSN_CPU_TIMES_ALL);
}

double icp_tick_length(void) {
  tsn_moment first;
  if (tsn_record_clock(icp_set.record, &first) != TSANOM_RECORD_CLOCK_TSC) return 1;
  double ticks = (double)(int64_t)(icp_ticks() - first.ticks);
  double length = (double)(icp_now() - first.nanoseconds) / ticks;
  return length > 0 && length < 1000 ? length : 1;
}

static void note_sampling(void *unused) {
  (void)unused;
  tsn_record_set_cpu_times(icp_set.record, TSN_CPU_TIMES_SAMPLED);
}

void icp_note_sampling(void) {
  static _Atomic bool is_noted;
  if (!ICP_LIKELY(atomic_load_explicit(&is_noted, memory_order_relaxed)) &&
      !atomic_exchange(&is_noted, true)) {
    icp_section(note_sampling, NULL);
  }
}

/* xorshift64, of the thread. */
static uint64_t draw(void) {
  uint64_t x = icp_me.own->random;
  if (!x) x = icp_ticks() | 1;
  x ^= x << 13;
  x ^= x >> 7;
  x ^= x << 17;
  return icp_me.own->random = x;
}

void icp_visit_ended(uint32_t place, uint64_t ticks) {
  icp_visits *v = &icp_visits_of[place];
  int64_t mean = atomic_load_explicit(&v->mean, memory_order_relaxed);
  int64_t now = ticks < INT32_MAX ? (int64_t)ticks : INT32_MAX;
  mean = mean ? mean + (now - mean) / FOLLOWS : now;
  if (mean < 1) mean = 1;
  atomic_store_explicit(&v->mean, (uint32_t)mean, memory_order_relaxed);
  if (ICP_LIKELY((uint64_t)mean >= icp_enough)) {
    atomic_store_explicit(&v->each, 1, memory_order_relaxed);
    return;
  }
  uint64_t between = 2 * (icp_enough / (uint64_t)mean - 1) + 1;
  if (between > MOST) between = MOST;
  atomic_store_explicit(&v->each, (uint32_t)(between + 1) / 2, memory_order_relaxed);
  atomic_store_explicit(&v->skip, (uint32_t)(draw() % between), memory_order_relaxed);
  icp_note_sampling();
}
