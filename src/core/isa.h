/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels built once per instruction-set level, and the choice among them.
 *
 * A module gathers its kernels in a struct of function pointers, say
 * tsn_dtw_kernels, and declares it in its kernel header by
 * TSN_KERNEL_TABLE(tsn_dtw_kernels). The kernel file is compiled once per level
 * with -DTSN_ISA=<level> and ends in the definition of
 * `const tsn_dtw_kernels TSN_LEVEL(tsn_dtw_kernels) = {...}`. The module selects the
 * table per call by tsn_dtw_kernels_at(exec->isa), so that every level can be tested on
 * one machine.
 *
 *   tsn_dtw_kernels_base   any x86-64 (SSE2), or any other machine
 *   tsn_dtw_kernels_v3     AVX2, FMA, BMI2
 *   tsn_dtw_kernels_v4     AVX-512 F, BW, CD, DQ, VL
 *
 * A table rather than ifunc or target_clones: these choose once per process, and only
 * some linkers and compilers have them. */
#ifndef TSN_CORE_ISA_H
#define TSN_CORE_ISA_H

#include <stdbool.h>
#include <tsanom/base.h>

/* Whether this processor executes the minimum of 64-bit integers with AVX-512 as one
 * operation in each of its vector pipes: those of AMD do; those of Intel need two
 * operations, which one pipe executes. */
bool tsn_isa_minimum_of_bits_is_fast(void);

#define TSN_PASTE(name, level) name##_##level
#define TSN_PASTE_EXPANDED(name, level) TSN_PASTE(name, level)
#define TSN_LEVEL(name) TSN_PASTE_EXPANDED(name, TSN_ISA)

#if defined(__x86_64__)
#define TSN_KERNEL_TABLE(type)                         \
  extern const type type##_base, type##_v3, type##_v4; \
  static inline const type *type##_at(int32_t isa) {   \
    return isa == TSANOM_ISA_V4   ? &type##_v4         \
           : isa == TSANOM_ISA_V3 ? &type##_v3         \
                                  : &type##_base;      \
  }                                                    \
  extern const type type##_base
#else
#define TSN_KERNEL_TABLE(type)                       \
  extern const type type##_base;                     \
  static inline const type *type##_at(int32_t isa) { \
    (void)isa;                                       \
    return &type##_base;                             \
  }                                                  \
  extern const type type##_base
#endif

#endif
