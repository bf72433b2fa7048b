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
