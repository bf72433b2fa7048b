/* SPDX-License-Identifier: BSD-3-Clause */
/* Iterations of the program, found in a stream of places while it runs. */
#ifndef TSN_INTERCEPT_ITERATIONS_H
#define TSN_INTERCEPT_ITERATIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <tsanom/dpd.h>

enum {
  ICP_HISTORY = 1024, /* the detector's longest period, a power of two */
  /* So long a loop lies in no longer one: the detector need not see more of it. */
  ICP_SETTLED = 4 * ICP_HISTORY
};

/* Zero it before use. */
typedef struct {
  tsanom_dpd_nest *nest;
  uint64_t period;               /* of the outermost loop that is going on; 0: none */
  uint64_t remaining;            /* events before the next iteration's first */
  uint64_t index;                /* events that the detector saw */
  uint64_t unchanged;            /* of them the latest, through which nothing changed */
  bool settled;                  /* events are only compared with `pattern` */
  uint64_t at;                   /* the place in it of the next event */
  uint32_t pattern[ICP_HISTORY]; /* what the detector would see next, settled */
  uint32_t history[ICP_HISTORY]; /* its latest events, by index */
} icp_iterations;

/* Returns 0, or an errno. */
int icp_iterations_start(icp_iterations *iterations);

/* Feed an event; tells whether it begins an iteration. */
bool icp_iterations_push(icp_iterations *iterations, uint32_t event);

#endif
