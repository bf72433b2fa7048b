/* SPDX-License-Identifier: BSD-3-Clause */
/* The explicit tasks of a recorded run, by their functions. */
#ifndef TSANOM_COMMAND_TASK_COUNTS_H
#define TSANOM_COMMAND_TASK_COUNTS_H

#include <jansson.h>

#include "region_stream.h"

/* A table, most tasks first; nothing without tasks. */
void task_counts_print(region_stream *s);
json_t *task_counts_json(region_stream *s);

#endif
