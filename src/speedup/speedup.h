/* SPDX-License-Identifier: BSD-3-Clause */
/* Internal structure of an analyzer.
 *
 *     analyzer --> nest      the detector of loops (dpd)
 *              --> past      ring of the latest events: times, prefix sums
 *              --> loops     the loops found so far, each over all its runs
 *              live[]        the runs in progress, each refers to its loop
 *
 * All of it is one block of fixed size, O(max_period + capacity). Times are seconds of
 * one clock whose zero does not matter; events come in order of time and do not overlap.
 */
#ifndef TSN_SPEEDUP_SPEEDUP_H
#define TSN_SPEEDUP_SPEEDUP_H

#include <stdbool.h>
#include <tsanom/dpd.h>
#include <tsanom/speedup.h>

#include "core/fault.h"
#include "core/state.h"
#include "core/versioned.h"

enum { TSN_LIVE_MAX = 64 }; /* loops followed at once */

/* Long interruptions are outliers: in predictions, an iteration counts at most this
 * multiple of the running median. So an interruption at the start does not delay the end
 * again, but a small disturbance of each iteration does. */
#define TSN_OUTLIER 1.5

/* A past event. */
typedef struct {
  uint64_t region;
  double begin, end;
  double parallel; /* seconds in regions before it */
  int64_t threads; /* of this width, so that a saved state has no gaps */
} tsn_past_event;

/* Times of the iterations of a loop with one number of threads. Kept for up to
 * TSANOM_SPEEDUP_THREAD_COUNTS numbers, so that baseline and current times come from one
 * run. */
typedef struct {
  int32_t threads;
  uint32_t next; /* index in `seconds` of the next time */
  uint64_t count;
  double sum;           /* of all times */
  double limited;       /* the same, each at most TSN_OUTLIER medians */
  double limited_at[2]; /* `limited` when `count` was the two latest powers of two */
  double seconds[TSANOM_SPEEDUP_RECENT]; /* a ring of the latest times */
  /* Not saved: */
  double sorted[TSANOM_SPEEDUP_RECENT]; /* the same, sorted */
} tsn_times;

extern const tsn_versioned tsn_prediction_type;

/* The median of the latest times; `count` must not be 0. */
double tsn_times_median(const tsn_times *times);

/* Insert a time into the sorted latest times, in place of the oldest one if there are
 * TSANOM_SPEEDUP_RECENT. */
void tsn_times_insert(tsn_times *times, double seconds);

/* A loop over all its runs. */
typedef struct {
  uint64_t start; /* its first region: with the period, the identity */
  size_t period;  /* regions of an iteration */
  uint64_t iterations, runs, last_run; /* last_run: iterations of the last finished run */
  double first, last, total, parallel; /* seconds: begin, end, duration, in regions */
  double between; /* total seconds from the end of a run to the begin of the next */
  int32_t current_threads; /* of the latest iteration */
  uint32_t thread_counts;  /* elements of `times` in use */
  tsn_times
      times[TSANOM_SPEEDUP_THREAD_COUNTS]; /* fields before it are saved as they are */
} tsn_loop;

/* Add an iteration that ended at `end`. */
void tsn_loop_add(tsn_loop *loop, const tsanom_speedup_iteration *iteration, double end);

/* The loop as the caller sees it, compared with the times of `wanted` threads; 0: the
 * fewest. */
void tsn_loop_describe(const tsn_loop *loop, int32_t wanted, tsanom_speedup_loop *answer);

/* The times with the current threads; NULL: the loop has no iteration. */
const tsn_times *tsn_loop_current(const tsn_loop *loop);

/* Of that many iterations, those at the beginning that predictions leave out. */
uint64_t tsn_excluded(uint64_t iterations);

/* The time that an iteration is expected to take; the loop has one. */
double tsn_loop_expected(const tsn_loop *loop);

/* Predict the end of a loop that has iterations, `now` of them in its active run, 0: it
 * has none. `latest` is the end of the latest event. */
tsanom_status tsn_loop_predict(const tsn_loop *loop, uint64_t now, uint64_t iterations,
                               double latest, tsanom_speedup_prediction *prediction);

/* An active run of a loop. Nested loops have one each, which complete iterations
 * independently. */
typedef struct {
  size_t period;
  /* As reported by the detector: with the period, it identifies the run. */
  uint64_t first;
  uint64_t begun; /* index of the event that began the current iteration */
  uint64_t iterations;
  tsn_loop *loop;
} tsn_live;

struct tsanom_speedup {
  tsn_object owner;
  tsanom_speedup_options options;
  tsanom_dpd_nest *nest;
  tsn_past_event *past; /* a ring */
  uint64_t past_mask;
  uint64_t events;
  double parallel; /* seconds in all regions */
  tsn_loop *loops;
  size_t loop_count;
  bool lost; /* a loop was not recorded: the capacity was exhausted */
  bool finished;
  size_t live_count;
  tsn_live live[TSN_LIVE_MAX];
};

tsanom_status tsn_speedup_options_read(tsanom_speedup_options *own,
                                       const tsanom_speedup_options *caller,
                                       const tsanom_exec *exec);

/* Check events from number `first` on, of the argument `events`, as a push does. */
tsanom_status tsn_speedup_check_all(const tsanom_exec *exec,
                                    const tsanom_speedup_event *events, size_t first,
                                    size_t count, double earliest);

#endif
