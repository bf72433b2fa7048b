/* SPDX-License-Identifier: BSD-3-Clause */
/* Constants and layouts of <tsanom/speedup.h> on LP64: what callers were compiled
 * with. Compile-only. */
#include <stddef.h>
#include <tsanom/speedup.h>

#if defined(__LP64__)
_Static_assert(TSANOM_SPEEDUP_RECENT == 31, "ABI");
_Static_assert(TSANOM_SPEEDUP_THREAD_COUNTS == 8, "ABI");
_Static_assert(TSANOM_SPEEDUP_REGIONS == 0, "ABI");
_Static_assert(TSANOM_SPEEDUP_WORKSHARING == 1, "ABI");
_Static_assert(TSANOM_SPEEDUP_LOOPS_MAX == 4096, "ABI");
_Static_assert(TSANOM_SPEEDUP_PERIOD_MAX == 4194304, "ABI");

_Static_assert(sizeof(tsanom_speedup_event) == 32, "ABI");
_Static_assert(offsetof(tsanom_speedup_event, region) == 0, "ABI");
_Static_assert(offsetof(tsanom_speedup_event, begin) == 8, "ABI");
_Static_assert(offsetof(tsanom_speedup_event, end) == 16, "ABI");
_Static_assert(offsetof(tsanom_speedup_event, threads) == 24, "ABI");

_Static_assert(sizeof(tsanom_speedup_iteration) == 64, "ABI");
_Static_assert(offsetof(tsanom_speedup_iteration, reserved1) == 56, "ABI");
_Static_assert(offsetof(tsanom_speedup_iteration, start) == 0, "ABI");
_Static_assert(offsetof(tsanom_speedup_iteration, period) == 8, "ABI");
_Static_assert(offsetof(tsanom_speedup_iteration, number) == 16, "ABI");
_Static_assert(offsetof(tsanom_speedup_iteration, begin) == 24, "ABI");
_Static_assert(offsetof(tsanom_speedup_iteration, seconds) == 32, "ABI");
_Static_assert(offsetof(tsanom_speedup_iteration, parallel) == 40, "ABI");
_Static_assert(offsetof(tsanom_speedup_iteration, threads) == 48, "ABI");

_Static_assert(sizeof(tsanom_speedup_options) == 48, "ABI");
_Static_assert(offsetof(tsanom_speedup_options, max_period) == 8, "ABI");
_Static_assert(offsetof(tsanom_speedup_options, capacity) == 16, "ABI");
_Static_assert(offsetof(tsanom_speedup_options, baseline) == 24, "ABI");
_Static_assert(offsetof(tsanom_speedup_options, visit) == 32, "ABI");
_Static_assert(offsetof(tsanom_speedup_options, visit_user) == 40, "ABI");

_Static_assert(sizeof(tsanom_speedup_loop) == 144, "ABI");
_Static_assert(offsetof(tsanom_speedup_loop, baseline_mean_s) == 120, "ABI");
_Static_assert(offsetof(tsanom_speedup_loop, current_mean_s) == 128, "ABI");
_Static_assert(offsetof(tsanom_speedup_loop, reserved) == 136, "ABI");
_Static_assert(offsetof(tsanom_speedup_loop, start) == 0, "ABI");
_Static_assert(offsetof(tsanom_speedup_loop, period) == 8, "ABI");
_Static_assert(offsetof(tsanom_speedup_loop, iterations) == 16, "ABI");
_Static_assert(offsetof(tsanom_speedup_loop, runs) == 24, "ABI");
_Static_assert(offsetof(tsanom_speedup_loop, last_run) == 32, "ABI");
_Static_assert(offsetof(tsanom_speedup_loop, first) == 40, "ABI");
_Static_assert(offsetof(tsanom_speedup_loop, last) == 48, "ABI");
_Static_assert(offsetof(tsanom_speedup_loop, total_s) == 56, "ABI");
_Static_assert(offsetof(tsanom_speedup_loop, parallel_s) == 64, "ABI");
_Static_assert(offsetof(tsanom_speedup_loop, baseline_s) == 72, "ABI");
_Static_assert(offsetof(tsanom_speedup_loop, current_s) == 80, "ABI");
_Static_assert(offsetof(tsanom_speedup_loop, speedup) == 88, "ABI");
_Static_assert(offsetof(tsanom_speedup_loop, efficiency) == 96, "ABI");
_Static_assert(offsetof(tsanom_speedup_loop, serial_fraction) == 104, "ABI");
_Static_assert(offsetof(tsanom_speedup_loop, baseline_threads) == 112, "ABI");
_Static_assert(offsetof(tsanom_speedup_loop, current_threads) == 116, "ABI");

_Static_assert(sizeof(tsanom_speedup_prediction) == 80, "ABI");
_Static_assert(offsetof(tsanom_speedup_prediction, struct_size) == 0, "ABI");
_Static_assert(offsetof(tsanom_speedup_prediction, start) == 8, "ABI");
_Static_assert(offsetof(tsanom_speedup_prediction, period) == 16, "ABI");
_Static_assert(offsetof(tsanom_speedup_prediction, iterations) == 24, "ABI");
_Static_assert(offsetof(tsanom_speedup_prediction, expected) == 32, "ABI");
_Static_assert(offsetof(tsanom_speedup_prediction, remaining_s) == 40, "ABI");
_Static_assert(offsetof(tsanom_speedup_prediction, total_s) == 48, "ABI");
_Static_assert(offsetof(tsanom_speedup_prediction, low_s) == 56, "ABI");
_Static_assert(offsetof(tsanom_speedup_prediction, high_s) == 64, "ABI");
_Static_assert(offsetof(tsanom_speedup_prediction, drifts) == 72, "ABI");
_Static_assert(offsetof(tsanom_speedup_prediction, reserved0) == 76, "ABI");
#endif
