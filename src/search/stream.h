/* SPDX-License-Identifier: BSD-3-Clause */
/* The search of a stream (stream.c) and of one chunk of its windows (stream_chunk.c).
 *
 * A candidate is a window x[i .. i + length), 0 <= i < windows. Neighbors share all but
 * one sample, so that a chunk of windows shares moments, by moving sums, and one
 * envelope. */
#ifndef TSN_SEARCH_STREAM_H
#define TSN_SEARCH_STREAM_H

#include "search/search_internal.h"
#include "search/separated.h"

/* Windows of a chunk, which one thread searches. The size is fixed, since chunks decide
 * which threshold a window meets, and with it the counts of the report. */
enum { TSN_STREAM_CHUNK = 2048 };

/* Buffers of one thread. */
typedef struct {
  double *mean, *inverse, *kim; /* moments and LB_KimFL of the windows of a chunk */
  double *shifted;              /* samples of a chunk about their mean, scaled */
  double *lower, *upper;        /* their envelope */
  double *waiting;              /* the normalized windows of a batch */
  tsn_search_work work;
  tsn_separated best;
  tsanom_search_report report;
  tsn_search_watcher watcher;
} tsn_stream_buffers;

/* One call. Threads write only their own buffers and, of `distance` and `least`, their
 * own chunks; all else is constant during a round. */
typedef struct {
  const double *query, *stream;
  size_t length; /* of the query */
  size_t samples, windows, chunks;
  size_t exclusion;
  size_t neighbors; /* elements of starts and distances */
  size_t wanted;    /* matches to find, at most the samples */
  size_t radius;
  int32_t cost, z_normalize;
  tsanom_exec exec;
  size_t work_bytes;
  size_t first_chunk; /* of the round */
  double *own_query;  /* normalized if requested */
  double *distance;   /* of every window; INFINITY if it was removed */
  double *least;      /* of every chunk */
  tsn_separated best;
  tsn_zeros zeros; /* of the rounds so far */
  size_t skipped;  /* windows that no round needs */
  tsn_search_watch watch;
  tsn_stream_buffers *threads;
  size_t *starts; /* the caller's outputs */
  double *distances;
  tsanom_search_report *report; /* or NULL */
} tsn_stream_search;

/* Apply all bounds and DTW to the windows of chunk `number`, with the buffers of
 * `thread`: sets the distances of the windows and the least of them. */
void tsn_stream_search_chunk(const tsn_stream_search *s, size_t number, int thread);

#endif
