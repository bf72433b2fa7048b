/* SPDX-License-Identifier: BSD-3-Clause */
/* Region events of a recorded run as times of regions by thread.
 *
 * A region is a place in the code inside the regions that are open there. Its time in a
 * thread is the processor time that the thread spent in it; waiting for the others at
 * the region's end is not part of that, which the elapsed time of thread 0 would hold.
 * Threads of one number are taken together, if teams are nested. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tsanom/regions.h>

#include "beats.h"
#include "region_run.h"
#include "symbol.h"

enum { DEPTH_MOST = 64, PIECE = 1024, THREADS_MOST = 1 << 16 };

typedef struct {
  int32_t parent, place;
  int32_t inner, next; /* the first region nested in it, and the next beside it */
} node;

typedef struct {
  const char *folder;
  tsanom_regions *regions;
  node *node; /* the first is the program, in which the outermost are nested */
  size_t nodes, room;
  size_t *row_of; /* of each thread number: NONE, or its process */
  size_t threads, rows;
  int adding; /* to the matrices, in the second pass */
  size_t measured;
  double first, last;
  region_file *file;
  failure *why;
} reader;

#define NONE SIZE_MAX

static int no_memory(const reader *r) {
  return fail(r->why, "%s: out of memory", r->folder);
}

/* The node of a place in a region, made at need; -1: out of memory. */
static int32_t nested(reader *r, int32_t parent, int32_t place) {
  int32_t at = r->node[parent].inner;
  while (at >= 0 && r->node[at].place != place) at = r->node[at].next;
  if (at >= 0) return at;
  if (r->nodes == r->room) {
    node *grown = realloc(r->node, 2 * r->room * sizeof *grown);
    if (!grown) return -1;
    r->node = grown;
    r->room *= 2;
  }
  at = (int32_t)r->nodes++;
  r->node[at] = (node){
      .parent = parent, .place = place, .inner = -1, .next = r->node[parent].inner};
  r->node[parent].inner = at;
  return at;
}

typedef struct {
  int32_t open[DEPTH_MOST], thread;
  size_t depth, row;
} thread_state;

/* What a thread other than 0 comes to first was opened by another, perhaps inside of
 * regions that only that one has seen. */
static int32_t joined(reader *r, int32_t place) {
  for (size_t at = 1; at < r->nodes; at++) {
    if (r->node[at].place == place) return (int32_t)at;
  }
  return nested(r, 0, place);
}

static int begin_region(reader *r, thread_state *t, int32_t place) {
  if (t->depth == DEPTH_MOST) {
    return fail(r->why, "%s: regions are nested deeper than %d", r->folder, DEPTH_MOST);
  }
  int32_t at = t->depth        ? nested(r, t->open[t->depth - 1], place)
               : t->thread > 0 ? joined(r, place)
                               : nested(r, 0, place);
  if (at < 0) return no_memory(r);
  t->open[t->depth++] = at;
  return 0;
}

static void add(reader *r, const thread_state *t, double seconds) {
  size_t regions = r->file->data.regions;
  size_t at = t->row * regions + (size_t)t->open[t->depth - 1] - 1;
  r->file->time[at] += seconds;
  r->file->value[at] += 1;
}

static int take_event(reader *r, thread_state *t, const tsanom_regions_event *event) {
  if (event->kind == TSANOM_REGIONS_BEGIN) return begin_region(r, t, event->place);
  if (t->depth == 0) return 0; /* a begin that was lost */
  if (event->kind == TSANOM_REGIONS_END) t->depth--;
  if (event->kind == TSANOM_REGIONS_CPU) {
    r->measured++;
    if (r->adding) add(r, t, event->cpu_s);
  }
  return 0;
}

static int read_stream(reader *r, uint32_t stream) {
  tsanom_heartbeat_stream_info about;
  tsanom_heartbeat_fault fault;
  tsanom_regions_event event[PIECE];
  tsanom_heartbeat_run_stream(tsanom_regions_run(r->regions), stream, &about,
                              sizeof about);
  tsanom_heartbeat_fault_init(&fault, sizeof fault);
  thread_state t = {.thread = about.thread, .row = r->row_of[about.thread]};
  for (uint64_t done = 0; done < about.beats;) {
    uint64_t left = about.beats - done;
    size_t count = left < PIECE ? (size_t)left : PIECE;
    tsanom_status status =
        tsanom_regions_read(r->regions, stream, done, count, event, &fault);
    if (status < 0) return fail(r->why, "%s: %s", fault.file, fault.text);
    for (size_t i = 0; i < count; i++) {
      if (take_event(r, &t, &event[i])) return -1;
    }
    done += count;
  }
  return 0;
}

static uint32_t stream_count(const reader *r) {
  tsanom_heartbeat_run_info info;
  tsanom_heartbeat_run_describe(tsanom_regions_run(r->regions), &info, sizeof info);
  return info.streams;
}

/* Threads that did anything are processes, by their numbers. */
static int number_threads(reader *r) {
  tsanom_heartbeat_stream_info about;
  uint32_t streams = stream_count(r);
  for (int pass = 0; pass < 2; pass++) {
    for (uint32_t s = 0; s < streams; s++) {
      tsanom_heartbeat_run_stream(tsanom_regions_run(r->regions), s, &about,
                                  sizeof about);
      if (about.thread < 0 || about.thread >= THREADS_MOST) {
        return fail(r->why, "%s: there is no thread %d", r->folder, about.thread);
      }
      size_t thread = (size_t)about.thread;
      if (pass == 0 && thread >= r->threads) r->threads = thread + 1;
      if (pass == 0 || about.beats == 0) continue;
      r->row_of[thread] = 0;
      if (r->last == 0 || about.first < r->first) r->first = about.first;
      if (about.last > r->last) r->last = about.last;
    }
    if (pass == 1) break;
    r->row_of = malloc((r->threads + 1) * sizeof *r->row_of);
    if (!r->row_of) return no_memory(r);
    for (size_t t = 0; t < r->threads; t++) r->row_of[t] = NONE;
  }
  for (size_t t = 0; t < r->threads; t++) {
    if (r->row_of[t] != NONE) r->row_of[t] = r->rows++;
  }
  return 0;
}

static int read_streams(reader *r) {
  tsanom_heartbeat_stream_info about;
  uint32_t streams = stream_count(r);
  for (uint32_t s = 0; s < streams; s++) {
    tsanom_heartbeat_run_stream(tsanom_regions_run(r->regions), s, &about, sizeof about);
    if (about.beats > 0 && read_stream(r, s)) return -1;
  }
  return 0;
}

/* The name of a node: that of its place, numbered where others have it already. */
static char *name_of(const reader *r, size_t at) {
  tsanom_regions_place where;
  char *name = NULL, *numbered = NULL;
  if (tsanom_regions_place_at(r->regions, (size_t)r->node[at].place, &where,
                              sizeof where) < 0) {
    name = strdup("a place that is not known");
  } else {
    name = symbol_of(where.module, where.address - (where.is_call ? 1 : 0));
  }
  size_t same = 0, length = name ? strlen(name) : 0;
  for (size_t k = 1; name && k < at; k++) {
    const char *other = r->file->region[k - 1];
    same += strncmp(other, name, length) == 0 &&
            (other[length] == '\0' || strncmp(other + length, " #", 2) == 0);
  }
  if (!name || same == 0) return name;
  if (asprintf(&numbered, "%s #%zu", name, same + 1) < 0) numbered = NULL;
  free(name);
  return numbered;
}

static int name_regions(reader *r) {
  region_file *f = r->file;
  for (size_t k = 0; k < f->data.regions; k++) {
    f->region[k] = name_of(r, k + 1);
    if (!f->region[k]) return no_memory(r);
    f->parent[k] = r->node[k + 1].parent - 1;
  }
  f->metric[0] = strdup("calls");
  return f->metric[0] ? 0 : no_memory(r);
}

/* Processes are called by their numbers anyway, unless some threads did nothing. */
static int name_threads(reader *r) {
  region_file *f = r->file;
  if (r->rows == r->threads) return 0;
  f->process = calloc(r->rows, sizeof *f->process);
  if (!f->process) return no_memory(r);
  for (size_t t = 0; t < r->threads; t++) {
    if (r->row_of[t] == NONE) continue;
    if (asprintf(&f->process[r->row_of[t]], "%zu", t) < 0) {
      f->process[r->row_of[t]] = NULL;
      return no_memory(r);
    }
  }
  return 0;
}

static int allocate(reader *r) {
  region_file *f = r->file;
  size_t regions = r->nodes - 1;
  f->region = calloc(regions, sizeof *f->region);
  f->parent = calloc(regions, sizeof *f->parent);
  f->metric = calloc(1, sizeof *f->metric);
  f->time = calloc(r->rows * regions, sizeof *f->time);
  f->value = calloc(r->rows * regions, sizeof *f->value);
  f->data.regions = regions;
  f->data.processes = r->rows;
  f->data.metrics = 1;
  f->data.elapsed = r->last - r->first;
  return f->region && f->parent && f->metric && f->time && f->value ? 0 : no_memory(r);
}

/* Once to find the regions, once to add up their times. */
static int read_all(reader *r) {
  r->room = 64;
  r->node = malloc(r->room * sizeof *r->node);
  if (!r->node) return no_memory(r);
  r->node[0] = (node){.parent = -1, .place = -1, .inner = -1, .next = -1};
  r->nodes = 1;
  if (number_threads(r) || read_streams(r)) return -1;
  if (r->nodes == 1) return fail(r->why, "%s: the run has no regions", r->folder);
  if (r->measured == 0) {
    return fail(r->why,
                "%s: the run has no processor times: record it by tsanom record "
                "--cpu-time",
                r->folder);
  }
  if (allocate(r) || name_regions(r) || name_threads(r)) return -1;
  r->adding = 1;
  return read_streams(r);
}

int region_events_read(const char *folder, const tsanom_exec *exec, region_file *f,
                       failure *why) {
  reader r = {.folder = folder, .file = f, .why = why};
  tsanom_heartbeat_fault fault;
  tsanom_heartbeat_fault_init(&fault, sizeof fault);
  tsanom_spmd_data_init(&f->data, sizeof f->data);
  tsanom_status status = tsanom_regions_open(folder, exec, &fault, &r.regions);
  if (status == TSANOM_E_IO && *fault.text) {
    return fail(why, "%s: %s (a run has regions by tsanom record, or by recorders)",
                fault.file, fault.text);
  }
  if (status < 0) return run_failure(why, folder, status, &fault);
  tell_lost_beats(folder, tsanom_regions_run(r.regions));
  int failed = read_all(&r);
  tsanom_regions_close(r.regions);
  free(r.node);
  free(r.row_of);
  if (failed) region_file_free(f);
  return failed;
}
