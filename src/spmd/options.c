/* SPDX-License-Identifier: BSD-3-Clause */
/* What the caller hands over: defaults and checks. */
#include <math.h>

#include "core/check.h"
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

tsanom_status tsanom_spmd_data_init(tsanom_spmd_data *data, size_t struct_size) {
  return tsn_versioned_init(&data_type, data, struct_size);
}

tsanom_status tsanom_spmd_options_init(tsanom_spmd_options *options, size_t struct_size) {
  return tsn_versioned_init(&options_type, options, struct_size);
}

tsanom_status tsanom_spmd_report_init(tsanom_spmd_report *report, size_t struct_size) {
  return tsn_versioned_init(&report_type, report, struct_size);
}

/* Written so that a NaN fails. */
static bool is_tolerance(double value) {
  return value > 0 && value <= 1;
}

tsanom_status tsn_spmd_read_options(tsn_spmd_input *input,
                                    const tsanom_spmd_options *options,
                                    const tsanom_exec *exec) {
  tsanom_spmd_options *own = &input->options;
  tsanom_status status = tsn_versioned_read(&options_type, own, options);
  if (status < 0) return status;
  bool good =
      is_tolerance(own->tolerance) && is_tolerance(own->metric_tolerance) &&
      (own->tree == TSANOM_SPMD_FOREST || own->tree == TSANOM_SPMD_PROGRAM) &&
      (own->norm == TSANOM_SPMD_LARGEST_NORM || own->norm == TSANOM_SPMD_MEAN_NORM) &&
      own->cut >= TSANOM_SPMD_CUT_TOLERANCE && own->cut <= TSANOM_SPMD_CUT_NOISE &&
      (own->deep == 0 || own->deep == 1);
  if (!good) return TSANOM_E_OPTION;
  if ((status = tsn_exec_read(&input->exec, exec)) < 0) return status;
  input->exec.threads = 1;
  return TSANOM_OK;
}

static tsanom_status check_times(const tsanom_spmd_data *d) {
  for (size_t i = 0; i < d->processes; i++) {
    const double *row = d->time + i * d->time_stride;
    if (!tsn_all_finite(row, d->regions)) return TSANOM_E_NONFINITE;
    for (size_t k = 0; k < d->regions; k++) {
      if (row[k] < 0) return TSANOM_E_VALUE;
    }
  }
  return TSANOM_OK;
}

static tsanom_status check_metrics(const tsanom_spmd_data *d) {
  for (size_t i = 0; i < d->metrics * d->processes; i++) {
    const double *row = d->metric + i * d->metric_stride;
    for (size_t k = 0; k < d->regions; k++) {
      if (isinf(row[k])) return TSANOM_E_NONFINITE;
    }
  }
  return TSANOM_OK;
}

static bool fits(size_t rows, size_t stride) {
  return !stride || rows <= (SIZE_MAX >> 4) / stride;
}

tsanom_status tsn_spmd_read_data(tsn_spmd_input *input, const tsanom_spmd_data *data) {
  tsanom_spmd_data *own = &input->data;
  if (!data) return TSANOM_E_NULL;
  tsanom_status status = tsn_versioned_read(&data_type, own, data);
  if (status < 0) return status;
  if (own->processes < 1 || own->processes > INT32_MAX || own->regions < 1 ||
      own->regions > INT32_MAX || own->metrics > INT32_MAX) {
    return TSANOM_E_COUNT;
  }
  if (!own->parent || !own->time || (own->metrics && !own->metric)) return TSANOM_E_NULL;
  if (!own->time_stride) own->time_stride = own->regions;
  if (!own->metric_stride) own->metric_stride = own->regions;
  if (own->time_stride < own->regions || own->metric_stride < own->regions ||
      !(own->elapsed >= 0 && isfinite(own->elapsed))) {
    return TSANOM_E_OPTION;
  }
  if (!fits(own->processes, own->time_stride) || !fits(own->metrics, own->processes) ||
      !fits(own->metrics * own->processes, own->metric_stride)) {
    return TSANOM_E_OVERFLOW;
  }
  if ((status = check_times(own)) < 0) return status;
  return check_metrics(own);
}

tsanom_status tsn_spmd_read_report(const tsanom_spmd_report *caller,
                                   tsanom_spmd_report *own) {
  if (!caller) return TSANOM_E_NULL;
  tsanom_spmd_report given;
  tsanom_status status = tsn_versioned_read(&report_type, &given, caller);
  if (status < 0) return status;
  *own = report_defaults;
  own->struct_size = given.struct_size;
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
