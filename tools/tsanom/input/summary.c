/* SPDX-License-Identifier: BSD-3-Clause */
/* The summary of a run: each method of the library and of the other commands is asked, and
 * tsanom_diagnosis_summarize() collects what they say. A method that cannot be used, as the
 * run lacks what it needs, is a sentence about what was not recorded. */
#include "summary.h"

#include <ftw.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "diagnosis.h"
#include "rows.h"

void summary_free(run_summary *s) {
  for (size_t i = 0; i < s->missing_count; i++) free(s->missing[i]);
  free(s->missing);
  free(s->about.slow_of);
  free(s->team_text);
  similarity_free(&s->team);
  beats_free(&s->b);
  *s = (run_summary){0};
}

/* ---- what was not recorded */

static int add_missing(run_summary *s, const char *text, failure *why) {
  char **longer = realloc(s->missing, (s->missing_count + 1) * sizeof *longer);
  if (!longer) return fail(why, "out of memory");
  s->missing = longer;
  longer[s->missing_count] = strdup(text);
  if (!longer[s->missing_count]) return fail(why, "out of memory");
  s->missing_count++;
  return 0;
}

/* Texts of warnings and messages from the element `first` on, each once. */
static int add_texts(const json_t *list, size_t first, run_summary *s, failure *why) {
  for (size_t i = first; i < json_array_size(list); i++) {
    const char *text =
        json_string_value(json_object_get(json_array_get(list, i), "text"));
    size_t k = 0;
    while (k < s->missing_count && strcmp(s->missing[k], text) != 0) k++;
    if (k == s->missing_count && add_missing(s, text, why)) return -1;
  }
  return 0;
}

/* The reason why a method could not be used, without the path of the run, or of a part of it, in
 * front. */
static int add_reason(const char *what, const failure *reason, const char *path,
                      run_summary *s, failure *why) {
  char text[sizeof reason->text + 64];
  const char *said = reason->text, *after = NULL;
  size_t length = strlen(file_title(path));
  if (!strncmp(said, file_title(path), length)) after = strstr(said + length, ": ");
  (void)snprintf(text, sizeof text, "%s: %s", what, after ? after + 2 : said);
  return add_missing(s, text, why);
}

/* ---- one process */

/* What the beats and vital signs of an open process say. */
static int summarize(const char *path, int32_t rank, const beats *b,
                     const tsanom_runs_info *info, const owned_model *m,
                     const tsanom_exec *exec, run_summary *s, failure *why) {
  tsanom_diagnosis_summary *about = &s->about;
  diagnosis d = {.path = path};
  uint64_t before = about->iterations;
  double iteration_s = about->iteration_s;
  int32_t in_call = -1;
  if (b->run.state != TSANOM_RUN_FINISHED && rank >= 0)
    (void)tsanom_runs_in_call(b->source, NULL, &in_call);
  if (m && diagnosis_causes(m, &b->run, exec, &d, why)) {
    diagnosis_free(&d);
    return -1;
  }
  about->slow = b->no_iterations ? NULL : s->slow;
  about->slow_capacity = SLOW_MOST;
  about->activities = tsanom_runs_activities;
  about->source = b->source;
  tsanom_status status =
      tsanom_diagnosis_summarize(&b->run, rank, in_call, d.cause, d.causes, exec, about);
  about->slow = s->slow;
  diagnosis_free(&d);
  if (status < 0) return fail_status(why, file_title(path), status);
  if (b->no_iterations) {
    about->iterations = before;
    about->iteration_s = iteration_s;
  } else if (b->complete != TSANOM_NONE) {
    about->iterations = before > b->complete ? before : b->complete;
  }
  about->records += info->beats + info->events;
  return 0;
}

/* Open a process, and add what it says. */
static int add_process(const char *path, int32_t rank, const owned_model *m,
                       const tsanom_exec *exec, int salvage, tsanom_runs_info *info,
                       run_summary *s, failure *why) {
  beats_free(&s->b);
  if (beats_read_parts(path, 0, exec, salvage, &s->b, why)) return -1;
  *info = (tsanom_runs_info){.struct_size = sizeof *info};
  tsanom_status status = tsanom_runs_describe(s->b.source, info);
  if (status < 0) return fail_status(why, file_title(path), status);
  if (s->draws && rank < 0 && !s->b.no_iterations) {
    s->about.slow_of = calloc(beats_most(&s->b) + 1, sizeof *s->about.slow_of);
    if (!s->about.slow_of) return fail(why, "out of memory");
  }
  return beats_check_numbers(&s->b, path, why) ||
                 summarize(path, rank, &s->b, info, m, exec, s, why)
             ? -1
             : 0;
}

/* ---- slow iterations alone */

int summary_search(const char *path, const beats *b, run_summary *s, failure *why) {
  tsanom_runs_info info = {.struct_size = sizeof info};
  tsanom_status status = tsanom_runs_describe(b->source, &info);
  if (status < 0) return fail_status(why, file_title(path), status);
  return summarize(path, -1, b, &info, NULL, NULL, s, why);
}

/* Those of a process, which must have iterations. */
static int read_slow(const char *path, int32_t rank, const tsanom_exec *exec, int salvage,
                     run_summary *s, failure *why) {
  tsanom_runs_info info;
  uint64_t before = s->about.searched;
  if (add_process(path, rank, NULL, exec, salvage, &info, s, why)) return -1;
  if (s->b.no_iterations) return fail(why, NO_ITERATIONS, file_title(path));
  if (s->about.searched > before) return 0;
  size_t most = beats_most(&s->b);
  return fail(why, "%s: too few iterations: %zu; at least 21 are needed", path,
              most ? most : 1);
}

int summary_read_slow(const char *path, const tsanom_exec *exec, int salvage,
                      run_summary *s, failure *why) {
  int32_t *ranks;
  size_t count;
  if (run_ranks(path, &ranks, &count, why)) return -1;
  int failed = count ? 0 : read_slow(path, -1, exec, salvage, s, why);
  for (size_t i = 0; i < count && !failed; i++) {
    char *own = run_rank_path(path, ranks[i]);
    failed = own ? read_slow(own, ranks[i], exec, salvage, s, why)
                 : fail(why, "out of memory");
    free(own);
  }
  free(ranks);
  return failed;
}

/* ---- the team */

static tsanom_spmd_options team_options(void) {
  tsanom_spmd_options options;
  tsanom_spmd_options_init(&options, sizeof options);
  options.cut = TSANOM_SPMD_CUT_NOISE;
  return options;
}

static int read_process(const char *path, const owned_model *m, const tsanom_exec *exec,
                        int salvage, run_summary *s, failure *why) {
  tsanom_runs_info info;
  failure reason;
  if (add_process(path, -1, m, exec, salvage, &info, s, why)) return -1;
  if (s->about.threads < 2) return 0;
  tsanom_spmd_options options = team_options();
  if (similarity_make_open(s->b.source, path, &options, exec, &s->team, &reason)) {
    return add_reason("threads were not compared", &reason, path, s, why);
  }
  return similarity_summarize(&s->team, &s->about, &s->team_text);
}

/* ---- a job */

static int read_job(char *path, const int32_t *ranks, size_t count, const owned_model *m,
                    const tsanom_exec *exec, int salvage, run_summary *s, failure *why) {
  tsanom_runs_info info;
  failure reason;
  int failed = 0;
  for (size_t i = 0; i < count && !failed; i++) {
    char *own = run_rank_path(path, ranks[i]);
    failed = own ? add_process(own, ranks[i], m, exec, salvage, &info, s, why)
                 : fail(why, "out of memory");
    free(own);
  }
  beats_free(&s->b);
  if (failed) return -1;
  tsanom_spmd_options options = team_options();
  if (similarity_make(&path, 1, &options, exec, salvage, &s->team, &reason)) {
    return add_reason("ranks were not compared", &reason, path, s, why);
  }
  return similarity_summarize(&s->team, &s->about, &s->team_text);
}

/* ---- all of it */

static uint64_t bytes_found;

static int add_bytes(const char *path, const struct stat *about, int kind,
                     struct FTW *where) {
  enum { BLOCK = 512 };
  (void)path;
  (void)where;
  (void)kind;
  bytes_found += (uint64_t)about->st_blocks * BLOCK;
  return 0;
}

/* A directory that only has what recorders report: no run began. What they report is why. */
static int explain(const char *path, failure *why) {
  char page[PATH_MAX];
  size_t count = json_array_size(run_messages());
  const json_t *latest = json_array_get(run_messages(), count - 1);
  (void)snprintf(page, sizeof page, "%s/messages", path);
  if (!access(page, F_OK) && strstr(why->text, "not a run")) {
    (void)fail(why, "%s: nothing was recorded%s", file_title(path),
               latest ? ""
                      : ": the program opened no parallel region and called no function "
                        "of MPI, or ended before");
  }
  if (latest) {
    size_t used = strlen(why->text);
    (void)snprintf(why->text + used, sizeof why->text - used,
                   "; the recorder reports: %s",
                   json_string_value(json_object_get(latest, "text")));
  }
  return -1;
}

int summary_read(const char *path, const owned_model *m, const tsanom_exec *exec,
                 int salvage, run_summary *s, failure *why) {
  enum { OPEN_MOST = 16 };
  size_t warnings = json_array_size(run_warnings()),
         messages = json_array_size(run_messages()), count;
  int32_t *ranks;
  if (run_ranks(path, &ranks, &count, why)) return -1;
  char *own = strdup(path);
  int failed = !own    ? fail(why, "out of memory")
               : count ? read_job(own, ranks, count, m, exec, salvage, s, why)
                       : read_process(path, m, exec, salvage, s, why);
  free(own);
  free(ranks);
  if (failed) return explain(path, why);
  if (!s->about.accounted &&
      add_missing(s,
                  isnan(s->about.peak)
                      ? "no vital signs: processor time and memory are not known"
                      : "too few vital signs: where its time went is not known",
                  why))
    return -1;
  bytes_found = 0;
  (void)nftw(path, add_bytes, OPEN_MOST, FTW_PHYS);
  if (add_texts(run_messages(), messages, s, why) ||
      add_texts(run_warnings(), warnings, s, why))
    return -1;
  s->about.bytes = bytes_found;
  s->about.path = path;
  s->about.missing = (const char *const *)s->missing;
  s->about.missing_count = s->missing_count;
  return 0;
}

int summary_draw(const run_summary *s, const char *path, failure *why) {
  if (s->about.searched && s->b.source) return slow_draw(s, path, why);
  if (s->team.file.data) return similarity_draw(&s->team, path, why);
  return fail(why, "%s: there are neither iterations nor regions to draw",
              file_title(s->about.path));
}
