/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom period: loops and periods that were written to the file, also late or in noise,
 * and the advice where none is found. The poll while a long file is read is tested
 * through the functions of the command. */
#include <criterion/criterion.h>
#include <math.h>
#include <periods.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"
#include "support/exec.h"
#include "support/random.h"

TestSuite(command_period, .init = enter_folder, .fini = leave_folder);

/* "a b b b b ... c" ten times after two words of prologue. */
static void write_events(const char *name, const char *header) {
  FILE *file = fopen(name, "w");
  fprintf(file, "%sstart\nload\n", header);
  for (int i = 0; i < 10; i++) {
    fprintf(file, "a\n");
    for (int k = 0; k < 12; k++) fprintf(file, "b\n");
    fprintf(file, "c\n");
  }
  fclose(file);
}

static void write_values(const char *name, int count) {
  FILE *file = fopen(name, "w");
  for (int i = 0; i < count; i++) fprintf(file, "%.6f\n", sin(2 * M_PI * i / 25));
  fclose(file);
}

Test(command_period, loops_of_events) {
  write_events("e.txt", "");
  json_t *result = tsanom_json("period --events e.txt --json");
  cr_assert(number_of(result, "samples") == 142);
  cr_assert(size_of(result, "periods") == 2);
  const json_t *inner = item_of(result, "periods", 0),
               *outer = item_of(result, "periods", 1);
  cr_assert(number_of(inner, "period") == 1 && number_of(inner, "level") == 1);
  cr_assert(number_of(inner, "loops") == 10 && number_of(inner, "samples") == 120);
  cr_assert(number_of(inner, "first") == 3 && number_of(inner, "last") == 140);
  cr_assert(number_of(outer, "period") == 14 && number_of(outer, "level") == 2);
  cr_assert(number_of(outer, "first") == 2 && number_of(outer, "last") == 141);
  cr_assert(size_of(result, "segments") == 1);
  const json_t *segment = item_of(result, "segments", 0);
  cr_assert(number_of(segment, "first") == 2 && number_of(segment, "last") == 141 &&
            number_of(segment, "period") == 14);
  cr_assert(size_of(result, "next") == 14);
  cr_assert_str_eq(json_string_value(item_of(result, "next", 0)), "a");
  cr_assert_str_eq(json_string_value(item_of(result, "next", 13)), "c");
}

/* Both loops begin with the first event; the outer one is found when the inner one has
 * ended. */
Test(command_period, a_loop_replaces_one_inside_that_begins_with_it) {
  FILE *file = fopen("e.txt", "w");
  for (int i = 0; i < 130; i++) fprintf(file, "%s\n", i % 13 < 12 ? "b" : "c");
  fclose(file);
  json_t *result = tsanom_json("period --events --json e.txt");
  cr_assert(size_of(result, "segments") == 1);
  const json_t *segment = item_of(result, "segments", 0);
  cr_assert(number_of(segment, "first") == 0 && number_of(segment, "period") == 13);
}

Test(command_period, a_column_of_a_table) {
  write_events("e.csv", "region\n");
  json_t *result = tsanom_json("period --events --column region e.csv --json --next 3");
  cr_assert(number_of(result, "samples") == 142);
  cr_assert(size_of(result, "next") == 3);
}

Test(command_period, period_of_values) {
  write_values("v.txt", 400);
  json_t *result = tsanom_json("period v.txt --json");
  cr_assert(size_of(result, "periods") == 1);
  cr_assert(number_of(item_of(result, "periods", 0), "period") == 25);
  cr_assert(fabs(json_number_value(item_of(result, "next", 0))) < 1e-6);
  outcome whole = tsanom("period v.txt");
  cr_assert(!strncmp(whole.out, "Period 25: ", 11), "%s", whole.out);
  json_t *sliding = tsanom_json("period v.txt --json --window 100");
  cr_assert(number_of(item_of(sliding, "periods", 0), "period") == 25);
  static const char *const of_windows[] = {"--depth 0.5", "--adapt"};
  for (size_t i = 0; i < 2; i++) {
    CHECK_PRINTS(tsanom("period v.txt %s", of_windows[i]), "400 samples, window 400\n");
  }
}

/* Where the second of two periods is found. */
static double second_found(const char *option) {
  json_t *result = tsanom_json("period two.txt --json --window 400 %s", option);
  cr_assert(size_of(result, "periods") == 2);
  cr_assert(number_of(item_of(result, "periods", 0), "period") == 20);
  cr_assert(number_of(item_of(result, "periods", 1), "period") == 23);
  double first = number_of(item_of(result, "periods", 1), "first");
  return first;
}

Test(command_period, a_window_that_adapts_overcomes_a_break_sooner) {
  FILE *file = fopen("two.txt", "w");
  for (int i = 0; i < 2000; i++) {
    int place = i < 1200 ? i % 20 : 20 + i % 23;
    fprintf(file, "%d\n", place * place * 7919 % 101);
  }
  fclose(file);
  double fixed = second_found(""), adapted = second_found("--adapt");
  cr_assert(adapted > 1200 && adapted < 1300 && fixed > 1400, "%g, %g", adapted, fixed);
}

Test(command_period, no_period_is_said) {
  write_text("v.txt", "1\n2\n4\n8\n16\n");
  outcome o = tsanom_ok("period v.txt");
  cr_assert(strstr(o.out, "no period") != NULL);
  json_t *result = tsanom_json("period v.txt --json");
  cr_assert(size_of(result, "periods") == 0);
  cr_assert(size_of(result, "next") == 0);
}

Test(command_period, pictures) {
  write_events("e.txt", "");
  write_values("v.txt", 400);
  tsanom_ok("period --events e.txt --plot e.svg");
  check_svg("e.svg");
  tsanom_ok("period v.txt --plot v.svg");
  check_svg("v.svg");
}

Test(command_period, pictures_of_little) {
  write_text("one.txt", "7\n");
  write_text("same.txt", "7\n7\n7\n7\n7\n7\n7\n7\n7\n7\n7\n7\n");
  const char *const calls[] = {
      "period one.txt --plot p.svg", "period --events one.txt --plot p.svg",
      "period same.txt --window 4 --plot p.svg", "period --events same.txt --plot p.svg"};
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    outcome o = tsanom("%s", calls[i]);
    cr_assert(o.status == 0 && o.err[0] == '\0', "%s: %s", calls[i], o.err);
    check_svg("p.svg");
  }
}

typedef struct {
  int calls;
  uint64_t done, total;
  int stop_at; /* the call that asks to stop; 0: none does */
} watcher;

static int32_t watch(void *user, uint64_t done, uint64_t total) {
  watcher *w = user;
  cr_assert(done >= w->done);
  w->done = done;
  w->total = total;
  return ++w->calls == w->stop_at;
}

static int read_watched(watcher *w, failure *why) {
  tsanom_exec exec = exec_polled(watch, w);
  period_request request = {.path = "long.txt", .events = 1, .exec = &exec};
  period_stream s = {0};
  int failed = period_stream_read(&s, &request, why);
  period_stream_free(&s);
  return failed;
}

Test(command_period, a_long_file_is_watched_and_can_be_stopped) {
  FILE *file = fopen("long.txt", "w");
  for (int i = 0; i < 100000; i++) fprintf(file, "%d\n", i % 10);
  fclose(file);
  failure why = {""};
  watcher w = {0};
  cr_assert(read_watched(&w, &why) == 0);
  cr_assert(w.calls == 8 && w.done == 200000 && w.total == 200000, "%d calls", w.calls);
  w = (watcher){.stop_at = 3};
  cr_assert(read_watched(&w, &why) != 0);
  cr_assert(w.calls == 3 && w.done < 200000 && w.total == 200000);
  cr_assert(strstr(why.text, "long.txt:32769: stopped") != NULL, "%s", why.text);
}

Test(command_period, bad_input) {
  write_text("empty.txt", "");
  write_text("word.txt", "1\n2\nthree\n");
  write_text("mixed.txt", "1\n2,3\n");
  write_text("table.csv", "a,b\n1,2\n3\n");
  CHECK_REJECTED(tsanom("period empty.txt"), 3, "empty.txt", "at least one");
  CHECK_REJECTED(tsanom("period --events empty.txt"), 3, "empty.txt", "no events");
  CHECK_REJECTED(tsanom("period word.txt"), 3, "word.txt:3", "column 1", "three");
  CHECK_REJECTED(tsanom("period mixed.txt"), 3, "mixed.txt:2", "2 fields");
  CHECK_REJECTED(tsanom("period table.csv --column b"), 3, "table.csv:3", "1 fields");
  CHECK_REJECTED(tsanom("period table.csv --column c"), 3, "table.csv:1", "\"c\"");
  CHECK_REJECTED(tsanom("period none.txt"), 3, "none.txt");
  check_status(tsanom("period word.txt --window 0"), 2);
  check_status(tsanom("period --events word.txt --depth 0.5"), 2);
  check_status(tsanom("period --events word.txt --adapt"), 2);
  check_status(tsanom("period word.txt --depth 1"), 2);
  check_status(tsanom("period"), 2);
}

/* A sine of period 25 in noise of the same variance, from sample `first` on. */
static void write_noisy(const char *name, int count, int first) {
  FILE *file = fopen(name, "w");
  uint64_t seed = 7;
  for (int i = 0; i < count; i++) {
    double noise = 0;
    for (int k = 0; k < 12; k++) noise += random_unit(&seed) - .5;
    double wave = i < first ? 0 : sin(2 * M_PI * i / 25) * sqrt(2);
    fprintf(file, "%.6f\n", wave + noise);
  }
  fclose(file);
}

Test(command_period, values_in_noise) {
  write_noisy("noisy.txt", 1000, 0);
  json_t *result = tsanom_json("period noisy.txt --json");
  cr_assert(size_of(result, "periods") == 1);
  const json_t *period = item_of(result, "periods", 0);
  cr_assert(number_of(period, "period") == 25 && number_of(period, "samples") == 1000);
  cr_assert(number_of(period, "first") == 0 && number_of(period, "last") == 999);
  cr_assert(size_of(result, "next") == 25);

  write_noisy("none.txt", 1000, 1000);
  outcome o = tsanom("period none.txt");
  cr_assert(strstr(o.out, "no period of up to 250 samples") != NULL, "%s", o.out);
}

Test(command_period, a_period_that_begins_later) {
  write_noisy("later.txt", 4000, 2000);
  json_t *result = tsanom_json("period later.txt --json");
  const json_t *segments = json_object_get(result, "segments");
  cr_assert(json_array_size(segments) >= 1);
  size_t at = json_array_size(segments) - 1;
  cr_assert(number_of(item_of(result, "segments", at), "period") == 25);
  cr_assert(number_of(item_of(result, "segments", at), "last") == 3999);
}

/* A window needs all of its samples besides those of the period. */
Test(command_period, says_how_many_samples_a_period_needs) {
  outcome o;
  for (size_t count = 107; count <= 108; count++) {
    o = tsanom_ok("period --window 100 $(seq 0 %zu | awk '{ print $1 %% 7 }' >s; echo s)",
                  count - 1);
    const char *advice = strstr(o.out, "needs more than 100 + p samples");
    cr_assert(count == 107 ? advice != NULL : advice == NULL, "%zu: %s", count, o.out);
  }
  o = tsanom("period --events - <s");
  cr_assert(o.status == 0 && !strstr(o.out, "no period"), "%s", o.out);
  write_text("few", "a\nb\na\nb\n");
  CHECK_PRINTS(tsanom("period --events few"), "at least 3 repetitions and 8 events");
}

Test(command_period, reports_that_the_limit_binds) {
  write_noisy("noisy.txt", 1000, 0);
  outcome o = CHECK_PRINTS(tsanom("period noisy.txt --max-period 24"),
                           "periods up to 24, the limit of --max-period");
  cr_assert(strstr(o.out, "no period of up to 24 samples"), "%s", o.out);
  CHECK_PRINTS(tsanom("period noisy.txt --max-period 25"), "segments: 0-999 by 25");
  CHECK_PRINTS(tsanom("period noisy.txt --max-period 400"), "periods up to 250\n");
  check_status(tsanom("period noisy.txt --max-period 24 --window 23"), 2);
  CHECK_REJECTED(tsanom("period noisy.txt --max-period 401 --depth 0.5"), 3,
                 "--max-period: at most the --window, by default 400 samples");
  check_status(tsanom("period noisy.txt --active"), 2);
}
