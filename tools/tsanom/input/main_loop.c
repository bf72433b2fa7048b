/* SPDX-License-Identifier: BSD-3-Clause */
/* The events of a recorded run as a stream, at one of two levels, in pieces: whoever needs
 * them again reads them again. And their main loop, as a pattern: the places of an iteration
 * in their order, each with the least and the greatest number of its events, as in
 *
 *   51 iterations of 142 to 180 regions: convect, transf 3-11, r_init 0-4
 */
#include "main_loop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_value.h"
#include "reserve.h"
#include "run_open.h"

enum { PIECE = 1024 };

/* ---- the stream */

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

/* Begin anew at a level. */
static void set_level(region_stream *s, int32_t level) {
  s->level = level;
  s->at = 0;
  s->count = TSANOM_NONE;
}

int region_stream_count(region_stream *s, double until, size_t *used, failure *why) {
  const tsanom_speedup_event *event;
  size_t count, i;
  *used = 0;
  region_stream_rewind(s);
  do {
    if (region_stream_next(s, &event, &count, why)) return -1;
    for (i = 0; i < count && event[i].end <= until; i++) ++*used;
  } while (i == count && count);
  return 0;
}

void region_stream_begin(region_stream *s, int32_t level) {
  tsanom_runs_info info = {.struct_size = sizeof info};
  tsanom_runs_describe(s->run, &info);
  s->finished = info.state == TSANOM_RUN_FINISHED;
  s->total = info.last;
  s->records = (size_t)info.events;
  s->piece = allocate(PIECE, sizeof *s->piece);
  set_level(s, level);
}

int region_stream_open(const char *path, const tsanom_exec *exec, int salvage,
                       int32_t level, region_stream *s, failure *why) {
  if (run_open(path, TSANOM_RUNS_REGIONS, exec, salvage, &s->run, why)) return -1;
  region_stream_begin(s, level);
  return 0;
}

const char *region_stream_name(region_stream *s, uint64_t place) {
  const char *name = "unknown place";
  (void)tsanom_runs_place_name(s->run, (size_t)place, NULL, &name);
  return name;
}

const char *region_stream_place(const region_stream *s, uint64_t place,
                                char text[PLACE_BYTES]) {
  tsanom_runs_place about = {.module = NULL};
  const char *module = "?";
  if (tsanom_runs_place_at(s->run, (size_t)place, &about) == TSANOM_OK) {
    module = strrchr(about.module, '/');
    module = module ? module + 1 : about.module;
  }
  (void)snprintf(text, PLACE_BYTES, "%s+0x%llx", module,
                 (unsigned long long)about.address);
  return text;
}

json_t *region_stream_place_json(const region_stream *s, uint64_t place) {
  char text[PLACE_BYTES];
  return json_name(region_stream_place(s, place, text));
}

static int is_named(region_stream *s, size_t place, const char *text) {
  char address[PLACE_BYTES];
  const char *name = region_stream_name(s, place);
  size_t length = strlen(text);
  return !strcmp(region_stream_place(s, place, address), text) || !strcmp(name, text) ||
         (!strncmp(name, text, length) && !strncmp(name + length, " (", 2));
}

/* The place of a level that a text names; TSANOM_NONE: there is none. */
static int find_place(region_stream *s, int32_t level, const char *text, size_t *place,
                      failure *why) {
  int32_t kind = level == TSANOM_RUNS_LEVEL_WORKSHARING ? TSANOM_RUNS_VISIT_PART
                                                        : TSANOM_RUNS_VISIT_BEGIN;
  char one[PLACE_BYTES], other[PLACE_BYTES], shown[QUOTED_BYTES];
  tsanom_runs_place about;
  *place = TSANOM_NONE;
  for (size_t i = 0; tsanom_runs_place_at(s->run, i, &about) == TSANOM_OK; i++) {
    if (about.kind != kind || !is_named(s, i, text)) continue;
    if (*place != TSANOM_NONE) {
      return fail(why, "--loop: %s names several places, such as %s and %s",
                  quoted(shown, text), region_stream_place(s, *place, one),
                  region_stream_place(s, i, other));
    }
    *place = i;
  }
  return 0;
}

int region_stream_find(region_stream *s, const char *text, int any_level, size_t *place,
                       failure *why) {
  int is_share = s->level == TSANOM_RUNS_LEVEL_WORKSHARING;
  int32_t other = is_share ? TSANOM_RUNS_LEVEL_REGIONS : TSANOM_RUNS_LEVEL_WORKSHARING;
  char shown[QUOTED_BYTES];
  if (find_place(s, s->level, text, place, why)) return -1;
  if (*place != TSANOM_NONE) return 0;
  if (any_level && find_place(s, other, text, place, why)) return -1;
  if (*place == TSANOM_NONE) {
    return fail(why,
                "--loop: the run has no %s %s; expected its name or MODULE+0xADDRESS, as "
                "tsanom speedup prints them",
                any_level  ? "region or worksharing construct"
                : is_share ? "worksharing construct"
                           : "region",
                quoted(shown, text));
  }
  set_level(s, other);
  return 0;
}

/* ---- the main loop */

enum { SHOWN = 12 };

/* The events as numbers, and their times. */
typedef struct {
  uint32_t *event;
  double *time;
} sequence;

static void sequence_free(sequence *q) {
  free(q->event);
  free(q->time);
}

static int take_events(region_stream *s, size_t used, sequence *q, failure *why) {
  q->event = allocate(used + 1, sizeof *q->event);
  q->time = allocate(used + 1, sizeof *q->time);
  region_stream_rewind(s);
  for (size_t at = 0; at < used;) {
    const tsanom_speedup_event *event;
    size_t count;
    if (region_stream_next(s, &event, &count, why)) return -1;
    if (!count) return fail(why, "the region events changed");
    for (size_t i = 0; i < count && at < used; i++, at++) {
      q->event[at] = (uint32_t)event[i].region;
      q->time[at] = event[i].begin;
      q->time[used] = event[i].end;
    }
  }
  return 0;
}

static int search(const region_stream *s, const sequence *q, size_t used, size_t anchor,
                  const tsanom_exec *exec, main_loop *loop, failure *why) {
  tsanom_dpd_main_options options;
  tsanom_dpd_main_options_init(&options, sizeof options);
  loop->about = (tsanom_dpd_main){.struct_size = sizeof loop->about};
  options.kinds = TSANOM_RUNS_PLACES_MAX;
  options.anchor = anchor;
  options.ended = s->finished && used == s->count;
  tsanom_status status = tsanom_dpd_main_loop(q->event, q->time, used, &options, exec,
                                              &loop->about, loop->iteration, used);
  if (status == TSANOM_INFEASIBLE) return 0;
  if (status != TSANOM_OK) return fail_status(why, "the main loop", status);
  loop->iterations = loop->about.iterations;
  return 0;
}

/* Count the events of each place in each iteration; index[place] is one more than that
 * of its part. A place that an iteration lacks has the least number 0. */
static void count_parts(const sequence *q, main_loop *loop, size_t *count,
                        size_t *index) {
  loop->least = TSANOM_NONE;
  for (size_t i = 0; i < loop->iterations; i++) {
    const tsanom_dpd_iteration *it = &loop->iteration[i];
    size_t events = it->end - it->first;
    if (events < loop->least) loop->least = events;
    if (events > loop->most) loop->most = events;
    for (size_t e = it->first; e < it->end; e++) count[q->event[e]]++;
    for (size_t e = it->first; e < it->end; e++) {
      size_t place = q->event[e], now = count[place];
      if (!now) continue;
      count[place] = 0;
      if (!index[place]) {
        loop->part[loop->parts++] = (loop_part){.place = place, .least = now};
        index[place] = loop->parts;
      }
      loop_part *part = &loop->part[index[place] - 1];
      if (now < part->least) part->least = now;
      if (now > part->most) part->most = now;
      part->iterations++;
    }
  }
  for (size_t k = 0; k < loop->parts; k++) {
    if (loop->part[k].iterations < loop->iterations) loop->part[k].least = 0;
  }
}

static void describe(const sequence *q, main_loop *loop) {
  size_t places = TSANOM_RUNS_PLACES_MAX; /* a damaged list has fewer */
  size_t *count = allocate(2 * places, sizeof *count);
  loop->part = allocate(places, sizeof *loop->part);
  count_parts(q, loop, count, count + places);
  free(count);
}

/* Find the main loop of the first `used` events, which *q gets. */
static int find(region_stream *s, size_t used, size_t anchor, const tsanom_exec *exec,
                main_loop *loop, sequence *q, failure *why) {
  main_loop_free(loop);
  loop->events = used;
  loop->anchor = anchor;
  loop->iteration = allocate(used + 1, sizeof *loop->iteration);
  if (take_events(s, used, q, why) || search(s, q, used, anchor, exec, loop, why)) {
    return -1;
  }
  if (loop->iterations) describe(q, loop);
  return 0;
}

int main_loop_find(region_stream *s, size_t used, size_t anchor, const tsanom_exec *exec,
                   main_loop *loop, failure *why) {
  sequence q = {0};
  if (loop->iteration && loop->events == used && loop->anchor == anchor) return 0;
  int failed = find(s, used, anchor, exec, loop, &q, why);
  sequence_free(&q);
  return failed;
}

/* Find the main loop of a level, and its events; it may have none. */
static int find_at(region_stream *s, int32_t level, double until, const tsanom_exec *exec,
                   main_loop *loop, sequence *q, failure *why) {
  size_t used;
  set_level(s, level);
  if (region_stream_count(s, until, &used, why)) return -1;
  return used ? find(s, used, TSANOM_NONE, exec, loop, q, why) : 0;
}

/* Between how many iterations of a loop of worksharing one of the regions begins. */
static size_t count_apart(const sequence *share, const main_loop *loop,
                          const sequence *region, size_t regions) {
  size_t apart = 0;
  for (size_t i = 0, at = 0; i < loop->iterations; i++) {
    size_t before = at;
    while (at < regions && region->time[at] <= share->time[loop->iteration[i].first]) {
      at++;
    }
    apart += i && at > before;
  }
  return apart;
}

/* Without a loop of worksharing that of regions need not be known. If half of the iterations of
 * worksharing begin in another region than the one before, they are those of regions, or none:
 * then that loop does not count. */
int main_loop_choose_level(region_stream *s, double until, const tsanom_exec *exec,
                           main_loop *loop, failure *why) {
  main_loop other = {.iterations = 0};
  sequence share = {0}, region = {0};
  int failed = find_at(s, TSANOM_RUNS_LEVEL_WORKSHARING, until, exec, loop, &share, why);
  if (!failed && loop->iterations) {
    failed = find_at(s, TSANOM_RUNS_LEVEL_REGIONS, until, exec, &other, &region, why);
    if (!failed &&
        2 * count_apart(&share, loop, &region, other.events) >= loop->iterations)
      loop->about.covered = 0;
  }
  sequence_free(&share);
  sequence_free(&region);
  int32_t level = TSANOM_SPEEDUP_REGIONS;
  (void)tsanom_speedup_choose_level(other.about.covered, loop->about.covered, &level);
  int is_worksharing = level == TSANOM_SPEEDUP_WORKSHARING;
  main_loop_free(is_worksharing ? &other : loop);
  if (!is_worksharing) *loop = other;
  set_level(s,
            is_worksharing ? TSANOM_RUNS_LEVEL_WORKSHARING : TSANOM_RUNS_LEVEL_REGIONS);
  return failed;
}

static void print_range(size_t least, size_t most) {
  if (least == most) {
    printf("%zu", least);
  } else {
    printf("%zu to %zu", least, most);
  }
}

static const char *relation_name(int32_t relation) {
  return relation == TSANOM_DPD_AROUND   ? "around"
         : relation == TSANOM_DPD_INSIDE ? "in"
         : relation == TSANOM_DPD_BESIDE ? "beside"
                                         : "candidate";
}

/* Where no loop is clear, the places at which one may begin. */
static void print_candidates(const main_loop *loop, region_stream *s) {
  char place[PLACE_BYTES];
  if (!loop->about.relations) return;
  printf("no main loop is clear; its iterations may begin at");
  for (size_t i = 0; i < loop->about.relations; i++) {
    printf("%s %s", i ? "," : "",
           region_stream_place(s, loop->about.related[i].anchor, place));
  }
  printf(" (--loop names one)\n\n");
}

void main_loop_print(const main_loop *loop, region_stream *s) {
  if (!loop->iterations) {
    print_candidates(loop, s);
    return;
  }
  char place[PLACE_BYTES];
  printf("main loop: %zu iterations of ", loop->iterations);
  print_range(loop->least, loop->most);
  printf(" events, from %s", region_stream_place(s, loop->about.anchor, place));
  if (loop->about.runs > 1) printf(", in %zu runs", loop->about.runs);
  printf("\n  an iteration:");
  for (size_t i = 0; i < loop->parts && i < SHOWN; i++) {
    const loop_part *part = &loop->part[i];
    printf("%s %s", i ? "," : "", region_stream_name(s, part->place));
    if (part->least == 1 && part->most == 1) continue;
    printf(" (");
    print_range(part->least, part->most);
    printf(")");
  }
  if (loop->parts > SHOWN) printf(", and %zu more places", loop->parts - SHOWN);
  for (size_t i = 0; i < loop->about.relations; i++) {
    const tsanom_dpd_related *other = &loop->about.related[i];
    printf("\n  %s it: %zu iterations from %s", relation_name(other->relation),
           other->iterations, region_stream_place(s, other->anchor, place));
  }
  printf("\n\n");
}

json_t *main_loop_json(const main_loop *loop, region_stream *s) {
  if (!loop->iterations) return json_null();
  json_t *parts = json_array();
  for (size_t i = 0; i < loop->parts; i++) {
    const loop_part *part = &loop->part[i];
    json_array_append_new(
        parts,
        json_pack("{so so sI sI}", "name", json_name(region_stream_name(s, part->place)),
                  "place", region_stream_place_json(s, part->place), "least",
                  (json_int_t)part->least, "most", (json_int_t)part->most));
  }
  json_t *related = json_array();
  for (size_t i = 0; i < loop->about.relations; i++) {
    const tsanom_dpd_related *other = &loop->about.related[i];
    json_array_append_new(
        related, json_pack("{ss so so sI}", "relation", relation_name(other->relation),
                           "start", json_name(region_stream_name(s, other->anchor)),
                           "place", region_stream_place_json(s, other->anchor),
                           "iterations", (json_int_t)other->iterations));
  }
  return json_pack("{so so sI sI sI sI so so so}", "start",
                   json_name(region_stream_name(s, loop->about.anchor)), "place",
                   region_stream_place_json(s, loop->about.anchor), "iterations",
                   (json_int_t)loop->iterations, "runs", (json_int_t)loop->about.runs,
                   "least", (json_int_t)loop->least, "most", (json_int_t)loop->most,
                   "covered_s", json_finite(loop->about.covered), "parts", parts,
                   "related", related);
}

json_t *main_loop_candidates(const main_loop *loop, region_stream *s) {
  json_t *candidates = json_array();
  for (size_t i = 0; !loop->iterations && i < loop->about.relations; i++) {
    size_t anchor = loop->about.related[i].anchor;
    json_array_append_new(
        candidates,
        json_pack("{so so}", "start", json_name(region_stream_name(s, anchor)), "place",
                  region_stream_place_json(s, anchor)));
  }
  return candidates;
}

void main_loop_free(main_loop *loop) {
  free(loop->iteration);
  free(loop->part);
  *loop = (main_loop){.iterations = 0};
}
