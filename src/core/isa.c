/* SPDX-License-Identifier: BSD-3-Clause */
/* Which instruction-set levels this machine has. */
#include "core/isa.h"

#include <stdatomic.h>

#define BIT(level) (1u << (level))

/* v3 and v4 are the levels of the x86-64 psABI as far as kernels use them; a level
 * includes the ones below it. The builtin also asks whether the system saves the
 * registers. */
static unsigned detect_levels(void) {
  unsigned levels = BIT(TSANOM_ISA_BASE);
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("bmi2")) {
    levels |= BIT(TSANOM_ISA_V3);
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl")) {
      levels |= BIT(TSANOM_ISA_V4);
    }
  }
#endif
  return levels;
}

/* A cache of a constant of the machine: threads that race here all store the
 * same word. */
static unsigned available_levels(void) {
  static _Atomic unsigned cached;
  unsigned levels = atomic_load_explicit(&cached, memory_order_relaxed);
  if (levels == 0) {
    levels = detect_levels();
    atomic_store_explicit(&cached, levels, memory_order_relaxed);
  }
  return levels;
}

int32_t tsanom_isa_available(int32_t isa) {
  if (isa == TSANOM_ISA_AUTO) return 1;
  return isa >= TSANOM_ISA_BASE && isa <= TSANOM_ISA_V4 &&
         (available_levels() & BIT(isa)) != 0;
}

int32_t tsanom_isa_best(void) {
  return 31 - __builtin_clz(available_levels()); /* the highest bit */
}

bool tsn_isa_minimum_of_bits_is_fast(void) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  return __builtin_cpu_is("amd") != 0;
#else
  return false;
#endif
}
