/* SPDX-License-Identifier: BSD-3-Clause */
/* Run lengths of all short delays at once, in a few vector operations per event. They
 * saturate instead of wrapping: a run that wrapped to `needed` would be found a second
 * time. */
#include "dpd/dpd_kernel.h"

static void advance_runs(const uint64_t *lagged, uint64_t event, uint32_t *run,
                         size_t lags) {
#pragma omp simd
  for (size_t m = 0; m < lags; m++) {
    uint32_t longer = run[m] + (run[m] != UINT32_MAX);
    run[m] = lagged[m] == event ? longer : 0;
  }
}

const tsn_dpd_kernels TSN_LEVEL(tsn_dpd_kernels) = {
    .advance_runs = advance_runs,
};
