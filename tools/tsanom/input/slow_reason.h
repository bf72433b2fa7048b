/* SPDX-License-Identifier: BSD-3-Clause */
/* Why iterations are slow. */
#ifndef TSANOM_COMMAND_SLOW_REASON_H
#define TSANOM_COMMAND_SLOW_REASON_H

#include "slow.h"

/* Fill the reason of finding `index`, its seconds and its page faults, by the samples of
 * its thread. */
void slow_find_reason(const iterations *it, const slow_series *series, size_t index,
                      slow_iterations *s);

#endif
