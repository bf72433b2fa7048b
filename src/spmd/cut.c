/* SPDX-License-Identifier: BSD-3-Clause */
/* Distances of the points: the largest one, and the one that separates classes. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/exec.h"
#include "core/size.h"
#include "spmd/spmd_internal.h"
#include "spmd/spmd_kernel.h"

/* The largest distance of two points. Two points are no farther apart than the sum of
 * their distances to the centroid, their radii: in falling order of these, most pairs
 * need not be looked at. Once a pair of distance D is known, only pairs whose radii sum
 * to D or more remain:
 *
 *            i ->                  tile j of 64 points against the points i up to it;
 *     j    # # # # .   .           a row ends where r_i + r_j < D, the search where
 *     |    # # # . . .             r_0 + r_j < D
 *     v    # # .  . . .
 *
 * Tiles are transposed, so that one vector has a coordinate of 8 points. All points may
 * be equally far from the centroid because many are equal: of these, one is kept. Without
 * the order an analysis takes up to 5.8 times as long (row `bench_growth_two`), without
 * the removal of equal points 10 times (`bench_growth_two_equal`, 12,500; Zen 5).
 *
 * In many dimensions, points with independent noise are all about as far from the
 * centroid, 2 r is far above D, and no pair is excluded. An exact search is then
 * quadratic by any known method. So WORK limits the coordinates that are compared. Beyond
 * it only the SPOKES outermost points are compared with the others. The squares of the
 * distances of point 0 have the mean r_0^2 + mean r_j^2, so that
 *
 *     sqrt(r_0^2 + mean r_j^2) <= result <= D <= 2 r_0
 *
 * and the result is at least D / 2, of radii that are about equal D / sqrt(2). All pairs
 * of the outermost points are among those compared, and so it is mostly far nearer. */

/* Points that is_measured() remembers. */
enum { MEASURED = 8 };

/* Outermost points that are compared with all. */
enum { SPOKES = 8 };

/* Coordinates that are compared: about 0.5 s on Zen 5. 6,400 points in 200 dimensions. */
static const double work_most = 0x1p32;

/* Whether a point equals one of the last of these. Equal points have equal radii, so that
 * they follow each other. */
static bool is_measured(const tsn_spmd_points *p, const double *radius,
                        const uint32_t *kept, size_t count, uint32_t point) {
  size_t row = p->stride * sizeof *p->at;
  for (size_t k = count; k-- > 0 && count - k <= MEASURED;) {
    if (radius[kept[k]] == radius[point] &&
        memcmp(p->at + kept[k] * p->stride, p->at + point * p->stride, row) == 0) {
      return true;
    }
  }
  return false;
}

/* The distance of each point from the middle. */
static void find_radii(const tsn_spmd_points *p, double *radius) {
  double *centroid = p->centroid;
  memset(centroid, 0, p->stride * sizeof *centroid);
  for (size_t i = 0; i < p->count; i++) {
    for (size_t d = 0; d < p->stride; d++) centroid[d] += p->at[i * p->stride + d];
  }
  tsn_spmd_poll(p->watch, p->count * p->stride);
  for (size_t d = 0; d < p->stride; d++) centroid[d] /= (double)p->count;
  for (size_t i = 0; i < p->count; i++) {
    radius[i] = sqrt(tsn_spmd_square_distance(p->at + i * p->stride, centroid, p->weight,
                                              p->stride, INFINITY));
  }
}

/* Sort the points by falling radius into `queued`, one of equal ones. Returns their
 * number. */
static size_t sort_points(const tsn_spmd_points *p, const double *radius) {
  for (size_t i = 0; i < p->count; i++) p->queued[i] = (uint32_t)i;
  tsn_spmd_sort(radius, p->queued, p->count);
  size_t count = 0;
  for (size_t i = 0; i < p->count; i++) {
    uint32_t point = p->queued[i];
    if (!is_measured(p, radius, p->queued, count, point)) p->queued[count++] = point;
  }
  return count;
}

/* Transpose the points from the first one on; the last one fills what is left. */
static void fill_tile(const tsn_spmd_points *p, size_t first, size_t count) {
  for (size_t j = 0; j < TSN_SPMD_TILE; j++) {
    size_t from = first + j < count ? first + j : count - 1;
    const double *row = p->at + p->queued[from] * p->stride;
    double *lane = p->tile + j / TSN_SPMD_LANES * p->stride * TSN_SPMD_LANES;
    for (size_t d = 0; d < p->stride; d++) {
      lane[d * TSN_SPMD_LANES + j % TSN_SPMD_LANES] = row[d];
    }
  }
}

double tsn_spmd_diameter(const tsn_spmd_points *p, double *radius) {
  const tsn_spmd_kernels *kernels = tsn_spmd_kernels_at(p->isa);
  const double slack = 1 + 1e-12; /* for the rounding of the radii */
  const size_t step = TSN_SPMD_TILE * p->stride;
  find_radii(p, radius);
  size_t count = sort_points(p, radius);
  double best = 0, work = 0;
  for (size_t first = 0; first < count; first += TSN_SPMD_TILE) {
    double reach = radius[p->queued[first]];
    size_t last = first + TSN_SPMD_TILE < count ? first + TSN_SPMD_TILE : count;
    if (work > work_most && last > SPOKES) last = SPOKES;
    fill_tile(p, first, count);
    for (size_t i = 0; i < last; i++) {
      double bound = reach + radius[p->queued[i]];
      if (bound * bound * slack < best) {
        if (i == 0) return sqrt(best);
        break;
      }
      if (tsn_spmd_poll(p->watch, step)) return sqrt(best);
      best = fmax(
          best, kernels->farthest(p->tile, p->at + p->queued[i] * p->stride, p->stride));
      work += (double)step;
    }
  }
  return sqrt(best);
}

/* The distance eps' of the automatic cut: OPTICS over the points with MinPts = 1, and the
 * gap of its reachabilities that chance does not explain.
 *
 * With MinPts = 1 the reachabilities are the edges of a minimum spanning tree, so that
 * cutting them at eps' is single linkage; a single slow process is then a class of its
 * own and not noise. The test of the gap is that of tsanom_optics_split(). It has no
 * scale, so it ignores noise of any size; but it compares steps with each other, and
 * cannot separate processes that all differ by about as much. */

/* Every point is a core point at distance 0. */
static tsanom_optics_options single_linkage(void) {
  tsanom_optics_options o;
  tsanom_optics_options_init(&o, sizeof o);
  o.min_points = 1;
  return o;
}

/* Order and split run one after the other, in the larger of their workspaces. */
tsanom_status tsn_spmd_optics_bytes(const tsn_spmd_input *input, size_t *bytes) {
  size_t processes = input->data.processes, order, split;
  size_t dimensions = tsn_round_up(input->data.regions + 1, 8);
  tsanom_optics_options o = single_linkage();
  tsanom_optics_ordering ordering = {.struct_size = sizeof ordering, .n = processes};
  tsanom_exec asking = tsn_exec_asking(&input->inner, &order);
  tsanom_status status = tsn_asked(
      tsanom_optics_order(NULL, processes, dimensions, dimensions, &o, &asking, NULL));
  if (status < 0) return status;
  asking.work_needed = &split;
  status =
      tsn_asked(tsanom_optics_split(&ordering, NULL, &asking, NULL, NULL, NULL, NULL));
  if (status >= 0) *bytes = tsn_larger(order, split);
  return status;
}

static tsanom_optics_ordering ordering_of(const tsn_spmd_optics *optics) {
  tsanom_optics_ordering ordering = {.struct_size = sizeof ordering, .eps = INFINITY};
  ordering.order = optics->order;
  ordering.reachability = optics->reachability;
  ordering.core_distance = optics->core;
  return ordering;
}

/* Without the free coordinate and those that fill the stride: all 0, they would change no
 * distance, only the search that optics chooses. 20,000 processes in 5 regions take a
 * third of the time. */
tsanom_status tsn_spmd_order(const tsn_spmd_input *input, const tsn_spmd_points *points,
                             size_t columns, tsn_spmd_optics *optics) {
  tsanom_optics_options o = single_linkage();
  tsanom_optics_ordering ordering = ordering_of(optics);
  return tsanom_optics_order(points->at + 1, points->count, tsn_larger(columns, 1),
                             points->stride, &o, &input->inner, &ordering);
}

/* `slack`: by how much of it the limits of the test are wider. */
static tsanom_status cut(const tsn_spmd_input *input, tsn_spmd_optics *optics,
                         double resolution, double slack, double *eps) {
  tsanom_optics_split_options o;
  tsanom_optics_split_options_init(&o, sizeof o);
  o.resolution = resolution * (1 - slack);
  o.significance *= 1 + slack;
  size_t clusters = 0;
  tsanom_optics_ordering ordering = ordering_of(optics);
  ordering.n = input->data.processes;
  tsanom_status status = tsanom_optics_split(&ordering, &o, &input->inner, optics->label,
                                             &clusters, eps, NULL);
  if (clusters <= 1) *eps = INFINITY;
  return status;
}

tsanom_status tsn_spmd_cut(const tsn_spmd_input *input, tsn_spmd_optics *optics,
                           double resolution, double *eps) {
  return cut(input, optics, resolution, 0, eps);
}

/* Whether the points are found to be one class at the resolution, in a part of the time
 * of the order: then each of its steps is at most the resolution, and the automatic cut
 * finds no gap. */
static bool is_one_class(tsn_spmd_buffers *b, double resolution) {
  enum { COMPARISONS = 16 };     /* of a point */
  const double slack = 1 - 1e-9; /* for the rounding of distances */
  tsn_spmd_watch *watch = &b->watch;
  b->points.limit = resolution * resolution * slack;
  watch->most = COMPARISONS * b->points.count;
  bool is_one = tsn_spmd_classify(&b->points, b->trial) == 1;
  watch->most = watch->compared = 0;
  return is_one;
}

/* Mostly a gap can be excluded without the order of all points:
 *
 *        . ::::.     .      Most points are one class at a distance `least` below the
 *       .:::::::. .         resolution. From this class, as one node, Prim's algorithm
 *         :::::.    .       goes to each point outside of it: its steps above `least` are
 *                           those of the order.
 *
 * Only gaps that end above the resolution are tested. For one of them to count, both tests
 * of tsanom_optics_split() must exclude chance, and the second one looks at TAIL steps
 * below the gap at most. With these known, and almost 0 in place of the others, the first
 * test finds each gap less probable than it is: if none counts then, none does. Of 240
 * random programs of one kind 9 needed the order in spite of that. */
enum { TAIL = 31, OUTSIDE = 1024, PROCESSES = 1024, ATTEMPTS = 4 };

/* `square` is that of each point's distance from the class, and becomes that of its step. */
static void find_steps(const tsn_spmd_points *p, size_t count, int32_t *outside,
                       double *square) {
  for (size_t k = 0; k < count; k++) {
    size_t next = k;
    for (size_t i = k; i < count; i++) next = square[i] < square[next] ? i : next;
    const double *at = p->at + (size_t)outside[next] * p->stride;
    double step = square[next];
    outside[next] = outside[k];
    square[next] = square[k];
    square[k] = step;
    for (size_t i = k + 1; i < count; i++) {
      double other = tsn_spmd_square_distance(at, p->at + (size_t)outside[i] * p->stride,
                                              p->weight, p->stride, square[i]);
      square[i] = other < square[i] ? other : square[i];
    }
  }
}

bool tsn_spmd_has_no_gap(const tsn_spmd_input *input, tsn_spmd_buffers *b,
                         double resolution) {
  const double slack = 1e-9; /* for the rounding of distances */
  const double share = 0.7;  /* of a distance, for the next attempt */
  tsn_spmd_points *p = &b->points;
  tsn_spmd_optics *optics = &b->optics;
  double *step = optics->reachability + 1, least = resolution, eps;
  size_t outside = 0, below = 0;
  if (is_one_class(b, resolution)) return true;
  if (p->count < PROCESSES) return false; /* the order takes no longer */
  find_radii(p, b->key);
  tsn_spmd_sort_outward(p, b->key);
  for (int attempt = 0; below < TAIL; attempt++) {
    if (attempt == ATTEMPTS) return false;
    least *= share;
    p->limit = least * least;
    outside = tsn_spmd_gather_class(p, OUTSIDE, b->trial, optics->label, step);
    if (outside > OUTSIDE || p->watch->stopped) return false;
    find_steps(p, outside, optics->label, step);
    size_t above = 0;
    below = 0;
    for (size_t k = 0; k < outside; k++) {
      step[k] = sqrt(step[k]);
      bool is_above = step[k] > resolution * (1 - slack);
      above += is_above;
      below += !is_above && step[k] > least * (1 + slack);
    }
    if (above == 0) return true;
  }
  for (size_t k = 0; k < p->count; k++) {
    optics->order[k] = k;
    optics->core[k] = 0;
    if (k > outside) optics->reachability[k] = DBL_MIN;
  }
  optics->reachability[0] = INFINITY;
  return cut(input, optics, resolution, slack, &eps) == TSANOM_OK && eps == INFINITY;
}
