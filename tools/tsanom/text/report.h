/* SPDX-License-Identifier: BSD-3-Clause */
/* What the launcher and the analysis program share: exit statuses, the name in front of
 * messages, and the handling of the standard descriptors. */
#ifndef TSANOM_COMMAND_REPORT_H
#define TSANOM_COMMAND_REPORT_H

#include "failure.h"

enum {
  EXIT_DONE = 0,
  EXIT_FOUND = 1, /* only with --check: an anomaly or dissimilarity was found */
  EXIT_USAGE = 2,
  EXIT_INPUT = 3 /* invalid input, or a failed write */
};

/* Call first in main(): reserves standard descriptors that are closed, checks at exit
 * that everything printed was written (exit status EXIT_INPUT otherwise), and keeps
 * control characters that a name in a file may contain from a terminal. */
void prepare_output(void);

/* Print a control sequence of our own on the terminal. */
void print_terminal_code(const char *code);

/* Show one line of progress on the terminal of standard error. It is removed by whatever
 * is printed next, and at exit. */
void print_bar(const char *text);

/* Sets the name in messages to "tsanom SUBCOMMAND" and returns it. */
char *set_subcommand(const char *subcommand);

/* Prints "tsanom SUBCOMMAND: SENTENCE" on standard error; returns EXIT_INPUT. */
int report_failure(const failure *why);

/* Prints "tsanom SUBCOMMAND: warning: SENTENCE" on standard error. */
__attribute__((format(printf, 1, 2))) void warn(const char *format, ...);

#endif
