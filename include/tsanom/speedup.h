/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 *  Speedup of an iterative program: how much faster is it with more threads, and when will
 *  it end?
 *
 *  | you have                                      | use                               |
 *  |-----------------------------------------------|-----------------------------------|
 *  | parallel regions, one by one or recorded      | tsanom_speedup_create(), tsanom_speedup_push(), then tsanom_speedup_loops() and tsanom_speedup_predict() |
 *  | a loop whose iterations are known             | tsanom_speedup_summarize(); iterations may differ |
 *  | the same loop in another run                  | tsanom_speedup_compare()          |
 *  | a program with one region around its main loop| tsanom_speedup_choose_level()     |
 *
 *  @code{.c}
 *  tsanom_speedup *analyzer = NULL;
 *  if (tsanom_speedup_create(NULL, NULL, &analyzer) < 0) return 1;
 *  double now = 0;
 *  for (int i = 0; i < 20; i++) {                 // an iteration: 4 s of work in a region
 *    int32_t threads = i < 5 ? 1 : 4;
 *    tsanom_speedup_event event = {
 *        .region = 7, .begin = now, .end = now + 4.0 / threads, .threads = threads};
 *    tsanom_speedup_push(analyzer, &event);
 *    now = event.end + 0.5;                       // serial code
 *  }
 *  tsanom_speedup_loop loop;
 *  size_t count;
 *  tsanom_speedup_loops(analyzer, &loop, 1, &count);
 *  printf("speedup %.2f, serial fraction %.2f\n", loop.speedup, loop.serial_fraction);
 *  // -> speedup 3.00, serial fraction 0.11
 *  tsanom_speedup_destroy(analyzer);
 *  @endcode
 *
 *  An analyzer finds the loops that the regions form (<tsanom/dpd.h>). It times each
 *  iteration, from the begin of its first region to the begin of the next iteration, and
 *  compares iterations with different numbers of threads:
 *
 *  | result          | formula                    |                                     |
 *  |-----------------|----------------------------|-------------------------------------|
 *  | speedup         | \f$S = t_b / t_c\f$        | baseline over current time          |
 *  | efficiency      | \f$E = S\,P_b / P_c\f$     | 1: ideal                            |
 *  | serial fraction | \f$f = A / (A + B)\f$      | t(P) = A + B/P through both points  |
 *
 *  with \f$P_b\f$ threads in the baseline and \f$P_c\f$ now; f is Amdahl's fraction. The
 *  baseline is the iterations of the same loop with \f$P_b\f$ threads, at any time of the
 *  run. The times \f$t_b\f$ and \f$t_c\f$ are medians of the latest
 *  ::TSANOM_SPEEDUP_RECENT iterations. If you time two whole runs, you get the ratio of the
 *  mean times of all iterations instead: rare long iterations count in it, but hardly in
 *  medians. A loop is identified by its first region and its period.
 *
 *  An analyzer needs a loop of at least three equal iterations. It is an object in one
 *  block from the allocator of exec, which must outlive the analyzer. After _create, no
 *  call allocates. tsanom_save() and tsanom_restore() save it. One call at a time may use
 *  it.
 *
 *  Errors besides the common ones, of an event: ::TSANOM_E_NONFINITE, a time;
 *  ::TSANOM_E_ORDER, it begins before the previous one ends, or ends before it begins;
 *  ::TSANOM_E_VALUE, threads is below 1; ::TSANOM_E_OPTION, reserved0 is not 0.
 *
 *  Sources: F. Freitag, J. Corbalan and J. Labarta, A dynamic periodicity detector:
 *  application to speedup computation, section 5; G. M. Amdahl, Validity of the single
 *  processor approach, 1967. */
#ifndef TSANOM_SPEEDUP_H
#define TSANOM_SPEEDUP_H

#include <tsanom/base.h>
#include <tsanom/dpd.h>

/** @addtogroup speedup
 *  @{ */

#ifdef __cplusplus
extern "C" {
#endif

/** Limits. ABI: append only. */
enum {
  TSANOM_SPEEDUP_RECENT = 31,         /**< iterations in a median */
  TSANOM_SPEEDUP_THREAD_COUNTS = 8,   /**< distinct thread counts recorded per loop */
  TSANOM_SPEEDUP_LOOPS_MAX = 4096,    /**< loops that an analyzer records */
  TSANOM_SPEEDUP_PERIOD_MAX = 1 << 22 /**< regions in an iteration */
};

/** What the events of a stream are. ABI: append only. */
enum {
  TSANOM_SPEEDUP_REGIONS = 0,    /**< parallel regions */
  TSANOM_SPEEDUP_WORKSHARING = 1 /**< the work between ends of worksharing constructs */
};

/** One execution of a parallel region. */
typedef struct tsanom_speedup_event {
  uint64_t region;   /**< identifier; only equality counts */
  double begin;      /**< time of its begin, in seconds, finite */
  double end;        /**< time of its end, >= begin */
  int32_t threads;   /**< number of threads, >= 1 */
  int32_t reserved0; /**< must be 0 */
} tsanom_speedup_event;

/** One iteration of a loop. */
typedef struct tsanom_speedup_iteration {
  uint64_t start;     /**< identifier of the first region of the loop */
  size_t period;      /**< regions in the iteration */
  uint64_t number;    /**< among all iterations of the loop, from 0 */
  double begin;       /**< time of its begin */
  double seconds;     /**< its duration */
  double parallel;    /**< seconds inside regions */
  int32_t threads;    /**< largest number of threads of a region in it */
  int32_t reserved0;  /**< 0 */
  uint64_t reserved1; /**< 0 */
} tsanom_speedup_iteration;

/** How to analyze. Initialize it with tsanom_speedup_options_init(). */
typedef struct tsanom_speedup_options {
  size_t struct_size; /**< set by _init */
  /** Regions of the longest iteration, 1 to ::TSANOM_SPEEDUP_PERIOD_MAX; 1024
   *  (default) */
  size_t max_period;
  /** Loops that are recorded, 1 to ::TSANOM_SPEEDUP_LOOPS_MAX; 64 (default). */
  size_t capacity;
  /** Threads of the baseline, P_b; 0 (default): the fewest of an iteration of the loop, of
   *  those that the latest one did not have, if there are any. */
  int32_t baseline;
  int32_t reserved0; /**< must be 0 */
  /** Called once for each complete iteration; for the first ones of a loop when the loop
   *  is found. It must not use the analyzer. NULL (default): never. */
  void (*visit)(void *user, const tsanom_speedup_iteration *iteration);
  /** First argument of visit. */
  void *visit_user;
  /** For tsanom_speedup_summarize() without an array: point *events to the next events, and
   *  return how many these are, at least 1; they are read before the next call. NULL
   *  (default): the events are an array. */
  size_t (*next)(void *user, const struct tsanom_speedup_event **events);
  /** First argument of next. */
  void *next_user;
} tsanom_speedup_options;

/** Write the defaults described at ::tsanom_speedup_options. @initializes{options} */
TSANOM_API tsanom_status tsanom_speedup_options_init(tsanom_speedup_options *options,
                                                     size_t struct_size);

/** Statistics of a loop. */
typedef struct tsanom_speedup_loop {
  uint64_t start;         /**< identifier of its first region */
  size_t period;          /**< regions in an iteration */
  uint64_t iterations;    /**< number of complete iterations */
  uint64_t runs;          /**< how many times the loop was entered */
  uint64_t last_run;      /**< iterations of its latest finished run; 0: none finished */
  double first;           /**< time when its first iteration began */
  double last;            /**< time when its last complete iteration ended */
  double total_s;         /**< seconds in all its iterations */
  double parallel_s;      /**< seconds of these inside regions */
  double baseline_s;      /**< t_b; NaN if no iteration ran with the baseline threads */
  double current_s;       /**< t_c */
  double speedup;         /**< S; NaN without a baseline, or if t_c is 0 */
  double efficiency;      /**< E; NaN if S is */
  double serial_fraction; /**< f; NaN without a baseline, or if P_b = P_c; negative if S
                               exceeds P_c / P_b */
  int32_t baseline_threads; /**< P_b */
  int32_t current_threads;  /**< P_c, of the latest iteration */
  double baseline_mean_s;   /**< mean of all iterations with P_b threads; NaN: none */
  double current_mean_s;    /**< mean of all iterations with P_c threads; NaN: none */
  uint64_t reserved;        /**< 0 */
} tsanom_speedup_loop;

/** Predicted end of a program. Begin with `{.struct_size = sizeof x}`. */
typedef struct tsanom_speedup_prediction {
  size_t struct_size;  /**< sizeof, set by the caller */
  uint64_t start;      /**< identifier of the first region of the main loop */
  size_t period;       /**< period of the main loop */
  uint64_t iterations; /**< its complete iterations so far */
  uint64_t expected;   /**< its predicted number of iterations */
  double remaining_s;  /**< from the last event to the end of its last iteration; >= 0 */
  double total_s;      /**< time of that end, on the clock of the events; NaN: `drifts` */
  double low_s;        /**< total_s is at least this with 95 %; NaN: not known */
  double high_s;       /**< and at most this */
  int32_t drifts;    /**< 1: iterations become longer or shorter, the end is not known */
  int32_t reserved0; /**< 0 */
} tsanom_speedup_prediction;

/** An analyzer. */
typedef struct tsanom_speedup tsanom_speedup;

/** Make an analyzer. It takes O(max_period + capacity) bytes.
 *  @param[out] analyzer  pass it to tsanom_speedup_destroy()
 *  @options @exec @status */
TSANOM_API tsanom_status tsanom_speedup_create(const tsanom_speedup_options *options,
                                               const tsanom_exec *exec,
                                               tsanom_speedup **analyzer);

/** Release an analyzer. @param analyzer NULL: nothing happens */
TSANOM_API void tsanom_speedup_destroy(tsanom_speedup *analyzer);

/** Push one finished region. Expected O(log max_period). A rejected event changes
 *  nothing.
 *  @param event  the region
 *  @the{analyzer} @status
 *  @retval TSANOM_E_STATE  after tsanom_speedup_finish() */
TSANOM_API tsanom_status tsanom_speedup_push(tsanom_speedup *analyzer,
                                             const tsanom_speedup_event *event);

/** Mark the end of the stream: an iteration whose last region has ended is complete, and
 *  ends with that region. A second call changes nothing.
 *  @the{analyzer} @status */
TSANOM_API tsanom_status tsanom_speedup_finish(tsanom_speedup *analyzer);

/** The loops found so far, in the order in which they were found. ::TSANOM_PARTIAL also
 *  if more were found than the capacity of the options.
 *  @array{loops,count}
 *  @the{analyzer} @status */
TSANOM_API tsanom_status tsanom_speedup_loops(const tsanom_speedup *analyzer,
                                              tsanom_speedup_loop *loops, size_t capacity,
                                              size_t *count);

/** Compare a loop with the same loop in another run. The t_b, P_b and mean baseline time of
 *  `loop` are replaced by the current t_c, P_c and mean time of `baseline`; S, E and f are
 *  computed again. You must know that both are the same loop, because identifiers of
 *  regions may differ between runs.
 *  @param[in,out] loop      modified only if TSANOM_OK is returned
 *  @param         baseline  the loop in the other run; may be `loop`
 *  @status
 *  @retval TSANOM_E_VALUE      the periods differ, or a loop has no current threads
 *  @retval TSANOM_E_NONFINITE  a loop has no current time */
TSANOM_API tsanom_status tsanom_speedup_compare(tsanom_speedup_loop *loop,
                                                const tsanom_speedup_loop *baseline);

/** Predict when the main loop ends: the end of its last complete iteration, plus the mean
 *  iteration time for each missing iteration, plus the mean time between runs for each
 *  missing run. Missing runs are assumed to be as long as the last finished one. Prefer
 *  tsanom_speedup_summarize() if you know the iterations: its prediction has an interval.
 *
 *  The mean is over the n iterations with the current threads, with two corrections.
 *  - Warm-up: the first 2^(floor(log2 n) - 1) iterations, between a quarter and a half, are
 *    excluded.
 *  - Outliers: an iteration counts at most 1.5 times the median of the latest
 *    ::TSANOM_SPEEDUP_RECENT iterations at that time, because a long interruption rarely
 *    repeats.
 *
 *  The main loop is the loop of the longest period among those with at least
 *  nine tenths of the time of the loop with the most time.
 *  @param      iterations  total number of iterations of the main loop, if known; 0: as
 *                          many as its latest finished run had
 *  @param[out] prediction  begins with its struct_size
 *  @the{analyzer} @status
 *  @retval TSANOM_INFEASIBLE  there is no loop, or nothing determines its length;
 *                             prediction is not modified */
TSANOM_API tsanom_status tsanom_speedup_predict(const tsanom_speedup *analyzer,
                                                uint64_t iterations,
                                                tsanom_speedup_prediction *prediction);

/** Statistics and predicted end of a loop whose iterations you know, for example from
 *  tsanom_dpd_main_loop(). Iteration i consists of the events iterations[i].first, ...,
 *  iterations[i].end - 1. If the next iteration has the next event, iteration i ends where
 *  the next one begins, else with its last event. Consecutive iterations are a run of the
 *  loop.
 *
 *  In `loop`, `start` is the first region, and `period` the rounded mean of regions per
 *  iteration.
 *
 *  The prediction is computed as by tsanom_speedup_predict(), with these additions.
 *  - Long iterations: with c > 1 times the mean number of regions, the limit of an outlier
 *    is c times as high.
 *  - Cycles: if every K-th iteration exceeds the limit, three or more without an exception,
 *    these are not limited, and each missing iteration is expected to take the mean of
 *    those at the same place of the latest whole cycles of K iterations.
 *  - Recurrent outliers: the iterations are divided into k <= 8 parts. If at least half of
 *    the parts have outliers, the time that the limit removed is added to the mean again,
 *    of each part at most three times the median.
 *  - Drift: if the mean times of five parts or more lie on a line (\f$R^2 \ge 0.8\f$) that
 *    changes by more than a tenth, the iterations drift, and the end is not known.
 *
 *  The interval contains the end with 95 % if the future varies as the past did: iterations
 *  may depend on earlier ones, and rare long iterations may come again (docs/speedup.md),
 *  and if missing runs are as long as the last finished one. The time between runs counts
 *  with its deviation; with its own length where only one is known.
 *  It does not cover what cannot be seen yet: another load of the machine, a random walk,
 *  or a drift that is slower than the scatter. The interval is not known with fewer than 20
 *  iterations, or if the longest remaining time is more than twice the shortest.
 *  @param      events           regions in the order of time; NULL: from
 *                               tsanom_speedup_options::next. Then the workspace is 16 bytes for
 *                               each iteration, else none
 *  @param      count            number of these
 *  @param      iterations       ascending, not empty, and disjoint
 *  @param      iteration_count  at least 1
 *  @param      options          `baseline`, `visit` and `next` are used, other fields must be
 *                               at their defaults. NULL: the defaults
 *  @param      expected         as `iterations` of tsanom_speedup_predict(). 0: the loop
 *                               counts as ended if more events follow than its longest
 *                               iteration has
 *  @param[out] loop             statistics
 *  @param[out] prediction       begins with its struct_size, or NULL
 *  @exec @status
 *  @retval TSANOM_INFEASIBLE  nothing determines how many iterations to expect: `loop` is
 *                             filled, prediction is not modified
 *  @retval TSANOM_E_COUNT     there are no iterations, or `next` has fewer events
 *  @retval TSANOM_E_INDEX     an iteration is empty, exceeds the events, or begins before
 *                             the end of the one before it; the fault has its index */
TSANOM_API tsanom_status tsanom_speedup_summarize(
    const tsanom_speedup_event *events, size_t count,
    const tsanom_dpd_iteration *iterations, size_t iteration_count,
    const tsanom_speedup_options *options, uint64_t expected, const tsanom_exec *exec,
    tsanom_speedup_loop *loop, tsanom_speedup_prediction *prediction);

/** Choose which of two streams of a run to analyze: its parallel regions or its
 *  worksharing constructs. A program that opens one region around its main loop has no
 *  loop of regions. Worksharing is chosen if its main loop takes more than twice the time of
 *  that of regions: a few regions at the start of a program may form a loop too.
 *  @param      regions      tsanom_dpd_main::covered of the parallel regions; 0: no main loop
 *  @param      worksharing  the same of the worksharing constructs
 *  @param[out] level        TSANOM_SPEEDUP_REGIONS or TSANOM_SPEEDUP_WORKSHARING
 *  @status
 *  @retval TSANOM_E_NONFINITE  a time is infinite or NaN */
TSANOM_API tsanom_status tsanom_speedup_choose_level(double regions, double worksharing,
                                                     int32_t *level);

#ifdef __cplusplus
}
#endif
/** @} */
#endif
