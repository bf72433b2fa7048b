/* SPDX-License-Identifier: BSD-3-Clause */
/* A node is named by its path, so that equal paths of several processes are one region:
 *
 *   solve (a.c:12)
 *   ├── solve (a.c:12) > until solve (a.c:15)
 *   ├── solve (a.c:12) > smooth
 *   └── solve (a.c:12) > rest
 *
 * The k-th node of a path is "PATH #k": two places can have one name, for example two
 * loops of a function without line numbers. */
#include "runs/region_nodes.h"

bool tsn_region_nodes_start(tsn_region_nodes *nodes) {
  if (!tsn_array_reserve(&nodes->node, nodes->exec, 0, 1, sizeof(tsn_region_node))) {
    return false;
  }
  *tsn_region_node_at(nodes, 0) =
      (tsn_region_node){.parent = -1, .key = -1, .inner = -1, .next = -1};
  nodes->count = 1;
  return true;
}

int32_t tsn_region_nodes_within(tsn_region_nodes *nodes, int32_t parent, int32_t key) {
  int32_t at = tsn_region_node_at(nodes, parent)->inner;
  while (at >= 0 && tsn_region_node_at(nodes, at)->key != key) {
    at = tsn_region_node_at(nodes, at)->next;
  }
  if (at >= 0) return at;
  if (!tsn_array_reserve(&nodes->node, nodes->exec, nodes->count, nodes->count + 1,
                         sizeof(tsn_region_node))) {
    return -1;
  }
  at = (int32_t)nodes->count++;
  tsn_region_node *outer = tsn_region_node_at(nodes, parent);
  *tsn_region_node_at(nodes, at) =
      (tsn_region_node){.parent = parent, .key = key, .inner = -1, .next = outer->inner};
  outer->inner = at;
  return at;
}

/* The last component of a path; NULL: out of memory. */
static const char *own_name(tsn_places *places, bool symbols, tsn_pool *scratch,
                            int32_t key) {
  if (key == TSN_NODE_REST) return "rest";
  bool is_part = key >= TSN_NODE_PART;
  size_t place = (size_t)(is_part ? key - TSN_NODE_PART : key);
  const char *name =
      place < places->count ? tsn_places_name(places, place, symbols) : "unknown place";
  return name && is_part ? tsn_pool_print(scratch, "until %s", name) : name;
}

bool tsn_region_nodes_name(const tsn_region_nodes *nodes, tsn_places *places,
                           bool symbols, tsn_pool *scratch, tsn_spmd *spmd) {
  size_t regions = nodes->count - 1;
  size_t *used = tsn_pool_take(scratch, regions, sizeof *used);
  tsn_names names;
  if (!used || !tsn_names_create(&names, scratch, regions)) return false;
  for (size_t k = 0; k < regions; k++) {
    const tsn_region_node *n = tsn_region_node_at(nodes, (int32_t)k + 1);
    const char *name = own_name(places, symbols, scratch, n->key);
    spmd->parent[k] = n->parent - 1;
    if (name && n->parent > 0) {
      name = tsn_pool_print(scratch, "%s > %s", spmd->region[n->parent - 1], name);
    }
    if (!name) return false;
    size_t number = tsn_names_find(&names, name);
    if (number == TSANOM_NONE) {
      number = names.count;
      tsn_names_add(&names, name);
    }
    spmd->region[k] = ++used[number] == 1
                          ? tsn_pool_copy(&spmd->pool, name)
                          : tsn_pool_print(&spmd->pool, "%s #%zu", name, used[number]);
    if (!spmd->region[k]) return false;
  }
  return true;
}

void tsn_region_nodes_free(tsn_region_nodes *nodes) {
  tsn_array_free(&nodes->node, nodes->exec);
}
