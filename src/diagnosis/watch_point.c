/* SPDX-License-Identifier: BSD-3-Clause */
/* Verdicts of a watch at points of the data (point.c), by the same function as those about
 * a whole run: the pieces of a run are added until the time of a point, and judged, so that
 * a verdict does not depend on the updates. */
#include <math.h>
#include <string.h>

#include "diagnosis/watch.h"

/* As that of a whole run, of what is kept. */
static tsanom_hsa_run run_of(tsanom_hsa_watch *w, const tsanom_hsa_run *news) {
  tsanom_hsa_run run = *news;
  for (size_t t = 0; t < w->threads; t++) {
    const tsn_watch_thread *of = &w->thread[t];
    w->series[t] = (tsanom_hsa_series){.time = of->mark,
                                       .beats = of->marks,
                                       .vital = of->vital.kept,
                                       .vital_count = of->vital.count};
  }
  run.threads = w->series;
  run.thread_count = w->threads;
  run.vital = w->vital.kept;
  run.vital_count = w->vital.count;
  return run;
}

/* Of marks that stand for several beats, gaps do not follow. */
static void set_gaps(tsanom_hsa_watch *w, const tsanom_hsa_run *run) {
  tsn_inquiry *l = &w->search.ledger;
  double end = tsn_run_end(run);
  bool over = run->state == TSANOM_HSA_STATE_FINISHED;
  l->candidate_count = 0;
  l->first = w->first;
  for (size_t t = 0; t < w->threads; t++) {
    tsn_watch_thread *of = &w->thread[t];
    tsn_gap *to = l->candidates + l->candidate_count;
    size_t count = of->gaps;
    memcpy(to, of->gap, count * sizeof *to);
    if (!over && of->pulse.beats && end > of->pulse.last) {
      tsn_keep_gap(to, &count,
                   (tsn_gap){end - of->pulse.last, of->pulse.last, end, t,
                             (double)of->pulse.beats});
    }
    l->candidate_count += count;
  }
}

static void judge(tsanom_hsa_watch *w, const tsanom_hsa_run *run, double chance) {
  tsn_search *q = &w->search;
  tsn_inquiry *l = &q->ledger;
  q->normal = &w->normal;
  q->run = run;
  q->signs = w->signs;
  q->scale = (double)w->stride;
  l->threads = w->threads;
  tsn_hsa_measure(run, w->signs);
  for (size_t t = 0; t < w->threads; t++) w->signs[t].beats = w->thread[t].pulse.beats;
  if (w->stride > 1) set_gaps(w, run);
  tsn_hsa_find(q, chance, TSN_ENDED_GAPS);
  memcpy(w->verdict, q->cause, q->count * sizeof *w->verdict);
  w->findings = q->count;
  w->chance = chance;
}

void tsn_watch_judge_point(tsanom_hsa_watch *w, const tsanom_hsa_run *news, double time) {
  tsanom_hsa_run run = run_of(w, news);
  run.end = time;
  run.state = TSANOM_HSA_STATE_RUNNING;
  judge(w, &run, tsn_point_chance(&w->normal));
}

void tsn_watch_judge_end(tsanom_hsa_watch *w, const tsanom_hsa_run *news) {
  tsanom_hsa_run run = run_of(w, news);
  judge(w, &run, TSN_CHANCE);
}

/* Threads begin to beat one after the other. */
void tsn_watch_compare(tsanom_hsa_watch *w, const tsanom_hsa_run *news) {
  uint64_t beats = w->threads ? w->thread[tsn_watch_busiest(w)].pulse.beats : 0;
  if (w->threads < w->normal.thread_count && beats < TSN_HSA_FEW_BEATS) return;
  tsanom_hsa_run run = run_of(w, news);
  w->search.normal = &w->normal;
  w->search.run = &run;
  w->search.signs = w->signs;
  w->search.count = 0;
  (void)tsn_hsa_compare_conditions(&w->search);
  memcpy(w->verdict, w->search.cause, w->search.count * sizeof *w->verdict);
  w->findings = w->search.count;
}
