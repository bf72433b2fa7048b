/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSANOM_COMMAND_WATCH_JSON_H
#define TSANOM_COMMAND_WATCH_JSON_H

#include "watch_list.h"

/* Print run `i` as an object in one line. */
int watch_print_json(const watch_list *list, size_t i, failure *why);

#endif
