/* SPDX-License-Identifier: BSD-3-Clause */
/* The one reading of region events: what is open, which end belongs to which begin, and
 * what a thread used meanwhile. A walk has no pointers into the stream, so that it goes on
 * behind a refresh, and a copy of it is another walk from there.
 *
 *   records   BEGIN 5  ENTERED f  CPU  LEFT f  CPU  SHARE 7  CPU  END 5
 *   visits    begin    begin           end          part          end
 *   depth       0        1              1             1            0      open around it
 *
 * Streams are cut off where a program was killed, a file is damaged, or a limit ends the
 * recording; functions are left by longjmp(). The rule for all users:
 *
 *   end without a begin        no visit; counted in `unmatched`
 *   END within functions       they were left: their ends come first, with known = false
 *   LEFT of an outer function  the same for those inside; never out of a region or call
 *   open behind the last one   tsn_walk_finish() ends them, with known = false
 *   more than 64 open          further ones, and those in them, are only counted
 *
 * Any END closes the innermost region or call: the recorder writes them in pairs. */
#ifndef TSN_RUNS_WALK_H
#define TSN_RUNS_WALK_H

#include "record/regions.h"
#include "runs/channel.h"
#include "runs/places.h"

enum { TSN_WALK_DEPTH = 64 };

/* What begins and ends. */
enum { TSN_WALK_REGION, TSN_WALK_CALL, TSN_WALK_FUNCTION };

/* Kinds of visits. */
enum {
  TSN_VISIT_BEGIN,
  TSN_VISIT_END,
  TSN_VISIT_PART,    /* a worksharing construct ends */
  TSN_VISIT_CPU,     /* is in `used` from now on, until another event */
  TSN_VISIT_METRIC,  /* `place` is its number */
  TSN_VISIT_TASKS,   /* `threads` is their number */
  TSN_VISIT_WORK,    /* of the thread that opened the region ends */
  TSN_VISIT_DROPPED, /* the function is not recorded any more */
};

/* Processor time in seconds, and counts of the metrics. NaN: not measured. */
typedef struct {
  double cpu, count[TSN_REGIONS_METRICS];
} tsn_usage;

typedef struct {
  double begin;
  int32_t place, what;
} tsn_walk_open;

/* `used` and `last_part` are those in front of the event; of two processor times, the
 * first is that of the last part of a region. */
typedef struct {
  int32_t kind, what, place, threads;
  size_t depth, regions; /* open around it; of these, regions and calls */
  double time, begin;    /* `begin` of an end */
  double count;          /* of a metric */
  bool known;            /* of an end: it was recorded */
  const tsn_usage *used, *last_part;
} tsn_visit;

typedef struct {
  const tsn_places *calls; /* which places are calls of MPI; NULL: they are regions */
  bool functions;          /* are visited */
  bool forgets;            /* the next event has no usage in front of it yet */
  bool counts;             /* there are counts to forget then */
  size_t at;               /* records taken */
  size_t depth, regions;
  size_t deeper_regions, deeper_functions;
  size_t unmatched;
  tsn_usage used, last_part;
  double count[TSN_REGIONS_METRICS]; /* since the latest processor time */
  tsn_walk_open open[TSN_WALK_DEPTH];
} tsn_walk;

tsn_walk tsn_walk_begin(const tsn_places *calls, bool functions);

/* The next visit of the stream of a reader; false: it has no more, or reading failed. A visit
 * lasts until the next call. */
bool tsn_walk_next(tsn_walk *w, tsn_reader *reader, tsn_visit *visit);

/* End what is open, at that time, the innermost first; false: nothing is. */
bool tsn_walk_finish(tsn_walk *w, double last, tsn_visit *visit);

enum { TSN_LEVELS = 2 };

/* Where the conversion to the events of a level is that a call continues: outermost regions,
 * or worksharing constructs. Which of the two shows the program's iterations is for the caller
 * to decide. Zero it before use. */
typedef struct {
  size_t count;  /* events before */
  size_t stream; /* the one of the channel that is converted */
  tsn_walk walk;
  /* Begin of the event to come: of the outermost region, or the end of the last share in
   * it. */
  double begun;
} tsn_level;

#endif
