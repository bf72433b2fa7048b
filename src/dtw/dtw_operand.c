/* SPDX-License-Identifier: BSD-3-Clause */
/* Series as arguments: lengths that fit and samples that are finite; a rejection names the
 * series, the sample and the component. */
#include "dtw/dtw_operand.h"

#include "core/size.h"

static bool fits(size_t n, size_t stride) {
  return tsn_dtw_length_fits(n) && tsn_array_fits(n, tsn_product(stride, sizeof(real)));
}

tsanom_status tsn_dtw_operand_check(const tsn_dtw_operand *x, const char *count_name,
                                    const tsn_dtw_settings *settings) {
  const tsanom_exec *exec = &settings->exec;
  if (x->count && fits(x->count, x->stride)) return TSANOM_OK;
  tsanom_status status = x->count ? TSANOM_E_OVERFLOW : TSANOM_E_COUNT;
  size_t most = tsn_smaller(tsn_dtw_longest(), PTRDIFF_MAX / sizeof(real) / x->stride);
  return tsn_reject_size(exec, status, count_name, x->count, 1,
                         x->count ? most : SIZE_MAX);
}

/* Index of the first component that is not finite, counted without the gaps between
 * samples; TSANOM_NONE if there is none. */
static size_t first_nonfinite(const tsn_dtw_operand *x, size_t dimensions) {
  size_t row = dimensions, rows = x->count;
  if (x->stride == dimensions) {
    row *= rows;
    rows = 1;
  }
  for (size_t i = 0; i < rows; i++) {
    const real *samples = x->samples + i * x->stride;
    if (tsn_all_finite(samples, row)) continue;
    return i * dimensions + tsn_first_nonfinite(samples, row);
  }
  return TSANOM_NONE;
}

/* Component `at` of those without gaps. */
static double component(const tsn_dtw_operand *x, size_t dimensions, size_t at) {
  return (double)x->samples[at / dimensions * x->stride + at % dimensions];
}

tsanom_status tsn_dtw_operand_finite(const tsn_dtw_operand *x, const char *name,
                                     const tsn_dtw_settings *settings) {
  size_t dimensions = settings->options.dimensions;
  size_t at = first_nonfinite(x, dimensions);
  if (at == TSANOM_NONE) return TSANOM_OK;
  return tsn_reject_value(&settings->exec, TSANOM_E_NONFINITE, name, at / dimensions,
                          dimensions == 1 ? TSANOM_NONE : at % dimensions,
                          component(x, dimensions, at), TSN_FINITE);
}

tsanom_status tsn_dtw_set_read(series_view *own, const series_view *caller,
                               const char *name, const tsn_dtw_settings *settings) {
  tsanom_status status = tsn_series_read(own, caller, name, &settings->exec);
  if (status < 0) return status;
  size_t longest = tsn_series_longest(own);
  if (!tsn_dtw_length_fits(longest)) {
    return tsn_reject_field_is(
        &settings->exec, TSANOM_E_OVERFLOW, name, own->lengths ? "lengths" : "length",
        TSANOM_NONE, "%zu; at most %zu is expected", longest, tsn_dtw_longest());
  }
  return TSANOM_OK;
}

tsanom_status tsn_dtw_set_finite(const series_view *set, const char *name,
                                 const tsn_dtw_settings *settings) {
  for (size_t k = 0; k < set->count; k++) {
    tsn_dtw_operand x = tsn_dtw_set_at(set, k);
    size_t at = first_nonfinite(&x, set->dimensions);
    if (at == TSANOM_NONE) continue;
    return tsn_reject_value(&settings->exec, TSANOM_E_NONFINITE, name, k,
                            at / set->dimensions, component(&x, set->dimensions, at),
                            TSN_FINITE);
  }
  return TSANOM_OK;
}
