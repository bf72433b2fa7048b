/* SPDX-License-Identifier: BSD-3-Clause */
/* The envelope of one ISA level and one precision. This file defines the vectors and the
 * constants; envelope_rows.h describes the algorithm. Which form is used, by the length
 * of the window w = 2r + 1 in rows of a vector:
 *
 *   w < 4 rows               envelope_narrow.h   no memory
 *   32 rows or more, v4      envelope_groups.h   groups of eight rows
 *   otherwise                envelope_blocks.h   blocks of w rows
 *
 * A long block fills the first-level cache, and nothing comes from memory while it is
 * scanned; groups keep an eighth of its rows. A million doubles at radius 1000
 * take 1.16 ns a sample by blocks and 1.05 by groups, 4096 doubles 0.96 and 0.79 (Xeon,
 * level v4). */
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
