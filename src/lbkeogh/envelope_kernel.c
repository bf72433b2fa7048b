/* SPDX-License-Identifier: BSD-3-Clause */
/* The envelope in both precisions. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "core/vector.h"
#include "lbkeogh/lbkeogh_kernel.h"

/* What is called from two places and must not be called. */
#define INLINE static inline __attribute__((always_inline))

/* Rows at most that are made at a time where samples are made up. */
enum { MADE_ROWS = 32 };

/* Rows of a group, and of the windows for which groups pay: in registers of 64 bytes
 * only, since AVX2 and floats with SSE2 lose by them. */
enum { GROUP = 8, GROUPED_ROWS = 32 };

/* Bytes by which the output is fetched before it is written. */
enum { AHEAD = 2048 };

#define REAL double
#define NAME(name) name##_f64
#define NAME_AT tsn_f64_at
#include "lbkeogh/envelope_template.h"
#undef REAL
#undef NAME
#undef NAME_AT

#define REAL float
#define NAME(name) name##_f32
#define NAME_AT tsn_f32_at
#include "lbkeogh/envelope_template.h"
#undef REAL
#undef NAME
#undef NAME_AT

const tsn_envelope_kernels TSN_LEVEL(tsn_envelope_kernels) = {
    .finite = finite_f64,
    .finite_f32 = finite_f32,
    .envelope = envelope_f64,
    .envelope_f32 = envelope_f32,
};
