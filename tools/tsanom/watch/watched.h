/* SPDX-License-Identifier: BSD-3-Clause */
/* A run that is being watched, as of the last look, and the runs of one watch. */
#ifndef TSANOM_COMMAND_WATCHED_H
#define TSANOM_COMMAND_WATCHED_H

#include <tsanom/diagnosis.h>
#include <tsanom/runs.h>

#include "beats.h"
#include "failure.h"
#include "model.h"

enum { EVIDENCE_BYTES = 512 }; /* of a sentence of the library */

/* What of a run was printed last. */
typedef struct {
  int shown;
  size_t beats;
  int32_t state;
} watched_print;

typedef struct {
  char *path;
  int32_t rank;             /* -1: the run is not that of a rank */
  const owned_model *model; /* NULL: only hangs and the end of the run are judged */
  double hang;              /* limit of a silence in seconds; 0: from the intervals */
  tsanom_runs *source;
  beats over;         /* of a run that is over: `run` is that of them */
  tsanom_hsa_run run; /* without threads: no beat was recorded yet */
  int32_t state;      /* TSANOM_RUN_FINISHED, _KILLED or _RUNNING */
  double start;       /* seconds since 1970 at time 0 of the run */
  double now;         /* time of the look, on the clock of the run */
  size_t threads;
  const tsanom_diagnosis_anomaly *anomaly; /* of the latest look, in the watch */
  size_t anomalies;
  tsanom_diagnosis_rank judged; /* with the other ranks of its job */
  tsanom_diagnosis_watch *watch;
  size_t capacity; /* of the watch and the arrays by thread */
  tsanom_hsa_series *news;
  size_t *fed; /* samples of each thread, and behind them of the process, that
                               the watch has */
  tsanom_hsa_vital *sample; /* of a silent thread, by this watch */
  watched_print print;
  int no_iterations; /* as in `beats` */
  int ended;         /* it is not looked at any more */
  int dropped;       /* the program dropped records */
  int skips;         /* it was reported that high thread numbers are not watched */
} watched;

/* Look at the run: open it the first time, then read what is new, and judge it. 1: with
 * `wait`, the run does not exist yet. -1: it cannot be read, or was deleted. */
int watched_look(watched *w, int wait, failure *why);

/* How a thread fares, by the watch. */
tsanom_diagnosis_pulse watched_pulse(const watched *w, size_t thread);

void watched_close(watched *w);

/* Most beats of a thread. */
size_t watched_iteration(const watched *w);

/* Seconds since the last beat of any thread; NaN: no beat yet, or not known. */
double watched_age(const watched *w);

/* Iterations that are left, by the normal runs of the model, if these have one length;
 * and their time, by the iterations of the slowest thread. */
tsanom_diagnosis_remaining watched_remaining(const watched *w);

/* ---- the latest vital signs */

/* NaN: not known. */
typedef struct {
  double resident; /* bytes in memory */
  double growth;   /* of them per second */
  double cpu;      /* processors that the process uses */
  double wait;     /* share of the time in which a thread is ready without a processor */
} vital_signs;

/* Of the last samples of the run. */
vital_signs vitals_now(const watched *w);

/* ---- the runs of one watch */

typedef struct {
  watched *run;
  size_t count, capacity;
  tsanom_diagnosis_rank *rank; /* scratch, by run */
  size_t rank_capacity;
  size_t slowest; /* the run that holds up the others; TSANOM_NONE: not known */
} watch_list;

/* ---- watch_print.c */

/* How watched runs are shown. Zero it before use. */
typedef struct {
  int json, terminal;
  size_t lines; /* on the terminal, that the next look writes over */
} watch_screen;

/* Print what changed since the last look: the states of the runs, and what began or
 * recovered. On a terminal the states are written over, so that the age of the last beat
 * is that of now. */
void watch_print(watch_screen *screen, watch_list *list);

#endif
