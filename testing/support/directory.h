/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSANOM_TEST_DIRECTORY_H
#define TSANOM_TEST_DIRECTORY_H

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

#endif
