/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSANOM_TEST_DIRECTORY_H
#define TSANOM_TEST_DIRECTORY_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

enum { DIRECTORY_CAPACITY = 200 };

/* Make a new directory under $TMPDIR (or /tmp), which `path` receives; NULL if none
 * can be made. */
static inline char *new_directory(char path[DIRECTORY_CAPACITY]) {
  const char *parent = getenv("TMPDIR");
  (void)snprintf(path, DIRECTORY_CAPACITY, "%s/tsanom-test-XXXXXX",
                 parent ? parent : "/tmp");
  return mkdtemp(path);
}

static inline int directory_remove_entry(const char *path, const struct stat *facts,
                                         int kind, struct FTW *where) {
  (void)facts;
  (void)kind;
  (void)where;
  return remove(path);
}

/* Remove a directory with all that is in it and in its directories. */
static inline void directory_remove(const char *path) {
  enum { DESCRIPTORS = 8 };
  (void)nftw(path, directory_remove_entry, DESCRIPTORS, FTW_DEPTH | FTW_PHYS);
}

#endif
