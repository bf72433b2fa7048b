/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 *  Online diagnosis: what is not normal in a program while it runs.
 *
 *  A watch receives the beats and vital signs of a run piece by piece, in bounded memory.
 *  After each piece it returns the anomalies: their cause, their onset, how certain they
 *  are, and whether they began or ended.
 *
 *  Two rules find them. *Hangs* follow from the run's own intervals: with q, the 0.99
 *  quantile of the last ::TSANOM_HSA_WATCH_INTERVALS intervals of a thread, it is silent
 *  if its last beat is older than max(3 q, 1 s). Of silent threads, the one that is
 *  silent longest hangs, and each other one whose silence began within half of its 0.05
 *  quantile after it, or that has beaten equally often. The others wait, if half of that
 *  time has passed. Time in which the thread, or another one that has not beaten more
 *  often, was ready to run without a processor is not silence: what exceeds the limit
 *  only by this time is contention. It is silence if the thread has used more processor
 *  time since its last beat than max(3 c, a quarter of the limit), where c is the most
 *  that an iteration of it used, by the samples between beats; and if so has each other
 *  thread that has not beaten more often, unless that sleeps until another wakes it. With
 *  normal ranges the limit is at least twice the longest gap of the normal runs, of a pause that
 *  all of them have at the same iterations twice the longest of these.
 *
 *  All *other causes* are those of tsanom_hsa_find_causes(), and need normal ranges. They
 *  are judged at points of the data, when the slowest thread reaches 16, 18, 20, 22 and so
 *  on, a tenth more each, beats, or after 5 minutes; and at the end. A verdict holds until
 *  the next point, and does not depend on how the data are split into updates. A watch
 *  keeps of each thread at most 1024 times of beats of the whole run and 256 vital signs
 *  (::TSANOM_HSA_WATCH_SAMPLES): of longer runs each second, each fourth and so on.
 *  Pauses that are over are no anomaly of a watch.
 *
 *  Errors are those of <tsanom/hsa.h> and <tsanom/vital.h>. A watch may be used by one
 *  thread at a time. */
#ifndef TSANOM_WATCH_H
#define TSANOM_WATCH_H

#include <tsanom/vital.h>

/** @addtogroup hsa
 *  @{ */

#ifdef __cplusplus
extern "C" {
#endif

/** A watch; opaque. */
typedef struct tsanom_hsa_watch tsanom_hsa_watch;

enum {
  TSANOM_HSA_WATCH_INTERVALS = 512,   /**< latest intervals that a limit follows from */
  TSANOM_HSA_WATCH_FEW_INTERVALS = 8, /**< with fewer there is no limit */
  TSANOM_HSA_WATCH_RATE_BEATS = 32,   /**< beats of a heart rate */
  TSANOM_HSA_WATCH_SAMPLES = 256      /**< most vital signs of a thread that are kept */
};

/** Phases of an anomaly. ABI: append only. */
enum {
  TSANOM_HSA_ANOMALY_BEGAN = 0,    /**< found by this update, not by the last one */
  TSANOM_HSA_ANOMALY_LASTS = 1,    /**< found before */
  TSANOM_HSA_ANOMALY_RECOVERED = 2 /**< found before, and no longer holds: a beat ended a
                                        hang, or the next point did not find it */
};

/** What to watch for. Initialize it with tsanom_hsa_watch_options_init(). */
typedef struct tsanom_hsa_watch_options {
  size_t struct_size; /**< set by _init */
  /** A thread that has beaten hangs if it is silent for longer, in seconds, also without
   *  a processor; 0 (default): the limit follows from its intervals. */
  double hang;
} tsanom_hsa_watch_options;

/** Write the defaults described at ::tsanom_hsa_watch_options. @initializes{options} */
TSANOM_API tsanom_status tsanom_hsa_watch_options_init(tsanom_hsa_watch_options *options,
                                                       size_t struct_size);

/** An anomaly of a run. */
typedef struct tsanom_hsa_anomaly {
  tsanom_finding cause; /**< with its thread and evidence */
  int32_t phase;        /**< TSANOM_HSA_ANOMALY_* */
  int32_t reserved0;    /**< 0 */
  /** When it began, on the clock of the beats: of a hang the last beat; of a memory leak
   *  the moment from which memory grew, by the two lines, one of them constant, that fit
   *  the vital signs best; of lost time tsanom_finding::begin; otherwise the update that
   *  found it first. */
  double onset;
  uint64_t iteration; /**< beats until then: of the thread, or of the busiest thread */
  /** 1 - (m + 1) / (n + 1), where n normal observations are known, and m of them are
   *  as extreme as this one: intervals of the thread for a hang, normal runs for a cause
   *  that follows from ranges; 1 less the chance of a verdict by the ledger. If this observation were normal, a value as
   *  extreme would have at most the probability 1 - confidence. 1: a fact, such as the
   *  end of the program. */
  double confidence;
  uint64_t reserved[4]; /**< 0 */
} tsanom_hsa_anomaly;

/** How a thread fares now. */
typedef struct tsanom_hsa_pulse {
  int32_t status;       /**< ::TSANOM_HSA_NORMAL; ::TSANOM_HSA_HANG;
                             ::TSANOM_HSA_CONTENTION: it has not beaten for longer than
                             its limit, because it had no processor;
                             ::TSANOM_HSA_WAITING: another thread hangs, or has no
                             processor */
  int32_t reserved0;    /**< 0 */
  uint64_t beats;       /**< its beats */
  double last;          /**< time of its last beat; NaN: none */
  double rate;          /**< beats per second over the last beats, at most
                             ::TSANOM_HSA_WATCH_RATE_BEATS; 0: it hangs; NaN: fewer than
                             two beats, or they have the same time */
  double limit;         /**< seconds after which it is silent; infinity: not known */
  double shortest;      /**< 0.05 quantile of its last ::TSANOM_HSA_WATCH_INTERVALS
                             intervals; 0: none */
  double waited;        /**< seconds since the last beat in which it was ready to run
                             without a processor, by its vital signs */
  uint64_t reserved[2]; /**< 0 */
} tsanom_hsa_pulse;

/** Create a watch, of about 58 KiB for each thread.
 *  @param      thread_count  most threads of the run, >= 1
 *  @param      normal        as tsanom_hsa_learn_normal() wrote it; copied. NULL: only
 *                            hangs and the end of the program are found
 *  @param[out] watch         to be released by tsanom_hsa_watch_destroy()
 *  @options @exec @status */
TSANOM_API tsanom_status tsanom_hsa_watch_create(size_t thread_count,
                                                 const tsanom_hsa_normal *normal,
                                                 const tsanom_hsa_watch_options *options,
                                                 const tsanom_exec *exec,
                                                 tsanom_hsa_watch **watch);

/** Release a watch.
 *  @param watch  NULL: nothing happens */
TSANOM_API void tsanom_hsa_watch_destroy(tsanom_hsa_watch *watch);

/** Add what is new, and judge the run. Allocates nothing.
 *  O(new beats + new samples), and O(1) for each thread.
 *  @param      watch      a watch
 *  @param      news       a run of the beats and samples since the last update: `threads`
 *                         by number, some or all without beats. `end` is now; 0: no
 *                         hangs are judged. ::TSANOM_RUN_UNKNOWN means running. A
 *                         beat before the last one of an earlier update counts as at the
 *                         time of that: clocks are measured again while they run
 *  @param      exec       NULL: the defaults; of which only the fault is used
 *  @param[out] anomalies  those of the run now, and those that ended since the last
 *                         update; of the watch, and valid until its next update
 *  @param[out] count      number of anomalies
 *  @status */
TSANOM_API tsanom_status tsanom_hsa_watch_update(tsanom_hsa_watch *watch,
                                                 const tsanom_hsa_run *news,
                                                 const tsanom_exec *exec,
                                                 const tsanom_hsa_anomaly **anomalies,
                                                 size_t *count);

/** How a thread fared at the last update.
 *  @param      watch   a watch
 *  @param      thread  thread number; ::TSANOM_E_INDEX if no update had it
 *  @param[out] pulse   the result
 *  @status */
TSANOM_API tsanom_status tsanom_hsa_watch_pulse(const tsanom_hsa_watch *watch,
                                                size_t thread, tsanom_hsa_pulse *pulse);

#ifdef __cplusplus
}
#endif
/** @} */
#endif
