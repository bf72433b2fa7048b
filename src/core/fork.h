/* SPDX-License-Identifier: BSD-3-Clause */
/* fork() copies only the thread that calls it. A library that uses threads must therefore
 * behave differently in the child: here, it computes on one thread. */
#ifndef TSN_CORE_FORK_H
#define TSN_CORE_FORK_H

#include <stdbool.h>

/* Whether this process, or an ancestor since the last exec, was forked from a process
 * that had several threads. GNU's OpenMP runtime then believes in a pool of threads that
 * fork() did not copy, and hangs in the first parallel region of more than one thread. */
bool tsn_fork_of_threads(void);

#endif
