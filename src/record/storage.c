/* SPDX-License-Identifier: BSD-3-Clause */
/* The files of a run that is being recorded: creation, growth, mapping, and the end; the space
 * of a beat at the limit of its stream, and the thread that makes it ahead.
 *
 * A stream grows in this order, which is what makes it readable after a kill at any
 * point:
 *
 *   1. extend the file        killed here: zeros behind what the header promises; valid
 *   2. write the header       killed here: space that no beat has used; valid
 *   3. publish `backed`       from here on beats may use the space
 *
 * and ends in this one:
 *
 *   1. header: complete, count = index     killed here: zeros follow what the
 *                                          header says; valid
 *   2. truncate to `count` records
 *   3. the run's own header: finished      last, after all streams
 *
 * A header is written as a whole by one pwrite(), which SIGKILL does not cut in two.
 *
 * Files are created once, with O_EXCL, and kept open (see file.h). A lost descriptor is
 * replaced by opening the name below the directory, without following links, if that
 * leads to the same inode: the mapping of a stream keeps its inode from being reused.
 * Where it leads elsewhere the stream stops growing, and its beats are dropped.
 *
 * No function here reports to the program. An error stops the growth of one stream, or
 * rejects the run while it is being created. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/fault.h"
#include "record/channel.h"
#include "record/clock.h"
#include "record/guard.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

static void stream_name(uint32_t number, char name[TSN_FILE_NAME]) {
  (void)snprintf(name, TSN_FILE_NAME, TSN_STREAM_FILE, number);
}

/* Byte offset of a record; that of `count` is the length of a complete file. */
static off_t file_offset(uint64_t record) {
  return (off_t)(TSN_STREAM_HEADER + record * TSN_RECORD);
}

/* Every use of a file ends here. */
void tsn_storage_settle(tsn_channel *channel, tsn_file *file) {
  (void)tsn_file_settle(file, channel->stays_open);
}

/* Several threads may need the directory at the same time. Without a stream it cannot be
 * found again. */
static void leave_directory(tsn_channel *channel) {
  bool has_streams = atomic_load_explicit(&channel->streams, memory_order_relaxed) > 0;
  (void)tsn_file_settle(&channel->directory, channel->stays_open || !has_streams);
  pthread_mutex_unlock(&channel->directory_lock);
}

/* The program closed our descriptor of the directory. The one that now has its name is
 * ours if it holds the first stream, whose inode is mapped. The directory's own inode
 * number is no proof: nothing keeps it from being reused once the directory is deleted.
 * ESTALE: the name leads to another directory now. */
static int find_directory(tsn_channel *channel) {
  char name[TSN_FILE_NAME];
  if (tsn_file_is_ours(&channel->directory)) return 0;
  if (!atomic_load_explicit(&channel->streams, memory_order_relaxed)) return EBADF;
  tsn_file directory, first;
  int error = tsn_file_open(&directory, AT_FDCWD, channel->path, O_RDONLY | O_DIRECTORY);
  if (error) return error;
  stream_name(0, name);
  error = tsn_file_open(&first, directory.descriptor, name, O_RDWR);
  bool same = !error && tsn_file_is(&tsn_stream_at(channel, 0)->file, first.descriptor);
  tsn_file_close(&first);
  if (!same) {
    tsn_file_close(&directory);
    return error ? error : ESTALE;
  }
  channel->directory = directory;
  return 0;
}

/* Create a file that must not exist yet: O_EXCL decides between two processes that start
 * a run in the same directory at the same time. */
int tsn_storage_create_file(tsn_channel *channel, tsn_file *file, const char *name) {
  pthread_mutex_lock(&channel->directory_lock);
  int error = find_directory(channel);
  if (!error) {
    error = tsn_file_open(file, channel->directory.descriptor, name,
                          O_RDWR | O_CREAT | O_EXCL);
  }
  leave_directory(channel);
  return error;
}

/* The link of the run's own file is made by one process only: it decides whose the run is. */
int tsn_storage_move(tsn_channel *channel, const char *directory) {
  char name[TSN_FILE_NAME];
  tsn_file to;
  pthread_mutex_lock(&channel->directory_lock);
  int error = find_directory(channel), from = channel->directory.descriptor;
  if (!error) error = tsn_file_open(&to, AT_FDCWD, directory, O_RDONLY | O_DIRECTORY);
  if (!error && linkat(from, TSN_RUN_FILE, to.descriptor, TSN_RUN_FILE, 0) != 0) {
    error = errno;
    tsn_file_close(&to);
  }
  if (!error) {
    uint32_t streams = atomic_load_explicit(&channel->streams, memory_order_relaxed);
    for (uint32_t i = 0; i < streams; i++) {
      stream_name(i, name);
      (void)renameat(from, name, to.descriptor, name);
    }
    (void)renameat(from, TSN_VITAL_FILE, to.descriptor, TSN_VITAL_FILE);
    (void)renameat(from, TSN_REGIONS_DIRECTORY, to.descriptor, TSN_REGIONS_DIRECTORY);
    (void)unlinkat(from, TSN_RUN_FILE, 0);
    tsn_file_close(&channel->directory);
    channel->directory = to;
    (void)snprintf(channel->path, sizeof channel->path, "%s", directory);
  }
  leave_directory(channel);
  return error;
}

/* Make sure that the descriptor is that of the file; every system call on it comes after
 * this. */
int tsn_storage_use_file(tsn_channel *channel, tsn_file *file, const char *name) {
  tsn_file found;
  if (tsn_file_is_ours(file)) return 0;
  pthread_mutex_lock(&channel->directory_lock);
  int error = find_directory(channel);
  if (!error) {
    error = tsn_file_open(&found, channel->directory.descriptor, name, O_RDWR);
  }
  leave_directory(channel);
  if (error) return error;
  if (!tsn_file_is(file, found.descriptor)) {
    tsn_file_close(&found);
    return ESTALE;
  }
  *file = found;
  return 0;
}

static int use_stream(tsn_channel *channel, tsn_stream *stream) {
  char name[TSN_FILE_NAME];
  stream_name(stream->number, name);
  return tsn_storage_use_file(channel, &stream->file, name);
}

/* Remove a file that this run created, and no other that has its name now. */
void tsn_storage_remove_file(tsn_channel *channel, tsn_file *file, const char *name) {
  if (tsn_storage_use_file(channel, file, name) == 0) {
    pthread_mutex_lock(&channel->directory_lock);
    if (find_directory(channel) == 0) {
      (void)unlinkat(channel->directory.descriptor, name, 0);
    }
    leave_directory(channel);
  }
  tsn_file_close(file);
}

/* 128 bytes within one page: one pwrite() replaces them as a whole. */
static int write_header(tsn_channel *channel, tsn_stream *stream, uint32_t state,
                        uint64_t backed) {
  tsn_stream_header header = {
      .magic = TSN_STREAM_MAGIC,
      .version = TSN_FORMAT_VERSION,
      .bytes = TSN_STREAM_HEADER,
      .run_id = channel->header.run_id,
      .stream = stream->number,
      .announced = atomic_load_explicit(&stream->announced, memory_order_relaxed),
      .state = state,
      .error = atomic_load_explicit(&stream->error, memory_order_relaxed),
      .backed = backed,
      .dropped = atomic_load_explicit(&stream->dropped, memory_order_relaxed),
  };
  if (state == TSN_FINISHED) header.count = backed;
  header.checksum = tsn_checksum(&header, offsetof(tsn_stream_header, checksum));
  return tsn_file_write(&stream->file, &header, sizeof header, 0);
}

/* Write the stream's current header. */
static int write_running_header(tsn_channel *channel, tsn_stream *stream) {
  int error = use_stream(channel, stream);
  uint64_t backed = atomic_load_explicit(&stream->backed, memory_order_relaxed);
  if (!error) error = write_header(channel, stream, TSN_RUNNING, backed);
  tsn_storage_settle(channel, &stream->file);
  return error;
}

/* The caller holds grow_lock. The first call of a stream, with nothing backed, includes
 * the header's page. */
static int back(tsn_channel *channel, tsn_stream *stream, uint64_t count) {
  uint64_t before = atomic_load_explicit(&stream->backed, memory_order_relaxed);
  off_t begin = before ? file_offset(before) : 0;
  int error = use_stream(channel, stream);
  if (error) return error;
  /* Half as much after each failure, down to a page: smaller and smaller pieces use up a
   * disk that is nearly full, so that beats are dropped only when it is full. */
  error = tsn_file_extend(&stream->file, begin, file_offset(before + count));
  while (error && count > TSN_STREAM_HEADER / TSN_RECORD) {
    count /= 2;
    error = tsn_file_extend(&stream->file, begin, file_offset(before + count));
  }
  if (error) return error;
  /* The header first: no beat ever lies beyond what it promises. */
  error = write_header(channel, stream, TSN_RUNNING, before + count);
  if (!error) {
    atomic_store_explicit(&stream->backed, before + count, memory_order_release);
  }
  return error;
}

/* Back `count` more records, or fewer where the disk space ends before. Nonzero:
 * `backed` is unchanged. */
static int back_and_settle(tsn_channel *channel, tsn_stream *stream, uint64_t count) {
  int error = back(channel, stream, count);
  tsn_storage_settle(channel, &stream->file);
  return error;
}

/* Windows of a fixed size instead of one mapping that grows: mremap() could move the
 * mapping under a beat. Half as large after each failure. Of a limit of address space a
 * window takes a small part: the program, which maps the stacks of its threads later, needs
 * the rest. A forked child must not write into its parent's file, hence MADV_DONTFORK. */
static int map(tsn_channel *channel, tsn_stream *stream, uint64_t first,
               tsn_window *window) {
  int error = use_stream(channel, stream);
  if (error) return error;
  enum { SMALL_PART = 256, LEAST_PART = 64 };
  const uint64_t left = tsn_proc_address_space();
  error = ENOMEM;
  uint64_t count = first ? TSN_WINDOW : TSN_FIRST_WINDOW;
  while (count > TSN_LEAST_WINDOW && count * TSN_RECORD > left / SMALL_PART) count /= 2;
  if (!first && count * TSN_RECORD > left / LEAST_PART) count = 0;
  for (; count >= TSN_LEAST_WINDOW && error; count /= 2) {
    void *address = mmap(NULL, count * TSN_RECORD, PROT_READ | PROT_WRITE, MAP_SHARED,
                         stream->file.descriptor, file_offset(first));
    error = address == MAP_FAILED ? errno : 0;
    *window = (tsn_window){.address = address, .first = first, .end = first + count};
  }
  if (error) {
    window->end = 0;
    return error;
  }
  (void)madvise(window->address, (window->end - first) * TSN_RECORD, MADV_DONTFORK);
  return 0;
}

/* Map the window that begins at record `first`. It may reach beyond the file's end:
 * records there are not touched before they are backed. */
static int map_and_settle(tsn_channel *channel, tsn_stream *stream, uint64_t first,
                          tsn_window *window) {
  int error = map(channel, stream, first, window);
  tsn_storage_settle(channel, &stream->file);
  return error;
}

/* Fault in the pages of those of records [first, end) that are in the window. Only the
 * grower unmaps windows while it runs.
 *
 * One system call for all pages: faults one by one would interrupt the beats. It is
 * advice: before Linux 5.14 it fails, and the faults come one by one. */
static void populate(const tsn_window *window, uint64_t first, uint64_t end) {
  if (!window->end) return;
  if (first < window->first) first = window->first;
  if (end > window->end) end = window->end;
  if (first >= end) return;
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  size_t begin = (first - window->first) * TSN_RECORD;
  size_t length = (end - window->first) * TSN_RECORD - begin;
  length += begin % page;
  begin -= begin % page;
  (void)madvise(window->address + begin, length, MADV_POPULATE_WRITE);
}

static void unmap(tsn_window *window) {
  if (window->end) {
    (void)munmap(window->address, (window->end - window->first) * TSN_RECORD);
  }
  window->end = 0;
}

/* After a failure nothing is left: a file that the run's header does not count would
 * block the next attempt by its name. */
int tsn_storage_create(tsn_channel *channel, tsn_stream *stream) {
  char name[TSN_FILE_NAME];
  stream_name(stream->number, name);
  int error = tsn_storage_create_file(channel, &stream->file, name);
  if (error) return error;
  error = back(channel, stream, TSN_FIRST_STEP);
  if (!error) error = map(channel, stream, 0, &stream->current);
  if (error) {
    tsn_storage_remove(channel, stream);
    return error;
  }
  tsn_storage_settle(channel, &stream->file);
  populate(&stream->current, 0, TSN_FIRST_STEP);
  return 0;
}

/* No thread owns the stream, and the grower has ended. */
static void unmap_all(tsn_stream *stream) {
  unmap(&stream->current);
  unmap(&stream->ready);
  while (stream->old_count) unmap(&stream->old[--stream->old_count]);
}

int tsn_storage_finish(tsn_channel *channel, tsn_stream *stream) {
  /* Before the mapping goes, which identifies a file whose descriptor was lost. */
  int error = use_stream(channel, stream);
  if (!stream->is_interrupted) unmap_all(stream);
  if (error) return error;
  /* Truncate last: a file longer than its header says is whole, a shorter one is not. */
  uint64_t count = atomic_load_explicit(&stream->index, memory_order_relaxed);
  error = write_header(channel, stream, TSN_FINISHED, count);
  if (!error && ftruncate(stream->file.descriptor, file_offset(count)) != 0) {
    error = errno;
  }
  tsn_file_close(&stream->file);
  return error;
}

void tsn_storage_remove(tsn_channel *channel, tsn_stream *stream) {
  char name[TSN_FILE_NAME];
  stream_name(stream->number, name);
  tsn_storage_remove_file(channel, &stream->file, name);
  unmap_all(stream);
}

tsanom_status tsn_reject_path(const tsanom_exec *exec, const char *verb, const char *path,
                              int error) {
  tsn_file_place place = {.file = path};
  const char *advice = error == EEXIST ? "; give a directory without a run" : "";
  return tsn_reject_file(exec, TSANOM_E_IO, &place, "cannot %s it: %s%s", verb,
                         tsn_error_text(error), advice);
}

/* ---- space
 *
 * A beat at the limit of its stream: the next window, more records with disk space, or
 * none of either. */

/* The lock of a stream is one word instead of a mutex: all zeros is free, in a
 * forked child too, and it is held for one system call or a few by two threads at most. */
static void lock_stream(tsn_stream *stream) {
  while (atomic_exchange_explicit(&stream->grow_lock, 1, memory_order_acquire))
    sched_yield();
}

static void unlock_stream(tsn_stream *stream) {
  atomic_store_explicit(&stream->grow_lock, 0, memory_order_release);
}

/* Move to the next window, which the grower has mapped unless it is late. The grower may
 * be using the old one, and is left to unmap it. Without a grower the thread unmaps it
 * here. If nothing can be mapped, the current window stays, and the beat is dropped. */
static void change_window(tsn_channel *channel, tsn_stream *stream, uint64_t index) {
  tsn_guard guard;
  tsn_guard_enter(&guard);
  lock_stream(stream);
  if (!stream->ready.end) {
    tsn_note_error(&stream->error,
                   map_and_settle(channel, stream, index, &stream->ready));
  }
  while (stream->old_count == TSN_OLD_WINDOWS && channel->grower.runs) {
    unlock_stream(stream);
    sched_yield();
    lock_stream(stream);
  }
  if (stream->ready.end) {
    if (channel->grower.runs) {
      stream->old[stream->old_count++] = stream->current;
    } else {
      unmap(&stream->current);
    }
    stream->current = stream->ready;
    stream->ready.end = 0;
  }
  unlock_stream(stream);
  tsn_guard_leave(&guard);
}

/* Back records in the beating thread. The grower may have done so while this thread
 * waited for the lock; then `backed` has moved and nothing is left to do. Returns
 * `backed`. */
static uint64_t back_here(tsn_channel *channel, tsn_stream *stream, uint64_t index) {
  tsn_guard guard;
  tsn_guard_enter(&guard);
  lock_stream(stream);
  uint64_t backed = atomic_load_explicit(&stream->backed, memory_order_relaxed);
  if (backed == index) {
    int error = back_and_settle(channel, stream, TSN_GROW_STEP);
    tsn_note_error(&stream->error, error);
    atomic_store_explicit(&stream->exhausted, error != 0, memory_order_relaxed);
    backed = atomic_load_explicit(&stream->backed, memory_order_relaxed);
    /* All pages at once cost a fraction of one fault for each. */
    if (!channel->grower.runs) populate(&stream->current, index, backed);
  }
  unlock_stream(stream);
  tsn_guard_leave(&guard);
  return backed;
}

/* Where the beating thread calibrates the clock if no grower does: less and less often,
 * until it has to stop for disk space anyway. */
static uint64_t next_calibration(uint64_t index) {
  enum { FIRST = 64 };
  return index < FIRST ? FIRST : 4 * index;
}

/* Soon after the first failure, which may have been a passing one, then less and less often, at
 * powers of two and each 65536. So a full disk costs few system calls, and recording resumes when
 * space is freed. */
bool tsn_is_retry(uint64_t dropped) {
  return (dropped & (dropped - 1)) == 0 || dropped % TSN_GROW_STEP == 0;
}

/* The steps depend on each other in this order: the window first, because a limit beyond
 * its end could not be written; then `backed`, whose acquire sees the header that
 * promises the space; then origin and limit, which only this thread uses. */
bool tsn_raise_limit(tsn_channel *channel, tsn_stream *stream) {
  uint64_t index = atomic_load_explicit(&stream->index, memory_order_relaxed);
  if (index == stream->current.end) {
    change_window(channel, stream, index);
    if (index == stream->current.end) return false;
  }
  uint64_t backed = atomic_load_explicit(&stream->backed, memory_order_acquire);
  if (backed == index) {
    uint64_t dropped = atomic_load_explicit(&stream->dropped, memory_order_relaxed);
    bool retry = !channel->grower.runs && tsn_is_retry(dropped);
    if (atomic_load_explicit(&stream->exhausted, memory_order_relaxed) && !retry) {
      return false;
    }
    backed = back_here(channel, stream, index);
  }
  stream->origin =
      (uintptr_t)stream->current.address - stream->current.first * TSN_RECORD;
  stream->limit = backed < stream->current.end ? backed : stream->current.end;
  if (!channel->grower.runs) {
    if (index) tsn_channel_calibrate(channel);
    if (stream->limit > next_calibration(index)) stream->limit = next_calibration(index);
  }
  return stream->limit > index;
}

/* There is no space. The grower writes the count to the header; without one this thread
 * does, each time it asks for space again. So a run that is killed on a full disk still
 * says how many beats it lost, to within the drops since then. */
void tsn_drop_beat(tsn_channel *channel, tsn_stream *stream) {
  uint64_t dropped = atomic_fetch_add(&stream->dropped, 1);
  tsn_guard guard;
  if (channel->grower.runs || !tsn_is_retry(dropped)) return;
  tsn_guard_enter(&guard);
  lock_stream(stream);
  (void)write_running_header(channel, stream);
  unlock_stream(stream);
  tsn_guard_leave(&guard);
}

/* ---- the grower
 *
 * The grower: a thread that backs every stream ahead of its beats, so that the beating
 * threads need not. It visits the streams every 1 to 50 ms: more often while beats come
 * fast, less often otherwise.
 *
 *   backed - index  >=  LOOKAHEAD * (beats since the last visit)
 *
 * A visit costs the program about 20 us.
 *
 * Of one stream it does the following. It holds grow_lock for one system call or a few
 * at a time; pages are made and windows unmapped without it:
 *
 *   index ........ backed ......... index + ahead
 *                    └─ back, one step of 1 MiB at a time; make its pages
 *   current.end < backed      map the next window into `ready`, make its pages
 *   old[]                     unmap windows that the owner has left
 *   dropped                   write the header if the count has changed
 *
 * `ahead` is bounded below by what a stream is created with, so that a burst out of
 * quiet finds space, and above by a window, so that a fast stream does not reserve disk
 * space without end. The lock is released between the steps: a beat that comes to its
 * limit meanwhile waits for one step, not for all.
 *
 * The pause follows the demand: it is a quarter as long after a visit that found a
 * stream with less space left than it had used since the last one, twice as long
 * otherwise. A pause that is too long is not an error: the beating thread then backs
 * records itself.
 *
 * It also takes the pairs of ticks and nanoseconds from which a reader computes the
 * length of a tick, at first after 1/64 s, then at doubling intervals up to a second.
 *
 * The thread has all signals blocked, so that no handler of the program runs in it, and
 * a small stack. */

enum {
  SHORTEST_SLEEP = 1000000, /* ns */
  LONGEST_SLEEP = 50000000,
  CALIBRATE = 1000000000, /* ns between calibrations */
  LOOKAHEAD = 4,          /* visits */
  MOST_AHEAD = TSN_WINDOW /* records */
};

/* One step of backing; false when there is no space. */
static bool grow(tsn_channel *channel, tsn_stream *stream) {
  lock_stream(stream);
  uint64_t before = atomic_load_explicit(&stream->backed, memory_order_relaxed);
  int error = back_and_settle(channel, stream, TSN_GROW_STEP);
  uint64_t after = atomic_load_explicit(&stream->backed, memory_order_relaxed);
  tsn_window current = stream->current;
  tsn_note_error(&stream->error, error);
  atomic_store_explicit(&stream->exhausted, error != 0, memory_order_relaxed);
  unlock_stream(stream);
  populate(&current, before, after);
  return !error;
}

/* Map the next window once there are records for it, and unmap the old ones. */
static void move_windows(tsn_channel *channel, tsn_stream *stream) {
  tsn_window old[TSN_OLD_WINDOWS], ready = {.end = 0};
  lock_stream(stream);
  uint32_t count = stream->old_count;
  memcpy(old, stream->old, sizeof old);
  stream->old_count = 0;
  uint64_t backed = atomic_load_explicit(&stream->backed, memory_order_relaxed);
  if (backed > stream->current.end && !stream->ready.end &&
      map_and_settle(channel, stream, stream->current.end, &stream->ready) == 0) {
    ready = stream->ready;
  }
  unlock_stream(stream);
  populate(&ready, ready.first, backed);
  while (count) unmap(&old[--count]);
}

static void write_dropped(tsn_channel *channel, tsn_stream *stream) {
  uint64_t dropped = atomic_load_explicit(&stream->dropped, memory_order_relaxed);
  if (dropped == stream->dropped_seen) return;
  stream->dropped_seen = dropped;
  lock_stream(stream);
  (void)write_running_header(channel, stream);
  unlock_stream(stream);
}

/* Visit one stream; false when twice the beats since the last visit would have used up
 * what there was. */
static bool refresh(tsn_channel *channel, tsn_stream *stream) {
  uint64_t index = atomic_load_explicit(&stream->index, memory_order_relaxed);
  uint64_t used = index > stream->seen ? index - stream->seen : 0; /* or taken back */
  stream->seen = index;
  uint64_t ahead = used * LOOKAHEAD;
  if (ahead < TSN_FIRST_STEP) ahead = TSN_FIRST_STEP;
  if (ahead > MOST_AHEAD) ahead = MOST_AHEAD;
  uint64_t backed = atomic_load_explicit(&stream->backed, memory_order_relaxed);
  bool in_time = backed - index >= used;
  if (backed - index < ahead / 2) {
    while (backed < index + ahead && grow(channel, stream)) {
      backed = atomic_load_explicit(&stream->backed, memory_order_relaxed);
    }
  }
  move_windows(channel, stream);
  write_dropped(channel, stream);
  return in_time;
}

static void *refresh_all(void *argument) {
  tsn_channel *channel = argument;
  int64_t pause = SHORTEST_SLEEP;
  uint64_t next_calibration = tsn_clock_monotonic() + CALIBRATE / 64;
  uint64_t between = CALIBRATE / 64;
  while (tsn_helper_sleep(&channel->grower, pause)) {
    bool in_time = true;
    uint32_t streams = atomic_load_explicit(&channel->streams, memory_order_acquire);
    for (uint32_t i = 0; i < streams; i++) {
      in_time = refresh(channel, tsn_stream_at(channel, i)) && in_time;
    }
    pause = in_time ? pause * 2 : pause / 4;
    if (pause < SHORTEST_SLEEP) pause = SHORTEST_SLEEP;
    if (pause > LONGEST_SLEEP) pause = LONGEST_SLEEP;
    uint64_t now = tsn_clock_monotonic();
    if (now >= next_calibration) {
      tsn_channel_calibrate(channel);
      if (between < CALIBRATE) between *= 2;
      next_calibration = now + between;
    }
  }
  return NULL;
}

void tsn_grower_start(tsn_channel *channel) {
  tsn_helper_start(&channel->grower, refresh_all, channel);
}
