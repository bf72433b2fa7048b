/* SPDX-License-Identifier: BSD-3-Clause */
/* One look at a running run.
 *
 * A run by `tsanom record` has no beats until the main loop was found. It is opened with
 * the parts that it has, and again with its beats alone as soon as there are any, so that
 * region events, of which there are many more, are not read at each look. */
#include "watched.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>

#include "beats.h"
#include "report.h"
#include "reserve.h"
#include "rows.h"
#include "run_open.h"

enum { STARTING_S = 2, LEAST_CAPACITY = 8 };

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

/* The name of a type of statfs(2), if what one machine writes into a mapping may be seen
 * late by another one; NULL: another type. */
static const char *network_file_system(unsigned long type) {
  static const struct {
    unsigned long type;
    const char *name;
  } known[] = {{0x6969, "NFS"},      {0x517B, "SMB"},       {0xFF534D42, "CIFS"},
               {0xFE534D42, "SMB2"}, {0x65735546, "FUSE"},  {0x01021997, "9P"},
               {0x5346414F, "AFS"},  {0x19830326, "BeeGFS"}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    if (known[i].type == (type & 0xFFFFFFFF)) return known[i].name;
  }
  return NULL;
}

/* What makes beats appear late, or not at all. */
static void warn_of_file_system(const watched *w) {
  struct statfs about;
  const char *name = statfs(w->path, &about) == 0
                         ? network_file_system((unsigned long)about.f_type)
                         : NULL;
  if (!name) return;
  warn(
      "%s: the file system (%s) may show the beats of another machine late, and a "
      "program that runs there appears as killed; watch on the machine of the program",
      file_title(w->path), name);
}

/* Records that the program drops from now on; run_open() warned of earlier ones. */
static void warn_of_drops(watched *w, const tsanom_runs_info *info, int opened) {
  if (!opened && info->beats_dropped && !w->dropped) {
    warn(
        "%s: the program drops records (%s); rates are too low, and hangs are not "
        "reported",
        file_title(w->path), drop_reason(info->error));
  }
  w->dropped = info->beats_dropped > 0;
}

static int open_source(watched *w, int wait, failure *why) {
  if (wait && !exists(w->path)) return 1;
  if (exists(w->path) && !is_directory(w->path)) {
    return fail(why, "%s: not a run directory", file_title(w->path));
  }
  if (!run_open(w->path, 0, NULL, 0, &w->source, why)) {
    warn_of_file_system(w);
    return 0;
  }
  return wait && is_starting(w->path) ? 1 : -1;
}

/* A run that gave way is elsewhere: in RUN if its program has ended, else another run is there. */
static int follow(watched *w, failure *why) {
  tsanom_runs_info before = {.struct_size = sizeof before}, after = before;
  tsanom_runs *moved;
  if (run_open(w->path, 0, NULL, 0, &moved, why)) return -1;
  tsanom_runs_describe(w->source, &before);
  tsanom_runs_describe(moved, &after);
  tsanom_runs_destroy(w->source);
  w->source = moved;
  return before.start == after.start && before.pid == after.pid
             ? 0
             : fail(why, "%s: the directory contains another run now",
                    file_title(w->path));
}

/* What a failed refresh means. A directory that was removed may still be readable through
 * open files, so that it is looked for. It is not removed if its file system fails. */
static int refresh(watched *w, failure *why) {
  tsanom_fault fault;
  tsanom_exec exec = exec_with_fault(NULL, &fault);
  tsanom_status status = tsanom_runs_refresh(w->source, &exec, NULL);
  if (!exists(w->path)) {
    if (errno != ENOENT) return fail_errno(why, file_title(w->path), "read");
    return fail(why, "%s: the run was deleted while it was watched", file_title(w->path));
  }
  if (status == TSANOM_E_IO) return follow(w, why);
  if (status == TSANOM_E_STATE) {
    return fail(why, "%s: the directory contains another run now", file_title(w->path));
  }
  return status < 0 ? fail_fault(why, file_title(w->path), status, &fault) : 0;
}

static int has_beats(const tsanom_runs_info *info) {
  return (info->parts & TSANOM_RUNS_BEATS) != 0;
}

static void free_over(watched *w) {
  w->over.source = NULL; /* that of the watch */
  beats_free(&w->over);
}

/* What a program that was killed, or recorded in part, could not do: see beats_restate(). */
static int end_run(watched *w, const tsanom_hsa_run *run, failure *why) {
  free_over(w);
  w->over = (beats){.source = w->source, .run = *run};
  if (beats_restate(w->path, NULL, 0, &w->over, why)) return -1;
  w->no_iterations = w->over.no_iterations;
  w->run = w->over.run;
  w->state = w->run.state;
  for (size_t t = 0; t < w->run.thread_count; t++) {
    const tsanom_hsa_series *s = &w->run.threads[t];
    if (s->beats) w->now = fmax(w->now, s->time[s->beats - 1]);
    if (s->vital_count) w->now = fmax(w->now, s->vital[s->vital_count - 1].time);
  }
  return 0;
}

static int read_source(watched *w, int opened, failure *why) {
  tsanom_runs_info info;
  const tsanom_hsa_run *run = NULL;
  info = (tsanom_runs_info){.struct_size = sizeof info};
  tsanom_runs_describe(w->source, &info);
  /* Beats alone, also of a run whose regions will come, and may be cut while they are begun. */
  if (has_beats(&info) && (opened || info.parts != TSANOM_RUNS_BEATS)) {
    tsanom_runs_destroy(w->source);
    w->source = NULL;
    if (run_open(w->path, TSANOM_RUNS_BEATS, NULL, 0, &w->source, why)) return -1;
    tsanom_runs_describe(w->source, &info);
  }
  warn_of_drops(w, &info, opened);
  w->state = info.state ? info.state : TSANOM_RUN_FINISHED; /* a file does not grow */
  w->start = 1e-9 * (double)info.start;
  double last_look = w->now;
  w->now = info.last;
  if (!has_beats(&info)) return 0;
  tsanom_status status = tsanom_runs_hsa(w->source, NULL, &run);
  if (status < 0) return fail_status(why, file_title(w->path), status);
  tsanom_runs_describe(w->source, &info);
  w->state = run->state;
  if (w->state == TSANOM_RUN_RUNNING) {
    w->no_iterations = run_has_no_iterations(&info);
    w->run = *run;
  } else if (end_run(w, run, why)) {
    return -1;
  }
  if (run->end > 0) w->now = run->end;
  if (w->state != TSANOM_RUN_RUNNING) w->now = fmax(w->now, last_look);
  return 0;
}

/* ---- what the watch of the library gets */

static int create_watch(watched *w, size_t threads, failure *why) {
  const tsanom_diagnosis_normal *normal = w->model ? &w->model->normal : NULL;
  tsanom_diagnosis_watch_options options;
  tsanom_diagnosis_watch_options_init(&options, sizeof options);
  options.hang = w->hang;
  tsanom_status status =
      tsanom_diagnosis_watch_create(threads, normal, &options, NULL, &w->watch);
  return status < 0 ? fail_status(why, file_title(w->path), status) : 0;
}

/* A watch has a fixed number of threads: for more, another one gets the run from its
 * beginning; also if there is no capacity any more. */
static int grow(watched *w, size_t threads, failure *why) {
  if (threads <= w->capacity) return 0;
  size_t capacity = 2 * threads < LEAST_CAPACITY ? LEAST_CAPACITY : 2 * threads;
  tsanom_diagnosis_watch_destroy(w->watch);
  free(w->news);
  free(w->fed);
  free(w->sample);
  w->watch = NULL;
  w->news = allocate(capacity, sizeof *w->news);
  w->fed = allocate(capacity + 1, sizeof *w->fed);
  w->sample = allocate(capacity, sizeof *w->sample);
  w->capacity = capacity;
  return create_watch(w, capacity, why);
}

/* What is behind the first `fed` samples; these are then fed. */
static size_t take_samples(const tsanom_hsa_vital **vital, size_t count, size_t *fed) {
  size_t first = *fed < count ? *fed : count;
  if (count) *vital += first;
  *fed = count;
  return count - first;
}

/* A silent thread without new samples gets one of now; not if its recorder takes none. */
static void sample_silent(const watched *w, size_t t) {
  tsanom_hsa_series *s = &w->news[t];
  tsanom_diagnosis_pulse p = watched_pulse(w, t);
  if (s->beats || s->vital_count || !(w->now - p.last > p.limit / 2) ||
      tsanom_runs_sample(w->source, (int32_t)t, NULL, &w->sample[t]) != TSANOM_OK) {
    return;
  }
  s->vital = &w->sample[t];
  s->vital_count = 1;
}

static tsanom_hsa_run news_of(watched *w) {
  tsanom_hsa_run news = w->run;
  for (size_t t = 0; t < w->threads; t++) {
    tsanom_hsa_series *s = &w->news[t];
    *s = w->run.threads[t];
    size_t has = (size_t)watched_pulse(w, t).beats;
    size_t first = has < s->beats ? has : s->beats;
    if (s->beats) s->time += first;
    s->beats -= first;
    s->vital_count = take_samples(&s->vital, s->vital_count, &w->fed[t]);
    sample_silent(w, t);
  }
  news.vital_count = take_samples(&news.vital, news.vital_count, &w->fed[w->capacity]);
  if (!w->threads) w->news[0] = (tsanom_hsa_series){.beats = 0};
  news.threads = w->news;
  news.thread_count = w->threads ? w->threads : 1;
  news.state = w->state;
  if (w->dropped) news.end = 0; /* beats that are not known look like a hang */
  return news;
}

/* A program may start threads with low numbers later than others: a number that is too
 * high is watched, from its first beat on, when enough others have beats. */
static void take_numbers(watched *w) {
  size_t present = 0, count = w->run.thread_count;
  size_t most = beats_numbers_most(&w->run, &present);
  if (most < w->threads) most = w->threads;
  w->threads = count < most ? count : most;
  if (w->threads == count || w->skips) return;
  warn(
      "%s: the highest thread number is %zu, but only %zu threads have beats; threads "
      "from %zu on are not watched until more have",
      file_title(w->path), count - 1, present, w->threads);
  w->skips = 1;
}

/* Times that are read again may differ by this part, since the clock was measured again. */
static const double other_clock = 1e-4;

/* Whether the recorder has found that the iterations which it counted were not of the main
 * loop: then the beats are those of the main loop, from its beginning on. They are fewer, or
 * come earlier. */
static int is_recounted(const watched *w) {
  for (size_t t = 0; t < w->threads; t++) {
    const tsanom_hsa_series *s = &w->run.threads[t];
    tsanom_diagnosis_pulse p = watched_pulse(w, t);
    if (s->beats < p.beats) return 1;
    if (p.beats && s->time[p.beats - 1] < p.last * (1 - other_clock)) return 1;
  }
  return 0;
}

static void warn_of_recount(const watched *w) {
  if (w->no_iterations) {
    warn(
        "%s: the iterations until now were of no main loop; beats of processor time "
        "replace them",
        file_title(w->path));
  } else {
    warn(
        "%s: the iterations until now were not of the main loop, of which %zu have "
        "passed",
        file_title(w->path), watched_iteration(w));
  }
}

static int judge(watched *w, failure *why) {
  tsanom_fault fault;
  tsanom_exec exec = exec_with_fault(NULL, &fault);
  w->anomalies = 0;
  take_numbers(w);
  int recounted = is_recounted(w);
  if (recounted) w->capacity = 0;
  if (grow(w, w->threads ? w->threads : 1, why)) return -1;
  tsanom_hsa_run news = news_of(w);
  tsanom_status status =
      tsanom_diagnosis_watch_update(w->watch, &news, &exec, &w->anomaly, &w->anomalies);
  if (status < 0) return fail_fault(why, file_title(w->path), status, &fault);
  if (recounted) warn_of_recount(w);
  return 0;
}

tsanom_diagnosis_pulse watched_pulse(const watched *w, size_t thread) {
  tsanom_diagnosis_pulse p = {.beats = 0};
  (void)tsanom_diagnosis_watch_pulse(w->watch, thread, &p);
  return p;
}

/* Of a rank that is so silent that others may wait for it: beyond half of the limit it is
 * no usual interval. */
static int32_t find_call(const watched *w) {
  int32_t inside = -1;
  size_t silent = 0;
  for (size_t t = 0; t < w->threads && w->rank >= 0; t++) {
    tsanom_diagnosis_pulse p = watched_pulse(w, t);
    if (!p.beats) continue;
    if (!(w->now - p.last > p.limit / 2)) return -1;
    silent++;
  }
  if (silent) (void)tsanom_runs_in_call(w->source, NULL, &inside);
  return inside;
}

int watched_look(watched *w, int wait, failure *why) {
  int opened = !w->source;
  if (w->source) {
    if (refresh(w, why)) return -1;
  } else {
    int status = open_source(w, wait, why);
    if (status) return status;
  }
  if (read_source(w, opened, why) || judge(w, why)) return -1;
  w->judged.in_call = find_call(w);
  return 0;
}

void watched_close(watched *w) {
  free_over(w);
  tsanom_runs_destroy(w->source);
  tsanom_diagnosis_watch_destroy(w->watch);
  free(w->news);
  free(w->fed);
  free(w->sample);
  free(w->path);
  *w = (watched){0};
}

size_t watched_iteration(const watched *w) {
  uint64_t most = 0;
  for (size_t t = 0; t < w->threads; t++) {
    uint64_t made = watched_pulse(w, t).beats;
    if (made > most) most = made;
  }
  return (size_t)most;
}

double watched_age(const watched *w) {
  double age = NAN;
  for (size_t t = 0; t < w->threads && w->run.end > 0; t++) {
    age = fmin(age, w->now - watched_pulse(w, t).last);
  }
  return age < 0 ? 0 : age;
}

tsanom_diagnosis_remaining watched_remaining(const watched *w) {
  tsanom_diagnosis_remaining r = {
      .iterations = NAN, .seconds = NAN, .low = NAN, .high = NAN};
  if (w->watch) (void)tsanom_diagnosis_predict(w->watch, &w->run, NULL, &r);
  return r;
}

/* ---- vital signs */

/* Of the process and of each thread, at most. */
enum { VITALS_WINDOW = 16 };

static double number_of(const tsanom_hsa_vital *v, size_t field) {
  const void *at = (const char *)v + field;
  return *(const double *)at;
}

/* By how much a number changed within the window, and in which time; NaN: not known. */
typedef struct {
  double amount, seconds, last;
} change;

/* `field`: where the number is in a sample. */
static change find_change(const tsanom_hsa_vital *v, size_t count, size_t field) {
  const tsanom_hsa_vital *last = NULL;
  change found = {NAN, NAN, NAN};
  size_t first = count > VITALS_WINDOW ? count - VITALS_WINDOW : 0;
  for (size_t i = count; i-- > first;) {
    if (isnan(number_of(&v[i], field)) || isnan(v[i].time)) continue;
    if (!last) last = &v[i];
    if (v[i].task != last->task) break;
    double now = number_of(last, field);
    found = (change){now - number_of(&v[i], field), last->time - v[i].time, now};
  }
  return found;
}

vital_signs vitals_now(const watched *w) {
  change memory =
      find_change(w->run.vital, w->run.vital_count, offsetof(tsanom_hsa_vital, resident));
  change cpu =
      find_change(w->run.vital, w->run.vital_count, offsetof(tsanom_hsa_vital, cpu_s));
  double waits = 0, seconds = 0;
  for (size_t t = 0; t < w->threads; t++) {
    const tsanom_hsa_series *s = &w->run.threads[t];
    change ready =
        find_change(s->vital, s->vital_count, offsetof(tsanom_hsa_vital, wait_s));
    if (isnan(ready.amount)) continue;
    waits += ready.amount;
    seconds += ready.seconds;
  }
  return (vital_signs){
      .resident = memory.last,
      .growth = memory.seconds > 0 ? memory.amount / memory.seconds : NAN,
      .cpu = cpu.seconds > 0 ? cpu.amount / cpu.seconds : NAN,
      .wait = seconds > 0 ? waits / seconds : NAN};
}
