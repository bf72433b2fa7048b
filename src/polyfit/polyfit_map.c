/* SPDX-License-Identifier: BSD-3-Clause */
/* Scaling of samples to magnitudes near 1:
 *
 *     x  ->  x·2^a, at most 1  ->  t = (x·2^a - center)·scale in [-1, 1]
 *     y  ->  y·2^b, at most 1       w  ->  w·2^c, c even
 *
 * Units are powers of two, so that scaling is exact. x is scaled to |x·unit| < 1 before
 * its range is mapped to [-1, 1], so that the range of samples near the largest double
 * does not overflow. The exponent of the weights is even: the square root of a unit is a
 * power of two, and the residual standard deviation is scaled exactly. */
#include "polyfit/polyfit_map.h"

#include <math.h>
#include <string.h>

tsn_polyfit_ranges tsn_polyfit_ranges_of(const tsn_polyfit_kernels *kernels,
                                         const tsn_polyfit_samples *samples) {
  tsn_polyfit_ranges ranges = {.weights = {.low = 1, .high = 1, .finite = 1}};
  kernels->find_range(samples->x, samples->n, &ranges.x);
  kernels->find_range(samples->y, samples->n, &ranges.y);
  if (samples->weights)
    kernels->find_range(samples->weights, samples->n, &ranges.weights);
  return ranges;
}

tsn_polyfit_ranges tsn_polyfit_no_ranges(void) {
  const tsn_polyfit_range none = {.low = INFINITY, .high = -INFINITY, .finite = 1};
  return (tsn_polyfit_ranges){none, none, none};
}

static void join_range(tsn_polyfit_range *range, const tsn_polyfit_range *other) {
  range->low = fmin(range->low, other->low);
  range->high = fmax(range->high, other->high);
  range->finite &= other->finite;
}

void tsn_polyfit_join_ranges(tsn_polyfit_ranges *ranges,
                             const tsn_polyfit_ranges *other) {
  join_range(&ranges->x, &other->x);
  join_range(&ranges->y, &other->y);
  join_range(&ranges->weights, &other->weights);
}

bool tsn_polyfit_valid(const tsn_polyfit_ranges *ranges) {
  return ranges->x.finite && ranges->y.finite && ranges->weights.finite &&
         ranges->weights.low > 0;
}

/* The exponent of the power of two that scales `largest` to [1/2, 1), limited to the
 * powers that a double can represent. */
static int unit_exponent(double largest) {
  if (largest == 0) return 0;
  uint64_t bits;
  memcpy(&bits, &largest, sizeof bits);
  int exponent = (int)(bits >> 52) - 1022; /* largest is positive */
  return exponent < -1021 ? 1023 : -exponent;
}

int tsn_polyfit_y_exponent(tsn_polyfit_range y) {
  return unit_exponent(fmax(fabs(y.low), fabs(y.high)));
}

int tsn_polyfit_weight_exponent(double heaviest) {
  int exponent = unit_exponent(heaviest);
  return exponent - exponent % 2;
}

/* The scale follows from the longer half, because center is rounded: no sample is mapped
 * outside [-1, 1] by more than the rounding of t. All x equal: scale 1, t = 0. */
void tsn_polyfit_map_x(tsn_polyfit_map *map, double low, double high) {
  map->x_exponent = unit_exponent(fmax(fabs(low), fabs(high)));
  map->x_unit = tsn_scale(1, map->x_exponent);
  low *= map->x_unit;
  high *= map->x_unit;
  map->center = low / 2 + high / 2;
  double half = fmax(high - map->center, map->center - low);
  map->scale = half > 0 ? 1 / half : 1;
}

void tsn_polyfit_map_y(tsn_polyfit_map *map, int y_exponent, int weight_exponent) {
  map->y_exponent = y_exponent;
  map->weight_exponent = weight_exponent;
  map->y_unit = tsn_scale(1, y_exponent);
  map->weight_unit = tsn_scale(1, weight_exponent);
}
