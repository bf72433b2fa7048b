/* SPDX-License-Identifier: BSD-3-Clause */
/* Two commands, executed in turn until it is known whether they differ. */
#ifndef TSANOM_COMMAND_COMPARE_RUN_H
#define TSANOM_COMMAND_COMPARE_RUN_H

#include "compare.h"

/* Execute the commands by sh in the order ABBA ABBA ..., at most `pairs` times each, until
 * the time of both differs with significance, or differs by less than `threshold`
 * (0: only the former). "{}" in a command is the number of the pair. What the commands
 * print on standard output is dropped. A command that does not end with status 0 is a
 * failure. The runs get elapsed time, processor time and memory of each execution. */
int compare_run(const char *const command[2], size_t pairs, double threshold,
                run_sets *sets, comparison *c, failure *why);

#endif
