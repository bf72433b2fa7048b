/* SPDX-License-Identifier: BSD-3-Clause */
/* The programs and libraries in which code addresses lie. */
#ifndef TSN_INTERCEPT_MODULES_H
#define TSN_INTERCEPT_MODULES_H

#include <limits.h>
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

#endif
