/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of samples that every module makes. A rejection must name the smallest index,
 * but few calls are rejected: a fast pass decides, and a slow one finds the index. */
#ifndef TSN_CORE_CHECK_H
#define TSN_CORE_CHECK_H

#include <stdbool.h>
#include <stddef.h>

/* Whether all `count` samples are finite; true for count 0. */
bool tsn_all_finite(const double *samples, size_t count);

/* The same in single precision. */
bool tsn_all_finite_f32(const float *samples, size_t count);

/* Index of the first sample that is not finite, `count` if there is none. Sample by
 * sample: call it after tsn_all_finite() has failed. */
size_t tsn_first_nonfinite(const double *samples, size_t count);
size_t tsn_first_nonfinite_f32(const float *samples, size_t count);

#endif
