/* SPDX-License-Identifier: BSD-3-Clause */
/* What tsanom speedup is asked for, what comes of it, and how that is printed. */
#ifndef TSANOM_COMMAND_SPEEDUP_PRINT_H
#define TSANOM_COMMAND_SPEEDUP_PRINT_H

#include <tsanom/speedup.h>

#include "main_loop.h"
#include "options.h"
#include "region_stream.h"

typedef struct {
  shared_options shared;
  size_t baseline;     /* threads; 0: the fewest */
  char *baseline_path; /* another run to compare with; NULL: none */
  size_t iterations, max_period;
  const char *loop; /* NULL: choose */
  double until;     /* seconds */
  int32_t level;    /* by level_words */
} speedup_request;

/* What comes of it. */
typedef struct {
  region_stream stream;
  size_t used; /* events before --until */
  /* The main loop comes first, if there is one. */
  main_loop main;
  tsanom_speedup_loop *loop;
  size_t loops;
  /* More loops were found than the analyzer can distinguish. */
  int lost;
  tsanom_speedup_prediction prediction;
  int predicted;
  tsanom_speedup_iteration *iteration;
  size_t iterations, capacity;
  int out_of_memory;
} speedup_result;

/* The share of the time in which threads were ready without a processor, of the program
 * as a whole; NaN: not known. */
double speedup_waited(const speedup_request *r);

/* Whether the speedup of a loop was measured: not if all of its iterations ran with as
 * many threads, for then it was compared with itself. */
int speedup_is_measured(const speedup_request *r, const tsanom_speedup_loop *loop);

int speedup_print_json(const speedup_request *r, speedup_result *a);
void speedup_print_table(const speedup_request *r, speedup_result *a);

#endif
