/* SPDX-License-Identifier: BSD-3-Clause */
/* Learning a model from normal runs, thread by thread.
 *
 * The series of a thread in n runs are digested, and each is compared with each: n^2
 * vectors of features. The dissimilarity of series i against j is DTW + |ln GTR|. The
 * reference is the medoid, the j with the least sum over i. For the ranges, run i plays
 * the part of a new run: its features against the medoid of the other n - 1 runs are one
 * sample, so that each range has n samples and no run is compared with itself. Medoids
 * of n - 1 runs follow from the sums of all n by one subtraction.
 *
 *            run 0   run 1   run 2        feature[i·n + j]: run i against run j
 *   run 0      .       x       x         sum[j] = column j without the diagonal
 *   run 1      x       .       x         rival[i] = medoid without run i
 *   run 2      x       x       .         sample i = feature[i·n + rival[i]]
 *
 * O(runs·beats + runs^2·points·radius) per thread, and memory for one thread at a time.
 *
 * The paper learns confidence intervals; these are prediction intervals, see below. */
#include <math.h>

#include "core/chance.h"
#include "core/environment.h"
#include "core/size.h"
#include "core/sort.h"
#include "hsa/hsa.h"

/* Normal ranges from samples of normal features.
 *
 * A range must contain the feature of the next normal run. So it is a prediction
 * interval, mean -+ t s sqrt(1 + 1/n), and not the confidence interval of the mean, whose
 * width tends to 0 as runs are added, so that at last every normal run lies outside:
 *
 *     samples        .   . : .  .
 *     confidence           |-|             of the mean
 *     prediction    |--------------|       of the next sample
 *
 * Ratios enter by their logarithms; distances, which are >= 0, have a one-sided range
 * from 0.
 *
 * Source: G. J. Hahn and W. Q. Meeker, Statistical Intervals (1991). */

/* Margin for the rounding of a feature that is the same in all runs. */
static const double rounding = 1e-12;

static bool is_distance(int32_t feature) {
  return feature == TSANOM_HSA_DTW || feature == TSANOM_HSA_LB_KEOGH;
}

/* Ratios of positive numbers are compared by their logarithms: 2 and 1/2 are equally far
 * from 1. */
static bool is_logarithmic(int32_t feature, const tsanom_hsa_options *options) {
  if (feature == TSANOM_HSA_LHR) {
    return options->local_rate == TSANOM_HSA_LOCAL_RATE_RATIO;
  }
  return !is_distance(feature);
}

/* For samples that are about normal: G. J. Hahn and W. Q. Meeker, Statistical Intervals
 * (1991), 4.7.1. It needs few samples, but with n = 2 or 3 the quantile of t is large and
 * the range wide. */
static tsanom_hsa_range student_range(const double *samples, size_t count,
                                      double coverage, bool one_sided, double *middle) {
  double n = (double)count, sum = 0, squares = 0;
  for (size_t i = 0; i < count; i++) sum += samples[i];
  double mean = sum / n;
  for (size_t i = 0; i < count; i++) {
    squares += (samples[i] - mean) * (samples[i] - mean);
  }
  double t = tsn_student_quantile((1 - coverage) / (one_sided ? 1 : 2), n - 1);
  double reach = t * sqrt(squares / (n - 1)) * sqrt(1 + 1 / n);
  *middle = mean;
  return (tsanom_hsa_range){mean - reach, mean + reach};
}

/* Widen a range to the least margin of options: a few similar runs scatter less than
 * later ones. The margin of LB_Keogh, a squared distance, is squared. Ratios extend by
 * the factor 1 + margin to both sides. */
static void widen(tsanom_hsa_range *range, int32_t feature, double middle, double margin,
                  bool logarithmic) {
  double reach = feature == TSANOM_HSA_LB_KEOGH ? margin * margin : margin;
  if (logarithmic) {
    reach = log1p(margin);
  } else if (!is_distance(feature)) {
    reach *= fmax(1, fabs(middle));
  }
  reach = fmax(reach, rounding);
  range->low = fmin(range->low, middle - reach);
  range->high = fmax(range->high, middle + reach);
}

/* Without a spread (fewer than two samples), the range is single_run_margin around "the
 * same": 1 for a ratio, 0 for its logarithm or a distance. The beat ratio has no margin
 * otherwise: many programs beat equally often in every run, and then one missing beat is
 * significant. */
static tsanom_hsa_range range_of(int32_t feature, double *samples, size_t count,
                                 const tsanom_hsa_options *options, bool *partial) {
  bool distance = is_distance(feature), logarithmic = is_logarithmic(feature, options);
  double margin = feature == TSANOM_HSA_BEAT_RATIO ? 0 : options->margin;
  double middle = distance || logarithmic ? 0 : 1;
  tsanom_hsa_range range = {middle, middle};
  tsn_sort(samples, count);
  if (logarithmic) {
    for (size_t i = 0; i < count; i++) samples[i] = log(samples[i]);
  }
  if (count < 2) {
    margin = options->single_run_margin;
    *partial = true;
  } else {
    range = student_range(samples, count, options->coverage, distance, &middle);
  }
  widen(&range, feature, middle, margin, logarithmic);
  if (logarithmic) {
    range.low = exp(range.low);
    range.high = exp(range.high);
  }
  if (distance) range.low = 0;
  return range;
}

/* Stands for the distance of two series that cannot be compared: far more than that of
 * others, but finite, so that the series with the fewest such pairs is the medoid. */
static const double incomparable = 1e6;

/* One call: the normal runs, and buffers for one thread of all of them. */
typedef struct {
  tsn_hsa_context context;
  const tsanom_hsa_run *runs;
  size_t run_count;
  tsn_hsa_model_frame frame; /* of the model; thread_count: the most of any run */
  tsanom_hsa_model *model, **wanted;

  tsn_hsa_digest *digest;       /* of each usable series of the thread */
  double *numbers;              /* of all digests */
  tsanom_hsa_features *feature; /* [i * run_count + j]: series i against series j */
  double *sum;                  /* [j]: dissimilarity of all others against j */
  double *sample;               /* of one feature */
  size_t *rival;                /* [i]: medoid of all series but i */
  tsn_hsa_scratch scratch;
} training;

/* The model, and behind it buffers for one thread of all runs, which stay with it: they are
 * one block. The matrix of features is the largest: runs^2 of them. */
static void layout(tsn_arena *arena, void *context) {
  training *l = context;
  size_t n = l->run_count, each = tsn_hsa_digest_numbers(&l->context.options);
  tsn_hsa_model_layout(arena, &l->frame);
  l->digest = tsn_arena_take(arena, n, sizeof *l->digest);
  l->numbers = tsn_arena_take(arena, n, each * sizeof *l->numbers);
  l->feature = tsn_arena_take(arena, tsn_product(n, n), sizeof *l->feature);
  l->sum = tsn_arena_take(arena, n, sizeof *l->sum);
  l->sample = tsn_arena_take(arena, n, sizeof *l->sample);
  l->rival = tsn_arena_take(arena, n, sizeof *l->rival);
  tsn_hsa_scratch_layout(arena, &l->context, &l->scratch);
}

static const tsanom_hsa_series *series_of(const tsanom_hsa_run *run, size_t thread) {
  static const tsanom_hsa_series nothing;
  return thread < run->thread_count ? &run->threads[thread] : &nothing;
}

static size_t longest_series(const training *l, size_t thread) {
  size_t longest = 0;
  for (size_t i = 0; i < l->run_count; i++) {
    longest = tsn_larger(longest, series_of(&l->runs[i], thread)->beats);
  }
  return longest;
}

/* The same windows for all runs of a thread, from the longest: counts of beats differ
 * between threads. */
static tsn_hsa_windows choose_windows(const training *l, size_t thread) {
  return tsn_hsa_choose_windows(longest_series(l, thread), &l->context.options);
}

/* Check all that can be checked without the times, and find the shape of the model: an
 * upper bound, because which run becomes the reference is not known yet. At least one
 * thread must have a heart rate. */
static tsanom_status check_runs(training *l) {
  const tsanom_exec *exec = &l->context.exec;
  tsanom_status status = tsn_hsa_check_runs(l->runs, l->run_count, exec);
  if (status < 0) return status;
  for (size_t i = 0; i < l->run_count; i++) {
    l->frame.thread_count = tsn_larger(l->frame.thread_count, l->runs[i].thread_count);
  }
  size_t most = 0; /* beats of a thread */
  for (size_t t = 0; t < l->frame.thread_count; t++) {
    size_t longest = longest_series(l, t);
    tsn_hsa_windows windows = tsn_hsa_choose_windows(longest, &l->context.options);
    most = tsn_larger(most, longest);
    size_t full =
        tsn_hsa_count_windows(longest, &windows, l->context.options.max_windows);
    if (!tsn_hsa_model_extend(&l->frame, full, l->context.options.max_degree)) {
      return tsn_reject(exec, TSANOM_E_OVERFLOW, "runs");
    }
  }
  size_t window = tsn_hsa_choose_windows(most, &l->context.options).window;
  if (most > window) return TSANOM_OK;
  return tsn_reject_text(exec, TSANOM_E_COUNT, "runs", TSANOM_NONE,
                         "a thread has at most %zu beats; more than %zu, the window, are "
                         "expected of one",
                         most, window);
}

static tsanom_status check_times(const training *l) {
  for (size_t i = 0; i < l->run_count; i++) {
    for (size_t t = 0; t < l->runs[i].thread_count; t++) {
      tsn_hsa_place place = {&l->context.exec, "runs", i, t};
      tsanom_status status = tsn_hsa_check_series(
          &place, &l->runs[i].threads[t], l->runs[i].start, choose_windows(l, t).window);
      if (status < 0) return status;
    }
  }
  return TSANOM_OK;
}

/* Digest the usable series of a thread, and compare each with each. Features are not
 * symmetric, so that both orders are computed. Runs in which the thread has no heart rate
 * are left out, and count as silent. */
static tsanom_status digest_thread(const training *l, size_t thread,
                                   const tsn_hsa_windows *windows, size_t *count) {
  size_t n = 0, each = tsn_hsa_digest_numbers(&l->context.options);
  tsanom_status status;
  for (size_t i = 0; i < l->run_count; i++) {
    const tsanom_hsa_series *series = series_of(&l->runs[i], thread);
    if (series->beats <= windows->window) continue;
    if (tsn_exec_stop(&l->context.exec, thread * l->run_count + i,
                      l->frame.thread_count * l->run_count)) {
      return TSANOM_STOPPED;
    }
    tsn_hsa_digest_place(&l->digest[n], &l->context.options, l->numbers + n * each);
    l->digest[n].content.run = i;
    status = tsn_hsa_digest_series(&l->context, series, l->runs[i].start, windows,
                                   &l->scratch, &l->digest[n]);
    if (status < 0) {
      return tsn_reject_pair_text(&l->context.exec, status, "runs", i, thread, "%s",
                                  tsanom_status_text(status));
    }
    n++;
  }
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < n; j++) {
      status = tsn_hsa_compare_digests(&l->context, &l->digest[i].content,
                                       &l->digest[j].content, &l->scratch,
                                       &l->feature[i * l->run_count + j]);
      if (status < 0) return status;
    }
  }
  *count = n;
  return TSANOM_OK;
}

/* DTW compares the shapes of the rates, |ln GTR| the durations; both have no unit, and
 * are 0 for equal series. */
static double dissimilarity(const training *l, size_t i, size_t j) {
  const tsanom_hsa_features *f = &l->feature[i * l->run_count + j];
  if (!tsn_hsa_is_defined(f, TSANOM_HSA_GTR) || !tsn_hsa_is_defined(f, TSANOM_HSA_DTW)) {
    return incomparable;
  }
  return fabs(log(f->value[TSANOM_HSA_GTR])) + f->value[TSANOM_HSA_DTW];
}

/* The medoid of all series, and for each series that of all others; ties go to the first.
 */
static size_t find_medoids(const training *l, size_t count) {
  size_t medoid = 0;
  for (size_t j = 0; j < count; j++) {
    l->sum[j] = 0;
    for (size_t i = 0; i < count; i++) {
      if (i != j) l->sum[j] += dissimilarity(l, i, j);
    }
    if (l->sum[j] < l->sum[medoid]) medoid = j;
  }
  for (size_t i = 0; i < count; i++) {
    double least = INFINITY;
    l->rival[i] = i;
    for (size_t j = 0; j < count; j++) {
      double sum = l->sum[j] - dissimilarity(l, i, j);
      if (j == i || sum >= least) continue;
      least = sum;
      l->rival[i] = j;
    }
  }
  return medoid;
}

/* The range of one feature: of samples from all runs, each against its rival. With one
 * run there is no sample. */
static tsanom_hsa_range learn_range(const training *l, int32_t feature, size_t count,
                                    bool *partial) {
  size_t samples = 0;
  for (size_t i = 0; count > 1 && i < count; i++) {
    const tsanom_hsa_features *f = &l->feature[i * l->run_count + l->rival[i]];
    if (tsn_hsa_is_defined(f, feature)) l->sample[samples++] = f->value[feature];
  }
  return range_of(feature, l->sample, samples, &l->context.options, partial);
}

/* A thread that is silent in every run gets a reference without beats. */
static tsanom_status learn_thread(const training *l, size_t thread, bool *partial) {
  tsn_hsa_windows windows = choose_windows(l, thread);
  size_t count = 0;
  tsanom_status status = digest_thread(l, thread, &windows, &count);
  if (status != TSANOM_OK) return status;
  tsanom_hsa_reference reference = {0};
  if (count > 0) {
    reference = l->digest[find_medoids(l, count)].content;
    for (int32_t f = 0; f < TSANOM_HSA_FEATURES; f++) {
      reference.range[f] = learn_range(l, f, count, partial);
    }
  }
  reference.sample_runs = count;
  reference.silent_runs = l->run_count - count;
  tsn_hsa_model_add(l->model, &reference);
  return TSANOM_OK;
}

static tsanom_status learn_runs(const training *l) {
  bool partial = false;
  tsanom_status status = check_times(l);
  for (size_t t = 0; t < l->frame.thread_count && status == TSANOM_OK; t++) {
    status = learn_thread(l, t, &partial);
  }
  return status == TSANOM_OK && partial ? TSANOM_PARTIAL : status;
}

static tsanom_status check(void *context) {
  const training *l = context;
  return tsn_require(&l->context.exec, l->wanted, "model");
}

/* The model of a call that fails, that the poll stops, or that it throws through. */
static void drop(tsanom_hsa_model *const *model) {
  tsanom_hsa_model_destroy(*model);
}

/* The model is begun before it is known whether learning succeeds. */
tsanom_status tsanom_hsa_learn(const tsanom_hsa_run *runs, size_t run_count,
                               const tsanom_hsa_options *options, const tsanom_exec *exec,
                               tsanom_hsa_model **model) {
  training l = {.runs = runs, .run_count = run_count, .wanted = model};
  tsn_object owner;
  tsanom_status status = tsn_hsa_context_read(&l.context, options, "options", exec);
  if (status < 0) return status;
  if ((status = check_runs(&l)) < 0) return status;
  status = tsn_object_create(&l.context.exec, layout, check, &l, &owner);
  if (status < 0) return status;
  l.model = tsn_hsa_model_begin(&l.frame, &owner, run_count, &l.context.options);
  TSN_CLEANUP(drop) tsanom_hsa_model *made = l.model;
  TSN_IN_ENVIRONMENT(before);
  status = learn_runs(&l);
  if (status == TSANOM_OK || status == TSANOM_PARTIAL) {
    *model = made;
    made = NULL;
  }
  return status;
}
