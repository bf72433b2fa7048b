/* SPDX-License-Identifier: BSD-3-Clause */
#include "beats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "rows.h"

static void warn_of_drops(const char *path, const tsanom_runs *run) {
  tsanom_runs_info info;
  tsanom_runs_info_init(&info, sizeof info);
  tsanom_runs_describe(run, &info);
  uint64_t dropped = info.beats_dropped + info.events_dropped;
  if (dropped == 0) return;
  fprintf(stderr,
          "tsanom: warning: %s: %llu records were dropped (disk full); the results are "
          "incomplete\n",
          file_title(path), (unsigned long long)dropped);
}

/* How to make a run that has the part. */
static void add_hint(int32_t parts, failure *why) {
  size_t used = strlen(why->text);
  snprintf(why->text + used, sizeof why->text - used, "%s",
           parts & TSANOM_RUNS_REGION_TIMES
               ? "; record the program by tsanom record --cpu-time, or write the run by "
                 "tsanom_spmd_recorder_write()"
               : "; tsanom record creates it when the program opens its first parallel "
                 "region");
}

int run_open(const char *path, int32_t parts, const tsanom_exec *exec, tsanom_runs **run,
             failure *why) {
  tsanom_fault fault;
  tsanom_exec own = *exec;
  tsanom_runs_options options;
  tsanom_fault_init(&fault, sizeof fault);
  own.fault = &fault;
  tsanom_runs_options_init(&options, sizeof options);
  options.parts = parts;
  tsanom_status status = tsanom_runs_open(path, &options, &own, run);
  if (status != TSANOM_OK) {
    (void)fail_fault(why, file_title(path), status, &fault);
    if (status == TSANOM_E_IO && strstr(fault.file, "/regions/")) add_hint(parts, why);
    return -1;
  }
  warn_of_drops(path, *run);
  return 0;
}

int is_directory(const char *path) {
  struct stat about;
  return strcmp(path, "-") != 0 && stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

int file_write(const char *path, const char *text, size_t bytes, failure *why) {
  tsanom_fault fault;
  tsanom_exec exec;
  tsanom_exec_init(&exec, sizeof exec);
  tsanom_fault_init(&fault, sizeof fault);
  exec.fault = &fault;
  tsanom_status status = tsanom_runs_write_file(path, text, bytes, &exec);
  return status < 0 ? fail_fault(why, path, status, &fault) : 0;
}

int beats_read(const char *path, const tsanom_exec *exec, beats *b, failure *why) {
  const tsanom_hsa_run *run = NULL;
  if (run_open(path, TSANOM_RUNS_BEATS, exec, &b->source, why)) return -1;
  tsanom_status status = tsanom_runs_hsa(b->source, NULL, &run);
  if (status < 0) {
    beats_free(b);
    return fail_status(why, file_title(path), status);
  }
  b->run = *run;
  return 0;
}

void beats_free(beats *b) {
  tsanom_runs_close(b->source);
  *b = (beats){0};
}

size_t beats_most(const beats *b) {
  size_t most = 0;
  for (size_t i = 0; i < b->run.thread_count; i++) {
    if (b->run.threads[i].beats > most) most = b->run.threads[i].beats;
  }
  return most;
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
