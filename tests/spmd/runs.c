/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs for the tests of spmd: the paper's Geo-ST, with times made to fit its figures;
 * random trees, for the comparison with the reference; and families, in which a test
 * burdens a region of some processes and so knows what must be found. */
#include "runs.h"

#include <string.h>

#include "support/random.h"

void prepare(spmd_run *r, size_t processes, size_t regions, size_t metrics) {
  memset(r, 0, sizeof *r);
  r->data = (tsanom_spmd_data){.struct_size = sizeof r->data};
  r->report = (tsanom_spmd_report){.struct_size = sizeof r->report};
  r->data.processes = processes;
  r->data.regions = regions;
  r->data.metrics = metrics;
  r->data.time = r->time;
  r->data.time_ld = REGIONS;
  r->data.metric = r->metric;
  r->data.metric_ld = REGIONS;
  r->data.parent = r->parent;
  for (size_t k = 0; k < regions; k++) r->parent[k] = TSANOM_SPMD_NONE;
  r->report.class_of = r->class_of;
  r->report.region = r->region;
  r->report.decision = r->decision;
  r->report.decision_capacity = DECISIONS;
  r->report.member = r->member;
  r->report.member_capacity = sizeof r->member / sizeof *r->member;
  r->report.code = r->code;
  r->report.core = &r->core;
  r->report.reduct = r->reduct;
  r->report.reduct_capacity = 8;
}

double *time_of(spmd_run *r, size_t i, size_t k) {
  return &r->time[i * REGIONS + k];
}

double *metric_of(spmd_run *r, size_t m, size_t i, size_t k) {
  return &r->metric[(m * r->data.processes + i) * REGIONS + k];
}

/* Geo-ST (figures 4 to 6, table 2). The times are constructed: the paper prints
 * none. Region k of the paper is number k - 1; 11 and 10 are nested in 14. Rows 6 and 7
 * of the table follow from figure 5. */
void geo_st(spmd_run *r) {
  static const double region11[8] = {10, 20, 20.2, 32, 46, 62, 46.3, 61.8};
  static const double share[4][8] = {
      {.02, .02, .02, .06, .02, .06, .06, .06},  /* L1 miss rate */
      {.01, .01, .01, .01, .05, .05, .09, .09},  /* L2 miss rate */
      {4e6, 4e6, 4e6, 4e6, 4e6, 4e6, 4e6, 4e6},  /* disk I/O */
      {1e5, 1e5, 1e5, 1e5, 1e5, 3e5, 3e5, 1e5}}; /* network I/O */
  prepare(r, 8, 14, 5);
  r->parent[10] = r->parent[9] = 13;
  for (size_t i = 0; i < 8; i++) {
    for (size_t k = 0; k < 14; k++) *time_of(r, i, k) = 1 + 0.1 * (double)k;
    *time_of(r, i, 10) = region11[i];
    *time_of(r, i, 13) = region11[i] + *time_of(r, i, 9) + 0.5;
    for (size_t m = 0; m < 4; m++) *metric_of(r, m, i, 10) = share[m][i];
    *metric_of(r, 4, i, 10) = 1e9 * region11[i];
  }
}

void random_run(spmd_run *r, uint64_t *state) {
  size_t processes = random_between(state, 1, 12), regions = random_between(state, 1, 9);
  prepare(r, processes, regions, 0);
  for (size_t k = 1; k < regions; k++) {
    r->parent[k] = (int32_t)random_between(state, 0, k) - 1;
  }
  double noise = random_unit(state) * 0.05;
  for (size_t k = 0; k < regions; k++) {
    double step = random_unit(state) < 0.5 ? 0 : random_unit(state);
    double base = random_unit(state) < 0.1 ? 0 : 1;
    for (size_t i = 0; i < processes; i++) {
      double level = (double)random_between(state, 0, 2);
      *time_of(r, i, k) = base * (1 + level * step + noise * random_unit(state));
    }
  }
  for (size_t k = regions; k-- > 1;) { /* times include those of nested regions */
    if (r->parent[k] < 0 || random_unit(state) < 0.1) continue;
    for (size_t i = 0; i < processes; i++) {
      *time_of(r, i, (size_t)r->parent[k]) += *time_of(r, i, k);
    }
  }
}

void family(spmd_run *r, uint64_t *state, size_t processes, size_t regions, size_t depth,
            double noise) {
  prepare(r, processes, regions, METRICS);
  for (size_t k = 0; k < regions; k++) {
    if (k % depth) r->parent[k] = (int32_t)k - 1;
    double base = 1 + 2 * random_unit(state);
    for (size_t i = 0; i < processes; i++) {
      *time_of(r, i, k) = base * (1 + noise * (2 * random_unit(state) - 1));
      for (size_t m = 0; m < METRICS; m++) {
        *metric_of(r, m, i, k) =
            (double)(m + 1) * base * (1 + noise * (2 * random_unit(state) - 1));
      }
    }
  }
}

void burden(spmd_run *r, size_t k, size_t begin, double work) {
  for (size_t i = begin; i < r->data.processes; i++) *time_of(r, i, k) += work;
}

void include_nested(spmd_run *r) {
  for (size_t k = r->data.regions; k-- > 1;) {
    if (r->parent[k] < 0) continue;
    for (size_t i = 0; i < r->data.processes; i++) {
      *time_of(r, i, (size_t)r->parent[k]) += *time_of(r, i, k);
    }
  }
}
