/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether classes remain if regions are left out, without classifying again.
 *
 * Leaving out a region makes no distance larger: points of a class stay connected, and
 * what may happen is that classes merge. Let a be the first point of a class, and r the
 * largest distance from it to a point of the class, with all regions. Classes a and b
 * remain apart if, without the regions,
 *
 *     |ab| > r_a + eps' + r_b          ( r_a a )--- eps' ---( b r_b )
 *
 * because every pair of their points is then farther apart than eps'. That is a distance
 * for each pair of classes in place of one for each pair of a point and a class: without
 * it the row `bench_growth_two` takes 30 times as long (3,125 processes, Zen 5). If it
 * does not hold, nothing is known, and the points are classified again. */
#include <math.h>

#include "spmd/spmd_internal.h"

void tsn_spmd_measure_classes(const tsn_spmd_points *p, const int32_t *class_of,
                              size_t classes, tsn_spmd_apart *apart) {
  apart->classes = classes > TSN_SPMD_APART ? 0 : classes;
  if (apart->classes == 0) return;
  for (size_t i = 0, known = 0; i < p->count; i++) {
    size_t c = (size_t)class_of[i];
    if (c == known) {
      known++;
      apart->first[c] = (uint32_t)i;
      apart->radius[c] = 0;
      continue;
    }
    const double *at = p->at + apart->first[c] * p->stride;
    double square = tsn_spmd_square_distance(at, p->at + i * p->stride, p->weight,
                                             p->stride, INFINITY);
    apart->radius[c] = fmax(apart->radius[c], sqrt(square));
  }
}

bool tsn_spmd_remain_apart(const tsn_spmd_points *p, const tsn_spmd_apart *apart) {
  const double slack = 1 + 1e-9; /* for the rounding of distances */
  const double least = 1e-150;   /* shorter ones have no normal square */
  double eps = sqrt(p->limit);
  for (size_t b = 1; b < apart->classes; b++) {
    for (size_t a = 0; a < b; a++) {
      double far = (apart->radius[a] + eps + apart->radius[b]) * slack + least;
      double square = tsn_spmd_square_distance(p->at + apart->first[a] * p->stride,
                                               p->at + apart->first[b] * p->stride,
                                               p->weight, p->stride, far * far);
      if (!(square > far * far)) return false;
    }
  }
  return apart->classes > 0;
}
