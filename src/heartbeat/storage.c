/* SPDX-License-Identifier: BSD-3-Clause */
/* The files of a run being written. No descriptor is kept between calls: a
 * program that closes all of its descriptors, as daemons do, and then opens
 * files of its own must not find us growing and cutting those. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "heartbeat/recorder.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

enum { PATH_ROOM = PATH_MAX + TSN_FILE_NAME };

static void stream_path(const tsn_recorder *recorder, const tsn_stream *stream,
                        char path[PATH_ROOM]) {
  (void)snprintf(path, PATH_ROOM, "%s/" TSN_STREAM_FILE, recorder->folder,
                 stream->number);
}

static void run_path(const tsn_recorder *recorder, char path[PATH_ROOM]) {
  (void)snprintf(path, PATH_ROOM, "%s/" TSN_RUN_FILE, recorder->folder);
}

static int open_stream(const tsn_recorder *recorder, const tsn_stream *stream,
                       int flags) {
  char path[PATH_ROOM];
  stream_path(recorder, stream, path);
  return open(path, O_RDWR | O_CLOEXEC | flags, 0666);
}

static off_t file_offset(uint64_t record) {
  return (off_t)(TSN_STREAM_HEADER + record * TSN_RECORD);
}

static int write_all(int file, const void *bytes, size_t count) {
  ssize_t written = pwrite(file, bytes, count, 0);
  return written == (ssize_t)count ? 0 : written < 0 ? errno : ENOSPC;
}

/* Give the file's first `bytes` disk space, so that writing to their mapping
 * cannot fail. Beyond RLIMIT_FSIZE the kernel would send SIGXFSZ. */
static int reserve(int file, off_t bytes) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
      (rlim_t)bytes > limit.rlim_cur) {
    return EFBIG;
  }
  int error;
  do error = posix_fallocate(file, 0, bytes);
  while (error == EINTR);
  return error;
}

/* Fill [begin, end), which has disk space, with zeros. The pages that this makes in the
 * page cache cost half of those that page faults make, since a page of many kilobytes is
 * made at once. Where it fails the faults are left to do it. */
static void make_pages(int file, off_t begin, off_t end) {
  enum { PIECE = 1 << 16 };
  static unsigned char zeros[PIECE];
  for (off_t next; begin < end; begin = next) {
    next = (begin | (PIECE - 1)) + 1;
    if (next > end) next = end;
    if (pwrite(file, zeros, (size_t)(next - begin), begin) != next - begin) return;
  }
}

static int write_header(int file, const tsn_recorder *recorder, tsn_stream *stream,
                        uint32_t state) {
  tsn_stream_header header = {
      .magic = TSN_STREAM_MAGIC,
      .version = TSN_FORMAT_VERSION,
      .bytes = TSN_STREAM_HEADER,
      .run_id = recorder->header.run_id,
      .stream = stream->number,
      .announced = atomic_load_explicit(&stream->announced, memory_order_relaxed),
      .state = state,
      .backed = atomic_load_explicit(&stream->backed, memory_order_relaxed),
      .dropped = atomic_load_explicit(&stream->dropped, memory_order_relaxed),
  };
  if (state == TSN_FINISHED) {
    header.count = atomic_load_explicit(&stream->index, memory_order_relaxed);
    header.backed = header.count;
  }
  header.checksum = tsn_checksum(&header, offsetof(tsn_stream_header, checksum));
  return write_all(file, &header, sizeof header);
}

int tsn_storage_write_header(tsn_recorder *recorder, tsn_stream *stream) {
  int file = open_stream(recorder, stream, 0);
  if (file < 0) return errno;
  int error = write_header(file, recorder, stream, TSN_RUNNING);
  close(file);
  return error;
}

int tsn_storage_back(tsn_recorder *recorder, tsn_stream *stream, uint64_t count) {
  int file = open_stream(recorder, stream, 0);
  if (file < 0) return errno;
  uint64_t before = atomic_load_explicit(&stream->backed, memory_order_relaxed);
  /* Ever smaller pieces use up a disk that is nearly full. */
  int error = reserve(file, file_offset(before + count));
  while (error && count > TSN_STREAM_HEADER / TSN_RECORD) {
    count /= 2;
    error = reserve(file, file_offset(before + count));
  }
  if (!error) {
    make_pages(file, file_offset(before), file_offset(before + count));
    /* The header first: no beat ever lies beyond what it promises. */
    atomic_store_explicit(&stream->backed, before + count, memory_order_relaxed);
    error = write_header(file, recorder, stream, TSN_RUNNING);
    atomic_store_explicit(&stream->backed, error ? before : before + count,
                          memory_order_release);
  }
  close(file);
  return error;
}

int tsn_storage_map(tsn_recorder *recorder, const tsn_stream *stream, uint64_t first,
                    tsn_window *window) {
  int file = open_stream(recorder, stream, 0);
  if (file < 0) return errno;
  int error = ENOMEM;
  for (uint64_t count = TSN_WINDOW; count >= TSN_GROW_STEP && error; count /= 2) {
    void *address = mmap(NULL, count * TSN_RECORD, PROT_READ | PROT_WRITE, MAP_SHARED,
                         file, file_offset(first));
    error = address == MAP_FAILED ? errno : 0;
    *window = (tsn_window){.address = address, .first = first, .end = first + count};
  }
  close(file);
  if (error) {
    window->end = 0;
    return error;
  }
  (void)madvise(window->address, (window->end - first) * TSN_RECORD, MADV_DONTFORK);
  return 0;
}

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

int tsn_storage_create(tsn_recorder *recorder, tsn_stream *stream) {
  int file = open_stream(recorder, stream, O_CREAT | O_EXCL);
  if (file < 0) return errno;
  close(file);
  int error = tsn_storage_back(recorder, stream, TSN_FIRST_STEP);
  if (!error) error = tsn_storage_map(recorder, stream, 0, &stream->current);
  if (error) {
    tsn_storage_remove(recorder, stream);
  } else {
    tsn_storage_populate(&stream->current, 0, TSN_FIRST_STEP);
  }
  return error;
}

static void unmap_all(tsn_stream *stream) {
  tsn_storage_unmap(&stream->current);
  tsn_storage_unmap(&stream->ready);
  while (stream->spent_count) tsn_storage_unmap(&stream->spent[--stream->spent_count]);
}

int tsn_storage_finish(tsn_recorder *recorder, tsn_stream *stream) {
  unmap_all(stream);
  int file = open_stream(recorder, stream, 0);
  if (file < 0) return errno;
  /* Cut last: a file longer than its header says is whole, a shorter one not. */
  int error = write_header(file, recorder, stream, TSN_FINISHED);
  uint64_t count = atomic_load_explicit(&stream->index, memory_order_relaxed);
  if (!error && ftruncate(file, file_offset(count)) != 0) error = errno;
  close(file);
  return error;
}

void tsn_storage_remove(tsn_recorder *recorder, tsn_stream *stream) {
  char path[PATH_ROOM];
  unmap_all(stream);
  stream_path(recorder, stream, path);
  (void)unlink(path);
}

static int write_run(tsn_recorder *recorder, int flags) {
  char path[PATH_ROOM];
  run_path(recorder, path);
  int file = open(path, O_RDWR | O_CLOEXEC | flags, 0666);
  if (file < 0) return errno;
  tsn_run_header *header = &recorder->header;
  int error = 0;
  if (flags & O_CREAT) error = reserve(file, sizeof *header);
  header->checksum = tsn_checksum(header, offsetof(tsn_run_header, checksum));
  if (!error) error = write_all(file, header, sizeof *header);
  close(file);
  if (error && (flags & O_CREAT)) (void)unlink(path);
  return error;
}

int tsn_storage_create_run(tsn_recorder *recorder) {
  return write_run(recorder, O_CREAT | O_EXCL);
}

int tsn_storage_write_run(tsn_recorder *recorder) {
  return write_run(recorder, 0);
}

void tsn_storage_remove_run(tsn_recorder *recorder) {
  char path[PATH_ROOM];
  run_path(recorder, path);
  (void)unlink(path);
}
