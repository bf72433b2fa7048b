/* SPDX-License-Identifier: BSD-3-Clause */
/* A run that is being watched, as of the last look. */
#ifndef TSANOM_COMMAND_WATCHED_H
#define TSANOM_COMMAND_WATCHED_H

#include <tsanom/runs.h>

#include "failure.h"
#include "hang.h"

typedef struct {
  size_t beats;
  size_t learned; /* beats that the limit of its silence follows from */
  double rate;    /* of the latest beats; NaN: fewer than two beats; 0: it hangs */
  double resumed; /* time of the beat that ended its last hang; 0: none */
} watched_thread;

typedef struct {
  const char *path;
  double hang; /* limit of a silence in seconds; 0: from the intervals */
  tsanom_runs *source;
  tsanom_hsa_run run; /* without threads: no beat was recorded yet */
  int32_t state;      /* TSANOM_HSA_STATE_FINISHED, _KILLED or _RUNNING */
  double now;         /* time of the look, on the clock of the run */
  size_t threads;
  watched_thread *thread;
  hang_thread *silence; /* by thread; as they were when the run ended */
  size_t capacity[2];   /* of these two */
} watched;

/* Look at the run: open it the first time, then read what is new. 1: with `wait`, the run
 * does not exist yet. -1: it cannot be read, or was deleted. */
int watched_look(watched *w, int wait, failure *why);

void watched_close(watched *w);

/* Most beats of a thread. */
size_t watched_iteration(const watched *w);

/* Seconds since the last beat of any thread; NaN: no beat yet, or not known. */
double watched_age(const watched *w);

/* The thread with the lowest rate; -1: fewer than two threads have rates. */
int32_t watched_slowest(const watched *w);

#endif
