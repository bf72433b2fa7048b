/* SPDX-License-Identifier: BSD-3-Clause */
/* Processors that the threads of a run, or the ranks of a program, used over time. */
#ifndef TSANOM_COMMAND_CPU_USE_H
#define TSANOM_COMMAND_CPU_USE_H

#include <tsanom/runs.h>

#include "failure.h"

/* use[i] is the mean from begin[i] to time[i]: 1 is one processor. */
typedef struct {
  int32_t number; /* of the thread or rank */
  double *begin, *time, *use;
  size_t count;
} cpu_line;

/* Zero it before use. */
typedef struct {
  cpu_line *line;
  size_t count;
  int is_ranks; /* a line for each run: a rank; else for each thread of the run */
} cpu_use;

/* Read one run, or the runs of all ranks, RUN/rank.K. */
int cpu_use_read(char *const *paths, size_t count, const tsanom_exec *exec, int salvage,
                 cpu_use *use, failure *why);
void cpu_use_free(cpu_use *use);

#endif
