/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>
#include <tsanom/roughset.h>

static_assert(TSANOM_ROUGHSET_MISSING == INT32_MIN, "missing");
static_assert(TSANOM_ROUGHSET_ORDINARY == 0, "reading");
static_assert(TSANOM_ROUGHSET_POSITIVE_REGION == 1, "reading");
static_assert(TSANOM_ROUGHSET_GENERALIZED == 2, "reading");
static_assert(TSANOM_ROUGHSET_OWN_VALUE == 0, "missing");
static_assert(TSANOM_ROUGHSET_WILDCARD == 1, "missing");
static_assert(TSANOM_ROUGHSET_EQUAL_WIDTH == 0, "cuts");
static_assert(TSANOM_ROUGHSET_EQUAL_FREQUENCY == 1, "cuts");
static_assert(TSANOM_ROUGHSET_ENTROPY == 2, "cuts");

static_assert(sizeof(tsanom_roughset_table) == 48, "size");
static_assert(offsetof(tsanom_roughset_table, struct_size) == 0, "struct_size");
static_assert(offsetof(tsanom_roughset_table, rows) == 8, "rows");
static_assert(offsetof(tsanom_roughset_table, attributes) == 16, "attributes");
static_assert(offsetof(tsanom_roughset_table, values) == 24, "values");
static_assert(offsetof(tsanom_roughset_table, ld) == 32, "ld");
static_assert(offsetof(tsanom_roughset_table, decision) == 40, "decision");

static_assert(sizeof(tsanom_roughset_options) == 48, "size");
static_assert(offsetof(tsanom_roughset_options, struct_size) == 0, "struct_size");
static_assert(offsetof(tsanom_roughset_options, reading) == 8, "reading");
static_assert(offsetof(tsanom_roughset_options, missing) == 12, "missing");
static_assert(offsetof(tsanom_roughset_options, absorb) == 16, "absorb");
static_assert(offsetof(tsanom_roughset_options, reserved0) == 20, "reserved0");
static_assert(offsetof(tsanom_roughset_options, element_limit) == 24, "element_limit");
static_assert(offsetof(tsanom_roughset_options, reduct_limit) == 32, "reduct_limit");
static_assert(offsetof(tsanom_roughset_options, size_limit) == 40, "size_limit");

static_assert(sizeof(tsanom_roughset_visitor) == 16, "size");
static_assert(offsetof(tsanom_roughset_visitor, visit) == 0, "visit");
static_assert(offsetof(tsanom_roughset_visitor, user) == 8, "user");

static_assert(sizeof(tsanom_roughset_bounds) == 16, "size");
static_assert(offsetof(tsanom_roughset_bounds, lower) == 0, "lower");
static_assert(offsetof(tsanom_roughset_bounds, upper) == 8, "upper");

static_assert(sizeof(tsanom_roughset_rule) == 32, "size");
static_assert(offsetof(tsanom_roughset_rule, row) == 0, "row");
static_assert(offsetof(tsanom_roughset_rule, matching) == 8, "matching");
static_assert(offsetof(tsanom_roughset_rule, support) == 16, "support");
static_assert(offsetof(tsanom_roughset_rule, decision) == 24, "decision");
static_assert(offsetof(tsanom_roughset_rule, reserved0) == 28, "reserved0");
