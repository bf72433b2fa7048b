/* SPDX-License-Identifier: BSD-3-Clause */
/* What a table of options is used for besides parsing: --help, the man page, and the
 * completion of shells; and arguments of options. */
#ifndef TSANOM_COMMAND_HELP_H
#define TSANOM_COMMAND_HELP_H

#include <argp.h>
#include <stddef.h>

enum { HELP_USAGE = 0x1f0, HELP_GROUP = 95 };

/* Rows of a table of options that is parsed by help_argp_parse(). */
#define HELP_ROWS                                                                  \
  {"help", 'h', NULL, 0, "Print this help", HELP_GROUP},                           \
      {NULL, '?', NULL, OPTION_HIDDEN, NULL, HELP_GROUP},                          \
      {"usage", HELP_USAGE, NULL, 0, "Print a short usage message", HELP_GROUP}, { \
    0                                                                              \
  }
enum { HELP_ROW_COUNT = 4 };

/* Answer the options of HELP_ROWS, which ends the program; else ARGP_ERR_UNKNOWN. */
error_t help_parse(int key, struct argp_state *state);

/* argp_parse(). Two first arguments are answered before it, and end the program:
 *   --man       the man page
 *   --complete  a line for each option: "--NAME", what it does, and its argument,
 *               separated by tabs */
void help_argp_parse(const struct argp *argp, int argc, char **argv, unsigned flags,
                     void *input);

/* Parses a count that is the argument of an option, or ends with EXIT_USAGE. */
size_t count_argument(struct argp_state *state, const char *option, const char *text);

#endif
