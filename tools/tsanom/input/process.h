/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSANOM_COMMAND_PROCESS_H
#define TSANOM_COMMAND_PROCESS_H

#include <stddef.h>

/* Run a program without a shell, and read what it prints: *text, to be freed, has *length
 * bytes and a NUL. Standard input and standard error are the descriptors; -1: /dev/null.
 * Returns 0; -1 if the program fails; or the errno with which it cannot be started, or its
 * output not be read. */
int run_program(char *const arguments[], char *const environment[], int input, int errors,
                char **text, size_t *length);

#endif
