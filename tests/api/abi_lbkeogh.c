/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>
#include <tsanom/dtw.h>
#include <tsanom/lbkeogh.h>

static_assert(TSANOM_LBKEOGH_ABSOLUTE == 0 && TSANOM_DTW_ABSOLUTE == 0, "cost");
static_assert(TSANOM_LBKEOGH_SQUARED == 1 && TSANOM_DTW_SQUARED == 1, "cost");

static_assert(offsetof(tsanom_lbkeogh_options, struct_size) == 0, "struct_size");
static_assert(offsetof(tsanom_lbkeogh_options, radius) == 8, "radius");
static_assert(offsetof(tsanom_lbkeogh_options, bands) == 16, "bands");
static_assert(offsetof(tsanom_lbkeogh_options, cost) == 24, "cost");
static_assert(offsetof(tsanom_lbkeogh_options, reserved0) == 28, "reserved0");
static_assert(sizeof(tsanom_lbkeogh_options) == 32, "size");
