/* SPDX-License-Identifier: BSD-3-Clause */
/* For the tests of hsa. No public function returns the features of two series, so
 * compare() learns a model from the one and diagnoses the other. */
#include "learned.h"

#include <string.h>

#include "support/check.h"

tsanom_hsa_model *learn(const tsanom_hsa_run *runs, size_t count,
                        const tsanom_hsa_options *options, tsanom_status expected) {
  tsanom_hsa_model *model = NULL;
  CHECK_STATUS(tsanom_hsa_learn(runs, count, options, NULL, &model), expected);
  return model;
}

const tsanom_hsa_reference *reference_of(const tsanom_hsa_model *model, size_t thread) {
  tsanom_hsa_model_data data = {.struct_size = sizeof data};
  CHECK_STATUS(tsanom_hsa_model_read(model, &data), TSANOM_OK);
  cr_assert(thread < data.thread_count);
  return &data.references[thread];
}

tsanom_status diagnose(const tsanom_hsa_model *model, const tsanom_hsa_run *run,
                       tsanom_hsa_verdict *verdicts, size_t count) {
  *verdicts = (tsanom_hsa_verdict){.struct_size = sizeof *verdicts};
  return tsanom_hsa_diagnose(model, run, NULL, verdicts, count, NULL);
}

tsanom_status compare(const tsanom_hsa_series *target, double target_start,
                      const tsanom_hsa_series *reference, double reference_start,
                      const tsanom_hsa_options *options, const tsanom_exec *exec,
                      tsanom_hsa_features *features) {
  tsanom_hsa_run normal = {
      .threads = reference, .thread_count = 1, .start = reference_start};
  tsanom_hsa_run run = {.threads = target, .thread_count = 1, .start = target_start};
  tsanom_hsa_verdict verdict = {.struct_size = sizeof verdict};
  tsanom_hsa_model *model = NULL;
  tsanom_status status = tsanom_hsa_learn(&normal, 1, options, exec, &model);
  if (status < 0) return status;
  status = tsanom_hsa_diagnose(model, &run, exec, &verdict, 1, NULL);
  tsanom_hsa_model_destroy(model);
  if (status == TSANOM_OK) *features = verdict.features;
  return status;
}

void make_runs(tsanom_hsa_run *runs, size_t count, const synthetic_kind *kind,
               uint64_t *seed) {
  for (size_t i = 0; i < count; i++) runs[i] = synthetic_run(kind, seed);
}

void free_runs(tsanom_hsa_run *runs, size_t count) {
  for (size_t i = 0; i < count; i++) synthetic_free(&runs[i]);
}

void check_same_reference(tsanom_hsa_reference r, tsanom_hsa_reference s) {
  cr_assert(memcmp(r.time, s.time, (r.windows + 1) * sizeof *r.time) == 0);
  cr_assert(memcmp(r.rate, s.rate, (r.windows + 1) * sizeof *r.rate) == 0);
  cr_assert(memcmp(r.window_rate, s.window_rate, r.windows * sizeof *r.rate) == 0);
  cr_assert(
      memcmp(r.coefficient, s.coefficient, (r.degree + 1) * sizeof *r.coefficient) == 0);
  s.time = r.time;
  s.rate = r.rate;
  s.window_rate = r.window_rate;
  s.coefficient = r.coefficient;
  /* NOLINTNEXTLINE: bits are compared */
  cr_assert(memcmp(&r, &s, sizeof r) == 0);
}
