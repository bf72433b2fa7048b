/* SPDX-License-Identifier: BSD-3-Clause */
/* The ranges of normal runs are made up, not learned: the sign of the test has its limit
 * in all parts of a run and for all threads, and all others have none. */
#include "diagnosis/bounded.h"

#include <math.h>

#include "support/check.h"

tsanom_diagnosis_watch *bounded_watch(size_t threads, int32_t sign, double limit) {
  static tsanom_hsa_range
      ranges[BOUNDED_THREADS * TSANOM_DIAGNOSIS_PARTS * TSANOM_DIAGNOSIS_SIGNS];
  size_t count = threads * TSANOM_DIAGNOSIS_PARTS * TSANOM_DIAGNOSIS_SIGNS;
  tsanom_diagnosis_normal normal;
  tsanom_diagnosis_watch *watch;
  normal = (tsanom_diagnosis_normal){.struct_size = sizeof normal};
  for (size_t i = 0; i < count; i++) {
    bool is_bounded = i % TSANOM_DIAGNOSIS_SIGNS == (size_t)sign;
    ranges[i] = (tsanom_hsa_range){0, is_bounded ? limit : INFINITY};
  }
  normal.thread_count = threads;
  normal.run_count = 3;
  normal.beats = BOUNDED_BEATS;
  normal.range = ranges;
  normal.range_count = count;
  CHECK_STATUS(tsanom_diagnosis_watch_create(threads, &normal, NULL, NULL, &watch),
               TSANOM_OK);
  return watch;
}
