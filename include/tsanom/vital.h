/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 *  Causes of anomalies from heartbeats and vital signs: what the kernel knew of the
 *  process and its threads while they beat.
 *
 *  tsanom_hsa_measure() computes signs of each thread from one run alone: time between
 *  beats, processor time per beat, share of time without a processor, page faults, growth
 *  of memory, deviation from its team.
 *
 *  A sign that is not available is NaN: no cause follows from it. Errors are those of <tsanom/hsa.h>; times of
 *  samples must not decrease, unless they are NaN. */
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

/** A sample of the process or of a thread. Numbers count from the beginning of the
 *  process or thread; NaN: not known. Where many threads beat, each sample has only a
 *  part of the numbers. */
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
  uint64_t reserved[4]; /**< 0 */
} tsanom_hsa_vital;

/** Signs of a thread: indices into tsanom_hsa_signs::value. Sums over time are of pairs
 *  of consecutive samples of the same task. ABI: append only. */
enum {
  TSANOM_HSA_SIGN_INTERVAL = 0, /**< lower quartile of the seconds between beats */
  TSANOM_HSA_SIGN_GAP = 1,      /**< most seconds between two beats */
  TSANOM_HSA_SIGN_SILENCE = 2,  /**< seconds since its last beat, until the run's end; of
                                     a finished run: until the last beat of any thread */
  TSANOM_HSA_SIGN_TAIL = 3,     /**< share of the beating time of all threads that is
                                     after its own last beat */
  TSANOM_HSA_SIGN_SHARE = 4,    /**< its beats over the median of the other threads' */
  TSANOM_HSA_SIGN_TEAM_INTERVAL = 5, /**< its interval over the median of the others' */
  TSANOM_HSA_SIGN_CPU = 6,           /**< processor seconds per beat */
  TSANOM_HSA_SIGN_CPU_QUARTILE = 7,  /**< lower quartile of the processor seconds per beat
                                          between samples */
  TSANOM_HSA_SIGN_TEAM_CPU = 8, /**< its CPU_QUARTILE over the median of the others' */
  TSANOM_HSA_SIGN_WAIT = 9,     /**< time without a processor over time with or without */
  TSANOM_HSA_SIGN_BLOCKED = 10, /**< share of the time in which it neither ran nor was
                                     ready: it slept, or waited for threads or devices */
  TSANOM_HSA_SIGN_FAULTS = 11,  /**< page faults per beat, after a fifth of its beats */
  TSANOM_HSA_SIGN_GROWTH = 12,  /**< bytes by which the anonymous memory of the process
                                     exceeds that after a fifth of the beats, at most */
  TSANOM_HSA_SIGN_GROWTH_PER_BEAT = 13, /**< GROWTH over the beats in that time */
  TSANOM_HSA_SIGNS = 14,                /**< number of signs in this version */
  TSANOM_HSA_SIGN_SLOTS = 32            /**< length of the array that signs index */
};

/** The signs of one thread. */
typedef struct tsanom_hsa_signs {
  double value[TSANOM_HSA_SIGN_SLOTS]; /**< by TSANOM_HSA_SIGN_*; NaN: not available */
  uint64_t beats;                      /**< beats of the thread */
  uint64_t reserved[3];                /**< 0 */
} tsanom_hsa_signs;

/** Compute the signs of all threads of a run. O(beats + samples + 64 threads).
 *  @param      run    the run
 *  @param      exec   NULL: the defaults; one thread computes
 *  @param[out] signs  run->thread_count structs, by thread
 *  @return TSANOM_OK or an error */
TSANOM_API tsanom_status tsanom_hsa_measure(const tsanom_hsa_run *run,
                                            const tsanom_exec *exec,
                                            tsanom_hsa_signs *signs);

/** Name a sign in lower case: "interval_s", "gap_s", "silence_s", "tail", "share",
 *  "team_interval", "cpu_s", "cpu_quartile_s", "team_cpu", "wait", "blocked", "faults",
 *  "growth_bytes", "growth_bytes_per_beat".
 *  @param sign  one of TSANOM_HSA_SIGN_INTERVAL...
 *  @return a constant string; "?" if unknown */
TSANOM_API const char *tsanom_hsa_sign_name(int32_t sign);

#ifdef __cplusplus
}
#endif
/** @} */
#endif
