/* SPDX-License-Identifier: BSD-3-Clause */
/* A caller that flushes denormal numbers to zero. */
#ifndef TSANOM_TEST_FLUSH_H
#define TSANOM_TEST_FLUSH_H

#include <stdbool.h>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

/* Sets or clears flush-to-zero and denormals-are-zero of this thread, where there are such. */
static inline void flush_denormals(bool flushes) {
#if defined(__x86_64__)
  enum { BOTH = 0x8040 };
  _mm_setcsr(flushes ? _mm_getcsr() | BOTH : _mm_getcsr() & ~(unsigned)BOTH);
#else
  (void)flushes;
#endif
}

/* Twice, the second time with both: `k` is 0, then 1. */
#define WITH_AND_WITHOUT_DENORMALS(k) for (int k = 0; k < 2; flush_denormals(++k == 1))

#endif
