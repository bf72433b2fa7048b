/* SPDX-License-Identifier: BSD-3-Clause */
/* Long times between two beats: the longest of a run, and the rule for which of the threads that are
 * silent the others wait for. */
#include <math.h>
#include <string.h>

#include "core/size.h"
#include "core/sort.h"
#include "diagnosis/causes.h"
#include "diagnosis/judge.h"

/* ---- finding */

double tsn_last_beat(const tsanom_hsa_run *run) {
  double last = -INFINITY;
  for (size_t t = 0; t < run->thread_count; t++) {
    const tsanom_hsa_series *s = &run->threads[t];
    if (s->beats) last = fmax(last, s->time[s->beats - 1]);
  }
  return last;
}

double tsn_run_end(const tsanom_hsa_run *run) {
  double end = fmax(run->end, tsn_last_beat(run));
  for (size_t t = 0; t < run->thread_count; t++) {
    const tsanom_hsa_series *s = &run->threads[t];
    if (s->vital_count && s->vital[s->vital_count - 1].time > end) {
      end = s->vital[s->vital_count - 1].time;
    }
  }
  return end;
}

static void keep_gap(tsn_gap *gaps, size_t *count, tsn_gap gap) {
  size_t i = tsn_smaller(*count, TSN_GAPS_EACH - 1);
  if (!(gap.length > 0)) return;
  if (*count == TSN_GAPS_EACH && gap.length <= gaps[i].length) return;
  if (*count < TSN_GAPS_EACH) i = (*count)++;
  for (; i > 0 && gaps[i - 1].length < gap.length; i--) gaps[i] = gaps[i - 1];
  gaps[i] = gap;
}

void tsn_add_gap(tsn_gaps *gaps, const tsn_pauses *known, tsn_gap gap) {
  gaps->longest = fmax(gaps->longest, gap.length);
  if (tsn_pauses_at(known, gap.beats) && gap.length <= known->limit) return;
  keep_gap(gaps->gap, &gaps->count, gap);
}

size_t tsn_take_gaps(const tsanom_hsa_run *run, const tsn_gaps *of, tsn_gap last,
                     double most, tsn_gap *gaps) {
  size_t count = of->count;
  memcpy(gaps, of->gap, count * sizeof *gaps);
  if (tsn_is_observed(run)) {
    last.end = tsn_run_end(run);
  } else if (!(last.beats < most * (1 - 1.0 / TSN_PARTS))) {
    last.end = last.begin;
  }
  last.length = last.end - last.begin;
  keep_gap(gaps, &count, last);
  return count;
}

static bool is_longer(const tsn_gap *a, const tsn_gap *b) {
  if (a->length != b->length) return a->length > b->length;
  return a->thread != b->thread ? a->thread < b->thread : a->begin < b->begin;
}

static void sort_gaps(tsn_gap *values, size_t count);

TSN_HEAPSORT(sort_gaps, tsn_gap, is_longer)

/* Most time that a thread was ready in a gap. */
static double ready_in(const tsanom_hsa_run *run, const tsn_gap *gap) {
  const double time[2] = {gap->begin, gap->end};
  double most = 0, value[2];
  for (size_t t = 0; t < run->thread_count; t++) {
    tsn_ledger_trace(&run->threads[t], TSN_LEDGER_READY, time, 2, value);
    most = fmax(most, value[1] - value[0]);
  }
  return most;
}

/* Most time that a thread may have been ready until its first sample, if that is in a gap or behind
 * it, as where the sampler got no processor: what the sample counts from the beginning of the
 * thread. */
static double ready_before(const tsanom_hsa_run *run, const tsn_gap *gap) {
  double most = 0;
  for (size_t t = 0; t < run->thread_count; t++) {
    const tsanom_hsa_series *s = &run->threads[t];
    size_t i = 0;
    while (i < s->vital_count && isnan(s->vital[i].wait_s + s->vital[i].time)) i++;
    if (i == s->vital_count) continue;
    double until = fmin(s->vital[i].time, gap->end);
    most = fmax(most, fmin(s->vital[i].wait_s, until - gap->begin));
  }
  return most;
}

tsn_gap tsn_first_gap(const tsanom_hsa_run *run, double first_beat) {
  tsn_gap gap = {0, first_beat, first_beat, 0, 0};
  if (!run->vital_count || !(run->vital[0].time < first_beat)) return gap;
  gap.begin = run->vital[0].time;
  gap.length = first_beat - gap.begin - ready_in(run, &gap) - ready_before(run, &gap);
  return gap;
}

size_t tsn_select_gaps(const tsanom_hsa_run *run, tsn_gap *all, size_t count,
                       tsn_gap *gaps) {
  size_t kept = 0;
  sort_gaps(all, count);
  for (size_t i = 0; i < count && kept < TSN_GAPS; i++) {
    bool apart = true;
    for (size_t k = 0; k < kept && apart; k++) {
      apart = all[i].begin >= gaps[k].end || gaps[k].begin >= all[i].end;
    }
    if (apart) gaps[kept++] = all[i];
  }
  for (size_t k = 0; k < kept; k++) gaps[k].length -= ready_in(run, &gaps[k]);
  sort_gaps(gaps, kept);
  return kept;
}

/* ---- whose it is */

void tsn_find_owners(tsn_silence *s, size_t count) {
  const tsn_silence *first = NULL;
  int least = TSN_FOR_TEAM; /* one that waits for more waits for that one */
  for (size_t i = 0; i < count; i++) {
    if (s[i].is_silent && s[i].is_known && s[i].waits < least) least = s[i].waits;
  }
  for (size_t i = 0; i < count; i++) {
    if (!s[i].is_silent || s[i].waits > least) continue;
    if (!first || s[i].since < first->since) first = &s[i];
  }
  for (size_t i = 0; i < count; i++) {
    s[i].is_owner = s[i].is_silent && s[i].waits <= least &&
                    (s[i].is_stopped || s[i].since <= first->since + first->same_time ||
                     fabs(s[i].beats - first->beats) <= 0.5);
  }
}
