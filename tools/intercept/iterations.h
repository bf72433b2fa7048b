/* SPDX-License-Identifier: BSD-3-Clause */
/* Iterations of the program, found in a stream of places while it runs.
 *
 * Looked at now and then, the events so far show the main loop (tsanom_dpd_main_loop()),
 * an event that begins its iterations: the anchor. Inner loops may take any number of
 * iterations, and some iterations may have further events.
 *
 *   stream      s  a b b c  a b c  a b b b c  a b c ...
 *                                              ^ looked at: the anchor is a
 *   iteration                                  ^ begins
 *
 * Once a loop has lasted for a while, its events are only compared: with the anchor, and
 * with the set of the loop's places. Another place wakes the detector. */
#ifndef TSN_INTERCEPT_ITERATIONS_H
#define TSN_INTERCEPT_ITERATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tsanom/dpd.h>

#include "record/regions.h"

enum {
  /* Events that are kept to look at; an iteration may have a third of them. */
  ICP_HISTORY = 1 << 15,
  /* The first look is at this many events. */
  ICP_LEAST = 6,
  /* A loop that lasts for this many events, for this multiple of those in which it was
   * found, and for this many iterations, is only compared. A loop around it all of whose
   * places had been seen has three iterations by then. */
  ICP_SETTLED = 8192,
  ICP_SETTLED_SPANS = 4,
  ICP_SETTLED_ITERATIONS = 8,
  /* Iterations before a loop is found whose moments are kept: the latest of them. */
  ICP_EARLY = 1024
};

#define ICP_NO_ANCHOR UINT32_MAX

/* When the iterations of a loop began, before it was found. */
typedef struct {
  uint64_t moment[ICP_EARLY]; /* of iteration k, CLOCK_MONOTONIC, at k mod ICP_EARLY */
  uint64_t count;             /* of iterations */
} icp_early;

/* With which events the iterations of a loop begin, see tsanom_dpd_main. */
typedef struct {
  uint32_t anchor;    /* ICP_NO_ANCHOR: no loop was found yet */
  uint32_t previous;  /* only an anchor behind this one counts; ICP_NO_ANCHOR: each one */
  uint32_t not_after; /* an anchor behind this one does not count; ICP_NO_ANCHOR */
  uint32_t every;     /* each of how many anchors that count begins an iteration */
  uint32_t count;     /* of anchors that counted since then */
  uint32_t latest;    /* event */
} icp_begins;

/* Zero it, then start it. */
typedef struct {
  icp_begins begin;
  icp_begins other; /* of another loop that the latest look found */
  bool settled;     /* events are only compared */
  bool named;       /* the anchor was given */
  bool left_out;    /* the history lacks events */
  /* Numbers go on from those of a loop that has ended, or another one took over, of which the
   * history lacks iterations. */
  bool moved;
  /* Another loop is followed, the first one or instead of one that goes on: the caller numbers
   * iterations anew, and clears it. */
  bool restarts;
  uint64_t member[TSN_REGIONS_PLACES_MAX / 64]; /* places of the loop, by bits */
  uint64_t since;                               /* events since the last begin */
  uint64_t longest;                             /* events of an iteration, at most */
  uint64_t settles;           /* unchanged events after which it settles */
  uint64_t unchanged, begins; /* events and begins since the anchor was set or another
                                 place came */
  size_t count;               /* events in the history */
  size_t looked;              /* of these when it was looked at last */
  uint32_t fruitless;         /* full histories in which no other loop was found */
  uint32_t kinds;             /* events are below it */
  uint32_t *history;
  double *moment;  /* of each event in the history, and of the latest again: nanoseconds
                          of CLOCK_MONOTONIC */
  icp_early early; /* of the loop that is followed */
  unsigned char *seen; /* by place: its events in the history, at most 4 */
} icp_iterations;

/* Take memory from the system, not from the program's heap; pages are used when they are
 * written first. Returns 0, or an errno. */
int icp_iterations_start(icp_iterations *iterations);

/* Follow this place, whatever the loop around it is; ICP_NO_ANCHOR: follow nothing. */
void icp_iterations_name(icp_iterations *iterations, uint32_t anchor);

/* The iterations that events show as a whole: of event numbers of the history. 0: no main loop. */
typedef struct {
  const double *moment; /* by event */
  tsanom_dpd_iteration *iteration;
  size_t count;
  double covered; /* time of the iterations */
} icp_whole;

/* Look a last time, when the program ends. False: there are no events, or some are missing, or
 * there is no memory. */
bool icp_iterations_look_last(const icp_iterations *iterations, icp_whole *whole);

/* Feed an event of a loop that is not settled, or of another place. */
bool icp_iterations_detect(icp_iterations *iterations, uint32_t event);

static inline bool icp_set_has(const uint64_t *set, uint32_t event) {
  return set[event / 64] >> event % 64 & 1;
}

static inline bool icp_begins_push(icp_begins *b, uint32_t event) {
  bool counts = event == b->anchor &&
                (b->previous == ICP_NO_ANCHOR || b->previous == b->latest) &&
                (b->not_after == ICP_NO_ANCHOR || b->not_after != b->latest);
  b->latest = event;
  if (!counts || ++b->count < b->every) return false;
  b->count = 0;
  return true;
}

/* Count an event of the loop that is followed; returns whether it begins an iteration. */
static inline bool icp_iterations_count(icp_iterations *iterations, uint32_t event) {
  iterations->since++;
  if (!icp_begins_push(&iterations->begin, event)) return false;
  if (iterations->since > iterations->longest) iterations->longest = iterations->since;
  iterations->since = 0;
  return true;
}

/* Feed an event. Returns whether it begins an iteration. */
static inline bool icp_iterations_push(icp_iterations *iterations, uint32_t event) {
  if (!__builtin_expect(iterations->settled && icp_set_has(iterations->member, event),
                        1)) {
    return icp_iterations_detect(iterations, event);
  }
  return icp_iterations_count(iterations, event);
}

#endif
