/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a run, or a part of it, lost time. First gaps between beats: one that is too long,
 * and whose owner is known, leaves the ledger. Then the signs of what is left: a sign above
 * its limit is a cause if it lost a tenth of the normal time, of the whole or of the eighths
 * in which it is above. */
#include <math.h>

#include "core/size.h"
#include "core/sort.h"
#include "diagnosis/causes.h"

/* Seconds of a pause that are reported even if it is a small part of a run. */
static const double longest_least = 0.25;

void tsn_inquiry_layout(tsn_arena *arena, tsn_inquiry *q) {
  tsn_grid_layout(arena, &q->grid, q->threads);
  tsn_sign_layout(arena, &q->scratch, q->threads);
  q->candidates = tsn_arena_take(arena, q->threads, TSN_GAPS_EACH * sizeof(tsn_gap));
  q->silence = tsn_arena_take(arena, q->threads, sizeof *q->silence);
  q->sign =
      tsn_arena_take(arena, TSN_IMBALANCE + q->threads, TSN_WINDOWS * sizeof(tsn_sign));
}

void tsn_inquiry_begin(tsn_inquiry *q, const tsanom_hsa_run *run, double scale,
                       double alpha) {
  double made = (double)run->threads[tsn_diagnosis_busiest(run)].beats;
  double normal = q->model->beats / scale;
  q->run = run;
  q->scale = scale;
  q->alpha = alpha;
  q->end = tsn_run_end(run);
  tsn_grid_begin(&q->grid, run, tsn_is_observed(run) ? fmax(normal, made) : made, scale);
}

/* ---- gaps */

/* Shorter gaps have no sample inside that shows whose they are. */
static double sample_period(const tsn_inquiry *q) {
  const tsanom_hsa_series *s = &q->run->threads[0];
  if (!q->grid.is_sampled || s->vital_count < 2) return 0;
  return (s->vital[s->vital_count - 1].time - s->vital[0].time) /
         (double)(s->vital_count - 1);
}

/* A shorter pause is not worth a report. */
static double least_gap(const tsn_inquiry *q) {
  const tsn_model *m = q->model;
  double wall = 0;
  for (size_t p = 0; p < TSN_PARTS; p++) {
    wall += m->beats / TSN_PARTS * tsn_rate(m, p)[TSN_WALL];
  }
  return fmin(longest_least, TSN_LEAST_LOST * wall);
}

static bool is_at_pause(const tsn_inquiry *q, const tsn_gap *g) {
  return tsn_pauses_at(&q->model->pauses, g->beats);
}

static double limit_of_gap(const tsn_inquiry *q, const tsn_gap *g) {
  double limit = is_at_pause(q, g) ? q->model->pauses.limit : q->model->gap_limit;
  return fmax(limit, q->least_gap);
}

static bool is_open(const tsn_inquiry *q, const tsn_gap *g) {
  return tsn_is_observed(q->run) && g->end >= q->end;
}

static void add_pause(tsn_inquiry *q, size_t thread, const tsn_gap *g) {
  for (size_t i = 0; i < q->count; i++) {
    tsanom_diagnosis_finding *f = &q->found[i];
    if (f->cause != TSANOM_HSA_HANG || f->thread != (int32_t)thread) continue;
    f->lost_s += g->length;
    return;
  }
  tsanom_diagnosis_finding *f =
      tsn_add_finding(q->found, &q->count, TSANOM_HSA_HANG, (int32_t)thread,
                      TSANOM_DIAGNOSIS_DETAIL_PAUSED);
  f->sign = TSANOM_DIAGNOSIS_SIGN_GAP;
  f->value = g->end - g->begin;
  f->most = is_at_pause(q, g) ? q->model->pauses.longest : q->model->longest_gap;
  f->limit = limit_of_gap(q, g);
  f->lost_s = g->length;
  f->begin = g->begin;
  f->end = g->end;
}

/* Name those that others waited for. A gap without one, since a thread lacked a processor,
 * stays in the ledger. */
static void name_owners(tsn_inquiry *q, const tsn_gap *g) {
  for (size_t t = 0; t < q->threads; t++) q->silence[t].is_owner = t == g->thread;
  if (q->grid.is_sampled && !tsn_gap_owners(q->run, g, q->model->share, q->silence)) {
    return;
  }
  for (size_t t = 0; t < q->threads; t++) {
    if (q->silence[t].is_owner) add_pause(q, t, g);
  }
  tsn_grid_drop(&q->grid, g->begin, g->end);
}

/* Before the first beat. How long a program takes to begin says nothing of its iterations. */
static void judge_start(tsn_inquiry *q) {
  double most = q->model->longest_start, limit = fmax(2 * most, most + longest_least);
  tsn_gap g = tsn_first_gap(q->run, q->first);
  if (!(g.length > limit)) return;
  tsanom_diagnosis_finding *f =
      tsn_add_finding(q->found, &q->count, TSANOM_HSA_HANG, TSANOM_HSA_PROCESS,
                      TSANOM_DIAGNOSIS_DETAIL_PAUSED);
  f->sign = TSANOM_DIAGNOSIS_SIGN_GAP;
  f->value = g.end - g.begin;
  f->most = most;
  f->limit = limit;
  f->lost_s = g.length - most;
  f->begin = g.begin;
  f->end = g.end;
}

/* Several gaps like each other are no pause but the pace of the run: they stay. */
void tsn_judge_gaps(tsn_inquiry *q) {
  double sum = 0, longest = 0;
  size_t gaps = 0, count;
  q->least_gap = fmax(2 * sample_period(q), least_gap(q));
  judge_start(q);
  count = tsn_select_gaps(q->run, q->candidates, q->candidate_count, q->gap);
  for (size_t i = 0; i < count; i++) {
    tsn_gap g = q->gap[i];
    if (is_open(q, &g)) { /* the rule of watch_hang.c is for it */
      tsn_grid_end_at(&q->grid, g.begin);
    } else if (g.length > limit_of_gap(q, &g)) {
      longest = fmax(longest, g.length);
      sum += g.length;
      q->gap[gaps++] = g;
    }
  }
  bool is_pace = gaps > 2 && longest < sum / 2;
  for (size_t i = 0; i < gaps && !is_pace; i++) name_owners(q, &q->gap[i]);
}

/* ---- time */

/* Of a run that goes on, the whole is fewer eighths than normal runs have. That a program has
 * fewer processors is no chance, which a limit is for. */
static double limit_of(const tsn_inquiry *q, size_t window, size_t sign) {
  tsn_limit limit = tsn_model_limit(q->model, window, sign);
  if (sign == TSN_CONTENTION && q->is_bound) return TSN_LEAST_LOST;
  if (!window && q->now && q->now < TSN_PARTS && sign != TSN_CONTENTION) {
    limit.scale = fmax(limit.scale, tsn_scale_of_mean(q->model, sign, q->now));
  }
  return tsn_limit_at(&limit, tsn_model_chance(q->model, window, sign, q->alpha));
}

static const tsn_sign *sign_of(const tsn_inquiry *q, size_t window, size_t sign) {
  return &q->sign[window * (TSN_IMBALANCE + q->threads) + sign];
}

static bool is_above(const tsn_inquiry *q, size_t window, size_t sign) {
  const tsn_sign *s = sign_of(q, window, sign);
  return q->cells[window] >= TSN_LEAST_CELLS && s->lost > 0 &&
         s->value > limit_of(q, window, sign);
}

/* The whole is judged without the eighth that is not over. */
static void measure_windows(tsn_inquiry *q) {
  bool running = q->run->state == TSANOM_RUN_RUNNING;
  q->now = TSN_PARTS;
  for (size_t e = 0; running && e + 1 < q->grid.edges; e++) {
    if (q->grid.edge[e] < q->grid.edge[e + 1]) q->now = q->grid.part[e];
  }
  unsigned whole = 0;
  for (size_t p = 0; p < q->now; p++) whole |= 2U << p;
  for (size_t w = 0; w < TSN_WINDOWS; w++) {
    double least = w && w - 1 == q->now ? q->scale * q->grid.total / TSN_PARTS : 0;
    q->normal[w] =
        tsn_measure_signs(q->model, &q->grid, w ? 1U << w : whole, least, &q->scratch,
                          q->sign + w * (TSN_IMBALANCE + q->threads));
    q->cells[w] = q->scratch.sums.cells;
    q->lacked[w] = q->scratch.sums.lacked;
    q->begin[w] = q->scratch.sums.begin;
    q->until[w] = q->scratch.sums.end;
  }
}

/* The contiguous eighths with the largest sum of what was lost above a tenth. */
static void find_onset(const tsn_inquiry *q, size_t sign, tsanom_diagnosis_finding *f) {
  double best = -INFINITY, sum = 0, begin = NAN;
  for (size_t w = 1; w < TSN_WINDOWS; w++) {
    if (!q->cells[w]) continue;
    if (!(sum > 0)) {
      sum = 0;
      begin = q->begin[w];
    }
    sum += sign_of(q, w, sign)->lost - TSN_LEAST_LOST * q->normal[w];
    if (!(sum > best)) continue;
    best = sum;
    f->begin = begin;
    f->end = q->until[w];
  }
}

/* Logarithms of ratios become ratios. */
static double shown(size_t sign, double value) {
  bool is_share = sign == TSN_CONTENTION || sign == TSN_BLOCKED;
  return is_share ? value : exp(value);
}

static void add_sign(tsn_inquiry *q, size_t sign, size_t window, double lost) {
  static const struct {
    int32_t cause, sign, detail;
  } kinds[] = {
      [TSN_SLOWDOWN] = {TSANOM_HSA_SLOWDOWN, TSANOM_DIAGNOSIS_SIGN_SLOWDOWN,
                        TSANOM_DIAGNOSIS_DETAIL_NONE},
      [TSN_CONTENTION] = {TSANOM_HSA_CONTENTION, TSANOM_DIAGNOSIS_SIGN_CONTENTION,
                          TSANOM_DIAGNOSIS_DETAIL_NONE},
      [TSN_BLOCKED] = {TSANOM_HSA_SLOWDOWN, TSANOM_DIAGNOSIS_SIGN_NOBODY,
                       TSANOM_DIAGNOSIS_DETAIL_BLOCKED},
      [TSN_IMBALANCE] = {TSANOM_HSA_IMBALANCE, TSANOM_DIAGNOSIS_SIGN_IMBALANCE,
                         TSANOM_DIAGNOSIS_DETAIL_NONE}};
  bool own = sign >= TSN_IMBALANCE;
  size_t kind = own ? TSN_IMBALANCE : sign;
  int32_t thread = own ? (int32_t)(sign - TSN_IMBALANCE) : TSANOM_HSA_PROCESS;
  tsanom_diagnosis_finding *f =
      tsn_add_finding(q->found, &q->count, kinds[kind].cause, thread, kinds[kind].detail);
  f->sign = kinds[kind].sign;
  if (!q->model->is_sampled) f->detail = TSANOM_DIAGNOSIS_DETAIL_BEATS;
  f->value = shown(kind, sign_of(q, window, sign)->value);
  f->most = shown(kind, tsn_model_limit(q->model, window, sign).most);
  f->limit = shown(kind, limit_of(q, window, sign));
  f->lost_s = lost;
  find_onset(q, sign, f);
}

/* What of a run that goes on, which is judged again and again, may be chance: that all threads
 * sleep in one or two samples, which are much of an eighth that has three; and what the lack
 * of processors explains, which shifts work between threads, and makes them wait. */
static double chance_loss(const tsn_inquiry *q, size_t sign, double lacked) {
  bool shifts = sign == TSN_BLOCKED || sign >= TSN_IMBALANCE;
  if (q->run->state != TSANOM_RUN_RUNNING || !shifts) return 0;
  double asleep = (TSN_LEAST_CELLS - 1) * sample_period(q);
  return fmax(lacked, sign == TSN_BLOCKED ? asleep : 0);
}

static void judge_sign(tsn_inquiry *q, size_t sign) {
  bool whole = q->cells[0] && is_above(q, 0, sign);
  double lost = whole ? sign_of(q, 0, sign)->lost : 0, least = q->normal[0];
  double lacked = whole ? q->lacked[0] : 0;
  size_t window = 0;
  for (size_t w = 1; w < TSN_WINDOWS; w++) {
    if (!q->cells[w]) continue;
    if (!q->cells[0]) least = q->normal[w];
    if (whole || !is_above(q, w, sign)) continue;
    if (!window || sign_of(q, w, sign)->lost > sign_of(q, window, sign)->lost) window = w;
    lost += sign_of(q, w, sign)->lost;
    lacked += q->lacked[w];
  }
  if (!(whole || window) || lost <= chance_loss(q, sign, lacked)) return;
  if (lost >= TSN_LEAST_LOST * least) add_sign(q, sign, window, lost);
}

static void write_signs(const tsn_inquiry *q, tsanom_diagnosis_signs *signs) {
  static const int32_t of[] = {TSANOM_DIAGNOSIS_SIGN_SLOWDOWN,
                               TSANOM_DIAGNOSIS_SIGN_CONTENTION,
                               TSANOM_DIAGNOSIS_SIGN_NOBODY};
  if (!q->cells[0]) return;
  for (size_t t = 0; t < q->threads; t++) {
    for (size_t s = 0; s < TSN_IMBALANCE; s++) {
      signs[t].value[of[s]] = shown(s, sign_of(q, 0, s)->value);
    }
    signs[t].value[TSANOM_DIAGNOSIS_SIGN_IMBALANCE] =
        exp(sign_of(q, 0, TSN_IMBALANCE + t)->value);
  }
}

/* Beats alone are not compared with processor time, and do not stand for samples that will
 * come. */
void tsn_judge_time(tsn_inquiry *q, tsanom_diagnosis_signs *signs) {
  if (q->grid.is_sampled != q->model->is_sampled) return;
  tsn_grid_fill(&q->grid);
  measure_windows(q);
  size_t all = q->threads > 1 ? TSN_IMBALANCE + q->threads : TSN_IMBALANCE;
  for (size_t s = 0; s < all; s++) judge_sign(q, s);
  write_signs(q, signs);
}
