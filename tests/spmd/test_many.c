/* SPDX-License-Identifier: BSD-3-Clause */
/* Many processes that all differ: every decision of steps 2 and 3 is compared with the
 * classes by definition. Processes are codes of a least Hamming distance h, so that the
 * classes first change when h regions are left out. */
#include <string.h>
#include <tsanom/spmd.h>

#include "support/check.h"
#include "support/exec.h"
#include "support/random.h"

enum { PROCESSES = 120, REGIONS = 40, DECISIONS = 1 << 17, TRIALS = 8 };

typedef struct {
  size_t processes, regions;
  double time[PROCESSES * REGIONS];
  int32_t parent[REGIONS], class_of[PROCESSES];
  tsanom_spmd_decision decision[DECISIONS];
  size_t member[8 * DECISIONS];
  tsanom_spmd_data data;
  tsanom_spmd_report report;
} many_run;

static size_t differences(const many_run *r, size_t a, size_t b) {
  size_t count = 0;
  for (size_t k = 1; k < r->regions; k++) {
    count += r->time[a * r->regions + k] != r->time[b * r->regions + k];
  }
  return count;
}

static void fill_row(double *row, size_t regions, uint64_t *seed) {
  for (size_t k = 1; k < regions; k++) row[k] = 3.0 * (random_unit(seed) < 0.3);
}

/* The row before, but for some regions. */
static void fill_near(double *row, size_t regions, size_t differences, uint64_t *seed) {
  memcpy(row, row - regions, regions * sizeof *row);
  for (; differences > 0; differences--) {
    double *own = &row[random_between(seed, 1, regions - 1)];
    *own = 3 - *own;
  }
}

/* In the same regions as the row before differs from its own predecessor. */
static void fill_again(double *row, size_t regions) {
  const double *before = row - regions, *first = before - regions;
  for (size_t k = 1; k < regions; k++) {
    row[k] = before[k] + (before[k] != first[k] ? 6 : 0);
  }
}

/* The first process makes eps' at least 2; steps are of 3. `near`: three processes in four
 * differ from each other in `least` regions only. */
static void make(many_run *r, size_t regions, size_t least, bool near, uint64_t *seed) {
  memset(r, 0, sizeof *r);
  r->regions = regions;
  r->time[0] = 40;
  for (r->processes = 1; r->processes < PROCESSES; r->processes++) {
    double *row = r->time + r->processes * regions;
    size_t earlier = 0;
    for (int tries = 0; tries < 1000 && earlier < r->processes; tries++) {
      if (near && r->processes % 4 == 2) {
        fill_near(row, regions, least, seed);
      } else if (near && r->processes % 4 == 3) {
        fill_again(row, regions);
      } else {
        fill_row(row, regions, seed);
      }
      earlier = 0;
      while (earlier < r->processes && differences(r, r->processes, earlier) >= least) {
        earlier++;
      }
    }
    if (earlier < r->processes) break;
  }
  for (size_t k = 0; k < regions; k++) r->parent[k] = TSANOM_SPMD_NONE;
  r->data = (tsanom_spmd_data){.struct_size = sizeof r->data};
  r->report = (tsanom_spmd_report){.struct_size = sizeof r->report};
  r->data.processes = r->processes;
  r->data.regions = regions;
  r->data.parent = r->parent;
  r->data.time = r->time;
  r->report.class_of = r->class_of;
  r->report.decision = r->decision;
  r->report.decision_capacity = DECISIONS;
  r->report.member = r->member;
  r->report.member_capacity = sizeof r->member / sizeof *r->member;
}

/* Classes without some regions: components of the graph of distances up to eps'. */
static size_t classes_without(const many_run *r, const bool *is_left_out) {
  size_t of[PROCESSES], classes = r->processes;
  for (size_t i = 0; i < r->processes; i++) of[i] = i;
  for (size_t i = 0; i < r->processes; i++) {
    for (size_t j = 0; j < i; j++) {
      double square = 0;
      for (size_t k = 0; k < r->regions; k++) {
        double d = r->time[i * r->regions + k] - r->time[j * r->regions + k];
        if (!is_left_out[k]) square += d * d;
      }
      size_t from = of[i], to = of[j];
      if (square > r->report.eps * r->report.eps || from == to) continue;
      for (size_t p = 0; p < r->processes; p++) of[p] = of[p] == from ? to : of[p];
      classes--;
    }
  }
  return classes;
}

/* 400 of the decisions, or all. */
static void check_decisions(const many_run *r, size_t *changed) {
  size_t every = 1 + r->report.decisions / 400;
  for (size_t d = 0; d < r->report.decisions; d++) {
    const tsanom_spmd_decision *made = &r->decision[d];
    bool is_left_out[REGIONS] = {false};
    if (made->step > 3 || d % every) continue;
    for (size_t m = 0; m < made->count; m++) {
      is_left_out[r->member[made->first + m]] = true;
    }
    size_t want = classes_without(r, is_left_out);
    cr_assert_eq(made->classes, want, "decision %zu: %zu, not %zu", d, made->classes,
                 want);
    cr_assert_eq(made->changed, want != r->report.classes);
    *changed += made->changed != 0;
  }
}

Test(spmd_many, decisions_are_those_of_the_definition) {
  static many_run r;
  uint64_t seed = 5;
  size_t changed = 0, many = 0;
  for (int trial = 0; trial < TRIALS; trial++) {
    /* First, pairs are worth a search for one region, and again for two. */
    size_t least = trial ? random_between(&seed, 1, 3) : 2;
    size_t regions = trial ? random_between(&seed, 12, REGIONS) : REGIONS;
    make(&r, regions, least, trial % 3 == 0, &seed);
    FOR_EACH_ISA (isa) {
      tsanom_exec exec = exec_at(isa, 1);
      tsanom_status status = tsanom_spmd_analyze(&r.data, NULL, &exec, &r.report);
      cr_assert(status == TSANOM_OK || status == TSANOM_PARTIAL);
      cr_assert_eq(r.report.classes, r.processes);
      check_decisions(&r, &changed);
    }
    many += r.processes > 64;
  }
  cr_assert(changed > CASES(100) && many > 0, "%zu, %zu", changed, many);
}

/* The diameter is that of the points 2 and 3 by distance from the centroid, (50, 64):
 *
 *       0 and 1              (50, 120)      56 from the centroid
 *   2             3      (0, 50), (100, 50)     52
 *       the others           (50, 50)       14
 *
 * At the base level the first register has the points 0 and 1 alone. */
Test(spmd_many, diameter_of_points_that_are_not_the_outermost) {
  static many_run r;
  static const double at[10][2] = {{50, 120},  {50, 120.5}, {0, 50},  {100, 50},
                                   {50, 50},   {50, 51},    {50, 52}, {50, 50.5},
                                   {50, 51.5}, {50, 49}};
  uint64_t seed = 1;
  make(&r, 12, 1, false, &seed);
  memcpy(r.time, at, sizeof at);
  r.data.processes = 10;
  r.data.regions = 2;
  FOR_EACH_ISA (isa) {
    tsanom_exec exec = exec_at(isa, 1);
    cr_assert_geq(tsanom_spmd_analyze(&r.data, NULL, &exec, &r.report), 0);
    cr_assert_eq(r.report.largest_distance, 100, "%g", r.report.largest_distance);
  }
}
