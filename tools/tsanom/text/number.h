/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers as users write them, read without leniency. */
#ifndef TSANOM_COMMAND_NUMBER_H
#define TSANOM_COMMAND_NUMBER_H

#include <stddef.h>
#include <stdint.h>

/* Each returns 0, or what is wrong with the text as the end of a sentence that
 * starts with it: "is not a number: ...". */

/* A finite decimal number. */
const char *number_parse(const char *text, double *value);

/* A whole number in [0, SIZE_MAX]. */
const char *count_parse(const char *text, size_t *value);

#endif
