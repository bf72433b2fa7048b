/* SPDX-License-Identifier: BSD-3-Clause */
/* The precision a file of this room is compiled for. Each is written once, in
 * terms of `real` and NAME(), and compiled twice: X_f32.c defines TSN_DTW_F32 and
 * includes X.c. */
#ifndef TSN_DTW_REAL_H
#define TSN_DTW_REAL_H

#include <stdint.h>

#ifdef TSN_DTW_F32
typedef float real;
typedef int32_t tick; /* a step of a sweep; compares in lanes as wide as real's */
#define NAME(name) name##_f32
#else
typedef double real;
typedef double tick; /* exact, and compares at every level, unlike int64_t */
#define NAME(name) name
#endif

#endif
