/* SPDX-License-Identifier: BSD-3-Clause */
/* The slow iterations of a run, and why they are slow. */
#ifndef TSANOM_COMMAND_SLOW_H
#define TSANOM_COMMAND_SLOW_H

#include <jansson.h>

#include "iterations.h"
#include "slow_series.h"

enum {
  SLOW_UNKNOWN, /* no samples tell it */
  SLOW_WORK,    /* it had a processor */
  SLOW_READY,   /* it waited for a processor */
  SLOW_FAULTS,  /* it worked on page faults */
  SLOW_READING, /* it waited for page faults with input */
  SLOW_BLOCKED, /* it slept, or waited for a device */
  SLOW_STOPPED  /* it was stopped by a signal */
};

typedef struct {
  slow_finding found;
  int32_t of_processor; /* 1: `found` is of processor times, but its lost_s */
  int32_t of_machine;   /* 1: a slower processor for a while may be why, too */
  int32_t reason, rank; /* rank -1: the only process */
  int32_t thread;       /* that took longer; -1: all, or not known */
  char region[512];     /* where; empty: not known */
  char ranges[SLOW_RANGE_BYTES];
  size_t of;          /* iterations of the process */
  double computing_s; /* lost outside of calls of MPI; NaN: not known */
  /* Of lost_s, by samples of the thread; NaN: not known. */
  double cpu_s, ready_s, off_s;
  double faults; /* page faults of a slow iteration, more than of a normal one */
} slow_iterations;

/* Zero it before use. */
typedef struct {
  slow_iterations *item; /* the one that lost most first */
  size_t count, iterations;
  double median_s, total_s; /* of the process with the most iterations */
  int is_short;
  double single, lasting; /* smallest ratios that would be found, see slow_series.h */
  /* Of a single process, for a picture: */
  iterations it;
  slow_series series;
} slow_run;

/* Read a run; of one with several ranks, all of them: iterations that are slow in several
 * ranks are of the rank that computed longer, for which the others waited. */
int slow_read(const char *path, const tsanom_exec *exec, int salvage, slow_run *s,
              failure *why);

/* The same of an open run of one process, which the caller closes later. */
int slow_read_open(tsanom_runs *run, const char *path, slow_run *s, failure *why);
/* Add the findings of a rank; then sort those of all ranks. */
int slow_add_rank(tsanom_runs *run, const char *path, int32_t rank, slow_run *all,
                  failure *why);
void slow_sort(slow_run *s);
void slow_run_free(slow_run *s);

/* A sentence of each finding. */
void slow_print(const slow_run *s);

/* The sentence of the first one. */
void slow_print_first(const slow_run *s);

/* That of a finding within a sentence, to be freed; NULL: there is none. */
char *slow_sentence(const slow_run *s, size_t index);

json_t *slow_to_json(const slow_run *s);

/* Times of iterations, with their levels; those that are slow in another color. */
int slow_draw(const slow_run *s, const char *path, failure *why);

#endif
