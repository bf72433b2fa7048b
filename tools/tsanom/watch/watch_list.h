/* SPDX-License-Identifier: BSD-3-Clause */
/* The runs of one watch. */
#ifndef TSANOM_COMMAND_WATCH_LIST_H
#define TSANOM_COMMAND_WATCH_LIST_H

#include "watched.h"

typedef struct {
  watched *run;
  size_t count, capacity;
  tsanom_diagnosis_rank *rank; /* scratch, by run */
  size_t rank_capacity;
  size_t slowest; /* the run that holds up the others; TSANOM_NONE: not known */
} watch_list;

/* Add a run; its ranks replace it when it is looked at. */
int watch_list_add(watch_list *list, const char *path, const owned_model *model,
                   double hang, failure *why);

/* If run `i` is that of several ranks, put the runs of these in its place; ranks that
 * have not begun are among them if the size of the job is known. */
int watch_list_expand(watch_list *list, size_t i, failure *why);

/* Judge the ranks of each job together, after all were looked at. */
int watch_list_judge(watch_list *list, failure *why);

void watch_list_free(watch_list *list);

#endif
