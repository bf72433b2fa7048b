/* SPDX-License-Identifier: BSD-3-Clause */
/* The prediction of the main loop (tsanom_speedup_summarize()) from the beats of a
 * thread. So that a look costs the same at any length of the run, g iterations
 * count as one:
 *
 *     beats   | | | | | | | | | | | | | |    n - 1 intervals
 *     parts       |-----|-----|-----|-----|  at most 128, of g intervals each
 *
 * The time of one part more than those that there are, over g, is that of an iteration.
 */
#include "remaining.h"

#include <math.h>
#include <tsanom/speedup.h>

enum { PARTS_MOST = 128, PARTS_LEAST = 2 };

/* The end of the part behind the last one; returns how many iterations a part has, 0: not
 * known. */
static size_t predict(const tsanom_hsa_series *s, tsanom_speedup_prediction *p) {
  tsanom_speedup_event part[PARTS_MOST];
  tsanom_dpd_iteration place[PARTS_MOST];
  tsanom_speedup_loop loop;
  size_t intervals = s->beats ? s->beats - 1 : 0;
  size_t parts = intervals < PARTS_MOST ? intervals : PARTS_MOST;
  if (parts < PARTS_LEAST) return 0;
  size_t each = intervals / parts;
  const double *time = s->time + intervals - parts * each;
  for (size_t i = 0; i < parts; i++) {
    part[i] = (tsanom_speedup_event){
        .begin = time[i * each], .end = time[(i + 1) * each], .threads = 1};
    place[i] = (tsanom_dpd_iteration){.first = i, .end = i + 1};
  }
  tsanom_speedup_prediction_init(p, sizeof *p);
  tsanom_status status = tsanom_speedup_summarize(part, parts, place, parts, NULL,
                                                  parts + 1, NULL, &loop, p);
  return status == TSANOM_OK ? each : 0;
}

/* From `now` on, if one more part takes until `end`. */
static double scale(const tsanom_hsa_series *s, double parts, double end, double now) {
  double last = s->time[s->beats - 1];
  double left = last + parts * (end - last) - now;
  return left < 0 ? 0 : left; /* NaN: not known */
}

remaining remaining_of(const tsanom_hsa_series *s, double iterations, double now) {
  remaining r = {iterations, NAN, NAN, NAN, 0};
  tsanom_speedup_prediction p;
  size_t each = predict(s, &p);
  if (!each) return r;
  double parts = iterations / (double)each;
  r.drifts = p.drifts;
  r.seconds = scale(s, parts, p.total_s, now);
  r.low = scale(s, parts, p.low_s, now);
  r.high = scale(s, parts, p.high_s, now);
  return r;
}
