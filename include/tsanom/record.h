/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 *  The recorder: how do I write a run from inside a program, with an object of my own?
 *
 *  - Several runs at once: create a ::tsanom_record for each, call tsanom_record_beat(), and
 *    destroy it.
 *  - Times of code regions by thread or process, for `tsanom similar`: create a
 *    ::tsanom_spmd_recorder, call tsanom_spmd_begin() and tsanom_spmd_end(), and write it by
 *    tsanom_spmd_recorder_write().
 *  - One run of the process, also of the libraries that it uses: prefer
 *    <tsanom/heartbeat.h>, which has a recorder by default.
 *
 *  @code{.c}
 *  tsanom_fault fault = {.struct_size = sizeof fault};
 *  tsanom_exec exec;
 *  tsanom_exec_init(&exec, sizeof exec);
 *  exec.fault = &fault;
 *  tsanom_record *record = NULL;
 *  if (tsanom_record_create("run", 4, NULL, &exec, &record) < 0) {
 *    printf("%s: %s\n", fault.file, fault.text);
 *    return 1;
 *  }
 *  for (uint32_t step = 0; step < 1000; step++) tsanom_record_beat(record, 0, step);
 *  printf("%s\n", tsanom_status_name(tsanom_record_finish(record)));  // -> TSANOM_OK
 *  tsanom_record_destroy(record);
 *  @endcode
 *
 *  A ::tsanom_record is one run with one or two channels:
 *
 *  | channel    | files                | read by                                            |
 *  |------------|----------------------|----------------------------------------------------|
 *  | heartbeats | RUN/heartbeat.*      | <tsanom/runs.h>                                    |
 *  | regions    | RUN/regions/…        | <tsanom/runs.h>; the layout is in docs/formats.md  |
 *
 *  Each thread appends 16-byte records to a memory-mapped stream of its own in each
 *  channel. A record costs little more than reading the clock, and each record that was
 *  written survives the death of the process, even by SIGKILL.
 *
 *  **Guarantees.** The recorder never changes what the program computes. If the file system
 *  or the system's limits leave no space, the recorder drops records and counts them.
 *
 *  **Limits.** A crash of the machine can lose records. File systems: docs/heartbeat.md.
 *
 *  **Errors** besides the common ones: ::TSANOM_E_IO, a file or directory cannot be created
 *  or written; the fault has the path and the reason that the system gives;
 *  ::TSANOM_E_COUNT, also: a number of threads, regions or open regions is out of its
 *  range; ::TSANOM_E_INDEX, there is no such thread or region. threads, isa and workspace of
 *  exec are not used.
 *
 *  **Link** libtsanom-record, which needs only the C library. It has the functions of this
 *  header, those of <tsanom/heartbeat.h>, and those of <tsanom/base.h> that prepare
 *  tsanom_exec and tsanom_fault. Programs that use libtsanom link it too. */
#ifndef TSANOM_RECORD_H
#define TSANOM_RECORD_H

#include <tsanom/base.h>

/** @addtogroup record
 *  @{ */

#ifdef __cplusplus
extern "C" {
#endif

/** Clocks of beats. ABI: append only. */
enum {
  TSANOM_RECORD_CLOCK_AUTO = 0, /**< the time-stamp counter if the processor declares
                                        it invariant and the kernel itself uses it, else
                                        CLOCK_MONOTONIC (default) */
  TSANOM_RECORD_CLOCK_TSC = 1,  /**< the time-stamp counter of x86-64, trusted or not */
  TSANOM_RECORD_CLOCK_MONOTONIC = 2 /**< CLOCK_MONOTONIC */
};

/** What keeps disk space and memory ready ahead of the beats. ABI: append only. */
enum {
  TSANOM_RECORD_HELPER_THREAD = 0, /**< one thread, for all streams (default) */
  TSANOM_RECORD_HELPER_NONE = 1    /**< the beating threads themselves */
};

/** Of vital_ms. ABI: append only. */
enum {
  TSANOM_RECORD_VITAL_OFF = -1 /**< no vital signs */
};

/** Limits of a run. ABI: append only. */
enum {
  TSANOM_RECORD_STREAMS_MAX = 65536 /**< streams, and so threads that beat at once */
};

/** Channels of a recorder, to combine by `|`. ABI: append only. */
enum {
  TSANOM_RECORD_HEARTBEATS = 1, /**< tsanom_record_beat() */
  TSANOM_RECORD_REGIONS = 2     /**< tsanom_record_region() */
};

/** Limit of a process. ABI: append only. */
enum {
  TSANOM_RECORD_CHANNELS_MAX = 31 /**< open in the process at the same time */
};

/** How to record: fill by tsanom_record_options_init(), then change fields. */
typedef struct tsanom_record_options {
  size_t struct_size; /**< set by _init: which fields this caller knows */
  int32_t clock;      /**< TSANOM_RECORD_CLOCK_*; automatic (default) */
  /** TSANOM_RECORD_HELPER_*; a thread (default) per channel. Without it a beating thread
   *  pauses for up to a millisecond once in 65536 beats, and a process of one thread stays
   *  single-threaded: the C library then takes no locks in malloc(). */
  int32_t helper;
  int32_t channels; /**< ::TSANOM_RECORD_HEARTBEATS (default), ... */
  /** Milliseconds between samples of the vital signs, >= 1; 0 (default): 50;
   *  ::TSANOM_RECORD_VITAL_OFF: none. They are sampled once for all channels. */
  int32_t vital_ms;
  /** Most samples of the vital signs that the run keeps, >= 0; 0 (default): all. At the
   *  limit the latest quarter stays, and a sample of those before at equal intervals,
   *  which double as the run gets longer. At least 4 samples of each thread stay. A
   *  sample takes 128 bytes. */
  int32_t vital_most;
  int32_t reserved0; /**< 0 */
} tsanom_record_options;

/** One run that is being recorded. */
typedef struct tsanom_record tsanom_record;

/** Write the defaults described at ::tsanom_record_options. @initializes{options} */
TSANOM_API tsanom_status tsanom_record_options_init(tsanom_record_options *options,
                                                    size_t struct_size);

/** Bytes of memory for the object. The streams do not lie in it: the recorder maps them
 *  from the system, since threads may look at their stream after the object is gone.
 *  @options @bytes @status
 *  @retval TSANOM_E_OPTION  no channel, or one that does not exist */
TSANOM_API tsanom_status tsanom_record_size(const tsanom_record_options *options,
                                            size_t *bytes);

/** Start a run, as tsanom_heartbeat_init() does, in memory of the caller. Several runs
 *  may be recorded at the same time, each into its own directory.
 *
 *  If several processes start a run in one directory, one succeeds, and the others
 *  get ::TSANOM_E_IO.
 *  @memory{tsanom_record_size}
 *  @param      directory  created if it does not exist; its parent must
 *  @param      threads    announced: numbers 0 to threads-1 have their streams ready, 1
 *                         to ::TSANOM_RECORD_STREAMS_MAX; more may record
 *  @param[out] record     lies in `memory`
 *  @options @exec @status
 *  @retval TSANOM_E_OPTION    also: threads is above the maximum, or the machine lacks
 *                             the clock
 *  @retval TSANOM_E_OVERFLOW  ::TSANOM_RECORD_CHANNELS_MAX channels are open
 *  @retval TSANOM_E_IO        also: the directory contains a run, which is not changed */
TSANOM_API tsanom_status tsanom_record_init(void *memory, size_t bytes,
                                            const char *directory, int32_t threads,
                                            const tsanom_record_options *options,
                                            const tsanom_exec *exec,
                                            tsanom_record **record);

/** Allocate the object by exec's allocator, and start a run in it.
 *  @param      directory  as in tsanom_record_init()
 *  @param      threads    as in tsanom_record_init()
 *  @param[out] record     give it back by tsanom_record_destroy()
 *  @options @exec @return as tsanom_record_init() */
TSANOM_API tsanom_status tsanom_record_create(const char *directory, int32_t threads,
                                              const tsanom_record_options *options,
                                              const tsanom_exec *exec,
                                              tsanom_record **record);

/** Record one heartbeat: as tsanom_heartbeat_beat(), which writes to the default run.
 *  @param record  a run with heartbeats
 *  @param thread  the number of the thread, >= 0
 *  @param tag     any value; the reader returns it
 *  @retval TSANOM_E_STATE  as tsanom_heartbeat_beat(); or there is no such channel
 *  @return as tsanom_heartbeat_beat() */
TSANOM_API tsanom_status tsanom_record_beat(const tsanom_record *record, int32_t thread,
                                            uint32_t tag);

/** Record one region event. Cost and safety are those of a heartbeat.
 *  @param record  a run with regions
 *  @param thread  the number of the thread, >= 0
 *  @param event   kind, place and threads, in the layout of docs/formats.md
 *  @retval TSANOM_E_STATE  as tsanom_heartbeat_beat(); or there is no such channel
 *  @return as tsanom_heartbeat_beat() */
TSANOM_API tsanom_status tsanom_record_region(const tsanom_record *record, int32_t thread,
                                              uint32_t event);

/** Note the exit status of the program. tsanom_record_finish() stores it with the vital
 *  signs: see tsanom_hsa_run::exit_code. No other thread may call a function of the same
 *  recorder meanwhile, except to record.
 *  @param record  a run
 *  @param status  the status, 0 to 255, plus ::TSANOM_EXIT_INSIDE if the program exits
 *                 inside a parallel region
 *  @retval TSANOM_E_NULL  record is NULL
 *  @return TSANOM_OK or an error */
TSANOM_API tsanom_status tsanom_record_set_exit(const tsanom_record *record,
                                                int32_t status);

/** End the run, as tsanom_heartbeat_finish() does, in all channels.
 *  @param record  a run
 *  @return as tsanom_heartbeat_finish() */
TSANOM_API tsanom_status tsanom_record_finish(tsanom_record *record);

/** Finish the run if it is still being recorded, and free the object. No thread may use
 *  the object meanwhile or afterwards. In a forked child this only frees the object.
 *  @param record  NULL: nothing happens */
TSANOM_API void tsanom_record_destroy(tsanom_record *record);

/** Clocks of a region recorder. ABI: append only. */
enum {
  /** Elapsed time. It equals CPU time where nothing waits, and needs no system call on
   *  systems where the C library reads it in user space. */
  TSANOM_SPMD_CLOCK_ELAPSED = 0,
  /** CPU time of the calling thread, as in the paper. On Linux it is read in user space,
   *  about as fast as elapsed time, if the C library registers threads for restartable
   *  sequences and the kernel reports through them that a thread was switched out: CPU
   *  time is then the kernel's last value plus the elapsed time since, and the kernel is
   *  asked again after each switch. Interrupts in between are counted. Otherwise each
   *  reading is a system call. The first reading of a thread tests it, for which it sleeps
   *  for a fraction of a millisecond. */
  TSANOM_SPMD_CLOCK_CPU = 1
};

/** Times of the regions of one thread or process. It belongs to the thread that uses it:
 *  no lock, no state shared by threads, and no allocation but by
 *  tsanom_spmd_recorder_create() and tsanom_spmd_recorder_write(). */
typedef struct tsanom_spmd_recorder tsanom_spmd_recorder;

/** How to record times: initialize, then change fields. */
typedef struct tsanom_spmd_recorder_options {
  size_t struct_size; /**< set by _init: which fields this caller knows */
  int32_t clock;      /**< TSANOM_SPMD_CLOCK_*; elapsed time (default) */
  int32_t reserved0;  /**< 0 */
} tsanom_spmd_recorder_options;

/** Write the defaults described at ::tsanom_spmd_recorder_options.
 *  @initializes{options} */
TSANOM_API tsanom_status tsanom_spmd_recorder_options_init(
    tsanom_spmd_recorder_options *options, size_t struct_size);

/** Bytes of memory that a region recorder needs, O(regions + depth).
 *  @param regions  number of regions, 1 ... 2^31 - 1
 *  @param depth    largest number of regions open at once, 1 ... 2^31 - 1
 *  @bytes @status */
TSANOM_API tsanom_status tsanom_spmd_recorder_size(size_t regions, size_t depth,
                                                   size_t *bytes);

/** Initialize a region recorder without times; also to start again.
 *  @memory{tsanom_spmd_recorder_size}
 *  @param      regions   number of regions
 *  @param      depth     largest number of regions open at once
 *  @param[out] recorder  lies in `memory`
 *  @options @exec @status */
TSANOM_API tsanom_status
tsanom_spmd_recorder_init(void *memory, size_t bytes, size_t regions, size_t depth,
                          const tsanom_spmd_recorder_options *options,
                          const tsanom_exec *exec, tsanom_spmd_recorder **recorder);

/** Allocate a region recorder by exec's allocator, without times.
 *  @param      regions   number of regions
 *  @param      depth     largest number of regions open at once
 *  @param[out] recorder  give it back by tsanom_spmd_recorder_destroy()
 *  @options @exec @return as tsanom_spmd_recorder_init() */
TSANOM_API tsanom_status tsanom_spmd_recorder_create(
    size_t regions, size_t depth, const tsanom_spmd_recorder_options *options,
    const tsanom_exec *exec, tsanom_spmd_recorder **recorder);

/** Free the object. @param recorder NULL: nothing happens */
TSANOM_API void tsanom_spmd_recorder_destroy(tsanom_spmd_recorder *recorder);

/** Enter a region. If it is open already (recursion), its time continues.
 *  @param recorder  of this thread
 *  @param region    its number, from 0
 *  @status
 *  @retval TSANOM_E_INDEX  there is no such region
 *  @retval TSANOM_E_STATE  `depth` regions are open; nothing was entered */
TSANOM_API tsanom_status tsanom_spmd_begin(tsanom_spmd_recorder *recorder,
                                           int32_t region);

/** Leave the region entered last. Together with tsanom_spmd_begin() it costs two readings
 *  of the clock and a few nanoseconds.
 *  @param recorder  of this thread
 *  @param region    that region
 *  @status
 *  @retval TSANOM_E_STATE  another region was entered last, or none; nothing was left */
TSANOM_API tsanom_status tsanom_spmd_end(tsanom_spmd_recorder *recorder, int32_t region);

/** The result: a row of the matrix of tsanom_spmd_data.time. A region that is still open
 *  has the time of its completed visits.
 *  @param      recorder  between calls
 *  @param[out] time      for each region: seconds, nested regions included; or NULL
 *  @param[out] calls     for each region: completed visits; or NULL
 *  @param[out] parent    for each region: the one that it was first entered from, or
 *                        ::TSANOM_SPMD_NONE; or NULL
 *  @status
 *  @retval TSANOM_PARTIAL  a region was entered from several, or is still open */
TSANOM_API tsanom_status tsanom_spmd_recorder_read(const tsanom_spmd_recorder *recorder,
                                                   double *time, uint64_t *calls,
                                                   int32_t *parent);

/** What a run contains of a process besides its times: initialize, then set the
 *  fields. */
typedef struct tsanom_spmd_row {
  size_t struct_size;  /**< sizeof, set by the caller: which fields this caller knows */
  const char *process; /**< its name: 1 to 64 letters, digits and "-_.", the first
                                  not a dot */
  const char *const *region; /**< the name of each region, UTF-8, all different */
  size_t metrics;            /**< number of the program's own metrics; 0 (default) */
  const char *const *metric; /**< their names, different from "calls" */
  const double *value;       /**< a row of each: of region k, nested regions included,
                                  value[m * regions + k], or NaN if it was not measured */
} tsanom_spmd_row;

/** Write the result to a run directory, for `tsanom similar`: the region file
 *  DIRECTORY/spmd/PROCESS.json, with one row, the regions that were entered, their visits
 *  as metric "calls", and the metrics of `row`. Threads and processes, on one
 *  machine or on several that share the directory, may write to one run, each under its
 *  own name; the same name again replaces the file. The file appears complete or not at
 *  all. The function uses streams of the C library, which allocate.
 *  @param recorder   between calls
 *  @param directory  created if it does not exist; its parent must
 *  @param row        names and metrics
 *  @exec @status
 *  @retval TSANOM_PARTIAL      as tsanom_spmd_recorder_read(); the file was written
 *  @retval TSANOM_E_VALUE      row->process is not such a name; or a region that was visited has
 *                              none, or that of another one
 *  @retval TSANOM_E_NONFINITE  an infinity among the metrics */
TSANOM_API tsanom_status tsanom_spmd_recorder_write(const tsanom_spmd_recorder *recorder,
                                                    const char *directory,
                                                    const tsanom_spmd_row *row,
                                                    const tsanom_exec *exec);

#ifdef __cplusplus
}
#endif
/** @} */
#endif
