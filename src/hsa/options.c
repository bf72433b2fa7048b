/* SPDX-License-Identifier: BSD-3-Clause */
/* Options of the HSA module, and the names of its constants.
 *
 * The defaults that decide quality, and where their reasons are (docs/hsa.md):
 *
 *     coverage 0.99   several ranges are asked at once: the share of normal threads that
 *                     are called abnormal is at most 2 (1 - coverage) (Bonferroni)
 *     margin 0.05     a range is never narrower, however similar the normal runs are
 *     rule PACE       macro F is at least 0.989 on recordings of six workloads, and 0.865
 *                     to 0.977 by Algorithm 1 to the letter
 *     window 0        a hundredth of the longest normal series */
#include <math.h>
#include <stdio.h>

#include "core/names.h"
#include "core/size.h"
#include "core/versioned.h"
#include "hsa/hsa.h"

static const tsanom_hsa_options defaults = {.struct_size = sizeof defaults,
                                            .window = 0,
                                            .max_windows = 256,
                                            .max_degree = 8,
                                            .points = 256,
                                            .radius = 12,
                                            .r2 = 0.9,
                                            .coverage = 0.99,
                                            .margin = 0.05,
                                            .single_run_margin = 0.25,
                                            .rule = TSANOM_HSA_RULE_PACE,
                                            .local_rate = TSANOM_HSA_LOCAL_RATE_RATIO};

static const tsn_versioned options_type = {.size = sizeof(tsanom_hsa_options),
                                           .first_size = sizeof(tsanom_hsa_options),
                                           .defaults = &defaults};

tsanom_status tsanom_hsa_options_init(tsanom_hsa_options *options, size_t struct_size) {
  return tsn_versioned_init(&options_type, options, struct_size);
}

/* A number and its range. */
typedef struct {
  const char *field;
  double value, low, high;
  bool above, below; /* an end does not belong to the range */
} limited;

/* Written so that a NaN fails. */
static bool is_good(const limited *f) {
  return (f->above ? isgreater(f->value, f->low) : isgreaterequal(f->value, f->low)) &&
         (f->below ? isless(f->value, f->high) : islessequal(f->value, f->high));
}

static tsanom_status reject(const tsanom_exec *exec, const char *name, const limited *f) {
  char argument[64], expected[96];
  (void)snprintf(argument, sizeof argument, "%s.%s", name, f->field);
  (void)snprintf(expected, sizeof expected, "%s %.9g and %s %.9g is expected",
                 f->above ? "more than" : "at least", f->low,
                 f->below ? "less than" : "at most", f->high);
  return tsn_reject_value(exec, TSANOM_E_OPTION, argument, TSANOM_NONE, TSANOM_NONE,
                          f->value, expected);
}

/* A table in the order of the fields, so that the fault names the first invalid one. */
tsanom_status tsn_hsa_options_read(tsanom_hsa_options *own,
                                   const tsanom_hsa_options *caller, const char *name,
                                   const tsanom_exec *exec) {
  tsanom_status status = tsn_struct_read(exec, &options_type, own, caller, name);
  if (status < 0) return status;
  own->struct_size = sizeof *own;
  const limited fields[] = {
      {"max_windows", (double)own->max_windows, 1, TSANOM_HSA_MAX_WINDOWS, false, false},
      {"max_degree", (double)own->max_degree, 0, TSANOM_HSA_MAX_DEGREE, false, false},
      {"points", (double)own->points, 2, TSANOM_HSA_MAX_POINTS, false, false},
      {"r2", own->r2, 0, 1, false, true},
      {"coverage", own->coverage, 0, 1, true, true},
      {"margin", own->margin, 0, 1e6, false, false},
      {"single_run_margin", own->single_run_margin, 0, 1e6, true, false},
      {"rule", own->rule, 0, TSANOM_HSA_RULE_PACE, false, false},
      {"local_rate", own->local_rate, 0, TSANOM_HSA_LOCAL_RATE_LITERAL, false, false}};
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
    if (!is_good(&fields[i])) return reject(exec, name, &fields[i]);
  }
  return TSANOM_OK;
}

/* The inner calls get one block of the caller's workspace, as large as the most that any
 * of them needs: they run one after the other. One thread: the pieces are too small to
 * start threads for. */
tsanom_status tsn_hsa_context_read(tsn_hsa_context *context,
                                   const tsanom_hsa_options *options, const char *name,
                                   const tsanom_exec *exec) {
  size_t fit, pair;
  tsanom_status status = tsn_exec_read(&context->exec, exec);
  if (status < 0) return status;
  status = tsn_hsa_options_read(&context->options, options, name, &context->exec);
  if (status < 0) return status;
  context->inner = tsn_exec_for_object(&context->exec);
  context->inner.threads = 1;
  status = tsn_hsa_fit_bytes(context, &fit);
  if (status >= 0) status = tsn_hsa_pair_bytes(context, &pair);
  if (status < 0) return tsn_reject(&context->exec, status, name);
  context->inner.work_bytes = tsn_larger(fit, pair);
  return TSANOM_OK;
}

const char *tsanom_hsa_feature_name(int32_t feature) {
  static const char *const names[] = {TSN_HSA_FEATURE_NAMES};
  _Static_assert(sizeof names / sizeof *names == TSANOM_HSA_FEATURES, "names");
  return feature >= 0 && feature < TSANOM_HSA_FEATURES ? names[feature] : "?";
}

const char *tsanom_hsa_status_name(int32_t status) {
  static const char *const names[TSANOM_HSA_STATUSES] = {
      "normal",    "memory_leak", "shutdown",       "contention", "slowdown",
      "imbalance", "hang",        "not_comparable", "unknown",    "waiting"};
  return status >= 0 && status < TSANOM_HSA_STATUSES ? names[status] : "?";
}
