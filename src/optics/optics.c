/* SPDX-License-Identifier: BSD-3-Clause */
/* The order functions: options, choice of the search, workspace. Points, a matrix and a
 * function share one path:
 *
 *     tsanom_optics_order*()  checks of its own counts -> order()
 *     order()                 options, counts; workspace from layout()
 *     check_arrays()          pointers
 *     run()                   checks of all data -> a search -> copies to the caller
 *
 * The data are checked in the workspace: they cost O(n · dimensions) or O(n^2). No output
 * is written before the search has succeeded, as the conventions of the API require. */
#include <float.h>
#include <math.h>
#include <stddef.h>

#include "core/exec.h"
#include "core/fault.h"
#include "core/parallel.h"
#include "core/size.h"
#include "core/versioned.h"
#include "optics/optics_internal.h"

/* Checks of points, of matrices of distances, and of the caller's orders. Points and
 * matrices are checked in row-major order, so that the first fault found is the smallest.
 *
 * The searches rely on what is checked here. A NaN compares false with everything, so
 * that a point with one would never become the smallest and the order would not be a
 * permutation. A matrix is read above its diagonal only; one that is not symmetric would
 * have a result that depends on this choice, and is rejected. */

/* The sum of squares of differences of such magnitudes does not overflow: a difference is
 * at most 2e150, its square 4e300, and 4e7 of these are below DBL_MAX. */
#define LARGEST 1e150

static tsanom_status check_points(const tsn_optics_input *in, const tsanom_exec *exec) {
  for (size_t i = 0; i < in->n; i++) {
    const double *row = in->points + i * in->ld;
    for (size_t c = 0; c < in->dimensions; c++) {
      if (fabs(row[c]) <= LARGEST) continue;
      bool finite = isfinite(row[c]);
      return tsn_reject_value(exec, finite ? TSANOM_E_VALUE : TSANOM_E_NONFINITE,
                              "points", i, c, row[c],
                              finite ? "a magnitude of at most 1e150 is expected"
                                     : "finite coordinates are expected");
    }
  }
  return TSANOM_OK;
}

tsanom_status tsn_optics_check_distance(double distance) {
  if (!isfinite(distance)) return TSANOM_E_NONFINITE;
  return distance < 0 ? TSANOM_E_VALUE : TSANOM_OK;
}

static tsanom_status reject_distance(double d, tsanom_status status, size_t i, size_t j,
                                     const tsanom_exec *exec) {
  return tsn_reject_value(exec, status, "distances", i, j, d, TSN_OPTICS_A_DISTANCE);
}

static tsanom_status check_condensed(const tsn_optics_input *in,
                                     const tsanom_exec *exec) {
  const double *next = in->matrix;
  for (size_t i = 0; i < in->n; i++) {
    for (size_t j = i + 1; j < in->n; j++, next++) {
      tsanom_status status = tsn_optics_check_distance(*next);
      if (status < 0) return reject_distance(*next, status, i, j, exec);
    }
  }
  return TSANOM_OK;
}

/* Each pair is compared with its mirror image once, at its second element: the first one
 * has been checked for its value by then. */
static tsanom_status check_square(const tsn_optics_input *in, const tsanom_exec *exec) {
  for (size_t i = 0; i < in->n; i++) {
    for (size_t j = 0; j < in->n; j++) {
      double d = in->matrix[i * in->ld + j], mirrored = in->matrix[j * in->ld + i];
      tsanom_status status = tsn_optics_check_distance(d);
      if (status < 0) return reject_distance(d, status, i, j, exec);
      if (i == j && d != 0) {
        return tsn_reject_value(exec, TSANOM_E_VALUE, "distances", i, j, d,
                                "a diagonal of 0 is expected");
      }
      if (j < i && d != mirrored) {
        return tsn_reject_pair_is(
            exec, TSANOM_E_VALUE, "distances", i, j,
            "%.17g, and %.17g the other way; a symmetric matrix is expected", d,
            mirrored);
      }
    }
  }
  return TSANOM_OK;
}

/* Reject samples or distances that are out of range. A caller's function is checked as
 * it is called instead. */
static tsanom_status check_input(const tsn_optics_input *in, const tsanom_exec *exec) {
  if (in->points) return check_points(in, exec);
  if (in->function) return TSANOM_OK;
  return in->ld ? check_square(in, exec) : check_condensed(in, exec);
}

/* The caller's struct of an order, and its checks. The struct is input and output: the
 * order functions write to the arrays that it names, and cut, split and xi read them. An
 * array that a function does not need may be NULL. */

static const tsanom_optics_ordering ordering_defaults = {
    .struct_size = sizeof ordering_defaults, .eps = INFINITY};

static const tsn_versioned ordering_type = {
    .size = sizeof(tsanom_optics_ordering),
    .first_size = offsetof(tsanom_optics_ordering, eps),
    .defaults = &ordering_defaults};

/* Reject a number of points: 0, or more than labels of type int32_t can number. */
static tsanom_status check_count(size_t n, const char *name, const tsanom_exec *exec) {
  return tsn_require_size(exec, n ? TSANOM_E_OVERFLOW : TSANOM_E_COUNT, name, n, 1,
                          INT32_MAX);
}

/* Read the caller's ordering, which is not NULL, but not its arrays. */
static tsanom_status ordering_read(tsanom_optics_ordering *own,
                                   const tsanom_optics_ordering *caller,
                                   const tsanom_exec *exec) {
  tsanom_status status = tsn_struct_read(exec, &ordering_type, own, caller, "ordering");
  if (status < 0) return status;
  if (!isgreaterequal(own->eps, 0)) {
    return tsn_reject_value(exec, TSANOM_E_OPTION, "ordering.eps", TSANOM_NONE,
                            TSANOM_NONE, own->eps, "at least 0 is expected");
  }
  if (own->eps == 0) own->eps = INFINITY;
  return TSANOM_OK;
}

tsanom_status tsn_optics_plot_read(tsanom_optics_ordering *own,
                                   const tsanom_optics_ordering *caller,
                                   const tsanom_exec *exec) {
  if (!caller) return tsn_reject_null(exec, "ordering", TSANOM_NONE);
  tsanom_status status = ordering_read(own, caller, exec);
  return status < 0 ? status : check_count(own->n, "ordering.n", exec);
}

/* Reject an ordering without order or reachability, of n points. */
static tsanom_status ordering_arrays(const tsanom_optics_ordering *ordering, size_t n,
                                     const tsanom_exec *exec) {
  tsanom_status status = tsn_require_array(exec, ordering->order, n, "ordering.order");
  if (status < 0) return status;
  return tsn_require_array(exec, ordering->reachability, n, "ordering.reachability");
}

/* Write the number of points to the caller's ordering. */
static void ordering_write(tsanom_optics_ordering *caller,
                           const tsanom_optics_ordering *own) {
  tsn_versioned_write(&ordering_type, caller, own);
}

tsanom_status tsn_optics_check_heights(const double *values, size_t n, const char *name,
                                       const tsanom_exec *exec) {
  /* Without an exit from the loop, which vectors do not allow: with it, a cut of 100
   * points took 196 ns in place of 167 ns. The fault is sought only if there is one. */
  bool valid = true;
  for (size_t i = 0; i < n; i++) valid &= values[i] >= 0;
  if (valid) return TSANOM_OK;
  size_t at = 0;
  while (values[at] >= 0) at++;
  return tsn_reject_value(exec, isnan(values[at]) ? TSANOM_E_NONFINITE : TSANOM_E_VALUE,
                          name, at, TSANOM_NONE, values[at], "at least 0 is expected");
}

tsanom_status tsn_optics_ordering_check(const tsanom_optics_ordering *ordering,
                                        const tsanom_exec *exec) {
  tsanom_status status = ordering_arrays(ordering, ordering->n, exec);
  if (status < 0) return status;
  const size_t *order = ordering->order;
  size_t n = ordering->n, at = 0;
  while (at < n && order[at] < n) at++;
  if (at < n) {
    return tsn_reject_is(exec, TSANOM_E_INDEX, "ordering.order", at,
                         "%zu; the index of one of %zu points is expected", order[at], n);
  }
  return tsn_optics_check_heights(ordering->reachability, n, "ordering.reachability",
                                  exec);
}

static const tsanom_optics_options defaults = {.struct_size = sizeof defaults,
                                               .min_points = 0,
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

/* One call of an order function. `exhaustive` and `lazy` are two layouts of the same
 * memory, of which only the chosen one is used. */
typedef struct {
  tsn_optics_input input;
  tsanom_optics_options options;
  tsanom_exec exec;
  const char *name; /* of the array, or the function, that has the points */
  size_t elements;  /* of the array; TSANOM_NONE */
  bool given;
  tsanom_optics_ordering *ordering, out; /* the caller's, and what it will be */
  tsn_optics_result result;
  tsn_optics_exhaustive exhaustive;
  tsn_optics_lazy lazy;
} call;

/* Only points have a metric and a choice of searches: with a matrix or a function, any
 * value but the default is rejected. */
static tsanom_status read_options(call *c, const tsanom_optics_options *caller) {
  tsanom_optics_options *own = &c->options;
  int32_t last_metric = c->input.dimensions ? TSANOM_OPTICS_CHEBYSHEV : 0;
  int32_t last_search = c->input.dimensions ? TSANOM_OPTICS_SEARCH_TREE : 0;
  const tsanom_status bad = TSANOM_E_OPTION;
  tsanom_status status = tsn_struct_read(&c->exec, &options_type, own, caller, "options");
  if (status < 0) return status;
  if (!isgreaterequal(own->eps, 0)) {
    return tsn_reject_value(&c->exec, bad, "options.eps", TSANOM_NONE, TSANOM_NONE,
                            own->eps, "at least 0 is expected");
  }
  status = tsn_require_int(&c->exec, bad, "options.metric", own->metric, 0, last_metric);
  if (status < 0) return status;
  return tsn_require_int(&c->exec, bad, "options.search", own->search, 0, last_search);
}

/* A search of the tree for a ball that holds m points: the leaves, of 8 points, are boxes
 * whose side is (8 / m)^(1/d) of the ball's, so that it meets (1 + (m / 8)^(1/d))^d of them
 * (for the 13 nearest of uniform points in 1 to 4 dimensions 2.6, 5.2, 9.7, 20; counted:
 * 2.6, 5.2, 8.5, 15). */
static double leaves_met(const call *c, double points) {
  double d = (double)c->input.dimensions;
  return pow(1 + pow(points / TSN_OPTICS_LANES, 1 / d), d);
}

static double distance_of(const tsn_optics_input *in, int32_t metric, size_t i,
                          size_t j) {
  const double *a = in->points + i * in->ld, *b = in->points + j * in->ld;
  double sum = 0, most = 0;
  for (size_t k = 0; k < in->dimensions; k++) {
    double d = fabs(a[k] - b[k]);
    sum += metric == TSANOM_OPTICS_EUCLIDEAN ? d * d : d;
    most = d > most ? d : most;
  }
  return metric == TSANOM_OPTICS_EUCLIDEAN   ? sqrt(sum)
         : metric == TSANOM_OPTICS_CHEBYSHEV ? most
                                             : sum;
}

/* Other points within eps of a point: the mean over one point of 8, 64 at most, each
 * compared with one of 16 others. The point itself is in one leaf, however small eps is. */
static double others_within_eps(const call *c) {
  enum { MOST = 64, STEP = 16 };
  size_t sample = tsn_smaller(c->input.n / 8, MOST), within = 0;
  for (size_t s = 0; s < sample; s++) {
    size_t i = c->input.n / sample * s;
    for (size_t j = s % STEP; j < c->input.n; j += STEP) {
      within +=
          i != j && distance_of(&c->input, c->options.metric, i, j) <= c->options.eps;
    }
  }
  return (double)(within * STEP) / (double)sample;
}

/* Whether to search by a tree. The choice is one of speed only: results are the same.
 *
 * A tree is faster if a search meets few of its leaves: less than 1/14 where neighbors may
 * be far away, because points whose list is used up search again; less than 1/3 where eps
 * ends all searches. Found with 64 to 3800 points in 1 to 10 dimensions, one thread, Zen 5,
 * all levels; docs/measurements.md has the time lost near these limits, which differ by the
 * kind of points: at most 3.2 times (10-dimensional points along a line with a small eps).
 *
 * All distances take the time n^2 / threads, a tree with an infinite eps, whose heap is
 * that of one thread, little more than n: so threads scale the number of leaves. Levels
 * differ less than the data. */
enum { TREE_DIMENSIONS = 16, TREE_POINTS = 64, LIMIT_INFINITE = 14, LIMIT_FINITE = 3 };

static bool by_tree(const call *c) {
  size_t n = c->input.n, dimensions = c->input.dimensions;
  if (dimensions == 0) return false;
  if (c->options.search != TSANOM_OPTICS_SEARCH_AUTO) {
    return c->options.search == TSANOM_OPTICS_SEARCH_TREE;
  }
  if (n < TREE_POINTS || dimensions > TREE_DIMENSIONS) return false;
  double leaves = (double)n / TSN_OPTICS_LANES;
  double nearest = (double)tsn_larger(c->options.min_points, TSN_OPTICS_KEPT) + 1;
  if (leaves_met(c, nearest) * LIMIT_INFINITE * c->exec.threads < leaves) return true;
  return c->options.eps < INFINITY &&
         leaves_met(c, others_within_eps(c)) * LIMIT_FINITE < leaves;
}

/* Both searches use the same memory. The automatic choice is not monotone in n and
 * dimensions but the size is, so it covers each search that is chosen for a smaller
 * problem. */
static void layout(tsn_arena *arena, void *context) {
  call *c = context;
  size_t n = c->input.n, dimensions = c->input.dimensions;
  size_t min_points = c->options.min_points;
  c->result.order = tsn_arena_take(arena, n, sizeof(uint32_t));
  c->result.predecessor = tsn_arena_take(arena, n, sizeof(uint32_t));
  c->result.reachability = tsn_arena_take(arena, n, sizeof(double));
  c->result.core = tsn_arena_take(arena, n, sizeof(double));
  tsn_arena all = *arena, tree = *arena;
  int32_t search = dimensions ? c->options.search : TSANOM_OPTICS_SEARCH_EXHAUSTIVE;
  if (search != TSANOM_OPTICS_SEARCH_TREE) {
    tsn_optics_exhaustive_layout(&all, n, dimensions, min_points, c->exec.threads,
                                 &c->exhaustive);
  }
  if (search == TSANOM_OPTICS_SEARCH_AUTO) {
    dimensions = tsn_smaller(dimensions, TREE_DIMENSIONS);
  }
  if (search == TSANOM_OPTICS_SEARCH_TREE ||
      (search == TSANOM_OPTICS_SEARCH_AUTO && n >= TREE_POINTS)) {
    tsn_optics_lazy_layout(&tree, n, dimensions, min_points, c->exec.threads, &c->lazy);
  }
  arena->used = tsn_larger(all.used, tree.used);
  arena->overflow = all.overflow || tree.overflow;
}

/* Neighborhoods grow with the number of points, as in estimates of density, so that the
 * plot becomes smoother; but small classes are not seen with more than a few points. */
static size_t usual_min_points(size_t n) {
  enum { LEAST = 5 };
  if (n < 2 * LEAST) return 1;
  return tsn_larger(LEAST, (size_t)(sqrt((double)n) / 2));
}

/* The polls of tsn_optics_progress: the caller sees one count from 0 to 2 n, whichever
 * loops the search consists of. */
static int32_t poll_counting(void *user, uint64_t done, uint64_t total) {
  const tsn_optics_progress *p = user;
  (void)total;
  return tsn_exec_stop(p->caller, p->before + done, p->total);
}

static int32_t poll_standing(void *user, uint64_t done, uint64_t total) {
  (void)done;
  return poll_counting(user, 0, total);
}

/* Points of a chunk whose results are copied. */
enum { COPY_GRAIN = 4096 };

/* Copy a part of the result: a body of tsn_parallel_for. 32-bit indices become size_t. */
static void copy_results(void *context, size_t begin, size_t end, int thread) {
  const call *c = context;
  const tsn_optics_result *result = &c->result;
  const tsanom_optics_ordering *out = &c->out;
  (void)thread;
  for (size_t k = begin; k < end; k++) {
    out->order[k] = result->order[k];
    out->reachability[k] = result->reachability[k];
    if (out->predecessor) {
      uint32_t p = result->predecessor[k];
      out->predecessor[k] = p == TSN_OPTICS_NONE ? TSANOM_NONE : p;
    }
    if (out->core_distance) out->core_distance[k] = result->core[k];
  }
}

static tsanom_status run(void *context) {
  call *c = context;
  size_t n = c->input.n;
  tsanom_status status = check_input(&c->input, &c->exec);
  if (status < 0) return status;
  tsanom_exec team = c->exec;
  if (c->input.dimensions == 0) team.threads = 1;
  tsn_optics_progress progress = {team, team, &c->exec, 0, 2 * (uint64_t)n};
  progress.counting.poll_user = progress.standing.poll_user = &progress;
  progress.counting.poll = team.poll ? poll_counting : NULL;
  progress.standing.poll = team.poll ? poll_standing : NULL;
  status = by_tree(c) ? tsn_optics_lazy_order(&c->input, &c->options, &progress, &c->lazy,
                                              &c->result)
                      : tsn_optics_exhaustive_order(&c->input, &c->options, &progress,
                                                    &c->exhaustive, &c->result);
  if (status != TSANOM_OK) return status;
  team.poll = NULL;
  return tsn_parallel_for(&team, n, COPY_GRAIN, copy_results, c, NULL);
}

static tsanom_status check_arrays(void *context) {
  const call *c = context;
  if (!c->given) return tsn_reject_null(&c->exec, c->name, c->elements);
  if (!c->ordering) return tsn_reject_null(&c->exec, "ordering", TSANOM_NONE);
  return ordering_arrays(&c->out, c->input.n, &c->exec);
}

static tsanom_status order(call *c, const tsanom_optics_options *options) {
  tsanom_status status = read_options(c, options);
  if (status < 0) return status;
  if (c->options.min_points == 0) c->options.min_points = usual_min_points(c->input.n);
  status = check_count(c->input.n, "n", &c->exec);
  if (status < 0) return status;
  if (c->input.n < c->options.min_points) {
    return tsn_reject_is(&c->exec, TSANOM_E_COUNT, "n", TSANOM_NONE,
                         "%zu; at least options.min_points, %zu, is expected", c->input.n,
                         c->options.min_points);
  }
  if (c->ordering) {
    status = ordering_read(&c->out, c->ordering, &c->exec);
    if (status < 0) return status;
  }
  status = tsn_workspace_run(&c->exec, layout, check_arrays, run, c);
  if (status != TSANOM_OK) return status;
  c->out.n = c->input.n;
  c->out.eps = fmax(c->options.eps, DBL_MIN); /* 0 in an ordering: the default */
  c->out.min_points = c->options.min_points;
  ordering_write(c->ordering, &c->out);
  return TSANOM_OK;
}

/* A matrix of doubles fits the address space. */
static tsanom_status require_rows(const call *c, size_t ld) {
  size_t most = PTRDIFF_MAX / sizeof(double) / (ld ? ld : 1);
  if (c->input.n <= most) return TSANOM_OK;
  return tsn_reject_is(&c->exec, TSANOM_E_OVERFLOW, "n", TSANOM_NONE,
                       "%zu; at most %zu rows of %zu elements are expected", c->input.n,
                       most, ld);
}

static tsanom_status require_ld(const call *c, size_t least) {
  return tsn_require_size(&c->exec, TSANOM_E_OPTION, "ld", c->input.ld, least, SIZE_MAX);
}

tsanom_status tsanom_optics_order(const double *points, size_t n, size_t dimensions,
                                  size_t ld, const tsanom_optics_options *options,
                                  const tsanom_exec *exec,
                                  tsanom_optics_ordering *ordering) {
  call c = {.input = {.n = n, .points = points, .dimensions = dimensions, .ld = ld},
            .given = points != NULL,
            .name = "points",
            .elements = n * ld,
            .ordering = ordering};
  tsanom_status status = tsn_exec_read(&c.exec, exec);
  if (status < 0) return status;
  status =
      tsn_require_size(&c.exec, TSANOM_E_COUNT, "dimensions", dimensions, 1, SIZE_MAX);
  if (status == TSANOM_OK) status = require_ld(&c, dimensions);
  if (status == TSANOM_OK) status = require_rows(&c, ld);
  return status < 0 ? status : order(&c, options);
}

tsanom_status tsanom_optics_order_matrix(const double *distances, size_t n, size_t ld,
                                         const tsanom_optics_options *options,
                                         const tsanom_exec *exec,
                                         tsanom_optics_ordering *ordering) {
  call c = {.input = {.n = n, .matrix = distances, .ld = ld},
            .given = distances || (n == 1 && ld == 0),
            .name = "distances",
            .elements = ld ? n * ld : n * (n - 1) / 2,
            .ordering = ordering};
  tsanom_status status = tsn_exec_read(&c.exec, exec);
  if (status < 0) return status;
  if (ld && (status = require_ld(&c, n)) < 0) return status;
  status = require_rows(&c, ld ? ld : n / 2);
  return status < 0 ? status : order(&c, options);
}

tsanom_status tsanom_optics_order_function(tsanom_optics_distance *distance, void *user,
                                           size_t n, const tsanom_optics_options *options,
                                           const tsanom_exec *exec,
                                           tsanom_optics_ordering *ordering) {
  call c = {.input = {.n = n, .function = distance, .user = user},
            .given = distance != NULL,
            .name = "distance",
            .elements = TSANOM_NONE,
            .ordering = ordering};
  tsanom_status status = tsn_exec_read(&c.exec, exec);
  return status < 0 ? status : order(&c, options);
}
