/* SPDX-License-Identifier: BSD-3-Clause */
/* Heartbeats of a run or CSV file, and the rates of a thread. `run` points into
 * `source`, which therefore stays open as long. */
#include "beats.h"

#include <stdlib.h>
#include <string.h>

#include "core/replace_file.h"
#include "rows.h"

int file_write(const char *path, const char *text, size_t bytes, failure *why) {
  int error;
  const char *failed = tsn_replace_file(path, text, bytes, &error);
  if (!failed) return 0;
  return error ? fail(why, "%s: %s: %s", path, failed, strerror(error))
               : fail(why, "%s: %s", path, failed);
}

int beats_read(const char *path, const tsanom_exec *exec, int salvage, beats *b,
               failure *why) {
  return beats_read_parts(path, TSANOM_RUNS_BEATS, exec, salvage, b, why);
}

int beats_read_parts(const char *path, int32_t parts, const tsanom_exec *exec,
                     int salvage, beats *b, failure *why) {
  const tsanom_hsa_run *run = NULL;
  if (run_open(path, parts, exec, salvage, &b->source, why)) return -1;
  tsanom_status status = tsanom_runs_hsa(b->source, NULL, &run);
  if (status < 0) {
    beats_free(b);
    return fail_status(why, file_title(path), status);
  }
  b->run = *run;
  return 0;
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
  double *begin = malloc(count * sizeof *begin);
  if (!begin) {
    fail(why, "out of memory");
    return NULL;
  }
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
  *rates = malloc(*count * sizeof **rates);
  if (!*rates) return fail(why, "%s: out of memory", file_title(path));
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
