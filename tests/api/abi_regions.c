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
_Static_assert(TSANOM_REGIONS_KIND_BITS == 3, "ABI");
_Static_assert(TSANOM_REGIONS_PLACES_MAX == 8192, "ABI");

_Static_assert(sizeof(tsanom_regions_event) == 32, "ABI");
_Static_assert(offsetof(tsanom_regions_event, time) == 0, "ABI");
_Static_assert(offsetof(tsanom_regions_event, cpu_s) == 8, "ABI");
_Static_assert(offsetof(tsanom_regions_event, kind) == 16, "ABI");
_Static_assert(offsetof(tsanom_regions_event, place) == 20, "ABI");
_Static_assert(offsetof(tsanom_regions_event, threads) == 24, "ABI");

_Static_assert(sizeof(tsanom_regions_place) == 536, "ABI");
_Static_assert(offsetof(tsanom_regions_place, address) == 8, "ABI");
_Static_assert(offsetof(tsanom_regions_place, kind) == 16, "ABI");
_Static_assert(offsetof(tsanom_regions_place, is_call) == 20, "ABI");
_Static_assert(offsetof(tsanom_regions_place, module) == 24, "ABI");
#endif
