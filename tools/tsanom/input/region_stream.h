/* SPDX-License-Identifier: BSD-3-Clause */
/* The parallel regions of a recorded run as one stream of events. */
#ifndef TSANOM_COMMAND_REGION_STREAM_H
#define TSANOM_COMMAND_REGION_STREAM_H

#include <tsanom/runs.h>
#include <tsanom/speedup.h>

#include "failure.h"

/* Regions, unless loops of worksharing take most of the time. */
enum { LEVEL_AUTO = -1 };

/* Zero it before use. */
typedef struct {
  int32_t level;                     /* TSANOM_RUNS_LEVEL_* */
  int finished;                      /* 0: the program was killed, or still runs */
  const tsanom_speedup_event *event; /* `region` is the number of a place */
  size_t count;
  double total; /* seconds to the last event */
  tsanom_runs *run;
} region_stream;

/* The longest period to look for in `count` events: what the user asked for; else (0) a
 * third of them, for a loop needs three iterations, at most PERIODS_MOST. */
size_t region_stream_limit(size_t count, size_t asked);

/* Read one level of a run. LEVEL_AUTO chooses by the loops of up to max_period events; 0:
 * of any length. */
int region_stream_read(const char *path, const tsanom_exec *exec, int salvage,
                       int32_t level, size_t max_period, region_stream *s, failure *why);

/* The name of a place, valid as long as the stream. */
const char *region_stream_name(region_stream *s, uint64_t place);

/* Its module and address as linked, "program+0x1a40": the same in all runs of a build. */
enum { PLACE_BYTES = 300 };
const char *region_stream_place(const region_stream *s, uint64_t place,
                                char text[PLACE_BYTES]);

/* The only place that a text names: by module and address, or by the name, up to " (" if
 * the text has none. */
int region_stream_find(region_stream *s, const char *text, size_t *place, failure *why);

const char *level_name(int32_t level);

void region_stream_free(region_stream *s);

#endif
