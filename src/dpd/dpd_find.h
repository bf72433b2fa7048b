/* SPDX-License-Identifier: BSD-3-Clause */
/* The period of a series, without the checks of tsanom_dpd_find(). */
#ifndef TSN_DPD_FIND_H
#define TSN_DPD_FIND_H

#include <tsanom/dpd.h>

#include "core/arena.h"

enum { TSN_FIND_LEAST = 8 /* samples */, TSN_FIND_PERIODS = 4 /* of a period in them */ };

/* A search: its input, its buffers and its result. What it prepares for a number of
 * samples stays for the next one. */
typedef struct {
  const double *x;
  size_t n; /* at least TSN_FIND_LEAST */
  const tsanom_exec *exec;
  double significance;
  size_t max_period; /* at most n / TSN_FIND_PERIODS */
  double *value;     /* the scaled series, later without its slow part */
  struct tsn_dips *dips;
  tsanom_dpd_found found;
} tsn_find;

/* Take the buffers for at most n samples. */
void tsn_find_layout(tsn_arena *arena, size_t n, tsn_find *find);

/* TSANOM_STOPPED if the caller is polled and stops it. */
tsanom_status tsn_find_run(tsn_find *find);

#endif
