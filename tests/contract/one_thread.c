/* SPDX-License-Identifier: BSD-3-Clause */
/* One thread opens no OpenMP region, neither in the library nor in OpenBLAS on
 * its behalf: what would open one in libgomp is counted here. */
#include <cblas.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contract/rooms.h"

static size_t regions, watched, seen, failures;

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
  regions++;
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

static int may_open;

void watch_begin(void) {
  regions = 0;
}

void watch_end(const char *call, tsanom_status status) {
  watched++;
  seen += regions;
  int opened = regions > 0 && !may_open;
  if (status < 0 || opened) {
    (void)fprintf(stderr, "%s\n  gave %s and opened %zu regions\n", call,
                  tsanom_status_name(status), regions);
    failures++;
  }
}

/* OpenBLAS's regions pass here too, or the silence of the rest means nothing. */
static void check_openblas(void) {
  enum { SIZE = 500 };
  double *a = calloc((size_t)SIZE * SIZE, sizeof *a);
  double *b = calloc((size_t)SIZE * SIZE, sizeof *b);
  if (!a || !b) abort();
  regions = 0;
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, SIZE, SIZE, SIZE, 1, a, SIZE, a,
              SIZE, 0, b, SIZE);
  if (regions == 0) {
    (void)fprintf(stderr, "a region of OpenBLAS was not seen\n");
    failures++;
  }
  free(a);
  free(b);
}

int main(void) {
  tsanom_exec exec;
  tsanom_exec_init(&exec, sizeof exec);
  check_openblas();
  call_rooms(NULL);
  exec.threads = 1;
  call_rooms(&exec);
  printf("%zu calls on one thread opened %zu regions\n", watched, seen);
  exec.threads = 2;
  may_open = 1;
  watched = seen = 0;
  call_rooms(&exec);
  printf("%zu calls on two threads opened %zu regions\n", watched, seen);
  if (seen == 0) {
    (void)fprintf(stderr, "a region of the library was not seen\n");
    failures++;
  }
  return failures > 0;
}
