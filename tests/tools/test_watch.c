/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom watch: a program that beats meanwhile (programs/pulse.c). What the program does
 * next is triggered by --on-anomaly, so that no test depends on how long anything takes.
 */
#include <criterion/criterion.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "openmetrics_text.h"
#include "pulses.h"
#include "support/sanitized.h"
#include "support/skip.h"

TestSuite(command_watch, .init = enter_folder, .fini = leave_folder, .timeout = 120);

/* The hang of a thread at an iteration in the array `key` of a line. A machine that stops the
 * program for longer than a second makes it hang at other iterations, too. */
static const json_t *find_hang(const json_t *line, const char *key, double thread,
                               double iteration) {
  size_t i;
  const json_t *one;
  json_array_foreach(json_object_get(line, key), i, one) {
    if (!strcmp(text_of(one, "cause"), "hang") && number_of(one, "thread") == thread &&
        number_of(one, "iteration") == iteration)
      return one;
  }
  return NULL;
}

Test(command_watch, a_run_that_is_over_is_one_line) {
  record_pulse("run", 40, "plain");
  outcome o = tsanom("watch --check run");
  cr_assert(o.status == 0 && *o.err == 0 && strstr(o.out, "finished, iteration 40"), "%s",
            o.out);
  json_t *line = tsanom_json("watch --json run");
  cr_assert_str_eq(text_of(line, "state"), "finished");
  cr_assert(number_of(line, "iteration") == 40 && number_of(line, "time") > 0);
  cr_assert(json_is_null(json_object_get(line, "age")));
  cr_assert(size_of(line, "beats") == 2);
  cr_assert(json_number_value(item_of(line, "rate", 1)) > 0);
  cr_assert(size_of(line, "causes") == 0);
}

Test(command_watch, a_killed_run_is_an_anomaly) {
  record_pulse("run", 40, "kill");
  outcome o = tsanom("watch --check run");
  cr_assert(o.status == 1 && strstr(o.out, "shutdown") && strstr(o.out, "killed, "), "%s",
            o.out);
  tsanom_ok("watch run");
}

/* Time does not go back to that of the last beat, which is before the onset. */
Test(command_watch, a_stopped_program_that_is_killed_ends_after_its_onset) {
  double time = 0;
  start_pulse("run", 40, "stop");
  tsanom_ok(
      "watch --wait --every 0.05 --json --on-anomaly 'kill -9 $(cat pid)' run >lines");
  size_t k, i;
  const json_t *line, *cause;
  json_array_foreach(json_lines("lines"), k, line) {
    cr_assert(number_of(line, "time") >= time);
    time = number_of(line, "time");
    json_array_foreach(json_object_get(line, "causes"), i, cause) {
      cr_assert(number_of(cause, "onset") <= time);
    }
  }
  cr_assert(time > 1, "%g", time);
}

/* The thread is named, the command runs once with the verdict although the hang lasts for
 * several looks, and the run recovers. */
Test(command_watch, a_hanging_thread_is_named_and_recovers) {
  write_text("act",
             "test \"$TSANOM_THREAD $TSANOM_ITERATION\" = '1 201' || exit 0; echo "
             "\"$TSANOM_CAUSE $TSANOM_THREAD $TSANOM_ITERATION $TSANOM_RUN\" >>verdict; "
             "(sleep 0.3; touch resume) &");
  start_pulse("run", 400, "hold");
  check_quiet(
      tsanom(
          "watch --wait --every 0.05 --json --check --on-anomaly 'sh ./act' run >lines"),
      1);
  shell_ok("echo hang 1 201 run | cmp - verdict");
  int began = 0, ended = 0, finished = 0;
  size_t i;
  const json_t *line;
  json_array_foreach(json_lines("lines"), i, line) {
    const json_t *a = find_hang(line, "causes", 1, 201);
    if (a && json_is_true(json_object_get(a, "new"))) {
      began++;
      cr_assert(number_of(a, "value") > number_of(a, "limit") &&
                number_of(a, "confidence") > 0.99);
      cr_assert(number_of(line, "time") - number_of(a, "onset") > 1);
      cr_assert(number_of(line, "slowest") == 1);
    }
    ended += find_hang(line, "recovered", 1, 201) != NULL;
    finished = !strcmp(text_of(line, "state"), "finished");
  }
  cr_assert(began == 1 && ended == 1 && finished, "%d %d %d", began, ended, finished);
}

/* The other thread waits, also when the one that hung has resumed. */
Test(command_watch, a_thread_that_waits_is_not_named) {
  start_pulse("run", 400, "team");
  outcome o = CHECK_PRINTS(
      tsanom("watch --wait --every 0.05 --on-anomaly 'touch resume' run"),
      "thread 1: hang since", "1 other thread waits for it", "thread 1: hang recovered");
  cr_assert(!strstr(o.out, "thread 0: hang"), "%s", o.out);
}

Test(command_watch, a_stopped_process_hangs_in_all_threads) {
  start_pulse("run", 200, "stop");
  CHECK_PRINTS(tsanom("watch --wait --every 0.05 --until-anomaly run"),
               "thread 0: hang since", "thread 1: hang since");
  CHECK_PRINTS(tsanom("watch --every 0.05 --on-anomaly 'kill -CONT $(cat pid)' run"),
               "thread 0: hang recovered", "thread 1: hang recovered", "finished");
}

/* A number that is far above the others is watched when enough others have beats. */
Test(command_watch, threads_that_start_late_are_watched) {
  enum { BEATS = 24, LATE = 1040, ALWAYS = 1024 };
  start_pulse("run", BEATS, "late");
  outcome o = tsanom_ok(
      "watch --wait --every 0.05 --json --on-anomaly 'kill -CONT $(cat pid); true' run "
      ">lines");
  const char *warned = strstr(o.err, "the highest thread number is 1040, but only 2 ");
  cr_assert(warned && !strstr(warned + 5, "highest"), "%s", o.err);
  const json_t *line, *counts = NULL;
  size_t fewest = SIZE_MAX, i;
  json_array_foreach(json_lines("lines"), i, line) {
    counts = json_object_get(line, "beats");
    size_t count = json_array_size(counts);
    if (count && count < fewest) fewest = count;
  }
  cr_assert(fewest <= ALWAYS && json_array_size(counts) == LATE + 1, "%zu", fewest);
  for (size_t t = 0; t <= LATE; t++) {
    int expected = t == 0 || t == LATE ? BEATS : BEATS / 2 - 1;
    cr_assert(json_integer_value(json_array_get(counts, t)) == expected, "%zu", t);
  }
}

Test(command_watch, a_deleted_run_has_its_own_message) {
  start_pulse("run", 400, "hold");
  outcome o = tsanom("watch --wait --every 0.05 --on-anomaly 'mv run gone' run");
  cr_assert(o.status == 3 && strstr(o.err, "run: the run was deleted"), "%s", o.err);
  end_pulse();
}

/* As when the server of a network file system ends. */
Test(command_watch, a_file_system_that_fails_has_its_own_message) {
  start_pulse("run", 400, "hold");
  outcome o =
      tsanom("watch --wait --every 0.05 --on-anomaly 'mv run gone; ln -s run run' run");
  cr_assert(o.status == 3 && strstr(o.err, "run: cannot read: Too many levels"), "%s",
            o.err);
  end_pulse();
}

Test(command_watch, a_run_that_was_replaced_has_its_own_message) {
  record_pulse("other", 40, "plain");
  start_pulse("run", 400, "hold");
  outcome o =
      tsanom("watch --wait --every 0.05 --on-anomaly 'mv run gone; mv other run' run");
  cr_assert(o.status == 3 && strstr(o.err, "contains another run now"), "%s", o.err);
  end_pulse();
}

Test(command_watch, the_limit_can_be_given) {
  start_pulse("run", 400, "hold");
  outcome o = tsanom("watch --wait --every 0.05 --hang 0.3 --until-anomaly --check run");
  end_pulse();
  cr_assert(o.status == 1 && strstr(o.out, "reported above 300 ms"), "%s", o.out);
}

/* The name of the run needs escapes. */
Test(command_watch, metrics_are_what_prometheus_reads) {
  record_pulse("run", 40, "kill");
  shell_ok("mv run 'a \"b\\'");
  CHECK_PRINTS(tsanom("watch --openmetrics run.prom 'a \"b\\' >lines && ls -A"),
               "run.prom\n");
  cr_assert(file_holds("run.prom", "tsanom_running{run=\"a \\\"b\\\\\"} 0\n"));
  cr_assert(file_holds("run.prom", "\",thread=\"1\"} 21\n"));
  cr_assert(file_holds("run.prom", "cause=\"shutdown\",sign=\"\",thread=\"\"} "));
  cr_assert(file_holds("run.prom", "\n# EOF\n"));
  char *text = slurp("run.prom");
  const char *fault = openmetrics_fault(text);
  cr_assert(!fault, "%s", fault);
  free(text);
}

/* The watch goes on, and the message appears once. */
Test(command_watch, metrics_that_cannot_be_written_are_reported) {
  start_pulse("run", 400, "hold");
  outcome o = tsanom(
      "watch --wait --every 0.05 --openmetrics none/run.prom --on-anomaly 'touch resume' "
      "run >lines");
  const char *first = strstr(o.err, "none/run.prom");
  cr_assert(o.status == 3 && first && !strstr(first + 1, "none/run.prom"), "%s", o.err);
  cr_assert(file_holds("lines", "finished, iteration"));
  cr_assert(remove("resume") == 0);
  start_pulse("again", 400, "hold");
  CHECK_WARNS(tsanom("watch --wait --every 0.05 --openmetrics none/run.prom --on-anomaly "
                     "'mkdir none; touch resume' again >lines"),
              "none/run.prom");
}

Test(command_watch, file_systems_that_show_beats_late_are_named) {
#if SANITIZED
  SKIP_TEST("the sanitizer must be the first library that is loaded");
#endif
  static const struct {
    const char *type, *name; /* of statfs(2) */
  } systems[] = {{"0x6969", "(NFS)"},
                 {"0xFFFFFFFFFF534D42", "(CIFS)"},
                 {"0x65735546", "(FUSE)"},
                 {"0x01021994", NULL} /* tmpfs */};
  record_pulse("run", 20, "plain");
  for (size_t i = 0; i < sizeof systems / sizeof *systems; i++) {
    setenv("STATFS_TYPE", systems[i].type, 1);
    setenv("LD_PRELOAD", TSANOM_STATFS_TYPE, 1);
    outcome o = tsanom("watch run");
    unsetenv("LD_PRELOAD");
    cr_assert(o.status == 0, "%s", o.err);
    if (systems[i].name) {
      cr_expect(strstr(o.err, systems[i].name) && strstr(o.err, "may show the beats"),
                "%s: %s", systems[i].name, o.err);
    } else {
      cr_expect(!strstr(o.err, "file system"), "%s", o.err);
    }
  }
}

/* m.json, of normal runs of one length. */
static void learn_model(void) {
  for (int i = 0; i < 4; i++) {
    char name[8];
    snprintf(name, sizeof name, "n%d", i);
    record_pulse(name, 400, "plain");
  }
  tsanom_ok("learn -o m.json n0 n1 n2 n3");
}

Test(command_watch, a_model_finds_a_leak) {
  learn_model();
  start_pulse("run", 400, "leak");
  outcome o = tsanom("watch --wait --every 0.1 --check -m m.json run");
  cr_assert(o.status == 1 && strstr(o.out, "memory_leak since"), "%s%s", o.out, o.err);
}

/* A program that computes more, and waits more, is slower for two reasons. Normal runs beside which the
 * machine did something else hide one of them: then they are recorded anew. */
Test(command_watch, each_slowdown_has_its_own_metric) {
  enum { TRIES = 3 };
  char *text = NULL;
  bool has_both = false;
  for (int i = 0; i < TRIES && !has_both; i++) {
    free(text);
    shell_ok("rm -rf n? run m.json");
    learn_model();
    record_pulse("run", 200, "busy");
    tsanom_ok("watch -m m.json --openmetrics run.prom run");
    text = slurp("run.prom");
    const char *fault = openmetrics_fault(text);
    cr_assert(!fault, "%s", fault);
    has_both = strstr(text, "cause=\"slowdown\",sign=\"slowdown\",thread=\"\"} ") &&
               strstr(text, "cause=\"slowdown\",sign=\"nobody\",thread=\"\"} ");
  }
  cr_assert(has_both, "%s", text);
  free(text);
}

/* Remaining iterations follow from normal runs of one length. */
Test(command_watch, remaining_iterations_and_vital_signs_are_shown) {
  learn_model();
  start_pulse("run", 400, "hold");
  tsanom_ok(
      "watch --json --wait --every 0.05 -m m.json --on-anomaly 'touch resume' run "
      ">lines");
  int known = 0, finished = 0, bounded = 0;
  size_t i;
  const json_t *line;
  json_array_foreach(json_lines("lines"), i, line) {
    const json_t *left = json_object_get(line, "remaining"),
                 *vital = json_object_get(line, "vital");
    finished = !strcmp(text_of(line, "state"), "finished");
    double iteration = number_of(line, "iteration");
    cr_assert(finished || iteration > 400 ? json_is_null(left)
                                          : json_number_value(left) == 400 - iteration);
    known += json_is_real(json_object_get(line, "remaining_s"));
    bounded += json_is_real(json_object_get(line, "remaining_low_s")) &&
               number_of(line, "remaining_low_s") <= number_of(line, "remaining_s") &&
               number_of(line, "remaining_high_s") >= number_of(line, "remaining_s");
    if (finished) {
      cr_assert(number_of(vital, "resident") > 1e5 && number_of(vital, "cpu") >= 0);
    }
  }
  cr_assert(known > 0 && bounded > 0 && finished);
  CHECK_PRINTS(tsanom("watch -m m.json n0"), "memory ", "CPU ");
}

/* By N times 20 us each. Returns whether no time was predicted. */
static bool predicts_no_time(int n) {
  char how[16], run[16];
  snprintf(how, sizeof how, "slow%d", n);
  snprintf(run, sizeof run, "run%d", n);
  start_pulse(run, 400, how);
  outcome o = tsanom("watch --wait --every 0.05 -m m.json --openmetrics m.prom %s", run);
  return strstr(o.out, " left (time not known: iterations become longer") &&
         !file_holds("m.prom", "tsanom_remaining_seconds{");
}

/* What other programs take away may hide it, so it is tried again with more. */
Test(command_watch, iterations_that_become_longer_predict_no_time) {
  learn_model();
  cr_assert(predicts_no_time(1) || predicts_no_time(4) || predicts_no_time(8));
}

Test(command_watch, what_cannot_be_watched_is_rejected) {
  write_text("x.csv", "thread,time\n0,1\n0,2\n");
  CHECK_REJECTED(tsanom("watch x.csv"), 3, "x.csv", "not a run directory");
  CHECK_REJECTED(tsanom("watch none"), 3, "none");
  CHECK_REJECTED(tsanom("watch --every 0 none"), 2, "--every");
  CHECK_REJECTED(tsanom("watch --hang 0 none"), 2, "--hang");
  CHECK_REJECTED(tsanom("watch"), 2, "at least one run is expected");
  tsanom_ok("learn --rule pace -o m.json x.csv");
  CHECK_REJECTED(tsanom("watch -m m.json x.csv"), 3, "m.json", "--rule causes");
}
