/* SPDX-License-Identifier: BSD-3-Clause */
/* What happened in a run: the results of all methods. */
#ifndef TSANOM_COMMAND_SUMMARY_H
#define TSANOM_COMMAND_SUMMARY_H

#include <jansson.h>
#include <tsanom/diagnosis.h>

#include "beats.h"
#include "model.h"
#include "reserve.h"
#include "similarity.h"

enum { SLOW_MOST = 64 };

/* Zero it before use. */
typedef struct {
  int draws; /* of which iterations are slow, 4 bytes for each, which are kept for it */
  tsanom_diagnosis_summary about;
  tsanom_diagnosis_slow slow[SLOW_MOST];
  similarity team;
  char *team_text;   /* what `about` has of it */
  beats b;           /* of a single process, or of the latest rank */
  word_list missing; /* sentences about what was not recorded, each once */
} run_summary;

/* Open a process, and add what it says; `m` may be NULL. */
int summary_add_process(const char *path, int32_t rank, const owned_model *m,
                        const tsanom_exec *exec, int salvage, tsanom_runs_info *info,
                        run_summary *s, failure *why);
void summary_free(run_summary *s);

/* Slow iterations alone, of open beats of one process. */
int summary_search(const char *path, const beats *b, run_summary *s, failure *why);

/* A sentence of the one at `index`, with its end. */
void slow_print_one(const tsanom_diagnosis_summary *s, size_t index);
json_t *slow_to_json(const tsanom_diagnosis_summary *s);

/* Times of iterations, with their levels; those that are slow in another color. */
int slow_draw(const run_summary *s, const char *path, failure *why);

#endif
