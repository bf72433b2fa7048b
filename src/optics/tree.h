/* SPDX-License-Identifier: BSD-3-Clause */
/* A kd-tree from which points are taken away: each node knows the smallest number
 * left in it, so that emptied subtrees are passed over. A leaf is a block of 8
 * points. Children split the leaves of their parent in halves; nodes lie in
 * preorder. */
#ifndef TSN_OPTICS_TREE_H
#define TSN_OPTICS_TREE_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
  size_t leaves, dimensions;
  double *blocks;   /* by leaf, as optics_kernel.h has them; INFINITY: no point */
  uint32_t *number; /* of the point in each lane; UINT32_MAX: none */
  double *box;      /* of each node: low corner, high corner */
  uint32_t *first;  /* of each node: smallest number in it; UINT32_MAX: empty */
  uint32_t *place;  /* lane of each point */
  double *rows;     /* scratch of building */
} tsn_optics_tree;

/* Where the halves of leaves [begin, end) meet. */
static inline size_t tsn_optics_middle(size_t begin, size_t end) {
  return begin + (end - begin + 1) / 2;
}

/* The right child of a node whose left child has leaves [begin, middle). */
static inline size_t tsn_optics_right(size_t node, size_t begin, size_t middle) {
  return node + 2 * (middle - begin);
}

#endif
