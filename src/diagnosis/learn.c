/* SPDX-License-Identifier: BSD-3-Clause */
/* Learning the ledger: normal rates of each eighth, as medians over the runs, and limits
 * of the signs that the same runs have against these. */
#include <math.h>

#include "core/size.h"
#include "core/sort.h"
#include "diagnosis/causes.h"
#include "diagnosis/judge.h"

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
    size_t far = tsn_find_outlier(l->sorted, n);
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
    if (s != TSN_CONTENTION) tsn_join_eighths(&l->model, s);
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
    double start = tsn_first_gap(&l->runs[i], tsn_first_beat(&l->runs[i])).length;
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
