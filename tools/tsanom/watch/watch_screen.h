/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSANOM_COMMAND_WATCH_SCREEN_H
#define TSANOM_COMMAND_WATCH_SCREEN_H

#include "watch_list.h"

/* Print the states of the runs and their anomalies on the terminal, over the `lines` that
 * the last call printed, which is updated. Returns -1 without memory. */
int watch_screen_draw(size_t *lines, const watch_list *list, failure *why);

#endif
