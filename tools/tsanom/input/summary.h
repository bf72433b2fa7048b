/* SPDX-License-Identifier: BSD-3-Clause */
/* What happened in a run: the results of all methods, read, printed and drawn. */
#ifndef TSANOM_COMMAND_SUMMARY_H
#define TSANOM_COMMAND_SUMMARY_H

#include <jansson.h>
#include <tsanom/diagnosis.h>

#include "model.h"
#include "similarity.h"
#include "slow.h"

/* Zero it before use. */
typedef struct {
  tsanom_diagnosis_summary about;
  slow_run slow;
  similarity team;
  tsanom_runs *run;            /* of a single process; NULL: a job */
  char *slow_text, *team_text; /* what `about` has of them */
  char **missing;              /* sentences about what was not recorded */
  size_t missing_count;
} run_summary;

/* Read a run, or all ranks of a job; `m` may be NULL. */
int summary_read(const char *path, const owned_model *m, const tsanom_exec *exec,
                 int salvage, run_summary *s, failure *why);
void summary_free(run_summary *s);

json_t *summary_to_json(const run_summary *s, const char *path);
void summary_print(const run_summary *s);

/* The times of iterations of a process; of a job the regions of its ranks. */
int summary_draw(const run_summary *s, const char *path, failure *why);

#endif
