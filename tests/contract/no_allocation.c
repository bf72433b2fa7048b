/* SPDX-License-Identifier: BSD-3-Clause */
/* With a workspace nothing is allocated: not by the library, nor by LAPACKE or
 * the C library on its behalf. Every function of the heap is counted here. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <tsanom/dtw.h>

#include "contract/modules.h"

/* glibc's own, which its documentation names for programs that put theirs in
 * the place of malloc(). */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *block, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void *block);

static size_t touches, watched, failures;

void *malloc(size_t size) {
  touches++;
  return __libc_malloc(size);
}

void *calloc(size_t nmemb, size_t size) {
  touches++;
  return __libc_calloc(nmemb, size);
}

void *realloc(void *ptr, size_t size) {
  touches++;
  return __libc_realloc(ptr, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  touches++;
  return __libc_memalign(alignment, size);
}

void *memalign(size_t alignment, size_t size);
void *memalign(size_t alignment, size_t size) {
  touches++;
  return __libc_memalign(alignment, size);
}

int posix_memalign(void **memptr, size_t alignment, size_t size) {
  touches++;
  *memptr = __libc_memalign(alignment, size);
  return *memptr ? 0 : ENOMEM;
}

void free(void *ptr) {
  touches++;
  __libc_free(ptr);
}

void watch_begin(void) {
  touches = 0;
}

void watch_end(const char *call, tsanom_status status) {
  size_t found = touches;
  watched++;
  if (status < 0 || found > 0) {
    (void)fprintf(stderr, "%s\n  gave %s and touched the heap %zu times\n", call,
                  tsanom_status_name(status), found);
    failures++;
  }
}

/* Without a workspace the library takes one block and gives it back; for few samples it
 * takes none. */
static void check_counting(void) {
  double x[64] = {0, 1, 2}, distance;
  touches = 0;
  tsanom_status status = tsanom_dtw_distance(x, 64, x, 64, NULL, NULL, &distance);
  size_t found = touches;
  if (status < 0 || found != 2) {
    (void)fprintf(stderr, "a block taken and given back counted as %zu\n", found);
    failures++;
  }
}

int main(void) {
  check_counting();
  call_modules(NULL);
  printf("%zu calls\n", watched);
  return failures > 0;
}
