/* SPDX-License-Identifier: BSD-3-Clause */
/* One query on its way through an index: cheap bounds of all series, the DTWs
 * of those that look nearest, then one bound after the other for the rest. */
#ifndef TSN_SEARCH_CASCADE_H
#define TSN_SEARCH_CASCADE_H

#include "search/index.h"

/* Candidates that pass the bounds wait for the end of the index, where the best
 * come first, unless there are so many. */
enum { TSN_SEARCH_WAITING = 4096 };

/* A candidate and the best bound of its distance known so far. */
typedef struct {
  double bound;
  size_t id;
} tsn_search_ranked;

typedef struct {
  const tsanom_search_index *index;
  const double *queries;
  size_t stride, neighbours;
  const tsanom_exec *exec;
  size_t first; /* series of the first DTWs */
  size_t part;  /* series of a part of the index */
  size_t work_bytes;
  size_t *indices;
  double *distances;
  tsanom_search_report *reports;
} tsn_search_plan;

/* One query under way. */
typedef struct {
  const tsn_search_plan *plan;
  const tsn_search_kernels *kernels;
  void *work;                    /* the thread's, for envelopes and for DTW */
  double *query, *lower, *upper; /* as compared, and its envelope */
  tsn_search_query_sums sums;
  size_t *taken; /* series of the first DTWs, in order */
  size_t passed; /* of those, how many the filter is past */
  tsn_search_ranked *heap;
  size_t waiting; /* in the heap */
  size_t found;   /* neighbours so far, in order */
  size_t *indices;
  double *distances;
  double limit; /* a bound above it removes a candidate */
  tsanom_search_report report;
} tsn_search_progress;

/* Where the cheap bounds of a part of the index are worked out. */
typedef struct {
  double *bounds, *other; /* of its series */
  double *sums;           /* of half a series */
} tsn_search_part_buffers;

/* Ready query number `number` of the plan. */
void tsn_search_begin(const tsn_search_plan *whole, size_t number, tsn_search_progress *p,
                      const tsn_search_part_buffers *b);

/* First visit to `count` series from `first` on: which look nearest. */
void tsn_search_choose_part(tsn_search_progress *p, size_t first, size_t count,
                            const tsn_search_part_buffers *b);

/* The DTWs of those that look nearest give a limit to all bounds that follow. */
void tsn_search_take_first(tsn_search_progress *p);

/* Second visit: what passes the bounds waits for DTW. */
void tsn_search_filter_part(tsn_search_progress *p, size_t first, size_t count,
                            const tsn_search_part_buffers *b);

/* DTW of those that wait, the best first, until the bound of one removes it and
 * all behind it. */
void tsn_search_run_waiting(tsn_search_progress *p);

#endif
