/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSANOM_TEST_FOLDER_H
#define TSANOM_TEST_FOLDER_H

#include <stdio.h>
#include <stdlib.h>

enum { FOLDER_ROOM = 200 };

/* Make a new folder under $TMPDIR (or /tmp), which `path` receives; NULL if none
 * can be made. */
static inline char *new_folder(char path[FOLDER_ROOM]) {
  const char *parent = getenv("TMPDIR");
  (void)snprintf(path, FOLDER_ROOM, "%s/tsanom-test-XXXXXX", parent ? parent : "/tmp");
  return mkdtemp(path);
}

#endif
