/* SPDX-License-Identifier: BSD-3-Clause */
/* A region recorder. */
#ifndef TSN_RECORD_SPMD_INTERNAL_H
#define TSN_RECORD_SPMD_INTERNAL_H

#include <tsanom/record.h>

#include "core/arena.h"

enum { TSN_SPMD_UNSEEN = -2 };

typedef struct {
  int64_t time;   /* nanoseconds of visits that have ended */
  uint64_t calls; /* how many have */
  int64_t start;  /* of the outermost open visit */
  uint32_t open;  /* visits */
  int32_t parent; /* where it was first entered from; TSN_SPMD_UNSEEN */
} tsn_spmd_visits;

struct tsanom_spmd_recorder {
  tsn_object owner;
  size_t regions, depth, used;
  tsanom_spmd_counters *counters; /* NULL: none */
  int64_t made;                   /* elapsed time of its initialization */
  int32_t clock;
  int32_t mixed;          /* a region was entered from several */
  tsn_spmd_visits *visit; /* of each region */
  int32_t *stack;         /* the open regions, `used` of `depth` */
};

/* Check that a count is 1 ... most. */
tsanom_status tsn_spmd_check_count(const tsanom_exec *exec, const char *argument,
                                   size_t count, size_t most);

/* Note the counts at the outermost begin of a region, and add what they grew by at its
 * end. */
void tsn_spmd_count_begin(tsanom_spmd_counters *counters, size_t region);
void tsn_spmd_count_end(tsanom_spmd_counters *counters, size_t region);

size_t tsn_spmd_counted_events(const tsanom_spmd_counters *counters);
size_t tsn_spmd_counted_regions(const tsanom_spmd_counters *counters);

/* Whether the event was counted in all visits of the region; then its count. */
int tsn_spmd_counted(const tsanom_spmd_counters *counters, size_t event, size_t region,
                     uint64_t *count);

#endif
