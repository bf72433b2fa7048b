/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 *  Heartbeat sequence analysis (HSA): which thread of a run beats like the
 *  normal runs did, which one leaks memory, which one was shut down.
 *
 *  Each thread of a run is a series of beat times t_0 <= t_1 <= ...; its heart
 *  rate is r_i = w / (t_i - t_{i-w}) for i >= w. tsanom_hsa_learn() digests
 *  normal runs into a model: for each thread one reference series and the range
 *  in which each feature of a normal thread lies. tsanom_hsa_diagnose()
 *  compares a run with it, thread by thread, and answers each thread with a
 *  status and the path through the decision tree that led there.
 *
 *  Calls with distinct workspaces and outputs may run at once. All work is
 *  O(beats) plus, for each pair of series compared, O(points radius).
 *
 *  Source: W. Wang and W. Luo, Heartbeat diagnosis of performance anomaly in
 *  OpenMP multi-threaded systems, section 3: equations 1-13, Algorithm 1. */
#ifndef TSANOM_HSA_H
#define TSANOM_HSA_H

#include <tsanom/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What a thread is found to be. The values are ABI: append only. */
enum {
  TSANOM_HSA_NORMAL = 0,      /**< like the normal runs, or nothing to judge by */
  TSANOM_HSA_MEMORY_LEAK = 1, /**< slowed down, as by a memory leak */
  TSANOM_HSA_SHUTDOWN = 2     /**< ended early, or never began */
};

/** Features of a target series C of m beats against a reference Q of n beats,
 *  as indices into tsanom_hsa_features::value and
 *  tsanom_hsa_reference::range. Times count from the start of the run; k
 *  windows of w beats, one after the other, are those that both series
 *  fill. The values are ABI: append only. */
enum {
  /** Global time ratio, eq. 5: time of C's last beat over that of Q's. */
  TSANOM_HSA_GTR = 0,
  /** Local time ratio, eq. 6: mean over the windows of
   *  (t'_{i+w} - t'_i) / (t_{i+w} - t_i). */
  TSANOM_HSA_LTR = 1,
  /** Global heart-rate ratio, eq. 7: mean rate of C over mean rate of Q. */
  TSANOM_HSA_GHR = 2,
  /** Local heart-rate ratio, eq. 8: see tsanom_hsa_options::local_rate. */
  TSANOM_HSA_LHR = 3,
  /** Dynamic time warping distance of the aligned series, eq. 9-10, absolute
   *  differences; see tsanom_hsa_options::normalise. */
  TSANOM_HSA_DTW = 4,
  /** LB_Keogh of the aligned series, eq. 11-13, squared differences; see
   *  tsanom_hsa_options::normalise. */
  TSANOM_HSA_LB_KEOGH = 5,
  /** Beat ratio m / n; ours, not the paper's. Algorithm 1 does not use it,
   *  ::TSANOM_HSA_RULE_COMPLETION does. */
  TSANOM_HSA_BEAT_RATIO = 6,
  /** Interval ratio: lower quartile of the intervals between beats of C over that
   *  of Q; ours. What keeps a thread from its processor now and then makes some
   *  intervals long and leaves the quartile alone; what slows each beat moves it. */
  TSANOM_HSA_INTERVAL_RATIO = 7,
  TSANOM_HSA_FEATURES = 8, /**< how many there are in this version */
  TSANOM_HSA_SLOTS = 8     /**< length of the arrays they index */
};

/** Limits of the options. */
enum {
  TSANOM_HSA_MAX_WINDOWS = 1 << 24, /**< most windows of a series */
  TSANOM_HSA_MAX_DEGREE = 32,       /**< highest degree of an alignment */
  TSANOM_HSA_MAX_POINTS = 16384     /**< most common timestamps */
};

/** How normal ranges are learned. The values are ABI: append only. */
enum {
  /** Prediction interval by Student's t: mean -+ t s sqrt(1 + 1/n), of the
   *  logarithms for the ratios, one-sided for the distances (default). */
  TSANOM_HSA_RANGE_STUDENT = 0,
  /** Distribution-free: between order statistics. */
  TSANOM_HSA_RANGE_ORDER = 1
};

/** Which tree decides. The values are ABI: append only. */
enum {
  /** Algorithm 1 of the paper, to the letter. */
  TSANOM_HSA_RULE_PAPER = 0,
  /** Algorithm 1 with two of its questions sharpened: a thread is shut down if
   *  it beat fewer times than normal, however long it took; and an unlike
   *  series is a leak only if it is slower than normal, by its times and by its
   *  rates, not if faster. */
  TSANOM_HSA_RULE_COMPLETION = 1,
  /** As completion, but before anything else is asked of a thread that beat often
   *  enough it leaks if its interval ratio is above its range (default). */
  TSANOM_HSA_RULE_PACE = 2
};

/** What eq. 8 averages over the windows. The values are ABI: append only. */
enum {
  /** Mean rate of C in the window over mean rate of Q in it (default). */
  TSANOM_HSA_LOCAL_RATE_RATIO = 0,
  /** The letter of eq. 8: (c_{i+w} - c_i) / (q_{i+w} - q_i), over the windows
   *  in which Q's rate changes at all; undefined if there is none. */
  TSANOM_HSA_LOCAL_RATE_LITERAL = 1
};

/** What to compute: fill by tsanom_hsa_options_init(), then change fields. */
typedef struct tsanom_hsa_options {
  size_t struct_size; /**< set by _init: which fields this caller knows */
  /** Beats w in the window of a heart rate. 0 (default): for each thread a
   *  hundredth of the beats of its longest normal series, rounded up. */
  size_t window;
  /** Most windows kept of a series, 1 to ::TSANOM_HSA_MAX_WINDOWS; 256 (default). The
   * windows of LTR and LHR hold the smallest multiple of w beats with which the longest
   * normal series has no more windows than this. */
  size_t max_windows;
  /** Largest degree of the polynomials that align two series, 0 to
   *  ::TSANOM_HSA_MAX_DEGREE; 8 (default). */
  size_t max_degree;
  /** Common timestamps at which aligned series are compared, 2 to
   *  ::TSANOM_HSA_MAX_POINTS; 256 (default). */
  size_t points;
  /** Radius, in common timestamps, of the warping window of DTW and of the
   *  envelope of LB_Keogh; 12 (default). */
  size_t radius;
  /** The degree rises until R^2 exceeds this, from 0 to below 1; 0.9 (default).
   *  Rates that scatter about a steady mean never get there: they are aligned by
   *  the polynomial of max_degree. */
  double r2;
  /** Share of future normal threads that each range is to hold, above 0 and
   *  below 1; 0.99 (default). A thread is judged by several ranges at once, so that
   *  more normal threads than 1 - coverage leave some range. */
  double coverage;
  /** Least room left beside the normal runs, >= 0: a ratio's range holds
   *  [1/(1+margin), 1+margin] times the middle of its range, a distance's holds
   *  margin (DTW) or margin^2 (LB_Keogh) more than its middle; 0.05 (default).
   *  The beat ratio has no margin. */
  double margin;
  /** The margin when there is only one normal run, > 0; 0.25 (default). */
  double single_run_margin;
  int32_t range;      /**< TSANOM_HSA_RANGE_*; Student (default) */
  int32_t rule;       /**< TSANOM_HSA_RULE_*; pace (default) */
  int32_t local_rate; /**< TSANOM_HSA_LOCAL_RATE_*; ratio (default) */
  /** 1 (default): DTW is divided by points and by the geometric mean of the two
   *  series' mean rates, LB_Keogh by points and by its square, so that both are
   *  free of units, and twice and half as fast are equally far from the same. 0: the
   *  sums of eq. 9 and 13 as they are; the margin then is in multiples of these
   *  divisors, with Q's mean rate for both. */
  int32_t normalise;
} tsanom_hsa_options;

/** Write the defaults described at ::tsanom_hsa_options.
 *  @param[out] options      the caller's struct
 *  @param      struct_size  its sizeof, where the caller was compiled
 *  @retval TSANOM_E_NULL     options is NULL
 *  @retval TSANOM_E_VERSION  struct_size is smaller than the first release's
 *  @return TSANOM_OK otherwise */
TSANOM_API tsanom_status tsanom_hsa_options_init(tsanom_hsa_options *options,
                                                 size_t struct_size);

/** The beats of one thread. */
typedef struct tsanom_hsa_series {
  const double *time; /**< seconds, never falling; may be NULL if beats is 0 */
  size_t beats;       /**< how many; 0: the thread never beat */
} tsanom_hsa_series;

/** One run of a program. */
typedef struct tsanom_hsa_run {
  const tsanom_hsa_series *threads; /**< by thread number */
  size_t thread_count;              /**< >= 1 */
  double start;                     /**< when the run began, on the clock of the beats */
} tsanom_hsa_run;

/** An interval, both ends included. An end may be infinite. */
typedef struct tsanom_hsa_range {
  double low;  /**< smallest normal value */
  double high; /**< largest normal value */
} tsanom_hsa_range;

/** The features of one series against a reference. */
typedef struct tsanom_hsa_features {
  double value[TSANOM_HSA_SLOTS]; /**< by TSANOM_HSA_GTR...; 0 where undefined */
  int32_t defined;   /**< bit f is set if feature f is defined: a series shorter
                          than a window has no rates, for one */
  int32_t reserved0; /**< 0 */
} tsanom_hsa_features;

/** Compute the features of one series against another, eq. 1-13. The window
 *  of options, if 0, is a hundredth of the reference's beats, rounded up.
 *  O(beats + points (max_degree + radius)).
 *  @param      target           C; at least one beat
 *  @param      target_start     when its run began
 *  @param      reference        Q; more beats than the window
 *  @param      reference_start  when its run began, before Q's last beat
 *  @param      options          NULL: the defaults
 *  @param      exec             NULL: one thread, no poll
 *  @param      work             scratch that overlaps nothing; NULL: one block is
 *                               borrowed from exec's allocator
 *  @param      work_bytes       at least tsanom_hsa_features_workspace()'s answer
 *  @param[out] features         the result
 *  @retval TSANOM_STOPPED      the poll asked to stop: features is untouched
 *  @retval TSANOM_E_NULL       target, reference, their times or features is NULL
 *  @retval TSANOM_E_COUNT      the target never beats, or the reference has no
 *                              more beats than the window
 *  @retval TSANOM_E_OPTION     a field of options is out of its range
 *  @retval TSANOM_E_NONFINITE  a NaN or infinity among the times
 *  @retval TSANOM_E_ORDER      times fall, or a run begins after its first beat
 *  @retval TSANOM_E_VALUE      a window of beats took no time, so that its rate is
 *                              infinite: the clock is too coarse, or the window
 *                              too short
 *  @retval TSANOM_E_WORKSPACE  work_bytes is too small
 *  @retval TSANOM_E_MEMORY     work is NULL and the allocator gave NULL
 *  @return TSANOM_OK otherwise, or the status of a refused options or exec */
TSANOM_API tsanom_status
tsanom_hsa_compare(const tsanom_hsa_series *target, double target_start,
                   const tsanom_hsa_series *reference, double reference_start,
                   const tsanom_hsa_options *options, const tsanom_exec *exec, void *work,
                   size_t work_bytes, tsanom_hsa_features *features);

/** Bytes of workspace that tsanom_hsa_compare() needs, whatever the beats.
 *  @param      options  NULL: the defaults
 *  @param      exec     NULL: one thread
 *  @param[out] bytes    the size, good for a block of any alignment
 *  @retval TSANOM_E_OVERFLOW  the size does not fit a size_t
 *  @return TSANOM_OK, or the status of a refused argument */
TSANOM_API tsanom_status tsanom_hsa_compare_workspace(const tsanom_hsa_options *options,
                                                      const tsanom_exec *exec,
                                                      size_t *bytes);

/** Name a feature as the paper abbreviates it, in lower case: "gtr", "ltr",
 *  "ghr", "lhr", "dtw", "lb_keogh", "beat_ratio",
 *  "interval_ratio".
 *  @param feature  one of TSANOM_HSA_GTR...
 *  @return a constant string; "?" if unknown */
TSANOM_API const char *tsanom_hsa_feature_name(int32_t feature);

/** Name a status: "normal", "memory_leak", "shutdown".
 *  @param status  one of TSANOM_HSA_NORMAL...
 *  @return a constant string; "?" if unknown */
TSANOM_API const char *tsanom_hsa_status_name(int32_t status);

/** @name The model
 *  A model lives in memory of the caller. It holds no pointer: it may be
 *  copied, and mapped on machines of the same byte order and size of size_t.
 *  To keep it as text, write what tsanom_hsa_model_options() and
 *  tsanom_hsa_model_get() tell, and rebuild it by tsanom_hsa_model_init() and
 *  tsanom_hsa_model_set(); with 17 significant digits it is the same model,
 *  bit for bit.
 *  @{ */

/** A model, known by pointer only. Memory for it is aligned as for double. */
typedef struct tsanom_hsa_model tsanom_hsa_model;

/** What a model knows of one thread: its reference series Q, digested, and the
 *  ranges of the features. Filled by tsanom_hsa_model_get(), the pointers then
 *  lead into the model. Times count from the start of the run. */
typedef struct tsanom_hsa_reference {
  size_t beats;        /**< n; 0: no normal run has a series to judge by */
  size_t window;       /**< beats in the window of a heart rate */
  size_t local_window; /**< beats in the windows of LTR and LHR */
  size_t windows;      /**< k = (n - 1) / local_window, at most max_windows */
  size_t degree;       /**< of the polynomial of rate over time */
  size_t run;          /**< which of the normal runs it was, from 0 */
  size_t sample_runs;  /**< normal runs that the ranges rest on */
  /** Normal runs without a series of it to judge by: the thread did not exist,
   *  or had no more beats than the window. */
  size_t silent_runs;
  double completion;  /**< time of the last beat */
  double mean_rate;   /**< mean of the heart rates r_i */
  double interval;    /**< lower quartile of the intervals between beats */
  double r2;          /**< of the polynomial */
  double domain[2];   /**< times of the first and the last heart rate */
  double unit;        /**< with center and scale, the polynomial of rate over */
  double center;      /**< time as in tsanom_polyfit_model: a sum of Chebyshev */
  double scale;       /**< polynomials of (time unit - center) scale */
  const double *time; /**< windows + 1: times of the beats 0, w, 2w, ... */
  /** windows + 1: heart rates at these beats; the first is that of the first
   *  beat that has one. */
  const double *rate;
  const double *window_rate; /**< windows: mean heart rate within each */
  const double *coefficient; /**< degree + 1: of the Chebyshev polynomials */
  tsanom_hsa_range range[TSANOM_HSA_SLOTS]; /**< normal values, by feature */
} tsanom_hsa_reference;

/** Bytes of a model of so many threads.
 *  @param      thread_count  >= 1
 *  @param      options       NULL: the defaults
 *  @param[out] bytes         the size
 *  @retval TSANOM_E_OVERFLOW  the size does not fit a size_t
 *  @return TSANOM_OK, or the status of a refused argument */
TSANOM_API tsanom_status tsanom_hsa_model_size(size_t thread_count,
                                               const tsanom_hsa_options *options,
                                               size_t *bytes);

/** Make an empty model, to be filled by tsanom_hsa_model_set(). Its threads
 *  have no reference yet.
 *  @param[out] model         memory of model_bytes bytes, aligned as for double
 *  @param      model_bytes   at least tsanom_hsa_model_size()'s answer
 *  @param      thread_count  >= 1
 *  @param      run_count     normal runs it was learned from, >= 1
 *  @param      options       NULL: the defaults
 *  @retval TSANOM_E_NULL       model is NULL
 *  @retval TSANOM_E_COUNT      thread_count or run_count is 0
 *  @retval TSANOM_E_WORKSPACE  model_bytes is too small, or model misaligned
 *  @return TSANOM_OK otherwise, or the status of a refused options */
TSANOM_API tsanom_status tsanom_hsa_model_init(tsanom_hsa_model *model,
                                               size_t model_bytes, size_t thread_count,
                                               size_t run_count,
                                               const tsanom_hsa_options *options);

/** Tell whether memory holds a whole and consistent model.
 *  @param model        the memory
 *  @param model_bytes  its size
 *  @retval TSANOM_E_NULL    model is NULL
 *  @retval TSANOM_E_FORMAT  it does not
 *  @return TSANOM_OK otherwise */
TSANOM_API tsanom_status tsanom_hsa_model_check(const tsanom_hsa_model *model,
                                                size_t model_bytes);

/** Threads of a model.
 *  @param model  a model
 *  @return their number; 0 if model is NULL or none */
TSANOM_API size_t tsanom_hsa_model_threads(const tsanom_hsa_model *model);

/** Normal runs that a model was learned from.
 *  @param model  a model
 *  @return their number; 0 if model is NULL or none */
TSANOM_API size_t tsanom_hsa_model_runs(const tsanom_hsa_model *model);

/** The options a model was learned with, and is applied with.
 *  @param      model    a model
 *  @param[out] options  filled; its struct_size is set by _init beforehand
 *  @retval TSANOM_E_NULL    model or options is NULL
 *  @retval TSANOM_E_FORMAT  model is none
 *  @return TSANOM_OK otherwise, or TSANOM_E_VERSION */
TSANOM_API tsanom_status tsanom_hsa_model_options(const tsanom_hsa_model *model,
                                                  tsanom_hsa_options *options);

/** Look at what a model knows of a thread.
 *  @param      model      a model; the result points into it
 *  @param      thread     below tsanom_hsa_model_threads()
 *  @param[out] reference  filled
 *  @retval TSANOM_E_NULL    model or reference is NULL
 *  @retval TSANOM_E_FORMAT  model is none
 *  @retval TSANOM_E_COUNT   there is no such thread
 *  @return TSANOM_OK otherwise */
TSANOM_API tsanom_status tsanom_hsa_model_get(const tsanom_hsa_model *model,
                                              size_t thread,
                                              tsanom_hsa_reference *reference);

/** Replace what a model knows of a thread: to rebuild a model from text, or to
 *  put ranges of one's own in place of the learned ones.
 *  @param model      a model
 *  @param thread     below tsanom_hsa_model_threads()
 *  @param reference  what to write; copied, arrays included
 *  @retval TSANOM_E_NULL       model, reference or an array in it is NULL
 *  @retval TSANOM_E_FORMAT     model is none, or the parts of reference do not
 *                              agree with one another or with the model's options,
 *                              or an array lies where the model keeps another one
 *                              of the same thread
 *  @retval TSANOM_E_COUNT      there is no such thread
 *  @retval TSANOM_E_NONFINITE  a NaN or infinity that is not the end of a range
 *  @return TSANOM_OK otherwise */
TSANOM_API tsanom_status tsanom_hsa_model_set(tsanom_hsa_model *model, size_t thread,
                                              const tsanom_hsa_reference *reference);

/** @} */

/** Bytes of workspace that tsanom_hsa_learn() needs: O(run_count (max_windows +
 *  run_count)), whatever the beats and the threads.
 *  @param      run_count  normal runs, >= 1
 *  @param      options    NULL: the defaults
 *  @param      exec       NULL: one thread
 *  @param[out] bytes      the size, good for a block of any alignment
 *  @retval TSANOM_E_OVERFLOW  the size does not fit a size_t
 *  @return TSANOM_OK, or the status of a refused argument */
TSANOM_API tsanom_status tsanom_hsa_learn_workspace(size_t run_count,
                                                    const tsanom_hsa_options *options,
                                                    const tsanom_exec *exec,
                                                    size_t *bytes);

/** Learn a model from normal runs.
 *
 *  The reference of a thread is the medoid of its normal series: the one with the
 *  least sum of DTW + |ln GTR| of the others against it; the first of equals. The
 *  ranges come from leaving each run out in turn: its features against the
 *  medoid of the other runs are one sample, as if the run were new. Runs that do
 *  not have a thread, or in which it has no more beats than the window, are no
 *  samples for it; if none is left, the thread has no reference (beats == 0).
 *
 *  A model can be learned from one run. Nothing is known of the spread then,
 *  and the ranges are those of single_run_margin around "the same".
 *  O(beats + threads run_count^2 points radius).
 *  @param      runs         normal runs; run i may have other threads than run j
 *  @param      run_count    >= 1
 *  @param      options      NULL: the defaults
 *  @param      exec         NULL: one thread, no poll
 *  @param      work         scratch that overlaps nothing; NULL: one block is
 *                           borrowed from exec's allocator
 *  @param      work_bytes   at least tsanom_hsa_learn_workspace()'s answer
 *  @param[out] model        memory aligned as for double
 *  @param      model_bytes  at least tsanom_hsa_model_size()'s answer for the
 *                           largest thread_count among the runs
 *  @retval TSANOM_PARTIAL      done, but some thread has a single sample run, or
 *                              too few for the coverage asked of order statistics
 *  @retval TSANOM_STOPPED      the poll asked to stop: model is not usable
 *  @retval TSANOM_E_NULL       runs, its threads or times, or model is NULL
 *  @retval TSANOM_E_COUNT      there is no run, or no thread in one, or no thread
 *                              of any run has more beats than the window
 *  @retval TSANOM_E_OPTION     a field of options is out of its range
 *  @retval TSANOM_E_NONFINITE  a NaN or infinity among the times
 *  @retval TSANOM_E_ORDER      times fall, or a run begins after its first beat
 *  @retval TSANOM_E_VALUE      a window of beats took no time
 *  @retval TSANOM_E_WORKSPACE  work_bytes or model_bytes is too small
 *  @retval TSANOM_E_MEMORY     work is NULL and the allocator gave NULL
 *  @return TSANOM_OK otherwise, or the status of a refused options or exec */
TSANOM_API tsanom_status tsanom_hsa_learn(const tsanom_hsa_run *runs, size_t run_count,
                                          const tsanom_hsa_options *options,
                                          const tsanom_exec *exec, void *work,
                                          size_t work_bytes, tsanom_hsa_model *model,
                                          size_t model_bytes);

/** Questions of the tree. The values are ABI: append only. */
enum {
  TSANOM_HSA_ASK_KNOWN = 0,    /**< does the model have a reference for it? */
  TSANOM_HSA_ASK_BEATS = 1,    /**< did the thread beat at all? */
  TSANOM_HSA_ASK_WINDOW = 2,   /**< did it beat often enough for one window? */
  TSANOM_HSA_ASK_ALIKE = 3,    /**< {DTW, LB} within DistanceRange? */
  TSANOM_HSA_ASK_TIMELY = 4,   /**< {GTR, LTR} within TimeRange? */
  TSANOM_HSA_ASK_EARLY = 5,    /**< GTR < mintime? */
  TSANOM_HSA_ASK_LATE = 6,     /**< GTR > maxtime? */
  TSANOM_HSA_ASK_RATE = 7,     /**< {GHR, LHR} within HeartrateRange? */
  TSANOM_HSA_ASK_COMPLETE = 8, /**< beat ratio not below its range? */
  TSANOM_HSA_ASK_SLOWER = 9,   /**< GTR or LTR above, and GHR or LHR below? */
  TSANOM_HSA_ASK_SILENT = 10,  /**< was it so in a normal run too? */
  TSANOM_HSA_ASK_PACE = 11,    /**< interval ratio above its range? */
  TSANOM_HSA_STEPS = 8         /**< most steps of a path */
};

/** One step of the path through the tree: a question, its answer, and the
 *  numbers that gave it. */
typedef struct tsanom_hsa_step {
  int32_t question;          /**< TSANOM_HSA_ASK_* */
  int32_t answer;            /**< 1 yes, 0 no */
  int32_t count;             /**< features that were asked about, 0 to 4 */
  int32_t reserved0;         /**< 0 */
  int32_t feature[4];        /**< which; the rest -1 */
  int32_t defined[4];        /**< 1 if that feature is defined */
  double value[4];           /**< theirs; for ASK_BEATS and ASK_WINDOW, [0] is the
                                  thread's beats and [1] the window; for ASK_KNOWN and
                                  ASK_SILENT, [0] is the number of normal runs with a
                                  usable series, or with none */
  tsanom_hsa_range range[4]; /**< their normal ranges */
} tsanom_hsa_step;

/** The answer for one thread. */
typedef struct tsanom_hsa_verdict {
  int32_t status;                         /**< TSANOM_HSA_NORMAL... */
  int32_t step_count;                     /**< steps of the path */
  tsanom_hsa_features features;           /**< what it rests on */
  tsanom_hsa_step step[TSANOM_HSA_STEPS]; /**< the path, from the root */
} tsanom_hsa_verdict;

/** Walk the tree. An undefined feature lies in no range, and neither below nor
 *  above one.
 *  @param      features  of a thread
 *  @param      range     TSANOM_HSA_SLOTS normal ranges, by feature
 *  @param      rule      TSANOM_HSA_RULE_*
 *  @param[out] verdict   the result
 *  @retval TSANOM_E_NULL    a pointer is NULL
 *  @retval TSANOM_E_OPTION  no such rule
 *  @return TSANOM_OK otherwise */
TSANOM_API tsanom_status tsanom_hsa_classify(const tsanom_hsa_features *features,
                                             const tsanom_hsa_range *range, int32_t rule,
                                             tsanom_hsa_verdict *verdict);

/** Bytes of workspace that tsanom_hsa_diagnose() needs, whatever the beats.
 *  @param      model  a model
 *  @param      exec   NULL: one thread
 *  @param[out] bytes  the size, good for a block of any alignment
 *  @return TSANOM_OK, or the status of a refused argument */
TSANOM_API tsanom_status tsanom_hsa_diagnose_workspace(const tsanom_hsa_model *model,
                                                       const tsanom_exec *exec,
                                                       size_t *bytes);

/** Diagnose each thread of a run. Threads are matched by number. A thread that
 *  the model knows and the run has not, or that never beats, is shut down,
 *  unless it was silent in a normal run too. A thread that the model has no
 *  reference for is normal, its path saying so. O(beats + threads points
 *  radius).
 *  @param      model          a model
 *  @param      model_bytes    size of the memory it is in
 *  @param      run            the run
 *  @param      exec           NULL: one thread, no poll
 *  @param      work           scratch that overlaps nothing; NULL: one block is
 *                             borrowed from exec's allocator
 *  @param      work_bytes     at least tsanom_hsa_diagnose_workspace()'s answer
 *  @param[out] verdict        one for each thread number
 *  @param      verdict_count  the larger of the thread counts of model and run
 *  @retval TSANOM_STOPPED      the poll asked to stop: verdict is untouched from
 *                              some thread on
 *  @retval TSANOM_E_NULL       model, run, its threads or times, or verdict is NULL
 *  @retval TSANOM_E_FORMAT     the model is damaged
 *  @retval TSANOM_E_COUNT      run has no thread, or verdict_count is another
 *  @retval TSANOM_E_NONFINITE  a NaN or infinity among the times
 *  @retval TSANOM_E_ORDER      times fall, or the run begins after its first beat
 *  @retval TSANOM_E_VALUE      a window of beats took no time
 *  @retval TSANOM_E_WORKSPACE  work_bytes is too small
 *  @retval TSANOM_E_MEMORY     work is NULL and the allocator gave NULL
 *  @return TSANOM_OK otherwise, or the status of a refused exec */
TSANOM_API tsanom_status
tsanom_hsa_diagnose(const tsanom_hsa_model *model, size_t model_bytes,
                    const tsanom_hsa_run *run, const tsanom_exec *exec, void *work,
                    size_t work_bytes, tsanom_hsa_verdict *verdict, size_t verdict_count);

/** One status for a whole run: shutdown if a thread was shut down, else memory
 *  leak if a thread leaks, else normal.
 *  @param      verdict        of the threads
 *  @param      verdict_count  >= 1
 *  @param[out] status         TSANOM_HSA_NORMAL...
 *  @retval TSANOM_E_NULL   a pointer is NULL
 *  @retval TSANOM_E_COUNT  verdict_count is 0
 *  @return TSANOM_OK otherwise */
TSANOM_API tsanom_status tsanom_hsa_run_status(const tsanom_hsa_verdict *verdict,
                                               size_t verdict_count, int32_t *status);

/** Put one step of a path in words, such as "DTW 0.31 and LB_Keogh 0.12 do not
 *  both lie in their normal ranges [0, 0.08] and [0, 0.01]".
 *  @param      step    a step
 *  @param[out] text    receives the sentence, always ended by a zero byte, cut if
 *                      it does not fit; may be NULL if size is 0
 *  @param      size    bytes of text; 512 holds every sentence
 *  @param[out] length  bytes of the whole sentence without the zero; may be NULL
 *  @retval TSANOM_PARTIAL   the sentence was cut
 *  @retval TSANOM_E_NULL    step is NULL, or text is though size is not 0
 *  @retval TSANOM_E_OPTION  the step has an unknown question
 *  @return TSANOM_OK otherwise */
TSANOM_API tsanom_status tsanom_hsa_step_text(const tsanom_hsa_step *step, char *text,
                                              size_t size, size_t *length);

#ifdef __cplusplus
}
#endif
#endif
