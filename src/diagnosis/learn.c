/* SPDX-License-Identifier: BSD-3-Clause */
/* Learning the ledger: normal rates of each eighth, as medians over the runs, and limits
 * of the signs that the same runs have against these. */
#include <math.h>

#include "core/chance.h"
#include "core/size.h"
#include "core/sort.h"
#include "diagnosis/causes.h"
#include "diagnosis/judge.h"

/* Prediction limits of signs: mean + t(freedom, 1 - alpha) s sqrt(1 + 1/n). The scatter of
 * few runs says little, so that it is joined with one that foreign programs have, which
 * counts as PRIOR runs: two runs give a finite limit. One run that the others exclude was
 * disturbed, and does not count. */

enum { PRIOR = 3, FEW = 5 };

/* Scatter of normal runs that is assumed before any is seen: of log c, of R and U over W, of
 * the log of a thread's c over the others'. Medians over three programs are 0.038, 0.006,
 * 0.011 and 0.013; R and U are wider, since they grow with the load. */
static const double priors[TSN_IMBALANCE + 1] = {0.04, 0.03, 0.04, 0.03};

static double mean_of(const double *v, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += v[i];
  return sum / (double)n;
}

static double squares_of(const double *v, size_t n) {
  double mean = mean_of(v, n), sum = 0;
  for (size_t i = 0; i < n; i++) sum += (v[i] - mean) * (v[i] - mean);
  return sum;
}

/* Of n sorted values: which one of the two ends the others, at least four, exclude;
 * TSANOM_NONE: neither. */
static size_t find_outlier(const double *v, size_t n) {
  if (n < FEW) return TSANOM_NONE;
  double median = 0.5 * (v[(n - 1) / 2] + v[n / 2]);
  bool high = v[n - 1] - median > median - v[0];
  const double *rest = high ? v : v + 1;
  size_t far = high ? n - 1 : 0, m = n - 1;
  double wide = tsn_student_quantile(0.005 / (double)n, (double)(m - 1)) *
                sqrt(squares_of(rest, m) / (double)(m - 1) * (1 + 1 / (double)m));
  return fabs(v[far] - mean_of(rest, m)) > wide ? far : TSANOM_NONE;
}

/* Move those that are known to the front, and sort them. Without any, no deviation is. */
static size_t sort_known(double *v, size_t count) {
  size_t n = 0;
  for (size_t i = 0; i < count; i++) {
    if (!isnan(v[i])) v[n++] = v[i];
  }
  if (!n) v[n++] = 0;
  tsn_sort(v, n);
  return n;
}

void tsn_learn_limits(double *value, size_t groups, size_t count, size_t sign, bool drops,
                      tsn_limit *limits) {
  double squares = PRIOR * priors[sign] * priors[sign];
  size_t freedom = PRIOR;
  for (size_t g = 0; g < groups; g++) {
    double *v = value + g * count;
    size_t n = sort_known(v, count), far = drops ? find_outlier(v, n) : TSANOM_NONE;
    if (far == 0) v++;
    if (far != TSANOM_NONE) n--;
    squares += squares_of(v, n);
    freedom += n - 1;
    limits[g] = (tsn_limit){
        .mean = mean_of(v, n), .scale = sqrt(1 + 1 / (double)n), .most = v[n - 1]};
  }
  for (size_t g = 0; g < groups; g++) {
    limits[g].scale *= sqrt(squares / (double)freedom);
    limits[g].freedom = (double)freedom;
  }
}

/* The freedom stays that of one eighth: rare long iterations are not normally distributed. */
static void join_eighths(tsn_model *m, size_t sign) {
  double mean = tsn_scale_of_mean(m, sign, TSN_PARTS);
  for (size_t w = 0; w < TSN_WINDOWS; w++) {
    tsn_limit limit = tsn_model_limit(m, w, sign);
    limit.scale = fmax(limit.scale, w ? mean * sqrt(TSN_PARTS) : mean);
    tsn_model_set_limit(m, w, sign, limit);
  }
}

double tsn_limit_at(const tsn_limit *l, double alpha) {
  return l->mean + tsn_student_quantile(alpha, l->freedom) * l->scale;
}

double tsn_own_variance(const tsn_limit *l, size_t sign, double widening) {
  double prior = priors[sign < TSN_IMBALANCE ? sign : TSN_IMBALANCE];
  double own = l->freedom - PRIOR;
  double squares = l->scale * l->scale / widening * l->freedom - PRIOR * prior * prior;
  return own > 0 ? fmax(0, squares / own) : l->scale * l->scale / widening;
}

double tsn_limit_margin(const tsn_limit *l, size_t sign, double widening, double tail) {
  double joint = tsn_student_quantile(tail, l->freedom) * l->scale;
  if (!(l->freedom > PRIOR)) return joint;
  double own = tsn_student_quantile(tail, l->freedom - PRIOR) *
               sqrt(widening * tsn_own_variance(l, sign, widening));
  return fmax(joint, own);
}

void tsn_ledger_training_layout(tsn_arena *arena, tsn_ledger_training *l) {
  size_t runs = l->runs_count, threads = l->threads;
  size_t rates = TSN_THREAD_CPU + threads, signs = TSN_IMBALANCE + threads;
  tsn_grid_layout(arena, &l->grid, threads);
  tsn_sign_layout(arena, &l->scratch, threads);
  l->candidates = tsn_arena_take(arena, threads, TSN_GAPS_EACH * sizeof(tsn_gap));
  l->rate = tsn_arena_take(arena, runs, TSN_WINDOWS * rates * sizeof(double));
  l->value = tsn_arena_take(arena, runs, TSN_WINDOWS * signs * sizeof(double));
  l->lost = tsn_arena_take(arena, runs, signs * sizeof(double));
  l->sign = tsn_arena_take(arena, signs, sizeof(tsn_sign));
  l->limit = tsn_arena_take(arena, signs, sizeof(tsn_limit));
  l->sorted = tsn_arena_take(arena, runs, sizeof(double));
  l->wall = tsn_arena_take(arena, runs, sizeof(double));
  l->gap = tsn_arena_take(arena, runs, TSN_GAPS * sizeof(double));
  l->found = tsn_arena_take(arena, runs, TSN_GAPS * sizeof(tsn_gap));
  l->founds = tsn_arena_take(arena, runs, sizeof(size_t));
  l->is_disturbed = tsn_arena_take(arena, runs, sizeof(bool));
}

static double most_beats(const tsanom_hsa_run *run) {
  return (double)run->threads[tsn_diagnosis_busiest(run)].beats;
}

/* Whether the run has samples, or lacks them, as most runs do; a short one may have too few. The
 * others count for gaps only. */
static bool load(tsn_ledger_training *l, size_t i) {
  const tsanom_hsa_run *run = &l->runs[i];
  tsn_grid_begin(&l->grid, run, most_beats(run), 1);
  if (l->grid.is_sampled != l->model.is_sampled) return false;
  tsn_grid_fill(&l->grid);
  return true;
}

/* Waiting on a processor may be counted a sample late, so that a short eighth has less than
 * nothing left of its work. */
static void learn_rates(tsn_ledger_training *l) {
  size_t rates = TSN_THREAD_CPU + l->threads, runs = l->runs_count;
  for (size_t i = 0; i < runs; i++) {
    bool counts = load(l, i);
    for (size_t w = 0; w < TSN_WINDOWS; w++) {
      double *rate = l->rate + (i * TSN_WINDOWS + w) * rates;
      if (counts && tsn_grid_has(&l->grid, 1U << w)) {
        tsn_measure_rates(&l->grid, w, l->model.processors, &l->scratch, rate);
      } else {
        for (size_t k = 0; k < rates; k++) rate[k] = NAN;
      }
    }
  }
  for (size_t w = TSN_WINDOWS; w-- > 0;) {
    for (size_t k = 0; k < rates; k++) {
      size_t n = 0;
      for (size_t i = 0; i < runs; i++) {
        double rate = l->rate[(i * TSN_WINDOWS + w) * rates + k];
        if (!isnan(rate)) l->sorted[n++] = rate;
      }
      double normal = n ? fmax(0, tsn_median(l->sorted, n)) : NAN;
      for (size_t p = 0; p < TSN_PARTS; p++) { /* the whole stands for missing parts */
        double *at = &l->model.rate[p * rates + k];
        if (w == p + 1 || (!w && isnan(*at))) *at = normal;
      }
    }
  }
}

/* Samples of signs at value[(w * signs + s) * runs + i]; NaN: the run has no such window. */
static void measure(tsn_ledger_training *l) {
  size_t signs = TSN_IMBALANCE + l->threads, runs = l->runs_count;
  for (size_t i = 0; i < runs; i++) {
    bool counts = load(l, i);
    for (size_t w = 0; w < TSN_WINDOWS; w++) {
      bool known = counts && tsn_grid_has(&l->grid, 1U << w);
      if (known) {
        tsn_measure_signs(&l->model, &l->grid, 1U << w, 0, &l->scratch, l->sign);
      }
      for (size_t s = 0; s < signs; s++) {
        l->value[(w * signs + s) * runs + i] = known ? l->sign[s].value : NAN;
        if (!w) l->lost[i * signs + s] = l->sign[s].lost;
      }
      if (!w) l->wall[i] = l->scratch.sums.wall;
    }
  }
}

/* Runs in which a sign of the team is the one that the others exclude, and lost much. */
static void find_disturbed(tsn_ledger_training *l) {
  size_t signs = TSN_IMBALANCE + l->threads, runs = l->runs_count;
  double worst = 0;
  l->misfit = TSANOM_NONE;
  for (size_t i = 0; i < runs; i++) l->is_disturbed[i] = false;
  for (size_t s = 0; s < TSN_IMBALANCE; s++) {
    size_t n = 0;
    for (size_t i = 0; i < runs; i++) {
      if (!isnan(l->value[s * runs + i])) l->sorted[n++] = l->value[s * runs + i];
    }
    tsn_sort(l->sorted, n);
    size_t far = find_outlier(l->sorted, n);
    for (size_t i = 0; i < runs && far != TSANOM_NONE; i++) {
      double lost = l->lost[i * signs + s];
      if (l->value[s * runs + i] != l->sorted[far]) continue;
      if (!(lost > TSN_LEAST_LOST * l->wall[i])) continue;
      l->is_disturbed[i] = true;
      if (!(lost > worst)) continue;
      worst = lost;
      l->misfit = i;
    }
  }
}

/* Of the eighths, only those of a run that is disturbed as a whole do not count. The lack of
 * processors does not come from the program: one eighth of a run may have it. */
static void learn_limits(tsn_ledger_training *l) {
  size_t signs = TSN_IMBALANCE + l->threads, runs = l->runs_count;
  for (size_t w = 0; w < TSN_WINDOWS; w++) {
    double *value = l->value + w * signs * runs;
    for (size_t s = 0; s <= TSN_IMBALANCE; s++) {
      size_t groups = s < TSN_IMBALANCE ? 1 : l->threads;
      bool own = w && s != TSN_CONTENTION;
      for (size_t i = 0; own && i < groups * runs; i++) {
        if (l->is_disturbed[i % runs]) value[s * runs + i] = NAN;
      }
      tsn_learn_limits(value + s * runs, groups, runs, s, !own, l->limit + s);
    }
    for (size_t s = 0; s < signs; s++) tsn_model_set_limit(&l->model, w, s, l->limit[s]);
  }
  for (size_t s = 0; s < signs; s++) {
    if (s != TSN_CONTENTION) join_eighths(&l->model, s);
  }
}

/* The longest gaps of the runs; returns the longest, and the limit of all. */
static double find_gaps(tsn_ledger_training *l, const tsn_pauses *known, double *limit) {
  size_t good = 0, count = 0, runs = l->runs_count;
  double longest = 0;
  bool any = false;
  for (size_t i = 0; i < runs; i++) any = any || !l->is_disturbed[i];
  for (size_t i = 0; i < runs; i++) {
    tsn_gap *found = l->found + i * TSN_GAPS;
    l->founds[i] = 0;
    if (any && l->is_disturbed[i]) continue;
    size_t n = tsn_all_gaps(&l->runs[i], known, l->candidates);
    n = tsn_select_gaps(&l->runs[i], l->candidates, n, found);
    l->founds[i] = n;
    for (size_t k = 0; k < n; k++) l->gap[count++] = found[k].length;
    if (n) longest = fmax(longest, found[0].length);
    good++;
  }
  *limit = tsn_gap_limit(l->gap, count, good);
  return longest;
}

static double first_beat(const tsanom_hsa_run *run) {
  double first = INFINITY;
  for (size_t t = 0; t < run->thread_count; t++) {
    if (run->threads[t].beats) first = fmin(first, run->threads[t].time[0]);
  }
  return first;
}

/* First of all gaps, then of those that are no known pauses. */
static void learn_gaps(tsn_ledger_training *l) {
  tsn_model *m = &l->model;
  size_t runs = l->runs_count;
  m->longest_gap = find_gaps(l, NULL, &m->gap_limit);
  m->pauses = tsn_find_pauses(l->found, l->founds, runs);
  if (m->pauses.first > 0) {
    m->pauses.limit = m->gap_limit;
    m->longest_gap = find_gaps(l, &m->pauses, &m->gap_limit);
  }
  m->longest_start = 0;
  for (size_t i = 0; i < runs; i++) {
    if (!l->founds[i]) continue;
    double start = tsn_first_gap(&l->runs[i], first_beat(&l->runs[i])).length;
    m->longest_start = fmax(m->longest_start, start);
  }
  for (size_t t = 0; t < l->threads; t++) {
    for (size_t i = 0; i < runs; i++) {
      l->sorted[i] =
          (double)l->runs[i].threads[t].beats / fmax(1, most_beats(&l->runs[i]));
    }
    m->share[t] = fmax(tsn_median(l->sorted, runs), 1e-9);
  }
}

static bool most_are_sampled(tsn_ledger_training *l) {
  size_t sampled = 0;
  for (size_t i = 0; i < l->runs_count; i++) {
    tsn_grid_begin(&l->grid, &l->runs[i], most_beats(&l->runs[i]), 1);
    sampled += l->grid.is_sampled;
  }
  return 2 * sampled >= l->runs_count;
}

void tsn_ledger_learn(tsn_ledger_training *l) {
  tsn_model *m = &l->model;
  const char *name;
  m->is_sampled = most_are_sampled(l);
  size_t processors = tsn_diagnosis_processors(l->runs[0].machine, &name);
  m->processors = (double)(processors ? processors : l->threads);
  for (size_t i = 0; i < l->runs_count; i++) l->sorted[i] = most_beats(&l->runs[i]);
  m->beats = tsn_median(l->sorted, l->runs_count);
  size_t rates = TSN_PARTS * (TSN_THREAD_CPU + l->threads);
  for (size_t i = 0; i < rates; i++) m->rate[i] = NAN;
  learn_rates(l);
  measure(l);
  find_disturbed(l);
  learn_limits(l);
  learn_gaps(l);
}

bool tsn_ledger_can_learn(const tsanom_hsa_run *runs, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (runs[i].thread_count != runs[0].thread_count || most_beats(&runs[i]) < 2) {
      return false;
    }
  }
  return true;
}
