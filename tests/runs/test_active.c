/* SPDX-License-Identifier: BSD-3-Clause */
/* The number of active threads beside its definition, a sum over short steps. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "record/regions.h"
#include "runs/grown_run.h"
#include "support/check.h"
#include "support/faults.h"
#include "support/random.h"

enum { THREADS = 5, EVENTS = 400, NANOSECONDS = 1000 };

TestSuite(runs_active, .init = make_directory, .fini = remove_directory);

/* What a run contains: one record per microsecond at most. */
typedef struct {
  int thread[EVENTS], kind[EVENTS], at[EVENTS];
} script;

/* Thread 0 has most records, so that its events are those of the run. */
static tsanom_runs *open_script(const script *s) {
  grown_run run;
  grown_create_regions(&run, directory, "tsanom places 1\n0\trf\t10\t/a\n");
  for (int32_t t = 1; t < THREADS; t++) grown_add_stream(&run, t);
  uint64_t now = 0;
  for (int i = 0; i < EVENTS; i++) {
    uint64_t then = (uint64_t)s->at[i] * NANOSECONDS;
    grown_append(&run, (uint32_t)s->thread[i], then - now, (uint32_t)s->kind[i]);
    now = then;
  }
  grown_finish(&run);
  return open_run(directory);
}

static void fill_script(script *s, uint64_t *seed) {
  int depth[THREADS] = {0}, now = 1;
  for (int i = 0; i < EVENTS; i++) {
    int t = random_between(seed, 0, 1) ? 0 : (int)random_between(seed, 1, THREADS - 1);
    bool ends = depth[t] == 2 || (depth[t] > 0 && random_between(seed, 0, 1));
    depth[t] += ends ? -1 : 1;
    now += (int)random_between(seed, 0, 30);
    s->thread[i] = t;
    s->kind[i] = ends ? TSN_REGIONS_END : TSN_REGIONS_BEGIN;
    s->at[i] = now;
  }
}

/* Threads that are active in the microsecond from `step` on. */
static int active_at(const script *s, int step) {
  int depth[THREADS] = {0}, active = 1;
  for (int i = 0; i < EVENTS && s->at[i] <= step; i++) {
    depth[s->thread[i]] += s->kind[i] == TSN_REGIONS_BEGIN ? 1 : -1;
  }
  for (int t = 1; t < THREADS; t++) active += depth[t] > 0;
  return active;
}

Test(runs_active, is_that_of_the_definition) {
  uint64_t seed = 1;
  script s;
  fill_script(&s, &seed);
  tsanom_runs *run = open_script(&s);
  for (int width = 1; width <= 64; width *= 4) {
    double interval = width * 1e-6;
    size_t count = 0, again = 0;
    tsanom_status status = tsanom_runs_active(run, interval, NULL, NULL, 0, &count);
    CHECK_STATUS(status, TSANOM_PARTIAL);
    size_t expected = (size_t)(s.at[EVENTS - 1] / width);
    cr_assert(count == expected || count + 1 == expected, "%zu, %zu", count, expected);
    double *active = calloc(count, sizeof *active);
    CHECK_STATUS(tsanom_runs_active(run, interval, NULL, active, count, &again),
                 TSANOM_OK);
    cr_assert(again == count);
    for (size_t i = 0; i < count; i++) {
      double sum = 0;
      for (int k = 0; k < width; k++) sum += active_at(&s, (int)i * width + k);
      cr_assert(fabs(active[i] - sum / width) < 1e-6, "%zu: %g, not %g", i, active[i],
                sum / width);
    }
    free(active);
  }
  tsanom_runs_destroy(run);
}

Test(runs_active, an_open_region_lasts_to_the_end_of_the_run) {
  script s;
  for (int i = 0; i < EVENTS; i++) {
    s.thread[i] = i == 3 ? 1 : 0;
    s.kind[i] = i == 3 || i % 2 ? TSN_REGIONS_BEGIN : TSN_REGIONS_END;
    s.at[i] = i;
  }
  tsanom_runs *run = open_script(&s);
  double active[4];
  size_t count;
  CHECK_STATUS(tsanom_runs_active(run, 1e-4, NULL, active, 4, &count), TSANOM_OK);
  cr_assert(count == 3);
  cr_assert(fabs(active[0] - 1.97) < 1e-6 && active[1] == 2 && active[2] == 2);
  tsanom_runs_destroy(run);
}

Test(runs_active, rejections_name_their_argument) {
  script s;
  uint64_t seed = 2;
  fill_script(&s, &seed);
  tsanom_runs *run = open_script(&s);
  tsanom_fault fault;
  tsanom_exec exec = exec_reporting(&fault);
  double active[4];
  size_t count = 77;
  for (int i = 0; i < 3; i++) {
    double interval = i == 0 ? 0 : i == 1 ? NAN : INFINITY;
    CHECK_STATUS(tsanom_runs_active(run, interval, &exec, active, 4, &count),
                 TSANOM_E_OPTION);
    cr_assert_str_eq(fault.argument, "interval");
  }
  CHECK_STATUS(tsanom_runs_active(run, 1e-300, &exec, active, 4, &count),
               TSANOM_E_OVERFLOW);
  cr_assert(count == 77);
  tsanom_runs_destroy(run);
}
