/* SPDX-License-Identifier: BSD-3-Clause */
/* A model: one block with the references of all threads and their arrays.
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

#include "core/environment.h"
#include "core/size.h"
#include "core/versioned.h"
#include "hsa/hsa.h"

/* 3 windows + 2 numbers of time, rate and window_rate, and degree + 1 coefficients. */
bool tsn_hsa_model_extend(tsn_hsa_model_frame *frame, size_t windows, size_t degree) {
  size_t numbers = tsn_sum(tsn_sum(tsn_product(windows, 3), degree), 3);
  frame->count = tsn_sum(frame->count, numbers);
  return frame->count < SIZE_MAX;
}

void tsn_hsa_model_layout(tsn_arena *arena, tsn_hsa_model_frame *f) {
  f->model = tsn_arena_take(arena, 1, sizeof *f->model);
  f->references = tsn_arena_take(arena, f->thread_count, sizeof *f->references);
  f->numbers = tsn_arena_take(arena, f->count, sizeof *f->numbers);
}

/* The references are appended later, in order of the threads: the sizes of their arrays
 * follow from each. */
tsanom_hsa_model *tsn_hsa_model_begin(const tsn_hsa_model_frame *f,
                                      const tsn_object *owner, size_t run_count,
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
void tsn_hsa_model_add(tsanom_hsa_model *model, const tsanom_hsa_reference *reference) {
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
 *     numbers    finite, with the signs and the order that beats lead to: times increase, rates are
 *                positive; ranges with low <= high
 *
 * in this order: arrays are read when their lengths are known to be right. A
 * damaged content is rejected with the field and the thread; nothing is created then.
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

/* The fault names the field, the thread, and the element of an array (TSANOM_NONE: no
 * array). */
static tsanom_status reject(const examined *e, tsanom_status status, const char *field,
                            size_t element, double value, const char *expected) {
  char argument[64];
  (void)snprintf(argument, sizeof argument, "data.references.%s", field);
  return tsn_reject_value(e->exec, status, argument, e->thread, element, value, expected);
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
    char argument[64];
    (void)snprintf(argument, sizeof argument, "data.references.%s", a->field);
    return tsn_reject_pair_is(e->exec, TSANOM_E_NULL, argument, e->thread, TSANOM_NONE,
                              "NULL; an array of %zu is expected", a->count);
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
  tsn_hsa_model_frame frame;
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
    if (r->beats && !tsn_hsa_model_extend(&c->frame, r->windows, r->degree)) {
      return reject(&e, TSANOM_E_OVERFLOW, "windows", TSANOM_NONE, (double)r->windows,
                    "what fits the address space is expected");
    }
  }
  return TSANOM_OK;
}

static void layout(tsn_arena *arena, void *context) {
  tsn_hsa_model_layout(arena, &((content *)context)->frame);
}

/* In the default floating-point environment: comparisons of subnormal numbers must not
 * depend on that of the caller. */
static tsanom_status check(void *context) {
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
  status = tsn_object_create(&own, layout, check, &c, &owner);
  if (status < 0) return status;
  *model = tsn_hsa_model_begin(&c.frame, &owner, c.data.run_count, &c.options);
  for (size_t t = 0; t < c.data.thread_count; t++) {
    tsn_hsa_model_add(*model, &c.data.references[t]);
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
