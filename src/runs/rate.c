/* SPDX-License-Identifier: BSD-3-Clause */
/* Windowed heart rate:
 *
 *   r[i - w] = w / (t[i] - t[i - w]),     i = w ... count - 1
 *
 * in beats per second. Times must increase strictly, so that every quotient is finite.
 * All input is checked before the first output is written. O(count). */
#include <tsanom/runs.h>

#include "core/check.h"
#include "core/exec.h"
#include "core/fault.h"

tsanom_status tsanom_runs_rate(const double *time, size_t count, size_t window,
                               const tsanom_exec *exec, double *rates) {
  tsanom_exec own;
  tsanom_status status = tsn_exec_read_base(&own, exec);
  if (status < 0) return status;
  if (!time) return tsn_reject(&own, TSANOM_E_NULL, "time");
  if (!rates) return tsn_reject(&own, TSANOM_E_NULL, "rates");
  if (window == 0) return tsn_reject(&own, TSANOM_E_OPTION, "window");
  if (window >= count) return tsn_reject(&own, TSANOM_E_COUNT, "count");
  if (count > PTRDIFF_MAX / sizeof *time) {
    return tsn_reject(&own, TSANOM_E_OVERFLOW, "count");
  }
  if (!tsn_all_finite(time, count)) {
    return tsn_reject_at(&own, TSANOM_E_NONFINITE, "time",
                         tsn_first_nonfinite(time, count));
  }
  for (size_t i = 1; i < count; i++) {
    if (!(time[i] > time[i - 1])) return tsn_reject_at(&own, TSANOM_E_ORDER, "time", i);
  }
  for (size_t i = window; i < count; i++) {
    rates[i - window] = (double)window / (time[i] - time[i - window]);
  }
  return TSANOM_OK;
}
