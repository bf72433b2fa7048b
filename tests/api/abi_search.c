/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>
#include <tsanom/search.h>

static_assert(offsetof(tsanom_search_options, struct_size) == 0, "struct_size");
static_assert(offsetof(tsanom_search_options, radius) == 8, "radius");
static_assert(offsetof(tsanom_search_options, neighbors) == 16, "neighbors");
static_assert(offsetof(tsanom_search_options, exclusion) == 24, "exclusion");
static_assert(offsetof(tsanom_search_options, cost) == 32, "cost");
static_assert(offsetof(tsanom_search_options, z_normalize) == 36, "z_normalize");
static_assert(offsetof(tsanom_search_options, borrow) == 40, "borrow");
static_assert(offsetof(tsanom_search_options, reserved0) == 44, "reserved0");
static_assert(sizeof(tsanom_search_options) == 48, "size");

static_assert(offsetof(tsanom_search_report, candidates) == 0, "candidates");
static_assert(offsetof(tsanom_search_report, kim) == 8, "kim");
static_assert(offsetof(tsanom_search_report, means) == 16, "means");
static_assert(offsetof(tsanom_search_report, keogh) == 24, "keogh");
static_assert(offsetof(tsanom_search_report, keogh_reversed) == 32, "keogh_reversed");
static_assert(offsetof(tsanom_search_report, abandoned) == 40, "abandoned");
static_assert(offsetof(tsanom_search_report, computed) == 48, "computed");
static_assert(offsetof(tsanom_search_report, found) == 56, "found");
static_assert(offsetof(tsanom_search_report, reserved) == 64, "reserved");
static_assert(sizeof(tsanom_search_report) == 96, "size");
