/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSANOM_COMMAND_SYMBOL_H
#define TSANOM_COMMAND_SYMBOL_H

#include <stddef.h>
#include <stdint.h>

/* Start a program without a shell and read what it prints: a string to be freed;
 * NULL if it cannot be started or fails. Its complaints are dropped. */
char *output_of(char *const arguments[]);

/* What is at an address of a module as linked: "function (file.c:12)" as far as
 * addr2line tells, else "module+0xADDRESS". To be freed; NULL: out of memory. */
char *symbol_of(const char *module, uint64_t address);

#endif
