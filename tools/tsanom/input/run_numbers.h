/* SPDX-License-Identifier: BSD-3-Clause */
/* A run as a set of numbers, to be compared with those of other runs. */
#ifndef TSANOM_COMMAND_RUN_NUMBERS_H
#define TSANOM_COMMAND_RUN_NUMBERS_H

#include <stdint.h>
#include <tsanom/base.h>

#include "failure.h"

/* What a number is of. */
enum { NUMBER_LOOP, NUMBER_REGION, NUMBER_THREAD, NUMBER_RANK, NUMBER_SIGN };

enum { NUMBER_NAME_BYTES = 160 };

/* The sign of all threads together. */
#define NUMBER_READY "ready without a processor, s"

typedef struct {
  char name[NUMBER_NAME_BYTES];
  int32_t kind;
  double value; /* seconds of an iteration; of a sign, what its name says */
} run_number;

/* Zero it before use. */
typedef struct {
  run_number *item;
  size_t count, capacity;
} run_numbers;

/* Add a number, or add its value to that of the same name and kind. */
int run_numbers_add(run_numbers *n, int32_t kind, const char *name, double value,
                    failure *why);

/* The numbers of a recorded run. Of several ranks, regions and signs are sums over ranks,
 * and the iteration is the mean of them. */
int run_numbers_read(const char *path, const tsanom_exec *exec, int salvage,
                     run_numbers *n, failure *why);
void run_numbers_free(run_numbers *n);

#endif
