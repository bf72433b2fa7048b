/* SPDX-License-Identifier: BSD-3-Clause */
/* The order functions, and the order by computing all distances. Points, a matrix and a
 * function share one path:
 *
 *     tsanom_optics_order*()  checks of its own counts -> order()
 *     order()                 options, counts; workspace from layout()
 *     check_arrays()          pointers
 *     run()                   checks of all data -> a search -> copies to the caller
 *
 * The data are checked in the workspace: they cost O(n · dimensions) or O(n^2). No output
 * is written before the search has succeeded, as the conventions of the API require.
 *
 * All distances are computed for few points, many dimensions, and distances that are not a
 * metric; otherwise a tree finds those that matter (tree.c). This is Prim's algorithm on a
 * dense graph, without a heap:
 *
 *     core distances:  for each 4 points, a row of distances to all; k-th smallest
 *     order, n times:  distances from the point just processed to the unprocessed ones
 *                      -> improve their reachability -> the smallest is next
 *
 * With one point as the minimum, the nearest one is the point itself: the core distances
 * are 0 without the first pass.
 *
 * Unprocessed points are contiguous: a processed point is replaced by the last one. So
 * distances are computed for n^2 + n^2 / 2 pairs, without a test for processed points.
 * Distances of the first pass are not kept for the second, so that memory stays O(n ·
 * dimensions).
 *
 * A heap would not help: each step touches all unprocessed points anyway, and their
 * minimum is a small part of it. Raw distances are squares if the metric is Euclidean; a
 * root is taken only where the square is below a limit that includes its rounding, that
 * is, mostly where the reachability is improved: 1.5 to 1.7 times faster than a root of
 * each (14 dimensions, Zen 5).
 *
 * O(n^2 · dimensions): 2.4 ns · n^2 in 14 dimensions, fitted from 1000 to 8000 points
 * (2-core Xeon, AVX-512). */
#include <float.h>
#include <math.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

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

static tsanom_status check_distance(double distance) {
  if (!isfinite(distance)) return TSANOM_E_NONFINITE;
  return distance < 0 ? TSANOM_E_VALUE : TSANOM_OK;
}

/* The rows of a square matrix, or what is above its diagonal. Each pair of a square matrix
 * is compared with its mirror image once, at its second element: the first one has been
 * checked for its value by then. */
static tsanom_status check_matrix(const tsn_optics_input *in, const tsanom_exec *exec) {
  const double *next = in->matrix;
  bool is_square = in->ld > 0;
  for (size_t i = 0; i < in->n; i++) {
    if (is_square) next = in->matrix + i * in->ld;
    for (size_t j = is_square ? 0 : i + 1; j < in->n; j++, next++) {
      double d = *next;
      tsanom_status status = check_distance(d);
      if (status < 0) {
        return tsn_reject_value(exec, status, "distances", i, j, d,
                                TSN_OPTICS_A_DISTANCE);
      }
      if (i == j && d != 0) {
        return tsn_reject_value(exec, TSANOM_E_VALUE, "distances", i, j, d,
                                "a diagonal of 0 is expected");
      }
      if (j < i && d != in->matrix[j * in->ld + i]) {
        return tsn_reject_pair_is(
            exec, TSANOM_E_VALUE, "distances", i, j,
            "%.17g, and %.17g the other way; a symmetric matrix is expected", d,
            in->matrix[j * in->ld + i]);
      }
    }
  }
  return TSANOM_OK;
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

static tsanom_status check_heights(const double *values, size_t n, const char *name,
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
                                        bool with_core, const tsanom_exec *exec) {
  const size_t *order = ordering->order;
  const double *core = ordering->core_distance;
  size_t n = ordering->n, at = 0;
  tsanom_status status = TSANOM_OK;
  if (with_core) status = tsn_require_array(exec, core, n, "ordering.core_distance");
  if (status < 0 || (status = ordering_arrays(ordering, n, exec)) < 0) return status;
  while (at < n && order[at] < n) at++;
  if (at < n) {
    return tsn_reject_is(exec, TSANOM_E_INDEX, "ordering.order", at,
                         "%zu; the index of one of %zu points is expected", order[at], n);
  }
  status = check_heights(ordering->reachability, n, "ordering.reachability", exec);
  if (status < 0 || !with_core) return status;
  return check_heights(core, n, "ordering.core_distance", exec);
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

/* A point that may be processed next. The index decides among equal reaches: places
 * change when points are removed, so that they cannot. */
typedef struct {
  double reach;
  uint32_t number;
  size_t place; /* in the blocks of unprocessed points */
} candidate;

/* Buffers of the search by all distances. The arrays indexed by place hold the unprocessed
 * points without gaps; drop() keeps them parallel:
 *
 *     place     0   1   2  ...  count - 1 | processed: free
 *     number    7   0   4  ...      2     |
 *     reach     .   .   .  ...      .     | */
typedef struct {
  double *blocks;       /* unprocessed points, laid out as those of a tree */
  uint32_t *number;     /* their indices */
  double *reach;        /* their reachability */
  uint32_t *from;       /* their predecessor */
  double *limit;        /* larger raw distances do not improve their reachability */
  double *distance;     /* TSN_OPTICS_QUERIES rows of raw distances for each thread */
  double *query;        /* TSN_OPTICS_QUERIES points for each thread */
  double *nearest;      /* the smallest of a row: min_points + APART for each thread */
  candidate *candidate; /* one for each thread */
  size_t row_length;    /* elements of a row of distances */
} all_points;

/* Number of coordinates to read for one point from which threads share them: 512 KiB, so
 * that a step of the order takes much longer than its barrier. And elements between what
 * two threads write, so that they do not share cache lines. */
enum { SHARED_COORDINATES = 1 << 16, APART = 32 };

/* One call of an order function. During a search threads share it. */
typedef struct {
  tsn_optics_input input;
  tsanom_optics_options options;
  tsanom_exec exec;
  const char *name; /* of the array, or the function, that has the points */
  size_t elements;  /* of the array; TSANOM_NONE */
  bool given;
  tsanom_optics_ordering *ordering, out; /* the caller's, and what it will be */
  tsn_optics_result result;
  tsn_optics_progress progress;
  all_points all;
  tsn_arena tree; /* of a search by a tree: the same memory */
  const tsn_optics_kernels *kernels;
  tsanom_status rejected; /* of a distance of the caller's function, or TSANOM_OK */
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

/* O(n · (dimensions + threads)) memory: distances are never stored beyond the rows in
 * use. */
static void layout_all(tsn_arena *arena, call *c) {
  size_t n = c->input.n, dimensions = c->input.dimensions;
  size_t teams = (size_t)c->exec.threads, at_once = teams * TSN_OPTICS_QUERIES;
  size_t padded = tsn_round_up(n, TSN_OPTICS_LANES);
  size_t nearest = tsn_product(c->options.min_points + APART, teams);
  c->all = (all_points){
      .blocks = tsn_arena_take(arena, tsn_product(padded, dimensions), sizeof(double)),
      .number = tsn_arena_take(arena, n, sizeof(uint32_t)),
      .reach = tsn_arena_take(arena, n, sizeof(double)),
      .from = tsn_arena_take(arena, n, sizeof(uint32_t)),
      .limit = tsn_arena_take(arena, n, sizeof(double)),
      .query = tsn_arena_take(arena, tsn_product(dimensions, at_once), sizeof(double)),
      .distance = tsn_arena_take(arena, tsn_product(padded, at_once), sizeof(double)),
      .nearest = tsn_arena_take(arena, nearest, sizeof(double)),
      .candidate = tsn_arena_take(arena, teams * APART, sizeof(candidate)),
      .row_length = padded};
}

/* Copy all points to the blocks of unprocessed ones. */
static void gather(const call *c) {
  const tsn_optics_input *in = &c->input;
  for (size_t i = 0; i < in->n; i++) {
    double *lane = tsn_optics_lane(c->all.blocks, in->dimensions, i);
    c->all.number[i] = (uint32_t)i;
    for (size_t k = 0; k < in->dimensions; k++) {
      lane[k * TSN_OPTICS_LANES] = in->points[i * in->ld + k];
    }
  }
}

/* A distance of a matrix or function. A function is called by one thread, so that it need
 * not be safe for several, and always as (smaller, larger), so that it need not be
 * symmetric in its rounding. A condensed matrix holds the rows above the diagonal, n - 1
 * distances of point 0, n - 2 of point 1, and so on. */
static double given(call *c, size_t a, size_t b) {
  const tsn_optics_input *in = &c->input;
  if (a == b) return 0;
  size_t low = a < b ? a : b, high = a < b ? b : a;
  if (in->matrix) {
    return in->ld ? in->matrix[low * in->ld + high]
                  : in->matrix[low * (2 * in->n - low - 1) / 2 + high - low - 1];
  }
  double d = in->function(in->user, low, high);
  c->rejected = check_distance(d);
  if (c->rejected < 0) {
    tsn_reject_value(&c->progress.counting, c->rejected, "distance", low, high, d,
                     TSN_OPTICS_A_DISTANCE);
  }
  return d;
}

/* Whether raw distances are squares. */
static int squared(const call *c) {
  return c->input.points && c->options.metric == TSANOM_OPTICS_EUCLIDEAN;
}

static size_t blocks_of(size_t count) {
  return (count + TSN_OPTICS_LANES - 1) / TSN_OPTICS_LANES;
}

/* Raw distances from point p to the unprocessed points in places [begin, end); `begin`
 * starts a block. */
static void distances(call *c, size_t p, size_t begin, size_t end, double *distance) {
  const tsn_optics_input *in = &c->input;
  if (in->points) {
    c->kernels->row[c->options.metric](c->all.blocks + begin * in->dimensions,
                                       blocks_of(end - begin), in->dimensions,
                                       in->points + p * in->ld, distance);
    return;
  }
  for (size_t i = begin; i < end && !c->rejected; i++) {
    distance[i - begin] = given(c, p, c->all.number[i]);
  }
}

/* Raw distances from the TSN_OPTICS_QUERIES points from p to all points. */
static void distances_of_several(const call *c, size_t p, double *query,
                                 double *distance) {
  const tsn_optics_input *in = &c->input;
  for (size_t q = 0; q < TSN_OPTICS_QUERIES; q++) {
    for (size_t k = 0; k < in->dimensions; k++) {
      query[k * TSN_OPTICS_QUERIES + q] = in->points[(p + q) * in->ld + k];
    }
  }
  c->kernels->rows[c->options.metric](c->all.blocks, blocks_of(in->n), in->dimensions,
                                      query, distance, c->all.row_length);
}

/* Core distances of the points [begin, end): a body of tsn_parallel_for. Points go four
 * at a time, which read each block once: 10,000 points in 14 dimensions singly take 1.4
 * (AVX-512) to 1.7 times (AVX2) as long, Zen 5. The remainder and given distances go singly.
 * Chunks of 16 keep the groups of four together. */
static void core_distances(void *context, size_t begin, size_t end, int thread) {
  call *c = context;
  const all_points *s = &c->all;
  size_t n = c->input.n, k = c->options.min_points, index = (size_t)thread, several;
  double *distance = s->distance + index * TSN_OPTICS_QUERIES * s->row_length;
  double *query = s->query + index * TSN_OPTICS_QUERIES * c->input.dimensions;
  double *nearest = s->nearest + index * (k + APART);
  for (size_t p = begin; p < end; p += several) {
    several = c->input.points && end - p >= TSN_OPTICS_QUERIES ? TSN_OPTICS_QUERIES : 1;
    if (several > 1) {
      distances_of_several(c, p, query, distance);
    } else {
      distances(c, p, 0, n, distance);
    }
    if (c->rejected) return;
    for (size_t q = 0; q < several; q++) {
      const double *row = distance + q * s->row_length;
      double core = c->kernels->kth_smallest(row, n, k, nearest);
      if (squared(c)) core = sqrt(core);
      c->result.core[p + q] = core <= c->options.eps ? core : INFINITY;
    }
  }
}

/* Replace an unprocessed point by the last of `count`. */
static void drop(const call *c, size_t place, size_t count) {
  const all_points *s = &c->all;
  size_t last = count - 1;
  s->number[place] = s->number[last];
  s->reach[place] = s->reach[last];
  s->from[place] = s->from[last];
  s->limit[place] = s->limit[last];
  double *to = tsn_optics_lane(s->blocks, c->input.dimensions, place);
  const double *from = tsn_optics_lane(s->blocks, c->input.dimensions, last);
  for (size_t k = 0; k < c->input.dimensions; k++) {
    to[k * TSN_OPTICS_LANES] = from[k * TSN_OPTICS_LANES];
  }
}

/* Improve the reachability of places [begin, end) through the point p just processed;
 * `begin` starts a block. A point that is not a core point improves none. An improvement
 * must be strict: of equal keys the first processed point is the predecessor. */
static void reach_from(call *c, uint32_t p, size_t begin, size_t end) {
  const all_points *s = &c->all;
  double core = c->result.core[p], eps = c->options.eps;
  if (core == INFINITY || begin == end) return;
  distances(c, p, begin, end, s->distance + begin);
  if (c->rejected) return;
  for (size_t i = begin; i < end; i++) {
    if (!(s->distance[i] <= s->limit[i]) || core >= s->reach[i]) continue;
    double d = squared(c) ? sqrt(s->distance[i]) : s->distance[i];
    double reach = core > d ? core : d;
    if (reach < s->reach[i] && d <= eps) {
      s->reach[i] = reach;
      s->limit[i] = tsn_optics_raw_limit(reach, squared(c));
      s->from[i] = p;
    }
  }
}

/* The point of places [begin, end) to process next; drop() has shuffled the indices. */
static candidate choose(const call *c, size_t begin, size_t end) {
  const all_points *s = &c->all;
  candidate best = {INFINITY, TSN_OPTICS_NONE, end};
  for (size_t i = begin; i < end; i++) {
    double reach = s->reach[i];
    if (reach < best.reach || (reach == best.reach && s->number[i] < best.number)) {
      best = (candidate){reach, s->number[i], i};
    }
  }
  return best;
}

/* The order in progress. The calling thread takes the next point; then all threads improve
 * a share of the unprocessed points through it, and each chooses among its own. One team
 * does all steps, and waits by itself: with a parallel region for each step and threads
 * that sleep between them (OMP_WAIT_POLICY=passive), two threads took 1.4 times as long as
 * one for 20,000 points in 10 dimensions (Zen 5). Where another program uses one of the
 * processors, each step would wait for it: the calling thread then goes on alone. */
typedef struct {
  call *call;
  candidate next;
  _Atomic size_t begun;   /* steps whose point is in the order */
  _Atomic size_t arrived; /* shares that other threads have done, of all steps */
  _Atomic int alone;      /* the other threads end */
  size_t late;            /* steps in which one of them did not come soon */
  bool is_stopped;
} dense_order;

/* Wait until the count is reached, or for no longer than `alone` is 0; whether that was
 * soon. It spins for some steps before it yields: a thread that yields on a busy machine
 * may not run for milliseconds. */
static bool wait_for(const dense_order *o, const _Atomic size_t *count, size_t wanted) {
  enum { SPINS = 20000 };
  int spins = 0;
  while (atomic_load_explicit(count, memory_order_acquire) < wanted &&
         !atomic_load_explicit(&o->alone, memory_order_relaxed)) {
    if (++spins > SPINS) sched_yield();
  }
  return spins <= SPINS;
}

/* Put the next point into the order, at position k. */
static void take_next(dense_order *o, size_t k) {
  call *c = o->call;
  const tsn_optics_result *r = &c->result;
  r->order[k] = o->next.number;
  r->reachability[k] = o->next.reach;
  r->predecessor[k] = c->all.from[o->next.place];
  drop(c, o->next.place, c->input.n - k);
}

/* Share `share` of `shares` of the step after `count` points were left unprocessed. */
static void reach_and_choose(call *c, uint32_t p, size_t count, size_t share,
                             size_t shares) {
  size_t blocks = blocks_of(count);
  size_t begin = blocks * share / shares * TSN_OPTICS_LANES;
  size_t end = blocks * (share + 1) / shares * TSN_OPTICS_LANES;
  if (end > count) end = count;
  reach_from(c, p, begin, end);
  c->all.candidate[share * APART] = choose(c, begin, end);
}

/* The choice among those of the threads, by the same rule: the result does not depend on
 * how the places are divided. */
static candidate best_of(const candidate *chosen, size_t shares) {
  candidate best = chosen[0];
  for (size_t t = 1; t < shares; t++) {
    candidate other = chosen[t * APART];
    bool sooner = other.reach < best.reach ||
                  (other.reach == best.reach && other.number < best.number);
    if (sooner) best = other;
  }
  return best;
}

/* Whether a step takes long enough to be shared; once it does not, later ones do not. */
static bool is_shared(const call *c, size_t count) {
  return count * c->input.dimensions >= SHARED_COORDINATES;
}

/* What the other threads do. */
static void help(dense_order *o, size_t share, size_t shares) {
  call *c = o->call;
  size_t n = c->input.n;
  for (size_t k = 0; is_shared(c, n - k - 1); k++) {
    (void)wait_for(o, &o->begun, k + 1);
    if (atomic_load_explicit(&o->alone, memory_order_relaxed)) return;
    reach_and_choose(c, c->result.order[k], n - k - 1, share, shares);
    atomic_fetch_add_explicit(&o->arrived, 1, memory_order_release);
  }
}

static void order_some(void *context, int thread, int threads) {
  enum { LATE = 8, STEPS_PER_LATE = 128 };
  dense_order *o = context;
  call *c = o->call;
  size_t n = c->input.n, shares = (size_t)threads;
  if (thread > 0) {
    help(o, (size_t)thread, shares);
    return;
  }
  for (size_t k = 0; k < n && !c->rejected; k++) {
    size_t count = n - k - 1;
    o->is_stopped = tsn_exec_stop_all(&c->progress.counting, k, n, &o->alone);
    if (o->is_stopped) return;
    take_next(o, k);
    if (shares > 1 && o->late > LATE + k / STEPS_PER_LATE) {
      atomic_store_explicit(&o->alone, 1, memory_order_relaxed);
    }
    if (!is_shared(c, count) || atomic_load_explicit(&o->alone, memory_order_relaxed)) {
      shares = 1;
    }
    if (shares > 1) atomic_store_explicit(&o->begun, k + 1, memory_order_release);
    reach_and_choose(c, c->result.order[k], count, 0, shares);
    if (shares > 1) o->late += !wait_for(o, &o->arrived, (k + 1) * (shares - 1));
    o->next = best_of(c->all.candidate, shares);
  }
}

/* The first point is the one with index 0, which has no reachability, as for every point
 * that starts a component. */
static tsanom_status order_all(call *c) {
  const all_points *s = &c->all;
  size_t n = c->input.n;
  for (size_t i = 0; i < n; i++) {
    s->reach[i] = INFINITY;
    s->from[i] = TSN_OPTICS_NONE;
    s->limit[i] = tsn_optics_raw_limit(c->options.eps, squared(c));
  }
  dense_order o = {.call = c, .next = {INFINITY, 0, 0}};
  tsn_team_run(is_shared(c, n) ? c->progress.counting.threads : 1, order_some, &o);
  return o.is_stopped ? TSANOM_STOPPED : c->rejected;
}

/* O(n^2 · dimensions), of points that are gathered. A call that is stopped or rejected
 * leaves a part of the result. */
static tsanom_status order_by_all(call *c) {
  const tsanom_exec *exec = &c->progress.counting;
  size_t n = c->input.n;
  tsanom_status status = TSANOM_OK;
  if (c->input.points && c->options.min_points == 1) {
    memset(c->result.core, 0, n * sizeof *c->result.core); /* of itself */
  } else {
    status = tsn_parallel_for(exec, n, 16, core_distances, c, NULL);
  }
  if (status == TSANOM_OK) status = c->rejected;
  if (status != TSANOM_OK) return status;
  c->progress.before = n;
  return order_all(c);
}

/* What a sample of the points shows: the dimension d that they fill, from the m 2^(d/2)
 * points within sqrt(2) times the distance of the m-th nearest one, and the number of others
 * within eps. The point itself is in one leaf, however small eps is. */
typedef struct {
  double dimension, others;
} density;

static size_t count_at_most(const double *values, size_t n, double limit) {
  size_t count = 0;
#pragma omp simd reduction(+ : count)
  for (size_t i = 0; i < n; i++) count += values[i] <= limit;
  return count;
}

_Static_assert((int)TSN_OPTICS_KEPT < (int)APART, "all_points.nearest has m elements");

static density sample_density(call *c, size_t m) {
  enum { MOST = 8, POINTS_EACH = 64 };
  size_t n = c->input.n, samples = tsn_smaller(n / POINTS_EACH, MOST), within = 0;
  double limit = tsn_optics_raw_limit(c->options.eps, squared(c));
  double *row = c->all.distance, sum = 0;
  for (size_t s = 0; s < samples; s++) {
    distances(c, n / samples * s, 0, n, row);
    double nearest = c->kernels->kth_smallest(row, n, m, c->all.nearest);
    double wider = nearest * (squared(c) ? 2 : M_SQRT2);
    size_t near = count_at_most(row, n, wider);
    if (nearest > 0) sum += 2 * log2((double)near / (double)m);
    within += count_at_most(row, n, limit);
  }
  double count = (double)samples, most = (double)c->input.dimensions;
  return (density){fmin(fmax(sum / count, 0.5), most), (double)within / count - 1};
}

/* A search of the tree for a ball that holds m points: the leaves, of 8 points, are boxes
 * whose side is (8 / m)^(1/d) of the ball's, so that it meets (1 + (m / 8)^(1/d))^d of them
 * (for the 13 nearest of uniform points in 1 to 4 dimensions 2.6, 5.2, 9.7, 20; counted:
 * 2.6, 5.2, 8.5, 15). */
static double leaves_met(double points, double dimension) {
  return pow(1 + pow(points / TSN_OPTICS_LANES, 1 / dimension), dimension);
}

/* Whether to search by a tree. The choice is one of speed only: results are the same.
 *
 * A tree is faster if a search meets few of its leaves: less than 1/18, on a line 1/12, where
 * neighbors may be far away, because points whose list is used up search again; less than
 * 1/6 where eps ends all searches. With a min_points of 1 all distances are computed once in
 * place of three times, the lists of the tree are the same, and the limit is half of that.
 * Found with 64 to 10,000 points in 1 to 16 dimensions, one thread, Zen 4;
 * docs/measurements.md has the time lost near these limits.
 *
 * All distances take the time n^2 / threads, a tree with an infinite eps, whose heap is
 * that of one thread, little more than n: so threads scale the number of leaves. Levels
 * differ less than the data. */
enum { TREE_DIMENSIONS = 16, TREE_POINTS = 64, LIMIT_FINITE = 6 };
enum { LIMIT_INFINITE = 18, LIMIT_ON_LINE = 12 };

static bool by_tree(call *c) {
  size_t n = c->input.n, dimensions = c->input.dimensions;
  if (dimensions == 0) return false;
  if (c->options.search != TSANOM_OPTICS_SEARCH_AUTO) {
    return c->options.search == TSANOM_OPTICS_SEARCH_TREE;
  }
  if (n < TREE_POINTS || dimensions > TREE_DIMENSIONS) return false;
  size_t nearest = tsn_smaller(n, tsn_larger(c->options.min_points, TSN_OPTICS_KEPT) + 1);
  density of = sample_density(c, nearest);
  double leaves = (double)n / TSN_OPTICS_LANES, threads = c->exec.threads;
  double met = leaves_met((double)nearest, of.dimension);
  double limit = dimensions == 1 ? LIMIT_ON_LINE : LIMIT_INFINITE;
  if (c->options.min_points == 1) limit *= 2;
  if (met * limit * threads < leaves) return true;
  return c->options.eps < INFINITY &&
         leaves_met(of.others, of.dimension) * LIMIT_FINITE < leaves;
}

/* Both searches use the same memory. The automatic choice is not monotone in n and
 * dimensions but the size is, so it covers each search that is chosen for a smaller
 * problem. */
static void layout(tsn_arena *arena, void *context) {
  call *c = context;
  size_t n = c->input.n, dimensions = c->input.dimensions;
  c->result.order = tsn_arena_take(arena, n, sizeof(uint32_t));
  c->result.predecessor = tsn_arena_take(arena, n, sizeof(uint32_t));
  c->result.reachability = tsn_arena_take(arena, n, sizeof(double));
  c->result.core = tsn_arena_take(arena, n, sizeof(double));
  tsn_arena all = *arena, tree = *arena;
  int32_t search = dimensions ? c->options.search : TSANOM_OPTICS_SEARCH_EXHAUSTIVE;
  if (search != TSANOM_OPTICS_SEARCH_TREE) {
    layout_all(&all, c);
  }
  if (search == TSANOM_OPTICS_SEARCH_AUTO) {
    dimensions = tsn_smaller(dimensions, TREE_DIMENSIONS);
  }
  if (search == TSANOM_OPTICS_SEARCH_TREE ||
      (search == TSANOM_OPTICS_SEARCH_AUTO && n >= TREE_POINTS)) {
    c->tree = tree;
    tsn_optics_tree_layout(&tree, n, dimensions, c->options.min_points, c->exec.threads);
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

/* 32-bit indices become size_t. */
static void copy_results(const call *c) {
  const tsn_optics_result *result = &c->result;
  const tsanom_optics_ordering *out = &c->out;
  for (size_t k = 0; k < c->input.n; k++) {
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
  /* A function is checked as it is called. */
  tsanom_status status = c->input.points   ? check_points(&c->input, &c->exec)
                         : c->input.matrix ? check_matrix(&c->input, &c->exec)
                                           : TSANOM_OK;
  if (status < 0) return status;
  tsanom_exec team = c->exec;
  if (c->input.dimensions == 0) team.threads = 1;
  tsn_optics_progress *p = &c->progress;
  *p = (tsn_optics_progress){team, team, &c->exec, 0, 2 * (uint64_t)c->input.n};
  p->counting.poll_user = p->standing.poll_user = p;
  p->counting.poll = team.poll ? poll_counting : NULL;
  p->standing.poll = team.poll ? poll_standing : NULL;
  c->kernels = tsn_optics_kernels_at(c->exec.isa);
  if (c->options.search != TSANOM_OPTICS_SEARCH_TREE) gather(c);
  status = by_tree(c)
               ? tsn_optics_tree_order(&c->input, &c->options, p, c->tree, &c->result)
               : order_by_all(c);
  if (status == TSANOM_OK) copy_results(c);
  return status;
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
  c->out.eps = fmax(c->options.eps, DBL_TRUE_MIN); /* 0 in an ordering: the default */
  c->out.min_points = c->options.min_points;
  tsn_versioned_write(&ordering_type, c->ordering, &c->out);
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
