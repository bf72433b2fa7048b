/* SPDX-License-Identifier: BSD-3-Clause */
/* Which of the ranks of a job hang, and which wait for these. */
#ifndef TSANOM_COMMAND_WATCH_TEAM_H
#define TSANOM_COMMAND_WATCH_TEAM_H

#include "watched.h"

/* Judge the hangs of ranks that were looked at as those of threads that meet. The others
 * that are silent get the status and the cause TSANOM_HSA_WAITING. */
void watch_team_judge(watched *rank, size_t ranks);

#endif
