/* SPDX-License-Identifier: BSD-3-Clause */
#include "contract/regions.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t regions_opened;

/* gcc's call of libgomp, passed on: OpenBLAS's threads wait for each other. */
typedef void parallel_call(void (*body)(void *), void *data, unsigned threads,
                           unsigned flags);
parallel_call GOMP_parallel;
void GOMP_parallel(void (*body)(void *), void *data, unsigned threads, unsigned flags) {
  static parallel_call *real;
  if (!real) {
    void *symbol = dlsym(RTLD_NEXT, "GOMP_parallel");
    if (!symbol) abort();
    memcpy(&real, &symbol, sizeof real);
  }
  regions_opened++;
  real(body, data, threads, flags);
}

/* Loops fused with their region: neither the library nor OpenBLAS has any. */
#define FUSED(name)                                        \
  void name(void);                                         \
  void name(void) {                                        \
    (void)fprintf(stderr, "%s: a parallel loop\n", #name); \
    abort();                                               \
  }
FUSED(GOMP_parallel_loop_static)
FUSED(GOMP_parallel_loop_dynamic)
FUSED(GOMP_parallel_loop_guided)
FUSED(GOMP_parallel_loop_runtime)
FUSED(GOMP_parallel_loop_nonmonotonic_dynamic)
FUSED(GOMP_parallel_loop_nonmonotonic_guided)
FUSED(GOMP_parallel_loop_nonmonotonic_runtime)
FUSED(GOMP_parallel_loop_maybe_nonmonotonic_runtime)
FUSED(GOMP_parallel_sections)
FUSED(GOMP_parallel_reductions)
FUSED(GOMP_parallel_start)
