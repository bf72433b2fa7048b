/* SPDX-License-Identifier: BSD-3-Clause */
/* Barycenter of a set by DTW barycenter averaging, DBA (F. Petitjean et al., Pattern
 * Recognition 44 (2011) 678-693). One iteration:
 *
 *   1. Align each series to the average by its warping path (threads share the series).
 *   2. Sample i of the average becomes the mean (squared cost) or the lower median
 *      (absolute cost) of all samples that the paths join to it. Either minimizes the sum
 *      of costs along the paths found, so the sum of distances cannot grow.
 *
 * An iteration takes O(count * length * samples) time for the paths. The update gathers
 * the samples of each position from the intervals below rather than adding along the
 * paths: a path joins consecutive samples of a series to one position, so two indices
 * hold them, threads write no common sums, and every number of threads gives the same
 * bits.
 *
 * The average is kept without gaps between samples, whatever the stride of the set. It
 * is written back only at the end: a stopped call leaves the caller's start as it was. */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "core/size.h"
#include "core/sort.h"
#include "dtw/dtw_pairwise.h"
#include "dtw/dtw_path.h"

/* Samples of one series that are aligned to one sample of the average. */
typedef struct {
  size_t first, end;
} aligned;

/* An average in progress. */
typedef struct {
  tsn_dtw_settings settings; /* its stride is that of the average */
  tsanom_series set;
  size_t length;
  int32_t iterations;
  double tolerance;
  double *barycenter, *sum; /* the caller's */
  double *average;          /* [length][dimensions] */
  double *distances;        /* of each series to the average */
  aligned *samples;         /* [count][length] */
  double *values;           /* of one component of one sample */
  void *blocks;             /* of each thread */
  size_t block_bytes;
  tsn_dtw_path longest; /* path to the longest series, which sizes the blocks */
  tsanom_exec caller;   /* with the caller's poll */
  _Atomic int stop;
  _Atomic int infeasible;
} averaging;

/* The caller's poll, between series and inside of one; not once more after it asked to
 * stop. */
static int32_t poll_until_stop(void *user, uint64_t done, uint64_t total) {
  averaging *a = user;
  return atomic_load_explicit(&a->stop, memory_order_relaxed) ||
         tsn_exec_stop_all(&a->caller, done, total, &a->stop);
}

/* Pairs of one path: at most length + samples - 1. */
static size_t *take_path(tsn_arena *arena, const averaging *a) {
  size_t pairs = a->length + tsn_series_longest(&a->set); /* each below 2^53 */
  return tsn_arena_take(arena, 2 * pairs, sizeof(size_t));
}

static void layout(tsn_arena *arena, void *context) {
  averaging *a = context;
  size_t count = a->set.count, longest = tsn_series_longest(&a->set);
  tsn_arena one = tsn_arena_measure();
  take_path(&one, a);
  tsn_dtw_path_layout(&one, &a->longest);
  a->average = tsn_arena_take(
      arena, tsn_product(a->length, a->settings.options.dimensions), sizeof(double));
  a->distances = tsn_arena_take(arena, count, sizeof(double));
  a->samples = tsn_arena_take(arena, tsn_product(count, a->length), sizeof *a->samples);
  a->values = tsn_arena_take(arena, tsn_product(count, longest), sizeof(double));
  a->blocks = tsn_dtw_take_blocks(arena, (size_t)a->settings.exec.threads, &one);
  a->block_bytes = one.used;
}

/* Align series k to the average, and keep its path as intervals. */
static void align_one(averaging *a, size_t k, int thread) {
  tsn_dtw_watch watch = {.exec = &a->settings.exec,
                         .stop = &a->stop,
                         .polls = thread == 0,
                         .done = k,
                         .total = a->set.count};
  tsn_arena arena = tsn_dtw_block(a->blocks, (size_t)thread, a->block_bytes);
  size_t length, *pairs = take_path(&arena, a);
  tsn_dtw_operand x = {a->average, a->length, a->settings.options.stride};
  tsn_dtw_operand y = tsn_dtw_set_at(&a->set, k);
  tsn_dtw_path path;
  tsn_dtw_path_init(&path, &x, &y, &a->settings);
  tsn_dtw_path_layout(&arena, &path);
  tsanom_status status =
      tsn_dtw_path_run(&path, &watch, pairs, &length, &a->distances[k]);
  if (status == TSANOM_STOPPED) return;
  if (status != TSANOM_OK) {
    atomic_store_explicit(&a->infeasible, 1, memory_order_relaxed);
    return;
  }
  aligned *samples = a->samples + k * a->length;
  for (size_t i = 0; i < a->length; i++) samples[i] = (aligned){0, 0};
  for (size_t p = 0; p < length; p++) {
    aligned *s = &samples[pairs[2 * p]];
    if (s->first == s->end) s->first = pairs[2 * p + 1];
    s->end = pairs[2 * p + 1] + 1;
  }
}

static void align_chunk(void *context, size_t begin, size_t end, int thread) {
  averaging *a = context;
  for (size_t k = begin; k < end; k++) {
    if (atomic_load_explicit(&a->stop, memory_order_relaxed)) return;
    align_one(a, k, thread);
  }
}

/* Align every series to the average; *sum of the distances. */
static tsanom_status align_all(averaging *a, double *sum) {
  tsanom_status status =
      tsn_parallel_for(&a->settings.exec, a->set.count, 1, align_chunk, a, NULL);
  if (status != TSANOM_OK || atomic_load(&a->stop)) return TSANOM_STOPPED;
  if (atomic_load(&a->infeasible)) return TSANOM_INFEASIBLE;
  *sum = 0;
  for (size_t k = 0; k < a->set.count; k++) *sum += a->distances[k];
  return TSANOM_OK;
}

/* The mean. Where the sum overflows it is the last of the means of the first 1, 2, 3 ...
 * halves, which lie between the least and the largest, and equal values have themselves. */
static double mean_of(const double *values, size_t count) {
  double sum = 0, half = 0;
  for (size_t j = 0; j < count; j++) sum += values[j];
  if (isfinite(sum)) return sum / (double)count;
  for (size_t j = 0; j < count; j++) half += (values[j] / 2 - half) / (double)(j + 1);
  return 2 * half;
}

static double lower_median(double *values, size_t count) {
  size_t k = (count - 1) / 2;
  tsn_select(values, count, k);
  return values[k];
}

/* New value of component d of sample i: the mean or the lower median of the samples
 * aligned to it; the old value if there is none. */
static double updated(const averaging *a, size_t i, size_t d) {
  const tsanom_dtw_options *o = &a->settings.options;
  size_t count = 0;
  for (size_t k = 0; k < a->set.count; k++) {
    const aligned *s = &a->samples[k * a->length + i];
    const double *series = tsn_series_at(&a->set, k);
    for (size_t j = s->first; j < s->end; j++) {
      a->values[count++] = series[j * a->set.stride + d];
    }
  }
  if (count == 0) return a->average[i * o->stride + d];
  return o->cost == TSANOM_COST_SQUARED ? mean_of(a->values, count)
                                        : lower_median(a->values, count);
}

/* Iterate until the sum falls by no more than the tolerance, relative to the sum before;
 * *sum of the distances at the end. TSANOM_PARTIAL after the last iteration allowed. */
static tsanom_status iterate(averaging *a, double *sum) {
  const tsanom_dtw_options *o = &a->settings.options;
  tsanom_status status = align_all(a, sum);
  for (int32_t n = 0; status == TSANOM_OK; n++) {
    if (n == a->iterations) return TSANOM_PARTIAL;
    for (size_t i = 0; i < a->length; i++) {
      for (size_t d = 0; d < o->dimensions; d++) {
        a->average[i * o->stride + d] = updated(a, i, d);
      }
    }
    double before = *sum;
    status = align_all(a, sum);
    if (status == TSANOM_OK && before - *sum <= a->tolerance * before) return TSANOM_OK;
  }
  return status;
}

static tsanom_status run(void *context) {
  averaging *a = context;
  size_t d = a->settings.options.dimensions, stride = a->set.stride;
  double sum;
  a->caller = a->settings.exec;
  if (a->caller.poll) {
    a->settings.exec.poll = poll_until_stop;
    a->settings.exec.poll_user = a;
  }
  for (size_t i = 0; i < a->length; i++) {
    memcpy(a->average + i * d, a->barycenter + i * stride, d * sizeof *a->average);
  }
  tsanom_status status = iterate(a, &sum);
  if (status != TSANOM_OK && status != TSANOM_PARTIAL) return status;
  for (size_t i = 0; i < a->length; i++) {
    memcpy(a->barycenter + i * stride, a->average + i * d, d * sizeof *a->average);
  }
  if (a->sum) *a->sum = sum;
  return status;
}

/* Read options, set and counts; the set becomes that of the average. */
static tsanom_status read_arguments(averaging *a, const tsanom_series *series,
                                    const tsanom_dtw_options *options,
                                    const tsanom_exec *exec) {
  tsn_dtw_settings *settings = &a->settings;
  const tsanom_exec *own = &settings->exec;
  tsanom_status status =
      tsn_dtw_settings_read(settings, options, exec, TSN_DTW_USES_PATH_MEMORY);
  if (status < 0 ||
      (status = tsn_dtw_set_read(&a->set, series, "series", settings)) < 0 ||
      (status = tsn_require_int(own, TSANOM_E_OPTION, "iterations", a->iterations, 1,
                                INT32_MAX)) < 0) {
    return status;
  }
  if (!(isgreaterequal(a->tolerance, 0))) {
    return tsn_reject_value(own, TSANOM_E_OPTION, "tolerance", TSANOM_NONE, TSANOM_NONE,
                            a->tolerance, "at least 0 is expected");
  }
  tsn_dtw_operand start = {.count = a->length, .stride = a->set.stride};
  return tsn_dtw_operand_check(&start, "length", settings);
}

/* Resolve a path to the longest series. */
static tsanom_status prepare(averaging *a) {
  size_t longest = tsn_series_longest(&a->set);
  tsn_dtw_operand x = {.count = a->length, .stride = 1};
  tsn_dtw_operand y = {.count = longest, .stride = 1};
  a->settings.options.dimensions = a->settings.options.stride = a->set.dimensions;
  tsanom_status status = tsn_dtw_path_init(&a->longest, &x, &y, &a->settings);
  if (status == TSANOM_OK) return TSANOM_OK;
  return tsn_reject_is(&a->settings.exec, status, "length", TSANOM_NONE,
                       "%zu; at most %zu is expected for a slope window to a series of "
                       "%zu samples",
                       a->length, SIZE_MAX / 2 / longest, longest);
}

static tsanom_status check(void *context) {
  const averaging *a = context;
  const tsanom_exec *exec = &a->settings.exec;
  tsn_dtw_operand start = {a->barycenter, a->length, a->set.stride};
  tsanom_status status = tsn_series_require(&a->set, "series", exec);
  if (status < 0 ||
      (status = tsn_require_array(exec, a->barycenter, a->length * a->set.stride,
                                  "barycenter")) < 0 ||
      (status = tsn_dtw_operand_finite(&start, "barycenter", &a->settings)) < 0) {
    return status;
  }
  return tsn_dtw_set_finite(&a->set, "series", &a->settings);
}

tsanom_status tsanom_dtw_barycenter(const tsanom_series *series, size_t length,
                                    int32_t iterations, double tolerance,
                                    const tsanom_dtw_options *options,
                                    const tsanom_exec *exec, double *barycenter,
                                    double *sum) {
  averaging a = {.length = length,
                 .iterations = iterations,
                 .tolerance = tolerance,
                 .barycenter = barycenter,
                 .sum = sum};
  tsanom_status status = read_arguments(&a, series, options, exec);
  if (status < 0 || (status = prepare(&a)) < 0) return status;
  return tsn_workspace_run(&a.settings.exec, layout, check, run, &a);
}

/* Medoid of a set: the series whose sum of distances to all others is least. The whole
 * condensed matrix is computed, count*(count-1)/2 distances; of equal sums the lower
 * index is taken. Unlike a barycenter the medoid is one of the series. */

typedef struct {
  tsn_dtw_settings settings;
  tsn_dtw_pairwise pairs;
  size_t *medoid;
  double *sum;
} medoid_call;

static void layout_medoid(tsn_arena *arena, void *context) {
  medoid_call *c = context;
  size_t count = c->pairs.xs.count;
  c->pairs.distances = tsn_arena_take(arena, count * (count - 1) / 2, sizeof(double));
  tsn_dtw_pairwise_layout(arena, &c->pairs);
}

/* Rows 0 ... low-1 of the condensed matrix have count-1, count-2, ... elements. */
static size_t condensed_place(size_t a, size_t b, size_t count) {
  size_t low = tsn_smaller(a, b), high = tsn_larger(a, b);
  return low * (2 * count - low - 1) / 2 + high - low - 1;
}

/* The sums are added in the order of the index, so that they are the same bits for every
 * number of threads. A series without a path to another has an infinite sum. */
static tsanom_status least_sum(const medoid_call *c) {
  size_t count = c->pairs.xs.count, best = 0;
  double least = INFINITY;
  for (size_t a = 0; a < count; a++) {
    double own = 0;
    for (size_t b = 0; b < count; b++) {
      if (a != b) own += c->pairs.distances[condensed_place(a, b, count)];
    }
    if (own < least) {
      least = own;
      best = a;
    }
  }
  if (isinf(least)) return TSANOM_INFEASIBLE;
  *c->medoid = best;
  if (c->sum) *c->sum = least;
  return TSANOM_OK;
}

static tsanom_status run_medoid(void *context) {
  medoid_call *c = context;
  tsanom_status status = tsn_dtw_pairwise_run(&c->pairs);
  return status == TSANOM_OK ? least_sum(c) : status;
}

static tsanom_status check_medoid(void *context) {
  const medoid_call *c = context;
  const tsanom_exec *exec = &c->settings.exec;
  tsanom_status status = tsn_require(exec, c->medoid, "medoid");
  if (status < 0 || (status = tsn_series_require(&c->pairs.xs, "series", exec)) < 0) {
    return status;
  }
  return tsn_dtw_set_finite(&c->pairs.xs, "series", &c->settings);
}

tsanom_status tsanom_dtw_medoid(const tsanom_series *series,
                                const tsanom_dtw_options *options,
                                const tsanom_exec *exec, size_t *medoid, double *sum) {
  medoid_call c = {.medoid = medoid, .sum = sum};
  tsanom_status status = tsn_dtw_settings_read(&c.settings, options, exec, 0);
  if (status < 0 ||
      (status = tsn_dtw_set_read(&c.pairs.xs, series, "series", &c.settings)) < 0) {
    return status;
  }
  size_t count = c.pairs.xs.count;
  c.settings.options.dimensions = c.pairs.xs.dimensions;
  c.pairs.settings = &c.settings;
  c.pairs.ys = c.pairs.xs;
  c.pairs.condensed = true;
  status = tsn_dtw_pairwise_init(&c.pairs);
  if (status < 0) {
    return tsn_reject_is(&c.settings.exec, status, "series.count", TSANOM_NONE,
                         "%zu; the matrix of %zu x %zu, or the slope windows, exceed the "
                         "address space",
                         count, count, count);
  }
  return tsn_workspace_run(&c.settings.exec, layout_medoid, check_medoid, run_medoid, &c);
}
