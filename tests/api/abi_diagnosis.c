/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>
#include <tsanom/diagnosis.h>

static_assert(TSANOM_DIAGNOSIS_WINDOWS == 9, "windows");

static_assert(TSANOM_DIAGNOSIS_QUIET == 0, "ABI");
static_assert(TSANOM_DIAGNOSIS_FINDING == 1, "ABI");
static_assert(TSANOM_DIAGNOSIS_ENDED == 2, "ABI");
static_assert(TSANOM_DIAGNOSIS_TEAM == 3, "ABI");
static_assert(TSANOM_DIAGNOSIS_SLOW == 4, "ABI");
static_assert(TSANOM_DIAGNOSIS_GROWS == 5, "ABI");
static_assert(TSANOM_DIAGNOSIS_NOBODY == 6, "ABI");
static_assert(TSANOM_DIAGNOSIS_READY == 7, "ABI");

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

static_assert(sizeof(tsanom_diagnosis_team) == 72, "ABI");
static_assert(offsetof(tsanom_diagnosis_team, processes) == 0, "ABI");
static_assert(offsetof(tsanom_diagnosis_team, members) == 8, "ABI");
static_assert(offsetof(tsanom_diagnosis_team, first) == 16, "ABI");
static_assert(offsetof(tsanom_diagnosis_team, region) == 24, "ABI");
static_assert(offsetof(tsanom_diagnosis_team, ratio) == 32, "ABI");
static_assert(offsetof(tsanom_diagnosis_team, half_width) == 40, "ABI");
static_assert(offsetof(tsanom_diagnosis_team, saved_s) == 48, "ABI");
static_assert(offsetof(tsanom_diagnosis_team, reserved) == 56, "ABI");

static_assert(sizeof(tsanom_diagnosis_summary) == 1264, "ABI");
static_assert(offsetof(tsanom_diagnosis_summary, runs) == 0, "ABI");
static_assert(offsetof(tsanom_diagnosis_summary, ended) == 8, "ABI");
static_assert(offsetof(tsanom_diagnosis_summary, threads) == 16, "ABI");
static_assert(offsetof(tsanom_diagnosis_summary, state) == 24, "ABI");
static_assert(offsetof(tsanom_diagnosis_summary, exit_code) == 28, "ABI");
static_assert(offsetof(tsanom_diagnosis_summary, rank) == 32, "ABI");
static_assert(offsetof(tsanom_diagnosis_summary, waits) == 36, "ABI");
static_assert(offsetof(tsanom_diagnosis_summary, seconds) == 40, "ABI");
static_assert(offsetof(tsanom_diagnosis_summary, iterations) == 48, "ABI");
static_assert(offsetof(tsanom_diagnosis_summary, iteration_s) == 56, "ABI");
static_assert(offsetof(tsanom_diagnosis_summary, ledger) == 64, "ABI");
static_assert(offsetof(tsanom_diagnosis_summary, accounted) == 832, "ABI");
static_assert(offsetof(tsanom_diagnosis_summary, peak) == 840, "ABI");
static_assert(offsetof(tsanom_diagnosis_summary, growth) == 848, "ABI");
static_assert(offsetof(tsanom_diagnosis_summary, peak_rank) == 856, "ABI");
static_assert(offsetof(tsanom_diagnosis_summary, grows) == 860, "ABI");
static_assert(offsetof(tsanom_diagnosis_summary, finding) == 864, "ABI");
static_assert(offsetof(tsanom_diagnosis_summary, finding_rank) == 1048, "ABI");
static_assert(offsetof(tsanom_diagnosis_summary, judged) == 1052, "ABI");
static_assert(offsetof(tsanom_diagnosis_summary, team) == 1056, "ABI");
static_assert(offsetof(tsanom_diagnosis_summary, team_region) == 1128, "ABI");
static_assert(offsetof(tsanom_diagnosis_summary, path) == 1136, "ABI");
static_assert(offsetof(tsanom_diagnosis_summary, slow) == 1144, "ABI");
static_assert(offsetof(tsanom_diagnosis_summary, slow_s) == 1152, "ABI");
static_assert(offsetof(tsanom_diagnosis_summary, records) == 1160, "ABI");
static_assert(offsetof(tsanom_diagnosis_summary, bytes) == 1168, "ABI");
static_assert(offsetof(tsanom_diagnosis_summary, missing) == 1176, "ABI");
static_assert(offsetof(tsanom_diagnosis_summary, missing_count) == 1184, "ABI");
static_assert(offsetof(tsanom_diagnosis_summary, searched) == 1192, "ABI");
static_assert(offsetof(tsanom_diagnosis_summary, slow_ready) == 1196, "ABI");
static_assert(offsetof(tsanom_diagnosis_summary, reserved) == 1200, "ABI");
