/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSANOM_COMMAND_PERIOD_PLOT_H
#define TSANOM_COMMAND_PERIOD_PLOT_H

#include "period_stream.h"

/* Draw d(m) at the end of a stream, and the stream before its end with a mark where
 * each period of a segment starts; after periods_finish(). */
int period_plot(const period_stream *s, const char *path, failure *why);

#endif
