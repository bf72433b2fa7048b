/* SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>
#include <tsanom/record.h>

_Static_assert(TSANOM_RECORD_HEARTBEATS == 1, "ABI");
_Static_assert(TSANOM_RECORD_REGIONS == 2, "ABI");
_Static_assert(TSANOM_RECORD_CHANNELS_MAX == 31, "ABI");
_Static_assert(TSANOM_SPMD_NONE == -1, "ABI");
_Static_assert(TSANOM_SPMD_CLOCK_ELAPSED == 0, "ABI");
_Static_assert(TSANOM_SPMD_CLOCK_CPU == 1, "ABI");

_Static_assert(sizeof(tsanom_record_options) == 32, "ABI");
_Static_assert(offsetof(tsanom_record_options, clock) == 8, "ABI");
_Static_assert(offsetof(tsanom_record_options, helper) == 12, "ABI");
_Static_assert(offsetof(tsanom_record_options, channels) == 16, "ABI");
_Static_assert(offsetof(tsanom_record_options, vital_ms) == 20, "ABI");
_Static_assert(offsetof(tsanom_record_options, vital_most) == 24, "ABI");
_Static_assert(offsetof(tsanom_record_options, reserved0) == 28, "ABI");

_Static_assert(sizeof(tsanom_spmd_recorder_options) == 16, "ABI");
_Static_assert(offsetof(tsanom_spmd_recorder_options, struct_size) == 0, "ABI");
_Static_assert(offsetof(tsanom_spmd_recorder_options, clock) == 8, "ABI");
_Static_assert(offsetof(tsanom_spmd_recorder_options, reserved0) == 12, "ABI");

#if __SIZEOF_POINTER__ == 8
_Static_assert(offsetof(tsanom_spmd_row, struct_size) == 0, "row");
_Static_assert(offsetof(tsanom_spmd_row, process) == 8, "row");
_Static_assert(offsetof(tsanom_spmd_row, region) == 16, "row");
_Static_assert(offsetof(tsanom_spmd_row, metrics) == 24, "row");
_Static_assert(offsetof(tsanom_spmd_row, metric) == 32, "row");
_Static_assert(offsetof(tsanom_spmd_row, value) == 40, "row");
_Static_assert(sizeof(tsanom_spmd_row) == 48, "row");
#endif
