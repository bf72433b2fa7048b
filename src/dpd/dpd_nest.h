/* SPDX-License-Identifier: BSD-3-Clause */
/* Nested loops in a stream of events.
 *
 * A loop of period p is found when c = max((repeats-1)·p, least_events - p) consecutive
 * events have equaled the event p before:
 *
 *   events   a b a b c | a b a b c | a b a b c        period 5, containing period 2
 *                        ^ matches of period 5 start here, found after c = 10 of them
 *
 * Periods up to 16 are counted directly, in a vector of run lengths. Longer periods are divided into octaves: the N-gram detector of window N
 * (32, 64, ...) covers N/2 < p <= N. It sees a loop of such a period before the loop is
 * long enough to count, because c >= 2p > N. Two periods of one octave cannot hide each
 * other: a sequence that long with both periods would, by Fine and Wilf (Proc. AMS 16
 * (1965) 109-114), also have their greatest common divisor as a period. */
#ifndef TSN_DPD_NEST_H
#define TSN_DPD_NEST_H

#include <tsanom/dpd.h>

#include "core/state.h"
#include "dpd/dpd_ngram.h"

enum {
  TSN_NEST_SHORT = 16,
  TSN_NEST_OCTAVES_MAX = 24,
  TSN_NEST_FOLLOWED_MAX = TSN_NEST_SHORT + TSN_NEST_OCTAVES_MAX
};

/* An ongoing repetition; a loop if `found`. */
typedef struct {
  uint64_t period;  /* 0: none */
  uint64_t matches; /* consecutive events that equal the event a period before */
  uint64_t number;  /* index of the event that made it a loop */
  bool found;
} tsn_follower;

struct tsanom_dpd_nest {
  tsn_object owner;
  tsanom_dpd_nest_options options; /* with the largest max_period */
  tsn_history history;
  uint32_t recent[2]
                 [2 * TSN_NEST_SHORT]; /* halves of events, newest first from `head` on */
  size_t head;
  uint32_t run[TSN_NEST_SHORT];
  uint32_t needed[TSN_NEST_SHORT];
  size_t max_period; /* in use */
  size_t octaves;    /* in use */
  /* Octaves [idle_from, idle_to) have locked one period, of a shorter octave: while it
   * lasts, no event changes them. */
  size_t idle_from, idle_to;
  tsn_ngram octave[TSN_NEST_OCTAVES_MAX];       /* windows 32, 64, ... */
  tsn_follower followed[TSN_NEST_FOLLOWED_MAX]; /* short periods, then one per octave */
  size_t active;                                /* number of followers that are loops */
  tsanom_dpd_period *known;                     /* sorted by period */
  size_t known_count;
  bool overflowed; /* more periods were found than the capacity */
};

extern const tsn_saved tsn_dpd_nest_saved;

/* Number of octaves for periods up to max_period, and the window of the i-th. */
size_t tsn_nest_octaves(size_t max_period);
size_t tsn_nest_window(size_t i);

/* Consecutive matches that make a repetition a loop. */
uint64_t tsn_nest_needed(const tsanom_dpd_nest *nest, uint64_t period);

/* Detect periods up to max_period from now on. */
void tsn_nest_set_max_period(tsanom_dpd_nest *nest, size_t max_period);

/* Push the next event. Returns 1 if it found or ended a loop. */
int tsn_nest_follow(tsanom_dpd_nest *nest, uint64_t event);

/* Whether the octave covers the period that it found. Its detector finds all periods up
 * to its window; the shorter ones belong to smaller octaves. */
bool tsn_nest_is_its_own(const tsanom_dpd_nest *nest, const tsn_ngram *ngram);

/* Index of the first event of a loop. */
static inline uint64_t tsn_follower_first(const tsanom_dpd_nest *nest,
                                          const tsn_follower *f) {
  return nest->history.count - f->matches - f->period;
}

#endif
