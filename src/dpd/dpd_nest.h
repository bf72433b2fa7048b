/* SPDX-License-Identifier: BSD-3-Clause */
/* Nested loops in a stream of events.
 *
 * A loop of period p is found when c = max((repeats-1) p, least_events - p)
 * events in a row have equalled the one p before. Periods up to 16 are
 * counted directly, a vector of run lengths. Longer ones come in octaves: the
 * N-gram detector of window N answers for N/2 < p <= N, and sees a loop of such
 * a period before it is long enough to count, as c >= 2 p > N. Two such periods
 * cannot hide each other then: stretches that long with both would by Fine and
 * Wilf have a common divisor of them as their period. */
#ifndef TSN_DPD_NEST_H
#define TSN_DPD_NEST_H

#include <tsanom/dpd.h>

#include "dpd/dpd_kernel.h"
#include "dpd/dpd_ngram.h"
#include "dpd/dpd_object.h"

enum {
  TSN_NEST_SHORT = 16,
  TSN_NEST_OCTAVES_MAX = 24,
  TSN_NEST_FOLLOWED_MAX = TSN_NEST_SHORT + TSN_NEST_OCTAVES_MAX
};

/* A repetition that goes on; a loop once `found` says so. */
typedef struct {
  uint64_t period;  /* 0: none */
  uint64_t matches; /* events in a row that equal the one a period before */
  uint64_t number;  /* of the event that made it a loop */
  bool found;
} tsn_follower;

struct tsanom_dpd_nest {
  tsn_object owner;
  tsanom_dpd_nest_options options; /* as made: the largest max_period */
  const tsn_dpd_kernels *kernels;
  tsn_history history;
  uint64_t recent[2 * TSN_NEST_SHORT]; /* newest first from `head` on */
  size_t head;
  uint32_t run[TSN_NEST_SHORT];
  uint32_t needed[TSN_NEST_SHORT];
  size_t max_period;                            /* in use */
  size_t octaves;                               /* in use */
  tsn_ngram octave[TSN_NEST_OCTAVES_MAX];       /* windows 32, 64, ... */
  tsn_follower followed[TSN_NEST_FOLLOWED_MAX]; /* the short periods, then the octaves' */
  size_t active;                                /* how many of these are loops */
  tsanom_dpd_period *known;                     /* by period */
  size_t known_count;
  bool overflowed; /* there were more periods than the capacity */
};

/* Windows that periods up to max_period take, and the size of the i-th of them. */
size_t tsn_nest_octaves(size_t max_period);
size_t tsn_nest_window(size_t i);

/* Matches in a row that make a loop of a repetition. */
uint64_t tsn_nest_needed(const tsanom_dpd_nest *nest, uint64_t period);

/* Look for periods up to max_period from now on. */
void tsn_nest_attend(tsanom_dpd_nest *nest, size_t max_period);

/* Take the next event; 1 if a loop was found or ended by it. */
int tsn_nest_follow(tsanom_dpd_nest *nest, uint64_t event);

/* Index of the first event of a loop. */
static inline uint64_t tsn_follower_first(const tsanom_dpd_nest *nest,
                                          const tsn_follower *f) {
  return nest->history.count - f->matches - f->period;
}

#endif
