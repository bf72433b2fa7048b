/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 *  Speedup of a program that iterates, computed while it runs.
 *
 *  Fed the parallel regions of a program in the order of time, the analyzer finds
 *  the loops that they form (<tsanom/dpd.h>), times each iteration, from the
 *  beginning of its first region to the beginning of the next iteration, and
 *  compares iterations that ran with different numbers of threads:
 *
 *    speedup      S = t_b / t_c        baseline over current iteration time
 *    efficiency   E = S P_b / P_c      1: twice the threads, half the time
 *    serial share f = A / (A + B)      of t(P) = A + B / P through both points
 *
 *  with P_b threads in the baseline and P_c now; f is Amdahl's fraction. The
 *  baseline is those iterations of the same loop that ran with the baseline's
 *  threads, at any time of the run; the times are medians of the latest
 *  ::TSANOM_SPEEDUP_RECENT iterations.
 *
 *  A loop is identified by the identifier of its first region and its period.
 *
 *  An analyzer lives in one block: of the caller's (_size, _init), or of the
 *  allocator of a tsanom_exec (_create, _destroy). No call but _create
 *  allocates. One analyzer serves one thread at a time.
 *
 *  Source: F. Freitag, J. Corbalan and J. Labarta, A dynamic periodicity
 *  detector: application to speedup computation, section 5; G. M. Amdahl,
 *  Validity of the single processor approach, 1967. */
#ifndef TSANOM_SPEEDUP_H
#define TSANOM_SPEEDUP_H

#include <tsanom/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Limits. The values are ABI: append only. */
enum {
  TSANOM_SPEEDUP_RECENT = 31,         /**< iterations that a median is taken of */
  TSANOM_SPEEDUP_TEAMS = 8,           /**< thread counts told apart in a loop */
  TSANOM_SPEEDUP_LOOPS_MAX = 4096,    /**< loops that an analyzer can remember */
  TSANOM_SPEEDUP_PERIOD_MAX = 1 << 22 /**< regions in an iteration */
};

/** One execution of a parallel region. */
typedef struct tsanom_speedup_event {
  uint64_t region;   /**< which; only equality counts */
  double begin;      /**< when it began, in seconds, finite */
  double end;        /**< when it ended, >= begin */
  int32_t threads;   /**< that it ran with, >= 1 */
  int32_t reserved0; /**< must be 0 */
} tsanom_speedup_event;

/** One iteration of a loop. */
typedef struct tsanom_speedup_iteration {
  uint64_t start;    /**< identifier of the loop's first region */
  size_t period;     /**< regions in the iteration */
  uint64_t number;   /**< among all iterations of that loop, from 0 */
  double begin;      /**< when it began */
  double seconds;    /**< how long it took */
  double parallel;   /**< seconds of it inside regions */
  int32_t threads;   /**< most threads of a region in it */
  int32_t reserved0; /**< 0 */
} tsanom_speedup_iteration;

/** How to analyze: fill by tsanom_speedup_options_init(), then change fields. */
typedef struct tsanom_speedup_options {
  size_t struct_size; /**< set by _init: which fields this caller knows */
  /** Regions of the longest iteration looked for, 1 to
   *  ::TSANOM_SPEEDUP_PERIOD_MAX; 1024 (default). */
  size_t max_period;
  /** Loops that can be told apart, 1 to ::TSANOM_SPEEDUP_LOOPS_MAX; 64 (default). */
  size_t capacity;
  /** Threads of the baseline P_b; 0 (default): the fewest that a loop ran with. */
  int32_t baseline;
  int32_t reserved0; /**< must be 0 */
  /** Called once for each iteration, when it is known to be complete; the first
   *  ones of a loop when the loop is found. NULL (default): never. */
  void (*visit)(void *user, const tsanom_speedup_iteration *iteration);
  /** Handed to visit. */
  void *visit_user;
} tsanom_speedup_options;

/** Write the defaults described at ::tsanom_speedup_options.
 *  @param[out] options      the caller's struct
 *  @param      struct_size  its sizeof, where the caller was compiled
 *  @retval TSANOM_E_NULL     options is NULL
 *  @retval TSANOM_E_VERSION  struct_size is smaller than the first release's
 *  @return TSANOM_OK otherwise */
TSANOM_API tsanom_status tsanom_speedup_options_init(tsanom_speedup_options *options,
                                                     size_t struct_size);

/** What is known of a loop. */
typedef struct tsanom_speedup_loop {
  uint64_t start;         /**< identifier of its first region */
  size_t period;          /**< regions in an iteration */
  uint64_t iterations;    /**< complete so far */
  uint64_t runs;          /**< how many times the loop was entered */
  uint64_t last_run;      /**< iterations of the latest run of it that has ended; 0: none
                               has */
  double first;           /**< when its first iteration began */
  double last;            /**< when its last complete iteration ended */
  double total_s;         /**< seconds in all its iterations */
  double parallel_s;      /**< seconds of these inside regions */
  double baseline_s;      /**< t_b; NaN if no iteration ran with the baseline's threads */
  double current_s;       /**< t_c */
  double speedup;         /**< S; NaN without a baseline, or if t_c is 0 */
  double efficiency;      /**< E; NaN as S */
  double serial_fraction; /**< f; NaN without a baseline or if P_b = P_c. Below 0
                               where S exceeds P_c / P_b */
  int32_t baseline_threads; /**< P_b */
  int32_t current_threads;  /**< P_c, of the latest iteration */
} tsanom_speedup_loop;

/** How long a program will take. */
typedef struct tsanom_speedup_prediction {
  uint64_t start;      /**< the loop that it rests on: the main loop */
  size_t period;       /**< likewise */
  uint64_t iterations; /**< of the main loop, complete so far */
  uint64_t expected;   /**< that it will have in the end */
  double remaining_s;  /**< from the last event until its last iteration ends; >= 0 */
  double total_s;      /**< when that will be, on the clock of the events */
} tsanom_speedup_prediction;

/** An analyzer. */
typedef struct tsanom_speedup tsanom_speedup;

/** Bytes of an analyzer, O(max_period + capacity).
 *  @param      options  NULL: the defaults
 *  @param[out] bytes    good for a block of any alignment
 *  @retval TSANOM_E_NULL    bytes is NULL
 *  @retval TSANOM_E_OPTION  a field of options is out of its range
 *  @return TSANOM_OK otherwise, or the status of refused options */
TSANOM_API tsanom_status tsanom_speedup_size(const tsanom_speedup_options *options,
                                             size_t *bytes);

/** Make an analyzer in the caller's memory.
 *  @param      options   NULL: the defaults
 *  @param      memory    stays in use as long as the analyzer
 *  @param      bytes     at least tsanom_speedup_size()'s answer
 *  @param[out] analyzer  a handle into `memory`; nothing to destroy
 *  @retval TSANOM_E_NULL       memory or analyzer is NULL
 *  @retval TSANOM_E_WORKSPACE  bytes is too small
 *  @return TSANOM_OK otherwise, or the status of refused options */
TSANOM_API tsanom_status tsanom_speedup_init(const tsanom_speedup_options *options,
                                             void *memory, size_t bytes,
                                             tsanom_speedup **analyzer);

/** Make an analyzer in one block of exec's allocator.
 *  @param      options   NULL: the defaults
 *  @param      exec      NULL: the C heap; its allocator must outlive the analyzer
 *  @param[out] analyzer  to be given to tsanom_speedup_destroy()
 *  @retval TSANOM_E_NULL    analyzer is NULL
 *  @retval TSANOM_E_MEMORY  the allocator gave NULL
 *  @return TSANOM_OK otherwise, or the status of refused options or exec */
TSANOM_API tsanom_status tsanom_speedup_create(const tsanom_speedup_options *options,
                                               const tsanom_exec *exec,
                                               tsanom_speedup **analyzer);

/** Give a created analyzer's block back.
 *  @param analyzer  from tsanom_speedup_create(); NULL: nothing is done */
TSANOM_API void tsanom_speedup_destroy(tsanom_speedup *analyzer);

/** Feed one region that has ended. O(log max_period) expected.
 *  @param analyzer  the analyzer; after a refusal as before
 *  @param event     the region
 *  @retval TSANOM_E_NULL       analyzer or event is NULL
 *  @retval TSANOM_E_NONFINITE  a time is NaN or infinite
 *  @retval TSANOM_E_ORDER      it began before the one before ended, or ended before
 *                              it began
 *  @retval TSANOM_E_VALUE      threads is below 1
 *  @retval TSANOM_E_OPTION     reserved0 is not 0
 *  @retval TSANOM_E_STATE      after tsanom_speedup_finish()
 *  @return TSANOM_OK otherwise */
TSANOM_API tsanom_status tsanom_speedup_push(tsanom_speedup *analyzer,
                                             const tsanom_speedup_event *event);

/** Say that no more regions come: an iteration whose last region has ended is
 *  complete, and lasted until then. Repeating it changes nothing.
 *  @param analyzer  the analyzer
 *  @retval TSANOM_E_NULL  analyzer is NULL
 *  @return TSANOM_OK otherwise */
TSANOM_API tsanom_status tsanom_speedup_finish(tsanom_speedup *analyzer);

/** The loops found so far, in the order in which they were found.
 *  @param      analyzer  the analyzer
 *  @param[out] loops     the first `capacity` of them; may be NULL if that is 0
 *  @param      capacity  room in loops
 *  @param[out] count     how many there are
 *  @retval TSANOM_E_NULL   analyzer, count, or loops with a capacity, is NULL
 *  @retval TSANOM_PARTIAL  there are more than capacity, or than the options'
 *                          capacity could tell apart
 *  @return TSANOM_OK otherwise */
TSANOM_API tsanom_status tsanom_speedup_loops(const tsanom_speedup *analyzer,
                                              tsanom_speedup_loop *loops, size_t capacity,
                                              size_t *count);

/** Take another run of the same loop for its baseline: t_b and P_b become `baseline`'s
 *  t_c and P_c, and S, E and f follow. It is for the caller to know that both are one
 *  loop; identifiers of regions may differ from run to run.
 *  @param loop      changed unless it is refused
 *  @param baseline  the loop in the run to compare with; may be `loop`
 *  @retval TSANOM_E_NULL       loop or baseline is NULL
 *  @retval TSANOM_E_VALUE      their periods differ, or one has no current threads
 *  @retval TSANOM_E_NONFINITE  one has no current time
 *  @return TSANOM_OK otherwise */
TSANOM_API tsanom_status tsanom_speedup_compare(tsanom_speedup_loop *loop,
                                                const tsanom_speedup_loop *baseline);

/** Predict when the main loop ends. To the end of its last complete iteration come, for
 *  each iteration still missing, the mean of those on the current threads and, for each
 *  run of the loop still missing,
 *  the mean time between its runs. Runs are taken to be as long as the last one that
 *  has ended. Of n iterations the mean leaves out the first 2^(floor(log2 n) - 1), a
 *  quarter to a half, in which a program warms up, and
 *  counts each other as one and a half times the median of the latest
 *  ::TSANOM_SPEEDUP_RECENT by then if it took longer: what interrupts a program for long
 *  is seldom what it goes on with. The main loop is, of those that have at
 *  least nine tenths of the time of the loop that has most, the one of the
 *  longest period.
 *  @param      analyzer    the analyzer
 *  @param      iterations  that the main loop has in all, if known; 0: as many as
 *                          its latest run that has ended, if there was one
 *  @param[out] prediction  the answer; untouched unless TSANOM_OK is returned
 *  @retval TSANOM_E_NULL      analyzer or prediction is NULL
 *  @retval TSANOM_INFEASIBLE  there is no loop, or nothing says how long it goes on
 *  @return TSANOM_OK otherwise */
TSANOM_API tsanom_status tsanom_speedup_predict(const tsanom_speedup *analyzer,
                                                uint64_t iterations,
                                                tsanom_speedup_prediction *prediction);

#ifdef __cplusplus
}
#endif
#endif
