/* SPDX-License-Identifier: BSD-3-Clause */
/* Heartbeats of runs. */
#ifndef TSANOM_COMMAND_BEATS_H
#define TSANOM_COMMAND_BEATS_H

#include <tsanom/hsa.h>
#include <tsanom/runs.h>

#include "run_open.h"

/* The heartbeats of a run. Zero it before use. */
typedef struct {
  tsanom_runs *source;
  tsanom_hsa_run run;
  int no_iterations;      /* they are of processor time, or of steps of work */
  size_t complete;        /* iterations that ended, of a run that did not; TSANOM_NONE */
  tsanom_hsa_series *own; /* those of the main loop of the events; NULL: those recorded */
} beats;

/* Parts of the run: TSANOM_RUNS_BEATS and ...; 0: all. */
int beats_read(const char *path, int32_t parts, const tsanom_exec *exec, int salvage,
               beats *b, failure *why);
void beats_free(beats *b);

/* A program that ends writes its iterations as its events show them as a whole. Of one that was
 * killed or still runs, of damaged records and of those that --max-size ended, there are those that
 * were counted while it ran: of an inner loop, if the main loop was not found yet. So there
 * are if a loop was followed by another one, and not all events were kept; then the recorder says so. If the main loop
 * of the events, which tsanom speedup and period print, has another number of iterations, by more
 * than one, its iterations replace the beats of all threads; if there is none, there are no beats.
 * Named and counted iterations stay. */
int beats_restate(const char *path, const tsanom_exec *exec, int salvage, beats *b,
                  failure *why);

/* How many numbers of threads from 0 on are judged: about twice as many as have beats, which
 * *present receives. A judgment takes about 50 KB for each number, with beats or not. */
size_t beats_numbers_most(const tsanom_hsa_run *run, size_t *present);

/* Reject a run with numbers above that. */
int beats_check_numbers(const beats *b, const char *path, failure *why);

/* The thread with most beats, of equal ones the first; 0 if there is none. */
size_t beats_busiest(const tsanom_hsa_run *run);

/* What a command says that needs them, after the title of the run. */
#define NO_ITERATIONS                                                            \
  "%s: no iterations were found while the program ran; tsanom record --beat-at " \
  "REGION names where one begins"

/* Beats of the thread that has most. */
size_t beats_most(const beats *b);

/* Where the iterations of that thread begin, and the last one ends, to be freed: as many as it
 * has beats, which must be two or more. */
double *beats_iterations(const beats *b, failure *why);

/* Heart rates of a thread (tsanom_runs_rate()): *count of them, 0 if it has no more beats
 * than the window; the caller frees *rates. rates[i] belongs to the beat i + window. */
int beats_rate(const beats *b, size_t thread, size_t window, const char *path,
               double **rates, size_t *count, failure *why);

#endif
