/* SPDX-License-Identifier: BSD-3-Clause */
/* The events of a recorded run as a stream, at one of two levels. Without --level the
 * library decides: regions, unless worksharing loops for most of the time and regions do
 * not. Both levels are converted for that decision, which takes one pass over the
 * records each. */
#include "region_stream.h"

#include <stdio.h>
#include <string.h>

#include "periods.h"
#include "run_open.h"

const char *level_name(int32_t level) {
  return level == TSANOM_RUNS_LEVEL_WORKSHARING ? "worksharing" : "regions";
}

void region_stream_free(region_stream *s) {
  tsanom_runs_destroy(s->run);
  *s = (region_stream){0};
}

static int take_level(const char *path, int32_t level, region_stream *s, failure *why) {
  s->level = level;
  tsanom_status status = tsanom_runs_events(s->run, level, NULL, &s->event, &s->count);
  return status < 0 ? fail_status(why, path, status) : 0;
}

size_t region_stream_limit(size_t count, size_t asked) {
  size_t third = count / 3;
  if (asked) return asked;
  return third < 1 ? 1 : third < PERIODS_MOST ? third : PERIODS_MOST;
}

static int choose_level(const char *path, size_t max_period, region_stream *s,
                        failure *why) {
  region_stream worksharing = *s;
  tsanom_speedup_options options;
  tsanom_speedup_options_init(&options, sizeof options);
  if (take_level(path, TSANOM_RUNS_LEVEL_REGIONS, s, why) ||
      take_level(path, TSANOM_RUNS_LEVEL_WORKSHARING, &worksharing, why)) {
    return -1;
  }
  size_t longer = s->count > worksharing.count ? s->count : worksharing.count;
  options.max_period = region_stream_limit(longer, max_period);
  int32_t level = TSANOM_SPEEDUP_REGIONS;
  tsanom_status status = tsanom_speedup_choose_level(
      s->event, s->count, worksharing.event, worksharing.count, &options, NULL, &level);
  if (status < 0) return fail_status(why, path, status);
  if (level == TSANOM_SPEEDUP_WORKSHARING) *s = worksharing;
  return 0;
}

int region_stream_read(const char *path, const tsanom_exec *exec, int salvage,
                       int32_t level, size_t max_period, region_stream *s, failure *why) {
  tsanom_runs_info info;
  if (run_open(path, TSANOM_RUNS_REGIONS, exec, salvage, &s->run, why)) return -1;
  info = (tsanom_runs_info){.struct_size = sizeof info};
  tsanom_runs_describe(s->run, &info);
  s->finished = info.state == TSANOM_RUN_FINISHED;
  s->total = info.last;
  int failed = level == LEVEL_AUTO ? choose_level(path, max_period, s, why)
                                   : take_level(path, level, s, why);
  if (failed) region_stream_free(s);
  return failed;
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
