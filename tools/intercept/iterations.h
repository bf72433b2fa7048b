/* SPDX-License-Identifier: BSD-3-Clause */
/* Iterations of the program, found in a stream of places while it runs. */
#ifndef TSN_INTERCEPT_ITERATIONS_H
#define TSN_INTERCEPT_ITERATIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <tsanom/dpd.h>

enum {
  ICP_HISTORY = 1024, /* the detector's longest period, a power of two */
  /* A loop is found in its third iteration, or with this event if that is later. */
  ICP_LEAST = 6,
  /* A loop that lasts this long is not part of a longer one: the detector need not see
   * more of it. */
  ICP_LOCKED = 4 * ICP_HISTORY
};

/* Zero it before use. */
typedef struct {
  bool locked;        /* events are only compared with `pattern` */
  uint32_t at;        /* locked: the place in it of the next event */
  uint64_t period;    /* of the outermost loop that is going on; 0: none */
  uint64_t remaining; /* not locked: events before the next iteration's first */
  uint64_t index;     /* events that the detector saw */
  uint64_t unchanged; /* of them the latest, through which nothing changed */
  uint32_t locked_at; /* `at` when it locked */
  uint32_t pattern[ICP_HISTORY]; /* an iteration, locked */
  uint32_t history[ICP_HISTORY]; /* its latest events, by index */
  tsanom_dpd_nest *nest;
} icp_iterations;

/* Returns 0, or an errno. */
int icp_iterations_start(icp_iterations *iterations);

/* Feed an event that does not continue a locked pattern. */
bool icp_iterations_detect(icp_iterations *iterations, uint32_t event);

/* Feed an event. Returns whether it begins an iteration. */
static inline bool icp_iterations_push(icp_iterations *iterations, uint32_t event) {
  uint32_t at = iterations->at;
  if (!__builtin_expect(iterations->locked && iterations->pattern[at] == event, 1)) {
    return icp_iterations_detect(iterations, event);
  }
  iterations->at = at + 1 == iterations->period ? 0 : at + 1;
  return at == 0;
}

#endif
