/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the module share. */
#ifndef TSN_CHANGE_CHANGE_H
#define TSN_CHANGE_CHANGE_H

#include <stdbool.h>
#include <tsanom/change.h>

#include "change/change_kernel.h"
#include "core/arena.h"

/* Fewest samples on either side of a change: outliers of up to five samples are removed. */
enum { TSN_CHANGE_SIDE = 6 };

/* A gain that the best change in n samples without a change reaches with probability
 * `level`, where phi is their estimated autocorrelation; and the inverse. */
double tsn_change_critical(size_t n, double phi, double level);
double tsn_change_significance(size_t n, double phi, double gain);

/* The functions that read options; each rejects what it does not use. */
typedef enum { TSN_CHANGE_FIND, TSN_CHANGE_PUSH, TSN_CHANGE_COMPARE } tsn_change_use;

tsanom_status tsn_change_options_read(tsanom_change_options *own,
                                      const tsanom_change_options *caller,
                                      tsn_change_use use, const tsanom_exec *exec);

/* Reject a number of samples: 0, or more than can exist. */
tsanom_status tsn_change_count(size_t n, const char *name, const tsanom_exec *exec);

/* Reject samples that are not finite. */
tsanom_status tsn_change_finite(const double *x, size_t n, const char *name,
                                const tsanom_exec *exec);

/* An interval of innovations in which one change is looked for. */
typedef struct {
  size_t begin, end, at;
  double gain;
} tsn_change_seed;

/* A series on its way to its change points. */
typedef struct {
  const double *x;
  size_t n;
  double unit;          /* of y */
  double middle;        /* the median, in units */
  double *y;            /* samples without outliers, less the median, in units */
  double *scratch;      /* n */
  double *sum, *moment; /* n + 1 sums of e_i and of i e_i, in units of their deviation */
  unsigned char *changed; /* n: whether a level begins there */
  tsn_change_seed *seeds; /* one for each interval */
  size_t *ends;           /* where levels begin: 0, changes, n */
  size_t end_count;
  double phi, deviation; /* e_i = y_i - phi y_(i-1), its standard deviation */
  double variance;       /* of e_i less their levels, without what they leave of phi */
  const tsn_change_kernels *kernels;
} tsn_change_series;

/* Take the buffers of a series of s->n samples from the arena. */
void tsn_change_layout(tsn_arena *arena, tsn_change_series *s);

/* The noise of a series, by the levels that it seems to have. Returns whether it has
 * enough independent samples. */
bool tsn_change_model(tsn_change_series *s);

/* Find the changes whose gain, less 2 log(n / length of the interval), exceeds
 * `threshold`, and which no drift explains; fills `ends`. Returns the largest such gain of
 * an interval. */
double tsn_change_search(tsn_change_series *s, double threshold);

/* Drop changes of `ends` that noise of another distribution than the normal one explains;
 * returns whether there were any. */
bool tsn_change_confirm(tsn_change_series *s, double level);

/* Standard deviation of most of the values, by their absolute values, which are reordered.
 * Where more than half of them are 0, the mean takes the place of the median. */
double tsn_change_deviation(double *absolute, size_t count);

/* The deviance that n samples e explain of their side of a change, k of them before it;
 * see confirm.c. Overwrites e and scratch, which has n. */
double tsn_change_deviance(double *e, double *scratch, size_t n, size_t k);

/* What it must exceed in n samples, `shorter` of them on one side of the change. */
double tsn_change_deviance_needed(size_t n, size_t shorter, double level);

#endif
