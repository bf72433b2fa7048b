/* SPDX-License-Identifier: BSD-3-Clause */
/* What all subcommands use: command lines, exit statuses, and output. */
#ifndef TSANOM_COMMAND_COMMAND_H
#define TSANOM_COMMAND_COMMAND_H

#include <argp.h>
#include <stddef.h>
#include <tsanom/tsanom.h>

#include "failure.h"
#include "json_value.h"
#include "options.h"
#include "report.h"

/* parse_rows() with the options that all analyses have. */
void parse_command(const syntax *s, int argc, char **argv, void *into);

/* Print a JSON object, to which the warnings about runs are added, and take its
 * reference; returns an exit status. */
int print_json(json_t *value);

/* Call `one` for the run in shared->argument[0] or, if that has several ranks, for the
 * run of each rank, with its path there; as text each has one line, if `brief`. Returns the
 * largest exit status. */
int for_each_rank(shared_options *shared, int brief, int (*one)(const void *asked),
                  const void *asked);

/* Put the runs of the ranks in place of each argument that is a run of several ranks. */
int expand_ranks(shared_options *shared, failure *why);

/* Takes the run of an argument: prints it or, unless `runs` is NULL, appends it there; *found
 * becomes 1 if something was found. */
typedef int run_taker(const void *request, size_t index, json_t *runs, int *found,
                      failure *why);

/* Take each argument; returns an exit status, EXIT_FOUND if `check` and something was found. */
int for_each_run(const shared_options *shared, int check, run_taker *take,
                 const void *asked);

/* Print the name of one of several arguments. */
void print_heading(const shared_options *shared, size_t index, const char *end);

/* The subcommands. Each gets argv[0] = "tsanom NAME" and returns an exit status. */
int command_cluster(int argc, char **argv);
int command_collect(int argc, char **argv);
int command_compare(int argc, char **argv);
int command_diagnose(int argc, char **argv);
int command_dtw(int argc, char **argv);
int command_fit(int argc, char **argv);
int command_learn(int argc, char **argv);
int command_period(int argc, char **argv);
int command_rate(int argc, char **argv);
int command_reduce(int argc, char **argv);
int command_search(int argc, char **argv);
int command_similar(int argc, char **argv);
int command_slow(int argc, char **argv);
int command_speedup(int argc, char **argv);
int command_summary(int argc, char **argv);
int command_watch(int argc, char **argv);

#endif
