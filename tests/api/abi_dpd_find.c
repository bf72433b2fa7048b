/* SPDX-License-Identifier: BSD-3-Clause */
/* The ABI of tsanom_dpd_find(), pinned. */
#include <assert.h>
#include <stddef.h>
#include <tsanom/dpd.h>

#if UINTPTR_MAX == UINT64_MAX
static_assert(offsetof(tsanom_dpd_find_options, struct_size) == 0, "struct_size");
static_assert(offsetof(tsanom_dpd_find_options, max_period) == 8, "max_period");
static_assert(offsetof(tsanom_dpd_find_options, significance) == 16, "significance");
static_assert(sizeof(tsanom_dpd_find_options) == 24, "size");

static_assert(offsetof(tsanom_dpd_found, struct_size) == 0, "struct_size");
static_assert(offsetof(tsanom_dpd_found, period) == 8, "period");
static_assert(offsetof(tsanom_dpd_found, candidate) == 16, "candidate");
static_assert(offsetof(tsanom_dpd_found, max_period) == 24, "max_period");
static_assert(offsetof(tsanom_dpd_found, dip) == 32, "dip");
static_assert(offsetof(tsanom_dpd_found, score) == 40, "score");
static_assert(offsetof(tsanom_dpd_found, probability) == 48, "probability");
static_assert(offsetof(tsanom_dpd_found, lines) == 56, "lines");
static_assert(offsetof(tsanom_dpd_found, variation) == 64, "variation");
static_assert(sizeof(tsanom_dpd_found) == 72, "size");
#endif
