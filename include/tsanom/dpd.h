/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 *  The dynamic periodicity detector (DPD): does a stream repeat itself, with
 *  which period, and where does each period start?
 *
 *  Over a window of the last N samples, the distance at delay m is
 *
 *    d(m) = 1/N  sum_{i=0}^{N-1} |x[t-i] - x[t-i-m]|      (values,  eq. 1)
 *    d(m) = sign sum_{i=0}^{N-1} |x[t-i] - x[t-i-m]|      (events,  eq. 2)
 *
 *  and the period is a delay at which d has a deep minimum, or is zero. Four
 *  objects compute it, each fed a sample at a time:
 *
 *  - ::tsanom_dpd_event, events: the smallest m with d(m) = 0, in O(1) expected;
 *  - ::tsanom_dpd_nest, events: the periods of nested loops, all at once;
 *  - ::tsanom_dpd_curve, events: the whole d(m), in O(M);
 *  - ::tsanom_dpd_value, values: the whole d(m) and its period, in O(M).
 *
 *  An object lives in one block: of the caller's (_size, _init), or of the
 *  allocator of a tsanom_exec (_create, _destroy). Objects are independent;
 *  one object serves one thread at a time. No call but _create allocates.
 *
 *  Source: F. Freitag, J. Corbalan and J. Labarta, A dynamic periodicity
 *  detector: application to speedup computation, sections 3 and 4. */
#ifndef TSANOM_DPD_H
#define TSANOM_DPD_H

#include <tsanom/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Limits. The values are ABI: append only. */
enum {
  TSANOM_DPD_WINDOW_MAX = 1 << 26, /**< samples in a window */
  TSANOM_DPD_PERIODS_MAX = 4096    /**< distinct periods that a nest remembers */
};

/** What a pushed sample did to a detector. The values are ABI: append only. */
enum {
  TSANOM_DPD_STEADY = 0, /**< the period, or that there is none, is as before */
  TSANOM_DPD_LOCKED = 1, /**< a period is found where there was none or another */
  TSANOM_DPD_LOST = 2    /**< the stream broke off from the period it had */
};

/** Answer of a detector after a sample. */
typedef struct tsanom_dpd_report {
  size_t period;  /**< the fundamental period, in samples; 0: none */
  int32_t start;  /**< 1 if this sample starts a period (segmentation), else 0 */
  int32_t change; /**< TSANOM_DPD_STEADY, _LOCKED or _LOST */
  /** Depth of the minimum, 0 to 1: 1 - d(period) / mean of d; 1 for events; 0
   *  without a period. */
  double confidence;
  /** Samples in a row up to this one, it included, that predicting each from the
   *  one a period before would have got right; for values, within 1 - depth of the
   *  mean of d, and when the period is found looking back over the window. */
  uint64_t horizon;
} tsanom_dpd_report;

/** How an event detector works: fill by tsanom_dpd_event_options_init(). */
typedef struct tsanom_dpd_event_options {
  size_t struct_size; /**< set by _init: which fields this caller knows */
  size_t window;      /**< N, 1 to ::TSANOM_DPD_WINDOW_MAX; 1024 (default) */
  size_t max_period;  /**< the largest delay, 1 to window; 0 = window (default) */
  /** 1: once a period p has held for N samples the window shrinks to 2 p, so
   *  that a break is overcome in 3 p samples, and grows back to N when 2 N
   *  samples have passed without a period. 0 (default): only
   *  tsanom_dpd_event_resize() changes it. */
  int32_t adapt;
  int32_t reserved0; /**< must be 0 */
} tsanom_dpd_event_options;

/** Write the defaults described at ::tsanom_dpd_event_options.
 *  @param[out] options      the caller's struct
 *  @param      struct_size  its sizeof, where the caller was compiled
 *  @retval TSANOM_E_NULL     options is NULL
 *  @retval TSANOM_E_VERSION  struct_size is smaller than the first release's
 *  @return TSANOM_OK otherwise */
TSANOM_API tsanom_status tsanom_dpd_event_options_init(tsanom_dpd_event_options *options,
                                                       size_t struct_size);

/** Detector of the period of a stream of events: eq. 2, exact. That d(m) = 0
 *  says that the last N events equal the N events m before, so the smallest such
 *  m is the distance to the previous occurrence of the last N events: a rolling
 *  hash finds it, and a comparison of the events themselves confirms it, so that
 *  no collision of hashes can report a false period, or hide a true one. */
typedef struct tsanom_dpd_event tsanom_dpd_event;

/** Bytes of an event detector, O(window).
 *  @param      options  NULL: the defaults
 *  @param[out] bytes    good for a block of any alignment
 *  @retval TSANOM_E_NULL    bytes is NULL
 *  @retval TSANOM_E_OPTION  a field of options is out of its range
 *  @return TSANOM_OK otherwise, or the status of refused options */
TSANOM_API tsanom_status tsanom_dpd_event_size(const tsanom_dpd_event_options *options,
                                               size_t *bytes);

/** Make a detector in the caller's memory.
 *  @param      options  NULL: the defaults
 *  @param      memory   stays in use as long as the detector
 *  @param      bytes    at least tsanom_dpd_event_size()'s answer
 *  @param[out] detector a handle into `memory`; nothing to destroy
 *  @retval TSANOM_E_NULL       memory or detector is NULL
 *  @retval TSANOM_E_WORKSPACE  bytes is too small
 *  @return TSANOM_OK otherwise, or the status of refused options */
TSANOM_API tsanom_status tsanom_dpd_event_init(const tsanom_dpd_event_options *options,
                                               void *memory, size_t bytes,
                                               tsanom_dpd_event **detector);

/** Make a detector in one block of exec's allocator.
 *  @param      options  NULL: the defaults
 *  @param      exec     NULL: the C heap; its allocator must outlive the detector
 *  @param[out] detector to be given to tsanom_dpd_event_destroy()
 *  @retval TSANOM_E_NULL    detector is NULL
 *  @retval TSANOM_E_MEMORY  the allocator gave NULL
 *  @return TSANOM_OK otherwise, or the status of refused options or exec */
TSANOM_API tsanom_status tsanom_dpd_event_create(const tsanom_dpd_event_options *options,
                                                 const tsanom_exec *exec,
                                                 tsanom_dpd_event **detector);

/** Give a created detector's block back.
 *  @param detector  from tsanom_dpd_event_create(); NULL: nothing is done */
TSANOM_API void tsanom_dpd_event_destroy(tsanom_dpd_event *detector);

/** Feed one event. O(1) expected, O(window) when a period is found or lost.
 *  @param      detector  the detector
 *  @param      event     an identifier; only equality counts
 *  @param[out] report    NULL: not wanted
 *  @retval TSANOM_E_NULL  detector is NULL
 *  @return TSANOM_OK otherwise */
TSANOM_API tsanom_status tsanom_dpd_event_push(tsanom_dpd_event *detector, uint64_t event,
                                               tsanom_dpd_report *report);

/** Feed many events; the same as as many pushes.
 *  @param      detector  the detector
 *  @param      events    identifiers; may be NULL if count is 0
 *  @param      count     how many
 *  @param[out] periods   the period after each event; NULL: not wanted
 *  @param[out] starts    1 where a period starts, else 0; NULL: not wanted
 *  @retval TSANOM_E_NULL  detector, or events with a count, is NULL
 *  @return TSANOM_OK otherwise */
TSANOM_API tsanom_status tsanom_dpd_event_push_many(tsanom_dpd_event *detector,
                                                    const uint64_t *events, size_t count,
                                                    size_t *periods, int32_t *starts);

/** Change the window; the history is kept, and max_period stays at most the
 *  window. O(window).
 *  @param detector  the detector
 *  @param window    1 to the window of the options it was made with
 *  @retval TSANOM_E_NULL    detector is NULL
 *  @retval TSANOM_E_OPTION  window is out of its range: nothing has changed
 *  @return TSANOM_OK otherwise */
TSANOM_API tsanom_status tsanom_dpd_event_resize(tsanom_dpd_event *detector,
                                                 size_t window);

/** The window in use, which `adapt` may have changed.
 *  @param detector  NULL gives 0
 *  @return the window, in events */
TSANOM_API size_t tsanom_dpd_event_window(const tsanom_dpd_event *detector);

/** Continue the stream by its period.
 *  @param      detector  the detector
 *  @param[out] events    the next `count` events, if the period holds
 *  @param      count     how many
 *  @retval TSANOM_E_NULL      detector or events is NULL
 *  @retval TSANOM_INFEASIBLE  there is no period: events is untouched
 *  @return TSANOM_OK otherwise */
TSANOM_API tsanom_status tsanom_dpd_event_predict(const tsanom_dpd_event *detector,
                                                  uint64_t *events, size_t count);

/** How a nest works: fill by tsanom_dpd_nest_options_init(). */
typedef struct tsanom_dpd_nest_options {
  size_t struct_size; /**< set by _init: which fields this caller knows */
  /** The largest period looked for, 1 to ::TSANOM_DPD_WINDOW_MAX / 4; 1024
   *  (default). */
  size_t max_period;
  /** Occurrences of a pattern, one after the other, that make it a loop, 3 to
   *  16; 3 (default). */
  size_t repeats;
  /** Events that a loop must have covered besides, 0 to 64; 8 (default): "a a a"
   *  in a stream of few identifiers is no loop yet. */
  size_t least_events;
  /** Distinct periods that can be told apart, 1 to ::TSANOM_DPD_PERIODS_MAX; 64
   *  (default). Further ones are left out of tsanom_dpd_nest_periods(). */
  size_t capacity;
} tsanom_dpd_nest_options;

/** Write the defaults described at ::tsanom_dpd_nest_options.
 *  @param[out] options      the caller's struct
 *  @param      struct_size  its sizeof, where the caller was compiled
 *  @retval TSANOM_E_NULL     options is NULL
 *  @retval TSANOM_E_VERSION  struct_size is smaller than the first release's
 *  @return TSANOM_OK otherwise */
TSANOM_API tsanom_status tsanom_dpd_nest_options_init(tsanom_dpd_nest_options *options,
                                                      size_t struct_size);

/** Detector of nested loops in a stream of events. A loop is a stretch that
 *  repeats a pattern of p events, itself no repetition of a shorter one, at
 *  least `repeats` times in a row; the event that completes that many times is
 *  where it is found. Loops of all periods are followed at once. */
typedef struct tsanom_dpd_nest tsanom_dpd_nest;

/** A loop that is going on. */
typedef struct tsanom_dpd_loop {
  size_t period;  /**< events in one iteration */
  uint64_t first; /**< index of the first event of the loop; where the history is
                       shorter than the loop, of the first event known of it */
  uint64_t found; /**< index of the event at which it was found */
} tsanom_dpd_loop;

/** What is known of a period over the whole stream. */
typedef struct tsanom_dpd_period {
  size_t period;   /**< events in one iteration */
  size_t level;    /**< 1: no loop was found inside; else 1 + the highest level of
                        the periods whose loops were found inside a loop of this */
  uint64_t first;  /**< index of the first event of the first loop */
  uint64_t last;   /**< index of the last event of the last loop so far */
  uint64_t loops;  /**< how many loops of this period there were */
  uint64_t events; /**< events in all of them */
} tsanom_dpd_period;

/** Bytes of a nest, O(max_period).
 *  @param      options  NULL: the defaults
 *  @param[out] bytes    good for a block of any alignment
 *  @retval TSANOM_E_NULL    bytes is NULL
 *  @retval TSANOM_E_OPTION  a field of options is out of its range
 *  @return TSANOM_OK otherwise, or the status of refused options */
TSANOM_API tsanom_status tsanom_dpd_nest_size(const tsanom_dpd_nest_options *options,
                                              size_t *bytes);

/** Make a nest in the caller's memory.
 *  @param      options  NULL: the defaults
 *  @param      exec     NULL: the best instruction set; only `isa` is used
 *  @param      memory   stays in use as long as the nest
 *  @param      bytes    at least tsanom_dpd_nest_size()'s answer
 *  @param[out] nest     a handle into `memory`; nothing to destroy
 *  @retval TSANOM_E_NULL       memory or nest is NULL
 *  @retval TSANOM_E_WORKSPACE  bytes is too small
 *  @return TSANOM_OK otherwise, or the status of refused options or exec */
TSANOM_API tsanom_status tsanom_dpd_nest_init(const tsanom_dpd_nest_options *options,
                                              const tsanom_exec *exec, void *memory,
                                              size_t bytes, tsanom_dpd_nest **nest);

/** Make a nest in one block of exec's allocator.
 *  @param      options  NULL: the defaults
 *  @param      exec     NULL: the C heap; its allocator must outlive the nest
 *  @param[out] nest     to be given to tsanom_dpd_nest_destroy()
 *  @retval TSANOM_E_NULL    nest is NULL
 *  @retval TSANOM_E_MEMORY  the allocator gave NULL
 *  @return TSANOM_OK otherwise, or the status of refused options or exec */
TSANOM_API tsanom_status tsanom_dpd_nest_create(const tsanom_dpd_nest_options *options,
                                                const tsanom_exec *exec,
                                                tsanom_dpd_nest **nest);

/** Give a created nest's block back.
 *  @param nest  from tsanom_dpd_nest_create(); NULL: nothing is done */
TSANOM_API void tsanom_dpd_nest_destroy(tsanom_dpd_nest *nest);

/** Feed one event. O(log max_period) expected.
 *  @param      nest     the nest
 *  @param      event    an identifier; only equality counts
 *  @param[out] changed  1 if a loop was found or ended by this event, else 0;
 *                       NULL: not wanted
 *  @retval TSANOM_E_NULL  nest is NULL
 *  @return TSANOM_OK otherwise */
TSANOM_API tsanom_status tsanom_dpd_nest_push(tsanom_dpd_nest *nest, uint64_t event,
                                              int32_t *changed);

/** Feed many events; the same as as many pushes.
 *  @param      nest     the nest
 *  @param      events   identifiers; may be NULL if count is 0
 *  @param      count    how many
 *  @param[out] changed  1 for each event that found or ended a loop, else 0; NULL: not
 *                       wanted
 *  @retval TSANOM_E_NULL  nest, or events with a count, is NULL
 *  @return TSANOM_OK otherwise */
TSANOM_API tsanom_status tsanom_dpd_nest_push_many(tsanom_dpd_nest *nest,
                                                   const uint64_t *events, size_t count,
                                                   int32_t *changed);

/** Change the longest period looked for; the history is kept. Loops of longer periods
 *  end with the newest event; those that go on and can be found now are, as far as the
 *  history tells, which is three times the max_period of the options at least.
 *  O(max_period).
 *  @param nest        the nest
 *  @param max_period  1 to the max_period of the options it was made with
 *  @retval TSANOM_E_NULL    nest is NULL
 *  @retval TSANOM_E_OPTION  max_period is out of its range: nothing has changed
 *  @return TSANOM_OK otherwise */
TSANOM_API tsanom_status tsanom_dpd_nest_resize(tsanom_dpd_nest *nest, size_t max_period);

/** The longest period looked for.
 *  @param nest  NULL gives 0
 *  @return the max_period in use, in events */
TSANOM_API size_t tsanom_dpd_nest_max_period(const tsanom_dpd_nest *nest);

/** The loops that are going on, shortest period first.
 *  @param      nest      the nest
 *  @param[out] loops     the first `capacity` of them; may be NULL if that is 0
 *  @param      capacity  room in loops
 *  @param[out] count     how many there are
 *  @retval TSANOM_E_NULL   nest, count, or loops with a capacity, is NULL
 *  @retval TSANOM_PARTIAL  there are more than capacity
 *  @return TSANOM_OK otherwise */
TSANOM_API tsanom_status tsanom_dpd_nest_loops(const tsanom_dpd_nest *nest,
                                               tsanom_dpd_loop *loops, size_t capacity,
                                               size_t *count);

/** Segmentation: those of the loops that are going on of which the newest event starts
 *  an iteration, counted from the first event of the loop; shortest period first.
 *  @param      nest      the nest
 *  @param[out] loops     the first `capacity` of them; may be NULL if that is 0
 *  @param      capacity  room in loops
 *  @param[out] count     how many there are
 *  @retval TSANOM_E_NULL   nest, count, or loops with a capacity, is NULL
 *  @retval TSANOM_PARTIAL  there are more than capacity
 *  @return TSANOM_OK otherwise */
TSANOM_API tsanom_status tsanom_dpd_nest_starts(const tsanom_dpd_nest *nest,
                                                tsanom_dpd_loop *loops, size_t capacity,
                                                size_t *count);

/** Continue the stream by the longest period that is going on, which has those inside.
 *  @param      nest    the nest
 *  @param[out] events  the next `count` events, if that period holds
 *  @param      count   how many
 *  @retval TSANOM_E_NULL      nest or events is NULL
 *  @retval TSANOM_INFEASIBLE  no loop is going on: events is untouched
 *  @return TSANOM_OK otherwise */
TSANOM_API tsanom_status tsanom_dpd_nest_predict(const tsanom_dpd_nest *nest,
                                                 uint64_t *events, size_t count);

/** Every period found so far, shortest first, those of loops still going on
 *  included.
 *  @param      nest      the nest
 *  @param[out] periods   the first `capacity` of them; may be NULL if that is 0
 *  @param      capacity  room in periods
 *  @param[out] count     how many there are
 *  @retval TSANOM_E_NULL   nest, count, or periods with a capacity, is NULL
 *  @retval TSANOM_PARTIAL  there are more than capacity, or than the options'
 *                          capacity could tell apart
 *  @return TSANOM_OK otherwise */
TSANOM_API tsanom_status tsanom_dpd_nest_periods(const tsanom_dpd_nest *nest,
                                                 tsanom_dpd_period *periods,
                                                 size_t capacity, size_t *count);

/** Detector that keeps the whole d(m) of eq. 2, by the run length of each delay:
 *  the slow and plain form of ::tsanom_dpd_event, for those who want to see it. */
typedef struct tsanom_dpd_curve tsanom_dpd_curve;

/** Bytes of a curve, O(max_period).
 *  @param      max_period  the largest delay M, 1 to ::TSANOM_DPD_WINDOW_MAX
 *  @param[out] bytes       good for a block of any alignment
 *  @retval TSANOM_E_NULL    bytes is NULL
 *  @retval TSANOM_E_OPTION  max_period is out of its range
 *  @return TSANOM_OK otherwise */
TSANOM_API tsanom_status tsanom_dpd_curve_size(size_t max_period, size_t *bytes);

/** Make a curve in the caller's memory.
 *  @param      max_period  the largest delay M
 *  @param      exec        NULL: the best instruction set; only `isa` is used
 *  @param      memory      stays in use as long as the curve
 *  @param      bytes       at least tsanom_dpd_curve_size()'s answer
 *  @param[out] curve       a handle into `memory`; nothing to destroy
 *  @retval TSANOM_E_NULL       memory or curve is NULL
 *  @retval TSANOM_E_OPTION     max_period is out of its range
 *  @retval TSANOM_E_WORKSPACE  bytes is too small
 *  @return TSANOM_OK otherwise, or the status of a refused exec */
TSANOM_API tsanom_status tsanom_dpd_curve_init(size_t max_period, const tsanom_exec *exec,
                                               void *memory, size_t bytes,
                                               tsanom_dpd_curve **curve);

/** Feed one event. O(max_period).
 *  @param curve  the curve
 *  @param event  an identifier; only equality counts
 *  @retval TSANOM_E_NULL  curve is NULL
 *  @return TSANOM_OK otherwise */
TSANOM_API tsanom_status tsanom_dpd_curve_push(tsanom_dpd_curve *curve, uint64_t event);

/** How many of the last events in a row equal the one m before, for every m: d(m)
 *  of eq. 2 is 0 for each window N up to that number, and 1 for longer ones.
 *  @param      curve  the curve
 *  @param[out] runs   of delay m at runs[m-1]
 *  @param      count  delays wanted, 1 to max_period
 *  @retval TSANOM_E_NULL    curve or runs is NULL
 *  @retval TSANOM_E_OPTION  count is above max_period
 *  @return TSANOM_OK otherwise */
TSANOM_API tsanom_status tsanom_dpd_curve_runs(const tsanom_dpd_curve *curve,
                                               uint32_t *runs, size_t count);

/** How a value detector works: fill by tsanom_dpd_value_options_init(). */
typedef struct tsanom_dpd_value_options {
  size_t struct_size; /**< set by _init: which fields this caller knows */
  size_t window;      /**< N, 1 to 2^20; 100 (default) */
  size_t max_period;  /**< M, 1 to window; 0 = window (default) */
  /** 0 (default): sums in double precision. Above 0: fixed point, exact and
   *  faster; each sample times `scale` is rounded to an integer, whose size may
   *  be at most (2^31 - 1) / N. */
  double scale;
  /** Least depth 1 - d(m)/mean(d) of a minimum that is called a period, above 0
   *  and below 1; 0.5 (default). */
  double depth;
  /** 1: once a period p has held for N samples the window shrinks to 4 p, or 32
   *  if that is more, so that a break is overcome sooner, and grows back to N when
   *  2 N samples have passed without a period; this is looked at after every
   *  eighth sample. 0 (default): only tsanom_dpd_value_resize() changes it. */
  int32_t adapt;
  int32_t reserved0; /**< must be 0 */
} tsanom_dpd_value_options;

/** Write the defaults described at ::tsanom_dpd_value_options.
 *  @param[out] options      the caller's struct
 *  @param      struct_size  its sizeof, where the caller was compiled
 *  @retval TSANOM_E_NULL     options is NULL
 *  @retval TSANOM_E_VERSION  struct_size is smaller than the first release's
 *  @return TSANOM_OK otherwise */
TSANOM_API tsanom_status tsanom_dpd_value_options_init(tsanom_dpd_value_options *options,
                                                       size_t struct_size);

/** Detector of the period of a stream of values: eq. 1.
 *
 *  The period is the lowest point of the first valley of d: of the delays beyond
 *  the first at which d exceeds the threshold min + (mean - min) / 4, the first
 *  stretch at or below it. So it is the fundamental, not one of its multiples,
 *  which are as deep; and the shallow slope at small delays of a smooth signal
 *  is no valley. Where the deepest minimum is not `depth` deep there is no
 *  period. A period once found stays as long as d at it is below the threshold.
 *  A stream that has been constant for N + M samples has period 1. The mean is
 *  that after this sample or, if M is 64 or more, after the last one whose
 *  number is a multiple of 8.
 *
 *  Bitwise the same for every instruction set. */
typedef struct tsanom_dpd_value tsanom_dpd_value;

/** Bytes of a value detector, O(window).
 *  @param      options  NULL: the defaults
 *  @param[out] bytes    good for a block of any alignment
 *  @retval TSANOM_E_NULL    bytes is NULL
 *  @retval TSANOM_E_OPTION  a field of options is out of its range
 *  @return TSANOM_OK otherwise, or the status of refused options */
TSANOM_API tsanom_status tsanom_dpd_value_size(const tsanom_dpd_value_options *options,
                                               size_t *bytes);

/** Make a detector in the caller's memory.
 *  @param      options  NULL: the defaults
 *  @param      exec     NULL: the best instruction set; only `isa` is used
 *  @param      memory   stays in use as long as the detector
 *  @param      bytes    at least tsanom_dpd_value_size()'s answer
 *  @param[out] detector a handle into `memory`; nothing to destroy
 *  @retval TSANOM_E_NULL       memory or detector is NULL
 *  @retval TSANOM_E_WORKSPACE  bytes is too small
 *  @return TSANOM_OK otherwise, or the status of refused options or exec */
TSANOM_API tsanom_status tsanom_dpd_value_init(const tsanom_dpd_value_options *options,
                                               const tsanom_exec *exec, void *memory,
                                               size_t bytes, tsanom_dpd_value **detector);

/** Make a detector in one block of exec's allocator.
 *  @param      options  NULL: the defaults
 *  @param      exec     NULL: the C heap; its allocator must outlive the detector
 *  @param[out] detector to be given to tsanom_dpd_value_destroy()
 *  @retval TSANOM_E_NULL    detector is NULL
 *  @retval TSANOM_E_MEMORY  the allocator gave NULL
 *  @return TSANOM_OK otherwise, or the status of refused options or exec */
TSANOM_API tsanom_status tsanom_dpd_value_create(const tsanom_dpd_value_options *options,
                                                 const tsanom_exec *exec,
                                                 tsanom_dpd_value **detector);

/** Give a created detector's block back.
 *  @param detector  from tsanom_dpd_value_create(); NULL: nothing is done */
TSANOM_API void tsanom_dpd_value_destroy(tsanom_dpd_value *detector);

/** Feed one sample. O(max_period).
 *  @param      detector  the detector; after a refusal as before
 *  @param      sample    finite
 *  @param[out] report    NULL: not wanted
 *  @retval TSANOM_E_NULL       detector is NULL
 *  @retval TSANOM_E_NONFINITE  the sample is a NaN or an infinity
 *  @retval TSANOM_E_VALUE      fixed point, and the sample does not fit
 *  @return TSANOM_OK otherwise */
TSANOM_API tsanom_status tsanom_dpd_value_push(tsanom_dpd_value *detector, double sample,
                                               tsanom_dpd_report *report);

/** Feed many samples; the same as as many pushes, up to the first refused.
 *  @param      detector  the detector
 *  @param      samples   may be NULL if count is 0
 *  @param      count     how many
 *  @param[out] periods   the period after each sample; NULL: not wanted
 *  @param[out] starts    1 where a period starts, else 0; NULL: not wanted
 *  @param[out] done      samples taken; NULL: not wanted
 *  @retval TSANOM_E_NULL       detector, or samples with a count, is NULL
 *  @retval TSANOM_E_NONFINITE  samples[*done] is a NaN or an infinity
 *  @retval TSANOM_E_VALUE      fixed point, and samples[*done] does not fit
 *  @return TSANOM_OK otherwise */
TSANOM_API tsanom_status tsanom_dpd_value_push_many(tsanom_dpd_value *detector,
                                                    const double *samples, size_t count,
                                                    size_t *periods, int32_t *starts,
                                                    size_t *done);

/** Change the window; the history is kept, and max_period stays at most the
 *  window. O(window max_period).
 *  @param detector  the detector
 *  @param window    1 to the window of the options it was made with
 *  @retval TSANOM_E_NULL    detector is NULL
 *  @retval TSANOM_E_OPTION  window is out of its range: nothing has changed
 *  @return TSANOM_OK otherwise */
TSANOM_API tsanom_status tsanom_dpd_value_resize(tsanom_dpd_value *detector,
                                                 size_t window);

/** The window in use, which `adapt` may have changed.
 *  @param detector  NULL gives 0
 *  @return the window, in samples */
TSANOM_API size_t tsanom_dpd_value_window(const tsanom_dpd_value *detector);

/** The curve d(m) of eq. 1, for the delays whose window is complete.
 *  @param      detector   the detector
 *  @param[out] distances  d(m) at distances[m-1]; may be NULL if capacity is 0
 *  @param      capacity   room in delays
 *  @param[out] count      complete delays, 0 to max_period
 *  @retval TSANOM_E_NULL   detector, count, or distances with a capacity, is NULL
 *  @retval TSANOM_PARTIAL  there are more than capacity
 *  @return TSANOM_OK otherwise */
TSANOM_API tsanom_status tsanom_dpd_value_distances(const tsanom_dpd_value *detector,
                                                    double *distances, size_t capacity,
                                                    size_t *count);

/** Continue the stream by its period.
 *  @param      detector  the detector
 *  @param[out] samples   the next `count` samples, if the period holds
 *  @param      count     how many
 *  @retval TSANOM_E_NULL      detector or samples is NULL
 *  @retval TSANOM_INFEASIBLE  there is no period: samples is untouched
 *  @return TSANOM_OK otherwise */
TSANOM_API tsanom_status tsanom_dpd_value_predict(const tsanom_dpd_value *detector,
                                                  double *samples, size_t count);

/** How tsanom_dpd_find() searches. Initialize it with tsanom_dpd_find_options_init(). */
typedef struct tsanom_dpd_find_options {
  size_t struct_size; /**< set by tsanom_dpd_find_options_init() */
  size_t max_period;  /**< longest period to test; 0 (default): min(n/4, 16384). At most
                           n/4 is tested in any case, and at most 2^20 */
  /** Largest accepted chance, over all periods tested, that a series without a period
   *  shows a dip as significant; in (0, 0.5], default 0.01. */
  double significance;
} tsanom_dpd_find_options;

/** Write the defaults described at ::tsanom_dpd_find_options.
 *  @param[out] options      the caller's struct
 *  @param      struct_size  its sizeof, where the caller was compiled
 *  @retval TSANOM_E_NULL     options is NULL
 *  @retval TSANOM_E_VERSION  struct_size is smaller than in the first release
 *  @return TSANOM_OK otherwise */
TSANOM_API tsanom_status tsanom_dpd_find_options_init(tsanom_dpd_find_options *options,
                                                      size_t struct_size);

/** sizeof(tsanom_dpd_find_options) in this library.
 *  @return bytes */
TSANOM_API size_t tsanom_dpd_find_options_size(void);

/** Result of tsanom_dpd_find(). Initialize it with tsanom_dpd_found_init(). */
typedef struct tsanom_dpd_found {
  size_t struct_size; /**< set by tsanom_dpd_found_init() */
  size_t period;      /**< in samples; 1: all samples are equal; 0: no period */
  size_t candidate;   /**< the period with the deepest dip relative to its standard error,
                           significant or not; 0: none was tested */
  size_t max_period;  /**< longest period tested: a longer one needs 4 times its length in
                           samples, or a larger option */
  double dip;         /**< mean depth of the dips at multiples of `candidate`, relative to
                           the level of d(m): about the share of the period in the
                           variance of the whitened series */
  double score;       /**< `dip` in units of its standard error in white noise */
  double probability; /**< chance that noise shows such a score at any period tested */
  double consistency; /**< `dip` in units of the standard error estimated from the dips
                           themselves; infinite for fewer than three multiples */
} tsanom_dpd_found;

/** Prepare a result: no period.
 *  @param[out] found        the caller's struct
 *  @param      struct_size  its sizeof, where the caller was compiled
 *  @retval TSANOM_E_NULL     found is NULL
 *  @retval TSANOM_E_VERSION  struct_size is smaller than in the first release
 *  @return TSANOM_OK otherwise */
TSANOM_API tsanom_status tsanom_dpd_found_init(tsanom_dpd_found *found,
                                               size_t struct_size);

/** sizeof(tsanom_dpd_found) in this library.
 *  @return bytes */
TSANOM_API size_t tsanom_dpd_found_size(void);

/** Workspace of tsanom_dpd_find().
 *  @param      n        number of samples
 *  @param      options  as for the call; NULL: the defaults
 *  @param      exec     as for the call; NULL: the defaults
 *  @param[out] bytes    size of exec.work
 *  @retval TSANOM_E_COUNT  n is below 8
 *  @return TSANOM_OK, or the status of a rejected argument */
TSANOM_API tsanom_status tsanom_dpd_find_workspace(size_t n,
                                                   const tsanom_dpd_find_options *options,
                                                   const tsanom_exec *exec,
                                                   size_t *bytes);

/** Find the period of a whole series in noise. Use it for recorded series; use
 *  ::tsanom_dpd_value for a stream whose period may change.
 *
 *  The series is whitened by its own lag-1 autocorrelation, e[t] = x[t] - phi x[t-1],
 *  which removes drifts and random walks. With d(m) = sum_t (e[t] - e[t-m])^2, a period p
 *  shows as dips of d at p, 2p, 3p ...; each is compared with the mean of d over one
 * period around it. The score of p is the mean dip in units of its standard error, which
 * in white noise is known. The period is the p of the highest score if
 *  1. noise would show such a score at any tested period with at most the chance
 *     options.significance,
 *  2. the dips agree with each other, also at the far multiples, so that a resonance or a
 *     few coincident pulses are not taken for a period, and
 *  3. each half of the series shows it.
 *
 *  Multiples of a period have fewer dips of the same depth, so the fundamental has the
 *  highest score. Cost: O(n L) with L = min(n, 4 max_period); memory O(n + L).
 *  @param      samples  n finite values
 *  @param      n        at least 8
 *  @param      options  NULL: the defaults
 *  @param      exec     NULL: the defaults; the poll counts delays
 *  @param[out] found    initialized by tsanom_dpd_found_init()
 *  @retval TSANOM_STOPPED      the poll function asked to stop; found is unchanged
 *  @retval TSANOM_E_COUNT      n is below 8
 *  @retval TSANOM_E_NONFINITE  a sample is NaN or infinite; the fault has its index
 *  @return TSANOM_OK, or the status of a rejected argument */
TSANOM_API tsanom_status tsanom_dpd_find(const double *samples, size_t n,
                                         const tsanom_dpd_find_options *options,
                                         const tsanom_exec *exec,
                                         tsanom_dpd_found *found);

#ifdef __cplusplus
}
#endif
#endif
