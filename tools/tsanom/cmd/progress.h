/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSANOM_COMMAND_PROGRESS_H
#define TSANOM_COMMAND_PROGRESS_H

#include <stdint.h>

/* Poll of an execution: shows progress on standard error, from the third second on and
 * then once per second. */
int32_t progress_show(void *user, uint64_t done, uint64_t total);

#endif
