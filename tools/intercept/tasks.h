/* SPDX-License-Identifier: BSD-3-Clause */
/* Explicit tasks and chunks of loops, as the front ends report them. */
#ifndef TSN_INTERCEPT_TASKS_H
#define TSN_INTERCEPT_TASKS_H

/* The calling thread creates a task of this function. */
void icp_task(const void *function);

/* The calling thread takes a chunk of a loop that the runtime distributes. */
void icp_chunk(void);

#endif
