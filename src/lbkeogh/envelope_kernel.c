/* SPDX-License-Identifier: BSD-3-Clause */
/* The envelope of one ISA level and one precision. This file defines the vectors and the
 * constants; envelope_rows.h describes the algorithm. Windows of fewer than four rows of
 * a vector take no memory (envelope_narrow.h), which takes 0.53 to 0.55 of the time of
 * blocks at radius 1 (base) and 10 (v4, doubles; Zen 5); longer ones take blocks of as
 * many rows (envelope_blocks.h). */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "core/vector.h"
#include "lbkeogh/lbkeogh_kernel.h"

#ifdef TSN_F32
typedef tsn_f32 row;
typedef tsn_f32_at row_at;
#define row_min tsn_min_f32
#define row_max tsn_max_f32
#define row_middle tsn_middle_f32
#define row_slide tsn_slide_f32
#else
typedef tsn_f64 row;
typedef tsn_f64_at row_at;
#define row_min tsn_min_f64
#define row_max tsn_max_f64
#define row_middle tsn_middle_f64
#define row_slide tsn_slide_f64
#endif

/* Largest number of rows copied at a time where the series is continued. */
enum { MADE_ROWS = 32 };

#include "lbkeogh/envelope_rows.h"

const tsn_envelope_kernels TSN_LEVEL(tsn_envelope_kernels) = {
    .all_finite = all_finite,
    .envelope = envelope,
};
