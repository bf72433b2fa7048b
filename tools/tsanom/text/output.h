/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that appear whole or not at all. */
#ifndef TSANOM_COMMAND_OUTPUT_H
#define TSANOM_COMMAND_OUTPUT_H

#include "failure.h"

/* Write `bytes` of text as the file at `path`: under a temporary name beside it,
 * then renamed. A link is followed, permissions of a file that is replaced are
 * kept, and what is no regular file, as /dev/stdout, is written directly. */
int output_write(const char *path, const char *text, size_t bytes, failure *why);

#endif
