/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>
#include <tsanom/diagnosis.h>

static_assert(TSANOM_DIAGNOSIS_WINDOWS == 9, "windows");

static_assert(sizeof(tsanom_diagnosis_window) == 80, "ABI");
static_assert(offsetof(tsanom_diagnosis_window, begin) == 0, "ABI");
static_assert(offsetof(tsanom_diagnosis_window, end) == 8, "ABI");
static_assert(offsetof(tsanom_diagnosis_window, beats) == 16, "ABI");
static_assert(offsetof(tsanom_diagnosis_window, wall_s) == 24, "ABI");
static_assert(offsetof(tsanom_diagnosis_window, cpu_s) == 32, "ABI");
static_assert(offsetof(tsanom_diagnosis_window, ready_s) == 40, "ABI");
static_assert(offsetof(tsanom_diagnosis_window, nobody_s) == 48, "ABI");
static_assert(offsetof(tsanom_diagnosis_window, samples) == 56, "ABI");
static_assert(offsetof(tsanom_diagnosis_window, reserved) == 64, "ABI");

static_assert(sizeof(tsanom_diagnosis_share) == 32, "ABI");
static_assert(offsetof(tsanom_diagnosis_share, cpu_s) == 0, "ABI");
static_assert(offsetof(tsanom_diagnosis_share, ready_s) == 8, "ABI");
static_assert(offsetof(tsanom_diagnosis_share, off_s) == 16, "ABI");
static_assert(offsetof(tsanom_diagnosis_share, beats) == 24, "ABI");

static_assert(sizeof(tsanom_diagnosis_ledger) == 768, "ABI");
static_assert(offsetof(tsanom_diagnosis_ledger, processors) == 0, "ABI");
static_assert(offsetof(tsanom_diagnosis_ledger, sampled) == 8, "ABI");
static_assert(offsetof(tsanom_diagnosis_ledger, window) == 16, "ABI");
static_assert(offsetof(tsanom_diagnosis_ledger, reserved) == 736, "ABI");

static_assert(sizeof(tsanom_diagnosis_rank) == 64, "ABI");
static_assert(offsetof(tsanom_diagnosis_rank, watch) == 0, "ABI");
static_assert(offsetof(tsanom_diagnosis_rank, job) == 8, "ABI");
static_assert(offsetof(tsanom_diagnosis_rank, in_call) == 12, "ABI");
static_assert(offsetof(tsanom_diagnosis_rank, ended) == 16, "ABI");
static_assert(offsetof(tsanom_diagnosis_rank, status) == 20, "ABI");
static_assert(offsetof(tsanom_diagnosis_rank, start) == 24, "ABI");
static_assert(offsetof(tsanom_diagnosis_rank, since) == 32, "ABI");
static_assert(offsetof(tsanom_diagnosis_rank, resumed) == 40, "ABI");
static_assert(offsetof(tsanom_diagnosis_rank, reserved) == 48, "ABI");

static_assert(sizeof(tsanom_diagnosis_remaining) == 56, "ABI");
static_assert(offsetof(tsanom_diagnosis_remaining, iterations) == 0, "ABI");
static_assert(offsetof(tsanom_diagnosis_remaining, seconds) == 8, "ABI");
static_assert(offsetof(tsanom_diagnosis_remaining, low) == 16, "ABI");
static_assert(offsetof(tsanom_diagnosis_remaining, high) == 24, "ABI");
static_assert(offsetof(tsanom_diagnosis_remaining, drifts) == 32, "ABI");
static_assert(offsetof(tsanom_diagnosis_remaining, reserved0) == 36, "ABI");
static_assert(offsetof(tsanom_diagnosis_remaining, reserved) == 40, "ABI");
