/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 *  Causes of anomalies from heartbeats and vital signs: what the kernel knew of the
 *  process and its threads while they beat.
 *
 *  tsanom_hsa_measure() computes signs of each thread from one run alone: time between
 *  beats, processor time per beat, share of time without a processor, page faults, growth
 *  of memory, deviation from its team. tsanom_hsa_learn_normal() learns the normal range
 *  of each sign from normal runs, for the whole run and for eighths of it, so that a
 *  running program is compared with the same part of the normal runs.
 *  tsanom_hsa_find_causes() names the causes in another run by its signs.
 *
 *  Use them instead of the decision trees of <tsanom/hsa.h> for runs with vital signs:
 *  runs may differ in length, but not in the work per beat. Memory, processor time and
 *  waiting are known only of runs with vital signs. A sign that is not available is NaN:
 *  no cause follows from it. Errors are those of <tsanom/hsa.h>; times of samples must
 *  not decrease, unless they are NaN. One thread computes. */
#ifndef TSANOM_VITAL_H
#define TSANOM_VITAL_H

#include <tsanom/hsa.h>

/** @addtogroup hsa
 *  @{ */

#ifdef __cplusplus
extern "C" {
#endif

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
 *  process or thread; NaN: not known. With many threads, each sample has only some of
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
  uint64_t reserved[2]; /**< 0 */
} tsanom_hsa_vital;

/** Signs: indices into tsanom_hsa_signs::value. Those until ::TSANOM_HSA_SIGN_EXIT and
 *  ::TSANOM_HSA_SIGN_EARLY follow from a run alone, the others compare its ledger with normal
 *  runs. Sums over time are of
 *  pairs of consecutive samples of the same task. ABI: append only. */
enum {
  TSANOM_HSA_SIGN_GAP = 0,      /**< most seconds between two beats */
  TSANOM_HSA_SIGN_TAIL = 1,     /**< share of the busiest thread's beats after its own
                                    last beat */
  TSANOM_HSA_SIGN_SHARE = 2,    /**< its beats over those of the busiest thread */
  TSANOM_HSA_SIGN_CPU = 3,      /**< processor seconds per beat */
  TSANOM_HSA_SIGN_WAIT = 4,     /**< time without a processor over time with or without */
  TSANOM_HSA_SIGN_BLOCKED = 5,  /**< share of the time in which it neither ran nor was
                                    ready: it slept, or waited for threads or devices */
  TSANOM_HSA_SIGN_FAULTS = 6,   /**< page faults per beat, after a fifth of its beats */
  TSANOM_HSA_SIGN_GROWTH = 7,   /**< bytes by which the anonymous memory of the process
                                    exceeds that after a fifth of the beats, at most */
  TSANOM_HSA_SIGN_EXIT = 8,     /**< tsanom_hsa_run::exit_code, if the run is finished */
  TSANOM_HSA_SIGN_SLOWDOWN = 9, /**< processor time of the run over that of normal runs */
  TSANOM_HSA_SIGN_CONTENTION = 10, /**< time in which work was ready without a processor,
                                        beyond that of normal runs, over their time */
  TSANOM_HSA_SIGN_NOBODY = 11,     /**< time in which nobody ran and nobody was ready,
                                        likewise */
  TSANOM_HSA_SIGN_IMBALANCE = 12,  /**< processor time of the thread over that of normal
                                        runs, over the same of the other threads */
  /** bytes by which the anonymous memory of the process grows from its first beat to a fifth
   *  of the beats, at most */
  TSANOM_HSA_SIGN_EARLY = 13,
  TSANOM_HSA_SIGNS = 14,     /**< number of signs in this version */
  TSANOM_HSA_SIGN_SLOTS = 32 /**< length of the array that signs index */
};

/** The signs of one thread. */
typedef struct tsanom_hsa_signs {
  double value[TSANOM_HSA_SIGN_SLOTS]; /**< by TSANOM_HSA_SIGN_*; NaN: not available */
  uint64_t beats;                      /**< beats of the thread */
  uint64_t reserved[3];                /**< 0 */
} tsanom_hsa_signs;

/** Compute the signs of all threads of a run that follow from it alone; the others are NaN.
 *  O(beats + samples + 64 threads).
 *  @param[out] signs  run->thread_count structs, by thread
 *  @the{run} @exec @status */
TSANOM_API tsanom_status tsanom_hsa_measure(const tsanom_hsa_run *run,
                                            const tsanom_exec *exec,
                                            tsanom_hsa_signs *signs);

/** Name a sign in lower case: "gap_s", "tail", "share", "cpu_s", "wait", "blocked",
 *  "faults", "growth_bytes", "exit_status", "slowdown", "contention", "nobody",
 *  "imbalance", "early_bytes".
 *  @param sign  one of TSANOM_HSA_SIGN_GAP...
 *  @return a constant string; "?" if unknown */
TSANOM_API const char *tsanom_hsa_sign_name(int32_t sign);

/** @name Normal ranges
 *  @{ */

enum {
  TSANOM_HSA_PARTS = 8, /**< parts of a run that have ranges: its first eighth to all */
  TSANOM_HSA_LEDGER_RUN = 158,   /**< numbers of a ledger, without those of threads */
  TSANOM_HSA_LEDGER_THREAD = 45, /**< and of each thread */
  TSANOM_HSA_FIRST_POINT = 16    /**< beats of the slowest thread at the first verdict
                                      about a running program; the next one is after a
                                      tenth more */
};

/** Normal ranges of all signs: plain data, which a program may save and load. Begin
 *  with `{.struct_size = sizeof x}`. */
typedef struct tsanom_hsa_normal {
  size_t struct_size;  /**< sizeof, set by the caller */
  size_t thread_count; /**< >= 1 */
  size_t run_count;    /**< normal runs, >= 1 */
  uint64_t beats;      /**< most beats of a thread of any normal run */
  uint64_t fewest;     /**< fewest beats of the busiest thread of a normal run */
  double load;         /**< mean share of time without a processor; NaN: not known */
  char program[64];    /**< name of the program; empty: not known, or several */
  char machine[64];    /**< where the runs were made; empty: not known, or several */
  /** Ranges of sign s of thread t after p + 1 eighths of `beats`, at
   *  (p * thread_count + t) * ::TSANOM_HSA_SIGNS + s. Infinite ends: not known. The
   *  caller's memory. */
  tsanom_hsa_range *range;
  size_t range_count; /**< elements of `range` */
  /** What the ledger has in normal runs, and its limits: docs/formats.md lists the
   *  numbers. The caller's memory; NULL: none. The first one is 0 if the runs have
   *  different numbers of threads, or one has less than two beats. Time is not judged
   *  then. */
  double *ledger;
  /** Elements of `ledger`: 0, or ::TSANOM_HSA_LEDGER_RUN and
   *  ::TSANOM_HSA_LEDGER_THREAD for each thread. */
  size_t ledger_count;
  /** Of learning: index of the run that all others exclude, since its ledger differs;
   *  ::TSANOM_NONE: none. It does not count for limits. */
  size_t misfit;
} tsanom_hsa_normal;

/** Learn the normal ranges of signs, and limits of the ledger: docs/diagnosis.md has the
 *  formulas. Each run is also measured after each eighth of the beats of the longest run.
 *  O(8 (beats + samples)). The workspace depends on the number of runs and on the most
 *  threads of a run.
 *  @param         runs       normal runs, in which the same program did the same work per
 *                            beat; their lengths may differ
 *  @param         run_count  >= 1
 *  @param         coverage   share of future normal runs that a prediction interval must
 *                            contain, above 0 and below 1
 *  @param[in,out] normal     initialized, with `range` of `range_count` elements, at
 *                            least ::TSANOM_HSA_PARTS * ::TSANOM_HSA_SIGNS for each
 *                            thread, and `ledger`; the result
 *  @exec @status
 *  @retval TSANOM_PARTIAL  the ranges are guessed: there are fewer than three runs */
TSANOM_API tsanom_status tsanom_hsa_learn_normal(const tsanom_hsa_run *runs,
                                                 size_t run_count, double coverage,
                                                 const tsanom_exec *exec,
                                                 tsanom_hsa_normal *normal);

/** The smallest effects that are found; infinity: none is. Those of the ledger are found
 *  in 95 % of the runs that have them. */
typedef struct tsanom_hsa_power {
  double slowdown;   /**< processor time over that of normal runs */
  double imbalance;  /**< the same of one thread, over that of the others */
  double contention; /**< time without a processor over the time of normal runs */
  double blocked;    /**< time in which nobody ran, likewise */
  double leak;       /**< bytes in a run of normal length, after its first fifth */
  double hang;       /**< seconds without a beat, but for pauses that normal runs have */
  /** Further normal runs that would halve what `slowdown` exceeds 1 by; infinity: none
   *  would, since it is a tenth, the least that is reported, or since the runs scatter. */
  double more_runs;
  /** Bytes of the first fifth of the beats. What a program takes before the first sample
   *  behind its first beat is not seen. */
  double early;
  uint64_t reserved[2]; /**< 0 */
} tsanom_hsa_power;

/** Compute the power of normal ranges and of the ledger: for each cause, of the thread for
 *  which it is found least. O(threads).
 *  @param      normal  as tsanom_hsa_learn_normal() wrote it
 *  @param[out] power   the result
 *  @status */
TSANOM_API tsanom_status tsanom_hsa_normal_power(const tsanom_hsa_normal *normal,
                                                 tsanom_hsa_power *power);
/** @} */

/** @name Causes
 *  @{ */

/** What a cause follows from. ABI: append only. */
enum {
  TSANOM_HSA_DETAIL_NONE = 0,        /**< the sign, its value and its limit */
  TSANOM_HSA_DETAIL_PROGRAM = 1,     /**< not comparable: another program */
  TSANOM_HSA_DETAIL_MACHINE = 2,     /**< not comparable: other processors */
  TSANOM_HSA_DETAIL_THREADS = 3,     /**< not comparable: another number of threads */
  TSANOM_HSA_DETAIL_NO_POWER = 4,    /**< not comparable: the model excludes nothing */
  TSANOM_HSA_DETAIL_FEW_BEATS = 5,   /**< unknown: too few beats */
  TSANOM_HSA_DETAIL_KILLED = 6,      /**< shutdown: the recording was not ended */
  TSANOM_HSA_DETAIL_SHORT = 7,       /**< shutdown: beats are missing at the end */
  TSANOM_HSA_DETAIL_STOPPED = 8,     /**< shutdown: the other threads went on */
  TSANOM_HSA_DETAIL_NEVER = 9,       /**< shutdown: it never beat */
  TSANOM_HSA_DETAIL_PAUSED = 10,     /**< hang: it went on after a gap */
  TSANOM_HSA_DETAIL_BLOCKED = 11,    /**< slowdown: nobody ran, and nobody was ready */
  TSANOM_HSA_DETAIL_EXIT = 12,       /**< shutdown: another exit status than normal */
  TSANOM_HSA_DETAIL_PROCESSORS = 13, /**< contention: fewer processors than normal */
  TSANOM_HSA_DETAIL_FAULTS = 14,     /**< leak: the page faults of the thread show it */
  TSANOM_HSA_DETAIL_BEATS = 15 /**< slowdown, imbalance: beats alone are compared, whose
                                      time stands for processor time */
};

/** What is not normal in a run, with its evidence. Numbers that do not belong to the cause
 *  or are not known are NaN, counts 0. */
typedef struct tsanom_finding {
  int32_t cause;  /**< TSANOM_HSA_MEMORY_LEAK... */
  int32_t thread; /**< thread number; ::TSANOM_HSA_PROCESS: the run */
  int32_t sign;   /**< the sign that it follows from; -1: none */
  int32_t detail; /**< TSANOM_HSA_DETAIL_* */
  double value;   /**< of the sign */
  double most;    /**< the greatest of the normal runs */
  double limit;   /**< it is reported above this */
  double lost_s;  /**< seconds that it cost, against the normal runs */
  /** Since when, on the clock of the beats: of a cause by the ledger the begin of the
   *  contiguous eighths that lost most; of a hang the last beat. */
  double begin;
  double end;            /**< until when; infinity: it lasts */
  uint64_t iteration;    /**< beats of the busiest thread until `begin` */
  uint64_t beats;        /**< of the run or thread that ended early, or has few beats */
  uint64_t normal_beats; /**< what these are compared with: of the longest normal run; of
                              the busiest thread; the least that is needed */
  uint64_t threads;      /**< of the run, if the normal runs have another number; of a
                              hang, the threads that wait for it */
  uint64_t normal_threads;    /**< of the normal runs */
  uint64_t processors;        /**< that the program may use, if they are fewer than */
  uint64_t normal_processors; /**< in the normal runs */
  double faults;              /**< of a leak: page faults of the thread per beat */
  double faults_limit;        /**< and from where on they are not normal */
  double ready_s;             /**< of a silence: seconds ready without a processor */
  int32_t exit_code;          /**< of a shutdown, as tsanom_hsa_run::exit_code */
  int32_t reserved0;          /**< 0 */
  uint64_t reserved[4];       /**< 0 */
} tsanom_finding;

/** Find the causes of what is not normal in a run. A finished run is judged as a whole. A
 *  running program is judged by the beats and samples until its latest point: when the
 *  slowest thread had 16, 18, 20, 22 and so on, a tenth more each, beats; a thread that does
 *  not beat now, at any time.
 *
 *  The order is: not comparable; shutdown; memory leak; a hang that lasts; a pause,
 *  contention, imbalance and slowdown, those that lost most seconds first; unknown. Of a run
 *  that is not comparable nothing else is found. O(beats + samples + 64 threads). The
 *  workspace depends on the number of threads of the run.
 *  @param      normal    as tsanom_hsa_learn_normal() wrote it
 *  @param[out] signs     run->thread_count structs, by thread
 *  @param[out] causes    what was found, the most important first
 *  @param      capacity  elements of causes, at least 4 run->thread_count + 8
 *  @param[out] count     number of causes; 0: the run is normal
 *  @the{run} @exec @status */
TSANOM_API tsanom_status tsanom_hsa_find_causes(
    const tsanom_hsa_normal *normal, const tsanom_hsa_run *run, const tsanom_exec *exec,
    tsanom_hsa_signs *signs, tsanom_finding *causes, size_t capacity, size_t *count);

/** Whether a cause is an alarm, as for the exit status of a watch: contention, waiting and
 *  what is not known are reports.
 *  @param cause  TSANOM_HSA_NORMAL...
 *  @return 1 or 0 */
TSANOM_API int32_t tsanom_hsa_cause_is_alarm(int32_t cause);

/** The status of a thread or of a run: its first cause, or normal. A thread without a
 *  cause of its own has that of the run if it is shutdown, not comparable or unknown.
 *  @param      causes  as tsanom_hsa_find_causes() wrote them; may be NULL if count is 0
 *  @param      count   their number
 *  @param      thread  thread number; ::TSANOM_HSA_PROCESS: the run
 *  @param[out] status  TSANOM_HSA_NORMAL...
 *  @status */
TSANOM_API tsanom_status tsanom_hsa_cause_status(const tsanom_finding *causes,
                                                 size_t count, int32_t thread,
                                                 int32_t *status);

/** What tsanom_hsa_cause_text() writes. ABI: append only. */
enum {
  TSANOM_HSA_CAUSE_EVIDENCE = 0, /**< what was found, with its numbers */
  TSANOM_HSA_CAUSE_NEXT = 1      /**< what to do next, such as "look at the allocations of
                                      thread 1 in an iteration" */
};

/** Describe a cause in an English sentence.
 *  @param part  TSANOM_HSA_CAUSE_*
 *  @the{cause} @sentence @status */
TSANOM_API tsanom_status tsanom_hsa_cause_text(const tsanom_finding *cause, int32_t part,
                                               char *text, size_t size, size_t *length);
/** @} */

#ifdef __cplusplus
}
#endif
/** @} */
#endif
