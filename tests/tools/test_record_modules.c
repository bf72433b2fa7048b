/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom record on programs that load and unload libraries, and names of code without
 * line information. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "recorded.h"

TestSuite(record_modules, .init = enter_folder, .fini = leave_folder, .timeout = 240);

/* Write NAME.c: a library with work(), which opens regions. */
static void write_library(const char *name) {
  char text[1024], path[64];
  snprintf(path, sizeof path, "%s.c", name);
  snprintf(text, sizeof text,
           "static double u[64];\n"
           "void first(void) { u[0]++; }\n"
           "void share(void) {\n"
           "  u[1]++;\n"
           "#pragma omp barrier\n"
           "  u[2]++;\n"
           "}\n"
           "void work(int regions) {\n"
           "  for (int i = 0; i < regions; i++) {\n"
           "#pragma omp parallel num_threads(2)\n"
           "    %s();\n"
           "  }\n"
           "}\n",
           strcmp(name, "stripped") == 0 ? "share" : "first");
  write_text(path, text);
}

static bool build_library(const char *compiler, const char *options, const char *name) {
  write_library(name);
  return shell("%s %s -O2 -fno-inline -fopenmp -fPIC -shared %s.c -o %s.so", compiler,
               options, name, name) == 0;
}

/* Record ./plugins with these words. */
static void record_plugins(int way, const char *run, const char *words) {
  shell_ok("rm -rf %s", run);
  check_quiet(record(way, "-o %s -- ./plugins %s", run, words), 0);
}

/* Whether there are `count` places, and their names contain the pieces. */
static bool names_are(const char *path, size_t count, const char *const *piece) {
  tsanom_runs_info info;
  tsanom_runs *run = open_run(path, &info);
  bool as_expected = info.places == count;
  for (size_t i = 0; i < info.places; i++) {
    const char *name = NULL;
    cr_assert(tsanom_runs_place_name(run, i, NULL, &name) == TSANOM_OK);
    as_expected = as_expected && strstr(name, piece[i]);
    fprintf(stderr, "%s: place %zu is %s\n", path, i, name);
  }
  return as_expected;
}

/* As packages of Python bring it: a runtime under a name of its own, which the program
 * loads before the library that needs it. */
Test(record_modules, a_runtime_of_another_name_is_found) {
  write_library("alpha");
  write_text("p.c",
             "#include <dlfcn.h>\n"
             "#include <stddef.h>\n"
             "int main(void) {\n"
             "  void *runtime = dlopen(\"./libgomp-0a.1\", RTLD_NOW);\n"
             "  void *alpha = dlopen(\"./alpha.so\", RTLD_LAZY);\n"
             "  void (*work)(int) = alpha ? dlsym(alpha, \"work\") : NULL;\n"
             "  if (!runtime || !work) return 1;\n"
             "  work(10);\n"
             "  return 0;\n"
             "}\n");
  if (!has_openmp("gcc")) return;
  shell_ok(
      "sed s/libgomp.so.1/libgomp-0a.1/g \"$(gcc -print-file-name=libgomp.so.1)\" "
      ">libgomp-0a.1 && gcc -O2 -fopenmp -fPIC -c alpha.c && gcc -shared alpha.o "
      "./libgomp-0a.1 -o alpha.so && gcc p.c -o p");
  check_quiet(tsanom("record -o run -- ./p"), 0);
  tsanom_runs_info info = info_of("run");
  cr_assert_eq(info.places, 1);
}

Test(record_modules, another_library_at_the_same_address_has_places_of_its_own) {
  static const char *const expected[] = {"plugins.c:", "alpha.c:", "gamma.c:"};
  for (int c = 0; c < RECORD_WAYS; c++) {
    const char *compiler = record_ways[c].compiler;
    if (!build_program(compiler, "plugins")) continue;
    cr_assert(build_library(compiler, "-g", "alpha"));
    cr_assert(build_library(compiler, "-g", "gamma"));
    record_plugins(c, "run", "./alpha.so ./gamma.so");
    cr_assert(names_are("run", 3, expected));
    /* Code that comes back has its old number. */
    record_plugins(c, "run", "./alpha.so ./gamma.so ./alpha.so ./gamma.so ./gamma.so");
    cr_assert(names_are("run", 3, expected));
  }
}

/* The file that is there in the end can only name its own places. */
Test(record_modules, a_library_that_is_replaced_on_disk_is_another_one) {
  static const char *const expected[] = {"plugins.c:", "alpha.so+0x", "gamma.c:"};
  static const char *const identities[] = {"-g", "-g -Wl,--build-id=none"};
  for (int c = 0; c < RECORD_WAYS; c++) {
    const char *compiler = record_ways[c].compiler;
    if (!build_program(compiler, "plugins")) continue;
    for (int i = 0; i < 2; i++) {
      cr_assert(build_library(compiler, identities[i], "alpha"));
      cr_assert(build_library(compiler, identities[i], "gamma"));
      record_plugins(c, "run", "./alpha.so gamma.so=./alpha.so");
      cr_assert(names_are("run", 3, expected));
      cr_assert(file_holds("run/regions/places.tsv", i ? "\tfile:" : "\tbuild-id:"));
    }
  }
}

/* A stripped library keeps the symbols of its interface; what lies behind one of them,
 * but not in it, has no name. clang's regions are such functions, and gcc's. Through OMPT
 * places are calls, here in work() and share(). */
Test(record_modules, code_without_a_symbol_of_its_own_has_an_offset) {
  static const char *const outlined[] = {"plugins.c:", "stripped.so+0x", "share"};
  static const char *const calls[] = {"plugins.c:", "work", "share"};
  for (int c = 0; c < RECORD_WAYS; c++) {
    const char *compiler = record_ways[c].compiler;
    if (!build_program(compiler, "plugins")) continue;
    cr_assert(build_library(compiler, "-s", "stripped"));
    record_plugins(c, "run", "./stripped.so");
    cr_assert(names_are("run", 3, *record_ways[c].options ? calls : outlined));
  }
}

Test(record_modules, a_path_with_blanks_names_file_and_line) {
  static const char *const expected[] = {"plugins.c:", "(alpha.c:"};
  if (!build_program("gcc", "plugins")) return;
  write_library("alpha");
  shell_ok(
      "mkdir 'my own (folder)' && mv alpha.c 'my own (folder)' && gcc -g -O2 "
      "-fno-inline -fopenmp -fPIC -shared 'my own (folder)/alpha.c' -o alpha.so");
  record_plugins(0, "run", "./alpha.so");
  cr_assert(names_are("run", 2, expected));
}

/* The identity is not in runs of older versions. */
Test(record_modules, places_of_version_1_are_read) {
  static const char *const expected[] = {"plugins.c:", "alpha.c:"};
  if (!build_program("gcc", "plugins")) return;
  cr_assert(build_library("gcc", "-g", "alpha"));
  record_plugins(0, "run", "./alpha.so");
  shell_ok(
      "cd run/regions && awk -F '\\t' 'NR == 1 { print \"tsanom places 1\" } NR > 1 { "
      "print $1 \"\\t\" $2 \"\\t\" $3 \"\\t\" $5 }' places.tsv >old && mv old "
      "places.tsv");
  cr_assert(names_are("run", 2, expected));
}
