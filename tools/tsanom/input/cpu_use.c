/* SPDX-License-Identifier: BSD-3-Clause */
/* Between two vital signs of one task, its processor time over the elapsed time. A thread
 * number may be that of several tasks in turn, of which each begins anew. */
#include "cpu_use.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tsanom/hsa.h>

#include "run_open.h"

static int reserve(cpu_line *line, size_t count) {
  line->begin = calloc(count + 1, sizeof *line->begin);
  line->time = calloc(count + 1, sizeof *line->time);
  line->use = calloc(count + 1, sizeof *line->use);
  return line->begin && line->time && line->use;
}

static void fill(cpu_line *line, const tsanom_hsa_vital *v, size_t count) {
  const tsanom_hsa_vital *before = NULL;
  for (size_t i = 0; i < count; i++) {
    if (isnan(v[i].cpu_s) || isnan(v[i].time)) continue;
    if (before && before->task == v[i].task && v[i].time > before->time) {
      double use = (v[i].cpu_s - before->cpu_s) / (v[i].time - before->time);
      line->begin[line->count] = before->time;
      line->time[line->count] = v[i].time;
      line->use[line->count++] = fmax(0, use);
    }
    before = &v[i];
  }
}

/* The next line: `thread` of an open run, or TSANOM_RUNS_PROCESS. A thread without
 * samples has none. */
static int add_line(const tsanom_runs *run, int32_t thread, int32_t number, cpu_use *use,
                    const char *path, failure *why) {
  const tsanom_hsa_vital *samples;
  size_t count;
  tsanom_exec exec;
  tsanom_fault fault;
  tsanom_exec_init(&exec, sizeof exec);
  fault = (tsanom_fault){.struct_size = sizeof fault};
  exec.fault = &fault;
  tsanom_status status = tsanom_runs_vitals(run, thread, &exec, &samples, &count);
  if (status < 0) return fail_fault(why, path, status, &fault);
  if (!count) return 0;
  cpu_line *line = &use->line[use->count++];
  line->number = number;
  if (!reserve(line, count)) return fail(why, "%s: out of memory", path);
  fill(line, samples, count);
  return 0;
}

static int add_run(const tsanom_runs *run, cpu_use *use, const char *path, failure *why) {
  tsanom_runs_info info = {.struct_size = sizeof info};
  tsanom_status status = tsanom_runs_describe(run, &info);
  if (status < 0) return fail_status(why, path, status);
  const char *dot = strrchr(path, '.');
  if (use->is_ranks) {
    return add_line(run, TSANOM_RUNS_PROCESS,
                    dot ? (int32_t)strtol(dot + 1, NULL, 10) : 0, use, path, why);
  }
  use->line = calloc(info.vital_threads + 1, sizeof *use->line);
  if (!use->line) return fail(why, "%s: out of memory", path);
  int failed =
      !info.vital_threads && add_line(run, TSANOM_RUNS_PROCESS, 0, use, path, why);
  for (size_t t = 0; t < info.vital_threads && !failed; t++) {
    failed = add_line(run, (int32_t)t, (int32_t)t, use, path, why);
  }
  return failed;
}

int cpu_use_read(char *const *paths, size_t count, const tsanom_exec *exec, int salvage,
                 cpu_use *use, failure *why) {
  int failed = 0;
  use->is_ranks = count > 1;
  if (use->is_ranks) use->line = calloc(count, sizeof *use->line);
  if (use->is_ranks && !use->line) return fail(why, "out of memory");
  for (size_t i = 0; i < count && !failed; i++) {
    tsanom_runs *run;
    if (run_open(paths[i], TSANOM_RUNS_BEATS, exec, salvage, &run, why)) return -1;
    failed = add_run(run, use, paths[i], why);
    tsanom_runs_destroy(run);
  }
  return failed;
}

void cpu_use_free(cpu_use *use) {
  for (size_t i = 0; i < use->count; i++) {
    free(use->line[i].begin);
    free(use->line[i].time);
    free(use->line[i].use);
  }
  free(use->line);
  *use = (cpu_use){0};
}
