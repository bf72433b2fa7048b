/* SPDX-License-Identifier: BSD-3-Clause */
/* The ranges of samples, and their scaling to magnitudes near 1. */
#ifndef TSN_POLYFIT_MAP_H
#define TSN_POLYFIT_MAP_H

#include <stdbool.h>

#include "polyfit/polyfit_kernel.h"

typedef struct {
  tsn_polyfit_range x, y, weights;
} tsn_polyfit_ranges;

tsn_polyfit_ranges tsn_polyfit_ranges_of(const tsn_polyfit_kernels *kernels,
                                         const tsn_polyfit_samples *samples);

/* Those of no samples, and of the samples of both. */
tsn_polyfit_ranges tsn_polyfit_no_ranges(void);
void tsn_polyfit_join_ranges(tsn_polyfit_ranges *ranges, const tsn_polyfit_ranges *other);

/* Whether all samples are finite and all weights positive. */
bool tsn_polyfit_valid(const tsn_polyfit_ranges *ranges);

/* Exponents of the units that bring the largest magnitude to [1/2, 1), and the
 * largest weight to [1/4, 2). */
int tsn_polyfit_y_exponent(tsn_polyfit_range y);
int tsn_polyfit_weight_exponent(double heaviest);

/* Map [low, high] to [-1, 1]. */
void tsn_polyfit_map_x(tsn_polyfit_map *map, double low, double high);

/* Set the units of y and of the weights. */
void tsn_polyfit_map_y(tsn_polyfit_map *map, int y_exponent, int weight_exponent);

#endif
