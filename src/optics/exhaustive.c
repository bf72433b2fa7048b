/* SPDX-License-Identifier: BSD-3-Clause */
/* OPTICS by computing all distances: for few points, many dimensions, and distances that
 * are not a metric. This is Prim's algorithm on a dense graph, without a heap:
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
#include <math.h>
#include <string.h>

#include "core/exec.h"
#include "core/fault.h"
#include "core/parallel.h"
#include "optics/optics_internal.h"

/* Number of coordinates to read for one point from which threads share them: 512 KiB, so
 * that a step of the order takes much longer than its barrier. And elements between what
 * two threads write, so that they do not share cache lines. */
enum { SHARED_COORDINATES = 1 << 16, APART = 32 };

/* One call. It is constant and shared by threads, so that what changes is behind
 * pointers. */
typedef struct {
  const tsn_optics_input *input;
  const tsanom_optics_options *options;
  const tsn_optics_kernels *kernels;
  const tsn_optics_exhaustive *scratch;
  const tsn_optics_result *result;
  const tsanom_exec *exec; /* for the fault of a caller's function */
  tsanom_status *rejected; /* the status of that fault, or TSANOM_OK */
} job;

void tsn_optics_exhaustive_layout(tsn_arena *arena, size_t n, size_t dimensions,
                                  size_t min_points, int threads,
                                  tsn_optics_exhaustive *scratch) {
  size_t padded, coordinates = 0, rows = 0, near = 0, queries = 0;
  size_t teams = (size_t)threads, at_once = teams * TSN_OPTICS_QUERIES;
  padded = (n + TSN_OPTICS_LANES - 1) / TSN_OPTICS_LANES * TSN_OPTICS_LANES;
  if (__builtin_mul_overflow(padded, dimensions, &coordinates) ||
      __builtin_mul_overflow(padded, at_once, &rows) ||
      __builtin_mul_overflow(dimensions, at_once, &queries) ||
      __builtin_mul_overflow(min_points + APART, teams, &near)) {
    arena->overflow = true;
  }
  scratch->row_length = padded;
  scratch->blocks = tsn_arena_take(arena, coordinates, sizeof(double));
  scratch->number = tsn_arena_take(arena, n, sizeof(uint32_t));
  scratch->reach = tsn_arena_take(arena, n, sizeof(double));
  scratch->from = tsn_arena_take(arena, n, sizeof(uint32_t));
  scratch->limit = tsn_arena_take(arena, n, sizeof(double));
  scratch->query = tsn_arena_take(arena, queries, sizeof(double));
  scratch->distance = tsn_arena_take(arena, rows, sizeof(double));
  scratch->nearest = tsn_arena_take(arena, near, sizeof(double));
  scratch->candidate = tsn_arena_take(arena, teams * APART, sizeof *scratch->candidate);
}

/* A coordinate of the point at a place, in the layout of optics_kernel.h. */
static double *lane(const job *j, size_t place, size_t coordinate) {
  size_t dimensions = j->input->dimensions, block = place / TSN_OPTICS_LANES;
  return j->scratch->blocks + (block * dimensions + coordinate) * TSN_OPTICS_LANES +
         place % TSN_OPTICS_LANES;
}

/* Copy all points to the blocks of unprocessed ones. */
static void gather(const job *j) {
  const tsn_optics_input *in = j->input;
  for (size_t i = 0; i < in->n; i++) {
    j->scratch->number[i] = (uint32_t)i;
    for (size_t c = 0; c < in->dimensions; c++) {
      *lane(j, i, c) = in->points[i * in->ld + c];
    }
  }
}

/* A distance of a matrix or function. A function is called by one thread, so that it need
 * not be safe for several, and always as (smaller, larger), so that it need not be
 * symmetric in its rounding. A condensed matrix holds the rows above the diagonal, n - 1
 * distances of point 0, n - 2 of point 1, and so on. */
static double given(const job *j, size_t a, size_t b) {
  const tsn_optics_input *in = j->input;
  if (a == b) return 0;
  size_t low = a < b ? a : b, high = a < b ? b : a;
  if (in->matrix) {
    return in->ld ? in->matrix[low * in->ld + high]
                  : in->matrix[low * (2 * in->n - low - 1) / 2 + high - low - 1];
  }
  double d = in->function(in->user, low, high);
  *j->rejected = tsn_optics_check_distance(d);
  if (*j->rejected < 0) {
    tsn_reject_value(j->exec, *j->rejected, "distance", low, high, d,
                     TSN_OPTICS_A_DISTANCE);
  }
  return d;
}

/* Whether raw distances are squares. */
static int squared(const job *j) {
  return j->input->points && j->options->metric == TSANOM_OPTICS_EUCLIDEAN;
}

static size_t blocks_of(size_t count) {
  return (count + TSN_OPTICS_LANES - 1) / TSN_OPTICS_LANES;
}

/* Raw distances from point p to the unprocessed points in places [begin, end); `begin`
 * starts a block. */
static void distances(const job *j, size_t p, size_t begin, size_t end,
                      double *distance) {
  const tsn_optics_input *in = j->input;
  if (in->points) {
    j->kernels->row[j->options->metric](j->scratch->blocks + begin * in->dimensions,
                                        blocks_of(end - begin), in->dimensions,
                                        in->points + p * in->ld, distance);
    return;
  }
  for (size_t i = begin; i < end && !*j->rejected; i++) {
    distance[i - begin] = given(j, p, j->scratch->number[i]);
  }
}

/* Raw distances from the TSN_OPTICS_QUERIES points from p to all points. */
static void distances_of_several(const job *j, size_t p, double *query,
                                 double *distance) {
  const tsn_optics_input *in = j->input;
  for (size_t q = 0; q < TSN_OPTICS_QUERIES; q++) {
    for (size_t c = 0; c < in->dimensions; c++) {
      query[c * TSN_OPTICS_QUERIES + q] = in->points[(p + q) * in->ld + c];
    }
  }
  j->kernels->rows[j->options->metric](j->scratch->blocks, blocks_of(in->n),
                                       in->dimensions, query, distance,
                                       j->scratch->row_length);
}

/* Core distances of the points [begin, end): a body of tsn_parallel_for. Points go four
 * at a time, which read each block once: 10,000 points in 14 dimensions singly take 1.4
 * (AVX-512) to 1.7 times (AVX2) as long, Zen 5. The remainder and given distances go singly.
 * Chunks of 16 keep the groups of four together. */
static void core_distances(void *context, size_t begin, size_t end, int thread) {
  const job *j = context;
  const tsn_optics_exhaustive *s = j->scratch;
  size_t n = j->input->n, k = j->options->min_points, index = (size_t)thread, several;
  double *distance = s->distance + index * TSN_OPTICS_QUERIES * s->row_length;
  double *query = s->query + index * TSN_OPTICS_QUERIES * j->input->dimensions;
  double *nearest = s->nearest + index * (k + APART);
  for (size_t p = begin; p < end; p += several) {
    several = j->input->points && end - p >= TSN_OPTICS_QUERIES ? TSN_OPTICS_QUERIES : 1;
    if (several > 1) {
      distances_of_several(j, p, query, distance);
    } else {
      distances(j, p, 0, n, distance);
    }
    if (*j->rejected) return;
    for (size_t q = 0; q < several; q++) {
      const double *row = distance + q * s->row_length;
      double core = j->kernels->kth_smallest(row, n, k, nearest);
      if (squared(j)) core = sqrt(core);
      j->result->core[p + q] = core <= j->options->eps ? core : INFINITY;
    }
  }
}

/* Replace an unprocessed point by the last of `count`. */
static void drop(const job *j, size_t place, size_t count) {
  const tsn_optics_exhaustive *s = j->scratch;
  size_t last = count - 1;
  s->number[place] = s->number[last];
  s->reach[place] = s->reach[last];
  s->from[place] = s->from[last];
  s->limit[place] = s->limit[last];
  for (size_t c = 0; c < j->input->dimensions; c++)
    *lane(j, place, c) = *lane(j, last, c);
}

/* Improve the reachability of places [begin, end) through the point p just processed;
 * `begin` starts a block. A point that is not a core point improves none. An improvement
 * must be strict: of equal keys the first processed point is the predecessor. */
static void reach_from(const job *j, uint32_t p, size_t begin, size_t end) {
  const tsn_optics_exhaustive *s = j->scratch;
  double core = j->result->core[p], eps = j->options->eps;
  if (core == INFINITY || begin == end) return;
  distances(j, p, begin, end, s->distance + begin);
  if (*j->rejected) return;
  for (size_t i = begin; i < end; i++) {
    if (!(s->distance[i] <= s->limit[i]) || core >= s->reach[i]) continue;
    double d = squared(j) ? sqrt(s->distance[i]) : s->distance[i];
    double reach = core > d ? core : d;
    if (reach < s->reach[i] && d <= eps) {
      s->reach[i] = reach;
      s->limit[i] = tsn_optics_raw_limit(reach, squared(j));
      s->from[i] = p;
    }
  }
}

/* The point of places [begin, end) to process next; drop() has shuffled the indices. */
static tsn_optics_candidate choose(const job *j, size_t begin, size_t end) {
  const tsn_optics_exhaustive *s = j->scratch;
  tsn_optics_candidate best = {INFINITY, TSN_OPTICS_NONE, end};
  for (size_t i = begin; i < end; i++) {
    double reach = s->reach[i];
    if (reach < best.reach || (reach == best.reach && s->number[i] < best.number)) {
      best = (tsn_optics_candidate){reach, s->number[i], i};
    }
  }
  return best;
}

/* One step of the order, on several threads: improve the first `count` unprocessed points
 * through p, and find the next point. */
typedef struct {
  const job *job;
  uint32_t p;
  size_t count;
  int threads;
} step;

static void reach_and_choose(void *context, int thread, int threads) {
  step *s = context;
  size_t blocks = blocks_of(s->count), share = (size_t)thread, shares = (size_t)threads;
  size_t begin = blocks * share / shares * TSN_OPTICS_LANES;
  size_t end = blocks * (share + 1) / shares * TSN_OPTICS_LANES;
  if (end > s->count) end = s->count;
  reach_from(s->job, s->p, begin, end);
  s->job->scratch->candidate[share * APART] = choose(s->job, begin, end);
  if (thread == 0) s->threads = threads;
}

/* Each thread chooses among its own places, and the calling thread among their choices by
 * the same rule: the result does not depend on how the places are divided. */
static tsn_optics_candidate next_of(const job *j, uint32_t p, size_t count) {
  step s = {.job = j, .p = p, .count = count};
  bool share = count * j->input->dimensions >= SHARED_COORDINATES;
  tsn_team_run(share ? j->exec->threads : 1, reach_and_choose, &s);
  tsn_optics_candidate best = j->scratch->candidate[0];
  for (size_t t = 1; t < (size_t)s.threads; t++) {
    tsn_optics_candidate other = j->scratch->candidate[t * APART];
    bool sooner = other.reach < best.reach ||
                  (other.reach == best.reach && other.number < best.number);
    if (sooner) best = other;
  }
  return best;
}

/* The first point is the one with index 0, which has no reachability, as for every point
 * that starts a component. */
static tsanom_status order_all(const job *j) {
  const tsn_optics_exhaustive *s = j->scratch;
  const tsn_optics_result *r = j->result;
  size_t n = j->input->n;
  for (size_t i = 0; i < n; i++) {
    s->reach[i] = INFINITY;
    s->from[i] = TSN_OPTICS_NONE;
    s->limit[i] = tsn_optics_raw_limit(j->options->eps, squared(j));
  }
  tsn_optics_candidate next = {INFINITY, 0, 0};
  for (size_t k = 0; k < n; k++) {
    if (tsn_exec_stop(j->exec, k, n)) return TSANOM_STOPPED;
    r->order[k] = next.number;
    r->reachability[k] = next.reach;
    r->predecessor[k] = s->from[next.place];
    drop(j, next.place, n - k);
    next = next_of(j, next.number, n - k - 1);
    if (*j->rejected) return *j->rejected;
  }
  return TSANOM_OK;
}

tsanom_status tsn_optics_exhaustive_order(const tsn_optics_input *input,
                                          const tsanom_optics_options *options,
                                          tsn_optics_progress *progress,
                                          const tsn_optics_exhaustive *scratch,
                                          const tsn_optics_result *result) {
  const tsanom_exec *exec = &progress->counting;
  tsanom_status rejected = TSANOM_OK;
  job j = {input, options,  tsn_optics_kernels_at(exec->isa), scratch, result,
           exec,  &rejected};
  gather(&j);
  tsanom_status status = TSANOM_OK;
  if (input->points && options->min_points == 1) {
    memset(result->core, 0, input->n * sizeof *result->core); /* of itself */
  } else {
    status = tsn_parallel_for(exec, input->n, 16, core_distances, &j, NULL);
  }
  if (status == TSANOM_OK) status = rejected;
  if (status != TSANOM_OK) return status;
  progress->before = input->n;
  return order_all(&j);
}
