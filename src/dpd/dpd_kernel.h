/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSN_DPD_KERNEL_H
#define TSN_DPD_KERNEL_H

#include <stddef.h>

#include "core/isa.h"

/* Events are kept newest first, so that x[t-m] of all delays m >= 1 lie one
 * after the other: `lagged` below points at x[t-1]. What belongs to delay m is
 * at index m - 1. */
typedef struct {
  /* run[m-1]: events in a row, up to this one, that equal the one m before. */
  void (*advance_runs)(const uint64_t *lagged, uint64_t event, uint32_t *run,
                       size_t lags);
} tsn_dpd_kernels;

TSN_KERNEL_TABLE(tsn_dpd_kernels);

#endif
