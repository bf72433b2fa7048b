/* SPDX-License-Identifier: BSD-3-Clause */
/* Iterations of the program, found in a stream of places while it runs.
 *
 * The detector of nested loops (src/dpd) finds the loops in the stream; the outermost
 * one, of the longest period, is the program's main loop:
 *
 *   stream      s  a b b c  a b b c  a b b c  a b b c ...
 *   loops                            found: period 4; in it, b b: period 1
 *   iteration                        ^        ^        begins
 *
 * Once a loop has lasted longer than any loop that could contain it, an event is only
 * compared with the pattern of one iteration, which takes a few instructions. The
 * detector is fed again when an event differs. */
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
  /* Events are only compared with `pattern`. */
  bool locked;
  /* Locked: the index in `pattern` of the next event. */
  uint32_t at;
  /* Events of an iteration of the outermost loop that is going on; 0: there is none. */
  uint64_t period;
  /* Not locked: events before the next iteration's first. */
  uint64_t remaining;
  /* Events that the detector saw. */
  uint64_t index;
  /* Of them the latest, through which nothing changed. */
  uint64_t unchanged;
  /* `at` when it locked. */
  uint32_t locked_at;
  /* An iteration, locked. */
  uint32_t pattern[ICP_HISTORY];
  /* The latest events, by index modulo ICP_HISTORY: the source of the pattern. */
  uint32_t history[ICP_HISTORY];
  tsanom_dpd_nest *nest;
} icp_iterations;

/* Take memory for the detector from the system, not from the program's heap. Returns 0,
 * or an errno. */
int icp_iterations_start(icp_iterations *iterations);

/* Feed an event that does not continue a locked pattern. */
bool icp_iterations_detect(icp_iterations *iterations, uint32_t event);

/* Feed an event. Returns whether it begins an iteration. In a loop that is locked, one
 * comparison and one increment. */
static inline bool icp_iterations_push(icp_iterations *iterations, uint32_t event) {
  uint32_t at = iterations->at;
  if (!__builtin_expect(iterations->locked && iterations->pattern[at] == event, 1)) {
    return icp_iterations_detect(iterations, event);
  }
  iterations->at = at + 1 == iterations->period ? 0 : at + 1;
  return at == 0;
}

#endif
