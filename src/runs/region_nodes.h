/* SPDX-License-Identifier: BSD-3-Clause */
/* The tree of the regions of a run: places in the code within each other. */
#ifndef TSN_RUNS_REGION_NODES_H
#define TSN_RUNS_REGION_NODES_H

#include "record/regions.h"
#include "runs/spmd.h"

/* What a node is known by within its parent: a place, for a region or a function; a place
 * and this, for the part of a region that ends there; or this alone, for the part behind
 * the last of these. */
enum {
  TSN_NODE_PART = TSN_REGIONS_PLACES_MAX,
  TSN_NODE_REST = 2 * TSN_REGIONS_PLACES_MAX
};

typedef struct {
  int32_t parent, key;
  /* First node nested in it, and next one beside it: a list for each node, because most
   * have few. */
  int32_t inner, next;
} tsn_region_node;

/* Zero it, and set exec. Node 0 is the program; node k is region k - 1. */
typedef struct {
  const tsanom_exec *exec;
  tsn_array node;
  size_t count;
} tsn_region_nodes;

static inline tsn_region_node *tsn_region_node_at(const tsn_region_nodes *nodes,
                                                  int32_t index) {
  return (tsn_region_node *)nodes->node.data + index;
}

/* Add the program; false: out of memory. */
bool tsn_region_nodes_start(tsn_region_nodes *nodes);

/* The node of a key within another, added if needed; -1: out of memory. The array may
 * move, so nodes are known by number. */
int32_t tsn_region_nodes_within(tsn_region_nodes *nodes, int32_t parent, int32_t key);

/* Name all regions of `spmd`, and set their parents; false: out of memory. */
bool tsn_region_nodes_name(const tsn_region_nodes *nodes, tsn_places *places,
                           bool symbols, tsn_pool *scratch, tsn_spmd *spmd);

void tsn_region_nodes_free(tsn_region_nodes *nodes);

#endif
