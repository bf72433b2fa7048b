/* SPDX-License-Identifier: BSD-3-Clause */
/* For kernel files: one vector register at the level that the file is compiled
 * for, as GCC/Clang vectors, and the minimum and maximum that these lack in C.
 * In every lane they answer b where a and b are equal or not ordered, as the
 * x86 instructions do. */
#ifndef TSN_CORE_VECTOR_H
#define TSN_CORE_VECTOR_H

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#if defined(__AVX512F__)
#define TSN_VECTOR_BYTES 64
#define TSN_X86(name, suffix) _mm512_##name##_##suffix
#elif defined(__AVX__)
#define TSN_VECTOR_BYTES 32
#define TSN_X86(name, suffix) _mm256_##name##_##suffix
#else
#define TSN_VECTOR_BYTES 16
#define TSN_X86(name, suffix) _mm_##name##_##suffix
#endif

typedef double tsn_f64 __attribute__((vector_size(TSN_VECTOR_BYTES)));
typedef float tsn_f32 __attribute__((vector_size(TSN_VECTOR_BYTES)));

/* The same in memory, at the address of any element. */
typedef double tsn_f64_at __attribute__((vector_size(TSN_VECTOR_BYTES), aligned(8)));
typedef float tsn_f32_at __attribute__((vector_size(TSN_VECTOR_BYTES), aligned(4)));

#if defined(__x86_64__)
#define TSN_EXTREMUM(name, type, suffix, sign) \
  static inline type name(type a, type b) {    \
    return (type)TSN_X86(sign, suffix)(a, b);  \
  }
#else
#define TSN_EXTREMUM(name, type, suffix, sign)              \
  static inline type name(type a, type b) {                 \
    for (unsigned k = 0; k < sizeof a / sizeof a[0]; k++) { \
      b[k] = TSN_BEFORE_##sign(a[k], b[k]) ? a[k] : b[k];   \
    }                                                       \
    return b;                                               \
  }
#define TSN_BEFORE_min(a, b) ((a) < (b))
#define TSN_BEFORE_max(a, b) ((a) > (b))
#endif

TSN_EXTREMUM(tsn_min_f64, tsn_f64, pd, min)
TSN_EXTREMUM(tsn_max_f64, tsn_f64, pd, max)
TSN_EXTREMUM(tsn_min_f32, tsn_f32, ps, min)
TSN_EXTREMUM(tsn_max_f32, tsn_f32, ps, max)

#endif
