/* SPDX-License-Identifier: BSD-3-Clause */
/* Which iterations of a series of times are slow, and whether they form a stretch, recur
 * with a period, or change permanently. */
#ifndef TSANOM_COMMAND_SLOW_SERIES_H
#define TSANOM_COMMAND_SLOW_SERIES_H

#include <stddef.h>
#include <stdint.h>

#include "failure.h"

enum {
  SLOW_SINGLE,    /* some iterations, here and there */
  SLOW_STRETCH,   /* all from `first` to `last` */
  SLOW_RECURRING, /* every `period` iterations */
  SLOW_SINCE,     /* all from `first` on */
  SLOW_UNTIL      /* all until `last` */
};

enum {
  SLOW_MOST = 16,  /* findings kept of a series */
  SLOW_FEWEST = 20 /* iterations of which anything can be found */
};

/* Processors change their speed by much within less than these seconds. */
#define SLOW_SHORT_S 0.5

typedef struct {
  int32_t kind; /* SLOW_* */
  size_t first, last, count, period;
  /* Mean time over that of normal iterations, and its interval of 95 %; NaN: not known. */
  double ratio, low, high;
  size_t place_low,
      place_high; /* interval of where a change is; TSANOM_NONE: not known */
  double lost_s;  /* more than as many normal iterations take */
} slow_finding;

/* Zero it before use. */
typedef struct {
  slow_finding finding[SLOW_MOST]; /* the one that lost most comes first */
  size_t count;
  int32_t *class_of; /* by iteration: 0 normal, k of finding k - 1, -1 neither */
  double median_s;   /* of a normal iteration */
  /* Smallest ratios that would be found: of single iterations, and of a change that lasts
   * for a fifth of them. */
  double single, lasting;
  int is_short; /* 1: too few iterations, for their correlation, to show a change */
} slow_series;

/* Search n iterations, which took `seconds`. Findings that lost less than a hundredth of
 * the time are dropped. */
int slow_find(const double *seconds, size_t n, slow_series *out, failure *why);
void slow_free(slow_series *s);

/* Names the iterations of a finding: "3, 7-9, 20, 31 and 2 more". */
enum { SLOW_RANGE_BYTES = 160 };
void slow_ranges(const slow_series *s, size_t finding, size_t n,
                 char text[SLOW_RANGE_BYTES]);

#endif
