/* SPDX-License-Identifier: BSD-3-Clause */
/* The regions of a recorded program as a tree: worksharing and functions in parallel
 * regions, and functions of a process. */
#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tsanom/spmd.h>

#include "recorded.h"
#include "support/skip.h"

/* Waiting must not use the processor; tests of several programs run beside this one. */
static void prepare(void) {
  enter_folder();
  setenv("OMP_WAIT_POLICY", "passive", 1);
}

TestSuite(record_tree, .init = prepare, .fini = leave_folder, .timeout = 120);

#define CUT "--fixed --tolerance 0.4 --json"

/* An instrumented program calls the recorder for each term. */
static const char plain[] = "-DTERMS=1000000";
static const char functions[] = "-finstrument-functions -DTERMS=100000";

/* Build programs/SOURCE as ./p; false if the compiler has no OpenMP. */
static bool build(const char *compiler, const char *flags, const char *source) {
  bool is_c = strstr(source, ".c") != NULL;
  if (is_c && !has_openmp(compiler)) return false;
  if (!is_c && shell("command -v %s >found", compiler) != 0) {
    note_skipped("needs the Debian package %s", compiler);
    return false;
  }
  shell_ok("%s -g -O1 -pthread -fopenmp %s " TSANOM_TEST_PROGRAMS "/%s -o p", compiler,
           flags, source);
  return true;
}

/* The last component of the name of a region. */
static const char *own_name(const char *name) {
  const char *last = name;
  for (const char *at = strstr(name, " > "); at; at = strstr(at + 1, " > "))
    last = at + 3;
  return last;
}

/* The first region from number `from` on whose last component begins with `begin`; NULL:
 * none. */
static const json_t *region_of(const json_t *r, const char *begin, size_t from) {
  const json_t *regions = json_object_get(r, "regions");
  for (size_t i = from; i < json_array_size(regions); i++) {
    const json_t *region = json_array_get(regions, i);
    if (strncmp(own_name(text_of(region, "region")), begin, strlen(begin)) == 0) {
      return region;
    }
  }
  return NULL;
}

/* Whether the name of a region goes on behind that of the one around it. */
static void check_paths(const json_t *r) {
  const json_t *regions = json_object_get(r, "regions");
  for (size_t i = 0; i < json_array_size(regions); i++) {
    const json_t *region = json_array_get(regions, i);
    const char *parent = json_string_value(json_object_get(region, "parent"));
    const char *name = text_of(region, "region");
    if (!parent) continue;
    cr_assert(strncmp(name, parent, strlen(parent)) == 0, "%s in %s", name, parent);
    cr_assert(strncmp(name + strlen(parent), " > ", 3) == 0, "%s in %s", name, parent);
  }
}

/* Whether thread 1 is the first of a second kind. */
static bool has_kinds(const json_t *r) {
  const json_t *kinds = json_object_get(r, "clusters");
  return json_array_size(kinds) == 2 &&
         json_integer_value(json_array_get(json_array_get(kinds, 1), 0)) == 1;
}

/* Record the program as the run `path`. A machine that is busy with other things may take
 * processor time from one thread, and then the program is recorded again. */
static json_t *record_kinds(int way, const char *option, const char *path,
                            const char *program) {
  json_t *r = NULL;
  for (int attempt = 0; attempt < 8; attempt++) {
    shell_ok("rm -rf %s", path);
    cr_assert(record(way, "%s -o %s -- %s", option, path, program).status == 0);
    r = tsanom_json("similar %s " CUT, path);
    if (has_kinds(r)) break;
  }
  cr_assert(has_kinds(r), "threads do not differ as the program makes them");
  return r;
}

/* The part of the second loop is the core, not the region around it: the first loop and
 * the third one take as long in each thread. */
Test(record_tree, worksharing_is_nested_in_its_region) {
  for (int c = 0; c < RECORD_WAYS; c++) {
    if (!build(record_ways[c].compiler, plain, "calls.c")) continue;
    json_t *r = record_kinds(c, "--cpu-time", "run", "./p");
    check_paths(r);
    const json_t *cores = json_object_get(r, "cccr");
    cr_assert(json_array_size(cores) == 1);
    const char *core = own_name(text_at(cores, 0));
    cr_assert(strncmp(core, "until ", 6) == 0, "%s", core);
    cr_assert(region_of(r, "rest", 0) && region_of(r, core, 0));
    outcome o = CHECK_PRINTS(tsanom("similar run --fixed --tolerance 0.4"),
                             "(1-CCR) ---> until ");
    cr_assert(strstr(o.out, "\n  until "), "%s", o.out);
  }
}

static size_t number_of_region(const tsanom_runs_spmd_data *f, const char *end) {
  size_t length = strlen(end);
  for (size_t k = 0; k < f->data->regions; k++) {
    const char *name = f->region[k], *line = strrchr(name, ' ');
    size_t own = line && line[1] == '(' ? (size_t)(line - name) : strlen(name);
    if (own >= length && strncmp(name + own - length, end, length) == 0) return k;
  }
  cr_assert_fail("no region %s", end);
  return 0;
}

/* Visits of a region by each process. */
static void check_calls(tsanom_runs *run, size_t processes, const char *end,
                        double calls) {
  tsanom_runs_spmd_data f = spmd_of(run);
  cr_assert(f.data->processes == processes);
  size_t k = number_of_region(&f, end);
  for (size_t t = 0; t < processes; t++) {
    double found = f.data->metric[t * f.data->regions + k];
    cr_assert(found == calls, "%s: %g calls", end, found);
  }
}

Test(record_tree, functions_are_nested_in_regions) {
  for (int c = 0; c < RECORD_WAYS; c++) {
    if (!build(record_ways[c].compiler, functions, "calls.c")) continue;
    json_t *r = record_kinds(c, "--functions", "run", "./p");
    check_paths(r);
    const char *hard = text_of(region_of(r, "hard", 0), "region");
    const json_t *work = region_of(r, "work", 0);
    cr_assert(work, "no work()");
    cr_assert(!region_of(r, "tiny", 0), "tiny() was called too often");
    cr_assert(!region_of(r, "main (", 0), "main() is outside of regions");
    const json_t *regions = json_object_get(r, "regions");
    int is_core = 0;
    for (size_t i = 0; i < json_array_size(regions); i++) {
      const json_t *region = json_array_get(regions, i);
      const char *parent = json_string_value(json_object_get(region, "parent"));
      is_core += parent && strcmp(parent, hard) == 0 &&
                 json_is_true(json_object_get(region, "cccr"));
    }
    cr_assert(is_core == 1, "the work in hard() is the core");
    const json_t *dropped = json_object_get(r, "dropped_functions");
    cr_assert(json_array_size(dropped) == 1);
    cr_assert(strncmp(text_at(dropped, 0), "tiny", 4) == 0);
    /* Once each, however deep deep() calls itself. */
    tsanom_runs_info info;
    tsanom_runs *run = open_run("run", &info);
    check_calls(run, 4, "deep", 10);
    check_calls(run, 4, "hard", 10);
    CHECK_PRINTS(tsanom("similar run --plot p.svg"),
                 "called too often to be recorded:\n  tiny");
    check_svg("p.svg");
  }
}

/* Of a program that runs for weeks, no function is called too often. */
Test(record_tree, functions_may_be_called_rarely) {
  static const int factors[] = {1, 5000000, 10000000, 20000000};
  write_text("rare.c",
             "#include <unistd.h>\n"
             "static void step(void) { usleep(100); }\n"
             "int main(void) {\n"
             "  for (int i = 0; i < 1200; i++) {\n"
             "#pragma omp parallel num_threads(2)\n"
             "    step();\n"
             "  }\n"
             "}\n");
  if (!has_openmp("gcc")) return;
  shell_ok("gcc -g -O1 -fopenmp -finstrument-functions rare.c -o rare");
  for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
    make_time_long("CLOCK_MONOTONIC_COARSE", factors[i]);
    shell_ok(
        "rm -rf run; LD_PRELOAD=./long.so tsanom record --functions -o run -- ./rare "
        "2>err");
    json_t *r = tsanom_json("similar run " CUT);
    cr_assert(size_of(r, "dropped_functions") == 0, "%d", factors[i]);
    cr_assert(region_of(r, "step", 0), "%d", factors[i]);
  }
}

/* Two functions that call each other, deeper than the recorder follows them, and one that is
 * called too often. The first of them works when the others have returned. */
Test(record_tree, functions_of_a_deep_recursion_end_when_they_return) {
  static const int depths[] = {100, 400};
  write_text("deep.c",
             "#include <stdlib.h>\n"
             "#include <time.h>\n"
             "static int most;\n"
             "static volatile int sum;\n"
             "static void often(int k) { sum += k; }\n"
             "__attribute__((no_instrument_function)) static double cpu(void) {\n"
             "  struct timespec now;\n"
             "  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);\n"
             "  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;\n"
             "}\n"
             "static void two(int depth);\n"
             "static void one(int depth) {\n"
             "  often(depth);\n"
             "  if (depth) two(depth - 1);\n"
             "  often(depth);\n"
             "  for (double begin = cpu(); depth == most && cpu() < begin + 0.03;);\n"
             "}\n"
             "static void two(int depth) {\n"
             "  often(depth);\n"
             "  if (depth) one(depth - 1);\n"
             "}\n"
             "int main(int count, char **word) {\n"
             "  most = count > 1 ? atoi(word[1]) : 0;\n"
             "  for (int i = 0; i < 5; i++) {\n"
             "#pragma omp parallel num_threads(2)\n"
             "    for (int k = 0; k < 5000; k++) often(k);\n"
             "#pragma omp parallel num_threads(2)\n"
             "    one(most);\n"
             "  }\n"
             "}\n");
  if (!has_openmp("gcc")) return;
  shell_ok("gcc -g -O1 -fopenmp -finstrument-functions deep.c -o deep");
  for (size_t i = 0; i < sizeof depths / sizeof *depths; i++) {
    shell_ok("rm -rf run; tsanom record --functions -o run -- ./deep %d 2>err",
             depths[i]);
    tsanom_runs_info info;
    tsanom_runs *run = open_run("run", &info);
    tsanom_runs_spmd_data f = spmd_of(run);
    double seconds = f.data->time[number_of_region(&f, "one")];
    cr_assert(seconds >= 5 * 0.03, "%d deep: %g s", depths[i], seconds);
  }
}

Test(record_tree, functions_are_recorded_on_request_only) {
  if (!build("gcc", functions, "calls.c")) return;
  cr_assert(record(0, "--cpu-time -o run -- ./p").status == 0);
  json_t *r = tsanom_json("similar run " CUT);
  cr_assert(region_of(r, "until", 0) && !region_of(r, "hard", 0));
}

/* As in an interpreter: the program has neither OpenMP nor instrumented functions, the
 * library that it loads has both. */
Test(record_tree, functions_of_a_library_that_is_loaded_late) {
  if (!has_openmp("gcc")) return;
  write_text("work.c",
             "#include <math.h>\n"
             "static double part(double x, int terms) {\n"
             "  for (int k = 0; k < terms; k++) x = sin(x + k);\n"
             "  return x;\n"
             "}\n"
             "int work(void) {\n"
             "  double x[4] = {0};\n"
             "  for (int step = 0; step < 20; step++) {\n"
             "#pragma omp parallel for num_threads(2)\n"
             "    for (int i = 0; i < 4; i++) x[i] += part(i, i < 2 ? 20000 : 60000);\n"
             "  }\n"
             "  return x[0] + x[3] > 1e9;\n"
             "}\n");
  write_text("late.c",
             "#include <dlfcn.h>\n"
             "int main(void) {\n"
             "  void *found = dlsym(dlopen(\"./work.so\", RTLD_NOW), \"work\");\n"
             "  return (*(int (**)(void))&found)();\n"
             "}\n");
  shell_ok(
      "gcc -O1 -g -fopenmp -finstrument-functions -fPIC -shared work.c -o work.so -lm && "
      "gcc -O2 late.c -o late -ldl");
  json_t *r = record_kinds(0, "--functions", "run", "./late");
  cr_assert(region_of(r, "part", 0));
  check_paths(r);
}

Test(record_tree, functions_in_fortran) {
  if (!build("gfortran", functions, "calls.f90")) return;
  json_t *r = record_kinds(0, "--functions", "run", "./p");
  check_paths(r);
  const json_t *hard = region_of(r, "__calls_MOD_hard", 0);
  cr_assert(hard && json_is_true(json_object_get(hard, "ccr")));
}

static void check_parent(const json_t *r, const char *name, const char *parent) {
  const json_t *region = region_of(r, name, 0);
  cr_assert(region, "no %s", name);
  const char *found = text_of(region, "parent");
  cr_assert(strncmp(own_name(found), parent, strlen(parent)) == 0, "%s in %s", name,
            found);
}

/* Functions alone, without a parallel region; two runs are two processes. */
Test(record_tree, functions_of_processes) {
  static const char *const compilers[] = {"gcc", "clang"};
  for (int c = 0; c < 2; c++) {
    if (!build(compilers[c], functions, "jumps.c")) continue;
    tsanom_ok("record --functions -o short%d -- ./p 1000", c);
    outcome o = tsanom("record --functions -o long%d -- ./p 30000000", c);
    cr_assert(o.status == 0 && strcmp(o.out, "1 1\n") == 0 && !*o.err, "%s", o.err);
    json_t *r = tsanom_json("similar short%d long%d " CUT, c, c);
    check_paths(r);
    cr_assert(size_of(r, "clusters") == 2);
    const char *core = json_string_value(item_of(r, "cccr", 0));
    cr_assert(core && strncmp(own_name(core), "last", 4) == 0, "%s", core);
    cr_assert(json_is_null(json_object_get(region_of(r, "main", 0), "parent")));
    check_parent(r, "jump", "main");
    check_parent(r, "even", "main");
    check_parent(r, "odd", "even");
    check_parent(r, "last", "main");
    check_parent(r, "handle", "main");
    char first[16], second[16];
    snprintf(first, sizeof first, "short%d", c);
    snprintf(second, sizeof second, "long%d", c);
    const char *const paths[] = {first, second};
    tsanom_runs *both = NULL;
    cr_assert(tsanom_runs_open_processes(paths, 2, NULL, NULL, &both) == TSANOM_OK);
    check_calls(both, 2, "jump", 2);
    check_calls(both, 2, "even", 1);
    tsanom_runs_destroy(both);
  }
}
