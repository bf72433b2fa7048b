/* SPDX-License-Identifier: BSD-3-Clause */
/* The envelope in both precisions. */
#include <stdint.h>
#include <string.h>

#include "core/vector.h"
#include "lbkeogh/lbkeogh_kernel.h"

/* Rows of one pass through the first-level cache. With what is spare, minima
 * and maxima lie an odd multiple of 2048 bytes apart: at a multiple of 4096 the
 * stores of one would delay the loads of the other. */
enum { SPARE = 4, TILE = 6144 / TSN_VECTOR_BYTES - SPARE };

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
    .envelope = envelope_f64,
    .envelope_f32 = envelope_f32,
};
