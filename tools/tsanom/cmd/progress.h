/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSANOM_COMMAND_PROGRESS_H
#define TSANOM_COMMAND_PROGRESS_H

#include <stddef.h>
#include <stdint.h>

/* Poll of an execution: shows progress on standard error, from the third second on and
 * then once per second. */
int32_t progress_show(void *user, uint64_t done, uint64_t total);

/* One line of progress after `seconds`: a bar, the share, and the time left if the rest
 * takes as long as what is done. Without a total, which the end of a pipe does not
 * have: MiB read. */
void progress_text(char *text, size_t bytes, uint64_t done, uint64_t total,
                   double seconds);

#endif
