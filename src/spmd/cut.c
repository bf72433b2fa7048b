/* SPDX-License-Identifier: BSD-3-Clause */
/* Distances of the points: the largest one, and the one that separates classes. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/exec.h"
#include "core/size.h"
#include "core/sort.h"
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

/* The distance of each point from the middle of its core, of which there are `cores`;
 * INFINITY without one. NULL: all points are of one. */
static void find_radii(const tsn_spmd_points *p, const int32_t *core_of, size_t cores,
                       double *radius) {
  double *middle = p->tile, count[TSN_SPMD_CORES] = {0};
  memset(middle, 0, cores * p->stride * sizeof *middle);
  for (size_t i = 0; i < p->count; i++) {
    int32_t core = core_of ? core_of[i] : 0;
    if (core < 0) continue;
    double *sum = middle + (size_t)core * p->stride;
    for (size_t d = 0; d < p->stride; d++) sum[d] += p->at[i * p->stride + d];
    count[core]++;
  }
  tsn_spmd_poll(p->watch, p->count * p->stride);
  for (size_t c = 0; c < cores; c++) {
    for (size_t d = 0; d < p->stride; d++) middle[c * p->stride + d] /= count[c];
  }
  for (size_t i = 0; i < p->count; i++) {
    int32_t core = core_of ? core_of[i] : 0;
    radius[i] = INFINITY;
    if (core < 0) continue;
    radius[i] = sqrt(tsn_spmd_square_distance(p->at + i * p->stride,
                                              middle + (size_t)core * p->stride,
                                              p->weight, p->stride, INFINITY));
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
  find_radii(p, NULL, 1, radius);
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

static tsanom_status cut(const tsn_spmd_input *input, tsn_spmd_optics *optics,
                         double resolution, double significance, double *eps,
                         double *probability) {
  tsanom_optics_split_options o;
  tsanom_optics_split_options_init(&o, sizeof o);
  o.resolution = resolution;
  o.significance *= significance;
  size_t clusters = 0;
  tsanom_optics_ordering ordering = ordering_of(optics);
  ordering.n = input->data.processes;
  tsanom_status status = tsanom_optics_split(&ordering, &o, &input->inner, optics->label,
                                             &clusters, eps, probability);
  if (clusters <= 1) *eps = INFINITY;
  return status;
}

tsanom_status tsn_spmd_cut(const tsn_spmd_input *input, tsn_spmd_optics *optics,
                           double resolution, double *eps) {
  return cut(input, optics, resolution, 1, eps, NULL);
}

/* Mostly the cut is known without the order of all points:
 *
 *      . ::::.     .      ::.     Most points are in few cores, each of which is one class
 *     .:::::::. .        ::::.    at a distance `least` below the resolution. Prim's
 *       :::::.    .       :::     algorithm goes from core to core and to each point outside
 *                                 of them: its steps above `least` are those of the order.
 *
 * Only gaps that end above the resolution are tested. For one of them to count, both tests
 * of tsanom_optics_split() must exclude chance, and the second one looks at TAIL steps
 * below the gap at most. What is not known is at most `least`. With almost 0 in its place the
 * first test finds each gap less probable than it is: if none counts then, none does. With
 * `least` in its place, and taken for the unit of rounded coordinates, it finds each gap more
 * probable: if the first one counts then, and is less probable than the others are found with
 * almost 0, it is the one that counts.
 *
 * Without this, 20,000 processes of two kinds in 5 regions take 4 to 15 times as long (Zen 4).
 * Of 240 random programs of one kind 9 needed the order. */
enum { TAIL = 31, OUTSIDE = 1024, PROCESSES = 1024, ATTEMPTS = 4 };

/* The outermost points of cores, and how many of these are outside at the first attempt. */
enum { OUTERMOST = 1024, ISOLATED = 40 };

/* Distances to compute, for each point: for the classes at the resolution, and for steps. */
enum { OF_CLASSES = 16, OF_STEPS = 512 };

/* The classes of at least 1/32 of all points become cores, of which it returns the number. If
 * the classes are not known, there is one core. */
static size_t choose_cores(const tsn_spmd_points *p, size_t classes, int32_t *core_of) {
  uint32_t *size = p->queued;
  size_t cores = 0;
  memset(size, 0, p->count * sizeof *size);
  if (classes == 0) memset(core_of, 0, p->count * sizeof *core_of);
  for (size_t i = 0; i < p->count; i++) size[core_of[i]]++;
  for (size_t c = 0; c < tsn_larger(classes, 1); c++) {
    bool is_core = (size_t)size[c] * TSN_SPMD_CORES >= p->count;
    size[c] = is_core ? (uint32_t)cores++ : UINT32_MAX;
  }
  for (size_t i = 0; i < p->count; i++) {
    uint32_t core = size[core_of[i]];
    core_of[i] = core == UINT32_MAX ? -1 : (int32_t)core;
  }
  return cores;
}

/* A distance from all others that some of the outermost points of cores exceed. Their
 * steps exceed it, too. */
static double isolating(tsn_spmd_buffers *b) {
  const tsn_spmd_points *p = &b->points;
  double *square = b->optics.reachability;
  size_t count = 0;
  for (size_t i = 0; i < p->count && count < OUTERMOST; i++) {
    uint32_t point = p->queued[i];
    int32_t core = b->trial[point];
    if (core < 0) continue;
    b->trial[point] = -1;
    square[count++] = tsn_spmd_square_from_core(p, b->trial, -1, point, INFINITY);
    b->trial[point] = core;
  }
  size_t place = count > ISOLATED ? count - 1 - ISOLATED : 0;
  tsn_select(square, count, place);
  return sqrt(square[place]);
}

/* The boxes around the cores: low and high corner of each. */
static void find_boxes(const tsn_spmd_points *p, const int32_t *core_of, size_t cores) {
  for (size_t c = 0; c < cores; c++) {
    double *low = p->tile + 2 * c * p->stride, *high = low + p->stride;
    for (size_t d = 0; d < p->stride; d++) {
      low[d] = INFINITY;
      high[d] = -INFINITY;
    }
  }
  for (size_t i = 0; i < p->count; i++) {
    if (core_of[i] < 0) continue;
    double *low = p->tile + 2 * (size_t)core_of[i] * p->stride, *high = low + p->stride;
    for (size_t d = 0; d < p->stride; d++) {
      double x = p->at[i * p->stride + d];
      low[d] = x < low[d] ? x : low[d];
      high[d] = x > high[d] ? x : high[d];
    }
  }
}

/* The square of the distance of a point from the box around a core. */
static double square_from_box(const tsn_spmd_points *p, int32_t core, size_t point) {
  const double *low = p->tile + 2 * (size_t)core * p->stride, *high = low + p->stride;
  double sum = 0;
  for (size_t d = 0; d < p->stride; d++) {
    double x = p->at[point * p->stride + d];
    double beyond = x < low[d] ? low[d] - x : x - high[d];
    sum += beyond > 0 ? beyond * beyond : 0;
  }
  return sum;
}

/* The least square of a step between two cores, or `least` if none is less. The point nearest
 * to the box around the other core comes first: few others are near enough then. */
static double square_of_cores(const tsn_spmd_buffers *b, int32_t from, int32_t to,
                              double least) {
  const double slack = 1 + 1e-9; /* for the rounding of the distance from the box */
  const tsn_spmd_points *p = &b->points;
  double nearest = INFINITY;
  size_t first = 0;
  for (size_t i = 0; i < p->count; i++) {
    if (b->trial[i] != from) continue;
    b->key[i] = square_from_box(p, to, i);
    first = b->key[i] < nearest ? i : first;
    nearest = fmin(nearest, b->key[i]);
  }
  least = tsn_spmd_square_from_core(p, b->trial, to, (uint32_t)first, least);
  for (size_t i = 0; i < p->count; i++) {
    if (b->trial[i] != from || b->key[i] > least * slack) continue;
    least = tsn_spmd_square_from_core(p, b->trial, to, (uint32_t)i, least);
  }
  return least;
}

/* The same between two nodes of Prim's algorithm: point i is node i, core c node -1 - c. */
static double square_between(const tsn_spmd_buffers *b, int32_t x, int32_t y,
                             double least) {
  const tsn_spmd_points *p = &b->points;
  if (x < 0 && y < 0) return square_of_cores(b, -1 - x, -1 - y, least);
  if (x < 0 || y < 0) {
    int32_t core = -1 - (x < 0 ? x : y), point = x < 0 ? y : x;
    return tsn_spmd_square_from_core(p, b->trial, core, (uint32_t)point, least);
  }
  return fmin(least, tsn_spmd_square_step(p->at + (size_t)x * p->stride,
                                          p->at + (size_t)y * p->stride, p->stride));
}

/* The steps from core 0 to `count` other nodes. */
static void find_steps(const tsn_spmd_buffers *b, size_t count, int32_t *node,
                       double *step) {
  int32_t from = -1;
  for (size_t k = 0; k < count; k++) step[k] = INFINITY;
  for (size_t k = 0; k < count; k++) {
    size_t next = k;
    for (size_t i = k; i < count; i++) {
      step[i] = square_between(b, from, node[i], step[i]);
      next = step[i] < step[next] ? i : next;
    }
    double square = step[next];
    from = node[next];
    node[next] = node[k];
    step[next] = step[k];
    step[k] = sqrt(square);
  }
}

/* Steps in place of those that are not known, from `count` on. */
static void fill(tsn_spmd_optics *optics, size_t count, size_t processes, double value) {
  for (size_t k = count + 1; k < processes; k++) optics->reachability[k] = value;
}

/* Steps between the nodes, of which those above `least` are the steps of the order above it:
 * the numbers of those up to the resolution, and above it. */
typedef struct {
  size_t count, below, above;
  double least, low, high; /* low, high: the steps next to the resolution */
} known_steps;

static void count_steps(const double *step, double resolution, known_steps *k) {
  const double slack = 1 + 1e-9; /* for the rounding of distances */
  k->below = k->above = 0;
  k->low = 0;
  k->high = INFINITY;
  for (size_t i = 0; i < k->count; i++) {
    bool is_above = step[i] > resolution;
    k->above += is_above;
    k->below += !is_above && step[i] > k->least * slack;
    if (is_above) {
      k->high = fmin(k->high, step[i]);
    } else {
      k->low = fmax(k->low, step[i]);
    }
  }
}

/* Cut by the steps that are known; false: they do not suffice. */
static bool cut_by_known(const tsn_spmd_input *input, tsn_spmd_optics *optics,
                         double resolution, const known_steps *known, double *eps) {
  const double slack = 1e-9; /* for the rounding of sums */
  size_t processes = input->data.processes;
  double least = known->least * (1 + slack), probability, other, unused;
  if (known->count + 2 >= processes) return false;
  for (size_t k = 0; k < processes; k++) {
    optics->order[k] = k;
    optics->core[k] = 0;
  }
  optics->reachability[0] = INFINITY;
  fill(optics, known->count, processes, DBL_MIN);
  if (cut(input, optics, resolution, 1 + slack, eps, NULL) != TSANOM_OK) return false;
  if (*eps == INFINITY) return true;
  if (cut(input, optics, known->high, 1, &unused, &other) != TSANOM_OK) return false;
  for (size_t k = 1; k <= known->count; k++) {
    optics->reachability[k] = fmax(optics->reachability[k], least);
  }
  fill(optics, known->count, processes, least);
  optics->reachability[known->count + 1] = 0; /* so that `least` is the unit */
  if (cut(input, optics, resolution, 1 - slack, eps, &probability) != TSANOM_OK) {
    return false;
  }
  double first = known->low + (known->high - known->low) / 2;
  return *eps == fmax(first, resolution) && (known->above == 1 || probability < other);
}

/* The same, once the points are in cores and sorted outward. */
static bool cut_cores(const tsn_spmd_input *input, tsn_spmd_buffers *b, size_t cores,
                      double resolution, double *eps) {
  const double share = 0.7; /* of a distance, for the next attempt */
  tsn_spmd_points *p = &b->points;
  int32_t *node = b->optics.label;
  double *step = b->optics.reachability + 1;
  known_steps known = {.least = fmin(resolution * share, isolating(b))};
  for (int attempt = 0; known.below < TAIL; attempt++) {
    if (attempt > 0) known.least *= share;
    if (attempt == ATTEMPTS || known.least == 0) return false;
    p->limit = known.least * known.least;
    size_t outside = tsn_spmd_gather_cores(p, OUTSIDE, b->trial, node);
    if (outside > OUTSIDE || tsn_spmd_poll(p->watch, 0)) return false;
    known.count = outside + cores - 1;
    for (size_t c = 1; c < cores; c++) node[outside + c - 1] = -1 - (int32_t)c;
    find_boxes(p, b->trial, cores);
    find_steps(b, known.count, node, step);
    if (tsn_spmd_poll(p->watch, 0)) return false;
    count_steps(step, resolution, &known);
    if (known.above == 0) {
      *eps = INFINITY;
      return true;
    }
  }
  return cut_by_known(input, &b->optics, resolution, &known, eps);
}

bool tsn_spmd_cut_without_order(const tsn_spmd_input *input, tsn_spmd_buffers *b,
                                double resolution, double *eps) {
  const double slack = 1 - 1e-9; /* for the rounding of distances */
  tsn_spmd_points *p = &b->points;
  tsn_spmd_watch *watch = &b->watch;
  p->limit = resolution * resolution * slack;
  watch->most = OF_CLASSES * p->count;
  size_t classes = tsn_spmd_classify(p, b->trial);
  watch->most = watch->compared = 0;
  *eps = INFINITY;
  if (classes == 1) return true;
  if (p->count < PROCESSES || watch->stopped)
    return false; /* the order takes no longer */
  size_t cores = choose_cores(p, classes, b->trial);
  if (cores == 0) return false;
  find_radii(p, b->trial, cores, b->key);
  tsn_spmd_sort_outward(p, b->key);
  watch->most = OF_STEPS * p->count;
  bool is_known = cut_cores(input, b, cores, resolution, eps);
  watch->most = watch->compared = 0;
  return is_known;
}
