/* SPDX-License-Identifier: BSD-3-Clause */
/* What the next values of a stationary series add up to, with an interval. */
#ifndef TSN_SPEEDUP_FORECAST_H
#define TSN_SPEEDUP_FORECAST_H

#include <stdbool.h>
#include <stddef.h>

enum { TSN_FORECAST_MOST = 400 /* values; more are given as means of some */ };

typedef struct {
  double value[TSN_FORECAST_MOST]; /* without long ones */
  size_t count;                    /* of values */
  double each;                     /* iterations of a value */
  double number;                   /* of iterations known */
  double longs, size, deviation;   /* long iterations: number, mean and deviation of what
                                      each adds */
} tsn_forecast;

/* Limits, with 95 %, of the mean of the next `left` iterations. Returns false if the
 * longest is more than twice the shortest, or for fewer than 20 values. */
bool tsn_forecast_limits(const tsn_forecast *known, double left, double *low,
                         double *high);

#endif
