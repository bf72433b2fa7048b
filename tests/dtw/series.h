/* SPDX-License-Identifier: BSD-3-Clause */
/* Views of sets at pointers. */
#ifndef TSANOM_TEST_SERIES_H
#define TSANOM_TEST_SERIES_H

#include <tsanom/base.h>

static inline tsanom_series series_of(const double *const *pointers,
                                      const size_t *lengths, size_t count) {
  tsanom_series set = {.struct_size = sizeof set};
  set.pointers = pointers;
  set.lengths = lengths;
  set.count = count;
  return set;
}

static inline tsanom_series_f32 series_of_f32(const float *const *pointers,
                                              const size_t *lengths, size_t count) {
  tsanom_series_f32 set = {.struct_size = sizeof set};
  set.pointers = pointers;
  set.lengths = lengths;
  set.count = count;
  return set;
}

#endif
