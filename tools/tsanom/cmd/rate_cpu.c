/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom rate --cpu: the processors that each thread or rank uses over time, as in
 * figures 7 and 8 of the SPMD paper. */
#include "rate_cpu.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tsanom/hsa.h>
#include <tsanom/runs.h>

#include "failure.h"
#include "plot.h"
#include "ranks.h"
#include "rows.h"
#include "run_open.h"

/* Between two vital signs of one task, its processor time over the elapsed time. A thread
 * number may be that of several tasks in turn, of which each begins anew. use[i] is the mean from begin[i] to time[i]: 1 is one processor. */
typedef struct {
  int32_t number; /* of the thread or rank */
  double *begin, *time, *use;
  size_t count;
} cpu_line;

/* Zero it before use. */
typedef struct {
  cpu_line *line;
  size_t count;
  int is_ranks; /* a line for each run: a rank; else for each thread of the run */
} cpu_use;
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

/* Read one run, or the runs of all ranks, RUN/rank.K. */
static int cpu_use_read(char *const *paths, size_t count, const tsanom_exec *exec,
                        int salvage, cpu_use *use, failure *why) {
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

static void cpu_use_free(cpu_use *use) {
  for (size_t i = 0; i < use->count; i++) {
    free(use->line[i].begin);
    free(use->line[i].time);
    free(use->line[i].use);
  }
  free(use->line);
  *use = (cpu_use){0};
}

static const char *member(const cpu_use *use) {
  return use->is_ranks ? "rank" : "thread";
}

static int print_lines_json(const char *run, const cpu_use *use) {
  json_t *lines = json_array();
  for (size_t i = 0; i < use->count; i++) {
    const cpu_line *l = &use->line[i];
    json_array_append_new(lines, json_pack("{si so so so}", member(use), (int)l->number,
                                           "begin", json_numbers(l->begin, l->count),
                                           "time", json_numbers(l->time, l->count), "cpu",
                                           json_numbers(l->use, l->count)));
  }
  return print_json(json_pack("{so so}", "run", json_name(file_title(run)),
                              use->is_ranks ? "ranks" : "threads", lines));
}

static void print_csv(const cpu_use *use) {
  printf("%s,begin,time,cpu\n", member(use));
  for (size_t i = 0; i < use->count; i++) {
    const cpu_line *l = &use->line[i];
    for (size_t k = 0; k < l->count; k++) {
      printf("%d,%.17g,%.17g,%.17g\n", (int)l->number, l->begin[k], l->time[k],
             l->use[k]);
    }
  }
}

static void print_table(const cpu_use *use) {
  printf("processors in use between samples\n\n%6s  %8s %7s %7s %7s\n", member(use),
         "samples", "mean", "lowest", "highest");
  for (size_t i = 0; i < use->count; i++) {
    const cpu_line *l = &use->line[i];
    double sum = 0, elapsed = 0, low = INFINITY, high = 0;
    for (size_t k = 0; k < l->count; k++) {
      double length = l->time[k] - l->begin[k];
      sum += l->use[k] * length;
      elapsed += length;
      low = fmin(low, l->use[k]);
      high = fmax(high, l->use[k]);
    }
    printf("%6d  %8zu", (int)l->number, l->count);
    if (l->count) {
      printf(" %7.3f %7.3f %7.3f\n", sum / elapsed, low, high);
    } else {
      printf("  too few\n");
    }
  }
}

static int draw(const shared_options *shared, const cpu_use *use, failure *why) {
  plot p;
  if (plot_open(&p, shared->plot, "Processors in use", why)) return -1;
  for (size_t i = 0; i < use->count; i++) {
    const cpu_line *l = &use->line[i];
    char name[32];
    (void)snprintf(name, sizeof name, "t%zu", i);
    if (l->count) plot_series(&p, name, l->time, l->use, l->count);
  }
  fprintf(p.script,
          "set xlabel 'time, s'\nset ylabel 'processors'\nset yrange [0:*]\n" PLOT_LABELS
          "plot ");
  for (size_t i = 0; i < use->count; i++) {
    const cpu_line *l = &use->line[i];
    if (!l->count) continue;
    fprintf(p.script, "$t%zu with lines title '%s %d' at end, ", i, member(use),
            (int)l->number);
  }
  fprintf(p.script, "\n");
  return plot_close(&p, why);
}

int rate_cpu(shared_options *shared, int csv) {
  cpu_use use = {0};
  failure why;
  char *given = shared->argument[0];
  int failed = expand_ranks(shared, &why) ||
               cpu_use_read(shared->argument, shared->arguments, &shared->exec,
                            shared->salvage, &use, &why);
  if (!failed && shared->plot) {
    size_t drawn = 0;
    for (size_t i = 0; i < use.count; i++) drawn += use.line[i].count > 0;
    failed = drawn ? draw(shared, &use, &why)
                   : fail(&why, "%s: too few vital signs to draw", file_title(given));
  }
  int status = EXIT_DONE;
  if (failed) {
    status = report_failure(&why);
  } else if (shared->json) {
    status = print_lines_json(given, &use);
  } else if (csv) {
    print_csv(&use);
  } else {
    print_table(&use);
  }
  cpu_use_free(&use);
  return status;
}
