/* SPDX-License-Identifier: BSD-3-Clause */
/* The process's recorder and its streams.
 *
 * Who touches what: the first cache line of a stream belongs to the thread that
 * beats, the second is shared with the grower, the thread that backs streams with
 * disk space and memory ahead of their beats. Whoever holds a stream's `grow_lock`
 * backs, maps and unmaps.
 *
 * All of it lies in one mapping that fork() hands to the child as zeros, in
 * which there is no run and every lock is free. */
#ifndef TSN_HEARTBEAT_RECORDER_H
#define TSN_HEARTBEAT_RECORDER_H

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <tsanom/heartbeat.h>

#include "heartbeat/format.h"

enum {
  /* Records backed at a time: 1 MiB. Bounds the pause of a thread that has to
   * do it itself, and how long the grower holds the address space busy. */
  TSN_GROW_STEP = 1 << 16,
  /* Records of a stream backed when it is made: 256 KiB. */
  TSN_FIRST_STEP = 1 << 14,
  /* Records of a window, the piece of a stream that is mapped: 256 MiB, or
   * less where the address space is limited. */
  TSN_WINDOW = 1 << 24,
  TSN_SPENT_WINDOWS = 4
};

/* Part of a stream file in memory: records [first, end). None: end == 0. */
typedef struct {
  unsigned char *address; /* of record `first` */
  uint64_t first;
  uint64_t end;
} tsn_window;

typedef struct tsn_stream tsn_stream;

/* What a thread remembers. Its address stands for the thread as owner of streams. */
typedef struct {
  tsn_stream *stream;    /* of its last beat */
  _Atomic uint32_t busy; /* in a beat */
} tsn_thread_cache;

struct tsn_stream {
  /* The beating thread's. */
  _Alignas(64) _Atomic(tsn_thread_cache *) owner; /* NULL: nobody */
  uintptr_t origin;          /* address of record 0, if it were mapped */
  _Atomic uint64_t index;    /* records written */
  uint64_t limit;            /* records that may be written without asking */
  _Atomic int32_t announced; /* thread number of its beats */
  int32_t clock;
  _Atomic uint32_t open; /* takes owners */
  _Atomic uint64_t dropped;

  /* Shared with the grower; but for the atomic ones under grow_lock. */
  _Alignas(64) _Atomic uint32_t grow_lock;
  _Atomic uint32_t starved; /* the last attempt to back records failed */
  _Atomic uint64_t backed;
  uint64_t seen; /* index at the grower's last look */
  uint64_t dropped_seen;
  uint32_t number;
  uint32_t spent_count;
  tsn_window current, ready;
  tsn_window spent[TSN_SPENT_WINDOWS]; /* left behind, for the grower to unmap */
  tsn_thread_cache *last_owner;        /* whom finish turned out */
};

enum { TSN_IDLE = 0, TSN_CHANGING, TSN_RECORDING }; /* states of the recorder */

typedef struct {
  _Atomic int32_t state;
  _Atomic uint32_t streams; /* that were made, announced ones first */
  int32_t clock;
  _Atomic bool grower_runs;
  bool stop_grower; /* under grower_lock */
  bool made_folder;
  pthread_t grower;
  pthread_mutex_t grower_lock;
  pthread_cond_t grower_wake;
  /* Making a stream, the run's header, and the end of threads that own streams.
   * All zeros is an initialised mutex. */
  pthread_mutex_t run_lock;
  tsn_run_header header;
  char folder[PATH_MAX];
  tsn_stream stream[TSANOM_HEARTBEAT_STREAMS_MAX];
} tsn_recorder;

/* NULL until the first init of the process. */
extern _Atomic(tsn_recorder *) tsn_the_recorder;

/* Make ready for the release of streams when their thread ends. Once. */
int tsn_beat_make_key(void);

/* storage.c. Each returns 0 or an errno; nobody else may be at the stream, or
 * the caller holds grow_lock. */

/* Make the file of a stream, back its first records and map them. */
int tsn_storage_create(tsn_recorder *recorder, tsn_stream *stream);
/* Back `count` more records, or as many as there is space for. */
int tsn_storage_back(tsn_recorder *recorder, tsn_stream *stream, uint64_t count);
/* Map the window that begins at record `first`. */
int tsn_storage_map(tsn_recorder *recorder, const tsn_stream *stream, uint64_t first,
                    tsn_window *window);
/* Fault in the pages of those of records [first, end) that the window has.
 * Nobody but the grower unmaps a window while it runs. */
void tsn_storage_populate(const tsn_window *window, uint64_t first, uint64_t end);
void tsn_storage_unmap(tsn_window *window);
/* Write the stream's header as of now. */
int tsn_storage_write_header(tsn_recorder *recorder, tsn_stream *stream);
/* Unmap the stream, write its final header and cut the file to its length. */
int tsn_storage_finish(tsn_recorder *recorder, tsn_stream *stream);
void tsn_storage_remove(tsn_recorder *recorder, tsn_stream *stream);
/* The run's own file: made anew, or written over. */
int tsn_storage_create_run(tsn_recorder *recorder);
int tsn_storage_write_run(tsn_recorder *recorder);
void tsn_storage_remove_run(tsn_recorder *recorder);

/* Make streams that are not there yet, numbered from recorder->streams on. */
int tsn_recorder_add_stream(tsn_recorder *recorder, int32_t announced);

/* Take and leave a stream's grow_lock. */
void tsn_stream_lock(tsn_stream *stream);
bool tsn_stream_try_lock(tsn_stream *stream);
void tsn_stream_unlock(tsn_stream *stream);

/* Note in the run's header how the clock goes. */
void tsn_recorder_calibrate(tsn_recorder *recorder);

/* Start and stop the grower. */
void tsn_grower_start(tsn_recorder *recorder);
void tsn_grower_stop(tsn_recorder *recorder);

#endif
