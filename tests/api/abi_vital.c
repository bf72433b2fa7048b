/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>
#include <tsanom/vital.h>

static_assert(TSANOM_HSA_STATE_UNKNOWN == 0, "unknown");
static_assert(TSANOM_HSA_STATE_FINISHED == 1, "finished");
static_assert(TSANOM_HSA_STATE_KILLED == 2, "killed");
static_assert(TSANOM_HSA_STATE_RUNNING == 3, "running");
static_assert(TSANOM_HSA_PROCESS == -1, "process");
static_assert(TSANOM_HSA_SIGN_INTERVAL == 0, "sign_interval");
static_assert(TSANOM_HSA_SIGN_GAP == 1, "sign_gap");
static_assert(TSANOM_HSA_SIGN_SILENCE == 2, "sign_silence");
static_assert(TSANOM_HSA_SIGN_TAIL == 3, "sign_tail");
static_assert(TSANOM_HSA_SIGN_SHARE == 4, "sign_share");
static_assert(TSANOM_HSA_SIGN_TEAM_INTERVAL == 5, "sign_team_interval");
static_assert(TSANOM_HSA_SIGN_CPU == 6, "sign_cpu");
static_assert(TSANOM_HSA_SIGN_CPU_QUARTILE == 7, "sign_cpu_quartile");
static_assert(TSANOM_HSA_SIGN_TEAM_CPU == 8, "sign_team_cpu");
static_assert(TSANOM_HSA_SIGN_WAIT == 9, "sign_wait");
static_assert(TSANOM_HSA_SIGN_BLOCKED == 10, "sign_blocked");
static_assert(TSANOM_HSA_SIGN_FAULTS == 11, "sign_faults");
static_assert(TSANOM_HSA_SIGN_GROWTH == 12, "sign_growth");
static_assert(TSANOM_HSA_SIGN_GROWTH_PER_BEAT == 13, "sign_growth_per_beat");
static_assert(TSANOM_HSA_SIGN_BLOCKED_GAP == 14, "sign_blocked_gap");
static_assert(TSANOM_HSA_SIGN_EXIT == 15, "sign_exit");
static_assert(TSANOM_HSA_SIGNS == 16, "signs");
static_assert(TSANOM_HSA_SIGN_SLOTS == 32, "sign_slots");

static_assert(sizeof(tsanom_hsa_vital) == 136, "ABI");
static_assert(offsetof(tsanom_hsa_vital, time) == 0, "ABI");
static_assert(offsetof(tsanom_hsa_vital, cpu_s) == 8, "ABI");
static_assert(offsetof(tsanom_hsa_vital, wait_s) == 16, "ABI");
static_assert(offsetof(tsanom_hsa_vital, voluntary) == 24, "ABI");
static_assert(offsetof(tsanom_hsa_vital, involuntary) == 32, "ABI");
static_assert(offsetof(tsanom_hsa_vital, minor_faults) == 40, "ABI");
static_assert(offsetof(tsanom_hsa_vital, major_faults) == 48, "ABI");
static_assert(offsetof(tsanom_hsa_vital, resident) == 56, "ABI");
static_assert(offsetof(tsanom_hsa_vital, anonymous) == 64, "ABI");
static_assert(offsetof(tsanom_hsa_vital, threads) == 72, "ABI");
static_assert(offsetof(tsanom_hsa_vital, beats) == 80, "ABI");
static_assert(offsetof(tsanom_hsa_vital, thread) == 88, "ABI");
static_assert(offsetof(tsanom_hsa_vital, task) == 92, "ABI");
static_assert(offsetof(tsanom_hsa_vital, state) == 96, "ABI");
static_assert(offsetof(tsanom_hsa_vital, stream) == 100, "ABI");
static_assert(offsetof(tsanom_hsa_vital, reserved) == 104, "ABI");
static_assert(sizeof(tsanom_hsa_signs) == 288, "ABI");
static_assert(offsetof(tsanom_hsa_signs, value) == 0, "ABI");
static_assert(offsetof(tsanom_hsa_signs, beats) == 256, "ABI");
static_assert(offsetof(tsanom_hsa_signs, reserved) == 264, "ABI");

static_assert(TSANOM_HSA_PARTS == 8, "parts");
static_assert(TSANOM_HSA_DETAIL_NONE == 0, "detail_none");
static_assert(TSANOM_HSA_DETAIL_PROGRAM == 1, "detail_program");
static_assert(TSANOM_HSA_DETAIL_MACHINE == 2, "detail_machine");
static_assert(TSANOM_HSA_DETAIL_THREADS == 3, "detail_threads");
static_assert(TSANOM_HSA_DETAIL_NO_POWER == 4, "detail_no_power");
static_assert(TSANOM_HSA_DETAIL_FEW_BEATS == 5, "detail_few_beats");
static_assert(TSANOM_HSA_DETAIL_KILLED == 6, "detail_killed");
static_assert(TSANOM_HSA_DETAIL_SHORT == 7, "detail_short");
static_assert(TSANOM_HSA_DETAIL_STOPPED == 8, "detail_stopped");
static_assert(TSANOM_HSA_DETAIL_NEVER == 9, "detail_never");
static_assert(TSANOM_HSA_DETAIL_PAUSED == 10, "detail_paused");
static_assert(TSANOM_HSA_DETAIL_FAULTS == 11, "detail_faults");
static_assert(TSANOM_HSA_DETAIL_NO_CPU == 12, "detail_no_cpu");
static_assert(TSANOM_HSA_DETAIL_BLOCKED == 13, "detail_blocked");
static_assert(TSANOM_HSA_DETAIL_EXIT == 14, "detail_exit");

static_assert(sizeof(tsanom_hsa_normal) == 192, "ABI");
static_assert(offsetof(tsanom_hsa_normal, struct_size) == 0, "ABI");
static_assert(offsetof(tsanom_hsa_normal, thread_count) == 8, "ABI");
static_assert(offsetof(tsanom_hsa_normal, run_count) == 16, "ABI");
static_assert(offsetof(tsanom_hsa_normal, beats) == 24, "ABI");
static_assert(offsetof(tsanom_hsa_normal, fewest) == 32, "ABI");
static_assert(offsetof(tsanom_hsa_normal, load) == 40, "ABI");
static_assert(offsetof(tsanom_hsa_normal, program) == 48, "ABI");
static_assert(offsetof(tsanom_hsa_normal, machine) == 112, "ABI");
static_assert(offsetof(tsanom_hsa_normal, range) == 176, "ABI");
static_assert(offsetof(tsanom_hsa_normal, range_count) == 184, "ABI");

static_assert(sizeof(tsanom_hsa_power) == 64, "ABI");
static_assert(offsetof(tsanom_hsa_power, slowdown) == 0, "ABI");
static_assert(offsetof(tsanom_hsa_power, imbalance) == 8, "ABI");
static_assert(offsetof(tsanom_hsa_power, contention) == 16, "ABI");
static_assert(offsetof(tsanom_hsa_power, leak) == 24, "ABI");
static_assert(offsetof(tsanom_hsa_power, hang) == 32, "ABI");
static_assert(offsetof(tsanom_hsa_power, reserved) == 40, "ABI");

static_assert(sizeof(tsanom_hsa_cause) == 96, "ABI");
static_assert(offsetof(tsanom_hsa_cause, cause) == 0, "ABI");
static_assert(offsetof(tsanom_hsa_cause, thread) == 4, "ABI");
static_assert(offsetof(tsanom_hsa_cause, sign) == 8, "ABI");
static_assert(offsetof(tsanom_hsa_cause, detail) == 12, "ABI");
static_assert(offsetof(tsanom_hsa_cause, value) == 16, "ABI");
static_assert(offsetof(tsanom_hsa_cause, range) == 24, "ABI");
static_assert(offsetof(tsanom_hsa_cause, strength) == 40, "ABI");
static_assert(offsetof(tsanom_hsa_cause, number) == 48, "ABI");
static_assert(offsetof(tsanom_hsa_cause, waiting) == 64, "ABI");
static_assert(offsetof(tsanom_hsa_cause, reserved) == 72, "ABI");
