/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 *  Heartbeats: the emitter that a watched program carries.
 *
 *  A run is a folder. Each thread that beats writes 16-byte records (time, tag,
 *  sequence) to a memory-mapped stream of its own in that folder, so that a beat
 *  costs little more than reading the clock, and whatever was written before
 *  the process died, even by SIGKILL, is there to be read. The reader is in
 *  <tsanom/runs.h>; the format of the files is documented on the page
 *  of this room.
 *
 *  The recorder belongs to the process, not to the caller: a program and the
 *  libraries it carries beat to one run, and a beat finds its stream without
 *  being handed an object. There is one run at a time.
 *
 *  A child made by fork() starts without a run: it neither writes to its
 *  parent's streams nor holds them open, its beats are refused with
 *  ::TSANOM_E_STATE, and it may start a run of its own in another folder.
 *
 *  The functions of this header are in libtsanom and in libtsanom_heartbeat,
 *  which needs nothing but the C library.
 *
 *  Source: the heartbeat functions of the heartbeat paper, section 2 and
 *  listing 1. */
#ifndef TSANOM_HEARTBEAT_H
#define TSANOM_HEARTBEAT_H

#include <tsanom/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Clocks that beats are timed by. The values are ABI: append, never renumber. */
enum {
  TSANOM_HEARTBEAT_CLOCK_AUTO = 0, /**< the time-stamp counter where the processor calls
                                        it invariant and the kernel itself keeps time by
                                        it, else CLOCK_MONOTONIC (default) */
  TSANOM_HEARTBEAT_CLOCK_TSC = 1, /**< the time-stamp counter of x86-64, trusted or not */
  TSANOM_HEARTBEAT_CLOCK_MONOTONIC = 2 /**< CLOCK_MONOTONIC */
};

/** Who keeps disk space and memory ready ahead of the beats. The values are ABI:
 *  append, never renumber. */
enum {
  TSANOM_HEARTBEAT_HELPER_THREAD = 0, /**< one thread, for all streams (default) */
  TSANOM_HEARTBEAT_HELPER_NONE = 1    /**< the beating threads themselves */
};

/** Limits of a run. The values are ABI: append, never renumber. */
enum {
  TSANOM_HEARTBEAT_STREAMS_MAX = 65536 /**< streams, and so threads that beat at once */
};

/** How to record: fill by tsanom_heartbeat_options_init(), then change fields. */
typedef struct tsanom_heartbeat_options {
  size_t struct_size; /**< set by _init: which fields this caller knows */
  int32_t clock;      /**< TSANOM_HEARTBEAT_CLOCK_*; automatic (default) */
  /** TSANOM_HEARTBEAT_HELPER_*; a thread (default). Without it a beating thread pauses
   *  for up to a millisecond once in 65536 beats, and a process of one thread stays
   *  one: the C library then takes no locks in malloc(). */
  int32_t helper;
} tsanom_heartbeat_options;

/** Write the defaults described at ::tsanom_heartbeat_options.
 *  @param[out] options      the caller's struct
 *  @param      struct_size  its sizeof, where the caller was compiled
 *  @retval TSANOM_E_NULL     options is NULL
 *  @retval TSANOM_E_VERSION  struct_size is smaller than the first release's
 *  @return TSANOM_OK otherwise */
TSANOM_API tsanom_status tsanom_heartbeat_options_init(tsanom_heartbeat_options *options,
                                                       size_t struct_size);

/** Start a run: make its folder and a stream for each announced thread.
 *  Takes about a millisecond, most of it to calibrate the clock. Unless the options say
 *  otherwise it starts one helper thread, all signals blocked in it, that keeps disk
 *  space and memory ready ahead of the beats; where it cannot be started the
 *  beating threads do its work. Call from one thread, while no other thread is in a beat.
 *  On failure nothing is left in the folder that was not there before.
 *  @param folder   the run's folder; made if missing (its parent is not), and
 *                  then kept by its absolute path
 *  @param threads  announced: numbers 0 to threads-1 have their streams ready,
 *                  1 to ::TSANOM_HEARTBEAT_STREAMS_MAX; more may beat
 *  @param options  NULL: the defaults
 *  @retval TSANOM_E_NULL     folder is NULL
 *  @retval TSANOM_E_COUNT    threads is below 1
 *  @retval TSANOM_E_OPTION   threads is above the maximum, an option is out of its
 *                            range, or the machine has not that clock
 *  @retval TSANOM_E_STATE    a run is going on
 *  @retval TSANOM_E_IO       the folder cannot be made or written, the disk is full, or
 *                            the folder holds a run already, which stays as it is
 *  @retval TSANOM_E_MEMORY   the system gave no memory
 *  @return TSANOM_OK otherwise, or the status of a refused options */
TSANOM_API tsanom_status tsanom_heartbeat_init(const char *folder, int32_t threads,
                                               const tsanom_heartbeat_options *options);

/** Record one beat: the time now, the tag, and the next sequence number of the
 *  stream. No allocation, lock or system call, but for the exceptions below; a
 *  page fault at most. Without a run: one or two loads.
 *
 *  The stream belongs to the operating-system thread that first beats as
 *  `thread`. Another thread that beats by the same number while the first
 *  lives (nested parallel regions do that) gets a stream of its own, and so does a
 *  number that was not announced; making that stream takes a lock and system
 *  calls, once. A thread that ends leaves its stream to the next thread that
 *  beats by its number. One thread may beat by several numbers in turn.
 *
 *  Where there is no helper thread, or beats come so fast that it cannot keep up, the
 *  beating thread itself asks the file system for the next mebibyte (65536 beats), which
 * is a few system calls.
 *
 *  May be called from any thread at any time, but not from a signal handler.
 *  @param thread  the number of the thread, >= 0
 *  @param tag     anything; the reader hands it back
 *  @retval TSANOM_E_STATE     before init, after finish, or in a forked child
 *  @retval TSANOM_E_OPTION    thread is negative
 *  @retval TSANOM_E_IO        the disk is full: the beat is counted as dropped
 *  @retval TSANOM_E_MEMORY    the thread's first beat, and the C library could not note
 *                             that its end concerns us
 *  @retval TSANOM_E_OVERFLOW  a new stream is needed and there are already
 *                             ::TSANOM_HEARTBEAT_STREAMS_MAX
 *  @return TSANOM_OK otherwise */
TSANOM_API tsanom_status tsanom_heartbeat_beat(int32_t thread, uint32_t tag);

/** End the run: cut each stream to its length and mark the run finished. A beat
 *  that another thread is in meanwhile is either recorded or refused. Another
 *  run may then be started, in another folder.
 *  @retval TSANOM_PARTIAL  the run is complete but for beats that were dropped for want
 *                          of disk space; the run tells how many
 *  @retval TSANOM_E_STATE  there is no run
 *  @retval TSANOM_E_IO     a file could not be written; the run reads as one that was
 *                          killed, with every beat recorded
 *  @return TSANOM_OK otherwise */
TSANOM_API tsanom_status tsanom_heartbeat_finish(void);

#ifdef __cplusplus
}
#endif
#endif
