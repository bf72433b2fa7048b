/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers as users write them, read without leniency. */
#ifndef TSANOM_COMMAND_NUMBER_H
#define TSANOM_COMMAND_NUMBER_H

/* A finite decimal number. Returns 0, or what is wrong with the text as the end of a
 * sentence that starts with it: "is not a number: ...". */
const char *number_parse(const char *text, double *value);

typedef struct {
  char text[32];
} number_text;

/* With six digits, or as many as tell the number from all others. */
number_text number_exact(double value);

#endif
