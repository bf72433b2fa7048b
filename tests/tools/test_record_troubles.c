/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom record where something is in the way, and what is reported of the run then. */
#include <criterion/criterion.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recorded.h"
#include "run.h"

TestSuite(record_troubles, .init = enter_folder, .fini = leave_folder, .timeout = 240);

static void build(const char *source, const char *name) {
  shell_ok("gcc -O2 -fopenmp %s -o %s 2>compiler", source, name);
}

static void build_loop(void) {
  build(TSANOM_TEST_PROGRAMS "/loop.c", "loop");
}

/* A limit on the size of files acts as a full disk. The counters of a coverage build and
 * the messages about them may be larger than the limit: the former go nowhere, the latter
 * through a pipe. */
static int record_limited(const char *blocks, const char *run) {
  char line[1024];
  snprintf(
      line, sizeof line,
      "{ (ulimit -f %s; export GCOV_PREFIX=/dev/null; exec tsanom record -o %s -- ./loop "
      "500) >recorded; echo $? >status; } 2>&1 | cat >told; test $(cat status) -eq 5",
      blocks, run);
  cr_assert(system("./loop 500 >plain") != 0);
  cr_assert(system(line) == 0);
  return system("cmp plain recorded");
}

Test(record_troubles, a_run_that_lost_records_says_so) {
  static const char *const readers[] = {"speedup", "period", "rate"};
  build_loop();
  cr_assert(record_limited("40", "run") == 0);
  for (size_t i = 0; i < sizeof readers / sizeof *readers; i++) {
    outcome o = tsanom("%s run", readers[i]);
    bool told = strstr(o.err, "records were dropped");
    /* There is space for a beat per iteration, but not for the regions. */
    cr_assert(o.status == 0 && (told || !strcmp(readers[i], "rate")), "%s: %s",
              readers[i], o.err);
  }
  outcome o = tsanom("summary run");
  const char *missing = strstr(o.out, "\nnot recorded ");
  cr_assert(missing && strstr(missing, "records were dropped") && !*o.err, "%s%s", o.out,
            o.err);
  check_status(tsanom("record -o whole -- ./loop 500"), 5);
  for (size_t i = 0; i < sizeof readers / sizeof *readers; i++) {
    cr_assert(*tsanom("%s whole", readers[i]).err == '\0');
  }
}

Test(record_troubles, a_run_that_cannot_be_created_is_reported) {
  build_loop();
  cr_assert(record_limited("4", "run") == 0);
  cr_assert(file_holds("told", "no page for messages of the recorder: File too large"));
  shell_ok("mkdir -p half/regions && : >half/regions/places.tsv");
  check_quiet(tsanom("record -o half -- ./loop 500"), 5);
  cr_assert(strstr(messages_of("half"), "nothing is recorded"));
  CHECK_REJECTED(tsanom("summary half"), 3, "half/",
                 "; the recorder reports: ", "nothing is recorded");
}

Test(record_troubles, a_library_that_no_list_can_name_is_rejected) {
  static const char *const folders[] = {"a b", "a:b"};
  build_loop();
  for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
    shell_ok(
        "mkdir -p '%s/tsanom' '%s/intercept' && cp \"$TSANOM_BUILT/tsanom\" '%s/tsanom' "
        "&& cp \"$TSANOM_BUILT/../intercept/libtsanom-preload.so\" '%s/intercept' && "
        "'%s/tsanom/tsanom' record -o run -- ./loop 2>told; test $? -eq 3",
        folders[i], folders[i], folders[i], folders[i], folders[i]);
    cr_assert(file_holds("told", folders[i]) && file_holds("told", "LD_PRELOAD"));
  }
}

Test(record_troubles, what_has_no_beats_or_regions_is_explained) {
  write_text("irregular.c",
             "static double u[8];\n"
             "int main(void) {\n"
             "  for (int i = 0; i < 5; i++) {\n"
             "#pragma omp parallel\n"
             "    u[i] = i;\n"
             "  }\n"
             "}\n");
  build("irregular.c", "irregular");
  tsanom_ok("record -o run -- ./irregular");
  CHECK_REJECTED(tsanom("rate run"), 3, "run: no thread has beats", "--heartbeat-every");
  setenv("OMPI_COMM_WORLD_RANK", "0", 1);
  setenv("OMPI_COMM_WORLD_SIZE", "1", 1);
  tsanom_ok("record --force -o none -- true");
  outcome o = tsanom("speedup none");
  cr_assert(o.status == 3 && strstr(o.err, "none/regions/places.tsv") &&
                strstr(o.err, "first parallel"),
            "%s", o.err);
  shell_ok(": >run/regions/heartbeat.00000");
  CHECK_REJECTED(tsanom("similar run"), 3, "regions/heartbeat.00000: the file ends here");
}

/* The main loop may end before the program does. */
Test(record_troubles, a_loop_that_ended_has_no_time_to_go) {
  write_text("phases.c",
             "#include <unistd.h>\n"
             "static double u[8];\n"
             "int main(void) {\n"
             "  for (int i = 0; i < 20; i++) {\n"
             "#pragma omp parallel num_threads(1)\n"
             "    u[0] += i;\n"
             "    usleep(4000);\n"
             "  }\n"
             "  for (int i = 0; i < 20; i++) {\n"
             "#pragma omp parallel num_threads(1)\n"
             "    u[1] += i;\n"
             "  }\n"
             "}\n");
  build("phases.c", "phases");
  tsanom_ok("record -o run -- ./phases");
  outcome o =
      CHECK_PRINTS(tsanom("speedup run"), "20 of 20 iterations of 1; they ended at");
  cr_assert(!strstr(o.out, " in all"), "%s", o.out);
  o = tsanom("speedup run -n 3000");
  /* On a busy machine iterations may take longer and longer. */
  cr_assert(strstr(o.out, " in all") ||
                strstr(o.out, "20 of 3000 iterations of 1; iterations drift"),
            "%s", o.out);
}

/* A function of a program: parallel regions of two threads. */
#define WORK                                \
  "static double u[2];\n"                   \
  "static void work(int regions) {\n"       \
  "  for (int i = 0; i < regions; i++) {\n" \
  "#pragma omp parallel num_threads(2)\n"   \
  "#pragma omp master\n"                    \
  "    u[0] += i;\n"                        \
  "  }\n"                                   \
  "}\n"

/* A thread of the program's own may come first, with less to do. */
Test(record_troubles, the_thread_that_works_most_in_its_regions_is_reported) {
  write_text("helper.c",
             "#include <pthread.h>\n"
             "static pthread_barrier_t turn;\n" WORK
             "static void *helper(void *argument) {\n"
             "  work(10);\n"
             "  pthread_barrier_wait(&turn);\n"
             "  pthread_barrier_wait(&turn);\n"
             "  return argument;\n"
             "}\n"
             "int main(void) {\n"
             "  pthread_t thread;\n"
             "  pthread_barrier_init(&turn, 0, 2);\n"
             "  pthread_create(&thread, 0, helper, 0);\n"
             "  pthread_barrier_wait(&turn);\n"
             "  work(5000);\n"
             "  pthread_barrier_wait(&turn);\n"
             "  pthread_join(thread, 0);\n"
             "}\n");
  build("helper.c", "helper");
  tsanom_ok("record -o run -- ./helper");
  json_t *r = tsanom_json("speedup run --json");
  cr_assert(number_of(r, "events") == 5000, "%g", number_of(r, "events"));
}

/* Iterations are those of the thread that runs the main loop, though another one opened the
 * first region, and has ended or opens none any more. */
Test(record_troubles, another_thread_has_the_iterations) {
  write_text("first.c",
             "#include <pthread.h>\n"
             "#include <stdlib.h>\n" WORK
             "static void *run(void *regions) {\n"
             "  work(*(int *)regions);\n"
             "  return regions;\n"
             "}\n"
             "int main(int count, char **word) {\n"
             "  int first = atoi(word[1]), later = 5000;\n"
             "  pthread_t thread;\n"
             "  if (count > 2) work(first);\n"
             "  pthread_create(&thread, 0, run, count > 2 ? &later : &first);\n"
             "  pthread_join(thread, 0);\n"
             "  if (count == 2) work(later);\n"
             "}\n");
  build("first.c", "first");
  static const struct {
    const char *how, *message;
  } kinds[] = {{"1", "has ended"}, {"1 main", "opens none any more"}};
  for (int i = 0; i < 2; i++) {
    tsanom_ok("record -o %s -- ./first %s", run_of(i), kinds[i].how);
    cr_assert(strstr(messages_of(run_of(i)), kinds[i].message));
    json_t *r = tsanom_json("rate %s --json", run_of(i));
    for (size_t t = 0; t < 2; t++) {
      const json_t *thread = json_array_get(json_object_get(r, "threads"), t);
      cr_assert(number_of(thread, "beats") == 5000, "%g", number_of(thread, "beats"));
    }
  }
}

/* What a launcher does that sets no variables, when it starts one command per rank: all
 * processes run, also one that comes later; one is recorded, and the others report that
 * they are not. */
Test(record_troubles, processes_that_share_a_run_all_run) {
  write_text("holder.c",
             "#include <unistd.h>\n"
             "static double u[8];\n"
             "int main(void) {\n"
             "#pragma omp parallel num_threads(1)\n"
             "  u[0]++;\n"
             "  for (int i = 0; i < 30000 && access(\"go\", F_OK); i++) usleep(1000);\n"
             "}\n");
  build_loop();
  build("holder.c", "holder");
  shell_ok(
      "tsanom record -o shared -- ./holder &\n"
      "for i in $(seq 1000); do\n"
      "  test -e shared/regions/places.tsv && break; sleep 0.01\n"
      "done\n"
      "for k in 0 1; do\n"
      "  tsanom record -o shared -- ./loop 500 >out.$k 2>told.$k\n"
      "  test $? -eq 5 || exit 1\n"
      "done; : >go; wait");
  shell_ok("./loop 500 >plain; cmp plain out.0 && cmp plain out.1");
  const char *first = strstr(messages_of("shared"), "is not recorded: the run belongs");
  cr_assert(first && strstr(first + 1, "is not recorded: the run belongs"));
  tsanom_ok("speedup shared");
  /* The program has ended: the directory is that of an earlier run. */
  CHECK_REJECTED(tsanom("record -o shared -- ./loop 500"), 3, "contains a run already");
}
