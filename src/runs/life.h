/* SPDX-License-Identifier: BSD-3-Clause */
/* Vital signs, state, name and end of a run of heartbeats, for the causes of hsa. */
#ifndef TSN_RUNS_LIFE_H
#define TSN_RUNS_LIFE_H

#include "runs/vital.h"

/* Whether the program has ended. */
bool tsn_life_is_over(const tsn_vitals *vitals, const tsn_channel *channel);

/* After beats and vital signs were shown, or what was read of them was discarded, which
 * may move them: let the run refer to them. */
void tsn_life_show(const tsn_vitals *vitals, const tsn_channel *channel,
                   tsn_beats *beats);

#endif
