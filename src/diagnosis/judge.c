/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom_diagnosis_judge(): where a run, or a part of it, lost time. First gaps between beats:
 * one that is too long, and whose owner is known, leaves the ledger. Then the signs of what is
 * left: a sign above its limit is a cause if it lost a tenth of the normal time, of the whole
 * or of the eighths in which it is above. */
#include <math.h>

#include "core/environment.h"
#include "core/size.h"
#include "core/sort.h"
#include "diagnosis/judge.h"
#include "diagnosis/causes.h"

typedef struct {
  tsanom_exec exec;
  const tsanom_diagnosis_model *model;
  const tsanom_hsa_run *run;
  double alpha, end;
  size_t threads;
  tsn_grid grid;
  tsn_sign_scratch scratch;
  tsn_gap *candidates;
  tsn_gap gap[TSN_GAPS];
  size_t gaps;
  double *state;
  bool *is_owner;
  tsn_sign *sign;             /* of window w at w * (TSN_IMBALANCE + threads) */
  double normal[TSN_WINDOWS]; /* W0 */
  double begin[TSN_WINDOWS], until[TSN_WINDOWS];
  uint64_t cells[TSN_WINDOWS];
  size_t now; /* the eighth that is not over; TSN_PARTS: none */
  tsanom_finding *found;
  size_t count;
} inquiry;

static void layout(tsn_arena *arena, void *context) {
  inquiry *q = context;
  tsn_grid_layout(arena, &q->grid, q->threads);
  tsn_sign_layout(arena, &q->scratch, q->threads);
  q->candidates = tsn_arena_take(arena, q->threads, TSN_GAPS_EACH * sizeof(tsn_gap));
  q->state = tsn_arena_take(arena, q->threads, TSN_GAP_STATES * sizeof(double));
  q->is_owner = tsn_arena_take(arena, q->threads, sizeof(bool));
  q->sign =
      tsn_arena_take(arena, TSN_IMBALANCE + q->threads, TSN_WINDOWS * sizeof(tsn_sign));
}

/* ---- gaps */

/* Shorter gaps have no sample inside that shows whose they are. */
static double sample_period(const inquiry *q) {
  const tsanom_hsa_series *s = &q->run->threads[0];
  if (!q->grid.is_sampled || s->vital_count < 2) return 0;
  return (s->vital[s->vital_count - 1].time - s->vital[0].time) /
         (double)(s->vital_count - 1);
}

static bool is_open(const inquiry *q, const tsn_gap *g) {
  return q->run->state == TSANOM_HSA_STATE_RUNNING && g->end >= q->end;
}

static void add_hang(inquiry *q, const tsn_gap *g, double limit) {
  size_t owners = 1;
  for (size_t t = 0; t < q->threads; t++) q->is_owner[t] = t == g->thread;
  if (q->grid.is_sampled) {
    owners = tsn_gap_owners(q->run, g, q->model->share, q->is_owner, q->state);
  }
  if (!owners) return;
  for (size_t t = 0; t < q->threads; t++) {
    if (!q->is_owner[t]) continue;
    q->found[q->count++] = (tsanom_finding){.cause = TSANOM_HSA_HANG,
                                            .thread = (int32_t)t,
                                            .is_open = is_open(q, g),
                                            .value = g->end - g->begin,
                                            .most = q->model->longest_gap,
                                            .limit = limit,
                                            .lost_s = g->length,
                                            .begin = g->begin,
                                            .end = g->end};
  }
  tsn_grid_drop(&q->grid, g->begin, g->end);
}

/* Several gaps like each other are no pause but the pace of the run: they stay. */
static void judge_gaps(inquiry *q) {
  double limit = fmax(q->model->gap_limit, 2 * sample_period(q)), sum = 0, ended = 0;
  double first = 0;
  size_t long_ended = 0;
  for (size_t i = 0; i < q->gaps; i++) {
    if (is_open(q, &q->gap[i])) continue;
    ended = fmax(ended, q->gap[i].length);
    if (!(q->gap[i].length > limit)) continue;
    first = fmax(first, q->gap[i].length);
    sum += q->gap[i].length;
    long_ended++;
  }
  bool pace = long_ended > 2 && first < sum / 2;
  for (size_t i = 0; i < q->gaps; i++) {
    bool open = is_open(q, &q->gap[i]);
    double least = pace ? fmax(limit, 2 * ended) : limit;
    if (q->gap[i].length > least && (open || !pace)) add_hang(q, &q->gap[i], limit);
  }
  for (size_t i = 0; i < q->gaps; i++) { /* one below its limit is not judged yet */
    if (is_open(q, &q->gap[i])) {
      tsn_grid_end_at(&q->grid, q->gap[i].begin);
      break;
    }
  }
}

/* ---- time */

static double limit_of(const inquiry *q, size_t window, size_t sign) {
  size_t signs = TSN_IMBALANCE + q->threads;
  double tests = 8.0 * (window ? TSN_PARTS : 1);
  if (sign >= TSN_IMBALANCE) tests *= (double)q->threads;
  return tsn_limit_at(&q->model->limit[window * signs + sign], q->alpha / tests);
}

static const tsn_sign *sign_of(const inquiry *q, size_t window, size_t sign) {
  return &q->sign[window * (TSN_IMBALANCE + q->threads) + sign];
}

static bool is_above(const inquiry *q, size_t window, size_t sign) {
  const tsn_sign *s = sign_of(q, window, sign);
  return q->cells[window] >= TSN_LEAST_CELLS && s->lost > 0 &&
         s->value > limit_of(q, window, sign);
}

/* The whole is judged without the eighth that is not over. */
static void measure_windows(inquiry *q) {
  bool running = q->run->state == TSANOM_HSA_STATE_RUNNING;
  q->now = TSN_PARTS;
  for (size_t e = 0; running && e + 1 < q->grid.edges; e++) {
    if (q->grid.edge[e] < q->grid.edge[e + 1]) q->now = q->grid.part[e];
  }
  unsigned whole = 0;
  for (size_t p = 0; p < q->now; p++) whole |= 2U << p;
  for (size_t w = 0; w < TSN_WINDOWS; w++) {
    double least = w && w - 1 == q->now ? q->grid.total / TSN_PARTS : 0;
    q->normal[w] =
        tsn_measure_signs(q->model, &q->grid, w ? 1U << w : whole, least, &q->scratch,
                          q->sign + w * (TSN_IMBALANCE + q->threads));
    q->cells[w] = q->scratch.sums.cells;
    q->begin[w] = q->scratch.sums.begin;
    q->until[w] = q->scratch.sums.end;
  }
}

/* The contiguous eighths with the largest sum of what was lost above a tenth. */
static void find_onset(const inquiry *q, size_t sign, tsanom_finding *f) {
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

static void judge_sign(inquiry *q, size_t sign) {
  static const int32_t causes[] = {TSANOM_HSA_SLOWDOWN, TSANOM_HSA_CONTENTION,
                                   TSANOM_HSA_SLOWDOWN, TSANOM_HSA_IMBALANCE};
  bool whole = q->cells[0] && is_above(q, 0, sign);
  double lost = whole ? sign_of(q, 0, sign)->lost : 0, W0 = q->normal[0];
  for (size_t w = 1; w < TSN_WINDOWS; w++) {
    if (!q->cells[w]) continue;
    if (!q->cells[0]) W0 = q->normal[w];
    if (!whole && is_above(q, w, sign)) lost += sign_of(q, w, sign)->lost;
  }
  if (!(lost >= TSN_LEAST_LOST * W0)) return;
  bool own = sign >= TSN_IMBALANCE;
  tsanom_finding f = {
      .cause = causes[own ? TSN_IMBALANCE : sign],
      .thread = own ? (int32_t)(sign - TSN_IMBALANCE) : TSANOM_HSA_PROCESS,
      .is_blocked = sign == TSN_BLOCKED,
      .value = sign_of(q, 0, sign)->value,
      .most = q->model->limit[sign].most,
      .limit = limit_of(q, 0, sign),
      .lost_s = lost};
  find_onset(q, sign, &f);
  q->found[q->count++] = f;
}

static bool comes_before(const tsanom_finding *a, const tsanom_finding *b) {
  if (a->is_open != b->is_open) return a->is_open > b->is_open;
  if (a->lost_s != b->lost_s) return a->lost_s > b->lost_s;
  return a->thread < b->thread;
}

TSN_HEAPSORT(tsn_sort_findings, tsanom_finding, comes_before)

static bool has_samples(const tsanom_hsa_run *run) {
  for (size_t t = 0; t < run->thread_count; t++) {
    if (run->threads[t].vital_count) return true;
  }
  return false;
}

static tsanom_status body(void *context) {
  inquiry *q = context;
  double made = (double)q->run->threads[tsn_hsa_busiest(q->run)].beats;
  bool finished = q->run->state == TSANOM_HSA_STATE_FINISHED ||
                  q->run->state == TSANOM_HSA_STATE_UNKNOWN;
  if (made < 2) return TSANOM_OK;
  q->end = tsn_run_end(q->run);
  tsn_grid_begin(&q->grid, q->run, finished ? made : fmax(q->model->beats, made));
  q->gaps = tsn_find_gaps(q->run, q->candidates, q->gap);
  judge_gaps(q);
  /* Beats alone do not stand for samples that will come. */
  if (q->grid.is_sampled || !has_samples(q->run)) {
    tsn_grid_fill(&q->grid);
    measure_windows(q);
    size_t signs = q->threads > 1 ? TSN_IMBALANCE + q->threads : TSN_IMBALANCE;
    for (size_t s = 0; s < signs; s++) judge_sign(q, s);
  }
  tsn_sort_findings(q->found, q->count);
  return TSANOM_OK;
}

tsanom_status tsanom_diagnosis_judge(const tsanom_diagnosis_model *model,
                                     const tsanom_hsa_run *run, double alpha,
                                     const tsanom_exec *exec, tsanom_finding *findings,
                                     size_t capacity, size_t *count) {
  inquiry q = {.model = model, .run = run, .alpha = alpha, .found = findings};
  tsanom_status status = tsn_exec_read(&q.exec, exec);
  if (status < 0) return status;
  if (!model) return tsn_reject(&q.exec, TSANOM_E_NULL, "model");
  if (!run) return tsn_reject(&q.exec, TSANOM_E_NULL, "run");
  if (!findings) return tsn_reject(&q.exec, TSANOM_E_NULL, "findings");
  if (!count) return tsn_reject(&q.exec, TSANOM_E_NULL, "count");
  if (!(isgreater(alpha, 0) && isless(alpha, 1)))
    return tsn_reject(&q.exec, TSANOM_E_OPTION, "alpha");
  tsn_environment before = tsn_environment_enter();
  status = tsn_hsa_check_vitals(run, "run", TSANOM_NONE, &q.exec);
  tsn_environment_leave(before);
  if (status < 0) return status;
  if (run->thread_count != model->threads || capacity / 20 < run->thread_count) {
    return tsn_reject(&q.exec, TSANOM_E_COUNT, "capacity");
  }
  q.threads = run->thread_count;
  status = tsn_workspace_run(&q.exec, layout, body, &q);
  if (status == TSANOM_OK) *count = q.count;
  return status;
}
