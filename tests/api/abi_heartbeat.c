/* SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>
#include <tsanom/heartbeat.h>

_Static_assert(TSANOM_HEARTBEAT_CLOCK_AUTO == 0, "ABI");
_Static_assert(TSANOM_HEARTBEAT_CLOCK_TSC == 1, "ABI");
_Static_assert(TSANOM_HEARTBEAT_CLOCK_MONOTONIC == 2, "ABI");
_Static_assert(TSANOM_HEARTBEAT_HELPER_THREAD == 0, "ABI");
_Static_assert(TSANOM_HEARTBEAT_HELPER_NONE == 1, "ABI");
_Static_assert(TSANOM_HEARTBEAT_VITAL_OFF == -1, "ABI");
_Static_assert(TSANOM_HEARTBEAT_STREAMS_MAX == 65536, "ABI");

_Static_assert(sizeof(tsanom_heartbeat_options) == 24, "ABI");
_Static_assert(offsetof(tsanom_heartbeat_options, clock) == 8, "ABI");
_Static_assert(offsetof(tsanom_heartbeat_options, helper) == 12, "ABI");
_Static_assert(offsetof(tsanom_heartbeat_options, vital_ms) == 16, "ABI");
_Static_assert(offsetof(tsanom_heartbeat_options, reserved0) == 20, "ABI");
