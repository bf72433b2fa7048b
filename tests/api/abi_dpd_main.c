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
static_assert(offsetof(tsanom_dpd_main, previous) == 64, "previous");
static_assert(offsetof(tsanom_dpd_main, relations) == 72, "relations");
static_assert(offsetof(tsanom_dpd_main, related) == 80, "related");
static_assert(sizeof(tsanom_dpd_main) == 272, "size");

static_assert(offsetof(tsanom_dpd_related, anchor) == 0, "anchor");
static_assert(offsetof(tsanom_dpd_related, previous) == 8, "previous");
static_assert(offsetof(tsanom_dpd_related, iterations) == 16, "iterations");
static_assert(offsetof(tsanom_dpd_related, first) == 24, "first");
static_assert(offsetof(tsanom_dpd_related, end) == 32, "end");
static_assert(offsetof(tsanom_dpd_related, relation) == 40, "relation");
static_assert(offsetof(tsanom_dpd_related, reserved0) == 44, "reserved0");
static_assert(sizeof(tsanom_dpd_related) == 48, "size");

static_assert(offsetof(tsanom_dpd_iteration, first) == 0, "first");
static_assert(offsetof(tsanom_dpd_iteration, end) == 8, "end");
static_assert(sizeof(tsanom_dpd_iteration) == 16, "size");
#endif
