/* SPDX-License-Identifier: BSD-3-Clause */
/* Detectors for the tests of value mode. */
#ifndef TSANOM_TEST_VALUES_H
#define TSANOM_TEST_VALUES_H

#include <tsanom/dpd.h>

/* The rule by depth alone. */
tsanom_dpd_value_options value_options(size_t window, size_t max_period);

tsanom_dpd_value *make_value_detector(const tsanom_dpd_value_options *options,
                                      int32_t isa);

#endif
