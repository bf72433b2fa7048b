/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSANOM_COMMAND_OPENMETRICS_H
#define TSANOM_COMMAND_OPENMETRICS_H

#include "onset.h"

/* Replace the file by the metrics of this look, as a whole. */
int openmetrics_write(const char *path, const watched *w, const onsets *o, failure *why);

#endif
