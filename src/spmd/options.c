/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments of the analysis: defaults and checks. Structs are copied to versions of this
 * library with all fields, so that callers built against an older header are served
 * (core/versioned.h). Checks are tables of conditions, in the order of the fields: the
 * first that does not hold is reported.
 *
 * The tolerance of 5 % is a choice and not an estimate: what difference matters cannot be
 * seen in the data, since equal steps from process to process may be noise or a
 * triangular loop (docs/spmd.md has the rates of right answers for each cut). */
#include <math.h>
#include <stdio.h>
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

/* A condition on a field of an argument, and the status if it does not hold. */
typedef struct {
  const char *field;
  bool holds;
  tsanom_status status;
} condition;

/* Reject the first condition that does not hold; `prefix` names the struct. */
static tsanom_status require(const tsanom_exec *exec, const char *prefix,
                             const condition *conditions, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (conditions[i].holds) continue;
    char argument[64];
    (void)snprintf(argument, sizeof argument, "%s%s", prefix, conditions[i].field);
    return tsn_reject(exec, conditions[i].status, argument);
  }
  return TSANOM_OK;
}

#define REQUIRE(exec, prefix, conditions) \
  require(exec, prefix, conditions, sizeof(conditions) / sizeof *(conditions))

/* Written so that a NaN fails. */
static bool is_tolerance(double value) {
  return isgreater(value, 0) && islessequal(value, 1);
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
  status = tsn_versioned_read(&options_type, own, options);
  if (status < 0) return tsn_reject(&input->exec, status, "options");
  const tsanom_status bad = TSANOM_E_OPTION;
  const condition conditions[] = {
      {"tolerance", is_tolerance(own->tolerance), bad},
      {"metric_tolerance", is_tolerance(own->metric_tolerance), bad},
      {"tree", own->tree >= 0 && own->tree <= TSANOM_SPMD_PROGRAM, bad},
      {"norm", own->norm >= 0 && own->norm <= TSANOM_SPMD_MEAN_NORM, bad},
      {"cut", own->cut >= 0 && own->cut <= TSANOM_SPMD_CUT_NOISE, bad},
      {"deep", own->deep == 0 || own->deep == 1, bad}};
  return REQUIRE(&input->exec, "options.", conditions);
}

/* Times are finite and not negative; a process that did not enter a region has 0. */
static tsanom_status check_times(const tsanom_spmd_data *d, const tsanom_exec *exec) {
  for (size_t i = 0; i < d->processes; i++) {
    const double *row = d->time + i * d->time_ld;
    if (!tsn_all_finite(row, d->regions)) {
      return tsn_reject_pair(exec, TSANOM_E_NONFINITE, "data.time", i,
                             tsn_first_nonfinite(row, d->regions));
    }
    for (size_t k = 0; k < d->regions; k++) {
      if (row[k] < 0) return tsn_reject_pair(exec, TSANOM_E_VALUE, "data.time", i, k);
    }
  }
  return TSANOM_OK;
}

/* A standard error may be NaN, which is not known, but neither infinite nor negative. */
static tsanom_status check_errors(const tsanom_spmd_data *d, const tsanom_exec *exec) {
  for (size_t i = 0; d->error && i < d->processes; i++) {
    const double *row = d->error + i * d->time_ld;
    for (size_t k = 0; k < d->regions; k++) {
      tsanom_status status = isinf(row[k])  ? TSANOM_E_NONFINITE
                             : (row[k] < 0) ? TSANOM_E_VALUE
                                            : TSANOM_OK;
      if (status < 0) return tsn_reject_pair(exec, status, "data.error", i, k);
    }
  }
  return TSANOM_OK;
}

/* A metric may be NaN, which is missing, but not infinite. */
static tsanom_status check_metrics(const tsanom_spmd_data *d, const tsanom_exec *exec) {
  for (size_t i = 0; i < d->metrics * d->processes; i++) {
    const double *row = d->metric + i * d->metric_ld;
    for (size_t k = 0; k < d->regions; k++) {
      if (isinf(row[k])) {
        return tsn_reject_pair(exec, TSANOM_E_NONFINITE, "data.metric", i, k);
      }
    }
  }
  return TSANOM_OK;
}

/* Whether `rows` rows of `ld` numbers can exist. */
static bool fits(size_t rows, size_t ld) {
  return tsn_array_fits(ld, sizeof(double)) && tsn_array_fits(rows, ld * sizeof(double));
}

tsanom_status tsn_spmd_read_data(tsn_spmd_input *input, const tsanom_spmd_data *data) {
  tsanom_spmd_data *own = &input->data;
  const tsanom_exec *exec = &input->exec;
  if (!data) return tsn_reject(exec, TSANOM_E_NULL, "data");
  tsanom_status status = tsn_versioned_read(&data_type, own, data);
  if (status < 0) return tsn_reject(exec, status, "data");
  if (!own->time_ld) own->time_ld = own->regions;
  if (!own->metric_ld) own->metric_ld = own->regions;
  const condition conditions[] = {
      {"processes", own->processes >= 1 && own->processes <= INT32_MAX, TSANOM_E_COUNT},
      {"regions", own->regions >= 1 && own->regions <= INT32_MAX, TSANOM_E_COUNT},
      {"metrics", own->metrics <= INT32_MAX, TSANOM_E_COUNT},
      {"time_ld", own->time_ld >= own->regions, TSANOM_E_OPTION},
      {"metric_ld", own->metric_ld >= own->regions, TSANOM_E_OPTION},
      {"elapsed", isgreaterequal(own->elapsed, 0) && isfinite(own->elapsed),
       TSANOM_E_OPTION},
      {"time_ld", fits(own->processes, own->time_ld), TSANOM_E_OVERFLOW},
      {"metrics", fits(own->metrics, own->processes), TSANOM_E_OVERFLOW},
      {"metric_ld", !own->metrics || fits(own->metrics * own->processes, own->metric_ld),
       TSANOM_E_OVERFLOW}};
  return REQUIRE(exec, "data.", conditions);
}

tsanom_status tsn_spmd_check_arrays(const tsn_spmd_input *input) {
  const tsanom_spmd_data *d = &input->data;
  const tsanom_exec *exec = &input->exec;
  const condition conditions[] = {{"parent", d->parent, TSANOM_E_NULL},
                                  {"time", d->time, TSANOM_E_NULL},
                                  {"metric", !d->metrics || d->metric, TSANOM_E_NULL}};
  tsanom_status status = REQUIRE(exec, "data.", conditions);
  if (status == TSANOM_OK) status = check_times(d, exec);
  if (status == TSANOM_OK) status = check_errors(d, exec);
  return status < 0 ? status : check_metrics(d, exec);
}

tsanom_status tsn_spmd_read_report(const tsanom_spmd_report *caller,
                                   tsanom_spmd_report *own) {
  tsanom_status status = tsn_versioned_check(&report_type, caller);
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
