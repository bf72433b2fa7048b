/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>
#include <tsanom/optics.h>

static_assert(TSANOM_OPTICS_EUCLIDEAN == 0, "metric");
static_assert(TSANOM_OPTICS_MANHATTAN == 1, "metric");
static_assert(TSANOM_OPTICS_CHEBYSHEV == 2, "metric");
static_assert(TSANOM_OPTICS_SEARCH_AUTO == 0, "search");
static_assert(TSANOM_OPTICS_SEARCH_EXHAUSTIVE == 1, "search");
static_assert(TSANOM_OPTICS_SEARCH_TREE == 2, "search");

static_assert(offsetof(tsanom_optics_options, struct_size) == 0, "struct_size");
static_assert(offsetof(tsanom_optics_options, min_points) == 8, "min_points");
static_assert(offsetof(tsanom_optics_options, eps) == 16, "eps");
static_assert(offsetof(tsanom_optics_options, metric) == 24, "metric");
static_assert(offsetof(tsanom_optics_options, search) == 28, "search");
static_assert(sizeof(tsanom_optics_options) == 32, "size");

static_assert(offsetof(tsanom_optics_ordering, struct_size) == 0, "struct_size");
static_assert(offsetof(tsanom_optics_ordering, n) == 8, "n");
static_assert(offsetof(tsanom_optics_ordering, order) == 16, "order");
static_assert(offsetof(tsanom_optics_ordering, reachability) == 24, "reachability");
static_assert(offsetof(tsanom_optics_ordering, predecessor) == 32, "predecessor");
static_assert(offsetof(tsanom_optics_ordering, core_distance) == 40, "core_distance");
static_assert(offsetof(tsanom_optics_ordering, eps) == 48, "eps");
static_assert(offsetof(tsanom_optics_ordering, min_points) == 56, "min_points");
static_assert(sizeof(tsanom_optics_ordering) == 64, "size");

static_assert(offsetof(tsanom_optics_split_options, struct_size) == 0, "struct_size");
static_assert(offsetof(tsanom_optics_split_options, significance) == 8, "significance");
static_assert(offsetof(tsanom_optics_split_options, resolution) == 16, "resolution");
static_assert(sizeof(tsanom_optics_split_options) == 24, "size");

static_assert(offsetof(tsanom_optics_xi_options, struct_size) == 0, "struct_size");
static_assert(offsetof(tsanom_optics_xi_options, xi) == 8, "xi");
static_assert(offsetof(tsanom_optics_xi_options, min_points) == 16, "min_points");
static_assert(offsetof(tsanom_optics_xi_options, keep_tails) == 24, "keep_tails");
static_assert(offsetof(tsanom_optics_xi_options, reserved0) == 28, "reserved0");
static_assert(sizeof(tsanom_optics_xi_options) == 32, "size");
