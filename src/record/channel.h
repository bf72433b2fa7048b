/* SPDX-License-Identifier: BSD-3-Clause */
/* A channel: one directory of streams, to which threads append 16-byte records.
 *
 *   tsanom_record ──slot──▶ tsn_channel ──┬─ heartbeat.run     clock, identity
 *   (default instance:                    ├─ heartbeat.00000   stream of one thread
 *    slot 0)                              └─ heartbeat.00001   …
 *
 *   a stream:   |header|records ......... index|... backed|
 *                       └ window `current` ┘└ window `ready` ┘   (mapped)
 *
 * A beat writes record `index` through the mapping. `backed` is the number of records
 * that have disk space; the header in the file promises them before a beat may use
 * them. The grower thread, or the beating thread where there is none, moves `backed`
 * and the windows ahead.
 *
 * Ownership: the first cache line of a stream belongs to the thread that beats; the
 * second is shared with the grower. The holder of `grow_lock` backs, maps and unmaps.
 *
 * Lifetime: channels and streams lie in mappings that are never unmapped, so that a
 * thread may look at a stream of a run that has ended. fork() hands these mappings to
 * the child as zeros: there is no run in them, and every lock is free. */
#ifndef TSN_RECORD_CHANNEL_H
#define TSN_RECORD_CHANNEL_H

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <tsanom/heartbeat.h>

#include "record/file.h"
#include "record/format.h"
#include "record/helper.h"
#include "record/vital.h"

enum {
  /* Records backed at a time: 1 MiB. It bounds the pause of a thread that has to do
   * this itself, and how long the grower keeps the address space locked. */
  TSN_GROW_STEP = 1 << 16,
  /* Records of a stream backed at its creation: 256 KiB. */
  TSN_FIRST_STEP = 1 << 14,
  /* Records of a window, the mapped part of a stream: 4 MiB for the first window of a
   * stream, then 16 MiB; less where the system gives no address space. */
  TSN_FIRST_WINDOW = 1 << 18,
  TSN_WINDOW = 1 << 20,
  TSN_LEAST_WINDOW = TSN_FIRST_STEP,
  TSN_OLD_WINDOWS = 4,
  TSN_STREAM_BLOCK = 256, /* streams allocated at a time */
  TSN_STREAM_BLOCKS = TSANOM_HEARTBEAT_STREAMS_MAX / TSN_STREAM_BLOCK,
  TSN_CHANNELS = 32 /* open at the same time; the first is the default instance's */
};

/* Part of a stream file in memory: records [first, end). None: end == 0. */
typedef struct {
  unsigned char *address; /* of record `first` */
  uint64_t first;
  uint64_t end;
} tsn_window;

typedef struct tsn_stream tsn_stream;

/* Values of tsn_thread_cache.state besides the address of the struct: at rest. */
enum {
  TSN_NEVER_BEAT = 0,
  TSN_IN_BEAT,   /* finish waits for the end of the beat */
  TSN_IN_SEARCH, /* the thread makes or releases streams; finish need not wait */
};

/* What a thread remembers. Its address identifies the thread as owner of streams. `state`
 * has that address at rest, so that a beat finds with one comparison that the thread owns
 * its stream and that this beat does not interrupt another one. */
typedef struct {
  _Atomic uintptr_t state;
  bool registered; /* its end releases its streams */
  /* Of its last beat in each channel; NULL for TSN_NO_SLOT. */
  tsn_stream *stream[TSN_CHANNELS + 1];
} tsn_thread_cache;

struct tsn_stream {
  /* Of the beating thread. */
  _Alignas(64) _Atomic(tsn_thread_cache *) owner; /* NULL: nobody */
  uintptr_t origin;                               /* address that record 0 would have */
  _Atomic uint64_t index;                         /* records written */
  uint64_t limit;            /* records that may be written without a check */
  _Atomic int32_t announced; /* thread number of its beats */
  int32_t clock;
  _Atomic uint32_t open; /* accepts owners */
  _Atomic uint64_t dropped;

  /* Shared with the grower; all but the atomic fields under grow_lock. */
  _Alignas(64) _Atomic uint32_t grow_lock;
  _Atomic uint32_t exhausted; /* the last attempt to back records failed */
  _Atomic uint64_t backed;
  uint64_t seen; /* index at the grower's last visit */
  uint64_t dropped_seen;
  uint32_t number;
  uint32_t old_count;
  tsn_file file;
  tsn_window current, ready;
  tsn_window old[TSN_OLD_WINDOWS]; /* left behind; the grower unmaps them */
  tsn_thread_cache *last_owner;    /* when finish revoked the ownership */
};

enum { TSN_IDLE = 0, TSN_CHANGING, TSN_RECORDING }; /* states of a channel */

typedef struct {
  _Atomic int32_t state;
  _Atomic uint32_t streams; /* that exist, announced ones first */
  _Atomic uint64_t lost;    /* beats of threads without a stream */
  int32_t clock;
  tsn_helper grower;
  tsn_vital vital;
  /* For adding a stream, the run's header, and the end of threads that own streams.
   * All zeros is an initialized mutex. */
  pthread_mutex_t run_lock;
  tsn_run_header header;
  char path[PATH_MAX];
  tsn_file directory;
  tsn_file run;
  tsn_file reserve[TSN_FILE_RESERVE]; /* given up when descriptors run out */
  _Atomic(tsn_stream *) block[TSN_STREAM_BLOCKS];
} tsn_channel;

/* Stream `number` < streams, or the one being added. */
static inline tsn_stream *tsn_stream_at(tsn_channel *channel, uint32_t number) {
  tsn_stream *block = atomic_load_explicit(&channel->block[number / TSN_STREAM_BLOCK],
                                           memory_order_acquire);
  return &block[number % TSN_STREAM_BLOCK];
}

/* channel.c */

/* How to record, as in tsanom_heartbeat_options. */
typedef struct {
  int32_t clock, helper, vital_ms;
} tsn_channel_options;

/* The slot of the default instance, and one that no channel has. */
enum { TSN_DEFAULT_SLOT = 0, TSN_NO_SLOT = TSN_CHANNELS };

/* The channel of a slot: NULL until it is first used. */
tsn_channel *tsn_channel_at(uint32_t slot);
/* Functions with an `exec`, a checked one or NULL, report failures to its fault. */

/* Reserve a free slot, and release it. */
tsanom_status tsn_channel_reserve(const tsanom_exec *exec, uint32_t *slot);
void tsn_channel_release(uint32_t slot);
/* Check the arguments of a run; choose its clock. */
tsanom_status tsn_channel_check(const char *path, int32_t threads,
                                const tsanom_exec *exec, tsn_channel_options *options);
/* Memory of zeros, which a forked child finds as zeros; NULL: there is none. */
void *tsn_channel_map(size_t bytes);
/* Begin and end a run in a slot. */
tsanom_status tsn_channel_open(uint32_t slot, const char *path, int32_t threads,
                               const tsn_channel_options *options,
                               const tsanom_exec *exec);
tsanom_status tsn_channel_finish(uint32_t slot);
/* Remove the files of a run in which no thread can have beaten yet. */
void tsn_channel_abandon(uint32_t slot);
/* Create a stream. */
tsanom_status tsn_channel_add_stream(tsn_channel *channel, int32_t announced);
/* Note in the run's header how fast the clock runs. */
void tsn_channel_calibrate(tsn_channel *channel);

/* beat.c */

/* Prepare for the release of streams when their thread ends. Once. */
int tsn_beat_make_key(void);
/* One record: see tsanom_heartbeat_beat(). */
tsanom_status tsn_beat(uint32_t slot, int32_t thread, uint32_t tag);

/* storage.c. Each function returns 0 or an errno. No other thread uses the stream
 * meanwhile, or the caller holds grow_lock. */

/* Open the channel's directory, which exists, and fill the reserve. */
int tsn_storage_open(tsn_channel *channel);
void tsn_storage_close(tsn_channel *channel);
/* Create the file of a stream, back its first records and map them. */
int tsn_storage_create(tsn_channel *channel, tsn_stream *stream);
/* Back `count` more records, or fewer where the disk space ends before. */
int tsn_storage_back(tsn_channel *channel, tsn_stream *stream, uint64_t count);
/* Map the window that begins at record `first`. */
int tsn_storage_map(tsn_channel *channel, tsn_stream *stream, uint64_t first,
                    tsn_window *window);
/* Fault in the pages of those of records [first, end) that are in the window.
 * Only the grower unmaps windows while it runs. */
void tsn_storage_populate(const tsn_window *window, uint64_t first, uint64_t end);
void tsn_storage_unmap(tsn_window *window);
/* Write the stream's current header. */
int tsn_storage_write_header(tsn_channel *channel, tsn_stream *stream);
/* Unmap the stream, write its final header and truncate the file to its length. */
int tsn_storage_finish(tsn_channel *channel, tsn_stream *stream);
void tsn_storage_remove(tsn_channel *channel, tsn_stream *stream);
/* The run's own file: create it, overwrite it. */
int tsn_storage_create_run(tsn_channel *channel);
int tsn_storage_write_run(tsn_channel *channel);
void tsn_storage_remove_run(tsn_channel *channel);

/* The file of the vital signs. */
int tsn_storage_create_vital(tsn_channel *channel);
int tsn_storage_use_vital(tsn_channel *channel);
void tsn_storage_remove_vital(tsn_channel *channel);

/* vital.c. All but prepare do nothing in a channel without vital signs. */

/* Before the first stream: make the board, unless the period is _VITAL_OFF. */
int tsn_vital_prepare(tsn_channel *channel, int32_t period_ms, int32_t helper);
/* A stream was added; a thread becomes its owner, and ends. */
void tsn_vital_add(tsn_channel *channel, uint32_t stream, int32_t thread);
void tsn_vital_claim(tsn_channel *channel, uint32_t stream);
void tsn_vital_release(tsn_channel *channel, uint32_t stream);
/* Create the file with the first sample; start the sampler; take the last sample and
 * finish the file, or remove it. */
int tsn_vital_create(tsn_channel *channel);
void tsn_vital_start(tsn_channel *channel, int32_t helper);
void tsn_vital_finish(tsn_channel *channel);
void tsn_vital_remove(tsn_channel *channel);

/* grower.c */
void tsn_stream_lock(tsn_stream *stream);
void tsn_stream_unlock(tsn_stream *stream);
void tsn_grower_start(tsn_channel *channel);

#endif
