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

/* Print a JSON object, to which the warnings about runs are added, and take its
 * reference; returns an exit status. */
int print_json(json_t *value);

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
