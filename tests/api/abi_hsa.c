/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>
#include <tsanom/hsa.h>

static_assert(TSANOM_HSA_NORMAL == 0, "normal");
static_assert(TSANOM_HSA_MEMORY_LEAK == 1, "memory_leak");
static_assert(TSANOM_HSA_SHUTDOWN == 2, "shutdown");
static_assert(TSANOM_HSA_GTR == 0, "gtr");
static_assert(TSANOM_HSA_LTR == 1, "ltr");
static_assert(TSANOM_HSA_GHR == 2, "ghr");
static_assert(TSANOM_HSA_LHR == 3, "lhr");
static_assert(TSANOM_HSA_DTW == 4, "dtw");
static_assert(TSANOM_HSA_LB_KEOGH == 5, "lb_keogh");
static_assert(TSANOM_HSA_BEAT_RATIO == 6, "beat_ratio");
static_assert(TSANOM_HSA_INTERVAL_RATIO == 7, "interval_ratio");
static_assert(TSANOM_HSA_SLOTS == 32, "slots");
static_assert(TSANOM_HSA_MAX_WINDOWS == 1 << 24, "max_windows");
static_assert(TSANOM_HSA_MAX_DEGREE == 32, "max_degree");
static_assert(TSANOM_HSA_MAX_POINTS == 16384, "max_points");
static_assert(TSANOM_HSA_RANGE_STUDENT == 0, "range_student");
static_assert(TSANOM_HSA_RANGE_ORDER == 1, "range_order");
static_assert(TSANOM_HSA_RULE_PAPER == 0, "rule_paper");
static_assert(TSANOM_HSA_RULE_COMPLETION == 1, "rule_completion");
static_assert(TSANOM_HSA_RULE_PACE == 2, "rule_pace");
static_assert(TSANOM_HSA_LOCAL_RATE_RATIO == 0, "local_rate_ratio");
static_assert(TSANOM_HSA_LOCAL_RATE_LITERAL == 1, "local_rate_literal");
static_assert(TSANOM_HSA_ASK_KNOWN == 0, "ask_known");
static_assert(TSANOM_HSA_ASK_BEATS == 1, "ask_beats");
static_assert(TSANOM_HSA_ASK_WINDOW == 2, "ask_window");
static_assert(TSANOM_HSA_ASK_SIMILAR == 3, "ask_similar");
static_assert(TSANOM_HSA_ASK_ON_TIME == 4, "ask_on_time");
static_assert(TSANOM_HSA_ASK_EARLY == 5, "ask_early");
static_assert(TSANOM_HSA_ASK_LATE == 6, "ask_late");
static_assert(TSANOM_HSA_ASK_RATE == 7, "ask_rate");
static_assert(TSANOM_HSA_ASK_COMPLETE == 8, "ask_complete");
static_assert(TSANOM_HSA_ASK_SLOWER == 9, "ask_slower");
static_assert(TSANOM_HSA_ASK_SILENT == 10, "ask_silent");
static_assert(TSANOM_HSA_ASK_PACE == 11, "ask_pace");
static_assert(TSANOM_HSA_STEPS == 16, "steps");

static_assert(sizeof(tsanom_hsa_options) == 96, "size");
static_assert(offsetof(tsanom_hsa_options, struct_size) == 0, "struct_size");
static_assert(offsetof(tsanom_hsa_options, window) == 8, "window");
static_assert(offsetof(tsanom_hsa_options, max_windows) == 16, "max_windows");
static_assert(offsetof(tsanom_hsa_options, max_degree) == 24, "max_degree");
static_assert(offsetof(tsanom_hsa_options, points) == 32, "points");
static_assert(offsetof(tsanom_hsa_options, radius) == 40, "radius");
static_assert(offsetof(tsanom_hsa_options, r2) == 48, "r2");
static_assert(offsetof(tsanom_hsa_options, coverage) == 56, "coverage");
static_assert(offsetof(tsanom_hsa_options, margin) == 64, "margin");
static_assert(offsetof(tsanom_hsa_options, single_run_margin) == 72, "single_run_margin");
static_assert(offsetof(tsanom_hsa_options, range) == 80, "range");
static_assert(offsetof(tsanom_hsa_options, rule) == 84, "rule");
static_assert(offsetof(tsanom_hsa_options, local_rate) == 88, "local_rate");
static_assert(offsetof(tsanom_hsa_options, normalize) == 92, "normalize");

static_assert(sizeof(tsanom_hsa_series) == 64, "size");
static_assert(offsetof(tsanom_hsa_series, time) == 0, "time");
static_assert(offsetof(tsanom_hsa_series, beats) == 8, "beats");
static_assert(offsetof(tsanom_hsa_series, reserved) == 16, "reserved");

static_assert(sizeof(tsanom_hsa_run) == 128, "size");
static_assert(offsetof(tsanom_hsa_run, threads) == 0, "threads");
static_assert(offsetof(tsanom_hsa_run, thread_count) == 8, "thread_count");
static_assert(offsetof(tsanom_hsa_run, start) == 16, "start");
static_assert(offsetof(tsanom_hsa_run, reserved) == 24, "reserved");

static_assert(sizeof(tsanom_hsa_range) == 16, "size");
static_assert(offsetof(tsanom_hsa_range, low) == 0, "low");
static_assert(offsetof(tsanom_hsa_range, high) == 8, "high");

static_assert(sizeof(tsanom_hsa_features) == 288, "size");
static_assert(offsetof(tsanom_hsa_features, value) == 0, "value");
static_assert(offsetof(tsanom_hsa_features, defined) == 256, "defined");
static_assert(offsetof(tsanom_hsa_features, reserved) == 264, "reserved");

static_assert(sizeof(tsanom_hsa_reference) == 808, "size");
static_assert(offsetof(tsanom_hsa_reference, beats) == 0, "beats");
static_assert(offsetof(tsanom_hsa_reference, window) == 8, "window");
static_assert(offsetof(tsanom_hsa_reference, local_window) == 16, "local_window");
static_assert(offsetof(tsanom_hsa_reference, windows) == 24, "windows");
static_assert(offsetof(tsanom_hsa_reference, degree) == 32, "degree");
static_assert(offsetof(tsanom_hsa_reference, run) == 40, "run");
static_assert(offsetof(tsanom_hsa_reference, sample_runs) == 48, "sample_runs");
static_assert(offsetof(tsanom_hsa_reference, silent_runs) == 56, "silent_runs");
static_assert(offsetof(tsanom_hsa_reference, completion) == 64, "completion");
static_assert(offsetof(tsanom_hsa_reference, mean_rate) == 72, "mean_rate");
static_assert(offsetof(tsanom_hsa_reference, interval) == 80, "interval");
static_assert(offsetof(tsanom_hsa_reference, r2) == 88, "r2");
static_assert(offsetof(tsanom_hsa_reference, domain) == 96, "domain");
static_assert(offsetof(tsanom_hsa_reference, unit) == 112, "unit");
static_assert(offsetof(tsanom_hsa_reference, center) == 120, "center");
static_assert(offsetof(tsanom_hsa_reference, scale) == 128, "scale");
static_assert(offsetof(tsanom_hsa_reference, time) == 136, "time");
static_assert(offsetof(tsanom_hsa_reference, rate) == 144, "rate");
static_assert(offsetof(tsanom_hsa_reference, window_rate) == 152, "window_rate");
static_assert(offsetof(tsanom_hsa_reference, coefficient) == 160, "coefficient");
static_assert(offsetof(tsanom_hsa_reference, range) == 168, "range");
static_assert(offsetof(tsanom_hsa_reference, reserved) == 680, "reserved");

static_assert(sizeof(tsanom_hsa_model_data) == 40, "size");
static_assert(offsetof(tsanom_hsa_model_data, struct_size) == 0, "struct_size");
static_assert(offsetof(tsanom_hsa_model_data, thread_count) == 8, "thread_count");
static_assert(offsetof(tsanom_hsa_model_data, run_count) == 16, "run_count");
static_assert(offsetof(tsanom_hsa_model_data, options) == 24, "options");
static_assert(offsetof(tsanom_hsa_model_data, references) == 32, "references");

static_assert(sizeof(tsanom_hsa_step) == 160, "size");
static_assert(offsetof(tsanom_hsa_step, question) == 0, "question");
static_assert(offsetof(tsanom_hsa_step, answer) == 4, "answer");
static_assert(offsetof(tsanom_hsa_step, count) == 8, "count");
static_assert(offsetof(tsanom_hsa_step, reserved0) == 12, "reserved0");
static_assert(offsetof(tsanom_hsa_step, feature) == 16, "feature");
static_assert(offsetof(tsanom_hsa_step, defined) == 32, "defined");
static_assert(offsetof(tsanom_hsa_step, value) == 48, "value");
static_assert(offsetof(tsanom_hsa_step, range) == 80, "range");
static_assert(offsetof(tsanom_hsa_step, reserved) == 144, "reserved");

static_assert(sizeof(tsanom_hsa_verdict) == 2864, "size");
static_assert(offsetof(tsanom_hsa_verdict, struct_size) == 0, "struct_size");
static_assert(offsetof(tsanom_hsa_verdict, status) == 8, "status");
static_assert(offsetof(tsanom_hsa_verdict, step_count) == 12, "step_count");
static_assert(offsetof(tsanom_hsa_verdict, features) == 16, "features");
static_assert(offsetof(tsanom_hsa_verdict, step) == 304, "step");
