/* SPDX-License-Identifier: BSD-3-Clause */
/* Failures as sentences for the user. Functions that can fail take a failure to fill and
 * return -1 by fail(). */
#ifndef TSANOM_COMMAND_FAILURE_H
#define TSANOM_COMMAND_FAILURE_H

#include <stddef.h>
#include <tsanom/base.h>

typedef struct {
  char text[4096];
} failure;

/* Write the sentence, without a newline, and return -1. */
__attribute__((format(printf, 2, 3))) int fail(failure *why, const char *format, ...);

/* fail() with errno's sentence: "NAME: cannot VERB: No such file or directory". */
int fail_errno(failure *why, const char *name, const char *verb);

/* fail() with a status of the library: "NAME: a size does not fit ...". */
int fail_status(failure *why, const char *name, tsanom_status status);

/* The same execution (NULL: the default one), which reports what is wrong to *fault. */
tsanom_exec exec_with_fault(const tsanom_exec *exec, tsanom_fault *fault);

/* fail() with what the library reported: the place in the file if it has one. */
int fail_fault(failure *why, const char *name, tsanom_status status,
               const tsanom_fault *fault);

enum { QUOTED_BYTES = 96 };

/* A piece of a file as it can be shown: in quotes, cut after some 40
 * characters, bytes that do not print as \xNN. Returns `shown`. */
const char *quoted(char shown[QUOTED_BYTES], const char *text);

#endif
