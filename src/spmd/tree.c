/* SPDX-License-Identifier: BSD-3-Clause */
/* The region tree: nested hierarchies from parent indices in any order.
 *
 *     region     0  1  2  3  4           1
 *     parent     2  -  1  0  1           +-- 2 -- 0 -- 3
 *     level      3  1  2  4  2           +-- 4
 *
 * If the outermost region is the program itself, levels start at 0.
 *
 * A recorder notes regions in the order in which they are entered, and a caller in any
 * order, so that a parent may come after its children. Levels are found by climbing, and
 * each climb ends at a region whose level is known: O(regions) in all, without recursion,
 * as trees may be as deep as there are regions. */
#include "spmd/spmd_internal.h"

enum { UNKNOWN = -1, ON_PATH = -2 };

/* Follow the parents from region k up to one whose level is known, and number the regions
 * on the way back. Each region is visited at most twice in all. */
static tsanom_status climb(const int32_t *parent, size_t k, int32_t outermost,
                           int32_t *level) {
  int32_t depth = 0;
  size_t at = k;
  while (level[at] == UNKNOWN) {
    level[at] = ON_PATH;
    depth++;
    if (parent[at] == TSANOM_SPMD_NONE) break;
    at = (size_t)parent[at];
  }
  int32_t above;
  if (level[at] == ON_PATH) {
    if (parent[at] != TSANOM_SPMD_NONE) return TSANOM_E_FORMAT;
    above = outermost - 1;
  } else {
    above = level[at];
  }
  for (at = k; depth > 0; depth--) {
    level[at] = above + depth;
    if (depth > 1) at = (size_t)parent[at];
  }
  return TSANOM_OK;
}

tsanom_status tsn_spmd_levels(const tsn_spmd_input *input, int32_t *level) {
  const int32_t *parent = input->data.parent;
  size_t regions = input->data.regions, roots = 0;
  bool program = input->options.tree == TSANOM_SPMD_PROGRAM;
  for (size_t k = 0; k < regions; k++) {
    if (parent[k] < TSANOM_SPMD_NONE ||
        (parent[k] >= 0 && (size_t)parent[k] >= regions)) {
      return tsn_reject_is(&input->exec, TSANOM_E_INDEX, "data.parent", k,
                           "%d; one of %zu regions is expected, or TSANOM_SPMD_NONE",
                           (int)parent[k], regions);
    }
    roots += parent[k] == TSANOM_SPMD_NONE;
    level[k] = UNKNOWN;
  }
  for (size_t k = 0; k < regions; k++) {
    if (level[k] != UNKNOWN) continue;
    tsanom_status status = climb(parent, k, program ? 0 : 1, level);
    if (status < 0) {
      return tsn_reject_is(&input->exec, status, "data.parent", k,
                           "%d, which is nested in region %zu itself; a tree is expected",
                           (int)parent[k], k);
    }
  }
  if (!program || roots == 1) return TSANOM_OK;
  return tsn_reject_text(&input->exec, TSANOM_E_COUNT, "data.parent", TSANOM_NONE,
                         "%zu regions have no parent; one is expected, the program",
                         roots);
}
