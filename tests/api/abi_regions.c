/* SPDX-License-Identifier: BSD-3-Clause */
/* Constants and layouts of <tsanom/regions.h> on LP64: what callers were compiled
 * with. Compile-only. */
#include <tsanom/regions.h>

#if defined(__LP64__)
_Static_assert(TSANOM_REGIONS_BEGIN == 0, "ABI");
_Static_assert(TSANOM_REGIONS_END == 1, "ABI");
_Static_assert(TSANOM_REGIONS_SHARE == 2, "ABI");
_Static_assert(TSANOM_REGIONS_CPU == 3, "ABI");
_Static_assert(TSANOM_REGIONS_TASK == 5, "ABI");
_Static_assert(TSANOM_REGIONS_KIND_BITS == 3, "ABI");
_Static_assert(TSANOM_REGIONS_PLACES_MAX == 8192, "ABI");
#endif
