/* SPDX-License-Identifier: BSD-3-Clause */
/* The contract of the interface: memory, rejections, polls, trees. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <tsanom/spmd.h>

#include "support/check.h"
#include "support/faults.h"
#include "support/polls.h"
#include "support/workspace.h"

enum { PROCESSES = 6, REGIONS = 5, METRICS = 2 };

#define NONE TSANOM_NONE

typedef struct {
  int32_t parent[REGIONS];
  double time[PROCESSES * REGIONS], metric[METRICS * PROCESSES * REGIONS];
  tsanom_spmd_data data;
  int32_t class_of[PROCESSES];
  tsanom_spmd_region region[REGIONS];
  tsanom_spmd_report report;
} run;

/* Regions 0 (holding 1, holding 2), 3 and 4; region 2 is bad in processes 4 and 5. */
static void prepare(run *r) {
  static const int32_t parent[REGIONS] = {-1, 0, 1, -1, -1};
  memset(r, 0, sizeof *r);
  memcpy(r->parent, parent, sizeof parent);
  r->data = (tsanom_spmd_data){.struct_size = sizeof r->data};
  r->report = (tsanom_spmd_report){.struct_size = sizeof r->report};
  r->data.processes = PROCESSES;
  r->data.regions = REGIONS;
  r->data.metrics = METRICS;
  r->data.parent = r->parent;
  r->data.time = r->time;
  r->data.metric = r->metric;
  r->report.class_of = r->class_of;
  r->report.region = r->region;
  for (size_t i = 0; i < PROCESSES; i++) {
    double bad = i >= 4 ? 9 : 3;
    double row[REGIONS] = {bad + 2, bad + 1, bad, 2, 1};
    memcpy(r->time + i * REGIONS, row, sizeof row);
    r->metric[i * REGIONS + 2] = bad;
  }
}

static tsanom_status analyze(run *r, const tsanom_spmd_options *o) {
  return tsanom_spmd_analyze(&r->data, o, NULL, &r->report);
}

/* The run is rejected for an argument and an element of it, and nothing was written. */
static void check_rejected(run *r, const tsanom_spmd_options *o, tsanom_status status,
                           const char *argument, size_t element, size_t second) {
  static run before;
  tsanom_fault fault;
  tsanom_exec exec = exec_reporting(&fault);
  memset(r->class_of, 0x5a, sizeof r->class_of);
  memset(r->region, 0x5a, sizeof r->region);
  memcpy(&before, r, sizeof before);
  CHECK_STATUS(tsanom_spmd_analyze(&r->data, o, &exec, &r->report), status);
  cr_assert(strstr(fault.text, "expected"), "%s", fault.text);
  check_fault(&fault, argument, element, second);
  cr_assert_arr_eq(r, &before, sizeof before);
}

Test(spmd_contract, parents_in_any_order) {
  static run r;
  static const int32_t parent[REGIONS] = {1, 2, -1, -1, -1};
  prepare(&r);
  memcpy(r.parent, parent, sizeof parent);
  for (size_t i = 0; i < PROCESSES; i++) {
    double inner = r.time[i * REGIONS + 2];
    r.time[i * REGIONS + 2] = r.time[i * REGIONS];
    r.time[i * REGIONS] = inner;
  }
  CHECK_STATUS(analyze(&r, NULL), TSANOM_OK);
  cr_assert_eq(r.region[0].level, 3);
  cr_assert_eq(r.region[0].cccr, 1);
  cr_assert_eq(r.region[2].ccr, 1);
  cr_assert_eq(r.region[1].ccr, 1);
  cr_assert_eq(r.report.cccrs, 1);
}

Test(spmd_contract, the_program_as_a_region) {
  static run r;
  static const int32_t parent[REGIONS] = {-1, 0, 1, 0, 0};
  tsanom_spmd_options o;
  tsanom_spmd_options_init(&o, sizeof o);
  o.tree = TSANOM_SPMD_PROGRAM;
  prepare(&r);
  check_rejected(&r, &o, TSANOM_E_COUNT, "data.parent", NONE, NONE);
  memcpy(r.parent, parent, sizeof parent);
  CHECK_STATUS(analyze(&r, &o), TSANOM_OK);
  cr_assert_eq(r.region[0].level, 0);
  cr_assert_eq(r.region[0].ccr, 0);
  cr_assert_eq(r.region[1].level, 1);
  cr_assert_eq(r.region[1].ccr, 1);
  cr_assert_eq(r.region[2].cccr, 1);
  r.parent[0] = 2;
  check_rejected(&r, &o, TSANOM_E_FORMAT, "data.parent", 0, NONE);
}

/* The smallest offending index is named. */
Test(spmd_contract, bad_input_is_rejected) {
  static run r;
  static double error[PROCESSES * REGIONS];
#define SPOILED(change, status, argument, element, second)               \
  do {                                                                   \
    prepare(&r);                                                         \
    change;                                                              \
    check_rejected(&r, NULL, status, "data." argument, element, second); \
  } while (0)
  double *last = &r.time[PROCESSES * REGIONS - 1], *time = r.time;
  size_t end = PROCESSES - 1, column = REGIONS - 1;
  SPOILED(r.parent[0] = 2, TSANOM_E_FORMAT, "parent", 0, NONE);
  SPOILED((r.parent[0] = 1, r.parent[1] = 2), TSANOM_E_FORMAT, "parent", 1, NONE);
  SPOILED(r.parent[3] = 3, TSANOM_E_FORMAT, "parent", 3, NONE);
  SPOILED(r.parent[3] = REGIONS, TSANOM_E_INDEX, "parent", 3, NONE);
  SPOILED(r.parent[3] = -2, TSANOM_E_INDEX, "parent", 3, NONE);
  SPOILED(*last = NAN, TSANOM_E_NONFINITE, "time", end, column);
  SPOILED(*last = INFINITY, TSANOM_E_NONFINITE, "time", end, column);
  SPOILED(*last = time[REGIONS + 4] = -1, TSANOM_E_VALUE, "time", 1, 4);
  SPOILED(*last = time[2 * REGIONS + 3] = NAN, TSANOM_E_NONFINITE, "time", 2, 3);
  SPOILED(r.metric[3] = -INFINITY, TSANOM_E_NONFINITE, "metric", 0, 3);
  SPOILED(r.metric[(PROCESSES + 1) * REGIONS + 2] = INFINITY, TSANOM_E_NONFINITE,
          "metric", PROCESSES + 1, 2);
  SPOILED(r.data.processes = 0, TSANOM_E_COUNT, "processes", NONE, NONE);
  SPOILED(r.data.regions = 0, TSANOM_E_COUNT, "regions", NONE, NONE);
  SPOILED(r.data.time_ld = REGIONS - 1, TSANOM_E_OPTION, "time_ld", NONE, NONE);
  SPOILED(r.data.time_ld = SIZE_MAX / 2, TSANOM_E_OVERFLOW, "time_ld", NONE, NONE);
  SPOILED(r.data.metric_ld = REGIONS - 1, TSANOM_E_OPTION, "metric_ld", NONE, NONE);
  SPOILED(r.data.metric_ld = SIZE_MAX / 16, TSANOM_E_OVERFLOW, "metric_ld", NONE, NONE);
  SPOILED(r.data.elapsed = NAN, TSANOM_E_OPTION, "elapsed", NONE, NONE);
  SPOILED(r.data.parent = NULL, TSANOM_E_NULL, "parent", NONE, NONE);
  SPOILED(r.data.metric = NULL, TSANOM_E_NULL, "metric", NONE, NONE);
  error[0] = NAN; /* not known */
  error[REGIONS + 2] = INFINITY;
  SPOILED(r.data.error = error, TSANOM_E_NONFINITE, "error", 1, 2);
  error[REGIONS + 2] = -1;
  SPOILED(r.data.error = error, TSANOM_E_VALUE, "error", 1, 2);
}

Test(spmd_contract, bad_options_are_rejected) {
  static run r;
  tsanom_spmd_options o;
  prepare(&r);
#define REJECTS(field, value)                                               \
  do {                                                                      \
    tsanom_spmd_options_init(&o, sizeof o);                                 \
    o.field = value;                                                        \
    check_rejected(&r, &o, TSANOM_E_OPTION, "options." #field, NONE, NONE); \
  } while (0)
  static const double tolerances[] = {0, -1, 2, NAN};
  for (size_t t = 0; t < 4; t++) {
    REJECTS(tolerance, tolerances[t]);
    REJECTS(metric_tolerance, tolerances[t]);
  }
  REJECTS(tree, 2);
  REJECTS(norm, -1);
  REJECTS(cut, 3);
  REJECTS(deep, 2);
  tsanom_spmd_options_init(&o, sizeof o);
  cr_assert(o.combination_limit == 65536);
}

static tsanom_status analyze_in(const tsanom_exec *exec, void *result) {
  static run r;
  prepare(&r);
  if (!result) {
    tsanom_spmd_data counts = {.struct_size = sizeof counts, .processes = PROCESSES};
    counts.regions = REGIONS;
    counts.metrics = METRICS;
    return tsanom_spmd_analyze(&counts, NULL, exec, NULL);
  }
  tsanom_status status = tsanom_spmd_analyze(&r.data, NULL, exec, &r.report);
  if (status >= 0) memcpy(result, &r, sizeof r);
  return status;
}

static size_t workspace_for(size_t processes, size_t regions, size_t metrics) {
  size_t bytes = 0;
  tsanom_exec ask = ask_exec(NULL, &bytes);
  tsanom_spmd_data counts = {.struct_size = sizeof counts, .processes = processes};
  counts.regions = regions;
  counts.metrics = metrics;
  CHECK_STATUS(tsanom_spmd_analyze(&counts, NULL, &ask, NULL), TSANOM_E_WORKSPACE);
  return bytes;
}

Test(spmd_contract, the_workspace_is_exact_and_known_without_arrays) {
  static const workspace_case workspace = {"analyze", analyze_in, sizeof(run)};
  check_workspaces(&workspace, 1);
  for (size_t n = 1; n < 200; n += 13) {
    size_t bytes = workspace_for(n, n, n / 10);
    cr_assert(workspace_for(n + 13, n, n / 10) >= bytes);
    cr_assert(workspace_for(n, n + 13, n / 10) >= bytes);
    cr_assert(workspace_for(n, n, n / 10 + 1) >= bytes);
  }
}

Test(spmd_contract, the_poll_stops) {
  static run r;
  int ended = 0;
  for (uint64_t stop_at = 1; stop_at < 100 && !ended; stop_at++) {
    prepare(&r);
    test_polls p = {.stop_at = stop_at, .restarts = 1};
    tsanom_exec exec = exec_polled(test_poll, &p);
    tsanom_status status = tsanom_spmd_analyze(&r.data, NULL, &exec, &r.report);
    cr_assert(status == TSANOM_OK || status == TSANOM_STOPPED);
    ended = status == TSANOM_OK;
    cr_assert_eq(r.report.classes, 2);
    if (ended) {
      cr_assert_gt(stop_at, 5);
    } else {
      cr_assert_eq(r.report.reducts, 0);
    }
  }
  cr_assert(ended);
}

Test(spmd_contract, short_arrays_are_reported) {
  static run r;
  static tsanom_spmd_decision one;
  static size_t member;
  prepare(&r);
  CHECK_STATUS(analyze(&r, NULL), TSANOM_OK);
  size_t decisions = r.report.decisions;
  cr_assert_eq(decisions, 1 + 3 + 2);
  r.report.decision = &one;
  r.report.decision_capacity = 1;
  r.report.member = &member;
  r.report.member_capacity = 1;
  CHECK_STATUS(analyze(&r, NULL), TSANOM_PARTIAL);
  cr_assert_eq(r.report.decisions, decisions);
  cr_assert_eq(one.step, 1);
  cr_assert_eq(member, 0);
}

Test(spmd_contract, mean_norm) {
  static run r;
  tsanom_spmd_options o;
  tsanom_spmd_options_init(&o, sizeof o);
  prepare(&r);
  CHECK_STATUS(analyze(&r, &o), TSANOM_OK);
  cr_assert_float_eq(r.report.severity, r.report.largest_distance / r.report.largest_norm,
                     1e-15);
  o.norm = TSANOM_SPMD_MEAN_NORM;
  CHECK_STATUS(analyze(&r, &o), TSANOM_OK);
  cr_assert_float_eq(r.report.severity, r.report.largest_distance / r.report.mean_norm,
                     1e-15);
}

/* A caller built against a later header has a larger report. */
Test(spmd_contract, a_larger_report_is_filled_as_far_as_known) {
  static run r;
  prepare(&r);
  struct {
    tsanom_spmd_report known;
    uint64_t later[2];
  } large;
  memset(&large, 0xA5, sizeof large);
  large.known = (tsanom_spmd_report){.struct_size = sizeof large};
  CHECK_STATUS(tsanom_spmd_analyze(&r.data, NULL, NULL, &large.known), TSANOM_OK);
  cr_assert_eq(large.known.classes, 2);
  cr_assert_eq(large.known.struct_size, sizeof large);
  cr_assert_eq(large.later[1], 0);
}
