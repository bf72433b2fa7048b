/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom speedup: iterations, speedup and time still to go of a recorded run.
 *
 *   RUN ──▶ events of one level ──▶ tsanom_speedup ──▶ loops, iterations, prediction
 *           (regions, worksharing)      │
 *   --baseline RUN ──▶ the same ────────┴──▶ compared loop by loop
 *
 * Events up to --until are fed in the order of time, as a running program delivers them.
 * So the results of a finished run with --until are what was known at that time. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "argument.h"
#include "beats.h"
#include "command.h"
#include "plot.h"
#include "ranks.h"
#include "region_stream.h"
#include "reserve.h"
#include "series.h"

typedef struct {
  shared_options shared;
  size_t baseline;     /* threads; 0: the fewest */
  char *baseline_path; /* another run to compare with; NULL: none */
  size_t iterations, max_period;
  double until;  /* seconds */
  int32_t level; /* by level_words */
} request;

/* What comes of it. */
typedef struct {
  region_stream stream;
  size_t used; /* events before --until */
  tsanom_speedup_loop *loop;
  size_t loops;
  /* More loops were found than the analyzer can distinguish. */
  int lost;
  tsanom_speedup_prediction prediction;
  int predicted;
  tsanom_speedup_iteration *iteration;
  size_t iterations, capacity;
  int out_of_memory;
} result;

/* LEVEL_AUTO comes first, so that a level is its word's number less 1. */
static const char *const level_words[] = {"auto", "regions", "worksharing", NULL};

/* A directory is another run; anything else is a number of threads. */
static void take_baseline(struct argp_state *state, char *text, void *request_) {
  request *r = request_;
  if (is_directory(text)) {
    r->baseline_path = text;
    return;
  }
  r->baseline = count_argument(state, "--baseline", text);
  if (!r->baseline || r->baseline > 65536) {
    argp_error(state, "--baseline: 1 to 65536 threads");
  }
}

static const option_row options[] = {
    {.name = "baseline",
     .letter = 'b',
     .argument = "P|RUN",
     CALL(take_baseline),
     .help = "Compare with the iterations of P threads (default: the fewest of each "
             "loop), or with those of another run of the program"},
    {.name = "iterations",
     .letter = 'n',
     .argument = "N",
     COUNT(iterations, 0, 0),
     .help = "Iterations that the main loop will have, to predict the time from"},
    {.name = "until",
     .argument = "SECONDS",
     NUMBER(until, -INFINITY, INFINITY, 0),
     .help = "Use only what was known by then"},
    {.name = "max-period",
     .argument = "M",
     COUNT(max_period, 1, TSANOM_SPEEDUP_PERIOD_MAX),
     .help = "Regions of the longest iteration looked for (default: 1024)"},
    {.name = "level",
     .argument = "LEVEL",
     WORD(level, level_words),
     .help = "regions, worksharing, or auto (default): regions, unless worksharing loops "
             "for most of the time and regions do not"},
    SALVAGE_ROW,
};

static void keep_iteration(void *user, const tsanom_speedup_iteration *iteration) {
  result *a = user;
  if (reserve(&a->iteration, &a->capacity, a->iterations + 1, sizeof *a->iteration)) {
    a->out_of_memory = 1;
    return;
  }
  a->iteration[a->iterations++] = *iteration;
}

/* Push the events, then take the loops: first their number. */
static int feed(const request *r, tsanom_speedup *analyzer, result *a, failure *why) {
  tsanom_status status = TSANOM_OK;
  for (a->used = 0; a->used < a->stream.count && status == TSANOM_OK; a->used++) {
    const tsanom_speedup_event *event = &a->stream.event[a->used];
    if (event->end > r->until) break;
    status = tsanom_speedup_push(analyzer, event);
  }
  if (status == TSANOM_OK && a->used == a->stream.count && a->stream.finished) {
    status = tsanom_speedup_finish(analyzer);
  }
  if (status < 0) return fail_status(why, r->shared.argument[0], status);
  a->lost = tsanom_speedup_loops(analyzer, NULL, 0, &a->loops) == TSANOM_PARTIAL;
  a->loop = calloc(a->loops ? a->loops : 1, sizeof *a->loop);
  if (!a->loop || a->out_of_memory)
    return fail(why, "%s: out of memory", r->shared.argument[0]);
  a->lost = tsanom_speedup_loops(analyzer, a->loop, a->loops, &a->loops) != TSANOM_OK;
  tsanom_speedup_prediction_init(&a->prediction, sizeof a->prediction);
  a->predicted =
      tsanom_speedup_predict(analyzer, r->iterations, &a->prediction) == TSANOM_OK;
  return 0;
}

static int analyze(const request *r, result *a, failure *why) {
  tsanom_speedup_options how;
  tsanom_speedup *analyzer = NULL;
  tsanom_speedup_options_init(&how, sizeof how);
  how.baseline = (int32_t)r->baseline;
  if (r->max_period) how.max_period = r->max_period;
  how.visit = keep_iteration;
  how.visit_user = a;
  int32_t level = r->level - 1;
  if (region_stream_read(r->shared.argument[0], &r->shared.exec, r->shared.salvage, level,
                         r->max_period, &a->stream, why))
    return -1;
  tsanom_status status = tsanom_speedup_create(&how, NULL, &analyzer);
  if (status < 0) return fail_status(why, r->shared.argument[0], status);
  int failed = feed(r, analyzer, a, why);
  tsanom_speedup_destroy(analyzer);
  return failed;
}

static void free_result(result *a) {
  free(a->loop);
  free(a->iteration);
  region_stream_free(&a->stream);
}

/* Whether two loops begin in the same code, and have the same period. */
static int is_same_loop(const result *a, const tsanom_speedup_loop *l, const result *b,
                        const tsanom_speedup_loop *m) {
  tsanom_runs_place here, there;
  return l->period == m->period && m->iterations &&
         tsanom_runs_place_at(a->stream.run, (size_t)l->start, &here) == TSANOM_OK &&
         tsanom_runs_place_at(b->stream.run, (size_t)m->start, &there) == TSANOM_OK &&
         here.address == there.address && !strcmp(here.module, there.module);
}

/* The speedup of a loop over the same loop of the baseline run; NaN if that run has
 * none. */
static void compare_loop(const result *a, tsanom_speedup_loop *loop, const result *base) {
  for (size_t i = 0; i < base->loops; i++) {
    if (!is_same_loop(a, loop, base, &base->loop[i])) continue;
    if (tsanom_speedup_compare(loop, &base->loop[i]) == TSANOM_OK) return;
  }
  loop->baseline_threads = 0;
  loop->baseline_s = loop->speedup = loop->efficiency = loop->serial_fraction = NAN;
}

/* Compare every loop with its like in the run of --baseline. */
static int compare_runs(const request *r, result *a, failure *why) {
  request other = *r;
  result base = {.loops = 0};
  char *path = r->baseline_path;
  other.shared.argument = &path;
  other.until = INFINITY;
  other.level = a->stream.level + 1;
  int failed = analyze(&other, &base, why);
  for (size_t i = 0; i < a->loops && !failed; i++) compare_loop(a, &a->loop[i], &base);
  free_result(&base);
  return failed;
}

static json_t *loop_json(result *a, const tsanom_speedup_loop *l) {
  return json_pack(
      "{so sI sI sI so so so so so so sI sI so so so}", "start",
      json_name(region_stream_name(&a->stream, l->start)), "period",
      (json_int_t)l->period, "iterations", (json_int_t)l->iterations, "runs",
      (json_int_t)l->runs, "baseline_s", json_finite(l->baseline_s), "current_s",
      json_finite(l->current_s), "speedup", json_finite(l->speedup), "efficiency",
      json_finite(l->efficiency), "serial_fraction", json_finite(l->serial_fraction),
      "total_s", json_finite(l->total_s), "baseline_threads",
      (json_int_t)l->baseline_threads, "current_threads", (json_int_t)l->current_threads,
      "first_s", json_finite(l->first), "last_s", json_finite(l->last), "parallel_s",
      json_finite(l->parallel_s));
}

static int print_as_json(const request *r, result *a) {
  json_t *loops = json_array(), *prediction = json_null();
  for (size_t i = 0; i < a->loops; i++) {
    if (a->loop[i].iterations) json_array_append_new(loops, loop_json(a, &a->loop[i]));
  }
  if (a->predicted) {
    const tsanom_speedup_prediction *p = &a->prediction;
    prediction =
        json_pack("{so sI sI sI so so}", "start",
                  json_name(region_stream_name(&a->stream, p->start)), "period",
                  (json_int_t)p->period, "iterations", (json_int_t)p->iterations,
                  "expected", (json_int_t)p->expected, "remaining_s",
                  json_finite(p->remaining_s), "total_s", json_finite(p->total_s));
  }
  return print_json(json_pack(
      "{so sb ss sI so so so}", "run", json_name(file_title(r->shared.argument[0])),
      "finished", a->stream.finished, "level", level_name(a->stream.level), "events",
      (json_int_t)a->used, "regions", loops, "prediction", prediction, "total_s",
      json_finite(a->stream.total)));
}

static void print_number(double value, int width) {
  if (isfinite(value)) {
    printf(" %*.4g", width, value);
  } else {
    printf(" %*s", width, "-");
  }
}

/* A loop all of whose iterations ran with as many threads is compared with itself. */
static int has_baseline(const result *a) {
  for (size_t i = 0; i < a->loops; i++) {
    const tsanom_speedup_loop *l = &a->loop[i];
    if (l->iterations && l->baseline_threads != l->current_threads) return 1;
  }
  return 0;
}

static void print_table(const request *r, result *a) {
  printf("%s: %zu %s in %.6g s%s\n\n", file_title(r->shared.argument[0]), a->used,
         a->stream.level == TSANOM_RUNS_LEVEL_WORKSHARING ? "ends of worksharing"
                                                          : "regions",
         a->stream.total, a->stream.finished ? "" : " (killed, or going on)");
  if (!a->loops) {
    printf("no iterations\n");
    return;
  }
  printf(
      "  period iterations   threads baseline s  current s    speedup efficiency "
      "serial  start\n");
  for (size_t i = 0; i < a->loops; i++) {
    const tsanom_speedup_loop *l = &a->loop[i];
    if (!l->iterations) continue;
    printf("%8zu %10llu %4d/%4d", l->period, (unsigned long long)l->iterations,
           (int)l->baseline_threads, (int)l->current_threads);
    print_number(l->baseline_s, 10);
    print_number(l->current_s, 10);
    print_number(l->speedup, 10);
    print_number(l->efficiency, 10);
    print_number(l->serial_fraction, 6);
    printf("  %s\n", region_stream_name(&a->stream, l->start));
  }
  if (a->lost) printf("there are more loops than the analyzer can distinguish\n");
  if (!r->baseline_path && !has_baseline(a)) {
    printf(
        "\nall iterations ran with as many threads: for a speedup record with --baseline "
        "1, or\ncompare with a run on fewer threads by --baseline RUN\n");
  }
  if (a->predicted) {
    const tsanom_speedup_prediction *p = &a->prediction;
    printf("\n%llu of %llu iterations of %zu; ", (unsigned long long)p->iterations,
           (unsigned long long)p->expected, p->period);
    /* Something else may have come after the main loop. */
    if (p->total_s < a->stream.event[a->used - 1].end) {
      printf("they ended at %.6g s\n", p->total_s);
    } else {
      printf("%.6g s to go, %.6g s in all\n", p->remaining_s, p->total_s);
    }
  }
}

/* The loop that the picture shows: the one that has most time. */
static const tsanom_speedup_loop *shown_loop(const result *a) {
  const tsanom_speedup_loop *best = NULL;
  for (size_t i = 0; i < a->loops; i++) {
    if (a->loop[i].iterations && (!best || a->loop[i].total_s > best->total_s)) {
      best = &a->loop[i];
    }
  }
  return best;
}

/* The iterations of a loop by their threads: $base2 and $base3 are time and speedup of
 * those with the threads of the baseline, $rest2 and $rest3 of the others. Stores how
 * many of each there are. */
static int put_iterations(const plot *p, const result *a, const tsanom_speedup_loop *loop,
                          size_t count[2], failure *why) {
  double *time = calloc(3 * a->iterations, sizeof *time);
  if (!time) return fail(why, "%s: out of memory", p->path);
  double *seconds = time + a->iterations, *speedup = seconds + a->iterations;
  for (int rest = 0; rest < 2; rest++) {
    size_t n = 0;
    for (size_t i = 0; i < a->iterations; i++) {
      const tsanom_speedup_iteration *it = &a->iteration[i];
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
  return 0;
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

static int draw_loop(const request *r, result *a, const tsanom_speedup_loop *loop,
                     failure *why) {
  plot p;
  size_t count[2] = {0, 0};
  char title[256];
  (void)snprintf(title, sizeof title, "Iterations of %zu regions from %.200s",
                 loop->period, region_stream_name(&a->stream, loop->start));
  if (plot_open(&p, r->shared.plot, title, why)) return -1;
  if (put_iterations(&p, a, loop, count, why)) {
    plot_abandon(&p);
    return -1;
  }
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

static int draw(const request *r, result *a, failure *why) {
  const tsanom_speedup_loop *loop = shown_loop(a);
  if (loop) return draw_loop(r, a, loop, why);
  return fail(why, "%s: there are no iterations to draw", r->shared.argument[0]);
}

static const syntax command_line = {
    ROWS(options),
    .arguments = "RUN",
    .help =
        "Iterations and speedup of a run by tsanom record.\v"
        "The speedup of an iteration compares it with the iterations of the same loop "
        "that "
        "ran with the threads of the baseline, in this run (by tsanom record --baseline) "
        "or in another.",
    .expected = "one run is",
    .least = 1,
    .most = 1,
};

static int speedup(const void *request_) {
  request r = *(const request *)request_;
  result a = {.loops = 0};
  failure why;
  int status = EXIT_DONE;
  if (analyze(&r, &a, &why) || (r.baseline_path && compare_runs(&r, &a, &why)) ||
      (r.shared.plot && draw(&r, &a, &why))) {
    status = report_failure(&why);
  } else if (r.shared.json) {
    status = print_as_json(&r, &a);
  } else {
    print_table(&r, &a);
  }
  free_result(&a);
  return status;
}

int command_speedup(int argc, char **argv) {
  request r = {.until = INFINITY};
  parse_command(&command_line, argc, argv, &r);
  return for_each_rank(&r.shared, speedup, &r);
}
