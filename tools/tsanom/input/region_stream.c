/* SPDX-License-Identifier: BSD-3-Clause */
#include "region_stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "beats.h"
#include "symbol.h"

enum { DEPTH_MOST = 64 };

int region_stream_is_run(const char *path) {
  struct stat about;
  return strcmp(path, "-") != 0 && stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

const char *level_name(int level) {
  return level == LEVEL_WORKSHARING ? "worksharing" : "regions";
}

void region_stream_free(region_stream *s) {
  for (size_t i = 0; s->name && i < tsanom_regions_places(s->regions); i++) {
    free(s->name[i]);
  }
  free(s->name);
  free(s->event);
  tsanom_regions_close(s->regions);
  *s = (region_stream){0};
}

static int refused(failure *why, const char *path, tsanom_status status,
                   const tsanom_heartbeat_fault *fault) {
  if (status == TSANOM_E_IO && *fault->text) {
    return fail(why,
                "%s: %s (tsanom record makes it as the program opens its first parallel "
                "region)",
                fault->file, fault->text);
  }
  return run_failure(why, path, status, fault);
}

/* Regions outside of any other, from their begin to their end; the last may lack its
 * end. */
static size_t take_regions(const tsanom_regions_event *raw, size_t count,
                           tsanom_speedup_event *out) {
  size_t found = 0, depth = 0, outermost = 0;
  for (size_t i = 0; i < count; i++) {
    if (raw[i].kind == TSANOM_REGIONS_BEGIN) {
      if (depth++ == 0) outermost = i;
    } else if (raw[i].kind == TSANOM_REGIONS_END && depth > 0 && --depth == 0) {
      out[found++] =
          (tsanom_speedup_event){.region = (uint64_t)raw[outermost].place,
                                 .begin = raw[outermost].time,
                                 .end = raw[i].time,
                                 .threads = raw[i].threads > 0 ? raw[i].threads : 1};
    }
  }
  return found;
}

/* The work that ends with each construct: since the one before, or since the region
 * began. */
static size_t take_worksharing(const tsanom_regions_event *raw, size_t count,
                               tsanom_speedup_event *out) {
  size_t found = 0, depth = 0;
  double begun = 0;
  for (size_t i = 0; i < count; i++) {
    if (raw[i].kind == TSANOM_REGIONS_BEGIN && depth++ == 0) begun = raw[i].time;
    if (raw[i].kind == TSANOM_REGIONS_END && depth > 0) depth--;
    if (raw[i].kind != TSANOM_REGIONS_SHARE) continue;
    out[found++] =
        (tsanom_speedup_event){.region = (uint64_t)raw[i].place,
                               .begin = begun,
                               .end = raw[i].time,
                               .threads = raw[i].threads > 0 ? raw[i].threads : 1};
    begun = raw[i].time;
  }
  return found;
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

/* Regions, unless worksharing loops for more than twice their time: some regions that
 * a program begins with may form a loop too. */
static int choose_level(const tsanom_regions_event *raw, size_t count, region_stream *s,
                        failure *why) {
  double by_regions = 0, by_worksharing = 0;
  if (s->level == LEVEL_AUTO) {
    s->count = take_regions(raw, count, s->event);
    if (find_looped(s->event, s->count, &by_regions, why)) return -1;
    s->count = take_worksharing(raw, count, s->event);
    if (find_looped(s->event, s->count, &by_worksharing, why)) return -1;
    s->level = by_worksharing > 2 * by_regions ? LEVEL_WORKSHARING : LEVEL_REGIONS;
  }
  s->count = s->level == LEVEL_REGIONS ? take_regions(raw, count, s->event)
                                       : take_worksharing(raw, count, s->event);
  return 0;
}

/* Of the threads that open regions outside of any other, which have the number 0, the
 * one that has most to tell: which of them came first may be chance. */
static uint32_t choose_stream(const tsanom_heartbeat_run *source, uint32_t streams) {
  tsanom_heartbeat_stream_info about;
  uint32_t chosen = 0;
  uint64_t most = 0;
  for (uint32_t s = 0; s < streams; s++) {
    tsanom_heartbeat_run_stream(source, s, &about, sizeof about);
    if (about.thread != 0 || about.beats <= most) continue;
    chosen = s;
    most = about.beats;
  }
  return chosen;
}

static int read_events(const char *path, region_stream *s, failure *why) {
  tsanom_heartbeat_stream_info about;
  tsanom_heartbeat_run_info run;
  tsanom_heartbeat_fault fault;
  const tsanom_heartbeat_run *source = tsanom_regions_run(s->regions);
  tsanom_heartbeat_run_describe(source, &run, sizeof run);
  uint32_t stream = choose_stream(source, run.streams);
  tsanom_heartbeat_run_stream(source, stream, &about, sizeof about);
  tsanom_heartbeat_fault_init(&fault, sizeof fault);
  tell_lost_beats(path, source);
  s->finished = run.finished;
  s->total = about.last;
  size_t count = (size_t)about.beats;
  tsanom_regions_event *raw = calloc(count ? count : 1, sizeof *raw);
  s->event = calloc(count ? count : 1, sizeof *s->event);
  s->name = calloc(tsanom_regions_places(s->regions) + 1, sizeof *s->name);
  int failed = -1;
  if (!raw || !s->event || !s->name) {
    fail(why, "%s: out of memory", path);
  } else {
    tsanom_status status = tsanom_regions_read(s->regions, stream, 0, count, raw, &fault);
    failed = status < 0 ? refused(why, path, status, &fault)
                        : choose_level(raw, count, s, why);
  }
  free(raw);
  return failed;
}

int region_stream_read(const char *path, const tsanom_exec *exec, int level,
                       region_stream *s, failure *why) {
  tsanom_heartbeat_fault fault;
  tsanom_heartbeat_fault_init(&fault, sizeof fault);
  *s = (region_stream){.level = level};
  tsanom_status status = tsanom_regions_open(path, exec, &fault, &s->regions);
  if (status != TSANOM_OK) return refused(why, path, status, &fault);
  if (!read_events(path, s, why)) return 0;
  region_stream_free(s);
  return -1;
}

const char *region_stream_name(region_stream *s, uint64_t place) {
  tsanom_regions_place where;
  if (tsanom_regions_place_at(s->regions, (size_t)place, &where, sizeof where) < 0) {
    return "?";
  }
  if (!s->name[place]) {
    s->name[place] = symbol_of(where.module, where.address - (where.is_call ? 1 : 0));
  }
  return s->name[place] ? s->name[place] : "?";
}
