/* SPDX-License-Identifier: BSD-3-Clause */
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
#include <math.h>
#include <string.h>

#include "spmd/spmd_internal.h"
#include "spmd/spmd_kernel.h"

/* Points that is_measured() remembers. */
enum { MEASURED = 8 };

/* Outermost points that are compared with all. */
enum { SPOKES = 8 };

/* Coordinates that are compared: about 0.5 s on Zen 5. 6,400 points in 200 dimensions. */
static const double work_most = 0x1p32;

size_t tsn_spmd_tile_elements(size_t stride) {
  return stride * TSN_SPMD_TILE;
}

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

void tsn_spmd_radii(const tsn_spmd_points *p, double *radius) {
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

double tsn_spmd_diameter(const tsn_spmd_points *p, int32_t isa, double *radius) {
  const tsn_spmd_kernels *kernels = tsn_spmd_kernels_at(isa);
  const double slack = 1 + 1e-12; /* for the rounding of the radii */
  const size_t step = TSN_SPMD_TILE * p->stride;
  tsn_spmd_radii(p, radius);
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
