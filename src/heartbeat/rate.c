/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/check.h"
#include "tsanom/heartbeat_run.h"

tsanom_status tsanom_heartbeat_rate(const double *times, size_t n, size_t window,
                                    double *rates) {
  if (!times || !rates) return TSANOM_E_NULL;
  if (window == 0) return TSANOM_E_OPTION;
  if (window >= n) return TSANOM_E_COUNT;
  if (!tsn_all_finite(times, n)) return TSANOM_E_NONFINITE;
  for (size_t i = 1; i < n; i++) {
    if (!(times[i] > times[i - 1])) return TSANOM_E_ORDER;
  }
  for (size_t i = window; i < n; i++) {
    rates[i - window] = (double)window / (times[i] - times[i - window]);
  }
  return TSANOM_OK;
}
