/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>
#include <tsanom/dpd.h>

static_assert(TSANOM_DPD_WINDOW_MAX == 67108864, "constant");
static_assert(TSANOM_DPD_PERIODS_MAX == 4096, "constant");
static_assert(TSANOM_DPD_STEADY == 0, "constant");
static_assert(TSANOM_DPD_LOCKED == 1, "constant");
static_assert(TSANOM_DPD_LOST == 2, "constant");

static_assert(offsetof(tsanom_dpd_report, period) == 0, "period");
static_assert(offsetof(tsanom_dpd_report, start) == 8, "start");
static_assert(offsetof(tsanom_dpd_report, change) == 12, "change");
static_assert(offsetof(tsanom_dpd_report, confidence) == 16, "confidence");
static_assert(offsetof(tsanom_dpd_report, horizon) == 24, "horizon");
static_assert(offsetof(tsanom_dpd_report, reserved0) == 32, "reserved0");
static_assert(sizeof(tsanom_dpd_report) == 40, "size");

static_assert(offsetof(tsanom_dpd_event_options, struct_size) == 0, "struct_size");
static_assert(offsetof(tsanom_dpd_event_options, window) == 8, "window");
static_assert(offsetof(tsanom_dpd_event_options, max_period) == 16, "max_period");
static_assert(offsetof(tsanom_dpd_event_options, adapt) == 24, "adapt");
static_assert(offsetof(tsanom_dpd_event_options, reserved0) == 28, "reserved0");
static_assert(sizeof(tsanom_dpd_event_options) == 32, "size");

static_assert(offsetof(tsanom_dpd_nest_options, struct_size) == 0, "struct_size");
static_assert(offsetof(tsanom_dpd_nest_options, max_period) == 8, "max_period");
static_assert(offsetof(tsanom_dpd_nest_options, repeats) == 16, "repeats");
static_assert(offsetof(tsanom_dpd_nest_options, least_events) == 24, "least_events");
static_assert(offsetof(tsanom_dpd_nest_options, capacity) == 32, "capacity");
static_assert(sizeof(tsanom_dpd_nest_options) == 40, "size");

static_assert(offsetof(tsanom_dpd_loop, period) == 0, "period");
static_assert(offsetof(tsanom_dpd_loop, first) == 8, "first");
static_assert(offsetof(tsanom_dpd_loop, found) == 16, "found");
static_assert(offsetof(tsanom_dpd_loop, reserved0) == 24, "reserved0");
static_assert(sizeof(tsanom_dpd_loop) == 32, "size");

static_assert(offsetof(tsanom_dpd_period, period) == 0, "period");
static_assert(offsetof(tsanom_dpd_period, level) == 8, "level");
static_assert(offsetof(tsanom_dpd_period, first) == 16, "first");
static_assert(offsetof(tsanom_dpd_period, last) == 24, "last");
static_assert(offsetof(tsanom_dpd_period, loops) == 32, "loops");
static_assert(offsetof(tsanom_dpd_period, events) == 40, "events");
static_assert(offsetof(tsanom_dpd_period, reserved) == 48, "reserved");
static_assert(sizeof(tsanom_dpd_period) == 64, "size");

static_assert(offsetof(tsanom_dpd_value_options, struct_size) == 0, "struct_size");
static_assert(offsetof(tsanom_dpd_value_options, window) == 8, "window");
static_assert(offsetof(tsanom_dpd_value_options, max_period) == 16, "max_period");
static_assert(offsetof(tsanom_dpd_value_options, depth) == 24, "depth");
static_assert(offsetof(tsanom_dpd_value_options, adapt) == 32, "adapt");
static_assert(offsetof(tsanom_dpd_value_options, reserved0) == 36, "reserved0");
static_assert(offsetof(tsanom_dpd_value_options, significance) == 40, "significance");
static_assert(sizeof(tsanom_dpd_value_options) == 48, "size");
