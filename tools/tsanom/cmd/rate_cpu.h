/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSANOM_COMMAND_RATE_CPU_H
#define TSANOM_COMMAND_RATE_CPU_H

#include "command.h"

/* tsanom rate --cpu; returns the exit status. */
int rate_cpu(shared_options *shared, int csv);

#endif
