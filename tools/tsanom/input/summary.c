/* SPDX-License-Identifier: BSD-3-Clause */
/* The summary of a run: each method of the library and of the other commands is asked, and
 * tsanom_diagnosis_summarize() collects what they say. A method that cannot be used, as the
 * run lacks what it needs, is a sentence about what was not recorded. */
#include "summary.h"

#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "beats.h"
#include "diagnosis.h"
#include "rows.h"

void summary_free(run_summary *s) {
  for (size_t i = 0; i < s->missing_count; i++) free(s->missing[i]);
  free(s->missing);
  free(s->slow_text);
  free(s->team_text);
  slow_run_free(&s->slow);
  similarity_free(&s->team);
  tsanom_runs_destroy(s->run);
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

static int summarize(const char *path, int32_t rank, const tsanom_hsa_run *run,
                     const tsanom_runs_info *info, int32_t in_call, const owned_model *m,
                     const tsanom_exec *exec, run_summary *s, failure *why) {
  tsanom_diagnosis_summary *about = &s->about;
  diagnosis d = {.path = path};
  uint64_t before = about->iterations;
  double iteration_s = about->iteration_s;
  if (m && diagnosis_causes(m, run, exec, &d, why)) {
    diagnosis_free(&d);
    return -1;
  }
  tsanom_status status =
      tsanom_diagnosis_summarize(run, rank, in_call, d.cause, d.causes, exec, about);
  diagnosis_free(&d);
  if (status < 0) return fail_status(why, file_title(path), status);
  if (info->beats_by_time) {
    about->iterations = before;
    about->iteration_s = iteration_s;
  }
  about->records += info->beats + info->events;
  return 0;
}

/* Open a process, and add what its beats and vital signs say. */
static int add_process(const char *path, int32_t rank, const owned_model *m,
                       const tsanom_exec *exec, int salvage, tsanom_runs_info *info,
                       run_summary *s, failure *why) {
  beats b = {0};
  int32_t in_call = -1;
  if (beats_read_parts(path, 0, exec, salvage, &b, why)) return -1;
  tsanom_runs_destroy(s->run);
  s->run = b.source;
  *info = (tsanom_runs_info){.struct_size = sizeof *info};
  tsanom_status status = tsanom_runs_describe(b.source, info);
  if (status < 0) return fail_status(why, file_title(path), status);
  if (b.run.state != TSANOM_RUN_FINISHED && rank >= 0)
    (void)tsanom_runs_in_call(b.source, NULL, &in_call);
  return beats_check_numbers(&b, path, why) ||
                 summarize(path, rank, &b.run, info, in_call, m, exec, s, why)
             ? -1
             : 0;
}

static tsanom_spmd_options team_options(void) {
  tsanom_spmd_options options;
  tsanom_spmd_options_init(&options, sizeof options);
  options.cut = TSANOM_SPMD_CUT_NOISE;
  return options;
}

/* "solve"; of ranks "halo (computation before MPI_Wait (a.c:12))", because halo() may only wait
 * for what was computed before it. */
static char *team_region(const similarity *team, size_t region) {
  char *text = NULL;
  size_t bytes = 0, inner = (size_t)team->report.verdict_region;
  FILE *out = open_memstream(&text, &bytes);
  if (!out) return NULL;
  fprintf(out, "%s", team->file.region[region]);
  if (team->ranks && inner != region)
    fprintf(out, " (%s)", similarity_label(team, inner));
  if (!fclose(out)) return text;
  free(text);
  return NULL;
}

static int take_team(const similarity *team, run_summary *s) {
  tsanom_diagnosis_summary *about = &s->about;
  if (tsanom_diagnosis_summarize_team(team->file.data, &team->report, about) < 0)
    return -1;
  if (about->team.members && about->team.region != TSANOM_NONE)
    about->team_region = s->team_text = team_region(team, about->team.region);
  if (about->team.members &&
      team->file.process) { /* threads with names, or gaps in their numbers */
    char *end;
    const char *name = team->file.process[about->team.first];
    size_t number = strtoul(name, &end, 10);
    if (end > name && (!*end || *end == ' ')) about->team.first = number;
    if (team->threads) about->team_member = name;
  }
  return 0;
}

/* What slow iterations show: 0: what runs beside the program, or the processor, may be why;
 * 2: processor times have them, too, which what runs beside it does not change. */
static int evidence_of(const slow_iterations *slow) {
  if (slow->reason == SLOW_READY || slow->of_machine) return 0;
  return slow->of_processor ? 2 : 1;
}

/* What the program does itself comes first. */
static void add_slow(run_summary *s) {
  tsanom_diagnosis_summary *about = &s->about;
  size_t first = 0;
  for (size_t i = 1; i < s->slow.count; i++) {
    if (evidence_of(&s->slow.item[i]) > evidence_of(&s->slow.item[first])) first = i;
  }
  int evidence = s->slow.count ? evidence_of(&s->slow.item[first]) : 0;
  about->searched = 1;
  about->slow_ready = s->slow.count && !evidence;
  about->slow_of_processor = evidence == 2;
  s->slow_text = slow_sentence(&s->slow, first);
  about->slow = s->slow_text;
  for (size_t i = 0; i < s->slow.count; i++) {
    const slow_iterations *one = &s->slow.item[i];
    if (evidence_of(one) == evidence) about->slow_s += one->found.lost_s;
  }
}

static int read_process(const char *path, const owned_model *m, const tsanom_exec *exec,
                        int salvage, run_summary *s, failure *why) {
  tsanom_runs_info info;
  failure reason;
  if (add_process(path, -1, m, exec, salvage, &info, s, why)) return -1;
  if (s->about.iterations > SLOW_FEWEST && !info.beats_by_time &&
      !slow_read_open(s->run, path, &s->slow, &reason)) {
    add_slow(s);
  }
  if (s->about.threads < 2) return 0;
  tsanom_spmd_options options = team_options();
  if (similarity_make_open(s->run, path, &options, exec, &s->team, &reason)) {
    return add_reason("threads were not compared", &reason, path, s, why);
  }
  return take_team(&s->team, s);
}

/* ---- a job */

static int read_rank(const char *path, int32_t rank, const owned_model *m,
                     const tsanom_exec *exec, int salvage, run_summary *s, failure *why) {
  tsanom_runs_info info;
  failure reason;
  if (add_process(path, rank, m, exec, salvage, &info, s, why)) return -1;
  if (!info.beats_by_time && info.beats > SLOW_FEWEST)
    s->about.searched |= !slow_add_rank(s->run, path, rank, &s->slow, &reason);
  return 0;
}

static int read_job(char *path, const int32_t *ranks, size_t count, const owned_model *m,
                    const tsanom_exec *exec, int salvage, run_summary *s, failure *why) {
  failure reason;
  int failed = 0;
  for (size_t i = 0; i < count && !failed; i++) {
    char *own = run_rank_path(path, ranks[i]);
    failed = own ? read_rank(own, ranks[i], m, exec, salvage, s, why)
                 : fail(why, "out of memory");
    free(own);
  }
  tsanom_runs_destroy(s->run);
  s->run = NULL;
  if (failed) return -1;
  slow_sort(&s->slow);
  if (s->about.searched) add_slow(s);
  tsanom_spmd_options options = team_options();
  if (similarity_make(&path, 1, &options, exec, salvage, &s->team, &reason)) {
    return add_reason("ranks were not compared", &reason, path, s, why);
  }
  return take_team(&s->team, s);
}

/* ---- all of it */

static uint64_t bytes_found;

static int add_bytes(const char *path, const struct stat *about, int kind,
                     struct FTW *where) {
  enum { BLOCK = 512 };
  (void)path;
  (void)where;
  if (kind == FTW_F) bytes_found += (uint64_t)about->st_blocks * BLOCK;
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
      add_missing(s, "no vital signs: processor time and memory are not known", why))
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
  if (s->slow.it.count) return slow_draw(&s->slow, path, why);
  if (s->team.file.data) return similarity_draw(&s->team, path, why);
  return fail(why, "%s: there are neither iterations nor regions to draw",
              file_title(s->about.path));
}
