/* SPDX-License-Identifier: BSD-3-Clause */
/* A stream of events or values on its way from a file to its periods. */
#ifndef TSANOM_COMMAND_PERIOD_STREAM_H
#define TSANOM_COMMAND_PERIOD_STREAM_H

#include <stdio.h>

#include "periods.h"
#include "region_stream.h"

/* Zero it before use. */
typedef struct {
  void *tree;  /* of words, for tsearch() */
  char **word; /* by number */
  size_t count, capacity;
} identifiers;

typedef struct {
  int events;
  size_t window;           /* 0: the default */
  size_t max_period;       /* of values; 0: the default */
  double depth;            /* of values; 0: the default */
  int32_t adapt;           /* of values: the window adapts to the period */
  const tsanom_exec *exec; /* polled now and then while a file is read */
} period_request;

/* Zero it, then call period_stream_open(). */
typedef struct {
  int events;
  const tsanom_exec *exec;
  periods p;
  identifiers ids;   /* of the events of a file */
  region_stream run; /* of those of a run */
  uint64_t bytes;    /* read so far */
} period_stream;

int period_stream_open(period_stream *s, const period_request *request, failure *why);

/* Take the samples of a file: one a line, or the `column` of a table; "-" is the
 * standard input. In memory that does not grow with their number, only with the kinds of
 * events and with what is found. */
int period_stream_read(period_stream *s, const char *path, const char *column,
                       failure *why);

/* The same from an open stream that messages call `file`. */
int period_stream_read_from(period_stream *s, FILE *stream, const char *file,
                            const char *column, failure *why);

/* Take the events of a recorded run: its places. Its level is chosen by loops of up to
 * `limit` events; 0: of any length. */
int period_stream_read_run(period_stream *s, const char *path, int salvage, size_t limit,
                           failure *why);

/* The name of an event that is kept in that slot: see periods_next(). */
const char *period_stream_name(period_stream *s, size_t slot);

/* The samples that are kept are the last ones: number `index` as a number to be drawn. */
uint64_t period_stream_oldest(const period_stream *s);
double period_stream_at(const period_stream *s, uint64_t index);

void period_stream_free(period_stream *s);

#endif
