/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 *  The dynamic periodicity detector (DPD): does a stream repeat itself, with which
 *  period, and where does each period start?
 *
 *  Choose by what you have and by what you want to know:
 *
 *  | samples                  | question                                | use                    |
 *  |--------------------------|-----------------------------------------|------------------------|
 *  | identifiers, one by one  | the period of one loop                  | ::tsanom_dpd_event     |
 *  | identifiers, one by one  | the periods of nested loops, all at once| ::tsanom_dpd_nest      |
 *  | all identifiers of a run | its main loop; iterations may differ    | tsanom_dpd_main_loop() |
 *  | numbers, one by one      | all d(m), and the period now            | ::tsanom_dpd_value     |
 *  | all numbers of a run     | one period in noise                     | tsanom_dpd_find()      |
 *
 *  @code{.c}
 *  tsanom_dpd_event_options options;
 *  tsanom_dpd_event_options_init(&options, sizeof options);
 *  options.window = 6;                        // a period is one if it holds for 6 events
 *  tsanom_dpd_event *detector = NULL;
 *  if (tsanom_dpd_event_create(&options, NULL, &detector) < 0) return 1;
 *  for (int i = 0; i < 15; i++) {
 *    tsanom_dpd_report report;
 *    tsanom_dpd_event_push(detector, (uint64_t)(i % 3), &report);
 *    if (report.start) printf("event %d starts a period of %zu\n", i, report.period);
 *  }
 *  tsanom_dpd_event_destroy(detector);
 *  // -> event 8 starts a period of 3
 *  // -> event 11 starts a period of 3
 *  // -> event 14 starts a period of 3
 *  @endcode
 *
 *  Over a window of the last N samples, the distance at delay m is
 *
 *  \f[ d(m) = \frac1N \sum_{i=0}^{N-1} |x_{t-i} - x_{t-i-m}| \ \text{(values, eq. 1)},
 *  \quad d(m) = \operatorname{sign} \sum_{i=0}^{N-1} |x_{t-i} - x_{t-i-m}|
 *  \ \text{(events, eq. 2)}. \f]
 *
 *  The period is a delay at which d is zero (events) or has a deep minimum (values).
 *
 *  A detector is an object in one block from the allocator of exec, which must outlive the
 *  detector. After _create, no call allocates. tsanom_save() and tsanom_restore() save all
 *  three detectors. One call at a time may use a detector; different ones are independent.
 *  You get the same results for every instruction set and floating-point environment.
 *
 *  Errors besides the common ones: ::TSANOM_E_OVERFLOW, also: an array of `count`
 *  elements does not fit the address space; ::TSANOM_E_NONFINITE, a sample or a time.
 *
 *  These functions need no BLAS, LAPACK or OpenMP (static linking: docs/dpd.md).
 *
 *  Source: F. Freitag, J. Corbalan and J. Labarta, A dynamic periodicity detector:
 *  application to speedup computation, sections 3 and 4. */
#ifndef TSANOM_DPD_H
#define TSANOM_DPD_H

#include <tsanom/base.h>

/** @addtogroup dpd
 *  @{ */

#ifdef __cplusplus
extern "C" {
#endif

/** Limits. ABI: append only. */
enum {
  TSANOM_DPD_WINDOW_MAX = 1 << 26, /**< events in a window */
  TSANOM_DPD_PERIODS_MAX = 4096    /**< distinct periods that a nest records */
};

/** Effect of a sample on the period. ABI: append only. */
enum {
  TSANOM_DPD_STEADY = 0, /**< no change */
  TSANOM_DPD_LOCKED = 1, /**< a period was found, or another one */
  TSANOM_DPD_LOST = 2    /**< the stream left its period */
};

/** Result of a detector after a sample. */
typedef struct tsanom_dpd_report {
  size_t period;  /**< the fundamental period, in samples; 0: none */
  int32_t start;  /**< 1 if this sample starts a period (segmentation), else 0 */
  int32_t change; /**< TSANOM_DPD_STEADY, _LOCKED or _LOST */
  /** Depth of the minimum, 0 to 1: 1 - d(period)/mean of d; 1 for events; 0: no
   *  period. */
  double confidence;
  /** Number of consecutive samples, up to this one, that equal the sample one period
   *  before; for values, that differ from it by at most (1 - depth) times the mean of d.
   *  When a period is found, the samples of the window are examined. */
  uint64_t horizon;
  uint64_t reserved0; /**< 0 */
} tsanom_dpd_report;

/** Options of an event detector. Initialize them with tsanom_dpd_event_options_init(). */
typedef struct tsanom_dpd_event_options {
  size_t struct_size; /**< set by _init */
  size_t window;      /**< N, 1 to ::TSANOM_DPD_WINDOW_MAX; 1024 (default) */
  size_t max_period;  /**< the largest delay, 1 to window; 0 = window (default) */
  /** 1: when a period p has held for N samples, the window shrinks to 2p, so that a new
   *  period is found within 3p samples; it grows back to N after 2N samples without a
   *  period. 0 (default): only tsanom_dpd_event_resize() changes the window. */
  int32_t adapt;
  int32_t reserved0; /**< must be 0 */
} tsanom_dpd_event_options;

/** Write the defaults described at ::tsanom_dpd_event_options. @initializes{options} */
TSANOM_API tsanom_status tsanom_dpd_event_options_init(tsanom_dpd_event_options *options,
                                                       size_t struct_size);

/** Detector of the period of a stream of events: eq. 2, exact. d(m) = 0 means that the
 *  last N events equal the N events m before. The smallest such m is the distance to the
 *  previous occurrence of the last N events. A rolling hash finds it and a comparison of
 *  the events confirms it: hash collisions neither report nor hide a period. */
typedef struct tsanom_dpd_event tsanom_dpd_event;

/** Make an event detector. It takes O(window) bytes.
 *  @param[out] detector  pass it to tsanom_dpd_event_destroy()
 *  @options @exec @status */
TSANOM_API tsanom_status tsanom_dpd_event_create(const tsanom_dpd_event_options *options,
                                                 const tsanom_exec *exec,
                                                 tsanom_dpd_event **detector);

/** Release an event detector. @param detector NULL: nothing happens */
TSANOM_API void tsanom_dpd_event_destroy(tsanom_dpd_event *detector);

/** Push one event. Expected O(1); O(window) when a period is found or lost.
 *  @param      event   an identifier; only equality counts
 *  @param[out] report  NULL: not wanted
 *  @the{detector} @status */
TSANOM_API tsanom_status tsanom_dpd_event_push(tsanom_dpd_event *detector, uint64_t event,
                                               tsanom_dpd_report *report);

/** Push several events: faster than single pushes, with the same results.
 *  @param      events   identifiers; may be NULL if count is 0
 *  @param      count    number of events
 *  @param[out] periods  the period after each event; NULL: not wanted
 *  @param[out] starts   1 where a period starts, else 0; NULL: not wanted
 *  @the{detector} @status */
TSANOM_API tsanom_status tsanom_dpd_event_push_many(tsanom_dpd_event *detector,
                                                    const uint64_t *events, size_t count,
                                                    size_t *periods, int32_t *starts);

/** Change the window; it limits max_period. The history is kept. O(window).
 *  @param window  1 to the window of the options of the detector
 *  @the{detector} @status */
TSANOM_API tsanom_status tsanom_dpd_event_resize(tsanom_dpd_event *detector,
                                                 size_t window);

/** The window in use, which `adapt` may have changed.
 *  @param detector  NULL returns 0
 *  @return the window, in events */
TSANOM_API size_t tsanom_dpd_event_window(const tsanom_dpd_event *detector);

/** Predict the next events under the assumption that the period continues.
 *  @param[out] events  the next `count` events
 *  @param      count   number of events
 *  @the{detector} @status
 *  @retval TSANOM_INFEASIBLE  there is no period; `events` is not modified */
TSANOM_API tsanom_status tsanom_dpd_event_predict(const tsanom_dpd_event *detector,
                                                  uint64_t *events, size_t count);

/** Options of a nest. Initialize them with tsanom_dpd_nest_options_init(). */
typedef struct tsanom_dpd_nest_options {
  size_t struct_size; /**< set by _init */
  /** The largest period, 1 to ::TSANOM_DPD_WINDOW_MAX / 4; 1024 (default). */
  size_t max_period;
  /** Consecutive occurrences of a pattern that make it a loop, 3 to 16; 3 (default). */
  size_t repeats;
  /** Events that a loop must also have covered, 0 to 64; 8 (default): "a a a" in a stream
   *  of few identifiers is not yet a loop. */
  size_t least_events;
  /** Distinct periods that are recorded, 1 to ::TSANOM_DPD_PERIODS_MAX; 64 (default).
   *  tsanom_dpd_nest_periods() omits further ones. */
  size_t capacity;
} tsanom_dpd_nest_options;

/** Write the defaults described at ::tsanom_dpd_nest_options. @initializes{options} */
TSANOM_API tsanom_status tsanom_dpd_nest_options_init(tsanom_dpd_nest_options *options,
                                                      size_t struct_size);

/** Detector of nested loops in a stream of events. A loop is a sequence that repeats a
 *  pattern of p events, itself not a repetition of a shorter pattern, at least `repeats`
 *  times in a row. It is found at the event that completes this number. Loops of all
 *  periods are followed at once. */
typedef struct tsanom_dpd_nest tsanom_dpd_nest;

/** An active loop. */
typedef struct tsanom_dpd_loop {
  size_t period;      /**< events in one iteration */
  uint64_t first;     /**< index of the first event of the loop, or, if that is older than
                           the history, of the first event in the history */
  uint64_t found;     /**< index of the event at which it was found */
  uint64_t reserved0; /**< 0 */
} tsanom_dpd_loop;

/** Statistics of a period over the whole stream. */
typedef struct tsanom_dpd_period {
  size_t period;        /**< events in one iteration */
  size_t level;         /**< 1: no loop was found inside; else 1 + the highest level of
                             the periods of loops found inside a loop of this period */
  uint64_t first;       /**< index of the first event of the first loop */
  uint64_t last;        /**< index of the last event of the last loop so far */
  uint64_t loops;       /**< number of loops of this period */
  uint64_t events;      /**< events in any of these loops */
  uint64_t reserved[2]; /**< 0 */
} tsanom_dpd_period;

/** Make a nest. It takes O(max_period) bytes.
 *  @param[out] nest  pass it to tsanom_dpd_nest_destroy()
 *  @options @exec @status */
TSANOM_API tsanom_status tsanom_dpd_nest_create(const tsanom_dpd_nest_options *options,
                                                const tsanom_exec *exec,
                                                tsanom_dpd_nest **nest);

/** Release a nest. @param nest NULL: nothing happens */
TSANOM_API void tsanom_dpd_nest_destroy(tsanom_dpd_nest *nest);

/** Push one event. Expected O(log max_period).
 *  @param      event    an identifier; only equality counts
 *  @param[out] changed  1 if this event found or ended a loop, else 0; NULL: not wanted
 *  @the{nest} @status */
TSANOM_API tsanom_status tsanom_dpd_nest_push(tsanom_dpd_nest *nest, uint64_t event,
                                              int32_t *changed);

/** Push several events, with the results of single pushes.
 *  @param      events   identifiers; may be NULL if count is 0
 *  @param      count    number of events
 *  @param[out] changed  1 for each event that found or ended a loop, else 0; or NULL
 *  @the{nest} @status */
TSANOM_API tsanom_status tsanom_dpd_nest_push_many(tsanom_dpd_nest *nest,
                                                   const uint64_t *events, size_t count,
                                                   int32_t *changed);

/** Change the largest period. The history is kept. Loops of longer periods end with the
 *  newest event. Active loops that fit the new limit are detected again from the retained
 *  history, at least 3·max_period events of the options. O(max_period).
 *  @param max_period  1 to the max_period of the options of the nest
 *  @the{nest} @status */
TSANOM_API tsanom_status tsanom_dpd_nest_resize(tsanom_dpd_nest *nest, size_t max_period);

/** The largest period in use.
 *  @param nest  NULL returns 0
 *  @return max_period, in events */
TSANOM_API size_t tsanom_dpd_nest_max_period(const tsanom_dpd_nest *nest);

/** The active loops, shortest period first.
 *  @array{loops,count}
 *  @the{nest} @status */
TSANOM_API tsanom_status tsanom_dpd_nest_loops(const tsanom_dpd_nest *nest,
                                               tsanom_dpd_loop *loops, size_t capacity,
                                               size_t *count);

/** Segmentation: the active loops of which the newest event starts an iteration, counted
 *  from the first event of the loop; shortest period first.
 *  @copydetails tsanom_dpd_nest_loops */
TSANOM_API tsanom_status tsanom_dpd_nest_starts(const tsanom_dpd_nest *nest,
                                                tsanom_dpd_loop *loops, size_t capacity,
                                                size_t *count);

/** Predict the next events under the assumption that the active loop of the longest
 *  period, which contains the others, continues.
 *  @param[out] events  the next `count` events
 *  @param      count   number of events
 *  @the{nest} @status
 *  @retval TSANOM_INFEASIBLE  no loop is active; `events` is not modified */
TSANOM_API tsanom_status tsanom_dpd_nest_predict(const tsanom_dpd_nest *nest,
                                                 uint64_t *events, size_t count);

/** All recorded periods, active ones included, shortest first. ::TSANOM_PARTIAL also if
 *  more were found than the capacity of the options.
 *  @array{periods,count}
 *  @the{nest} @status */
TSANOM_API tsanom_status tsanom_dpd_nest_periods(const tsanom_dpd_nest *nest,
                                                 tsanom_dpd_period *periods,
                                                 size_t capacity, size_t *count);

/** Options of a value detector. Initialize them with tsanom_dpd_value_options_init(). */
typedef struct tsanom_dpd_value_options {
  size_t struct_size; /**< set by _init */
  size_t window;      /**< N, 1 to 2^20; 400 (default) */
  size_t max_period;  /**< M, 1 to window; 0 (default): a quarter of the window, rounded
                           up; all of it if `significance` is 0 */
  /** Least depth 1 - d(m)/mean(d) of a period, above 0 and below 1; 0.5 (default). */
  double depth;
  /** 1: when a period p has held for N samples, the window shrinks to max(4p, 32), so
   *  that a new period is found sooner; it grows back to N after 2N samples without a
   *  period. Checked after every eighth sample. 0 (default): only
   *  tsanom_dpd_value_resize() changes the window. */
  int32_t adapt;
  int32_t reserved0; /**< must be 0 */
  /** Above 0, at most 0.5; 0.01 (default): where no minimum is `depth` deep, or M is more
   *  than a quarter of N, rounded up, tsanom_dpd_find() decides on the newest samples, up
   *  to N + M of them. They are searched when there are 128 samples, then each time that
   *  their number has grown by a half, later after every half of the window. It also
   *  decides where, for N + M >= 128, a valley is deep by few changes of the samples, so
   *  that chance may explain it, or is less than twice as deep as `depth` requires and has
   *  no multiple, up to 8 times as far, of half that depth. Noise has a period above 1 in
   *  about this share of streams of 8 windows, but for noise that alternates by itself, as
   *  with an autocorrelation of -0.9. 0: only by depth, the rule for N = M of the paper. */
  double significance;
} tsanom_dpd_value_options;

/** Write the defaults described at ::tsanom_dpd_value_options. @initializes{options} */
TSANOM_API tsanom_status tsanom_dpd_value_options_init(tsanom_dpd_value_options *options,
                                                       size_t struct_size);

/** Detector of the period of a stream of values: eq. 1.
 *
 *  The period is the lowest point of the first valley of d. With the threshold min +
 *  (mean - min) / 4, the valley begins where d, having exceeded the threshold, is again at
 *  or below it. This selects the fundamental period instead of its multiples, which are as
 *  deep, and ignores the slope at small delays of a smooth signal. If the deepest minimum
 *  is less than `depth` deep, or chance may explain it, `significance` decides. A period is kept while d at it is at
 *  or below the threshold. A stream that has been constant for N + M samples has period 1.
 *  The mean of d is taken after this sample; for N >= 64, after the last sample whose
 *  number is a multiple of 8. */
typedef struct tsanom_dpd_value tsanom_dpd_value;

/** Make a value detector. It takes O(window) bytes.
 *  @param[out] detector  pass it to tsanom_dpd_value_destroy()
 *  @options @exec @status */
TSANOM_API tsanom_status tsanom_dpd_value_create(const tsanom_dpd_value_options *options,
                                                 const tsanom_exec *exec,
                                                 tsanom_dpd_value **detector);

/** Release a value detector. @param detector NULL: nothing happens */
TSANOM_API void tsanom_dpd_value_destroy(tsanom_dpd_value *detector);

/** Push one sample. O(max_period). A rejected sample does not change the detector.
 *  @param      sample  finite
 *  @param[out] report  NULL: not wanted
 *  @the{detector} @status */
TSANOM_API tsanom_status tsanom_dpd_value_push(tsanom_dpd_value *detector, double sample,
                                               tsanom_dpd_report *report);

/** Push several samples, with the results of single pushes, up to the first invalid one.
 *  @param      samples  may be NULL if count is 0
 *  @param      count    number of samples
 *  @param[out] periods  the period after each sample; NULL: not wanted
 *  @param[out] starts   1 where a period starts, else 0; NULL: not wanted
 *  @param[out] done     number of samples taken; outputs are valid up to it; or NULL
 *  @the{detector} @status
 *  @retval TSANOM_PARTIAL  tsanom_dpd_value_push() rejects samples[*done] */
TSANOM_API tsanom_status tsanom_dpd_value_push_many(tsanom_dpd_value *detector,
                                                    const double *samples, size_t count,
                                                    size_t *periods, int32_t *starts,
                                                    size_t *done);

/** Change the window, as tsanom_dpd_event_resize(). O(window·max_period).
 *  @param window  1 to the window of the options of the detector
 *  @the{detector} @status */
TSANOM_API tsanom_status tsanom_dpd_value_resize(tsanom_dpd_value *detector,
                                                 size_t window);

/** The window in use, which `adapt` may have changed.
 *  @param detector  NULL returns 0
 *  @return the window, in samples */
TSANOM_API size_t tsanom_dpd_value_window(const tsanom_dpd_value *detector);

/** The distances d(m) of eq. 1, at distances[m-1], for delays with a complete window (at
 *  most max_period).
 *  @array{distances,count}
 *  @the{detector} @status */
TSANOM_API tsanom_status tsanom_dpd_value_distances(const tsanom_dpd_value *detector,
                                                    double *distances, size_t capacity,
                                                    size_t *count);

/** Predict the next samples under the assumption that the period continues.
 *  @param[out] samples  the next `count` samples
 *  @param      count    number of samples
 *  @the{detector} @status
 *  @retval TSANOM_INFEASIBLE  there is no period; `samples` is not modified */
TSANOM_API tsanom_status tsanom_dpd_value_predict(const tsanom_dpd_value *detector,
                                                  double *samples, size_t count);

/** How tsanom_dpd_find() searches. Initialize it with tsanom_dpd_find_options_init(). */
typedef struct tsanom_dpd_find_options {
  size_t struct_size; /**< set by _init */
  size_t max_period;  /**< longest period to test; 0 (default): min(n/4, 16384). At most
                           n/4 is tested in any case, and at most 2^20 */
  /** Largest accepted chance, over all periods tested, that a series without a period
   *  shows a dip as significant; in (0, 0.5], default 0.01. */
  double significance;
} tsanom_dpd_find_options;

/** Write the defaults described at ::tsanom_dpd_find_options. @initializes{options} */
TSANOM_API tsanom_status tsanom_dpd_find_options_init(tsanom_dpd_find_options *options,
                                                      size_t struct_size);

/** Result of tsanom_dpd_find(). Begin with `{.struct_size = sizeof x}`. */
typedef struct tsanom_dpd_found {
  size_t struct_size; /**< sizeof, set by the caller */
  size_t period;      /**< in samples; 1: all samples are equal; 0: no period */
  size_t candidate;   /**< the period with the deepest dip relative to its standard error,
                           significant or not; 0: none */
  size_t max_period;  /**< longest period tested: a longer one needs 4 times its length in
                           samples, or a larger option */
  double dip;         /**< mean depth of the dips at multiples of `candidate`, relative to
                           the level of d(m): about the share of the period in the
                           variance of the whitened series */
  double score;       /**< `dip` in units of its standard error in white noise */
  double probability; /**< chance that noise shows such a score at any period tested */
  double lines;     /**< chance that noise has such lines in its spectrum at the multiples
                           of 1/candidate; 0: fewer than 6 periods, which cannot show it.
                           If it is above options.significance and `probability` is not,
                           the series has a cycle whose length varies */
  double variation; /**< standard deviation of the length of a period, relative to it, an
                           estimate from the decrease of the dips; NaN: fewer than two dips
                           are above the noise */
} tsanom_dpd_found;

/** Find the period of a whole series in noise. Use it for recorded series; use
 *  ::tsanom_dpd_value for a stream whose period may change.
 *
 *  The slow part of the series is subtracted: the fit by a line and waves of up to 1.5
 *  lengths of the series. The rest is whitened: its spectrum is divided by a smooth one,
 *  so that random walks and noise that remembers the past become white. With \f$d(m) =
 *  \sum_t (e_t - e_{t-m})^2\f$, a period p shows as dips of d at p, 2p, 3p ...; each is
 *  compared with the mean of d over one period around it. The score of p is the mean dip
 *  in units of its standard error, which in white noise is known. The p of the highest
 *  score is a period if
 *  1. noise would show such a score at any tested period with at most the chance
 *     options.significance, and
 *  2. noise would have such lines in its spectrum at the multiples of 1/p with at most the
 *     same chance, so that a resonance, or a cycle whose length varies, is not taken for a
 *     period.
 *
 *  If only 1 holds, the series has a cycle of about `candidate` samples whose length
 *  varies, by `variation` of it.
 *
 *  Multiples of a period have fewer dips of the same depth, so the fundamental has the
 *  highest score. If a multiple of the p found has significantly deeper dips, p is only a
 *  part that nearly repeats, and the multiple is the period. Of periods that differ by 1
 *  or by less than 1/32, the one is reported by which the series folds best.
 *
 *  A jump of the level by many standard deviations hides a period: analyze the parts.
 *  O(n·(log n + p/16)) for a period of p, on one thread; workspace O(n). The poll counts 3
 *  steps, and is called several times in the last one.
 *  @param      samples  n finite values
 *  @param      n        at least 8, else ::TSANOM_E_COUNT
 *  @param[out] found    begins with its struct_size; unchanged if the poll stops the call
 *  @options @exec @stopped */
TSANOM_API tsanom_status tsanom_dpd_find(const double *samples, size_t n,
                                         const tsanom_dpd_find_options *options,
                                         const tsanom_exec *exec,
                                         tsanom_dpd_found *found);

/* experimental: may change in any release */

/** How tsanom_dpd_main_loop() searches. Initialize it, then set `kinds`. */
typedef struct tsanom_dpd_main_options {
  size_t struct_size; /**< set by _init */
  size_t kinds;       /**< events are below this number, 1 to 2^32 - 2; must be set */
  /** The event that begins the iterations; ::TSANOM_NONE (default): it is chosen. If it
   *  is given, everything from one such event to the next is an iteration. */
  size_t anchor;
  int32_t ended;  /**< 1 (default): the stream has ended, so that its last iteration can
                       be complete; 0: it continues */
  int32_t active; /**< 1: only loops whose last iteration began two usual ones before the
                       end at most, whatever they explain; 0 (default) */
} tsanom_dpd_main_options;

/** Write the defaults described at ::tsanom_dpd_main_options; `kinds` is 0, which
 *  tsanom_dpd_main_loop() rejects. @initializes{options} */
TSANOM_API tsanom_status tsanom_dpd_main_options_init(tsanom_dpd_main_options *options,
                                                      size_t struct_size);

/** An iteration: events first, ..., end - 1. */
typedef struct tsanom_dpd_iteration {
  size_t first; /**< index of its first event */
  size_t end;   /**< index after its last event */
} tsanom_dpd_iteration;

/** Numbers of ::tsanom_dpd_related. */
enum {
  TSANOM_DPD_RELATED = 4,  /**< loops that are listed beside the main loop, at most */
  TSANOM_DPD_AROUND = 1,   /**< the main loop is in it */
  TSANOM_DPD_INSIDE = 2,   /**< it is in the main loop */
  TSANOM_DPD_BESIDE = 3,   /**< it is elsewhere */
  TSANOM_DPD_CANDIDATE = 4 /**< no loop is clear enough; this one may be */
};

/** Another loop than the main loop. */
typedef struct tsanom_dpd_related {
  size_t anchor;     /**< the event that begins its iterations */
  size_t previous;   /**< as in ::tsanom_dpd_main */
  size_t iterations; /**< in all, also of several runs */
  size_t first;      /**< index of its first event */
  size_t end;        /**< index after its last event */
  int32_t relation;  /**< ::TSANOM_DPD_AROUND, _INSIDE, _BESIDE or _CANDIDATE */
  int32_t reserved0; /**< 0 */
} tsanom_dpd_related;

/** The main loop. Begin with `{.struct_size = sizeof x}`. */
typedef struct tsanom_dpd_main {
  size_t struct_size; /**< sizeof, set by the caller */
  size_t anchor;      /**< the event that begins its iterations */
  size_t iterations;  /**< complete iterations */
  size_t runs;        /**< how many times it is entered */
  size_t places;      /**< different events of a usual iteration */
  size_t first;       /**< index of its first event */
  size_t end;         /**< index after its last event */
  double covered;     /**< time in its runs; without times, in events */
  size_t previous;    /**< if set, each iteration begins with an anchor that directly
                           follows this event; ::TSANOM_NONE: with any anchor */
  size_t relations;   /**< loops in `related` */
  /** Loops around it, the next ones first; then beside it; then in it, by their events. Or
   *  candidates, by the time that they explain. No two of one relation have the same anchor. */
  tsanom_dpd_related related[TSANOM_DPD_RELATED];
  size_t not_after; /**< if set, an anchor that directly follows this event begins no
                         iteration: it goes on with an inner loop that begins with an
                         anchor; else ::TSANOM_NONE */
  size_t every;     /**< each `every`-th such anchor begins an iteration: 1; more if only
                         the times tell; 0: there is no main loop */
} tsanom_dpd_main;

/** Find the main loop of a finite sequence of events, such as the parallel regions of a
 *  program. Its iterations need not be equal: inner loops may take any number of
 *  iterations, some iterations may have further events or lack some, and events may be
 *  lost. Use ::tsanom_dpd_nest for exact repetitions and for streams.
 *
 *  Only one thing counts: the number of events of one kind between two events of another
 *  kind.
 *
 *  1. Kinds that take turns, in 9/10 of the cases, form a level.
 *  2. A level is inside another one if 9/10 of the iterations of the other one have it, and
 *     it has a fifth more iterations. The other one is then a loop around it. If the
 *     numbers look like chance, the level is a part that is left out by chance instead.
 *  3. A level may be the main loop if it explains 7/10 of the events between its first and
 *     last one, and a fifth of all events or of the time (not with options.active), and if
 *     its parts have one order.
 *  4. Of the levels that explain 9/10 of what the best one explains, the outermost is the
 *     main loop. A level that only groups equal numbers of iterations of another one, as an
 *     output in each tenth step, is not chosen.
 *  5. A program that exchanges with several neighbors by one function has one kind of
 *     event, which does not say where an iteration begins. If the times between its events
 *     repeat with a period p, and at least half of them are next to nothing, p events are an
 *     iteration (tsanom_dpd_main::every).
 *  6. If there is no main loop, the same is tried with pairs of successive events as kinds
 *     (tsanom_dpd_main::previous).
 *
 *  A few iterations before all others, followed by other events, are a warm-up and do not
 *  count. At most 1024 kinds, those of the longest time, and 64 levels, those of the most
 *  events, are examined: O(64·n·log n) and O(1024·n) at most, usually a few passes.
 *  Workspace: O(n + kinds), about 10 bytes an event.
 *  @param      events      n numbers below options.kinds
 *  @param      times       n + 1 ascending times: when each event begins, and when the
 *                          last one ends; NULL: each event takes 1
 *  @param      n           number of events, below 2^32 - 1, else ::TSANOM_E_OVERFLOW
 *  @param      options     not NULL, since `kinds` must be set
 *  @param[out] found       begins with its struct_size
 *  @param[out] iterations  the first `capacity` iterations; may be NULL if that is 0
 *  @param      capacity    length of `iterations`
 *  @exec @stopped
 *  @retval TSANOM_PARTIAL     there are more iterations than a `capacity` above 0
 *  @retval TSANOM_INFEASIBLE  there is no main loop: `found` has no iterations, and lists
 *                             as candidates loops that explain half of the events between
 *                             their ends. Their numbers of iterations are probably wrong
 *  @retval TSANOM_E_INDEX     an event is not below options.kinds
 *  @retval TSANOM_E_ORDER     a time is less than the one before it */
TSANOM_API tsanom_status tsanom_dpd_main_loop(
    const uint32_t *events, const double *times, size_t n,
    const tsanom_dpd_main_options *options, const tsanom_exec *exec,
    tsanom_dpd_main *found, tsanom_dpd_iteration *iterations, size_t capacity);

#ifdef __cplusplus
}
#endif
/** @} */
#endif
