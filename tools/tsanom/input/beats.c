/* SPDX-License-Identifier: BSD-3-Clause */
/* Heartbeats of a run or CSV file, and the rates of a thread. `run` points into
 * `source`, which therefore stays open as long. */
#include "beats.h"

#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "environment.h"
#include "main_loop.h"
#include "reserve.h"
#include "rows.h"

int beats_read(const char *path, int32_t parts, const tsanom_exec *exec, int salvage,
               beats *b, failure *why) {
  const tsanom_hsa_run *run = NULL;
  tsanom_fault fault;
  tsanom_exec own = exec_with_fault(exec, &fault);
  if (run_open(path, parts, exec, salvage, &b->source, why)) return -1;
  tsanom_status status = tsanom_runs_hsa(b->source, &own, &run);
  if (status < 0) {
    beats_free(b);
    return fail_fault(why, file_title(path), status, &fault);
  }
  b->run = *run;
  if (!beats_restate(path, exec, salvage, b, why)) return 0;
  beats_free(b);
  return -1;
}

/* ---- the iterations of the whole */

/* Whether the recorder marked the run with this empty file. */
static int has_mark(const char *path, const char *name) {
  char file[PATH_MAX];
  (void)snprintf(file, sizeof file, "%s/regions/%s", path, name);
  return access(file, F_OK) == 0;
}

/* Whether the iterations were found while the program ran: then some began before, and were noted
 * later (docs/formats.md), or the run is marked. Without any they may still be found. */
static int were_found(const char *path, const beats *b, const tsanom_runs_info *info) {
  enum { EARLY_BIT = 31 };
  tsanom_runs_stream leader;
  if (has_mark(path, "recount")) return 1;
  if (!info->beats) return !has_mark(path, "time-beats");
  if (tsanom_runs_stream_at(b->source, TSANOM_RUNS_BEATS, 0, &leader) < 0) return 0;
  for (size_t i = 0; leader.tag && i < leader.count; i++) {
    if (leader.tag[i] >> EARLY_BIT) return 1;
  }
  return 0;
}

/* When the iterations of a loop begin, also one that has not ended. */
static int take_begins(region_stream *s, const main_loop *loop, double *begin,
                       size_t *count, failure *why) {
  size_t end = loop->iterations ? loop->iteration[loop->iterations - 1].end : 0;
  *count = 0;
  region_stream_rewind(s);
  for (size_t at = 0, more = 1; more;) {
    const tsanom_speedup_event *event;
    if (region_stream_next(s, &event, &more, why)) return -1;
    for (size_t i = 0; i < more; i++, at++) {
      int begins = *count < loop->iterations
                       ? at == loop->iteration[*count].first
                       : end && at == end && event[i].region == loop->about.anchor;
      if (begins) begin[(*count)++] = event[i].begin;
    }
  }
  return 0;
}

/* The beats of a stream: the first region or call in each iteration; infinity: none. */
typedef struct {
  const double *begin;
  size_t count, begun; /* iterations, and how many have begun */
  double *time;
  int32_t thread;
} stream_beats;

static int32_t note(void *user, const tsanom_runs_visit *v) {
  stream_beats *t = user;
  size_t before = t->begun;
  t->thread = v->thread;
  if (v->kind != TSANOM_RUNS_VISIT_BEGIN) return 0;
  while (t->begun < t->count && t->begin[t->begun] <= v->time) t->begun++;
  if (t->begun > before) t->time[t->begun - 1] = v->time;
  return 0;
}

/* The beats of the thread of a stream of events, which other streams may have, too; thread 0 is that of
 * the loop. */
static int note_stream(const region_stream *s, size_t stream, const double *begin,
                       size_t count, const beats *b, failure *why) {
  stream_beats t = {.begin = begin, .count = count, .thread = -1};
  const tsanom_runs_visitor visitor = {note, &t};
  t.time = allocate(count, sizeof *t.time);
  for (size_t i = 0; i < count; i++) t.time[i] = INFINITY;
  tsanom_status status = tsanom_runs_visits(s->run, stream, NULL, &visitor);
  if (t.thread == 0) memcpy(t.time, begin, count * sizeof *begin);
  if (t.thread >= 0 && (size_t)t.thread < b->run.thread_count) {
    const double **own = &b->own[t.thread].time;
    for (size_t i = 0; *own && i < count; i++) t.time[i] = fmin(t.time[i], (*own)[i]);
    free((double *)*own);
    *own = t.time;
  } else {
    free(t.time);
  }
  return status < 0 ? fail_status(why, "the region events", status) : 0;
}

static void close_gaps(tsanom_hsa_series *own, size_t count) {
  double *time = (double *)own->time;
  for (size_t i = 0; time && i < count; i++) {
    if (isfinite(time[i])) time[own->beats++] = time[i];
  }
}

/* Replace the beats by those of the iterations that begin then. */
static int replace(const region_stream *s, const double *begin, size_t count, beats *b,
                   failure *why) {
  tsanom_runs_info info = {.struct_size = sizeof info};
  int failed = 0;
  b->own = allocate(b->run.thread_count, sizeof *b->own);
  (void)tsanom_runs_describe(s->run, &info);
  for (size_t t = 0; t < b->run.thread_count; t++) {
    b->own[t] = b->run.threads[t];
    b->own[t].time = NULL;
    b->own[t].beats = 0;
  }
  for (size_t i = 0; i < info.event_streams && count && !failed; i++) {
    failed = note_stream(s, i, begin, count, b, why);
  }
  for (size_t t = 0; t < b->run.thread_count; t++) close_gaps(&b->own[t], count);
  b->run.threads = b->own;
  b->no_iterations = 0;
  return failed;
}

/* Whether --max-size ended the recording of a process. */
static int is_full(const char *path, int64_t process) {
  enum { MOST = 16 };
  tsanom_runs_message message[MOST];
  size_t count = 0;
  int found = 0;
  (void)tsanom_runs_messages(path, NULL, message, MOST, &count);
  for (size_t i = 0; i < count && i < MOST; i++)
    found |= message[i].process == process && !strcmp(message[i].text, ENVIRONMENT_FULL);
  return found;
}

static int is_whole(const tsanom_runs *run) {
  tsanom_runs_info info = {.struct_size = sizeof info};
  (void)tsanom_runs_describe(run, &info);
  return info.state == TSANOM_RUN_FINISHED && !info.skipped;
}

/* The main loop of the level that has it. */
static int find_loop(region_stream *s, const tsanom_exec *exec, main_loop *loop,
                     failure *why) {
  size_t events;
  if (main_loop_choose_level(s, INFINITY, exec, loop, why) ||
      region_stream_count(s, INFINITY, &events, why))
    return -1;
  return main_loop_find(s, events, TSANOM_NONE, exec, loop, why);
}

/* Events up to a damage show iterations that were not counted, but not that others were counted in
 * vain. */
static int restate(const char *path, region_stream *s, const tsanom_exec *exec,
                   int recounts, beats *b, failure *why) {
  main_loop loop = {.iterations = 0};
  tsanom_fault damage = {.struct_size = sizeof damage};
  (void)tsanom_runs_first_damage(s->run, &damage);
  size_t shown = b->no_iterations ? 0 : beats_most(b), count = 0;
  int is_cut = damage.status != TSANOM_OK;
  int failed = find_loop(s, exec, &loop, why);
  double *begin = allocate(loop.iterations + 1, sizeof *begin);
  if (!failed) failed = take_begins(s, &loop, begin, &count, why);
  int is_used = count > shown + 1 || (!is_cut && (recounts || shown > count + 1));
  if (!failed && is_used) failed = replace(s, begin, count, b, why);
  if (is_used && is_cut) run_warn_of_damage(path, s->run);
  if (is_used || !is_cut) b->complete = loop.iterations;
  free(begin);
  main_loop_free(&loop);
  return failed;
}

/* A process that the program started may be ended by it, as a pool ends its workers, or fail without
 * consequences: the end is that of the program, unless the process crashed. */
static void take_end(const char *path, const tsanom_exec *exec, tsanom_hsa_run *own) {
  const tsanom_hsa_run *of;
  int may_be_ended =
      own->exit_code >= 0 || own->exit_code == -SIGTERM || own->exit_code == -SIGKILL;
  if (own->state == TSANOM_RUN_RUNNING || !may_be_ended) return;
  tsanom_runs *run = run_of_starter(path, exec);
  if (run && tsanom_runs_hsa(run, exec, &of) == TSANOM_OK &&
      (of->state == TSANOM_RUN_FINISHED || of->exit_code < 0)) {
    own->state = of->state;
    own->exit_code = of->exit_code;
  }
  tsanom_runs_destroy(run);
}

int beats_restate(const char *path, const tsanom_exec *exec, int salvage, beats *b,
                  failure *why) {
  tsanom_runs_info info = {.struct_size = sizeof info};
  tsanom_runs_options options;
  region_stream s = {0};
  take_end(path, exec, &b->run);
  (void)tsanom_runs_describe(b->source, &info);
  b->no_iterations = run_has_no_iterations(&info);
  b->complete = TSANOM_NONE;
  int recounts = has_mark(path, "recount");
  int whole = !recounts && is_whole(b->source) && !is_full(path, info.pid);
  if ((whole && !salvage) || info.totals || !were_found(path, b, &info)) {
    return 0;
  }
  tsanom_runs_options_init(&options, sizeof options);
  options.parts = TSANOM_RUNS_REGIONS;
  options.salvage = salvage;
  if (tsanom_runs_open(path, &options, NULL, &s.run) < 0) return 0; /* it has no events */
  region_stream_begin(&s, TSANOM_RUNS_LEVEL_REGIONS);
  int failed = whole && is_whole(s.run) ? 0 : restate(path, &s, exec, recounts, b, why);
  region_stream_free(&s);
  return failed;
}

size_t beats_numbers_most(const tsanom_hsa_run *run, size_t *present) {
  enum { ALWAYS = 1024, EACH = 2 };
  *present = 0;
  for (size_t t = 0; t < run->thread_count; t++) *present += run->threads[t].beats > 0;
  size_t most = EACH * *present + 1;
  return most < ALWAYS ? ALWAYS : most;
}

int beats_check_numbers(const beats *b, const char *path, failure *why) {
  size_t present = 0;
  if (b->run.thread_count <= beats_numbers_most(&b->run, &present)) return 0;
  return fail(why,
              "%s: the highest thread number is %zu, but only %zu threads have beats; "
              "threads numbered from 0 are expected",
              file_title(path), b->run.thread_count - 1, present);
}

void beats_free(beats *b) {
  for (size_t t = 0; b->own && t < b->run.thread_count; t++)
    free((double *)b->own[t].time);
  free(b->own);
  tsanom_runs_destroy(b->source);
  *b = (beats){0};
}

size_t beats_busiest(const tsanom_hsa_run *run) {
  size_t most = 0;
  for (size_t t = 1; t < run->thread_count; t++) {
    if (run->threads[t].beats > run->threads[most].beats) most = t;
  }
  return most;
}

size_t beats_most(const beats *b) {
  return b->run.thread_count ? b->run.threads[beats_busiest(&b->run)].beats : 0;
}

double *beats_iterations(const beats *b, failure *why) {
  size_t thread = beats_busiest(&b->run), count = beats_most(b);
  double *begin = allocate(count + 1, sizeof *begin);
  memcpy(begin, b->run.threads[thread].time, count * sizeof *begin);
  tsanom_runs_loop loop = {
      .iterations = count - 1, .begin = begin, .thread = (int32_t)thread};
  tsanom_status status = tsanom_runs_activities(b->source, NULL, &loop);
  if (status >= 0) return begin;
  fail_status(why, "the region events", status);
  free(begin);
  return NULL;
}

int beats_rate(const beats *b, size_t thread, size_t window, const char *path,
               double **rates, size_t *count, failure *why) {
  const tsanom_hsa_series *s = &b->run.threads[thread];
  *rates = NULL;
  *count = s->beats > window ? s->beats - window : 0;
  if (!*count) return 0;
  *rates = allocate(*count, sizeof **rates);
  tsanom_status status = tsanom_runs_rate(s->time, s->beats, window, NULL, *rates);
  if (status == TSANOM_OK) return 0;
  free(*rates);
  *rates = NULL;
  if (status == TSANOM_E_ORDER) {
    return fail(why,
                "%s: thread %zu: two beats at the same time have no rate: a finer clock "
                "is needed",
                file_title(path), thread);
  }
  return fail_status(why, file_title(path), status);
}
