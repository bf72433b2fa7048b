/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom learn and tsanom diagnose. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <tsanom/diagnosis.h>
#include <tsanom/heartbeat.h>
#include <unistd.h>

#include "run.h"
#include "runs/grown_run.h"
#include "support/random.h"

enum { BEATS = 800, THREADS = 2, NORMAL_RUNS = 4 };

/* How thread 0 of a run fares; thread 1 is normal. */
typedef struct {
  double slowing; /* its beats take up to 1 + this times as long */
  int beats;      /* it stops after this many */
} fate;

static const fate normal = {0, BEATS}, leaking = {2, BEATS}, stopping = {0, BEATS / 3};

static double times[THREADS][BEATS];

/* Beats of a run, into `times` and a file. */
static tsanom_hsa_run write_run(const char *name, uint64_t seed, fate f) {
  static tsanom_hsa_series series[THREADS];
  FILE *stream = fopen(name, "w");
  fprintf(stream, "time,thread\n");
  double start = INFINITY;
  for (int t = 0; t < THREADS; t++) {
    int beats = t == 0 ? f.beats : BEATS;
    double now = 10, slowing = t == 0 ? f.slowing : 0;
    for (int i = 0; i < beats; i++) {
      now += 0.001 * (0.95 + 0.1 * random_unit(&seed)) * (1 + slowing * i / BEATS);
      times[t][i] = now;
      fprintf(stream, "%.17g,%d\n", now, t);
    }
    start = fmin(start, times[t][0]);
    series[t] = (tsanom_hsa_series){.time = times[t], .beats = (size_t)beats};
  }
  cr_assert(fclose(stream) == 0);
  return (tsanom_hsa_run){.threads = series, .thread_count = THREADS, .start = start};
}

static void write_normal_runs(void) {
  for (int i = 0; i < NORMAL_RUNS; i++) {
    char name[16];
    snprintf(name, sizeof name, "n%d.csv", i);
    write_run(name, (uint64_t)i + 1, normal);
  }
}

/* The decision tree, which judges the beats alone. */
static void learn_model(void) {
  write_normal_runs();
  tsanom_ok("learn --rule pace -o m.json n0.csv n1.csv n2.csv n3.csv");
}

TestSuite(command_diagnose, .init = enter_folder, .fini = leave_folder);

/* The beats of a run are 1.5 times as far apart from beat 301 on. */
Test(command_diagnose, learn_warns_of_a_change) {
  write_normal_runs();
  FILE *stream = fopen("n4.csv", "w");
  uint64_t seed = 9;
  double now = 10;
  fprintf(stream, "time,thread\n");
  for (int i = 0; i <= BEATS; i++) {
    fprintf(stream, "%.17g,0\n%.17g,1\n", now, now);
    now += 0.002 * (0.95 + 0.1 * random_unit(&seed)) * (i < 300 ? 1 : 1.5);
  }
  cr_assert(fclose(stream) == 0);
  outcome o = tsanom_ok("learn -o m.json n0.csv n1.csv n2.csv n3.csv n4.csv");
  cr_assert(strstr(o.err, "n4.csv: since iteration 300 of 801, iterations take 1.5"),
            "%s", o.err);
  cr_assert(!strstr(o.err, "n3.csv: since"));
}

static const json_t *thread_of(const json_t *result, size_t run, size_t thread) {
  const json_t *r = item_of(result, "runs", run);
  return item_of(r, "threads", thread);
}

Test(command_diagnose, each_kind_of_run_is_found) {
  learn_model();
  write_run("a.csv", 101, normal);
  write_run("b.csv", 102, leaking);
  write_run("c.csv", 103, stopping);
  json_t *r = tsanom_json("diagnose -m m.json a.csv b.csv c.csv --json");
  static const char *const expected[] = {"normal", "memory_leak", "shutdown"};
  for (size_t i = 0; i < 3; i++) {
    const json_t *run = item_of(r, "runs", i);
    cr_assert_str_eq(text_of(run, "status"), expected[i]);
    cr_assert_str_eq(text_of(thread_of(r, i, 0), "status"), expected[i]);
    cr_assert_str_eq(text_of(thread_of(r, i, 1), "status"), "normal");
    cr_assert(number_of(thread_of(r, i, 1), "thread") == 1);
    const json_t *path = json_object_get(thread_of(r, i, 0), "path");
    cr_assert(json_array_size(path) > 0 && json_is_string(json_array_get(path, 0)));
  }
  cr_assert_str_eq(text_of(item_of(r, "runs", 1), "run"), "b.csv");
  CHECK_PRINTS(tsanom("diagnose -m m.json c.csv"), "shutdown", " 1. ");
}

/* The library called directly is the reference: through the model's file, not
 * one bit may get lost. */
Test(command_diagnose, features_are_those_of_the_library_bit_for_bit) {
  learn_model();
  static double kept[NORMAL_RUNS][THREADS][BEATS];
  static tsanom_hsa_series series[NORMAL_RUNS][THREADS];
  tsanom_hsa_run runs[NORMAL_RUNS];
  for (int i = 0; i < NORMAL_RUNS; i++) {
    runs[i] = write_run("again.csv", (uint64_t)i + 1, normal);
    memcpy(kept[i], times, sizeof times);
    for (int t = 0; t < THREADS; t++) {
      series[i][t] = (tsanom_hsa_series){.time = kept[i][t], .beats = BEATS};
    }
    runs[i].threads = series[i];
  }
  tsanom_hsa_model *model;
  cr_assert(tsanom_hsa_learn(runs, NORMAL_RUNS, NULL, NULL, &model) >= 0);
  tsanom_hsa_run run = write_run("b.csv", 7, leaking);
  tsanom_hsa_verdict verdict[THREADS];
  *verdict = (tsanom_hsa_verdict){.struct_size = sizeof *verdict};
  cr_assert(tsanom_hsa_diagnose(model, &run, NULL, verdict, THREADS, NULL) == TSANOM_OK);
  json_t *r = tsanom_json("diagnose -m m.json b.csv --json --threads 2");
  for (size_t t = 0; t < THREADS; t++) {
    const json_t *features = json_object_get(thread_of(r, 0, t), "features");
    cr_assert(json_object_size(features) == TSANOM_HSA_FEATURES);
    cr_assert(size_of(thread_of(r, 0, t), "causes") == 0);
    for (int32_t f = 0; f < TSANOM_HSA_FEATURES; f++) {
      double got = number_of(features, tsanom_hsa_feature_name(f));
      cr_assert(got == verdict[t].features.value[f], "%s of thread %zu: %.17g, not %.17g",
                tsanom_hsa_feature_name(f), t, got, verdict[t].features.value[f]);
    }
  }
  tsanom_hsa_model_destroy(model);
}

Test(command_diagnose, check_reports_by_the_exit_status) {
  learn_model();
  write_run("a.csv", 101, normal);
  write_run("b.csv", 102, leaking);
  tsanom_ok("diagnose -m m.json a.csv b.csv");
  tsanom_ok("diagnose -m m.json --check a.csv");
  check_status(tsanom("diagnose -m m.json --check a.csv b.csv"), 1);
  check_status(tsanom("diagnose -m m.json --check b.csv a.csv --json"), 1);
}

/* By hand: 2 TP / (2 TP + FP + FN) is 2/(2 + 1 + 1) for normal, 2/(2 + 1 + 0) for
 * memory_leak, and 0 for shutdown. */
Test(command_diagnose, labels_give_the_confusion_matrix) {
  learn_model();
  mkdir("d", 0777);
  write_run("d/a", 101, normal);
  write_run("d/b", 102, leaking);
  write_run("d/c", 103, leaking);
  write_run("d/e", 104, normal);
  write_text("l.csv", "status,run\nnormal,d/a\nmemory_leak,b\nnormal,c\nshutdown,e\n");
  json_t *r = tsanom_json("diagnose -m m.json d/a d/b d/c d/e --labels l.csv --json");
  const json_t *confusion = json_object_get(r, "confusion");
  char *rows = json_dumps(json_object_get(confusion, "runs"), JSON_COMPACT);
  cr_assert_str_eq(rows, "[[1,1,0],[0,1,0],[1,0,0]]");
  free(rows);
  cr_assert(fabs(number_of(confusion, "macro_f_score") - (0.5 + 2.0 / 3) / 3) < 1e-15);
  cr_assert_str_eq(text_of(item_of(r, "runs", 2), "expected"), "normal");
  CHECK_PRINTS(tsanom("diagnose -m m.json d/a d/b d/c d/e --labels l.csv"),
               "0.0000\nmacro F-score");
  CHECK_PRINTS(tsanom("diagnose -m m.json d/a d/b --labels l.csv"),
               "macro F-score 1.0000");
}

Test(command_diagnose, bad_labels_are_rejected) {
  learn_model();
  write_run("a.csv", 101, normal);
  write_text("l", "run,status\na.csv,fine\n");
  CHECK_REJECTED(tsanom("diagnose -m m.json a.csv --labels l"), 3, "l:2: column 2",
                 "\"fine\"", "memory_leak");
  write_text("l", "run,verdict\na.csv,normal\n");
  CHECK_REJECTED(tsanom("diagnose -m m.json a.csv --labels l"), 3,
                 "l:1:", "run and status");
  write_text("l", "run,status\nxa.csv,normal\n");
  CHECK_REJECTED(tsanom("diagnose -m m.json a.csv --labels l"), 3, "l: ", "a.csv");
  write_text("l", "run,status\na.csv,normal\na.csv,shutdown\n");
  CHECK_REJECTED(tsanom("diagnose -m m.json a.csv --labels l"), 3,
                 "l:3:", "two statuses");
  write_text("l", "");
  CHECK_REJECTED(tsanom("diagnose -m m.json a.csv --labels l"), 3, "l: ");
}

Test(command_diagnose, draws_pictures) {
  write_normal_runs();
  tsanom_ok("learn -o m.json n0.csv n1.csv --plot m.svg");
  check_svg("m.svg");
  write_run("b.csv", 102, leaking);
  tsanom_ok("diagnose -m m.json n2.csv b.csv --plot d.svg");
  check_svg("d.svg");
  tsanom_ok("diagnose -m m.json b.csv --plot a.svg --alignment");
  check_svg("a.svg");
  cr_assert(file_holds("a.svg", "Alignment of thread 0: degree "));
  CHECK_REJECTED(tsanom("diagnose -m m.json b.csv --alignment"), 2, "needs --plot");
  write_text("few.csv", "thread,time\n0,1\n0,2\n");
  CHECK_REJECTED(tsanom("diagnose -m m.json few.csv --plot f.svg --alignment"), 3,
                 "few.csv", "no rates to align");
}

Test(command_diagnose, one_normal_run_is_enough_and_is_reported) {
  write_run("n.csv", 1, normal);
  write_run("b.csv", 102, leaking);
  CHECK_WARNS(tsanom("learn -o m.json n.csv"), "few normal runs");
  tsanom_ok("diagnose -m m.json n.csv --check");
  check_status(tsanom("diagnose -m m.json b.csv --check"), 1);
}

Test(command_diagnose, threads_that_never_beat_are_reported) {
  learn_model();
  write_text("t.csv", "thread,time\n");
  shell_ok("grep -v ',0$' n0.csv >silent.csv");
  json_t *r = tsanom_json("diagnose -m m.json silent.csv --json");
  cr_assert_str_eq(text_of(thread_of(r, 0, 0), "status"), "shutdown");
  cr_assert_str_eq(text_of(thread_of(r, 0, 1), "status"), "normal");
  cr_assert(json_is_null(
      json_object_get(json_object_get(thread_of(r, 0, 0), "features"), "gtr")));
  CHECK_REJECTED(tsanom("diagnose -m m.json t.csv"), 3, "t.csv: ", "no numbers");
}

Test(command_diagnose, wrong_usage_and_bad_runs_are_rejected) {
  learn_model();
  write_text("few.csv", "thread,time\n0,1\n0,2\n");
  CHECK_REJECTED(tsanom("learn n0.csv"), 2, "-o");
  CHECK_REJECTED(tsanom("learn -o x"), 2, "normal run");
  CHECK_REJECTED(tsanom("learn -o x n0.csv --window 0"), 2, "--window");
  CHECK_REJECTED(tsanom("learn -o x n0.csv --coverage 2"), 2, "--coverage", "below 1");
  CHECK_REJECTED(tsanom("learn -o x n0.csv --coverage 0"), 2, "--coverage", "above 0");
  CHECK_REJECTED(tsanom("learn -o x n0.csv --points 1"), 2, "--points", "from 2");
  CHECK_REJECTED(tsanom("learn -o x n0.csv --points 9999999"), 2, "--points", "from 2");
  CHECK_REJECTED(tsanom("learn -o x n0.csv --margin -1"), 2, "--margin", "at least 0");
  CHECK_REJECTED(tsanom("learn -o x n0.csv --margin 1e7"), 2, "--margin", "1e+06");
  CHECK_REJECTED(tsanom("learn -o x n0.csv --single-run-margin 0"), 2,
                 "--single-run-margin", "above 0");
  CHECK_REJECTED(tsanom("learn -o x n0.csv --rule other"), 2, "completion");
  CHECK_REJECTED(tsanom("learn -o x n0.csv --window 5000"), 3, "window of 5000");
  write_text("at_once.csv", "thread,time\n0,1\n0,1\n0,1\n");
  CHECK_REJECTED(tsanom("learn -o x at_once.csv"), 3, "one time", "finer clock");
  CHECK_REJECTED(tsanom("learn -o x few.csv -w 2"), 3, "window of 2");
  CHECK_REJECTED(tsanom("learn -o x n0.csv missing"), 3, "missing: ");
  CHECK_REJECTED(tsanom("learn -o no/x n0.csv n1.csv n2.csv n3.csv"), 3, "no/x: ");
  CHECK_REJECTED(tsanom("learn -o . n0.csv n1.csv n2.csv n3.csv"), 3,
                 ".: is a directory");
  CHECK_REJECTED(tsanom("learn -o - n0.csv n1.csv n2.csv n3.csv >/dev/full"), 3,
                 "standard output");
  CHECK_REJECTED(tsanom("diagnose n0.csv"), 2, "-m");
  CHECK_REJECTED(tsanom("diagnose -m m.json"), 2, "one run");
  CHECK_REJECTED(tsanom("diagnose -m missing n0.csv"), 3, "missing: ");
  CHECK_REJECTED(tsanom("diagnose -m n0.csv n0.csv"), 3, "n0.csv:1: ", "JSON");
  CHECK_REJECTED(tsanom("diagnose -m . n0.csv"), 3, ".: ");
  cr_assert(access("x", F_OK) != 0, "a model was left");
}

/* A model whose ranges contain every common leak is of little use. */
Test(command_diagnose, normal_runs_that_differ_much_are_reported) {
  write_normal_runs();
  outcome o = check_quiet(tsanom("learn -o m.json n0.csv n1.csv n2.csv n3.csv"), 0);
  cr_assert(strstr(o.out, "found in 95 %: slowdown 1."), "%s", o.out);
  cr_assert(strstr(o.out, "memory leak never"), "%s", o.out);
  fate scattered = {12, BEATS};
  write_run("n1.csv", 2, scattered);
  CHECK_WARNS(tsanom("learn -o m.json n0.csv n1.csv n2.csv n3.csv"),
              "differ much: an imbalance is reported only");
  write_run("n1.csv", 2, leaking);
  CHECK_WARNS(tsanom("learn --rule pace -o m.json n0.csv n1.csv n2.csv n3.csv"),
              "warning: the normal runs differ much: thread 0");
}

/* Without vital signs the beats are the only evidence, and a slow thread may have any
 * cause. */
Test(command_diagnose, causes_without_vital_signs) {
  write_normal_runs();
  tsanom_ok("learn -o m.json n0.csv n1.csv n2.csv n3.csv");
  write_run("a.csv", 101, normal);
  write_run("b.csv", 102, leaking);
  write_run("c.csv", 103, stopping);
  json_t *r = tsanom_json("diagnose -m m.json a.csv b.csv c.csv --json");
  static const char *const expected[] = {"normal", "imbalance", "shutdown"};
  for (size_t i = 0; i < 3; i++) {
    const json_t *run = item_of(r, "runs", i);
    cr_assert_str_eq(text_of(run, "state"), "unknown");
    cr_assert_str_eq(text_of(run, "status"), expected[i]);
    cr_assert_str_eq(text_of(thread_of(r, i, 0), "status"), expected[i]);
    const json_t *causes = json_object_get(thread_of(r, i, 0), "causes");
    cr_assert(json_array_size(causes) == (i > 0));
    cr_assert(size_of(run, "causes") == (i > 0));
    const json_t *features = json_object_get(thread_of(r, i, 0), "features");
    cr_assert(json_object_size(features) == TSANOM_HSA_FEATURES + TSANOM_DIAGNOSIS_SIGNS);
    cr_assert(json_is_null(json_object_get(features, "faults")));
    cr_assert(json_is_null(json_object_get(run, "ledger")));
    if (i == 0) continue;
    cr_assert_str_eq(text_of(json_array_get(causes, 0), "cause"), expected[i]);
    cr_assert(strstr(text_of(json_array_get(causes, 0), "evidence"), "reported above"));
    cr_assert(number_of(json_array_get(causes, 0), "value") >
              number_of(json_array_get(causes, 0), "limit"));
  }
  outcome o = CHECK_PRINTS(tsanom("diagnose -m m.json c.csv --explain"),
                           "shutdown: the thread stopped after 266");
  cr_assert(strstr(o.out, "gap_s "), "%s", o.out);
  write_text("l.csv", "run,status\na.csv,normal\nb.csv,slowdown\nc.csv,shutdown\n");
  r = tsanom_json("diagnose -m m.json a.csv b.csv c.csv --labels l.csv --json");
  const json_t *confusion = json_object_get(r, "confusion");
  char *labels = json_dumps(json_object_get(confusion, "labels"), JSON_COMPACT);
  cr_assert_str_eq(
      labels, "[\"normal\",\"memory_leak\",\"shutdown\",\"slowdown\",\"imbalance\"]");
  free(labels);
  cr_assert(fabs(number_of(confusion, "macro_f_score") - 0.5) < 1e-15);
  check_svg((tsanom("diagnose -m m.json a.csv b.csv --plot d.svg"), "d.svg"));
}

Test(command_diagnose, older_models_are_rejected) {
  learn_model();
  shell_ok("sed 's/\"version\": [0-9]*/\"version\": 6/' m.json >old.json");
  CHECK_REJECTED(tsanom("diagnose -m old.json n0.csv"), 3, "old.json: version",
                 "learn this one again");
}

/* The three parts of the ledger are the wall time, in all windows. */
Test(command_diagnose, the_time_of_a_run_is_accounted_for) {
  for (int i = 0; i < 4; i++) {
    char name[16];
    snprintf(name, sizeof name, "run%d", i);
    cr_assert(tsanom_heartbeat_init(name, 1, NULL, NULL) == TSANOM_OK);
    for (uint32_t k = 0; k < (i < 3 ? 100 : 150); k++) {
      (void)tsanom_heartbeat_beat(0, k);
      for (volatile int work = 0; work < 200000;) work++; /* more than the sampler does */
      usleep(2000);
    }
    cr_assert(tsanom_heartbeat_finish() == TSANOM_OK);
  }
  tsanom_ok("learn -o m.json run0 run1");
  json_t *r = tsanom_json("diagnose -m m.json run2 --json");
  const json_t *run = item_of(r, "runs", 0);
  const json_t *ledger = json_object_get(run, "ledger");
  const json_t *parts = json_object_get(ledger, "parts");
  double sum = 0;
  cr_assert(json_array_size(parts) == TSANOM_DIAGNOSIS_WINDOWS - 1);
  cr_assert(size_of(ledger, "threads") == 1);
  for (size_t i = 0; i < json_array_size(parts); i++) {
    const json_t *part = json_array_get(parts, i);
    double all = number_of(part, "cpu_s") + number_of(part, "ready_s") +
                 number_of(part, "nobody_s");
    cr_assert(fabs(all - number_of(part, "wall_s")) < 1e-9);
    sum += all;
  }
  cr_assert(fabs(sum - number_of(ledger, "wall_s")) < 1e-9);
  cr_assert(number_of(ledger, "nobody_s") + number_of(ledger, "ready_s") > 0.1);
  outcome o = tsanom("diagnose -m m.json run2 --explain");
  cr_assert(strstr(o.out, " s nobody ran\n") && strstr(o.out, "eighth 8: of ") &&
                strstr(o.out, "thread 0: ") && !strstr(o.out, "each normal run"),
            "%s", o.out);
  CHECK_PRINTS(tsanom("diagnose -m m.json run3"),
               "(finished; 150 beats, each normal run has 100)");
}

/* Thread 1 has one sample, and when threads were ready is not known. */
Test(command_diagnose, what_is_not_known_of_a_thread_is_no_number) {
  grown_run run;
  write_normal_runs();
  tsanom_ok("learn -o m.json n0.csv n1.csv n2.csv n3.csv");
  cr_assert(mkdir("grown", 0777) == 0);
  grown_create(&run, "grown");
  grown_add_stream(&run, 1);
  for (uint32_t i = 0; i < BEATS; i++) {
    for (uint32_t t = 0; t < THREADS; t++) grown_append(&run, t, 500000, i);
    if (i % 20 == 10) grown_sample(&run, 0);
    if (i == 50) grown_sample(&run, 1);
  }
  grown_finish(&run);
  outcome o = CHECK_PRINTS(tsanom("diagnose -m m.json grown --explain"),
                           "thread 0: ", " on a processor\n", "thread 1: not known\n");
  cr_assert(!strstr(o.out, "nan"), "%s", o.out);
}
