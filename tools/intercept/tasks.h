/* SPDX-License-Identifier: BSD-3-Clause */
/* Explicit tasks and chunks of loops, as the front ends report them. */
#ifndef TSN_INTERCEPT_TASKS_H
#define TSN_INTERCEPT_TASKS_H

#include <stdint.h>

/* The calling thread creates a task of this function. Returns the number of its runtime.
 */
uint16_t icp_task(const void *function, int family);

/* The calling thread takes a chunk of a loop that the runtime distributes. */
void icp_chunk(void);

#endif
