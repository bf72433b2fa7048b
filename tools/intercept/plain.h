/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the run of a program is that may come to a region or a call later: see plain.c. */
#ifndef TSN_INTERCEPT_PLAIN_H
#define TSN_INTERCEPT_PLAIN_H

#include <limits.h>
#include <stdbool.h>

/* What the process recorded until it executed this program, or came to a region, gets another
 * name. */
void icp_plain_put_aside(void);

/* Its directory, which is created; false: it cannot be, with an errno. */
bool icp_plain_directory(char directory[PATH_MAX]);

/* The run has ended with the program: it becomes the run that was asked for, unless another
 * process has begun that. */
void icp_plain_publish(void);

#endif
