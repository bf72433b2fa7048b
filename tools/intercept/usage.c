/* SPDX-License-Identifier: BSD-3-Clause */
/* Processor time and metrics of a thread, read where a region, a part of it, a function
 * or a computation begins and ends.
 *
 *   events   METRIC m  METRIC n  CPU   END, SHARE, LEFT, or BEGIN of a call of MPI
 *
 * A thread opens its counters when it reads them first. A metric that it cannot count
 * has one event, which says why; behind that it has none, by which the reader knows that
 * the count is missing and not 0. */
#include "usage.h"

#include <errno.h>
#include <pthread.h>

#include "asked.h"
#include "counters.h"
#include "events.h"
#include "metrics.h"
#include "record/inside.h"
#include "section.h"
#include "thread.h"

enum {
  COUNTERS = TSN_REGIONS_L2_MISSES + 1,
  CPU_BITS = 24,
  METRIC_BITS = 21,
  EXPONENT_BITS = 5,
  METRIC_SHIFT = TSN_REGIONS_KIND_BITS + 3
};

typedef struct {
  bool is_open;
  const counter_page *page[COUNTERS];
  int error[TSN_REGIONS_METRICS];
  uint32_t reported; /* metrics whose error has an event */
} thread_counters;

static uint32_t wanted; /* bits of metrics */

void icp_usage_end(void *counters) {
  thread_counters *c = counters;
  for (int m = 0; m < COUNTERS; m++) counter_close(c->page[m]);
}

bool icp_usage_start(void) {
  wanted = icp_asked.metrics;
  return wanted != 0;
}

/* NULL: there is no memory for the thread. */
static thread_counters *own_counters(void) {
  return icp_own_part(ICP_OWN_COUNTERS, sizeof(thread_counters));
}

static bool wants(int metric) {
  return wanted >> metric & 1;
}

/* The network serves all threads of a process: the one that began the run counts. */
__attribute__((noinline)) static void open_counters(thread_counters *c) {
  c->is_open = true;
  for (int m = 0; m < COUNTERS; m++) {
    if (wants(m)) c->error[m] = counter_open(m, &c->page[m]);
  }
  c->error[TSN_REGIONS_DISK_BYTES] = metrics_check(TSN_REGIONS_DISK_BYTES);
  c->error[TSN_REGIONS_NETWORK_BYTES] =
      icp_me.watched ? metrics_check(TSN_REGIONS_NETWORK_BYTES) : ESRCH;
}

static bool read_metric(const thread_counters *c, int metric, uint64_t *count) {
  if (c->error[metric]) return false;
  if (metric < COUNTERS) return counter_read(c->page[metric], count);
  if (metric == TSN_REGIONS_NETWORK_BYTES) return metrics_network_bytes(count) == 0;
  *count = metrics_disk_bytes();
  return true;
}

/* errno is the program's. */
static void read_metrics(icp_usage *now) {
  int error = errno, cancel;
  (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
  thread_counters *c = own_counters();
  if (c && !c->is_open) open_counters(c);
  for (int m = 0; c && m < TSN_REGIONS_METRICS; m++) {
    if (wants(m) && read_metric(c, m, &now->count[m])) now->counted |= 1u << m;
  }
  (void)pthread_setcancelstate(cancel, NULL);
  errno = error;
}

icp_usage icp_usage_now(void) {
  icp_usage now = {.counted = 0};
  if (!ICP_LIKELY(!wanted)) read_metrics(&now);
  now.cpu = icp_cpu_now();
  return now;
}

/* A floating-point number: a mantissa of that many bits above an exponent of 5 bits. The
 * error is below 2^(1 - bits) of the value. With 24 bits, 5 bits of exponent reach 2^55
 * ns, more than a year. */
static uint32_t to_float(uint64_t value, int bits) {
  int length = 64 - __builtin_clzll(value | 1),
      exponent = length > bits ? length - bits : 0;
  return (uint32_t)exponent | (uint32_t)(value >> exponent) << EXPONENT_BITS;
}

static void write_event(uint32_t tag) {
  if (icp_me.is_lost || !icp_may_write()) return;
  (void)tsanom_record_region(icp_set.record, (int32_t)icp_me.state.number, tag);
}

static void write_metric(int metric, uint32_t number) {
  write_event(TSN_REGIONS_METRIC | (uint32_t)metric << TSN_REGIONS_KIND_BITS |
              number << METRIC_SHIFT);
}

static void record_metric(int metric, const icp_usage *from, const icp_usage *to) {
  thread_counters *c = own_counters();
  uint32_t bit = 1u << metric;
  if (from->counted & to->counted & bit) {
    write_metric(metric, to_float(to->count[metric] - from->count[metric], METRIC_BITS));
  } else if (c && !(c->reported & bit)) {
    c->reported |= bit;
    write_metric(metric,
                 TSN_REGIONS_NOT_COUNTED | (uint32_t)c->error[metric] << EXPONENT_BITS);
  }
}

void icp_record_cpu(uint64_t nanoseconds) {
  if (!ICP_LIKELY(!icp_me.profiles)) {
    icp_profile_cpu(nanoseconds);
    return;
  }
  write_event(TSN_REGIONS_CPU | to_float(nanoseconds, CPU_BITS) << TSN_REGIONS_KIND_BITS);
}

void icp_record_between(const icp_usage *from, const icp_usage *to) {
  for (int m = 0; m < TSN_REGIONS_METRICS && !icp_me.profiles; m++) {
    if (wants(m)) record_metric(m, from, to);
  }
  icp_record_cpu(to->cpu - from->cpu);
}

void icp_record_network(const icp_usage *from, const icp_usage *to) {
  const int metric = TSN_REGIONS_NETWORK_BYTES;
  bool is_counted = from->counted & to->counted & 1u << metric;
  if (is_counted && !icp_me.is_over) record_metric(metric, from, to);
}

void icp_record_usage(const icp_usage *since) {
  icp_usage now = icp_usage_now();
  icp_record_between(since, &now);
}

/* ---- which visits are measured
 *
 * A measurement of a visit is two to four readings of the processor time and an event. What it
 * takes is measured at the start, since it depends on the system: 60 ns where the time is
 * read in user space (record/clock.c), else 0.5 to 1 us.
 *
 *   visits of a place          . . . M . . . . . . M . M . . . . M
 *   between two that are       3       6           1   4           at random
 *
 * If the mean visit of a place lasts long enough for a measurement to be within the budget,
 * all are measured; else one in n = enough / mean. The number between two is drawn from 0
 * to 2 (n - 1): at equal distances it could be always the same visit of a period of the
 * program. Each place has a budget of its own, so that short ones do not hide a long one.
 * The mean follows the visits, as a program has phases. */

enum { BUDGET = 333, FOLLOWS = 8, MOST = 1 << 20 };

icp_visits icp_visits_of[TSN_REGIONS_PLACES_MAX];
int32_t icp_clock;

uint64_t icp_enough; /* 0: all are measured */

/* The shortest of some tries was not interrupted. The event takes about one reading. */
void icp_visits_start(bool all) {
  enum { TRIES = 8, READINGS = 16 };
  uint64_t least = UINT64_MAX;
  tsn_moment first;
  icp_clock = tsn_record_clock(icp_set.record, &first);
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
  if (icp_clock != TSANOM_RECORD_CLOCK_TSC) return 1;
  (void)tsn_record_clock(icp_set.record, &first);
  double ticks = (double)(int64_t)(icp_ticks() - first.ticks);
  double length = (double)(tsn_clock_monotonic() - first.nanoseconds) / ticks;
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
