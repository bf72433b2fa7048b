/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSANOM_COMMAND_LAUNCHER_H
#define TSANOM_COMMAND_LAUNCHER_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include "report.h"

/* tsanom record; argv[0] = "tsanom record". Returns an exit status if the program could
 * not be started. */
int command_record(int argc, char **argv);

/* Finds a file that belongs to this program. `relative` holds `count` directories,
 * relative to the directory of the running program: first the installed place, then the
 * one in the build tree. */
int find_companion(const char *const *relative, size_t count, const char *name,
                   char path[PATH_MAX], failure *why);

#endif
