/* SPDX-License-Identifier: BSD-3-Clause */
/* Vectors of `real` as wide as the level has them, for dtw_kernel.c.
 *
 *   level        base (SSE2)   v3 (AVX2)   v4 (AVX-512)
 *   double       2 lanes       4           8
 *   float        4 lanes       8           16
 *
 * What the vector extensions of gcc and clang do well is written with them: sums,
 * differences, loads and stores. Selection, absolute value, comparison to bits and
 * shifts across lanes have intrinsics where a level has an instruction that the
 * compilers do not find by themselves. Each has a form in plain C as well, so that a
 * machine without these intrinsics computes the same bits. */
#ifndef TSN_DTW_VECTOR_H
#define TSN_DTW_VECTOR_H

#include <stddef.h>

#include "core/vector.h"
#include "dtw/dtw_precision.h"

enum { VECTOR_BYTES = TSN_VECTOR_BYTES, LANES = VECTOR_BYTES / (int)sizeof(real) };

#define UNROLL TSN_UNROLL

/* Before a loop that compilers would unroll to gain little. */
#define ROLLED _Pragma("GCC unroll 1")

#ifdef TSN_F32
typedef tsn_f32 vec;
typedef tsn_f32_at loose_vec;
#define vec_min tsn_min_f32
#define vec_max tsn_max_f32
#else
typedef tsn_f64 vec;
typedef tsn_f64_at loose_vec;
#define vec_min tsn_min_f64
#define vec_max tsn_max_f64
#endif

/* The smaller of two cells. Cells are sums of squares, magnitudes and penalties, never
 * negative nor -0, and infinite samples have an infinite difference, so that none is NaN:
 * the order of cells, infinity included, is that of their bits. Each cell waits for such a
 * minimum. In single precision that of integers takes 1 cycle, that of floating-point
 * numbers 4 on Intel; in double precision Intel gains nothing (dtw_staggered.h). */
#if defined(__AVX2__) && defined(TSN_F32)
static inline vec vec_least(vec a, vec b) {
  return (vec)tsn_min_u32((tsn_u32)a, (tsn_u32)b);
}
#else
#define vec_least vec_min
#endif

/* Steps, in lanes as wide as those of `vec`: the result of a comparison of ticks then
 * is a mask for cells without a conversion. */
typedef tick ticks __attribute__((vector_size(VECTOR_BYTES)));

/* The bits of a vector. */
#ifdef TSN_F32
typedef int32_t bits __attribute__((vector_size(VECTOR_BYTES)));
#define SIGN_OFF INT32_MAX
#else
typedef int64_t bits __attribute__((vector_size(VECTOR_BYTES)));
#define SIGN_OFF INT64_MAX
#endif

/* Vectors at the address of any element: columns of a strip begin anywhere. */
static inline vec vec_load(const real *from) {
  return *(const loose_vec *)from;
}

static inline void vec_store(real *to, vec v) {
  *(loose_vec *)to = v;
}

/* Windows are arrays of whole vectors from an arena, which aligns them. */
static inline ticks ticks_load(const tick *from) {
  return *(const ticks *)from;
}

static inline vec vec_all(real value) {
  return value - (vec){0}; /* compilers make a broadcast of it */
}

static inline ticks ticks_all(tick value) {
  return value - (ticks){0};
}

/* |a|, and in each lane `yes` where now >= from.
 *
 * With AVX-512 the comparison yields a mask register, and the blend merges into the
 * instruction before it: a window costs one operation for a vector of cells. AVX2
 * has only "greater" for integers, hence the exchanged operands in single precision. */
#if defined(__AVX512F__) && defined(TSN_F32)
#define vec_abs(a) ((vec)_mm512_abs_ps((__m512)(a)))
#define vec_select_not_before(now, from, yes, no)                                      \
  ((vec)_mm512_mask_blend_ps(_mm512_cmpge_epi32_mask((__m512i)(now), (__m512i)(from)), \
                             (__m512)(no), (__m512)(yes)))
#elif defined(__AVX512F__)
#define vec_abs(a) ((vec)_mm512_abs_pd((__m512d)(a)))
#define vec_select_not_before(now, from, yes, no)                                     \
  ((vec)_mm512_mask_blend_pd(                                                         \
      _mm512_cmp_pd_mask((__m512d)(now), (__m512d)(from), _CMP_GE_OQ), (__m512d)(no), \
      (__m512d)(yes)))
#elif defined(__AVX2__) && defined(TSN_F32)
#define vec_select_not_before(now, from, yes, no)     \
  ((vec)_mm256_blendv_ps((__m256)(yes), (__m256)(no), \
                         (__m256)_mm256_cmpgt_epi32((__m256i)(from), (__m256i)(now))))
#elif defined(__AVX2__)
#define vec_select_not_before(now, from, yes, no)       \
  ((vec)_mm256_blendv_pd((__m256d)(no), (__m256d)(yes), \
                         _mm256_cmp_pd((__m256d)(now), (__m256d)(from), _CMP_GE_OQ)))
#endif

/* The absolute value clears the sign bit; a selection is two ANDs and an OR. */
#ifndef vec_abs
static inline vec vec_abs(vec a) {
  return (vec)((bits)a & SIGN_OFF);
}
#ifndef vec_select_not_before
static inline vec vec_select_not_before(ticks now, ticks from, vec yes, vec no) {
  bits mask = (bits)(now >= from);
  return (vec)(((bits)yes & mask) | ((bits)no & ~mask));
}
#endif
#endif

/* Bit k: a < b in lane k. Only the sign bit of each lane of a mask counts, which is
 * what movemask collects. */
#if defined(__AVX512F__) && defined(TSN_F32)
#define vec_bits_less(a, b) _mm512_cmp_ps_mask((__m512)(a), (__m512)(b), _CMP_LT_OQ)
#elif defined(__AVX512F__)
#define vec_bits_less(a, b) _mm512_cmp_pd_mask((__m512d)(a), (__m512d)(b), _CMP_LT_OQ)
#elif defined(__x86_64__) && defined(TSN_F32)
#define vec_bits_less(a, b) ((unsigned)TSN_X86(movemask, ps)((vec)((a) < (b))))
#elif defined(__x86_64__)
#define vec_bits_less(a, b) ((unsigned)TSN_X86(movemask, pd)((vec)((a) < (b))))
#else
static inline unsigned vec_bits_less(vec a, vec b) {
  unsigned less = 0;
  for (unsigned k = 0; k < LANES; k++) less |= (unsigned)(a[k] < b[k]) << k;
  return less;
}
#endif

/* LANES bits of each of two masks in CHOICE_BYTES, the first mask first:
 *
 *   LANES     2          4          8           16
 *   bytes     1          1          2           4
 *   bits      ....ssff   ssssffff   8 f, 8 s    16 f, 16 s
 *
 * (f: first mask, s: second; the highest bit of a byte is on the left, bytes ascend).
 * Two lanes take as much as four, since a byte is the smallest unit that is stored
 * without reading it first: 4 bits a cell instead of 2. */
enum { CHOICE_BYTES = LANES < 4 ? 1 : LANES / 4 };

static inline void vec_store_choice(unsigned char *to, unsigned first, unsigned second) {
#if defined(__AVX512F__) && defined(TSN_F32)
  _store_mask16((__mmask16 *)to, (__mmask16)first);
  _store_mask16((__mmask16 *)(to + 2), (__mmask16)second);
#else
  if (LANES == 8) {
    to[0] = (unsigned char)first;
    to[1] = (unsigned char)second;
  } else {
    to[0] = (unsigned char)(first | second << LANES);
  }
#endif
}

/* The LANES elements of a followed by b, from element 1 on:
 *
 *   a0 a1 a2 a3 | b0 b1 b2 b3   ->   a1 a2 a3 b0
 *
 * In a strip this gives each block what the block above it passed down, and the top
 * block, in the last lane, b0. */
static inline vec vec_shift_up(vec a, vec b) {
#if defined(__AVX512F__) && defined(TSN_F32)
  return (vec)_mm512_alignr_epi32((__m512i)b, (__m512i)a, 1);
#elif defined(__AVX512F__)
  return (vec)_mm512_alignr_epi64((__m512i)b, (__m512i)a, 1);
#elif defined(__AVX2__) && defined(TSN_F32)
  return TSN_SHUFFLE(a, b, 1, 2, 3, 4, 5, 6, 7, 8);
#elif defined(TSN_F32)
  vec mixed = TSN_SHUFFLE(a, b, 4, 1, 2, 3); /* gcc sees two steps only */
  return TSN_SHUFFLE(mixed, mixed, 1, 2, 3, 0);
#elif defined(__AVX2__)
  return TSN_SHUFFLE(a, b, 1, 2, 3, 4);
#else
  return TSN_SHUFFLE(a, b, 1, 2);
#endif
}

/* The same from the last element of a on:
 *
 *   a0 a1 a2 a3 | b0 b1 b2 b3   ->   a3 b0 b1 b2 */
static inline vec vec_shift_down(vec a, vec b) {
#if defined(__AVX512F__) && defined(TSN_F32)
  return (vec)_mm512_alignr_epi32((__m512i)b, (__m512i)a, 15);
#elif defined(__AVX512F__)
  return (vec)_mm512_alignr_epi64((__m512i)b, (__m512i)a, 7);
#elif defined(__AVX2__) && defined(TSN_F32)
  return TSN_SHUFFLE(a, b, 7, 8, 9, 10, 11, 12, 13, 14);
#elif defined(TSN_F32)
  vec mixed = TSN_SHUFFLE(b, b, 3, 0, 1, 2);
  return TSN_SHUFFLE(mixed, TSN_SHUFFLE(a, a, 3, 0, 1, 2), 4, 1, 2, 3);
#elif defined(__AVX2__)
  return TSN_SHUFFLE(a, b, 3, 4, 5, 6);
#else
  return TSN_SHUFFLE(a, b, 1, 2);
#endif
}

#endif
