/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom rate: rates worked out by hand, and runs that the test itself records. Tables,
 * CSV and JSON must have the same numbers. Of a damaged run the file is named. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <tsanom/heartbeat.h>

#include "run.h"
#include "support/random.h"

TestSuite(command_rate, .init = enter_folder, .fini = leave_folder);

static const json_t *thread_of(const json_t *result, size_t thread) {
  return item_of(result, "threads", thread);
}

static double item(const json_t *thread, const char *key, size_t i) {
  return json_number_value(item_of(thread, key, i));
}

/* By hand, window 2: thread 0 beats at 1 2 4 8, so rates 2/3 and 2/6; thread 1 is
 * silent; thread 2 beats once, which is too few. */
static const char three_threads[] =
    "time,note,thread\n1,a,0\n5,b,2\n2,c,0\n4,d,0\n8,e,0\n";

Test(command_rate, rates_are_those_worked_out_by_hand) {
  write_text("r.csv", three_threads);
  json_t *r = tsanom_json("rate r.csv --window 2 --json");
  cr_assert(number_of(r, "window") == 2);
  cr_assert(size_of(r, "threads") == 3);
  const json_t *first = thread_of(r, 0);
  cr_assert(number_of(first, "thread") == 0 && number_of(first, "beats") == 4);
  cr_assert(size_of(first, "rate") == 2);
  cr_assert(item(first, "rate", 0) == 2.0 / 3 && item(first, "rate", 1) == 2.0 / 6);
  cr_assert(item(first, "time", 0) == 4 && item(first, "time", 1) == 8);
  cr_assert(number_of(thread_of(r, 1), "beats") == 0);
  cr_assert(number_of(thread_of(r, 2), "beats") == 1);
  cr_assert(size_of(thread_of(r, 2), "rate") == 0);
}

Test(command_rate, tables_and_csv_say_the_same) {
  write_text("r.csv", three_threads);
  outcome o = tsanom("rate r.csv -w 2");
  static const char answer[] = "0.4286 beats per second: 4 beats in 7 s; one thread.\n";
  cr_assert(!strncmp(o.out, answer, sizeof answer - 1), "%s", o.out);
  cr_assert(o.status == 0 && strstr(o.out, "0.666667") && strstr(o.out, "too few"), "%s",
            o.out);
  o = tsanom("rate - -w 3 --csv <r.csv");
  char expected[128];
  snprintf(expected, sizeof expected, "thread,beat,time,rate\n0,3,8,%.17g\n", 3.0 / 7);
  cr_assert(o.status == 0 && !strcmp(o.out, expected), "%s", o.out);
}

/* Beats of two threads, and what the first line says. */
typedef struct {
  size_t beats[2];
  double first[2], period[2];
  const char *answer;
} pace_case;

Test(command_rate, threads_are_compared_in_the_time_that_they_have_in_common) {
  static const pace_case cases[] = {
      {{100, 100},
       {0, 0.1},
       {1, 1},
       "1 beats per second: 100 beats in 99 s; 2 threads, equ"},
      {{100, 100},
       {0, 0},
       {1, 0.5},
       "2 beats per second: 100 beats in 49.5 s; 2 threads, "
       "thread 0 50 % slower"},
      {{400, 2},
       {0, 5},
       {0.1, 0},
       "10 beats per second: 400 beats in 39.9 s; one thread."},
      {{400, 2}, {0, 5}, {0.1, 1e-3}, "10 beats per second: 400 beats in 39.9 s; one"},
      {{50, 50},
       {0, 100},
       {1, 2},
       "1 beats per second: 50 beats in 49 s; 2 threads, "
       "thread 1 50 % slower"},
      /* Iterations become shorter: thread 1 has not seen the first, long ones. */
      {{220, 213},
       {0, 0},
       {0, 0},
       "109.5 beats per second: 220 beats in 2 s; 2 threads, equ"},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    const pace_case *c = &cases[k];
    FILE *file = fopen("r.csv", "w");
    cr_assert(file && fputs("thread,time\n", file) >= 0);
    bool is_slow_first = c->period[0] == 0;
    for (size_t t = 0; t < 2; t++) {
      for (size_t i = 0; i < c->beats[t]; i++) {
        double number = (double)(220 - c->beats[t] + i);
        double time = is_slow_first ? 2 * sqrt(number / 219)
                                    : c->first[t] + (double)i * c->period[t];
        (void)fprintf(file, "%zu,%.17g\n", t, time);
      }
    }
    cr_assert(fclose(file) == 0);
    outcome o = tsanom_ok("rate r.csv");
    cr_assert(!strncmp(o.out, c->answer, strlen(c->answer)), "%zu: %s", k, o.out);
  }
}

/* Threads make the same iterations, of any length, each a little later, and one of them not the first;
 * none of them is slower. */
Test(command_rate, threads_of_the_same_iterations_are_equally_fast) {
  enum { TRIALS = 40 };
  uint64_t seed = 11;
  for (int trial = 0; trial < TRIALS; trial++) {
    size_t beats = random_between(&seed, 10, 300), missed = random_between(&seed, 0, 3);
    double now = 0, next = 0;
    FILE *file = fopen("r.csv", "w");
    cr_assert(file && fputs("thread,time\n", file) >= 0);
    for (size_t i = 0; i < beats; i++, now = next) {
      next = now + pow(fmax(1e-3, random_unit(&seed)), -2);
      (void)fprintf(file, "0,%.17g\n", now + (next - now) * random_unit(&seed));
      if (i >= missed)
        (void)fprintf(file, "1,%.17g\n", now + (next - now) * random_unit(&seed));
    }
    cr_assert(fclose(file) == 0);
    CHECK_PRINTS(tsanom("rate r.csv"), "2 threads, equally fast.");
  }
}

/* Of two threads that work one after the other, the time that they have in common has too few beats. */
Test(command_rate, a_few_beats_in_common_compare_no_threads) {
  shell_ok(
      "awk 'BEGIN { print \"thread,time\"; print \"1,39.65\\n1,39.9\"; "
      "for (i = 0; i < 400; i++) print \"0,\" i / 10 \"\\n1,\" 40 + i / 10 }' >r.csv");
  CHECK_PRINTS(tsanom("rate r.csv"), "2 threads, equally fast.");
}

Test(command_rate, a_pipe_is_read_once) {
  shell_ok("mkfifo f; (printf 'thread,time\\n0,1\\n0,abc\\n' >f) &");
  CHECK_REJECTED(tsanom("rate f"), 3, "f:3: column 2: \"abc\"");
}

Test(command_rate, a_run_folder_is_read) {
  cr_assert(tsanom_heartbeat_init("run", 2, NULL, NULL) == TSANOM_OK);
  for (uint32_t i = 0; i < 500; i++) {
    cr_assert(tsanom_heartbeat_beat((int32_t)(i % 2), i) == TSANOM_OK);
  }
  cr_assert(tsanom_heartbeat_finish() == TSANOM_OK);
  json_t *r = tsanom_json("rate run --json");
  cr_assert(number_of(r, "window") == 3);
  for (size_t t = 0; t < 2; t++) {
    const json_t *thread = thread_of(r, t);
    cr_assert(number_of(thread, "beats") == 250);
    cr_assert(size_of(thread, "rate") == 247);
    cr_assert(item(thread, "rate", 100) > 0 && item(thread, "time", 0) > 0);
  }
}

/* What the table prints is the last of what JSON has, and memory the most. */
Test(command_rate, vital_signs_are_those_of_the_run) {
  cr_assert(tsanom_heartbeat_init("run", 2, NULL, NULL) == TSANOM_OK);
  for (uint32_t i = 0; i < 500; i++) (void)tsanom_heartbeat_beat((int32_t)(i % 2), i);
  cr_assert(tsanom_heartbeat_finish() == TSANOM_OK);
  json_t *r = tsanom_json("rate run --vitals --json");
  const json_t *process = json_object_get(r, "vitals");
  size_t samples = size_of(process, "time");
  cr_assert(samples >= 2 && item(process, "anonymous", samples - 1) > 0);
  cr_assert(item(process, "resident", 0) >= item(process, "anonymous", 0));
  cr_assert(json_is_null(item_of(process, "wait_s", 0)));
  const json_t *last = json_object_get(thread_of(r, 1), "vitals");
  size_t count = size_of(last, "cpu_s");
  cr_assert(count >= 1 && item(last, "cpu_s", count - 1) > 0);
  outcome o = tsanom("rate run --vitals");
  char expected[64];
  snprintf(expected, sizeof expected, "      1  %8zu %9.4g", count,
           item(last, "cpu_s", count - 1));
  cr_assert(strstr(o.out, expected) && strstr(o.out, "\nprocess"), "%s", o.out);
  write_text("r.csv", three_threads);
  CHECK_REJECTED(tsanom("rate r.csv -w 1 --vitals"), 3, "r.csv", "no vital signs");
  CHECK_REJECTED(tsanom("rate run --csv --vitals"), 2, "exclude");
}

Test(command_rate, draws_a_picture) {
  write_text("r.csv", three_threads);
  tsanom_ok("rate r.csv -w 1 --plot p.svg");
  check_svg("p.svg");
}

Test(command_rate, windows_that_do_not_fit_are_rejected) {
  write_text("r.csv", three_threads);
  CHECK_REJECTED(tsanom("rate r.csv --window 0"), 2, "--window", "at least 1");
  CHECK_REJECTED(tsanom("rate r.csv --window -1"), 2, "--window");
  CHECK_REJECTED(tsanom("rate r.csv --window 4"), 3, "r.csv", "4 beats", "at least 5");
  CHECK_REJECTED(tsanom("rate r.csv --csv --json"), 2, "exclude");
  CHECK_REJECTED(tsanom("rate"), 2, "one run");
}

/* The place of a bad line is said as in other commands; which lines are bad: tests/runs. */
Test(command_rate, bad_runs_are_rejected) {
  write_text("r.csv", "thread,time\n0,3\n1,2\n0,2\n");
  CHECK_REJECTED(tsanom("rate r.csv -w 1"), 3, "r.csv:4: column 2: \"2\"",
                 "must not decrease");
  write_text("r.csv", "thread,time\n0,3\n0,3\n");
  CHECK_REJECTED(tsanom("rate r.csv -w 1"), 3, "r.csv: thread 0", "same time");
  mkdir("empty", 0777);
  CHECK_REJECTED(tsanom("rate empty"), 3, "empty/heartbeat.run");
  CHECK_REJECTED(tsanom("rate missing"), 3, "missing: ", "No such file");
}

Test(command_rate, a_damaged_run_names_file_and_what_is_expected) {
  cr_assert(tsanom_heartbeat_init("run", 1, NULL, NULL) == TSANOM_OK);
  for (uint32_t i = 0; i < 10; i++) tsanom_heartbeat_beat(0, i);
  cr_assert(tsanom_heartbeat_finish() == TSANOM_OK);
  shell_ok(
      "f=$(ls -d run/* | grep -v heartbeat.run | head -n 1); printf X | dd of=$f bs=1 "
      "seek=1 conv=notrunc 2>/dev/null");
  CHECK_REJECTED(tsanom("rate run"), 3, "run/heartbeat.00000", "TSNHBSTR");
}
