/* SPDX-License-Identifier: BSD-3-Clause */
#include "heartbeat/run_folder.h"

#include <criterion/criterion.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

void folder_make(char path[FOLDER_ROOM]) {
  const char *parent = getenv("TMPDIR");
  (void)snprintf(path, FOLDER_ROOM, "%s/tsanom-test-XXXXXX", parent ? parent : "/tmp");
  cr_assert(mkdtemp(path), "no folder can be made in %s", parent ? parent : "/tmp");
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

void file_write(const char *path, const void *bytes, size_t count) {
  FILE *file = fopen(path, "wb");
  cr_assert(file && fwrite(bytes, 1, count, file) == count && fclose(file) == 0,
            "%s cannot be written", path);
}
