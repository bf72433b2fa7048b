/* SPDX-License-Identifier: BSD-3-Clause */
/* One look at a running run.
 *
 * A run by `tsanom record` has no beats until the main loop was found. It is opened with
 * the parts that it has, and again with its beats alone as soon as there are any, so that
 * region events, of which there are many more, are not read at each look. */
#include "watched.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include "reserve.h"
#include "rows.h"
#include "run_open.h"

enum { RATE_BEATS = 32, STARTING_S = 2, LEARN_SHARE = 8 };

static int exists(const char *path) {
  struct stat about;
  return stat(path, &about) == 0;
}

/* A program that starts has a directory before its files are complete. */
static int is_starting(const char *path) {
  struct stat about;
  struct timespec now;
  if (stat(path, &about) != 0) return errno == ENOENT;
  clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec - about.st_mtim.tv_sec <= STARTING_S;
}

static int open_source(watched *w, int wait, failure *why) {
  size_t ranks = 0, size = 0;
  tsanom_exec exec;
  tsanom_exec_init(&exec, sizeof exec);
  if (wait && !exists(w->path)) return 1;
  if (exists(w->path) && !is_directory(w->path)) {
    return fail(why, "%s: not a run directory", file_title(w->path));
  }
  if (tsanom_runs_ranks(w->path, &exec, NULL, 0, &ranks, &size) == TSANOM_OK && ranks) {
    return fail(why, "%s: a run of %zu ranks; watch the run of one, such as %s/rank.0",
                file_title(w->path), ranks, w->path);
  }
  if (!run_open(w->path, 0, &exec, 0, &w->source, why)) return 0;
  return wait && is_starting(w->path) ? 1 : -1;
}

/* What a failed refresh means. A directory that was removed may still be readable through
 * open files, so that it is looked for. */
static int refresh(watched *w, failure *why) {
  tsanom_fault fault;
  tsanom_exec exec;
  tsanom_fault_init(&fault, sizeof fault);
  tsanom_exec_init(&exec, sizeof exec);
  exec.fault = &fault;
  tsanom_status status = tsanom_runs_refresh(w->source, &exec, NULL);
  if (!exists(w->path)) {
    return fail(why, "%s: the run was deleted while it was watched", file_title(w->path));
  }
  if (status == TSANOM_E_STATE) {
    return fail(why, "%s: the directory contains another run now", file_title(w->path));
  }
  return status < 0 ? fail_fault(why, file_title(w->path), status, &fault) : 0;
}

/* Of a run without beats. */
static int32_t state_of(const tsanom_runs_info *info) {
  if (info->state == TSANOM_RUNS_FINISHED) return TSANOM_HSA_STATE_FINISHED;
  return kill((pid_t)info->pid, 0) != 0 && errno == ESRCH ? TSANOM_HSA_STATE_KILLED
                                                          : TSANOM_HSA_STATE_RUNNING;
}

static int has_beats(const tsanom_runs_info *info) {
  return (info->parts & TSANOM_RUNS_BEATS) != 0;
}

static int read_source(watched *w, failure *why) {
  tsanom_runs_info info;
  const tsanom_hsa_run *run = NULL;
  tsanom_runs_info_init(&info, sizeof info);
  tsanom_runs_describe(w->source, &info);
  if (has_beats(&info) && info.parts != TSANOM_RUNS_BEATS) {
    tsanom_exec exec;
    tsanom_exec_init(&exec, sizeof exec);
    tsanom_runs_close(w->source);
    w->source = NULL;
    if (run_open(w->path, TSANOM_RUNS_BEATS, &exec, 0, &w->source, why)) return -1;
    tsanom_runs_describe(w->source, &info);
  }
  w->state = state_of(&info);
  w->now = info.last;
  if (!has_beats(&info)) return 0;
  tsanom_status status = tsanom_runs_hsa(w->source, NULL, &run);
  if (status < 0) return fail_status(why, file_title(w->path), status);
  w->run = *run;
  w->state = run->state;
  if (run->end > 0) w->now = run->end;
  return 0;
}

/* New threads have no beats. */
static int grow(watched *w, size_t threads, failure *why) {
  if (reserve(&w->thread, &w->capacity[0], threads, sizeof *w->thread) ||
      reserve(&w->silence, &w->capacity[1], threads, sizeof *w->silence)) {
    return fail(why, "%s: out of memory", file_title(w->path));
  }
  for (; w->threads < threads; w->threads++) {
    w->thread[w->threads] = (watched_thread){.rate = NAN};
    w->silence[w->threads] = (hang_thread){.since = NAN, .limit = INFINITY};
  }
  return 0;
}

/* The rate of the latest beats; NaN if two of them have the same time. */
static double rate_of(const tsanom_hsa_series *s) {
  size_t window = s->beats > RATE_BEATS ? RATE_BEATS : s->beats - 1;
  double rate = NAN;
  if (window) {
    (void)tsanom_runs_rate(s->time + (s->beats - 1 - window), window + 1, window, NULL,
                           &rate);
  }
  return rate;
}

static double last_beat(const tsanom_hsa_series *s) {
  return s->beats ? s->time[s->beats - 1] : NAN;
}

/* What new beats of a thread change. The limit is learned again when an eighth of the
 * intervals is new: with 64 threads and 4 looks per second, sorting them at each look
 * took more than half of the time of the watcher. */
static void update_thread(watched *w, size_t t) {
  const tsanom_hsa_series *s = &w->run.threads[t];
  if (s->beats == w->thread[t].beats) return;
  w->thread[t].beats = s->beats;
  w->thread[t].rate = rate_of(s);
  size_t considered = s->beats < HANG_INTERVALS ? s->beats : HANG_INTERVALS;
  if (s->beats - w->thread[t].learned >= considered / LEARN_SHARE) {
    hang_learn(&w->silence[t], s->time, s->beats, w->hang);
    w->thread[t].learned = s->beats;
  }
  if (w->silence[t].status != TSANOM_HSA_HANG) return;
  w->thread[t].resumed = last_beat(s);
  w->silence[t].status = TSANOM_HSA_NORMAL;
}

/* After a hang the threads that waited need time to beat again: their silence begins when
 * the thread that hung resumed. */
static void update_threads(watched *w) {
  double resumed = 0;
  for (size_t t = 0; t < w->threads; t++) {
    update_thread(w, t);
    resumed = fmax(resumed, w->thread[t].resumed);
  }
  for (size_t t = 0; t < w->threads; t++) {
    double last = last_beat(&w->run.threads[t]);
    int hangs = w->silence[t].status == TSANOM_HSA_HANG;
    w->silence[t].since = hangs || isnan(last) ? last : fmax(last, resumed);
  }
  if (w->state == TSANOM_HSA_STATE_RUNNING && w->run.end > 0) {
    hang_find(w->silence, w->threads, w->now);
  }
  for (size_t t = 0; t < w->threads; t++) {
    if (w->silence[t].status == TSANOM_HSA_HANG) w->thread[t].rate = 0;
  }
}

int watched_look(watched *w, int wait, failure *why) {
  if (w->source) {
    if (refresh(w, why)) return -1;
  } else {
    int status = open_source(w, wait, why);
    if (status) return status;
  }
  if (read_source(w, why) || grow(w, w->run.thread_count, why)) return -1;
  update_threads(w);
  return 0;
}

void watched_close(watched *w) {
  tsanom_runs_close(w->source);
  free(w->thread);
  free(w->silence);
  *w = (watched){0};
}

size_t watched_iteration(const watched *w) {
  size_t most = 0;
  for (size_t t = 0; t < w->threads; t++) {
    if (w->thread[t].beats > most) most = w->thread[t].beats;
  }
  return most;
}

double watched_age(const watched *w) {
  double age = NAN;
  for (size_t t = 0; t < w->threads && w->run.end > 0; t++) {
    age = fmin(age, w->now - last_beat(&w->run.threads[t]));
  }
  return age < 0 ? 0 : age;
}

int32_t watched_slowest(const watched *w) {
  int32_t slowest = -1;
  size_t known = 0;
  for (size_t t = 0; t < w->threads; t++) {
    double rate = w->thread[t].rate;
    if (isnan(rate)) continue;
    known++;
    if (slowest < 0 || rate < w->thread[slowest].rate) slowest = (int32_t)t;
  }
  return known < 2 ? -1 : slowest;
}
