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
  tsanom_dpd_period *found; /* periods of values */
  size_t founds, found_capacity;
} periods;

/* The longest period of events that is looked for unless the user gives another. */
enum { PERIODS_MOST = 1 << 20 };

/* The sample must be finite. */
int periods_push_value(periods *p, double sample, failure *why);

/* After the last sample: loops that are active end there. */
int periods_finish(periods *p, failure *why);

/* The periods found, shortest first; the caller frees `list`. */
int periods_list(const periods *p, tsanom_dpd_period **list, size_t *count, failure *why);

/* The period by which the stream goes on; 0: none. Sample `ahead` steps after
 * the last, if it does, is recent number periods_next(p, ahead). */
size_t periods_current(const periods *p);
size_t periods_next(const periods *p, size_t ahead);

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
  word_list words;   /* of the events of a file */
  region_stream run; /* of those of a run */
  uint64_t bytes;    /* read so far */
} period_stream;

int period_stream_open(period_stream *s, const period_request *request, failure *why);

/* Take the samples of a file: one a line, or the `column` of a table; "-" is the
 * standard input. In memory that does not grow with their number, only with the kinds of
 * events and with what is found. */
int period_stream_read(period_stream *s, const char *path, const char *column,
                       failure *why);

/* Take the events of a recorded run: its places, at the level that its main loop chooses. */
int period_stream_read_run(period_stream *s, const char *path, int salvage,
                           main_loop *loop, failure *why);

void period_stream_free(period_stream *s);

#endif
