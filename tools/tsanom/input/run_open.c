/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening a run with the messages of the command. What makes results incomplete (dropped
 * records, a clock that restarted, damage that was passed over) is a warning on standard
 * error, and is kept for the JSON output as well. What makes a run unreadable is a
 * failure; where another command or option would help, the sentence ends with that hint.
 */
#include "run_open.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "environment.h"
#include "json_value.h"
#include "rank_file.h"
#include "reserve.h"
#include "rows.h"

static json_t *warnings;

static json_t *messages;

static int is_quiet;

void run_open_quietly(void) {
  is_quiet = 1;
}

json_t *run_messages(void) {
  return messages;
}

/* Whether a message was reported already: a command may open a run several times, and the
 * ranks of a job share their messages. */
static int is_reported(const tsanom_runs_message *m) {
  for (size_t i = 0; i < json_array_size(messages); i++) {
    const json_t *one = json_array_get(messages, i);
    if (json_integer_value(json_object_get(one, "number")) == (json_int_t)m->number &&
        json_real_value(json_object_get(one, "time")) == m->time) {
      return 1;
    }
  }
  return 0;
}

/* What the recorders inside of the program report, before anything else. */
static void report_messages(const char *path) {
  enum { MOST = 16 };
  tsanom_runs_message message[MOST];
  size_t count = 0;
  if (!is_directory(path) ||
      tsanom_runs_messages(path, NULL, message, MOST, &count) != TSANOM_OK) {
    return;
  }
  for (size_t i = 0; i < count; i++) {
    const tsanom_runs_message *m = &message[i];
    if (is_reported(m)) continue;
    if (!is_quiet) {
      fprintf(stderr, "tsanom: warning: %s: process %d: %s%s%s\n", file_title(path),
              m->process, m->text, m->error ? ": " : "",
              m->error ? strerror(m->error) : "");
    }
    if (!messages) messages = json_array();
    json_array_append_new(
        messages, json_pack("{so sI sf si si so}", "run", json_name(file_title(path)),
                            "number", (json_int_t)m->number, "time", m->time, "process",
                            m->process, "error", m->error, "text", json_name(m->text)));
  }
}

json_t *run_warnings(void) {
  return warnings;
}

/* The same warning of the same run that is kept already; NULL: it is new. */
static json_t *kept_warning(const json_t *warning) {
  for (size_t i = 0; i < json_array_size(warnings); i++) {
    json_t *one = json_array_get(warnings, i);
    if (json_equal(json_object_get(one, "text"), json_object_get(warning, "text")) &&
        json_equal(json_object_get(one, "run"), json_object_get(warning, "run"))) {
      return one;
    }
  }
  return NULL;
}

/* Print a warning, and keep it; returns its object. A command may open a run several
 * times. */
__attribute__((format(printf, 2, 3))) static json_t *warn_of(const char *path,
                                                             const char *format, ...) {
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  json_t *one =
      json_pack("{so so}", "run", json_name(file_title(path)), "text", json_name(text));
  json_t *warning = kept_warning(one);
  if (warning) {
    json_decref(one);
    return warning;
  }
  if (!is_quiet) fprintf(stderr, "tsanom: warning: %s: %s\n", file_title(path), text);
  if (!warnings) warnings = json_array();
  json_array_append_new(warnings, one);
  return one;
}

/* What is in front of the damage also as numbers in the JSON. */
void run_warn_of_damage(const char *path, const tsanom_runs *run) {
  tsanom_runs_info info = {.struct_size = sizeof info};
  tsanom_fault damage;
  failure where;
  char all[32] = "";
  damage = (tsanom_fault){.struct_size = sizeof damage};
  (void)tsanom_runs_first_damage(run, &damage);
  if (damage.status == TSANOM_OK) return;
  (void)tsanom_runs_describe(run, &info);
  unsigned long long kept = info.beats + info.events, skipped = info.skipped;
  if (skipped) snprintf(all, sizeof all, "of %llu ", kept + skipped);
  (void)fail_fault(&where, file_title(path), damage.status, &damage);
  json_t *warning = warn_of(path, "%s; %llu %srecords kept", where.text, kept, all);
  json_object_set_new(warning, "kept", json_integer((json_int_t)kept));
  json_object_set_new(warning, "skipped", json_integer((json_int_t)skipped));
}

/* Results from events are those of the time until they end. */
static void warn_of_totals(const char *path, const tsanom_runs_info *info) {
  (void)warn_of(path,
                "events were recorded until %.4g s; the rest of the run has totals only, "
                "which tsanom similar reads (tsanom record --events keeps all events)",
                info->last_event);
}

const char *drop_reason(int error) {
  if (error == ENOSPC) return "disk full";
  return error ? strerror(error) : "the reason is not known";
}

static void warn_of_run(const char *path, const tsanom_runs *run, int32_t parts) {
  tsanom_runs_info info = {.struct_size = sizeof info};
  tsanom_runs_describe(run, &info);
  unsigned long long dropped = info.beats_dropped + info.events_dropped;
  if (dropped) {
    (void)warn_of(path, "%llu records were dropped (%s); the results are incomplete",
                  dropped, drop_reason(info.error));
  }
  if (info.restarts) {
    (void)warn_of(path,
                  "the clock restarted %zu time%s while the program ran; intervals that "
                  "contain a restart are too short",
                  info.restarts, info.restarts == 1 ? "" : "s");
  }
  if (info.totals && (parts & TSANOM_RUNS_REGIONS)) warn_of_totals(path, &info);
  if (info.beats_interpolated) {
    uint64_t beats = info.beats + info.beats_interpolated;
    (void)warn_of(path,
                  "%llu of %llu beats were not recorded; they are taken to be at equal "
                  "distances between the others (tsanom record --events keeps all)",
                  (unsigned long long)info.beats_interpolated, (unsigned long long)beats);
  }
  if (info.beats_by_time) {
    (void)warn_of(path, is_quiet ? RUN_WITHOUT_ITERATIONS
                                 : "the program has no beats; each thread gets one for "
                                   "every 50 ms of its processor time, which does not "
                                   "show how fast the program computes");
  }
  run_warn_of_damage(path, run);
}

static void add_hint(const char *hint, failure *why) {
  size_t used = strlen(why->text);
  snprintf(why->text + used, sizeof why->text - used, "; %s", hint);
}

/* How to make a run that has the part, or how to read a damaged one. */
static void add_hints(const char *path, int32_t parts, tsanom_status status,
                      const char *file, int salvage, failure *why) {
  const char *name = strrchr(file, '/');
  int is_stream = name && strncmp(name, "/heartbeat.0", 12) == 0;
  int is_needed = name && strcmp(name, "/heartbeat.run") == 0;
  if (!salvage && is_directory(path) && !is_needed &&
      (status == TSANOM_E_FORMAT || (status == TSANOM_E_IO && is_stream))) {
    add_hint("to read what is intact before it, use --salvage", why);
  } else if (status == TSANOM_E_IO && strstr(file, "/regions/")) {
    add_hint(parts & TSANOM_RUNS_REGION_TIMES
                 ? "record the program by tsanom record, or write the run by "
                   "tsanom_spmd_recorder_write()"
                 : "tsanom record creates it when the program opens its first parallel "
                   "region",
             why);
  }
}

void warn_of_missing_ranks(const char *path, size_t count, size_t size) {
  if (count >= size) return;
  (void)warn_of(path, "%zu of %zu ranks recorded nothing; the results are incomplete",
                size - count, size);
}

/* Warn of each path that is a run of several ranks. */
static void warn_of_ranks(char *const *paths, size_t paths_count) {
  for (size_t i = 0; i < paths_count; i++) {
    size_t count = 0, size = 0;
    if (tsanom_runs_ranks(paths[i], NULL, NULL, 0, &count, &size) == TSANOM_OK && count) {
      warn_of_missing_ranks(paths[i], count, size);
    }
  }
}

/* Options of the library for opening a run, and where it leaves the place of a failure.
 */
typedef struct {
  tsanom_runs_options options;
  tsanom_fault fault;
  tsanom_exec exec;
} opening;

static void prepare(opening *o, int32_t parts, const tsanom_exec *exec, int salvage) {
  tsanom_runs_options_init(&o->options, sizeof o->options);
  o->options.parts = parts;
  o->options.salvage = salvage;
  o->exec = exec_with_fault(exec, &o->fault);
}

static int fail_opening(const opening *o, const char *path, tsanom_status status,
                        failure *why) {
  (void)fail_fault(why, file_title(path), status, &o->fault);
  add_hints(path, o->options.parts, status, o->fault.file, o->options.salvage, why);
  return -1;
}

int run_open_processes(char *const *paths, size_t count, const tsanom_exec *exec,
                       int salvage, tsanom_runs **run, failure *why) {
  for (size_t i = 0; i < count; i++) report_messages(paths[i]);
  if (count == 1) {
    if (run_open(paths[0], TSANOM_RUNS_REGION_TIMES, exec, salvage, run, why)) return -1;
    warn_of_ranks(paths, count);
    return 0;
  }
  opening o;
  prepare(&o, TSANOM_RUNS_REGION_TIMES, exec, salvage);
  tsanom_status status = tsanom_runs_open_processes((const char *const *)paths, count,
                                                    &o.options, &o.exec, run);
  if (status != TSANOM_OK) return fail_opening(&o, paths[0], status, why);
  warn_of_ranks(paths, count);
  warn_of_run(paths[0], *run, TSANOM_RUNS_REGION_TIMES);
  return 0;
}

/* A program that is killed before it comes to a region, or ends before its children, leaves its
 * run below the directory. Whether there is one. */
static bool has_run_below(const char *path, char below[PATH_MAX]) {
  int length = snprintf(below, PATH_MAX, "%s/" ENVIRONMENT_PLAIN_DIRECTORY, path);
  return length < PATH_MAX && ranks_has_run(below);
}

static const char *find_run(const char *path, char below[PATH_MAX]) {
  return has_run_below(path, below) && !ranks_has_run(path) ? below : path;
}

int run_open(const char *path, int32_t parts, const tsanom_exec *exec, int salvage,
             tsanom_runs **run, failure *why) {
  opening o;
  char below[PATH_MAX];
  report_messages(path);
  prepare(&o, parts, exec, salvage);
  tsanom_status status =
      tsanom_runs_open(find_run(path, below), &o.options, &o.exec, run);
  if (status != TSANOM_OK) return fail_opening(&o, path, status, why);
  warn_of_run(path, *run, parts);
  return 0;
}

tsanom_runs *run_of_starter(const char *path, const tsanom_exec *exec) {
  char below[PATH_MAX];
  tsanom_runs *run = NULL;
  if (has_run_below(path, below) && ranks_has_run(path))
    (void)tsanom_runs_open(below, NULL, exec, &run);
  return run;
}

int is_directory(const char *path) {
  struct stat about;
  return strcmp(path, "-") != 0 && stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

int run_ranks(const char *path, int32_t **ranks, size_t *count, failure *why) {
  size_t size = 0, filled = 0;
  tsanom_fault fault;
  tsanom_exec exec = exec_with_fault(NULL, &fault);
  *ranks = NULL;
  *count = 0;
  if (!is_directory(path)) return 0;
  tsanom_status status = tsanom_runs_ranks(path, &exec, NULL, 0, &filled, &size);
  if (status == TSANOM_OK && filled) {
    *ranks = allocate(filled, sizeof **ranks);
    *count = filled;
    status = tsanom_runs_ranks(path, &exec, *ranks, *count, &filled, &size);
    if (filled < *count) *count = filled;
  }
  if (status < 0) {
    free(*ranks);
    *ranks = NULL;
    *count = 0;
    return fail_fault(why, path, status, &fault);
  }
  if (*count) warn_of_missing_ranks(path, *count, size);
  return 0;
}

char *run_rank_path(const char *path, int32_t rank) {
  return make_text("%s/rank.%d", path, (int)rank);
}
