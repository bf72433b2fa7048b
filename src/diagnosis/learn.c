/* SPDX-License-Identifier: BSD-3-Clause */
/* Learning the normal ranges of signs. Each normal run is measured after each eighth of
 * the beats of the longest one, as if it had been observed until then:
 *
 *   run 0   |----|----|----|----|----|----|----|----|
 *   run 1   |----|----|----|----|--|                     its end stands for later parts
 *   part       0    1    2    3    4    5    6    7
 *
 * A running program has the same part of the work behind it as the normal runs that it is
 * compared with, whatever a program does in its phases. */
#include <math.h>
#include <string.h>

#include "core/chance.h"
#include "core/size.h"
#include "core/sort.h"
#include "core/versioned.h"
#include "diagnosis/watch.h"

/* ---- what the ledger learned, as plain numbers that a program may save and load */

enum { HEAD = 10, LIMIT = 4, RATES = TSN_THREAD_CPU, SIGNS = TSN_IMBALANCE };

_Static_assert(HEAD + TSN_PARTS * RATES + TSN_WINDOWS * SIGNS * LIMIT ==
                   TSANOM_DIAGNOSIS_LEDGER_RUN,
               "numbers of a run");
_Static_assert(sizeof(tsn_limit) == LIMIT * sizeof(double), "numbers of a limit");
_Static_assert(1 + TSN_PARTS + TSN_WINDOWS * LIMIT == TSANOM_DIAGNOSIS_LEDGER_THREAD,
               "numbers of a thread");

size_t tsn_ledger_numbers(size_t threads) {
  return tsn_sum(tsn_product(threads, TSANOM_DIAGNOSIS_LEDGER_THREAD),
                 TSANOM_DIAGNOSIS_LEDGER_RUN);
}

tsn_model tsn_model_of(const tsanom_diagnosis_normal *normal) {
  double *v = normal->ledger;
  size_t threads = normal->thread_count;
  return (tsn_model){
      .threads = threads,
      .processors = v[0],
      .beats = v[1],
      .longest_gap = v[2],
      .gap_limit = v[3] > 0 ? v[3] : INFINITY,
      .is_sampled = v[4] > 0,
      .longest_start = v[5],
      .pauses = {v[6], v[7], v[8], v[9] > 0 ? v[9] : INFINITY},
      .share = v + HEAD,
      .rate = v + HEAD + threads,
      .limit = (tsn_limit *)(v + HEAD + threads + TSN_PARTS * (RATES + threads))};
}

static void model_write(const tsn_model *m, tsanom_diagnosis_normal *normal) {
  const double head[HEAD] = {
      m->processors,     m->beats,
      m->longest_gap,    isfinite(m->gap_limit) ? m->gap_limit : 0,
      m->is_sampled,     m->longest_start,
      m->pauses.first,   m->pauses.period,
      m->pauses.longest, isfinite(m->pauses.limit) ? m->pauses.limit : 0};
  memcpy(normal->ledger, head, sizeof head);
}

double tsn_scale_of_mean(const tsn_model *m, size_t sign, size_t parts) {
  double squares = 0;
  for (size_t w = 1; w <= parts; w++) {
    double scale = tsn_limit_of(m, w, sign)->scale;
    squares += scale * scale;
  }
  return sqrt(squares) / (double)parts;
}

/* Half of it for the whole and half for the eighths; one part each of slowdown, contention,
 * blocked and imbalance. */
double tsn_model_chance(const tsn_model *m, size_t window, size_t sign, double alpha) {
  double tests = 8.0 * (window ? TSN_PARTS : 1);
  return alpha / (sign < SIGNS ? tests : tests * (double)m->threads);
}

/* Whether all is known, and no time or count is negative. Runs of which the beats are at one
 * moment have no rates. */
static bool model_is_valid(const tsanom_diagnosis_normal *n) {
  const tsn_model m = tsn_model_of(n);
  const double *limits = &m.limit->mean, *end = n->ledger + tsn_ledger_numbers(m.threads);
  bool is_learned = m.processors > 0;
  if (is_learned && !(m.processors >= 1 && m.beats >= 1)) return false;
  for (const double *v = n->ledger; v < end; v++) {
    if (!isfinite(*v) || (v < limits && *v < 0)) return false;
  }
  for (const tsn_limit *l = m.limit; is_learned && &l->mean < end; l++) {
    if (l->scale < 0 || l->freedom < 1) return false;
  }
  return true;
}

static const tsanom_diagnosis_normal empty_normal = {.struct_size = sizeof empty_normal,
                                                     .misfit = TSANOM_NONE};

static const tsn_versioned normal_type = {.size = sizeof(tsanom_diagnosis_normal),
                                          .first_size = sizeof(tsanom_diagnosis_normal),
                                          .defaults = &empty_normal};

/* One call: the normal runs, and what is learned of them. */
typedef struct {
  tsanom_exec exec;
  const tsanom_hsa_run *runs;
  size_t runs_count, threads;
  double coverage;
  tsanom_diagnosis_normal *normal;
  tsanom_hsa_series *series;     /* of a run that is cut */
  tsanom_diagnosis_signs *signs; /* of thread t of run i at i * threads + t */
  tsn_model model;
  tsn_grid *grid; /* of each run */
  tsn_trace *trace;
  tsn_sign_scratch scratch;
  tsn_watch_frame watch; /* of one run after the other */
  double *rate, *value;  /* of runs and rates, of signs and runs: of a window */
  double *lost, *wall;   /* of runs and signs, of runs: of the whole */
  tsn_sign *sign;
  double *sorted, *gap;
  tsn_gap *found; /* TSN_GAPS of each run */
  size_t *founds; /* their number */
  bool *is_disturbed;
} training;

static void layout(tsn_arena *arena, void *context) {
  training *l = context;
  size_t runs = l->runs_count, threads = l->threads, all = tsn_product(runs, threads);
  size_t rates = TSN_THREAD_CPU + threads, signs = TSN_IMBALANCE + threads;
  l->grid = tsn_arena_take(arena, runs, sizeof *l->grid);
  l->trace = tsn_arena_take(arena, all, sizeof *l->trace);
  tsn_sign_layout(arena, &l->scratch, threads);
  tsn_watch_layout(arena, &l->watch);
  l->series = tsn_arena_take(arena, threads, sizeof *l->series);
  l->signs = tsn_arena_take(arena, all, sizeof *l->signs);
  l->rate = tsn_arena_take(arena, runs, rates * sizeof(double));
  l->value = tsn_arena_take(arena, runs, signs * sizeof(double));
  l->lost = tsn_arena_take(arena, runs, signs * sizeof(double));
  l->sign = tsn_arena_take(arena, signs, sizeof(tsn_sign));
  l->sorted = tsn_arena_take(arena, runs, sizeof(double));
  l->wall = tsn_arena_take(arena, runs, sizeof(double));
  l->gap = tsn_arena_take(arena, runs, TSN_GAPS * sizeof(double));
  l->found = tsn_arena_take(arena, runs, TSN_GAPS * sizeof(tsn_gap));
  l->founds = tsn_arena_take(arena, runs, sizeof(size_t));
  l->is_disturbed = tsn_arena_take(arena, runs, sizeof(bool));
}

/* ---- known pauses, such as checkpoints */

/* Threads that wait for the one that pauses may be an iteration further. */
static const double apart = 2, least_period = 10;

bool tsn_pauses_at(const tsn_pauses *p, double beats) {
  double off = beats - p->first;
  if (p->period > 0 && off > 0) off = remainder(off, p->period);
  return p->first > 0 && fabs(off) <= apart;
}

/* The long gaps of a run, of which the shortest is more than half of the longest of all runs;
 * they are in order of their length. */
static size_t long_gaps(const tsn_gap *gap, size_t count, double longest) {
  size_t n = 0;
  while (n < count && gap[n].length > longest / 2) n++;
  return n;
}

tsn_pauses tsn_find_pauses(const tsn_gap *gap, const size_t *count, size_t runs) {
  enum { FEW_RUNS = 3 };
  tsn_pauses p = {INFINITY, INFINITY, 0, INFINITY}, none = {0, 0, 0, INFINITY};
  size_t used = 0;
  for (size_t r = 0; r < runs; r++) {
    if (count[r]) p.longest = fmax(p.longest, gap[r * TSN_GAPS].length);
  }
  for (size_t r = 0; r < runs; r++) {
    const tsn_gap *of = gap + r * TSN_GAPS;
    size_t n = long_gaps(of, count[r], p.longest);
    if (count[r] && !n) return none;
    used += n > 0;
    for (size_t i = 0; i < n; i++) {
      p.first = fmin(p.first, of[i].beats);
      for (size_t k = 0; k < i; k++) {
        double between = fabs(of[i].beats - of[k].beats);
        if (between > apart) p.period = fmin(p.period, between);
      }
    }
  }
  if (isinf(p.period)) p.period = 0;
  if (used < FEW_RUNS || (p.period > 0 && p.period < least_period)) return none;
  for (size_t r = 0; r < runs; r++) {
    size_t n = long_gaps(gap + r * TSN_GAPS, count[r], p.longest);
    for (size_t i = 0; i < n; i++) {
      if (!tsn_pauses_at(&p, gap[r * TSN_GAPS + i].beats)) return none;
    }
  }
  return p;
}

/* ---- how long is too long
 *
 * It follows from the longest gaps of the normal runs, by Hill's estimate of the tail of a
 * distribution: with x_0 >= x_1 >= ..., of runs of which one in 1000 may have a longer gap,
 *
 *   limit_k = x_k (k / (runs / 1000))^g,   g = mean of log(x_j / x_k), j < k
 *
 * The least over k, since a mixture of short and long gaps (checkpoints) has no common tail;
 * and at least twice the longest: a known pause may take twice as long on a busy device.
 *
 * Source: B. Hill, A simple general approach to inference about the tail of a distribution,
 * Ann. Statist. 3 (1975) 1163-1174. */

static const double rare = 0.001;

double tsn_gap_limit(double *v, size_t count, size_t runs) {
  double least = INFINITY, logs = 0;
  tsn_sort(v, count);
  size_t zeros = 0;
  while (zeros < count && !(v[zeros] > 0)) zeros++;
  if (count - zeros < 2) return INFINITY;
  size_t last = count - zeros - 1, first = tsn_smaller(runs, last);
  for (size_t k = 1; k <= last; k++) {
    double x = v[count - 1 - k];
    logs += log(v[count - k]);
    if (k < first) continue;
    double tail = logs / (double)k - log(x);
    least = fmin(least, x * pow((double)k / ((double)runs * rare), tail));
  }
  return fmax(2 * v[count - 1], least);
}

/* ---- the ledger of normal runs: rates of each eighth as medians, and limits of the signs that
 * the same runs have against these */

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

/* Of every `stride`-th value, take those that are known; returns their number. */
static size_t take_known(const double *v, size_t count, size_t stride, double *known) {
  size_t n = 0;
  for (size_t i = 0; i < count; i++) {
    if (!isnan(v[i * stride])) known[n++] = v[i * stride];
  }
  return n;
}

/* Move those that are known to the front, and sort them. Without any, no deviation is. */
static size_t sort_known(double *v, size_t count) {
  size_t n = take_known(v, count, 1, v);
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
static void join_eighths(const tsn_model *m, size_t sign) {
  double mean = tsn_scale_of_mean(m, sign, TSN_PARTS);
  for (size_t w = 0; w < TSN_WINDOWS; w++) {
    double *scale = &tsn_limit_of(m, w, sign)->scale;
    *scale = fmax(*scale, w ? mean * sqrt(TSN_PARTS) : mean);
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

static double most_beats(const tsanom_hsa_run *run) {
  return (double)run->threads[tsn_diagnosis_busiest(run)].beats;
}

/* Whether a run has samples, or lacks them, as most runs do; a short one may have too few. The
 * others count for gaps only. */
static bool counts(const training *l, size_t i, size_t window) {
  return l->grid[i].is_sampled == l->model.is_sampled &&
         tsn_grid_has(&l->grid[i], 1U << window);
}

/* Waiting on a processor may be counted a sample late, so that a short eighth has less than
 * nothing left of its work. */
static void learn_rates(training *l, size_t w) {
  size_t rates = TSN_THREAD_CPU + l->threads, runs = 0;
  for (size_t i = 0; i < l->runs_count; i++) {
    if (!counts(l, i, w)) continue;
    tsn_measure_rates(&l->grid[i], w, l->model.processors, &l->scratch,
                      l->rate + runs++ * rates);
  }
  for (size_t k = 0; k < rates; k++) {
    size_t n = take_known(l->rate + k, runs, rates, l->sorted);
    double normal = n ? fmax(0, tsn_median(l->sorted, n)) : NAN;
    for (size_t p = 0; p < TSN_PARTS; p++) { /* the whole stands for missing parts */
      double *at = &l->model.rate[p * rates + k];
      if (w == p + 1 || (!w && isnan(*at))) *at = normal;
    }
  }
}

/* Samples of signs at value[s * runs + i]; NaN: the run has no such window. */
static void measure(training *l, size_t w) {
  size_t signs = TSN_IMBALANCE + l->threads, runs = l->runs_count;
  for (size_t i = 0; i < runs; i++) {
    bool known = counts(l, i, w);
    if (known) {
      tsn_measure_signs(&l->model, &l->grid[i], 1U << w, 0, &l->scratch, l->sign);
    }
    for (size_t s = 0; s < signs; s++) {
      l->value[s * runs + i] = known ? l->sign[s].value : NAN;
      if (!w) l->lost[i * signs + s] = l->sign[s].lost;
    }
    if (!w) l->wall[i] = l->scratch.sums.wall;
  }
}

/* Runs in which a sign of the team is the one that the others exclude, and lost much. */
static void find_disturbed(training *l) {
  size_t signs = TSN_IMBALANCE + l->threads, runs = l->runs_count;
  double worst = 0;
  l->normal->misfit = TSANOM_NONE;
  for (size_t i = 0; i < runs; i++) l->is_disturbed[i] = false;
  for (size_t s = 0; s < TSN_IMBALANCE; s++) {
    size_t n = take_known(l->value + s * runs, runs, 1, l->sorted);
    tsn_sort(l->sorted, n);
    size_t far = find_outlier(l->sorted, n);
    for (size_t i = 0; i < runs && far != TSANOM_NONE; i++) {
      double lost = l->lost[i * signs + s];
      if (l->value[s * runs + i] != l->sorted[far]) continue;
      if (!(lost > TSN_LEAST_LOST * l->wall[i])) continue;
      l->is_disturbed[i] = true;
      if (!(lost > worst)) continue;
      worst = lost;
      l->normal->misfit = i;
    }
  }
}

/* Of the eighths, only those of a run that is disturbed as a whole do not count. The lack of
 * processors does not come from the program: one eighth of a run may have it. */
static void learn_limits(training *l, size_t w) {
  size_t runs = l->runs_count;
  for (size_t s = 0; s <= TSN_IMBALANCE; s++) {
    size_t groups = s < TSN_IMBALANCE ? 1 : l->threads;
    double *value = l->value + s * runs;
    bool own = w && s != TSN_CONTENTION;
    for (size_t i = 0; own && i < groups * runs; i++) {
      if (l->is_disturbed[i % runs]) value[i] = NAN;
    }
    tsn_learn_limits(value, groups, runs, s, !own, tsn_limit_of(&l->model, w, s));
  }
}

/* The longest gaps of the runs, the longest of all, and their limit. */
static void find_gaps(training *l) {
  size_t good = 0, count = 0, runs = l->runs_count;
  tsn_model *m = &l->model;
  bool any = false;
  m->longest_gap = m->longest_start = 0;
  for (size_t i = 0; i < runs; i++) any = any || !l->is_disturbed[i];
  for (size_t i = 0; i < runs; i++) {
    tsn_gap *found = l->found + i * TSN_GAPS;
    l->founds[i] = 0;
    if (any && l->is_disturbed[i]) continue;
    tsanom_diagnosis_watch *w = tsn_watch_whole(&l->watch, &l->runs[i]);
    size_t n = tsn_watch_gaps(w, &l->runs[i], found);
    l->founds[i] = n;
    good++;
    if (!n) continue;
    for (size_t k = 0; k < n; k++) l->gap[count++] = found[k].length;
    m->longest_gap = fmax(m->longest_gap, found[0].length);
    m->longest_start =
        fmax(m->longest_start, tsn_first_gap(&l->runs[i], w->first).length);
  }
  m->gap_limit = tsn_gap_limit(l->gap, count, good);
}

/* First of all gaps, then of those that are no known pauses. */
static void learn_gaps(training *l) {
  tsn_model *m = &l->model;
  size_t runs = l->runs_count;
  find_gaps(l);
  m->pauses = tsn_find_pauses(l->found, l->founds, runs);
  if (m->pauses.first > 0) {
    m->pauses.limit = m->gap_limit;
    l->watch.own.search.model.pauses = m->pauses;
    find_gaps(l);
  }
  for (size_t t = 0; t < l->threads; t++) {
    for (size_t i = 0; i < runs; i++) {
      l->sorted[i] =
          (double)l->runs[i].threads[t].beats / fmax(1, most_beats(&l->runs[i]));
    }
    m->share[t] = fmax(tsn_median(l->sorted, runs), 1e-9);
  }
}

/* The ledgers of the runs; returns how many of them have samples. */
static size_t fill_grids(training *l) {
  size_t sampled = 0;
  for (size_t i = 0; i < l->runs_count; i++) {
    tsn_grid *g = &l->grid[i];
    g->thread = l->trace + i * l->threads;
    tsn_grid_begin(g, &l->runs[i], most_beats(&l->runs[i]), 1);
    tsn_grid_fill(g);
    sampled += g->is_sampled;
  }
  return sampled;
}

static void learn_model(training *l) {
  tsn_model *m = &l->model;
  const char *name;
  m->is_sampled = 2 * fill_grids(l) >= l->runs_count;
  size_t processors = tsn_diagnosis_processors(l->runs[0].machine, &name);
  m->processors = (double)(processors ? processors : l->threads);
  for (size_t i = 0; i < l->runs_count; i++) l->sorted[i] = most_beats(&l->runs[i]);
  m->beats = tsn_median(l->sorted, l->runs_count);
  for (size_t w = TSN_WINDOWS; w-- > 0;) learn_rates(l, w);
  for (size_t w = 0; w < TSN_WINDOWS; w++) {
    measure(l, w);
    if (!w) find_disturbed(l);
    learn_limits(l, w);
  }
  for (size_t s = 0; s < TSN_IMBALANCE + l->threads; s++) {
    if (s != TSN_CONTENTION) join_eighths(m, s);
  }
  learn_gaps(l);
}

static bool can_learn(const tsanom_hsa_run *runs, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (runs[i].thread_count != runs[0].thread_count || most_beats(&runs[i]) < 2) {
      return false;
    }
  }
  return true;
}

/* ---- ranges of signs */

size_t tsn_diagnosis_busiest(const tsanom_hsa_run *run) {
  size_t busiest = 0;
  for (size_t t = 1; t < run->thread_count; t++) {
    if (run->threads[t].beats > run->threads[busiest].beats) busiest = t;
  }
  return busiest;
}

/* The run as it was when its busiest thread had that number of beats. `series` has an element for
 * each thread. */
static tsanom_hsa_run cut_run(const tsanom_hsa_run *run, uint64_t beats,
                              tsanom_hsa_series *series) {
  const tsanom_hsa_series *busiest = &run->threads[tsn_diagnosis_busiest(run)];
  if (busiest->beats <= beats) return *run;
  tsanom_hsa_run cut = *run;
  double time = busiest->time[beats - 1];
  cut.end = time;
  cut.state = TSANOM_RUN_RUNNING;
  cut.vital_count = tsn_samples_until(run->vital, run->vital_count, time);
  cut.threads = series;
  for (size_t t = 0; t < run->thread_count; t++) {
    series[t] = run->threads[t];
    series[t].beats = tsn_diagnosis_beats_until(&run->threads[t], time);
    series[t].vital_count =
        tsn_samples_until(series[t].vital, series[t].vital_count, time);
  }
  return cut;
}

static void learn_part(const training *l, size_t part) {
  size_t threads = l->threads;
  uint64_t beats = (l->normal->beats * (part + 1) + TSANOM_DIAGNOSIS_PARTS - 1) /
                   TSANOM_DIAGNOSIS_PARTS;
  for (size_t i = 0; i < l->runs_count; i++) {
    tsanom_hsa_run cut = cut_run(&l->runs[i], beats, l->series);
    tsn_diagnosis_measure(&cut, l->signs + i * threads);
  }
  for (size_t t = 0; t < threads; t++) {
    tsanom_hsa_range *range = tsn_diagnosis_ranges_at(l->normal, part, t);
    for (int32_t s = 0; s < TSANOM_DIAGNOSIS_SIGNS; s++) {
      size_t count = 0;
      for (size_t i = 0; i < l->runs_count; i++) {
        if (t >= l->runs[i].thread_count) continue;
        l->sorted[count++] = l->signs[i * threads + t].value[s];
      }
      range[s] = tsn_diagnosis_sign_range(s, l->sorted, count, l->coverage);
    }
  }
}

/* A name that all runs have; else empty. */
static void keep_common_name(char *to, size_t size, const char *name, bool is_first) {
  if (!name || (!is_first && strncmp(to, name, size - 1) != 0)) {
    *to = '\0';
  } else if (is_first) {
    (void)strncpy(to, name, size - 1);
    to[size - 1] = '\0';
  }
}

static void describe_runs(const training *l, tsanom_diagnosis_normal *normal) {
  normal->thread_count = l->threads;
  normal->run_count = l->runs_count;
  normal->fewest = UINT64_MAX;
  for (size_t i = 0; i < l->runs_count; i++) {
    const tsanom_hsa_run *run = &l->runs[i];
    uint64_t beats = run->threads[tsn_diagnosis_busiest(run)].beats;
    if (beats > normal->beats) normal->beats = beats;
    if (beats < normal->fewest) normal->fewest = beats;
    keep_common_name(normal->program, sizeof normal->program, run->program, i == 0);
    keep_common_name(normal->machine, sizeof normal->machine, run->machine, i == 0);
  }
}

static void learn_ledger(training *l) {
  size_t count = tsn_ledger_numbers(l->threads);
  if (!l->normal->ledger) return;
  if (can_learn(l->runs, l->runs_count)) {
    l->model = tsn_model_of(l->normal);
    learn_model(l);
    model_write(&l->model, l->normal);
    if (model_is_valid(l->normal)) return;
  }
  l->normal->misfit = TSANOM_NONE;
  for (size_t i = 0; i < count; i++) l->normal->ledger[i] = 0;
}

static tsanom_status body(void *context) {
  training *l = context;
  for (size_t i = 0; i < l->runs_count; i++) {
    tsanom_status status = tsn_diagnosis_check_vitals(&l->runs[i], "runs", i, &l->exec);
    if (status < 0) return status;
  }
  for (size_t part = 0; part < TSANOM_DIAGNOSIS_PARTS; part++) {
    if (tsn_exec_stop(&l->exec, part, TSANOM_DIAGNOSIS_PARTS)) return TSANOM_STOPPED;
    learn_part(l, part);
  }
  learn_ledger(l);
  return l->runs_count < 3 ? TSANOM_PARTIAL : TSANOM_OK;
}

/* Whether an array of the struct has the elements that these threads need; SIZE_MAX: none
 * has. */
static tsanom_status check_array(const tsanom_exec *exec, const char *name, size_t count,
                                 size_t threads, size_t needed) {
  if (count >= needed && needed < SIZE_MAX) return TSANOM_OK;
  return tsn_reject_is(exec, TSANOM_E_COUNT, name, TSANOM_NONE,
                       "%zu; at least %zu, for %zu threads, is expected", count, needed,
                       threads);
}

static tsanom_status check_ranges(const tsanom_diagnosis_normal *n, size_t threads,
                                  const tsanom_exec *exec) {
  return check_array(
      exec, "normal.range_count", n->range_count, threads,
      tsn_product(threads, (size_t)TSANOM_DIAGNOSIS_PARTS * TSANOM_DIAGNOSIS_SIGNS));
}

static tsanom_status check_ledger(const tsanom_diagnosis_normal *n, size_t threads,
                                  const tsanom_exec *exec) {
  if (!n->ledger && n->ledger_count) {
    return tsn_reject_null(exec, "normal.ledger", n->ledger_count);
  }
  if (!n->ledger) return TSANOM_OK;
  return check_array(exec, "normal.ledger_count", n->ledger_count, threads,
                     tsn_ledger_numbers(threads));
}

/* Whether the result fits into the caller's arrays. */
static tsanom_status check(void *context) {
  const training *l = context;
  if (!l->normal->range) {
    return tsn_reject_null(&l->exec, "normal.range", l->normal->range_count);
  }
  tsanom_status status = check_ranges(l->normal, l->threads, &l->exec);
  return status < 0 ? status : check_ledger(l->normal, l->threads, &l->exec);
}

static tsanom_status read_runs(training *l) {
  tsanom_status status = tsn_hsa_check_runs(l->runs, l->runs_count, &l->exec);
  if (status < 0) return status;
  if (!(isgreater(l->coverage, 0) && isless(l->coverage, 1))) {
    return tsn_reject_value(&l->exec, TSANOM_E_OPTION, "coverage", TSANOM_NONE,
                            TSANOM_NONE, l->coverage,
                            "more than 0 and less than 1 is expected");
  }
  for (size_t i = 0; i < l->runs_count; i++) {
    l->threads = tsn_larger(l->threads, l->runs[i].thread_count);
  }
  l->watch.threads = l->threads;
  return TSANOM_OK;
}

/* Ranges are written into the caller's memory only when all runs are known to be valid,
 * and a call that the poll stopped says so by its status. */
tsanom_status tsanom_diagnosis_learn_normal(const tsanom_hsa_run *runs, size_t run_count,
                                            double coverage, const tsanom_exec *exec,
                                            tsanom_diagnosis_normal *normal) {
  training l = {.runs = runs, .runs_count = run_count, .coverage = coverage};
  tsanom_status status = tsn_exec_read(&l.exec, exec);
  if (status < 0) return status;
  status = tsn_struct_check(&l.exec, &normal_type, normal, "normal");
  if (status < 0) return status;
  if ((status = read_runs(&l)) < 0) return status;
  tsanom_diagnosis_normal own = {.struct_size = sizeof own,
                                 .range = normal->range,
                                 .range_count = normal->range_count,
                                 .ledger = normal->ledger,
                                 .ledger_count = normal->ledger_count,
                                 .misfit = TSANOM_NONE};
  describe_runs(&l, &own);
  l.normal = &own;
  status = tsn_workspace_run(&l.exec, layout, check, body, &l);
  if (status == TSANOM_OK || status == TSANOM_PARTIAL) {
    tsn_versioned_write(&normal_type, normal, &own);
  }
  return status;
}

tsanom_status tsn_diagnosis_read_normal(tsanom_diagnosis_normal *own,
                                        const tsanom_diagnosis_normal *caller,
                                        const tsanom_exec *exec) {
  if (!caller) return tsn_reject_null(exec, "normal", TSANOM_NONE);
  tsanom_status status = tsn_struct_read(exec, &normal_type, own, caller, "normal");
  if (status < 0) return status;
  status = tsn_require_size(exec, TSANOM_E_COUNT, "normal.thread_count",
                            own->thread_count, 1, SIZE_MAX);
  if (status < 0) return status;
  status = tsn_require_size(exec, TSANOM_E_COUNT, "normal.run_count", own->run_count, 1,
                            SIZE_MAX);
  return status < 0 ? status : check_ranges(own, own->thread_count, exec);
}

/* A file that a program loaded may be damaged. */
tsanom_status tsn_diagnosis_check_normal(const tsanom_diagnosis_normal *own,
                                         const tsanom_exec *exec) {
  size_t count = tsn_range_count(own);
  if (!own->range) return tsn_reject_null(exec, "normal.range", count);
  if (memchr(own->program, 0, sizeof own->program) == NULL ||
      memchr(own->machine, 0, sizeof own->machine) == NULL) {
    return tsn_reject_is(exec, TSANOM_E_FORMAT, "normal.program", TSANOM_NONE,
                         "not terminated, or normal.machine; a 0 is expected");
  }
  for (size_t i = 0; i < count; i++) {
    double low = own->range[i].low, high = own->range[i].high;
    if (isnan(low) || isnan(high)) {
      return tsn_reject_value(exec, TSANOM_E_NONFINITE, "normal.range", i, TSANOM_NONE,
                              NAN, "two numbers are expected");
    }
    if (low > high) {
      return tsn_reject_is(exec, TSANOM_E_FORMAT, "normal.range", i,
                           "from %.9g to %.9g; low <= high is expected", low, high);
    }
  }
  tsanom_status status = check_ledger(own, own->thread_count, exec);
  if (status < 0 || !own->ledger || model_is_valid(own)) return status;
  return tsn_reject_is(exec, TSANOM_E_FORMAT, "normal.ledger", TSANOM_NONE,
                       "not what learning writes; finite numbers are expected, and no "
                       "time or count below 0");
}

/* tsanom_diagnosis_normal_power(): which effects a model finds. */

/* More normal runs than anybody makes. */
enum { MOST_RUNS = 100 };

/* The mean of a sign, above that of normal runs, with which 95 % of the runs are above its
 * limit, and have lost enough: they scatter about it as normal runs do about theirs. */
static double found_from(const tsn_model *m, tsn_limit limit, size_t sign, double least,
                         double runs) {
  double alpha = tsn_model_chance(m, 0, sign, TSN_CHANCE);
  return fmax(tsn_limit_at(&limit, alpha), least) - limit.mean +
         tsn_limit_margin(&limit, sign, 1 + 1 / runs, 0.05);
}

/* As learned from further runs with the same scatter. */
static tsn_limit with_more(tsn_limit limit, double runs, double more) {
  double own = tsn_own_variance(&limit, TSN_SLOWDOWN, 1 + 1 / runs);
  double squares = limit.scale * limit.scale / (1 + 1 / runs) * limit.freedom;
  limit.freedom += more;
  limit.scale = sqrt((squares + more * own) / limit.freedom * (1 + 1 / (runs + more)));
  return limit;
}

/* Further normal runs until the factor of a slowdown exceeds 1 by half. */
static double runs_to_halve(const tsn_model *m, double runs, double least, double now) {
  tsn_limit limit = *tsn_limit_of(m, 0, TSN_SLOWDOWN);
  for (size_t more = 1; more <= MOST_RUNS; more++) {
    tsn_limit next = with_more(limit, runs, (double)more);
    double from = found_from(m, next, TSN_SLOWDOWN, least, runs + (double)more);
    if (exp(from) - 1 <= (now - 1) / 2) return (double)more;
  }
  return INFINITY;
}

static void ledger_power(const tsanom_diagnosis_normal *normal,
                         tsanom_diagnosis_power *power) {
  double wall = 0, work = 0, ran = 0, ready = 0, runs = (double)normal->run_count;
  if (!tsn_has_ledger(normal)) return;
  tsn_model m = tsn_model_of(normal);
  for (size_t p = 0; p < TSN_PARTS; p++) {
    wall += tsn_rate(&m, p)[TSN_WALL];
    work += tsn_rate(&m, p)[TSN_CPU] + tsn_rate(&m, p)[TSN_READY];
    ready += tsn_rate(&m, p)[TSN_ALL_READY];
    for (size_t t = 0; t < m.threads; t++) ran += tsn_rate(&m, p)[TSN_THREAD_CPU + t];
  }
  if (m.is_sampled) power->load = ready / (ran + ready);
  double lost = work > 0 ? TSN_LEAST_LOST * wall / work : INFINITY;
  /* What a thread of a run loses that is faster as a whole is not lost against normal runs. */
  double faster = tsn_limit_margin(tsn_limit_of(&m, 0, TSN_SLOWDOWN), TSN_SLOWDOWN,
                                   1 + 1 / runs, 0.05);
  const double least[] = {[TSN_SLOWDOWN] = log1p(lost),
                          [TSN_CONTENTION] = TSN_LEAST_LOST,
                          [TSN_BLOCKED] = TSN_LEAST_LOST,
                          [TSN_IMBALANCE] = log1p(lost) + faster};
  double *levels[] = {[TSN_SLOWDOWN] = &power->slowdown,
                      [TSN_CONTENTION] = &power->contention,
                      [TSN_BLOCKED] = &power->blocked,
                      [TSN_IMBALANCE] = &power->imbalance};
  for (size_t s = 0; s < TSN_IMBALANCE + m.threads; s++) {
    size_t kind = s < TSN_IMBALANCE ? s : TSN_IMBALANCE;
    double from = found_from(&m, *tsn_limit_of(&m, 0, s), s, least[kind], runs);
    if (kind == TSN_SLOWDOWN || kind == TSN_IMBALANCE) from = exp(from);
    *levels[kind] = s > TSN_IMBALANCE ? fmax(*levels[kind], from) : from;
  }
  power->more_runs = runs_to_halve(&m, runs, least[TSN_SLOWDOWN], power->slowdown);
  power->hang = fmax(m.gap_limit, tsn_least_pause(&m));
}

tsanom_status tsanom_diagnosis_normal_power(const tsanom_diagnosis_normal *normal,
                                            tsanom_diagnosis_power *power) {
  tsanom_diagnosis_normal own = {.thread_count = 0};
  if (!power) return TSANOM_E_NULL;
  tsanom_status status = tsn_diagnosis_read_normal(&own, normal, NULL);
  if (status == TSANOM_OK) status = tsn_diagnosis_check_normal(&own, NULL);
  if (status < 0) return status;
  *power = (tsanom_diagnosis_power){.slowdown = INFINITY,
                                    .imbalance = INFINITY,
                                    .contention = INFINITY,
                                    .blocked = INFINITY,
                                    .hang = INFINITY,
                                    .more_runs = INFINITY,
                                    .load = NAN};
  ledger_power(&own, power);
  for (size_t t = 0; t < own.thread_count; t++) {
    const tsanom_hsa_range *r =
        tsn_diagnosis_ranges_at(&own, TSANOM_DIAGNOSIS_PARTS - 1, t);
    power->leak = fmax(power->leak, r[TSANOM_DIAGNOSIS_SIGN_GROWTH].high);
    power->early = fmax(power->early, r[TSANOM_DIAGNOSIS_SIGN_EARLY].high);
  }
  return TSANOM_OK;
}
