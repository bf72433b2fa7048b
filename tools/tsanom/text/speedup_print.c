/* SPDX-License-Identifier: BSD-3-Clause */
/* The results of tsanom speedup as a table and as JSON. */
#include "speedup_print.h"

#include <math.h>
#include <stdio.h>
#include <tsanom/diagnosis.h>

#include "command.h"
#include "json_value.h"
#include "series.h"
#include "task_counts.h"

/* The speedups of the latest iterations and of the whole loop are explained if they
 * differ by more than this part. */
static const double whole_differs = 0.05;

int speedup_is_measured(const speedup_request *r, const tsanom_speedup_loop *loop) {
  return r->baseline_path || loop->baseline_threads != loop->current_threads;
}

/* The speedup of the whole loop: of the mean times of all its iterations; NaN: not
 * measured. */
static double whole_speedup(const speedup_request *r, const tsanom_speedup_loop *loop) {
  return speedup_is_measured(r, loop) ? loop->baseline_mean_s / loop->current_mean_s
                                      : NAN;
}

static json_t *loop_json(const speedup_request *r, speedup_result *a,
                         const tsanom_speedup_loop *l) {
  int is_measured = speedup_is_measured(r, l);
  return json_pack(
      "{so sI sI sI so so so so so so sI sI so so so so so so}", "start",
      json_name(region_stream_name(&a->stream, l->start)), "period",
      (json_int_t)l->period, "iterations", (json_int_t)l->iterations, "runs",
      (json_int_t)l->runs, "baseline_s", json_finite(is_measured ? l->baseline_s : NAN),
      "current_s", json_finite(l->current_s), "speedup",
      json_finite(is_measured ? l->speedup : NAN), "efficiency",
      json_finite(is_measured ? l->efficiency : NAN), "serial_fraction",
      json_finite(l->serial_fraction), "total_s", json_finite(l->total_s),
      "baseline_threads", (json_int_t)l->baseline_threads, "current_threads",
      (json_int_t)l->current_threads, "first_s", json_finite(l->first), "last_s",
      json_finite(l->last), "parallel_s", json_finite(l->parallel_s), "baseline_mean_s",
      json_finite(is_measured ? l->baseline_mean_s : NAN), "current_mean_s",
      json_finite(l->current_mean_s), "whole_speedup", json_finite(whole_speedup(r, l)));
}

int speedup_print_json(const speedup_request *r, speedup_result *a) {
  json_t *loops = json_array(), *prediction = json_null();
  for (size_t i = 0; i < a->loops; i++) {
    if (a->loop[i].iterations) json_array_append_new(loops, loop_json(r, a, &a->loop[i]));
  }
  if (a->predicted) {
    const tsanom_speedup_prediction *p = &a->prediction;
    prediction = json_pack("{so sI sI sI so so so so sb}", "start",
                           json_name(region_stream_name(&a->stream, p->start)), "period",
                           (json_int_t)p->period, "iterations", (json_int_t)p->iterations,
                           "expected", (json_int_t)p->expected, "remaining_s",
                           json_finite(p->remaining_s), "total_s",
                           json_finite(p->total_s), "low_s", json_finite(p->low_s),
                           "high_s", json_finite(p->high_s), "drifts", p->drifts);
  }
  return print_json(json_pack(
      "{so sb ss sI so so so so so so so}", "run",
      json_name(file_title(r->shared.argument[0])), "finished", a->stream.finished,
      "level", level_name(a->stream.level), "events", (json_int_t)a->used, "main_loop",
      main_loop_json(&a->main, &a->stream), "candidates",
      main_loop_candidates(&a->main, &a->stream), "regions", loops, "prediction",
      prediction, "tasks", task_counts_json(&a->stream), "total_s",
      json_finite(a->stream.total), "ready_share", json_finite(speedup_waited(r))));
}

static void print_number(double value, int width) {
  if (isfinite(value)) {
    printf(" %*.4g", width, value);
  } else {
    printf(" %*s", width, "-");
  }
}

static int has_baseline(const speedup_request *r, const speedup_result *a) {
  for (size_t i = 0; i < a->loops; i++) {
    if (a->loop[i].iterations && speedup_is_measured(r, &a->loop[i])) return 1;
  }
  return 0;
}

/* Amdahl's fraction is one of times that follow his law; others show as numbers outside
 * of 0 to 1. */
static void explain_fractions(const speedup_result *a) {
  int above = 0, below = 0;
  for (size_t i = 0; i < a->loops; i++) {
    above |= a->loop[i].serial_fraction > 1;
    below |= a->loop[i].serial_fraction < 0;
  }
  if (above)
    printf("\na serial fraction above 1: iterations are slower with more threads\n");
  if (below) {
    printf(
        "\na serial fraction below 0: the speedup exceeds the ratio of the threads, by "
        "caches or by\ndisturbances of the baseline\n");
  }
}

/* Both describe the same loop, unless its times change or have long outliers. */
static void explain_whole_loops(const speedup_request *r, const speedup_result *a) {
  for (size_t i = 0; i < a->loops; i++) {
    double whole = whole_speedup(r, &a->loop[i]);
    if (!(fabs(whole / a->loop[i].speedup - 1) > whole_differs)) continue;
    printf(
        "\nspeedup: by the medians of the latest %d iterations; whole loop: by the mean "
        "times of all, as\nwhen whole runs are timed\n",
        TSANOM_SPEEDUP_RECENT);
    return;
  }
}

static void print_loop(const speedup_request *r, speedup_result *a,
                       const tsanom_speedup_loop *l) {
  printf("%8zu %10llu %4d/%4d", l->period, (unsigned long long)l->iterations,
         (int)l->baseline_threads, (int)l->current_threads);
  int is_measured = speedup_is_measured(r, l);
  print_number(is_measured ? l->baseline_s : NAN, 8);
  print_number(l->current_s, 8);
  if (is_measured) {
    print_number(l->speedup, 8);
    print_number(whole_speedup(r, l), 10);
    print_number(l->efficiency, 8);
    print_number(l->serial_fraction, 6);
  } else {
    printf(" %35s", "not measured");
  }
  printf("  %s\n", region_stream_name(&a->stream, l->start));
}

static void print_prediction(const speedup_result *a) {
  const tsanom_speedup_prediction *p = &a->prediction;
  printf("\n%llu of %llu iterations of %zu; ", (unsigned long long)p->iterations,
         (unsigned long long)p->expected, p->period);
  if (p->drifts) {
    printf("iterations drift: the end is unknown\n");
  } else if (p->total_s < a->stream.event[a->used - 1].end) {
    /* Something else may have come after the main loop. */
    printf("they ended at %.6g s\n", p->total_s);
  } else {
    printf("%.6g s to go, %.6g s in all", p->remaining_s, p->total_s);
    if (p->low_s < p->high_s) printf(" (95 %%: %.6g to %.6g s)", p->low_s, p->high_s);
    printf("\n");
  }
}

double speedup_waited(const speedup_request *r) {
  const tsanom_hsa_run *beats;
  tsanom_diagnosis_ledger ledger = {.sampled = 0};
  tsanom_runs_options options;
  tsanom_runs *run = NULL;
  double share = NAN;
  tsanom_runs_options_init(&options, sizeof options);
  options.parts = TSANOM_RUNS_BEATS;
  options.salvage = r->shared.salvage;
  if (tsanom_runs_open(r->shared.argument[0], &options, NULL, &run) == TSANOM_OK &&
      tsanom_runs_hsa(run, NULL, &beats) >= 0 &&
      tsanom_diagnosis_account(beats, NULL, &ledger, NULL, 0) >= 0 && ledger.sampled) {
    share = ledger.window[0].ready_s / ledger.window[0].wall_s;
  }
  tsanom_runs_destroy(run);
  return share;
}

/* The main loop, else the one that takes most time; NULL: there is none. */
static const tsanom_speedup_loop *main_of(const speedup_result *a) {
  const tsanom_speedup_loop *best = NULL;
  for (size_t i = 0; i < a->loops; i++) {
    if (!a->loop[i].iterations) continue;
    if (!best || a->loop[i].total_s > best->total_s) best = &a->loop[i];
  }
  return a->main.iterations ? &a->loop[0] : best;
}

/* "400 iterations, 0.05586 s each; 1.9 times as fast on 2 threads as on 1." */
static void print_answer(const speedup_request *r, const speedup_result *a) {
  static const double busy = 0.05;
  const tsanom_speedup_loop *l = main_of(a);
  if (!l) {
    printf("No iterations were found.\n");
    return;
  }
  printf("%llu iterations, %.4g s each; ", (unsigned long long)l->iterations,
         l->current_s);
  if (speedup_is_measured(r, l) && isfinite(l->speedup)) {
    printf("%.3g times as fast on %d threads as on %d.\n", l->speedup,
           (int)l->current_threads, (int)l->baseline_threads);
  } else {
    printf("all on %d thread%s.\n", (int)l->current_threads,
           l->current_threads == 1 ? "" : "s");
  }
  double waited = speedup_waited(r);
  if (waited > busy) {
    printf(
        "Warning: work was ready without a processor in %.0f %% of the time: other "
        "programs ran.\n",
        100 * waited);
  }
}

void speedup_print_table(const speedup_request *r, speedup_result *a) {
  print_answer(r, a);
  if (r->shared.brief) return;
  printf("%s: %zu %s in %.6g s%s\n\n", file_title(r->shared.argument[0]), a->used,
         a->stream.level == TSANOM_RUNS_LEVEL_WORKSHARING ? "ends of worksharing"
                                                          : "regions",
         a->stream.total, a->stream.finished ? "" : " (killed, or going on)");
  task_counts_print(&a->stream);
  main_loop_print(&a->main, &a->stream);
  if (!a->loops) return;
  printf(
      "  period iterations   threads baseline  current  speedup whole loop  "
      " effic. serial  start\n");
  for (size_t i = 0; i < a->loops; i++) {
    const tsanom_speedup_loop *l = &a->loop[i];
    if (!l->iterations) continue;
    print_loop(r, a, l);
  }
  if (a->lost) printf("there are more loops than the analyzer can distinguish\n");
  explain_fractions(a);
  explain_whole_loops(r, a);
  if (!has_baseline(r, a)) {
    printf(
        "\nall iterations ran with as many threads: for a speedup record with --baseline "
        "1, or\ncompare with a run on fewer threads by --baseline RUN\n");
  }
  if (a->predicted) print_prediction(a);
}
