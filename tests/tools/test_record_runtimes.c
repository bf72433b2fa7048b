/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom record on processes that have two OpenMP runtimes: plug-ins and packages of
 * Python bring their own. A recorded program must do what it does without the recorder:
 *
 *   {libgomp, a renamed copy, libomp}^2, in both orders
 *   x {linked, RTLD_LOCAL, RTLD_GLOBAL, RTLD_DEEPBIND}^2
 *   x {bound when loaded, at the first call}
 *   x {the other library is loaded before or after the first is run}
 *   x {the library is loaded, or a plug-in that needs it}
 *
 * each with all constructs of programs/library.c. Whatever the plain program prints is
 * right, even where it mixes runtimes. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/regions.h"
#include "recorded.h"

TestSuite(record_runtimes, .init = enter_folder, .fini = leave_folder, .timeout = 240);

enum { KINDS = 3, MODES = 4, WAYS = 8 };

/* A library's name, what compiles it, and the option that links its runtime. */
static const struct {
  const char *name, *compiler, *runtime;
} kinds[KINDS] = {{"gnu", "gcc", "-fopenmp"},
                  {"copy", "gcc", "./libgomp-a.so"},
                  {"llvm", "clang", "-fopenmp"}};

static const char *const modes[MODES] = {"linked", "local", "global", "deep"};

/* Set in the first two words of `libraries`; and the plug-in is loaded. */
static bool is_lazy(unsigned way) {
  return way & 1;
}
static bool is_late(unsigned way) {
  return way >> 1 & 1;
}
static bool is_behind(unsigned way) {
  return way >> 2 & 1;
}

/* NAME.so: the library. NAME-behind.so: a plug-in that needs it and the runtime, which the
 * library NAME-open.so does not name. */
static void build_library(unsigned kind) {
  const char *compiler = kinds[kind].compiler, *name = kinds[kind].name;
  const char *runtime = kinds[kind].runtime;
  const char *link = "-shared -Wl,--no-as-needed -Wl,-rpath,'$ORIGIN' -Wl,-z,lazy";
  shell_ok("%s -O2 -g -fopenmp -fPIC -DNAME=%s -c " TSANOM_TEST_PROGRAMS
           "/library.c -o %s.o && %s %s %s.o %s -o %s.so",
           compiler, name, name, compiler, link, name, runtime, name);
  shell_ok(
      "%s %s %s.o -o %s-open.so && %s -O2 -fPIC -DNAME=%s -DBEHIND -c "
      "-fopenmp " TSANOM_TEST_PROGRAMS
      "/library.c -o b.o && %s %s b.o ./%s-open.so %s -o %s-behind.so",
      compiler, link, name, name, compiler, name, compiler, link, name, runtime, name);
}

/* Build the program and two libraries; false if their compilers are not installed. */
static bool build_all(unsigned first, unsigned second) {
  const unsigned pair[2] = {first, second};
  for (int l = 0; l < 2; l++) {
    const char *compiler = kinds[pair[l]].compiler;
    if (has_openmp(compiler)) continue;
    fprintf(stderr, "not tested without %s\n", compiler);
    return false;
  }
  shell_ok("gcc -O2 " TSANOM_TEST_PROGRAMS "/libraries.c -o libraries -ldl");
  shell_ok(
      "sed s/libgomp.so.1/libgomp-a.so/g $(gcc -print-file-name=libgomp.so.1) "
      ">libgomp-a.so && chmod +x libgomp-a.so");
  build_library(first);
  build_library(second);
  return true;
}

/* The program and its words for a cell of the table. */
static void write_line(unsigned first, unsigned second, unsigned m, unsigned way,
                       char *line, size_t bytes) {
  const char *shape = is_behind(way) ? "-behind" : "",
             *part = is_behind(way) ? "_behind" : "";
  const char *mode[2] = {modes[m % MODES], modes[m / MODES]};
  const char *name[2] = {kinds[first].name, kinds[second].name};
  char program[64] = "libraries", linked[128] = "";
  for (int l = 0; l < 2; l++) {
    if (strcmp(mode[l], "linked") != 0) continue;
    size_t at = strlen(linked);
    snprintf(linked + at, sizeof linked - at, " ./%s%s.so", name[l], shape);
    at = strlen(program);
    snprintf(program + at, sizeof program - at, "-%s%s", name[l], shape);
  }
  if (*linked) {
    shell_ok("test -e %s || gcc -O2 " TSANOM_TEST_PROGRAMS
             "/libraries.c -Wl,--no-as-needed -Wl,-z,%s %s -Wl,-rpath,'$ORIGIN' "
             "-Wl,--allow-shlib-undefined -ldl -o %s",
             program, is_lazy(way) ? "lazy" : "now", linked, program);
  }
  snprintf(line, bytes, "./%s %s %s %s ./%s%s.so %s%s %s ./%s%s.so %s%s", program,
           is_lazy(way) ? "lazy" : "now", is_late(way) ? "late" : "early", mode[0],
           name[0], shape, name[0], part, mode[1], name[1], shape, name[1], part);
}

/* Whether a line does the same without and with the recorder, which reports `message`;
 * the run stays. */
static bool is_same(const char *line, const char *message) {
  int plain = shell("rm -rf run; %s >plain 2>plain.err", line);
  outcome o = tsanom("record -o run -- %s", line);
  bool is_quiet = *o.err == '\0';
  write_text("recorded", o.out);
  const char *messages = messages_of("run");
  bool is_expected = *message ? strstr(messages, message) != NULL
                              : strstr(messages, "not recorded:") == NULL;
  if (o.status == plain && is_quiet && is_expected && shell("cmp -s plain recorded") == 0)
    return true;
  fprintf(stderr, "%d, plain %d: %s: %s\n", o.status, plain, line, messages);
  return false;
}

ParameterizedTestParameters(record_runtimes, each_call_has_its_own_runtime) {
  static unsigned pairs[KINDS * (KINDS - 1)];
  unsigned count = 0;
  for (unsigned p = 0; p < KINDS * KINDS; p++) {
    if (p / KINDS != p % KINDS) pairs[count++] = p;
  }
  return cr_make_param_array(unsigned, pairs, count);
}

/* Two of the eight ways for each cell; over the table all meet. */
ParameterizedTest(unsigned *pair, record_runtimes, each_call_has_its_own_runtime) {
  unsigned first = *pair / KINDS, second = *pair % KINDS, wrong = 0, cells = 0;
  char line[512];
  setenv("OMP_WAIT_POLICY", "passive", 1); /* a busy machine takes seconds for a cell */
  if (!build_all(first, second)) return;
  for (unsigned m = 0; m < MODES * MODES; m++) {
    for (unsigned k = 0; k < WAYS; k++) {
      if ((k + m + m / MODES + *pair) % 4 != 0) continue;
      write_line(first, second, m, k, line, sizeof line);
      wrong += !is_same(line, "");
      cells++;
    }
  }
  cr_assert(wrong == 0, "%u of %u", wrong, cells);
}

/* The second process of a run. */
Test(record_runtimes, a_process_that_is_not_recorded_is_left_alone) {
  char line[512], both[1200];
  setenv("OMP_WAIT_POLICY", "passive", 1);
  for (unsigned first = 0; first < KINDS; first++) {
    unsigned second = (first + 1) % KINDS;
    if (!build_all(first, second)) continue;
    for (unsigned way = 0; way < WAYS; way += 3) {
      write_line(first, second, 1 + MODES, way, line, sizeof line);
      snprintf(both, sizeof both, "sh -c '%s >/dev/null; %s'", line, line);
      cr_assert(is_same(both, "is not recorded"));
    }
  }
}

/* The plug-in names another runtime in front of the library, which names its own. */
Test(record_runtimes, the_first_runtime_in_the_list_of_the_plugin_counts) {
  setenv("OMP_WAIT_POLICY", "passive", 1);
  if (!build_all(0, 1)) return;
  shell_ok("gcc -O2 -fPIC -DNAME=gnu -DBEHIND -fopenmp -c " TSANOM_TEST_PROGRAMS
           "/library.c -o b.o && gcc -shared -Wl,--no-as-needed -Wl,-rpath,'$ORIGIN' b.o "
           "./libgomp-a.so ./gnu.so -o mixed.so");
  cr_assert(
      is_same("./libraries now early local ./gnu-behind.so gnu_behind local ./mixed.so "
              "gnu_behind",
              ""));
  cr_assert(is_same(
      "./libraries lazy late local ./gnu.so gnu local ./mixed.so gnu_behind", ""));
}

/* Nothing shows to which of the two the loader bound the only call of the library. */
Test(record_runtimes, a_call_that_may_be_of_either_runtime_is_not_recorded) {
  if (!build_all(0, 1)) return;
  write_text("bare.c",
             "int bare_run(int kind, int *hits) {\n"
             "  if (kind) return 0;\n"
             "#pragma omp parallel num_threads(2)\n"
             "  __atomic_fetch_add(hits, 1, 0);\n"
             "  return 1;\n"
             "}\n"
             "void bare_orphan(int *hits) { ++*hits; }\n");
  shell_ok("gcc -g -O2 -fopenmp -fPIC -shared bare.c -o bare.so");
  cr_assert(is_same("./libraries now early local ./bare.so bare global ./copy.so copy",
                    "regions of bare.so are not recorded"));
  tsanom_runs_info info;
  tsanom_runs *run = open_run("run", &info);
  for (size_t i = 0; i < info.places; i++) {
    const char *name = NULL;
    tsanom_runs_stream stream = stream_of(run, TSANOM_RUNS_REGIONS, 0);
    cr_assert(tsanom_runs_place_name(run, i, NULL, &name) == TSANOM_OK);
    for (size_t k = 0; k < stream.count && strstr(name, "bare"); k++) {
      tsn_region_event event = tsn_region_decode(stream.tag[k]);
      cr_assert(event.place != (int32_t)i, "%s", name);
    }
  }
}

/* Two libraries with teams of 2 and 3 in turn: numbers and sizes are of each one's own. */
Test(record_runtimes, numbers_and_teams_are_of_the_own_runtime) {
  if (!build_all(0, 1)) return;
  write_text("team.c",
             "int work(void) {\n"
             "  int sum = 0;\n"
             "#pragma omp parallel for num_threads(TEAM) reduction(+ : sum)\n"
             "  for (int i = 0; i < 60; i++) sum++;\n"
             "  return sum;\n"
             "}\n");
  write_text("turns.c",
             "#include <dlfcn.h>\n"
             "int main(void) {\n"
             "  int (*work[2])(void), sum = 0;\n"
             "  for (int l = 0; l < 2; l++) {\n"
             "    void *handle = dlopen(l ? \"./three.so\" : \"./two.so\", RTLD_NOW);\n"
             "    *(void **)&work[l] = dlsym(handle, \"work\");\n"
             "  }\n"
             "  for (int i = 0; i < 40; i++) sum += work[0]() + work[1]();\n"
             "  return sum != 4800;\n"
             "}\n");
  shell_ok(
      "gcc turns.c -o turns -ldl && gcc -O2 -fPIC -fopenmp -shared -DTEAM=2 team.c -o "
      "two.so && gcc -O2 -fPIC -fopenmp -DTEAM=3 -c team.c && gcc -shared "
      "-Wl,-rpath,'$ORIGIN' team.o ./libgomp-a.so -o three.so");
  cr_assert(is_same("./turns", ""));
  tsanom_runs_info info;
  tsanom_runs *run = open_run("run", &info);
  cr_assert_eq(info.places, 2);
  int ends[3][4] = {{0}}; /* by thread number and size of the team */
  for (size_t s = 0; s < info.event_streams; s++) {
    tsanom_runs_stream stream = stream_of(run, TSANOM_RUNS_REGIONS, s);
    for (size_t k = 0; k < stream.count; k++) {
      tsn_region_event event = tsn_region_decode(stream.tag[k]);
      if (event.kind != TSN_REGIONS_END) continue;
      cr_assert(stream.thread < 3 && event.threads < 4);
      ends[stream.thread][event.threads]++;
    }
  }
  for (int t = 0; t < 3; t++) {
    cr_assert(ends[t][2] == (t < 2 ? 40 : 0) && ends[t][3] == 40, "%d", t);
  }
}
