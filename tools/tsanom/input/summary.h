/* SPDX-License-Identifier: BSD-3-Clause */
/* What happened in a run: the results of all methods, read, printed and drawn. */
#ifndef TSANOM_COMMAND_SUMMARY_H
#define TSANOM_COMMAND_SUMMARY_H

#include <jansson.h>
#include <tsanom/diagnosis.h>

#include "beats.h"
#include "model.h"
#include "similarity.h"

enum { SLOW_MOST = 64 };

/* Zero it before use. */
typedef struct {
  int draws; /* of which iterations are slow, 4 bytes for each, which are kept for it */
  tsanom_diagnosis_summary about;
  tsanom_diagnosis_slow slow[SLOW_MOST];
  similarity team;
  char *team_text; /* what `about` has of it */
  beats b;         /* of a single process, or of the latest rank */
  char **missing;  /* sentences about what was not recorded */
  size_t missing_count;
} run_summary;

/* Read a run, or all ranks of a job; `m` may be NULL. */
int summary_read(const char *path, const owned_model *m, const tsanom_exec *exec,
                 int salvage, run_summary *s, failure *why);
void summary_free(run_summary *s);

/* Slow iterations alone: of a run, or of all ranks of a job; of open beats of one process. */
int summary_read_slow(const char *path, const tsanom_exec *exec, int salvage,
                      run_summary *s, failure *why);
int summary_search(const char *path, const beats *b, run_summary *s, failure *why);

/* A sentence of each of them; of the one at `index`, with its end. */
void slow_print(const tsanom_diagnosis_summary *s);
void slow_print_one(const tsanom_diagnosis_summary *s, size_t index);
/* Whether there are some that neither a slower processor nor what ran beside the program explains,
 * which the verdict of a summary calls a fault if they cost much. */
int slow_is_of_program(const tsanom_diagnosis_summary *s);
json_t *slow_to_json(const tsanom_diagnosis_summary *s);

/* Times of iterations, with their levels; those that are slow in another color. */
int slow_draw(const run_summary *s, const char *path, failure *why);

json_t *summary_to_json(const run_summary *s, const char *path);
void summary_print(const run_summary *s);

/* The times of iterations of a process; of a job the regions of its ranks. */
int summary_draw(const run_summary *s, const char *path, failure *why);

#endif
