/* SPDX-License-Identifier: BSD-3-Clause */
/* Options of the HSA room, and the names of its constants. */
#include "core/exec.h"
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
                                            .range = TSANOM_HSA_RANGE_STUDENT,
                                            .rule = TSANOM_HSA_RULE_PACE,
                                            .local_rate = TSANOM_HSA_LOCAL_RATE_RATIO,
                                            .normalise = 1};

static const tsn_versioned options_type = {.size = sizeof(tsanom_hsa_options),
                                           .first_size = sizeof(tsanom_hsa_options),
                                           .defaults = &defaults};

tsanom_status tsanom_hsa_options_init(tsanom_hsa_options *options, size_t struct_size) {
  return tsn_versioned_init(&options_type, options, struct_size);
}

/* Written so that a NaN fails every comparison. */
static bool numbers_fit(const tsanom_hsa_options *o) {
  return o->r2 >= 0 && o->r2 < 1 && o->coverage > 0 && o->coverage < 1 &&
         o->margin >= 0 && o->margin <= 1e6 && o->single_run_margin > 0 &&
         o->single_run_margin <= 1e6;
}

static tsanom_status read_options(tsanom_hsa_options *own,
                                  const tsanom_hsa_options *caller) {
  tsanom_status status = tsn_versioned_read(&options_type, own, caller);
  if (status < 0) return status;
  own->struct_size = sizeof *own;
  bool good =
      own->max_windows >= 1 && own->max_windows <= TSANOM_HSA_MAX_WINDOWS &&
      own->max_degree <= TSANOM_HSA_MAX_DEGREE && own->points >= 2 &&
      own->points <= TSANOM_HSA_MAX_POINTS && numbers_fit(own) &&
      (own->range == TSANOM_HSA_RANGE_STUDENT || own->range == TSANOM_HSA_RANGE_ORDER) &&
      own->rule >= TSANOM_HSA_RULE_PAPER && own->rule <= TSANOM_HSA_RULE_PACE &&
      (own->local_rate == TSANOM_HSA_LOCAL_RATE_RATIO ||
       own->local_rate == TSANOM_HSA_LOCAL_RATE_LITERAL) &&
      (own->normalise == 0 || own->normalise == 1);
  return good ? TSANOM_OK : TSANOM_E_OPTION;
}

tsanom_status tsn_hsa_context_read(tsn_hsa_context *context,
                                   const tsanom_hsa_options *options,
                                   const tsanom_exec *exec) {
  tsanom_status status = read_options(&context->options, options);
  if (status < 0) return status;
  if ((status = tsn_exec_read(&context->exec, exec)) < 0) return status;
  context->inner = context->exec;
  context->inner.threads = 1;
  context->inner.poll = NULL;
  return TSANOM_OK;
}

const char *tsanom_hsa_feature_name(int32_t feature) {
  static const char *const names[TSANOM_HSA_FEATURES] = {
      "gtr", "ltr", "ghr", "lhr", "dtw", "lb_keogh", "beat_ratio", "interval_ratio"};
  return feature >= 0 && feature < TSANOM_HSA_FEATURES ? names[feature] : "?";
}

const char *tsanom_hsa_status_name(int32_t status) {
  static const char *const names[] = {"normal", "memory_leak", "shutdown"};
  return status >= TSANOM_HSA_NORMAL && status <= TSANOM_HSA_SHUTDOWN ? names[status]
                                                                      : "?";
}
