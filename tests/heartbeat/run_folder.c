/* SPDX-License-Identifier: BSD-3-Clause */
#include "heartbeat/run_folder.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/check.h"

void folder_make(char path[FOLDER_ROOM]) {
  cr_assert(new_folder(path), "%s cannot be made", path);
}

static int remove_one(const char *path, const struct stat *facts, int kind,
                      struct FTW *where) {
  (void)facts;
  (void)kind;
  (void)where;
  return remove(path);
}

void folder_remove(const char *path) {
  enum { DESCRIPTORS = 8 };
  (void)nftw(path, remove_one, DESCRIPTORS, FTW_DEPTH | FTW_PHYS);
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

tsanom_heartbeat_run *open_run(const char *path) {
  tsanom_heartbeat_fault fault;
  tsanom_heartbeat_run *run = NULL;
  tsanom_heartbeat_fault_init(&fault, sizeof fault);
  tsanom_status status = tsanom_heartbeat_run_open(path, NULL, &fault, &run);
  cr_assert(status == TSANOM_OK, "%s at %llu: %s", fault.file,
            (unsigned long long)fault.offset, fault.text);
  return run;
}

tsanom_heartbeat_run_info describe(const tsanom_heartbeat_run *run) {
  tsanom_heartbeat_run_info info;
  CHECK_STATUS(tsanom_heartbeat_run_describe(run, &info, sizeof info), TSANOM_OK);
  return info;
}

tsanom_heartbeat_stream_info describe_stream(const tsanom_heartbeat_run *run,
                                             uint32_t stream) {
  tsanom_heartbeat_stream_info info;
  CHECK_STATUS(tsanom_heartbeat_run_stream(run, stream, &info, sizeof info), TSANOM_OK);
  return info;
}
