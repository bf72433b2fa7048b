/* SPDX-License-Identifier: BSD-3-Clause */
/* Metrics of regions: which of them the threads of a run recorded, and their columns of
 * the performance vectors. */
#include "runs/metrics.h"

#include <math.h>
#include <string.h>

#include "core/size.h"

uint32_t tsn_metrics_of(const tsn_channel *channel) {
  uint32_t metrics = 0;
  for (size_t i = 0; i < channel->stream_count; i++) {
    metrics |= tsn_channel_stream(channel, i)->metrics;
  }
  return metrics & ((1u << TSN_REGIONS_METRICS) - 1);
}

static const char *name_of(int32_t metric, tsn_pool *pool) {
  const char *name = TSN_REGIONS_METRIC_NAMES;
  for (; metric > 0; metric--) name += strcspn(name, ",") + 1;
  return tsn_pool_print(pool, "%.*s", (int)strcspn(name, ","), name);
}

bool tsn_metrics_take(tsn_spmd *spmd, uint32_t metrics, size_t cells) {
  size_t count = 1 + (size_t)__builtin_popcount(metrics);
  spmd->metric = (const char **)tsn_pool_take(&spmd->pool, count, sizeof *spmd->metric);
  spmd->value =
      tsn_pool_take(&spmd->pool, tsn_product(count, cells), sizeof *spmd->value);
  if (!spmd->metric || !spmd->value) return false;
  spmd->metric[0] = "calls";
  for (int32_t m = 0; m < TSN_REGIONS_METRICS; m++) {
    size_t column = tsn_metric_column(metrics, m);
    if (column && !(spmd->metric[column] = name_of(m, &spmd->pool))) return false;
  }
  spmd->data.metrics = count;
  return true;
}

static void complete_row(const double *calls, double *value, size_t regions) {
  for (size_t k = 0; k < regions; k++) {
    if (calls[k] > 0 && !isnan(value[k])) return;
  }
  for (size_t k = 0; k < regions; k++) value[k] = NAN;
}

void tsn_metrics_complete(const tsn_spmd *spmd) {
  size_t regions = spmd->data.regions, processes = spmd->data.processes;
  for (size_t m = 1; m < spmd->data.metrics; m++) {
    for (size_t i = 0; i < processes; i++) {
      complete_row(spmd->value + i * regions, spmd->value + (m * processes + i) * regions,
                   regions);
    }
  }
}
