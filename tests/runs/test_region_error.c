/* SPDX-License-Identifier: BSD-3-Clause */
/* Standard errors of region times: programs with a known truth, in disturbances that are
 * rare, large and last for several iterations, as those of a loaded machine are. */
#include <math.h>
#include <stdlib.h>
#include <tsanom/spmd.h>

#include "core/exec.h"
#include "runs/spmd.h"
#include "support/check.h"
#include "support/random.h"

enum { THREADS = 8, REGIONS = 3, VISITS = 160, BATCHES = 10 };

typedef struct {
  tsanom_exec exec;
  tsn_pool pool;
  tsn_spmd_samples samples;
  double time[THREADS * REGIONS], error[THREADS * REGIONS];
  size_t threads, regions;
} program;

static void begin(program *p, size_t threads, size_t regions) {
  *p = (program){.threads = threads, .regions = regions};
  CHECK_STATUS(tsn_exec_read_base(&p->exec, NULL), TSANOM_OK);
  p->pool.exec = &p->exec;
  cr_assert(tsn_spmd_take_samples(&p->samples, &p->pool, threads * regions));
}

static void end(program *p) {
  tsn_spmd_errors(&p->samples, p->threads, p->regions, p->error);
  tsn_pool_free(&p->pool);
}

static void sample(program *p, size_t cell, double value) {
  p->time[cell] += value;
  tsn_spmd_add_sample(&p->samples, cell, value);
}

/* The formula of region_error.c. The batches of one thread are 1 or 2, those of the other 3 minus
 * that, so residuals are 1/2 or -1/2. Alternating ones have a negative correlation, which is raised
 * to 0; in the second row 6 neighbors are alike and 3 are not. */
Test(runs_region_error, errors_are_those_of_the_definition) {
  static const double batch[2][BATCHES] = {{1, 2, 1, 2, 1, 2, 1, 2, 1, 2},
                                           {1, 1, 1, 2, 2, 2, 2, 1, 1, 2}};
  static const double correlation[2] = {0, (6.0 - 3.0) / BATCHES + 1.0 / BATCHES};
  for (size_t c = 0; c < 2; c++) {
    program p;
    begin(&p, 2, 1);
    for (size_t i = 0; i < 2; i++) p.samples.count[i] = 2 * BATCHES;
    for (size_t q = 0; q < 2 * BATCHES; q++) {
      double value = batch[c][q / 2];
      sample(&p, 0, value / 2);
      sample(&p, 1, (3 - value) / 2);
    }
    end(&p);
    double factor = (1 + correlation[c]) / (1 - correlation[c]);
    double expected = sqrt(2.0 * BATCHES / (BATCHES - 1) * BATCHES / 4 * factor);
    for (size_t i = 0; i < 2; i++) cr_assert_float_eq(p.error[i], expected, 1e-12);
  }
}

Test(runs_region_error, too_few_samples_have_no_error) {
  program p;
  begin(&p, 3, 1);
  for (size_t i = 0; i < 3; i++) p.samples.count[i] = i < 2 ? BATCHES : BATCHES - 1;
  for (size_t i = 0; i < 3; i++) {
    for (size_t v = 0; v < p.samples.count[i]; v++) sample(&p, i, 1);
  }
  end(&p);
  cr_assert(p.error[0] == 0 && p.error[1] == 0 && isnan(p.error[2]));
  begin(&p, 1, 1);
  p.samples.count[0] = BATCHES;
  for (size_t v = 0; v < BATCHES; v++) sample(&p, 0, 1);
  end(&p);
  cr_assert(isnan(p.error[0]), "one thread has nothing to differ from");
}

/* What is longer in all threads at once is no noise. */
Test(runs_region_error, common_changes_are_not_noise) {
  program p;
  begin(&p, 4, 1);
  for (size_t i = 0; i < 4; i++) p.samples.count[i] = VISITS;
  for (size_t v = 0; v < VISITS; v++) {
    for (size_t i = 0; i < 4; i++) {
      sample(&p, i, (i == 3 ? 1.3 : 1) * (1 + (double)v));
    }
  }
  end(&p);
  for (size_t i = 0; i < 4; i++) cr_assert(p.error[i] < 1e-9 * p.time[i]);
}

/* Kinds of threads in a program whose thread 0 does `extra` of the work more, in a
 * region. A disturbance of a thread begins with a chance of 1/20 in each visit, lasts
 * for 10 visits on average, in any region, and takes `load` times an exponential. */
static size_t kinds(double extra, double load, uint64_t *state) {
  program p;
  begin(&p, random_between(state, 2, THREADS), random_between(state, 2, REGIONS));
  for (size_t c = 0; c < p.threads * p.regions; c++) p.samples.count[c] = VISITS;
  for (size_t i = 0; i < p.threads; i++) {
    double disturbance = 0;
    for (size_t v = 0; v < VISITS; v++) {
      for (size_t k = 0; k < p.regions; k++) {
        if (random_unit(state) < 0.1 / (double)p.regions) disturbance = 0;
        if (random_unit(state) < 0.05) disturbance = -load * log(1 - random_unit(state));
        double more = i == 0 && k == 0 ? extra * (double)p.regions : 0;
        double noise = 0.05 * (random_unit(state) - 0.5);
        sample(&p, i * p.regions + k, (1 + more) * (1 + noise + disturbance));
      }
    }
  }
  end(&p);
  int32_t parent[REGIONS] = {TSANOM_SPMD_NONE, TSANOM_SPMD_NONE, TSANOM_SPMD_NONE};
  tsanom_spmd_data data;
  tsanom_spmd_options options;
  tsanom_spmd_report report;
  data = (tsanom_spmd_data){.struct_size = sizeof data};
  tsanom_spmd_options_init(&options, sizeof options);
  report = (tsanom_spmd_report){.struct_size = sizeof report};
  options.cut = TSANOM_SPMD_CUT_NOISE;
  options.combination_limit = 0;
  data.processes = p.threads;
  data.regions = p.regions;
  data.parent = parent;
  data.time = p.time;
  data.error = p.error;
  cr_assert_geq(tsanom_spmd_analyze(&data, &options, NULL, &report), 0);
  return report.classes;
}

/* How many of 3000 programs have several kinds. */
static int count(double extra, double load) {
  uint64_t state = 26;
  int several = 0;
  for (int run = 0; run < 3000; run++) {
    several += kinds(extra, load, &state) > 1;
  }
  return several;
}

Test(runs_region_error, balanced_programs_have_one_kind) {
  static const double load[] = {0, 0.2, 0.5, 1};
  for (size_t l = 0; l < sizeof load / sizeof *load; l++) {
    int several = count(0, load[l]);
    cr_assert_leq(several, 30, "load %g: %d of 3000", load[l], several);
  }
}

Test(runs_region_error, an_imbalance_is_found) {
  int quiet = count(0.05, 0), loaded = count(0.3, 0.2);
  cr_assert_geq(quiet, 2850, "5 %%: %d of 3000", quiet);
  cr_assert_geq(loaded, 2850, "30 %% under load: %d of 3000", loaded);
}
