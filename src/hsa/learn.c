/* SPDX-License-Identifier: BSD-3-Clause */
/* Learning a model from normal runs. */
#include <math.h>

#include "core/exec.h"
#include "hsa/hsa.h"

/* Stands for the distance of two series that cannot be compared. */
static const double incomparable = 1e6;

typedef struct {
  tsn_hsa_digest *digest;       /* of each usable series of one thread */
  size_t *run;                  /* which run it is of */
  tsanom_hsa_features *feature; /* [i runs + j]: series i against series j */
  double *sum;                  /* [j]: dissimilarity of all others against j */
  double *sample;               /* of one feature */
  size_t *rival;                /* [i]: medoid of all series but i */
  tsn_hsa_fit_scratch fit;
  tsn_hsa_pair_scratch pair;
} buffers;

static tsanom_status layout(tsn_arena *arena, const tsn_hsa_context *context,
                            size_t run_count, buffers *b) {
  bool measuring = arena->base == NULL;
  size_t pairs;
  if (__builtin_mul_overflow(run_count, run_count, &pairs)) arena->overflow = true;
  b->digest = tsn_arena_take(arena, run_count, sizeof *b->digest);
  b->run = tsn_arena_take(arena, run_count, sizeof *b->run);
  b->feature = tsn_arena_take(arena, pairs, sizeof *b->feature);
  b->sum = tsn_arena_take(arena, run_count, sizeof *b->sum);
  b->sample = tsn_arena_take(arena, run_count, sizeof *b->sample);
  b->rival = tsn_arena_take(arena, run_count, sizeof *b->rival);
  if (measuring) {
    tsn_arena one = tsn_arena_measure();
    tsn_hsa_digest digest;
    tsn_hsa_digest_layout(&one, &context->options, &digest);
    if (one.overflow) arena->overflow = true;
    tsn_arena_take(arena, run_count, one.used);
  } else {
    for (size_t i = 0; i < run_count; i++) {
      tsn_hsa_digest_layout(arena, &context->options, &b->digest[i]);
    }
  }
  tsanom_status status = tsn_hsa_fit_layout(arena, context, &b->fit);
  return status < 0 ? status : tsn_hsa_pair_layout(arena, context, &b->pair);
}

tsanom_status tsanom_hsa_learn_workspace(size_t run_count,
                                         const tsanom_hsa_options *options,
                                         const tsanom_exec *exec, size_t *bytes) {
  tsn_hsa_context context;
  tsanom_status status;
  if (!bytes) return TSANOM_E_NULL;
  if ((status = tsn_hsa_context_read(&context, options, exec)) < 0) return status;
  if (run_count == 0) return TSANOM_E_COUNT;
  tsn_arena arena = tsn_arena_measure();
  buffers b;
  if ((status = layout(&arena, &context, run_count, &b)) < 0) return status;
  return tsn_arena_bytes(&arena, bytes);
}

/* The normal runs and what is common to all of their threads. */
typedef struct {
  const tsn_hsa_context *context;
  const tsanom_hsa_run *runs;
  size_t run_count;
  size_t thread_count; /* most of any run */
  buffers b;
} lesson;

static const tsanom_hsa_series *series_of(const tsanom_hsa_run *run, size_t thread) {
  static const tsanom_hsa_series nothing;
  return thread < run->thread_count ? &run->threads[thread] : &nothing;
}

static tsn_hsa_windows choose_windows(const lesson *l, size_t thread) {
  size_t longest = 0;
  for (size_t i = 0; i < l->run_count; i++) {
    size_t beats = series_of(&l->runs[i], thread)->beats;
    if (beats > longest) longest = beats;
  }
  return tsn_hsa_choose_windows(longest, &l->context->options);
}

static tsanom_status check_runs(lesson *l) {
  bool usable = false;
  for (size_t i = 0; i < l->run_count; i++) {
    if (l->runs[i].thread_count == 0) return TSANOM_E_COUNT;
    if (!l->runs[i].threads) return TSANOM_E_NULL;
    if (l->runs[i].thread_count > l->thread_count) {
      l->thread_count = l->runs[i].thread_count;
    }
  }
  for (size_t t = 0; t < l->thread_count; t++) {
    tsn_hsa_windows windows = choose_windows(l, t);
    for (size_t i = 0; i < l->run_count; i++) {
      const tsanom_hsa_series *series = series_of(&l->runs[i], t);
      tsanom_status status =
          tsn_hsa_check_series(series, l->runs[i].start, windows.window);
      if (status < 0) return status;
      if (series->beats > windows.window) usable = true;
    }
  }
  return usable ? TSANOM_OK : TSANOM_E_COUNT;
}

/* Digest the usable series of a thread, and compare each with each. */
static tsanom_status digest_thread(const lesson *l, size_t thread,
                                   const tsn_hsa_windows *windows, size_t *count) {
  const buffers *b = &l->b;
  size_t n = 0;
  tsanom_status status;
  for (size_t i = 0; i < l->run_count; i++) {
    const tsanom_hsa_series *series = series_of(&l->runs[i], thread);
    if (series->beats <= windows->window) continue;
    if (tsn_exec_stop(&l->context->exec, thread * l->run_count + i,
                      l->thread_count * l->run_count)) {
      return TSANOM_STOPPED;
    }
    b->run[n] = i;
    status = tsn_hsa_digest_series(l->context, series, l->runs[i].start, windows, &b->fit,
                                   &b->digest[n]);
    if (status < 0) return status;
    n++;
  }
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < n; j++) {
      status = tsn_hsa_compare_digests(l->context, &b->digest[i], &b->digest[j], &b->pair,
                                       &b->feature[i * l->run_count + j]);
      if (status < 0) return status;
    }
  }
  *count = n;
  return TSANOM_OK;
}

static double dissimilarity(const lesson *l, size_t i, size_t j) {
  const tsanom_hsa_features *f = &l->b.feature[i * l->run_count + j];
  if (!tsn_hsa_is_defined(f, TSANOM_HSA_GTR) || !tsn_hsa_is_defined(f, TSANOM_HSA_DTW)) {
    return incomparable;
  }
  return fabs(log(f->value[TSANOM_HSA_GTR])) + f->value[TSANOM_HSA_DTW];
}

/* The medoid of all series, and for each series that of all others. */
static size_t find_medoids(const lesson *l, size_t count) {
  const buffers *b = &l->b;
  size_t medoid = 0;
  for (size_t j = 0; j < count; j++) {
    b->sum[j] = 0;
    for (size_t i = 0; i < count; i++) {
      if (i != j) b->sum[j] += dissimilarity(l, i, j);
    }
    if (b->sum[j] < b->sum[medoid]) medoid = j;
  }
  for (size_t i = 0; i < count; i++) {
    double least = INFINITY;
    b->rival[i] = i;
    for (size_t j = 0; j < count; j++) {
      double sum = b->sum[j] - dissimilarity(l, i, j);
      if (j == i || sum >= least) continue;
      least = sum;
      b->rival[i] = j;
    }
  }
  return medoid;
}

static tsanom_hsa_range learn_range(const lesson *l, int32_t feature, size_t count,
                                    size_t medoid, bool *partial) {
  const buffers *b = &l->b;
  const tsanom_hsa_options *options = &l->context->options;
  double reference_rate = b->digest[medoid].mean_rate;
  size_t samples = 0;
  for (size_t i = 0; count > 1 && i < count; i++) {
    const tsanom_hsa_features *f = &b->feature[i * l->run_count + b->rival[i]];
    if (!tsn_hsa_is_defined(f, feature)) continue;
    double scale = tsn_hsa_scale(feature, b->digest[i].mean_rate,
                                 b->digest[b->rival[i]].mean_rate, options);
    b->sample[samples++] = f->value[feature] * scale;
  }
  double unit = tsn_hsa_scale(feature, reference_rate, reference_rate, options);
  return tsn_hsa_learn_range(feature, b->sample, samples, unit, options, partial);
}

static tsanom_status learn_thread(const lesson *l, size_t thread, tsanom_hsa_model *model,
                                  bool *partial) {
  const buffers *b = &l->b;
  tsn_hsa_windows windows = choose_windows(l, thread);
  size_t count;
  tsanom_status status = digest_thread(l, thread, &windows, &count);
  if (status != TSANOM_OK) return status;
  tsanom_hsa_reference reference = {0};
  if (count > 0) {
    size_t medoid = find_medoids(l, count);
    reference = tsn_hsa_reference_of(&b->digest[medoid], &windows);
    reference.run = b->run[medoid];
    for (int32_t f = 0; f < TSANOM_HSA_FEATURES; f++) {
      reference.range[f] = learn_range(l, f, count, medoid, partial);
    }
  }
  reference.sample_runs = count;
  reference.silent_runs = l->run_count - count;
  tsn_hsa_model_store(model, thread, &reference);
  return TSANOM_OK;
}

static tsanom_status learn_all(const lesson *l, tsanom_hsa_model *model) {
  bool partial = false;
  tsn_hsa_model_open(model, l->thread_count, l->run_count, &l->context->options);
  for (size_t t = 0; t < l->thread_count; t++) {
    tsanom_status status = learn_thread(l, t, model, &partial);
    if (status != TSANOM_OK) return status;
  }
  tsn_hsa_model_close(model);
  return partial ? TSANOM_PARTIAL : TSANOM_OK;
}

tsanom_status tsanom_hsa_learn(const tsanom_hsa_run *runs, size_t run_count,
                               const tsanom_hsa_options *options, const tsanom_exec *exec,
                               void *work, size_t work_bytes, tsanom_hsa_model *model,
                               size_t model_bytes) {
  tsn_hsa_context context;
  tsanom_status status;
  if (!runs || !model) return TSANOM_E_NULL;
  if ((status = tsn_hsa_context_read(&context, options, exec)) < 0) return status;
  if (run_count == 0) return TSANOM_E_COUNT;
  lesson l = {.context = &context, .runs = runs, .run_count = run_count};
  if ((status = check_runs(&l)) < 0) return status;
  status = tsn_hsa_model_memory(model, model_bytes, l.thread_count, &context.options);
  if (status < 0) return status;

  tsn_arena measured = tsn_arena_measure();
  if ((status = layout(&measured, &context, run_count, &l.b)) < 0) return status;
  tsn_workspace workspace;
  status = tsn_workspace_borrow(&workspace, &measured, &context.exec, work, work_bytes);
  if (status < 0) return status;
  status = layout(&workspace.arena, &context, run_count, &l.b);
  if (status >= 0) status = learn_all(&l, model);
  tsn_workspace_close(&workspace);
  return status;
}
