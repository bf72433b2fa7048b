/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the stream search share: the search, and the cascade of one
 * chunk of its windows. */
#ifndef TSN_SEARCH_STREAM_H
#define TSN_SEARCH_STREAM_H

#include "search/search_internal.h"
#include "search/separated.h"

/* Windows that one thread takes at a time. */
enum { TSN_STREAM_CHUNK = 2048 };

/* What one thread works in. */
typedef struct {
  double *mean, *inverse, *kim; /* of the windows of a chunk */
  double *lower, *upper;        /* envelope of the samples of a chunk */
  double *waiting;              /* the batch, normalised */
  void *work;                   /* for envelopes and for DTW */
  tsn_separated best;
  tsanom_search_report report;
} tsn_stream_buffers;

typedef struct {
  const double *stream;
  size_t length; /* of the query */
  size_t samples, windows, chunks;
  size_t exclusion, wanted;
  size_t radius;
  int32_t cost, z_normalize;
  const tsanom_exec *exec;
  size_t work_bytes;
  size_t first_chunk; /* of the round */
  double *own_query, *lower, *upper;
  double *distance; /* of every window; INFINITY if it was removed */
  double *least;    /* of every chunk */
  tsn_separated best;
  tsn_stream_buffers *threads;
} tsn_stream_search;

/* Meet chunk `number` with all bounds and DTW, on the buffers of `thread`: sets the
 * distances of its windows and the least of them. */
void tsn_stream_search_chunk(const tsn_stream_search *s, size_t number, int thread);

#endif
