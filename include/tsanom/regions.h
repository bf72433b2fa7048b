/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 *  The reader of region events: what `tsanom record` saw of a program's OpenMP.
 *
 *  A recorded run folder has a folder `regions` in it, which is a run by the
 *  format of <tsanom/heartbeat_run.h> whose beats are events: the tag of a beat
 *  says what happened and where. The file `places.tsv` beside the streams tells
 *  which code each place is. Stream 0 is that of the thread that opens the
 *  program's parallel regions.
 *
 *  These functions are in libtsanom only. Several threads may read one run. */
#ifndef TSANOM_REGIONS_H
#define TSANOM_REGIONS_H

#include <tsanom/heartbeat_run.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Kinds of event: bits 0 to 2 of a tag. The values are ABI: append only. */
enum {
  TSANOM_REGIONS_BEGIN = 0, /**< a thread begins a parallel region */
  TSANOM_REGIONS_END = 1,   /**< it ends it; with the threads of the team */
  TSANOM_REGIONS_SHARE = 2, /**< inside a region: thread 0 of it ends a worksharing
                                 construct or comes to a barrier */
  TSANOM_REGIONS_CPU = 3    /**< processor time that a thread spent in the code of the
                                 region whose end comes next, if that was asked for */
};

/** Layout of a tag. The values are ABI. Bits 3 to 15 hold the place, bits 16 to 31
 *  the threads; of ::TSANOM_REGIONS_CPU bits 3 to 7 hold an exponent e and bits
 *  8 to 31 a number m: m 2^e nanoseconds. */
enum {
  TSANOM_REGIONS_KIND_BITS = 3,    /**< the kind */
  TSANOM_REGIONS_PLACES_MAX = 8192 /**< places told apart; the last stands for all
                                        further ones */
};

/** One event. */
typedef struct tsanom_regions_event {
  double time;       /**< seconds since the run began */
  double cpu_s;      /**< of ::TSANOM_REGIONS_CPU; else 0 */
  int32_t kind;      /**< TSANOM_REGIONS_* */
  int32_t place;     /**< index of its place; -1 of ::TSANOM_REGIONS_CPU */
  int32_t threads;   /**< of ::TSANOM_REGIONS_END and _SHARE: of the team; else 0 */
  int32_t reserved0; /**< 0 */
} tsanom_regions_event;

/** Where an event takes place. */
typedef struct tsanom_regions_place {
  size_t struct_size; /**< set by tsanom_regions_place_at() */
  uint64_t address;   /**< of the region's outlined function or of the call, as linked:
                           what nm and addr2line understand */
  int32_t kind;       /**< ::TSANOM_REGIONS_BEGIN for a region, or _SHARE */
  int32_t is_call;    /**< 1: the address is the one a call returns to; 0: that of a
                           function */
  char module[512];   /**< path of the program or library; its last 511 bytes */
} tsanom_regions_place;

/** The region events of a run, open for reading. */
typedef struct tsanom_regions tsanom_regions;

/** Open the region events of a run and check all of them.
 *  Cost and memory are those of tsanom_heartbeat_run_open(), and one block of 528
 *  bytes a place.
 *  @param      folder   the run's folder
 *  @param      exec     NULL: the C heap, no poll; copied. Threads are not used
 *  @param[out] fault    what is wrong; untouched unless TSANOM_E_IO or
 *                       TSANOM_E_FORMAT is returned. NULL: not asked for
 *  @param[out] regions  untouched unless TSANOM_OK is returned
 *  @retval TSANOM_STOPPED    the poll asked to stop
 *  @retval TSANOM_E_NULL     folder or regions is NULL
 *  @retval TSANOM_E_IO       a file is missing or cannot be read: the run has no
 *                            region events
 *  @retval TSANOM_E_FORMAT   a file is cut short, foreign or damaged
 *  @retval TSANOM_E_VERSION  fault was not prepared
 *  @retval TSANOM_E_MEMORY   the allocator gave NULL
 *  @return TSANOM_OK otherwise, or the status of a refused exec */
TSANOM_API tsanom_status tsanom_regions_open(const char *folder, const tsanom_exec *exec,
                                             tsanom_heartbeat_fault *fault,
                                             tsanom_regions **regions);

/** Close what tsanom_regions_open() opened.
 *  @param regions  NULL: nothing happens */
TSANOM_API void tsanom_regions_close(tsanom_regions *regions);

/** The run of the region events, whose beats are the events: for its description,
 *  its streams and their counts.
 *  @param regions  open region events
 *  @return the run, which is closed with `regions`; NULL if that is NULL */
TSANOM_API const tsanom_heartbeat_run *tsanom_regions_run(const tsanom_regions *regions);

/** Places told apart.
 *  @param regions  NULL gives 0
 *  @return their count */
TSANOM_API size_t tsanom_regions_places(const tsanom_regions *regions);

/** Tell where a place is.
 *  @param      regions      open region events
 *  @param      place        0 to tsanom_regions_places() - 1
 *  @param[out] answer       the answer
 *  @param      struct_size  sizeof *answer, where the caller was compiled
 *  @retval TSANOM_E_NULL     regions or answer is NULL
 *  @retval TSANOM_E_OPTION   there is no such place
 *  @retval TSANOM_E_VERSION  struct_size is smaller than the first release's
 *  @return TSANOM_OK otherwise */
TSANOM_API tsanom_status tsanom_regions_place_at(const tsanom_regions *regions,
                                                 size_t place,
                                                 tsanom_regions_place *answer,
                                                 size_t struct_size);

/** Read events first to first+count-1 of a stream. Nothing is allocated; O(count).
 *  @param      regions  open region events
 *  @param      stream   0 to the run's streams - 1
 *  @param      first    number of the first event, from 0
 *  @param      count    events to read; 0 reads nothing
 *  @param[out] events   count events
 *  @param[out] fault    as in tsanom_regions_open()
 *  @retval TSANOM_E_NULL     regions, or events with a count, is NULL
 *  @retval TSANOM_E_OPTION   there is no such stream
 *  @retval TSANOM_E_COUNT    the stream has fewer events than first+count
 *  @retval TSANOM_E_IO       the file cannot be read any more: events before the
 *                            damage may have been written
 *  @retval TSANOM_E_FORMAT   the file was damaged since, or an event is of a kind
 *                            that is not known: as with TSANOM_E_IO
 *  @retval TSANOM_E_VERSION  fault was not prepared
 *  @return TSANOM_OK otherwise */
TSANOM_API tsanom_status tsanom_regions_read(const tsanom_regions *regions,
                                             uint32_t stream, uint64_t first,
                                             size_t count, tsanom_regions_event *events,
                                             tsanom_heartbeat_fault *fault);

#ifdef __cplusplus
}
#endif
#endif
