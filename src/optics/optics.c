/* SPDX-License-Identifier: BSD-3-Clause */
#include <tsanom/optics.h>

#include <math.h>

#include "core/check.h"
#include "core/exec.h"
#include "core/parallel.h"
#include "core/versioned.h"
#include "optics/optics_internal.h"

/* Squares of differences of such magnitudes can be added up. */
#define LARGEST 1e150

static const tsanom_optics_options defaults = {.struct_size = sizeof defaults,
                                               .min_points = 5,
                                               .eps = INFINITY,
                                               .metric = TSANOM_OPTICS_EUCLIDEAN,
                                               .search = TSANOM_OPTICS_SEARCH_AUTO};

static const tsn_versioned options_type = {.size = sizeof(tsanom_optics_options),
                                           .first_size = sizeof(tsanom_optics_options),
                                           .defaults = &defaults};

tsanom_status tsanom_optics_options_init(tsanom_optics_options *options,
                                         size_t struct_size) {
  return tsn_versioned_init(&options_type, options, struct_size);
}

static tsanom_status read_options(tsanom_optics_options *own,
                                  const tsanom_optics_options *caller) {
  tsanom_status status = tsn_versioned_read(&options_type, own, caller);
  if (status < 0) return status;
  bool known = own->metric >= TSANOM_OPTICS_EUCLIDEAN &&
               own->metric <= TSANOM_OPTICS_CHEBYSHEV &&
               own->search >= TSANOM_OPTICS_SEARCH_AUTO &&
               own->search <= TSANOM_OPTICS_SEARCH_TREE;
  return known && own->min_points >= 1 && own->eps >= 0 ? TSANOM_OK : TSANOM_E_OPTION;
}

tsanom_status tsn_optics_check_count(size_t n) {
  if (n == 0) return TSANOM_E_COUNT;
  return n > INT32_MAX ? TSANOM_E_OVERFLOW : TSANOM_OK;
}

bool tsn_optics_are_distances(const double *values, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (!(values[i] >= 0)) return false;
  }
  return true;
}

typedef struct {
  tsn_optics_result result;
  tsn_optics_exhaustive exhaustive;
  tsn_optics_lazy lazy;
} buffers;

/* Up to so many dimensions a tree finds less to look at than everything; with an
 * infinite eps, where what is looked for may be far away, up to fewer, or for so many
 * points that n^2 costs more. Several threads share the n^2 and little of such a tree,
 * so that it pays later. Fewer points are looked at faster than sorted into a tree. */
enum {
  TREE_DIMENSIONS = 16,
  TREE_DIMENSIONS_INFINITE = 8,
  TREE_POINTS = 200,
  TREE_POINTS_ANYWAY = 20000,
  TREE_POINTS_ANYWAY_THREADS = 100000
};

static bool by_tree(size_t n, size_t dimensions, const tsanom_optics_options *options,
                    int threads) {
  if (dimensions == 0) return false;
  if (options->search != TSANOM_OPTICS_SEARCH_AUTO) {
    return options->search == TSANOM_OPTICS_SEARCH_TREE;
  }
  size_t many = threads > 1 ? TREE_POINTS_ANYWAY_THREADS : TREE_POINTS_ANYWAY;
  bool few = dimensions <= TREE_DIMENSIONS_INFINITE || options->eps < INFINITY;
  return n >= TREE_POINTS && dimensions <= TREE_DIMENSIONS && (few || n >= many);
}

static void layout(tsn_arena *arena, size_t n, size_t dimensions,
                   const tsanom_optics_options *options, int threads, bool tree,
                   buffers *b) {
  b->result.order = tsn_arena_take(arena, n, sizeof(uint32_t));
  b->result.predecessor = tsn_arena_take(arena, n, sizeof(uint32_t));
  b->result.reachability = tsn_arena_take(arena, n, sizeof(double));
  b->result.core = tsn_arena_take(arena, n, sizeof(double));
  size_t min_points = options->min_points < n ? options->min_points : n;
  if (tree) {
    tsn_optics_lazy_layout(arena, n, dimensions, min_points, threads, &b->lazy);
  } else {
    tsn_optics_exhaustive_layout(arena, n, dimensions, min_points, threads,
                                 &b->exhaustive);
  }
}

static tsn_arena larger(tsn_arena a, tsn_arena b) {
  if (a.overflow || b.overflow) return a.overflow ? a : b;
  return a.used < b.used ? b : a;
}

static tsn_arena measure_one(size_t n, size_t dimensions,
                             const tsanom_optics_options *options, int threads,
                             bool tree) {
  tsn_arena measured = tsn_arena_measure();
  buffers b;
  layout(&measured, n, dimensions, options, threads, tree, &b);
  return measured;
}

/* The workspace is monotone in n and dimensions though the search chosen is not: it
 * has room for any that may be chosen for a smaller problem. */
static tsn_arena measure(size_t n, size_t dimensions,
                         const tsanom_optics_options *options, int threads) {
  tsn_arena chosen = measure_one(n, dimensions, options, threads,
                                 by_tree(n, dimensions, options, threads));
  if (dimensions == 0 || options->search != TSANOM_OPTICS_SEARCH_AUTO ||
      n < TREE_POINTS) {
    return chosen;
  }
  size_t fewer = dimensions < TREE_DIMENSIONS ? dimensions : TREE_DIMENSIONS;
  return larger(larger(chosen, measure_one(n, dimensions, options, threads, false)),
                measure_one(n, fewer, options, threads, true));
}

tsanom_status tsanom_optics_workspace(size_t n, size_t dimensions,
                                      const tsanom_optics_options *options,
                                      const tsanom_exec *exec, size_t *bytes) {
  if (!bytes) return TSANOM_E_NULL;
  tsanom_optics_options own;
  tsanom_exec how;
  tsanom_status status = read_options(&own, options);
  if (status == TSANOM_OK) status = tsn_exec_read(&how, exec);
  if (status == TSANOM_OK) status = tsn_optics_check_count(n);
  if (status != TSANOM_OK) return status;
  tsn_arena measured = measure(n, dimensions, &own, how.threads);
  return tsn_arena_bytes(&measured, bytes);
}

/* Where the outputs go. */
typedef struct {
  size_t *order;
  double *reachability;
  size_t *predecessor;
  double *core_distance;
  size_t *where;
} outputs;

static tsanom_status refuse(const outputs *out, tsanom_status status, size_t row,
                            size_t column) {
  if (out->where) {
    out->where[0] = row;
    out->where[1] = column;
  }
  return status;
}

static tsanom_status check_points(const tsn_optics_input *in, const outputs *out) {
  for (size_t i = 0; i < in->n; i++) {
    const double *row = in->points + i * in->leading;
    for (size_t c = 0; c < in->dimensions; c++) {
      if (fabs(row[c]) <= LARGEST) continue;
      return refuse(out, isfinite(row[c]) ? TSANOM_E_VALUE : TSANOM_E_NONFINITE, i, c);
    }
  }
  return TSANOM_OK;
}

static tsanom_status check_condensed(const tsn_optics_input *in, const outputs *out) {
  const double *next = in->matrix;
  for (size_t i = 0; i < in->n; i++) {
    for (size_t j = i + 1; j < in->n; j++, next++) {
      if (!isfinite(*next)) return refuse(out, TSANOM_E_NONFINITE, i, j);
      if (*next < 0) return refuse(out, TSANOM_E_VALUE, i, j);
    }
  }
  return TSANOM_OK;
}

static tsanom_status check_square(const tsn_optics_input *in, const outputs *out) {
  for (size_t i = 0; i < in->n; i++) {
    for (size_t j = 0; j < in->n; j++) {
      double d = in->matrix[i * in->leading + j],
             across = in->matrix[j * in->leading + i];
      if (!isfinite(d)) return refuse(out, TSANOM_E_NONFINITE, i, j);
      bool differs = j < i && d != across;
      if (d < 0 || (i == j && d != 0) || differs) {
        return refuse(out, TSANOM_E_VALUE, i, j);
      }
    }
  }
  return TSANOM_OK;
}

static tsanom_status check_input(const tsn_optics_input *in, const outputs *out) {
  if (in->points) return check_points(in, out);
  if (in->function || in->n == 1) return TSANOM_OK;
  return in->leading ? check_square(in, out) : check_condensed(in, out);
}

static int32_t poll_shifted(void *user, uint64_t done, uint64_t total) {
  const tsn_optics_progress *p = user;
  (void)total;
  return p->caller->poll(p->caller->poll_user, p->before + done, p->total);
}

/* Points that a chunk has of which the result is given. */
enum { GIVE_GRAIN = 4096 };

/* A result, and where it goes. */
typedef struct {
  const tsn_optics_result *result;
  const outputs *out;
} gift;

static void give(void *context, size_t begin, size_t end, int thread) {
  const tsn_optics_result *result = ((const gift *)context)->result;
  const outputs *out = ((const gift *)context)->out;
  (void)thread;
  for (size_t k = begin; k < end; k++) {
    out->order[k] = result->order[k];
    out->reachability[k] = result->reachability[k];
    if (out->predecessor) {
      uint32_t p = result->predecessor[k];
      out->predecessor[k] = p == TSN_OPTICS_NONE ? SIZE_MAX : p;
    }
    if (out->core_distance) out->core_distance[k] = result->core[k];
  }
}

static tsanom_status run(const tsn_optics_input *in, const tsanom_optics_options *options,
                         const tsanom_exec *how, void *work, size_t work_bytes,
                         const outputs *out) {
  tsn_arena measured = measure(in->n, in->dimensions, options, how->threads);
  buffers b;
  tsn_workspace workspace;
  tsanom_status status =
      tsn_workspace_borrow(&workspace, &measured, how, work, work_bytes);
  if (status < 0) return status;
  bool tree = by_tree(in->n, in->dimensions, options, how->threads);
  layout(&workspace.arena, in->n, in->dimensions, options, how->threads, tree, &b);
  tsn_optics_progress progress = {.exec = *how, .caller = how, .total = 2 * in->n};
  progress.exec.poll_user = &progress;
  if (how->poll) progress.exec.poll = poll_shifted;
  if (!in->points) progress.exec.threads = 1;
  tsn_optics_fault fault = {TSANOM_OK, {0, 0}};
  if (tree) {
    status = tsn_optics_lazy_order(in, options, &progress, &b.lazy, &b.result);
  } else {
    status = tsn_optics_exhaustive_order(in, options, &progress, &b.exhaustive, &b.result,
                                         &fault);
  }
  if (status == TSANOM_OK) {
    tsanom_exec quiet = progress.exec;
    quiet.poll = NULL;
    gift all = {&b.result, out};
    tsn_parallel_for(&quiet, in->n, GIVE_GRAIN, give, &all, NULL);
  }
  tsn_workspace_close(&workspace);
  return fault.status ? refuse(out, status, fault.where[0], fault.where[1]) : status;
}

/* What all three forms check. */
static tsanom_status order_any(const tsn_optics_input *in,
                               const tsanom_optics_options *options,
                               const tsanom_exec *exec, void *work, size_t work_bytes,
                               const outputs *out) {
  if (!out->order || !out->reachability) return TSANOM_E_NULL;
  tsanom_optics_options own;
  tsanom_exec how;
  tsanom_status status = read_options(&own, options);
  if (status == TSANOM_OK) status = tsn_exec_read(&how, exec);
  if (status == TSANOM_OK) status = tsn_optics_check_count(in->n);
  if (status != TSANOM_OK) return status;
  if (in->n < own.min_points) return TSANOM_E_COUNT;
  status = check_input(in, out);
  return status < 0 ? status : run(in, &own, &how, work, work_bytes, out);
}

/* The outputs are written through `out`.
 * NOLINTBEGIN(readability-non-const-parameter) */
tsanom_status tsanom_optics_order(const double *points, size_t n, size_t dimensions,
                                  size_t leading, const tsanom_optics_options *options,
                                  const tsanom_exec *exec, void *work, size_t work_bytes,
                                  size_t *order, double *reachability,
                                  size_t *predecessor, double *core_distance,
                                  size_t *where) {
  outputs out = {order, reachability, predecessor, core_distance, where};
  tsn_optics_input in = {
      .n = n, .points = points, .dimensions = dimensions, .leading = leading};
  size_t elements, bytes;
  if (!points) return TSANOM_E_NULL;
  if (dimensions == 0) return TSANOM_E_COUNT;
  if (leading < dimensions) return TSANOM_E_OPTION;
  if (__builtin_mul_overflow(n, leading, &elements) ||
      __builtin_mul_overflow(elements, sizeof *points, &bytes)) {
    return TSANOM_E_OVERFLOW;
  }
  return order_any(&in, options, exec, work, work_bytes, &out);
}

tsanom_status tsanom_optics_order_matrix(const double *distances, size_t n,
                                         size_t leading,
                                         const tsanom_optics_options *options,
                                         const tsanom_exec *exec, void *work,
                                         size_t work_bytes, size_t *order,
                                         double *reachability, size_t *predecessor,
                                         double *core_distance, size_t *where) {
  outputs out = {order, reachability, predecessor, core_distance, where};
  tsn_optics_input in = {.n = n, .matrix = distances, .leading = leading};
  size_t elements, bytes;
  if (!distances && !(n == 1 && leading == 0)) return TSANOM_E_NULL;
  if (leading && leading < n) return TSANOM_E_OPTION;
  if (__builtin_mul_overflow(n, leading ? leading : n, &elements) ||
      __builtin_mul_overflow(elements, sizeof *distances, &bytes)) {
    return TSANOM_E_OVERFLOW;
  }
  return order_any(&in, options, exec, work, work_bytes, &out);
}

tsanom_status tsanom_optics_order_function(tsanom_optics_distance *distance, void *user,
                                           size_t n, const tsanom_optics_options *options,
                                           const tsanom_exec *exec, void *work,
                                           size_t work_bytes, size_t *order,
                                           double *reachability, size_t *predecessor,
                                           double *core_distance, size_t *where) {
  outputs out = {order, reachability, predecessor, core_distance, where};
  tsn_optics_input in = {.n = n, .function = distance, .user = user};
  if (!distance) return TSANOM_E_NULL;
  return order_any(&in, options, exec, work, work_bytes, &out);
}
/* NOLINTEND(readability-non-const-parameter) */
