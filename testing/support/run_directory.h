/* SPDX-License-Identifier: BSD-3-Clause */
/* Directories for the runs of a test, in a directory that is removed at its end. */
#ifndef TSANOM_TEST_RUN_DIRECTORY_H
#define TSANOM_TEST_RUN_DIRECTORY_H

#include <stddef.h>
#include <tsanom/runs.h>

#include "support/directory.h"

/* The directory of a test, under $TMPDIR (or /tmp): .init = make_directory, .fini = remove_directory. */
extern char directory[DIRECTORY_CAPACITY];
void make_directory(void);
void remove_directory(void);

/* The path of a file in it, which lives until the fourth call from then. */
__attribute__((format(printf, 1, 2))) const char *in_directory(const char *format, ...);

/* Read a whole file into malloc'ed memory; write one anew. */
unsigned char *file_read(const char *path, size_t *bytes);
void file_write(const char *path, const void *bytes, size_t count);

/* A call that opens a run, in which each allocation fails in turn: it reports that, and nothing is
 * leaked. */
typedef tsanom_status open_call(const tsanom_exec *exec, tsanom_runs **run);
void check_allocations(open_call *open);

/* Open a run that must be intact, and look at it. */
tsanom_runs *open_run(const char *path);
tsanom_runs_info describe(const tsanom_runs *run);
tsanom_runs_stream describe_stream(const tsanom_runs *run, uint32_t stream);

/* Copy `count` beats of a stream; NULL: not wanted. */
void read_beats(const tsanom_runs *run, uint32_t stream, uint64_t first, size_t count,
                double *times, uint32_t *tags);

#endif
