/* SPDX-License-Identifier: BSD-3-Clause */
/* What the preloaded recorders, which are linked with this library, ask it besides its
 * public functions. */
#ifndef TSN_RECORD_INSIDE_H
#define TSN_RECORD_INSIDE_H

#include <tsanom/record.h>

#include "record/format.h"

/* The clock of a run, TSANOM_HEARTBEAT_CLOCK_*, and its time 0. */
int32_t tsn_record_clock(const tsanom_record *record, tsn_moment *first);

#endif
