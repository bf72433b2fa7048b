/* SPDX-License-Identifier: BSD-3-Clause */
/* Iterations of the program, found in a stream of places while it runs. */
#ifndef TSN_INTERCEPT_ITERATIONS_H
#define TSN_INTERCEPT_ITERATIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <tsanom/dpd.h>

/* Zero it before use. */
typedef struct {
  tsanom_dpd_nest *nest;
  uint64_t period;    /* of the outermost loop that is going on; 0: none */
  uint64_t remaining; /* events before the next iteration's first */
  uint64_t index;
} icp_iterations;

/* Returns 0, or an errno. */
int icp_iterations_start(icp_iterations *iterations);

/* Feed an event; tells whether it begins an iteration. */
bool icp_iterations_push(icp_iterations *iterations, uint64_t event);

#endif
