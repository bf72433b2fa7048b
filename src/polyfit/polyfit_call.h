/* SPDX-License-Identifier: BSD-3-Clause */
/* What the public functions do with their arguments. */
#ifndef TSN_POLYFIT_CALL_H
#define TSN_POLYFIT_CALL_H

#include <tsanom/polyfit.h>

#include "polyfit/polyfit_kernel.h"

/* The caller's options (NULL: the defaults), checked and with the automatic tolerance
 * filled in. */
tsanom_status tsn_polyfit_options_read(tsanom_polyfit_options *own,
                                       const tsanom_polyfit_options *caller,
                                       const tsanom_exec *exec);

/* TSANOM_E_OVERFLOW unless arrays of n samples can exist. */
tsanom_status tsn_polyfit_check_size(size_t n, const tsanom_exec *exec);

/* TSANOM_E_COUNT unless `n` samples suffice for the options. */
tsanom_status tsn_polyfit_check_count(uint64_t n, const tsanom_polyfit_options *options,
                                      const tsanom_exec *exec);

/* Whether the caller initialized its model. */
tsanom_status tsn_polyfit_model_check(const tsanom_polyfit_model *caller,
                                      const tsanom_exec *exec);

/* The status and fault of samples that failed a check: a NaN or infinity in x, y or
 * weights, else a weight that is not positive. */
tsanom_status tsn_polyfit_reject(const tsn_polyfit_samples *samples,
                                 const tsanom_exec *exec);

#endif
