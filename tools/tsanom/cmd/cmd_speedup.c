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
#include "ranks.h"
#include "reserve.h"
#include "speedup_plot.h"
#include "speedup_print.h"

/* LEVEL_AUTO comes first, so that a level is its word's number less 1. */
static const char *const level_words[] = {"auto", "regions", "worksharing", NULL};

/* A directory is another run; anything else is a number of threads. */
static void take_baseline(struct argp_state *state, char *text, void *request_) {
  speedup_request *r = request_;
  if (is_directory(text)) {
    r->baseline_path = text;
    return;
  }
  r->baseline = count_argument(state, "--baseline", text);
  if (!r->baseline || r->baseline > 65536) {
    argp_error(state, "--baseline: 1 to 65536 threads");
  }
}

/* The option tables name the struct that they fill. */
typedef speedup_request request;

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
     .help =
         "Regions of the longest iteration looked for (default: a third of all, at most "
         "1048576)"},
    {.name = "loop",
     .argument = "L",
     TEXT(loop),
     .help = "The main loop: an iteration begins with each region L, which is a name or "
             "MODULE+0xADDRESS (default: found)"},
    {.name = "level",
     .argument = "LEVEL",
     WORD(level, level_words),
     .help = "regions, worksharing, or auto (default): regions, unless worksharing loops "
             "for most of the time and regions do not"},
    SALVAGE_ROW,
};

static void keep_iteration(void *user, const tsanom_speedup_iteration *iteration) {
  speedup_result *a = user;
  if (reserve(&a->iteration, &a->capacity, a->iterations + 1, sizeof *a->iteration)) {
    a->out_of_memory = 1;
    return;
  }
  a->iteration[a->iterations++] = *iteration;
}

/* Push the events, then take what was found. The first loop is left free. */
static int feed(const speedup_request *r, tsanom_speedup *analyzer, speedup_result *a,
                failure *why) {
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
  a->loop = calloc(a->loops + 1, sizeof *a->loop);
  if (!a->loop || a->out_of_memory)
    return fail(why, "%s: out of memory", r->shared.argument[0]);
  a->lost = tsanom_speedup_loops(analyzer, a->loop + 1, a->loops, &a->loops) != TSANOM_OK;
  a->prediction = (tsanom_speedup_prediction){.struct_size = sizeof a->prediction};
  a->predicted =
      tsanom_speedup_predict(analyzer, r->iterations, &a->prediction) == TSANOM_OK;
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

/* Find the main loop, or follow the one that is named, and put it before the others. */
static int take_main(const speedup_request *r, speedup_result *a, failure *why) {
  size_t anchor = TSANOM_NONE;
  if (r->loop && region_stream_find(&a->stream, r->loop, &anchor, why)) return -1;
  if (main_loop_find(&a->stream, a->used, anchor, &r->shared.exec, &a->main, why))
    return -1;
  drop_parts(a);
  if (!a->main.iterations) return 0;
  size_t others = a->iterations;
  tsanom_speedup_options how;
  tsanom_speedup_options_init(&how, sizeof how);
  how.baseline = (int32_t)r->baseline;
  how.visit = keep_iteration;
  how.visit_user = a;
  a->prediction = (tsanom_speedup_prediction){.struct_size = sizeof a->prediction};
  int ended = a->stream.finished && a->used == a->stream.count;
  size_t expected = r->iterations || !ended ? r->iterations : a->main.iterations;
  tsanom_status status = tsanom_speedup_summarize(
      a->stream.event, a->used, a->main.iteration, a->main.iterations, &how, expected,
      NULL, a->loop, &a->prediction);
  a->predicted = status == TSANOM_OK;
  if (a->out_of_memory) return fail(why, "%s: out of memory", r->shared.argument[0]);
  /* The iterations of the main loop have different numbers of regions. */
  for (size_t i = others; i < a->iterations; i++) {
    a->iteration[i].period = a->loop->period;
  }
  return status < 0 ? fail_status(why, r->shared.argument[0], status) : 0;
}

static int analyze(const speedup_request *r, speedup_result *a, failure *why) {
  tsanom_speedup_options how;
  tsanom_speedup *analyzer = NULL;
  tsanom_speedup_options_init(&how, sizeof how);
  how.baseline = (int32_t)r->baseline;
  how.visit = keep_iteration;
  how.visit_user = a;
  int32_t level = r->level - 1;
  if (region_stream_read(r->shared.argument[0], &r->shared.exec, r->shared.salvage, level,
                         r->max_period, &a->stream, why))
    return -1;
  how.max_period = region_stream_limit(a->stream.count, r->max_period);
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

/* Whether places of two runs are the same code. */
static int is_same_place(const speedup_result *a, uint64_t here, const speedup_result *b,
                         uint64_t there) {
  tsanom_runs_place one, other;
  return tsanom_runs_place_at(a->stream.run, (size_t)here, &one) == TSANOM_OK &&
         tsanom_runs_place_at(b->stream.run, (size_t)there, &other) == TSANOM_OK &&
         one.address == other.address && !strcmp(one.module, other.module);
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
 * none. */
static void compare_loop(const speedup_result *a, size_t index,
                         const speedup_result *base) {
  tsanom_speedup_loop *loop = &a->loop[index];
  int is_main = index == 0 && is_same_main(a, base);
  for (size_t i = 0; i < base->loops; i++) {
    tsanom_speedup_loop other = base->loop[i];
    if (!(is_main && i == 0) && !is_same_loop(a, loop, base, &other)) continue;
    other.period = loop->period;
    if (tsanom_speedup_compare(loop, &other) == TSANOM_OK) return;
  }
  loop->baseline_threads = 0;
  loop->baseline_s = loop->baseline_mean_s = NAN;
  loop->speedup = loop->efficiency = loop->serial_fraction = NAN;
}

/* Analyze a run again with iterations that begin as those of the other run, and keep that
 * result if these are the same loop. Whether they are: a run without that place has no
 * such loop. */
static int follow(const speedup_request *r, speedup_result *a,
                  const speedup_result *other) {
  speedup_request named = *r;
  speedup_result found = {.loops = 0};
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
  for (size_t i = 0; i < a->loops && !failed; i++) compare_loop(a, i, &base);
  free_result(&base);
  return failed;
}

/* The picture shows the main loop; without one, the loop that has most time. */
static int draw(const speedup_request *r, speedup_result *a, failure *why) {
  const tsanom_speedup_loop *best = NULL;
  for (size_t i = 0; i < a->loops; i++) {
    if (a->loop[i].iterations && (!best || a->loop[i].total_s > best->total_s)) {
      best = &a->loop[i];
    }
  }
  if (a->main.iterations) best = &a->loop[0];
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
  speedup_result a = {.loops = 0};
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
