/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/run_directory.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/allocator.h"
#include "support/check.h"
#include "support/faults.h"

char directory[DIRECTORY_CAPACITY];

void make_directory(void) {
  cr_assert(new_directory(directory), "%s cannot be made", directory);
}

const char *in_directory(const char *format, ...) {
  enum { PATHS = 4 };
  static char paths[PATHS][DIRECTORY_CAPACITY + 64];
  static size_t next;
  char *path = paths[next++ % PATHS];
  int used = snprintf(path, sizeof *paths, "%s/", directory);
  va_list values;
  va_start(values, format);
  (void)vsnprintf(path + used, sizeof *paths - (size_t)used, format, values);
  va_end(values);
  return path;
}

void remove_directory(void) {
  directory_remove(directory);
}

unsigned char *file_read(const char *path, size_t *bytes) {
  struct stat facts;
  FILE *file = fopen(path, "rb");
  cr_assert(file && fstat(fileno(file), &facts) == 0, "%s cannot be read", path);
  *bytes = (size_t)facts.st_size;
  unsigned char *block = malloc(*bytes + 1);
  cr_assert(block && fread(block, 1, *bytes, file) == *bytes);
  (void)fclose(file);
  return block;
}

/* In place: file systems flush a file that is cut to nothing and written anew. */
void file_write(const char *path, const void *bytes, size_t count) {
  int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  cr_assert(file >= 0 && pwrite(file, bytes, count, 0) == (ssize_t)count &&
                ftruncate(file, (off_t)count) == 0 && close(file) == 0,
            "%s cannot be written", path);
}

void check_allocations(open_call *open) {
  tsanom_status status = TSANOM_E_MEMORY;
  for (size_t fail_at = 1; status != TSANOM_OK; fail_at++) {
    test_allocator allocator = {.fail_at = fail_at};
    tsanom_exec exec = test_exec(&allocator);
    tsanom_runs *run = NULL;
    status = open(&exec, &run);
    cr_assert(status == TSANOM_OK || (status == TSANOM_E_MEMORY && !run), "%zu: %s",
              fail_at, tsanom_status_name(status));
    tsanom_runs_destroy(run);
    cr_assert(allocator.live == 0, "%zu: %zu blocks", fail_at, allocator.live);
  }
}

tsanom_runs *open_run(const char *path) {
  tsanom_fault fault;
  tsanom_runs *run = NULL;
  tsanom_exec exec = exec_reporting(&fault);
  tsanom_status status = tsanom_runs_open(path, NULL, &exec, &run);
  cr_assert(status == TSANOM_OK, "%s at %llu: %s", fault.file,
            (unsigned long long)fault.offset, fault.text);
  return run;
}

tsanom_runs_info describe(const tsanom_runs *run) {
  tsanom_runs_info info = {.struct_size = sizeof info};
  CHECK_STATUS(tsanom_runs_describe(run, &info), TSANOM_OK);
  return info;
}

tsanom_runs_stream describe_stream(const tsanom_runs *run, uint32_t stream) {
  tsanom_runs_stream about;
  CHECK_STATUS(tsanom_runs_stream_at(run, TSANOM_RUNS_BEATS, stream, &about), TSANOM_OK);
  return about;
}

void read_beats(const tsanom_runs *run, uint32_t stream, uint64_t first, size_t count,
                double *times, uint32_t *tags) {
  tsanom_runs_stream about = describe_stream(run, stream);
  cr_assert(first <= about.count && count <= about.count - first);
  if (times) memcpy(times, about.time + first, count * sizeof *times);
  if (tags) memcpy(tags, about.tag + first, count * sizeof *tags);
}
