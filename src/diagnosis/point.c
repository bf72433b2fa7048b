/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that runs is judged at points of its data, never at a look: looking more often
 * would find something in more of the normal runs. With K points until the end of a normal
 * run and alpha / K at each, at most alpha of the normal runs have a verdict before their
 * end, where alpha is tested once more.
 *
 *   beats of the slowest  ........16..18..20..22...
 *   passed                |     |       |  |      |     of a whole run all, of a watch pieces
 *   points                       16  18  20  22
 */
#include <math.h>

#include "diagnosis/causes.h"

static const double more = 1.1;

/* A point is at most this long after the one before, in seconds of data. */
static const double longest_step = 300;

/* Beats that a thread has longest_step after the latest point. */
static uint64_t beats_late(const tsn_points *p, const tsn_point_thread *of) {
  const tsanom_hsa_series left = {.time = of->next, .beats = of->left};
  if (of->until_late < of->made) return of->until_late;
  return of->made + tsn_diagnosis_beats_until(&left, p->time + longest_step);
}

bool tsn_points_find(const tsn_points *p, uint64_t *beats, double *time) {
  *beats = p->beats;
  *time = p->time;
  for (size_t t = 0; isfinite(p->time) && t < p->threads; t++) {
    if (!tsn_is_waited_for(p->normal, t)) continue;
    uint64_t late = beats_late(p, &p->thread[t]) + 1;
    if (late < *beats) *beats = late;
  }
  for (size_t t = 0; t < p->threads; t++) {
    const tsn_point_thread *of = &p->thread[t];
    if (!tsn_is_waited_for(p->normal, t) || of->made >= *beats) continue;
    if (of->made + of->left < *beats) return false;
    *time = fmax(*time, of->next[*beats - of->made - 1]);
  }
  return isfinite(*time) != 0;
}

double tsn_points_pass(tsn_points *p, size_t thread) {
  tsn_point_thread *of = &p->thread[thread];
  double time = *of->next++;
  of->left--;
  of->made++;
  if (time <= p->time + longest_step) of->until_late = of->made;
  return time;
}

void tsn_points_set(tsn_points *p, uint64_t beats, double time) {
  p->time = time;
  p->beats = (uint64_t)ceil(more * (double)beats);
  for (size_t t = 0; t < p->threads; t++) p->thread[t].until_late = p->thread[t].made;
}

double tsn_point_chance(const tsanom_diagnosis_normal *normal) {
  if (!tsn_has_ledger(normal)) return TSN_CHANCE;
  double points = log(normal->ledger[1] / TSANOM_DIAGNOSIS_FIRST_POINT) / log(more);
  return TSN_CHANCE / fmax(1, points);
}
