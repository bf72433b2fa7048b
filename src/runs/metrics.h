/* SPDX-License-Identifier: BSD-3-Clause */
/* The metrics of --metrics in the matrices of a run: columns behind "calls". */
#ifndef TSN_RUNS_METRICS_H
#define TSN_RUNS_METRICS_H

#include "runs/spmd.h"

/* Bits of the metrics of which the run has events, also those that could not be counted.
 */
uint32_t tsn_metrics_of(const tsn_channel *channel);

/* The number of a metric's column; 0: the run lacks it. */
static inline size_t tsn_metric_column(uint32_t metrics, int32_t metric) {
  if (!(metrics >> metric & 1)) return 0;
  return 1 + (size_t)__builtin_popcount(metrics & ((1u << metric) - 1));
}

/* Allocate names and values of "calls" and of the metrics. */
bool tsn_metrics_take(tsn_spmd *spmd, uint32_t metrics, size_t cells);

/* A process that counted a metric nowhere where it was has no count anywhere: it is
 * missing, not 0. */
void tsn_metrics_complete(const tsn_spmd *spmd);

#endif
