/* SPDX-License-Identifier: BSD-3-Clause */
/* What the search for slow iterations and their reasons share. */
#ifndef TSN_DIAGNOSIS_SLOW_H
#define TSN_DIAGNOSIS_SLOW_H

#include <stdbool.h>
#include <tsanom/change.h>
#include <tsanom/diagnosis.h>

#include "core/arena.h"

enum {
  TSN_SLOW_MOST = 16,   /* findings kept of a series */
  TSN_SLOW_FEWEST = 20, /* iterations of which anything can be found */
  TSN_SLOW_SEGMENTS = 64
};

/* --- slow_series.c: which iterations --- */

/* Of a level; its interval is that of the step at its begin. */
typedef struct {
  size_t begin, end;
  double level, low, high;
  size_t place_low, place_high;
} tsn_slow_segment;

/* The search in a series, one after the other in the same memory. */
typedef struct {
  tsanom_exec inner;             /* in whose workspace changes and periods are searched */
  const double *begin, *seconds; /* seconds NULL: between the begins */
  size_t n;
  double *y;       /* logarithms, less what recurs */
  double *scratch; /* n, or where `inner` has its workspace more */
  double *phase;   /* of a period */
  size_t *event;   /* n / 4, in the second half of scratch */
  tsanom_change_point *point;
  tsn_slow_segment *segment;
  size_t segments;
  double base, deviation;
  double excess; /* above its level, from which a single iteration is slow */
  double far;    /* y above which it is, whatever the others reach */
  int32_t *class_of;
  /* The result: findings, that which lost most first, with their kinds, iterations and ratios;
   * by iteration k of finding k - 1, 0 normal, -1 neither. */
  tsanom_diagnosis_slow *finding;
  size_t count;
  double median_s; /* of a normal iteration */
  /* Smallest ratios that would be found: of single iterations, and of a change that lasts
   * for a fifth of them. */
  double single, lasting;
  bool is_few; /* too few iterations, for their correlation, to show a change */
} tsn_slow_search;

/* For series of n numbers: first the size of the inner workspace, then the layout. */
tsanom_status tsn_slow_search_ask(tsn_slow_search *s, const tsanom_exec *exec, size_t n);
void tsn_slow_search_layout(tsn_arena *arena, tsn_slow_search *s, size_t n);

/* Search n iterations, which took `seconds`; NULL: those from each of n + 1 begins to the next.
 * Findings that lost less than a hundredth of the time are dropped. */
tsanom_status tsn_slow_find(tsn_slow_search *s, const double *begin,
                            const double *seconds, size_t n);

/* --- slow.c: where, and why --- */

/* A process, and the findings in it. */
typedef struct {
  const tsanom_hsa_run *run;
  size_t thread, n; /* the one that beats, and its iterations */
  int32_t rank;
  const tsanom_diagnosis_summary *summary; /* what to search, and where to write */
  double *begin, *processor_s;             /* n + 1, n */
  double waited; /* seconds that pass for each on a processor; 0: not known */
  double total_s, median_s, single, lasting;
  double worked_single,
      worked_lasting; /* of processor times; 0: these were not searched */
  bool is_few;
  tsn_slow_search search;
  tsanom_diagnosis_slow *item; /* 2 TSN_SLOW_MOST */
  size_t count;
} tsn_slow_process;

/* Whether slow iterations are searched for in a checked run: n is 0 if they are not. */
tsanom_status tsn_slow_begin(tsn_slow_process *p, const tsanom_hsa_run *run, int32_t rank,
                             const tsanom_diagnosis_summary *summary,
                             const tsanom_exec *exec);
void tsn_slow_layout(tsn_arena *arena, tsn_slow_process *p);

/* Search, and add what is found to a copy of the summary. */
tsanom_status tsn_slow_add(tsn_slow_process *p, tsanom_diagnosis_summary *summary);

#endif
