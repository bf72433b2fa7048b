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
#include "metrics.h"
#include "own.h"
#include "profile.h"

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
