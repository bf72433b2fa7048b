/* SPDX-License-Identifier: BSD-3-Clause */
/* Noise of the times of coordinates 1 ... columns of the points. */
#ifndef TSN_SPMD_NOISE_H
#define TSN_SPMD_NOISE_H

#include "spmd/spmd_internal.h"

/* The standard errors of the times. */
typedef struct {
  size_t columns;
  const double *error; /* NULL: of none */
  size_t error_ld;
  const uint32_t *column; /* the region of each coordinate */
  int exponent;           /* of the scale of the points */
} tsn_spmd_noise;

/* What the deviations of the times are from. */
typedef enum {
  TSN_SPMD_ERRORS,  /* some error is known */
  TSN_SPMD_SCATTER, /* of many processes */
  TSN_SPMD_ASSUMED  /* one measurement of few processes does not show them */
} tsn_spmd_evidence;

/* differs[i]: not 0 if process i does, by more than the resolution; their number. The
 * deviations of the columns go into the centroid. `key` and `distance` are scratch, one
 * for each process or region. */
tsn_spmd_evidence tsn_spmd_differ(tsn_spmd_points *points, const tsn_spmd_noise *noise,
                                  double resolution, double *key, double *distance,
                                  int32_t *differs, size_t *different);

/* eps' if some differ: what noise explains, `reach`, but less than separates those from
 * the others, if most are alike and that is more than alike ones differ. */
double tsn_spmd_noise_cut(const tsn_spmd_points *points, size_t columns,
                          const int32_t *differs, double resolution, double reach);

/* Columns that its level needs. With fewer, a_i removes too much of the noise. */
enum { TSN_SPMD_NOISE_COLUMNS = 4 };

/* Standard deviation of the noise of a metric relative to its values: what varies
 * independently in most columns. 0 if there are too few columns. */
double tsn_spmd_noise_level(const tsn_spmd_points *points, size_t columns, double *key);

/* Deviations of the columns by noise of that level, into the centroid. */
void tsn_spmd_noise_deviations(tsn_spmd_points *points, size_t columns, double level,
                               double *key);

/* The distance of a point from all others that noise of the deviations in the centroid
 * explains, except with probability `significance`. */
double tsn_spmd_noise_reach(const tsn_spmd_points *points, size_t columns,
                            double significance);

#endif
