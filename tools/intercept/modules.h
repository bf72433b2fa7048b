/* SPDX-License-Identifier: BSD-3-Clause */
/* The programs and libraries in which code addresses lie, and what the loader would bind their
 * calls to if this library were not in front. */
#ifndef TSN_INTERCEPT_MODULES_H
#define TSN_INTERCEPT_MODULES_H

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { ICP_IDENTITY = 160 };

/* What is loaded at an address. Two modules are the same if `hash` is equal. */
typedef struct {
  uintptr_t base; /* subtracted from an address, gives the address as linked */
  uint64_t hash;  /* of `text` */
  /* Identity TAB path. Identity: "build-id:HEX"; of a module without one
   * "file:DEVICE:INODE:SECONDS.NANOSECONDS"; "-": unknown. */
  char text[ICP_IDENTITY + PATH_MAX];
} icp_module;

/* Calls the loader and waits for its locks: hold no lock that a constructor of a library
 * may wait for. */
void icp_module_at(uintptr_t address, icp_module *module);

/* A segment of code. One comparison shows whether an address lies in it: one below wraps
 * to a large difference. `bytes` becomes 0 when the code is unloaded. */
typedef struct {
  uintptr_t begin;
  _Atomic uintptr_t bytes;
} icp_code;

static inline bool icp_is_in(const icp_code *code, const void *address) {
  return (uintptr_t)address - code->begin <
         atomic_load_explicit(&code->bytes, memory_order_relaxed);
}

/* The segment that contains an address; without one, of 0 bytes. */
icp_code icp_code_at(const void *address);

/* The definition of `name` to which a call from the module at `address` is bound; NULL:
 * there is none. `prefix`: how the names of its family begin. *doubtful is set if it
 * could be either of two. */
void *icp_bound(const void *address, const char *name, const char *prefix,
                bool *doubtful);

/* The first definition of `name` in the loader's order but for ours, in any scope; NULL: no
 * module has one. It takes 5 KiB of stack. */
void *icp_defined(const char *name);

/* The C library's dlclose(), behind ours. */
int icp_dlclose(void *handle);

/* Whether the module at an address calls functions whose names begin so. */
bool icp_imports(const void *address, const char *prefix);

/* Weak references of all modules to functions of ours, whose names begin so, become as if there were
 * none, where dlsym(libraries, ...) does not find them either. */
void icp_clear_asked(void *libraries, const char *prefix);

/* The loader does not find this function of ours any more. */
void icp_hide(const void *function);

#endif
