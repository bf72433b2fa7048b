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

/* A segment of code. One comparison shows whether an address lies in it: one below wraps
 * to a large difference. */
typedef struct {
  uintptr_t begin, bytes;
} icp_code;

static inline bool icp_is_in(const icp_code *code, const void *address) {
  return (uintptr_t)address - code->begin < code->bytes;
}

/* Where the code of LLVM's runtime lies, if that is the program's, and that of this
 * library. The runtime's calls of its own entry points, and tail calls of the program's
 * functions, are recognized by their return address. */
extern icp_code icp_runtime_code, icp_own_code;
void icp_find_code(void);

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
