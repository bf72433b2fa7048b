/* SPDX-License-Identifier: BSD-3-Clause */
/* From ticks to seconds, also where the counter restarted. Usually a multiplication by
 * the tick; after a restart, epochs laid end to end (see timeline.c for the formulas). */
#ifndef TSN_RUNS_TIMELINE_H
#define TSN_RUNS_TIMELINE_H

#include "record/format.h"
#include "runs/memory.h"

/* Processors whose counters differ a little can put two records out of order. A record
 * is after a restart if it is more ticks than this before the record in front of it: 0.3
 * ms at 3 GHz. Less is taken as recorded. */
#define TSN_DISORDER (UINT64_C(1) << 20)

struct tsn_channel;

/* Seconds per tick of a counter that did not restart: nanoseconds between the header's
 * two pairs over the ticks between them. */
double tsn_timeline_tick(const tsn_run_header *header);

/* Whether the counter restarted, as far as what was read shows. In O(streams): the steps
 * back were noted when the records were read. */
bool tsn_timeline_restarted(const struct tsn_channel *channel);

/* Convert what the channel has read and not committed, by its tick. */
void tsn_timeline_convert(const struct tsn_channel *channel);

/* Convert all of a channel that has nothing committed and whose clock restarted. Sets its
 * tick and its restarts. False: out of memory. */
bool tsn_timeline_convert_epochs(struct tsn_channel *channel);

#endif
