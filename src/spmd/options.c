/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments of the analysis: defaults and checks. Structs are copied to versions of this
 * library with all fields, so that callers built against an older header are served
 * (core/versioned.h).
 *
 * The tolerance of 5 % is a choice and not an estimate: what difference matters cannot be
 * seen in the data, since equal steps from process to process may be noise or a
 * triangular loop (docs/measurements.md has the rates of right answers). */
#include <math.h>
#include <string.h>

#include "core/check.h"
#include "core/size.h"
#include "core/versioned.h"
#include "spmd/spmd_internal.h"

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

tsanom_status tsn_spmd_read_options(tsn_spmd_input *input,
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

tsanom_status tsn_spmd_read_data(tsn_spmd_input *input, const tsanom_spmd_data *data) {
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

tsanom_status tsn_spmd_check_arrays(const tsn_spmd_input *input) {
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

tsanom_status tsn_spmd_read_report(const tsanom_spmd_report *caller,
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

void tsn_spmd_write_report(tsanom_spmd_report *caller, const tsanom_spmd_report *own) {
  tsn_versioned_write(&report_type, caller, own);
}
