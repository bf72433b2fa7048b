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
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "core/exec.h"
#include "core/fault.h"
#include "core/parallel.h"
#include "core/size.h"
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
  size_t teams = (size_t)threads, at_once = teams * TSN_OPTICS_QUERIES;
  size_t padded = tsn_round_up(n, TSN_OPTICS_LANES);
  scratch->row_length = padded;
  scratch->blocks =
      tsn_arena_take(arena, tsn_product(padded, dimensions), sizeof(double));
  scratch->number = tsn_arena_take(arena, n, sizeof(uint32_t));
  scratch->reach = tsn_arena_take(arena, n, sizeof(double));
  scratch->from = tsn_arena_take(arena, n, sizeof(uint32_t));
  scratch->limit = tsn_arena_take(arena, n, sizeof(double));
  scratch->query =
      tsn_arena_take(arena, tsn_product(dimensions, at_once), sizeof(double));
  scratch->distance = tsn_arena_take(arena, tsn_product(padded, at_once), sizeof(double));
  scratch->nearest =
      tsn_arena_take(arena, tsn_product(min_points + APART, teams), sizeof(double));
  scratch->candidate = tsn_arena_take(arena, teams * APART, sizeof *scratch->candidate);
}

/* A coordinate of the point at a place, in the layout of optics_internal.h. */
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

/* The order in progress. The calling thread takes the next point; then all threads improve
 * a share of the unprocessed points through it, and each chooses among its own. One team
 * does all steps, and waits by itself: with a parallel region for each step and threads
 * that sleep between them (OMP_WAIT_POLICY=passive), two threads took 1.4 times as long as
 * one for 20,000 points in 10 dimensions (Zen 5). Where another program uses one of the
 * processors, each step would wait for it: the calling thread then goes on alone. */
typedef struct {
  const job *job;
  tsn_optics_candidate next;
  _Atomic size_t begun;   /* steps whose point is in the order */
  _Atomic size_t arrived; /* shares that other threads have done, of all steps */
  _Atomic int alone;      /* the other threads end */
  size_t late;            /* steps in which one of them did not come soon */
  bool is_stopped;
} ordering;

/* Wait until the count is reached, or for no longer than `alone` is 0; whether that was
 * soon. It spins for some steps before it yields: a thread that yields on a busy machine
 * may not run for milliseconds. */
static bool wait_for(const ordering *o, const _Atomic size_t *count, size_t wanted) {
  enum { SPINS = 20000 };
  int spins = 0;
  while (atomic_load_explicit(count, memory_order_acquire) < wanted &&
         !atomic_load_explicit(&o->alone, memory_order_relaxed)) {
    if (++spins > SPINS) sched_yield();
  }
  return spins <= SPINS;
}

/* Put the next point into the order, at position k. */
static void take_next(ordering *o, size_t k) {
  const tsn_optics_result *r = o->job->result;
  r->order[k] = o->next.number;
  r->reachability[k] = o->next.reach;
  r->predecessor[k] = o->job->scratch->from[o->next.place];
  drop(o->job, o->next.place, o->job->input->n - k);
}

/* Share `share` of `shares` of the step after `count` points were left unprocessed. */
static void reach_and_choose(const job *j, uint32_t p, size_t count, size_t share,
                             size_t shares) {
  size_t blocks = blocks_of(count);
  size_t begin = blocks * share / shares * TSN_OPTICS_LANES;
  size_t end = blocks * (share + 1) / shares * TSN_OPTICS_LANES;
  if (end > count) end = count;
  reach_from(j, p, begin, end);
  j->scratch->candidate[share * APART] = choose(j, begin, end);
}

/* The choice among those of the threads, by the same rule: the result does not depend on
 * how the places are divided. */
static tsn_optics_candidate best_of(const tsn_optics_candidate *candidate,
                                    size_t shares) {
  tsn_optics_candidate best = candidate[0];
  for (size_t t = 1; t < shares; t++) {
    tsn_optics_candidate other = candidate[t * APART];
    bool sooner = other.reach < best.reach ||
                  (other.reach == best.reach && other.number < best.number);
    if (sooner) best = other;
  }
  return best;
}

/* Whether a step takes long enough to be shared; once it does not, later ones do not. */
static bool is_shared(const job *j, size_t count) {
  return count * j->input->dimensions >= SHARED_COORDINATES;
}

/* What the other threads do. */
static void help(ordering *o, size_t share, size_t shares) {
  const job *j = o->job;
  size_t n = j->input->n;
  for (size_t k = 0; is_shared(j, n - k - 1); k++) {
    (void)wait_for(o, &o->begun, k + 1);
    if (atomic_load_explicit(&o->alone, memory_order_relaxed)) return;
    reach_and_choose(j, j->result->order[k], n - k - 1, share, shares);
    atomic_fetch_add_explicit(&o->arrived, 1, memory_order_release);
  }
}

static void order_some(void *context, int thread, int threads) {
  enum { LATE = 8, STEPS_PER_LATE = 128 };
  ordering *o = context;
  const job *j = o->job;
  size_t n = j->input->n, shares = (size_t)threads;
  if (thread > 0) {
    help(o, (size_t)thread, shares);
    return;
  }
  for (size_t k = 0; k < n && !*j->rejected; k++) {
    size_t count = n - k - 1;
    o->is_stopped = tsn_exec_stop_all(j->exec, k, n, &o->alone);
    if (o->is_stopped) return;
    take_next(o, k);
    if (shares > 1 && o->late > LATE + k / STEPS_PER_LATE) {
      atomic_store_explicit(&o->alone, 1, memory_order_relaxed);
    }
    if (!is_shared(j, count) || atomic_load_explicit(&o->alone, memory_order_relaxed)) {
      shares = 1;
    }
    if (shares > 1) atomic_store_explicit(&o->begun, k + 1, memory_order_release);
    reach_and_choose(j, j->result->order[k], count, 0, shares);
    if (shares > 1) o->late += !wait_for(o, &o->arrived, (k + 1) * (shares - 1));
    o->next = best_of(j->scratch->candidate, shares);
  }
}

/* The first point is the one with index 0, which has no reachability, as for every point
 * that starts a component. */
static tsanom_status order_all(const job *j) {
  const tsn_optics_exhaustive *s = j->scratch;
  size_t n = j->input->n;
  for (size_t i = 0; i < n; i++) {
    s->reach[i] = INFINITY;
    s->from[i] = TSN_OPTICS_NONE;
    s->limit[i] = tsn_optics_raw_limit(j->options->eps, squared(j));
  }
  ordering o = {.job = j, .next = {INFINITY, 0, 0}};
  tsn_team_run(is_shared(j, n) ? j->exec->threads : 1, order_some, &o);
  return o.is_stopped ? TSANOM_STOPPED : *j->rejected;
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
