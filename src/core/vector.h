/* SPDX-License-Identifier: BSD-3-Clause */
/* For kernel files: one vector register at the level that the file is compiled
 * for, as GCC/Clang vectors, and the minimum and maximum that these
 * lack in C. In every lane the extrema of floating point return b where a and b
 * are equal or not ordered, as the x86 instructions do: one operation then gives the
 * same bits at every level, of zeros and NaN, too.
 *
 * Arithmetic is written with the operators of these vectors, `a + b`; an intrinsic is
 * used only for what has no operator and is not recognized: extrema and permutations. */
#ifndef TSN_CORE_VECTOR_H
#define TSN_CORE_VECTOR_H

#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#if defined(__AVX512F__)
#define TSN_VECTOR_BYTES 64
#define TSN_X86(name, suffix) _mm512_##name##_##suffix
#define TSN_X86_INTEGERS(v) ((__m512i)(v))
#elif defined(__AVX__)
#define TSN_VECTOR_BYTES 32
#define TSN_X86(name, suffix) _mm256_##name##_##suffix
#define TSN_X86_INTEGERS(v) ((__m256i)(v))
#else
#define TSN_VECTOR_BYTES 16
#define TSN_X86(name, suffix) _mm_##name##_##suffix
#define TSN_X86_INTEGERS(v) ((__m128i)(v))
#endif

/* Before a loop over registers, rows or columns, whose number is constant: unroll it. An
 * array of vectors is in registers only if each index is a constant; -Os, at which the
 * base level is compiled, would keep the loop. With the checks of sanitizers or the
 * counters of coverage compilers take minutes for that. */
#ifdef TSN_ROLLED
#define TSN_UNROLL
#else
#define TSN_UNROLL _Pragma("GCC unroll 64")
#endif

typedef double tsn_f64 __attribute__((vector_size(TSN_VECTOR_BYTES)));
typedef float tsn_f32 __attribute__((vector_size(TSN_VECTOR_BYTES)));

typedef int64_t tsn_i64 __attribute__((vector_size(TSN_VECTOR_BYTES)));
typedef int32_t tsn_i32 __attribute__((vector_size(TSN_VECTOR_BYTES)));
typedef uint32_t tsn_u32 __attribute__((vector_size(TSN_VECTOR_BYTES)));
typedef int16_t tsn_i16 __attribute__((vector_size(TSN_VECTOR_BYTES)));

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

/* The lanes of v that are at most those of the limit, as bits; NaN is not. Compilers do not
 * make these instructions of the loop. */
static inline unsigned tsn_lanes_at_most(tsn_f64 v, tsn_f64 limit) {
#if defined(__AVX512F__)
  return _mm512_cmp_pd_mask((__m512d)v, (__m512d)limit, _CMP_LE_OQ);
#elif defined(__x86_64__)
  return (unsigned)TSN_X86(movemask, pd)((tsn_f64)(v <= limit));
#else
  unsigned bits = 0;
  for (unsigned k = 0; k < sizeof v / sizeof v[0]; k++) {
    bits |= (unsigned)(v[k] <= limit[k]) << k;
  }
  return bits;
#endif
}

static inline tsn_u32 tsn_min_u32(tsn_u32 a, tsn_u32 b) {
#if defined(__AVX2__)
  return (tsn_u32)TSN_X86(min, epu32)(TSN_X86_INTEGERS(a), TSN_X86_INTEGERS(b));
#else
  return b ^ ((a ^ b) & (tsn_u32)(a < b));
#endif
}

/* Of 16 bits every level has both. */
static inline tsn_i16 tsn_min_i16(tsn_i16 a, tsn_i16 b) {
#if defined(__x86_64__)
  return (tsn_i16)TSN_X86(min, epi16)(TSN_X86_INTEGERS(a), TSN_X86_INTEGERS(b));
#else
  return b ^ ((a ^ b) & (a < b));
#endif
}

static inline tsn_i16 tsn_max_i16(tsn_i16 a, tsn_i16 b) {
#if defined(__x86_64__)
  return (tsn_i16)TSN_X86(max, epi16)(TSN_X86_INTEGERS(a), TSN_X86_INTEGERS(b));
#else
  return b ^ ((a ^ b) & (a > b));
#endif
}

/* Compilers may load a value once for each of its uses. */
#if defined(__AVX512F__)
#define TSN_IN_REGISTER(v) __asm__("" : "+v"(v))
#elif defined(__x86_64__)
#define TSN_IN_REGISTER(v) __asm__("" : "+x"(v))
#else
#define TSN_IN_REGISTER(v) (void)(v)
#endif

/* The named lanes of a and b end to end; gcc before 12 has another builtin for it. */
#if defined(__clang__) || __GNUC__ >= 12
#define TSN_SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define TSN_SHUFFLE(a, b, ...)                         \
  __extension__({                                      \
    typedef __typeof__(_Generic((a)[0], double         \
                                : (int64_t)0, float    \
                                : (int32_t)0, default  \
                                : (a)[0])) tsn_lanes   \
        __attribute__((vector_size(sizeof(a))));       \
    __builtin_shuffle(a, b, (tsn_lanes){__VA_ARGS__}); \
  })
#endif

/* The second half of a and the first of b. */
#define TSN_MIDDLE_2(a, b) TSN_SHUFFLE(a, b, 1, 2)
#define TSN_MIDDLE_4(a, b) TSN_SHUFFLE(a, b, 2, 3, 4, 5)
#define TSN_MIDDLE_8(a, b) TSN_SHUFFLE(a, b, 4, 5, 6, 7, 8, 9, 10, 11)
#define TSN_MIDDLE_16(a, b) \
  TSN_SHUFFLE(a, b, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23)

static inline tsn_f64 tsn_middle_f64(tsn_f64 a, tsn_f64 b) {
#if TSN_VECTOR_BYTES == 64
  return TSN_MIDDLE_8(a, b);
#elif TSN_VECTOR_BYTES == 32
  return TSN_MIDDLE_4(a, b);
#else
  return TSN_MIDDLE_2(a, b);
#endif
}

static inline tsn_f32 tsn_middle_f32(tsn_f32 a, tsn_f32 b) {
#if TSN_VECTOR_BYTES == 64
  return TSN_MIDDLE_16(a, b);
#elif TSN_VECTOR_BYTES == 32
  return TSN_MIDDLE_8(a, b);
#else
  return TSN_MIDDLE_4(a, b);
#endif
}

/* Lanes by ... by + LANES - 1 of a and b end to end, 0 <= by < LANES. */
static inline tsn_f32 tsn_slide_f32(tsn_f32 a, tsn_f32 b, size_t by) {
#if defined(__AVX512F__)
  const tsn_i32 lanes = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  return (tsn_f32)_mm512_permutex2var_ps(a, (__m512i)(lanes + (int32_t)by), b);
#elif defined(__AVX2__)
  const tsn_i32 lanes = {0, 1, 2, 3, 4, 5, 6, 7};
  tsn_i32 from = lanes + (int32_t)by;
  __m256 of_a = _mm256_permutevar8x32_ps(a, (__m256i)from);
  __m256 of_b = _mm256_permutevar8x32_ps(b, (__m256i)from);
  return (tsn_f32)_mm256_blendv_ps(of_a, of_b, (__m256)(from > 7));
#else
  switch (by) {
    case 0:
      return a;
    case 1:
      return TSN_SHUFFLE(a, b, 1, 2, 3, 4);
    case 2:
      return TSN_SHUFFLE(a, b, 2, 3, 4, 5);
    default:
      return TSN_SHUFFLE(a, b, 3, 4, 5, 6);
  }
#endif
}

static inline tsn_f64 tsn_slide_f64(tsn_f64 a, tsn_f64 b, size_t by) {
#if defined(__AVX512F__)
  const tsn_i64 lanes = {0, 1, 2, 3, 4, 5, 6, 7};
  return (tsn_f64)_mm512_permutex2var_pd(a, (__m512i)(lanes + (int64_t)by), b);
#elif defined(__AVX2__)
  return (tsn_f64)tsn_slide_f32((tsn_f32)a, (tsn_f32)b, 2 * by);
#else
  return by == 0 ? a : TSN_SHUFFLE(a, b, 1, 2);
#endif
}

#endif
