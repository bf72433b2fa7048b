/* SPDX-License-Identifier: BSD-3-Clause */
/* The contract of the interface: memory, rejections, polls, trees. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <tsanom/spmd.h>

#include "support/check.h"
#include "support/faults.h"
#include "support/workspace.h"

enum { PROCESSES = 6, REGIONS = 5, METRICS = 2 };

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

/* The run is rejected with `status`, and nothing was written. */
static void check_rejected(run *r, const tsanom_spmd_options *o, tsanom_status status) {
  static run before;
  memset(r->class_of, 0x5a, sizeof r->class_of);
  memset(r->region, 0x5a, sizeof r->region);
  memcpy(&before, r, sizeof before);
  CHECK_STATUS(analyze(r, o), status);
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
  check_rejected(&r, &o, TSANOM_E_COUNT);
  memcpy(r.parent, parent, sizeof parent);
  CHECK_STATUS(analyze(&r, &o), TSANOM_OK);
  cr_assert_eq(r.region[0].level, 0);
  cr_assert_eq(r.region[0].ccr, 0);
  cr_assert_eq(r.region[1].level, 1);
  cr_assert_eq(r.region[1].ccr, 1);
  cr_assert_eq(r.region[2].cccr, 1);
  r.parent[0] = 2;
  check_rejected(&r, &o, TSANOM_E_FORMAT);
}

Test(spmd_contract, bad_input) {
  static run r;
  prepare(&r);
  r.parent[0] = 2;
  check_rejected(&r, NULL, TSANOM_E_FORMAT);
  prepare(&r);
  r.parent[3] = 3;
  check_rejected(&r, NULL, TSANOM_E_FORMAT);
  r.parent[3] = REGIONS;
  check_rejected(&r, NULL, TSANOM_E_INDEX);
  r.parent[3] = -2;
  check_rejected(&r, NULL, TSANOM_E_INDEX);
  static const struct {
    double value;
    tsanom_status status;
  } bad[] = {
      {NAN, TSANOM_E_NONFINITE}, {INFINITY, TSANOM_E_NONFINITE}, {-1, TSANOM_E_VALUE}};
  for (size_t b = 0; b < 3; b++) {
    prepare(&r);
    r.time[PROCESSES * REGIONS - 1] = bad[b].value;
    check_rejected(&r, NULL, bad[b].status);
  }
  prepare(&r);
  r.metric[3] = -INFINITY;
  check_rejected(&r, NULL, TSANOM_E_NONFINITE);
  prepare(&r);
  r.data.processes = 0;
  check_rejected(&r, NULL, TSANOM_E_COUNT);
  prepare(&r);
  r.data.regions = 0;
  check_rejected(&r, NULL, TSANOM_E_COUNT);
  prepare(&r);
  r.data.time_ld = REGIONS - 1;
  check_rejected(&r, NULL, TSANOM_E_OPTION);
  prepare(&r);
  r.data.elapsed = NAN;
  check_rejected(&r, NULL, TSANOM_E_OPTION);
  prepare(&r);
  r.data.time_ld = SIZE_MAX / 2;
  check_rejected(&r, NULL, TSANOM_E_OVERFLOW);
  prepare(&r);
  r.data.parent = NULL;
  check_rejected(&r, NULL, TSANOM_E_NULL);
  prepare(&r);
  r.data.metric = NULL;
  check_rejected(&r, NULL, TSANOM_E_NULL);
}

Test(spmd_contract, bad_options) {
  static run r;
  tsanom_spmd_options o;
  prepare(&r);
  static const double tolerances[] = {0, -1, 2, NAN};
  for (size_t t = 0; t < 4; t++) {
    tsanom_spmd_options_init(&o, sizeof o);
    o.tolerance = tolerances[t];
    check_rejected(&r, &o, TSANOM_E_OPTION);
    tsanom_spmd_options_init(&o, sizeof o);
    o.metric_tolerance = tolerances[t];
    check_rejected(&r, &o, TSANOM_E_OPTION);
  }
  tsanom_spmd_options_init(&o, sizeof o);
  o.tree = 2;
  check_rejected(&r, &o, TSANOM_E_OPTION);
  tsanom_spmd_options_init(&o, sizeof o);
  o.norm = -1;
  check_rejected(&r, &o, TSANOM_E_OPTION);
  tsanom_spmd_options_init(&o, sizeof o);
  o.cut = 3;
  check_rejected(&r, &o, TSANOM_E_OPTION);
  tsanom_spmd_options_init(&o, sizeof o);
  o.deep = 2;
  check_rejected(&r, &o, TSANOM_E_OPTION);
  CHECK_STATUS(tsanom_spmd_analyze(NULL, NULL, NULL, &r.report), TSANOM_E_NULL);
  CHECK_STATUS(tsanom_spmd_analyze(&r.data, NULL, NULL, NULL), TSANOM_E_NULL);
  CHECK_STATUS(tsanom_spmd_options_init(&o, 8), TSANOM_E_VERSION);
  CHECK_STATUS(tsanom_spmd_options_init(&o, sizeof o), TSANOM_OK);
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

static int32_t stop_after(void *user, uint64_t done, uint64_t total) {
  (void)done;
  (void)total;
  int *left = user;
  return (*left)-- == 0;
}

Test(spmd_contract, the_poll_stops) {
  static run r;
  int ended = 0;
  for (int calls = 0; calls < 100 && !ended; calls++) {
    prepare(&r);
    int left = calls;
    tsanom_exec exec;
    tsanom_exec_init(&exec, sizeof exec);
    exec.poll = stop_after;
    exec.poll_user = &left;
    tsanom_status status = tsanom_spmd_analyze(&r.data, NULL, &exec, &r.report);
    cr_assert(status == TSANOM_OK || status == TSANOM_STOPPED);
    ended = status == TSANOM_OK;
    cr_assert_eq(r.report.classes, 2);
    if (ended) {
      cr_assert_gt(calls, 4);
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

/* The smallest offending index, and the name of the field. */
Test(spmd_contract, rejections_name_argument_and_element) {
  static run r;
  test_report report;
  test_report_init(&report);
  const size_t none = TSANOM_NONE;
  tsanom_spmd_options o;
#define REJECT(options, status, argument, element, second)                       \
  do {                                                                           \
    CHECK_STATUS(tsanom_spmd_analyze(&r.data, options, &report.exec, &r.report), \
                 status);                                                        \
    cr_assert(strstr(report.fault.text, "expected"), "%s", report.fault.text);   \
    CHECK_FAULT(report, argument, element, second);                              \
  } while (0)
  prepare(&r);
  r.time[2 * REGIONS + 3] = r.time[2 * REGIONS + 4] = r.time[4 * REGIONS] = NAN;
  REJECT(NULL, TSANOM_E_NONFINITE, "data.time", 2, 3);
  prepare(&r);
  r.time[1 * REGIONS + 4] = -1;
  REJECT(NULL, TSANOM_E_VALUE, "data.time", 1, 4);
  prepare(&r);
  double error[PROCESSES * REGIONS] = {[0] = NAN, [REGIONS + 2] = INFINITY};
  r.data.error = error;
  REJECT(NULL, TSANOM_E_NONFINITE, "data.error", 1, 2);
  error[REGIONS + 2] = -1;
  REJECT(NULL, TSANOM_E_VALUE, "data.error", 1, 2);
  prepare(&r);
  r.metric[(PROCESSES + 1) * REGIONS + 2] = INFINITY;
  REJECT(NULL, TSANOM_E_NONFINITE, "data.metric", PROCESSES + 1, 2);
  prepare(&r);
  r.parent[3] = REGIONS;
  REJECT(NULL, TSANOM_E_INDEX, "data.parent", 3, none);
  prepare(&r);
  r.data.metric_ld = REGIONS - 1;
  REJECT(NULL, TSANOM_E_OPTION, "data.metric_ld", none, none);
  r.data.metric_ld = SIZE_MAX / 16;
  REJECT(NULL, TSANOM_E_OVERFLOW, "data.metric_ld", none, none);
  r.data.regions = 0;
  REJECT(NULL, TSANOM_E_COUNT, "data.regions", none, none);
  prepare(&r);
  tsanom_spmd_options_init(&o, sizeof o);
  o.metric_tolerance = NAN;
  REJECT(&o, TSANOM_E_OPTION, "options.metric_tolerance", none, none);
  r.report.struct_size = 8;
  REJECT(NULL, TSANOM_E_VERSION, "report.struct_size", none, none);
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
