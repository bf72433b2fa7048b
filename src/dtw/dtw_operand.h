/* SPDX-License-Identifier: BSD-3-Clause */
/* The series of a call, and their checks. Samples are the caller's and are only read. */
#ifndef TSN_DTW_OPERAND_H
#define TSN_DTW_OPERAND_H

#include "dtw/dtw_kernel.h"
#include "dtw/dtw_settings.h"

/* One of the two series of a pair: `count` samples, `stride` elements apart. */
typedef struct {
  const real *samples;
  size_t count, stride;
} tsn_dtw_operand;

/* Reject no samples, and more samples than the address space or a tick can count.
 * `count_name` names the argument. */
tsanom_status tsn_dtw_operand_check(const tsn_dtw_operand *x, const char *count_name,
                                    const tsn_dtw_settings *settings);

/* Reject samples that are not finite; the element is the sample, and of a sample of
 * several dimensions `second` is the component. */
tsanom_status tsn_dtw_operand_finite(const tsn_dtw_operand *x, const char *name,
                                     const tsn_dtw_settings *settings);

/* Read the caller's view of a set; its lengths satisfy tsn_dtw_operand_check(). */
tsanom_status tsn_dtw_set_read(series_view *own, const series_view *caller,
                               const char *name, const tsn_dtw_settings *settings);

/* Reject samples that are not finite: element is the series, second the sample. */
tsanom_status tsn_dtw_set_finite(const series_view *set, const char *name,
                                 const tsn_dtw_settings *settings);

static inline tsn_dtw_operand tsn_dtw_set_at(const series_view *set, size_t k) {
  return (tsn_dtw_operand){tsn_series_at(set, k), tsn_series_length(set, k), set->stride};
}

/* The longest series of which columns and steps can be counted in ticks: steps exceed
 * columns by a few turns of the lanes, hence half of the 32 bits, and of the 53 bits of a
 * double. */
static inline size_t tsn_dtw_longest(void) {
  return sizeof(real) == sizeof(float) ? INT32_MAX / 2 : (size_t)1 << 52;
}

static inline bool tsn_dtw_length_fits(size_t n) {
  return n <= tsn_dtw_longest();
}

static inline const tsn_dtw_kernels *tsn_dtw_kernels_of(
    const tsn_dtw_settings *settings) {
  return tsn_dtw_kernels_at(settings->exec.isa);
}

#endif
