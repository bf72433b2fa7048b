/* SPDX-License-Identifier: BSD-3-Clause */
/* The precision that a file is compiled for. CMake compiles some files of the module
 * twice: as they are, in double, and with -DTSN_F32, in float. The sources use plain
 * names; this header maps each symbol that exists in both precisions to its name with
 * the suffix _f32. Include it first. */
#ifndef TSN_LBKEOGH_PRECISION_H
#define TSN_LBKEOGH_PRECISION_H

#include <tsanom/lbkeogh.h>

#include "core/check.h"

#ifdef TSN_F32
typedef float real;
#define tsanom_lbkeogh_envelope tsanom_lbkeogh_envelope_f32
#define tsn_all_finite tsn_all_finite_f32
#define tsn_envelope_kernels tsn_envelope_kernels_f32
#define tsn_envelope_kernels_at tsn_envelope_kernels_f32_at
#define tsn_first_nonfinite tsn_first_nonfinite_f32
#else
typedef double real;
#endif

#endif
