/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSN_DPD_KERNEL_H
#define TSN_DPD_KERNEL_H

#include <stddef.h>

#include "core/isa.h"

/* Events are stored newest first, so that x[t-m] of all delays m >= 1 are contiguous:
 * `lagged` below points to x[t-1]. Data of delay m are at index m - 1. */
typedef struct {
  /* run[m-1]: consecutive events, up to this one, that equal the event m before. */
  void (*advance_runs)(const uint64_t *lagged, uint64_t event, uint32_t *run,
                       size_t lags);
} tsn_dpd_kernels;

TSN_KERNEL_TABLE(tsn_dpd_kernels);

#endif
