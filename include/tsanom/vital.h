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

/** States of a run. ABI: append only. */
enum {
  TSANOM_HSA_STATE_UNKNOWN = 0,  /**< not known, as of a CSV file */
  TSANOM_HSA_STATE_FINISHED = 1, /**< the program ended the recording */
  TSANOM_HSA_STATE_KILLED = 2,   /**< the program ended and did not end the recording */
  TSANOM_HSA_STATE_RUNNING = 3   /**< the program goes on */
};

enum {
  TSANOM_HSA_PROCESS = -1 /**< the process, where a thread number is expected */
};

/** What a thread that sleeps waits for. ABI: append only. */
enum {
  TSANOM_HSA_WAITS_UNKNOWN = 0, /**< it does not sleep, or that is not known */
  TSANOM_HSA_WAITS_THREAD = 1,  /**< until another thread wakes it (futex(2)), as at a
                                     barrier or a lock */
  TSANOM_HSA_WAITS_OTHER = 2    /**< a time, a device, a file or a connection */
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
  uint64_t reserved[3]; /**< 0 */
} tsanom_hsa_vital;

/** Signs of a thread: indices into tsanom_hsa_signs::value. Sums over time are of pairs
 *  of consecutive samples of the same task. ABI: append only. */
enum {
  TSANOM_HSA_SIGN_INTERVAL = 0, /**< lower quartile of the seconds between beats */
  TSANOM_HSA_SIGN_GAP = 1,      /**< most seconds between two beats */
  TSANOM_HSA_SIGN_SILENCE = 2,  /**< seconds since its last beat, until the run's end; of
                                     a finished run: until the last beat of any thread */
  TSANOM_HSA_SIGN_TAIL = 3,     /**< share of the busiest thread's beats after its own
                                     last beat */
  TSANOM_HSA_SIGN_SHARE = 4,    /**< its beats over the median of the other threads' */
  TSANOM_HSA_SIGN_TEAM_INTERVAL = 5, /**< its interval over the median of the others' */
  TSANOM_HSA_SIGN_CPU = 6,           /**< processor seconds per beat */
  TSANOM_HSA_SIGN_CPU_QUARTILE = 7,  /**< lower quartile of the processor seconds per beat
                                          between samples, at least four times */
  TSANOM_HSA_SIGN_TEAM_CPU = 8, /**< its CPU_QUARTILE over the median of the others'; its
                                     CPU, if no thread has 256 beats */
  TSANOM_HSA_SIGN_WAIT = 9,     /**< time without a processor over time with or without */
  TSANOM_HSA_SIGN_BLOCKED = 10, /**< share of the time in which it neither ran nor was
                                     ready: it slept, or waited for threads or devices */
  TSANOM_HSA_SIGN_FAULTS = 11,  /**< page faults per beat, after a fifth of its beats */
  TSANOM_HSA_SIGN_GROWTH = 12,  /**< bytes by which the anonymous memory of the process
                                     exceeds that after a fifth of the beats, at most */
  TSANOM_HSA_SIGN_GROWTH_PER_BEAT = 13, /**< GROWTH over the beats in that time */
  TSANOM_HSA_SIGN_BLOCKED_GAP = 14,     /**< most seconds between two beats in which it
                                             neither ran nor was ready, by the samples
                                             around them */
  TSANOM_HSA_SIGN_EXIT = 15,            /**< tsanom_hsa_run::exit_code, if the run is
                                             finished */
  TSANOM_HSA_SIGNS = 16,                /**< number of signs in this version */
  TSANOM_HSA_SIGN_SLOTS = 32            /**< length of the array that signs index */
};

/** The signs of one thread. */
typedef struct tsanom_hsa_signs {
  double value[TSANOM_HSA_SIGN_SLOTS]; /**< by TSANOM_HSA_SIGN_*; NaN: not available */
  uint64_t beats;                      /**< beats of the thread */
  uint64_t reserved[3];                /**< 0 */
} tsanom_hsa_signs;

/** Compute the signs of all threads of a run. O(beats + samples + 64 threads).
 *  @param[out] signs  run->thread_count structs, by thread
 *  @the{run} @exec @status */
TSANOM_API tsanom_status tsanom_hsa_measure(const tsanom_hsa_run *run,
                                            const tsanom_exec *exec,
                                            tsanom_hsa_signs *signs);

/** Name a sign in lower case: "interval_s", "gap_s", "silence_s", "tail", "share",
 *  "team_interval", "cpu_s", "cpu_quartile_s", "team_cpu", "wait", "blocked", "faults",
 *  "growth_bytes", "growth_bytes_per_beat", "blocked_gap_s",
 *  "exit_status".
 *  @param sign  one of TSANOM_HSA_SIGN_INTERVAL...
 *  @return a constant string; "?" if unknown */
TSANOM_API const char *tsanom_hsa_sign_name(int32_t sign);

/** @name Normal ranges
 *  @{ */

enum {
  TSANOM_HSA_PARTS = 8 /**< parts of a run that have ranges: its first eighth to all */
};

/** Normal ranges of all signs: plain data, which a program may save and load. Initialize
 *  it with tsanom_hsa_normal_init(). */
typedef struct tsanom_hsa_normal {
  size_t struct_size;  /**< set by _init */
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
} tsanom_hsa_normal;

/** Write an empty struct. @initializes{normal} */
TSANOM_API tsanom_status tsanom_hsa_normal_init(tsanom_hsa_normal *normal,
                                                size_t struct_size);

/** sizeof(tsanom_hsa_normal), for other languages. @return bytes */
TSANOM_API size_t tsanom_hsa_normal_size(void);

/** Learn the normal ranges of signs. Those of times per beat and of ratios to the team
 *  are prediction intervals of the logarithms by Student's t, as of
 *  ::TSANOM_HSA_RANGE_STUDENT, at least 40 % (times) or 25 % (ratios) wide to each side.
 *  Those of levels reach from 0 to a multiple of the greatest normal level, or to a least
 *  level, whichever is more: docs/hsa.md lists them. Each run is also measured after each
 *  eighth of the beats of the longest run. O(8 (beats + samples)).
 *  @param         runs       normal runs, in which the same program did the same work per
 *                            beat; their lengths may differ
 *  @param         run_count  >= 1
 *  @param         coverage   share of future normal runs that a prediction interval must
 *                            contain, above 0 and below 1
 *  @param[in,out] normal     initialized, with `range` of `range_count` elements, at
 *                            least ::TSANOM_HSA_PARTS * ::TSANOM_HSA_SIGNS for each
 *                            thread; the result
 *  @exec @status
 *  @retval TSANOM_PARTIAL  the ranges are guessed: there are fewer than three runs */
TSANOM_API tsanom_status tsanom_hsa_learn_normal(const tsanom_hsa_run *runs,
                                                 size_t run_count, double coverage,
                                                 const tsanom_exec *exec,
                                                 tsanom_hsa_normal *normal);

/** Bytes of workspace of tsanom_hsa_learn_normal().
 *  @param run_count     >= 1
 *  @param thread_count  most threads of any run, >= 1
 *  @exec @bytes @status */
TSANOM_API tsanom_status tsanom_hsa_learn_normal_workspace(size_t run_count,
                                                           size_t thread_count,
                                                           const tsanom_exec *exec,
                                                           size_t *bytes);

/** The smallest effects that are outside of normal ranges; infinity: none is detected. */
typedef struct tsanom_hsa_power {
  double slowdown;   /**< processor time per beat, or, if that is not known, time between
                          beats, over the middle of its range */
  double imbalance;  /**< processor time per beat over that of the other threads, over
                          the middle of its range */
  double contention; /**< share of time without a processor */
  double leak;       /**< bytes in a run of normal length, after its first fifth */
  double hang;       /**< seconds without a beat */
  uint64_t reserved[3]; /**< 0 */
} tsanom_hsa_power;

/** Compute the power of normal ranges: for each cause, of the thread for which it is
 *  detected least. O(threads).
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
  TSANOM_HSA_DETAIL_NONE = 0,       /**< the sign, its value and its range */
  TSANOM_HSA_DETAIL_PROGRAM = 1,    /**< not comparable: another program */
  TSANOM_HSA_DETAIL_MACHINE = 2,    /**< not comparable: other processors */
  TSANOM_HSA_DETAIL_THREADS = 3,    /**< not comparable: another number of threads */
  TSANOM_HSA_DETAIL_NO_POWER = 4,   /**< not comparable: the ranges exclude nothing */
  TSANOM_HSA_DETAIL_FEW_BEATS = 5,  /**< unknown: too few beats */
  TSANOM_HSA_DETAIL_KILLED = 6,     /**< shutdown: the recording was not ended */
  TSANOM_HSA_DETAIL_SHORT = 7,      /**< shutdown: beats are missing at the end */
  TSANOM_HSA_DETAIL_STOPPED = 8,    /**< shutdown: the other threads went on */
  TSANOM_HSA_DETAIL_NEVER = 9,      /**< shutdown: it never beat */
  TSANOM_HSA_DETAIL_PAUSED = 10,    /**< hang: it went on after a gap */
  TSANOM_HSA_DETAIL_FAULTS = 11,    /**< slowdown, with page faults */
  TSANOM_HSA_DETAIL_NO_CPU = 12,    /**< slowdown; the processor time is not known */
  TSANOM_HSA_DETAIL_BLOCKED = 13,   /**< slowdown without more processor time */
  TSANOM_HSA_DETAIL_EXIT = 14,      /**< shutdown: another exit status than normal */
  TSANOM_HSA_DETAIL_PROCESSORS = 15 /**< contention: fewer processors than normal */
};

/** A cause, with its evidence. */
typedef struct tsanom_hsa_cause {
  int32_t cause;          /**< TSANOM_HSA_MEMORY_LEAK... */
  int32_t thread;         /**< thread number; ::TSANOM_HSA_PROCESS: the run */
  int32_t sign;           /**< the sign that it follows from; -1: none */
  int32_t detail;         /**< TSANOM_HSA_DETAIL_* */
  double value;           /**< of the sign; of a detail: beats, threads, processors */
  tsanom_hsa_range range; /**< normal values */
  /** Times by which `value` exceeds the end of its range, > 1; infinity: a fact, such as
   *  the run's state. */
  double strength;
  /** Further numbers: of a leak or a slowdown, page faults per beat and their normal
   *  limit; of DETAIL_BLOCKED, share of time without a processor and asleep; of
   *  DETAIL_KILLED, the signal, negative, or the exit status, if either is known; of a
   *  hang, and of waiting for one, beginning and end of the gap in seconds (infinity: it
   *  lasts; NaN: the thread never beat); of contention by ::TSANOM_HSA_SIGN_SILENCE,
   *  seconds without a processor; of DETAIL_EXIT, beats, and those of the longest
   *  normal run. */
  double number[2];
  uint64_t waiting;     /**< of a hang that a watch found: the threads that wait for it */
  uint64_t reserved[3]; /**< 0 */
} tsanom_hsa_cause;

/** Find the causes of what is not normal in a run. A running program is compared with the
 *  part of the normal runs that has as many beats, a finished run with the whole normal
 *  runs; the memory of a longer run may grow in proportion.
 *
 *  Causes are sorted: not comparable; hang; shutdown; memory leak; a pause; contention;
 *  imbalance; slowdown; unknown; waiting. Equal causes are sorted by strength, then by
 *  thread. A thread that leaks is not reported as slow. A thread that is only slower
 *  while another thread has a cause waits for it. Of a run that is not comparable nothing
 *  else is found. O(beats + samples + 64 threads).
 *  @param      normal    as tsanom_hsa_learn_normal() wrote it
 *  @param[out] signs     run->thread_count structs, by thread
 *  @param[out] causes    the causes, the first the most important
 *  @param      capacity  elements of causes, at least 4 run->thread_count + 4
 *  @param[out] count     number of causes; 0: the run is normal
 *  @the{run} @exec @status */
TSANOM_API tsanom_status tsanom_hsa_find_causes(
    const tsanom_hsa_normal *normal, const tsanom_hsa_run *run, const tsanom_exec *exec,
    tsanom_hsa_signs *signs, tsanom_hsa_cause *causes, size_t capacity, size_t *count);

/** The status of a thread or of a run: its first cause, or normal. A thread without a
 *  cause of its own has that of the run if it is shutdown, not comparable or unknown.
 *  @param      causes  as tsanom_hsa_find_causes() wrote them; may be NULL if count is 0
 *  @param      count   their number
 *  @param      thread  thread number; ::TSANOM_HSA_PROCESS: the run
 *  @param[out] status  TSANOM_HSA_NORMAL...
 *  @status */
TSANOM_API tsanom_status tsanom_hsa_cause_status(const tsanom_hsa_cause *causes,
                                                 size_t count, int32_t thread,
                                                 int32_t *status);

/** Describe the evidence of a cause in an English sentence with its numbers.
 *  @the{cause} @sentence @status */
TSANOM_API tsanom_status tsanom_hsa_cause_text(const tsanom_hsa_cause *cause, char *text,
                                               size_t size, size_t *length);
/** @} */

#ifdef __cplusplus
}
#endif
/** @} */
#endif
