/* SPDX-License-Identifier: BSD-3-Clause */
/* The ABI of polyfit.h, pinned. */
#include <stddef.h>
#include <tsanom/polyfit.h>

_Static_assert(TSANOM_POLYFIT_MAX_DEGREE == 63, "limit");
_Static_assert(TSANOM_POLYFIT_TERMS == 64, "limit");
_Static_assert(TSANOM_POLYFIT_FIXED == 0, "selection");
_Static_assert(TSANOM_POLYFIT_R2 == 1, "selection");
_Static_assert(TSANOM_POLYFIT_AICC == 2, "selection");
_Static_assert(TSANOM_POLYFIT_BIC == 3, "selection");
_Static_assert(TSANOM_POLYFIT_GRAM == 0, "method");
_Static_assert(TSANOM_POLYFIT_QR == 1, "method");

#if __SIZEOF_POINTER__ == 8
_Static_assert(offsetof(tsanom_polyfit_options, struct_size) == 0, "options");
_Static_assert(offsetof(tsanom_polyfit_options, degree) == 8, "options");
_Static_assert(offsetof(tsanom_polyfit_options, selection) == 12, "options");
_Static_assert(offsetof(tsanom_polyfit_options, r2) == 16, "options");
_Static_assert(offsetof(tsanom_polyfit_options, tolerance) == 24, "options");
_Static_assert(offsetof(tsanom_polyfit_options, refine) == 32, "options");
_Static_assert(offsetof(tsanom_polyfit_options, coefficients_only) == 36, "options");
_Static_assert(sizeof(tsanom_polyfit_options) == 40, "options");

_Static_assert(offsetof(tsanom_polyfit_model, struct_size) == 0, "model");
_Static_assert(offsetof(tsanom_polyfit_model, samples) == 8, "model");
_Static_assert(offsetof(tsanom_polyfit_model, degree) == 16, "model");
_Static_assert(offsetof(tsanom_polyfit_model, highest) == 20, "model");
_Static_assert(offsetof(tsanom_polyfit_model, rank) == 24, "model");
_Static_assert(offsetof(tsanom_polyfit_model, method) == 28, "model");
_Static_assert(offsetof(tsanom_polyfit_model, unit) == 32, "model");
_Static_assert(offsetof(tsanom_polyfit_model, center) == 40, "model");
_Static_assert(offsetof(tsanom_polyfit_model, scale) == 48, "model");
_Static_assert(offsetof(tsanom_polyfit_model, rss) == 56, "model");
_Static_assert(offsetof(tsanom_polyfit_model, tss) == 64, "model");
_Static_assert(offsetof(tsanom_polyfit_model, r2) == 72, "model");
_Static_assert(offsetof(tsanom_polyfit_model, adjusted_r2) == 80, "model");
_Static_assert(offsetof(tsanom_polyfit_model, residual_sd) == 88, "model");
_Static_assert(offsetof(tsanom_polyfit_model, condition) == 96, "model");
_Static_assert(offsetof(tsanom_polyfit_model, aicc) == 104, "model");
_Static_assert(offsetof(tsanom_polyfit_model, bic) == 112, "model");
_Static_assert(offsetof(tsanom_polyfit_model, high) == 120, "model");
_Static_assert(offsetof(tsanom_polyfit_model, low) == 632, "model");
_Static_assert(offsetof(tsanom_polyfit_model, sd) == 1144, "model");
_Static_assert(offsetof(tsanom_polyfit_model, monomial) == 1656, "model");
_Static_assert(offsetof(tsanom_polyfit_model, monomial_sd) == 2168, "model");
_Static_assert(offsetof(tsanom_polyfit_model, degree_rss) == 2680, "model");
_Static_assert(sizeof(tsanom_polyfit_model) == 3192, "model");
#endif
