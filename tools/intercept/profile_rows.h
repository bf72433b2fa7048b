/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of the file RUN/regions/profile: found by what they are of, and added. */
#ifndef TSN_INTERCEPT_PROFILE_ROWS_H
#define TSN_INTERCEPT_PROFILE_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "record/regions.h"

enum { ICP_ROWS_MOST = 1 << 16, ICP_NO_ROW = 0 };

/* What a row has besides, in memory. */
typedef struct {
  uint32_t next, latest; /* in its ring; of the rows in it */
  /* Of a region of a thread: what a computation has got of it, and the next in the list
   * of those of which the computation that goes on will get more. */
  uint64_t visits, elapsed;
  uint32_t pending;
  uint32_t unmeasured; /* visits since the latest with a processor time */
  bool is_pending;
  bool is_owned;     /* of a thread: by one that goes on */
  bool has_no_beats; /* of a thread: there is no space for its beats, */
  uint32_t beats;    /* which begin in this row */
} icp_row_links;

/* Row 0 is the header; NULL: there is no file. */
extern tsn_regions_row *icp_rows;
extern icp_row_links icp_links[ICP_ROWS_MOST];

/* Create the file. */
void icp_rows_create(void);

/* The row of a place in another row, added if needed; ICP_NO_ROW: there is no space. */
uint32_t icp_row_in(uint32_t parent, uint32_t kind, uint32_t place);

/* Rows of a thread of that number that has ended, else new ones. The calling thread owns
 * them until it ends. */
uint32_t icp_row_of_thread(uint32_t number, bool watched);

/* Rows one behind the other in the row of a thread: the first, or ICP_NO_ROW. */
uint32_t icp_rows_of_beats(uint32_t root, uint32_t count);

#endif
