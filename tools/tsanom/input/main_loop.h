/* SPDX-License-Identifier: BSD-3-Clause */
/* The parallel regions of a recorded run as one stream of events, and their main loop. */
#ifndef TSANOM_COMMAND_MAIN_LOOP_H
#define TSANOM_COMMAND_MAIN_LOOP_H

#include <jansson.h>
#include <tsanom/dpd.h>
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

/* Open a run at a level. */
int region_stream_open(const char *path, const tsanom_exec *exec, int salvage,
                       int32_t level, region_stream *s, failure *why);
/* Begin at a level of s->run, which is open. */
void region_stream_begin(region_stream *s, int32_t level);

/* The next events in the order of time, valid until the next call; *count 0: there are no
 * more. Their `region` is the number of a place. */
int region_stream_next(region_stream *s, const tsanom_speedup_event **events,
                       size_t *count, failure *why);
/* How many events from the first one on end no later than `until`; where these are all, s->count
 * is known then. */
int region_stream_count(region_stream *s, double until, size_t *used, failure *why);
void region_stream_rewind(region_stream *s);

/* The name of a place, valid as long as the stream. */
const char *region_stream_name(region_stream *s, uint64_t place);

/* Its module and address as linked, "program+0x1a40": the same in all runs of a build. */
enum { PLACE_BYTES = 300 };
const char *region_stream_place(const region_stream *s, uint64_t place,
                                char text[PLACE_BYTES]);
json_t *region_stream_place_json(const region_stream *s, uint64_t place);

/* The only place that a text names: by module and address, or by the name, up to " (" if
 * the text has none. With `any_level` the place may be one of the other level, which is set. */
int region_stream_find(region_stream *s, const char *text, int any_level, size_t *place,
                       failure *why);

void region_stream_free(region_stream *s);

/* ---- the main loop */

/* A place of the loop: how often it occurs in an iteration, and in how many. */
typedef struct {
  size_t place, least, most, iterations;
} loop_part;

/* Zero it before use. */
typedef struct {
  tsanom_dpd_main about;
  tsanom_dpd_iteration *iteration;
  size_t iterations;  /* 0: there is no main loop */
  size_t least, most; /* events of an iteration */
  loop_part *part;    /* in the order of their first events */
  size_t parts;
  size_t events, anchor; /* as the call that found it had them */
} main_loop;

/* Set the level whose main loop of the events until then counts (tsanom_speedup_choose_level()).
 * *loop is the one of that level, or empty. */
int main_loop_choose_level(region_stream *s, double until, const tsanom_exec *exec,
                           main_loop *loop, failure *why);

/* Find it among the first `used` events, unless that is what *loop is; `anchor` TSANOM_NONE:
 * choose. */
int main_loop_find(region_stream *s, size_t used, size_t anchor, const tsanom_exec *exec,
                   main_loop *loop, failure *why);

/* Print one line about the loop, and one about its parts. */
void main_loop_print(const main_loop *loop, region_stream *s);

/* The same as JSON; null: there is no main loop. */
json_t *main_loop_json(const main_loop *loop, region_stream *s);

/* Where a main loop may begin, if none is clear. */
json_t *main_loop_candidates(const main_loop *loop, region_stream *s);

void main_loop_free(main_loop *loop);

#endif
