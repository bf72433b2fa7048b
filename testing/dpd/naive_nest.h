/* SPDX-License-Identifier: BSD-3-Clause */
/* The detector of nested loops, straight from its definition. */
#ifndef TSANOM_TEST_NAIVE_NEST_H
#define TSANOM_TEST_NAIVE_NEST_H

#include <stddef.h>
#include <stdint.h>
#include <tsanom/dpd.h>

enum { NAIVE_LONGEST = 100 };

/* The definition, by the run length of every delay. */
typedef struct {
  size_t run[NAIVE_LONGEST + 1];
  size_t found[NAIVE_LONGEST + 1]; /* event + 1; 0: no loop goes on */
} naive_nest;

/* Which loops there are after event number `newest`. */
static inline void naive_judge(naive_nest *naive, size_t newest,
                               const tsanom_dpd_nest_options *options) {
  for (size_t p = 1; p <= NAIVE_LONGEST; p++) {
    if (naive->run[p] == 0 || p > options->max_period) naive->found[p] = 0;
    if (p > options->max_period) continue;
    size_t least = options->repeats * p;
    if (least < options->least_events) least = options->least_events;
    int primitive = 1;
    for (size_t d = 1; d < p; d++) {
      if (p % d == 0 && naive->run[d] + d >= naive->run[p] + p) primitive = 0;
    }
    if (!naive->found[p] && primitive && naive->run[p] + p >= least) {
      naive->found[p] = newest + 1;
    }
  }
}

static inline void naive_push(naive_nest *naive, const uint64_t *event, size_t newest,
                              const tsanom_dpd_nest_options *options) {
  for (size_t p = 1; p <= NAIVE_LONGEST; p++) {
    int equal = p <= newest && event[newest] == event[newest - p];
    naive->run[p] = equal ? naive->run[p] + 1 : 0;
  }
  naive_judge(naive, newest, options);
}

#endif
