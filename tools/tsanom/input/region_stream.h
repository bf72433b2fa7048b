/* SPDX-License-Identifier: BSD-3-Clause */
/* The parallel regions of a recorded run, as the analyses take them. */
#ifndef TSANOM_COMMAND_REGION_STREAM_H
#define TSANOM_COMMAND_REGION_STREAM_H

#include <tsanom/regions.h>
#include <tsanom/speedup.h>

#include "failure.h"

/* What the events are. */
enum {
  LEVEL_AUTO = 0, /* regions, unless worksharing takes most of the time that loops do */
  LEVEL_REGIONS,
  LEVEL_WORKSHARING
};

/* Zero it before use. */
typedef struct {
  int level;
  int finished;                /* 0: the program was killed, or goes on */
  tsanom_speedup_event *event; /* `region` is the number of a place */
  size_t count;
  double total; /* seconds to the last event */
  tsanom_regions *regions;
  char **name; /* of each place; NULL: not asked for yet */
} region_stream;

int region_stream_is_run(const char *path);

/* Read the regions that a thread opened outside of any other, the one that has most of
 * them, or its work from one end of worksharing to the next. */
int region_stream_read(const char *path, const tsanom_exec *exec, int level,
                       region_stream *s, failure *why);

/* The name of a place: function, file and line as far as addr2line finds them, else
 * module and address. Lives as long as the stream. */
const char *region_stream_name(region_stream *s, uint64_t place);

const char *level_name(int level);

void region_stream_free(region_stream *s);

#endif
