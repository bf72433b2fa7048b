/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>
#include <tsanom/dtw.h>
#include <tsanom/search.h>

static_assert(TSANOM_SEARCH_ABSOLUTE == 0 && TSANOM_COST_ABSOLUTE == 0, "cost");
static_assert(TSANOM_SEARCH_SQUARED == 1 && TSANOM_COST_SQUARED == 1, "cost");

static_assert(offsetof(tsanom_search_options, struct_size) == 0, "struct_size");
static_assert(offsetof(tsanom_search_options, radius) == 8, "radius");
static_assert(offsetof(tsanom_search_options, neighbours) == 16, "neighbours");
static_assert(offsetof(tsanom_search_options, exclusion) == 24, "exclusion");
static_assert(offsetof(tsanom_search_options, cost) == 32, "cost");
static_assert(offsetof(tsanom_search_options, z_normalize) == 36, "z_normalize");
static_assert(offsetof(tsanom_search_options, borrow) == 40, "borrow");
static_assert(offsetof(tsanom_search_options, reserved0) == 44, "reserved0");
static_assert(sizeof(tsanom_search_options) == 48, "size");

static_assert(offsetof(tsanom_search_report, candidates) == 0, "candidates");
static_assert(offsetof(tsanom_search_report, kim) == 8, "kim");
static_assert(offsetof(tsanom_search_report, keogh) == 16, "keogh");
static_assert(offsetof(tsanom_search_report, keogh_reversed) == 24, "keogh_reversed");
static_assert(offsetof(tsanom_search_report, abandoned) == 32, "abandoned");
static_assert(offsetof(tsanom_search_report, computed) == 40, "computed");
static_assert(offsetof(tsanom_search_report, means) == 48, "means");
static_assert(offsetof(tsanom_search_report, reserved) == 56, "reserved");
static_assert(sizeof(tsanom_search_report) == 64, "size");
