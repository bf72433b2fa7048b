/* SPDX-License-Identifier: BSD-3-Clause */
/* A run in segments. The edges are the eighths of its beats and the ends of what is
 * dropped; sums over any of the segments are differences at edges:
 *
 *   parts    |   0   |   1   |   2   |        |   7   |
 *   dropped              xxxxxx
 *   edges    e0      e1  e2 e3 e4 ...
 */
#include <math.h>

#include "core/size.h"
#include "core/sort.h"
#include "diagnosis/causes.h"
#include "diagnosis/judge.h"

void tsn_grid_layout(tsn_arena *arena, tsn_grid *g, size_t threads) {
  g->cpu = tsn_arena_take(arena, threads, TSN_EDGES * sizeof(double));
  g->ready = tsn_arena_take(arena, threads, TSN_EDGES * sizeof(double));
  g->beats = tsn_arena_take(arena, threads, TSN_EDGES * sizeof(double));
}

void tsn_grid_begin(tsn_grid *g, const tsanom_hsa_run *run, double total, double scale) {
  const tsanom_hsa_series *busiest = &run->threads[tsn_diagnosis_busiest(run)];
  bool knows_ready;
  size_t sampled = tsn_ledger_ends(run, &g->cut[0], &g->cut[TSN_PARTS], &knows_ready);
  g->run = run;
  g->best = tsn_best_sampled(run);
  g->scale = scale;
  g->total = total;
  g->drops = 0;
  g->is_sampled =
      sampled == run->thread_count && knows_ready && g->cut[0] < g->cut[TSN_PARTS];
  if (!g->is_sampled) {
    total = (double)busiest->beats;
    g->cut[0] = busiest->time[0];
    g->cut[TSN_PARTS] = busiest->time[busiest->beats - 1];
  }
  tsn_ledger_cut(busiest, total, g->cut);
}

/* The ends of the cell that contains a time: the nearest samples or cuts. */
static void find_cell(const tsn_grid *g, double time, double cell[2]) {
  const tsanom_hsa_series *s = g->best;
  size_t until = tsn_samples_until(s->vital, s->vital_count, time);
  cell[0] = until ? s->vital[until - 1].time : -INFINITY;
  cell[1] = cell[0] == time          ? time
            : until < s->vital_count ? s->vital[until].time
                                     : INFINITY;
  for (size_t p = 0; p <= TSN_PARTS; p++) {
    double t = g->cut[p];
    if (t <= time) cell[0] = fmax(cell[0], t);
    if (t >= time) cell[1] = fmin(cell[1], t);
  }
}

void tsn_grid_drop(tsn_grid *g, double begin, double end) {
  double first[2], last[2];
  if (g->drops > TSN_GAPS) return;
  find_cell(g, begin, first);
  find_cell(g, end, last);
  g->dropped[g->drops][0] = first[0];
  g->dropped[g->drops++][1] = last[1];
}

void tsn_grid_end_at(tsn_grid *g, double time) {
  double cell[2];
  if (g->drops > TSN_GAPS) return;
  find_cell(g, time, cell);
  g->dropped[g->drops][0] = cell[1];
  g->dropped[g->drops++][1] = INFINITY;
}

static void sort_edges(tsn_grid *g) {
  double first = g->cut[0], last = g->cut[TSN_PARTS];
  g->edges = 0;
  for (size_t p = 0; p <= TSN_PARTS; p++) g->edge[g->edges++] = g->cut[p];
  for (size_t i = 0; i < g->drops; i++) {
    for (int k = 0; k < 2; k++) {
      g->edge[g->edges++] = fmin(fmax(g->dropped[i][k], first), last);
    }
  }
  tsn_sort(g->edge, g->edges);
}

/* Cells of a segment: the times between samples, and its ends. */
static uint64_t count_cells(const tsn_grid *g, double begin, double end) {
  const tsanom_hsa_series *s = g->best;
  if (!(begin < end)) return 0;
  size_t first = tsn_samples_until(s->vital, s->vital_count, begin);
  size_t last = tsn_samples_until(s->vital, s->vital_count, nextafter(end, -INFINITY));
  return last - first + 1;
}

static void describe_segments(tsn_grid *g) {
  for (size_t e = 0; e + 1 < g->edges; e++) {
    double middle = 0.5 * (g->edge[e] + g->edge[e + 1]);
    g->part[e] = 0;
    for (size_t p = 1; p < TSN_PARTS; p++) {
      if (g->cut[p] <= middle) g->part[e] = p;
    }
    g->keep[e] = true;
    for (size_t i = 0; i < g->drops; i++) {
      if (g->dropped[i][0] <= middle && middle < g->dropped[i][1]) g->keep[e] = false;
    }
    g->cells[e] = count_cells(g, g->edge[e], g->edge[e + 1]);
  }
}

/* Of beats alone: at each edge the time of as many beats as the busiest thread has, by its
 * own time for an iteration: a slower thread of a program that runs has fewer. */
static void trace_beats(tsn_grid *g, size_t t) {
  const tsanom_hsa_series *s = &g->run->threads[t];
  double last = (double)s->beats,
         all = (double)g->run->threads[tsn_diagnosis_busiest(g->run)].beats;
  for (size_t e = 0; e < g->edges; e++) {
    double share = (double)e / (double)(g->edges - 1);
    double beat = 1 + share * (last - 1);
    double time = !s->beats     ? 0
                  : beat < last ? tsn_ledger_time_of(s, beat)
                                : s->time[s->beats - 1];
    double of_all = last > 1 ? (all - 1) / (last - 1) : 1;
    g->cpu[t * TSN_EDGES + e] = s->beats ? of_all * (time - s->time[0]) : 0;
    g->ready[t * TSN_EDGES + e] = 0;
    g->beats[t * TSN_EDGES + e] = share * all;
  }
}

void tsn_grid_fill(tsn_grid *g) {
  if (!g->is_sampled) g->drops = 0;
  sort_edges(g);
  describe_segments(g);
  for (size_t e = 0; e < g->edges; e++) g->nobody[e] = 0;
  if (g->is_sampled) tsn_ledger_nobody(g->run, g->edge, g->edges, g->nobody);
  for (size_t t = 0; t < g->run->thread_count; t++) {
    const tsanom_hsa_series *s = &g->run->threads[t];
    if (!g->is_sampled) {
      trace_beats(g, t);
      continue;
    }
    tsn_ledger_trace(s, TSN_LEDGER_CPU, g->edge, g->edges, g->cpu + t * TSN_EDGES);
    tsn_ledger_trace(s, TSN_LEDGER_READY, g->edge, g->edges, g->ready + t * TSN_EDGES);
    for (size_t e = 0; e < g->edges; e++) {
      g->beats[t * TSN_EDGES + e] = tsn_ledger_beats_at(s, g->edge[e]);
    }
  }
}

/* Mean beats of a segment. */
static double beats_of(const tsn_grid *g, size_t e) {
  double sum = 0;
  for (size_t t = 0; t < g->run->thread_count; t++) {
    sum += g->beats[t * TSN_EDGES + e + 1] - g->beats[t * TSN_EDGES + e];
  }
  return g->scale * sum / (double)g->run->thread_count;
}

/* Mean beats of the segments of a part, with those that were dropped. */
static double grid_beats(const tsn_grid *g, size_t part) {
  double sum = 0;
  for (size_t e = 0; e + 1 < g->edges; e++) {
    if (g->part[e] == part) sum += beats_of(g, e);
  }
  return sum;
}

static bool is_in(const tsn_grid *g, unsigned windows, size_t e) {
  return g->keep[e] && g->edge[e] < g->edge[e + 1] &&
         ((windows & 1U) || (windows >> (g->part[e] + 1) & 1U));
}

bool tsn_grid_has(const tsn_grid *g, unsigned windows) {
  bool any = false;
  for (size_t e = 0; e + 1 < g->edges && !any; e++) any = is_in(g, windows, e);
  return any;
}

/* Of beats alone, the wall time is that of the slowest thread. */
static double wall_of(const tsn_grid *g, size_t e) {
  double most = g->edge[e + 1] - g->edge[e];
  for (size_t t = 0; !g->is_sampled && t < g->run->thread_count; t++) {
    const double *c = g->cpu + t * TSN_EDGES;
    most = t ? fmax(most, c[e + 1] - c[e]) : c[e + 1] - c[e];
  }
  return most;
}

/* The segments of `windows` are summed together. */
static void grid_sum(const tsn_grid *g, unsigned windows, tsn_entries *s) {
  size_t threads = g->run->thread_count;
  s->wall = s->beats = s->nobody = 0;
  s->cells = 0;
  s->begin = INFINITY;
  s->end = -INFINITY;
  for (size_t t = 0; t < threads; t++) s->cpu[t] = s->ready[t] = 0;
  for (size_t e = 0; e + 1 < g->edges; e++) {
    if (!is_in(g, windows, e)) continue;
    s->wall += wall_of(g, e);
    s->nobody += g->nobody[e + 1] - g->nobody[e];
    s->beats += fmax(beats_of(g, e), 1e-9);
    s->cells += g->cells[e];
    s->begin = fmin(s->begin, g->edge[e]);
    s->end = fmax(s->end, g->edge[e + 1]);
    for (size_t t = 0; t < threads; t++) {
      const double *c = g->cpu + t * TSN_EDGES, *r = g->ready + t * TSN_EDGES;
      s->cpu[t] += c[e + 1] - c[e];
      s->ready[t] += r[e + 1] - r[e];
    }
  }
}

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
  grid_sum(g, 1U << window, s);
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
    double beats = fmax(least, grid_beats(g, p));
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
  grid_sum(g, windows, s);
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
