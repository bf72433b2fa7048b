/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom record on the workloads of examples/workloads. */
#include <criterion/criterion.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "recorded.h"

TestSuite(record_workloads, .init = enter_folder, .fini = leave_folder, .timeout = 240);

/* What each workload does at its smallest size, by its source: arraybench opens regions,
 * the others pass barriers in one. */
static const struct {
  const char *name, *level;
  int period, iterations;
  int runs; /* how many times the loop is entered */
} workloads[] = {
    {"arraybench", "regions", 4, 20, 1}, {"bt", "worksharing", 3, 4, 1},
    {"cg", "worksharing", 3, 50, 2},     {"jacobi", "worksharing", 1, 800, 1},
    {"lu", "worksharing", 2, 40, 1},     {"sp", "worksharing", 2, 20, 1},
};

enum { WORKLOADS = sizeof workloads / sizeof *workloads };

static void check_iterations(const char *run, size_t w) {
  int period = workloads[w].period, iterations = workloads[w].iterations;
  json_t *r = tsanom_json("speedup %s --json", run);
  const json_t *region = first_region(r);
  cr_assert(!strcmp(text_of(r, "level"), workloads[w].level), "%s", run);
  cr_assert(size_of(r, "regions") == 1, "%s", run);
  cr_assert(number_of(region, "period") == period, "%s", run);
  cr_assert(number_of(region, "iterations") == iterations, "%s", run);
  cr_assert(number_of(region, "runs") == workloads[w].runs, "%s", run);
  cr_assert(number_of(region, "parallel_s") > 0 &&
            number_of(region, "parallel_s") <= number_of(region, "total_s") * (1 + 1e-9));
  /* While it ran the loop was found with its third iteration, or its sixth event. */
  int missed = period == 1 ? 6 : 3;
  double beats = beats_of(run, 0);
  cr_assert(beats >= iterations - missed * workloads[w].runs && beats <= iterations,
            "%s: %g beats", run, beats);
}

/* The workloads, without their own heartbeats. */
Test(record_workloads, every_workload_shows_its_iterations) {
  for (size_t w = 0; w < WORKLOADS; w++) {
    const char *name = workloads[w].name;
    tsanom_ok("record -o %s -- " TSANOM_WORKLOADS "/%s --size tiny --threads 2", name,
              name);
    check_iterations(name, w);
  }
  if (!build_program("clang", "loop")) return;
  for (size_t w = 0; w < WORKLOADS; w++) {
    const char *name = workloads[w].name;
    bool diffuses = !strcmp(name, "bt") || !strcmp(name, "lu") || !strcmp(name, "sp");
    shell_ok("cd '" TSANOM_WORKLOAD_SOURCES
             "' && clang -O2 -fopenmp -D_GNU_SOURCE -I../../include -I../anomalies -o "
             "\"$OLDPWD/%s.clang\" %s.c workload.c turns.c options.c "
             "../anomalies/anomaly.c %s '" TSANOM_HEARTBEAT_LIBRARY
             "' " TSANOM_COVERAGE_LIBRARY " -lm -pthread",
             name, name, diffuses ? "diffusion.c" : "");
    outcome o =
        tsanom("record -o %s.run -- ./%s.clang --size tiny --threads 2", name, name);
    cr_assert(o.status == 0, "%s: %s", name, o.err);
    char run[32];
    snprintf(run, sizeof run, "%s.run", name);
    check_iterations(run, w);
  }
}
