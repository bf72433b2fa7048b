/* SPDX-License-Identifier: BSD-3-Clause */
/* Signs of a window, and the seconds that each lost against the normal runs:
 *
 *   W = C + R + U            normal: W0 = C0 + R0 + U0, for the same beats of the same parts
 *   q_k = c_k / c0_k         q: lower median; of two threads max(min q_k, min(1, C / C0))
 *   slowdown      log q                            lost (q - 1) (C0 + R0)
 *   imbalance k   log of q_k over the others' q    lost e = c_k - c0_k q_others, at most
 *                                                  C - q C0, and e R0 / sum of c0
 *   contention    (R - g R0) / W0                  lost R - g R0
 *   blocked       (U - U0) / W0                    lost U - U0
 *
 * On a busy machine, waiting for processors grows with the work, by g. The sum of slowdown,
 * the largest imbalance, contention and blocked is W - W0. */
#include <math.h>

#include "core/size.h"
#include "core/sort.h"
#include "diagnosis/judge.h"

static const double least_time = 1e-9;

void tsn_sign_layout(tsn_arena *arena, tsn_sign_scratch *s, size_t threads) {
  size_t rates = threads + TSN_THREAD_CPU;
  s->sums.cpu = tsn_arena_take(arena, threads, sizeof(double));
  s->sums.ready = tsn_arena_take(arena, threads, sizeof(double));
  s->expected = tsn_arena_take(arena, rates, sizeof(double));
  s->ratio = tsn_arena_take(arena, threads, sizeof(double));
  s->sorted = tsn_arena_take(arena, threads, sizeof(double));
}

static tsn_ledger_sums team_of(const tsn_entries *s, size_t threads) {
  tsn_ledger_sums team = tsn_ledger_begin(s->wall, s->nobody);
  for (size_t t = 0; t < threads; t++) tsn_ledger_add(&team, s->cpu[t], s->ready[t]);
  return team;
}

void tsn_measure_rates(const tsn_grid *g, size_t window, double processors,
                       tsn_sign_scratch *scratch, double *rate) {
  size_t threads = g->run->thread_count;
  tsn_entries *s = &scratch->sums;
  tsn_grid_sum(g, 1U << window, s);
  tsn_ledger_sums team = team_of(s, threads);
  tsn_ledger_entries e = tsn_ledger_split(&team, processors, team.ready);
  rate[TSN_WALL] = s->wall / s->beats;
  rate[TSN_READY] = e.ready / s->beats;
  rate[TSN_NOBODY] = e.nobody / s->beats;
  rate[TSN_CPU] = e.cpu / s->beats;
  rate[TSN_ALL_READY] = team.ready / s->beats;
  for (size_t t = 0; t < threads; t++) rate[TSN_THREAD_CPU + t] = s->cpu[t] / s->beats;
}

/* What normal runs need for the beats of the windows' parts. */
static void expect(const tsn_model *m, const tsn_grid *g, unsigned windows, double least,
                   double *expected) {
  size_t rates = TSN_THREAD_CPU + m->threads;
  for (size_t i = 0; i < rates; i++) expected[i] = 0;
  for (size_t p = 0; p < TSN_PARTS; p++) {
    if (!(windows & (1U | 2U << p)) || !tsn_grid_has(g, 2U << p)) continue;
    double beats = fmax(least, tsn_grid_beats(g, p));
    for (size_t i = 0; i < rates; i++) expected[i] += beats * tsn_rate(m, p)[i];
  }
}

/* Of the time that threads were ready, only what exceeds the normal runs' is contention:
 * threads of one team wait for each other's processor. */
static tsn_ledger_entries split_excess(const tsn_ledger_sums *team, double processors,
                                       const double *normal, double more) {
  double excess = fmax(0, team->ready - normal[TSN_ALL_READY] * more);
  return tsn_ledger_split(team, processors, normal[TSN_READY] * more + excess);
}

/* The lower median of all values but one. */
static double median_of_others(const double *sorted, size_t count, double own) {
  size_t middle = (count - 2) / 2;
  return own <= sorted[middle] ? sorted[middle + 1] : sorted[middle];
}

double tsn_measure_signs(const tsn_model *m, const tsn_grid *g, unsigned windows,
                         double least, tsn_sign_scratch *scratch, tsn_sign *sign) {
  size_t threads = m->threads;
  tsn_entries *s = &scratch->sums;
  const double *normal = scratch->expected;
  double *q = scratch->ratio, *sorted = scratch->sorted;
  tsn_grid_sum(g, windows, s);
  expect(m, g, windows, least, scratch->expected);
  tsn_ledger_sums team = team_of(s, threads);
  double W0 = fmax(normal[TSN_WALL], least_time), C0 = normal[TSN_CPU];
  double R0 = normal[TSN_READY], work = least_time;
  for (size_t t = 0; t < threads; t++) {
    work += normal[TSN_THREAD_CPU + t];
    q[t] = fmax(s->cpu[t], least_time) / fmax(normal[TSN_THREAD_CPU + t], least_time);
    sorted[t] = q[t];
  }
  tsn_sort(sorted, threads);
  double common = sorted[(threads - 1) / 2], more = fmax(1, team.work / work);
  tsn_ledger_entries e = split_excess(&team, m->processors, normal, more);
  s->lacked = e.ready;
  if (threads == 2) common = fmax(common, fmin(1, e.cpu / fmax(C0, least_time)));
  sign[TSN_SLOWDOWN] = (tsn_sign){log(common), (common - 1) * (C0 + R0)};
  sign[TSN_CONTENTION] = (tsn_sign){(e.ready - R0 * more) / W0, e.ready - R0 * more};
  sign[TSN_BLOCKED] =
      (tsn_sign){(e.nobody - normal[TSN_NOBODY]) / W0, e.nobody - normal[TSN_NOBODY]};
  for (size_t t = 0; t < threads; t++) {
    tsn_sign *own = &sign[TSN_IMBALANCE + t];
    *own = (tsn_sign){0, 0};
    if (threads < 2) continue;
    double others = median_of_others(sorted, threads, q[t]);
    double lost = s->cpu[t] - normal[TSN_THREAD_CPU + t] * others;
    *own = (tsn_sign){log(q[t] / others),
                      fmin(lost, e.cpu - common * C0) + lost * R0 / work};
  }
  return W0;
}
