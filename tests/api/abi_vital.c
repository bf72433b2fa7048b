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
static_assert(TSANOM_HSA_SIGNS == 14, "signs");
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
