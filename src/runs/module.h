/* SPDX-License-Identifier: BSD-3-Clause */
/* The file of a program or library: whether it is the one that was recorded, and which
 * addresses its symbols cover. Both decide whether a name from this file may be shown: a
 * wrong name misleads more than an address. */
#ifndef TSN_RUNS_MODULE_H
#define TSN_RUNS_MODULE_H

#include <link.h>
#include <stdbool.h>

#include "runs/source.h"

typedef struct {
  tsn_source source;
  ElfW(Ehdr) head;
} tsn_module;

/* Open an ELF file of this machine's class and byte order. False: it is none, or cannot
 * be opened; nothing is open then. */
bool tsn_module_open(tsn_module *module, const char *path);
void tsn_module_close(tsn_module *module);

/* Whether the file has the identity that was recorded; "-": it is not known. */
bool tsn_module_is(const tsn_module *module, const char *identity);

/* Whether a function symbol covers an address, as linked. */
bool tsn_module_covers(const tsn_module *module, uint64_t address);

#endif
