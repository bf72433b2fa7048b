/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs to analyze, with memory for their reports. */
#ifndef TSANOM_TEST_SPMD_RUNS_H
#define TSANOM_TEST_SPMD_RUNS_H

#include <tsanom/spmd.h>

enum { PROCESSES = 64, REGIONS = 24, METRICS = 5, DECISIONS = 4096 };

/* A run and its report. */
typedef struct {
  double time[PROCESSES * REGIONS], metric[METRICS * PROCESSES * REGIONS];
  int32_t parent[REGIONS];
  tsanom_spmd_data data;
  tsanom_spmd_report report;
  int32_t class_of[PROCESSES], code[PROCESSES * METRICS];
  tsanom_spmd_region region[REGIONS];
  tsanom_spmd_decision decision[DECISIONS];
  size_t member[8 * DECISIONS];
  uint64_t core, reduct[8];
} spmd_run;

/* Regions nested in none, all times 0. */
void prepare(spmd_run *r, size_t processes, size_t regions, size_t metrics);

double *time_of(spmd_run *r, size_t i, size_t k);
double *metric_of(spmd_run *r, size_t m, size_t i, size_t k);

/* The paper's example. */
void geo_st(spmd_run *r);

/* A random tree, parents first; times of a region lie at a few levels. */
void random_run(spmd_run *r, uint64_t *state);

/* A region's own work is 1 ... 3, with uniform noise of that part; nested in chains. */
void family(spmd_run *r, uint64_t *state, size_t processes, size_t regions, size_t depth,
            double noise);

/* Add work to a region of the processes from `begin` on, before times are made
 * inclusive. */
void burden(spmd_run *r, size_t k, size_t begin, double work);
void include_nested(spmd_run *r);

#endif
