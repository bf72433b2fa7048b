/* SPDX-License-Identifier: BSD-3-Clause */
/* Folders for the runs of a test, in a folder that is removed at its end. */
#ifndef TSANOM_TEST_RUN_FOLDER_H
#define TSANOM_TEST_RUN_FOLDER_H

#include <stddef.h>
#include <tsanom/heartbeat_run.h>

#include "support/folder.h"

/* Make a new folder under $TMPDIR (or /tmp), which `path` receives. */
void folder_make(char path[FOLDER_ROOM]);

/* Remove it with all that is in it and in its folders. */
void folder_remove(const char *path);

/* Read a whole file into malloc'ed memory; write one anew. */
unsigned char *file_read(const char *path, size_t *bytes);
void file_write(const char *path, const void *bytes, size_t count);

/* Open a run that must be whole, and ask what cannot be refused. */
tsanom_heartbeat_run *open_run(const char *path);
tsanom_heartbeat_run_info describe(const tsanom_heartbeat_run *run);
tsanom_heartbeat_stream_info describe_stream(const tsanom_heartbeat_run *run,
                                             uint32_t stream);

#endif
