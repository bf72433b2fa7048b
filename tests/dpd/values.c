/* SPDX-License-Identifier: BSD-3-Clause */
/* Detectors for the tests of values and of saved states. Significance is 0, so that only
 * the depth of a distance decides; tests that need both rules set it themselves. */
#include "values.h"

#include "support/check.h"
#include "support/exec.h"

tsanom_dpd_value_options value_options(size_t window, size_t max_period) {
  tsanom_dpd_value_options options;
  tsanom_dpd_value_options_init(&options, sizeof options);
  options.window = window;
  options.max_period = max_period;
  options.significance = 0;
  return options;
}

tsanom_dpd_value *make_value_detector(const tsanom_dpd_value_options *options,
                                      int32_t isa) {
  tsanom_exec exec = exec_at(isa, 1);
  tsanom_dpd_value *detector = NULL;
  CHECK_STATUS(tsanom_dpd_value_create(options, &exec, &detector), TSANOM_OK);
  return detector;
}
