/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSANOM_COMMAND_PROCESS_H
#define TSANOM_COMMAND_PROCESS_H

/* Run a program without a shell and read what it prints: a string to be freed; NULL if it
 * cannot be started or fails. What it writes on standard error is dropped. */
char *output_of(char *const arguments[]);

#endif
