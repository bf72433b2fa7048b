/* SPDX-License-Identifier: BSD-3-Clause */
/* The similarity analysis of a region file or run: reads it, and runs the library. The arrays
 * of the report belong to `similarity`; texts and pictures read them from there. */
#include "similarity.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tsanom/diagnosis.h>

#include "reserve.h"
#include "rows.h"
#include "run_open.h"

/* Reducts that are listed. Their number can grow exponentially with that of the metrics.
 */
enum { REDUCTS_MOST = 256 };

void similarity_free(similarity *s) {
  if (!s->is_lent) tsanom_runs_destroy(s->run);
  free(s->class_of);
  free(s->code);
  free(s->region);
  free(s->order);
  free(s->decision);
  free(s->member);
  free(s->core);
  free(s->reduct);
  *s = (similarity){0};
}

const char *process_name(const similarity *s, size_t i, char number[32]) {
  if (s->file.process) return s->file.process[i];
  snprintf(number, 32, "%zu", i);
  return number;
}

const char *similarity_member(const similarity *s, size_t count) {
  if (s->threads) return count == 1 ? "thread" : "threads";
  if (s->ranks) return count == 1 ? "rank" : "ranks";
  return count == 1 ? "process" : "processes";
}

const char *similarity_label(const similarity *s, size_t region) {
  static const char between[] = " > ";
  const char *name = s->file.region[region];
  int32_t parent = s->file.data->parent[region];
  if (parent < 0) return name;
  const char *around = s->file.region[parent];
  size_t length = strlen(around);
  int is_path = strncmp(name, around, length) == 0 &&
                strncmp(name + length, between, sizeof between - 1) == 0;
  return is_path ? name + length + sizeof between - 1 : name;
}

/* The first region from `from` on that is nested directly in `parent`, or -1. */
static int32_t next_nested(const similarity *s, int32_t parent, int32_t from) {
  int32_t regions = (int32_t)s->file.data->regions;
  while (from < regions && s->file.data->parent[from] != parent) from++;
  return from < regions ? from : -1;
}

static void put_in_order(similarity *s) {
  size_t used = 0;
  for (int32_t k = next_nested(s, TSANOM_SPMD_NONE, 0), next; k >= 0; k = next) {
    s->order[used++] = (size_t)k;
    next = next_nested(s, k, 0);
    while (next < 0 && k >= 0) {
      int32_t parent = s->file.data->parent[k];
      next = next_nested(s, parent, k + 1);
      k = parent;
    }
  }
}

static void make_report(similarity *s) {
  const tsanom_spmd_data *d = s->file.data;
  tsanom_spmd_report *r = &s->report;
  *r = (tsanom_spmd_report){.struct_size = sizeof *r};
  s->words = (d->metrics + 63) / 64;
  r->class_of = s->class_of = allocate(d->processes, sizeof *s->class_of);
  r->region = s->region = allocate(d->regions, sizeof *s->region);
  r->code = s->code = allocate(d->processes * d->metrics, sizeof *s->code);
  r->core = s->core = allocate(s->words, sizeof *s->core);
  r->reduct = s->reduct = allocate(REDUCTS_MOST * s->words, sizeof *s->reduct);
  r->reduct_capacity = REDUCTS_MOST;
  s->order = allocate(d->regions, sizeof *s->order);
}

/* Arrays of the report for some decisions and members. */
static void reserve_decisions(similarity *s, size_t decisions, size_t members) {
  tsanom_spmd_report *r = &s->report;
  free(s->decision);
  free(s->member);
  r->decision = s->decision = allocate(decisions, sizeof *s->decision);
  r->member = s->member = allocate(members, sizeof *s->member);
  r->decision_capacity = decisions;
  r->member_capacity = members;
}

/* Steps 1, 2 and 4 make at most one decision for each region, and one. If there are more,
 * run again with as many. */
static tsanom_status analyze(similarity *s, const tsanom_spmd_options *options,
                             const tsanom_exec *exec) {
  tsanom_spmd_report *r = &s->report;
  size_t most = s->file.data->regions + 1;
  reserve_decisions(s, most, most);
  tsanom_status status = tsanom_spmd_analyze(s->file.data, options, exec, r);
  if (status < 0 || (r->decisions <= most && r->members <= most)) return status;
  reserve_decisions(s, r->decisions, r->members);
  return tsanom_spmd_analyze(s->file.data, options, exec, r);
}

/* The region times; the run stays open, because names and arrays are its own. */
static int read_times(const char *path, const tsanom_exec *exec, similarity *s,
                      failure *why) {
  tsanom_fault fault;
  tsanom_exec own = exec_with_fault(exec, &fault);
  tsanom_status status = tsanom_runs_spmd(s->run, &own, &s->file);
  if (status < 0) return fail_fault(why, file_title(path), status, &fault);
  tsanom_runs_info info = {.struct_size = sizeof info};
  status = tsanom_runs_describe(s->run, &info);
  if (status < 0) return fail_status(why, file_title(path), status);
  s->threads = !(info.parts & TSANOM_RUNS_SPMD);
  s->no_iterations = run_has_no_iterations(&info);
  return 0;
}

/* The program must be the only region without a parent. */
static int check_program(const char *path, const similarity *s, failure *why) {
  size_t regions = s->file.data->regions, root = regions;
  for (size_t k = 0; k < regions; k++) {
    if (s->file.data->parent[k] >= 0) continue;
    if (root < regions) {
      return fail(why,
                  "%s: with --program only one region, the program, may have no parent, "
                  "but %s and %s have none",
                  file_title(path), s->file.region[root], s->file.region[k]);
    }
    root = k;
  }
  return 0;
}

static int make(const char *path, const tsanom_spmd_options *options,
                const tsanom_exec *exec, similarity *s, failure *why) {
  s->tolerance = options->tolerance;
  s->cut = options->cut;
  if (options->tree == TSANOM_SPMD_PROGRAM && check_program(path, s, why)) return -1;
  make_report(s);
  tsanom_status status = analyze(s, options, exec);
  if (status >= 0) put_in_order(s);
  return status < 0 ? fail_status(why, file_title(path), status) : 0;
}

int similarity_make(char *const *paths, size_t count, const tsanom_spmd_options *options,
                    const tsanom_exec *exec, int salvage, similarity *s, failure *why) {
  if (run_open_processes(paths, count, exec, salvage, &s->run, why) ||
      read_times(paths[0], exec, s, why))
    return -1;
  s->ranks = count == 1 && s->file.waiting;
  return make(paths[0], options, exec, s, why);
}

int similarity_make_open(tsanom_runs *run, const char *path,
                         const tsanom_spmd_options *options, const tsanom_exec *exec,
                         similarity *s, failure *why) {
  s->run = run;
  s->is_lent = 1;
  return read_times(path, exec, s, why) || make(path, options, exec, s, why) ? -1 : 0;
}

/* "solve"; of ranks "halo (computation before MPI_Wait (a.c:12))", because halo() may only wait
 * for what was computed before it. */
static char *region_name(const similarity *s, size_t region) {
  size_t inner = (size_t)s->report.verdict_region;
  return s->ranks && inner != region
             ? make_text("%s (%s)", s->file.region[region], similarity_label(s, inner))
             : make_text("%s", s->file.region[region]);
}

int similarity_summarize(const similarity *s, tsanom_diagnosis_summary *about,
                         char **region) {
  *region = NULL;
  if (tsanom_diagnosis_summarize_team(s->file.data, &s->report, about) < 0) return -1;
  if (!about->team.members) return 0;
  if (about->team.region != TSANOM_NONE)
    about->team_region = *region = region_name(s, about->team.region);
  if (s->file.process) { /* threads with names, or gaps in their numbers */
    char *end;
    const char *name = s->file.process[about->team.first];
    size_t number = strtoul(name, &end, 10);
    if (end > name && (!*end || *end == ' ')) about->team.first = number;
    if (s->threads) about->team_member = name;
  }
  return 0;
}
