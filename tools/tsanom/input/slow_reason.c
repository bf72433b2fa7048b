/* SPDX-License-Identifier: BSD-3-Clause */
/* Why iterations are slow: the account of the time of a thread
 * (tsanom_diagnosis_account()) around the slow iterations. Samples rarely fall on their
 * ends:
 *
 *              sample        slow iterations          sample
 *              o---------[=========================]---o
 *              |<------------------ wall ------------->|
 *
 * less what normal iterations have in wall - lost: of the lost seconds c on a processor, r
 * ready without one, and the rest off it. */
#include "slow_reason.h"

#include <math.h>
#include <tsanom/diagnosis.h>

/* Page faults explain processor time of this many seconds each at most. */
static const double fault_s = 2e-6;

/* Times that the time between samples that is not slow may exceed the lost time. */
static const double most_blurred = 10;

/* Normal iterations have at least this share of the time, or are taken to have had a
 * processor. */
static const double least_normal = 0.2;

typedef struct {
  double wall, cpu, ready, off, faults, major;
  size_t stopped;
} account;

/* Add what a thread did between two of its samples. */
static void add_samples(const tsanom_hsa_series *s, size_t first, size_t last,
                        account *to) {
  tsanom_hsa_series part = {.vital = s->vital + first, .vital_count = last - first + 1};
  tsanom_hsa_run run = {.threads = &part, .thread_count = 1};
  tsanom_diagnosis_ledger ledger;
  if (last <= first || tsanom_diagnosis_account(&run, NULL, &ledger, NULL, 0) < 0 ||
      !ledger.sampled)
    return;
  const tsanom_hsa_vital *a = &s->vital[first], *b = &s->vital[last];
  to->wall += ledger.window[0].wall_s;
  to->cpu += ledger.window[0].cpu_s;
  to->ready += ledger.window[0].ready_s;
  to->off += ledger.window[0].nobody_s;
  to->faults += b->minor_faults - a->minor_faults;
  to->major += b->major_faults - a->major_faults;
  for (size_t i = first; i <= last; i++) to->stopped += s->vital[i].state == 'T';
}

/* The last sample until a time, or the first; the first one after it, or the last. */
static size_t sample_until(const tsanom_hsa_series *s, double time) {
  size_t low = 0, high = s->vital_count;
  while (high - low > 1) {
    size_t middle = low + (high - low) / 2;
    if (s->vital[middle].time <= time) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

static size_t sample_from(const tsanom_hsa_series *s, double time) {
  size_t i = sample_until(s, time);
  while (i + 1 < s->vital_count && s->vital[i].time < time) i++;
  return i;
}

/* The samples around all iterations of a class. */
static account account_for(const iterations *it, const tsanom_hsa_series *s,
                           const int32_t *class_of, int32_t class) {
  account sum = {0};
  size_t first = TSANOM_NONE, last = 0;
  for (size_t i = 0; i < it->count; i++) {
    if (class_of[i] != class) continue;
    size_t end = i;
    while (end + 1 < it->count && class_of[end + 1] == class) end++;
    size_t from = sample_until(s, it->begin[i]), to = sample_from(s, it->begin[end + 1]);
    if (first != TSANOM_NONE && from < last) {
      last = to;
    } else {
      if (first != TSANOM_NONE) add_samples(s, first, last, &sum);
      first = from;
      last = to;
    }
    i = end;
  }
  if (first != TSANOM_NONE) add_samples(s, first, last, &sum);
  return sum;
}

static int32_t reason_of(const slow_iterations *s, const account *slow, double major) {
  double lost = s->found.lost_s;
  double most = fmax(s->cpu_s, fmax(s->ready_s, s->off_s));
  if (!(most >= 0.5 * lost)) return SLOW_UNKNOWN;
  if (s->ready_s >= s->cpu_s && s->ready_s >= s->off_s) return SLOW_READY;
  if (s->off_s > s->cpu_s) {
    if (slow->stopped) return SLOW_STOPPED;
    return major >= (double)s->found.count ? SLOW_READING : SLOW_BLOCKED;
  }
  double faults = s->faults * (double)s->found.count;
  return faults * fault_s >= 0.5 * lost ? SLOW_FAULTS : SLOW_WORK;
}

void slow_find_reason(const iterations *it, const slow_series *series, size_t index,
                      slow_iterations *s) {
  size_t thread = s->thread < 0 ? it->thread : (size_t)s->thread;
  s->cpu_s = s->ready_s = s->off_s = s->faults = NAN;
  if (thread >= it->beats->thread_count) return;
  const tsanom_hsa_series *samples = &it->beats->threads[thread];
  if (samples->vital_count < 2) return;
  account slow = account_for(it, samples, series->class_of, (int32_t)index + 1);
  account rest = {0};
  add_samples(samples, 0, samples->vital_count - 1, &rest);
  double lost = s->found.lost_s, normal = slow.wall - lost;
  double slow_s = lost + (double)s->found.count * series->median_s;
  rest.wall -= slow.wall;
  if (!(slow.wall > 0) || slow.wall - slow_s > most_blurred * lost) return;
  account usual = {.cpu = normal};
  if (rest.wall >= least_normal * normal) {
    double part = normal / rest.wall;
    usual = (account){.cpu = part * (rest.cpu - slow.cpu),
                      .ready = part * (rest.ready - slow.ready),
                      .off = part * (rest.off - slow.off),
                      .faults = part * (rest.faults - slow.faults),
                      .major = part * (rest.major - slow.major)};
  }
  s->cpu_s = slow.cpu - usual.cpu;
  s->ready_s = slow.ready - usual.ready;
  s->off_s = slow.off - usual.off;
  s->faults = (slow.faults - usual.faults) / (double)s->found.count;
  s->reason = reason_of(s, &slow, slow.major - usual.major);
}
