/* SPDX-License-Identifier: BSD-3-Clause */
/* The signs of signs.c from what a watch keeps. Each is that of the run so far, but
 *
 *   interval    the middle of the bin of the quartile
 *   of samples  from those that were kept
 *   growth      the beats by which the beginning ends are those of the samples
 *   tail        by the thread that was busiest at the last beat
 *   gaps        not available: a pause that is over is no anomaly of a watch */
#include <math.h>

#include "diagnosis/watch.h"

/* The first sample of the process at which the busiest thread had that number of beats.
 */
static double time_of(const tsn_watch_samples *s, double beats) {
  for (size_t i = 0; i < s->count; i++) {
    if ((double)s->kept[i].beats >= beats) return s->kept[i].time;
  }
  return INFINITY;
}

/* Growth of memory, and over the beats in that time. */
static void measure_growth(const tsanom_hsa_watch *w, uint64_t beats,
                           double growth_and_rate[2]) {
  growth_and_rate[0] = growth_and_rate[1] = NAN;
  if (!beats) return;
  double most = (double)(beats - 1);
  const double end[3] = {time_of(&w->vital, floor(most * TSN_HSA_BEGINNING / 2) + 1),
                         time_of(&w->vital, floor(most * TSN_HSA_BEGINNING) + 1),
                         time_of(&w->vital, floor(most * TSN_HSA_LATE) + 1)};
  tsn_hsa_memory m = tsn_hsa_find_growth(w->vital.kept, w->vital.count, end);
  if (isnan(m.most)) return;
  growth_and_rate[0] = fmax(0, m.most - m.base);
  for (size_t i = 0; i < w->vital.count; i++) {
    const tsanom_hsa_vital *v = &w->vital.kept[i];
    if (v->time != m.since || v->beats >= beats) continue;
    growth_and_rate[1] = growth_and_rate[0] / (double)(beats - v->beats);
  }
}

static void measure_beats(const tsanom_hsa_watch *w, const tsn_watch_thread *t,
                          uint64_t most, bool running, double *value) {
  double end = running ? w->now : w->last;
  if (!t->pulse.beats) {
    if (!isfinite(w->last)) return;
    value[TSANOM_HSA_SIGN_SILENCE] = end - w->first;
    value[TSANOM_HSA_SIGN_TAIL] = 1;
    return;
  }
  if (t->pulse.beats > 1) value[TSANOM_HSA_SIGN_INTERVAL] = tsn_watch_quartile(t);
  value[TSANOM_HSA_SIGN_SILENCE] = end - t->pulse.last;
  value[TSANOM_HSA_SIGN_TAIL] = 1 - fmin(1, (double)t->behind / (double)most);
}

tsanom_hsa_run tsn_watch_measure(tsanom_hsa_watch *w, const tsanom_hsa_run *news) {
  uint64_t most = w->thread[tsn_watch_busiest(w)].pulse.beats;
  bool running = news->state != TSANOM_HSA_STATE_FINISHED;
  double growth_and_rate[2];
  measure_growth(w, most, growth_and_rate);
  for (size_t i = 0; i < w->threads; i++) {
    const tsn_watch_thread *t = &w->thread[i];
    tsanom_hsa_signs *signs = &w->signs[i];
    *signs = (tsanom_hsa_signs){.beats = t->pulse.beats};
    w->series[i] = (tsanom_hsa_series){.beats = (size_t)t->pulse.beats,
                                       .vital = t->vital.kept,
                                       .vital_count = t->vital.count};
    for (size_t k = 0; k < TSANOM_HSA_SIGN_SLOTS; k++) signs->value[k] = NAN;
    measure_beats(w, t, most, running, signs->value);
    tsn_hsa_measure_samples(&w->series[i], signs->value);
    signs->value[TSANOM_HSA_SIGN_GROWTH] = growth_and_rate[0];
    signs->value[TSANOM_HSA_SIGN_GROWTH_PER_BEAT] = growth_and_rate[1];
  }
  tsn_hsa_measure_team(w->signs, w->threads, most);
  tsanom_hsa_run run = *news;
  run.threads = w->series;
  run.thread_count = w->threads;
  if (run.state == TSANOM_HSA_STATE_UNKNOWN) run.state = TSANOM_HSA_STATE_RUNNING;
  return run;
}
