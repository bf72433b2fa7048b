/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 *  Heartbeat sequence analysis (HSA): which threads of a run beat as in normal runs, which
 *  slowed down, as by a memory leak, and which were shut down?
 *
 *  Learn a model from normal runs by tsanom_hsa_learn(); five or more are a good basis. Then
 *  call tsanom_hsa_diagnose() for another run. You get a status for each thread, and the
 *  questions and numbers that it follows from: tsanom_hsa_step_text() makes sentences of them.
 *  To compare two series, learn from the one, and diagnose the other.
 *
 *  @code{.c}
 *  double time[6][200];
 *  tsanom_hsa_series beats[6];
 *  tsanom_hsa_run runs[6];
 *  for (int i = 0; i < 6; i++) {  // five normal runs, and one that takes twice the time
 *    for (int k = 0; k < 200; k++) time[i][k] = (i < 5 ? 0.01 : 0.02) * k;
 *    beats[i] = (tsanom_hsa_series){.time = time[i], .beats = 200};
 *    runs[i] = (tsanom_hsa_run){.threads = &beats[i], .thread_count = 1};
 *  }
 *  tsanom_hsa_model *model;
 *  tsanom_hsa_verdict verdict = {.struct_size = sizeof verdict};
 *  tsanom_hsa_learn(runs, 5, NULL, NULL, &model);
 *  tsanom_hsa_diagnose(model, &runs[5], NULL, &verdict, 1, NULL);
 *  printf("%s\n", tsanom_hsa_status_name(verdict.status));  // -> memory_leak
 *  tsanom_hsa_model_destroy(model);
 *  @endcode
 *
 *  **Use something else** if the runs have vital signs, or differ in their numbers of beats:
 *  these functions judge by beats alone, and report everything that slows each beat as a
 *  memory leak. <tsanom/diagnosis.h> finds more causes, and allows runs of different lengths.
 *
 *  **Terms.** A thread of a run is a series of beat times \f$t_0 \le t_1 \le \dots\f$ with
 *  the heart rate \f$r_i = w / (t_i - t_{i-w})\f$ for \f$i \ge w\f$. A model has for each
 *  thread one reference series and, for each feature, the range of normal values.
 *
 *  **Guarantees.** One thread computes, in O(beats) and, for each pair of compared series,
 *  O(points · radius). Calls with different outputs may run at the same time. A model is
 *  never modified, so that any number of calls may use it.
 *
 *  **Errors** besides the common ones: ::TSANOM_E_COUNT, also: a series is too short;
 *  ::TSANOM_E_NONFINITE, a time; ::TSANOM_E_ORDER, times decrease, or a run starts after
 *  its first beat; ::TSANOM_E_VALUE, a window of beats took no time, so that its rate is
 *  infinite (the clock is too coarse, or the window too short). The fault
 *  "runs[2].threads.time" with element 1 and second 7 is sample 7 of thread 1 of run 2.
 *
 *  Source: W. Wang and W. Luo, Heartbeat diagnosis of performance anomaly in OpenMP
 *  multi-threaded systems, section 3: equations 1-13, Algorithm 1. */
#ifndef TSANOM_HSA_H
#define TSANOM_HSA_H

#include <tsanom/base.h>

/** @addtogroup hsa
 *  @{ */

#ifdef __cplusplus
extern "C" {
#endif

/** Status of a thread or a run. <tsanom/diagnosis.h> finds those from 3 on. ABI: append
 *  only. */
enum {
  TSANOM_HSA_NORMAL = 0,         /**< as in the normal runs, or nothing to compare with */
  TSANOM_HSA_MEMORY_LEAK = 1,    /**< its memory grows; of a decision tree: it is slow */
  TSANOM_HSA_SHUTDOWN = 2,       /**< ended early, or never began */
  TSANOM_HSA_CONTENTION = 3,     /**< it waits for a processor that others use */
  TSANOM_HSA_SLOWDOWN = 4,       /**< each beat takes longer */
  TSANOM_HSA_IMBALANCE = 5,      /**< it does more than the other threads */
  TSANOM_HSA_HANG = 6,           /**< it does not go on, or did not for a long time */
  TSANOM_HSA_NOT_COMPARABLE = 7, /**< the model is of something else */
  TSANOM_HSA_UNKNOWN = 8,        /**< too few beats */
  TSANOM_HSA_WAITING = 9,  /**< it waits for a thread that has one of these causes */
  TSANOM_HSA_STATUSES = 10 /**< number of statuses in this version */
};

/** Features of a target series C of m beats against a reference Q of n beats: indices
 *  into tsanom_hsa_features::value and tsanom_hsa_reference::range. Times count from the
 *  start of the run; k consecutive windows of w beats are those that both fill. ABI:
 *  append only. */
enum {
  TSANOM_HSA_GTR = 0, /**< global time ratio, eq. 5: of the times of the last beat, C/Q */
  /** Local time ratio, eq. 6: mean over the windows of
   *  \f$(t'_{i+w} - t'_i) / (t_{i+w} - t_i)\f$. */
  TSANOM_HSA_LTR = 1,
  TSANOM_HSA_GHR = 2, /**< global heart-rate ratio, eq. 7: of the mean rates, C/Q */
  TSANOM_HSA_LHR = 3, /**< local heart-rate ratio, eq. 8: see options.local_rate */
  /** Dynamic time warping distance of the aligned series, eq. 9-10, absolute differences,
   *  divided by the points and by the geometric mean g of the two series' mean rates: it has
   *  no unit, and half as fast is as far from equal as twice as fast. */
  TSANOM_HSA_DTW = 4,
  /** LB_Keogh of the same, eq. 11-13, squared differences, divided by points and g². */
  TSANOM_HSA_LB_KEOGH = 5,
  /** Beat ratio m / n; not in the paper, used from ::TSANOM_HSA_RULE_COMPLETION on. */
  TSANOM_HSA_BEAT_RATIO = 6,
  /** Interval ratio: lower quartile of the intervals between beats of C over that of Q;
   *  not in the paper. Occasional preemption makes some intervals long and leaves the
   *  quartile unchanged; a slowdown of each beat moves it. */
  TSANOM_HSA_INTERVAL_RATIO = 7,
  TSANOM_HSA_FEATURES = 8, /**< number of features in this version */
  TSANOM_HSA_SLOTS = 32    /**< length of the arrays that features index */
};

/** Limits of the options. */
enum {
  TSANOM_HSA_MAX_WINDOWS = 1 << 24, /**< most windows of a series */
  TSANOM_HSA_MAX_DEGREE = 32,       /**< highest degree of an alignment */
  TSANOM_HSA_MAX_POINTS = 16384     /**< most common timestamps */
};

/** Decision tree. ABI: append only. */
enum {
  TSANOM_HSA_RULE_PAPER = 0, /**< Algorithm 1 of the paper, literally */
  /** Algorithm 1 with two changes: a thread is shut down if it has fewer beats than
   *  normal, whatever time it took; and a thread whose distances are not normal leaks
   *  only if it is slower than normal, by its times and by its rates. */
  TSANOM_HSA_RULE_COMPLETION = 1,
  /** As completion, but a thread with enough beats leaks if its interval ratio is above
   *  its range, before any further test (default). */
  TSANOM_HSA_RULE_PACE = 2
};

/** What eq. 8 averages over the windows. ABI: append only. */
enum {
  TSANOM_HSA_LOCAL_RATE_RATIO = 0, /**< ratio of the mean rates in it, C/Q (default) */
  /** Eq. 8 literally: \f$(c_{i+w} - c_i) / (q_{i+w} - q_i)\f$, over the windows in which
   *  Q's rate changes; undefined if there is none. */
  TSANOM_HSA_LOCAL_RATE_LITERAL = 1
};

/** What to compute. Initialize it with tsanom_hsa_options_init(), then change fields. */
typedef struct tsanom_hsa_options {
  size_t struct_size; /**< set by _init */
  /** Beats w in the window of a heart rate. 0 (default): a hundredth of the beats of the
   *  thread's longest normal series, rounded up. */
  size_t window;
  /** Most windows kept of a series, 1 to ::TSANOM_HSA_MAX_WINDOWS; 256 (default). The
   *  windows of LTR and LHR hold the smallest multiple of w beats for which the longest
   *  normal series has at most this number of windows. */
  size_t max_windows;
  /** Largest degree of the polynomials that align two series, 0 to
   *  ::TSANOM_HSA_MAX_DEGREE; 8 (default). */
  size_t max_degree;
  /** Common timestamps at which aligned series are compared, 2 to
   *  ::TSANOM_HSA_MAX_POINTS; 256 (default). */
  size_t points;
  /** Radius, in common timestamps, of DTW's window and LB_Keogh's envelope; 12
   *  (default). */
  size_t radius;
  /** The degree increases until \f$R^2\f$ exceeds this, 0 <= r2 < 1; 0.9 (default). Rates
   *  that scatter about a steady mean never reach it: their degree is max_degree. */
  double r2;
  /** Share of future normal threads that each range must contain, above 0 and below 1;
   *  0.99 (default). Several ranges are tested for each thread, so that more than
   *  1 - coverage of the normal threads leave some range. */
  double coverage;
  /** Least margin beside the normal runs, >= 0: a ratio's range contains [1/(1+margin),
   *  1+margin] times its middle, a distance's range reaches margin (DTW) or margin^2
   *  (LB_Keogh) above its middle; 0.05 (default). The beat ratio has no margin. */
  double margin;
  /** The margin if there is only one normal run, > 0; 0.25 (default). */
  double single_run_margin;
  int32_t rule;       /**< TSANOM_HSA_RULE_*; pace (default) */
  int32_t local_rate; /**< TSANOM_HSA_LOCAL_RATE_*; ratio (default) */
} tsanom_hsa_options;

/** Write the defaults described at ::tsanom_hsa_options. @initializes{options} */
TSANOM_API tsanom_status tsanom_hsa_options_init(tsanom_hsa_options *options,
                                                 size_t struct_size);

enum {
  TSANOM_HSA_PROCESS = -1 /**< the process, where a thread number is expected */
};

/** What a thread waits for. ABI: append only. */
enum {
  TSANOM_HSA_WAITS_UNKNOWN = 0, /**< for nothing, or that is not known */
  TSANOM_HSA_WAITS_THREAD = 1,  /**< until another thread wakes it (futex(2)), as at a
                                     barrier or a lock */
  TSANOM_HSA_WAITS_OTHER = 2,   /**< a time, a device, a file or a connection */
  TSANOM_HSA_WAITS_TEAM = 3     /**< it has done its part of a region, and waits for the
                                     other threads, asleep or on a processor */
};

/** A sample of the process or of a thread. Numbers count from the beginning of the
 *  process or thread; NaN: not known, infinite ones are rejected. With many threads, each sample has only some of
 *  the numbers. */
typedef struct tsanom_hsa_vital {
  double time;         /**< seconds, on the clock of the beats; NaN: not known */
  double cpu_s;        /**< processor time in seconds */
  double wait_s;       /**< seconds ready to run without a processor; NaN: the process */
  double voluntary;    /**< times that it gave up its processor; NaN: the process */
  double involuntary;  /**< times that its processor was taken away; NaN: the process */
  double minor_faults; /**< page faults without input or output */
  double major_faults; /**< page faults with input or output */
  double resident;     /**< bytes in memory now; NaN: a thread */
  double anonymous;    /**< of `resident`, without files and shared memory: the streams of
                            the recorder do not count; NaN: a thread */
  double threads;      /**< threads now; NaN: a thread */
  uint64_t beats;      /**< beats of its thread number until `time`; 0: the process */
  int32_t thread;      /**< thread number; ::TSANOM_HSA_PROCESS */
  int32_t task;        /**< the kernel's number of the thread, or the process: a thread
                            number may be that of several threads in turn */
  int32_t state;       /**< letter as in proc(5): 'R' runs, 'S' sleeps, 'D' waits for a
                            device, 'T' is stopped; 0: not known */
  int32_t stream;      /**< stream of the thread; -1: the process */
  int32_t waits;       /**< TSANOM_HSA_WAITS_*; of the process unknown */
  int32_t reserved0;   /**< 0 */
  double spun_s;       /**< of `cpu_s`, seconds in which it waited for its team, at a
                             processor; NaN: the process, or the recorder does not know */
  char name[16]; /**< name of the thread, terminated by zero; empty: not known, that of
                      the program, or the process. UTF-8 without control characters: what
                      else the program chose is '?' */
} tsanom_hsa_vital;

/** The beats of one thread. */
typedef struct tsanom_hsa_series {
  const double *time; /**< seconds, not decreasing; may be NULL if beats is 0 */
  size_t beats;       /**< number of beats; 0: the thread never beat */
  /** Its vital signs by time; may be NULL if there are none. */
  const tsanom_hsa_vital *vital;
  size_t vital_count;   /**< number of samples; 0: not known */
  uint64_t reserved[4]; /**< 0 */
} tsanom_hsa_series;

/** One run of a program. */
typedef struct tsanom_hsa_run {
  const tsanom_hsa_series *threads; /**< by thread number */
  size_t thread_count;              /**< >= 1 */
  double start;                     /**< start of the run, on the clock of the beats */
  const tsanom_hsa_vital *vital;    /**< vital signs of the process by time */
  size_t vital_count;               /**< number of samples; 0: not known */
  /** Last moment at which the run was observed; 0: its last beat or sample. */
  double end;
  int32_t state;       /**< TSANOM_RUN_* */
  int32_t exit_code;   /**< exit status, plus ::TSANOM_EXIT_INSIDE if it exited inside a
                             region; minus the signal that killed it; 0: not known */
  const char *program; /**< its name; NULL: not known */
  const char *machine; /**< where it ran; NULL: not known */
  double peak;         /**< the most bytes that it had in memory, as the kernel counts
                             them between samples, too; 0: not known */
  double before_s; /**< seconds that the program had run for at `start`; 0: not known */
  /** Of a program that has ended its recording, seconds of processor time of the processes that
   *  it started and awaited meanwhile; 0: none, or not known. */
  double children_s;
  uint64_t reserved[4]; /**< 0 */
} tsanom_hsa_run;

/** An interval, both ends included. An end may be infinite. */
typedef struct tsanom_hsa_range {
  double low;  /**< smallest normal value */
  double high; /**< largest normal value */
} tsanom_hsa_range;

/** The features of one series against a reference. */
typedef struct tsanom_hsa_features {
  double value[TSANOM_HSA_SLOTS]; /**< by TSANOM_HSA_GTR...; 0 where undefined */
  uint64_t defined;     /**< bit f is set if feature f is defined; a series shorter than
                             a window, for example, has no rates */
  uint64_t reserved[3]; /**< 0 */
} tsanom_hsa_features;

/** Name a feature as the paper abbreviates it, in lower case: "gtr", "ltr", "ghr",
 *  "lhr", "dtw", "lb_keogh", "beat_ratio", "interval_ratio".
 *  @param feature  one of TSANOM_HSA_GTR...
 *  @return a constant string; "?" if unknown */
TSANOM_API const char *tsanom_hsa_feature_name(int32_t feature);

/** Name a status: "normal", "memory_leak", "shutdown", "contention", "slowdown",
 *  "imbalance", "hang", "not_comparable", "unknown", "waiting".
 *  @param status  one of TSANOM_HSA_NORMAL...
 *  @return a constant string; "?" if unknown */
TSANOM_API const char *tsanom_hsa_status_name(int32_t status);

/** @name The model
 *  A model is an object that tsanom_hsa_learn() creates from runs, or
 *  tsanom_hsa_model_create() from plain structs, to load a saved model or to change its
 *  ranges. Numbers written with 17 significant digits give the same model, bit for bit.
 *  @{ */

/** A model. */
typedef struct tsanom_hsa_model tsanom_hsa_model;

/** What a model contains of one thread: its reference series Q, reduced to windows and a
 *  polynomial, and the ranges of the features. Times count from the start of the run. All
 *  fields but sample_runs and silent_runs are ignored if beats is 0. */
typedef struct tsanom_hsa_reference {
  size_t beats;        /**< n; 0: no normal run has a series to compare with */
  size_t window;       /**< beats in the window of a heart rate */
  size_t local_window; /**< beats in the windows of LTR and LHR; a multiple of window */
  size_t windows;      /**< k = (n - 1) / local_window, at most max_windows */
  size_t degree;       /**< of the polynomial of rate over time */
  size_t run;          /**< index of the normal run that the reference is from */
  size_t sample_runs;  /**< normal runs that the ranges are learned from */
  /** Normal runs in which the thread did not exist, or had no more beats than the
   *  window. */
  size_t silent_runs;
  double completion;  /**< time of the last beat */
  double mean_rate;   /**< mean of the heart rates r_i */
  double interval;    /**< lower quartile of the intervals between beats */
  double r2;          /**< R^2 of the polynomial */
  double domain[2];   /**< times of the first and the last heart rate */
  double unit;        /**< with center and scale: the polynomial of rate over */
  double center;      /**< time as in tsanom_polyfit_model, a sum of Chebyshev */
  double scale;       /**< polynomials of (time * unit - center) * scale */
  const double *time; /**< windows + 1: times of the beats 0, local_window, ... */
  /** windows + 1: heart rates at these beats; the first is the first that there is. */
  const double *rate;
  const double *window_rate;                /**< windows: mean rate in each */
  const double *coefficient;                /**< degree + 1 Chebyshev coefficients */
  tsanom_hsa_range range[TSANOM_HSA_SLOTS]; /**< normal values, by feature */
  uint64_t reserved[16];                    /**< 0 */
} tsanom_hsa_reference;

/** The content of a model. Begin with `{.struct_size = sizeof x}`, then set the
 *  fields. It does not own what its pointers refer to. */
typedef struct tsanom_hsa_model_data {
  size_t struct_size;  /**< sizeof, set by the caller */
  size_t thread_count; /**< >= 1 */
  size_t run_count;    /**< normal runs that the model was learned from, >= 1 */
  const tsanom_hsa_options *options;      /**< of learning; NULL: the defaults */
  const tsanom_hsa_reference *references; /**< thread_count references */
} tsanom_hsa_model_data;

/** Create a model. The content is copied and checked: parts that contradict each other or
 *  the options are ::TSANOM_E_FORMAT, NaN or an infinity other than the end of a range
 *  ::TSANOM_E_NONFINITE. The fault names the field, as in "data.references.time", with the
 *  thread as element. To ask for the size, give the references with their counts; their
 *  arrays may be NULL.
 *  @param      data   the content
 *  @param[out] model  release it by tsanom_hsa_model_destroy()
 *  @exec @status */
TSANOM_API tsanom_status tsanom_hsa_model_create(const tsanom_hsa_model_data *data,
                                                 const tsanom_exec *exec,
                                                 tsanom_hsa_model **model);

/** Release a created or learned model. @param model NULL: nothing happens */
TSANOM_API void tsanom_hsa_model_destroy(tsanom_hsa_model *model);

/** Read the content of a model, to save, print or change it.
 *  @param[in,out] data  initialized; its pointers then point into the model
 *  @the{model} @status */
TSANOM_API tsanom_status tsanom_hsa_model_read(const tsanom_hsa_model *model,
                                               tsanom_hsa_model_data *data);

/** @} */

/** Learn a model from normal runs.
 *
 *  The reference of a thread is the medoid of its normal series: the series with the
 *  least sum of DTW + |ln GTR| of the others against it; of equal ones the first. The
 *  ranges are learned by leaving out each run in turn: its features against the medoid of
 *  the other runs are one sample, as if the run were new. A run in which a thread does
 *  not exist, or has no more beats than the window, is no sample for it; a thread without
 *  samples has no reference (beats == 0).
 *
 *  A model can be learned from one run. The spread is then unknown, and the ranges are
 *  those of single_run_margin around 1.
 *  O(beats + threads · run_count^2 · points · radius). The block of the model contains what
 *  learning needed besides, O(run_count · (max_windows + run_count)); of a model of many runs
 *  that is kept for long, make a small copy: tsanom_hsa_model_read(), then
 *  tsanom_hsa_model_create(). To ask for the size, give the runs with the beats of their
 *  threads; the times may be NULL.
 *  @param      runs       normal runs; they may differ in their threads
 *  @param      run_count  >= 1; some thread must have more beats than the window
 *  @param[out] model      release it by tsanom_hsa_model_destroy(); not set if the poll
 *                         stops the call
 *  @options @exec @stopped
 *  @retval TSANOM_PARTIAL  the model is complete, but some thread has a single sample */
TSANOM_API tsanom_status tsanom_hsa_learn(const tsanom_hsa_run *runs, size_t run_count,
                                          const tsanom_hsa_options *options,
                                          const tsanom_exec *exec,
                                          tsanom_hsa_model **model);

/** Questions of the tree. ABI: append only. */
enum {
  TSANOM_HSA_ASK_KNOWN = 0,    /**< does the model have a reference for the thread? */
  TSANOM_HSA_ASK_BEATS = 1,    /**< did the thread beat at all? */
  TSANOM_HSA_ASK_WINDOW = 2,   /**< did it beat often enough for one window? */
  TSANOM_HSA_ASK_SIMILAR = 3,  /**< {DTW, LB} within DistanceRange? */
  TSANOM_HSA_ASK_ON_TIME = 4,  /**< {GTR, LTR} within TimeRange? */
  TSANOM_HSA_ASK_EARLY = 5,    /**< GTR < mintime? */
  TSANOM_HSA_ASK_LATE = 6,     /**< GTR > maxtime? */
  TSANOM_HSA_ASK_RATE = 7,     /**< {GHR, LHR} within HeartrateRange? */
  TSANOM_HSA_ASK_COMPLETE = 8, /**< beat ratio not below its range? */
  TSANOM_HSA_ASK_SLOWER = 9,   /**< GTR or LTR above, and GHR or LHR below? */
  TSANOM_HSA_ASK_SILENT = 10,  /**< was it silent in a normal run too? */
  TSANOM_HSA_ASK_PACE = 11,    /**< interval ratio above its range? */
  TSANOM_HSA_STEPS = 16        /**< length of a verdict's array of steps */
};

/** One step of the path through the tree: a question, its answer, and the numbers behind
 *  it. */
typedef struct tsanom_hsa_step {
  int32_t question;   /**< TSANOM_HSA_ASK_* */
  int32_t answer;     /**< 1 yes, 0 no */
  int32_t count;      /**< features in question, 0 to 4 */
  int32_t reserved0;  /**< 0 */
  int32_t feature[4]; /**< their indices; the rest -1 */
  int32_t defined[4]; /**< 1 if that feature is defined */
  /** Their values; for ASK_BEATS and ASK_WINDOW, [0] is the thread's beats and [1] the
   *  window; for ASK_KNOWN and ASK_SILENT, [0] is the number of normal runs with or
   *  without a usable series. */
  double value[4];
  tsanom_hsa_range range[4]; /**< their normal ranges */
  uint64_t reserved[2];      /**< 0 */
} tsanom_hsa_step;

/** The result for one thread. Begin with `{.struct_size = sizeof x}`. */
typedef struct tsanom_hsa_verdict {
  size_t struct_size;                     /**< sizeof, set by the caller */
  int32_t status;                         /**< TSANOM_HSA_NORMAL... */
  int32_t step_count;                     /**< steps of the path */
  tsanom_hsa_features features;           /**< of the thread against its reference */
  tsanom_hsa_step step[TSANOM_HSA_STEPS]; /**< the path, from the root */
} tsanom_hsa_verdict;

/** Diagnose each thread of a run. Threads are matched by number. A thread that the model
 *  has and the run has not, or that never beats, is shut down, unless it was silent in a
 *  normal run too. A thread without a reference in the model is normal; its path states
 *  that. O(beats + threads · points · radius). The workspace does not depend on the run.
 *  @param[in,out] verdicts       one for each thread number: the first initialized; the
 *                                call initializes the others, at distances of its
 *                                struct_size
 *  @param         verdict_count  the larger of the thread counts of model and run
 *  @param[out]    done           verdicts written, fewer than verdict_count only if the
 *                                poll stops the call; may be NULL
 *  @the{run} @the{model} @exec @stopped */
TSANOM_API tsanom_status tsanom_hsa_diagnose(const tsanom_hsa_model *model,
                                             const tsanom_hsa_run *run,
                                             const tsanom_exec *exec,
                                             tsanom_hsa_verdict *verdicts,
                                             size_t verdict_count, size_t *done);

/** Describe one step of a path in an English sentence, such as "DTW 0.31 [0, 0.08] and
 *  LB_Keogh 0.12 [0, 0.01] do not both lie in their normal ranges: ...".
 *  @the{step} @sentence @status */
TSANOM_API tsanom_status tsanom_hsa_step_text(const tsanom_hsa_step *step, char *text,
                                              size_t size, size_t *length);

#ifdef __cplusplus
}
#endif
/** @} */
#endif
