/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 *  One account of the time of a run, the *ledger*: for how long its threads computed, for
 *  how long they lacked a processor, and for how long nobody ran.
 *
 *  Between two samples the wall time W of each thread i splits exactly into \f$c_i\f$ on a
 *  processor, \f$r_i\f$ ready without one, and the rest, in which it slept, was blocked or
 *  stopped. Threads that meet wait for the one that has most to do, so that of the team
 *
 *  \f[ C = \max(\max_i c_i,\ \textstyle\sum_i c_i / P), \qquad
 *      R = \min(\textstyle\sum_i r_i,\ W - C), \qquad U = W - C - R. \f]
 *
 *  C is the time of work, R that in which work was ready and lacked a processor, U that in
 *  which nobody ran and nobody was ready: all slept, waited for a device, or were stopped.
 *  P is the number of processors that the program may use.
 *
 *  Use it to see where the time of one run went, without a model of normal runs. It needs
 *  vital signs. Threads that wait in a loop use processor time: their waiting is C.
 *
 *  Which rank of a job hangs, and which wait for it? Watch each rank by <tsanom/watch.h>,
 *  then call tsanom_diagnosis_judge_job(). How long will a watched program still run?
 *  tsanom_diagnosis_predict().
 *
 *  One thread computes. Errors are those of <tsanom/vital.h>. */
#ifndef TSANOM_DIAGNOSIS_H
#define TSANOM_DIAGNOSIS_H

#include <tsanom/watch.h>

/** @addtogroup diagnosis
 *  @{ */

#ifdef __cplusplus
extern "C" {
#endif

enum {
  /** Windows of a ledger: the whole run, then its eighths. */
  TSANOM_DIAGNOSIS_WINDOWS = 9
};

/** The time of a team in a window: wall_s = cpu_s + ready_s + nobody_s. */
typedef struct tsanom_diagnosis_window {
  double begin;    /**< seconds, on the clock of the beats */
  double end;      /**< likewise */
  double beats;    /**< mean beats of its threads, in fractions of a beat */
  double wall_s;   /**< W; 0: no sample is in the window */
  double cpu_s;    /**< C */
  double ready_s;  /**< R; NaN: not known */
  double nobody_s; /**< U; NaN: not known, and wall_s - cpu_s is R + U */
  /** Fewest samples of a thread after `begin` and until `end`: with less than three a
   *  sample that came late is much of the window. */
  uint64_t samples;
  uint64_t reserved[2]; /**< 0 */
} tsanom_diagnosis_window;

/** The time of a thread in a window. */
typedef struct tsanom_diagnosis_share {
  double cpu_s;   /**< \f$c_i\f$; NaN: the thread has less than two samples */
  double ready_s; /**< \f$r_i\f$; NaN: not known */
  double off_s;   /**< the rest: asleep, blocked, stopped; NaN: not known */
  double beats;   /**< in fractions of a beat */
} tsanom_diagnosis_share;

/** The account of a run. */
typedef struct tsanom_diagnosis_ledger {
  size_t processors; /**< P: what tsanom_hsa_run::machine begins with; else the threads */
  size_t sampled;    /**< threads with two samples or more; the others are not in it */
  /** The whole, from the first moment by which all of these threads have a sample until
   *  the last sample; then the time in which the busiest thread made each eighth of its
   *  beats. A run without beats has eighths of its time. */
  tsanom_diagnosis_window window[TSANOM_DIAGNOSIS_WINDOWS];
  uint64_t reserved[4]; /**< 0 */
} tsanom_diagnosis_ledger;

/** Account for the time of a run. Numbers that a sample does not know are those between
 *  its neighbors, in proportion to the time. The time between the last sample of a task
 *  and the first one of the next task with the same thread number counts as neither c nor
 *  r. O(beats + samples).
 *  @param[out] ledger    the account; all numbers are NaN if no thread has two samples
 *  @param[out] shares    of thread t in window w at w * run->thread_count + t; may be NULL
 *                        if capacity is 0
 *  @param      capacity  elements of `shares`, 0, or at least ::TSANOM_DIAGNOSIS_WINDOWS
 *                        for each thread
 *  @the{run} @exec @status
 *  @retval TSANOM_PARTIAL  a thread has less than two samples, or the time ready without
 *                          a processor is not known */
TSANOM_API tsanom_status tsanom_diagnosis_account(const tsanom_hsa_run *run,
                                                  const tsanom_exec *exec,
                                                  tsanom_diagnosis_ledger *ledger,
                                                  tsanom_diagnosis_share *shares,
                                                  size_t capacity);

/** Describe a window in a sentence: "of 10.0 s 7.1 s on a processor, 0.4 s ready without
 *  one, 2.5 s nobody ran".
 *  @param window  of a ledger
 *  @sentence @status */
TSANOM_API tsanom_status tsanom_diagnosis_window_text(
    const tsanom_diagnosis_window *window, char *text, size_t size, size_t *length);

/** @name Jobs
 *  @{ */

/** A run of a job, such as a rank of an MPI program. Zero it, then set `watch`, `job` and
 *  `start`. */
typedef struct tsanom_diagnosis_rank {
  tsanom_hsa_watch *watch; /**< of the run; NULL: it has not begun */
  /** Number of its job; the runs of a job stand beside each other. Negative: the run is by
   *  itself. */
  int32_t job;
  /** 1: it is in a call of MPI, where it may wait for another rank; 0: it is not; -1: that is
   *  not known, or one of its threads beat within half of its tsanom_hsa_pulse::limit. */
  int32_t in_call;
  int32_t ended; /**< 1: it was over at an earlier call, and is not judged again */
  /** The result, kept for the next call: ::TSANOM_HSA_HANG: others wait for it;
   *  ::TSANOM_HSA_CONTENTION: likewise, but it has no processor; ::TSANOM_HSA_WAITING: it is
   *  silent, and waits for another one; else ::TSANOM_HSA_NORMAL. */
  int32_t status;
  double start; /**< time 0 of its beats, in seconds since 1970: clocks of runs differ */
  /** Of a hang or contention: when it became silent, in seconds since 1970; infinity: it did
   *  not. */
  double since;
  /** When the latest hang of its job ended, likewise; kept for the next call; 0: none did. */
  double resumed;
  uint64_t reserved[2]; /**< 0 */
} tsanom_diagnosis_rank;

/** Judge the hangs of runs that meet each other as those of threads of one run. Call it after
 *  each tsanom_hsa_watch_update() of all of them, each time with the same structs.
 *
 *  Of silent runs, the one that became silent first hangs, and each other one whose silence
 *  began at the same time, or that has beaten equally often. The others wait for it:
 *  ::TSANOM_HSA_HANG becomes ::TSANOM_HSA_WAITING in their anomalies and in
 *  tsanom_hsa_watch_pulse(), and is no alarm. tsanom_finding::threads of the hang counts
 *  their silent threads, too. A run in a call of MPI waits for a silent one that is not. After
 *  a hang, those that waited have the time of their limits to beat again. O(runs + threads).
 *  @param[in,out] ranks    the runs
 *  @param         count    their number
 *  @param[out]    slowest  index of the run that holds up the others: of those that hang the
 *                          first one, else the one with the slowest thread. ::TSANOM_NONE:
 *                          fewer than two runs have beats
 *  @exec @status */
TSANOM_API tsanom_status tsanom_diagnosis_judge_job(tsanom_diagnosis_rank *ranks,
                                                    size_t count, const tsanom_exec *exec,
                                                    size_t *slowest);

/** What is left of a run. Numbers that are not known are NaN. */
typedef struct tsanom_diagnosis_remaining {
  double iterations; /**< by the normal runs, if their lengths differ by at most 1 % */
  double seconds;    /**< of these, from the latest update on */
  double low;     /**< seconds that it takes at least, with 95 % together with `high` */
  double high;    /**< seconds that it takes at most */
  int32_t drifts; /**< 1: iterations become longer or shorter: the time is not known */
  int32_t reserved0;    /**< 0 */
  uint64_t reserved[2]; /**< 0 */
} tsanom_diagnosis_remaining;

/** Predict how long a watched program will still run, by the iterations of its slowest thread
 *  (tsanom_speedup_summarize()). O(threads).
 *  @param      watch      with normal ranges, updated
 *  @param      run        all beats so far, of which the watch got the pieces
 *  @param[out] remaining  the prediction; NaN if the run does not go on, the watch has no
 *                         normal ranges, or the slowest thread hangs
 *  @exec @status */
TSANOM_API tsanom_status tsanom_diagnosis_predict(const tsanom_hsa_watch *watch,
                                                  const tsanom_hsa_run *run,
                                                  const tsanom_exec *exec,
                                                  tsanom_diagnosis_remaining *remaining);
/** @} */

#ifdef __cplusplus
}
#endif
/** @} */
#endif
