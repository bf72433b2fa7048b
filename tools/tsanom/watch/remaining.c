/* SPDX-License-Identifier: BSD-3-Clause */
/* The prediction of the main loop (tsanom_speedup_summarize()) from the beats of a
 * thread. So that a look costs the same at any length of the run, g iterations
 * count as one:
 *
 *     beats   | | | | | | | | | | | | | |    n - 1 intervals
 *     parts       |-----|-----|-----|-----|  at most 128, of g intervals each
 *
 * The remaining iterations are predicted as whole parts, at least one, and scaled. */
#include "remaining.h"

#include <math.h>
#include <stdbool.h>
#include <tsanom/speedup.h>

enum { PARTS_MOST = 128, PARTS_LEAST = 2, PARTS_LEFT_MOST = 1 << 30 };

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

remaining remaining_of(const tsanom_hsa_series *s, double iterations, double now) {
  remaining r = {iterations, NAN, NAN, NAN, 0};
  tsanom_speedup_prediction p;
  tsanom_speedup_prediction_init(&p, sizeof p);
  double share = 0;
  if (!predict(s, iterations, &share, &p)) return r;
  r.drifts = p.drifts;
  r.seconds = scale(s, share, p.total_s, now);
  r.low = scale(s, share, p.low_s, now);
  r.high = scale(s, share, p.high_s, now);
  return r;
}
