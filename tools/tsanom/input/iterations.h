/* SPDX-License-Identifier: BSD-3-Clause */
/* The iterations of the main loop of one process, and what its threads did in them. */
#ifndef TSANOM_COMMAND_ITERATIONS_H
#define TSANOM_COMMAND_ITERATIONS_H

#include <tsanom/hsa.h>
#include <tsanom/runs.h>

#include "failure.h"

/* Zero it before use. Iteration i begins at begin[i]; begin[count] is the last beat. */
typedef struct {
  tsanom_runs *run;
  int is_lent; /* 1: the caller closes the run */
  const tsanom_hsa_run *beats;
  size_t thread; /* whose beats these are: that with the most */
  double *begin, *seconds;
  size_t count;
} iterations;

/* Read a run directory or a CSV file of beats. */
int iterations_read(const char *path, const tsanom_exec *exec, int salvage,
                    iterations *it, failure *why);

/* Those of an open run, which the caller closes later. */
int iterations_of(tsanom_runs *run, const char *path, iterations *it, failure *why);
void iterations_free(iterations *it);

/* The shortest first. */
void sort_seconds(double *seconds, size_t count);

/* What a thread does. The time of the thread in `iterations` is the sum of these. */
enum {
  ACTIVITY_REGION, /* its work in a parallel region, or in a part of it */
  ACTIVITY_BEFORE, /* the code before a region or call */
  ACTIVITY_CALL,   /* a call of MPI */
  ACTIVITY_WAIT    /* the end of a region, where it waits for its team */
};

typedef struct {
  int32_t what, thread;
  size_t place; /* of the region, part or call */
} activity;

/* Zero it before use. */
typedef struct {
  activity *item;
  double *seconds; /* of item i in class c at i * classes + c */
  size_t count, capacity, classes;
} activities;

/* Whose seconds: those that passed, or those that threads had a processor. Waiting takes
 * none, so that of ACTIVITY_BEFORE only that before calls is known. */
enum { SECONDS_PASSED, SECONDS_OF_PROCESSOR };

/* Add up what threads did in the iterations of each class, from 0; those of class -1 are
 * left out, and so is what extends over several iterations. A run without region events
 * has no activities. */
int activities_read(const iterations *it, int32_t seconds, const int32_t *class_of,
                    size_t classes, activities *a, failure *why);
void activities_free(activities *a);

/* The processor time of each iteration, as the mean of its threads, in mean[count].
 * *waited is how many seconds pass in regions for each of them; 0: they are not known. */
int iterations_processor(const iterations *it, double *mean, double *waited,
                         failure *why);

/* "compute (slow.c:7)", "the code before compute (slow.c:7)": valid until the run is
 * closed, or in `text`. */
enum { ACTIVITY_BYTES = 400 };
const char *activity_name(const iterations *it, const activity *item,
                          char text[ACTIVITY_BYTES]);

#endif
