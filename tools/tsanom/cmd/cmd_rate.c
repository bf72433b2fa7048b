/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom rate: windowed heart rates of the threads of a run; --cpu: the processors in use. */
#include <jansson.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tsanom/diagnosis.h>
#include <tsanom/hsa.h>
#include <tsanom/runs.h>

#include "beats.h"
#include "command.h"
#include "failure.h"
#include "json_value.h"
#include "plot.h"
#include "reserve.h"
#include "rows.h"
#include "run_open.h"
#include "summary.h"

/* tsanom rate --cpu: the processors that each thread or rank uses over time, as in
 * figures 7 and 8 of the SPMD paper. */

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

static void fill(cpu_line *line, const tsanom_hsa_vital *v, size_t count) {
  const tsanom_hsa_vital *before = NULL;
  line->begin = allocate(count, sizeof *line->begin);
  line->time = allocate(count, sizeof *line->time);
  line->use = allocate(count, sizeof *line->use);
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
  tsanom_fault fault;
  tsanom_exec exec = exec_with_fault(NULL, &fault);
  tsanom_status status = tsanom_runs_vitals(run, thread, &exec, &samples, &count);
  if (status < 0) return fail_fault(why, path, status, &fault);
  if (!count) return 0;
  cpu_line *line = &use->line[use->count++];
  line->number = number;
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
  use->line = allocate(info.vital_threads + 1, sizeof *use->line);
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
  if (use->is_ranks) use->line = allocate(count, sizeof *use->line);
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

static void print_cpu_csv(const cpu_use *use) {
  printf("%s,begin,time,cpu\n", member(use));
  for (size_t i = 0; i < use->count; i++) {
    const cpu_line *l = &use->line[i];
    for (size_t k = 0; k < l->count; k++) {
      printf("%d,%.17g,%.17g,%.17g\n", (int)l->number, l->begin[k], l->time[k],
             l->use[k]);
    }
  }
}

static void print_cpu_table(const cpu_use *use) {
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

static int draw_cpu(const char *run, const char *path, const cpu_use *use, failure *why) {
  plot_line *line = allocate(use->count, sizeof *line);
  size_t drawn = 0;
  for (size_t i = 0; i < use->count; i++) {
    const cpu_line *l = &use->line[i];
    line[i] = (plot_line){(size_t)l->number, l->count, l->time, l->use};
    drawn += l->count > 0;
  }
  int failed = drawn ? plot_lines(path, "Processors in use", "processors", member(use),
                                  line, use->count, why)
                     : fail(why, "%s: too few vital signs to draw", file_title(run));
  free(line);
  return failed;
}

/* tsanom rate --cpu; returns the exit status. */
static int rate_cpu(shared_options *shared, int csv) {
  cpu_use use = {0};
  failure why;
  char *given = shared->argument[0];
  int failed = expand_ranks(shared, &why) ||
               cpu_use_read(shared->argument, shared->arguments, &shared->exec,
                            shared->salvage, &use, &why);
  if (!failed && shared->plot) failed = draw_cpu(given, shared->plot, &use, &why);
  int status = EXIT_DONE;
  if (failed) {
    status = report_failure(&why);
  } else if (shared->json) {
    status = print_lines_json(given, &use);
  } else if (csv) {
    print_cpu_csv(&use);
  } else {
    print_cpu_table(&use);
  }
  cpu_use_free(&use);
  return status;
}

enum { WIDTH = 9 };

/* The numbers of a sample: those of the process only are levels, the others are totals.
 */
static const struct {
  const char *name, *title;
  size_t offset;
  double unit;
} numbers[] = {
#define VITAL(name, title, unit) \
  { #name, title, offsetof(tsanom_hsa_vital, name), unit }
    VITAL(cpu_s, "cpu s", 1),
    VITAL(wait_s, "wait s", 1),
    VITAL(voluntary, "voluntary", 1),
    VITAL(involuntary, "involunt.", 1),
    VITAL(minor_faults, "minor f.", 1),
    VITAL(major_faults, "major f.", 1),
    VITAL(resident, "res. MiB", 1 << 20),
    VITAL(anonymous, "anon. MiB", 1 << 20)};
enum { VITALS = sizeof numbers / sizeof *numbers };

static double number_of_sample(const tsanom_hsa_vital *vital, size_t i) {
  return *(const double *)((const char *)vital + numbers[i].offset);
}

/* Whether the process or a thread was sampled. */
static int vitals_exist(const tsanom_hsa_run *run) {
  size_t samples = run->vital_count;
  for (size_t t = 0; t < run->thread_count; t++) samples += run->threads[t].vital_count;
  return samples > 0;
}

static void print_row(const tsanom_hsa_vital *vital, size_t count) {
  printf("  %8zu", count);
  for (size_t i = 0; i < VITALS; i++) {
    double most = NAN;
    for (size_t k = 0; k < count; k++) {
      most = fmax(most, number_of_sample(&vital[k], i));
    }
    if (isnan(most)) {
      printf(" %*s", WIDTH, "-");
    } else {
      printf(" %*.4g", WIDTH, most / numbers[i].unit);
    }
  }
  printf("\n");
}

/* For the process and each thread: the number of its samples, and the totals at its last
 * one; of memory, the most. */
static void vitals_print(const tsanom_hsa_run *run) {
  printf("\n thread   samples");
  for (size_t i = 0; i < VITALS; i++) printf(" %*s", WIDTH, numbers[i].title);
  printf("\nprocess");
  print_row(run->vital, run->vital_count);
  for (size_t t = 0; t < run->thread_count; t++) {
    printf("%7zu", t);
    print_row(run->threads[t].vital, run->threads[t].vital_count);
  }
}

/* An object with an array for each number; what is not known is null. */
static json_t *vitals_json(const tsanom_hsa_vital *vital, size_t count) {
  json_t *object = json_object(), *time = json_array();
  for (size_t k = 0; k < count; k++) {
    json_array_append_new(time, json_finite(vital[k].time));
  }
  json_object_set_new(object, "time", time);
  for (size_t i = 0; i < VITALS; i++) {
    json_t *array = json_array();
    for (size_t k = 0; k < count; k++) {
      json_array_append_new(array, json_finite(number_of_sample(&vital[k], i)));
    }
    json_object_set_new(object, numbers[i].name, array);
  }
  return object;
}

typedef struct {
  shared_options shared;
  size_t window; /* 0: a hundredth of the beats of the busiest thread */
  int csv, cpu, vitals;
  int has_regions; /* the run was opened with its regions */
} request;

/* The rates of a thread; rate[i] is at time[i]. A table shows the lowest and the highest
 * only, and keeps none. */
typedef struct {
  double *rate;
  const double *time;
  size_t count;
  double low, high;
} thread_rates;

static const option_row options[] = {
    {"window", 'w', "W",
     "Beats in a window, at least 1 (default: a hundredth of the beats of the busiest "
     "thread, rounded up)",
     COUNT(window, 1, 0)},
    {"cpu", 0, NULL,
     "The processors that each thread used over time, by the vital signs of a run "
     "directory; of a run of several ranks, each rank",
     FLAG(cpu)},
    {"csv", 0, NULL, "Print each rate, as CSV", FLAG(csv)},
    {"vitals", 0, NULL, "Print what the kernel knew of the process and its threads, too",
     FLAG(vitals)},
    SALVAGE_ROW,
};

static int print_threads_json(const request *r, const beats *b, const thread_rates *t) {
  json_t *threads = json_array();
  for (size_t i = 0; i < b->run.thread_count; i++) {
    json_array_append_new(threads,
                          json_pack("{sI sI so so}", "thread", (json_int_t)i, "beats",
                                    (json_int_t)b->run.threads[i].beats, "time",
                                    json_numbers(t[i].time, t[i].count), "rate",
                                    json_numbers(t[i].rate, t[i].count)));
    if (r->vitals) {
      const tsanom_hsa_series *s = &b->run.threads[i];
      json_object_set_new(json_array_get(threads, i), "vitals",
                          vitals_json(s->vital, s->vital_count));
    }
  }
  json_t *result =
      json_pack("{so sI so}", "run", json_name(file_title(r->shared.argument[0])),
                "window", (json_int_t)r->window, "threads", threads);
  if (r->vitals) {
    json_object_set_new(result, "vitals", vitals_json(b->run.vital, b->run.vital_count));
  }
  return print_json(result);
}

static void print_csv(const request *r, const beats *b, const thread_rates *t) {
  printf("thread,beat,time,rate\n");
  for (size_t i = 0; i < b->run.thread_count; i++) {
    for (size_t k = 0; k < t[i].count; k++) {
      printf("%zu,%zu,%.17g,%.17g\n", i, k + r->window, t[i].time[k], t[i].rate[k]);
    }
  }
}

typedef struct {
  double begin, end;
} stretch;

/* Beats over time of a thread; NaN: there are not enough for a window, at different times. */
static double pace_of(const tsanom_hsa_series *s, size_t window) {
  if (s->beats <= window || !(s->time[s->beats - 1] > s->time[0])) return NAN;
  return (double)(s->beats - 1) / (s->time[s->beats - 1] - s->time[0]);
}

/* Those in a stretch over its time. */
static double pace_in(const tsanom_hsa_series *s, size_t window, const stretch *in) {
  size_t first = 0, end = s->beats;
  while (first < end && s->time[first] < in->begin) first++;
  while (end > first && s->time[end - 1] > in->end) end--;
  if (end - first <= window || !(in->end > in->begin)) return NAN;
  return (double)(end - first) / (in->end - in->begin);
}

/* The paces of the threads. */
typedef struct {
  size_t count, fastest, slowest;
  double high, low;
  stretch common; /* from the latest first beat of a thread to the earliest last one */
} paces;

/* In a stretch; NULL: of each in its own time. */
static paces compare_paces(const beats *b, size_t window, const stretch *in) {
  paces p = {.low = INFINITY, .common = {-INFINITY, INFINITY}};
  for (size_t i = 0; i < b->run.thread_count; i++) {
    const tsanom_hsa_series *s = &b->run.threads[i];
    double pace = in ? pace_in(s, window, in) : pace_of(s, window);
    if (isnan(pace)) continue;
    p.count++;
    p.common.begin = fmax(p.common.begin, s->time[0]);
    p.common.end = fmin(p.common.end, s->time[s->beats - 1]);
    if (pace > p.high) p.fastest = i;
    if (pace < p.low) p.slowest = i;
    p.high = fmax(p.high, pace);
    p.low = fmin(p.low, pace);
  }
  return p;
}

/* "10 beats per second: 400 beats in 40 s; 2 threads, equally fast." Iterations are not all as long, so
 * that threads are compared in the time that they have in common, where one of two that make the same
 * iterations may have a beat more at both ends. Beats that are no iterations are those of what a
 * thread takes from the others, or of its processor time. */
static void print_answer(const beats *b, size_t window) {
  static const double equal = 0.02;
  paces all = compare_paces(b, window, NULL),
        common = compare_paces(b, window, &all.common);
  int is_common = common.count == all.count;
  paces p = is_common ? common : all;
  double ends = is_common ? 2 / (all.common.end - all.common.begin) : 0;
  int is_equal = p.low + ends >= (1 - equal) * p.high;
  const tsanom_hsa_series *s =
      &b->run.threads[is_equal ? beats_busiest(&b->run) : p.fastest];
  printf("%.4g beats per second: %zu beats in %.4g s; ", pace_of(s, window), s->beats,
         s->time[s->beats - 1] - s->time[0]);
  if (p.count == 1) {
    printf("one thread.\n");
  } else if (b->no_iterations) {
    printf("%zu threads, whose beats are no iterations and show no speed.\n", p.count);
  } else if (is_equal) {
    printf("%zu threads, equally fast.\n", p.count);
  } else {
    printf("%zu threads, thread %zu %.3g %% slower.\n", p.count, p.slowest,
           100 * (1 - p.low / p.high));
  }
}

/* The sentence of tsanom slow, if there is one. */
static void print_slow(const request *r, const beats *b) {
  run_summary s = {0};
  failure why;
  if (r->has_regions && !summary_search(r->shared.argument[0], b, &s, &why) &&
      s.about.slow_count)
    slow_print_one(&s.about, 0);
  summary_free(&s);
}

static void print_table(const request *r, const beats *b, const thread_rates *t) {
  print_answer(b, r->window);
  if (r->shared.brief) return;
  print_slow(r, b);
  printf(
      "\nbeats / s: over the whole time; lowest and highest of windows of %zu beats\n\n",
      r->window);
  printf("thread       beats  completion s     beats / s       lowest      highest\n");
  for (size_t i = 0; i < b->run.thread_count; i++) {
    const tsanom_hsa_series *s = &b->run.threads[i];
    printf("%6zu  %10zu", i, s->beats);
    if (!t[i].count) {
      printf("  too few for a window\n");
      continue;
    }
    printf("  %12.6g  %12.6g %12.6g %12.6g\n", s->time[s->beats - 1] - b->run.start,
           pace_of(s, r->window), t[i].low, t[i].high);
  }
  if (r->vitals) vitals_print(&b->run);
}

static int draw(const request *r, const beats *b, const thread_rates *t, failure *why) {
  size_t threads = b->run.thread_count;
  char title[64];
  plot_line *line = allocate(threads, sizeof *line);
  for (size_t i = 0; i < threads; i++) {
    line[i] = (plot_line){i, t[i].count, t[i].time, t[i].rate};
  }
  (void)snprintf(title, sizeof title, "Heart rates, window %zu", r->window);
  int failed =
      plot_lines(r->shared.plot, title, "beats per second", "thread", line, threads, why);
  free(line);
  return failed;
}

static int compute(request *r, const beats *b, thread_rates *t, failure *why) {
  if (!beats_most(b)) {
    return fail(
        why,
        "%s: no thread has beats: no iterations were found while the program ran; "
        "tsanom record --heartbeat-every N records a beat every N regions",
        file_title(r->shared.argument[0]));
  }
  if (r->vitals && !vitals_exist(&b->run)) {
    return fail(why, "%s: the run has no vital signs", file_title(r->shared.argument[0]));
  }
  if (!r->window) r->window = (beats_most(b) + 99) / 100;
  if (beats_most(b) <= r->window) {
    return fail(
        why, "%s: the busiest thread has %zu beats: a window of %zu needs at least %zu",
        file_title(r->shared.argument[0]), beats_most(b), r->window, r->window + 1);
  }
  for (size_t i = 0; i < b->run.thread_count; i++) {
    if (beats_rate(b, i, r->window, r->shared.argument[0], &t[i].rate, &t[i].count, why))
      return -1;
    if (t[i].count) t[i].time = b->run.threads[i].time + r->window;
    t[i].low = INFINITY;
    for (size_t k = 0; k < t[i].count; k++) {
      t[i].low = fmin(t[i].low, t[i].rate[k]);
      t[i].high = fmax(t[i].high, t[i].rate[k]);
    }
    if (r->shared.json || r->csv || r->shared.plot) continue;
    free(t[i].rate);
    t[i].rate = NULL;
  }
  return r->shared.plot ? draw(r, b, t, why) : 0;
}

static int report(request *r, const beats *b) {
  failure why;
  thread_rates *t = allocate(b->run.thread_count, sizeof *t);
  int status = EXIT_DONE;
  if (compute(r, b, t, &why)) {
    status = report_failure(&why);
  } else if (r->shared.json) {
    status = print_threads_json(r, b, t);
  } else if (r->csv) {
    print_csv(r, b, t);
  } else {
    print_table(r, b, t);
  }
  for (size_t i = 0; i < b->run.thread_count; i++) free(t[i].rate);
  free(t);
  return status;
}

static void check_line(struct argp_state *state, void *request_) {
  const request *r = request_;
  if (r->csv && r->shared.json) argp_error(state, "--csv and --json exclude each other");
  if (r->cpu && (r->window || r->vitals)) {
    argp_error(state, "--cpu has neither --window nor --vitals");
  }
  if (r->csv && r->vitals) argp_error(state, "--csv and --vitals exclude each other");
}

static const syntax command_line = {
    ROWS(options),
    .arguments = "RUN",
    .help =
        "Windowed heart rates of the threads of a run.\v"
        "RUN is a run directory, or a CSV file with the columns thread and time (in "
        "seconds); \"-\" is such a file on standard input.",
    .expected = "one run is",
    .least = 1,
    .most = 1,
    .check = check_line,
};

/* A table has the sentence of tsanom slow, for which regions are needed. If these are
 * damaged, the beats are enough; with --salvage, the warning would count other records. A file has
 * no regions, and may be one that can be read once. */
static int read_all(request *r, beats *b, failure *why) {
  const char *path = r->shared.argument[0];
  int is_table = !r->csv && !r->shared.json && !r->shared.brief && !r->shared.salvage;
  r->has_regions = is_table && !beats_read(path, 0, &r->shared.exec, 0, b, why);
  if (r->has_regions) return 0;
  if (is_table && !is_directory(path)) return -1;
  return beats_read(path, TSANOM_RUNS_BEATS, &r->shared.exec, r->shared.salvage, b, why);
}

/* One process. */
static int rate(const void *request_) {
  request r = *(const request *)request_;
  beats b = {0};
  failure why;
  if (read_all(&r, &b, &why)) return report_failure(&why);
  int status = report(&r, &b);
  beats_free(&b);
  return status;
}

int command_rate(int argc, char **argv) {
  request r = {0};
  parse_command(&command_line, argc, argv, &r);
  if (r.cpu) return rate_cpu(&r.shared, r.csv);
  return for_each_rank(&r.shared, !r.csv && !r.vitals, rate, &r);
}
