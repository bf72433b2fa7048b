/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 *  What is not normal in a run, where, and why? Where did its time go?
 *
 *  | question                                          | function                          |
 *  |---------------------------------------------------|-----------------------------------|
 *  | What happened in this run? Begin here.            | tsanom_diagnosis_summarize()      |
 *  | What is normal, by the ranges of normal runs?     | tsanom_diagnosis_learn_normal()   |
 *  | What differs in another run, and why?             | tsanom_diagnosis_find_causes()    |
 *  | Which effects are found by these normal runs?     | tsanom_diagnosis_normal_power()   |
 *  | What is wrong with a program that runs now?       | tsanom_diagnosis_watch_update()   |
 *  | Which rank of a job hangs, and which ranks wait?  | tsanom_diagnosis_judge_job()      |
 *  | How long will a watched program still run?        | tsanom_diagnosis_predict()        |
 *  | How long did a run compute, or lack a processor?  | tsanom_diagnosis_account()        |
 *
 *  Causes other than hangs need normal runs. A hang is found without, as here:
 *
 *  @code{.c}
 *  double time[20];
 *  for (int i = 0; i < 20; i++) time[i] = i;  // a beat each second, the last one at 19 s
 *  tsanom_hsa_series beats = {.time = time, .beats = 20};
 *  tsanom_hsa_run news = {.threads = &beats, .thread_count = 1, .end = 30};  // it is 30 s now
 *  tsanom_diagnosis_watch *watch;
 *  const tsanom_diagnosis_anomaly *found;
 *  size_t count;
 *  char text[512];
 *  tsanom_diagnosis_watch_create(1, NULL, NULL, NULL, &watch);
 *  tsanom_diagnosis_watch_update(watch, &news, NULL, &found, &count);
 *  tsanom_diagnosis_cause_text(&found[0].cause, TSANOM_DIAGNOSIS_CAUSE_EVIDENCE, text,
 *                              sizeof text, NULL);
 *  printf("%zu anomaly: %s\n", count, text);
 *  // -> 1 anomaly: the thread has made no beat for 11 s, from 19 s (iteration 20); reported above 3 s
 *  tsanom_diagnosis_watch_destroy(watch);
 *  @endcode
 *
 *  **What you need.** Heartbeats suffice for hangs, shutdowns and slower iterations. Memory,
 *  processor time and waiting are known only of runs with vital signs (::tsanom_hsa_vital). A
 *  sign that is not known is NaN: no cause follows from it. Runs may differ in length, but not
 *  in the work per beat. If all runs have the same number of beats and no vital signs, the
 *  decision trees of <tsanom/hsa.h> are an alternative.
 *
 *  **Guarantees.** One thread computes. What is found does not depend on how the data of a
 *  running program are split into updates.
 *
 *  **Errors** are those of <tsanom/hsa.h>. The times of samples must not decrease, unless they
 *  are NaN (::TSANOM_E_ORDER). */
#ifndef TSANOM_DIAGNOSIS_H
#define TSANOM_DIAGNOSIS_H

#include <tsanom/hsa.h>
#include <tsanom/spmd.h>

/** @addtogroup diagnosis
 *  @{ */

#ifdef __cplusplus
extern "C" {
#endif

struct tsanom_runs;      /* <tsanom/runs.h> */
struct tsanom_runs_loop; /* <tsanom/runs.h> */

/* experimental: may change in any release */

/** @name Signs
 *  @{ */

/** Signs: indices into tsanom_diagnosis_signs::value. The signs up to
 *  ::TSANOM_DIAGNOSIS_SIGN_EXIT follow from a run alone. The others compare its ledger with normal runs. Sums over time are sums over pairs of
 *  consecutive samples of the same task. ABI: append only. */
enum {
  TSANOM_DIAGNOSIS_SIGN_GAP = 0, /**< longest time between two beats, in seconds */
  /** share of the busiest thread's beats after the last beat of this thread */
  TSANOM_DIAGNOSIS_SIGN_TAIL = 1,
  TSANOM_DIAGNOSIS_SIGN_SHARE = 2, /**< its beats over the beats of the busiest thread */
  /** page faults per beat, after a fifth of its beats */
  TSANOM_DIAGNOSIS_SIGN_FAULTS = 3,
  /** largest growth of the process's anonymous memory, in bytes, over its size after
   *  the first fifth of the beats */
  TSANOM_DIAGNOSIS_SIGN_GROWTH = 4,
  /** largest growth of the process's anonymous memory, in bytes, from its first beat to
   *  a fifth of the beats */
  TSANOM_DIAGNOSIS_SIGN_EARLY = 5,
  /** tsanom_hsa_run::exit_code, if the run is finished */
  TSANOM_DIAGNOSIS_SIGN_EXIT = 6,
  TSANOM_DIAGNOSIS_SIGN_SLOWDOWN = 7, /**< processor time of the run over normal runs */
  /** time in which work was ready without a processor, beyond normal runs, over their
   *  time */
  TSANOM_DIAGNOSIS_SIGN_CONTENTION = 8,
  /** time in which threads waited for something else than a processor: nobody ran and
   *  nobody was ready, or one thread waited for another; likewise */
  TSANOM_DIAGNOSIS_SIGN_NOBODY = 9,
  /** processor time of the thread over normal runs, divided by the same ratio of the
   *  other threads */
  TSANOM_DIAGNOSIS_SIGN_IMBALANCE = 10,
  TSANOM_DIAGNOSIS_SIGNS = 11,     /**< number of signs in this version */
  TSANOM_DIAGNOSIS_SIGN_SLOTS = 32 /**< length of the array that signs index */
};

/** The signs of one thread. */
typedef struct tsanom_diagnosis_signs {
  double value
      [TSANOM_DIAGNOSIS_SIGN_SLOTS]; /**< by TSANOM_DIAGNOSIS_SIGN_*; NaN: not available */
  uint64_t beats;                    /**< beats of the thread */
  uint64_t reserved[3];              /**< 0 */
} tsanom_diagnosis_signs;

/** Name a sign in lower case: "gap_s", "tail", "share", "faults", "growth_bytes",
 *  "early_bytes", "exit_status", "slowdown", "contention", "nobody", "imbalance".
 *  @param sign  one of TSANOM_DIAGNOSIS_SIGN_GAP...
 *  @return a constant string; "?" if unknown */
TSANOM_API const char *tsanom_diagnosis_sign_name(int32_t sign);
/** @} */

/** @name Normal ranges
 *  @{ */

enum {
  /** parts of a run that have ranges: its first eighth to all */
  TSANOM_DIAGNOSIS_PARTS = 8,
  TSANOM_DIAGNOSIS_LEDGER_RUN = 158, /**< numbers of a ledger, without those of threads */
  TSANOM_DIAGNOSIS_LEDGER_THREAD = 45, /**< and of each thread */
  /** beats of the slowest thread at the first verdict about a running program; the next
   *  one is after a tenth more */
  TSANOM_DIAGNOSIS_FIRST_POINT = 16
};

/** Normal ranges of all signs: plain data, which a program may save and load. Begin
 *  with `{.struct_size = sizeof x}`. */
typedef struct tsanom_diagnosis_normal {
  size_t struct_size;  /**< sizeof, set by the caller */
  size_t thread_count; /**< >= 1 */
  size_t run_count;    /**< normal runs, >= 1 */
  uint64_t beats;      /**< most beats of a thread of any normal run */
  uint64_t fewest;     /**< fewest beats of the busiest thread of a normal run */
  char program[64];    /**< name of the program; empty: not known, or several */
  char machine[64];    /**< where the runs were made; empty: not known, or several */
  /** Ranges of sign s of thread t after p + 1 eighths of `beats`, at
   *  (p * thread_count + t) * ::TSANOM_DIAGNOSIS_SIGNS + s. Infinite ends: not known. The
   *  caller's memory. */
  tsanom_hsa_range *range;
  size_t range_count; /**< elements of `range` */
  /** What the ledger has in normal runs, and its limits: docs/formats.md lists the
   *  numbers. The caller's memory; NULL: none. The first one is 0 if the runs have
   *  different numbers of threads, or one has less than two beats. Time is not judged
   *  then. */
  double *ledger;
  /** Elements of `ledger`: 0, or ::TSANOM_DIAGNOSIS_LEDGER_RUN and
   *  ::TSANOM_DIAGNOSIS_LEDGER_THREAD for each thread. */
  size_t ledger_count;
  /** Of learning: index of the run that all others exclude, since its ledger differs;
   *  ::TSANOM_NONE: none. It does not count for limits. */
  size_t misfit;
} tsanom_diagnosis_normal;

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
 *                            least ::TSANOM_DIAGNOSIS_PARTS * ::TSANOM_DIAGNOSIS_SIGNS for each
 *                            thread, and `ledger`; the result
 *  @exec @status
 *  @retval TSANOM_PARTIAL  the ranges are guessed: there are fewer than three runs */
TSANOM_API tsanom_status tsanom_diagnosis_learn_normal(const tsanom_hsa_run *runs,
                                                       size_t run_count, double coverage,
                                                       const tsanom_exec *exec,
                                                       tsanom_diagnosis_normal *normal);

/** The smallest effects that are found; infinity: none is. Those of the ledger are found
 *  in 95 % of the runs that have them. */
typedef struct tsanom_diagnosis_power {
  double slowdown;   /**< processor time over that of normal runs */
  double imbalance;  /**< the same of one thread, over that of the others */
  double contention; /**< time without a processor over the time of normal runs */
  double blocked;    /**< time of waiting for something else, likewise */
  double leak;       /**< bytes in a run of normal length, after its first fifth */
  double hang;       /**< seconds without a beat, but for pauses that normal runs have */
  /** Further normal runs that would halve what `slowdown` exceeds 1 by; infinity: none
   *  would, since it is a tenth, the least that is reported, or since the runs scatter. */
  double more_runs;
  /** Bytes of the first fifth of the beats. What a program takes before the first sample
   *  behind its first beat is not seen. */
  double early;
  /** No effect: the share of their active time that threads of the normal runs were ready
   *  without a processor; NaN: not known. */
  double load;
  uint64_t reserved[1]; /**< 0 */
} tsanom_diagnosis_power;

/** Compute the power of normal ranges and of the ledger: for each cause, of the thread for
 *  which it is found least. O(threads).
 *  @param      normal  as tsanom_diagnosis_learn_normal() wrote it
 *  @param[out] power   the result
 *  @status */
TSANOM_API tsanom_status tsanom_diagnosis_normal_power(
    const tsanom_diagnosis_normal *normal, tsanom_diagnosis_power *power);
/** @} */

/** @name Causes
 *  @{ */

/** What a cause follows from. ABI: append only. */
enum {
  TSANOM_DIAGNOSIS_DETAIL_NONE = 0,     /**< the sign, its value and its limit */
  TSANOM_DIAGNOSIS_DETAIL_PROGRAM = 1,  /**< not comparable: another program */
  TSANOM_DIAGNOSIS_DETAIL_MACHINE = 2,  /**< not comparable: other processors */
  TSANOM_DIAGNOSIS_DETAIL_THREADS = 3,  /**< not comparable: another number of threads */
  TSANOM_DIAGNOSIS_DETAIL_NO_POWER = 4, /**< not comparable: the model excludes nothing */
  TSANOM_DIAGNOSIS_DETAIL_FEW_BEATS = 5, /**< unknown: too few beats */
  TSANOM_DIAGNOSIS_DETAIL_KILLED = 6,    /**< shutdown: the recording was not ended */
  TSANOM_DIAGNOSIS_DETAIL_SHORT = 7,     /**< shutdown: beats are missing at the end */
  TSANOM_DIAGNOSIS_DETAIL_STOPPED = 8,   /**< shutdown: the other threads went on */
  TSANOM_DIAGNOSIS_DETAIL_NEVER = 9,     /**< shutdown: it never beat */
  TSANOM_DIAGNOSIS_DETAIL_PAUSED = 10,   /**< hang: it went on after a gap */
  TSANOM_DIAGNOSIS_DETAIL_BLOCKED = 11,  /**< slowdown: waiting for no processor */
  TSANOM_DIAGNOSIS_DETAIL_EXIT = 12,     /**< shutdown: another exit status than normal */
  /** contention: fewer processors than normal */
  TSANOM_DIAGNOSIS_DETAIL_PROCESSORS = 13,
  TSANOM_DIAGNOSIS_DETAIL_FAULTS = 14, /**< leak: the page faults of the thread show it */
  /** slowdown, imbalance: beats alone are compared, whose time stands for processor
   *  time; no alarm */
  TSANOM_DIAGNOSIS_DETAIL_BEATS = 15
};

/** What is not normal in a run, with its evidence. Numbers that do not belong to the cause
 *  or are not known are NaN, counts 0. */
typedef struct tsanom_diagnosis_finding {
  int32_t cause;  /**< TSANOM_HSA_MEMORY_LEAK... */
  int32_t thread; /**< thread number; ::TSANOM_HSA_PROCESS: the run */
  int32_t sign;   /**< the sign that it follows from; -1: none */
  int32_t detail; /**< TSANOM_DIAGNOSIS_DETAIL_* */
  double value;   /**< of the sign */
  double most;    /**< the greatest of the normal runs */
  double limit;   /**< it is reported above this */
  double lost_s;  /**< seconds that it cost, against the normal runs */
  /** Since when, on the clock of the beats: of a cause by the ledger the begin of the
   *  contiguous eighths that lost most; of a hang the last beat; of a memory leak when memory
   *  began to grow. */
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
  char name[16];              /**< of the thread, as tsanom_hsa_vital::name */
  uint64_t reserved[2];       /**< 0 */
} tsanom_diagnosis_finding;

/** Find the causes of what is not normal in a run. A finished run is judged as a whole. A
 *  running program is judged as by a watch (tsanom_diagnosis_watch_update()) that gets all of
 *  it: by the beats and samples until its latest point, which is when the slowest thread had
 *  16, 18, 20, 22 and so on, a tenth more each, beats; a thread that does not beat now, at
 *  any time.
 *
 *  The order is: not comparable; shutdown; memory leak; a hang that lasts; a pause,
 *  contention, imbalance and slowdown, those that lost most seconds first; unknown. Of a run
 *  that is not comparable nothing else is found. O(beats + samples + 64 threads). The
 *  workspace is a watch, and depends on the number of threads of the run.
 *  @param      normal    as tsanom_diagnosis_learn_normal() wrote it
 *  @param[out] signs     run->thread_count structs, by thread
 *  @param[out] causes    what was found, the most important first
 *  @param      capacity  elements of causes, at least 4 run->thread_count + 8
 *  @param[out] count     number of causes; 0: the run is normal
 *  @the{run} @exec @status */
TSANOM_API tsanom_status tsanom_diagnosis_find_causes(
    const tsanom_diagnosis_normal *normal, const tsanom_hsa_run *run,
    const tsanom_exec *exec, tsanom_diagnosis_signs *signs,
    tsanom_diagnosis_finding *causes, size_t capacity, size_t *count);

/** Whether a cause is an alarm, as for the exit status of a watch: contention, waiting and
 *  what is not known are reports, and so is what beats alone show
 *  (::TSANOM_DIAGNOSIS_DETAIL_BEATS), since a lack of processors would look the same.
 *  @param cause  a cause; NULL is no alarm
 *  @return 1 or 0 */
TSANOM_API int32_t tsanom_diagnosis_cause_is_alarm(const tsanom_diagnosis_finding *cause);

/** The status of a thread or of a run: its first cause, or normal. A thread without a
 *  cause of its own has that of the run if it is shutdown, not comparable or unknown.
 *  @param      causes  as tsanom_diagnosis_find_causes() wrote them; may be NULL if count is 0
 *  @param      count   their number
 *  @param      thread  thread number; ::TSANOM_HSA_PROCESS: the run
 *  @param[out] status  TSANOM_HSA_NORMAL...
 *  @status */
TSANOM_API tsanom_status
tsanom_diagnosis_cause_status(const tsanom_diagnosis_finding *causes, size_t count,
                              int32_t thread, int32_t *status);

/** What tsanom_diagnosis_cause_text() writes. ABI: append only. */
enum {
  TSANOM_DIAGNOSIS_CAUSE_EVIDENCE = 0, /**< what was found, with its numbers */
  /** what to do next, such as "look at the allocations of thread 1 in an iteration" */
  TSANOM_DIAGNOSIS_CAUSE_NEXT = 1
};

/** Describe a cause in an English sentence.
 *  @param part  TSANOM_DIAGNOSIS_CAUSE_*
 *  @the{cause} @sentence @status */
TSANOM_API tsanom_status
tsanom_diagnosis_cause_text(const tsanom_diagnosis_finding *cause, int32_t part,
                            char *text, size_t size, size_t *length);
/** @} */

/** @name Watches
 *  A watch receives the beats and vital signs of a run piece by piece, in bounded memory.
 *  After each piece it returns the anomalies: their cause, when they began, how certain they
 *  are, and whether they are new, last, or are over. A watch may be used by one thread at a
 *  time.
 *
 *  **Hangs** follow from the run's own intervals. With q, the 0.99 quantile of the last
 *  ::TSANOM_DIAGNOSIS_WATCH_INTERVALS intervals of a thread, it is silent if its last beat is
 *  older than max(3 q, 1 s).
 *  - The thread that fell silent first hangs. So does a thread that fell silent within half of
 *    its 0.05 quantile after it, or that made the same number of beats.
 *  - The other silent threads wait, if half of their limit has passed.
 *  - Waiting for a processor is not silence, neither of the thread nor of another one that has
 *    not beaten more often. If the limit is exceeded only because of it, the cause is
 *    contention.
 *  - It is silence if the thread has used more processor time since its last beat than
 *    max(3 c, a quarter of the limit), where c is the most that an iteration of it used, by
 *    the samples between beats. The same must hold for each other thread that has not beaten
 *    more often, unless that thread sleeps until another one wakes it.
 *  - With normal ranges the limit is at least twice the longest gap of the normal runs. Where
 *    all normal runs pause at the same iterations, it is twice the longest of these pauses.
 *
 *  **All other causes** are found as by tsanom_diagnosis_find_causes(), and need normal
 *  ranges. They are judged at points of the data: when the slowest thread reaches 16, 18, 20,
 *  22 and so on, a tenth more each, beats, or after 5 minutes; and at the end. A verdict holds
 *  until the next point. Pauses that are over are no anomaly of a watch.
 *
 *  **Memory.** A watch keeps of each thread at most 1024 times of beats of the whole run and
 *  256 vital signs (::TSANOM_DIAGNOSIS_WATCH_SAMPLES): of longer runs each second, each fourth
 *  and so on.
 *  @{ */

/** A watch; opaque. */
typedef struct tsanom_diagnosis_watch tsanom_diagnosis_watch;

enum {
  /** latest intervals that a limit follows from */
  TSANOM_DIAGNOSIS_WATCH_INTERVALS = 512,
  TSANOM_DIAGNOSIS_WATCH_FEW_INTERVALS = 8, /**< with fewer there is no limit */
  TSANOM_DIAGNOSIS_WATCH_RATE_BEATS = 32,   /**< beats of a heart rate */
  TSANOM_DIAGNOSIS_WATCH_SAMPLES = 256 /**< most vital signs of a thread that are kept */
};

/** Phases of an anomaly. ABI: append only. */
enum {
  TSANOM_DIAGNOSIS_ANOMALY_BEGAN = 0, /**< found by this update, not by the last one */
  TSANOM_DIAGNOSIS_ANOMALY_LASTS = 1, /**< found before */
  /** found before, and no longer holds: a beat ended a hang, or the next point did not
   *  find it */
  TSANOM_DIAGNOSIS_ANOMALY_RECOVERED = 2
};

/** What to watch for. Initialize it with tsanom_diagnosis_watch_options_init(). */
typedef struct tsanom_diagnosis_watch_options {
  size_t struct_size; /**< set by _init */
  /** A thread that has beaten hangs if it is silent for longer, in seconds, also without
   *  a processor; 0 (default): the limit follows from its intervals. */
  double hang;
} tsanom_diagnosis_watch_options;

/** Write the defaults described at ::tsanom_diagnosis_watch_options. @initializes{options} */
TSANOM_API tsanom_status tsanom_diagnosis_watch_options_init(
    tsanom_diagnosis_watch_options *options, size_t struct_size);

/** An anomaly of a run. */
typedef struct tsanom_diagnosis_anomaly {
  tsanom_diagnosis_finding cause; /**< with its thread and evidence */
  int32_t phase;                  /**< TSANOM_DIAGNOSIS_ANOMALY_* */
  int32_t reserved0;              /**< 0 */
  /** When it began, on the clock of the beats: of a hang the last beat; of a memory leak
   *  and of lost time tsanom_diagnosis_finding::begin; otherwise, or if that is not known,
   *  the update that found it first. */
  double onset;
  uint64_t iteration; /**< beats until then: of the thread, or of the busiest thread */
  /** 1 - (m + 1) / (n + 1), where n normal observations are known, and m of them are
   *  as extreme as this one: intervals of the thread for a hang, normal runs for a cause
   *  that follows from ranges; 1 less the chance of a verdict by the ledger. If this
   *  observation were normal, a value as extreme would have at most the probability
   *  1 - confidence. 1: a fact, such as the end of the program. */
  double confidence;
  uint64_t reserved[4]; /**< 0 */
} tsanom_diagnosis_anomaly;

/** How a thread fares now. */
typedef struct tsanom_diagnosis_pulse {
  int32_t status;       /**< ::TSANOM_HSA_NORMAL; ::TSANOM_HSA_HANG;
                             ::TSANOM_HSA_CONTENTION: it has not beaten for longer than
                             its limit, because it had no processor;
                             ::TSANOM_HSA_WAITING: another thread hangs, or has no
                             processor */
  int32_t reserved0;    /**< 0 */
  uint64_t beats;       /**< its beats */
  double last;          /**< time of its last beat; NaN: none */
  double rate;          /**< beats per second over the last beats, at most
                             ::TSANOM_DIAGNOSIS_WATCH_RATE_BEATS; 0: it hangs; NaN: fewer than
                             two beats, or they have the same time */
  double limit;         /**< seconds after which it is silent; infinity: not known */
  double shortest;      /**< 0.05 quantile of its last ::TSANOM_DIAGNOSIS_WATCH_INTERVALS
                             intervals; 0: none */
  double waited;        /**< seconds since the last beat in which it was ready to run
                             without a processor, by its vital signs */
  uint64_t reserved[2]; /**< 0 */
} tsanom_diagnosis_pulse;

/** Create a watch, of about 58 KiB for each thread.
 *  @param      thread_count  most threads of the run, >= 1
 *  @param      normal        as tsanom_diagnosis_learn_normal() wrote it; copied. NULL: only
 *                            hangs and the end of the program are found
 *  @param[out] watch         to be released by tsanom_diagnosis_watch_destroy()
 *  @options @exec @status */
TSANOM_API tsanom_status
tsanom_diagnosis_watch_create(size_t thread_count, const tsanom_diagnosis_normal *normal,
                              const tsanom_diagnosis_watch_options *options,
                              const tsanom_exec *exec, tsanom_diagnosis_watch **watch);

/** Release a watch.
 *  @param watch  NULL: nothing happens */
TSANOM_API void tsanom_diagnosis_watch_destroy(tsanom_diagnosis_watch *watch);

/** Add what is new, and judge the run. Allocates nothing.
 *  O(new beats + new samples), O(1) for each thread, and O(threads) for each silent one.
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
TSANOM_API tsanom_status tsanom_diagnosis_watch_update(
    tsanom_diagnosis_watch *watch, const tsanom_hsa_run *news, const tsanom_exec *exec,
    const tsanom_diagnosis_anomaly **anomalies, size_t *count);

/** How a thread fared at the last update.
 *  @param      watch   a watch
 *  @param      thread  thread number; ::TSANOM_E_INDEX if no update had it
 *  @param[out] pulse   the result
 *  @status */
TSANOM_API tsanom_status tsanom_diagnosis_watch_pulse(const tsanom_diagnosis_watch *watch,
                                                      size_t thread,
                                                      tsanom_diagnosis_pulse *pulse);
/** @} */

/** @name Ledger
 *  One account of the time of a run, the *ledger*: for how long its threads computed, for how
 *  long they lacked a processor, and for how long nobody ran. Use it to see where the time of
 *  one run went, without normal runs. It needs vital signs.
 *
 *  Between two samples the wall time W of each thread i splits exactly into \f$c_i\f$ on a
 *  processor, \f$r_i\f$ ready without one, and the rest, in which it slept, was blocked or
 *  stopped. Threads that meet wait for the thread that has most to do. So the time of the team
 *  is \f$W = C + R + U\f$ (docs/diagnosis.md has the formulas):
 *
 *  - U is time in which nobody ran and nobody was ready: all threads slept, waited for a
 *    device, or were stopped.
 *  - R is time in which work was ready and lacked a processor, at most \f$\sum_i r_i\f$.
 *  - C is the rest, time of work, at least \f$\max_i c_i\f$ and \f$\sum_i c_i / P\f$ with the P
 *    processors that the program may use. Threads that wait in a loop use processor time: their
 *    waiting is C, but for what the recorder knows (tsanom_hsa_vital::spun_s).
 *  @{ */

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
  /** The whole, from the first moment by which all of these threads have a sample that were
   *  there at the first one (a thread is as old as it worked and was ready, at least) until
   *  the last sample; then the time in which the busiest thread made each eighth of its
   *  beats, from the first beat on. A run without beats has eighths of its time. */
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
/** @} */

/** @name Jobs
 *  @{ */

/** A run of a job, such as a rank of an MPI program. Zero it, then set `watch`, `job` and
 *  `start`. */
typedef struct tsanom_diagnosis_rank {
  tsanom_diagnosis_watch *watch; /**< of the run; NULL: it has not begun */
  /** Number of its job; the runs of a job stand beside each other. Negative: the run is by
   *  itself. */
  int32_t job;
  /** 1: it is in a call of MPI, where it may wait for another rank; 0: it is not; -1: that is
   *  not known, or one of its threads beat within half of its tsanom_diagnosis_pulse::limit. */
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
 *  each tsanom_diagnosis_watch_update() of all of them, each time with the same structs.
 *
 *  Of silent runs, the one that became silent first hangs, and each other one whose silence
 *  began at the same time, or that has beaten equally often. The others wait for it:
 *  ::TSANOM_HSA_HANG becomes ::TSANOM_HSA_WAITING in their anomalies and in
 *  tsanom_diagnosis_watch_pulse(), and is no alarm. tsanom_diagnosis_finding::threads of the
 *  hang counts their silent threads, too. A run in a call of MPI waits for a silent one that
 *  is not. After a hang, those that waited have the time of their limits to beat again.
 *  O(runs + threads).
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

/** Predict how long a watched program will still run, by the beats of its slowest thread: the one
 *  that takes longest for its share of the iterations
 *  (tsanom_speedup_summarize()). O(threads).
 *  @param      watch      with normal ranges, updated
 *  @param      run        all beats so far, of which the watch got the pieces
 *  @param[out] remaining  the prediction; NaN if the run does not go on, the watch has no
 *                         normal ranges, or the slowest thread hangs
 *  @exec @status */
TSANOM_API tsanom_status tsanom_diagnosis_predict(const tsanom_diagnosis_watch *watch,
                                                  const tsanom_hsa_run *run,
                                                  const tsanom_exec *exec,
                                                  tsanom_diagnosis_remaining *remaining);
/** @} */

/** @name Summaries
 *  What happened in a run, or in all ranks of a job, on one page. Each line of the page is the
 *  result of another function, but for memory that grows (docs/diagnosis.md has the rule).
 *
 *      tsanom_diagnosis_slow slow[16];
 *      tsanom_diagnosis_summary s = {.path = "run", .slow = slow, .slow_capacity = 16,
 *                                    .activities = tsanom_runs_activities, .source = source};
 *      tsanom_diagnosis_summarize(run, -1, 0, NULL, 0, NULL, &s);
 *      tsanom_diagnosis_summarize_team(times, &report, &s);
 *      tsanom_diagnosis_summary_text(&s, TSANOM_DIAGNOSIS_SUMMARY_PAGE, text, sizeof text,
 *                                    NULL);
 *  @{ */

/** What a summary answers besides how the run ended: a finding, how it ended, what of team, slow
 *  and nobody cost the largest share, memory, and waiting, in this order. ABI: append only. */
enum {
  TSANOM_DIAGNOSIS_QUIET = 0,   /**< nothing was found */
  TSANOM_DIAGNOSIS_FINDING = 1, /**< tsanom_diagnosis_summary::finding */
  TSANOM_DIAGNOSIS_ENDED = 2,   /**< the program was killed, or exited with a status */
  TSANOM_DIAGNOSIS_TEAM = 3,    /**< threads or ranks differ */
  TSANOM_DIAGNOSIS_SLOW = 4,    /**< iterations were slow */
  /** memory grows all the time, by more than 3 MiB and a tenth of its peak */
  TSANOM_DIAGNOSIS_GROWS = 5,
  /** nobody ran in a tenth or more of the time, without that of ::TSANOM_DIAGNOSIS_READY */
  TSANOM_DIAGNOSIS_NOBODY = 6,
  TSANOM_DIAGNOSIS_READY =
      7 /**< work was ready without a processor for a tenth or more */
};

/** How slow iterations are spread. ABI: append only. */
enum {
  TSANOM_DIAGNOSIS_SLOW_SINGLE = 0,    /**< some iterations, here and there */
  TSANOM_DIAGNOSIS_SLOW_STRETCH = 1,   /**< most from `first` to `last` */
  TSANOM_DIAGNOSIS_SLOW_RECURRING = 2, /**< every `period` iterations */
  TSANOM_DIAGNOSIS_SLOW_SINCE = 3,     /**< all from `first` on */
  TSANOM_DIAGNOSIS_SLOW_UNTIL = 4      /**< all until `last` */
};

/** What the thread of slow iterations did longer, by its samples. ABI: append only. */
enum {
  TSANOM_DIAGNOSIS_REASON_UNKNOWN = 0, /**< no samples tell it */
  TSANOM_DIAGNOSIS_REASON_WORK = 1,    /**< it had a processor */
  TSANOM_DIAGNOSIS_REASON_READY = 2,   /**< it waited for a processor */
  TSANOM_DIAGNOSIS_REASON_FAULTS = 3,  /**< it worked on page faults */
  TSANOM_DIAGNOSIS_REASON_READING = 4, /**< it waited for page faults with input */
  TSANOM_DIAGNOSIS_REASON_BLOCKED = 5, /**< it slept, or waited for a device */
  TSANOM_DIAGNOSIS_REASON_STOPPED = 6  /**< it was stopped by a signal */
};

enum { TSANOM_DIAGNOSIS_RANGES = 4 /**< elements of tsanom_diagnosis_slow::range */ };

/** Iterations that are slow for one reason. Iterations are numbered from 0, from one beat of
 *  the busiest thread to the next. Numbers that are not known are NaN. */
typedef struct tsanom_diagnosis_slow {
  int32_t kind;         /**< TSANOM_DIAGNOSIS_SLOW_SINGLE... */
  int32_t reason;       /**< TSANOM_DIAGNOSIS_REASON_* */
  int32_t rank;         /**< -1: the only process */
  int32_t thread;       /**< that took longer; -1: all, or not known */
  int32_t of_processor; /**< 1: their processor times are longer, and `ratio`, `low` and
                             `high` are of these */
  int32_t of_machine;   /**< 1: a processor that was slower for a while may be why, too */
  uint64_t first;       /**< the first of them */
  uint64_t last;        /**< the last of them */
  uint64_t count;       /**< their number */
  uint64_t iterations;  /**< beats of the process */
  uint64_t period;      /**< iterations from one to the next; 0: they do not recur */
  /** Of a change: it is at this iteration or a later one; ::TSANOM_NONE: not known */
  size_t place_low;
  size_t place_high;                          /**< and at this one or an earlier one */
  uint64_t range[TSANOM_DIAGNOSIS_RANGES][2]; /**< first and last of consecutive ones */
  uint64_t ranges;    /**< how many there are; `range` has the first of them */
  double ratio;       /**< their mean time over the median of normal iterations */
  double low;         /**< with 95 % it is at least this */
  double high;        /**< and at most this */
  double lost_s;      /**< seconds more than as many normal iterations take, > 0 */
  double computing_s; /**< of these, outside of calls of MPI, by region events */
  double cpu_s;       /**< of these, on a processor, by samples of the thread */
  double ready_s;     /**< ready without one, likewise */
  double off_s;       /**< asleep, blocked or stopped, likewise */
  double faults;      /**< page faults of a slow iteration, more than of a normal one */
  uint64_t
      ranks; /**< ranks whose own code took about as long in them, `rank` one of these */
  uint64_t reserved[1]; /**< 0 */
  /** Where: "compute (a.c:12)", or "the code before compute (a.c:12)"; empty: not known. */
  char region[512];
} tsanom_diagnosis_slow;

/** Which threads or ranks differ. */
typedef struct tsanom_diagnosis_team {
  size_t processes; /**< threads or ranks that were compared; 0: none were */
  size_t members;   /**< of the slowest class; 0: they do not differ */
  size_t first;     /**< the first of these */
  size_t region;    /**< the outermost around that of the verdict; TSANOM_NONE: all */
  double ratio; /**< time of a member there over that of the others; may be infinite */
  double
      half_width; /**< of the interval of 95 % of the ratio, to its lower end; 0: not known */
  double saved_s; /**< seconds that ideal balance would save */
  /** Of these, what a slower processor may explain: all regions take longer by its factor, up to
   *  1.35 of two threads or ranks, of more up to that by which the others differ. */
  double processor_s;
  /** 1: they may do other work, such as the threads of a pool that compress and the one that
   *  writes: without iterations, and with one visit each, they take four times as long or more, or
   *  work waited for processors; or it waited, and the first metric of the data, visits, shows
   *  that they did it more often. Then it is no fault */
  int32_t other_work;
  int32_t reserved0; /**< 0 */
} tsanom_diagnosis_team;

/** A summary. Zero it before the first call. Numbers that are not known are NaN, or 0 if
 *  none is said. Pointers are set by the caller, and stay its own. */
typedef struct tsanom_diagnosis_summary {
  uint64_t runs;    /**< runs that were added: 1, or the ranks of a job */
  uint64_t ended;   /**< of these, the programs that ended */
  uint64_t threads; /**< most threads of a run */
  /** TSANOM_RUN_* of the run that ended worst, and of equally bad ones first; else of the
   *  first that was added */
  int32_t state;
  int32_t exit_code; /**< its tsanom_hsa_run::exit_code */
  int32_t rank;      /**< its rank; -1: it is not a rank */
  int32_t waits;     /**< 1: `finding` is of a rank that may wait for another one */
  double seconds;    /**< most seconds of a run, from its start to its end */
  double ended_s;    /**< those of the run that ended worst */
  /** Beats of the busiest thread of the run with most; 0 if the program has none: the caller
   *  clears it if tsanom_runs_info::beats_by_time or beats_of_steps is not 0. */
  uint64_t iterations;
  double iteration_s; /**< mean time of one */
  /** Means of the runs; of one that ended before it has two samples nothing is known. */
  tsanom_diagnosis_ledger ledger;
  uint64_t accounted; /**< runs in the ledger */
  double peak;        /**< most bytes in memory of a run */
  double growth;      /**< most of ::TSANOM_DIAGNOSIS_SIGN_GROWTH, in bytes */
  int32_t peak_rank;  /**< whose `peak` this is; -1: not of a rank */
  /** 1: memory of a run grew in each fifth of the last three quarters, or of the last half, of
   *  its processor time (docs/diagnosis.md) */
  int32_t grows;
  /** The first of the worst run; cause ::TSANOM_HSA_NORMAL: none. */
  tsanom_diagnosis_finding finding;
  int32_t finding_rank;       /**< its rank */
  int32_t judged;             /**< 1: findings are those of a model */
  tsanom_diagnosis_team team; /**< set by tsanom_diagnosis_summarize_team() */
  const char *team_region;    /**< name of its region; NULL: not known */
  const char *path;           /**< of the run, in the command to type next; NULL: "RUN" */
  uint64_t records;           /**< heartbeats and events that were recorded */
  uint64_t bytes;             /**< that they take on disk; 0: not known */
  const char *const *missing; /**< sentences about what was not recorded */
  size_t missing_count;       /**< their number */
  int32_t growth_rank;        /**< whose `growth` this is; -1: not of a rank */
  /** Most seconds from the last beat of a run that has not ended its recording to its end. */
  double silent_s;
  const char *team_member; /**< how to name team.first; NULL: by its number */
  /** Slow iterations, those that lost most first: memory of the caller. Of those of several
   *  ranks at the same time, the one that computed longer stays. If there are more than fit,
   *  those that lost least are dropped; 16 suffice for one process. NULL: slow iterations are
   *  not searched for. */
  tsanom_diagnosis_slow *slow;
  size_t slow_capacity; /**< elements of `slow`; set by the caller */
  /** Slow iterations that were found; at most `slow_capacity`, else ::TSANOM_E_COUNT. */
  size_t slow_count;
  /** To say where iterations are slow, and whether the program or what runs beside it is why:
   *  tsanom_runs_activities(); NULL: they are searched for by beats and samples alone. */
  tsanom_status (*activities)(struct tsanom_runs *source, const tsanom_exec *exec,
                              struct tsanom_runs_loop *loop);
  struct tsanom_runs *source; /**< its first argument: the run of the beats */
  /** Memory of the caller, an element for each beat of the busiest thread but the last one: 1:
   *  the iteration is longer than normal, whether that is in `slow` or not; 0: it is not; -1:
   *  it is one of the first ones, which start the program, or longer by little. NULL: not
   *  wanted. */
  int32_t *slow_of;
  /** Runs that were searched for slow iterations: those with at least 21 beats of a thread. */
  uint64_t searched;
  uint64_t slow_beats;  /**< most beats of these */
  double slow_median_s; /**< time of a normal iteration of the run with most */
  double slow_whole_s;  /**< time of all of its iterations, in seconds */
  double slow_single;   /**< single iterations of this ratio would be found in each run */
  double slow_lasting;  /**< a change to this ratio, likewise, if it lasts for a fifth */
  int32_t slow_few;     /**< 1: too few independent iterations to show such a change */
  int32_t reserved0;    /**< 0 */
  /** Where threads wait for processors, processor times are searched, too: a single iteration of this
   *  ratio would be found; 0: they were not searched. */
  double slow_worked_single;
  double slow_worked_lasting; /**< a change to this ratio, likewise */
  double before_s; /**< most of tsanom_hsa_run::before_s, which `seconds` does not have */
  double children_s; /**< most of tsanom_hsa_run::children_s */
} tsanom_diagnosis_summary;

/** Add a run to a summary. Call it once, or for each rank of a job. A run that has not
 *  ended its recording is watched for hangs, in a workspace of the size of a watch; what was
 *  found in it otherwise is given. If summary->slow is set, slow iterations are searched for:
 *  docs/diagnosis.md has the rules; the workspace is 53 bytes for each beat of the busiest thread, and
 *  more until 65536 of them. If summary->activities fails, so does the call.
 *  O(beats·log(beats) + samples).
 *  @param         run       a run
 *  @param         rank      its rank; -1: it is the only run
 *  @param         in_call   as tsanom_diagnosis_rank::in_call: of several ranks that hang, one
 *                           outside of calls is named
 *  @param         findings  of tsanom_diagnosis_find_causes() by a model; NULL: there is no model
 *  @param         count     their number
 *  @param[in,out] summary   the summary
 *  @exec @status */
TSANOM_API tsanom_status
tsanom_diagnosis_summarize(const tsanom_hsa_run *run, int32_t rank, int32_t in_call,
                           const tsanom_diagnosis_finding *findings, size_t count,
                           const tsanom_exec *exec, tsanom_diagnosis_summary *summary);

/** Add to a summary which threads or ranks differ, after its runs, whose iterations and ledger show
 *  whether members may do other work. O(processes).
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
  TSANOM_DIAGNOSIS_SUMMARY_NEXT = 2, /**< a command to type next, or where to look */
  /** Whether threads or ranks differ, in a sentence without an end: "thread 1 takes 1.5 times as
   *  long as the other, and ideal balance would save 2 s"; empty if none were compared. */
  TSANOM_DIAGNOSIS_SUMMARY_TEAM = 3,
  /** The first slow iterations in a sentence without an end: "since iteration 50 of 200,
   *  iterations take 2 times as long"; + i: element i. */
  TSANOM_DIAGNOSIS_SUMMARY_SLOW = 4
};

/** Write a summary, or a sentence of it.
 *  @param summary  a summary
 *  @param part     TSANOM_DIAGNOSIS_SUMMARY_*
 *  @sentence @status
 *  @retval TSANOM_E_OPTION  there is no such part */
TSANOM_API tsanom_status
tsanom_diagnosis_summary_text(const tsanom_diagnosis_summary *summary, int32_t part,
                              char *text, size_t size, size_t *length);
/** @} */

#ifdef __cplusplus
}
#endif
/** @} */
#endif
