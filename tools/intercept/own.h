/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of a thread, besides the few words of icp_me. Static TLS lies on the stacks of
 * the program's threads, which may be of 16 KiB: this does not. It is mapped when the
 * thread comes to its first region or call, and serves another thread when that one ends. */
#ifndef TSN_INTERCEPT_OWN_H
#define TSN_INTERCEPT_OWN_H

#include <stddef.h>
#include <stdint.h>

#include "thread.h"

/* The calling thread's memory for a part, zeros at first. NULL: the system gives none. A
 * few instructions after the first time; safe in a signal handler. */
void *icp_own_part(int part, size_t bytes);

/* Give the calling thread its icp_own. */
void icp_own_make(void);

/* A number for a thread that is neither watched nor in a team, above those of teams. The
 * number of a thread that has ended is used again, and with it its streams. */
uint32_t icp_foreign_number(void);

/* Before the first thread has memory: notice the ends of threads. */
void icp_own_start(void);

#endif
