/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations shared by the parts of the search: search.c has steps 1, 2, 4 and 5,
 * combine.c step 3. */
#ifndef TSN_SPMD_SEARCH_H
#define TSN_SPMD_SEARCH_H

#include "spmd/spmd_internal.h"

/* A search in progress. The classes of step 1 and eps' do not change during it. */
typedef struct {
  const tsn_spmd_input *input;
  tsn_spmd_buffers *b;
  tsanom_spmd_report *report;
  size_t outermost;     /* regions of hierarchy 1 */
  uint64_t tried;       /* re-clusterings, for the poll */
  size_t left;          /* combinations that may still be tried */
  int exponent;         /* of the scale of the points */
  bool is_unknown;      /* one measurement of few processes cannot tell */
  tsn_spmd_apart apart; /* the classes of step 1 */
  tsn_spmd_pairs pairs; /* of the same, if they are too many for that */
  uint64_t compared;    /* distances that step 1 computed, about */
} tsn_spmd_searcher;

/* Re-cluster and record; `member` are the regions tried. Returns whether what was tried
 * is critical: regions left out are, if the classes changed; regions put in place of the
 * one around them are, if the classes did not change. */
bool tsn_spmd_decide(tsn_spmd_searcher *s, int32_t step, int32_t level,
                     const uint32_t *member, size_t count);

/* Whether the poll ended the search. It is called before each re-clustering; the total is
 * an estimate, at least one for each region, as the length of the search is not known. */
bool tsn_spmd_stopped(tsn_spmd_searcher *s);

/* combine.c */

/* Step 3: combinations of the outermost regions are left out. */
void tsn_spmd_combine_outermost(tsn_spmd_searcher *s);

/* Step 3 within a region: combinations of the `count` regions that are candidates, nested
 * directly in one, take its place together. Returns the number of critical ones. */
size_t tsn_spmd_combine_nested(tsn_spmd_searcher *s, const uint32_t *candidate,
                               size_t count);

#endif
