/* SPDX-License-Identifier: BSD-3-Clause */
/* How long a watched program will still run: the iterations of the normal runs, if these have one
 * length, and the prediction of the main loop (tsanom_speedup_summarize()) from the beats of
 * the slowest thread. So that a look costs the same at any length of the run, g iterations
 * count as one:
 *
 *     beats   | | | | | | | | | | | | | |    n - 1 intervals
 *     parts       |-----|-----|-----|-----|  at most 128, of g intervals each
 *
 * The remaining iterations are predicted as whole parts, at least one, and scaled. */
#include <math.h>
#include <tsanom/speedup.h>

#include "diagnosis/watch.h"

enum { PARTS_MOST = 128, PARTS_LEAST = 2, PARTS_LEFT_MOST = 1 << 30 };

/* Normal runs whose lengths differ by more do not predict one. */
static const double same_length = 0.99;

/* The end of the parts that the remaining iterations make, in whole parts, and which
 * share of these remains. False: not known. */
static bool predict(const tsanom_hsa_series *s, double iterations, double *share,
                    tsanom_speedup_prediction *p) {
  tsanom_speedup_event part[PARTS_MOST];
  tsanom_dpd_iteration place[PARTS_MOST];
  tsanom_speedup_loop loop;
  size_t intervals = s->beats ? s->beats - 1 : 0;
  size_t parts = intervals < PARTS_MOST ? intervals : PARTS_MOST;
  if (parts < PARTS_LEAST) return false;
  size_t each = intervals / parts;
  const double *time = s->time + intervals - parts * each;
  for (size_t i = 0; i < parts; i++) {
    part[i] = (tsanom_speedup_event){
        .begin = time[i * each], .end = time[(i + 1) * each], .threads = 1};
    place[i] = (tsanom_dpd_iteration){.first = i, .end = i + 1};
  }
  double left = iterations / (double)each;
  double whole = fmin(fmax(1, nearbyint(left)), PARTS_LEFT_MOST);
  *share = left / whole;
  tsanom_status status = tsanom_speedup_summarize(
      part, parts, place, parts, NULL, parts + (uint64_t)whole, NULL, &loop, p);
  return status == TSANOM_OK;
}

/* From `now` on, if the part `share` of what is left until `end` remains. */
static double scale(const tsanom_hsa_series *s, double share, double end, double now) {
  double last = s->time[s->beats - 1];
  double left = last + share * (end - last) - now;
  return left < 0 ? 0 : left; /* NaN: not known */
}

void tsn_watch_predict(const tsanom_hsa_series *s, double now,
                       tsanom_diagnosis_remaining *r) {
  tsanom_speedup_prediction p = {.struct_size = sizeof p};
  double share = 0;
  if (!predict(s, r->iterations, &share, &p)) return;
  r->drifts = p.drifts;
  r->seconds = scale(s, share, p.total_s, now);
  r->low = scale(s, share, p.low_s, now);
  r->high = scale(s, share, p.high_s, now);
}

static double iterations_left(const tsanom_diagnosis_watch *w,
                              const tsanom_hsa_run *run) {
  double most = (double)w->normal.beats, fewest = (double)w->normal.fewest;
  if (!w->normal.thread_count || run->state != TSANOM_RUN_RUNNING) return NAN;
  double made = w->threads ? (double)w->thread[tsn_watch_busiest(w)].pulse.beats : 0;
  return fewest < same_length * most || made > most ? NAN : most - made;
}

/* The thread with the lowest rate, or the first one if fewer than two have rates. */
static size_t find_slowest(const tsanom_diagnosis_watch *w) {
  size_t slowest = 0, known = 0;
  for (size_t t = 0; t < w->threads; t++) {
    double rate = w->thread[t].pulse.rate;
    if (isnan(rate)) continue;
    if (!known++ || rate < w->thread[slowest].pulse.rate) slowest = t;
  }
  return known < 2 ? 0 : slowest;
}

tsanom_status tsanom_diagnosis_predict(const tsanom_diagnosis_watch *watch,
                                       const tsanom_hsa_run *run, const tsanom_exec *exec,
                                       tsanom_diagnosis_remaining *remaining) {
  tsanom_exec own;
  tsanom_status status = tsn_exec_read(&own, exec);
  if (status < 0) return status;
  if (!watch) return tsn_reject_null(&own, "watch", TSANOM_NONE);
  if (!run) return tsn_reject_null(&own, "run", TSANOM_NONE);
  if (!remaining) return tsn_reject_null(&own, "remaining", TSANOM_NONE);
  *remaining = (tsanom_diagnosis_remaining){
      .iterations = iterations_left(watch, run), .seconds = NAN, .low = NAN, .high = NAN};
  size_t slowest = find_slowest(watch);
  if (isnan(remaining->iterations) || slowest >= watch->threads ||
      slowest >= run->thread_count || !(watch->thread[slowest].pulse.rate > 0)) {
    return TSANOM_OK;
  }
  tsn_watch_predict(&run->threads[slowest], watch->now, remaining);
  return TSANOM_OK;
}
