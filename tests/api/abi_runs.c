/* SPDX-License-Identifier: BSD-3-Clause */
/* Constants and layouts of <tsanom/runs.h> on LP64: what callers were compiled with.
 * Compile-only. */
#include <stddef.h>
#include <tsanom/runs.h>

_Static_assert(TSANOM_RUNS_BEATS == 1, "ABI");
_Static_assert(TSANOM_RUNS_REGIONS == 2, "ABI");
_Static_assert(TSANOM_RUNS_SPMD == 4, "ABI");
_Static_assert(TSANOM_RUNS_REGION_TIMES == 8, "ABI");
_Static_assert(TSANOM_RUNS_FINISHED == 0, "ABI");
_Static_assert(TSANOM_RUNS_UNFINISHED == 1, "ABI");
_Static_assert(TSANOM_RUNS_VITAL_NONE == 0, "ABI");
_Static_assert(TSANOM_RUNS_VITAL_THREAD == 1, "ABI");
_Static_assert(TSANOM_RUNS_VITAL_PROCESS == 2, "ABI");
_Static_assert(TSANOM_RUNS_VITAL_ENDS == 3, "ABI");
_Static_assert(TSANOM_RUNS_PROCESS == -1, "ABI");
_Static_assert(TSANOM_RUNS_LEVEL_REGIONS == 0, "ABI");
_Static_assert(TSANOM_RUNS_LEVEL_WORKSHARING == 1, "ABI");

#if defined(__LP64__)
_Static_assert(sizeof(tsanom_runs_options) == 24, "ABI");
_Static_assert(offsetof(tsanom_runs_options, struct_size) == 0, "ABI");
_Static_assert(offsetof(tsanom_runs_options, parts) == 8, "ABI");
_Static_assert(offsetof(tsanom_runs_options, symbols) == 12, "ABI");
_Static_assert(offsetof(tsanom_runs_options, salvage) == 16, "ABI");
_Static_assert(offsetof(tsanom_runs_options, reserved0) == 20, "ABI");

_Static_assert(sizeof(tsanom_runs_info) == 264, "ABI");
_Static_assert(offsetof(tsanom_runs_info, struct_size) == 0, "ABI");
_Static_assert(offsetof(tsanom_runs_info, parts) == 8, "ABI");
_Static_assert(offsetof(tsanom_runs_info, state) == 12, "ABI");
_Static_assert(offsetof(tsanom_runs_info, start) == 16, "ABI");
_Static_assert(offsetof(tsanom_runs_info, pid) == 24, "ABI");
_Static_assert(offsetof(tsanom_runs_info, tick) == 32, "ABI");
_Static_assert(offsetof(tsanom_runs_info, last) == 40, "ABI");
_Static_assert(offsetof(tsanom_runs_info, clock) == 48, "ABI");
_Static_assert(offsetof(tsanom_runs_info, announced) == 52, "ABI");
_Static_assert(offsetof(tsanom_runs_info, beats) == 56, "ABI");
_Static_assert(offsetof(tsanom_runs_info, events) == 64, "ABI");
_Static_assert(offsetof(tsanom_runs_info, beats_dropped) == 72, "ABI");
_Static_assert(offsetof(tsanom_runs_info, events_dropped) == 80, "ABI");
_Static_assert(offsetof(tsanom_runs_info, beat_streams) == 88, "ABI");
_Static_assert(offsetof(tsanom_runs_info, event_streams) == 96, "ABI");
_Static_assert(offsetof(tsanom_runs_info, places) == 104, "ABI");
_Static_assert(offsetof(tsanom_runs_info, program) == 112, "ABI");
_Static_assert(offsetof(tsanom_runs_info, skipped) == 176, "ABI");
_Static_assert(offsetof(tsanom_runs_info, restarts) == 184, "ABI");
_Static_assert(offsetof(tsanom_runs_info, vital) == 192, "ABI");
_Static_assert(offsetof(tsanom_runs_info, error) == 196, "ABI");
_Static_assert(offsetof(tsanom_runs_info, vital_period_s) == 200, "ABI");
_Static_assert(offsetof(tsanom_runs_info, vital_samples) == 208, "ABI");
_Static_assert(offsetof(tsanom_runs_info, vital_lost) == 216, "ABI");
_Static_assert(offsetof(tsanom_runs_info, vital_threads) == 224, "ABI");
_Static_assert(offsetof(tsanom_runs_info, totals) == 232, "ABI");
_Static_assert(offsetof(tsanom_runs_info, beats_interpolated) == 240, "ABI");
_Static_assert(offsetof(tsanom_runs_info, beats_by_time) == 248, "ABI");
_Static_assert(offsetof(tsanom_runs_info, life) == 256, "ABI");
_Static_assert(offsetof(tsanom_runs_info, reserved0) == 260, "ABI");

_Static_assert(sizeof(tsanom_runs_stream) == 72, "ABI");
_Static_assert(offsetof(tsanom_runs_stream, time) == 0, "ABI");
_Static_assert(offsetof(tsanom_runs_stream, tag) == 8, "ABI");
_Static_assert(offsetof(tsanom_runs_stream, count) == 16, "ABI");
_Static_assert(offsetof(tsanom_runs_stream, dropped) == 24, "ABI");
_Static_assert(offsetof(tsanom_runs_stream, thread) == 32, "ABI");
_Static_assert(offsetof(tsanom_runs_stream, reserved0) == 36, "ABI");
_Static_assert(offsetof(tsanom_runs_stream, reserved) == 40, "ABI");

_Static_assert(sizeof(tsanom_runs_event) == 32, "ABI");
_Static_assert(offsetof(tsanom_runs_event, cpu_s) == 0, "ABI");
_Static_assert(offsetof(tsanom_runs_event, kind) == 8, "ABI");
_Static_assert(offsetof(tsanom_runs_event, place) == 12, "ABI");
_Static_assert(offsetof(tsanom_runs_event, threads) == 16, "ABI");
_Static_assert(offsetof(tsanom_runs_event, reserved0) == 20, "ABI");
_Static_assert(offsetof(tsanom_runs_event, count) == 24, "ABI");

_Static_assert(sizeof(tsanom_runs_visit) == 72, "ABI");
_Static_assert(offsetof(tsanom_runs_visit, time) == 0, "ABI");
_Static_assert(offsetof(tsanom_runs_visit, begin) == 8, "ABI");
_Static_assert(offsetof(tsanom_runs_visit, cpu_s) == 16, "ABI");
_Static_assert(offsetof(tsanom_runs_visit, depth) == 24, "ABI");
_Static_assert(offsetof(tsanom_runs_visit, kind) == 32, "ABI");
_Static_assert(offsetof(tsanom_runs_visit, place) == 36, "ABI");
_Static_assert(offsetof(tsanom_runs_visit, outer) == 40, "ABI");
_Static_assert(offsetof(tsanom_runs_visit, threads) == 44, "ABI");
_Static_assert(offsetof(tsanom_runs_visit, is_call) == 48, "ABI");
_Static_assert(offsetof(tsanom_runs_visit, is_known) == 52, "ABI");
_Static_assert(offsetof(tsanom_runs_visit, reserved) == 56, "ABI");

_Static_assert(sizeof(tsanom_runs_visitor) == 16, "ABI");
_Static_assert(offsetof(tsanom_runs_visitor, visit) == 0, "ABI");
_Static_assert(offsetof(tsanom_runs_visitor, user) == 8, "ABI");

_Static_assert(sizeof(tsanom_runs_place) == 40, "ABI");
_Static_assert(offsetof(tsanom_runs_place, module) == 0, "ABI");
_Static_assert(offsetof(tsanom_runs_place, address) == 8, "ABI");
_Static_assert(offsetof(tsanom_runs_place, kind) == 16, "ABI");
_Static_assert(offsetof(tsanom_runs_place, is_call) == 20, "ABI");
_Static_assert(offsetof(tsanom_runs_place, call) == 24, "ABI");
_Static_assert(offsetof(tsanom_runs_place, communicator) == 32, "ABI");

_Static_assert(sizeof(tsanom_runs_spmd_data) == 64, "ABI");
_Static_assert(offsetof(tsanom_runs_spmd_data, data) == 0, "ABI");
_Static_assert(offsetof(tsanom_runs_spmd_data, region) == 8, "ABI");
_Static_assert(offsetof(tsanom_runs_spmd_data, process) == 16, "ABI");
_Static_assert(offsetof(tsanom_runs_spmd_data, metric) == 24, "ABI");
_Static_assert(offsetof(tsanom_runs_spmd_data, waiting) == 32, "ABI");
_Static_assert(offsetof(tsanom_runs_spmd_data, dropped) == 40, "ABI");
_Static_assert(offsetof(tsanom_runs_spmd_data, dropped_count) == 48, "ABI");
_Static_assert(offsetof(tsanom_runs_spmd_data, stalled) == 56, "ABI");

_Static_assert(sizeof(tsanom_runs_model_data) == 48, "ABI");
_Static_assert(offsetof(tsanom_runs_model_data, model) == 0, "ABI");
_Static_assert(offsetof(tsanom_runs_model_data, run) == 8, "ABI");
_Static_assert(offsetof(tsanom_runs_model_data, normal) == 16, "ABI");
_Static_assert(offsetof(tsanom_runs_model_data, reserved) == 24, "ABI");
#endif
