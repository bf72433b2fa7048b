/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as a model file: rejected with a message, or a model that is written back. */
#include <stdint.h>
#include <stdlib.h>
#include <tsanom/runs.h>

#include "support/exec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tsanom_fault fault;
  tsanom_exec exec = exec_reporting(&fault);
  tsanom_runs_model *model = NULL;
  tsanom_runs_model_data found;
  tsanom_status status =
      tsanom_runs_model_parse((const char *)data, size, "fuzz", &exec, &model);
  if (status < 0) {
    if (!*fault.text || !*fault.file || model) abort();
    return 0;
  }
  if (tsanom_runs_model_get(model, &found) != TSANOM_OK) abort();
  if (tsanom_runs_model_save("/dev/null", &found, NULL) != TSANOM_OK) abort();
  tsanom_runs_model_destroy(model);
  return 0;
}
