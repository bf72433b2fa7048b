/* SPDX-License-Identifier: BSD-3-Clause */
#include "beats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tsanom/heartbeat.h>
#include <tsanom/heartbeat_run.h>

#include "rows.h"
#include "series.h"

enum { THREADS_MOST = TSANOM_HEARTBEAT_STREAMS_MAX };
_Static_assert(THREADS_MOST == 65536, "a message says so");

void beats_free(beats *b) {
  free(b->series);
  free(b->time);
  *b = (beats){0};
}

size_t beats_most(const beats *b) {
  size_t most = 0;
  for (size_t i = 0; i < b->run.thread_count; i++) {
    if (b->series[i].beats > most) most = b->series[i].beats;
  }
  return most;
}

/* Memory for `threads` series of `total` beats, all of them empty yet. */
static int allocate(beats *b, size_t threads, size_t total, const char *path,
                    failure *why) {
  b->series = calloc(threads ? threads : 1, sizeof *b->series);
  b->time = calloc(total ? total : 1, sizeof *b->time);
  if (!b->series || !b->time) return fail(why, "%s: out of memory", file_title(path));
  b->run.threads = b->series;
  b->run.thread_count = threads;
  return 0;
}

/* Let the series point to where their beats will be, one after the other. */
static void place(beats *b, const size_t *count) {
  double *next = b->time;
  for (size_t i = 0; i < b->run.thread_count; i++) {
    b->series[i].time = next;
    next += count[i];
  }
}

static double *end_of(const beats *b, size_t thread) {
  const tsanom_hsa_series *s = &b->series[thread];
  return b->time + (s->time - b->time) + s->beats;
}

/* Run folders. */

int run_failure(failure *why, const char *path, tsanom_status status,
                const tsanom_heartbeat_fault *fault) {
  if (*fault->text) {
    return fail(why, "%s: byte %llu: %s", fault->file, (unsigned long long)fault->offset,
                fault->text);
  }
  return fail_status(why, path, status);
}

void tell_lost_beats(const char *path, const tsanom_heartbeat_run *run) {
  tsanom_heartbeat_run_info about;
  if (tsanom_heartbeat_run_describe(run, &about, sizeof about) < 0) return;
  if (about.dropped == 0) return;
  fprintf(stderr,
          "%s: %llu records were lost, the disk being full: what is told lacks them\n",
          file_title(path), (unsigned long long)about.dropped);
}

static int later(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Beats and streams of each thread number. */
typedef struct {
  uint32_t streams;
  size_t threads;
  size_t total;
  size_t beats[THREADS_MOST];
  uint32_t streams_of[THREADS_MOST];
} census;

static int count_streams(const tsanom_heartbeat_run *run, const char *path, census *c,
                         failure *why) {
  tsanom_heartbeat_run_info about;
  tsanom_status status = tsanom_heartbeat_run_describe(run, &about, sizeof about);
  if (status < 0) return fail_status(why, path, status);
  c->streams = about.streams;
  for (uint32_t s = 0; s < c->streams; s++) {
    tsanom_heartbeat_stream_info stream;
    status = tsanom_heartbeat_run_stream(run, s, &stream, sizeof stream);
    if (status < 0) return fail_status(why, path, status);
    size_t thread = (size_t)stream.thread;
    if (thread >= THREADS_MOST) {
      return fail(why, "%s: thread %zu: thread numbers below %d are expected", path,
                  thread, THREADS_MOST);
    }
    if (thread >= c->threads) c->threads = thread + 1;
    c->beats[thread] += (size_t)stream.beats;
    c->total += (size_t)stream.beats;
    c->streams_of[thread]++;
  }
  return c->threads ? 0 : fail(why, "%s: no thread beats in this run", path);
}

static int read_streams(const tsanom_heartbeat_run *run, const char *path, census *c,
                        beats *b, failure *why) {
  if (count_streams(run, path, c, why)) return -1;
  if (allocate(b, c->threads, c->total, path, why)) return -1;
  place(b, c->beats);
  tsanom_heartbeat_fault fault;
  tsanom_heartbeat_fault_init(&fault, sizeof fault);
  for (uint32_t s = 0; s < c->streams; s++) {
    tsanom_heartbeat_stream_info stream;
    tsanom_heartbeat_run_stream(run, s, &stream, sizeof stream);
    size_t thread = (size_t)stream.thread, count = (size_t)stream.beats;
    tsanom_status status =
        tsanom_heartbeat_run_read(run, s, 0, count, end_of(b, thread), NULL, &fault);
    if (status < 0) return run_failure(why, path, status, &fault);
    b->series[thread].beats += count;
  }
  for (size_t i = 0; i < c->threads; i++) {
    if (c->streams_of[i] > 1) {
      double *first = end_of(b, i) - b->series[i].beats;
      qsort(first, b->series[i].beats, sizeof *first, later);
    }
  }
  return 0;
}

static int read_folder(const char *path, const tsanom_exec *exec, beats *b,
                       failure *why) {
  tsanom_heartbeat_run *run = NULL;
  tsanom_heartbeat_fault fault;
  tsanom_heartbeat_fault_init(&fault, sizeof fault);
  tsanom_status status = tsanom_heartbeat_run_open(path, exec, &fault, &run);
  if (status != TSANOM_OK) return run_failure(why, path, status, &fault);
  tell_lost_beats(path, run);
  census *c = calloc(1, sizeof *c);
  int failed =
      c ? read_streams(run, path, c, b, why) : fail(why, "%s: out of memory", path);
  free(c);
  tsanom_heartbeat_run_close(run);
  if (failed) beats_free(b);
  return failed;
}

/* CSV files. */

static const char *check_row(void *user, const double *value, size_t *which) {
  double *last = user;
  double thread = value[0], time = value[1];
  *which = 0;
  if (thread < 0 || thread >= THREADS_MOST || thread != floor(thread)) {
    return "is no thread number: a whole number from 0 to 65535 is expected";
  }
  double *before = &last[(size_t)thread];
  *which = 1;
  if (time < *before) {
    return "is before the last beat of the thread: the times of a thread must not fall";
  }
  *before = time;
  return NULL;
}

static int sort_rows(const columns *c, const char *path, beats *b, failure *why) {
  size_t *count = calloc(THREADS_MOST, sizeof *count);
  if (!count) return fail(why, "%s: out of memory", file_title(path));
  size_t threads = 0;
  double start = INFINITY;
  for (size_t i = 0; i < c->count; i++) {
    size_t thread = (size_t)c->column[0][i];
    count[thread]++;
    if (thread >= threads) threads = thread + 1;
    start = fmin(start, c->column[1][i]);
  }
  int failed = allocate(b, threads, c->count, path, why);
  if (!failed) {
    place(b, count);
    for (size_t i = 0; i < c->count; i++) {
      size_t thread = (size_t)c->column[0][i];
      *end_of(b, thread) = c->column[1][i];
      b->series[thread].beats++;
    }
    b->run.start = start;
  }
  free(count);
  return failed;
}

/* Read from the stream, or with NULL from the file at `path`. */
static int read_csv(FILE *stream, const char *path, beats *b, failure *why) {
  static const char *const names[] = {"thread", "time"};
  double *last = malloc(THREADS_MOST * sizeof *last);
  if (!last) return fail(why, "%s: out of memory", file_title(path));
  for (size_t i = 0; i < THREADS_MOST; i++) last[i] = -INFINITY;
  columns c = {.check = check_row, .check_user = last};
  int failed = stream ? columns_read_stream(stream, path, names, 2, &c, why)
                      : columns_read(path, names, 2, &c, why);
  if (!failed) failed = sort_rows(&c, path, b, why);
  columns_free(&c);
  free(last);
  if (failed) beats_free(b);
  return failed ? -1 : 0;
}

int beats_read_stream(FILE *stream, const char *file, beats *b, failure *why) {
  return read_csv(stream, file, b, why);
}

int beats_read(const char *path, const tsanom_exec *exec, beats *b, failure *why) {
  struct stat about;
  int is_folder =
      strcmp(path, "-") != 0 && stat(path, &about) == 0 && S_ISDIR(about.st_mode);
  return is_folder ? read_folder(path, exec, b, why) : read_csv(NULL, path, b, why);
}

int beats_rate(const beats *b, size_t thread, size_t window, const char *path,
               double **rates, size_t *count, failure *why) {
  const tsanom_hsa_series *s = &b->series[thread];
  *rates = NULL;
  *count = s->beats > window ? s->beats - window : 0;
  if (!*count) return 0;
  *rates = malloc(*count * sizeof **rates);
  if (!*rates) return fail(why, "%s: out of memory", file_title(path));
  tsanom_status status = tsanom_heartbeat_rate(s->time, s->beats, window, *rates);
  if (status == TSANOM_OK) return 0;
  free(*rates);
  *rates = NULL;
  if (status == TSANOM_E_ORDER) {
    return fail(why,
                "%s: thread %zu: two beats at the same time have no rate: a finer "
                "clock is needed",
                file_title(path), thread);
  }
  return fail_status(why, file_title(path), status);
}
