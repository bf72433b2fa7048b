/* SPDX-License-Identifier: BSD-3-Clause */
/* Medoid and barycentre of a set. */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "dtw/dtw_matrix.h"
#include "dtw/dtw_path.h"

/* Samples of one series that are aligned to one sample of the average. */
typedef struct {
  size_t first, end;
} aligned;

/* An average in progress. */
typedef struct {
  tsn_dtw_set set;
  tsn_dtw_call call;
  size_t length;
  double *average;   /* as the series: length samples, stride elements each */
  double *distances; /* of each series to the average */
  aligned *samples;  /* [count][length] */
  double *values;    /* of one component of one sample, for the median */
  size_t **paths;    /* of each thread */
  tsn_arena *arenas; /* of each thread */
  _Atomic int stop;
  _Atomic int infeasible;
} averaging;

static size_t add(tsn_arena *arena, size_t a, size_t b) {
  size_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) arena->overflow = true;
  return sum;
}

static size_t multiply(tsn_arena *arena, size_t a, size_t b) {
  size_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) arena->overflow = true;
  return product;
}

static tsanom_status averaging_layout(tsn_arena *arena, averaging *a) {
  tsn_arena path;
  size_t bytes, threads = (size_t)a->call.exec.threads;
  if (a->length == 0) return TSANOM_E_COUNT;
  tsanom_status status = tsn_dtw_path_measure(a->length, a->set.longest, &a->call, &path);
  if (status < 0) return status;
  if ((status = tsn_arena_bytes(&path, &bytes)) < 0) return status;
  size_t elements = multiply(arena, a->length, a->call.options.stride);
  size_t pairs = add(arena, a->length, a->set.longest);
  a->average = tsn_arena_take(arena, elements, sizeof(double));
  a->distances = tsn_arena_take(arena, a->set.count, sizeof(double));
  a->samples =
      tsn_arena_take(arena, multiply(arena, a->set.count, a->length), sizeof *a->samples);
  a->values = tsn_arena_take(arena, multiply(arena, a->set.count, a->set.longest),
                             sizeof(double));
  a->paths = tsn_arena_take(arena, threads, sizeof *a->paths);
  a->arenas = tsn_arena_take(arena, threads, sizeof *a->arenas);
  for (size_t t = 0; t < threads; t++) {
    size_t *own = tsn_arena_take(arena, multiply(arena, 2, pairs), sizeof *own);
    void *block = tsn_arena_take(arena, bytes, 1);
    if (!a->paths) continue;
    a->paths[t] = own;
    a->arenas[t] = (tsn_arena){.base = block};
  }
  return TSANOM_OK;
}

static void align_one(averaging *a, size_t k, int thread) {
  tsn_dtw_watch watch = {.exec = &a->call.exec,
                         .stop = &a->stop,
                         .polls = thread == 0,
                         .done = k,
                         .total = a->set.count};
  size_t length, *path = a->paths[thread];
  tsanom_status status = tsn_dtw_path_run(a->average, a->length, a->set.series[k],
                                          a->set.lengths[k], &a->call, a->arenas[thread],
                                          &watch, path, &length, &a->distances[k]);
  if (status == TSANOM_STOPPED) return;
  if (status != TSANOM_OK) {
    atomic_store_explicit(&a->infeasible, 1, memory_order_relaxed);
    return;
  }
  aligned *samples = a->samples + k * a->length;
  for (size_t i = 0; i < a->length; i++) samples[i] = (aligned){0, 0};
  for (size_t p = 0; p < length; p++) {
    aligned *s = &samples[path[2 * p]];
    if (s->first == s->end) s->first = path[2 * p + 1];
    s->end = path[2 * p + 1] + 1;
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
      tsn_parallel_for(&a->call.exec, a->set.count, 1, align_chunk, a, NULL);
  if (status != TSANOM_OK || atomic_load(&a->stop)) return TSANOM_STOPPED;
  if (atomic_load(&a->infeasible)) return TSANOM_INFEASIBLE;
  *sum = 0;
  for (size_t k = 0; k < a->set.count; k++) *sum += a->distances[k];
  return TSANOM_OK;
}

/* The element of rank `rank`, by Hoare's selection. */
static double select_rank(double *values, size_t count, size_t rank) {
  size_t low = 0, high = count;
  while (high - low > 1) {
    double pivot = values[low + (high - low) / 2];
    size_t less = low, equal = low, above = high;
    while (equal < above) {
      double value = values[equal];
      if (value < pivot) {
        values[equal++] = values[less];
        values[less++] = value;
      } else if (value > pivot) {
        values[equal] = values[--above];
        values[above] = value;
      } else {
        equal++;
      }
    }
    if (rank < less) {
      high = less;
    } else if (rank < above) {
      return pivot;
    } else {
      low = above;
    }
  }
  return values[low];
}

/* What component d of sample i becomes: the mean or the lower median of what is
 * aligned to it, of nothing what it was. */
static double updated(const averaging *a, size_t i, size_t d) {
  size_t stride = a->call.options.stride, count = 0;
  double sum = 0;
  for (size_t k = 0; k < a->set.count; k++) {
    const aligned *s = &a->samples[k * a->length + i];
    for (size_t j = s->first; j < s->end; j++) {
      double value = a->set.series[k][j * stride + d];
      a->values[count++] = value;
      sum += value;
    }
  }
  if (count == 0) return a->average[i * stride + d];
  return a->call.options.cost == TSANOM_DTW_SQUARED
             ? sum / (double)count
             : select_rank(a->values, count, (count - 1) / 2);
}

static tsanom_status average(averaging *a, int32_t iterations, double tolerance,
                             double *sum) {
  const tsanom_dtw_options *o = &a->call.options;
  tsanom_status status = align_all(a, sum);
  for (int32_t n = 0; status == TSANOM_OK; n++) {
    if (n == iterations) return TSANOM_PARTIAL;
    for (size_t i = 0; i < a->length; i++) {
      for (size_t d = 0; d < o->dimensions; d++) {
        a->average[i * o->stride + d] = updated(a, i, d);
      }
    }
    double before = *sum;
    status = align_all(a, sum);
    if (status == TSANOM_OK && before - *sum <= tolerance * before) return TSANOM_OK;
  }
  return status;
}

tsanom_status tsanom_dtw_barycentre_workspace(size_t longest, size_t count, size_t length,
                                              const tsanom_dtw_options *options,
                                              const tsanom_exec *exec, size_t *bytes) {
  averaging a = {.set = {.count = count, .longest = longest}, .length = length};
  tsn_arena arena = tsn_arena_measure();
  tsanom_status status;
  if (!bytes) return TSANOM_E_NULL;
  if ((status = tsn_dtw_call_read(&a.call, options, exec)) < 0) return status;
  if (count == 0) return TSANOM_E_COUNT;
  if ((status = averaging_layout(&arena, &a)) < 0) return status;
  return tsn_arena_bytes(&arena, bytes);
}

static void copy_samples(double *to, const double *from, size_t length,
                         const tsanom_dtw_options *options) {
  for (size_t i = 0; i < length; i++) {
    memcpy(to + i * options->stride, from + i * options->stride,
           options->dimensions * sizeof *to);
  }
}

tsanom_status tsanom_dtw_barycentre(const double *const *series, const size_t *lengths,
                                    size_t count, size_t length, int32_t iterations,
                                    double tolerance, const tsanom_dtw_options *options,
                                    const tsanom_exec *exec, void *work,
                                    size_t work_bytes, double *barycentre, double *sum) {
  averaging a = {.set = {.series = series, .lengths = lengths, .count = count},
                 .length = length};
  tsn_arena measured = tsn_arena_measure();
  tsn_workspace workspace;
  tsanom_status status;
  if (!barycentre) return TSANOM_E_NULL;
  if ((status = tsn_dtw_call_read(&a.call, options, exec)) < 0 ||
      (status = tsn_dtw_set_check(&a.set)) < 0) {
    return status;
  }
  bool in_range = iterations >= 1 && tolerance >= 0 && !a.call.options.tail;
  if (!in_range) return TSANOM_E_OPTION;
  if ((status = averaging_layout(&measured, &a)) < 0 ||
      (status = tsn_workspace_borrow(&workspace, &measured, &a.call.exec, work,
                                     work_bytes)) < 0) {
    return status;
  }
  double own_sum;
  if (!tsn_dtw_set_finite(&a.set, &a.call.options) ||
      !tsn_dtw_finite(barycentre, length, &a.call.options)) {
    status = TSANOM_E_NONFINITE;
  } else {
    averaging_layout(&workspace.arena, &a);
    copy_samples(a.average, barycentre, length, &a.call.options);
    status = average(&a, iterations, tolerance, &own_sum);
  }
  if (status == TSANOM_OK || status == TSANOM_PARTIAL) {
    copy_samples(barycentre, a.average, length, &a.call.options);
    if (sum) *sum = own_sum;
  }
  tsn_workspace_close(&workspace);
  return status;
}

/* The condensed matrix and its distances. */
static tsanom_status medoid_layout(tsn_arena *arena, const tsn_dtw_matrix *m,
                                   const tsn_dtw_call *call, double **distances,
                                   tsn_arena *matrix) {
  size_t bytes, twice = multiply(arena, m->xs.count, m->xs.count - 1);
  tsn_arena measured;
  tsanom_status status = tsn_dtw_matrix_measure(m, call, &measured);
  if (status < 0) return status;
  if ((status = tsn_arena_bytes(&measured, &bytes)) < 0) return status;
  *distances = tsn_arena_take(arena, twice / 2, sizeof(double));
  *matrix = (tsn_arena){.base = tsn_arena_take(arena, bytes, 1)};
  return TSANOM_OK;
}

tsanom_status tsanom_dtw_medoid_workspace(size_t longest, size_t count,
                                          const tsanom_dtw_options *options,
                                          const tsanom_exec *exec, size_t *bytes) {
  tsn_dtw_set all = {.count = count, .longest = longest};
  tsn_dtw_matrix m = {.xs = all, .ys = all, .condensed = true};
  tsn_arena arena = tsn_arena_measure(), matrix;
  tsn_dtw_call call;
  double *distances;
  tsanom_status status;
  if (!bytes) return TSANOM_E_NULL;
  if ((status = tsn_dtw_call_read(&call, options, exec)) < 0) return status;
  if (count == 0) return TSANOM_E_COUNT;
  if ((status = medoid_layout(&arena, &m, &call, &distances, &matrix)) < 0) return status;
  return tsn_arena_bytes(&arena, bytes);
}

static size_t condensed_place(size_t a, size_t b, size_t count) {
  size_t low = a < b ? a : b, high = a < b ? b : a;
  return low * (2 * count - low - 1) / 2 + high - low - 1;
}

static tsanom_status least_sum(const double *distances, size_t count, size_t *medoid,
                               double *sum) {
  double least = INFINITY;
  for (size_t a = 0; a < count; a++) {
    double own = 0;
    for (size_t b = 0; b < count; b++) {
      if (a != b) own += distances[condensed_place(a, b, count)];
    }
    if (own < least) {
      least = own;
      *medoid = a;
    }
  }
  if (isinf(least)) return TSANOM_INFEASIBLE;
  if (sum) *sum = least;
  return TSANOM_OK;
}

tsanom_status tsanom_dtw_medoid(const double *const *series, const size_t *lengths,
                                size_t count, const tsanom_dtw_options *options,
                                const tsanom_exec *exec, void *work, size_t work_bytes,
                                size_t *medoid, double *sum) {
  tsn_dtw_set all = {.series = series, .lengths = lengths, .count = count};
  tsn_arena measured = tsn_arena_measure(), matrix;
  tsn_workspace workspace;
  tsn_dtw_call call;
  double *distances;
  tsanom_status status;
  if (!medoid) return TSANOM_E_NULL;
  if ((status = tsn_dtw_call_read(&call, options, exec)) < 0 ||
      (status = tsn_dtw_set_check(&all)) < 0) {
    return status;
  }
  if (call.options.tail) return TSANOM_E_OPTION;
  tsn_dtw_matrix m = {.xs = all, .ys = all, .condensed = true};
  if ((status = medoid_layout(&measured, &m, &call, &distances, &matrix)) < 0 ||
      (status = tsn_workspace_borrow(&workspace, &measured, &call.exec, work,
                                     work_bytes)) < 0) {
    return status;
  }
  if (!tsn_dtw_set_finite(&all, &call.options)) {
    status = TSANOM_E_NONFINITE;
  } else {
    medoid_layout(&workspace.arena, &m, &call, &distances, &matrix);
    m.distances = distances;
    status = tsn_dtw_matrix_run(&m, &call, &matrix);
    if (status == TSANOM_OK) status = least_sum(distances, count, medoid, sum);
  }
  tsn_workspace_close(&workspace);
  return status;
}
