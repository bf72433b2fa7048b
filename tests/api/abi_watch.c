/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>
#include <tsanom/watch.h>

static_assert(TSANOM_HSA_WATCH_INTERVALS == 512, "watch_intervals");
static_assert(TSANOM_HSA_WATCH_FEW_INTERVALS == 8, "watch_few_intervals");
static_assert(TSANOM_HSA_WATCH_RATE_BEATS == 32, "watch_rate_beats");
static_assert(TSANOM_HSA_WATCH_SAMPLES == 256, "watch_samples");
static_assert(TSANOM_HSA_ANOMALY_BEGAN == 0, "anomaly_began");
static_assert(TSANOM_HSA_ANOMALY_LASTS == 1, "anomaly_lasts");
static_assert(TSANOM_HSA_ANOMALY_RECOVERED == 2, "anomaly_recovered");

static_assert(sizeof(tsanom_hsa_watch_options) == 16, "ABI");
static_assert(offsetof(tsanom_hsa_watch_options, struct_size) == 0, "ABI");
static_assert(offsetof(tsanom_hsa_watch_options, hang) == 8, "ABI");

static_assert(sizeof(tsanom_hsa_anomaly) == 248, "ABI");
static_assert(offsetof(tsanom_hsa_anomaly, cause) == 0, "ABI");
static_assert(offsetof(tsanom_hsa_anomaly, phase) == 184, "ABI");
static_assert(offsetof(tsanom_hsa_anomaly, reserved0) == 188, "ABI");
static_assert(offsetof(tsanom_hsa_anomaly, onset) == 192, "ABI");
static_assert(offsetof(tsanom_hsa_anomaly, iteration) == 200, "ABI");
static_assert(offsetof(tsanom_hsa_anomaly, confidence) == 208, "ABI");
static_assert(offsetof(tsanom_hsa_anomaly, reserved) == 216, "ABI");

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
