/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs of the library, with failures and warnings as sentences. */
#ifndef TSANOM_COMMAND_RUN_OPEN_H
#define TSANOM_COMMAND_RUN_OPEN_H

#include <jansson.h>
#include <tsanom/runs.h>

#include "failure.h"

/* Open the parts of a run (TSANOM_RUNS_*; 0: those that are there). With `salvage`,
 * the files of a damaged run are read up to the damage. Warns on standard error if
 * records are missing, or if the clock restarted. */
int run_open(const char *path, int32_t parts, const tsanom_exec *exec, int salvage,
             tsanom_runs **run, failure *why);

/* The run of the program, where that at the path is of a process that it started; NULL: there is
 * none, or it cannot be read. */
tsanom_runs *run_of_starter(const char *path, const tsanom_exec *exec);

/* Warn of the first damage of a run that was opened with `salvage`, if it has one. */
void run_warn_of_damage(const char *path, const tsanom_runs *run);

/* Keep warnings and messages from now on, and do not print them: a page shows them. */
void run_open_quietly(void);
#define RUN_WITHOUT_ITERATIONS "no iterations: how fast the program computes is not known"

/* The program has no main loop, or none was found: its beats are of processor time, or of steps of
 * work such as tasks. */
static inline int run_has_no_iterations(const tsanom_runs_info *info) {
  return info->beats_by_time || info->beats_of_steps;
}

/* The warnings so far, as an array of {run, text}, and of damaged runs {kept, skipped}.
 * NULL: there are none. */
json_t *run_warnings(void);

/* Why records were dropped, by the errno of the first failure. */
const char *drop_reason(int error);

/* The messages of the recorders inside of the programs so far, which were reported when
 * their runs were opened: an array of {run, number, time, process, error, text}. NULL:
 * there are none. */
json_t *run_messages(void);

/* Open several runs as the processes of one program, or a run of several ranks. */
int run_open_processes(char *const *paths, size_t count, const tsanom_exec *exec,
                       int salvage, tsanom_runs **run, failure *why);

/* Warn if some of `size` ranks recorded nothing; 0: their number is not known. */
void warn_of_missing_ranks(const char *path, size_t count, size_t size);

int is_directory(const char *path);

/* The ranks of a run in one array that the caller frees; *count 0: it is another kind of
 * run. */
int run_ranks(const char *path, int32_t **ranks, size_t *count, failure *why);

/* The run of a rank, to be freed. */
char *run_rank_path(const char *path, int32_t rank);

#endif
