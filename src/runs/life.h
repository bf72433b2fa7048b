/* SPDX-License-Identifier: BSD-3-Clause */
/* Vital signs, state, name and end of a run of heartbeats, for the causes of hsa. */
#ifndef TSN_RUNS_LIFE_H
#define TSN_RUNS_LIFE_H

#include "runs/beats.h"

/* TSANOM_RUN_* of the program; unknown without a header. */
int32_t tsn_life_state(const tsn_vitals *vitals, const tsn_channel *channel);

/* Whether the program has ended, by what is read of a channel. */
bool tsn_life_is_over(const tsn_vitals *vitals, const tsn_channel *channel);

/* After beats and vital signs were shown, or what was read of them was discarded, which
 * may move them: let the run refer to them. */
void tsn_life_show(const tsn_vitals *vitals, const tsn_channel *channel,
                   tsn_beats *beats);

/* What the kernel knows now of the thread that was sampled last under a number; false: it is
 * gone, or on another machine. `run`: as it was shown. */
bool tsn_life_sample(const tsn_vitals *vitals, const tsn_channel *channel,
                     const tsanom_hsa_run *run, size_t thread, tsanom_hsa_vital *sample);

#endif
