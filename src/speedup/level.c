/* SPDX-License-Identifier: BSD-3-Clause */
/* Choice between the stream of regions and that of worksharing. A program that opens one
 * region around all its work has no loop of regions; its worksharing constructs and
 * barriers form one:
 *
 *     regions       |-----------------------------------------------|   one event
 *     worksharing   |for|for|barrier|for|for|barrier|for|for|barrier|   period 3
 *
 * Both are analyzed, one after the other, in the same memory, and the loops that take the
 * most time are compared. Regions are preferred: they are what the paper analyzes. The
 * second analysis is left out where it cannot change the choice, because a loop takes no
 * more time than its stream; so is the first if there is no worksharing.
 *
 * O(log M) per event, as the analysis itself; memory for one analyzer.
 *
 * A file of its own, as only this has a workspace: a program that pushes events alone needs
 * nothing that ends parallel regions behind an exception. */
#include <math.h>

#include "core/exec.h"
#include "core/fault.h"
#include "core/size.h"
#include "speedup/speedup.h"

/* Worksharing must take more than this multiple of the time of regions: some programs
 * begin with a few regions that form a loop. */
#define WORKSHARING_FACTOR 2

typedef struct {
  const char *name, *count_name;
  const tsanom_speedup_event *events;
  size_t count;
  double seconds; /* of the loop that takes the most time */
} level_stream;

typedef struct {
  tsn_speedup_block block;
  tsanom_exec exec;
  level_stream stream[2]; /* by level */
  int32_t *level;         /* the result */
} level_call;

static void layout(tsn_arena *arena, void *context) {
  level_call *call = context;
  tsn_speedup_layout(arena, &call->block);
}

/* The events alone. The fault names the first one that is out of order or invalid. */
static tsanom_status check_stream(const level_call *call, const level_stream *stream) {
  return tsn_speedup_check_all(&call->exec, stream->name, stream->events, stream->count);
}

/* Analyze one stream. Time is that of all runs of a loop together, serial code between its
 * regions included. */
static tsanom_status analyze_stream(level_call *call, level_stream *stream) {
  tsanom_status status = tsn_speedup_start(&call->block, &call->exec);
  if (status < 0) return status;
  tsanom_speedup *analyzer = call->block.analyzer;
  for (size_t i = 0; i < stream->count; i++) {
    status = tsn_speedup_push(analyzer, &stream->events[i]);
    if (status < 0) return check_stream(call, stream);
  }
  tsn_speedup_finish(analyzer);
  stream->seconds = 0;
  for (size_t i = 0; i < analyzer->loop_count; i++) {
    stream->seconds = fmax(stream->seconds, analyzer->loops[i].total);
  }
  return TSANOM_OK;
}

static double duration_of(const level_stream *stream) {
  if (!stream->count) return 0;
  return stream->events[stream->count - 1].end - stream->events[0].begin;
}

static tsanom_status choose(void *context) {
  level_call *call = context;
  level_stream *regions = &call->stream[TSANOM_SPEEDUP_REGIONS];
  level_stream *worksharing = &call->stream[TSANOM_SPEEDUP_WORKSHARING];
  if (!worksharing->count) return check_stream(call, regions);
  tsanom_status status = analyze_stream(call, regions);
  if (status < 0) return status;
  if ((status = check_stream(call, worksharing)) < 0) return status;
  if (duration_of(worksharing) <= WORKSHARING_FACTOR * regions->seconds) return status;
  return analyze_stream(call, worksharing);
}

static tsanom_status check_pointers(void *context) {
  const level_call *call = context;
  for (int i = 0; i < 2; i++) {
    const level_stream *stream = &call->stream[i];
    if (stream->count && !stream->events) {
      return tsn_reject_null(&call->exec, stream->name, stream->count);
    }
  }
  return tsn_require(&call->exec, call->level, "level");
}

/* Options that have no effect on a choice must have their defaults, so that a caller does
 * not expect them to act. */
static tsanom_status read_level_call(level_call *call,
                                     const tsanom_speedup_options *options,
                                     const tsanom_exec *exec) {
  tsanom_speedup_options *own = &call->block.options;
  tsanom_status status = tsn_exec_read(&call->exec, exec);
  if (status < 0) return status;
  if ((status = tsn_speedup_prepare(&call->block, options, &call->exec)) < 0) {
    return status;
  }
  status = tsn_speedup_unused(&call->exec, "options.baseline", (size_t)own->baseline, 0);
  if (status < 0) return status;
  const char *unused = own->visit        ? "options.visit"
                       : own->visit_user ? "options.visit_user"
                                         : NULL;
  if (!unused) return TSANOM_OK;
  return tsn_reject_is(&call->exec, TSANOM_E_OPTION, unused, TSANOM_NONE,
                       "set; NULL is expected, since this function does not use it");
}

tsanom_status tsanom_speedup_choose_level(const tsanom_speedup_event *regions,
                                          size_t region_count,
                                          const tsanom_speedup_event *worksharing,
                                          size_t worksharing_count,
                                          const tsanom_speedup_options *options,
                                          const tsanom_exec *exec, int32_t *level) {
  level_call call = {
      .stream = {{.name = "regions",
                  .count_name = "region_count",
                  .events = regions,
                  .count = region_count},
                 {.name = "worksharing",
                  .count_name = "worksharing_count",
                  .events = worksharing,
                  .count = worksharing_count}},
      .level = level,
  };
  tsanom_status status = read_level_call(&call, options, exec);
  if (status < 0) return status;
  for (int i = 0; i < 2; i++) {
    const level_stream *stream = &call.stream[i];
    status = tsn_require_size(&call.exec, TSANOM_E_OVERFLOW, stream->count_name,
                              stream->count, 0, PTRDIFF_MAX / sizeof *stream->events);
    if (status < 0) return status;
  }
  status = tsn_workspace_run(&call.exec, layout, check_pointers, choose, &call);
  if (status < 0) return status;
  const level_stream *stream = call.stream;
  *level = stream[TSANOM_SPEEDUP_WORKSHARING].seconds >
                   WORKSHARING_FACTOR * stream[TSANOM_SPEEDUP_REGIONS].seconds
               ? TSANOM_SPEEDUP_WORKSHARING
               : TSANOM_SPEEDUP_REGIONS;
  return status;
}
