/* SPDX-License-Identifier: BSD-3-Clause */
/* The analysis as a whole:
 *
 *     critical regions          search.c; classes by classify.c, eps' by cut.c
 *                               and noise.c
 *     balance and verdict       balance.c
 *     root causes               cause.c
 *
 * A search that the poll stops leaves a report that is valid as far as it goes: balance
 * is computed in any case, root causes only for a complete search.
 *
 * Source: "A Novel Similarity Analysis and Rough Set Method", sections 3 and 4. Balance
 * is not in the paper (docs/spmd.md). */
#include <math.h>
#include <string.h>

#include "core/check.h"
#include "core/size.h"
#include "core/versioned.h"
#include "spmd/spmd_internal.h"

/* Arguments of the analysis: defaults and checks. Structs are copied to versions of this
 * library with all fields, so that callers built against an older header are served
 * (core/versioned.h).
 *
 * The tolerance of 5 % is a choice and not an estimate: what difference matters cannot be
 * seen in the data, since equal steps from process to process may be noise or a
 * triangular loop (docs/measurements.md has the rates of right answers). */

static const tsanom_spmd_data data_defaults = {.struct_size = sizeof data_defaults};
static const tsn_versioned data_type = {sizeof(tsanom_spmd_data),
                                        sizeof(tsanom_spmd_data), &data_defaults};

static const tsanom_spmd_options options_defaults = {
    .struct_size = sizeof options_defaults,
    .tolerance = 0.05,
    .metric_tolerance = 0.05,
    .tree = TSANOM_SPMD_FOREST,
    .norm = TSANOM_SPMD_LARGEST_NORM,
    .combination_size = SIZE_MAX,
    .combination_limit = (size_t)1 << 16};
static const tsn_versioned options_type = {
    sizeof(tsanom_spmd_options), sizeof(tsanom_spmd_options), &options_defaults};

static const tsanom_spmd_report report_defaults = {.struct_size = sizeof report_defaults};
static const tsn_versioned report_type = {sizeof(tsanom_spmd_report),
                                          sizeof(tsanom_spmd_report), &report_defaults};

tsanom_status tsanom_spmd_options_init(tsanom_spmd_options *options, size_t struct_size) {
  return tsn_versioned_init(&options_type, options, struct_size);
}

/* Written so that a NaN fails. */
static tsanom_status require_tolerance(const tsanom_exec *exec, const char *name,
                                       double value) {
  if (isgreater(value, 0) && islessequal(value, 1)) return TSANOM_OK;
  return tsn_reject_value(exec, TSANOM_E_OPTION, name, TSANOM_NONE, TSANOM_NONE, value,
                          "more than 0 and at most 1 is expected");
}

static tsanom_status read_options(tsn_spmd_input *input,
                                  const tsanom_spmd_options *options,
                                  const tsanom_exec *exec) {
  tsanom_spmd_options *own = &input->options;
  tsanom_status status = tsn_exec_read(&input->exec, exec);
  if (status < 0) return status;
  input->exec.threads = 1;
  input->inner = input->exec;
  input->inner.work = NULL;
  input->inner.work_bytes = 0;
  input->inner.fault = NULL;
  input->inner.work_needed = NULL;
  exec = &input->exec;
  status = tsn_struct_read(exec, &options_type, own, options, "options");
  if (status < 0) return status;
  status = require_tolerance(exec, "options.tolerance", own->tolerance);
  if (status < 0) return status;
  status = require_tolerance(exec, "options.metric_tolerance", own->metric_tolerance);
  const struct {
    const char *name;
    int32_t value, most;
  } choices[] = {{"options.tree", own->tree, TSANOM_SPMD_PROGRAM},
                 {"options.norm", own->norm, TSANOM_SPMD_MEAN_NORM},
                 {"options.cut", own->cut, TSANOM_SPMD_CUT_NOISE},
                 {"options.deep", own->deep, 1}};
  for (size_t i = 0; status == TSANOM_OK && i < sizeof choices / sizeof *choices; i++) {
    status = tsn_require_int(exec, TSANOM_E_OPTION, choices[i].name, choices[i].value, 0,
                             choices[i].most);
  }
  return status;
}

static tsanom_status reject_number(const tsanom_exec *exec, const char *name, size_t i,
                                   size_t k, double value, const char *expected) {
  tsanom_status status = isfinite(value) ? TSANOM_E_VALUE : TSANOM_E_NONFINITE;
  return tsn_reject_value(exec, status, name, i, k, value, expected);
}

/* Times are finite and not negative; a process that did not enter a region has 0. */
static tsanom_status check_times(const tsanom_spmd_data *d, const tsanom_exec *exec) {
  for (size_t i = 0; i < d->processes; i++) {
    const double *row = d->time + i * d->time_ld;
    static const char expected[] = "a finite time of at least 0 is expected";
    if (!tsn_all_finite(row, d->regions)) {
      size_t k = tsn_first_nonfinite(row, d->regions);
      return reject_number(exec, "data.time", i, k, row[k], expected);
    }
    for (size_t k = 0; k < d->regions; k++) {
      if (row[k] < 0) return reject_number(exec, "data.time", i, k, row[k], expected);
    }
  }
  return TSANOM_OK;
}

/* A standard error may be NaN, which is not known, but neither infinite nor negative. */
static tsanom_status check_errors(const tsanom_spmd_data *d, const tsanom_exec *exec) {
  for (size_t i = 0; d->error && i < d->processes; i++) {
    const double *row = d->error + i * d->time_ld;
    for (size_t k = 0; k < d->regions; k++) {
      if (!isinf(row[k]) && !(row[k] < 0)) continue;
      return reject_number(exec, "data.error", i, k, row[k],
                           "a finite error of at least 0 is expected, or NaN");
    }
  }
  return TSANOM_OK;
}

/* A metric may be NaN, which is missing, but not infinite. */
static tsanom_status check_metrics(const tsanom_spmd_data *d, const tsanom_exec *exec) {
  for (size_t i = 0; i < d->metrics * d->processes; i++) {
    const double *row = d->metric + i * d->metric_ld;
    if (tsn_all_finite(row, d->regions)) continue;
    for (size_t k = 0; k < d->regions; k++) {
      if (!isinf(row[k])) continue;
      return reject_number(exec, "data.metric", i, k, row[k],
                           "a finite number is expected, or NaN");
    }
  }
  return TSANOM_OK;
}

/* Rows of `ld` numbers for the regions can exist. */
static tsanom_status require_rows(const tsn_spmd_input *input, const char *name,
                                  size_t rows, size_t ld) {
  size_t regions = input->data.regions;
  size_t most = PTRDIFF_MAX / sizeof(double) / tsn_larger(rows, 1);
  if (regions <= ld && ld <= most) return TSANOM_OK;
  return tsn_reject_is(
      &input->exec, ld < regions ? TSANOM_E_OPTION : TSANOM_E_OVERFLOW, name, TSANOM_NONE,
      "%zu; at least %zu, the regions, and at most %zu is expected", ld, regions, most);
}

static tsanom_status check_sizes(const tsn_spmd_input *input) {
  const tsanom_spmd_data *d = &input->data;
  const tsanom_exec *exec = &input->exec;
  const struct {
    const char *name;
    size_t value, least;
  } counts[] = {{"data.processes", d->processes, 1},
                {"data.regions", d->regions, 1},
                {"data.metrics", d->metrics, 0}};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    tsanom_status status = tsn_require_size(exec, TSANOM_E_COUNT, counts[i].name,
                                            counts[i].value, counts[i].least, INT32_MAX);
    if (status < 0) return status;
  }
  return TSANOM_OK;
}

/* Read the data, once input->options are read: 1 ... 2^31 - 1 processes and regions; metrics
 * may be 0. */
static tsanom_status read_data(tsn_spmd_input *input, const tsanom_spmd_data *data) {
  tsanom_spmd_data *own = &input->data;
  const tsanom_exec *exec = &input->exec;
  if (!data) return tsn_reject_null(exec, "data", TSANOM_NONE);
  tsanom_status status = tsn_struct_read(exec, &data_type, own, data, "data");
  if (status < 0) return status;
  if ((status = check_sizes(input)) < 0) return status;
  if (!own->time_ld) own->time_ld = own->regions;
  if (!own->metric_ld) own->metric_ld = own->regions;
  size_t rows = own->metrics * own->processes; /* less than 2^62 */
  status = require_rows(input, "data.time_ld", own->processes, own->time_ld);
  if (status == TSANOM_OK) {
    status = require_rows(input, "data.metric_ld", rows, own->metric_ld);
  }
  if (status < 0) return status;
  if (isgreaterequal(own->elapsed, 0) && isfinite(own->elapsed)) return TSANOM_OK;
  return tsn_reject_value(exec, TSANOM_E_OPTION, "data.elapsed", TSANOM_NONE, TSANOM_NONE,
                          own->elapsed, "a finite time of at least 0 is expected");
}

/* Check the arrays of the data, O(processes * regions * metrics). */
static tsanom_status check_arrays(const tsn_spmd_input *input) {
  const tsanom_spmd_data *d = &input->data;
  const tsanom_exec *exec = &input->exec;
  size_t times = d->processes * d->time_ld;
  tsanom_status status = tsn_require_array(exec, d->parent, d->regions, "data.parent");
  if (status == TSANOM_OK) status = tsn_require_array(exec, d->time, times, "data.time");
  if (status == TSANOM_OK && d->metrics) {
    status = tsn_require_array(exec, d->metric, d->metrics * d->processes * d->metric_ld,
                               "data.metric");
  }
  if (status == TSANOM_OK) status = check_times(d, exec);
  if (status == TSANOM_OK) status = check_errors(d, exec);
  return status < 0 ? status : check_metrics(d, exec);
}

/* The report is read first for the caller's arrays and their capacities, and written at
 * the end up to the caller's struct_size. */
static tsanom_status read_report(const tsanom_spmd_report *caller,
                                 const tsanom_exec *exec, tsanom_spmd_report *own) {
  tsanom_status status = tsn_struct_check(exec, &report_type, caller, "report");
  if (status < 0) return status;
  tsanom_spmd_report given = report_defaults;
  memcpy(&given, caller, tsn_smaller(caller->struct_size, sizeof given));
  *own = report_defaults;
  own->class_of = given.class_of;
  own->region = given.region;
  own->decision = given.decision;
  own->decision_capacity = given.decision ? given.decision_capacity : 0;
  own->member = given.member;
  own->member_capacity = given.member ? given.member_capacity : 0;
  own->code = given.code;
  own->order = given.order;
  own->reachability = given.reachability;
  own->core = given.core;
  own->reduct = given.reduct;
  own->reduct_capacity = given.reduct ? given.reduct_capacity : 0;
  return TSANOM_OK;
}

static void write_report(tsanom_spmd_report *caller, const tsanom_spmd_report *own) {
  tsn_versioned_write(&report_type, caller, own);
}

/* The region tree: nested hierarchies from parent indices in any order.
 *
 *     region     0  1  2  3  4           1
 *     parent     2  -  1  0  1           +-- 2 -- 0 -- 3
 *     level      3  1  2  4  2           +-- 4
 *
 * If the outermost region is the program itself, levels start at 0.
 *
 * A recorder notes regions in the order in which they are entered, and a caller in any
 * order, so that a parent may come after its children. Levels are found by climbing, and
 * each climb ends at a region whose level is known: O(regions) in all, without recursion,
 * as trees may be as deep as there are regions. */

enum { UNKNOWN = -1, ON_PATH = -2 };

/* Follow the parents from region k up to one whose level is known, and number the regions
 * on the way back. Each region is visited at most twice in all. */
static tsanom_status climb(const int32_t *parent, size_t k, int32_t outermost,
                           int32_t *level) {
  int32_t depth = 0;
  size_t at = k;
  while (level[at] == UNKNOWN) {
    level[at] = ON_PATH;
    depth++;
    if (parent[at] == TSANOM_SPMD_NONE) break;
    at = (size_t)parent[at];
  }
  int32_t above;
  if (level[at] == ON_PATH) {
    if (parent[at] != TSANOM_SPMD_NONE) return TSANOM_E_FORMAT;
    above = outermost - 1;
  } else {
    above = level[at];
  }
  for (at = k; depth > 0; depth--) {
    level[at] = above + depth;
    if (depth > 1) at = (size_t)parent[at];
  }
  return TSANOM_OK;
}

/* The nested hierarchy of each region, O(regions). TSANOM_E_INDEX: a parent is
 * not a region; TSANOM_E_FORMAT: the parents form a cycle; TSANOM_E_COUNT: several
 * programs. */
static tsanom_status find_levels(const tsn_spmd_input *input, int32_t *level) {
  const int32_t *parent = input->data.parent;
  size_t regions = input->data.regions, roots = 0;
  bool program = input->options.tree == TSANOM_SPMD_PROGRAM;
  for (size_t k = 0; k < regions; k++) {
    if (parent[k] < TSANOM_SPMD_NONE ||
        (parent[k] >= 0 && (size_t)parent[k] >= regions)) {
      return tsn_reject_is(&input->exec, TSANOM_E_INDEX, "data.parent", k,
                           "%d; one of %zu regions is expected, or TSANOM_SPMD_NONE",
                           (int)parent[k], regions);
    }
    roots += parent[k] == TSANOM_SPMD_NONE;
    level[k] = UNKNOWN;
  }
  for (size_t k = 0; k < regions; k++) {
    if (level[k] != UNKNOWN) continue;
    tsanom_status status = climb(parent, k, program ? 0 : 1, level);
    if (status < 0) {
      return tsn_reject_is(&input->exec, status, "data.parent", k,
                           "%d, which is nested in region %zu itself; a tree is expected",
                           (int)parent[k], k);
    }
  }
  if (!program || roots == 1) return TSANOM_OK;
  return tsn_reject_text(&input->exec, TSANOM_E_COUNT, "data.parent", TSANOM_NONE,
                         "%zu regions have no parent; one is expected, the program",
                         roots);
}

/* One call. */
typedef struct {
  tsn_spmd_input input;
  tsn_spmd_buffers buffers;
  tsanom_spmd_report *report; /* the caller's */
  tsanom_spmd_report own;
} analysis;

static void layout(tsn_arena *arena, void *context) {
  analysis *a = context;
  tsn_spmd_buffers *b = &a->buffers;
  size_t processes = a->input.data.processes, regions = a->input.data.regions;
  size_t ld = tsn_round_up(regions + 1, 8);
  tsn_spmd_points *p = &b->points;
  p->count = processes;
  p->at = tsn_arena_take(arena, processes, ld * sizeof *p->at);
  p->weight = tsn_arena_take(arena, ld, sizeof *p->weight);
  p->centroid = tsn_arena_take(arena, ld, sizeof *p->centroid);
  p->tile = tsn_arena_take(arena, tsn_spmd_tile_elements(ld), sizeof *p->tile);
  p->away = tsn_arena_take(arena, processes, sizeof *p->away);
  p->split = tsn_arena_take(arena, tsn_spmd_near_nodes(processes), sizeof *p->split);
  p->node = tsn_arena_take(arena, 2 * tsn_spmd_near_nodes(processes), sizeof *p->node);
  p->open = tsn_arena_take(arena, processes, sizeof *p->open);
  p->queued = tsn_arena_take(arena, processes, sizeof *p->queued);
  b->base = tsn_arena_take(arena, processes, sizeof *b->base);
  b->trial = tsn_arena_take(arena, processes, sizeof *b->trial);
  b->level = tsn_arena_take(arena, regions, sizeof *b->level);
  b->list = tsn_arena_take(arena, regions * 2, sizeof *b->list);
  b->slot = tsn_arena_take(arena, regions, sizeof *b->slot);
  b->pick = tsn_arena_take(arena, regions, sizeof *b->pick);
  b->meet = tsn_arena_take(arena, regions, sizeof *b->meet);
  b->role = tsn_arena_take(arena, regions, sizeof *b->role);
  b->key = tsn_arena_take(arena, tsn_larger(processes, regions), sizeof *b->key);
  tsn_spmd_optics_layout(arena, &a->input, &b->optics);
  tsn_spmd_table_layout(arena, &a->input, &b->table);
  a->input.inner.work = tsn_arena_take(arena, a->input.inner.work_bytes, 1);
  p->row = a->input.inner.work; /* the order of the points takes more, and is over */
  p->isa = a->input.exec.isa;
}

/* Workspace of the inner calls: the largest of them. It is part of the workspace of this
 * call, so that with a workspace of the caller nothing is allocated anywhere. */
static tsanom_status measure_inner(tsn_spmd_input *input) {
  size_t optics, table;
  tsanom_status status = tsn_spmd_optics_bytes(input, &optics);
  if (status >= 0) status = tsn_spmd_table_bytes(input, &table);
  if (status < 0) {
    return tsn_reject_is(
        &input->exec, status, "data.processes", TSANOM_NONE,
        "%zu; fewer are expected: the workspace exceeds the address space",
        input->data.processes);
  }
  input->inner.work_bytes = tsn_larger(optics, table);
  return TSANOM_OK;
}

/* Everything after the checks. The report is complete whatever the result. */
static tsanom_status analyze(analysis *a) {
  const tsn_spmd_input *input = &a->input;
  tsn_spmd_buffers *b = &a->buffers;
  tsanom_spmd_report *report = &a->own;
  b->watch = (tsn_spmd_watch){.exec = &input->exec, .total = input->data.regions};
  b->points.watch = &b->watch;
  tsn_spmd_poll(&b->watch, input->data.processes * input->data.regions); /* the checks */
  tsanom_status status = tsn_spmd_search(input, b, report);
  tsn_spmd_balance(input, b, report);
  if (report->class_of) {
    memcpy(report->class_of, b->base, input->data.processes * sizeof *b->base);
  }
  if (status == TSANOM_OK) status = tsn_spmd_cause(input, b, report);
  if (status != TSANOM_OK) return status;
  bool is_cut = report->limited ||
                (report->decision && report->decisions > report->decision_capacity) ||
                (report->member && report->members > report->member_capacity) ||
                (report->reduct && report->reducts > report->reduct_capacity);
  return is_cut ? TSANOM_PARTIAL : TSANOM_OK;
}

static tsanom_status body(void *context) {
  analysis *a = context;
  tsanom_status status = find_levels(&a->input, a->buffers.level);
  if (status < 0) return status;
  status = analyze(a);
  if (status < 0) {
    return tsn_reject_text(&a->input.exec, status, "data", TSANOM_NONE,
                           "a part of the analysis is not possible: %s",
                           tsanom_status_text(status));
  }
  write_report(a->report, &a->own);
  return status;
}

static tsanom_status check(void *context) {
  const analysis *a = context;
  tsanom_status status = tsn_require(&a->input.exec, a->report, "report");
  return status < 0 ? status : check_arrays(&a->input);
}

tsanom_status tsanom_spmd_analyze(const tsanom_spmd_data *data,
                                  const tsanom_spmd_options *options,
                                  const tsanom_exec *exec, tsanom_spmd_report *report) {
  analysis a = {.report = report};
  tsanom_status status = read_options(&a.input, options, exec);
  if (status < 0) return status;
  exec = &a.input.exec;
  if (report) {
    status = read_report(report, exec, &a.own);
    if (status < 0) return status;
  }
  if ((status = read_data(&a.input, data)) < 0) return status;
  if ((status = measure_inner(&a.input)) < 0) return status;
  return tsn_workspace_run(exec, layout, check, body, &a);
}
