/* SPDX-License-Identifier: BSD-3-Clause */
/* What compare.c and bet.c share. */
#ifndef TSN_CHANGE_COMPARE_H
#define TSN_CHANGE_COMPARE_H

#include <tsanom/change.h>

typedef struct {
  const double *a, *b;
  size_t a_count, b_count;
  int32_t paired;
  double factor; /* a power of two by which all are at most 1: no square overflows */
} tsn_change_runs;

/* The difference b - a of a pair. */
static inline double tsn_change_pair(const tsn_change_runs *r, size_t i) {
  return r->b[i] * r->factor - r->a[i] * r->factor;
}

/* The pairs so far, looked at after each of them: significance, interval, detectable. */
void tsn_change_bet(const tsn_change_runs *runs, double level,
                    tsanom_change_comparison *comparison);

#endif
