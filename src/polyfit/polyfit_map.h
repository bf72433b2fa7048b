/* SPDX-License-Identifier: BSD-3-Clause */
/* The scaling of samples to magnitudes near 1. */
#ifndef TSN_POLYFIT_MAP_H
#define TSN_POLYFIT_MAP_H

#include "polyfit/polyfit_kernel.h"

/* Exponents of the units that bring the largest magnitude to [1/2, 1), and the
 * largest weight to [1/4, 2). */
int tsn_polyfit_y_exponent(tsn_polyfit_range y);
int tsn_polyfit_weight_exponent(double heaviest);

/* Map [low, high] to [-1, 1]. */
void tsn_polyfit_map_x(tsn_polyfit_map *map, double low, double high);

/* Set the units of y and of the weights. */
void tsn_polyfit_map_y(tsn_polyfit_map *map, int y_exponent, int weight_exponent);

#endif
