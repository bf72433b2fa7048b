/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom learn: a model of how a program beats, from normal runs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beats.h"
#include "command.h"
#include "model.h"
#include "plot.h"
#include "rows.h"

enum {
  KEY_OUTPUT = 'o',
  KEY_WINDOW = 'w',
  KEY_RADIUS = 'r',
  KEY_POINTS = KEY_OWN,
  KEY_COVERAGE,
  KEY_MARGIN,
  KEY_SINGLE_RUN_MARGIN,
  KEY_RANGE,
  KEY_RULE,
  KEY_LOCAL_RATE
};

typedef struct {
  shared_options shared;
  tsanom_hsa_options hsa;
  const char *model_path;
  char **path;
  size_t runs;
} request;

static const struct argp_option options[] = {
    {"output", KEY_OUTPUT, "MODEL", 0, "Write the model to this file", 0},
    {"window", KEY_WINDOW, "W", 0,
     "Beats in the window of a heart rate (default: a hundredth of the beats)", 1},
    {"points", KEY_POINTS, "N", 0, "Timestamps at which series are compared", 1},
    {"radius", KEY_RADIUS, "R", 0, "Warping window, in these timestamps", 1},
    {"local-rate", KEY_LOCAL_RATE, "ratio|literal", 0, "What LHR averages", 1},
    {"range", KEY_RANGE, "student|order", 0, "How normal ranges are learned", 2},
    {"coverage", KEY_COVERAGE, "P", 0, "Share of normal runs each range is to hold", 2},
    {"margin", KEY_MARGIN, "M", 0, "Least room beside the normal runs", 2},
    {"single-run-margin", KEY_SINGLE_RUN_MARGIN, "M", 0, "The same with only one run", 2},
    {"rule", KEY_RULE, "pace|completion|paper", 0, "Which tree decides", 2},
    {0}};

static const char *const local_rates[] = {"ratio", "literal", NULL};
static const char *const ranges[] = {"student", "order", NULL};
static const char *const rules[] = {"paper", "completion", "pace", NULL};

static error_t parse_hsa(int key, const char *text, struct argp_state *state,
                         tsanom_hsa_options *hsa) {
  switch (key) {
    case KEY_WINDOW:
      hsa->window = count_argument(state, "--window", text);
      if (!hsa->window) argp_error(state, "--window: at least 1 beat is expected");
      return 0;
    case KEY_POINTS:
      hsa->points = count_argument(state, "--points", text);
      if (hsa->points < 2 || hsa->points > TSANOM_HSA_MAX_POINTS)
        argp_error(state, "--points: from 2 to %d is expected", TSANOM_HSA_MAX_POINTS);
      return 0;
    case KEY_RADIUS:
      hsa->radius = count_argument(state, "--radius", text);
      return 0;
    case KEY_LOCAL_RATE:
      hsa->local_rate = word_argument(state, "--local-rate", text, local_rates);
      return 0;
    case KEY_RANGE:
      hsa->range = word_argument(state, "--range", text, ranges);
      return 0;
    case KEY_COVERAGE:
      hsa->coverage = number_argument(state, "--coverage", text);
      if (!(hsa->coverage > 0 && hsa->coverage < 1))
        argp_error(state, "--coverage: above 0 and below 1 is expected");
      return 0;
    case KEY_MARGIN:
      hsa->margin = number_argument(state, "--margin", text);
      if (hsa->margin < 0) argp_error(state, "--margin: at least 0 is expected");
      return 0;
    case KEY_SINGLE_RUN_MARGIN:
      hsa->single_run_margin = number_argument(state, "--single-run-margin", text);
      if (!(hsa->single_run_margin > 0))
        argp_error(state, "--single-run-margin: above 0 is expected");
      return 0;
    case KEY_RULE:
      hsa->rule = word_argument(state, "--rule", text, rules);
      return 0;
    default:
      return ARGP_ERR_UNKNOWN;
  }
}

static error_t parse(int key, char *text, struct argp_state *state) {
  request *r = state->input;
  switch (key) {
    case ARGP_KEY_INIT:
      state->child_inputs[0] = &r->shared;
      tsanom_hsa_options_init(&r->hsa, sizeof r->hsa);
      return 0;
    case KEY_OUTPUT:
      r->model_path = text;
      return 0;
    case ARGP_KEY_ARGS:
      r->path = state->argv + state->next;
      r->runs = (size_t)(state->argc - state->next);
      return 0;
    case ARGP_KEY_END:
      if (!r->model_path) argp_error(state, "-o MODEL is missing");
      if (!r->runs) argp_error(state, "at least one normal run is expected");
      return 0;
    default:
      return parse_hsa(key, text, state, &r->hsa);
  }
}

static void print_table(const request *r, const tsanom_hsa_model *model) {
  printf("model of %zu threads from %zu runs\n\n", tsanom_hsa_model_threads(model),
         tsanom_hsa_model_runs(model));
  printf(
      "thread       beats  window  runs  completion s     mean rate    R^2  reference\n");
  for (size_t i = 0; i < tsanom_hsa_model_threads(model); i++) {
    tsanom_hsa_reference t;
    tsanom_hsa_model_get(model, i, &t);
    printf("%6zu  %10zu", i, t.beats);
    if (t.beats) {
      printf("  %6zu  %4zu  %12.6g  %12.6g  %5.3f  %s\n", t.window, t.sample_runs,
             t.completion, t.mean_rate, t.r2, r->path[t.run]);
    } else {
      printf("  no run has enough beats for a window\n");
    }
  }
}

static void print_ranges(const tsanom_hsa_model *model) {
  printf("\nthread");
  for (int32_t f = 0; f < TSANOM_HSA_FEATURES; f++) {
    printf("  %-21s", tsanom_hsa_feature_name(f));
  }
  for (size_t i = 0; i < tsanom_hsa_model_threads(model); i++) {
    tsanom_hsa_reference t;
    tsanom_hsa_model_get(model, i, &t);
    if (!t.beats) continue;
    printf("\n%6zu", i);
    for (int32_t f = 0; f < TSANOM_HSA_FEATURES; f++) {
      char interval[64];
      snprintf(interval, sizeof interval, "[%.4g, %.4g]", t.range[f].low,
               t.range[f].high);
      printf("  %-21s", interval);
    }
  }
  printf("\n");
}

static int draw(const request *r, const tsanom_hsa_model *model, failure *why) {
  plot p;
  size_t threads = tsanom_hsa_model_threads(model);
  if (plot_open(&p, r->shared.plot, "Reference heart rates", why)) return -1;
  fprintf(p.script,
          "set xlabel 'time, s'\nset ylabel 'beats per second'\n"
          "set yrange [0:*]\n");
  for (size_t i = 0; i < threads; i++) {
    tsanom_hsa_reference t;
    char name[32];
    tsanom_hsa_model_get(model, i, &t);
    snprintf(name, sizeof name, "t%zu", i);
    if (t.beats) plot_series(&p, name, t.time, t.rate, t.windows + 1);
  }
  fprintf(p.script, "plot ");
  for (size_t i = 0; i < threads; i++) {
    tsanom_hsa_reference t;
    tsanom_hsa_model_get(model, i, &t);
    if (t.beats) fprintf(p.script, "$t%zu with lines title 'thread %zu', ", i, i);
  }
  fprintf(p.script, "\n");
  return plot_close(&p, why);
}

static int learn(const request *r, const tsanom_hsa_run *runs, owned_model *m,
                 failure *why) {
  size_t threads = 1;
  for (size_t i = 0; i < r->runs; i++) {
    if (runs[i].thread_count > threads) threads = runs[i].thread_count;
  }
  if (model_allocate(m, threads, &r->hsa, why)) return -1;
  tsanom_status status = tsanom_hsa_learn(runs, r->runs, &r->hsa, &r->shared.exec, NULL,
                                          0, m->model, m->bytes);
  if (status == TSANOM_E_COUNT) {
    return fail(why, "no thread of any run has more beats than the window of %zu",
                r->hsa.window ? r->hsa.window : 1);
  }
  if (status == TSANOM_E_VALUE) {
    return fail(why,
                "the runs: a whole window of beats has one time: a finer clock or a "
                "larger --window is needed");
  }
  if (status < 0) return fail_status(why, "the runs", status);
  if (status == TSANOM_PARTIAL) {
    fprintf(stderr,
            "tsanom learn: few normal runs: the ranges of some threads are wide "
            "or guessed; see sample_runs in the model\n");
  }
  return 0;
}

/* Write the model where it was requested, and print what it is. */
static int deliver(const request *r, const tsanom_hsa_model *model) {
  failure why;
  int to_output = strcmp(r->model_path, "-") == 0;
  if ((r->shared.plot && draw(r, model, &why)) ||
      (!to_output && model_write(r->model_path, model, r->path, &why))) {
    return refuse(&why);
  }
  if (to_output || r->shared.json) {
    return model_write("-", model, r->path, &why) ? refuse(&why) : EXIT_DONE;
  }
  print_table(r, model);
  print_ranges(model);
  return EXIT_DONE;
}

static int read_runs(const request *r, beats *b, tsanom_hsa_run *runs, failure *why) {
  for (size_t i = 0; i < r->runs; i++) {
    if (beats_read(r->path[i], &r->shared.exec, &b[i], why)) return -1;
    runs[i] = b[i].run;
  }
  return 0;
}

int command_learn(int argc, char **argv) {
  static const struct argp_child children[] = {{&shared_argp, 0, NULL, 0}, {0}};
  static const struct argp argp = {
      options,
      parse,
      "-o MODEL RUN...",
      "Learn how a program beats from its normal runs.\v"
      "A RUN is a run folder, or a CSV file with the columns thread and time (in "
      "seconds).",
      children,
      NULL,
      NULL};
  request r = {0};
  argp_parse(&argp, argc, argv, 0, NULL, &r);
  failure why;
  beats *b = calloc(r.runs, sizeof *b);
  tsanom_hsa_run *runs = calloc(r.runs, sizeof *runs);
  owned_model m = {0};
  int failed = b && runs ? read_runs(&r, b, runs, &why) : fail(&why, "out of memory");
  int status = failed || learn(&r, runs, &m, &why) ? refuse(&why) : deliver(&r, m.model);
  model_free(&m);
  for (size_t i = 0; b && i < r.runs; i++) beats_free(&b[i]);
  free(runs);
  free(b);
  return status;
}
