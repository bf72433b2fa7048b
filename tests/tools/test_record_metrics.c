/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom record --metrics. */
#include <criterion/criterion.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tsanom/spmd.h>

#include "recorded.h"

static void prepare(void) {
  enter_folder();
  setenv("OMP_WAIT_POLICY", "passive", 1);
}

TestSuite(record_metrics, .init = prepare, .fini = leave_folder, .timeout = 120);

/* The bytes in units of 512, read and written, of 20 visits. */
static void check_disk(const char *path) {
  tsanom_runs_info info;
  tsanom_runs *run = open_run(path, &info);
  tsanom_runs_spmd_data f = spmd_of(run);
  cr_assert(f.data->metrics == 2 && strcmp(f.metric[1], "disk-bytes") == 0);
  cr_assert(f.data->regions == 2 && f.data->processes == 2);
  const double *disk = f.data->metric + 4, unit = 20 * 2 * 512;
  cr_assert(disk[0] == unit && disk[1] == 0, "thread 0: %g, %g", disk[0], disk[1]);
  cr_assert(disk[2] == 4 * unit && disk[3] == 0, "thread 1: %g, %g", disk[2], disk[3]);
}

/* Build programs/disk.c as ./p; false: the compiler has no OpenMP. */
static bool build(const char *compiler) {
  if (!has_openmp(compiler)) return false;
  shell_ok("%s -D_GNU_SOURCE -g -O1 -fopenmp -rdynamic " TSANOM_TEST_PROGRAMS
           "/disk.c -o p",
           compiler);
  return true;
}

/* The metric that was counted is the root cause. */
Test(record_metrics, disk_bytes_are_a_root_cause) {
  for (int c = 0; c < RECORD_WAYS; c++) {
    if (!build(record_ways[c].compiler)) continue;
    shell_ok("rm -rf run");
    check_quiet(record(c, "--metrics disk-bytes -o run -- ./p"), 0);
    check_disk("run");
    json_t *r = tsanom_json("similar run --fixed --json");
    const json_t *causes = json_object_get(r, "root_causes");
    cr_assert(json_array_size(causes) == 1);
    cr_assert_str_eq(text_at(causes, 0), "disk-bytes");
  }
}

/* A counter is there and counts, or is announced as missing and is missing. */
Test(record_metrics, a_counter_is_there_or_missing) {
  if (!build("gcc")) return;
  outcome o = record(0, "--metrics auto -o run -- ./p");
  cr_assert_eq(o.status, 0, "%s", o.err);
  tsanom_runs_info info;
  tsanom_runs *run = open_run("run", &info);
  tsanom_runs_spmd_data f = spmd_of(run);
  size_t cells = f.data->regions * f.data->processes;
  cr_assert_eq(f.data->metrics, 5);
  for (size_t m = 1; m < 5; m++) {
    bool is_missing = strstr(o.err, f.metric[m]) != NULL;
    for (size_t k = 0; k < cells; k++) {
      double value = f.data->metric[m * cells + k];
      cr_assert(!is_missing || isnan(value), "%s: %g", f.metric[m], value);
      cr_assert(isnan(value) || value >= 0, "%s: %g", f.metric[m], value);
    }
  }
  cr_assert_not(strstr(o.err, "disk-bytes"));
}

Test(record_metrics, wrong_lists_are_rejected) {
  CHECK_REJECTED(tsanom("record --metrics cycles -- true"), 2, "cycles", "L1-misses");
  CHECK_REJECTED(tsanom("record --metrics auto --profile -- true"), 2, "--profile",
                 "--metrics");
}
