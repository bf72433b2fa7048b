/* SPDX-License-Identifier: BSD-3-Clause */
/* A model, learned from runs or made from plain numbers: one block with the references of
 * all threads and their arrays.
 *
 *   | model | reference 0 | ... | reference T-1 | time, rate, window_rate, coefficient of
 *                                                 thread 0 | ... of thread T-1 |
 *
 * The arrays have the lengths of the references that the model is created from; a learned
 * model has capacity for the longest series of each thread. The pointers of the stored
 * references refer to the block, so that tsanom_hsa_model_read() needs no copy. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/chance.h"
#include "core/environment.h"
#include "core/size.h"
#include "core/sort.h"
#include "core/versioned.h"
#include "hsa/hsa.h"

/* Sizes of a model, and where its layout puts it. */
typedef struct {
  size_t thread_count;
  size_t count; /* elements of all arrays */
  tsanom_hsa_model *model;
  tsanom_hsa_reference *references;
  double *numbers;
} model_frame;

/* Add the arrays of one thread to the sizes; false: the sum does not fit a size_t.
 *
 * 3 windows + 2 numbers of time, rate and window_rate, and degree + 1 coefficients. */
static bool extend_frame(model_frame *frame, size_t windows, size_t degree) {
  size_t numbers = tsn_sum(tsn_sum(tsn_product(windows, 3), degree), 3);
  frame->count = tsn_sum(frame->count, numbers);
  return frame->count < SIZE_MAX;
}

static void layout_model(tsn_arena *arena, model_frame *f) {
  f->model = tsn_arena_take(arena, 1, sizeof *f->model);
  f->references = tsn_arena_take(arena, f->thread_count, sizeof *f->references);
  f->numbers = tsn_arena_take(arena, f->count, sizeof *f->numbers);
}

/* The references are appended later, in order of the threads: the sizes of their arrays
 * follow from each. */
static tsanom_hsa_model *begin_model(const model_frame *f, const tsn_object *owner,
                                     size_t run_count,
                                     const tsanom_hsa_options *options) {
  *f->model = (tsanom_hsa_model){.owner = *owner,
                                 .options = *options,
                                 .thread_count = f->thread_count,
                                 .run_count = run_count,
                                 .references = f->references,
                                 .numbers = f->numbers};
  return f->model;
}

/* Copy `count` numbers to the end of the model's. */
static const double *store(tsanom_hsa_model *model, const double *values, size_t count) {
  double *place = model->numbers + model->numbers_used;
  if (count > 0) memcpy(place, values, count * sizeof *place);
  model->numbers_used += count;
  return place;
}

/* A reference without beats keeps its counts only: its other fields have no meaning and
 * must not refer to the caller's memory. */
static void add_reference(tsanom_hsa_model *model,
                          const tsanom_hsa_reference *reference) {
  tsanom_hsa_reference *own = &model->references[model->threads_added++];
  if (reference->beats == 0) {
    *own = (tsanom_hsa_reference){.sample_runs = reference->sample_runs,
                                  .silent_runs = reference->silent_runs};
    return;
  }
  *own = *reference;
  own->time = store(model, reference->time, reference->windows + 1);
  own->rate = store(model, reference->rate, reference->windows + 1);
  own->window_rate = store(model, reference->window_rate, reference->windows);
  own->coefficient = store(model, reference->coefficient, reference->degree + 1);
}

/* The owner is copied first: it lies in the block that is released. */
void tsanom_hsa_model_destroy(tsanom_hsa_model *model) {
  if (!model) return;
  tsn_object owner = model->owner;
  tsn_object_release(&owner);
}

/* Models from and to tsanom_hsa_model_data. A content that a program loaded from a file
 * may be damaged: whatever tsanom_hsa_diagnose() relies on is checked here, once, before
 * anything is copied, so that diagnosis itself needs no checks of the model.
 *
 *     counts     of each reference, from which the sizes of all arrays follow
 *     numbers    finite, with the signs and the order that beats lead to: times increase,
 *                rates are positive; ranges with low <= high
 *
 * in this order: arrays are read when their lengths are known to be right. A damaged
 * content is rejected with the field and the thread; nothing is created then.
 *
 * O(threads·max_windows). */

static const tsanom_hsa_model_data empty_data = {.struct_size = sizeof empty_data};

static const tsn_versioned data_type = {.size = sizeof(tsanom_hsa_model_data),
                                        .first_size = sizeof(tsanom_hsa_model_data),
                                        .defaults = &empty_data};

/* The content of one thread, under examination, with what a fault or a check needs. */
typedef struct {
  const tsanom_exec *exec;
  const tsanom_hsa_options *options;
  size_t run_count;
  size_t thread;
  const tsanom_hsa_reference *r;
} examined;

static const char array_name[] = "data.references";

/* The fault names the field, the thread, and the element of an array (TSANOM_NONE: no
 * array). */
static tsanom_status reject(const examined *e, tsanom_status status, const char *field,
                            size_t element, double value, const char *expected) {
  return tsn_reject_value(e->exec, status, tsn_name_field(array_name, field).text,
                          e->thread, element, value, expected);
}

/* Counts that can result from learning with these options. A reference without beats is a
 * thread that no normal run used: only its number of silent runs has a meaning.
 * Conditions are all evaluated, so that each must be safe if an earlier one fails. */
static tsanom_status check_counts(const examined *e) {
  const tsanom_hsa_reference *r = e->r;
  size_t window = r->window, local = r->local_window, runs = e->run_count;
  bool divides = window >= 1 && local >= window && local % window == 0;
  const struct {
    const char *field;
    bool holds;
    size_t value;
    const char *expected;
  } conditions[] = {
      {"silent_runs", r->silent_runs <= runs, r->silent_runs, "at most run_count"},
      {"window", window >= 1, window, "at least 1"},
      {"beats", r->beats > window, r->beats, "more than window"},
      {"local_window", divides, local, "a multiple of window"},
      {"windows", divides && r->windows == (r->beats - 1) / local, r->windows,
       "(beats - 1) / local_window"},
      {"windows", r->windows <= e->options->max_windows, r->windows,
       "at most options.max_windows"},
      {"degree", r->degree <= e->options->max_degree, r->degree,
       "at most options.max_degree"},
      {"run", r->run < runs, r->run, "less than run_count"},
      {"sample_runs", r->sample_runs >= 1 && r->sample_runs == runs - r->silent_runs,
       r->sample_runs, "run_count - silent_runs, at least 1,"}};
  size_t count = r->beats ? sizeof conditions / sizeof *conditions : 1;
  for (size_t i = 0; i < count; i++) {
    char expected[64];
    if (conditions[i].holds) continue;
    (void)snprintf(expected, sizeof expected, "%s is expected", conditions[i].expected);
    return reject(e, TSANOM_E_FORMAT, conditions[i].field, TSANOM_NONE,
                  (double)conditions[i].value, expected);
  }
  return TSANOM_OK;
}

/* What holds for each number of an array, or between it and the one before. */
enum { FINITE, NOT_NEGATIVE, POSITIVE, NOT_DECREASING, INCREASING };

typedef struct {
  const char *field;
  const double *values;
  size_t count;
  int rule;
} array;

static tsanom_status check_array(const examined *e, const array *a) {
  static const char *const expected[] = {
      "a finite number is expected", "at least 0 is expected", "more than 0 is expected",
      "at least the one before is expected", "more than the one before is expected"};
  bool is_ordered = a->rule >= NOT_DECREASING;
  bool is_strict = a->rule == POSITIVE || a->rule == INCREASING;
  if (!a->values) {
    return tsn_reject_pair_is(e->exec, TSANOM_E_NULL,
                              tsn_name_field(array_name, a->field).text, e->thread,
                              TSANOM_NONE, "NULL; an array of %zu is expected", a->count);
  }
  for (size_t i = 0; i < a->count; i++) {
    double value = a->values[i], least = 0;
    size_t element = a->count > 1 ? i : TSANOM_NONE;
    if (!isfinite(value)) {
      return reject(e, TSANOM_E_NONFINITE, a->field, element, value, *expected);
    }
    if (a->rule == FINITE || (is_ordered && !i)) continue;
    if (is_ordered) least = a->values[i - 1];
    if (is_strict ? value > least : value >= least) continue;
    return reject(e, TSANOM_E_FORMAT, a->field, element, value, expected[a->rule]);
  }
  return TSANOM_OK;
}

/* Numbers that can result from beats: positive rates and increasing times, by which the
 * features divide. */
static tsanom_status check_numbers(const examined *e) {
  const tsanom_hsa_reference *r = e->r;
  const array arrays[] = {{"completion", &r->completion, 1, POSITIVE},
                          {"mean_rate", &r->mean_rate, 1, POSITIVE},
                          {"interval", &r->interval, 1, NOT_NEGATIVE},
                          {"r2", &r->r2, 1, FINITE},
                          {"domain", r->domain, 2, NOT_DECREASING},
                          {"unit", &r->unit, 1, FINITE},
                          {"center", &r->center, 1, FINITE},
                          {"scale", &r->scale, 1, FINITE},
                          {"time", r->time, r->windows + 1, INCREASING},
                          {"rate", r->rate, r->windows + 1, POSITIVE},
                          {"window_rate", r->window_rate, r->windows, POSITIVE},
                          {"coefficient", r->coefficient, r->degree + 1, FINITE}};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
    tsanom_status status = check_array(e, &arrays[i]);
    if (status < 0) return status;
  }
  for (size_t f = 0; f < TSANOM_HSA_SLOTS; f++) {
    double low = r->range[f].low, high = r->range[f].high;
    if (low <= high) continue;
    bool is_nan = isnan(low) || isnan(high);
    return reject(e, is_nan ? TSANOM_E_NONFINITE : TSANOM_E_FORMAT, "range", f,
                  is_nan ? NAN : low, "low <= high is expected");
  }
  return TSANOM_OK;
}

/* Of a reference whose counts are checked. Reserved fields belong to later versions: a value
 * there means something that this version would ignore. */
static tsanom_status check_reference(const examined *e) {
  for (size_t i = 0; i < sizeof e->r->reserved / sizeof *e->r->reserved; i++) {
    if (!e->r->reserved[i]) continue;
    return reject(e, TSANOM_E_VERSION, "reserved", i, (double)e->r->reserved[i],
                  "0 is expected");
  }
  return e->r->beats ? check_numbers(e) : TSANOM_OK;
}

/* The caller's content with its options, and the model that is made of it. */
typedef struct {
  const tsanom_exec *exec;
  tsanom_hsa_model_data data;
  tsanom_hsa_options options;
  model_frame frame;
  tsanom_hsa_model **model; /* the caller's */
} content;

/* Read the content, check counts, and sum up the size of the model. The arrays are not
 * read yet: a caller who asks for the size has none. */
static tsanom_status read_content(content *c, const tsanom_hsa_model_data *caller) {
  const tsanom_exec *exec = c->exec;
  const tsanom_hsa_model_data *d = &c->data;
  if (!caller) return tsn_reject_null(exec, "data", TSANOM_NONE);
  tsanom_status status = tsn_struct_read(exec, &data_type, &c->data, caller, "data");
  if (status < 0) return status;
  status = tsn_hsa_options_read(&c->options, d->options, "data.options", exec);
  if (status < 0) return status;
  size_t threads = d->thread_count, most = PTRDIFF_MAX / sizeof *d->references;
  status = threads ? TSANOM_E_OVERFLOW : TSANOM_E_COUNT;
  status = tsn_require_size(exec, status, "data.thread_count", threads, 1, most);
  if (status < 0) return status;
  status =
      tsn_require_size(exec, TSANOM_E_COUNT, "data.run_count", d->run_count, 1, SIZE_MAX);
  if (status < 0) return status;
  if (!d->references) return tsn_reject_null(exec, "data.references", threads);
  c->frame.thread_count = d->thread_count;
  for (size_t t = 0; t < d->thread_count; t++) {
    const tsanom_hsa_reference *r = &d->references[t];
    examined e = {exec, &c->options, d->run_count, t, r};
    if ((status = check_counts(&e)) < 0) return status;
    if (r->beats && !extend_frame(&c->frame, r->windows, r->degree)) {
      return reject(&e, TSANOM_E_OVERFLOW, "windows", TSANOM_NONE, (double)r->windows,
                    "what fits the address space is expected");
    }
  }
  return TSANOM_OK;
}

static void layout_content(tsn_arena *arena, void *context) {
  layout_model(arena, &((content *)context)->frame);
}

/* In the default floating-point environment: comparisons of subnormal numbers must not
 * depend on that of the caller. */
static tsanom_status check_content(void *context) {
  const content *c = context;
  tsanom_status status = tsn_require(c->exec, c->model, "model");
  tsn_environment before = tsn_environment_enter();
  for (size_t t = 0; t < c->data.thread_count && status >= 0; t++) {
    examined e = {c->exec, &c->options, c->data.run_count, t, &c->data.references[t]};
    status = check_reference(&e);
  }
  tsn_environment_leave(before);
  return status;
}

tsanom_status tsanom_hsa_model_create(const tsanom_hsa_model_data *data,
                                      const tsanom_exec *exec, tsanom_hsa_model **model) {
  tsanom_exec own;
  content c = {.exec = &own, .model = model};
  tsn_object owner;
  tsanom_status status = tsn_exec_read(&own, exec);
  if (status < 0) return status;
  if ((status = read_content(&c, data)) < 0) return status;
  status = tsn_object_create(&own, layout_content, check_content, &c, &owner);
  if (status < 0) return status;
  *model = begin_model(&c.frame, &owner, c.data.run_count, &c.options);
  for (size_t t = 0; t < c.data.thread_count; t++) {
    add_reference(*model, &c.data.references[t]);
  }
  return TSANOM_OK;
}

/* The content refers to the model's arrays and is valid as long as the model. Copies
 * nothing. */
tsanom_status tsanom_hsa_model_read(const tsanom_hsa_model *model,
                                    tsanom_hsa_model_data *data) {
  if (!model) return TSANOM_E_NULL;
  tsanom_status status = tsn_versioned_check(&data_type, data);
  if (status < 0) return status;
  tsanom_hsa_model_data own = {.thread_count = model->thread_count,
                               .run_count = model->run_count,
                               .options = &model->options,
                               .references = model->references};
  tsn_versioned_write(&data_type, data, &own);
  return TSANOM_OK;
}

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

/* What the ranges of a model have in common. A quantile of Student's t takes as long as five
 * comparisons of two series, and is the same for most features. */
typedef struct {
  bool partial;       /* a thread has one sample */
  size_t count;       /* samples that the quantiles are for */
  double quantile[2]; /* of two-sided ranges, and of one-sided ones */
} shared;

static double quantile_of(shared *s, size_t count, double coverage, bool one_sided) {
  if (s->count != count) {
    double freedom = (double)count - 1;
    s->count = count;
    s->quantile[0] = tsn_student_quantile((1 - coverage) / 2, freedom);
    s->quantile[1] = tsn_student_quantile(1 - coverage, freedom);
  }
  return s->quantile[one_sided];
}

/* For samples that are about normal: G. J. Hahn and W. Q. Meeker, Statistical Intervals
 * (1991), 4.7.1. It needs few samples, but with n = 2 or 3 the quantile of t is large and
 * the range wide. */
static tsanom_hsa_range student_range(const double *samples, size_t count, double t,
                                      double *middle) {
  double n = (double)count, sum = 0, squares = 0;
  for (size_t i = 0; i < count; i++) sum += samples[i];
  double mean = sum / n;
  for (size_t i = 0; i < count; i++) {
    squares += (samples[i] - mean) * (samples[i] - mean);
  }
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
                                 const tsanom_hsa_options *options, shared *s) {
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
  } else {
    double t = quantile_of(s, count, options->coverage, distance);
    range = student_range(samples, count, t, &middle);
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
  model_frame frame; /* of the model; thread_count: the most of any run */
  tsanom_hsa_model *model, **wanted;

  tsn_hsa_digest *digest;       /* of each usable series of the thread */
  tsanom_hsa_features *feature; /* [i * run_count + j]: series i against series j */
  double *sum;                  /* [j]: dissimilarity of all others against j */
  double *sample;               /* of one feature */
  size_t *rival;                /* [i]: medoid of all series but i */
} training;

/* The model, and behind it buffers for one thread of all runs, which stay with it: they are
 * one block. The matrix of features is the largest: runs^2 of them. */
static void layout(tsn_arena *arena, void *context) {
  training *l = context;
  size_t n = l->run_count;
  layout_model(arena, &l->frame);
  l->digest = tsn_arena_take(arena, n, sizeof *l->digest);
  for (size_t i = 0; i < n; i++) {
    tsn_hsa_digest digest;
    tsn_hsa_digest_layout(arena, &l->context.options, &digest);
    if (l->digest) l->digest[i] = digest;
  }
  l->feature = tsn_arena_take(arena, tsn_product(n, n), sizeof *l->feature);
  l->sum = tsn_arena_take(arena, n, sizeof *l->sum);
  l->sample = tsn_arena_take(arena, n, sizeof *l->sample);
  l->rival = tsn_arena_take(arena, n, sizeof *l->rival);
  tsn_hsa_context_layout(arena, &l->context);
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

/* Windows of a series if options.window is 0 (features.c). */
enum { AUTOMATIC_WINDOWS = 100 };

/* The windows of a thread whose longest normal series has `beats` beats, for all of its
 * runs: rates over different numbers of beats are not comparable. */
static tsn_hsa_windows choose_windows(const training *l, size_t beats) {
  const tsanom_hsa_options *options = &l->context.options;
  tsn_hsa_windows w = {.window = options->window};
  if (w.window == 0) {
    w.window = beats / AUTOMATIC_WINDOWS + (beats % AUTOMATIC_WINDOWS || beats == 0);
  }
  size_t windows = beats > w.window ? (beats - 1) / w.window : 1;
  w.local_window = w.window * (windows / (options->max_windows + 1) + 1);
  return w;
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
    size_t full = longest ? (longest - 1) / choose_windows(l, longest).local_window : 0;
    most = tsn_larger(most, longest);
    if (!extend_frame(&l->frame, full, l->context.options.max_degree)) {
      return tsn_reject(exec, TSANOM_E_OVERFLOW, "runs");
    }
  }
  size_t window = choose_windows(l, most).window;
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
      tsanom_status status =
          tsn_hsa_check_series(&place, &l->runs[i].threads[t], l->runs[i].start,
                               choose_windows(l, longest_series(l, t)).window);
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
  size_t n = 0;
  tsanom_status status;
  for (size_t i = 0; i < l->run_count; i++) {
    const tsanom_hsa_series *series = series_of(&l->runs[i], thread);
    if (series->beats <= windows->window) continue;
    if (tsn_exec_stop(&l->context.exec, thread * l->run_count + i,
                      l->frame.thread_count * l->run_count)) {
      return TSANOM_STOPPED;
    }
    status = tsn_hsa_digest_series(&l->context, series, l->runs[i].start, windows,
                                   &l->digest[n]);
    if (status < 0) {
      return tsn_reject_pair_text(&l->context.exec, status, "runs", i, thread, "%s",
                                  tsanom_status_text(status));
    }
    l->digest[n++].content.run = i;
  }
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < n; j++) {
      status = tsn_hsa_compare(&l->context, &l->digest[i].content, &l->digest[j].content,
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
                                    shared *s) {
  size_t samples = 0;
  for (size_t i = 0; count > 1 && i < count; i++) {
    const tsanom_hsa_features *f = &l->feature[i * l->run_count + l->rival[i]];
    if (tsn_hsa_is_defined(f, feature)) l->sample[samples++] = f->value[feature];
  }
  return range_of(feature, l->sample, samples, &l->context.options, s);
}

/* A thread that is silent in every run gets a reference without beats. */
static tsanom_status learn_thread(const training *l, size_t thread, shared *s) {
  tsn_hsa_windows windows = choose_windows(l, longest_series(l, thread));
  size_t count = 0;
  tsanom_status status = digest_thread(l, thread, &windows, &count);
  if (status != TSANOM_OK) return status;
  tsanom_hsa_reference reference = {0};
  if (count > 0) {
    reference = l->digest[find_medoids(l, count)].content;
    s->partial |= count == 1;
    for (int32_t f = 0; f < TSANOM_HSA_FEATURES; f++) {
      reference.range[f] = learn_range(l, f, count, s);
    }
  }
  reference.sample_runs = count;
  reference.silent_runs = l->run_count - count;
  add_reference(l->model, &reference);
  return TSANOM_OK;
}

static tsanom_status learn_runs(const training *l) {
  shared s = {0};
  tsanom_status status = check_times(l);
  for (size_t t = 0; t < l->frame.thread_count && status == TSANOM_OK; t++) {
    status = learn_thread(l, t, &s);
  }
  return status == TSANOM_OK && s.partial ? TSANOM_PARTIAL : status;
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
  l.model = begin_model(&l.frame, &owner, run_count, &l.context.options);
  TSN_CLEANUP(drop) tsanom_hsa_model *made = l.model;
  TSN_IN_ENVIRONMENT(before);
  status = learn_runs(&l);
  if (status == TSANOM_OK || status == TSANOM_PARTIAL) {
    *model = made;
    made = NULL;
  }
  return status;
}
