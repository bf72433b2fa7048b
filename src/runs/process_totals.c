/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of totals (runs/profile.h) as regions of a process. The recorder adds up what
 * process_times.c adds up of events, so a row needs a name only:
 *
 *   thread ─┬─ region                       of a program without MPI: a region
 *           └─ computation before a call    function > before CALL
 *              └─ region                    function > before CALL > region */
#include <math.h>

#include "runs/process_tree.h"

/* What a row of totals belongs to: the node of the computation, or the program, and its
 * shape there, 0 of a computation itself. `within` is TSN_NODE_NONE for rows of other
 * threads, and for regions of all computations together. */
typedef struct {
  int32_t within, shape;
} row_place;

static tsanom_status place_row(tsn_process_tree *tree, const tsn_regions_row *row,
                               const row_place *outer, row_place *to) {
  *to = (row_place){.within = TSN_NODE_NONE};
  if (row->kind == TSN_REGIONS_ROW_THREAD) {
    if (row->place) to->within = TSN_NODE_PROGRAM;
    return TSANOM_OK;
  }
  if (outer->within == TSN_NODE_NONE || row->kind == TSN_REGIONS_ROW_BEATS) {
    return TSANOM_OK;
  }
  if (row->kind == TSN_REGIONS_ROW_COMPUTATION) {
    if (!tsn_process_tree_place(tree, (int32_t)row->place)->about.call) {
      return tsn_process_tree_reject(tree, TSANOM_E_FORMAT,
                                     "a row of totals names no call of MPI");
    }
    to->within = tsn_node_before(tree, (int32_t)row->place);
    return to->within < 0 ? tsn_process_tree_no_memory(tree) : TSANOM_OK;
  }
  to->shape = tsn_shape_in(tree, outer->shape, (int32_t)row->place);
  to->within = outer->within;
  return to->shape < 0 ? tsn_process_tree_no_memory(tree) : TSANOM_OK;
}

static tsanom_status add_row(tsn_process_tree *tree, const tsn_regions_row *row,
                             const row_place *to, bool has_calls) {
  int32_t at = to->within;
  bool is_of_program = at == TSN_NODE_PROGRAM;
  if (at == TSN_NODE_NONE || row->kind == TSN_REGIONS_ROW_THREAD) return TSANOM_OK;
  if (is_of_program && has_calls) return TSANOM_OK;
  if (to->shape) at = tsn_node_of_shape(tree, at, to->shape);
  if (at < 0) return tsn_process_tree_no_memory(tree);
  double time = (double)(is_of_program ? row->elapsed : row->useful) * 1e-9;
  tsn_node_add(tree, at, time, (double)row->visits, NULL);
  if (!to->shape)
    tsn_node_add(tree, tsn_node_at(tree, at)->parent, time, (double)row->visits, NULL);
  return TSANOM_OK;
}

tsanom_status tsn_process_add_totals(tsn_process_tree *tree, const tsn_profile *profile,
                                     uint64_t began, bool has_calls,
                                     tsn_process_sums *sums) {
  row_place *of = tsn_pool_take(&tree->scratch, profile->count, sizeof *of);
  if (!of) return tsn_process_tree_no_memory(tree);
  for (size_t k = 1; k < profile->count; k++) {
    const tsn_regions_row *row = &profile->row[k];
    tsanom_status status = place_row(tree, row, &of[row->parent], &of[k]);
    if (status == TSANOM_OK) status = add_row(tree, row, &of[k], has_calls);
    if (status < 0) return status;
    if (row->kind == TSN_REGIONS_ROW_COMPUTATION) {
      sums->stalled += ((double)row->elapsed - (double)row->useful) * 1e-9;
    }
    if (row->kind != TSN_REGIONS_ROW_THREAD || !row->place) continue;
    sums->waiting += (double)row->waiting * 1e-9;
    sums->last = fmax(sums->last, tsn_profile_end(row, began));
  }
  return TSANOM_OK;
}

bool tsn_process_has_calls(const tsn_profile *profile) {
  for (size_t k = 1; k < profile->count; k++) {
    if (profile->row[k].kind == TSN_REGIONS_ROW_COMPUTATION) return true;
  }
  return false;
}
