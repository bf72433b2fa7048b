/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSANOM_COMMAND_SUBPROCESS_H
#define TSANOM_COMMAND_SUBPROCESS_H

/* Runs a program without a shell and returns its standard output, a string that the
 * caller frees; NULL if the program cannot be started or fails. Standard input is empty;
 * standard error is discarded. */
char *output_of(char *const arguments[]);

#endif
