/* SPDX-License-Identifier: BSD-3-Clause */
/* Constants and layouts of <tsanom/regions.h> on LP64: what callers were compiled
 * with. Compile-only. */
#include <stddef.h>
#include <tsanom/regions.h>

#if defined(__LP64__)
_Static_assert(TSANOM_REGIONS_BEGIN == 0, "ABI");
_Static_assert(TSANOM_REGIONS_END == 1, "ABI");
_Static_assert(TSANOM_REGIONS_SHARE == 2, "ABI");
_Static_assert(TSANOM_REGIONS_CPU == 3, "ABI");
_Static_assert(TSANOM_REGIONS_FUNCTION == 4, "ABI");
_Static_assert(TSANOM_REGIONS_ENTERED == 0, "ABI");
_Static_assert(TSANOM_REGIONS_LEFT == 1, "ABI");
_Static_assert(TSANOM_REGIONS_DROPPED == 2, "ABI");
_Static_assert(TSANOM_REGIONS_TASK == 5, "ABI");
_Static_assert(TSANOM_REGIONS_METRIC == 6, "ABI");
_Static_assert(TSANOM_REGIONS_WORK == 7, "ABI");
_Static_assert(TSANOM_REGIONS_INSTRUCTIONS == 0, "ABI");
_Static_assert(TSANOM_REGIONS_L1_MISSES == 1, "ABI");
_Static_assert(TSANOM_REGIONS_L2_MISSES == 2, "ABI");
_Static_assert(TSANOM_REGIONS_DISK_BYTES == 3, "ABI");
_Static_assert(TSANOM_REGIONS_NETWORK_BYTES == 4, "ABI");
_Static_assert(TSANOM_REGIONS_NOT_COUNTED == 31, "ABI");
_Static_assert(TSANOM_REGIONS_KIND_BITS == 3, "ABI");
_Static_assert(TSANOM_REGIONS_PLACES_MAX == 8192, "ABI");
_Static_assert(TSANOM_REGIONS_EARLY_BIT == 31, "ABI");
_Static_assert(TSANOM_REGIONS_ROW_THREAD == 1, "ABI");
_Static_assert(TSANOM_REGIONS_ROW_REGION == 2, "ABI");
_Static_assert(TSANOM_REGIONS_ROW_COMPUTATION == 3, "ABI");
_Static_assert(TSANOM_REGIONS_ROW_BEATS == 4, "ABI");
_Static_assert(sizeof(tsanom_regions_profile) == 64, "ABI");
_Static_assert(offsetof(tsanom_regions_profile, magic) == 0, "ABI");
_Static_assert(offsetof(tsanom_regions_profile, version) == 8, "ABI");
_Static_assert(offsetof(tsanom_regions_profile, row_bytes) == 12, "ABI");
_Static_assert(offsetof(tsanom_regions_profile, reserved) == 16, "ABI");
_Static_assert(sizeof(tsanom_regions_row) == 64, "ABI");
_Static_assert(offsetof(tsanom_regions_row, kind) == 0, "ABI");
_Static_assert(offsetof(tsanom_regions_row, thread) == 4, "ABI");
_Static_assert(offsetof(tsanom_regions_row, parent) == 8, "ABI");
_Static_assert(offsetof(tsanom_regions_row, place) == 12, "ABI");
_Static_assert(offsetof(tsanom_regions_row, visits) == 16, "ABI");
_Static_assert(offsetof(tsanom_regions_row, elapsed) == 24, "ABI");
_Static_assert(offsetof(tsanom_regions_row, useful) == 32, "ABI");
_Static_assert(offsetof(tsanom_regions_row, waiting) == 40, "ABI");
_Static_assert(offsetof(tsanom_regions_row, cpu) == 48, "ABI");
_Static_assert(offsetof(tsanom_regions_row, check) == 56, "ABI");
#endif
