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
  if (!time) return tsn_reject_null(&own, "time", count);
  if (!rates) return tsn_reject_null(&own, "rates", count > window ? count - window : 0);
  status = tsn_require_size(&own, TSANOM_E_OPTION, "window", window, 1, SIZE_MAX);
  if (status < 0) return status;
  if (window >= count) {
    return tsn_reject_is(&own, TSANOM_E_COUNT, "count", TSANOM_NONE,
                         "%zu; more than the window of %zu beats is expected", count,
                         window);
  }
  status = tsn_require_size(&own, TSANOM_E_OVERFLOW, "count", count, 1,
                            PTRDIFF_MAX / sizeof *time);
  if (status < 0) return status;
  if (!tsn_all_finite(time, count)) {
    size_t i = tsn_first_nonfinite(time, count);
    return tsn_reject_value(&own, TSANOM_E_NONFINITE, "time", i, TSANOM_NONE, time[i],
                            "finite times are expected");
  }
  for (size_t i = 1; i < count; i++) {
    if (time[i] > time[i - 1]) continue;
    return tsn_reject_is(&own, TSANOM_E_ORDER, "time", i,
                         "%.17g; more than %.17g, the time before it, is expected",
                         time[i], time[i - 1]);
  }
  for (size_t i = window; i < count; i++) {
    rates[i - window] = (double)window / (time[i] - time[i - window]);
  }
  return TSANOM_OK;
}
