/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>
#include <tsanom/dtw.h>

static_assert(TSANOM_COST_ABSOLUTE == 0, "cost");
static_assert(TSANOM_COST_SQUARED == 1, "cost");
static_assert(TSANOM_DTW_SAKOE_CHIBA == 0, "window");
static_assert(TSANOM_DTW_SLOPE == 1, "window");
static_assert(TSANOM_DTW_PATH_FULL == 0, "path_memory");
static_assert(TSANOM_DTW_PATH_LINEAR == 1, "path_memory");

static_assert(offsetof(tsanom_dtw_options, struct_size) == 0, "struct_size");
static_assert(offsetof(tsanom_dtw_options, radius) == 8, "radius");
static_assert(offsetof(tsanom_dtw_options, cutoff) == 16, "cutoff");
static_assert(offsetof(tsanom_dtw_options, tails) == 24, "tails");
static_assert(offsetof(tsanom_dtw_options, penalty) == 32, "penalty");
static_assert(offsetof(tsanom_dtw_options, open_begin_x) == 40, "open_begin_x");
static_assert(offsetof(tsanom_dtw_options, open_begin_y) == 48, "open_begin_y");
static_assert(offsetof(tsanom_dtw_options, open_end_x) == 56, "open_end_x");
static_assert(offsetof(tsanom_dtw_options, open_end_y) == 64, "open_end_y");
static_assert(offsetof(tsanom_dtw_options, dimensions) == 72, "dimensions");
static_assert(offsetof(tsanom_dtw_options, stride) == 80, "stride");
static_assert(offsetof(tsanom_dtw_options, cost) == 88, "cost");
static_assert(offsetof(tsanom_dtw_options, window) == 92, "window");
static_assert(offsetof(tsanom_dtw_options, path_memory) == 96, "path_memory");
static_assert(offsetof(tsanom_dtw_options, reserved0) == 100, "reserved0");
static_assert(sizeof(tsanom_dtw_options) == 104, "size");
