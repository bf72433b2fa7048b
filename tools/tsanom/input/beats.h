/* SPDX-License-Identifier: BSD-3-Clause */
/* The beats of a run, by thread: from a run folder, or from a CSV file with the
 * columns thread and time. */
#ifndef TSANOM_COMMAND_BEATS_H
#define TSANOM_COMMAND_BEATS_H

#include <stdio.h>
#include <tsanom/heartbeat_run.h>
#include <tsanom/hsa.h>

#include "failure.h"

/* Zero it before use. */
typedef struct {
  tsanom_hsa_run run;        /* as the analysis takes it */
  tsanom_hsa_series *series; /* of each thread; run.threads */
  double *time;              /* all of them, thread after thread */
} beats;

/* Read a run. In a folder, streams that beat by the same thread number (those
 * of nested parallel regions) are merged. In a CSV file the threads are numbered
 * from 0, no time of a thread is before the one above it, and the run begins at
 * its earliest beat. "-" is a CSV file on the standard input. */
int beats_read(const char *path, const tsanom_exec *exec, beats *b, failure *why);

/* beats_read() of an open CSV file that messages call `file`. */
int beats_read_stream(FILE *stream, const char *file, beats *b, failure *why);

void beats_free(beats *b);

/* Say why the run at a path was refused: where, if the reader found out. */
int run_failure(failure *why, const char *path, tsanom_status status,
                const tsanom_heartbeat_fault *fault);

/* Tell on the standard error if a run lacks what the disk had no room for. */
void tell_lost_beats(const char *path, const tsanom_heartbeat_run *run);

/* Beats of the thread that has most. */
size_t beats_most(const beats *b);

/* Windowed heart rates of a thread (tsanom_heartbeat_rate()): *count of them, 0 if
 * it has no more beats than the window; the caller frees *rates. rates[i]
 * belongs to the beat i + window. `path` is for messages. */
int beats_rate(const beats *b, size_t thread, size_t window, const char *path,
               double **rates, size_t *count, failure *why);

#endif
