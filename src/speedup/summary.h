/* SPDX-License-Identifier: BSD-3-Clause */
/* A loop whose iterations are known: internal structure. */
#ifndef TSN_SPEEDUP_SUMMARY_H
#define TSN_SPEEDUP_SUMMARY_H

#include "speedup/speedup.h"

typedef struct {
  const tsanom_speedup_event *event;
  size_t count;
  const tsanom_dpd_iteration *iteration;
  size_t iterations;
  tsanom_speedup_options options;
  tsn_loop loop;
} tsn_summary;

tsanom_speedup_iteration tsn_summary_iteration(const tsn_summary *s, size_t i);

/* Complete the prediction of tsn_loop_predict(): what outliers that recur add, and the
 * interval. `wanted`: the iterations that the caller expects, 0: none. */
void tsn_summary_predict(const tsn_summary *s, uint64_t wanted,
                         tsanom_speedup_prediction *p);

#endif
