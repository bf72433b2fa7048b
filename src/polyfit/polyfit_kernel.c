/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops over samples in double arithmetic. */
#include "polyfit/polyfit_kernel.h"

#include <math.h>

#include "polyfit/polyfit_tile.h"

static inline double smaller(double a, double b) {
  return a < b ? a : b;
}

static inline double larger(double a, double b) {
  return a > b ? a : b;
}

static inline double add_lanes(const double *lane) {
  double half[LANES / 2], quarter[LANES / 4];
  for (int l = 0; l < LANES / 2; l++) half[l] = lane[l] + lane[l + LANES / 2];
  for (int l = 0; l < LANES / 4; l++) quarter[l] = half[l] + half[l + LANES / 4];
  return (quarter[0] + quarter[2]) + (quarter[1] + quarter[3]);
}

static tsn_polyfit_range survey(const double *values, size_t n) {
  ALIGNED double low[LANES];
  ALIGNED double high[LANES];
  ALIGNED double strange[LANES] = {0};
  FOR_LANES(l) low[l] = INFINITY, high[l] = -INFINITY;
  size_t whole = n < LANES ? 0 : n;
  for (size_t i = 0; i < whole; i += LANES) {
    /* The last stretch overlaps the one before, which does no harm. */
    const double *stretch = values + (n - i < LANES ? n - LANES : i);
    FOR_LANES(l) {
      double value = stretch[l];
      low[l] = smaller(value, low[l]);
      high[l] = larger(value, high[l]);
      strange[l] += value - value; /* 0 for every finite value */
    }
  }
  for (size_t i = whole; i < n; i++) {
    low[0] = smaller(values[i], low[0]);
    high[0] = larger(values[i], high[0]);
    strange[0] += values[i] - values[i];
  }
  tsn_polyfit_range range = {low[0], high[0], add_lanes(strange) == 0};
  for (int l = 1; l < LANES; l++) {
    range.low = smaller(low[l], range.low);
    range.high = larger(high[l], range.high);
  }
  return range;
}

static inline void map_tile(const tsn_polyfit_map *map, const sample_tile *tile,
                            double *t) {
  FOR_LANES(l) t[l] = (tile->u[l] - map->center) * map->scale;
}

static void moments(const tsn_polyfit_map *map, const tsn_polyfit_samples *samples,
                    int terms, double *sums) {
  ALIGNED double lanes[TSN_POLYFIT_MAX_SUMS][LANES];
  int powers = 2 * terms - 1, count = powers + terms + 1;
  for (int k = 0; k < count; k++) {
    FOR_LANES(l) lanes[k][l] = 0;
  }
  for (size_t i = 0; i < samples->n; i += LANES) {
    sample_tile tile;
    ALIGNED double twice[LANES];
    ALIGNED double current[LANES];
    ALIGNED double before[LANES];
    load_new(map, samples, i, &tile);
    map_tile(map, &tile, before);
    FOR_LANES(l) {
      twice[l] = 2 * before[l];
      current[l] = tile.w[l];
      before[l] *= tile.w[l];
      lanes[count - 1][l] += tile.w[l] * tile.y[l] * tile.y[l];
    }
    for (int k = 0; k < powers; k++) {
      FOR_LANES(l) lanes[k][l] += current[l];
      if (k < terms) {
        FOR_LANES(l) lanes[powers + k][l] += current[l] * tile.y[l];
      }
      FOR_LANES(l) {
        double next = twice[l] * current[l] - before[l];
        before[l] = current[l];
        current[l] = next;
      }
    }
  }
  for (int k = 0; k < count; k++) sums[k] = add_lanes(lanes[k]);
}

/* p = sum c_k T_k by Clenshaw's recurrence. */
static inline void clenshaw(const double *t, int terms, const double *c, double *p) {
  ALIGNED double twice[LANES];
  ALIGNED double current[LANES];
  ALIGNED double before[LANES];
  FOR_LANES(l) twice[l] = 2 * t[l], current[l] = 0, before[l] = 0;
  for (int k = terms - 1; k > 0; k--) {
    FOR_LANES(l) {
      double next = c[k] + (twice[l] * current[l] - before[l]);
      before[l] = current[l];
      current[l] = next;
    }
  }
  FOR_LANES(l) p[l] = c[0] + (t[l] * current[l] - before[l]);
}

static void residual(const tsn_polyfit_map *map, const tsn_polyfit_samples *samples,
                     int terms, const double *c, double mean, double *sums) {
  ALIGNED double lanes[TSN_POLYFIT_RESIDUAL_SUMS][LANES] = {{0}};
  for (size_t i = 0; i < samples->n; i += LANES) {
    sample_tile tile;
    ALIGNED double t[LANES];
    ALIGNED double p[LANES];
    load_new(map, samples, i, &tile);
    map_tile(map, &tile, t);
    clenshaw(t, terms, c, p);
    FOR_LANES(l) {
      double r = tile.y[l] - p[l], deviation = tile.y[l] - mean;
      double weighted = tile.w[l] * deviation;
      lanes[TSN_POLYFIT_RSS][l] += tile.w[l] * r * r;
      lanes[TSN_POLYFIT_DEVIATION][l] += weighted;
      lanes[TSN_POLYFIT_SQUARE][l] += weighted * deviation;
    }
  }
  for (int k = 0; k < TSN_POLYFIT_RESIDUAL_SUMS; k++) sums[k] = add_lanes(lanes[k]);
}

static void fill(const tsn_polyfit_map *map, const tsn_polyfit_samples *samples,
                 int terms, double *a, size_t ld) {
  int count = samples->n < LANES ? (int)samples->n : LANES;
  for (size_t i = 0; i < samples->n; i += LANES) {
    sample_tile tile;
    ALIGNED double t[LANES];
    ALIGNED double current[LANES];
    ALIGNED double before[LANES];
    double *row = a + i - load_tile(map, samples, i, &tile);
    map_tile(map, &tile, t);
    FOR_LANES(l) {
      current[l] = sqrt(tile.w[l]);
      before[l] = current[l] * t[l];
    }
    for (int l = 0; l < count; l++)
      row[(size_t)l + (size_t)terms * ld] = current[l] * tile.y[l];
    for (int k = 0; k < terms; k++) {
      double *column = row + (size_t)k * ld;
      for (int l = 0; l < count; l++) column[l] = current[l];
      FOR_LANES(l) {
        double next = 2 * t[l] * current[l] - before[l];
        before[l] = current[l];
        current[l] = next;
      }
    }
  }
}

/* p and dp/dt together: differentiating Clenshaw's recurrence by t. */
static inline void clenshaw_slope(const double *t, int terms, const double *c, double *p,
                                  double *slope) {
  ALIGNED double current[LANES] = {0};
  ALIGNED double before[LANES] = {0};
  ALIGNED double rising[LANES] = {0};
  ALIGNED double rising_before[LANES] = {0};
  for (int k = terms - 1; k > 0; k--) {
    FOR_LANES(l) {
      double twice = 2 * t[l];
      double next_rising = 2 * current[l] + (twice * rising[l] - rising_before[l]);
      double next = c[k] + (twice * current[l] - before[l]);
      rising_before[l] = rising[l];
      rising[l] = next_rising;
      before[l] = current[l];
      current[l] = next;
    }
  }
  FOR_LANES(l) {
    p[l] = c[0] + (t[l] * current[l] - before[l]);
    slope[l] = current[l] + (t[l] * rising[l] - rising_before[l]);
  }
}

static void evaluate(const tsn_polyfit_map *map, int terms, const double *c,
                     const double *x, size_t n, double *values, double *slopes) {
  for (size_t i = 0; i < n; i += LANES) {
    size_t count = n - i < LANES ? n - i : LANES;
    ALIGNED double t[LANES] = {0};
    ALIGNED double p[LANES];
    ALIGNED double slope[LANES];
    for (size_t l = 0; l < count; l++) {
      t[l] = (x[i + l] * map->x_unit - map->center) * map->scale;
    }
    if (slopes) {
      clenshaw_slope(t, terms, c, p, slope);
      for (size_t l = 0; l < count; l++) {
        slopes[i + l] = slope[l] * (map->scale * map->x_unit);
      }
    } else {
      clenshaw(t, terms, c, p);
    }
    if (values) {
      for (size_t l = 0; l < count; l++) values[i + l] = p[l];
    }
  }
}

const tsn_polyfit_kernels TSN_LEVEL(tsn_polyfit_kernels) = {
    .survey = survey,
    .moments = moments,
    .residual = residual,
    .fill = fill,
    .evaluate = evaluate,
};
