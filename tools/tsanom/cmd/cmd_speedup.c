/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom speedup: iterations, speedup and time still to go of a recorded run.
 *
 *   RUN ──▶ events of one level ──▶ tsanom_speedup ──▶ loops, iterations, prediction
 *           (regions, worksharing)      │
 *   --baseline RUN ──▶ the same ────────┴──▶ compared loop by loop
 *
 * Events up to --until are fed in the order of time, as a running program delivers them.
 * So the results of a finished run with --until are what was known at that time. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tsanom/diagnosis.h>
#include <tsanom/speedup.h>

#include "beats.h"
#include "command.h"
#include "failure.h"
#include "json_value.h"
#include "main_loop.h"
#include "options.h"
#include "plot.h"
#include "reserve.h"
#include "series.h"

/* Picture of a loop: the time of each iteration, and below it the speedup. */

/* The iterations of a loop by their threads: $base2 and $base3 are time and speedup of
 * those with the threads of the baseline, $rest2 and $rest3 of the others. Stores how
 * many of each there are. */
static void put_iterations(const plot *p, const tsanom_speedup_loop *loop,
                           const tsanom_speedup_iteration *iteration, size_t iterations,
                           size_t count[2]) {
  double *time = allocate(3 * iterations, sizeof *time);
  double *seconds = time + iterations, *speedup = seconds + iterations;
  for (int rest = 0; rest < 2; rest++) {
    size_t n = 0;
    for (size_t i = 0; i < iterations; i++) {
      const tsanom_speedup_iteration *it = &iteration[i];
      int is_other = it->start != loop->start || it->period != loop->period;
      if (is_other || it->seconds <= 0) continue;
      if ((it->threads != loop->baseline_threads) != rest) continue;
      time[n] = it->begin;
      seconds[n] = it->seconds;
      speedup[n++] = loop->baseline_s / it->seconds;
    }
    plot_series(p, rest ? "rest2" : "base2", time, seconds, n);
    plot_series(p, rest ? "rest3" : "base3", time, speedup, n);
    count[rest] = n;
  }
  free(time);
}

/* Draw column `column` of the iterations. */
static void draw_column(const plot *p, const tsanom_speedup_loop *loop,
                        const size_t count[2], int column) {
  const char *between = "plot ";
  const char *style = "with points pointtype 7 pointsize 0.3";
  if (count[0]) {
    fprintf(p->script, "%s$base%d %s linecolor 2 title '%d thread%s'", between, column,
            style, loop->baseline_threads, loop->baseline_threads == 1 ? "" : "s");
    between = ", ";
  }
  if (count[1]) {
    fprintf(p->script, "%s$rest%d %s linecolor 1 title '%d thread%s'", between, column,
            style, loop->current_threads, loop->current_threads == 1 ? "" : "s");
  }
  fprintf(p->script, "\n");
}

/* Draw those of the iterations that are of the loop, by their numbers of threads. `name`
 * is that of its first region. */
static int speedup_plot(const char *path, const tsanom_speedup_loop *loop,
                        const char *name, const tsanom_speedup_iteration *iteration,
                        size_t iterations, failure *why) {
  plot p;
  size_t count[2] = {0, 0};
  char title[256];
  (void)snprintf(title, sizeof title, "Iterations of %zu regions from %.200s",
                 loop->period, name);
  if (plot_open(&p, path, title, why)) return -1;
  put_iterations(&p, loop, iteration, iterations, count);
  fprintf(p.script,
          "set lmargin 12\nset xlabel 'time, s'\nset ylabel 'time of an iteration, s'\n"
          "set yrange [0:*]\n");
  if (isfinite(loop->baseline_s)) fprintf(p.script, "set multiplot layout 2,1\n");
  draw_column(&p, loop, count, 2);
  if (isfinite(loop->baseline_s)) {
    fprintf(p.script, "unset title\nset ylabel 'speedup'\n");
    draw_column(&p, loop, count, 3);
    fprintf(p.script, "unset multiplot\n");
  }
  return plot_close(&p, why);
}

/* The explicit tasks of a function. */
typedef struct {
  size_t place;
  unsigned long long count;
} task_count;

static int32_t add(void *user, const tsanom_runs_visit *v) {
  task_count *of = user;
  if (v->kind == TSANOM_RUNS_VISIT_TASKS) {
    of[v->place].count += (unsigned long long)v->threads;
  }
  return 0;
}

static int by_count(const void *a, const void *b) {
  const task_count *x = a, *y = b;
  if (x->count != y->count) return x->count < y->count ? 1 : -1;
  return x->place < y->place ? -1 : x->place > y->place;
}

/* The functions of tasks, most tasks first; *count of them. */
static task_count *read_counts(const tsanom_runs *run, size_t *count) {
  task_count *of = allocate(TSANOM_RUNS_PLACES_MAX, sizeof *of);
  const tsanom_runs_visitor visitor = {add, of};
  *count = 0;
  for (size_t i = 0; tsanom_runs_visits(run, i, NULL, &visitor) == TSANOM_OK; i++)
    continue;
  for (size_t k = 0; k < TSANOM_RUNS_PLACES_MAX; k++) {
    if (of[k].count) of[(*count)++] = (task_count){k, of[k].count};
  }
  qsort(of, *count, sizeof *of, by_count);
  return of;
}

/* A table, most tasks first; nothing without tasks. */
static void task_counts_print(region_stream *s) {
  size_t count;
  task_count *of = read_counts(s->run, &count);
  if (count) printf("tasks:\n");
  for (size_t i = 0; i < count; i++) {
    printf("%12llu  %s\n", of[i].count, region_stream_name(s, of[i].place));
  }
  if (count) printf("\n");
  free(of);
}

static json_t *task_counts_json(region_stream *s) {
  size_t count;
  task_count *of = read_counts(s->run, &count);
  json_t *tasks = json_array();
  for (size_t i = 0; i < count; i++) {
    json_array_append_new(
        tasks,
        json_pack("{so so sI}", "name", json_name(region_stream_name(s, of[i].place)),
                  "place", region_stream_place_json(s, of[i].place), "count",
                  (json_int_t)of[i].count));
  }
  free(of);
  return tasks;
}

/* What is asked for. */
typedef struct {
  shared_options shared;
  size_t baseline;     /* threads; 0: the fewest */
  char *baseline_path; /* another run to compare with; NULL: none */
  size_t iterations, max_period;
  const char *loop; /* NULL: choose */
  double until;     /* seconds */
  int32_t level;    /* TSANOM_RUNS_LEVEL_* and 1; 0: choose */
} speedup_request;

/* What comes of it. */
typedef struct {
  region_stream stream;
  size_t used;   /* events before --until */
  size_t anchor; /* the place of --loop; TSANOM_NONE: choose */
  double latest; /* the end of the last of these */
  /* The main loop comes first, if there is one. */
  main_loop main;
  tsanom_speedup_loop *loop;
  size_t loops;
  /* More loops were found than the analyzer can distinguish. */
  int lost;
  tsanom_speedup_prediction prediction;
  int predicted;
  tsanom_speedup_iteration *iteration;
  size_t iterations, capacity;
  /* The share of the time in which threads were ready without a processor, of the program
   * as a whole; NaN: not known. */
  double waited;
} speedup_result;

/* Before the analysis, because beats take memory, too. */
static double share_waited(const speedup_request *r) {
  const tsanom_hsa_run *recorded;
  tsanom_diagnosis_ledger ledger = {.sampled = 0};
  tsanom_runs_options options;
  tsanom_runs *run = NULL;
  double share = NAN;
  tsanom_runs_options_init(&options, sizeof options);
  options.parts = TSANOM_RUNS_BEATS;
  options.salvage = r->shared.salvage;
  if (tsanom_runs_open(r->shared.argument[0], &options, NULL, &run) == TSANOM_OK &&
      tsanom_runs_hsa(run, NULL, &recorded) >= 0 &&
      tsanom_diagnosis_account(recorded, NULL, &ledger, NULL, 0) >= 0 && ledger.sampled) {
    share = ledger.window[0].ready_s / ledger.window[0].wall_s;
  }
  tsanom_runs_destroy(run);
  return share;
}

/* The speedups of the latest iterations and of the whole loop are explained if they
 * differ by more than this part. */
static const double whole_differs = 0.05;

/* Whether the speedup of a loop was measured: not if all of its iterations ran with as
 * many threads, for then it was compared with itself. */
static int speedup_is_measured(const speedup_request *r,
                               const tsanom_speedup_loop *loop) {
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

static const char *level_name(int32_t level) {
  return level == TSANOM_RUNS_LEVEL_WORKSHARING ? "worksharing" : "regions";
}

static int speedup_print_json(const speedup_request *r, speedup_result *a) {
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
      json_finite(a->stream.total), "ready_share", json_finite(a->waited)));
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
 * of 0 to 1. Beside a baseline of several threads it has a pole, behind which a slowdown is below 0. */
static void explain_fractions(const speedup_result *a) {
  int slower = 0, faster = 0;
  for (size_t i = 0; i < a->loops; i++) {
    const tsanom_speedup_loop *l = &a->loop[i];
    slower |= l->serial_fraction > 1 || (l->serial_fraction < 0 && l->speedup < 1);
    faster |= l->serial_fraction < 0 && l->speedup >= 1;
  }
  if (slower) {
    printf(
        "\na serial fraction above 1, or below 0 with a speedup below 1: more threads "
        "are "
        "slower\n");
  }
  if (faster) {
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
  } else if (p->total_s < a->latest) {
    /* Something else may have come after the main loop. */
    printf("they ended at %.6g s\n", p->total_s);
  } else {
    printf("%.6g s to go, %.6g s in all", p->remaining_s, p->total_s);
    if (p->low_s < p->high_s) printf(" (95 %%: %.6g to %.6g s)", p->low_s, p->high_s);
    printf("\n");
  }
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

static const char *events_name(const speedup_result *a) {
  return a->stream.level == TSANOM_RUNS_LEVEL_WORKSHARING ? "ends of worksharing"
                                                          : "regions";
}

/* "400 iterations, 0.05586 s each; 1.9 times as fast on 2 threads as on 1." Iterations are those of
 * the main loop, as in all commands. */
static void print_answer(const speedup_request *r, const speedup_result *a) {
  static const double busy = 0.05;
  const tsanom_speedup_loop *l = main_of(a);
  if (!l) {
    printf("No iterations were found.\n");
    return;
  }
  if (a->main.iterations) {
    printf("%llu iterations, ", (unsigned long long)l->iterations);
  } else {
    printf("No main loop is clear; what repeats exactly for the longest time: %zu %s, ",
           l->period, events_name(a));
  }
  int is_measured = speedup_is_measured(r, l) && isfinite(l->speedup);
  printf("%.4g s each; ", is_measured ? l->current_s : l->current_mean_s);
  if (is_measured) {
    printf("%.3g times as fast on %d thread%s as on %d.\n", l->speedup,
           (int)l->current_threads, l->current_threads == 1 ? "" : "s",
           (int)l->baseline_threads);
  } else {
    printf("%s on %d thread%s.\n", r->baseline ? "the latest" : "all",
           (int)l->current_threads, l->current_threads == 1 ? "" : "s");
  }
  if (a->waited > busy) {
    printf(
        "Warning: work was ready without a processor in %.0f %% of the time: other "
        "programs ran.\n",
        100 * a->waited);
  }
}

static void speedup_print_table(const speedup_request *r, speedup_result *a) {
  print_answer(r, a);
  if (r->shared.brief) return;
  printf("%s: %zu %s in %.6g s%s\n\n", file_title(r->shared.argument[0]), a->used,
         events_name(a), fmin(a->stream.total, r->until),
         a->stream.finished ? "" : " (killed, or going on)");
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
  if (!r->baseline && !has_baseline(r, a)) {
    printf(
        "\nall iterations ran with as many threads: for a speedup record with --baseline "
        "1, or\ncompare with a run on fewer threads by --baseline RUN\n");
  }
  if (a->predicted) print_prediction(a);
}

/* A directory is another run; anything else is a number of threads. */
static void take_baseline(struct argp_state *state, char *text, void *request_) {
  speedup_request *r = request_;
  if (is_directory(text)) {
    r->baseline_path = text;
    return;
  }
  if (text[strspn(text, "0123456789")]) {
    argp_error(state, "--baseline: %s is neither a run nor a number of threads", text);
  }
  r->baseline = count_argument(state, "--baseline", text);
  if (!r->baseline || r->baseline > 65536) {
    argp_error(state, "--baseline: 1 to 65536 threads");
  }
}

/* The option tables name the struct that they fill. */
typedef speedup_request request;

static const option_row options[] = {
    {"baseline", 'b', "P|RUN",
     "Compare with the iterations of P threads (default: the fewest of each loop that "
     "its latest iteration did not have), or with those of another run of the program",
     CALL(take_baseline)},
    {"iterations", 'n', "N",
     "Iterations that the main loop will have, to predict the time from",
     COUNT(iterations, 0, 0)},
    {"until", 0, "SECONDS", "Use only what was known by then",
     NUMBER(until, -INFINITY, INFINITY, 0)},
    {"max-period", 0, "M",
     "Regions of the longest iteration looked for (default: a third of all, at most "
     "131072)",
     COUNT(max_period, 1, TSANOM_SPEEDUP_PERIOD_MAX)},
    {"loop", 0, "L",
     "The main loop: an iteration begins with each region L, which is a name or "
     "MODULE+0xADDRESS (default: found)",
     TEXT(loop)},
    {"level", 0, "LEVEL",
     "regions, worksharing, or auto (default): regions, unless worksharing loops for "
     "most of the time and regions do not",
     WORD(level), .words = "auto|regions|worksharing"},
    SALVAGE_ROW,
};

/* Only a picture shows each iteration; they would take most of the memory. */
static void keep_iteration(void *user, const tsanom_speedup_iteration *iteration) {
  speedup_result *a = user;
  reserve(&a->iteration, &a->capacity, a->iterations + 1, sizeof *a->iteration);
  a->iteration[a->iterations++] = *iteration;
}

/* Push the events, then take what was found. The first loop is left free. */
static int feed(const speedup_request *r, tsanom_speedup *analyzer, speedup_result *a,
                failure *why) {
  tsanom_status status = TSANOM_OK;
  const tsanom_speedup_event *event;
  size_t count, i;
  region_stream_rewind(&a->stream);
  do {
    if (region_stream_next(&a->stream, &event, &count, why)) return -1;
    for (i = 0; i < count && event[i].end <= r->until && status == TSANOM_OK; i++) {
      status = tsanom_speedup_push(analyzer, &event[i]);
    }
    if (i) a->latest = event[i - 1].end;
    a->used += i;
  } while (i == count && count);
  if (status == TSANOM_OK && a->used == a->stream.count && a->stream.finished) {
    status = tsanom_speedup_finish(analyzer);
  }
  if (status < 0) return fail_status(why, r->shared.argument[0], status);
  (void)tsanom_speedup_loops(analyzer, NULL, 0, &a->loops);
  a->loop = allocate(a->loops + 1, sizeof *a->loop);
  a->lost = tsanom_speedup_loops(analyzer, a->loop + 1, a->loops, &a->loops) != TSANOM_OK;
  a->prediction = (tsanom_speedup_prediction){.struct_size = sizeof a->prediction};
  a->predicted =
      tsanom_speedup_predict(analyzer, r->iterations, &a->prediction) == TSANOM_OK;
  return 0;
}

/* Whether a place belongs to the loop. */
static int main_loop_has(const main_loop *loop, size_t place) {
  for (size_t i = 0; i < loop->parts; i++) {
    if (loop->part[i].place == place) return 1;
  }
  return 0;
}

/* Exact repetitions that are the main loop, pieces of it, or groups of its iterations,
 * are left out: those of its places that are not much shorter than an iteration. */
static int is_part(const speedup_result *a, const tsanom_speedup_loop *loop) {
  return main_loop_has(&a->main, (size_t)loop->start) && 2 * loop->period > a->main.least;
}

static void drop_parts(speedup_result *a) {
  size_t kept = a->main.iterations != 0, iterations = 0;
  for (size_t i = 1; i <= a->loops; i++) {
    const tsanom_speedup_loop *loop = &a->loop[i];
    if (!a->main.iterations || !is_part(a, loop)) a->loop[kept++] = *loop;
  }
  for (size_t i = 0; i < a->iterations; i++) {
    tsanom_speedup_loop loop = {.start = a->iteration[i].start,
                                .period = a->iteration[i].period};
    if (a->main.iterations && is_part(a, &loop)) continue;
    a->iteration[iterations++] = a->iteration[i];
  }
  a->loops = kept;
  a->iterations = iterations;
}

/* Events for the library, which asks for as many as there were. */
typedef struct {
  region_stream *stream;
  failure *why;
} event_source;

static size_t next_events(void *user, const tsanom_speedup_event **events) {
  const event_source *in = user;
  size_t count;
  return region_stream_next(in->stream, events, &count, in->why) ? 0 : count;
}

/* Find the main loop, or follow the one that is named, and put it before the others. */
static int take_main(const speedup_request *r, speedup_result *a, failure *why) {
  if (main_loop_find(&a->stream, a->used, a->anchor, &r->shared.exec, &a->main, why))
    return -1;
  drop_parts(a);
  if (!a->main.iterations) return 0;
  size_t others = a->iterations;
  tsanom_speedup_options how;
  tsanom_speedup_options_init(&how, sizeof how);
  how.baseline = (int32_t)r->baseline;
  how.visit = r->shared.plot ? keep_iteration : NULL;
  how.visit_user = a;
  event_source in = {&a->stream, why};
  how.next = next_events;
  how.next_user = &in;
  region_stream_rewind(&a->stream);
  a->prediction = (tsanom_speedup_prediction){.struct_size = sizeof a->prediction};
  int ended = a->stream.finished && a->used == a->stream.count;
  size_t expected = r->iterations || !ended ? r->iterations : a->main.iterations;
  tsanom_status status =
      tsanom_speedup_summarize(NULL, a->used, a->main.iteration, a->main.iterations, &how,
                               expected, NULL, a->loop, &a->prediction);
  a->predicted = status == TSANOM_OK;
  /* The iterations of the main loop have different numbers of regions. */
  for (size_t i = others; i < a->iterations; i++) {
    a->iteration[i].period = a->loop->period;
  }
  return status < 0 ? fail_status(why, r->shared.argument[0], status) : 0;
}

/* The longest period to look for: what the user asked for; else (0) a third of the records,
 * as a loop needs three iterations, at most LONGEST_LOOP. Its memory is 160 bytes for each:
 * longer iterations, which are rarely equal, are those of the main loop. */
static size_t region_stream_limit(const region_stream *s, size_t asked) {
  enum { LONGEST_LOOP = 1 << 17 };
  size_t third = s->records / 3;
  if (asked) return asked;
  return third < 1 ? 1 : third < LONGEST_LOOP ? third : LONGEST_LOOP;
}

static int analyze(const speedup_request *r, speedup_result *a, failure *why) {
  tsanom_speedup_options how;
  tsanom_speedup *analyzer = NULL;
  tsanom_speedup_options_init(&how, sizeof how);
  how.baseline = (int32_t)r->baseline;
  how.visit = r->shared.plot ? keep_iteration : NULL;
  how.visit_user = a;
  int32_t level = r->level ? r->level - 1 : TSANOM_RUNS_LEVEL_REGIONS;
  a->anchor = TSANOM_NONE;
  if (region_stream_open(r->shared.argument[0], &r->shared.exec, r->shared.salvage, level,
                         &a->stream, why) ||
      (!r->level &&
       main_loop_choose_level(&a->stream, r->until, &r->shared.exec, &a->main, why)) ||
      (r->loop && region_stream_find(&a->stream, r->loop, !r->level, &a->anchor, why)))
    return -1;
  how.max_period = region_stream_limit(&a->stream, r->max_period);
  tsanom_status status = tsanom_speedup_create(&how, NULL, &analyzer);
  if (status < 0) return fail_status(why, r->shared.argument[0], status);
  int failed = feed(r, analyzer, a, why);
  tsanom_speedup_destroy(analyzer);
  return failed ? failed : take_main(r, a, why);
}

static void free_result(speedup_result *a) {
  main_loop_free(&a->main);
  free(a->loop);
  free(a->iteration);
  region_stream_free(&a->stream);
}

/* Whether places of two runs are the same code, as --loop names it: the program may have been moved. */
static int is_same_place(const speedup_result *a, uint64_t here, const speedup_result *b,
                         uint64_t there) {
  char one[PLACE_BYTES], other[PLACE_BYTES];
  return *region_stream_place(&a->stream, here, one) != '?' &&
         !strcmp(one, region_stream_place(&b->stream, there, other));
}

/* How often a place of run a is in an iteration of the main loop of run b; NULL: never.
 */
static const loop_part *part_of(const speedup_result *b, const speedup_result *a,
                                uint64_t place) {
  for (size_t i = 0; i < b->main.parts; i++) {
    if (is_same_place(a, place, b, b->main.part[i].place)) return &b->main.part[i];
  }
  return NULL;
}

/* Whether an iteration of run b has the place that begins one of run a, and as often: a
 * group of iterations has it more often. */
static int has_begin(const speedup_result *b, const speedup_result *a) {
  uint64_t begin = a->main.about.anchor;
  const loop_part *here = part_of(a, a, begin), *there = part_of(b, a, begin);
  return here && there && here->least <= there->most && there->least <= here->most;
}

/* Whether the main loops of two runs are the same. They may be found at other phases, and
 * need not have as many regions, but not more than twice as many. */
static int is_same_main(const speedup_result *a, const speedup_result *b) {
  if (!a->main.iterations || !b->main.iterations) return 0;
  size_t here = a->loop->period, there = b->loop->period;
  if (here > 2 * there || there > 2 * here) return 0;
  return has_begin(a, b) && has_begin(b, a);
}

/* Whether two loops begin in the same code, and have the same period. */
static int is_same_loop(const speedup_result *a, const tsanom_speedup_loop *l,
                        const speedup_result *b, const tsanom_speedup_loop *m) {
  return l->period == m->period && m->iterations &&
         is_same_place(a, l->start, b, m->start);
}

/* The speedup of a loop over the same loop of the baseline run; NaN if that run has
 * none. Whether it has one. */
static int compare_loop(const speedup_result *a, size_t index,
                        const speedup_result *base) {
  tsanom_speedup_loop *loop = &a->loop[index];
  int is_main = index == 0 && is_same_main(a, base);
  for (size_t i = 0; i < base->loops; i++) {
    tsanom_speedup_loop other = base->loop[i];
    if (!(is_main && i == 0) && !is_same_loop(a, loop, base, &other)) continue;
    other.period = loop->period;
    if (tsanom_speedup_compare(loop, &other) == TSANOM_OK) return 1;
  }
  loop->baseline_threads = 0;
  loop->baseline_s = loop->baseline_mean_s = NAN;
  loop->speedup = loop->efficiency = loop->serial_fraction = NAN;
  return 0;
}

/* Analyze a run again with iterations that begin as those of the other run, and keep that
 * result if these are the same loop. Whether they are: a run without that place has no
 * such loop. */
static int follow(const speedup_request *r, speedup_result *a,
                  const speedup_result *other) {
  speedup_request named = *r;
  speedup_result found = {.waited = a->waited};
  failure why;
  char place[PLACE_BYTES];
  if (!other->main.iterations) return 0;
  named.loop = region_stream_place(&other->stream, other->main.about.anchor, place);
  named.level = other->stream.level + 1;
  int is_same = !analyze(&named, &found, &why) && is_same_main(&found, other);
  free_result(is_same ? a : &found);
  if (is_same) *a = found;
  return is_same;
}

/* Compare every loop with its like in the run of --baseline. Where the main loops differ,
 * as steps and groups of steps do, both runs are compared by the one that both have. */
static int compare_runs(const speedup_request *r, speedup_result *a, failure *why) {
  speedup_request other = *r;
  speedup_result base = {.loops = 0};
  char *path = r->baseline_path;
  other.shared.argument = &path;
  other.until = INFINITY;
  other.level = a->stream.level + 1;
  int failed = analyze(&other, &base, why);
  if (!failed && !r->loop && !is_same_main(a, &base) && !follow(&other, &base, a)) {
    (void)follow(r, a, &base);
  }
  int compared = 0;
  for (size_t i = 0; i < a->loops && !failed; i++) compared |= compare_loop(a, i, &base);
  if (!failed && a->loops && !compared)
    warn("%s has none of the loops of %s", path, r->shared.argument[0]);
  free_result(&base);
  return failed;
}

static int draw(const speedup_request *r, speedup_result *a, failure *why) {
  const tsanom_speedup_loop *best = main_of(a);
  if (!best)
    return fail(why, "%s: there are no iterations to draw", r->shared.argument[0]);
  return speedup_plot(r->shared.plot, best, region_stream_name(&a->stream, best->start),
                      a->iteration, a->iterations, why);
}

static const syntax command_line = {
    ROWS(options),
    .arguments = "RUN",
    .help =
        "Iterations and speedup of a run by tsanom record.\v"
        "The speedup of an iteration compares it with the iterations of the same loop "
        "that ran with the threads of the baseline, in this run (by tsanom record "
        "--baseline) or in another.",
    .expected = "one run is",
    .least = 1,
    .most = 1,
};

static int speedup(const void *request_) {
  speedup_request r = *(const speedup_request *)request_;
  speedup_result a = {.waited = share_waited(&r)};
  failure why;
  int status = EXIT_DONE;
  if (analyze(&r, &a, &why) || (r.baseline_path && compare_runs(&r, &a, &why)) ||
      (r.shared.plot && draw(&r, &a, &why))) {
    status = report_failure(&why);
  } else if (r.shared.json) {
    status = speedup_print_json(&r, &a);
  } else {
    speedup_print_table(&r, &a);
  }
  free_result(&a);
  return status;
}

int command_speedup(int argc, char **argv) {
  speedup_request r = {.until = INFINITY};
  parse_command(&command_line, argc, argv, &r);
  return for_each_rank(&r.shared, 1, speedup, &r);
}
