/* SPDX-License-Identifier: BSD-3-Clause */
/* Layouts of <tsanom/change.h> on LP64: what callers were compiled with. Compile-only. */
#include <stddef.h>
#include <tsanom/change.h>

#if defined(__LP64__)
_Static_assert(sizeof(tsanom_change_options) == 32, "ABI");
_Static_assert(offsetof(tsanom_change_options, level) == 8, "ABI");
_Static_assert(offsetof(tsanom_change_options, reference) == 16, "ABI");
_Static_assert(offsetof(tsanom_change_options, paired) == 24, "ABI");
_Static_assert(offsetof(tsanom_change_options, sequential) == 28, "ABI");

_Static_assert(sizeof(tsanom_change_point) == 80, "ABI");
_Static_assert(offsetof(tsanom_change_point, at) == 0, "ABI");
_Static_assert(offsetof(tsanom_change_point, low) == 8, "ABI");
_Static_assert(offsetof(tsanom_change_point, high) == 16, "ABI");
_Static_assert(offsetof(tsanom_change_point, before) == 24, "ABI");
_Static_assert(offsetof(tsanom_change_point, after) == 32, "ABI");
_Static_assert(offsetof(tsanom_change_point, size) == 40, "ABI");
_Static_assert(offsetof(tsanom_change_point, size_low) == 48, "ABI");
_Static_assert(offsetof(tsanom_change_point, size_high) == 56, "ABI");
_Static_assert(offsetof(tsanom_change_point, significance) == 64, "ABI");
_Static_assert(offsetof(tsanom_change_point, reserved) == 72, "ABI");

_Static_assert(sizeof(tsanom_change_comparison) == 72, "ABI");
_Static_assert(offsetof(tsanom_change_comparison, struct_size) == 0, "ABI");
_Static_assert(offsetof(tsanom_change_comparison, a) == 8, "ABI");
_Static_assert(offsetof(tsanom_change_comparison, b) == 16, "ABI");
_Static_assert(offsetof(tsanom_change_comparison, difference) == 24, "ABI");
_Static_assert(offsetof(tsanom_change_comparison, low) == 32, "ABI");
_Static_assert(offsetof(tsanom_change_comparison, high) == 40, "ABI");
_Static_assert(offsetof(tsanom_change_comparison, significance) == 48, "ABI");
_Static_assert(offsetof(tsanom_change_comparison, detectable) == 56, "ABI");
_Static_assert(offsetof(tsanom_change_comparison, reserved) == 64, "ABI");
#endif
