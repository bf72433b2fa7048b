/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>
#include <tsanom/lbkeogh.h>

static_assert(offsetof(tsanom_lbkeogh_options, struct_size) == 0, "struct_size");
static_assert(offsetof(tsanom_lbkeogh_options, radius) == 8, "radius");
static_assert(offsetof(tsanom_lbkeogh_options, bands) == 16, "bands");
static_assert(offsetof(tsanom_lbkeogh_options, cost) == 24, "cost");
static_assert(offsetof(tsanom_lbkeogh_options, reserved0) == 28, "reserved0");
static_assert(sizeof(tsanom_lbkeogh_options) == 32, "size");
