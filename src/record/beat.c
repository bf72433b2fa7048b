/* SPDX-License-Identifier: BSD-3-Clause */
/* One beat, and how a thread finds its stream.
 *
 * The usual path of tsn_beat():
 *
 *   stream = cache.stream[slot]          thread-local, initial-exec
 *   self = state                         &cache, unless this interrupts a beat
 *   state = TSN_IN_BEAT                  finish waits, a signal handler sees it
 *   stream->owner == self?  stream->announced == thread?  index < limit?
 *   16-byte store of {time, tag, check}  a process is killed before or after it
 *   index++, state = self
 *
 * These are 33 instructions with the time-stamp counter (gcc 12, callgrind). Everything
 * else is in functions that are not inlined, with the arguments in the order that leaves
 * them in their registers, so that this path saves no register.
 *
 * A thread meets one of these cases, from the most to the least frequent:
 *
 *   it owns the stream of its last beat, by that number   write the record
 *   the limit is reached                                  tsn_raise_limit(): `backed`, the
 *                                                         next window, or system calls
 *   another number, or the first beat                     find_stream(): its own stream,
 *                                                         or one without an owner
 *   there is none                                         tsn_channel_add_stream()
 *   a signal handler, and the thread is in a beat         count the beat as dropped
 *   a handler has left a beat                             as if it had ended
 *
 * States of a thread, in `cache.state`:
 *
 *   at rest ──▶ IN_BEAT ──▶ at rest     finish waits while a thread is in a beat
 *      └────▶ IN_SEARCH ──▶ IN_BEAT     run_lock is awaited in IN_SEARCH only: finish
 *                                       holds it while it waits for beats */
#include <tsanom/heartbeat.h>

#include "record/channel.h"
#include "record/clock.h"
#include "record/guard.h"

#define LIKELY(condition) __builtin_expect(!!(condition), 1)

/* The initial-exec model keeps __tls_get_addr(), which may allocate, off the beat path:
 * a beat must be safe in a signal handler that interrupts malloc(). */
static _Thread_local tsn_thread_cache cache __attribute__((tls_model("initial-exec")));

/* Its destructor is the only notice that a library gets of the end of a thread. */
static pthread_key_t release_key;

/* Relaxed: the thread, or a handler that interrupts it, reads what it wrote itself. */
static inline uintptr_t get_state(void) {
  return atomic_load_explicit(&cache.state, memory_order_relaxed);
}

static inline uintptr_t stack_now(void) {
#if defined(__x86_64__)
  uintptr_t stack;
  __asm__("movq %%rsp, %0" : "=r"(stack));
  return stack;
#else
  return (uintptr_t)__builtin_frame_address(0);
#endif
}

/* While a thread is in a beat, finish does not take away the streams that it found it
 * owned. Only the compiler orders the store before the loads that follow: a fence would
 * burden each beat for what is needed once a run. Finish makes up for that; see
 * close_streams(). */
static inline void set_state(uintptr_t state) {
  atomic_store_explicit(&cache.state, state, memory_order_relaxed);
  atomic_signal_fence(memory_order_seq_cst);
}

static inline void enter(uintptr_t state) {
  set_state((stack_now() & ~(uintptr_t)TSN_STATES) | state);
}

/* Back to the state at rest, or to that of the beat which this one interrupted. The
 * release makes the record and `index` visible to a finish that sees the state. */
static inline void restore_state(uintptr_t state) {
  atomic_store_explicit(&cache.state, state, memory_order_release);
}

/* Only for beats that did not interrupt another: those come here at rest. */
static tsanom_status leave(tsanom_status status) {
  restore_state((uintptr_t)&cache);
  return status;
}

/* Give up all streams of one channel. The run_lock keeps finish from reading a cache
 * whose thread is ending. The release hands `index`, `limit` and the windows to the next
 * owner. */
static void release_in(tsn_channel *channel, tsn_thread_cache *owner) {
  tsn_guard guard;
  tsn_channel_lock(channel, &guard);
  uint32_t streams = atomic_load_explicit(&channel->streams, memory_order_acquire);
  for (uint32_t i = 0; i < streams; i++) {
    tsn_thread_cache *mine = owner;
    if (atomic_load_explicit(&tsn_stream_at(channel, i)->owner, memory_order_relaxed) ==
        owner) {
      tsn_vital_release(channel, i);
    }
    atomic_compare_exchange_strong_explicit(&tsn_stream_at(channel, i)->owner, &mine,
                                            NULL, memory_order_release,
                                            memory_order_relaxed);
  }
  tsn_channel_unlock(channel, &guard);
}

/* A thread ends: the next threads that beat by its numbers get its streams. A destructor
 * of another library may beat after this one; then the thread is registered again, and
 * the C library calls this function once more. */
static void release_streams(void *argument) {
  tsn_thread_cache *owner = argument;
  enter(TSN_IN_SEARCH);
  for (uint32_t slot = 0; slot < TSN_CHANNELS; slot++) {
    tsn_channel *channel = tsn_channel_at(slot);
    if (channel && owner->stream[slot]) release_in(channel, owner);
    owner->stream[slot] = NULL;
  }
  owner->registered = false;
  restore_state((uintptr_t)&cache);
}

/* Whether the beat of that state was left by siglongjmp(): a handler that
 * interrupts it has its frame below the stack of the beat, unless it has another stack.
 * FAR: on another stack of which the kernel does not know. */
static bool was_left(uintptr_t state, const char *frame) {
  enum { RED_ZONE = 128, FAR = 1 << 26 };
  uintptr_t here = (uintptr_t)frame + RED_ZONE, there = state & ~(uintptr_t)TSN_STATES;
  stack_t stack;
  return here >= there && here - there < FAR &&
         (sigaltstack(NULL, &stack) != 0 || !(stack.ss_flags & SS_ONSTACK));
}

static bool is_in_beat(const char *frame) {
  uintptr_t state = get_state();
  return state & TSN_STATES && !was_left(state, frame);
}

bool tsn_beat_is_interrupted(const tsn_thread_cache *owner) {
  return owner == &cache && get_state() != (uintptr_t)&cache;
}

void tsn_beat_end_left(const char *frame) {
  if (!is_in_beat(frame)) restore_state((uintptr_t)&cache);
}

int tsn_beat_make_key(void) {
  return pthread_key_create(&release_key, release_streams);
}

/* Relaxed is enough: a thread that reads its own address wrote it itself, or lost the
 * ownership to finish, which then waits for this beat. */
static inline uintptr_t owner_of(const tsn_stream *stream) {
  return (uintptr_t)atomic_load_explicit(&stream->owner, memory_order_relaxed);
}

static bool owns(const tsn_stream *stream) {
  return owner_of(stream) == (uintptr_t)&cache;
}

static bool has_number(const tsn_stream *stream, int32_t thread) {
  return atomic_load_explicit(&stream->announced, memory_order_relaxed) == thread;
}

/* Become the owner, unless there is one or the run is ending. Finish closes the stream
 * before it revokes the ownership, and this function reads `open` after it has taken it.
 * All four accesses are sequentially consistent, so that one of the two sees the other:
 *
 *   claim    owner = self     read open
 *   finish   open = 0         owner = NULL */
static bool claim(tsn_stream *stream) {
  tsn_thread_cache *nobody = NULL;
  if (!atomic_compare_exchange_strong(&stream->owner, &nobody, &cache)) return false;
  if (atomic_load(&stream->open)) return true;
  atomic_store_explicit(&stream->owner, NULL, memory_order_release);
  return false;
}

/* The stream that this thread owns for the number; else one to claim. The search for an
 * own stream comes first: a thread that returns to an earlier number must not claim
 * another stream for it, or its beats would be split. Streams of announced numbers are
 * found at once; those added later are searched in order, in time proportional to their
 * number. */
static tsn_stream *find_stream(tsn_channel *channel, int32_t thread) {
  uint32_t streams = atomic_load_explicit(&channel->streams, memory_order_acquire);
  uint32_t announced = (uint32_t)channel->header.announced;
  /* The announced stream, then those added since. */
  uint32_t begin = (uint32_t)thread < announced ? (uint32_t)thread : announced;
  for (int attempt = 0; attempt < 2; attempt++) {
    for (uint32_t i = begin; i < streams; i = i < announced ? announced : i + 1) {
      tsn_stream *stream = tsn_stream_at(channel, i);
      if (!has_number(stream, thread)) continue;
      if (attempt == 0 && owns(stream)) return stream;
      if (attempt == 1 && claim(stream)) {
        tsn_vital_claim(channel, i);
        return stream;
      }
    }
  }
  return NULL;
}

/* The record is written by one store: a process is killed between instructions, so that
 * there is all of a record or nothing. Two stores of 8 bytes could leave a time without
 * its check, which a reader would have to take for damage. Records are 16-byte aligned,
 * and x86-64 and AArch64 store an aligned vector of 16 bytes by one instruction. */
typedef uint64_t record_words __attribute__((vector_size(16)));

/* `volatile` keeps the compiler from splitting or moving the store. The store to `index`
 * follows it in program order, which a reader in another process does not need: it finds
 * the end of the records by their checks. */
static inline void write_record(tsn_stream *stream, uint64_t index, uint64_t time,
                                uint32_t tag) {
  enum { CACHE_LINE = 64 };
  uint64_t check = tsn_record_check(time, tag, index);
  /* NOLINTNEXTLINE(performance-no-int-to-ptr): record 0 need not be mapped */
  volatile record_words *record = (record_words *)(stream->origin + index * TSN_RECORD);
  *record = (record_words){time, tag | check << 32};
  /* Every fourth record begins a line that only memory has. If the store alone asked
   * for it, all stores of the program after it would queue up behind it. */
  __builtin_prefetch((const char *)record + CACHE_LINE, 1);
  atomic_store_explicit(&stream->index, index + 1, memory_order_relaxed);
}

/* The clock is read before the limit is raised: the record has the time of the call, not
 * that after a few system calls. */
static __attribute__((noinline)) tsanom_status beat_at_limit(tsn_stream *stream,
                                                             uint32_t tag,
                                                             uint32_t slot) {
  tsn_channel *channel = tsn_channel_at(slot);
  uint64_t time = tsn_clock_ticks(stream->clock);
  if (!tsn_raise_limit(channel, stream)) {
    tsn_drop_beat(channel, stream);
    return leave(TSANOM_E_IO);
  }
  uint64_t index = atomic_load_explicit(&stream->index, memory_order_relaxed);
  write_record(stream, index, time, tag);
  return leave(TSANOM_OK);
}

/* CLOCK_MONOTONIC is a call, around which registers are saved: apart from the usual
 * path, which has none. */
static __attribute__((noinline)) tsanom_status beat_by_clock(tsn_stream *stream,
                                                             uint32_t tag,
                                                             uint64_t index) {
  write_record(stream, index, tsn_clock_monotonic(), tag);
  return leave(TSANOM_OK);
}

/* Beat into a stream of this thread, and leave. `self` is the state to restore, the
 * address of the cache, which takes two instructions to compute anew. */
static inline tsanom_status beat_into(uint32_t slot, tsn_stream *stream, uint32_t tag,
                                      uintptr_t self) {
  uint64_t index = atomic_load_explicit(&stream->index, memory_order_relaxed);
  if (!LIKELY(index < stream->limit)) return beat_at_limit(stream, tag, slot);
#if defined(__x86_64__)
  if (LIKELY(stream->clock == TSANOM_RECORD_CLOCK_TSC)) {
    write_record(stream, index, __rdtsc(), tag);
    restore_state(self);
    return TSANOM_OK;
  }
#endif
  (void)self;
  return beat_by_clock(stream, tag, index);
}

static bool is_recording(tsn_channel *channel) {
  return atomic_load_explicit(&channel->state, memory_order_acquire) == TSN_RECORDING;
}

/* A signal handler beats while this thread is in a beat: the stream, or a lock, may be
 * in any state. Waiting would never end, so the record is dropped and counted: by the
 * stream if the thread owns one, else by the channel. Only atomic additions are used,
 * which are safe here. */
static tsanom_status drop_interrupting(tsn_channel *channel, tsn_stream *stream) {
  if (!is_recording(channel)) return TSANOM_E_STATE;
  atomic_fetch_add(stream && owns(stream) ? &stream->dropped : &channel->lost, 1);
  return TSANOM_E_STATE;
}

/* The stream of the number, found or created, for a thread that is in a beat now; NULL: the
 * status of it, and it is not.
 *
 * The loop repeats because another thread with the same number may claim the stream that
 * this one has created. Each repetition means that another thread got one, so that all
 * progress. */
static tsn_stream *take_stream(tsn_channel *channel, int32_t thread,
                               tsanom_status *status) {
  for (;;) {
    enter(TSN_IN_SEARCH);
    *status = TSANOM_E_STATE;
    if (!is_recording(channel)) return NULL;
    *status = TSANOM_E_INDEX;
    if (thread < 0) return NULL;
    /* The owner of a stream releases it when it ends, so this comes before the first
     * claim. The memory for it may be missing; without it a stream would belong to a
     * dead thread. */
    *status = TSANOM_E_MEMORY;
    if (!cache.registered && pthread_setspecific(release_key, &cache) != 0) return NULL;
    cache.registered = true;
    enter(TSN_IN_BEAT);
    tsn_stream *stream = find_stream(channel, thread);
    if (stream) return stream;
    enter(TSN_IN_SEARCH);
    *status = atomic_load_explicit(&channel->refusal, memory_order_relaxed);
    if (*status < 0 && !tsn_is_retry(atomic_load(&channel->lost))) {
      atomic_fetch_add(&channel->lost, 1);
      return NULL;
    }
    *status = tsn_channel_add_stream(channel, thread);
    if (*status < 0) return NULL;
  }
}

/* Every beat that is not into the stream of the last one: the first of a thread, one by
 * another number, one after the run has ended, and one in a signal handler. */
static __attribute__((noinline)) tsanom_status beat_elsewhere(int32_t thread,
                                                              uint32_t tag,
                                                              uint32_t slot) {
  tsn_channel *channel = tsn_channel_at(slot);
  tsanom_status status;
  if (is_in_beat(__builtin_frame_address(0)))
    return drop_interrupting(channel, cache.stream[slot]);
  tsn_stream *stream = take_stream(channel, thread, &status);
  if (!stream) return leave(status);
  cache.stream[slot] = stream;
  return beat_into(slot, stream, tag, (uintptr_t)&cache);
}

void tsn_beat_enter(uint32_t slot, int32_t thread) {
  tsanom_status status;
  if (is_in_beat(__builtin_frame_address(0))) return;
  tsn_stream *stream = take_stream(tsn_channel_at(slot), thread, &status);
  if (stream) cache.stream[slot] = stream;
  (void)leave(status);
}

/* Inlined in both functions below, so that each is the whole path: for the default
 * instance the slot is a constant. A beat without a run ends here.
 *
 * The comparison fails for a beat in a handler too: then `self` has the bits of TSN_IN_BEAT,
 * which no thread's address has. */
static inline __attribute__((always_inline)) tsanom_status beat(uint32_t slot,
                                                                int32_t thread,
                                                                uint32_t tag) {
  tsn_stream *stream = cache.stream[slot];
  if (LIKELY(stream != NULL)) {
    uintptr_t self = get_state();
    enter(TSN_IN_BEAT);
    if (LIKELY(owner_of(stream) == self && has_number(stream, thread))) {
      return beat_into(slot, stream, tag, self);
    }
    restore_state(self);
  }
  return tsn_channel_at(slot) ? beat_elsewhere(thread, tag, slot) : TSANOM_E_STATE;
}

tsanom_status tsn_beat(uint32_t slot, int32_t thread, uint32_t tag) {
  return beat(slot, thread, tag);
}

/* Zeros again, by one store: a reader finds the end of the records there. One in a window
 * that the thread has left stays. */
static bool take_back(tsn_stream *stream, uint32_t tag, uint64_t age) {
  uint64_t index = atomic_load_explicit(&stream->index, memory_order_relaxed);
  if (index <= stream->current.first) return false;
  /* NOLINTNEXTLINE(performance-no-int-to-ptr): record 0 need not be mapped */
  tsn_record *latest = (tsn_record *)(stream->origin + (index - 1) * TSN_RECORD);
  if (latest->tag != tag || tsn_clock_ticks(stream->clock) - latest->time >= age) {
    return false;
  }
  *(volatile record_words *)latest = (record_words){0};
  atomic_store_explicit(&stream->index, index - 1, memory_order_relaxed);
  return true;
}

/* For the stream of the thread's latest record, and not in a handler that interrupted a
 * beat. */
bool tsn_beat_take_back(uint32_t slot, int32_t thread, uint32_t tag, uint64_t age) {
  tsn_stream *stream = cache.stream[slot];
  if (!stream) return false;
  uintptr_t self = get_state();
  enter(TSN_IN_BEAT);
  bool taken = owner_of(stream) == self && has_number(stream, thread) &&
               take_back(stream, tag, age);
  restore_state(self);
  return taken;
}

tsanom_status tsanom_heartbeat_beat(int32_t thread, uint32_t tag) {
  return beat(TSN_DEFAULT_SLOT, thread, tag);
}
