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

/* The samples from `first` on, one for every lane. At the end of a block those
 * before `first` fill the lanes from lane 0 on, so that all are loaded at once;
 * returns how many. Of a block shorter than a tile the lanes past its end weigh
 * nothing. */
static inline size_t load_tile(const tsn_polyfit_map *map, const tsn_polyfit_samples *s,
                               size_t first, sample_tile *tile) {
  size_t left = s->n - first;
  if (s->n < LANES) {
    FOR_LANES(l) {
      int inside = (size_t)l < left;
      double weight = s->weights && inside ? s->weights[l] * map->weight_unit : inside;
      tile->u[l] = inside ? s->x[l] * map->x_unit : map->center;
      tile->y[l] = inside ? s->y[l] * map->y_unit : 0;
      tile->w[l] = weight;
    }
    return 0;
  }
  size_t repeated = left < LANES ? LANES - left : 0;
  const double *x = s->x + first - repeated, *y = s->y + first - repeated;
  FOR_LANES(l) tile->u[l] = x[l] * map->x_unit;
  FOR_LANES(l) tile->y[l] = y[l] * map->y_unit;
  if (s->weights) {
    const double *w = s->weights + first - repeated;
    FOR_LANES(l) tile->w[l] = w[l] * map->weight_unit;
  } else {
    FOR_LANES(l) tile->w[l] = 1;
  }
  return repeated;
}

/* The same for sums: what was seen before weighs nothing. */
static inline void load_new(const tsn_polyfit_map *map, const tsn_polyfit_samples *s,
                            size_t first, sample_tile *tile) {
  int repeated = (int)load_tile(map, s, first, tile);
  if (repeated > 0) {
    FOR_LANES(l) tile->w[l] = l < repeated ? 0 : tile->w[l];
  }
}

#endif
