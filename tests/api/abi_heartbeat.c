/* SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>
#include <tsanom/heartbeat.h>
#include <tsanom/heartbeat_run.h>

_Static_assert(TSANOM_HEARTBEAT_CLOCK_AUTO == 0, "ABI");
_Static_assert(TSANOM_HEARTBEAT_CLOCK_TSC == 1, "ABI");
_Static_assert(TSANOM_HEARTBEAT_CLOCK_MONOTONIC == 2, "ABI");
_Static_assert(TSANOM_HEARTBEAT_STREAMS_MAX == 65536, "ABI");

_Static_assert(sizeof(tsanom_heartbeat_options) == 16, "ABI");
_Static_assert(offsetof(tsanom_heartbeat_options, clock) == 8, "ABI");
_Static_assert(offsetof(tsanom_heartbeat_options, helper) == 12, "ABI");

_Static_assert(sizeof(tsanom_heartbeat_fault) == 784, "ABI");
_Static_assert(offsetof(tsanom_heartbeat_fault, offset) == 8, "ABI");
_Static_assert(offsetof(tsanom_heartbeat_fault, file) == 16, "ABI");
_Static_assert(offsetof(tsanom_heartbeat_fault, text) == 528, "ABI");

_Static_assert(sizeof(tsanom_heartbeat_run_info) == 128, "ABI");
_Static_assert(offsetof(tsanom_heartbeat_run_info, beats) == 8, "ABI");
_Static_assert(offsetof(tsanom_heartbeat_run_info, dropped) == 16, "ABI");
_Static_assert(offsetof(tsanom_heartbeat_run_info, start) == 24, "ABI");
_Static_assert(offsetof(tsanom_heartbeat_run_info, tick) == 32, "ABI");
_Static_assert(offsetof(tsanom_heartbeat_run_info, pid) == 40, "ABI");
_Static_assert(offsetof(tsanom_heartbeat_run_info, streams) == 48, "ABI");
_Static_assert(offsetof(tsanom_heartbeat_run_info, announced) == 52, "ABI");
_Static_assert(offsetof(tsanom_heartbeat_run_info, clock) == 56, "ABI");
_Static_assert(offsetof(tsanom_heartbeat_run_info, finished) == 60, "ABI");
_Static_assert(offsetof(tsanom_heartbeat_run_info, program) == 64, "ABI");

_Static_assert(sizeof(tsanom_heartbeat_stream_info) == 48, "ABI");
_Static_assert(offsetof(tsanom_heartbeat_stream_info, beats) == 8, "ABI");
_Static_assert(offsetof(tsanom_heartbeat_stream_info, dropped) == 16, "ABI");
_Static_assert(offsetof(tsanom_heartbeat_stream_info, first) == 24, "ABI");
_Static_assert(offsetof(tsanom_heartbeat_stream_info, last) == 32, "ABI");
_Static_assert(offsetof(tsanom_heartbeat_stream_info, thread) == 40, "ABI");
_Static_assert(offsetof(tsanom_heartbeat_stream_info, reserved0) == 44, "ABI");
