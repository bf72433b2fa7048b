/* SPDX-License-Identifier: BSD-3-Clause */
/* The ABI of tsanom_dpd_main_loop(), pinned. */
#include <assert.h>
#include <stddef.h>
#include <tsanom/dpd.h>

#if UINTPTR_MAX == UINT64_MAX
static_assert(offsetof(tsanom_dpd_main_options, struct_size) == 0, "struct_size");
static_assert(offsetof(tsanom_dpd_main_options, kinds) == 8, "kinds");
static_assert(offsetof(tsanom_dpd_main_options, anchor) == 16, "anchor");
static_assert(offsetof(tsanom_dpd_main_options, ended) == 24, "ended");
static_assert(offsetof(tsanom_dpd_main_options, active) == 28, "active");
static_assert(sizeof(tsanom_dpd_main_options) == 32, "size");

static_assert(offsetof(tsanom_dpd_main, struct_size) == 0, "struct_size");
static_assert(offsetof(tsanom_dpd_main, anchor) == 8, "anchor");
static_assert(offsetof(tsanom_dpd_main, iterations) == 16, "iterations");
static_assert(offsetof(tsanom_dpd_main, runs) == 24, "runs");
static_assert(offsetof(tsanom_dpd_main, places) == 32, "places");
static_assert(offsetof(tsanom_dpd_main, first) == 40, "first");
static_assert(offsetof(tsanom_dpd_main, end) == 48, "end");
static_assert(offsetof(tsanom_dpd_main, covered) == 56, "covered");
static_assert(offsetof(tsanom_dpd_main, folds) == 64, "folds");
static_assert(offsetof(tsanom_dpd_main, reserved0) == 68, "reserved0");
static_assert(offsetof(tsanom_dpd_main, inner) == 72, "inner");
static_assert(sizeof(tsanom_dpd_main) == 88, "size");

static_assert(offsetof(tsanom_dpd_iteration, first) == 0, "first");
static_assert(offsetof(tsanom_dpd_iteration, end) == 8, "end");
static_assert(sizeof(tsanom_dpd_iteration) == 16, "size");
#endif
