/* SPDX-License-Identifier: BSD-3-Clause */
/* The floating-point environment of a computation. Results are documented for rounding
 * to nearest with subnormal numbers; a caller may have set another rounding mode, or
 * flush-to-zero (FTZ) and denormals-are-zero (DAZ), on some of its threads only: the
 * threads of an OpenMP pool keep the environment in which the pool was created. So every
 * thread that computes enters the default environment and leaves it afterwards. The
 * registers are written only if they differ, since writing them stalls the pipeline. */
#ifndef TSN_CORE_ENVIRONMENT_H
#define TSN_CORE_ENVIRONMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/cleanup.h"

#if defined(__x86_64__)
#include <xmmintrin.h>

/* MXCSR, and the control word of the x87 unit, which computes long double. */
typedef struct {
  uint32_t sse;
  uint16_t x87;
} tsn_environment;

/* Without the exception flags: masks, rounding, FTZ, DAZ; rounding, precision. Flags are
 * raised by every inexact operation; comparing them would make all environments
 * unusual. */
enum {
  TSN_SSE_CONTROL = 0xFFC0,
  TSN_SSE_DEFAULT = 0x1F80,
  TSN_X87_CONTROL = 0x0F00,
  TSN_X87_DEFAULT = 0x037F
};

static inline bool tsn_environment_is_unusual(tsn_environment e) {
  uint32_t differs = ((e.sse ^ TSN_SSE_DEFAULT) & TSN_SSE_CONTROL) |
                     ((e.x87 ^ (uint32_t)TSN_X87_DEFAULT) & TSN_X87_CONTROL);
  return differs != 0;
}

static inline tsn_environment tsn_environment_read(void) {
  tsn_environment e = {.sse = _mm_getcsr()};
  __asm__ volatile("fnstcw %0" : "=m"(e.x87));
  return e;
}

static inline void tsn_environment_set(tsn_environment e) {
  _mm_setcsr(e.sse);
  __asm__ volatile("fldcw %0" : : "m"(e.x87) : "memory");
}

static const tsn_environment tsn_environment_default = {TSN_SSE_DEFAULT, TSN_X87_DEFAULT};

#elif defined(__aarch64__)

/* FPCR: rounding mode, flush-to-zero. */
typedef uint64_t tsn_environment;

static const tsn_environment tsn_environment_default = 0;

static inline bool tsn_environment_is_unusual(tsn_environment e) {
  return e != 0;
}

static inline tsn_environment tsn_environment_read(void) {
  tsn_environment e;
  __asm__ volatile("mrs %0, fpcr" : "=r"(e));
  return e;
}

static inline void tsn_environment_set(tsn_environment e) {
  __asm__ volatile("msr fpcr, %0" : : "r"(e) : "memory");
}

#else
#include <fenv.h>

typedef int tsn_environment; /* the rounding mode */

static const tsn_environment tsn_environment_default = FE_TONEAREST;

static inline bool tsn_environment_is_unusual(tsn_environment e) {
  return e != FE_TONEAREST;
}

static inline tsn_environment tsn_environment_read(void) {
  return fegetround();
}

static inline void tsn_environment_set(tsn_environment e) {
  (void)fesetround(e);
}

#endif

/* Returns the caller's environment, for tsn_environment_leave() on the same thread. */
static inline tsn_environment tsn_environment_enter(void) {
  tsn_environment before = tsn_environment_read();
  if (tsn_environment_is_unusual(before)) tsn_environment_set(tsn_environment_default);
  return before;
}

static inline void tsn_environment_leave(tsn_environment before) {
  if (tsn_environment_is_unusual(before)) tsn_environment_set(before);
}

static inline void tsn_environment_restore(const tsn_environment *before) {
  tsn_environment_leave(*before);
}

/* Around work that calls the caller's poll: to the end of the block. */
#define TSN_IN_ENVIRONMENT(name)       \
  TSN_CLEANUP(tsn_environment_restore) \
  const tsn_environment name = tsn_environment_enter()

#endif
