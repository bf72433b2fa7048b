/* SPDX-License-Identifier: BSD-3-Clause */
/* The periods of a stream that is read sample by sample. Events and windows of values
 * need memory that depends on the window and on the periods found; a series that is
 * analyzed as a whole is kept. */
#ifndef TSANOM_COMMAND_PERIODS_H
#define TSANOM_COMMAND_PERIODS_H

#include <tsanom/dpd.h>

#include "failure.h"
#include "main_loop.h"
#include "reserve.h"

/* A stretch that repeats itself; its periods start at first, first + period, ... */
typedef struct {
  size_t period;
  uint64_t first, last; /* index of the first and of the last sample */
} stretch;

/* Part of a period_stream. */
typedef struct {
  size_t window;            /* of events: the longest period that is looked for */
  size_t window_most;       /* to which `window` grows; 0: it is fixed */
  uint64_t count;           /* samples so far */
  tsanom_dpd_nest *nest;    /* of events, or */
  tsanom_dpd_value *value;  /* of values in a window, or */
  const tsanom_exec *whole; /* of a series of values as a whole */
  size_t max_period;        /* of a whole series, as requested */
  size_t tested;            /* longest period of values that was tested */
  size_t cycle;             /* of the whole series, whose length varies; 0: none */
  double variation;         /* of its length, relative; NaN: unknown */
  union {
    uint64_t *event;
    double *value;
  } recent; /* the last `kept` samples, by index modulo that */
  size_t kept;
  stretch *segment; /* those in none of a longer period, in order */
  size_t segments, capacity;
  stretch *active; /* loops that go on, shortest period first; a value's alone */
  size_t actives;
  size_t current;           /* the period by which the stream goes on; 0: none */
  tsanom_dpd_period *found; /* all periods, shortest first */
  size_t founds, found_capacity;
} periods;

typedef struct {
  const char *path;   /* of a file, "-" for standard input; or of a run */
  const char *column; /* of a table; NULL: a sample a line */
  int events;         /* the samples are words, or places of a run */
  size_t window;      /* 0: the default */
  size_t max_period;  /* of values; 0: the default */
  double depth;       /* of values; 0: the default */
  int32_t adapt;      /* of values: the window adapts to the period */
  double interval;    /* seconds between numbers of active threads of a run; 0: none */
  const char *loop;   /* of a run; NULL: choose */
  int salvage;        /* of a run */
  const tsanom_exec *exec; /* polled now and then while a file is read */
} period_request;

/* Zero it before use. */
typedef struct {
  int events;
  const tsanom_exec *exec;
  periods p;
  word_list words;   /* of the events of a file */
  region_stream run; /* of those of a run */
  main_loop main;    /* of a run */
  uint64_t bytes;    /* read so far */
} period_stream;

/* Take all samples, and find their periods. Events and windows of values need memory that
 * does not grow with their number, only with the kinds of events and with what is found. */
int period_stream_read(period_stream *s, const period_request *request, failure *why);
void period_stream_free(period_stream *s);

#endif
