/* SPDX-License-Identifier: BSD-3-Clause */
/* The parallel regions of a recorded run as one stream of events. */
#ifndef TSANOM_COMMAND_REGION_STREAM_H
#define TSANOM_COMMAND_REGION_STREAM_H

#include <tsanom/runs.h>
#include <tsanom/speedup.h>

#include "failure.h"

/* Zero it before use. */
typedef struct {
  int32_t level;  /* TSANOM_RUNS_LEVEL_* */
  int finished;   /* 0: the program was killed, or still runs */
  size_t at;      /* events that were read */
  size_t count;   /* all events, once the last one was read; else TSANOM_NONE */
  size_t records; /* of all streams; there are fewer events */
  double total;   /* seconds to the last event */
  tsanom_runs *run;
  tsanom_speedup_event *piece;
} region_stream;

/* Open a run at a level, and begin anew at another one. */
int region_stream_open(const char *path, const tsanom_exec *exec, int salvage,
                       int32_t level, region_stream *s, failure *why);
/* Begin at a level of s->run, which is open. */
int region_stream_begin(region_stream *s, int32_t level, const char *path, failure *why);
void region_stream_set_level(region_stream *s, int32_t level);

/* The next events in the order of time, valid until the next call; *count 0: there are no
 * more. Their `region` is the number of a place. */
int region_stream_next(region_stream *s, const tsanom_speedup_event **events,
                       size_t *count, failure *why);
/* Read all events that are left: their number is known then. */
int region_stream_count(region_stream *s, failure *why);
void region_stream_rewind(region_stream *s);

/* The name of a place, valid as long as the stream. */
const char *region_stream_name(region_stream *s, uint64_t place);

/* Its module and address as linked, "program+0x1a40": the same in all runs of a build. */
enum { PLACE_BYTES = 300 };
const char *region_stream_place(const region_stream *s, uint64_t place,
                                char text[PLACE_BYTES]);

/* The only place that a text names: by module and address, or by the name, up to " (" if
 * the text has none. */
int region_stream_find(region_stream *s, const char *text, size_t *place, failure *why);

void region_stream_free(region_stream *s);

#endif
