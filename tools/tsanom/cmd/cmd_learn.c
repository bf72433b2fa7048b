/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom learn: a model of how a program beats, from normal runs. All runs are in memory
 * at the same time, because a normal range is a statement about all of them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tsanom/diagnosis.h>

#include "beats.h"
#include "command.h"
#include "failure.h"
#include "model.h"
#include "plot.h"
#include "report.h"
#include "reserve.h"
#include "rows.h"

/* The power of a model, as a line such as
 *
 *   found in 95 %: slowdown 1.4 x, imbalance 1.25 x, waiting for a processor 15 %, nobody
 *   runs 11 %, memory leak 3 MiB (0.7 MiB per 10,000 beats), of the first fifth behind its
 *   first sample 3 MiB, pause 0.25 s
 *
 * and warnings if it is of no use. */

static const double mebibyte = 1 << 20;

/* Effects that nobody would need a model to see. */
static const tsanom_diagnosis_power useless = {.slowdown = 2,
                                               .imbalance = 2,
                                               .contention = 0.9,
                                               .blocked = 0.9,
                                               .leak = 1 << 30,
                                               .hang = 60};

static void print_effect(const char *before, const char *name, double value, double unit,
                         const char *symbol) {
  if (isfinite(value)) {
    printf("%s%s %.3g%s", before, name, value / unit, symbol);
  } else {
    printf("%s%s never", before, name);
  }
}

/* The smallest effect of each cause that is reported, as a line. */
static void power_print(const tsanom_diagnosis_normal *normal) {
  tsanom_diagnosis_power p;
  if (tsanom_diagnosis_normal_power(normal, &p) < 0) return;
  print_effect("\nfound in 95 %: ", "slowdown", p.slowdown, 1, " x");
  if (normal->thread_count > 1) print_effect(", ", "imbalance", p.imbalance, 1, " x");
  print_effect(", ", "waiting for a processor", p.contention, 0.01, " %");
  print_effect(", ", "for something else", p.blocked, 0.01, " %");
  print_effect(", ", "memory leak", p.leak, mebibyte, " MiB");
  if (isfinite(p.leak) && normal->beats) {
    printf(" (%.3g MiB per 10,000 beats)",
           p.leak / mebibyte / (0.8 * (double)normal->beats) * 1e4);
  }
  if (isfinite(p.early)) {
    print_effect(", ", "of the first fifth behind its first sample", p.early, mebibyte,
                 " MiB");
  }
  print_effect(", ", "pause", p.hang, 1, " s");
  if (isfinite(p.more_runs)) {
    printf("\nfurther normal runs until half of that slowdown is found: %.0f",
           p.more_runs);
  }
  printf("\nload: ");
  if (isnan(p.load)) {
    printf("not known\n");
  } else {
    printf("the normal runs waited for a processor %.3g %% of their active time\n",
           100 * p.load);
  }
}

static void warn_of(const char *cause, double value, double limit, const char *unit,
                    double scale) {
  if (!(value > limit)) return;
  if (isinf(value)) {
    warn("%s is never reported: it is part of the normal runs", cause);
  } else {
    warn(
        "the normal runs differ much: %s is reported only from %.3g%s; record more "
        "normal runs under equal conditions",
        cause, value / scale, unit);
  }
}

/* Runs without vital signs, such as CSV files, cannot have a power of which these decide:
 * the line about the power says so. */
static void power_warn(const tsanom_diagnosis_normal *normal) {
  tsanom_diagnosis_power p;
  if (tsanom_diagnosis_normal_power(normal, &p) < 0) return;
  warn_of("a slowdown", p.slowdown, useless.slowdown, " times", 1);
  if (normal->thread_count > 1) {
    warn_of("an imbalance", p.imbalance, useless.imbalance, " times", 1);
  }
  warn_of("a pause", p.hang, useless.hang, " s", 1);
  if (isnan(p.load)) return;
  warn_of("contention", p.contention, useless.contention, " %", 0.01);
  warn_of("a blocked program", p.blocked, useless.blocked, " %", 0.01);
  warn_of("a memory leak", p.leak, useless.leak, " MiB", mebibyte);
}

/* A model that misses larger slowdowns is of little use. */
enum { SLOWDOWN_MOST = 2 };

typedef struct {
  shared_options shared;
  tsanom_hsa_options hsa;
  int32_t rule; /* TSANOM_HSA_RULE_* or RULE_CAUSES */
  const char *model_path;
} request;

/* Behind the decision trees, TSANOM_HSA_RULE_*: the causes, which need no tree. */
enum { RULE_CAUSES = TSANOM_HSA_RULE_PACE + 1 };

/* Of the library, too. */
enum { MARGIN_MOST = 1000000 };

static const option_row options[] = {
    {"output", 'o', "MODEL", "Write the model to this file", TEXT(model_path)},
    {"window", 'w', "W",
     "Beats in the window of a heart rate (default: a hundredth of the beats)",
     COUNT(hsa.window, 1, 0), .group = 1},
    {"points", 0, "N", "Timestamps at which series are compared (default: 256)",
     COUNT(hsa.points, 2, TSANOM_HSA_MAX_POINTS), .group = 1},
    {"radius", 'r', "R",
     "Warping window, in timestamps at which series are compared (default: 12)",
     COUNT(hsa.radius, 0, 0), .group = 1},
    {"local-rate", 0, "ratio|literal",
     "Average of LHR: the ratio of rates (default), or the formula of the paper",
     WORD(hsa.local_rate), .group = 1},
    {"coverage", 0, "P",
     "Share of normal runs that each range must contain (default: 0.99)",
     NUMBER(hsa.coverage, 0, 1, LOW_OPEN | HIGH_OPEN), .group = 2},
    {"margin", 0, "M", "Minimum relative margin around learned ranges (default: 0.05)",
     NUMBER(hsa.margin, 0, MARGIN_MOST, 0), .group = 2},
    {"single-run-margin", 0, "M",
     "Margin around ranges if only one run is given (default: 0.25)",
     NUMBER(hsa.single_run_margin, 0, MARGIN_MOST, LOW_OPEN), .group = 2},
    {"rule", 0, "causes|pace|completion|paper",
     "Find causes by vital signs (default), or apply a decision tree to the beats",
     WORD(rule), .words = "paper|completion|pace|causes", .group = 2},
    SALVAGE_ROW,
};

/* The smallest slowdown that leaves the normal ranges of a thread. */
static double least_slowdown(const tsanom_hsa_reference *t, int32_t rule) {
  double least = fmin(t->range[TSANOM_HSA_GTR].high, t->range[TSANOM_HSA_LTR].high);
  if (rule != TSANOM_HSA_RULE_PACE) return least;
  return fmin(least, t->range[TSANOM_HSA_INTERVAL_RATIO].high);
}

/* Warns if normal runs differ so much that no common leak leaves the ranges. */
static void warn_of_wide_ranges(const tsanom_hsa_model_data *model, int32_t rule) {
  double worst = 0;
  size_t thread = 0;
  for (size_t i = 0; i < model->thread_count; i++) {
    const tsanom_hsa_reference *t = &model->references[i];
    double slowdown = t->beats ? least_slowdown(t, rule) : 0;
    if (isfinite(slowdown) && slowdown > worst) {
      worst = slowdown;
      thread = i;
    }
  }
  if (worst <= SLOWDOWN_MOST) return;
  warn(
      "the normal runs differ much: thread %zu is reported as leaking only if it is more "
      "than %.3g times slower; record more normal runs under equal conditions",
      thread, worst);
}

static void print_table(const request *r, const tsanom_hsa_model_data *model) {
  printf("model of %zu threads from %zu runs\n\n", model->thread_count, model->run_count);
  printf(
      "thread       beats  window  runs  completion s     mean rate  degree    R^2  "
      "reference\n");
  for (size_t i = 0; i < model->thread_count; i++) {
    tsanom_hsa_reference t = model->references[i];
    printf("%6zu  %10zu", i, t.beats);
    if (t.beats) {
      printf("  %6zu  %4zu  %12.6g  %12.6g  %6zu  %5.3f  %s\n", t.window, t.sample_runs,
             t.completion, t.mean_rate, t.degree, t.r2, r->shared.argument[t.run]);
    } else {
      printf("  no run has enough beats for a window\n");
    }
  }
}

static void print_ranges(const tsanom_hsa_model_data *model) {
  printf("\nthread");
  for (int32_t f = 0; f < TSANOM_HSA_FEATURES; f++) {
    printf("  %-21s", tsanom_hsa_feature_name(f));
  }
  for (size_t i = 0; i < model->thread_count; i++) {
    tsanom_hsa_reference t = model->references[i];
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

static int draw(const request *r, const tsanom_hsa_model_data *model, failure *why) {
  size_t threads = model->thread_count;
  plot_line *line = allocate(threads, sizeof *line);
  for (size_t i = 0; i < threads; i++) {
    const tsanom_hsa_reference *t = &model->references[i];
    line[i] = (plot_line){i, t->beats ? t->windows + 1 : 0, t->time, t->rate};
  }
  int failed = plot_lines(r->shared.plot, "Reference heart rates", "beats per second",
                          "thread", line, threads, why);
  free(line);
  return failed;
}

/* Warns of runs that are not normal runs of one program. */
static void warn_of_runs(const request *r, const tsanom_hsa_run *runs,
                         const tsanom_diagnosis_normal *normal) {
  for (size_t i = 0; i < r->shared.arguments; i++) {
    if (runs[i].state != TSANOM_RUN_KILLED && runs[i].state != TSANOM_RUN_RUNNING) {
      continue;
    }
    warn("%s: the run did not finish, but is taken as normal",
         file_title(r->shared.argument[i]));
  }
  if ((runs[0].program && !*normal->program) || (runs[0].machine && !*normal->machine)) {
    warn("the normal runs are of several programs or machines");
  }
  if (normal->misfit != TSANOM_NONE) {
    warn("%s: the run is unlike the other normal runs, and does not count for limits",
         file_title(r->shared.argument[normal->misfit]));
  }
}

/* By its beats alone: a level that other programs changed is not normal either. */
static int warn_of_change(const char *path, const tsanom_hsa_series *s, failure *why) {
  static const double least = 1.2;
  enum { MOST = 16 };
  tsanom_diagnosis_slow slow[MOST];
  tsanom_diagnosis_summary about = {.slow = slow, .slow_capacity = MOST};
  tsanom_hsa_series alone = {.time = s->time, .beats = s->beats};
  tsanom_hsa_run run = {.threads = &alone, .thread_count = 1};
  tsanom_status status = tsanom_diagnosis_summarize(&run, -1, -1, NULL, 0, NULL, &about);
  if (status < 0) return fail_status(why, file_title(path), status);
  for (size_t k = 0; k < about.slow_count; k++) {
    int since = slow[k].kind == TSANOM_DIAGNOSIS_SLOW_SINCE;
    if ((!since && slow[k].kind != TSANOM_DIAGNOSIS_SLOW_UNTIL) || slow[k].ratio < least)
      continue;
    warn(
        "%s: %s iteration %llu of %llu, iterations take %.3g times as long, but "
        "the run is taken as normal",
        file_title(path), since ? "since" : "until",
        (unsigned long long)(since ? slow[k].first : slow[k].last + 1),
        (unsigned long long)slow[k].iterations, slow[k].ratio);
  }
  return 0;
}

/* Warns of runs whose level changed, by the thread that beats most. */
static int warn_of_changes(const request *r, const tsanom_hsa_run *runs, failure *why) {
  for (size_t i = 0; i < r->shared.arguments; i++) {
    if (!runs[i].thread_count) continue;
    const tsanom_hsa_series *most = &runs[i].threads[beats_busiest(&runs[i])];
    if (warn_of_change(r->shared.argument[i], most, why)) return -1;
  }
  return 0;
}

/* Learn the ranges of signs from the runs that the model was learned from. */
static int model_learn_normal(owned_model *m, const tsanom_hsa_run *runs, double coverage,
                              const tsanom_exec *exec, failure *why) {
  tsanom_diagnosis_normal *n = &m->normal;
  *n = (tsanom_diagnosis_normal){.struct_size = sizeof *n};
  n->range_count =
      (size_t)TSANOM_DIAGNOSIS_PARTS * TSANOM_DIAGNOSIS_SIGNS * m->data.thread_count;
  n->range = allocate(n->range_count, sizeof *n->range);
  n->ledger_count = TSANOM_DIAGNOSIS_LEDGER_RUN +
                    (size_t)TSANOM_DIAGNOSIS_LEDGER_THREAD * m->data.thread_count;
  n->ledger = allocate(n->ledger_count, sizeof *n->ledger);
  tsanom_status status =
      tsanom_diagnosis_learn_normal(runs, m->data.run_count, coverage, exec, n);
  return status < 0 ? fail_status(why, "the runs", status) : 0;
}

/* Few runs are no failure: the ranges are wide then, and a warning names the reason. */
static int learn(const request *r, const tsanom_hsa_run *runs, owned_model *m,
                 failure *why) {
  tsanom_hsa_model *model;
  tsanom_status status =
      tsanom_hsa_learn(runs, r->shared.arguments, &r->hsa, &r->shared.exec, &model);
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
  model_take(m, model);
  if (warn_of_changes(r, runs, why)) return -1;
  if (r->rule == RULE_CAUSES) {
    if (model_learn_normal(m, runs, r->hsa.coverage, &r->shared.exec, why)) return -1;
    warn_of_runs(r, runs, &m->normal);
    power_warn(&m->normal);
  } else {
    warn_of_wide_ranges(&m->data, r->hsa.rule);
  }
  if (status == TSANOM_PARTIAL) {
    fprintf(stderr,
            "tsanom learn: few normal runs: the ranges of some threads are wide "
            "or guessed; see sample_runs in the model\n");
  }
  return 0;
}

/* Write the model where it was requested, and print what it is. */
static int deliver(const request *r, const owned_model *m) {
  failure why;
  const tsanom_hsa_model_data *model = &m->data;
  int to_output = strcmp(r->model_path, "-") == 0;
  if ((r->shared.plot && draw(r, model, &why)) ||
      (!to_output && model_write(r->model_path, m, r->shared.argument, &why))) {
    return report_failure(&why);
  }
  if (to_output || r->shared.json) {
    return model_write("-", m, r->shared.argument, &why) ? report_failure(&why)
                                                         : EXIT_DONE;
  }
  print_table(r, model);
  if (m->normal.thread_count) {
    power_print(&m->normal);
  } else {
    print_ranges(model);
  }
  return EXIT_DONE;
}

static int read_runs(const request *r, beats *b, tsanom_hsa_run *runs, failure *why) {
  for (size_t i = 0; i < r->shared.arguments; i++) {
    if (beats_read(r->shared.argument[i], TSANOM_RUNS_BEATS, &r->shared.exec,
                   r->shared.salvage, &b[i], why) ||
        beats_check_numbers(&b[i], r->shared.argument[i], why)) {
      return -1;
    }
    runs[i] = b[i].run;
  }
  return 0;
}

static void check_line(struct argp_state *state, void *request_) {
  const request *r = request_;
  if (!r->model_path) argp_error(state, "-o MODEL is missing");
}

static const syntax command_line = {
    ROWS(options),
    .arguments = "-o MODEL RUN...",
    .help =
        "Learn how a program beats from its normal runs.\v"
        "A RUN is a run directory, or a CSV file with the columns thread and time "
        "(in seconds).",
    .expected = "at least one normal run is",
    .least = 1,
    .check = check_line,
};

int command_learn(int argc, char **argv) {
  request r = {.rule = RULE_CAUSES};
  tsanom_hsa_options_init(&r.hsa, sizeof r.hsa);
  parse_command(&command_line, argc, argv, &r);
  if (r.rule != RULE_CAUSES) r.hsa.rule = r.rule;
  failure why;
  if (expand_ranks(&r.shared, &why)) return report_failure(&why);
  beats *b = allocate(r.shared.arguments, sizeof *b);
  tsanom_hsa_run *runs = allocate(r.shared.arguments, sizeof *runs);
  owned_model m = {0};
  int status = read_runs(&r, b, runs, &why) || learn(&r, runs, &m, &why)
                   ? report_failure(&why)
                   : deliver(&r, &m);
  model_free(&m);
  for (size_t i = 0; i < r.shared.arguments; i++) beats_free(&b[i]);
  free(runs);
  free(b);
  return status;
}
