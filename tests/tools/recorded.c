/* SPDX-License-Identifier: BSD-3-Clause */
/* Compiles programs by gcc and clang, records them with and without --ompt, and reads the
 * runs by the library. A compiler that is not installed is noted and left out. */
#include "recorded.h"

#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tsanom/hsa.h>

#include "support/skip.h"

const record_way record_ways[RECORD_WAYS] = {
    {"gcc", ""}, {"clang", ""}, {"clang", "--ompt"}};

bool build_kept(const char *command, const char *source, const char *name) {
  return shell("set -- %s; source='" TSANOM_TEST_PROGRAMS
               "'/$1; shift; kept='" TSANOM_TEST_KEPT
               "'/$(echo '%s %s' | tr -c 'a-zA-Z0-9\n' _); [ \"$kept\" -nt \"$source\" ] "
               "|| { %s \"$source\" \"$@\" -o \"$kept.$$\" && mv \"$kept.$$\" \"$kept\"; "
               "} && cp \"$kept\" %s",
               source, command, source, command, name) == 0;
}

bool has_openmp(const char *compiler) {
  if (shell("has='" TSANOM_TEST_KEPT
            "'/openmp-%s; [ -e \"$has\" ] || { echo 'int main(void) { return 0; }' >t.c "
            "&& %s -fopenmp t.c -o t 2>/dev/null && ./t && : >\"$has\"; }",
            compiler, compiler) == 0) {
    return true;
  }
  note_skipped("needs the Debian packages %s",
               strcmp(compiler, "clang") == 0 ? "clang libomp-dev" : compiler);
  return false;
}

bool build_program(const char *compiler, const char *name) {
  char command[64], source[64];
  if (!has_openmp(compiler)) return false;
  (void)snprintf(command, sizeof command, "%s -g -O2 -pthread -fopenmp", compiler);
  (void)snprintf(source, sizeof source, "%s.c", name);
  cr_assert(build_kept(command, source, name), "%s", name);
  return true;
}

const char *run_of(int way) {
  static char run[16];
  (void)snprintf(run, sizeof run, "run.%d", way);
  return run;
}

outcome record(int way, const char *format, ...) {
  char rest[512];
  va_list values;
  va_start(values, format);
  vsnprintf(rest, sizeof rest, format, values);
  va_end(values);
  return tsanom("record %s %s", record_ways[way].options, rest);
}

int record_as_plain(int way, const char *run, const char *program) {
  int plain = shell("%s >plain", program);
  outcome o = check_quiet(record(way, "-o %s -- %s", run, program), plain);
  write_text("recorded", o.out);
  shell_ok("cmp plain recorded");
  return plain;
}

tsanom_runs *open_run(const char *path, tsanom_runs_info *info) {
  tsanom_runs *run = NULL;
  *info = (tsanom_runs_info){.struct_size = sizeof *info};
  cr_assert(tsanom_runs_open(path, NULL, NULL, &run) == TSANOM_OK, "%s", path);
  cr_assert(tsanom_runs_describe(run, info) == TSANOM_OK);
  return run;
}

tsanom_runs_info info_of(const char *path) {
  tsanom_runs_info info;
  tsanom_runs_destroy(open_run(path, &info));
  return info;
}

const tsanom_hsa_run *hsa_of(const tsanom_runs *run) {
  const tsanom_hsa_run *view;
  cr_assert(tsanom_runs_hsa(run, NULL, &view) == TSANOM_OK);
  return view;
}

tsanom_runs_spmd_data spmd_of(tsanom_runs *run) {
  tsanom_runs_spmd_data spmd;
  cr_assert(tsanom_runs_spmd(run, NULL, &spmd) == TSANOM_OK);
  return spmd;
}

tsanom_runs_stream stream_of(const tsanom_runs *run, int32_t part, size_t index) {
  tsanom_runs_stream stream;
  cr_assert(tsanom_runs_stream_at(run, part, index, &stream) == TSANOM_OK);
  return stream;
}

double beats_of(const char *path, uint32_t stream) {
  tsanom_runs_info info;
  return (double)stream_of(open_run(path, &info), TSANOM_RUNS_BEATS, stream).count;
}

size_t analyzed_beats(const char *path, size_t thread) {
  tsanom_runs_info info;
  const tsanom_hsa_run *beats = hsa_of(open_run(path, &info));
  cr_assert(thread < beats->thread_count);
  return beats->threads[thread].beats;
}

const json_t *first_region(const json_t *result) {
  const json_t *regions = json_object_get(result, "regions");
  cr_assert(json_array_size(regions) >= 1, "no iterations were found");
  return json_array_get(regions, 0);
}

void make_time_long(const char *clock, int factor) {
  write_text("long.c",
             "#define _GNU_SOURCE\n"
             "#include <stdlib.h>\n"
             "#include <sys/syscall.h>\n"
             "#include <time.h>\n"
             "#include <unistd.h>\n"
             "int clock_gettime(clockid_t clock, struct timespec *t) {\n"
             "  static long first;\n"
             "  long status = syscall(SYS_clock_gettime, clock, t);\n"
             "  if (clock != CLOCK) return (int)status;\n"
             "  long now = t->tv_sec * 1000000000 + t->tv_nsec;\n"
             "  if (!first) first = now;\n"
             "  now = first + (now - first) * atol(getenv(\"FACTOR\"));\n"
             "  *t = (struct timespec){now / 1000000000, now % 1000000000};\n"
             "  return (int)status;\n"
             "}\n");
  char text[16];
  (void)snprintf(text, sizeof text, "%d", factor);
  setenv("FACTOR", text, 1);
  shell_ok("gcc -O2 -shared -fPIC -DCLOCK=%s long.c -o long.so", clock);
}
