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
 *  One thread computes. Errors are those of <tsanom/vital.h>. */
#ifndef TSANOM_DIAGNOSIS_H
#define TSANOM_DIAGNOSIS_H

#include <tsanom/vital.h>

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

#ifdef __cplusplus
}
#endif
/** @} */
#endif
