/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSANOM_COMMAND_OPENMETRICS_H
#define TSANOM_COMMAND_OPENMETRICS_H

#include "watched.h"

/* Replace the file by the metrics of this look at all runs, as a whole. */
int openmetrics_write(const char *path, const watch_list *list, failure *why);

#endif
