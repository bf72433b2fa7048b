/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 *  The reader of a run: what <tsanom/heartbeat.h> recorded, as series.
 *
 *  A run may be read when it is finished, when its process was killed, and while it
 *  is going on; in the last two cases it holds the beats up to the moment. Every
 *  byte of every file is checked when the run is opened: a file that is
 *  missing, cut short, foreign or damaged, be it by one bit, is refused with its
 *  name and the offset of the damage.
 *
 *  These functions are in libtsanom only. Several threads may read one run. */
#ifndef TSANOM_HEARTBEAT_RUN_H
#define TSANOM_HEARTBEAT_RUN_H

#include <tsanom/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A run that is open for reading. */
typedef struct tsanom_heartbeat_run tsanom_heartbeat_run;

/** What is wrong with a run, and where. Prepare by tsanom_heartbeat_fault_init(). */
typedef struct tsanom_heartbeat_fault {
  size_t struct_size; /**< set by _init: which fields this caller knows */
  uint64_t offset;    /**< of the byte in the file where the damage shows; 0 if the file
                           could not be opened */
  char file[512];     /**< path of the file; its last 511 bytes, if it is longer */
  char text[256];     /**< what is wrong, and what would be right: a sentence */
} tsanom_heartbeat_fault;

/** Prepare a fault: no file, no text.
 *  @param[out] fault        the caller's struct
 *  @param      struct_size  its sizeof, where the caller was compiled
 *  @retval TSANOM_E_NULL     fault is NULL
 *  @retval TSANOM_E_VERSION  struct_size is smaller than the first release's
 *  @return TSANOM_OK otherwise */
TSANOM_API tsanom_status tsanom_heartbeat_fault_init(tsanom_heartbeat_fault *fault,
                                                     size_t struct_size);

/** What a run is. */
typedef struct tsanom_heartbeat_run_info {
  size_t struct_size; /**< set by tsanom_heartbeat_run_describe() */
  uint64_t beats;     /**< of all streams */
  uint64_t dropped;   /**< beats lost for want of disk space, as far as recorded */
  int64_t start;      /**< when it began, in nanoseconds since 1970 UTC */
  double tick;        /**< seconds between two ticks of its clock */
  int64_t pid;        /**< the process */
  uint32_t streams;   /**< streams, one a thread; see tsanom_heartbeat_stream_info */
  int32_t announced;  /**< threads announced */
  int32_t clock;      /**< TSANOM_HEARTBEAT_CLOCK_*, never AUTO */
  int32_t finished;   /**< 1 if the run was finished; 0 if it was killed or goes on */
  char program[64];   /**< name of the program, ended by a zero */
} tsanom_heartbeat_run_info;

/** What a stream of a run is. */
typedef struct tsanom_heartbeat_stream_info {
  size_t struct_size; /**< set by tsanom_heartbeat_run_stream() */
  uint64_t beats;     /**< recorded */
  uint64_t dropped;   /**< lost for want of disk space, as far as recorded */
  double first;   /**< time of the first beat in seconds since the run began; 0 if there
                       is none */
  double last;    /**< time of the last beat, likewise */
  int32_t thread; /**< the thread number its beats gave. Streams 0 to announced-1 have
                       their own index here; later ones belong to threads that were not
                       announced, or that beat by a number while another thread
                       held it */
  int32_t reserved0; /**< 0 */
} tsanom_heartbeat_stream_info;

/** Open a run and check all of it.
 *  Cost O(bytes of the run), in constant memory: one block from exec's
 *  allocator, which holds 48 bytes a stream and a buffer, and is kept until
 *  tsanom_heartbeat_run_close(). The poll counts streams.
 *  @param      folder  the run's folder
 *  @param      exec    NULL: the C heap, no poll; copied. Threads are not used
 *  @param[out] fault   what is wrong; untouched unless TSANOM_E_IO or
 *                      TSANOM_E_FORMAT is returned. NULL: not asked for
 *  @param[out] run     the run; untouched unless TSANOM_OK is returned
 *  @retval TSANOM_STOPPED     the poll asked to stop
 *  @retval TSANOM_E_NULL      folder or run is NULL
 *  @retval TSANOM_E_IO        a file is missing or cannot be read
 *  @retval TSANOM_E_FORMAT    a file is cut short, foreign or damaged
 *  @retval TSANOM_E_VERSION   fault was not prepared
 *  @retval TSANOM_E_MEMORY    the allocator gave NULL
 *  @return TSANOM_OK otherwise, or the status of a refused exec */
TSANOM_API tsanom_status tsanom_heartbeat_run_open(const char *folder,
                                                   const tsanom_exec *exec,
                                                   tsanom_heartbeat_fault *fault,
                                                   tsanom_heartbeat_run **run);

/** Close a run and give its memory back.
 *  @param run  from tsanom_heartbeat_run_open(), or NULL: nothing happens */
TSANOM_API void tsanom_heartbeat_run_close(tsanom_heartbeat_run *run);

/** Tell what a run is.
 *  @param      run          an open run
 *  @param[out] info         the answer
 *  @param      struct_size  sizeof *info, where the caller was compiled
 *  @retval TSANOM_E_NULL     run or info is NULL
 *  @retval TSANOM_E_VERSION  struct_size is smaller than the first release's
 *  @return TSANOM_OK otherwise */
TSANOM_API tsanom_status tsanom_heartbeat_run_describe(const tsanom_heartbeat_run *run,
                                                       tsanom_heartbeat_run_info *info,
                                                       size_t struct_size);

/** Tell what a stream is.
 *  @param      run          an open run
 *  @param      stream       0 to streams-1
 *  @param[out] info         the answer
 *  @param      struct_size  sizeof *info, where the caller was compiled
 *  @retval TSANOM_E_NULL     run or info is NULL
 *  @retval TSANOM_E_OPTION   there is no such stream
 *  @retval TSANOM_E_VERSION  struct_size is smaller than the first release's
 *  @return TSANOM_OK otherwise */
TSANOM_API tsanom_status tsanom_heartbeat_run_stream(const tsanom_heartbeat_run *run,
                                                     uint32_t stream,
                                                     tsanom_heartbeat_stream_info *info,
                                                     size_t struct_size);

/** Read beats first to first+count-1 of a stream, which are checked once more.
 *  Nothing is allocated; O(count).
 *  @param      run     an open run
 *  @param      stream  0 to streams-1
 *  @param      first   number of the first beat, from 0
 *  @param      count   beats to read; 0 reads nothing
 *  @param[out] times   count times in seconds since the run began; NULL: not asked for
 *  @param[out] tags    count tags; NULL: not asked for
 *  @param[out] fault   as in tsanom_heartbeat_run_open()
 *  @retval TSANOM_E_NULL     run is NULL
 *  @retval TSANOM_E_OPTION   there is no such stream
 *  @retval TSANOM_E_COUNT    the stream has fewer beats than first+count
 *  @retval TSANOM_E_IO       the file cannot be read any more
 *  @retval TSANOM_E_FORMAT   the file was damaged since the run was opened
 *  @retval TSANOM_E_VERSION  fault was not prepared
 *  @return TSANOM_OK otherwise */
TSANOM_API tsanom_status tsanom_heartbeat_run_read(const tsanom_heartbeat_run *run,
                                                   uint32_t stream, uint64_t first,
                                                   size_t count, double *times,
                                                   uint32_t *tags,
                                                   tsanom_heartbeat_fault *fault);

/** Windowed heart rate r_i = w / (t_i - t_{i-w}), in beats per unit of time, for
 *  i = w to n-1. O(n); a pure function. A rate that exceeds the range of double
 *  is infinite, as two times that differ by less than about 1e-308 w give.
 *  @param      times   n times, finite and strictly increasing
 *  @param      n       their count, above window
 *  @param      window  w, in beats, >= 1
 *  @param[out] rates   n-window rates, r_i at i-window; overlaps nothing
 *  @retval TSANOM_E_NULL       times or rates is NULL
 *  @retval TSANOM_E_OPTION     window is 0
 *  @retval TSANOM_E_COUNT      window is not below n
 *  @retval TSANOM_E_NONFINITE  a NaN or infinity among the times
 *  @retval TSANOM_E_ORDER      a time is not above the one before it
 *  @return TSANOM_OK otherwise
 *  Source: the heartbeat paper, section 3, the heart rate of its window. */
TSANOM_API tsanom_status tsanom_heartbeat_rate(const double *times, size_t n,
                                               size_t window, double *rates);

#ifdef __cplusplus
}
#endif
#endif
