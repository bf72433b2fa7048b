/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers as users write them, read without leniency. */
#ifndef TSANOM_COMMAND_NUMBER_H
#define TSANOM_COMMAND_NUMBER_H

/* A finite decimal number. Returns 0, or what is wrong with the text as the end of a
 * sentence that starts with it: "is not a number: ...". */
const char *number_parse(const char *text, double *value);

#endif
