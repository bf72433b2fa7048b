/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSANOM_COMMAND_ALARM_H
#define TSANOM_COMMAND_ALARM_H

#include <tsanom/watch.h>

/* Whether an anomaly is one of the program: contention comes from others, and a run that
 * waits, or that cannot be judged, is not the cause of anything. A thread that is slow
 * because it waits for a processor is no alarm either. */
int is_alarm(const tsanom_hsa_anomaly *a);

#endif
