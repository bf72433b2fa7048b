/* SPDX-License-Identifier: BSD-3-Clause */
/* A guest changes nothing: what a recorded program does, prints and returns is what it
 * does without. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "recorded.h"
#include "support/check.h"
#include "support/skip.h"

TestSuite(guest, .init = enter_folder, .fini = leave_folder, .timeout = 300);

typedef struct {
  char deed[32];
  char options[32];
  char message[64]; /* that readers print; empty: any */
} guest_case;

static const guest_case cases[] = {
    {"files 0", "--max-size 64K", "--max-size allows"},
    {"files 1", "--max-size 64K", "--max-size allows"},
    {"files 2", "--max-size 64K", "--max-size allows"},
    {"errors 100", "", ""},
    {"errors 1000", "--max-size 64K", "--max-size allows"},
    {"handler", "", ""},
    {"cancel", "", ""},
    {"cancel-first", "", ""},
    {"child 0", "", "the run belongs to its parent"},
    {"child 1", "", "the run belongs to its parent"},
    {"child 2", "", "the run belongs to its parent"},
    {"clear", "", ""},
    {"jump 20", "", ""},
    {"leave 5", "", ""},
    {"limited 8", "", ""},
    {"limited 0", "", "a limit of file size"},
    {"nothing", "", ""},
    {"stacks 16384", "", ""},
    {"turns 500", "", ""},
    {"user 0", "", ""},
    {"user 1", "", ""},
};

ParameterizedTestParameters(guest, a_program_does_the_same) {
  return cr_make_param_array(guest_case, (void *)cases, sizeof cases / sizeof *cases);
}

/* clang's runtime hangs in 1 of 200 runs of a thread that is cancelled in it, whether or not
 * somebody records: a program that hangs runs again, at most TRIES times. */
enum { HUNG = 124, TRIES = 4 };

/* With gcc and clang, and by OMPT. */
ParameterizedTest(guest_case *c, guest, a_program_does_the_same) {
  /* gcov cannot write its files as another user, and says so. */
  if (*TSANOM_COVERAGE_LIBRARY && strncmp(c->deed, "user ", strlen("user ")) == 0) return;
  setenv("OMP_WAIT_POLICY", "passive", 1);
  for (int way = 0; way < RECORD_WAYS; way++) {
    if (!build_program(record_ways[way].compiler, "guest")) continue;
    int plain = HUNG;
    for (int i = 0; i < TRIES && plain == HUNG; i++) {
      plain = shell("rm -rf data; timeout 10 ./guest %s >plain", c->deed);
    }
    if (plain > 128) continue; /* clang's runtime does not survive clearenv() */
    (void)shell("test ! -e data || mv data data.plain");
    outcome o = {.status = HUNG};
    for (int i = 0; i < TRIES && o.status == HUNG; i++) {
      (void)shell("rm -rf run data");
      o = record(way, "%s -o run -- timeout 10 ./guest %s", c->options, c->deed);
    }
    cr_assert(o.status == plain && *o.err == '\0', "%s: %d, plain %d: %s", c->deed,
              o.status, plain, o.err);
    write_text("recorded", o.out);
    cr_assert(shell("cmp plain recorded") == 0, "%s: %s", c->deed, o.out);
    cr_assert(shell("test ! -e data.plain || cmp data data.plain") == 0, "%s", c->deed);
    const char *messages = messages_of("run");
    cr_assert(strstr(messages, c->message), "%s: %s", c->deed, messages);
  }
}

/* Threads of the program have stacks of 16 KiB, where the C library's own variables
 * leave that much of them. */
Test(guest, stacks_may_be_small) {
  static const char *const ways[] = {"OMP_STACKSIZE=16k",
                                     "OMP_STACKSIZE=16k TSANOM_ISA=base",
                                     "OMP_STACKSIZE=32k LD_BIND_NOW=1"};
  setenv("OMP_WAIT_POLICY", "passive", 1);
  if (!build_program("gcc", "guest")) SKIP_TEST("needs the Debian package gcc");
  shell_ok(
      "for library in \"$TSANOM_BUILT\"/../intercept/*.so; do bytes=$(readelf -lW "
      "\"$library\" | awk '$1 == \"TLS\" { print $6 }'); test $((bytes)) -gt 0 && test "
      "$((bytes)) -le 512 && readelf -d \"$library\" | grep -q NOW || exit 1; done");
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
    cr_assert(shell("rm -rf run; %s ./guest stacks 16384 >plain && %s tsanom record -o "
                    "run -- ./guest stacks 16384 >recorded 2>err && cmp plain recorded",
                    ways[i], ways[i]) == 0,
              "%s", ways[i]);
  }
}

/* The disk has space: a limit of the program is the reason. */
Test(guest, the_reason_of_drops_is_that_of_the_first_failure) {
  if (!build_program("gcc", "guest")) SKIP_TEST("needs the Debian package gcc");
  cr_assert(record(0, "-o run -- ./guest full 512").status == 0);
  outcome o = tsanom("speedup run");
  cr_assert(strstr(o.err, "records were dropped (File too large)"), "%s", o.err);
  tsanom_runs_info info = info_of("run");
  cr_assert(info.error == EFBIG && info.events_dropped > 0, "%d", info.error);
}

/* The signal comes in a beat, or in a section of the recorder, in some of the runs: each
 * ends at once, and its run can be read. */
Test(guest, exit_in_a_handler_waits_for_nothing) {
  enum { RUNS = 60 };
  setenv("OMP_WAIT_POLICY", "passive", 1);
  /* gcov writes its files in exit() and allocates memory for that, which the handler may
   * have interrupted: then it waits for its own thread. */
  if (*TSANOM_COVERAGE_LIBRARY) return;
  if (!build_program("gcc", "guest")) SKIP_TEST("needs the Debian package gcc");
  for (int i = 0; i < RUNS; i++) {
    (void)shell("rm -rf run");
    check_status(tsanom("record -o run -- timeout 20 ./guest end %d", 20000 + 531 * i),
                 7);
    if (access("run/heartbeat.run", F_OK) != 0) continue;
    tsanom_runs_info info = info_of("run");
    cr_assert(info.state == TSANOM_RUN_FINISHED, "%d", i);
  }
}

/* The program opens all descriptors that it may, which are as many as without. Where no
 * number is left for the recorder, it closes its files between two uses. */
Test(guest, descriptors_are_the_programs) {
  static const char *const limits[] = {"-Sn 1024", "-n 1024", "-n 32"};
  static const int threads[] = {4, 256, 600};
  setenv("OMP_WAIT_POLICY", "passive", 1);
  if (!build_program("gcc", "guest")) SKIP_TEST("needs the Debian package gcc");
  for (size_t i = 0; i < 3 * sizeof limits / sizeof *limits; i++) {
    const char *limit = limits[i / 3];
    cr_assert(shell("rm -rf run; ulimit %s; ./guest descriptors %d >plain && tsanom "
                    "record -o run -- ./guest descriptors %d >recorded 2>err",
                    limit, threads[i % 3], threads[i % 3]) == 0,
              "%s", limit);
    cr_assert(shell("cmp plain recorded") == 0, "%s, %d threads", limit, threads[i % 3]);
    json_t *r = tsanom_json("speedup run --json");
    cr_assert(number_of(r, "events") == 2, "%s", limit);
  }
}

/* The threads of the program need the address space that is left. */
Test(guest, address_space_is_the_programs) {
  static const char *const programs[] = {"threads 1", "child 1", "descriptors 2"};
  static const int limits[] = {32000, 40000, 60000, 100000, 200000};
  setenv("OMP_WAIT_POLICY", "passive", 1);
  setenv("OMP_NUM_THREADS", "2", 1);
  if (!build_program("gcc", "guest")) SKIP_TEST("needs the Debian package gcc");
  for (size_t i = 0; i < 15; i++) {
    const char *program = programs[i % 3];
    int limit = limits[i / 3];
    if (shell("ulimit -v %d; ./guest %s >plain 2>err", limit, program) != 0) continue;
    cr_assert(shell("rm -rf run; ulimit -v %d; tsanom record -o run -- ./guest %s "
                    ">recorded 2>err && cmp plain recorded",
                    limit, program) == 0,
              "%d: %s", limit, program);
    bool is_little = strstr(messages_of("run"), "a limit of address space");
    cr_assert(is_little == (limit < 70000), "%d: %s", limit, messages_of("run"));
  }
}

/* A reader of standard error that is gone, and one that does not read. */
Test(guest, standard_error_may_be_broken_or_full) {
  setenv("OMP_WAIT_POLICY", "passive", 1);
  if (!build_program("gcc", "loop")) SKIP_TEST("needs the Debian package gcc");
  shell_ok(
      "timeout 60 sh -c '{ sleep 0.2; tsanom record --max-size 64K -o broken -- ./loop "
      "3000 >out; echo $? >status; } 2>&1 | true'; test \"$(cat status)\" = 5");
  shell_ok(
      "mkfifo pipe && timeout 60 sh -c 'sleep 30 <pipe & exec 3>pipe; dd if=/dev/zero "
      "of=pipe bs=4096 oflag=nonblock 2>/dev/null; timeout 20 tsanom record --max-size "
      "64K -o full -- ./loop 3000 >out 2>&3; echo $? >status; kill $!'; test \"$(cat "
      "status)\" = 5");
  cr_assert(strstr(messages_of("broken"), "--max-size allows"));
  cr_assert(strstr(messages_of("full"), "--max-size allows"));
}

/* As a shell makes children, before it starts the program that is recorded. */
Test(guest, children_that_end_first_report_nothing) {
  if (!build_program("gcc", "guest")) SKIP_TEST("needs the Debian package gcc");
  tsanom_ok("record -o run -- ./guest child 0");
  const char *messages = messages_of("run");
  cr_assert(!strstr(messages, "nothing is recorded"), "%s", messages);
}

/* A watch of a run that is over, and its summary, say when and how it ended. */
static void check_end(const char *path, const char *state) {
  json_t *line = tsanom_json("watch --json %s", path);
  json_t *page = tsanom_json("summary --json %s", path);
  const json_t *end = json_object_get(item_of(page, "runs", 0), "end");
  cr_assert_str_eq(text_of(line, "state"), state);
  cr_assert_str_eq(text_of(end, "state"), state);
  double time = number_of(line, "time"), seconds = number_of(end, "seconds");
  cr_assert(time > 0 && fabs(time - seconds) < 0.01, "%s: %g, %g", path, time, seconds);
}

/* Most of the work of a script is that of processes without regions, of one that has the run, or of
 * one that came later. */
Test(guest, work_of_a_script_is_that_of_its_processes) {
  if (!build_program("gcc", "loop") || !build_program("gcc", "plain")) {
    SKIP_TEST("needs the Debian package gcc");
  }
  tsanom_ok("record -o plain.run -- sh -c './plain 1 10; ./plain 1 10; :'");
  CHECK_PRINTS(tsanom("summary plain.run"), " it rested for ",
               "processor time, and are not recorded.");
  cr_assert(strstr(messages_of("plain.run"), "processes that the program started"));
  tsanom_ok("record -o one.run -- sh -c './loop 3000; :'");
  cr_assert(strcmp(messages_of("one.run"), "") == 0, "%s", messages_of("one.run"));
  CHECK_PRINTS(tsanom("summary one.run"), "The program ended normally after");
  tsanom_ok("record -o ended.run -- sh -c 'timeout -s TERM 0.3 ./loop 900000000; :'");
  CHECK_PRINTS(tsanom("summary ended.run"), "The program ended normally after");
  check_end("ended.run", "finished");
  check_status(tsanom("record --beat-at time -o time.run -- ./loop 3000"), 5);
  check_end("time.run", "finished");
  shell_ok("tsanom record -o status.run -- sh -c './loop 3000; exit 6'; test $? = 6");
  CHECK_PRINTS(tsanom("summary status.run"), "The program exited with status 6 after");
  tsanom_ok("record -o two.run -- sh -c './loop 100; ./loop 9000; :'");
  cr_assert(strstr(messages_of("two.run"), "the run is of loop, which took "), "%s",
            messages_of("two.run"));
}

/* A page that has iterations does not say that there are none. */
Test(guest, a_rank_without_iterations_is_not_the_job) {
  if (!build_program("gcc", "loop")) SKIP_TEST("needs the Debian package gcc");
  shell_ok("mkdir job");
  write_text("job/ranks.tsv", "tsanom ranks 1\nsize\t2\njob\t-\n");
  check_status(tsanom("record -o job/rank.0 -- ./loop 300"), 5);
  check_status(tsanom("record --beat-at time -o job/rank.1 -- ./loop 3000"), 5);
  CHECK_PRINTS(tsanom("summary job"), "iterations   300 of",
               "no iterations of some ranks");
  CHECK_PRINTS(tsanom("summary job/rank.1"), "no iterations: how fast the program");
}

/* The second process of a run: its regions go to the runtime by what the first of them found. Or
 * the first, if a process that it started took the run. */
Test(guest, regions_that_are_not_recorded_take_no_system_calls) {
  enum { ITERATIONS = 2000 };
  if (!build_program("gcc", "loop")) SKIP_TEST("needs the Debian package gcc");
  write_text("masks.c",
             "#define _GNU_SOURCE\n"
             "#include <dlfcn.h>\n"
             "#include <signal.h>\n"
             "#include <stdio.h>\n"
             "static int calls;\n"
             "int pthread_sigmask(int how, const sigset_t *now, sigset_t *before) {\n"
             "  int (*real)(int, const sigset_t *, sigset_t *) = (int (*)(int, const "
             "sigset_t *, sigset_t *))dlsym(RTLD_NEXT, \"pthread_sigmask\");\n"
             "  __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);\n"
             "  return real(how, now, before);\n"
             "}\n"
             "__attribute__((destructor)) static void end(void) {\n"
             "  FILE *file = fopen(\"masks\", \"w\");\n"
             "  fprintf(file, \"%d\\n\", calls);\n"
             "  fclose(file);\n"
             "}\n");
  shell_ok("gcc -shared -fPIC masks.c -o masks.so -ldl");
  write_text("starts.c",
             "#include <stdlib.h>\n"
             "int main(int count, char **word) {\n"
             "  if (count != 2 || system(\"./loop 1\") < 0) return 1;\n"
             "  for (int i = 0; i < atoi(word[1]); i++) {\n"
             "#pragma omp parallel num_threads(2)\n"
             "    __asm__ volatile(\"\");\n"
             "  }\n"
             "  return 5;\n"
             "}\n");
  shell_ok("gcc -fopenmp starts.c -o starts");
  static const char *const programs[] = {"sh -c './loop 1; exec ./loop %d'",
                                         "./starts %d"};
  for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
    char program[64];
    (void)snprintf(program, sizeof program, programs[i], ITERATIONS);
    cr_assert(shell("rm -rf run; LD_PRELOAD=./masks.so tsanom record -o run -- %s >out "
                    "2>err",
                    program) == 5);
    FILE *file = fopen("masks", "r");
    int calls = -1;
    cr_assert(file && fscanf(file, "%d", &calls) == 1 && fclose(file) == 0);
    cr_assert(calls >= 0 && calls < ITERATIONS, "%s: %d", program, calls);
    const char *messages = messages_of("run");
    cr_assert(strstr(messages, "this process is not recorded") &&
                  !strstr(messages, "opened no parallel region"),
              "%s", messages);
  }
}

/* Also in the JSON, and of a run in which nothing was recorded. */
Test(guest, messages_come_first) {
  if (!build_program("gcc", "loop")) SKIP_TEST("needs the Debian package gcc");
  check_status(tsanom("record --max-size 64K -o run -- ./loop 3000"), 5);
  outcome o;
  json_t *r = tsanom_json("rate run --json");
  const json_t *message = item_of(r, "messages", 0);
  cr_assert(strstr(text_of(message, "text"), "--max-size allows"));
  cr_assert(number_of(message, "process") > 1 && number_of(message, "time") > 1e9 &&
            number_of(message, "error") == 0 && number_of(message, "number") == 1);
  o = tsanom("summary run no-such-run");
  cr_assert(o.status == 3 && strstr(o.out, "--max-size allows") &&
                !strstr(o.err, "the recorder reports"),
            "%s", o.err);
  shell_ok("ln -s run link");
  cr_assert(
      number_of(json_object_get(item_of(tsanom_json("summary link --json"), "runs", 0),
                                "recorded"),
                "bytes") > 0);
  shell_ok("mkdir -p none/regions && : >none/regions/places.tsv");
  check_status(tsanom("record -o none -- ./loop 30"), 5);
  o = tsanom("speedup none");
  const char *first = strstr(o.err, "nothing is recorded: "), *then = strchr(o.err, '\n');
  cr_assert(o.status == 3 && first && first < then, "%s", o.err);
}
