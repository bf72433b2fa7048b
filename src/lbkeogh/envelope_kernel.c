/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
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

/* Force inlining: GCC keeps functions with two call sites out of line. */
#define INLINE static inline __attribute__((always_inline))

/* Largest number of rows copied at a time where the series is continued. */
enum { MADE_ROWS = 32 };

/* Rows of a group, and of the shortest windows for which groups are faster. They are in
 * registers of 64 bytes only: with AVX2 groups are slower by up to four fifths in the
 * cache, and so are floats with SSE2 (docs/lbkeogh.md). */
enum { GROUP = 8, GROUPED_ROWS = 32 };

/* Distance in bytes at which the output is prefetched. */
enum { AHEAD = 2048 };

#include "lbkeogh/envelope_rows.h"

const tsn_envelope_kernels TSN_LEVEL(tsn_envelope_kernels) = {
    .all_finite = all_finite,
    .envelope = envelope,
};
