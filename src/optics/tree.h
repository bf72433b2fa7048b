/* SPDX-License-Identifier: BSD-3-Clause */
/* A kd-tree from which points are taken away: each node knows the smallest number
 * left in it, so that emptied subtrees are passed over. A leaf is a block of 8
 * points. Children split the leaves of their parent in halves; nodes lie in
 * preorder. */
#ifndef TSN_OPTICS_TREE_H
#define TSN_OPTICS_TREE_H

#include <stddef.h>
#include <stdint.h>

/* Points of a leaf. */
enum { TSN_OPTICS_LANES = 8 };

typedef struct {
  size_t leaves, dimensions;
  double *blocks;   /* by leaf, as optics_kernel.h has them; INFINITY: no point */
  uint32_t *number; /* of the point in each lane; UINT32_MAX: none */
  double *box;      /* of each node: low corner, high corner */
  uint32_t *first;  /* of each node: smallest number in it; UINT32_MAX: empty */
  uint32_t *place;  /* lane of each point */
  double *rows;     /* scratch of building */
} tsn_optics_tree;

/* Fetch what taking away the point at a place needs. */
static inline void tsn_optics_tree_fetch(const tsn_optics_tree *tree, uint32_t place) {
  size_t begin = place - place % TSN_OPTICS_LANES;
  const double *block = tree->blocks + begin * tree->dimensions;
  __builtin_prefetch(&tree->number[place], 1);
  for (size_t c = 0; c < tree->dimensions; c++) {
    __builtin_prefetch(block + c * TSN_OPTICS_LANES, 1);
  }
}

/* Where the halves of leaves [begin, end) meet. */
static inline size_t tsn_optics_middle(size_t begin, size_t end) {
  return begin + (end - begin + 1) / 2;
}

/* The right child of a node whose left child has leaves [begin, middle). */
static inline size_t tsn_optics_right(size_t node, size_t begin, size_t middle) {
  return node + 2 * (middle - begin);
}

#endif
