/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSANOM_COMMAND_SPEEDUP_PLOT_H
#define TSANOM_COMMAND_SPEEDUP_PLOT_H

#include <tsanom/speedup.h>

#include "failure.h"

/* Draw those of the iterations that are of the loop, by their numbers of threads. `name`
 * is that of its first region. */
int speedup_plot(const char *path, const tsanom_speedup_loop *loop, const char *name,
                 const tsanom_speedup_iteration *iteration, size_t iterations,
                 failure *why);

#endif
