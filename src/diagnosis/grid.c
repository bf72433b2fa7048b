/* SPDX-License-Identifier: BSD-3-Clause */
/* A run in segments. The edges are the eighths of its beats and the ends of what is
 * dropped; sums over any of the segments are differences at edges:
 *
 *   parts    |   0   |   1   |   2   |        |   7   |
 *   dropped              xxxxxx
 *   edges    e0      e1  e2 e3 e4 ...
 */
#include <math.h>

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

double tsn_grid_beats(const tsn_grid *g, size_t part) {
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

void tsn_grid_sum(const tsn_grid *g, unsigned windows, tsn_entries *s) {
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
