/* SPDX-License-Identifier: BSD-3-Clause */
/* The files of a run that is being recorded: creation, growth, mapping, and the end.
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
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/fault.h"
#include "record/channel.h"

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

int tsn_storage_open(tsn_channel *channel) {
  return tsn_file_open(&channel->directory, AT_FDCWD, channel->path,
                       O_RDONLY | O_DIRECTORY);
}

void tsn_storage_close(tsn_channel *channel) {
  tsn_file_close(&channel->run);
  tsn_file_close(&channel->directory);
}

/* Every use of a file ends here. */
static void settle(tsn_channel *channel, tsn_file *file) {
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
static int create_file(tsn_channel *channel, tsn_file *file, const char *name) {
  pthread_mutex_lock(&channel->directory_lock);
  int error = find_directory(channel);
  if (!error) {
    error = tsn_file_open(file, channel->directory.descriptor, name,
                          O_RDWR | O_CREAT | O_EXCL);
  }
  leave_directory(channel);
  return error;
}

/* Make sure that the descriptor is that of the file; every system call on it comes after
 * this. */
static int use_file(tsn_channel *channel, tsn_file *file, const char *name) {
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
  return use_file(channel, &stream->file, name);
}

/* Remove a file that this run created, and no other that has its name now. */
static void remove_file(tsn_channel *channel, tsn_file *file, const char *name) {
  if (use_file(channel, file, name) == 0) {
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

int tsn_storage_write_header(tsn_channel *channel, tsn_stream *stream) {
  int error = use_stream(channel, stream);
  uint64_t backed = atomic_load_explicit(&stream->backed, memory_order_relaxed);
  if (!error) error = write_header(channel, stream, TSN_RUNNING, backed);
  settle(channel, &stream->file);
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

int tsn_storage_back(tsn_channel *channel, tsn_stream *stream, uint64_t count) {
  int error = back(channel, stream, count);
  settle(channel, &stream->file);
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

int tsn_storage_map(tsn_channel *channel, tsn_stream *stream, uint64_t first,
                    tsn_window *window) {
  int error = map(channel, stream, first, window);
  settle(channel, &stream->file);
  return error;
}

/* One system call for all pages: faults one by one would interrupt the beats. It is
 * advice: before Linux 5.14 it fails, and the faults come one by one. */
void tsn_storage_populate(const tsn_window *window, uint64_t first, uint64_t end) {
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

void tsn_storage_unmap(tsn_window *window) {
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
  int error = create_file(channel, &stream->file, name);
  if (error) return error;
  error = back(channel, stream, TSN_FIRST_STEP);
  if (!error) error = map(channel, stream, 0, &stream->current);
  if (error) {
    tsn_storage_remove(channel, stream);
    return error;
  }
  settle(channel, &stream->file);
  tsn_storage_populate(&stream->current, 0, TSN_FIRST_STEP);
  return 0;
}

/* No thread owns the stream, and the grower has ended. */
static void unmap_all(tsn_stream *stream) {
  tsn_storage_unmap(&stream->current);
  tsn_storage_unmap(&stream->ready);
  while (stream->old_count) tsn_storage_unmap(&stream->old[--stream->old_count]);
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
  remove_file(channel, &stream->file, name);
  unmap_all(stream);
}

/* The caller holds run_lock, which guards channel->header. */
static int write_run(tsn_channel *channel) {
  tsn_run_header *header = &channel->header;
  header->checksum = tsn_checksum(header, offsetof(tsn_run_header, checksum));
  return tsn_file_write(&channel->run, header, sizeof *header, 0);
}

/* The space is reserved before the header is written: later rewrites of these 256 bytes
 * need no more. */
int tsn_storage_create_run(tsn_channel *channel) {
  int error = create_file(channel, &channel->run, TSN_RUN_FILE);
  if (error) return error;
  error = tsn_file_extend(&channel->run, 0, sizeof channel->header);
  if (!error) error = write_run(channel);
  if (error) remove_file(channel, &channel->run, TSN_RUN_FILE);
  settle(channel, &channel->run);
  return error;
}

int tsn_storage_write_run(tsn_channel *channel) {
  int error = use_file(channel, &channel->run, TSN_RUN_FILE);
  if (!error) error = write_run(channel);
  settle(channel, &channel->run);
  return error;
}

void tsn_storage_remove_run(tsn_channel *channel) {
  remove_file(channel, &channel->run, TSN_RUN_FILE);
}

int tsn_storage_create_vital(tsn_channel *channel) {
  int error = create_file(channel, &channel->vital.file, TSN_VITAL_FILE);
  if (!error) error = tsn_file_extend(&channel->vital.file, 0, TSN_VITAL_RECORD);
  return error;
}

int tsn_storage_create_other(tsn_channel *channel, tsn_file *file, const char *name) {
  return create_file(channel, file, name);
}

int tsn_storage_use_other(tsn_channel *channel, tsn_file *file, const char *name) {
  return use_file(channel, file, name);
}

void tsn_storage_settle(tsn_channel *channel, tsn_file *file) {
  settle(channel, file);
}

int tsn_storage_use_vital(tsn_channel *channel) {
  return use_file(channel, &channel->vital.file, TSN_VITAL_FILE);
}

void tsn_storage_remove_vital(tsn_channel *channel) {
  remove_file(channel, &channel->vital.file, TSN_VITAL_FILE);
}

tsanom_status tsn_reject_path(const tsanom_exec *exec, const char *verb, const char *path,
                              int error) {
  tsn_file_place place = {.file = path};
  const char *advice = error == EEXIST ? "; give a directory without a run" : "";
  return tsn_reject_file(exec, TSANOM_E_IO, &place, "cannot %s it: %s%s", verb,
                         tsn_error_text(error), advice);
}
