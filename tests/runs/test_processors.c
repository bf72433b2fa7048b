/* SPDX-License-Identifier: BSD-3-Clause */
/* What the processors of threads explain: programs with a known truth, on processors of
 * different speeds, and homes from vital signs that are written by the format. */
#include <math.h>
#include <stdlib.h>
#include <tsanom/spmd.h>

#include "core/exec.h"
#include "runs/grown_run.h"
#include "runs/spmd.h"
#include "support/check.h"
#include "support/random.h"

enum { THREADS = 8, REGIONS = 3 };

typedef struct {
  uint32_t home[THREADS]; /* 0: none */
  double time[THREADS * REGIONS], error[THREADS * REGIONS];
  size_t threads, regions;
} program;

static void explain(program *p) {
  int32_t parent[REGIONS] = {TSANOM_SPMD_NONE, TSANOM_SPMD_NONE, TSANOM_SPMD_NONE};
  tsanom_exec exec;
  CHECK_STATUS(tsn_exec_read_base(&exec, NULL), TSANOM_OK);
  tsn_pool pool = {.exec = &exec};
  tsn_spmd spmd = tsn_spmd_empty(&exec);
  spmd.data.processes = p->threads;
  spmd.data.regions = p->regions;
  spmd.parent = parent;
  spmd.time = p->time;
  spmd.error = p->error;
  cr_assert(tsn_spmd_add_processor_errors(p->home, &spmd, &pool));
  tsn_pool_free(&pool);
}

/* Mean time in a region of the threads of a home, or of all for `home` 0. */
static double naive_mean(const program *p, uint32_t home, size_t k, size_t *count) {
  double sum = 0;
  *count = 0;
  for (size_t i = 0; i < p->threads; i++) {
    if (home && p->home[i] != home) continue;
    ++*count;
    sum += p->time[i * p->regions + k];
  }
  return sum / (double)*count;
}

/* Whether homes explain the differences, by the definition. */
static bool naive(const program *p) {
  double within = 0, between = 0, all = 0;
  for (size_t i = 0; i < p->threads; i++) {
    double own = 0, others = 0;
    all = 0;
    for (size_t k = 0; k < p->regions; k++) {
      size_t count;
      double mean = naive_mean(p, 0, k, &count),
             center = naive_mean(p, p->home[i], k, &count);
      if (!p->home[i] || count < 2) return false;
      if (isnan(p->error[k])) continue;
      own += pow(p->time[i * p->regions + k] - center, 2);
      others += pow(center - mean, 2);
      all += mean * mean;
    }
    within = fmax(within, own);
    between = fmax(between, others);
  }
  return 16 * within <= between && 64 * between <= all;
}

static double naive_error(const program *p, size_t i, size_t k) {
  size_t count;
  double error = p->error[i * p->regions + k];
  double deviation = naive_mean(p, p->home[i], k, &count) - naive_mean(p, 0, k, &count);
  return naive(p) ? sqrt(error * error + deviation * deviation) : error;
}

/* Threads alternate between processors, of speeds that deviate by up to `spread`. */
static program make_program(uint64_t *state, double spread, double noise) {
  program p = {.threads = 2 * random_between(state, 2, THREADS / 2),
               .regions = random_between(state, 1, REGIONS)};
  size_t processors = random_between(state, 2, p.threads / 2);
  double speed[THREADS];
  for (size_t c = 0; c < processors; c++) {
    speed[c] = 1 + spread * (2 * random_unit(state) - 1);
  }
  for (size_t i = 0; i < p.threads; i++) {
    p.home[i] = (uint32_t)(i % processors + 1);
    for (size_t k = 0; k < p.regions; k++) {
      double own = 1 + noise * (2 * random_unit(state) - 1);
      p.time[i * p.regions + k] = speed[i % processors] * own;
    }
  }
  return p;
}

Test(runs_processors, errors_are_those_of_the_definition) {
  uint64_t state = 3;
  int explained = 0;
  for (int trial = 0; trial < 5000; trial++) {
    program p = make_program(&state, 0.3 * random_unit(&state),
                             0.03 * random_unit(&state)),
            before;
    if (trial % 5 == 0) p.home[random_between(&state, 0, p.threads - 1)] = 0;
    if (trial % 5 == 1) p.home[random_between(&state, 0, p.threads - 1)] = 9;
    for (size_t c = 0; c < p.threads * p.regions; c++) {
      p.error[c] = random_between(&state, 0, 1) ? 0.01 * random_unit(&state) : 0;
    }
    before = p;
    explain(&p);
    for (size_t c = 0; c < p.threads * p.regions; c++) {
      double expected = naive_error(&before, c / p.regions, c % p.regions);
      cr_assert_float_eq(p.error[c], expected, 1e-12);
    }
    explained += naive(&before);
  }
  cr_assert(explained > 500 && explained < 4500, "%d", explained);
}

/* Region 0 differs within the homes, and its error is not known. */
Test(runs_processors, a_region_of_unknown_error_does_not_count) {
  program p = {.threads = 4,
               .regions = 2,
               .home = {1, 1, 2, 2},
               .time = {1, 1, 3, 1, 1, 1.1, 2, 1.1},
               .error = {NAN, 0, NAN, 0, NAN, 0, NAN, 0}};
  explain(&p);
  for (size_t i = 0; i < 4; i++) {
    cr_assert(isnan(p.error[2 * i]));
    cr_assert_float_eq(p.error[2 * i + 1], 0.05, 1e-12);
  }
}

static size_t kinds(program *p) {
  int32_t parent[REGIONS] = {TSANOM_SPMD_NONE, TSANOM_SPMD_NONE, TSANOM_SPMD_NONE};
  tsanom_spmd_data data;
  tsanom_spmd_options options;
  tsanom_spmd_report report;
  explain(p);
  data = (tsanom_spmd_data){.struct_size = sizeof data};
  tsanom_spmd_options_init(&options, sizeof options);
  report = (tsanom_spmd_report){.struct_size = sizeof report};
  options.cut = TSANOM_SPMD_CUT_NOISE;
  options.combination_limit = 0;
  data.processes = p->threads;
  data.regions = p->regions;
  data.parent = parent;
  data.time = p->time;
  data.error = p->error;
  cr_assert_geq(tsanom_spmd_analyze(&data, &options, NULL, &report), 0);
  return report.classes;
}

/* Of 5000 programs; `extra`: part of the program that the last thread does more, in one
 * region. */
static int several(double spread, double extra, bool with_homes) {
  uint64_t state = 26;
  int count = 0;
  for (int run = 0; run < 5000; run++) {
    program p = make_program(&state, spread, 0.003);
    double units = (double)p.regions * extra;
    p.time[p.threads * p.regions - 1] *= 1 + units;
    for (size_t i = 0; i < p.threads && !with_homes; i++) p.home[i] = 0;
    count += kinds(&p) > 1;
  }
  return count;
}

Test(runs_processors, balanced_programs_have_one_kind) {
  int found = several(0.1, 0, true);
  cr_assert_leq(found, 50, "%d of 5000", found);
  found = several(0.1, 0, false);
  cr_assert_geq(found, 1500, "without homes %d of 5000", found);
}

/* On equal processors, and on those that differ: there a thread may look like those of a
 * slower one, with homes or without. */
Test(runs_processors, the_imbalance_of_a_thread_is_found) {
  int equal = several(0, 0.06, true), large = several(0.1, 0.3, true),
      different = several(0.1, 0.06, true), without = several(0.1, 0.06, false);
  cr_assert_geq(equal, 4950, "%d of 5000", equal);
  cr_assert_geq(large, 4950, "%d of 5000", large);
  cr_assert_geq(different, without - 25, "%d of 5000, not %d", different, without);
}

/* Half of the threads have 10 % more work, and run anywhere. */
Test(runs_processors, an_uneven_partition_is_found_unless_it_is_that_of_the_processors) {
  uint64_t state = 5;
  int found = 0, same = 0;
  for (int run = 0; run < 3000; run++) {
    program p = make_program(&state, 0, 0.003);
    bool is_same = true;
    for (size_t i = 0; i < p.threads; i++) {
      bool is_upper = i >= p.threads / 2;
      for (size_t k = 0; k < p.regions; k++)
        p.time[i * p.regions + k] *= 1 + 0.1 * is_upper;
    }
    for (size_t i = p.threads - 1; i > 0; i--) {
      size_t j = random_between(&state, 0, i);
      uint32_t home = p.home[i];
      p.home[i] = p.home[j];
      p.home[j] = home;
    }
    for (size_t i = 0; i < p.threads; i++) {
      for (size_t j = 0; j < p.threads; j++) {
        bool alike = (i < p.threads / 2) == (j < p.threads / 2);
        is_same &= p.home[i] != p.home[j] || alike;
      }
    }
    same += is_same;
    found += kinds(&p) > 1;
  }
  cr_assert_eq(found + same, 3000, "%d found, %d the same", found, same);
}

/* Names are those of the latest sample in which the thread has a state: every third has none. */
Test(runs_processors, homes_are_the_processors_of_most_samples) {
  enum { SAMPLES = 60 };
  grown_run run;
  tsanom_exec exec;
  uint64_t state = 8;
  uint32_t home[4] = {7, 7, 7, 7};
  tsn_thread_name name[4] = {0};
  make_directory();
  grown_create(&run, directory);
  for (int32_t t = 1; t < 4; t++) grown_add_stream(&run, t);
  grown_append(&run, 0, 1000, 0);
  for (int n = 0; n < SAMPLES; n++) { /* thread 1: 2 of 3; thread 2: none has most */
    run.processor = 12;
    grown_sample(&run, TSN_VITAL_PROCESS);
    grown_sample(&run, 0);
    run.processor = n % 3 ? 5 : 6;
    (void)strcpy(run.name, run.samples % 3 == 0 ? "none"
                           : n < SAMPLES / 2    ? "early"
                                                : "last");
    grown_sample(&run, 1);
    (void)strcpy(run.name, "program");
    run.processor = n % 2 ? 5 : (uint32_t)random_between(&state, 21, 23);
    grown_sample(&run, 2);
    run.processor = 0;
    grown_sample(&run, 3);
  }
  CHECK_STATUS(tsn_exec_read_base(&exec, NULL), TSANOM_OK);
  tsn_pool pool = {.exec = &exec};
  const tsn_run_header header = {.program = "program"};
  cr_assert(tsn_homes_read(directory, &header, 4, &pool, home, name));
  cr_assert(home[0] == 12 && home[1] == 5 && home[2] == 7 && home[3] == 7);
  for (int t = 0; t < 4; t++) cr_assert_str_eq(name[t].text, t == 1 ? "last" : "");
  cr_assert(tsn_homes_read("/nonexistent", &header, 4, &pool, home, name) &&
            home[0] == 12);
  tsn_pool_free(&pool);
  remove_directory();
}
