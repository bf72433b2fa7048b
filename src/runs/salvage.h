/* SPDX-License-Identifier: BSD-3-Clause */
/* Recovery of what is intact in a damaged channel, with options.salvage. The rules are
 * at docs/runs.md, "Salvage". */
#ifndef TSN_RUNS_SALVAGE_H
#define TSN_RUNS_SALVAGE_H

#include <tsanom/runs.h>

#include "runs/source.h"

struct tsn_channel;

/* The extent of the damage of one stream. */
typedef struct {
  /* Records, as far as it is known that they existed. */
  uint64_t skipped;
  /* Of damaged records, and of bytes behind the last record. */
  uint64_t ranges;
  /* Of the first range; meaningful if there is one. */
  uint64_t first_record;
  uint64_t first_offset;
  int32_t header; /* TSANOM_RUNS_HEADER_* */
} tsn_damage;

/* Read the intact records of stream `index`, which has none yet. `opened`: the status of
 * opening the file. A stream that cannot be used is left without records. */
tsanom_status tsn_salvage_stream(struct tsn_channel *channel, const tsn_source *source,
                                 tsanom_status opened, uint32_t index,
                                 unsigned char *buffer);

/* repair.c */

/* Repair a header whose checksum, the last 8 of `bytes`, is wrong because one byte of it
 * is damaged. False: it is not, or more than one byte is damaged. */
bool tsn_repair(unsigned char *header, size_t bytes);

#endif
