/* SPDX-License-Identifier: BSD-3-Clause */
/* A channel: one directory of streams, to which threads append 16-byte records.
 *
 *   tsanom_record ──slot──▶ tsn_channel ──┬─ heartbeat.run     clock, identity
 *   (default instance:                    ├─ heartbeat.00000   stream of one thread
 *    slot 0)                              └─ heartbeat.00001   …
 *
 *   a stream:   |header|records ......... index|... backed|
 *                      └ window `current` ┘└ window `ready` ┘   (mapped)
 *
 * A beat writes record `index` through the mapping. `backed` is the number of records
 * that have disk space. The header in the file promises them before a beat may use them,
 * so a store through the mapping never meets a hole, and never raises SIGBUS on a full
 * disk. The grower thread, or the beating thread where there is none, moves `backed` and
 * the windows ahead.
 *
 * Who writes which field, and what orders it:
 *
 *   field      written by               read by          order
 *   index      owner, after the record  grower, finish   relaxed; finish reads it after
 *                                                        it has seen the beat end
 *   limit,     owner                    owner            none: one thread at a time;
 *   origin                                               handed on through `owner`
 *   owner      claim: nobody -> self;   the beat, claim  compare-and-swap
 *              thread end, finish: NULL
 *   backed     holder of grow_lock      owner, grower    release after the header is
 *                                                        written; acquire in the beat
 *   windows    holder of grow_lock      owner            grow_lock; only the owner
 *                                                        moves `ready` to `current`
 *   dropped    owner, its handlers      grower, finish   atomic addition
 *
 * The invariant of a stream, at every instant and so after SIGKILL:
 *
 *   index <= limit <= min(backed, current.end)    and    backed <= the header's `backed`
 *
 * (`limit` is checked only at the next beat, so `index` may equal it.) Records in front
 * of `index` are whole; the record at `index` is whole or zeros; all behind it is zeros.
 *
 * Ownership: the first cache line of a stream belongs to the thread that beats; the
 * second is shared with the grower, so that its visits do not take the line that each
 * beat writes. The holder of `grow_lock` backs, maps and unmaps.
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
#include <tsanom/record.h>

#include "record/file.h"
#include "record/format.h"
#include "record/guard.h"
#include "record/helper.h"
#include "record/vital.h"

enum {
  /* Records backed at a time: 1 MiB. It bounds the pause of a thread that has to do this
   * itself, and how long the grower keeps the address space locked. */
  TSN_GROW_STEP = 1 << 16,
  /* Records of a stream backed at its creation: 256 KiB. */
  TSN_FIRST_STEP = 1 << 14,
  /* Records of a window, the mapped part of a stream: 4 MiB for the first window of a
   * stream, then 16 MiB; less where the system gives no address space. */
  TSN_FIRST_WINDOW = 1 << 18,
  TSN_WINDOW = 1 << 20,
  TSN_LEAST_WINDOW = TSN_FIRST_STEP,
  /* Windows that a stream has left and the grower has not unmapped yet. A beat that
   * finds all of them used waits for the grower. */
  TSN_OLD_WINDOWS = 4,
  /* Streams allocated at a time. Blocks never move, because threads keep pointers to
   * their streams; the stream of a number is found by one division. */
  TSN_STREAM_BLOCK = 256,
  TSN_STREAM_BLOCKS = TSANOM_RECORD_STREAMS_MAX / TSN_STREAM_BLOCK,
  /* Channels open at the same time; the first is the default instance's. Each thread
   * caches a stream of each in thread-local storage, so the number is fixed. */
  TSN_CHANNELS = 32
};

/* Part of a stream file in memory: records [first, end). None: end == 0. */
typedef struct {
  unsigned char *address; /* of record `first` */
  uint64_t first;
  uint64_t end;
} tsn_window;

typedef struct tsn_stream tsn_stream;

/* Values of tsn_thread_cache.state besides the address of the struct: at rest. The lowest
 * bits are these, the others where the stack was when the beat began: a handler that leaves
 * a beat by siglongjmp() leaves its state, which a beat from above it finds. */
enum {
  TSN_NEVER_BEAT = 0,
  /* Finish waits for the end of the beat; a signal handler drops its own. */
  TSN_IN_BEAT,
  /* The thread creates or releases streams. Finish need not wait: ownership is taken by
   * compare-and-swap, and `open` is false by then. */
  TSN_IN_SEARCH,
  TSN_STATES = 3 /* these bits */
};

/* What a thread remembers. Its address identifies the thread as owner of streams.
 * `state` has that address at rest, so that a beat finds with one comparison that the
 * thread owns its stream and that this beat does not interrupt another one. */
typedef struct {
  _Atomic uintptr_t state;
  /* The thread-specific value is set whose destructor releases the thread's streams. */
  bool registered;
  /* The stream of the thread's last beat in each channel, or NULL. The last element is
   * that of TSN_NO_SLOT, always NULL: a beat into a channel that the run does not have
   * needs no test of its own. */
  tsn_stream *stream[TSN_CHANNELS + 1];
} tsn_thread_cache;

struct tsn_stream {
  /* Of the beating thread: one cache line, which a beat loads once. */
  _Alignas(64) _Atomic(tsn_thread_cache *) owner; /* NULL: nobody */
  /* Address that record 0 would have in the current window. Record `index` lies at
   * origin + 16 * index in any window, without a subtraction in the beat. */
  uintptr_t origin;
  _Atomic uint64_t index; /* records written */
  /* Records that may be written without a check: backed and mapped. */
  uint64_t limit;
  /* The thread number that its beats have. */
  _Atomic int32_t announced;
  /* Copy of the channel's, beside the fields that a beat reads anyway. */
  int32_t clock;
  /* Accepts owners. Finish clears it before it takes the ownership away. */
  _Atomic uint32_t open;
  /* Beats that found no space, and why the first one did: an errno. */
  _Atomic uint64_t dropped;
  _Atomic int32_t error;

  /* Shared with the grower; all but the atomic fields under grow_lock. */
  _Alignas(64) _Atomic uint32_t grow_lock;
  /* The last attempt to back records failed. Beats at the limit then drop their record
   * without a system call, until an attempt succeeds. */
  _Atomic uint32_t exhausted;
  _Atomic uint64_t backed;
  /* The index at the grower's last visit, and its drops: what came since decides how far
   * ahead to back, and whether the header is written. */
  uint64_t seen;
  uint64_t dropped_seen;
  uint32_t number;
  uint32_t old_count;
  tsn_file file;
  tsn_window current, ready;
  /* Left behind by the owner; the grower unmaps them, since it may still be populating
   * one. */
  tsn_window old[TSN_OLD_WINDOWS];
  /* Whose beat finish waits for, once it has revoked the ownership. */
  tsn_thread_cache *last_owner;
  /* That owner is the thread that finishes the run, in a handler that interrupted its
   * beat: the mapping stays. */
  bool is_interrupted;
};

enum { TSN_IDLE = 0, TSN_CHANGING, TSN_RECORDING }; /* states of a channel */

typedef struct {
  _Atomic int32_t state;
  /* Streams that exist, announced ones first. Released after the stream is complete: a
   * thread that reads the count may use all streams below it. */
  _Atomic uint32_t streams;
  /* Beats of threads without a stream. The header has why the first one has none. */
  _Atomic uint64_t lost;
  _Atomic int32_t refusal; /* why the latest stream could not be made; 0: it was */
  int32_t clock;
  tsn_helper grower;
  tsn_vital vital;
  /* For adding a stream, the run's header, and the end of threads that own streams.
   * All zeros is an initialized mutex. */
  pthread_mutex_t run_lock;
  tsn_run_header header;
  char path[PATH_MAX];
  pthread_mutex_t directory_lock; /* all zeros is an initialized mutex */
  tsn_file directory;
  tsn_file run;
  /* There are helper threads, so that descriptors stay open in any case. */
  bool stays_open;
  _Atomic(tsn_stream *) block[TSN_STREAM_BLOCKS];
} tsn_channel;

/* Stream `number` < streams, or the one being added. */
static inline tsn_stream *tsn_stream_at(tsn_channel *channel, uint32_t number) {
  tsn_stream *block = atomic_load_explicit(&channel->block[number / TSN_STREAM_BLOCK],
                                           memory_order_acquire);
  return &block[number % TSN_STREAM_BLOCK];
}

/* record.c */

/* How to record: see tsanom_record_options. */
typedef struct {
  int32_t clock, helper, vital_ms, vital_most;
  /* Time 0 of the channel of the same run that was opened before; zeros: there is none.
   * Calibration of the clock takes time, which has passed since. */
  tsn_moment first;
  bool is_inner; /* the directory is one of the run's own: no link leads to it */
} tsn_channel_options;

/* The slot of the default instance, and one that no channel has. */
enum { TSN_DEFAULT_SLOT = 0, TSN_NO_SLOT = TSN_CHANNELS };

extern _Atomic(tsn_channel *) tsn_channels[TSN_CHANNELS];

/* The channel of a slot: NULL until it is first used. Safe in a signal handler. Inline,
 * since a beat without a run consists of it. */
static inline tsn_channel *tsn_channel_at(uint32_t slot) {
  return slot < TSN_CHANNELS
             ? atomic_load_explicit(&tsn_channels[slot], memory_order_acquire)
             : NULL;
}

/* A section of the thread that has the run_lock. */
static inline void tsn_channel_lock(tsn_channel *channel, tsn_guard *guard) {
  tsn_guard_enter(guard);
  pthread_mutex_lock(&channel->run_lock);
}

static inline void tsn_channel_unlock(tsn_channel *channel, const tsn_guard *guard) {
  pthread_mutex_unlock(&channel->run_lock);
  tsn_guard_leave(guard);
}

/* Memory of zeros, which a forked child finds as zeros; NULL: there is none. */
void *tsn_channel_map(size_t bytes);
/* Create a stream. */
tsanom_status tsn_channel_add_stream(tsn_channel *channel, int32_t announced);
/* Note in the run's header how fast the clock runs. A no-op while another thread has the
 * run_lock. */
void tsn_channel_calibrate(tsn_channel *channel);

/* beat.c */

/* Create the thread-specific key whose destructor releases a thread's streams. Once in a
 * process; returns an errno. */
int tsn_beat_make_key(void);
/* Whether this is the cache of the calling thread, and a handler that interrupted a beat
 * calls: the beat does not end before the handler does. */
bool tsn_beat_is_interrupted(const tsn_thread_cache *owner);
/* A beat of the calling thread that was left by siglongjmp() has ended; `frame`: of a function
 * that the program calls. */
void tsn_beat_end_left(const char *frame);
/* One record: see tsanom_heartbeat_beat(). For any thread and for signal handlers. */
tsanom_status tsn_beat(uint32_t slot, int32_t thread, uint32_t tag);
/* Take a stream as for a beat, by which the sampler knows the thread. */
void tsn_beat_enter(uint32_t slot, int32_t thread);
/* Take back the latest record of this thread by that number: see inside.h. */
bool tsn_beat_take_back(uint32_t slot, int32_t thread, uint32_t tag, uint64_t age);

/* Note an errno of the first failure. */
static inline void tsn_note_error(_Atomic int32_t *first, int error) {
  int32_t none = 0;
  if (error) (void)atomic_compare_exchange_strong(first, &none, error);
}

/* storage.c. Functions that return an int return 0 or an errno. No other thread uses the stream
 * meanwhile, or the caller holds grow_lock. */

/* Move the files of a run, and the directory of its events, into another directory, which exists.
 * EEXIST: there is a run. The channel of the events has its own path. */
int tsn_storage_move(tsn_channel *channel, const char *directory);
/* Create the file of a stream, back its first records and map them. On failure the file
 * is removed again. */
int tsn_storage_create(tsn_channel *channel, tsn_stream *stream);
/* Unmap the stream, write its final header and truncate the file to its length. */
int tsn_storage_finish(tsn_channel *channel, tsn_stream *stream);
void tsn_storage_remove(tsn_channel *channel, tsn_stream *stream);
/* Any file in the directory of the channel, also of the vital signs and of the preloaded
 * recorders: create one that must not exist yet, make sure that its descriptor is open, give
 * the descriptor back, remove the file. */
int tsn_storage_create_file(tsn_channel *channel, tsn_file *file, const char *name);
int tsn_storage_use_file(tsn_channel *channel, tsn_file *file, const char *name);
void tsn_storage_settle(tsn_channel *channel, tsn_file *file);
void tsn_storage_remove_file(tsn_channel *channel, tsn_file *file, const char *name);

/* Take over more records that are backed already; if there are none, back some.
 * Afterwards the invariant limit <= min(backed, current.end) holds again. False: this
 * beat finds no space. */
bool tsn_raise_limit(tsn_channel *channel, tsn_stream *stream);
/* Whether to ask the system again after that number of beats that were dropped or lost. */
bool tsn_is_retry(uint64_t dropped);
/* Count a beat that found no space. */
void tsn_drop_beat(tsn_channel *channel, tsn_stream *stream);
/* Start the thread that backs streams ahead of their beats. */
void tsn_grower_start(tsn_channel *channel);

/* vital.c. All but prepare do nothing in a channel without vital signs. */

/* Before the first stream: make the board, unless the period is _VITAL_OFF. */
int tsn_vital_prepare(tsn_channel *channel, const tsn_channel_options *options);
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

#endif
