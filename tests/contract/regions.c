/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions by which programs open parallel regions, in place of those of libgomp:
 * they count the call and pass it on. Those for regions that are a loop or sections at
 * the same time abort the program. */
#include "contract/regions.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t regions_opened;

/* gcc's call of libgomp, which OpenBLAS uses, and that of core/parallel.c: passed on, since
 * the threads wait for each other. */
typedef void parallel_call(void (*body)(void *), void *data, unsigned threads,
                           unsigned flags);
typedef void start_call(void (*body)(void *), void *data, unsigned threads);
parallel_call GOMP_parallel;
start_call GOMP_parallel_start;

static void *libgomp(const char *name) {
  void *symbol = dlsym(RTLD_NEXT, name);
  if (!symbol) abort();
  regions_opened++;
  return symbol;
}

void GOMP_parallel(void (*body)(void *), void *data, unsigned threads, unsigned flags) {
  parallel_call *real;
  void *symbol = libgomp("GOMP_parallel");
  memcpy(&real, &symbol, sizeof real);
  real(body, data, threads, flags);
}

void GOMP_parallel_start(void (*body)(void *), void *data, unsigned threads) {
  start_call *real;
  void *symbol = libgomp("GOMP_parallel_start");
  memcpy(&real, &symbol, sizeof real);
  real(body, data, threads);
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
