/* SPDX-License-Identifier: BSD-3-Clause */
/* One sample for every lane, brought to mapped units. */
#ifndef TSN_POLYFIT_TILE_H
#define TSN_POLYFIT_TILE_H

#include "polyfit/polyfit_kernel.h"

enum { LANES = TSN_POLYFIT_LANES };

/* Of the widest vector: no access straddles two cache lines. */
#define ALIGNED _Alignas(64)

/* Loops over lanes of constant length: vectors in any instruction set. */
#define FOR_LANES(lane) _Pragma("omp simd") for (int lane = 0; lane < LANES; lane++)

typedef struct {
  ALIGNED double u[LANES]; /* x x_unit */
  ALIGNED double y[LANES];
  ALIGNED double w[LANES];
} sample_tile;

/* Samples first ... first + LANES - 1; lanes past the end weigh nothing. */
static inline void load_tile(const tsn_polyfit_map *map, const tsn_polyfit_samples *s,
                             size_t first, sample_tile *tile) {
  size_t left = s->n - first;
  const double *x = s->x + first, *y = s->y + first;
  if (left >= LANES) {
    FOR_LANES(l) tile->u[l] = x[l] * map->x_unit;
    FOR_LANES(l) tile->y[l] = y[l] * map->y_unit;
    if (s->weights) {
      const double *w = s->weights + first;
      FOR_LANES(l) tile->w[l] = w[l] * map->weight_unit;
    } else {
      FOR_LANES(l) tile->w[l] = 1;
    }
    return;
  }
  FOR_LANES(l) {
    int inside = (size_t)l < left;
    tile->u[l] = inside ? x[l] * map->x_unit : map->center;
    tile->y[l] = inside ? y[l] * map->y_unit : 0;
    tile->w[l] = !inside      ? 0
                 : s->weights ? s->weights[first + (size_t)l] * map->weight_unit
                              : 1;
  }
}

#endif
