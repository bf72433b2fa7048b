/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSANOM_COMMAND_SYMBOL_H
#define TSANOM_COMMAND_SYMBOL_H

#include <stdint.h>

/* The name of an address of a module, as linked: "function (file.c:12)" if addr2line
 * finds it, otherwise "module+0xADDRESS". The caller frees it; NULL if memory is
 * exhausted. */
char *symbol_of(const char *module, uint64_t address);

#endif
