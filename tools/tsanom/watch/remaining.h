/* SPDX-License-Identifier: BSD-3-Clause */
/* How long a watched program will still run. */
#ifndef TSANOM_COMMAND_REMAINING_H
#define TSANOM_COMMAND_REMAINING_H

#include <tsanom/vital.h>

/* Numbers that are not known are NaN. */
typedef struct {
  double iterations;
  double seconds;   /* from the look on */
  double low, high; /* contain them with 95 % */
  int drifts;       /* iterations become longer or shorter: the time is not known */
} remaining;

/* The time of that many iterations more, at `now`. */
remaining remaining_of(const tsanom_hsa_series *s, double iterations, double now);

#endif
