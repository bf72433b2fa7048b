/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>
#include <tsanom/watch.h>

static_assert(TSANOM_HSA_WATCH_INTERVALS == 512, "intervals");
static_assert(TSANOM_HSA_WATCH_FEW_INTERVALS == 8, "few_intervals");
static_assert(TSANOM_HSA_WATCH_RATE_BEATS == 32, "rate_beats");
static_assert(TSANOM_HSA_WATCH_SAMPLES == 256, "samples");
static_assert(TSANOM_HSA_WATCH_RECOVERY == 8, "recovery");
static_assert(TSANOM_HSA_ANOMALY_BEGAN == 0, "began");
static_assert(TSANOM_HSA_ANOMALY_LASTS == 1, "lasts");
static_assert(TSANOM_HSA_ANOMALY_RECOVERED == 2, "recovered");

static_assert(sizeof(tsanom_hsa_watch_options) == 16, "ABI");
static_assert(offsetof(tsanom_hsa_watch_options, struct_size) == 0, "ABI");
static_assert(offsetof(tsanom_hsa_watch_options, hang) == 8, "ABI");

static_assert(sizeof(tsanom_hsa_anomaly) == 160, "ABI");
static_assert(offsetof(tsanom_hsa_anomaly, cause) == 0, "ABI");
static_assert(offsetof(tsanom_hsa_anomaly, phase) == 96, "ABI");
static_assert(offsetof(tsanom_hsa_anomaly, reserved0) == 100, "ABI");
static_assert(offsetof(tsanom_hsa_anomaly, onset) == 104, "ABI");
static_assert(offsetof(tsanom_hsa_anomaly, iteration) == 112, "ABI");
static_assert(offsetof(tsanom_hsa_anomaly, confidence) == 120, "ABI");
static_assert(offsetof(tsanom_hsa_anomaly, reserved) == 128, "ABI");

static_assert(sizeof(tsanom_hsa_pulse) == 72, "ABI");
static_assert(offsetof(tsanom_hsa_pulse, status) == 0, "ABI");
static_assert(offsetof(tsanom_hsa_pulse, reserved0) == 4, "ABI");
static_assert(offsetof(tsanom_hsa_pulse, beats) == 8, "ABI");
static_assert(offsetof(tsanom_hsa_pulse, last) == 16, "ABI");
static_assert(offsetof(tsanom_hsa_pulse, rate) == 24, "ABI");
static_assert(offsetof(tsanom_hsa_pulse, limit) == 32, "ABI");
static_assert(offsetof(tsanom_hsa_pulse, shortest) == 40, "ABI");
static_assert(offsetof(tsanom_hsa_pulse, waited) == 48, "ABI");
static_assert(offsetof(tsanom_hsa_pulse, reserved) == 56, "ABI");
