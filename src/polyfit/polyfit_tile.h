/* SPDX-License-Identifier: BSD-3-Clause */
/* A tile of samples, one per lane, in mapped units: what the loops of polyfit_kernel.c
 * and polyfit_kernel_dd.c read in each step. 16 lanes at every level; at a lower level a
 * tile has more vectors, so that sums have the same lanes everywhere. Samples are scaled
 * when they are loaded: a product with a power of two is exact and cheaper than a scaled
 * copy. */
#ifndef TSN_POLYFIT_TILE_H
#define TSN_POLYFIT_TILE_H

#include "core/vector.h"
#include "polyfit/polyfit_kernel.h"

enum {
  LANES = TSN_POLYFIT_LANES,
  WIDTH = TSN_VECTOR_BYTES / 8, /* lanes of a vector */
  PARTS = LANES / WIDTH
};

/* Alignment of the widest vector: no access straddles two cache lines. */
#define ALIGNED _Alignas(64)

/* Loops over lanes have constant length, so that compilers vectorize them at any
 * level. */
#define FOR_LANES(lane) _Pragma("omp simd") for (int lane = 0; lane < LANES; lane++)

/* One number per lane, accessed singly or as vectors. Loops over parts are unrolled, so
 * that the vectors stay in registers. */
typedef union {
  double lane[LANES];
  tsn_f64 part[PARTS];
} lanes_f64;

#define FOR_PARTS(p) _Pragma("GCC unroll 8") for (int p = 0; p < PARTS; p++)

/* Part p of the lanes from `lane` on. */
static inline tsn_f64 load_part(const double *lane, int p) {
  return *(const tsn_f64_at *)(lane + (ptrdiff_t)p * WIDTH);
}

static inline tsn_f64 broadcast(double value) {
  return value - (tsn_f64){0};
}

typedef struct {
  lanes_f64 u; /* x x_unit */
  lanes_f64 y, w;
} sample_tile;

/* Part p of the lanes: the samples from `at` on. */
static inline void load_samples(const tsn_polyfit_map *map, const tsn_polyfit_samples *s,
                                size_t at, int p, sample_tile *tile) {
  tile->u.part[p] = load_part(s->x + at, 0) * map->x_unit;
  tile->y.part[p] = load_part(s->y + at, 0) * map->y_unit;
  tile->w.part[p] = s->weights ? load_part(s->weights + at, 0) * map->weight_unit
                               : broadcast(map->weight_unit);
}

/* 1 in lanes that count: zeros, ones, zeros. */
static const double counting[3 * LANES] = {[LANES] = 1, 1, 1, 1, 1, 1, 1, 1,
                                           1,           1, 1, 1, 1, 1, 1, 1};

/* Lanes from `begin` on; those after the last value repeat it. Built from scalar loads:
 * a vector loaded from lanes just stored would wait for them. */
static inline tsn_f64 load_few(const double *values, size_t n, size_t begin) {
  tsn_f64 lanes = {0};
  _Pragma("GCC unroll 8") for (size_t l = 0; l < WIDTH; l++) {
    lanes[l] = values[begin + l < n ? begin + l : n - 1];
  }
  return lanes;
}

/* A block shorter than a tile: lanes after its end have weight 0. */
static inline void load_short(const tsn_polyfit_map *map, const tsn_polyfit_samples *s,
                              sample_tile *tile) {
  FOR_PARTS(p) {
    size_t begin = (size_t)p * WIDTH;
    if (begin + WIDTH <= s->n) {
      load_samples(map, s, begin, p, tile);
    } else if (begin < s->n) {
      tsn_f64 weight = s->weights ? load_few(s->weights, s->n, begin) : broadcast(1);
      tile->u.part[p] = load_few(s->x, s->n, begin) * map->x_unit;
      tile->y.part[p] = load_few(s->y, s->n, begin) * map->y_unit;
      tile->w.part[p] =
          weight * map->weight_unit * load_part(counting + 2 * LANES - s->n, p);
    } else {
      tile->u.part[p] = broadcast(map->center);
      tile->y.part[p] = tile->w.part[p] = broadcast(0);
    }
  }
}

/* The samples from index `first`, one per lane. At the end of a block, earlier samples
 * fill the first lanes, so that whole vectors are loaded. Returns the number of these. */
static inline int load_tile(const tsn_polyfit_map *map, const tsn_polyfit_samples *s,
                            size_t first, sample_tile *tile) {
  if (s->n < LANES) {
    load_short(map, s, tile);
    return 0;
  }
  size_t left = s->n - first, repeated = left < LANES ? LANES - left : 0;
  size_t from = first - repeated;
  FOR_PARTS(p) load_samples(map, s, from + (size_t)p * WIDTH, p, tile);
  return (int)repeated;
}

/* The same for sums: repeated samples have weight 0. */
static inline void load_new(const tsn_polyfit_map *map, const tsn_polyfit_samples *s,
                            size_t first, sample_tile *tile) {
  int repeated = load_tile(map, s, first, tile);
  if (repeated > 0) {
    FOR_PARTS(p) tile->w.part[p] *= load_part(counting + LANES - repeated, p);
  }
}

#endif
