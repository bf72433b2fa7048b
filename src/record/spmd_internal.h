/* SPDX-License-Identifier: BSD-3-Clause */
/* A region recorder: its layout, shared by the files that record and write. Each
 * recorder belongs to one thread, so that nothing here is atomic. */
#ifndef TSN_RECORD_SPMD_INTERNAL_H
#define TSN_RECORD_SPMD_INTERNAL_H

#include <tsanom/record.h>

#include "core/arena.h"

/* The parent of a region that was never entered; TSANOM_SPMD_NONE is the parent of one
 * that was entered outside of any region. */
enum { TSN_SPMD_UNSEEN = -2 };

typedef struct {
  /* Nanoseconds of visits that have ended. Integers: sums of doubles would lose the
   * short visits of a long run. */
  int64_t time;
  /* Visits that have ended, inner ones of a recursive region included. */
  uint64_t calls;
  /* Of the outermost open visit. */
  int64_t start;
  /* Visits of this region that are open; above 1 where it is recursive. */
  uint32_t open;
  /* The region where it was first entered from; TSN_SPMD_UNSEEN. */
  int32_t parent;
} tsn_spmd_visits;

struct tsanom_spmd_recorder {
  tsn_object owner;
  size_t regions, depth, used;
  /* Elapsed time of its initialization: the beginning of the written `elapsed`. */
  int64_t made;
  int32_t clock;
  /* A region was entered from several others. The file has one parent for each region,
   * so the result is then partial. */
  int32_t mixed;
  tsn_spmd_visits *visit; /* of each region */
  int32_t *stack;         /* the open regions, `used` of `depth` */
};

#endif
