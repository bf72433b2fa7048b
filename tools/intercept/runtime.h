/* SPDX-License-Identifier: BSD-3-Clause */
/* The OpenMP runtime of the program: its functions, behind ours of the same names. The
 * program's call comes to our definition because the preloaded library is searched
 * first; the original is what the search finds next. */
#ifndef TSN_INTERCEPT_RUNTIME_H
#define TSN_INTERCEPT_RUNTIME_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* A function that stands in front of another one; everything else is hidden. */
#define ENTRY __attribute__((visibility("default")))

/* Where the code of LLVM's runtime lies, if that is the program's. Its calls of its own
 * entry points are recognized by their return address. */
extern uintptr_t icp_runtime_code, icp_runtime_code_bytes;
void icp_find_runtime_code(void);

/* One comparison: an address below the code wraps to a large difference. */
static inline bool icp_in_runtime(const void *address) {
  return (uintptr_t)address - icp_runtime_code < icp_runtime_code_bytes;
}

/* The runtime's function of that name; NULL: it has none. */
void *icp_runtime_function(const char *name);

/* The same, of which there must be one: the program has called it, so that without it
 * nothing but abort() is left. Found once, and kept in *cache. */
void *icp_original(_Atomic(void *) *cache, const char *name);

/* dlsym() gives functions as pointers to data; POSIX has them convertible. */
#define TAKE(pointer, name)                                 \
  do {                                                      \
    void *found = icp_runtime_function(name);               \
    if (found) memcpy(&(pointer), &found, sizeof(pointer)); \
  } while (0)

/* Declare `real`, the original of the entry point in whose body it stands. */
#define REAL(result, name, ...)                                                \
  static _Atomic(void *) cache;                                                \
  void *original_address = atomic_load_explicit(&cache, memory_order_acquire); \
  if (__builtin_expect(!original_address, 0)) {                                \
    original_address = icp_original(&cache, name);                             \
  }                                                                            \
  result (*real)(__VA_ARGS__);                                                 \
  memcpy(&real, &original_address, sizeof real)

#endif
