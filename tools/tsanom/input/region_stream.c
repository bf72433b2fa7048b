/* SPDX-License-Identifier: BSD-3-Clause */
#include "region_stream.h"

#include "beats.h"

const char *level_name(int32_t level) {
  return level == TSANOM_RUNS_LEVEL_WORKSHARING ? "worksharing" : "regions";
}

void region_stream_free(region_stream *s) {
  tsanom_runs_close(s->run);
  *s = (region_stream){0};
}

/* The time of the loop that takes most of it. */
static int find_looped(const tsanom_speedup_event *event, size_t count, double *seconds,
                       failure *why) {
  enum { LOOPS = 64 }; /* the analyzer's default capacity */
  tsanom_speedup_loop loop[LOOPS];
  tsanom_speedup *analyzer = NULL;
  size_t loops = 0;
  tsanom_status status = tsanom_speedup_create(NULL, NULL, &analyzer);
  for (size_t i = 0; i < count && status >= 0; i++) {
    status = tsanom_speedup_push(analyzer, &event[i]);
  }
  if (status >= 0) status = tsanom_speedup_finish(analyzer);
  if (status >= 0) status = tsanom_speedup_loops(analyzer, loop, LOOPS, &loops);
  tsanom_speedup_destroy(analyzer);
  if (status < 0) return fail_status(why, "iterations of regions", status);
  *seconds = 0;
  for (size_t i = 0; i < loops && i < LOOPS; i++) {
    if (loop[i].total_s > *seconds) *seconds = loop[i].total_s;
  }
  return 0;
}

static int take_level(const char *path, int32_t level, region_stream *s, failure *why) {
  s->level = level;
  tsanom_status status = tsanom_runs_events(s->run, level, NULL, &s->event, &s->count);
  return status < 0 ? fail_status(why, path, status) : 0;
}

/* Worksharing must take more than twice the time of loops of regions: some regions at the
 * beginning of a program may form a loop too. */
static int choose_level(const char *path, region_stream *s, failure *why) {
  double by_regions = 0, by_worksharing = 0;
  if (take_level(path, TSANOM_RUNS_LEVEL_REGIONS, s, why) ||
      find_looped(s->event, s->count, &by_regions, why) ||
      take_level(path, TSANOM_RUNS_LEVEL_WORKSHARING, s, why) ||
      find_looped(s->event, s->count, &by_worksharing, why)) {
    return -1;
  }
  if (by_worksharing > 2 * by_regions) return 0;
  return take_level(path, TSANOM_RUNS_LEVEL_REGIONS, s, why);
}

int region_stream_read(const char *path, const tsanom_exec *exec, int32_t level,
                       region_stream *s, failure *why) {
  tsanom_runs_info info;
  if (run_open(path, TSANOM_RUNS_REGIONS, exec, &s->run, why)) return -1;
  tsanom_runs_info_init(&info, sizeof info);
  tsanom_runs_describe(s->run, &info);
  s->finished = info.state == TSANOM_RUNS_FINISHED;
  s->total = info.last;
  int failed =
      level == LEVEL_AUTO ? choose_level(path, s, why) : take_level(path, level, s, why);
  if (failed) region_stream_free(s);
  return failed;
}

const char *region_stream_name(region_stream *s, uint64_t place) {
  const char *name = "?";
  (void)tsanom_runs_place_name(s->run, (size_t)place, NULL, &name);
  return name;
}
