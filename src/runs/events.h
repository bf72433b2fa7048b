/* SPDX-License-Identifier: BSD-3-Clause */
/* The outermost regions of a program, or its worksharing constructs, as events. Which of the
 * two levels shows the program's iterations is for the caller to decide. */
#ifndef TSN_RUNS_EVENTS_H
#define TSN_RUNS_EVENTS_H

#include <tsanom/runs.h>
#include <tsanom/speedup.h>

#include "runs/walk.h"

enum { TSN_LEVELS = 2 };

/* Where the conversion is that a call continues. Zero it before use. */
typedef struct {
  size_t count;  /* events before */
  size_t stream; /* the one of the channel that is converted */
  tsn_walk walk;
  /* Begin of the event to come: of the outermost region, or the end of the last share in
   * it. */
  double begun;
} tsn_level;

/* Number of the stream of the thread that opens the outermost regions. */
size_t tsn_level_stream(const tsn_channel *channel);

/* Convert events from number `first` on, as tsanom_runs_events() does. */
tsanom_status tsn_level_read(tsn_level *level, int32_t which, const tsn_channel *channel,
                             size_t first, const tsanom_exec *exec,
                             tsanom_speedup_event *events, size_t capacity,
                             size_t *count);

#endif
