/* SPDX-License-Identifier: BSD-3-Clause */
/* The search of an index for one query; cascade.c describes the order of the bounds. The
 * functions below are its steps. nearest.c calls each of them for all queries of a group
 * before the next one, so that a part of the index that is in the cache serves them all:
 *
 *   for each query          tsn_search_begin
 *   for each part, query    tsn_search_choose_part
 *   for each query          tsn_search_take_first
 *   for each part, query    tsn_search_filter_part
 *   for each query          tsn_search_run_waiting
 *
 * A query depends on no other query, so groups change the time and not the results. */
#ifndef TSN_SEARCH_CASCADE_H
#define TSN_SEARCH_CASCADE_H

#include "search/index.h"

/* The bound of memory for a query. Candidates that pass the bounds wait in a heap until
 * the end of the index, or until there are this many; then their DTW is computed in the
 * order of their bounds. */
enum { TSN_SEARCH_WAITING = 4096 };

/* A candidate and the best known lower bound of its distance. */
typedef struct {
  double bound;
  size_t id;
} tsn_search_ranked;

/* What all queries of a call share. */
typedef struct {
  const tsanom_search_index *index;
  tsanom_series queries;
  size_t neighbors;
  tsanom_exec exec;
  size_t first; /* number of series whose DTW comes first */
  size_t part;  /* series of a part of the index */
  size_t work_bytes;
  size_t *indices;
  double *distances;
  tsanom_search_report *reports;
} tsn_search_plan;

/* One query in progress. */
typedef struct {
  const tsn_search_plan *plan;
  const tsn_search_kernels *kernels;
  tsn_search_watcher *watcher;   /* of the thread */
  const tsn_search_work *work;   /* of the thread */
  double *query, *lower, *upper; /* normalized if requested, and its envelope */
  tsn_search_query_sums sums;
  size_t *taken; /* series of the first DTWs, in order */
  size_t first;  /* their number */
  size_t passed; /* those before the position of the filter */
  tsn_search_ranked *heap;
  size_t waiting; /* in the heap */
  size_t copies;  /* of the query seen by the first pass, at most the neighbors */
  size_t found;   /* neighbors so far, in order */
  size_t *indices;
  double *distances;
  double limit; /* a bound above it removes a candidate */
  tsanom_search_report report;
} tsn_search_progress;

/* Buffers for the cheap bounds of a part of the index, of one thread: a query needs them
 * only during a call. */
typedef struct {
  double *bounds, *other; /* of its series */
  double *sums;           /* of half a series */
} tsn_search_part_buffers;

/* Prepare query `number` of the plan: its samples as they are compared, its envelope and
 * sums. Buffers of `p` are allocated; all other fields are set. */
void tsn_search_begin(const tsn_search_plan *whole, size_t number, tsn_search_progress *p,
                      const tsn_search_part_buffers *b);

/* First pass over the `count` series from `first`: which have the smallest bounds. After
 * as many copies of the query as neighbors, later series cannot be neighbors. */
void tsn_search_choose_part(tsn_search_progress *p, size_t first, size_t count,
                            const tsn_search_part_buffers *b);

/* DTW of the series with the smallest bounds; it yields the limit of the second pass. */
void tsn_search_take_first(tsn_search_progress *p);

/* Second pass: series that pass the bounds wait for DTW. */
void tsn_search_filter_part(tsn_search_progress *p, size_t first, size_t count,
                            const tsn_search_part_buffers *b);

/* DTW of the waiting series in the order of their bounds, until a bound exceeds the
 * limit, which removes the rest. */
void tsn_search_run_waiting(tsn_search_progress *p);

#endif
