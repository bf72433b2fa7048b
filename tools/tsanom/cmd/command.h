/* SPDX-License-Identifier: BSD-3-Clause */
/* What every subcommand is made of: options all share, exit statuses, and how
 * results leave. */
#ifndef TSANOM_COMMAND_COMMAND_H
#define TSANOM_COMMAND_COMMAND_H

#include <argp.h>
#include <stddef.h>
#include <tsanom/tsanom.h>

#include "failure.h"
#include "json_value.h"
#include "report.h"

/* Options of ::shared_argp. */
typedef struct {
  int json;
  const char *plot; /* NULL: no picture */
  tsanom_exec exec; /* threads as asked, progress on a terminal */
} shared_options;

/* Parses --json, --plot and --threads into a shared_options. A subcommand names
 * it among its argp's children and sets state->child_inputs[0] at ARGP_KEY_INIT. */
extern const struct argp shared_argp;

/* Keys of options that have no letter start here; 0x100 to 0x10f are taken. */
enum { KEY_OWN = 0x110 };

/* Parse a whole argument of an option or end with EXIT_USAGE. */
size_t count_argument(struct argp_state *state, const char *option, const char *text);

/* The place of a word among two or three that NULL ends, or an end with EXIT_USAGE. */
int32_t word_argument(struct argp_state *state, const char *option, const char *text,
                      const char *const *words);
double number_argument(struct argp_state *state, const char *option, const char *text);

/* Print a JSON value and take its reference; returns an exit status. */
int print_json(json_t *value);

/* The subcommands. Each gets argv[0] = "tsanom NAME" and returns an exit status. */
int command_cluster(int argc, char **argv);
int command_diagnose(int argc, char **argv);
int command_dtw(int argc, char **argv);
int command_fit(int argc, char **argv);
int command_learn(int argc, char **argv);
int command_period(int argc, char **argv);
int command_rate(int argc, char **argv);
int command_reduce(int argc, char **argv);
int command_search(int argc, char **argv);
int command_similar(int argc, char **argv);
int command_speedup(int argc, char **argv);

#endif
