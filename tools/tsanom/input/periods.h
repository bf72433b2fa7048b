/* SPDX-License-Identifier: BSD-3-Clause */
/* The periods of a stream that is read sample by sample. Events and windows of values
 * need memory that depends on the window and on the periods found; a series that is
 * analyzed as a whole is kept. */
#ifndef TSANOM_COMMAND_PERIODS_H
#define TSANOM_COMMAND_PERIODS_H

#include <tsanom/dpd.h>

#include "failure.h"

/* A stretch that repeats itself; its periods start at first, first + period, ... */
typedef struct {
  size_t period;
  uint64_t first, last; /* index of the first and of the last sample */
} stretch;

/* Zero it, then call periods_open(). */
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

/* Ready for events, or for values with the options. A window of 0 grows with the stream:
 * at any time it is a third of the events so far or more, or PERIODS_MOST. */
int periods_open_events(periods *p, size_t window, const tsanom_exec *exec, failure *why);
int periods_open_values(periods *p, const tsanom_dpd_value_options *options,
                        const tsanom_exec *exec, failure *why);

/* Ready for a series of values that periods_finish() analyzes as a whole, for periods up
 * to max_period; 0: the default. */
int periods_open_series(periods *p, size_t max_period, const tsanom_exec *exec,
                        failure *why);

int periods_push_event(periods *p, uint64_t event, failure *why);

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

void periods_free(periods *p);

#endif
