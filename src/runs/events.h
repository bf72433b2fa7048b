/* SPDX-License-Identifier: BSD-3-Clause */
/* The outermost regions of a program, or its worksharing constructs, as events. Which of
 * the two levels shows the program's iterations is decided by
 * tsanom_speedup_choose_level(); each is converted when it is asked for, and continued
 * from there after a refresh. */
#ifndef TSN_RUNS_EVENTS_H
#define TSN_RUNS_EVENTS_H

#include <tsanom/runs.h>
#include <tsanom/speedup.h>

#include "runs/walk.h"

enum { TSN_LEVELS = 2 };

/* The events of one level so far, and where the conversion is. Zero it before use. */
typedef struct {
  /* tsanom_speedup_event */
  tsn_array event;
  size_t count;
  /* The one of the channel that is converted. */
  size_t stream;
  tsn_walk walk;
  /* Begin of the event to come: of the outermost region, or the end of the last share in
   * it. */
  double begun;
} tsn_level;

/* Number of the stream of the thread that opens the outermost regions. */
size_t tsn_level_stream(const tsn_channel *channel);

/* Convert the records that are new. After a failure nothing has changed. */
tsanom_status tsn_level_update(tsn_level *level, int32_t which,
                               const tsn_channel *channel, const tsanom_exec *exec);

#endif
