/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops of recorded programs whose iterations differ: their main loop, beats, baseline.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tsanom/hsa.h>
#include <unistd.h>

#include "recorded.h"

TestSuite(record_loops, .init = enter_folder, .fini = leave_folder, .timeout = 240);

/* A region's last call is a jump: it returns to whatever called the region's function. */
Test(record_loops, worksharing_that_a_function_ends_with_has_its_place) {
  FOR_EACH_WAY(c, "tails") {
    cr_assert(record(c, "-o run.%d -- ./tails", c).status == 0);
    json_t *r = tsanom_json("speedup run.%d --level worksharing --json", c);
    const json_t *loop = first_region(r);
    cr_assert(size_of(r, "regions") == 1);
    cr_assert(number_of(loop, "period") == 3 && number_of(loop, "iterations") == 30);
    cr_assert(strstr(text_of(loop, "start"), "tails.c:"), "%s", text_of(loop, "start"));
  }
}

/* Several places can have one name: without -g a function's name is all there is. */
Test(record_loops, period_distinguishes_places_of_one_name) {
  if (!has_openmp("gcc")) return;
  shell_ok("p=" TSANOM_TEST_PROGRAMS
           "/names.c; o='-O2 -fopenmp -c'; for f in first second third; do gcc $o "
           "-DPART=$f $p -o $f.o; done; gcc -fopenmp $p *.o -o names");
  tsanom_ok("record -o run -- ./names");
  json_t *r = tsanom_json("period run --json");
  const json_t *periods = json_object_get(r, "periods"),
               *next = json_object_get(r, "next");
  cr_assert(json_array_size(periods) == 1);
  cr_assert(number_of(json_array_get(periods, 0), "period") == 3);
  cr_assert_str_eq(text_at(next, 0), text_at(next, 1));
}

/* 6 iterations of 48 + 1128 regions. */
Test(record_loops, long_iterations_are_found_without_an_option) {
  if (!build_program("gcc", "varied")) return;
  tsanom_ok("record -o run -- ./varied triangle");
  json_t *r = tsanom_json("period run --json");
  const json_t *periods = json_object_get(r, "periods");
  size_t last = json_array_size(periods) - 1;
  cr_assert(number_of(json_array_get(periods, last), "period") == 1176);
  cr_assert(number_of(json_array_get(periods, last), "samples") == 6 * 1176);
  cr_assert(strstr(tsanom("period run --window 100").out, "window 100"));
}

/* The main loop of each way of varied.c, in this order. "late" begins with an inner loop, which
 * its iterations end with here: the last one has none. */
static const struct {
  const char *how;
  int iterations, least, most, parts;
} varied[] = {{"triangle", 6 * 48, 1, 48, 2},
              {"solver", 25, 11, 23, 7},
              {"adapted", 51, 6, 8, 8},
              {"summary", 87, 6, 7, 7},
              {"late", 40, 6, 106, 7}};

/* The object that both commands print. */
static void check_main_loop(const json_t *result, size_t i) {
  const json_t *loop = json_object_get(result, "main_loop");
  cr_assert(number_of(loop, "iterations") == varied[i].iterations, "%s: %g",
            varied[i].how, number_of(loop, "iterations"));
  cr_assert(number_of(loop, "least") == varied[i].least, "%s", varied[i].how);
  cr_assert(number_of(loop, "most") == varied[i].most, "%s", varied[i].how);
  cr_assert((int)size_of(loop, "parts") == varied[i].parts);
}

/* The solver's loop instead of the steps, by name and by address. */
Test(record_loops, the_main_loop_can_be_named) {
  if (!build_program("gcc", "varied")) return;
  tsanom_ok("record -o run -- ./varied solver");
  json_t *r = tsanom_json("speedup run --json --loop solver._omp_fn.5");
  const json_t *loop = json_object_get(r, "main_loop");
  cr_assert(number_of(loop, "iterations") == 147, "%g", number_of(loop, "iterations"));
  char place[300];
  snprintf(place, sizeof place, "%s", text_of(loop, "place"));
  r = tsanom_json("period run --json --loop %s", place);
  cr_assert(number_of(json_object_get(r, "main_loop"), "iterations") == 147);
  CHECK_REJECTED(tsanom("speedup run --loop main"), 3, "--loop", "no region", "\"main\"");
  check_status(tsanom("period --events --loop a nothing.txt"), 2);
}

/* Compile a program of regions R(0), R(1), ... of two threads as `name`. */
static void build_regions(const char *name, const char *body) {
  char source[2048], file[64];
  (void)snprintf(source, sizeof source,
                 "#include <signal.h>\n"
                 "#include <stdlib.h>\n"
                 "static double u[20];\n"
                 "#define R(k) _Pragma(\"omp parallel num_threads(2)\") u[k] += 1\n"
                 "int main(void) {\n%s}\n",
                 body);
  (void)snprintf(file, sizeof file, "%s.c", name);
  write_text(file, source);
  shell_ok("gcc -O2 -fopenmp %s -o %s", file, name);
}

/* The iterations that each command counts; 0: none. */
static double iterations_by(const char *command, const char *path) {
  outcome o = tsanom("%s --json %s", command, path);
  const char *last = o.out + strlen(o.out) - 1;
  while (last > o.out && last[-1] != '\n') last--;
  json_t *r = json_loads(strcmp(command, "watch") == 0 ? last : o.out, 0, NULL);
  cr_assert(o.status == 0 && r, "%s: %s%s", command, o.out, o.err);
  const json_t *loop = json_object_get(r, "main_loop"), *thread;
  double count = 0;
  size_t i;
  if (strncmp(command, "summary", 7) == 0) {
    loop = json_object_get(item_of(r, "runs", 0), "loop");
  }
  json_array_foreach(json_object_get(r, "threads"), i, thread) {
    count = fmax(count, number_of(thread, "beats"));
  }
  if (strcmp(command, "watch") == 0) {
    count = number_of(r, "iteration");
  } else if (loop && !json_is_null(loop)) {
    count = number_of(loop, "iterations");
  }
  json_decref(r);
  return count;
}

/* Other commands count the same iterations, but for one at the end. One beat is one iteration of
 * the main loop, also before it was found; those of inner loops, which were followed before, are
 * not shown. The first one of `adapted` differs. */
static void check_counts(const char *how, int iterations) {
  static const char *const commands[] = {"summary", "watch"};
  for (size_t k = 0; k < sizeof commands / sizeof *commands; k++) {
    double count = iterations_by(commands[k], how);
    cr_assert(fabs(count - iterations) <= 1, "%s %s: %g", commands[k], how, count);
  }
  for (size_t thread = 0; thread < 2; thread++) {
    size_t beats = analyzed_beats(how, thread), most = (size_t)iterations;
    cr_assert(beats + 1 >= most && beats <= most, "%s: %zu of %zu", how, beats, most);
  }
}

Test(record_loops, loops_whose_iterations_differ_are_one_loop) {
  if (!build_program("gcc", "varied")) return;
  for (size_t i = 0; i < sizeof varied / sizeof *varied; i++) {
    const char *how = varied[i].how;
    tsanom_ok("record -o %s -- ./varied %s", how, how);
    json_t *r = tsanom_json("speedup %s --json", how);
    check_main_loop(r, i);
    cr_assert(number_of(first_region(r), "iterations") == varied[i].iterations);
    const json_t *p = json_object_get(r, "prediction");
    cr_assert(number_of(p, "expected") == varied[i].iterations, "%s", how);
    cr_assert(number_of(p, "remaining_s") == 0, "%s", how);
    check_main_loop(tsanom_json("period %s --json", how), i);
    CHECK_PRINTS(tsanom("speedup %s", how), "main loop: ", "not measured");
    if (i > 0) check_counts(how, varied[i].iterations);
  }
}

/* Four cycles of two inner loops, as those of a multigrid, are too few. While the program runs,
 * and if it is killed, those of one of the inner loops count; a program that ends takes them
 * back, and says so once. A region that loses its processor for long may give its loop most of the time. */
Test(record_loops, iterations_of_no_main_loop_are_taken_back) {
  enum { TRIES = 5 };
  if (!has_openmp("gcc")) return;
  build_regions("cycles",
                "  for (int c = 0; c < 4; c++) {\n"
                "    for (int k = 0; k < 8; k++) { R(0); R(1); }\n"
                "    for (int k = 0; k < 8; k++) { R(1); R(2); R(3); R(4); R(1); }\n"
                "  }\n"
                "  if (getenv(\"DIES\")) raise(SIGKILL);\n");
  static const char *const commands[] = {"speedup", "period", "summary"};
  bool is_none = false;
  for (int try = 0; try < TRIES && !is_none; try++) {
    shell_ok("rm -rf run");
    tsanom_ok("record -o run -- ./cycles");
    is_none = true;
    for (size_t k = 0; k < sizeof commands / sizeof *commands; k++)
      is_none &= iterations_by(commands[k], "run") == 0;
  }
  cr_assert(is_none);
  tsanom_runs_info info;
  tsanom_runs *run = open_run("run", &info);
  const tsanom_hsa_run *beats = hsa_of(run);
  size_t shown = 0;
  for (size_t t = 0; t < beats->thread_count; t++) shown += beats->threads[t].beats;
  cr_assert(info.beats > 32 && shown == info.beats_by_time);
  outcome o = tsanom("speedup run");
  cr_assert(strncmp(o.out, "No main loop is clear; ", 23) == 0, "%s", o.out);
  o = tsanom("summary run");
  const char *message = "are taken back";
  const char *said = strstr(o.out, message);
  cr_assert(said && !strstr(said + 1, message), "%s", o.out);
  cr_assert(shell("DIES=1 tsanom record -o killed -- ./cycles >/dev/null 2>&1") != 0);
  cr_assert(analyzed_beats("killed", 0) > 16);
}

/* Iterations of minutes and hours: those from before the loop was found began longer ago than a beat
 * can say. */
Test(record_loops, iterations_may_take_hours) {
  enum { ITERATIONS = 12 };
  static const char *const commands[] = {"speedup", "period", "summary", "watch"};
  static const int factors[] = {1, 1000, 100000};
  if (!has_openmp("gcc")) return;
  build_regions("slow",
                "  for (int k = 0; k < 12; k++) {\n"
                "    R(0); R(1); R(2);\n"
                "    for (volatile long i = 0; i < 30000000; i++);\n"
                "  }\n");
  for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
    make_time_long("CLOCK_MONOTONIC", factors[i]);
    shell_ok("rm -rf run; LD_PRELOAD=./long.so tsanom record -o run -- ./slow 2>err");
    for (size_t k = 0; k < sizeof commands / sizeof *commands; k++) {
      double count = iterations_by(commands[k], "run");
      cr_assert(count == ITERATIONS, "%d, %s: %g", factors[i], commands[k], count);
    }
  }
}

/* Few steps around an inner loop: its iterations are counted first, and the steps replace them
 * when the program ends, also after hours. */
Test(record_loops, iterations_of_an_inner_loop_are_replaced_at_the_end) {
  static const int factors[] = {1, 100000};
  if (!has_openmp("gcc")) return;
  build_regions("steps",
                "  for (int step = 1; step <= 9; step++) {\n"
                "    R(0);\n"
                "    for (int k = 0; k < 5 * step % 7 + 2; k++) { R(1); R(2); }\n"
                "    R(3); R(4);\n"
                "    for (volatile long i = 0; i < 10000000; i++);\n"
                "  }\n");
  static const char *const commands[] = {"speedup", "period", "summary", "watch"};
  for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
    make_time_long("CLOCK_MONOTONIC", factors[i]);
    shell_ok("rm -rf run; LD_PRELOAD=./long.so tsanom record -o run -- ./steps 2>err");
    for (size_t k = 0; k < sizeof commands / sizeof *commands; k++) {
      double count = iterations_by(commands[k], "run");
      cr_assert(count == 9, "%d, %s: %g", factors[i], commands[k], count);
    }
    cr_assert(analyzed_beats("run", 0) == 9 || factors[i] != 1);
    json_t *rate = tsanom_json("rate run --json");
    cr_assert(number_of(item_of(rate, "threads", 1), "beats") == 9);
    CHECK_PRINTS(tsanom("summary run"), "9 iterations replace the 47");
  }
}

/* A loop, and behind it another one of more regions than the recorder keeps: it counts on, and says
 * so at the end. Which of the two is the main loop depends on their times. */
Test(record_loops, iterations_are_of_one_of_two_loops_in_succession) {
  if (!has_openmp("gcc")) return;
  build_regions("loops",
                "  for (int k = 0; k < 300; k++) { R(0); R(1); }\n"
                "  for (int k = 0; k < 20000; k++) R(2);\n");
  tsanom_ok("record -o run -- ./loops");
  static const char *const commands[] = {"speedup", "period", "summary", "rate", "watch"};
  double iterations = iterations_by("speedup", "run");
  cr_assert(iterations == 300 || iterations == 20000, "%g", iterations);
  for (size_t k = 0; k < sizeof commands / sizeof *commands; k++) {
    double count = iterations_by(commands[k], "run");
    cr_assert(fabs(count - iterations) <= 1, "%s: %g of %g", commands[k], count,
              iterations);
  }
  json_t *r = tsanom_json("rate run --json");
  cr_assert(size_of(r, "threads") == 2);
}

/* Such steps in runs without an end: of a program that is killed, waits, or has more of them than
 * --max-size allows, and in files whose ends are lost. All commands count the steps, but for the one
 * that has begun. */
Test(record_loops, commands_count_the_same_iterations_of_runs_without_an_end) {
  static const struct {
    const char *name, *then, *option;
    int signal, is_watched, most;
    const char *record, *steps;
  } kinds[] = {
      {"killed", "wait", "", SIGKILL, 1, 7, "", "9"},
      {"waits", UNTIL_STOPPED, "", SIGSTOP, 0, 7, "", "9"},
      {"cut",
       "wait; for f in run/heartbeat.0* run/regions/heartbeat.0*; do truncate -s -64 $f; "
       "done",
       " --salvage", 0, 0, 47, "", "9"},
      {"full", "wait", "", 0, 1, 399, "--max-size 64K", "400"}};
  static const char *const commands[] = {"speedup", "period", "summary", "rate", "watch"};
  enum { COMMANDS = sizeof commands / sizeof *commands };
  if (!has_openmp("gcc")) return;
  build_regions("steps",
                "  for (int step = 1; step <= atoi(getenv(\"STEPS\")); step++) {\n"
                "    R(0);\n"
                "    for (int k = 0; k < 5 * step % 7 + 2; k++) { R(1); R(2); }\n"
                "    R(3); R(4);\n"
                "    if (step == 7) raise(atoi(getenv(\"SIGNAL\")));\n"
                "  }\n");
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    shell_ok(
        "rm -rf run; { STEPS=%s SIGNAL=%d tsanom record %s -o run -- ./steps >/dev/null "
        "2>&1 & echo $! >pid; }; %s; true",
        kinds[i].steps, kinds[i].signal, kinds[i].record, kinds[i].then);
    double steps = 0;
    for (int k = 0; k < COMMANDS - !kinds[i].is_watched; k++) {
      char command[32];
      (void)snprintf(command, sizeof command, "%s%s", commands[k], kinds[i].option);
      double count = iterations_by(command, "run");
      if (k == 0) steps = count;
      cr_assert(steps >= 5 && steps <= kinds[i].most && fabs(count - steps) <= 1,
                "%s, %s: %g of %g", kinds[i].name, command, count, steps);
    }
    if (kinds[i].signal == SIGSTOP) shell_ok("kill -KILL $(cat pid)");
  }
  /* Beats that were asked for stay. */
  (void)shell(
      "STEPS=9 SIGNAL=9 tsanom record --heartbeat-every 1 -o each -- ./steps >/dev/null "
      "2>&1");
  cr_assert(iterations_by("rate", "each") == 91);
}

/* The events of another run stand for others than those that were counted: they are not read. */
Test(record_loops, the_limit_of_a_run_does_not_cut_the_next_one) {
  if (!has_openmp("gcc")) return;
  build_regions("loop",
                "  for (int k = atoi(getenv(\"STEPS\")); k > 0; k--) { R(0); R(1); }\n");
  shell_ok(
      "STEPS=9000 tsanom record --max-size 64K -o full -- ./loop 2>&1; for n in 300 100; "
      "do STEPS=$n tsanom record -o run$n -- ./loop 2>&1; done; "
      "cp run100/regions/* run300/regions");
  json_t *r = tsanom_json("summary --json full run300");
  const json_t *loop = json_object_get(item_of(r, "runs", 1), "loop");
  cr_assert(iterations_by("summary", "run300") == number_of(loop, "iterations"));
}

Test(record_loops, beats_come_at_the_place_that_is_named) {
  if (!build_program("gcc", "varied")) return;
  tsanom_ok("record -o first -- ./varied solver");
  json_t *r = tsanom_json("speedup first --json --loop solver._omp_fn.5");
  const char *place = text_of(json_object_get(r, "main_loop"), "place");
  tsanom_ok("record --loop %s -o run -- ./varied solver", place);
  cr_assert(analyzed_beats("run", 0) == 147 && analyzed_beats("run", 1) == 147);
  tsanom_ok("record --loop varied+0x1 -o none -- ./varied solver");
  cr_assert(beats_of("none", 0) == 0);
  tsanom_ok("record --beat-at time -o time -- ./varied solver");
  cr_assert(beats_of("time", 0) == 0 && access("time/regions/time-beats", F_OK) == 0);
}

/* A function of the program, with and without the line that speedup prints behind it. */
Test(record_loops, the_place_of_beats_has_a_name) {
  if (!build_program("gcc", "varied")) return;
  static const char *const names[] = {"--loop solver._omp_fn.5",
                                      "--beat-at 'solver._omp_fn.5 (varied.c:1)'"};
  for (int i = 0; i < 2; i++) {
    tsanom_ok("record %s -o run.%d -- ./varied solver", names[i], i);
    const char *path = run_of(i);
    cr_assert(analyzed_beats(path, 0) == 147 && analyzed_beats(path, 1) == 147);
  }
  CHECK_REJECTED(tsanom("record --loop none -o x -- ./varied"), 3, "--loop",
                 "no function \"none\"", "MODULE+0xADDRESS");
  shell_ok("strip -o stripped varied");
  CHECK_REJECTED(tsanom("record --loop none -o x -- ./stripped"), 3, "--loop",
                 "stripped has no symbols", "MODULE+0xADDRESS");
  shell_ok("p=" TSANOM_TEST_PROGRAMS
           "/names.c; o='-O2 -fopenmp -c'; for f in first second third; do gcc $o "
           "-DPART=$f $p -o $f.o; done; gcc -fopenmp $p *.o -o names");
  CHECK_REJECTED(tsanom("record --loop work._omp_fn.0 -o x -- ./names"), 3, "--loop",
                 "3 functions", "names+0x");
}

/* The program stops itself behind iterations that are not of the main loop; then the watch begins,
 * which counts `early` of them, and resumes it. Those of the main loop are counted from the first
 * one on, which is reported once. */
static void check_recount(const char *body, double early, double all) {
  build_regions("moves", body);
  shell_ok(
      "rm -rf run; { tsanom record -o run -- ./moves 2>/dev/null & echo $! >pid; } "
      "&& " UNTIL_STOPPED);
  outcome o = tsanom(
      "watch --wait --every 0.05 --json --on-anomaly 'kill -CONT $(cat pid)' run >lines");
  const char *message = "were not of the main loop, of which ";
  const char *warned = strstr(o.err, message);
  cr_assert(o.status == 0 && warned && !strstr(warned + 1, message), "%s", o.err);
  double last = 0;
  bool had_early = false;
  size_t i;
  const json_t *line;
  json_array_foreach(json_lines("lines"), i, line) {
    last = number_of(line, "iteration");
    had_early = had_early || (last >= early - 1 && last <= early + 1);
  }
  json_t *r = tsanom_json("speedup run --json");
  double offline = number_of(json_object_get(r, "main_loop"), "iterations");
  cr_assert(had_early && last == all && offline == all, "%g, %g", last, offline);
  cr_assert(analyzed_beats("run", 1) == (size_t)all);
}

/* A program begins its beats first: a watch that finds these later sees regions whose files are
 * still empty. The program stops itself until then. */
Test(record_loops, a_watch_does_not_read_regions_that_are_just_begun) {
  if (!has_openmp("gcc")) return;
  write_text("stops.c",
             "#include <signal.h>\n"
             "static double u[20];\n"
             "int main(void) {\n"
             "  for (int i = 0; i < 200; i++) {\n"
             "    _Pragma(\"omp parallel num_threads(2)\") u[0] += 1;\n"
             "    if (i == 100) raise(SIGSTOP);\n"
             "  }\n"
             "}\n");
  shell_ok(
      "gcc -O2 -fopenmp stops.c -o stops && { tsanom record -o run -- ./stops "
      "2>/dev/null & echo $! >pid; } && " UNTIL_STOPPED " && mv run/regions aside");
  outcome o = tsanom(
      "watch --wait --every 0.05 --on-anomaly 'test -d run/regions || { cp -r aside "
      "begun && : >begun/places.tsv && mv begun run/regions; }; kill -CONT $(cat pid)' "
      "run");
  cr_assert(o.status == 0 && !strstr(o.err, "places.tsv") && strstr(o.out, "finished, "),
            "%d %s%s", o.status, o.out, o.err);
}

Test(record_loops, a_watch_counts_anew_when_the_main_loop_is_found) {
  if (!has_openmp("gcc")) return;
  /* The inner loop is found in the first of 14 steps. */
  check_recount(
      "  for (int i = 0; i < 14; i++) {\n"
      "    R(0);\n"
      "    for (int k = 0; k < (i ? 8 : 267); k++) { R(1); }\n"
      "    R(2);\n"
      "    if (i == 0) raise(SIGSTOP);\n"
      "  }\n",
      267, 14);
  /* What comes in each third step at first comes by chance later. */
  check_recount(
      "  unsigned seed = 1;\n"
      "  for (int i = 0; i < 600; i++) {\n"
      "    R(0); R(1); R(2); R(3); R(4); R(5);\n"
      "    seed = seed * 1664525 + 1013904223;\n"
      "    if (i < 60 ? i % 3 == 2 : (seed >> 16) % 4 == 0) {\n"
      "      R(6); R(7); R(8); R(9); R(10); R(11); R(12); R(13); R(14);\n"
      "    }\n"
      "    if (i == 59) raise(SIGSTOP);\n"
      "  }\n",
      20, 600);
}

/* Inner loops do not use the baseline up. */
Test(record_loops, the_baseline_is_iterations_of_the_main_loop) {
  if (!build_program("gcc", "varied")) return;
  for (size_t i = 1; i < sizeof varied / sizeof *varied; i++) {
    const char *how = varied[i].how;
    tsanom_ok("record --baseline 1:6 -o %s -- ./varied %s", how, how);
    json_t *r = tsanom_json("speedup %s --json", how);
    const json_t *loop = first_region(r);
    cr_assert(number_of(loop, "iterations") == varied[i].iterations, "%s", how);
    cr_assert(number_of(loop, "baseline_threads") == 1, "%s", how);
    cr_assert(number_of(loop, "current_threads") == 2, "%s", how);
    cr_assert(number_of(loop, "speedup") > 0, "%s", how);
  }
}

/* With two threads, every fourth iteration sleeps twenty times as long: unless the
 * machine is too busy, the latest medians and the whole loop differ in one of the loops
 * that are found, four regions or one region long, which is explained.
 */
Test(record_loops, the_whole_loop_is_compared_besides_the_latest_iterations) {
  if (!has_openmp("gcc")) return;
  write_text("sleeps.c",
             "#include <unistd.h>\n"
             "static double u[2];\n"
             "int main(void) {\n"
             "  for (int i = 0; i < 60; i++) {\n"
             "#pragma omp parallel num_threads(i < 20 ? 1 : 2)\n"
             "    u[0] += i;\n"
             "    usleep(i >= 20 && i % 4 == 3 ? 20000 : 1000);\n"
             "  }\n"
             "}\n");
  shell_ok("gcc -O2 -fopenmp sleeps.c -o sleeps");
  tsanom_ok("record -o run -- ./sleeps");
  json_t *r = tsanom_json("speedup run --json");
  bool differs = false;
  size_t i;
  const json_t *loop;
  json_array_foreach(json_object_get(r, "regions"), i, loop) {
    double whole = number_of(loop, "whole_speedup");
    cr_assert(whole ==
              number_of(loop, "baseline_mean_s") / number_of(loop, "current_mean_s"));
    differs |= fabs(whole / number_of(loop, "speedup") - 1) > 0.05;
  }
  outcome o = tsanom("speedup run");
  bool is_explained = strstr(o.out, "\nspeedup: by the medians") != NULL;
  cr_assert(strstr(o.out, " whole loop ") && is_explained == differs, "%s", o.out);
}

/* An iteration of 33 regions is not compared with one of 13, one of 18 is. Two regions
 * beside the inner loop make it a loop of its own, and not steps of which some have one
 * region more. */
Test(record_loops, iterations_of_twice_as_many_regions_are_no_baseline) {
  static const struct { int regions, is_compared; } other[] = {{15, 1}, {30, 0}};
  if (!has_openmp("gcc")) return;
  write_text("inner.c",
             "#include <stdlib.h>\n"
             "static double u[2];\n"
             "int main(int argc, char **argv) {\n"
             "  for (int i = 0; i < 20; i++) {\n"
             "#pragma omp parallel\n"
             "    u[0] += i;\n"
             "#pragma omp parallel\n"
             "    u[0] -= 1;\n"
             "#pragma omp parallel\n"
             "    u[0] += 2;\n"
             "    for (int k = 0; k < atoi(argv[argc - 1]); k++) {\n"
             "#pragma omp parallel\n"
             "      u[1] += i;\n"
             "    }\n"
             "  }\n"
             "}\n");
  shell_ok("gcc -O2 -fopenmp inner.c -o inner");
  tsanom_ok("record -o run -- ./inner 10");
  for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
    shell_ok("OMP_NUM_THREADS=1 tsanom record -o %d -- ./inner %d", other[i].regions,
             other[i].regions);
    json_t *r = tsanom_json("speedup run --baseline %d --json", other[i].regions);
    const json_t *speedup = json_object_get(first_region(r), "whole_speedup");
    cr_assert(json_is_real(speedup) == other[i].is_compared, "%d", other[i].regions);
  }
}

/* 60 steps, of which every tenth has a region more in its middle, 3 times or 20 times: steps
 * are the main loop of both. */
Test(record_loops, steps_and_groups_of_steps_are_compared_by_steps) {
  static const char *const pair[][2] = {{"3", "20"}, {"20", "3"}, {"3", "3"}};
  if (!has_openmp("gcc")) return;
  write_text(
      "grouped.c",
      "#include <stdlib.h>\n"
      "static double u[5];\n"
      "#define REGION(n) _Pragma(\"omp parallel\") u[n]++\n"
      "int main(int argc, char **argv) {\n"
      "  for (int i = 0; i < 60; i++) {\n"
      "    REGION(0);\n"
      "    REGION(1);\n"
      "    REGION(2);\n"
      "    for (int k = 0; i % 10 == 9 && k < atoi(argv[argc - 1]); k++) REGION(3);\n"
      "    REGION(4);\n"
      "  }\n"
      "}\n");
  shell_ok("gcc -O2 -fopenmp grouped.c -o grouped");
  for (int i = 3; i <= 20; i += 17) {
    tsanom_ok("record -o run.%d -- ./grouped %d", i, i);
    shell_ok("OMP_NUM_THREADS=1 tsanom record -o one.%d -- ./grouped %d", i, i);
  }
  json_t *alone = tsanom_json("speedup run.20 --json");
  cr_assert(number_of(first_region(alone), "iterations") == 60);
  for (size_t i = 0; i < sizeof pair / sizeof *pair; i++) {
    json_t *r =
        tsanom_json("speedup run.%s --baseline one.%s --json", pair[i][0], pair[i][1]);
    const json_t *loop = first_region(r);
    cr_assert(number_of(loop, "iterations") == 60, "%zu: %g", i,
              number_of(loop, "iterations"));
    cr_assert(json_is_real(json_object_get(loop, "whole_speedup")), "%zu", i);
  }
}

/* Threads that lose their processor between the beats of iterations that are over: each
 * beats later than before, and in each iteration. */
Test(record_loops, beats_of_many_threads_increase) {
  enum { THREADS = 600, STEPS = 20 };
  if (!has_openmp("gcc")) return;
  setenv("OMP_WAIT_POLICY", "passive", 1);
  write_text("many.c",
             "static volatile double sink;\n"
             "int main(void) {\n"
             "  for (int k = 0; k < 20; k++)\n"
             "#pragma omp parallel num_threads(600)\n"
             "    for (int i = 0; i < 20000; i++) sink = i;\n"
             "  return 0;\n"
             "}\n");
  shell_ok("gcc -O2 -fopenmp many.c -o many");
  tsanom_ok("record -o run -- ./many");
  tsanom_runs_info info;
  tsanom_runs *run = open_run("run", &info);
  const tsanom_hsa_run *beats = hsa_of(run);
  cr_assert(beats->thread_count == THREADS);
  for (size_t t = 0; t < THREADS; t++) {
    const tsanom_hsa_series *s = &beats->threads[t];
    cr_assert(s->beats == STEPS, "%zu: %zu", t, s->beats);
    for (size_t i = 1; i < STEPS; i++) cr_assert(s->time[i] > s->time[i - 1], "%zu", t);
  }
}
