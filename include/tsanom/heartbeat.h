/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 *  Heartbeats: how do I record, from inside a program, when each thread makes progress?
 *
 *  Call tsanom_heartbeat_init() once, tsanom_heartbeat_beat() in each iteration of each
 *  thread, and tsanom_heartbeat_finish() at the end. The program and the libraries that it
 *  uses beat to one run, without passing an object around.
 *
 *  @code{.c}
 *  if (tsanom_heartbeat_init("run", 1, NULL, NULL) < 0) return 1;
 *  for (uint32_t step = 0; step < 1000; step++) {
 *    // one iteration of the main loop
 *    tsanom_heartbeat_beat(0, step);
 *  }
 *  printf("%s\n", tsanom_status_name(tsanom_heartbeat_finish()));  // -> TSANOM_OK
 *  @endcode
 *
 *  Look at the result by `tsanom summary run`, or read it by <tsanom/runs.h>.
 *
 *  **Use something else** if you want several runs at once, or region events:
 *  ::tsanom_record of <tsanom/record.h>. If you cannot change the program, use the command
 *  `tsanom record`. For the names of the papers include <tsanom/compat.h>.
 *
 *  **Guarantees.** A run is a directory. Each thread that beats writes 16-byte records (time,
 *  tag, sequence) to a memory-mapped stream of its own in that directory. A beat costs
 *  little more than reading the clock, and each record that was written survives the death
 *  of the process, even by SIGKILL. There is one such run in a process at a time.
 *  docs/formats.md documents the files, docs/heartbeat.md the supported file systems.
 *
 *  **fork().** A child has no run: it does not write to its parent's streams, its beats
 *  return ::TSANOM_E_STATE, and it may start a run of its own in another directory. The
 *  parent's file descriptors in the child are closed by execve().
 *
 *  **Link** libtsanom-record, which needs only the C library. threads, isa and workspace of
 *  exec are not used.
 *
 *  Source: the heartbeat functions of the heartbeat paper, section 2 and listing 1. */
#ifndef TSANOM_HEARTBEAT_H
#define TSANOM_HEARTBEAT_H

#include <tsanom/record.h>

/** @addtogroup record
 *  @{ */

#ifdef __cplusplus
extern "C" {
#endif

/** Start a run: create its directory and a stream for each announced thread.
 *
 *  This takes about a millisecond, most of it to calibrate the clock. Unless the options
 *  say otherwise it starts two helper threads, with all signals blocked. One keeps disk
 *  space and memory ready ahead of the beats; if the thread cannot be started, the
 *  beating threads do its work. The other samples the vital signs: resident memory of the
 *  process and, of each thread that beats, CPU time, time that it waited for a processor,
 *  context switches, page faults and state. It takes at most 0.1 % of a processor: many
 *  threads are sampled less often. Without helper threads the process tsanom-sampler does
 *  that, which is no child of the program. The run keeps one file descriptor per stream
 *  and three or four others, at numbers above the program's limit if it can, and maps
 *  4 MiB of address space per stream, later 16 MiB at a time, or less where the system
 *  limits it.
 *
 *  Call from one thread, while no other thread is in a beat. On failure nothing is left
 *  in the directory that was not there before.
 *  @param directory  created if it does not exist (its parent must); kept by its absolute
 *                    path
 *  @param threads    announced: numbers 0 to threads-1 have their streams ready, 1 to
 *                    ::TSANOM_RECORD_STREAMS_MAX; more may beat
 *  @options @exec @status
 *  @retval TSANOM_E_OPTION  also: threads is above the maximum, the machine lacks the
 *                           clock, or the channels are other than heartbeats
 *  @retval TSANOM_E_STATE   a run is being recorded
 *  @retval TSANOM_E_IO      the directory cannot be created or written, the disk is full,
 *                           or the directory contains a run, which is left as it is; the
 *                           fault has the path and the reason that the system gives */
TSANOM_API tsanom_status tsanom_heartbeat_init(const char *directory, int32_t threads,
                                               const tsanom_record_options *options,
                                               const tsanom_exec *exec);

/** Record one beat: the current time, the tag, and the next sequence number of the
 *  stream. No allocation, lock or system call, except as described below; at most a page
 *  fault. Without a run: one or two loads.
 *
 *  The stream belongs to the operating-system thread that first beats as `thread`.
 *  Another thread that beats with the same number while the first lives (as in nested
 *  parallel regions) gets a stream of its own, and so does a number that was not
 *  announced; creating that stream takes a lock and system calls, once. When a thread
 *  ends, the next thread that beats with its number continues its stream. One thread may
 *  beat with several numbers in turn.
 *
 *  If there is no helper thread, or beats come faster than it can follow, the beating
 *  thread itself asks for the next mebibyte (65536 beats) by a few system calls.
 *
 *  May be called from any thread at any time. A signal handler may beat if its thread has
 *  beaten before; if it interrupted a beat of that thread, its own beat is dropped,
 *  counted, and returns ::TSANOM_E_STATE.
 *  @param thread  the number of the thread, >= 0
 *  @param tag     any value; the reader returns it
 *  @status
 *  @retval TSANOM_E_STATE     before init, after finish, in a forked child, or in a
 *                             signal handler that interrupted a beat
 *  @retval TSANOM_E_INDEX     thread is negative
 *  @retval TSANOM_E_IO        there is no disk space, or the run's directory was deleted:
 *                             the beat is counted as dropped
 *  @retval TSANOM_E_MEMORY    the thread's first beat, and the C library could not
 *                             register the release of its stream
 *  @retval TSANOM_E_OVERFLOW  a new stream is needed and there are already
 *                             ::TSANOM_RECORD_STREAMS_MAX */
TSANOM_API tsanom_status tsanom_heartbeat_beat(int32_t thread, uint32_t tag);

/** End the run: truncate each stream to its length and mark the run finished. A beat that
 *  another thread is in meanwhile is either recorded or returns ::TSANOM_E_STATE. Another
 *  run may then be started, in another directory.
 *  @status
 *  @retval TSANOM_PARTIAL  the run is complete except for dropped beats, whose number it
 *                          has
 *  @retval TSANOM_E_STATE  there is no run
 *  @retval TSANOM_E_IO     a file could not be written; the run reads as one that was
 *                          killed, with every beat recorded */
TSANOM_API tsanom_status tsanom_heartbeat_finish(void);

#ifdef __cplusplus
}
#endif
/** @} */
#endif
