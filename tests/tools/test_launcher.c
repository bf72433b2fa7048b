/* SPDX-License-Identifier: BSD-3-Clause */
/* The launcher: it needs only libc, leaves the program as it is without tsanom, and warns
 * where nothing can be recorded. */
#include <criterion/criterion.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run.h"
#include "support/skip.h"

TestSuite(command_launcher, .init = enter_folder, .fini = leave_folder, .timeout = 120);

static const char *const program =
    "static double u[8];\n"
    "int main(void) {\n"
    "  for (int i = 0; i < 20; i++) {\n"
    "#pragma omp parallel num_threads(2)\n"
    "#pragma omp master\n"
    "    u[0] += i;\n"
    "  }\n"
    "  return 5;\n"
    "}\n";

static int build(const char *options) {
  char line[256];
  write_text("loop.c", program);
  snprintf(line, sizeof line, "gcc -fopenmp %s loop.c -o loop 2>/dev/null", options);
  return system(line) == 0;
}

static int exists(const char *path) {
  return access(path, F_OK) == 0;
}

Test(command_launcher, needs_only_libc) {
  shell_ok("readelf -d \"$TSANOM_BUILT/tsanom\" >needed");
  shell_ok("grep -q 'NEEDED.*libc\\.' needed");
  cr_assert(system("grep NEEDED needed | grep -v 'libc\\.' >others") != 0,
            "the launcher needs a library other than libc");
}

Test(command_launcher, brings_no_openmp_runtime_into_the_process) {
  if (!build("")) SKIP_TEST("needs the Debian package gcc");
  setenv("OMP_DISPLAY_ENV", "true", 1);
  outcome o = tsanom("record -o run -- ./loop");
  const char *first = strstr(o.err, "OPENMP DISPLAY ENVIRONMENT BEGIN");
  cr_assert(o.status == 5 && first, "%s", o.err);
  cr_assert(!strstr(first + 1, "OPENMP DISPLAY ENVIRONMENT BEGIN"), "%s", o.err);
  check_quiet(tsanom("--version"), 0);
}

/* Exchange the first program header of "loop" with that of a type; false: there is none. */
static int put_first(Elf64_Word type) {
  Elf64_Ehdr head;
  Elf64_Phdr first, other;
  FILE *file = fopen("loop", "r+");
  cr_assert(file && fread(&head, sizeof head, 1, file) == 1);
  long from = (long)head.e_phoff, at = from;
  for (int i = 0; i < head.e_phnum; i++, at += (long)sizeof other) {
    cr_assert(fseek(file, at, SEEK_SET) == 0);
    cr_assert(fread(&other, sizeof other, 1, file) == 1);
    if (i == 0) first = other;
    if (other.p_type == type) break;
  }
  int found = other.p_type == type;
  if (found) {
    cr_assert(fseek(file, from, SEEK_SET) == 0 && fwrite(&other, sizeof other, 1, file));
    cr_assert(fseek(file, at, SEEK_SET) == 0 && fwrite(&first, sizeof first, 1, file));
  }
  cr_assert(fclose(file) == 0);
  return found;
}

/* Linkers put another one first, but nothing says that they must. */
Test(command_launcher, any_program_header_may_come_first) {
  static const Elf64_Word types[] = {PT_INTERP, PT_DYNAMIC, PT_NOTE, PT_GNU_STACK};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    /* Of other programs the loader itself must know first where they are. */
    if (!build("-no-pie")) SKIP_TEST("needs the Debian package gcc");
    if (!put_first(types[i])) continue;
    if (system("./loop; test $? -eq 5") != 0) continue; /* the loader takes none */
    shell_ok("rm -rf run");
    check_quiet(tsanom("record -o run -- ./loop"), 5);
    cr_assert(exists("run/heartbeat.run"), "%zu", i);
  }
}

/* The runtime of gcc's AddressSanitizer ends programs in which it is not the first
 * library. */
Test(command_launcher, records_programs_with_address_sanitizer) {
  if (!build("-fsanitize=address")) SKIP_TEST("gcc has no AddressSanitizer");
  check_quiet(tsanom("record -o run -- ./loop"), 5);
  cr_assert(exists("run/regions/heartbeat.00000"));
  tsanom_ok("speedup run");
  setenv("ASAN_OPTIONS", "exitcode=7:detect_leaks=0", 1);
  check_status(tsanom("record -o again -- ./loop"), 5);
  tsanom_ok(
      "record --force -o none -- sh -c 'test \"$ASAN_OPTIONS\" = "
      "exitcode=7:detect_leaks=0'");
}

Test(command_launcher, names_the_run_after_the_program_by_default) {
  if (!build("")) SKIP_TEST("needs the Debian package gcc");
  outcome o = tsanom("record ./loop");
  cr_assert(o.status == 5 && strstr(o.announced, "recording to loop.run: ") &&
                strstr(o.announced, "; afterwards: tsanom summary loop.run"),
            "%s", o.announced);
  cr_assert(exists("loop.run/heartbeat.run"));
  o = tsanom("record ./loop");
  cr_assert(o.status == 5 && strstr(o.announced, "recording to loop.run-2: "), "%s",
            o.announced);
  cr_assert(exists("loop.run-2/heartbeat.run"));
  o = tsanom("record ./no-such-program");
  cr_assert(o.status != 0 && !*o.announced, "%s", o.announced);
}

Test(command_launcher, warns_that_a_set_user_id_program_is_not_recorded) {
  if (!build("")) SKIP_TEST("needs the Debian package gcc");
  if (geteuid() != 0) SKIP_TEST("only root can create such a program");
  cr_assert(chown("loop", 65534, 65534) == 0 && chmod("loop", 04755) == 0);
  outcome o = tsanom("record -o run -- ./loop");
  cr_assert(o.status == 5 && strstr(o.err, "record: warning: ./loop: set-user-ID"), "%s",
            o.err);
  cr_assert(chmod("loop", 02755) == 0);
  o = tsanom("record -o run -- ./loop");
  cr_assert(strstr(o.err, "record: warning: ./loop: set-group-ID"), "%s", o.err);
  cr_assert(chown("loop", 0, 0) == 0 && chmod("loop", 06755) == 0);
  o = tsanom("record -o own -- ./loop");
  cr_assert(*o.err == '\0' && exists("own/heartbeat.run"), "%s", o.err);
}

Test(command_launcher, warns_that_env_removes_the_preload) {
  static const char *const clearing[] = {"-i",      "-",   "--ignore-environment",
                                         "-u A -i", "-0i", "-u A B=1 LD_PRELOAD="};
  static const char *const keeping[] = {"",     "-u i",      "-ui",
                                        "A=-i", "--unset=i", "A=LD_PRELOAD="};
  if (!build("")) SKIP_TEST("needs the Debian package gcc");
  for (size_t i = 0; i < sizeof clearing / sizeof *clearing; i++) {
    outcome o = tsanom("record --force -o cleared.%zu -- env %s true", i, clearing[i]);
    cr_assert(strstr(o.err, "from LD_PRELOAD"), "%s: %s", clearing[i], o.err);
  }
  for (size_t i = 0; i < sizeof keeping / sizeof *keeping; i++) {
    check_quiet(tsanom("record --force -o run.%zu -- env %s ./loop", i, keeping[i]), 5);
  }
}

/* As execvp() finds them. */
Test(command_launcher, finds_programs_as_shells_do) {
  static const char *const paths[] = {":/usr/bin:/bin", "/usr/bin:", "/usr/bin::/bin",
                                      "/no/folder:.:/bin"};
  if (!build("")) SKIP_TEST("needs the Debian package gcc");
  shell_ok("mkdir folder && cp loop folder/sh");
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
    shell_ok(
        "t=$(command -v tsanom); PATH=%s \"$t\" record -o run.%zu -- loop 2>err; test "
        "$? -eq 5; cat err; grep -q 'regions, calls of MPI' err",
        paths[i], i);
  }
  shell_ok(
      "t=$(command -v tsanom); PATH=$PWD:/bin:/usr/bin; mkdir loop.d; cd folder; PATH="
      "..:. \"$t\" record -o run -- sh 2>err; test $? -eq 5");
  shell_ok("t=$(command -v tsanom); env -u PATH \"$t\" record -o no-path -- true 2>err");
  CHECK_REJECTED(tsanom("record -o directory -- ./folder"), 3, "Permission denied");
  cr_assert(!exists("directory"));
}

/* The beginning of its name, or a directory, makes no library one of MPI. */
Test(command_launcher, knows_libraries_of_mpi_by_their_names) {
  static const char *const libraries[] = {"libmpi-tools/libtool.so", "libmpir.so",
                                          "libmpi.so"};
  write_text("tool.c", "int tool(void) { return 0; }\n");
  write_text("uses.c", "int tool(void);\nint main(void) { return tool(); }\n");
  if (system("mkdir -p libmpi-tools && gcc -c tool.c") != 0) {
    SKIP_TEST("needs the Debian package gcc");
  }
  for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
    shell_ok("gcc -shared -fPIC tool.c -o %s && gcc uses.c ./%s -o uses", libraries[i],
             libraries[i]);
    outcome o = tsanom("record -o run.%zu -- ./uses", i);
    bool is_plain = strstr(o.announced, "uses neither OpenMP nor MPI") != NULL;
    cr_assert(o.status == 0 && is_plain == (i < 2), "%s: %s", libraries[i], o.announced);
  }
}
