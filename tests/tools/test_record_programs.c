/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom record on programs that are unusual: they fork, exit, change teams, or load
 * their runtime late; and programs that cannot be recorded. */
#include <criterion/criterion.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <tsanom/hsa.h>
#include <unistd.h>

#include "record/regions.h"
#include "recorded.h"
#include "support/random.h"

TestSuite(record_programs, .init = enter_folder, .fini = leave_folder, .timeout = 240);

/* Exit status, and whether the program exited inside a region. */
static void check_exit(const char *path, int expected) {
  tsanom_runs_info info;
  tsanom_runs *run = open_run(path, &info);
  const tsanom_hsa_run *beats = hsa_of(run);
  cr_assert(beats->exit_code == expected, "%s: %d, not %d", path, beats->exit_code,
            expected);
}

Test(record_programs, odd_programs_are_defined) {
  /* The parent's 20, and 20 more after its child; the thread's are its own; of a fork
   * before the first region, those of the child, which comes to one first. */
  static const struct {
    const char *deed;
    int events;
  } deeds[] = {{"nested", 20}, {"thread", 20}, {"fork", 40}, {"child", 40}, {"early", 20},
               {"exec", 20},   {"exit", 20},   {"if", 20},   {"cancel", 20}};
  FOR_EACH_WAY(c, "odd") {
    for (size_t d = 0; d < sizeof deeds / sizeof *deeds; d++) {
      const char *deed = deeds[d].deed;
      char path[64], program[32];
      (void)snprintf(path, sizeof path, "%s.%d", deed, c);
      (void)snprintf(program, sizeof program, "./odd %s", deed);
      int plain = record_as_plain(c, path, program);
      /* The parent comes to a region after its child has the run, or the program after
       * the one that it replaced, and says so. */
      bool reports = !strcmp(deed, "early") || !strcmp(deed, "exec");
      bool is_reported = reports || !strcmp(deed, "child");
      cr_assert(!strstr(messages_of(path), "is not recorded") == !is_reported, "%s",
                deed);
      json_t *r = tsanom_json("speedup %s --json", path);
      bool exec = !strcmp(deed, "exec");
      double events = number_of(r, "events");
      cr_assert(events == deeds[d].events, "%s: %g", deed, events);
      cr_assert(json_is_true(json_object_get(r, "finished")) == !exec);
      cr_assert(number_of(first_region(r), "period") == 1);
      if (!reports) { /* else the run is the child's, or not finished */
        check_exit(path, plain + (strcmp(deed, "exit") ? 0 : TSANOM_EXIT_INSIDE));
      }
    }
  }
}

Test(record_programs, regions_have_any_number_of_variables) {
  FOR_EACH_WAY(c, "values") {
    cr_assert(record_as_plain(c, run_of(c), "./values") == 0);
    json_t *r = tsanom_json("speedup run.%d --json", c);
    cr_assert(number_of(r, "events") == 100 && number_of(first_region(r), "period") == 5);
  }
}

static size_t streams_of(const char *path) {
  tsanom_runs_info info = info_of(path);
  return info.beat_streams;
}

/* The iterations that a stream has beats of, without those before they were counted. */
static size_t iterations_of(const char *path, uint32_t stream, uint32_t *iteration) {
  enum { MOST = 64 };
  tsanom_runs_info info;
  tsanom_runs *run = open_run(path, &info);
  tsanom_runs_stream about = stream_of(run, TSANOM_RUNS_BEATS, stream);
  cr_assert(about.count <= MOST);
  size_t count = 0;
  for (size_t i = 0; i < about.count; i++) {
    if (about.tag[i] >> TSN_REGIONS_EARLY_BIT == 0) iteration[count++] = about.tag[i];
  }
  return count;
}

/* A thread that misses iterations beats with the number of the one it comes back to. */
Test(record_programs, teams_of_changing_size_agree_on_the_iteration) {
  FOR_EACH_WAY(c, "teams") {
    const char *run = run_of(c);
    cr_assert(record(c, "-o %s -- ./teams teams", run).status == 0);
    uint32_t leader[64], other[64];
    size_t beats = iterations_of(run, 0, leader);
    cr_assert(beats >= 56 && beats <= 60, "%zu beats", beats);
    for (size_t i = 1; i < beats; i++) cr_assert(leader[i] == leader[i - 1] + 1);
    cr_assert(iterations_of(run, 1, other) == beats);
    cr_assert(memcmp(leader, other, beats * sizeof *leader) == 0);
    /* The third thread may be another one each time, with a stream of its own; the
     * last iteration is the sixtieth. */
    size_t late = 0;
    uint32_t missed = 0;
    for (uint32_t t = 2; t < streams_of(run); t++) {
      size_t count = iterations_of(run, t, other);
      for (size_t i = 0; i < count; i++) missed += leader[beats - 1] - other[i];
      late += count;
    }
    cr_assert(late == 3 && missed == 20 + 40, "%zu, %u", late, missed);
  }
}

Test(record_programs, places_may_be_many) {
  FOR_EACH_WAY(c, "teams") {
    cr_assert(record_as_plain(c, run_of(c), "./teams places") == 0);
    json_t *r = tsanom_json("speedup run.%d --json", c);
    cr_assert(number_of(r, "events") == 2000);
    cr_assert(number_of(first_region(r), "period") == 200);
  }
}

/* LLVM's runtime has GNU's entry points, and calls its own from some of them. */
Test(record_programs, what_gcc_built_may_run_on_llvms_runtime) {
  static const struct {
    const char *program;
    int events, iterations;
  } runs[] = {{"loop 60", 180, 60}, {"inside 50", 150, 50}, {"odd nested", 20, 20}};
  if (!build_program("clang", "loop")) return;
  shell_ok("ldd loop | awk '/omp/ { print $3 }' >runtime");
  for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
    char name[16];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(runs[i].program, " "),
             runs[i].program);
    if (!build_program("gcc", name)) return;
    shell_ok(
        "export LD_PRELOAD=$(cat runtime); ./%s >plain; s=$?; tsanom record -o run.%zu "
        "-- ./%s >recorded; test $? -eq $s && cmp plain recorded",
        runs[i].program, i, runs[i].program);
    json_t *r = tsanom_json("speedup run.%zu --json", i);
    cr_assert(number_of(r, "events") == runs[i].events, "%s", runs[i].program);
    cr_assert(number_of(first_region(r), "iterations") == runs[i].iterations);
  }
}

/* An OpenMP runtime in the launcher would bind its thread to a processor, and the program
 * would inherit that. */
Test(record_programs, the_program_may_run_where_it_could_without) {
  shell_ok("OMP_PROC_BIND=true grep Cpus_allowed_list /proc/self/status >plain");
  shell_ok(
      "OMP_PROC_BIND=true tsanom record --force -o run -- grep Cpus_allowed_list "
      "/proc/self/status >recorded && cmp plain recorded");
}

/* The run is of the whole program: of one that starts processes, if none comes to a region. */
Test(record_programs, a_program_without_regions_has_a_run) {
  if (!build_program("gcc", "odd") || !build_program("gcc", "late")) return;
  tsanom_ok("record -o run -- ./odd");
  outcome o = tsanom("summary run");
  cr_assert(!o.status && strstr(o.out, "The program ended normally after "), "%s", o.out);
  CHECK_REJECTED(tsanom("record -o run -- ./odd fork"), 3, "run: contains a run already");
  static const struct {
    const char *end, *said;
    int status;
  } ends[] = {{"exit", "The program exited with status 3 after ", 3},
              {"_exit", "The program exited with status 4 after ", 4},
              {"quick", "The program exited with status 5 after ", 5},
              {"regions", "The program ended normally after ", 0},
              {"kill", "The program was killed by signal 9 (SIGKILL) after ", 137}};
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
    int status =
        shell("tsanom record -o %s -- ./late %s 2>/dev/null", ends[i].end, ends[i].end);
    o = tsanom("summary %s", ends[i].end);
    cr_assert(status == ends[i].status && strstr(o.out, ends[i].said), "%s", o.out);
    bool says_none = strstr(o.out, "opened no parallel region") != NULL;
    cr_assert(says_none == (ends[i].status != 0 && ends[i].status != 137), "%s", o.out);
    const json_t *r = item_of(tsanom_json("summary %s --json", ends[i].end), "runs", 0);
    double seconds = number_of(json_object_get(r, "end"), "seconds");
    /* One that is killed is known until its last sample. */
    double least = ends[i].status == 137 ? 0.1 : 0.3;
    cr_assert(seconds > least && number_of(r, "threads") == (ends[i].status ? 1 : 2),
              "%s: %g s, %g threads", ends[i].end, seconds, number_of(r, "threads"));
  }
}

/* A library that it loads comes to regions in the same process. */
Test(record_programs,
     a_program_with_regions_that_loads_libraries_is_recorded_from_its_start) {
  write_text("loads.c",
             "#include <dlfcn.h>\n"
             "static double u[8];\n"
             "int main(void) {\n"
             "  if (!dlopen(\"libm.so.6\", RTLD_NOW)) return 1;\n"
             "#pragma omp parallel for\n"
             "  for (int i = 0; i < 8; i++) u[i] = i;\n"
             "}\n");
  if (shell("gcc -fopenmp loads.c -o loads -ldl")) return;
  outcome o = tsanom("record -o run -- ./loads");
  cr_assert(!o.status && !strstr(o.announced, "alone"), "%s", o.announced);
  o = tsanom("record -o other -- sh -c ./loads");
  cr_assert(!o.status && strstr(o.announced, "alone"), "%s", o.announced);
}

Test(record_programs, programs_that_cannot_be_recorded_are_reported) {
  check_status(tsanom("record --force -o run -- sh -c 'exit 7'"), 7);
  CHECK_REJECTED(tsanom("record -o run -- ./missing"), 3, "./missing: cannot run");
  CHECK_REJECTED(tsanom("record -o run -- no-such-program"), 3, "PATH");
  shell_ok("printf '#!/bin/sh\\n' >here && chmod +x here");
  CHECK_REJECTED(tsanom("record -o run -- here"), 3, "PATH", "./here");
  CHECK_REJECTED(tsanom("record --force -o no/such/run -- true"), 3, "no/such/run");
  CHECK_REJECTED(tsanom("record -o run"), 2, "a program is expected");
  CHECK_REJECTED(tsanom("record -o run --baseline 0 -- true"), 2, "--baseline");
  CHECK_REJECTED(tsanom("speedup nothing"), 3, "nothing/regions/places.tsv");
  CHECK_REJECTED(tsanom("speedup a b"), 2, "one run");
  write_text("t.c", "int main(void) { return 0; }\n");
  if (shell("gcc -static t.c -o t 2>/dev/null") == 0) {
    CHECK_REJECTED(tsanom("record -o run -- ./t"), 3, "statically");
  }
  if (shell("gcc -m32 -nostdlib -shared t.c -o t 2>/dev/null") != 0) return;
  CHECK_REJECTED(tsanom("record -o run -- ./t"), 3, "a program of 32 bits");
}

/* What each recorded stays, without the space that it had reserved, and ends with it, also if the
 * next one is the same file. */
Test(record_programs, programs_that_execute_others_end) {
  shell_ok(
      "tsanom record -o run -- sh -c 'sleep 0.1; exec sh -c \"exec sleep 0.6\"' 2>err");
  for (int i = 1; i < 3; i++) {
    shell_ok("test $(du -sk run/program.%d | cut -f1) -lt 100", i);
    const json_t *run =
        item_of(tsanom_json("summary --json run/program.%d", i), "runs", 0);
    double end = number_of(json_object_get(run, "end"), "seconds");
    cr_assert(end < 0.5, "%d: %g s", i, end);
  }
  cr_assert(!strstr(tsanom_ok("summary run").out, "LD_PRELOAD"));
}

/* A script may set what the recorder is preloaded by, for itself or for what it starts. */
Test(record_programs, programs_that_are_executed_without_the_recorder_are_named) {
  static const struct {
    const char *words;
    bool is_alone;
  } cases[] = {{"exec env LD_PRELOAD= sleep 0", true},
               {"exec env -i sleep 0", true},
               {"LD_PRELOAD=libm.so.6 exec sleep 0", true},
               {"export LD_PRELOAD=libm.so.6; sleep 0; exit 0", true},
               {"env -u LD_PRELOAD sleep 0; exit 0", true},
               {"export LD_PRELOAD=libm.so.6:$LD_PRELOAD; sleep 0; exit 0", false},
               {"env A=1 sleep 0; exec sleep 0", false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    shell_ok("rm -rf run && tsanom record -o run -- sh -c '%s' 2>err", cases[i].words);
    const char *out = tsanom_ok("summary run").out;
    cr_assert(!strstr(out, "sleep is not recorded: LD_PRELOAD") == !cases[i].is_alone,
              "%s: %s", cases[i].words, out);
  }
}

/* Functions that the recorder defines are there only if they are without it. */
Test(record_programs, functions_that_are_missing_are_not_there) {
  static const char *const ways[] = {"", "-no-pie", "-fno-pic -no-pie", "-Wl,-z,now",
                                     "-fopenmp -Wl,--no-as-needed"};
  write_text("asks.c",
             "extern int MPI_Init(void) __attribute__((weak));\n"
             "extern void __kmpc_barrier(void) __attribute__((weak));\n"
             "extern void GOMP_barrier(void) __attribute__((weak));\n"
             "int main(void) { return 8 + !!MPI_Init + 2 * !!__kmpc_barrier + "
             "4 * !!GOMP_barrier; }\n");
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
    shell_ok("rm -rf run && gcc %s asks.c -o asks", ways[i]);
    check_status(tsanom("record -o run -- ./asks"), shell("./asks"));
    check_status(tsanom("record -o script -- sh -c ./asks"), shell("./asks"));
    shell_ok("rm -r script");
  }
}

/* What a program defines for its plugins is nothing that it uses. */
Test(record_programs, names_that_a_program_defines_are_its_own) {
  write_text("own.c",
             "int use_MPI_count, GOMP_parallels, MPI_Unknown;\n"
             "int dlopen_count;\nint fork(void) { return 4; }\n"
             "int main(void) { return fork(); }\n");
  shell_ok("gcc -rdynamic own.c -o own");
  outcome o = tsanom("record -o run -- ./own");
  cr_assert(o.status == 4 && !*o.err, "%s", o.err);
  cr_assert(strstr(o.announced, "the program uses neither"), "%s", o.announced);
}

/* A directory of each, though they begin at the same time. */
Test(record_programs, programs_without_a_directory_do_not_share_one) {
  enum { PROGRAMS = 4 };
  shell_ok(
      "for i in 1 2 3 4; do tsanom record -- sh -c 'sleep 0.3' 2>/dev/null & done; wait");
  for (int i = 1; i <= PROGRAMS; i++) {
    char path[32] = "sh.run";
    if (i > 1) (void)snprintf(path, sizeof path, "sh.run-%d", i);
    cr_assert(info_of(path).state == TSANOM_RUN_FINISHED, "%s", path);
  }
  CHECK_REJECTED(tsanom("record -- ./missing"), 3, "./missing");
  cr_assert(access("missing.run", F_OK) != 0);
}

/* Messages of the first stay, which is in RUN/program. */
Test(record_programs, a_second_program_does_not_take_the_messages_of_the_first) {
  shell_ok(
      "tsanom record -o run -- sh -c 'sleep 0.5; timeout 5 sh -c \"i=0; while [ "
      "\\$i -lt 50000 ]; do i=\\$((i+1)); done\"' 2>/dev/null & sleep 0.2; ls -i "
      "run/messages >first; tsanom record -o run -- true 2>/dev/null; ls -i "
      "run/messages >second; wait; cmp first second");
}

/* Those of an earlier run would be taken for those of the new one. */
Test(record_programs, a_run_of_which_only_events_are_left_is_not_written_again) {
  if (!build_program("gcc", "loop")) return;
  check_status(tsanom("record -o run -- ./loop 30"), 5);
  shell_ok("rm run/heartbeat.*");
  CHECK_REJECTED(tsanom("record -o run -- true"), 3, "run: contains a run already");
}

/* A driver that records what it starts may be recorded itself. */
Test(record_programs, options_are_those_of_the_inner_command) {
  if (!build_program("gcc", "loop")) return;
  shell_ok(
      "tsanom record -o out --label of=outer --beat-at time -- sh -c 'tsanom record "
      "-o in -- ./loop 30; test $? -eq 5' >text 2>&1 && test -e out/regions/labels "
      "&& ! test -e in/regions/labels");
  json_t *r = tsanom_json("speedup in --json");
  cr_assert(number_of(first_region(r), "iterations") == 30);
  cr_assert(beats_of("in", 0) >= 29, "%g", beats_of("in", 0));
}

static char asked[256];

/* Record ./plain with these words, as `run`: what `summary` prints. */
static const char *summary_of_plain(const char *words) {
  enum { VISITS = 3 + 1 + 3, EVENTS = 3 };
  shell_ok("rm -rf run; ./plain 3 %s >expected; test $? -eq 4", words);
  shell_ok(
      "tsanom record -o run -- ./plain 3 %s >out 2>err; test $? -eq 4 && cmp expected "
      "out",
      words);
  cr_assert(file_holds("err", "the program uses neither OpenMP nor MPI"));
  tsanom_runs_info info = info_of("run");
  cr_assert(info.events == VISITS * EVENTS && info.state == TSANOM_RUN_FINISHED, "%g",
            (double)info.events);
  outcome o =
      CHECK_PRINTS(tsanom("summary run"), "exited with status 4", "; 5 threads\n");
  return o.out;
}

/* Without OpenMP and MPI: threads have visits of the functions with which they start, and
 * those that start alike are compared. Where a host takes the processor from one of them, one
 * of some runs decides. */
Test(record_programs, a_plain_program_is_recorded) {
  enum { TRIES = 5 };
  static const char *const cases[] = {"10", "30", "10 c11", "30 c11"};
  shell_ok("gcc -g -O1 -pthread " TSANOM_TEST_PROGRAMS "/plain.c -o plain");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *function = i < 2 ? "in worker (" : "in worker_of_c11 (";
    bool is_slow = *cases[i] == '3', is_right = false;
    for (int try = 0; try < TRIES && !is_right; try++) {
      const char *page = summary_of_plain(cases[i]);
      bool is_named = strstr(page, "thread 3 takes ") != NULL;
      is_right = is_named == is_slow && is_named == (strstr(page, function) != NULL);
    }
    cr_assert(is_right, "%s: %s", cases[i], tsanom("summary run").out);
  }
  cr_assert(shell("rm -rf run") == 0 && tsanom("record -o run -- ./plain 1").status == 4);
  cr_assert(strstr(tsanom("summary run").out, "no two threads start with one function"));
}

/* Of two at a time, the second may start before the first one ends: then numbers differ in how
 * many threads had them. */
Test(record_programs, threads_of_a_moment_are_not_compared) {
  write_text("moments.c",
             "#include <pthread.h>\n"
             "static void *work(void *u) {\n"
             "  for (volatile long i = 0; i < 2000000; i++) {}\n"
             "  return u;\n"
             "}\n"
             "int main(void) {\n"
             "  pthread_t t[2];\n"
             "  for (int i = 0; i < 40; i++) {\n"
             "    int n = 1 + (i % 4 == 0);\n"
             "    for (int k = 0; k < n; k++) pthread_create(&t[k], 0, work, 0);\n"
             "    for (int k = 0; k < n; k++) pthread_join(t[k], 0);\n"
             "  }\n"
             "}\n");
  shell_ok("gcc -O1 -pthread moments.c -o moments");
  tsanom_ok("record -o run -- ./moments");
  const char *page = tsanom("summary run").out;
  cr_assert(strstr(page, "threads start and end again and again"), "%s", page);
  check_status(tsanom("similar run"), 3);
}

/* Blanks, the ends of the field of /proc, a letter of two bytes, and a line feed. */
Test(record_programs, threads_are_named_as_they_name_themselves) {
  shell_ok("gcc -g -O1 -pthread " TSANOM_TEST_PROGRAMS "/plain.c -o plain");
  check_status(tsanom("record -o run -- ./plain 3 200 'l) S 1 (\xc3\xa4\n'"), 4);
  CHECK_PRINTS(tsanom("summary run"), "thread 3 (l) S 1 (\xc3\xa4?) takes ");
  outcome o = CHECK_PRINTS(tsanom("similar run"), ": 3 (l) S 1 (\xc3\xa4?)\n");
  cr_assert(strstr(o.out, ", perhaps of different work.\n"), "%s", o.out);
  json_t *r = tsanom_json("similar run --json");
  const json_t *member = NULL;
  for (size_t i = 0; i < 2; i++) {
    const json_t *cluster = item_of(r, "clusters", i);
    if (json_array_size(cluster) == 1) member = json_array_get(cluster, 0);
  }
  const char *name = json_string_value(member);
  cr_assert(name && strcmp(name, "3 (l) S 1 (\xc3\xa4?)") == 0, "%s", name);
}

static bool exists(const char *path) {
  return access(path, F_OK) == 0;
}

/* What a program does that may load a runtime, or is linked with it and may start others, with
 * which launcher in front of it; and whose run there is: one with regions, one of its threads, in
 * RUN or below it. */
static void check_for_now(const char *program, const char *deed, unsigned threads,
                          unsigned ms) {
  bool is_kill = !strcmp(deed, "kill"), is_child = !strcmp(deed, "fork"),
       has_regions = is_child || !strcmp(deed, "load") || !strcmp(deed, "execute");
  const bool is_linked = !strcmp(program, "./linked");
  (void)snprintf(asked, sizeof asked, "%s %s %u %u", program, deed, threads, ms);
  int expected = shell("rm -rf run; %s >expected", asked);
  cr_assert(
      shell("tsanom record -o run -- %s >out 2>err; test $? -eq %d && cmp expected out",
            asked, expected) == 0,
      "%s: %d", asked, expected);
  cr_assert(file_holds("err", is_linked ? ": parallel regions, calls of MPI, "
                                        : " of this process alone; as soon as "));
  const char *end = is_kill ? "was killed by signal 9" : "exited with status 7";
  outcome o = tsanom_ok("summary run");
  /* On a busy machine the sampler learns the signal later than the shell. */
  for (int i = 0; is_kill && !strstr(o.out, end) && i < 100; i++) {
    usleep(20000);
    o = tsanom_ok("summary run");
  }
  cr_assert(strstr(o.out, end), "%s: %s", asked, o.out);
  cr_assert(exists("run/heartbeat.run") == !is_kill, "%s", asked);
  cr_assert(exists("run/program/heartbeat.run") == (is_kill || is_child), "%s", asked);
  if (has_regions) {
    cr_assert(number_of(tsanom_json("speedup run --json"), "events") == 20, "%s", asked);
    bool goes_on = is_linked ? strcmp(deed, "execute") != 0 : is_child && *program == '.';
    cr_assert(exists("run/program.1") == !goes_on, "%s", asked);
  } else if (threads && ms && !is_kill && !is_linked) {
    /* Those of a killed program may not have begun; one that ends at once may leave its number to the
     * next. */
    (void)snprintf(asked, sizeof asked, "; %u threads\n", threads + 1);
    cr_assert(strstr(o.out, asked), "%s: %s", asked, o.out);
  }
  o = tsanom("rate run"); /* it finds the run as well; a short one has few beats */
  cr_assert(o.status == 0 || strstr(o.err, "no thread has beats") ||
                strstr(o.err, "needs at least 2"),
            "%s: %s", deed, o.err);
}

/* Neither a program that loads its runtime late, nor one that starts the program. Until then,
 * and if none comes to a region, the program has a run without regions. That of one that is
 * linked with the runtime goes on. */
Test(record_programs, programs_that_come_to_a_runtime_later_need_no_option) {
  static const char *const deeds[] = {"load",  "execute", "fork",
                                      "never", "leave",   "kill"};
  static const char *const programs[] = {"./loads", "env A=B ./loads", "./linked"};
  enum { DEEDS = sizeof deeds / sizeof *deeds, ROUNDS = 6 * DEEDS };
  uint64_t seed = 1;
  if (!has_openmp("gcc")) return;
  shell_ok("gcc -O2 -fopenmp -fPIC -shared -DWORK " TSANOM_TEST_PROGRAMS
           "/loads.c -o work.so && gcc -O2 -pthread " TSANOM_TEST_PROGRAMS
           "/loads.c -o loads -ldl && gcc -O2 -fopenmp " TSANOM_TEST_PROGRAMS
           "/loads.c -o linked -Wl,--no-as-needed -ldl -lgomp");
  cr_assert(tsanom("record -o behind -- bash -c './loads load 0 600 & exit 7'").status ==
            7);
  for (int i = 0; i < 100 && !exists("behind/regions"); i++) usleep(100000);
  cr_assert(exists("behind/regions") && exists("behind/program/heartbeat.run"));
  for (unsigned i = 0; i < ROUNDS; i++) {
    unsigned threads = (unsigned)random_between(&seed, 0, 4),
             ms = (unsigned)(random_between(&seed, 0, 2) * 60);
    check_for_now(programs[i / DEEDS % 3], deeds[i % DEEDS], threads, ms);
  }
}
