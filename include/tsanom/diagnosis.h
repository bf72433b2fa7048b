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
 *  What happened in a run? tsanom_diagnosis_summarize() collects it on one page.
 *
 *  Which rank of a job hangs, and which wait for it? Watch each rank by <tsanom/watch.h>,
 *  then call tsanom_diagnosis_judge_job(). How long will a watched program still run?
 *  tsanom_diagnosis_predict().
 *
 *  One thread computes. Errors are those of <tsanom/vital.h>. */
#ifndef TSANOM_DIAGNOSIS_H
#define TSANOM_DIAGNOSIS_H

#include <tsanom/spmd.h>
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

/** @name Summaries
 *  What happened in a run, or in all ranks of a job, on one page. A summary has no rule of
 *  its own: each line of the page is the result of another function.
 *
 *      tsanom_diagnosis_summary s = {.path = "run"};
 *      tsanom_diagnosis_summarize(run, -1, 0, NULL, 0, NULL, &s);
 *      tsanom_diagnosis_summarize_team(times, &report, &s);
 *      tsanom_diagnosis_summary_text(&s, TSANOM_DIAGNOSIS_SUMMARY_PAGE, text, sizeof text, NULL);
 *  @{ */

/** What a summary answers besides how the run ended: a finding, how it ended, what of team, slow
 *  and nobody cost most seconds, memory, and waiting, in this order. ABI: append only. */
enum {
  TSANOM_DIAGNOSIS_QUIET = 0,   /**< nothing was found */
  TSANOM_DIAGNOSIS_FINDING = 1, /**< tsanom_diagnosis_summary::finding */
  TSANOM_DIAGNOSIS_ENDED = 2,   /**< the program was killed, or exited with a status */
  TSANOM_DIAGNOSIS_TEAM = 3,    /**< threads or ranks differ */
  TSANOM_DIAGNOSIS_SLOW = 4,    /**< iterations were slow */
  TSANOM_DIAGNOSIS_GROWS = 5,   /**< memory grows all the time, by more than 3 MiB and a
                                     tenth of its peak */
  TSANOM_DIAGNOSIS_NOBODY = 6,  /**< nobody ran in a tenth of the time or more */
  TSANOM_DIAGNOSIS_READY = 7    /**< work was ready without a processor, likewise */
};

/** Which threads or ranks differ. */
typedef struct tsanom_diagnosis_team {
  size_t processes; /**< threads or ranks that were compared; 0: none were */
  size_t members;   /**< of the slowest class; 0: they do not differ */
  size_t first;     /**< the first of these */
  size_t region;    /**< the outermost around that of the verdict */
  double ratio; /**< time of a member there over that of the others; may be infinite */
  double half_width;    /**< of the interval of 95 % of the ratio; 0: not known */
  double saved_s;       /**< seconds that ideal balance would save */
  uint64_t reserved[2]; /**< 0 */
} tsanom_diagnosis_team;

/** A summary. Zero it before the first call. Numbers that are not known are NaN, or 0 if
 *  none is said. Pointers are set by the caller, and stay its own. */
typedef struct tsanom_diagnosis_summary {
  uint64_t runs;     /**< runs that were added: 1, or the ranks of a job */
  uint64_t ended;    /**< of these, the programs that ended */
  uint64_t threads;  /**< most threads of a run */
  int32_t state;     /**< TSANOM_RUN_* of the run that ended worst, else of the first */
  int32_t exit_code; /**< its tsanom_hsa_run::exit_code */
  int32_t rank;      /**< its rank; -1: it is not a rank */
  int32_t waits;     /**< 1: `finding` is of a rank that may wait for another one */
  double seconds;    /**< most seconds of a run, from its start to its end */
  /** Beats of the busiest thread of the run with most; 0 if the program has none: the caller
   *  clears it if tsanom_runs_info::beats_by_time is not 0. */
  uint64_t iterations;
  double iteration_s; /**< mean time of one */
  /** Means of the runs; of one that ended before it has two samples nothing is known. */
  tsanom_diagnosis_ledger ledger;
  uint64_t accounted; /**< runs in the ledger */
  double peak;        /**< most bytes in memory of a run */
  double growth;      /**< most of ::TSANOM_HSA_SIGN_GROWTH, in bytes */
  int32_t peak_rank;  /**< whose `peak` this is; -1: not of a rank */
  /** 1: memory of a run was more after each eighth of its processor time than before, from
   *  the third eighth on. */
  int32_t grows;
  /** The first of the worst run; cause ::TSANOM_HSA_NORMAL: none. */
  tsanom_finding finding;
  int32_t finding_rank;       /**< its rank */
  int32_t judged;             /**< 1: findings are those of a model */
  tsanom_diagnosis_team team; /**< set by tsanom_diagnosis_summarize_team() */
  const char *team_region;    /**< name of its region; NULL: not known */
  const char *path;           /**< of the run, in the command to type next; NULL: "RUN" */
  const char *slow; /**< a sentence about slow iterations; NULL: none are known */
  double slow_s;    /**< seconds that these lost */
  uint64_t records; /**< heartbeats and events that were recorded */
  uint64_t bytes;   /**< that they take on disk; 0: not known */
  const char *const *missing; /**< sentences about what was not recorded */
  size_t missing_count;       /**< their number */
  int32_t searched;           /**< 1: slow iterations were searched for */
  int32_t slow_ready;         /**< 1: in them, threads waited for a processor: no alarm */
  uint64_t reserved[8];       /**< 0 */
} tsanom_diagnosis_summary;

/** Add a run to a summary. Call it once, or for each rank of a job. A run that has not
 *  ended its recording is watched for hangs (<tsanom/watch.h>), in a workspace of the size
 *  of a watch; what was found in it otherwise is given. O(beats + samples).
 *  @param         run       a run
 *  @param         rank      its rank; -1: it is the only run
 *  @param         in_call   as tsanom_diagnosis_rank::in_call: of several ranks that hang, one
 *                           outside of calls is named
 *  @param         findings  of tsanom_hsa_find_causes() by a model; NULL: there is no model
 *  @param         count     their number
 *  @param[in,out] summary   the summary
 *  @exec @status */
TSANOM_API tsanom_status tsanom_diagnosis_summarize(const tsanom_hsa_run *run,
                                                    int32_t rank, int32_t in_call,
                                                    const tsanom_finding *findings,
                                                    size_t count, const tsanom_exec *exec,
                                                    tsanom_diagnosis_summary *summary);

/** Add to a summary which threads or ranks differ. O(processes).
 *  @param         data     the times that were compared
 *  @param         report   of tsanom_spmd_analyze(), with `class_of` and `region`
 *  @param[in,out] summary  its `team` is set
 *  @status */
TSANOM_API tsanom_status tsanom_diagnosis_summarize_team(
    const tsanom_spmd_data *data, const tsanom_spmd_report *report,
    tsanom_diagnosis_summary *summary);

/** What a summary answers.
 *  @param      summary  a summary
 *  @param[out] answer   TSANOM_DIAGNOSIS_QUIET...
 *  @param[out] alarm    1: something is wrong, as for the exit status of a command: a
 *                       finding that is an alarm, the end of the program, different threads or
 *                       ranks, slow iterations, or growing memory. Whether it is normal that
 *                       nobody runs is known by a model only
 *  @status */
TSANOM_API tsanom_status tsanom_diagnosis_summary_answer(
    const tsanom_diagnosis_summary *summary, int32_t *answer, int32_t *alarm);

/** What tsanom_diagnosis_summary_text() writes. ABI: append only. */
enum {
  /** The page: at most 24 lines of at most 100 columns, which begin with the verdict. */
  TSANOM_DIAGNOSIS_SUMMARY_PAGE = 0,
  /** The answer in a sentence: how the run ended, and what was found. */
  TSANOM_DIAGNOSIS_SUMMARY_VERDICT = 1,
  TSANOM_DIAGNOSIS_SUMMARY_NEXT = 2 /**< a command to type next, or where to look */
};

/** Write a summary, or a sentence of it.
 *  @param summary  a summary
 *  @param part     TSANOM_DIAGNOSIS_SUMMARY_*
 *  @sentence @status */
TSANOM_API tsanom_status
tsanom_diagnosis_summary_text(const tsanom_diagnosis_summary *summary, int32_t part,
                              char *text, size_t size, size_t *length);
/** @} */

#ifdef __cplusplus
}
#endif
/** @} */
#endif
