/* SPDX-License-Identifier: BSD-3-Clause */
/* Internal structure of a value detector. */
#ifndef TSN_DPD_VALUE_H
#define TSN_DPD_VALUE_H

#include <tsanom/dpd.h>

#include "core/state.h"
#include "dpd/dpd_judge.h"
#include "dpd/dpd_sums.h"

struct tsanom_dpd_value {
  tsn_object owner;
  tsanom_dpd_value_options options; /* with the largest window */
  tsn_sums sums;
  tsn_judge judge;
  size_t period;
  size_t phase;      /* samples since a period started */
  uint64_t held;     /* consecutive correct predictions */
  uint64_t locked;   /* count at the sample that found the period */
  uint64_t unlocked; /* count at the last sample with a period */
  uint64_t constant; /* consecutive equal samples */
};

extern const tsn_saved tsn_dpd_value_saved;

/* Start the sums, or continue with another window. */
void tsn_dpd_value_start_sums(tsanom_dpd_value *d, const tsn_dpd_slide_kernels *kernels,
                              size_t window);

#endif
