/* SPDX-License-Identifier: BSD-3-Clause */
#include "dtw/dtw_operand.h"

#include "core/size.h"

static bool fits(size_t n, size_t stride) {
  size_t bytes;
  return tsn_dtw_length_fits(n) &&
         !__builtin_mul_overflow(stride, sizeof(real), &bytes) &&
         tsn_array_fits(n, bytes);
}

tsanom_status tsn_dtw_operand_check(const tsn_dtw_operand *x, const char *name,
                                    const char *count_name,
                                    const tsn_dtw_settings *settings) {
  const tsanom_exec *exec = &settings->exec;
  if (!x->samples) return tsn_reject(exec, TSANOM_E_NULL, name);
  if (x->count == 0) return tsn_reject(exec, TSANOM_E_COUNT, count_name);
  if (!fits(x->count, x->stride)) {
    return tsn_reject(exec, TSANOM_E_OVERFLOW, count_name);
  }
  return TSANOM_OK;
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

tsanom_status tsn_dtw_operand_finite(const tsn_dtw_operand *x, const char *name,
                                     const tsn_dtw_settings *settings) {
  size_t dimensions = settings->options.dimensions;
  size_t at = first_nonfinite(x, dimensions);
  if (at == TSANOM_NONE) return TSANOM_OK;
  if (dimensions == 1) {
    return tsn_reject_at(&settings->exec, TSANOM_E_NONFINITE, name, at);
  }
  return tsn_reject_pair(&settings->exec, TSANOM_E_NONFINITE, name, at / dimensions,
                         at % dimensions);
}

tsanom_status tsn_dtw_set_read(series_view *own, const series_view *caller,
                               const char *name, const tsn_dtw_settings *settings) {
  tsanom_status status = tsn_series_read(own, caller, name, &settings->exec);
  if (status < 0) return status;
  if (!tsn_dtw_length_fits(tsn_series_longest(own))) {
    return tsn_reject_field(&settings->exec, TSANOM_E_OVERFLOW, name,
                            own->lengths ? "lengths" : "length", TSANOM_NONE);
  }
  return TSANOM_OK;
}

tsanom_status tsn_dtw_set_finite(const series_view *set, const char *name,
                                 const tsn_dtw_settings *settings) {
  for (size_t k = 0; k < set->count; k++) {
    tsn_dtw_operand x = tsn_dtw_set_at(set, k);
    size_t at = first_nonfinite(&x, set->dimensions);
    if (at == TSANOM_NONE) continue;
    return tsn_reject_pair(&settings->exec, TSANOM_E_NONFINITE, name, k,
                           at / set->dimensions);
  }
  return TSANOM_OK;
}
