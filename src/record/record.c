/* SPDX-License-Identifier: BSD-3-Clause */
/* The recorder object: a few channels of one run directory.
 *
 *   RUN/heartbeat.run, .00000, ...           HEARTBEATS
 *   RUN/regions/heartbeat.run, .00000, ...   REGIONS
 *
 * The object holds slots only. The channels themselves lie in mappings of the process
 * (see channel.h), since threads may look at their streams after the object is gone. So
 * the object may lie in memory of the caller, whose lifetime the recorder does not know.
 *
 * Creation is all or nothing: if a channel cannot be opened, those opened before are
 * removed with their files. A new kind of channel needs a constant, a slot and a
 * directory here, and nothing in the beat. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <tsanom/heartbeat.h>
#include <tsanom/record.h>
#include <unistd.h>

#include "core/arena.h"
#include "core/exec.h"
#include "core/fault.h"
#include "core/versioned.h"
#include "record/channel.h"
#include "record/clock.h"
#include "record/guard.h"
#include "record/identity.h"
#include "record/inside.h"
#include "record/vital_proc.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

/* ---- channels
 *
 * The beginning and the end of a run, and the table of channels.
 *
 * A channel passes through these states. CHANGING is entered by compare-and-swap, so
 * that of two threads that begin or finish a run at the same time one is rejected with
 * TSANOM_E_STATE:
 *
 *   IDLE ──open──▶ CHANGING ──▶ RECORDING ──finish──▶ CHANGING ──▶ IDLE
 *                     └──failed──▶ IDLE
 *
 * What a kill leaves during the beginning:
 *
 *   heartbeat.run created, empty or zeros     no run: rejected
 *   its header written, streams missing       rejected: the header counts the announced
 *                                             streams from the first write on
 *   all streams created                       a run without beats
 *   a stream added later, header not yet      a run; no header names the stream
 *
 * and during the end: each stream is valid before and after it is finished (storage.c),
 * and the run is finished only when its header says so, last.
 *
 * The end must not wait for a thread that never comes back, nor cut off one that is in a
 * beat. Beats take no lock, so it revokes the ownership of all streams, waits until
 * every store that a beat made before is visible, and then waits for the owners that are
 * in a beat; see close_streams().
 *
 * Two tables hold the channels. `tsn_channels` has the address of each, NULL until its
 * slot is used for the first time; it is only ever filled. `reserved` has the slots that
 * objects own. Both survive a fork, the channels' contents do not. */

#if defined(__x86_64__)

/* The brand string: three leaves of 16 bytes, terminated by zero. */
static void name_processor(char *name, size_t size) {
  enum { LEAVES = 3 };
  const unsigned highest = 0x80000000u, first = 0x80000002u;
  unsigned text[4 * LEAVES + 1] = {0};
  if ((unsigned)__get_cpuid_max(highest, NULL) < first + LEAVES - 1) return;
  for (unsigned i = 0; i < LEAVES; i++) {
    unsigned *to = text + 4 * i;
    (void)__get_cpuid(first + i, &to[0], &to[1], &to[2], &to[3]);
  }
  const char *brand = (const char *)text;
  brand += strspn(brand, " ");
  (void)snprintf(name, size, "%.*s", (int)(size - 1), brand);
  for (size_t end = strlen(name); end && name[end - 1] == ' '; end--)
    name[end - 1] = '\0';
}
#else
static void name_processor(char *name, size_t size) {
  struct utsname system;
  if (uname(&system) == 0) (void)snprintf(name, size, "%.32s", system.machine);
}
#endif

/* The machine as far as times per beat depend on it: the processor, and how many of them
 * the program may use. No file is read, since a program may be where there is none.
 *
 * Name the machine, such as "2 x AMD EPYC"; terminated by zero, cut if it does not fit. The count
 * is 0 if it is not known. */
static void name_machine(char *name, size_t size) {
  char processor[49] = "unknown";
  cpu_set_t usable;
  int count = sched_getaffinity(0, sizeof usable, &usable) == 0 ? CPU_COUNT(&usable) : 0;
  name_processor(processor, sizeof processor);
  (void)snprintf(name, size, "%d x %s", count, processor);
}

/* ---- the clock of a run
 *
 * The clock, and the pairs that relate its ticks to CLOCK_MONOTONIC.
 *
 * The time-stamp counter is a clock only if it runs at one rate in all power states,
 * which CPUID reports, and if the counters of all processors agree, which no instruction
 * reports. The kernel measures the latter continuously and stops using the counter when
 * it fails; so its own choice is the test. */

#if defined(__x86_64__)
/* CPUID 80000007h, EDX bit 8: the counter runs at one rate in every P-, C- and T-state.
 */
static bool tsc_is_invariant(void) {
  unsigned a, b, c, d;
  return __get_cpuid(0x80000007u, &a, &b, &c, &d) && (d & (1u << 8)) != 0;
}

/* The kernel uses the counter as its clock only while its watchdog finds the counters of
 * all processors synchronized. */
static bool kernel_trusts_tsc(void) {
  static const char path[] =
      "/sys/devices/system/clocksource/clocksource0/current_clocksource";
  char name[5] = "";
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  ssize_t count = read(file, name, sizeof name - 1);
  close(file);
  return count == 4 && memcmp(name, "tsc\n", 4) == 0;
}

/* The clock that `wanted` selects on this machine; AUTO: it does not have that clock. A caller
 * that asks for the counter gets it without the tests: it may know its machine. */
static int32_t choose_clock(int32_t wanted) {
  if (wanted != TSANOM_RECORD_CLOCK_AUTO) return wanted;
  return tsc_is_invariant() && kernel_trusts_tsc() ? TSANOM_RECORD_CLOCK_TSC
                                                   : TSANOM_RECORD_CLOCK_MONOTONIC;
}
#else
/* Other architectures: no counter is read. The result AUTO reports to the caller that
 * the clock it asked for does not exist. */
static int32_t choose_clock(int32_t wanted) {
  return wanted == TSANOM_RECORD_CLOCK_TSC ? TSANOM_RECORD_CLOCK_AUTO
                                           : TSANOM_RECORD_CLOCK_MONOTONIC;
}
#endif

/* The clock and CLOCK_MONOTONIC at the same moment, within about 20 ns. The latter is read
 * between two readings of the counter, and is paired with their middle:
 *
 *   counter   before ──────────┬────────── after        error <= width / 2
 *   clock              nanoseconds
 *
 * An interrupt between them widens the interval, so the narrowest of a few tries is
 * taken. */
static tsn_moment take_moment(int32_t clock) {
  enum { TRIES = 8 };
  tsn_moment best = {0, 0};
  if (clock == TSANOM_RECORD_CLOCK_MONOTONIC) {
    best.nanoseconds = tsn_clock_monotonic();
    best.ticks = best.nanoseconds;
    return best;
  }
  /* The narrowest interval was not interrupted. */
  uint64_t narrowest = UINT64_MAX;
  for (int i = 0; i < TRIES; i++) {
    uint64_t before = tsn_clock_ticks(clock);
    uint64_t nanoseconds = tsn_clock_monotonic();
    uint64_t width = tsn_clock_ticks(clock) - before;
    if (width < narrowest) {
      narrowest = width;
      best = (tsn_moment){.ticks = before + width / 2, .nanoseconds = nanoseconds};
    }
  }
  return best;
}

/* ---- the table of channels */

_Atomic(tsn_channel *) tsn_channels[TSN_CHANNELS];
static _Atomic bool reserved[TSN_CHANNELS] = {[TSN_DEFAULT_SLOT] = true};
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static bool key_failed;

/* The table is not wiped by fork(): a child must not hand out slots that objects of
 * its parent name. */
static tsanom_status reserve_slot(const tsanom_exec *exec, uint32_t *slot) {
  for (uint32_t i = 0; i < TSN_CHANNELS; i++) {
    bool unused = false;
    if (!atomic_compare_exchange_strong(&reserved[i], &unused, true)) continue;
    *slot = i;
    return TSANOM_OK;
  }
  return tsn_reject_text(exec, TSANOM_E_OVERFLOW, "options.channels", TSANOM_NONE,
                         "%d channels are open in the process, the most there can be",
                         TSN_CHANNELS - 1);
}

static void release_slot(uint32_t slot) {
  if (slot < TSN_CHANNELS) atomic_store(&reserved[slot], false);
}

static void make_key(void) {
  key_failed = tsn_beat_make_key() != 0;
}

/* Its pages cost nothing until used. */
void *tsn_channel_map(size_t bytes) {
  void *block = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (block == MAP_FAILED) return NULL;
  if (madvise(block, bytes, MADV_WIPEONFORK) == 0) return block;
  (void)munmap(block, bytes);
  return NULL;
}

static tsn_channel *get_channel(uint32_t slot) {
  tsn_channel *channel = tsn_channel_at(slot);
  if (channel) return channel;
  if (pthread_once(&key_once, make_key) != 0 || key_failed) return NULL;
  tsn_channel *block = tsn_channel_map(sizeof *channel);
  if (!block) return NULL;
  if (atomic_compare_exchange_strong(&tsn_channels[slot], &channel, block)) return block;
  (void)munmap(block, sizeof *block);
  return channel; /* another thread's */
}

static void sleep_ns(long nanoseconds) {
  struct timespec time = {.tv_sec = 0, .tv_nsec = nanoseconds};
  while (nanosleep(&time, &time) != 0 && errno == EINTR) {
  }
}

/* Processor time of the process, or of those that it awaited, in ns. */
static uint64_t used_by(int who) {
  struct rusage r;
  if (getrusage(who, &r) != 0) return 0;
  return (uint64_t)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1000000000u +
         (uint64_t)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) * 1000u;
}

static void describe_run(tsn_channel *channel, int32_t threads,
                         const tsn_channel_options *options) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  tsn_run_header *header = &channel->header;
  double age = tsn_proc_age(0);
  *header = (tsn_run_header){
      .magic = TSN_RUN_MAGIC,
      .version = TSN_FORMAT_VERSION,
      .bytes = sizeof *header,
      .state = TSN_RUNNING,
      .announced = threads,
      .streams = (uint32_t)threads,
      .clock = (uint32_t)channel->clock,
      .start = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec,
      .pid = (uint64_t)getpid(),
      .first = options->first.nanoseconds ? options->first : take_moment(channel->clock),
      .age = age > 0 ? (uint64_t)(age * 1e9) : 0,
      .children = used_by(RUSAGE_CHILDREN),
  };
  uint64_t identity[] = {header->start, header->pid, header->first.ticks};
  header->run_id = tsn_checksum(identity, sizeof identity);
  strncpy(header->program, program_invocation_short_name, TSN_PROGRAM_NAME - 1);
  name_machine(header->machine, sizeof header->machine);
  tsn_identify(header);
}

/* The caller holds run_lock, which guards channel->header. */
static int put_header(tsn_channel *channel) {
  tsn_run_header *header = &channel->header;
  header->checksum = tsn_checksum(header, offsetof(tsn_run_header, checksum));
  return tsn_file_write(&channel->run, header, sizeof *header, 0);
}

/* Create the run's own file. The space is reserved before the header is written: later rewrites
 * of these 256 bytes need no more. */
static int create_run_file(tsn_channel *channel) {
  int error = tsn_storage_create_file(channel, &channel->run, TSN_RUN_FILE);
  if (error) return error;
  error = tsn_file_extend(&channel->run, 0, sizeof channel->header);
  if (!error) error = put_header(channel);
  if (error) tsn_storage_remove_file(channel, &channel->run, TSN_RUN_FILE);
  tsn_storage_settle(channel, &channel->run);
  return error;
}

static int write_run_file(tsn_channel *channel) {
  int error = tsn_storage_use_file(channel, &channel->run, TSN_RUN_FILE);
  if (!error) error = put_header(channel);
  tsn_storage_settle(channel, &channel->run);
  return error;
}

static int open_directory(tsn_channel *channel) {
  return tsn_file_open(&channel->directory, AT_FDCWD, channel->path,
                       O_RDONLY | O_DIRECTORY);
}

static void close_files(tsn_channel *channel) {
  tsn_file_close(&channel->run);
  tsn_file_close(&channel->directory);
}

/* As new, whatever an earlier run left; a thread of that run may be looking at it. */
static void reset_stream(tsn_stream *stream, uint32_t number, int32_t announced,
                         int32_t clock) {
  atomic_store_explicit(&stream->owner, NULL, memory_order_relaxed);
  atomic_store_explicit(&stream->announced, announced, memory_order_relaxed);
  atomic_store_explicit(&stream->index, 0, memory_order_relaxed);
  atomic_store_explicit(&stream->backed, 0, memory_order_relaxed);
  atomic_store_explicit(&stream->dropped, 0, memory_order_relaxed);
  atomic_store_explicit(&stream->error, 0, memory_order_relaxed);
  atomic_store_explicit(&stream->exhausted, 0, memory_order_relaxed);
  stream->clock = clock;
  stream->limit = 0;
  stream->number = number;
  stream->seen = 0;
  stream->dropped_seen = 0;
  stream->old_count = 0;
  stream->current.end = 0;
  stream->ready.end = 0;
  stream->file.descriptor = -1;
}

/* Make the stream with the next number; the run_lock is held. */
static int add_stream(tsn_channel *channel, int32_t announced) {
  uint32_t number = atomic_load_explicit(&channel->streams, memory_order_relaxed);
  _Atomic(tsn_stream *) *block = &channel->block[number / TSN_STREAM_BLOCK];
  if (!atomic_load_explicit(block, memory_order_relaxed)) {
    tsn_stream *made = tsn_channel_map(TSN_STREAM_BLOCK * sizeof *made);
    if (!made) return ENOMEM;
    atomic_store_explicit(block, made, memory_order_release);
  }
  tsn_stream *stream = tsn_stream_at(channel, number);
  reset_stream(stream, number, announced, channel->clock);
  int error = tsn_storage_create(channel, stream);
  if (error) return error;
  tsn_vital_add(channel, number, announced);
  atomic_store_explicit(&stream->open, 1, memory_order_release);
  atomic_store_explicit(&channel->streams, number + 1, memory_order_release);
  return 0;
}

/* The first loss is in the header at once, later ones when it is written again. */
static void note_lost(tsn_channel *channel, int error) {
  channel->header.lost = atomic_fetch_add(&channel->lost, 1) + 1;
  if (channel->header.error) return;
  channel->header.error = error ? error : EOVERFLOW;
  (void)write_run_file(channel);
}

tsanom_status tsn_channel_add_stream(tsn_channel *channel, int32_t announced) {
  tsanom_status status = TSANOM_OK;
  int error = 0;
  tsn_guard guard;
  tsn_channel_lock(channel, &guard);
  uint32_t streams = atomic_load_explicit(&channel->streams, memory_order_relaxed);
  if (atomic_load_explicit(&channel->state, memory_order_relaxed) != TSN_RECORDING) {
    status = TSANOM_E_STATE;
  } else if (streams == TSANOM_RECORD_STREAMS_MAX) {
    status = TSANOM_E_OVERFLOW;
  } else if ((error = add_stream(channel, announced)) != 0) {
    status = TSANOM_E_IO;
  } else {
    channel->header.streams = streams + 1;
    (void)write_run_file(channel);
  }
  atomic_store_explicit(&channel->refusal, status, memory_order_relaxed);
  if (status < 0 && status != TSANOM_E_STATE) note_lost(channel, error);
  tsn_channel_unlock(channel, &guard);
  return status;
}

/* Create streams up to this number of announced threads, as long as there are no others. */
static void announce_threads(tsn_channel *channel, int32_t threads) {
  tsn_guard guard;
  tsn_channel_lock(channel, &guard);
  tsn_run_header *header = &channel->header;
  bool records =
      atomic_load_explicit(&channel->state, memory_order_relaxed) == TSN_RECORDING &&
      header->streams == (uint32_t)header->announced;
  while (records && header->announced < threads &&
         add_stream(channel, header->announced) == 0) {
    header->streams = (uint32_t)++header->announced;
  }
  if (records) (void)write_run_file(channel);
  tsn_channel_unlock(channel, &guard);
}

/* The holder of the lock writes the header itself, or waits for the caller's beat. */
void tsn_channel_calibrate(tsn_channel *channel) {
  tsn_guard guard;
  tsn_guard_enter(&guard);
  if (pthread_mutex_trylock(&channel->run_lock) == 0) {
    channel->header.latest = take_moment(channel->clock);
    (void)write_run_file(channel);
    pthread_mutex_unlock(&channel->run_lock);
  }
  tsn_guard_leave(&guard);
}

static void remove_all(tsn_channel *channel) {
  uint32_t streams = atomic_load_explicit(&channel->streams, memory_order_relaxed);
  tsn_vital_remove(channel);
  tsn_storage_remove_file(channel, &channel->run, TSN_RUN_FILE);
  /* The first stream last: it identifies the directory. */
  while (streams) tsn_storage_remove(channel, tsn_stream_at(channel, --streams));
}

/* The rate of the clock is known to about 1e-4 from the start; each later calibration
 * improves it. */
static void first_calibration(tsn_channel *channel) {
  enum { SPAN = 500000 };
  uint64_t past = tsn_clock_monotonic() - channel->header.first.nanoseconds;
  if (past < SPAN) sleep_ns((long)(SPAN - past));
  channel->header.latest = take_moment(channel->clock);
}

static tsanom_status reject_file(const tsn_channel *channel, const char *name, int error,
                                 const tsanom_exec *exec) {
  char path[PATH_MAX + TSN_FILE_NAME];
  (void)snprintf(path, sizeof path, "%s/%s", channel->path, name);
  return tsn_reject_path(exec, "create", path, error);
}

/* Create the files of the run in channel->path, which exists. */
static tsanom_status create_files(tsn_channel *channel, int32_t threads,
                                  const tsn_channel_options *options,
                                  const tsanom_exec *exec) {
  char name[TSN_FILE_NAME] = TSN_RUN_FILE;
  if (tsn_vital_prepare(channel, options) != 0) {
    return tsn_reject_text(exec, TSANOM_E_MEMORY, "record", TSANOM_NONE,
                           "the system has no memory for vital signs");
  }
  atomic_store_explicit(&channel->streams, 0, memory_order_relaxed);
  atomic_store_explicit(&channel->lost, 0, memory_order_relaxed);
  atomic_store_explicit(&channel->refusal, 0, memory_order_relaxed);
  describe_run(channel, threads, options);
  channel->header.latest = channel->header.first;
  channel->header.latest.ticks++;
  channel->header.latest.nanoseconds++;
  int error = create_run_file(channel);
  if (error) {
    tsn_file_close(&channel->vital.memory);
    return reject_file(channel, name, error, exec);
  }
  for (int32_t i = 0; i < threads && !error; i++) {
    error = add_stream(channel, i);
    if (error) (void)snprintf(name, sizeof name, TSN_STREAM_FILE, (uint32_t)i);
  }
  if (!error) {
    error = tsn_vital_create(channel);
    if (error) (void)snprintf(name, sizeof name, TSN_VITAL_FILE);
  }
  if (!error) {
    first_calibration(channel);
    error = write_run_file(channel);
  }
  if (!error) return TSANOM_OK;
  remove_all(channel);
  return reject_file(channel, name, error, exec);
}

static tsanom_status start_run(tsn_channel *channel, const char *path, int32_t threads,
                               const tsn_channel_options *options,
                               const tsanom_exec *exec) {
  bool made = mkdir(path, 0777) == 0;
  if (!made && errno != EEXIST) return tsn_reject_path(exec, "create", path, errno);
  struct stat facts;
  if (options->is_inner && lstat(path, &facts) == 0 && S_ISLNK(facts.st_mode)) {
    return tsn_reject_path(exec, "open", path, ELOOP);
  }
  channel->clock = options->clock;
  channel->stays_open = options->helper == TSANOM_RECORD_HELPER_THREAD;
  tsanom_status status = TSANOM_OK;
  int error = realpath(path, channel->path) ? open_directory(channel) : errno;
  if (error) {
    status = tsn_reject_path(exec, "open", path, error);
  } else if ((status = create_files(channel, threads, options, exec)) < 0) {
    close_files(channel);
  }
  if (status < 0) {
    if (made) (void)rmdir(path);
    return status;
  }
  if (options->helper == TSANOM_RECORD_HELPER_THREAD) tsn_grower_start(channel);
  tsn_vital_start(channel, options->helper);
  return TSANOM_OK;
}

/* Begin a run in a slot. After a failure the files that it created are gone again. */
static tsanom_status open_run(uint32_t slot, const char *path, int32_t threads,
                              const tsn_channel_options *options,
                              const tsanom_exec *exec) {
  tsn_channel *channel = get_channel(slot);
  if (!channel) {
    return tsn_reject_text(exec, TSANOM_E_MEMORY, "record", TSANOM_NONE,
                           "the system has no memory for a channel");
  }
  int32_t idle = TSN_IDLE;
  if (!atomic_compare_exchange_strong(&channel->state, &idle, TSN_CHANGING)) {
    return tsn_reject_text(exec, TSANOM_E_STATE, "directory", TSANOM_NONE,
                           "the process records a run already; finish it first");
  }
  tsn_guard guard;
  tsn_guard_enter(&guard);
  tsanom_status status = start_run(channel, path, threads, options, exec);
  tsn_guard_leave(&guard);
  atomic_store_explicit(&channel->state, status < 0 ? TSN_IDLE : TSN_RECORDING,
                        memory_order_release);
  return status;
}

/* Revoke the ownership of all streams and wait for the beats in progress; after this no
 * thread writes to a stream. A beat stores its state and then loads the owner, without
 * a fence between; the pause stands for it, for no processor holds a store back
 * for that long. A thread that was stopped for good in the middle of a beat (by a
 * debugger, or cancelled) must not hang the program: false. The run_lock, which is
 * held, keeps threads from ending before their cache was read. */
static bool close_streams(tsn_channel *channel, uint32_t streams, bool last) {
  enum { MOST_WAITS = 10000, PAUSE = 100000 };
  int waits = 0;
  for (uint32_t i = 0; i < streams; i++) {
    tsn_stream *stream = tsn_stream_at(channel, i);
    atomic_store(&stream->open, 0);
    stream->last_owner = atomic_exchange(&stream->owner, NULL);
  }
  sleep_ns(PAUSE);
  for (uint32_t i = 0; i < streams; i++) {
    tsn_stream *stream = tsn_stream_at(channel, i);
    tsn_thread_cache *owner = stream->last_owner;
    stream->is_interrupted = tsn_beat_is_interrupted(owner);
    if (stream->is_interrupted && last) continue;
    while (owner && (atomic_load_explicit(&owner->state, memory_order_acquire) &
                     TSN_STATES) == TSN_IN_BEAT) {
      if (stream->is_interrupted || ++waits > MOST_WAITS) return false;
      sleep_ns(PAUSE);
    }
  }
  return true;
}

/* Finish each stream, whatever happened to the others. */
static int finish_streams(tsn_channel *channel, uint32_t streams, uint64_t *dropped) {
  int first_error = 0;
  tsn_stream *first = tsn_stream_at(channel, 0);
  channel->header.lost = atomic_load(&channel->lost);
  *dropped += channel->header.lost;
  for (uint32_t i = 0; i < streams; i++) {
    tsn_stream *stream = tsn_stream_at(channel, i);
    *dropped += atomic_load_explicit(&stream->dropped, memory_order_relaxed);
    /* The first stream last: it identifies the directory. */
    int error = i ? tsn_storage_finish(channel, stream) : 0;
    if (!first_error) first_error = error;
  }
  int error = tsn_storage_finish(channel, first);
  return first_error ? first_error : error;
}

static tsanom_status finish(tsn_channel *channel, bool last) {
  tsn_helper_stop(&channel->grower);
  tsn_vital_finish(channel);
  pthread_mutex_lock(&channel->run_lock);
  uint32_t streams = atomic_load_explicit(&channel->streams, memory_order_relaxed);
  uint64_t dropped = 0;
  bool closed = close_streams(channel, streams, last);
  int error = closed ? finish_streams(channel, streams, &dropped) : EBUSY;
  channel->header.dropped = dropped;
  channel->header.latest = take_moment(channel->clock);
  channel->header.used = used_by(RUSAGE_SELF);
  channel->header.children = used_by(RUSAGE_CHILDREN) - channel->header.children;
  if (!error) channel->header.state = TSN_FINISHED;
  int run_error = write_run_file(channel);
  if (closed) close_files(channel);
  pthread_mutex_unlock(&channel->run_lock);
  atomic_store_explicit(&channel->state, TSN_IDLE, memory_order_release);
  if (error || run_error) return TSANOM_E_IO;
  return dropped ? TSANOM_PARTIAL : TSANOM_OK;
}

/* The channel of a run that is recorded, which the caller changes; NULL: there is none. */
static tsn_channel *change_run(uint32_t slot) {
  tsn_channel *channel = tsn_channel_at(slot);
  int32_t recording = TSN_RECORDING;
  bool changes = channel && atomic_compare_exchange_strong(&channel->state, &recording,
                                                           TSN_CHANGING);
  return changes ? channel : NULL;
}

/* Waits about 1 ms, and at most about 1 s more for beats of other threads. A beat that a
 * handler in this thread has interrupted never ends meanwhile: if the thread will not return
 * to it (`last`, in exit()), its stream is finished as it is, else the run stays unfinished. */
static tsanom_status finish_run(uint32_t slot, bool last) {
  tsn_channel *channel = change_run(slot);
  tsn_guard guard;
  if (!channel) return TSANOM_E_STATE;
  tsn_guard_enter(&guard);
  tsanom_status status = finish(channel, last);
  tsn_guard_leave(&guard);
  return status;
}

/* Remove the files of a run in which no thread can have beaten yet: that of an object whose
 * second channel could not be created. */
static void abandon_run(uint32_t slot) {
  tsn_channel *channel = change_run(slot);
  if (!channel) return;
  tsn_helper_stop(&channel->grower);
  remove_all(channel);
  close_files(channel);
  atomic_store_explicit(&channel->state, TSN_IDLE, memory_order_release);
}

/* ---- the object */

enum { HEARTBEATS = 0, REGIONS, KINDS };

struct tsanom_record {
  tsn_object owner;
  uint32_t slot[KINDS]; /* TSN_NO_SLOT: no such channel */
};

static const tsanom_record_options defaults = {.struct_size = sizeof defaults,
                                               .channels = TSANOM_RECORD_HEARTBEATS};
static const tsn_versioned options_type = {
    sizeof defaults, offsetof(tsanom_record_options, vital_most), &defaults};

tsanom_status tsanom_record_options_init(tsanom_record_options *options,
                                         size_t struct_size) {
  return tsn_versioned_init(&options_type, options, struct_size);
}

static tsanom_status read_options(const tsanom_record_options *options,
                                  const tsanom_exec *exec, tsanom_record_options *own) {
  enum { ALL = TSANOM_RECORD_HEARTBEATS | TSANOM_RECORD_REGIONS };
  tsanom_status status = tsn_struct_read(exec, &options_type, own, options, "options");
  if (status < 0) return status;
  status = tsn_require_int(exec, TSANOM_E_OPTION, "options.channels", own->channels,
                           TSANOM_RECORD_HEARTBEATS, ALL);
  if (status < 0) return status;
  return tsn_require_int(exec, TSANOM_E_OPTION, "options.reserved0", own->reserved0, 0,
                         0);
}

/* What a run is started with, and the object that layout() finds. */
typedef struct {
  tsanom_record *object;
  const char *directory;
  tsanom_record **record;
  const tsanom_exec *exec;
} beginning;

static void layout(tsn_arena *arena, void *context) {
  beginning *b = context;
  b->object = tsn_arena_take(arena, 1, sizeof *b->object);
}

static tsanom_status check_pointers(void *context) {
  const beginning *b = context;
  tsanom_status status = tsn_require(b->exec, b->record, "record");
  return status < 0 ? status : tsn_require(b->exec, b->directory, "directory");
}

tsanom_status tsanom_record_size(const tsanom_record_options *options, size_t *bytes) {
  tsanom_record_options own;
  beginning b;
  if (!bytes) return TSANOM_E_NULL;
  tsanom_status status = read_options(options, NULL, &own);
  return status < 0 ? status : tsn_layout_bytes(layout, &b, bytes);
}

/* Open a channel in a slot of its own. */
static tsanom_status open_channel(const char *directory, int32_t threads,
                                  const tsn_channel_options *options,
                                  const tsanom_exec *exec, uint32_t *slot) {
  uint32_t own = TSN_NO_SLOT;
  tsanom_status status = reserve_slot(exec, &own);
  if (status < 0) return status;
  status = open_run(own, directory, threads, options, exec);
  if (status < 0) {
    release_slot(own);
  } else {
    *slot = own;
  }
  return status;
}

static tsanom_status finish_channels(const tsanom_record *record, bool last) {
  tsanom_status worst = TSANOM_OK;
  for (int kind = KINDS - 1; kind >= 0; kind--) {
    if (record->slot[kind] == TSN_NO_SLOT) continue;
    tsanom_status status = finish_run(record->slot[kind], last);
    if (worst >= 0 && status != TSANOM_OK) worst = status;
  }
  return worst;
}

static void release_channels(tsanom_record *record) {
  for (int kind = 0; kind < KINDS; kind++) {
    release_slot(record->slot[kind]);
    record->slot[kind] = TSN_NO_SLOT;
  }
}

/* The directory of the events of a run. Returns 0 or an errno. */
static int name_events(const char *directory, char inner[PATH_MAX]) {
  int length = snprintf(inner, PATH_MAX, "%s/" TSN_REGIONS_DIRECTORY, directory);
  return length < 0 || length >= PATH_MAX ? ENAMETOOLONG : 0;
}

/* Heartbeats first: their file decides which of several processes has the run. The first
 * channel has the vital signs, also of threads that have region events and no beats. */
static tsanom_status open_channels(tsanom_record *record, const char *directory,
                                   int32_t threads, int32_t channels,
                                   tsn_channel_options options, const tsanom_exec *exec) {
  char inner[PATH_MAX];
  tsanom_status status = TSANOM_OK;
  int error = name_events(directory, inner);
  if (error) return tsn_reject_path(exec, "create", directory, error);
  if (!(channels & TSANOM_RECORD_HEARTBEATS)) {
    if (mkdir(directory, 0777) != 0 && errno != EEXIST) {
      return tsn_reject_path(exec, "create", directory, errno);
    }
  } else {
    status = open_channel(directory, threads, &options, exec, &record->slot[HEARTBEATS]);
    options.vital_ms = TSANOM_RECORD_VITAL_OFF;
    if (status >= 0)
      options.first = tsn_channel_at(record->slot[HEARTBEATS])->header.first;
  }
  if (status >= 0 && channels & TSANOM_RECORD_REGIONS) {
    options.is_inner = true;
    status = open_channel(inner, threads, &options, exec, &record->slot[REGIONS]);
  }
  if (status >= 0 && channels == (TSANOM_RECORD_HEARTBEATS | TSANOM_RECORD_REGIONS)) {
    /* Announced streams of both have the same numbers. */
    atomic_store(&tsn_channel_at(record->slot[REGIONS])->vital.entered,
                 atomic_load(&tsn_channel_at(record->slot[HEARTBEATS])->vital.board));
  }
  return status;
}

/* Check the arguments of a run; choose its clock. */
static tsanom_status run_options(int32_t threads, const tsanom_record_options *options,
                                 const tsanom_exec *exec, int32_t *channels,
                                 tsn_channel_options *how) {
  tsanom_record_options own;
  tsanom_status status = read_options(options, exec, &own);
  if (status < 0) return status;
  const struct {
    const char *name;
    int32_t value, least, most;
  } number[] = {{"threads", threads, 1, TSANOM_RECORD_STREAMS_MAX},
                {"options.clock", own.clock, TSANOM_RECORD_CLOCK_AUTO,
                 TSANOM_RECORD_CLOCK_MONOTONIC},
                {"options.helper", own.helper, TSANOM_RECORD_HELPER_THREAD,
                 TSANOM_RECORD_HELPER_NONE},
                {"options.vital_ms", own.vital_ms, TSANOM_RECORD_VITAL_OFF, INT32_MAX},
                {"options.vital_most", own.vital_most, 0, INT32_MAX}};
  for (size_t i = 0; status == TSANOM_OK && i < sizeof number / sizeof *number; i++) {
    tsanom_status wrong = i == 0 && threads < 1 ? TSANOM_E_COUNT : TSANOM_E_OPTION;
    status = tsn_require_int(exec, wrong, number[i].name, number[i].value,
                             number[i].least, number[i].most);
  }
  if (status < 0) return status;
  *channels = own.channels;
  *how = (tsn_channel_options){.clock = choose_clock(own.clock),
                               .helper = own.helper,
                               .vital_ms = own.vital_ms,
                               .vital_most = own.vital_most};
  if (how->clock != TSANOM_RECORD_CLOCK_AUTO) return TSANOM_OK;
  return tsn_reject_is(exec, TSANOM_E_OPTION, "options.clock", TSANOM_NONE,
                       "%d; this machine does not have the time-stamp counter",
                       TSANOM_RECORD_CLOCK_TSC);
}

static tsanom_status start(void *memory, size_t bytes, int32_t threads,
                           const tsanom_record_options *options, beginning b) {
  tsn_channel_options how;
  int32_t channels;
  tsn_object owner;
  tsanom_status status = run_options(threads, options, b.exec, &channels, &how);
  if (status < 0) return status;
  if ((status = tsn_object_place(b.exec, layout, check_pointers, &b, memory, bytes,
                                 &owner)) < 0)
    return status;
  tsanom_record *r = b.object;
  *r = (tsanom_record){.owner = owner, .slot = {TSN_NO_SLOT, TSN_NO_SLOT}};
  bool made = mkdir(b.directory, 0777) == 0;
  status = open_channels(r, b.directory, threads, channels, how, b.exec);
  if (status < 0) {
    for (int kind = 0; kind < KINDS; kind++) abandon_run(r->slot[kind]);
    release_channels(r);
    if (made) (void)rmdir(b.directory);
    tsn_object_release(&owner);
    return status;
  }
  *b.record = r;
  return TSANOM_OK;
}

tsanom_status tsanom_record_init(void *memory, size_t bytes, const char *directory,
                                 int32_t threads, const tsanom_record_options *options,
                                 const tsanom_exec *exec, tsanom_record **record) {
  tsanom_exec own;
  tsanom_status status = tsn_exec_read_base(&own, exec);
  if (status < 0) return status;
  if ((status = tsn_require(&own, memory, "memory")) < 0) return status;
  beginning b = {.directory = directory, .record = record, .exec = &own};
  return start(memory, bytes, threads, options, b);
}

tsanom_status tsanom_record_create(const char *directory, int32_t threads,
                                   const tsanom_record_options *options,
                                   const tsanom_exec *exec, tsanom_record **record) {
  tsanom_exec own;
  tsanom_status status = tsn_exec_read_base(&own, exec);
  if (status < 0) return status;
  beginning b = {.directory = directory, .record = record, .exec = &own};
  return start(NULL, 0, threads, options, b);
}

tsanom_status tsanom_record_beat(const tsanom_record *record, int32_t thread,
                                 uint32_t tag) {
  return record ? tsn_beat(record->slot[HEARTBEATS], thread, tag) : TSANOM_E_NULL;
}

void tsn_record_announce(const tsanom_record *record, int32_t threads) {
  for (int kind = 0; kind < KINDS; kind++) {
    tsn_channel *channel = tsn_channel_at(record->slot[kind]);
    if (channel) announce_threads(channel, threads);
  }
}

void tsn_record_enter(const tsanom_record *record, int32_t thread) {
  tsn_beat_enter(record->slot[HEARTBEATS], thread);
}

tsanom_status tsanom_record_region(const tsanom_record *record, int32_t thread,
                                   uint32_t event) {
  return record ? tsn_beat(record->slot[REGIONS], thread, event) : TSANOM_E_NULL;
}

bool tsn_record_take_back(const tsanom_record *record, int32_t thread, uint32_t event,
                          uint64_t age) {
  return tsn_beat_take_back(record->slot[REGIONS], thread, event, age);
}

int32_t tsn_record_clock(const tsanom_record *record, tsn_moment *first) {
  const tsn_channel *channel = tsn_channel_at(record->slot[REGIONS]);
  *first = channel->header.first;
  return channel->clock;
}

static tsn_channel *events_of(const tsanom_record *record) {
  return tsn_channel_at(record->slot[REGIONS]);
}

void tsn_record_set_cpu_times(const tsanom_record *record, uint32_t which) {
  tsn_channel *channel = events_of(record);
  tsn_guard guard;
  tsn_channel_lock(channel, &guard);
  channel->header.cpu_times = which;
  (void)write_run_file(channel);
  tsn_channel_unlock(channel, &guard);
}

void tsn_record_set_opener(const tsanom_record *record, uint32_t opener) {
  for (int kind = 0; kind < KINDS; kind++) {
    tsn_channel *channel = tsn_channel_at(record->slot[kind]);
    tsn_guard guard;
    if (!channel) continue;
    tsn_channel_lock(channel, &guard);
    channel->header.opener = opener;
    (void)write_run_file(channel);
    tsn_channel_unlock(channel, &guard);
  }
}

int tsn_record_create_file(const tsanom_record *record, tsn_file *file,
                           const char *name) {
  return tsn_storage_create_file(events_of(record), file, name);
}

int tsn_record_use_file(const tsanom_record *record, tsn_file *file, const char *name) {
  return tsn_storage_use_file(events_of(record), file, name);
}

void tsn_record_settle(const tsanom_record *record, tsn_file *file) {
  tsn_storage_settle(events_of(record), file);
}

int tsn_record_move(const tsanom_record *record, const char *directory) {
  tsn_channel *beats = tsn_channel_at(record->slot[HEARTBEATS]),
              *events = events_of(record);
  char inner[PATH_MAX];
  int error = name_events(directory, inner);
  if (error) return error;
  tsn_guard guard;
  tsn_channel_lock(beats, &guard);
  error = tsn_storage_move(beats, directory);
  if (!error) {
    pthread_mutex_lock(&events->directory_lock);
    (void)snprintf(events->path, sizeof events->path, "%s", inner);
    pthread_mutex_unlock(&events->directory_lock);
  }
  tsn_channel_unlock(beats, &guard);
  return error;
}

tsn_team_thread *tsn_record_team(const tsanom_record *record, uint32_t thread) {
  tsn_channel *channel = events_of(record);
  tsn_vital_board *board = channel ? atomic_load(&channel->vital.entered) : NULL;
  return board && thread < TSN_TEAM_MOST ? &board->team[thread] : NULL;
}

tsanom_status tsanom_record_set_exit(const tsanom_record *record, int32_t status) {
  if (!record) return TSANOM_E_NULL;
  if (status < 0 || status >= 2 * TSANOM_EXIT_INSIDE) {
    return TSANOM_E_VALUE;
  }
  for (int kind = 0; kind < KINDS; kind++) {
    tsn_channel *channel = tsn_channel_at(record->slot[kind]);
    if (channel) channel->vital.exit = status;
  }
  return TSANOM_OK;
}

tsanom_status tsanom_record_finish(tsanom_record *record) {
  tsn_beat_end_left(__builtin_frame_address(0));
  return record ? finish_channels(record, false) : TSANOM_E_NULL;
}

tsanom_status tsn_record_end(const tsanom_record *record) {
  return finish_channels(record, true);
}

void tsanom_record_destroy(tsanom_record *record) {
  if (!record) return;
  tsn_beat_end_left(__builtin_frame_address(0));
  (void)finish_channels(record, false);
  release_channels(record);
  tsn_object owner = record->owner;
  tsn_object_release(&owner);
}

/* ---- the default instance
 *
 * The default instance: heartbeats of the process, in the first slot. Its beats are in
 * beat.c.
 *
 * The program and the libraries that it uses share it, so that one process has one run
 * without passing a handle around. tsanom_record objects use the other slots. */

tsanom_status tsanom_heartbeat_init(const char *directory, int32_t threads,
                                    const tsanom_record_options *options,
                                    const tsanom_exec *exec) {
  tsanom_exec own;
  tsn_channel_options channel;
  int32_t channels;
  tsanom_status status = tsn_exec_read_base(&own, exec);
  if (status < 0) return status;
  status = run_options(threads, options, &own, &channels, &channel);
  if (status < 0) return status;
  status = tsn_require_int(&own, TSANOM_E_OPTION, "options.channels", channels,
                           TSANOM_RECORD_HEARTBEATS, TSANOM_RECORD_HEARTBEATS);
  if (status < 0) return status;
  if ((status = tsn_require(&own, directory, "directory")) < 0) return status;
  return open_run(TSN_DEFAULT_SLOT, directory, threads, &channel, &own);
}

tsanom_status tsanom_heartbeat_finish(void) {
  tsn_beat_end_left(__builtin_frame_address(0));
  return finish_run(TSN_DEFAULT_SLOT, false);
}
