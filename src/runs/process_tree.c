/* SPDX-License-Identifier: BSD-3-Clause */
#include "runs/process_tree.h"

#include <string.h>

#include "core/fault.h"

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
  return tsn_process_tree_reject(tree, TSANOM_E_MEMORY, "out of memory");
}

/* A larger set with the names of all nodes. */
static bool grow_names(tsn_process_tree *tree) {
  size_t capacity = tree->names.capacity ? 4 * tree->names.capacity : 64;
  tsn_names larger;
  if (!tsn_names_create(&larger, &tree->scratch, capacity)) return false;
  for (size_t k = 1; k < tree->node_count; k++) {
    tsn_names_add(&larger, tsn_node_at(tree, (int32_t)k)->name);
  }
  tree->names = larger;
  return true;
}

/* The node of that name in a node, added if needed; TSN_NODE_NONE: out of memory. The
 * name is of the scratch pool or NULL, which fails. */
static int32_t node_named(tsn_process_tree *tree, int32_t parent, const char *name) {
  if (!name) return TSN_NODE_NONE;
  if (tree->node_count > 1) {
    size_t found = tsn_names_find(&tree->names, name);
    if (found != TSANOM_NONE) return (int32_t)found + 1;
  }
  if (!tsn_array_reserve(&tree->nodes, tree->exec, tree->node_count, tree->node_count + 1,
                         sizeof(tsn_node))) {
    return TSN_NODE_NONE;
  }
  if ((!tree->node_count || tree->names.count == tree->names.capacity) &&
      !grow_names(tree)) {
    return TSN_NODE_NONE;
  }
  int32_t at = (int32_t)tree->node_count++;
  *tsn_node_at(tree, at) =
      (tsn_node){.name = name, .parent = parent, .links = TSN_NODE_NONE};
  if (at != TSN_NODE_PROGRAM) tsn_names_add(&tree->names, name);
  return at;
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

int32_t tsn_node_before(tsn_process_tree *tree, int32_t place) {
  if (tree->computation[place]) return tree->computation[place];
  const tsn_place *p = tsn_process_tree_place(tree, place);
  size_t length = function_length(p->site);
  int32_t function =
      node_named(tree, TSN_NODE_PROGRAM,
                 tsn_pool_print(&tree->scratch, "%.*s", (int)length, p->site));
  if (function < 0) return TSN_NODE_NONE;
  const char *name =
      tsn_pool_print(&tree->scratch, "%.*s > before %s%s%s", (int)length, p->site,
                     p->about.call, p->site[length] == '+' ? " " : "", p->site + length);
  int32_t at = node_named(tree, function, name);
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
  name = parent == TSN_NODE_PROGRAM
             ? tsn_pool_copy(&tree->scratch, name)
             : tsn_pool_print(&tree->scratch, "%s > %s", tsn_node_at(tree, parent)->name,
                              name);
  int32_t found = node_named(tree, parent, name);
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
      tsn_pool_take(&tree->scratch, TSANOM_REGIONS_PLACES_MAX, sizeof *tree->computation);
  return tree->computation && node_named(tree, TSN_NODE_NONE, "") >= 0 &&
         tsn_shape_in(tree, TSN_NODE_NONE, TSN_NODE_NONE) >= 0;
}

void tsn_process_tree_free(tsn_process_tree *tree) {
  tsn_array_free(&tree->nodes, tree->exec);
  tsn_array_free(&tree->shapes, tree->exec);
  tsn_array_free(&tree->links, tree->exec);
  tsn_pool_free(&tree->scratch);
}
