/* SPDX-License-Identifier: BSD-3-Clause */
/* The caller's tsanom_series, checked. A view owns no samples; series i, sample t and
 * component d is at
 *
 *   data      data[i*ld + t*stride + d]          rows of one matrix, which may overlap
 *   pointers  pointers[i][t*stride + d]          separate arrays */
#ifndef TSN_CORE_SERIES_H
#define TSN_CORE_SERIES_H

#include <tsanom/base.h>

/* Fill `own` from the caller's view: count >= 1, at most one of data and pointers, every
 * length >= 1, ld and stride set, every address range within the address space. `name`
 * names the argument in exec's fault. Neither pointers[i] nor samples are read: a caller
 * that asks for a workspace has none. */
tsanom_status tsn_series_read(tsanom_series *own, const tsanom_series *caller,
                              const char *name, const tsanom_exec *exec);
tsanom_status tsn_series_read_f32(tsanom_series_f32 *own, const tsanom_series_f32 *caller,
                                  const char *name, const tsanom_exec *exec);

/* Reject a view without samples: data and pointers, or an element of pointers, is NULL. */
tsanom_status tsn_series_require(const tsanom_series *series, const char *name,
                                 const tsanom_exec *exec);
tsanom_status tsn_series_require_f32(const tsanom_series_f32 *series, const char *name,
                                     const tsanom_exec *exec);

static inline const double *tsn_series_at(const tsanom_series *series, size_t i) {
  return series->data ? series->data + i * series->ld : series->pointers[i];
}

static inline const float *tsn_series_at_f32(const tsanom_series_f32 *series, size_t i) {
  return series->data ? series->data + i * series->ld : series->pointers[i];
}

static inline size_t tsn_series_length(const tsanom_series *series, size_t i) {
  return series->lengths ? series->lengths[i] : series->length;
}

static inline size_t tsn_series_length_f32(const tsanom_series_f32 *series, size_t i) {
  return series->lengths ? series->lengths[i] : series->length;
}

/* The longest of the set. */
size_t tsn_series_longest(const tsanom_series *series);
size_t tsn_series_longest_f32(const tsanom_series_f32 *series);

#endif
