/* SPDX-License-Identifier: BSD-3-Clause */
/* A model in memory: a header, and for each thread a slot of fixed size. */
#include <math.h>
#include <string.h>

#include "core/check.h"
#include "hsa/hsa.h"

/* "tsanHSA" and the version of the layout; another byte order reads as another
 * number. */
#define MAGIC UINT64_C(0x74736148534102)

struct tsanom_hsa_model {
  uint64_t magic; /* 0 while being written */
  size_t bytes;   /* of the whole model */
  size_t thread_count;
  size_t run_count;
  tsanom_hsa_options options;
};

/* A slot: this, then the arrays of a digest with room for the most windows and
 * the highest degree. */
typedef struct {
  size_t beats, window, local_window, windows, degree;
  size_t run, sample_runs, silent_runs;
  double completion, mean_rate, interval, r2;
  double domain[2];
  double unit, center, scale;
  tsanom_hsa_range range[TSANOM_HSA_SLOTS];
} slot;

/* Doubles in the arrays of a slot. */
static bool array_length(const tsanom_hsa_options *options, size_t *length) {
  size_t windows;
  return !__builtin_mul_overflow(options->max_windows, (size_t)3, &windows) &&
         !__builtin_add_overflow(windows, options->max_degree + 3, length);
}

static tsanom_status measure(size_t thread_count, const tsanom_hsa_options *options,
                             size_t *bytes) {
  size_t length, one, all, sum;
  if (!array_length(options, &length) ||
      __builtin_mul_overflow(length, sizeof(double), &one) ||
      __builtin_add_overflow(one, sizeof(slot), &one) ||
      __builtin_mul_overflow(one, thread_count, &all) ||
      __builtin_add_overflow(all, sizeof(tsanom_hsa_model), &sum) || sum > PTRDIFF_MAX) {
    return TSANOM_E_OVERFLOW;
  }
  *bytes = sum;
  return TSANOM_OK;
}

tsanom_status tsanom_hsa_model_size(size_t thread_count,
                                    const tsanom_hsa_options *options, size_t *bytes) {
  tsn_hsa_context context;
  if (!bytes) return TSANOM_E_NULL;
  tsanom_status status = tsn_hsa_context_read(&context, options, NULL);
  if (status < 0) return status;
  if (thread_count == 0) return TSANOM_E_COUNT;
  return measure(thread_count, &context.options, bytes);
}

static bool is_model(const tsanom_hsa_model *model) {
  return model && (uintptr_t)model % _Alignof(tsanom_hsa_model) == 0 &&
         model->magic == MAGIC;
}

static const slot *slot_of(const tsanom_hsa_model *model, size_t thread) {
  size_t length = 0;
  array_length(&model->options, &length);
  const unsigned char *first = (const unsigned char *)(model + 1);
  return (const void *)(first + thread * (sizeof(slot) + length * sizeof(double)));
}

static tsanom_hsa_reference view(const tsanom_hsa_model *model, const slot *s) {
  size_t windows = model->options.max_windows;
  const double *arrays = (const double *)(s + 1);
  tsanom_hsa_reference r = {.beats = s->beats,
                            .window = s->window,
                            .local_window = s->local_window,
                            .windows = s->windows,
                            .degree = s->degree,
                            .run = s->run,
                            .sample_runs = s->sample_runs,
                            .silent_runs = s->silent_runs,
                            .completion = s->completion,
                            .mean_rate = s->mean_rate,
                            .interval = s->interval,
                            .r2 = s->r2,
                            .domain = {s->domain[0], s->domain[1]},
                            .unit = s->unit,
                            .center = s->center,
                            .scale = s->scale,
                            .time = arrays,
                            .rate = arrays + windows + 1,
                            .window_rate = arrays + 2 * (windows + 1),
                            .coefficient = arrays + 2 * (windows + 1) + windows};
  memcpy(r.range, s->range, sizeof r.range);
  return r;
}

/* Copy an array into its place of `room` values and clear the rest of it. The
 * source may be that place. */
static double *store_array(double *place, size_t room, const double *values,
                           size_t count) {
  if (count > 0) memmove(place, values, count * sizeof *place);
  memset(place + count, 0, (room - count) * sizeof *place);
  return place + room;
}

void tsn_hsa_model_store(tsanom_hsa_model *model, size_t thread,
                         const tsanom_hsa_reference *r) {
  size_t windows = model->options.max_windows, terms = model->options.max_degree + 1;
  size_t used = r->beats ? r->windows : 0, marks = r->beats ? used + 1 : 0;
  slot *s = (slot *)slot_of(model, thread);
  *s = (slot){.beats = r->beats,
              .window = r->window,
              .local_window = r->local_window,
              .windows = r->windows,
              .degree = r->degree,
              .run = r->run,
              .sample_runs = r->sample_runs,
              .silent_runs = r->silent_runs,
              .completion = r->completion,
              .mean_rate = r->mean_rate,
              .interval = r->interval,
              .r2 = r->r2,
              .domain = {r->domain[0], r->domain[1]},
              .unit = r->unit,
              .center = r->center,
              .scale = r->scale};
  memcpy(s->range, r->range, sizeof s->range);
  double *place = (double *)(s + 1);
  place = store_array(place, windows + 1, r->time, marks);
  place = store_array(place, windows + 1, r->rate, marks);
  place = store_array(place, windows, r->window_rate, used);
  store_array(place, terms, r->coefficient, r->beats ? r->degree + 1 : 0);
}

void tsn_hsa_model_open(tsanom_hsa_model *model, size_t thread_count, size_t run_count,
                        const tsanom_hsa_options *options) {
  static const tsanom_hsa_reference nothing;
  size_t bytes = 0;
  measure(thread_count, options, &bytes);
  memset(model, 0, sizeof *model);
  model->bytes = bytes;
  model->thread_count = thread_count;
  model->run_count = run_count;
  model->options = *options;
  for (size_t i = 0; i < thread_count; i++) tsn_hsa_model_store(model, i, &nothing);
}

void tsn_hsa_model_close(tsanom_hsa_model *model) {
  model->magic = MAGIC;
}

tsanom_status tsn_hsa_model_memory(const tsanom_hsa_model *model, size_t model_bytes,
                                   size_t thread_count,
                                   const tsanom_hsa_options *options) {
  size_t needed;
  if (!model) return TSANOM_E_NULL;
  tsanom_status status = measure(thread_count, options, &needed);
  if (status < 0) return status;
  bool aligned = (uintptr_t)model % _Alignof(tsanom_hsa_model) == 0;
  return aligned && model_bytes >= needed ? TSANOM_OK : TSANOM_E_WORKSPACE;
}

tsanom_status tsanom_hsa_model_init(tsanom_hsa_model *model, size_t model_bytes,
                                    size_t thread_count, size_t run_count,
                                    const tsanom_hsa_options *options) {
  tsn_hsa_context context;
  if (!model) return TSANOM_E_NULL;
  tsanom_status status = tsn_hsa_context_read(&context, options, NULL);
  if (status < 0) return status;
  if (thread_count == 0 || run_count == 0) return TSANOM_E_COUNT;
  status = tsn_hsa_model_memory(model, model_bytes, thread_count, &context.options);
  if (status < 0) return status;
  tsn_hsa_model_open(model, thread_count, run_count, &context.options);
  tsn_hsa_model_close(model);
  return TSANOM_OK;
}

tsn_hsa_digest tsn_hsa_digest_of(const tsanom_hsa_reference *r) {
  /* The digest of a reference is only read; the cast is for its type's sake. */
  return (tsn_hsa_digest){.beats = r->beats,
                          .windows = r->windows,
                          .degree = r->degree,
                          .completion = r->completion,
                          .mean_rate = r->mean_rate,
                          .interval = r->interval,
                          .r2 = r->r2,
                          .domain = {r->domain[0], r->domain[1]},
                          .unit = r->unit,
                          .center = r->center,
                          .scale = r->scale,
                          .time = (double *)r->time,
                          .rate = (double *)r->rate,
                          .window_rate = (double *)r->window_rate,
                          .coefficient = (double *)r->coefficient};
}

tsanom_hsa_reference tsn_hsa_reference_of(const tsn_hsa_digest *digest,
                                          const tsn_hsa_windows *windows) {
  return (tsanom_hsa_reference){.beats = digest->beats,
                                .window = windows->window,
                                .local_window = windows->local_window,
                                .windows = digest->windows,
                                .degree = digest->degree,
                                .completion = digest->completion,
                                .mean_rate = digest->mean_rate,
                                .interval = digest->interval,
                                .r2 = digest->r2,
                                .domain = {digest->domain[0], digest->domain[1]},
                                .unit = digest->unit,
                                .center = digest->center,
                                .scale = digest->scale,
                                .time = digest->time,
                                .rate = digest->rate,
                                .window_rate = digest->window_rate,
                                .coefficient = digest->coefficient};
}

static bool all_positive(const double *values, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (!(values[i] > 0)) return false;
  }
  return true;
}

/* Counts that could come from learning under these options. */
static bool counts_agree(const tsanom_hsa_model *model, const tsanom_hsa_reference *r) {
  if (r->silent_runs > model->run_count || r->run >= model->run_count) return false;
  if (r->beats == 0) return true;
  return r->window >= 1 && r->beats > r->window && r->local_window >= r->window &&
         r->local_window % r->window == 0 &&
         r->windows == (r->beats - 1) / r->local_window &&
         r->windows <= model->options.max_windows &&
         r->degree <= model->options.max_degree && r->sample_runs >= 1 &&
         r->sample_runs == model->run_count - r->silent_runs;
}

static bool numbers_are_finite(const tsanom_hsa_reference *r) {
  const double scalars[] = {r->completion, r->mean_rate, r->interval,
                            r->r2,         r->domain[0], r->domain[1],
                            r->unit,       r->center,    r->scale};
  return tsn_all_finite(scalars, sizeof scalars / sizeof *scalars) &&
         tsn_all_finite(r->time, r->windows + 1) &&
         tsn_all_finite(r->rate, r->windows + 1) &&
         tsn_all_finite(r->window_rate, r->windows) &&
         tsn_all_finite(r->coefficient, r->degree + 1);
}

static bool numbers_agree(const tsanom_hsa_reference *r) {
  for (size_t j = 0; j < r->windows; j++) {
    if (!(r->time[j] < r->time[j + 1])) return false;
  }
  return r->completion > 0 && r->mean_rate > 0 && r->interval >= 0 &&
         r->domain[0] <= r->domain[1] && all_positive(r->rate, r->windows + 1) &&
         all_positive(r->window_rate, r->windows);
}

/* Is an array clear of [place, place + all), or within its own part of it? */
static bool keeps_apart(const double *array, size_t count, const double *place,
                        size_t all, size_t offset, size_t room) {
  uintptr_t low = (uintptr_t)array, high = low + count * sizeof *array;
  uintptr_t begin = (uintptr_t)place, end = begin + all * sizeof *place;
  uintptr_t own = begin + offset * sizeof *place;
  return high <= begin || end <= low ||
         (own <= low && high <= own + room * sizeof *place);
}

/* Storing goes array by array: one that lies where another will be stored would
 * be lost before it is read. */
static bool arrays_keep_apart(const tsanom_hsa_model *model, size_t thread,
                              const tsanom_hsa_reference *r) {
  size_t windows = model->options.max_windows, marks = windows + 1;
  size_t terms = model->options.max_degree + 1, all = 2 * marks + windows + terms;
  const double *place = (const double *)(slot_of(model, thread) + 1);
  return keeps_apart(r->time, r->windows + 1, place, all, 0, marks) &&
         keeps_apart(r->rate, r->windows + 1, place, all, marks, marks) &&
         keeps_apart(r->window_rate, r->windows, place, all, 2 * marks, windows) &&
         keeps_apart(r->coefficient, r->degree + 1, place, all, 2 * marks + windows,
                     terms);
}

static tsanom_status check_reference(const tsanom_hsa_model *model,
                                     const tsanom_hsa_reference *r) {
  if (!counts_agree(model, r)) return TSANOM_E_FORMAT;
  if (r->beats == 0) return TSANOM_OK;
  if (!r->time || !r->rate || !r->window_rate || !r->coefficient) return TSANOM_E_NULL;
  if (!numbers_are_finite(r)) return TSANOM_E_NONFINITE;
  for (size_t f = 0; f < TSANOM_HSA_SLOTS; f++) {
    if (isnan(r->range[f].low) || isnan(r->range[f].high)) return TSANOM_E_NONFINITE;
    if (r->range[f].low > r->range[f].high) return TSANOM_E_FORMAT;
  }
  return numbers_agree(r) ? TSANOM_OK : TSANOM_E_FORMAT;
}

tsanom_status tsanom_hsa_model_check(const tsanom_hsa_model *model, size_t model_bytes) {
  tsn_hsa_context context;
  size_t bytes;
  if (!model) return TSANOM_E_NULL;
  if (model_bytes < sizeof *model || !is_model(model) || model->bytes > model_bytes ||
      model->options.struct_size != sizeof model->options ||
      tsn_hsa_context_read(&context, &model->options, NULL) < 0 ||
      model->thread_count == 0 || model->run_count == 0 ||
      measure(model->thread_count, &model->options, &bytes) < 0 ||
      bytes != model->bytes) {
    return TSANOM_E_FORMAT;
  }
  for (size_t i = 0; i < model->thread_count; i++) {
    tsanom_hsa_reference reference = view(model, slot_of(model, i));
    if (check_reference(model, &reference) < 0) return TSANOM_E_FORMAT;
  }
  return TSANOM_OK;
}

size_t tsanom_hsa_model_threads(const tsanom_hsa_model *model) {
  return is_model(model) ? model->thread_count : 0;
}

size_t tsanom_hsa_model_runs(const tsanom_hsa_model *model) {
  return is_model(model) ? model->run_count : 0;
}

tsanom_status tsanom_hsa_model_options(const tsanom_hsa_model *model,
                                       tsanom_hsa_options *options) {
  if (!model || !options) return TSANOM_E_NULL;
  if (!is_model(model)) return TSANOM_E_FORMAT;
  size_t struct_size = options->struct_size;
  tsanom_status status = tsanom_hsa_options_init(options, struct_size);
  if (status < 0) return status;
  size_t known =
      struct_size < sizeof model->options ? struct_size : sizeof model->options;
  memcpy(options, &model->options, known);
  options->struct_size = struct_size;
  return TSANOM_OK;
}

tsanom_status tsanom_hsa_model_get(const tsanom_hsa_model *model, size_t thread,
                                   tsanom_hsa_reference *reference) {
  if (!model || !reference) return TSANOM_E_NULL;
  if (!is_model(model)) return TSANOM_E_FORMAT;
  if (thread >= model->thread_count) return TSANOM_E_COUNT;
  *reference = view(model, slot_of(model, thread));
  return TSANOM_OK;
}

tsanom_status tsanom_hsa_model_set(tsanom_hsa_model *model, size_t thread,
                                   const tsanom_hsa_reference *reference) {
  if (!model || !reference) return TSANOM_E_NULL;
  if (!is_model(model)) return TSANOM_E_FORMAT;
  if (thread >= model->thread_count) return TSANOM_E_COUNT;
  tsanom_status status = check_reference(model, reference);
  if (status < 0) return status;
  if (reference->beats > 0 && !arrays_keep_apart(model, thread, reference)) {
    return TSANOM_E_FORMAT;
  }
  tsn_hsa_model_store(model, thread, reference);
  return TSANOM_OK;
}
