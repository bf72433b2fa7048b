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

/* Finds a program as execvp() does. */
int find_program(const char *name, char path[PATH_MAX], failure *why);

/* The run directory of a program for which none was given: "PROGRAM.run", with "-2",
 * "-3", ... if that exists. All ranks of an MPI program get the first name, and the
 * recorder chooses which of them is recorded. Returns `path`. */
const char *default_directory(const char *program, char path[PATH_MAX]);

/* Whether a launcher of ranks started this process, also as the only one. */
int is_rank(void);

/* Checks that a run can be created in the directory, which is created if necessary.
 * `path` receives its absolute path, because the program may change its directory. */
int check_directory(const char *directory, char path[PATH_MAX], failure *why);

/* Creates the page of messages in a directory that was checked, and prints what will be
 * recorded: the program's own output must not be mixed with ours later. */
void announce(const char *directory, int is_plain);

/* The place that --loop names by an address, or by a function of the program. */
enum { LOOP_BYTES = 512 };
int find_loop(const char *program, const char *text, char place[LOOP_BYTES],
              failure *why);

/* Warns if the loader will ignore LD_PRELOAD for this program: set-user-ID, set-group-ID
 * or file capabilities. */
void warn_if_privileged(const char *path);

/* Warns if the program is env(1) with -i, which removes LD_PRELOAD. */
void warn_if_environment_is_cleared(char *const *program);

/* Warns of the metrics, given by bits, that this machine does not count. */
void warn_of_metrics(uint32_t metrics);

#endif
