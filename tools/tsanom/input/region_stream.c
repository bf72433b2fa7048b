/* SPDX-License-Identifier: BSD-3-Clause */
/* The events of a recorded run as a stream, at one of two levels, in pieces: whoever needs
 * them again reads them again. */
#include "region_stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run_open.h"

enum { PIECE = 1024 };

void region_stream_free(region_stream *s) {
  tsanom_runs_destroy(s->run);
  free(s->piece);
  *s = (region_stream){0};
}

void region_stream_rewind(region_stream *s) {
  s->at = 0;
}

int region_stream_next(region_stream *s, const tsanom_speedup_event **events,
                       size_t *count, failure *why) {
  *count = 0;
  *events = s->piece;
  if (s->at == s->count) return 0;
  tsanom_status status =
      tsanom_runs_events(s->run, s->level, s->at, NULL, s->piece, PIECE, count);
  if (status < 0) return fail_status(why, "the region events", status);
  s->at += *count;
  if (status == TSANOM_OK) s->count = s->at;
  return 0;
}

void region_stream_set_level(region_stream *s, int32_t level) {
  s->level = level;
  s->at = 0;
  s->count = TSANOM_NONE;
}

int region_stream_count(region_stream *s, failure *why) {
  const tsanom_speedup_event *event;
  size_t count;
  do {
    if (region_stream_next(s, &event, &count, why)) return -1;
  } while (count);
  return 0;
}

int region_stream_begin(region_stream *s, int32_t level, const char *path, failure *why) {
  tsanom_runs_info info = {.struct_size = sizeof info};
  tsanom_runs_describe(s->run, &info);
  s->finished = info.state == TSANOM_RUN_FINISHED;
  s->total = info.last;
  s->records = (size_t)info.events;
  s->piece = malloc(PIECE * sizeof *s->piece);
  region_stream_set_level(s, level);
  if (s->piece) return 0;
  region_stream_free(s);
  return fail(why, "%s: out of memory", path);
}

int region_stream_open(const char *path, const tsanom_exec *exec, int salvage,
                       int32_t level, region_stream *s, failure *why) {
  return run_open(path, TSANOM_RUNS_REGIONS, exec, salvage, &s->run, why)
             ? -1
             : region_stream_begin(s, level, path, why);
}

const char *region_stream_name(region_stream *s, uint64_t place) {
  const char *name = "?";
  (void)tsanom_runs_place_name(s->run, (size_t)place, NULL, &name);
  return name;
}

const char *region_stream_place(const region_stream *s, uint64_t place,
                                char text[PLACE_BYTES]) {
  tsanom_runs_place about;
  const char *module = "?";
  if (tsanom_runs_place_at(s->run, (size_t)place, &about) == TSANOM_OK) {
    module = strrchr(about.module, '/');
    module = module ? module + 1 : about.module;
  }
  (void)snprintf(text, PLACE_BYTES, "%s+0x%llx", module,
                 (unsigned long long)about.address);
  return text;
}

static int is_named(region_stream *s, size_t place, const char *text) {
  char address[PLACE_BYTES];
  const char *name = region_stream_name(s, place);
  size_t length = strlen(text);
  return !strcmp(region_stream_place(s, place, address), text) || !strcmp(name, text) ||
         (!strncmp(name, text, length) && !strncmp(name + length, " (", 2));
}

int region_stream_find(region_stream *s, const char *text, size_t *place, failure *why) {
  int is_share = s->level == TSANOM_RUNS_LEVEL_WORKSHARING;
  int32_t kind = is_share ? TSANOM_RUNS_VISIT_PART : TSANOM_RUNS_VISIT_BEGIN;
  size_t found = TSANOM_NONE;
  char one[PLACE_BYTES], other[PLACE_BYTES], shown[QUOTED_BYTES];
  tsanom_runs_place about;
  for (size_t i = 0; tsanom_runs_place_at(s->run, i, &about) == TSANOM_OK; i++) {
    if (about.kind != kind || !is_named(s, i, text)) continue;
    if (found != TSANOM_NONE) {
      return fail(why, "--loop: %s names several places, such as %s and %s",
                  quoted(shown, text), region_stream_place(s, found, one),
                  region_stream_place(s, i, other));
    }
    found = i;
  }
  *place = found;
  if (found != TSANOM_NONE) return 0;
  return fail(why,
              "--loop: the run has no %s %s; expected its name or MODULE+0xADDRESS, as "
              "tsanom speedup prints them",
              is_share ? "worksharing construct" : "region", quoted(shown, text));
}
