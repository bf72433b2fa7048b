/* SPDX-License-Identifier: BSD-3-Clause */
/* The outermost regions of a program, or its worksharing constructs, as events. */
#ifndef TSN_RUNS_EVENTS_H
#define TSN_RUNS_EVENTS_H

#include <tsanom/runs.h>

#include "runs/channel.h"

enum { TSN_LEVELS = 2 };

/* The events of one level so far, and where the conversion is. Zero it before use. */
typedef struct {
  tsn_array event; /* tsanom_speedup_event */
  size_t count;
  size_t stream; /* of the channel, that is converted */
  size_t taken;  /* records of it */
  size_t gap;    /* gaps before them */
  size_t depth;  /* regions open */
  double begun;
  bool is_lost;       /* the record is lost that gives `begun` */
  uint64_t outermost; /* place of the region that `depth` counts from */
} tsn_level;

/* Convert the records that are new. False: out of memory; nothing changed. */
bool tsn_level_update(tsn_level *level, int32_t which, const tsn_channel *channel);

#endif
