/* SPDX-License-Identifier: BSD-3-Clause */
#include "runs/process_tree.h"

#include <string.h>

#include "core/fault.h"
#include "runs/known_places.h"

/* The node of a shape in a node. */
typedef struct {
  int32_t shape, node, next;
} shape_link;

tsanom_status tsn_process_tree_reject(const tsn_process_tree *tree, tsanom_status status,
                                      const char *text) {
  tsn_file_place place = {.file = tree->directory};
  return tsn_reject_file(tree->exec, status, &place, "%s", text);
}

tsanom_status tsn_process_tree_no_memory(const tsn_process_tree *tree) {
  if (tree->regions->count == tree->regions->capacity) {
    return tsn_reject_regions(tree->directory, tree->exec);
  }
  return tsn_process_tree_reject(tree, TSANOM_E_MEMORY, "out of memory");
}

/* A new node; TSN_NODE_NONE: out of memory, as of all below. */
static int32_t add_node(tsn_process_tree *tree, int32_t parent, size_t region) {
  if (!tsn_array_reserve(&tree->nodes, tree->exec, tree->node_count, tree->node_count + 1,
                         sizeof(tsn_node))) {
    return TSN_NODE_NONE;
  }
  int32_t at = (int32_t)tree->node_count++;
  *tsn_node_at(tree, at) = (tsn_node){
      .region = (uint32_t)region, .parent = parent, .links = TSN_NODE_NONE, .span = 1};
  return at;
}

/* Full buckets are put together by pairs. */
void tsn_node_sample(const tsn_process_tree *tree, int32_t at, double time) {
  tsn_node *n = tsn_node_at(tree, at);
  if (n->samples == n->span * TSN_NODE_BUCKETS) {
    for (size_t b = 0; b < TSN_NODE_BUCKETS; b++) {
      double sum =
          2 * b + 1 < TSN_NODE_BUCKETS ? n->bucket[2 * b] + n->bucket[2 * b + 1] : 0;
      n->bucket[b] = sum;
    }
    n->span *= 2;
  }
  n->bucket[n->samples++ / n->span] += time;
}

void tsn_node_batches(const tsn_node *n, double *batch) {
  size_t used = (n->samples + n->span - 1) / n->span;
  double sum = 0;
  memset(batch, 0, TSN_SPMD_BATCHES * sizeof *batch);
  for (size_t b = 0; b < used; b++) {
    batch[b * TSN_SPMD_BATCHES / used] += n->bucket[b];
    sum += n->bucket[b];
  }
  for (size_t q = 0; q < TSN_SPMD_BATCHES && sum > 0; q++) batch[q] *= n->time / sum;
}

/* The node of a region in a node, added if needed. */
static int32_t node_of_region(tsn_process_tree *tree, int32_t parent, size_t region) {
  int32_t *node = &tree->node[region];
  if (*node) return *node;
  int32_t at = add_node(tree, parent, region);
  if (at > 0) *node = at;
  return at;
}

/* The number of a name, which is NULL if it could not be printed; TSANOM_NONE: out of
 * memory, or too many regions. */
static size_t region_named(tsn_process_tree *tree, const char *name) {
  return name ? tsn_names_number(tree->regions, tree->regions->pool, name) : TSANOM_NONE;
}

int32_t tsn_shape_in(tsn_process_tree *tree, int32_t parent, int32_t place) {
  int32_t at = parent < 0 ? TSN_NODE_NONE : tsn_shape_at(tree, parent)->inner;
  while (at >= 0 && tsn_shape_at(tree, at)->place != place)
    at = tsn_shape_at(tree, at)->next;
  if (at >= 0) return at;
  if (!tsn_array_reserve(&tree->shapes, tree->exec, tree->shape_count,
                         tree->shape_count + 1, sizeof(tsn_shape))) {
    return TSN_NODE_NONE;
  }
  at = (int32_t)tree->shape_count++;
  *tsn_shape_at(tree, at) =
      (tsn_shape){.parent = parent,
                  .place = place,
                  .inner = TSN_NODE_NONE,
                  .next = parent < 0 ? TSN_NODE_NONE : tsn_shape_at(tree, parent)->inner};
  if (parent >= 0) tsn_shape_at(tree, parent)->inner = at;
  return at;
}

const tsn_place *tsn_process_tree_place(const tsn_process_tree *tree, int32_t place) {
  static const tsn_place unknown = {.name = "unknown place", .site = "unknown place"};
  return (size_t)place < tree->places->count ? tsn_places_at(tree->places, (size_t)place)
                                             : &unknown;
}

/* Where in the name of an address the function ends: before " (file.c:12)", or before
 * "+0x1a40", which then belong to the call. */
static size_t function_length(const char *site) {
  const char *line = NULL;
  for (const char *next = strstr(site, " ("); next; next = strstr(next + 1, " (")) {
    line = next;
  }
  if (line && strchr(line, ':') && site[strlen(site) - 1] == ')') {
    return (size_t)(line - site);
  }
  const char *offset = strstr(site, "+0x");
  return offset ? (size_t)(offset - site) : strlen(site);
}

/* The regions of the computation before a call and of its function, by their names. */
static bool name_regions(tsn_process_tree *tree, const tsn_place *p, size_t *before,
                         size_t *function) {
  int length = (int)function_length(p->site);
  *function = region_named(tree, tsn_pool_print(&tree->scratch, "%.*s", length, p->site));
  if (*function == TSANOM_NONE) return false;
  *before = region_named(
      tree,
      tsn_pool_print(&tree->scratch, "%.*s > computation before %s%s%s", length, p->site,
                     p->about.call, p->site[length] == '+' ? " " : "", p->site + length));
  return *before != TSANOM_NONE;
}

int32_t tsn_node_before(tsn_process_tree *tree, int32_t place) {
  if (tree->computation[place]) return tree->computation[place];
  const tsn_place *p = tsn_process_tree_place(tree, place);
  size_t before = p->known ? p->known->before : 0;
  size_t function = p->known ? p->known->function : 0;
  if (before--) {
    function--;
  } else if (!name_regions(tree, p, &before, &function)) {
    return TSN_NODE_NONE;
  } else if (p->known) {
    p->known->before = (uint32_t)before + 1;
    p->known->function = (uint32_t)function + 1;
  }
  int32_t outer = node_of_region(tree, TSN_NODE_PROGRAM, function);
  int32_t at = outer < 0 ? outer : node_of_region(tree, outer, before);
  if (at > 0) tree->computation[place] = at;
  return at;
}

int32_t tsn_node_of_shape(tsn_process_tree *tree, int32_t within, int32_t at) {
  int32_t outer = tsn_shape_at(tree, at)->parent;
  int32_t parent = outer == 0 ? within : tsn_node_of_shape(tree, within, outer);
  if (parent < 0) return TSN_NODE_NONE;
  int32_t link = tsn_node_at(tree, parent)->links;
  const shape_link *l = tree->links.data;
  while (link >= 0 && l[link].shape != at) link = l[link].next;
  if (link >= 0) return l[link].node;
  const char *name = tsn_process_tree_place(tree, tsn_shape_at(tree, at)->place)->name;
  if (parent != TSN_NODE_PROGRAM) {
    const char *outer_name = tree->regions->name[tsn_node_at(tree, parent)->region];
    name = tsn_pool_print(&tree->scratch, "%s > %s", outer_name, name);
  }
  size_t region = region_named(tree, name);
  int32_t found =
      region == TSANOM_NONE ? TSN_NODE_NONE : node_of_region(tree, parent, region);
  if (found < 0 || !tsn_array_reserve(&tree->links, tree->exec, tree->link_count,
                                      tree->link_count + 1, sizeof(shape_link))) {
    return TSN_NODE_NONE;
  }
  ((shape_link *)tree->links.data)[tree->link_count] =
      (shape_link){.shape = at, .node = found, .next = tsn_node_at(tree, parent)->links};
  tsn_node_at(tree, parent)->links = (int32_t)tree->link_count++;
  return found;
}

bool tsn_process_tree_start(tsn_process_tree *tree) {
  tree->scratch.exec = tree->exec;
  tree->computation =
      tsn_pool_take(&tree->scratch, tree->places->count, sizeof *tree->computation);
  tree->node = tsn_pool_take(&tree->scratch, tree->regions->capacity, sizeof *tree->node);
  return tree->computation && tree->node && add_node(tree, TSN_NODE_NONE, 0) >= 0 &&
         tsn_shape_in(tree, TSN_NODE_NONE, TSN_NODE_NONE) >= 0;
}

void tsn_process_tree_free(tsn_process_tree *tree) {
  tsn_array_free(&tree->nodes, tree->exec);
  tsn_array_free(&tree->shapes, tree->exec);
  tsn_array_free(&tree->links, tree->exec);
  tsn_pool_free(&tree->scratch);
}
