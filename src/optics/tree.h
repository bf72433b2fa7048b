/* SPDX-License-Identifier: BSD-3-Clause */
/* A kd-tree from which points are removed. A leaf is a block of 8 points, one vector
 * lane each. A node halves its leaves [begin, end) along its widest coordinate; nodes are
 * in preorder, so that no child pointers are stored:
 *
 *     node i over [begin, end), middle = tsn_optics_middle(begin, end)
 *       left child   i + 1                        over [begin, middle)
 *       right child  i + 2 (middle - begin)       over [middle, end)
 *
 * Each node knows the smallest index of its remaining points, so that searches skip empty
 * subtrees and resolve ties by index without visiting them. The place of a point is its
 * lane in the sequence of leaves. */
#ifndef TSN_OPTICS_TREE_H
#define TSN_OPTICS_TREE_H

#include <stddef.h>
#include <stdint.h>

/* Points of a leaf. */
enum { TSN_OPTICS_LANES = 8 };

typedef struct {
  size_t leaves, dimensions;
  double *blocks;   /* by leaf, in the layout of optics_kernel.h; INFINITY: no point */
  uint32_t *number; /* by place: index of the point; UINT32_MAX: none */
  double *box;      /* of each node: low corner, high corner */
  uint32_t *first;  /* of each node: smallest index; UINT32_MAX: empty */
  uint32_t *place;  /* by index of the point */
  double *rows;     /* by place: coordinates, also of removed points */
} tsn_optics_tree;

/* Prefetch the data that removing the point at a place will touch. */
static inline void tsn_optics_tree_prefetch(const tsn_optics_tree *tree, uint32_t place) {
  size_t begin = place - place % TSN_OPTICS_LANES;
  const double *block = tree->blocks + begin * tree->dimensions;
  __builtin_prefetch(&tree->number[place], 1);
  for (size_t c = 0; c < tree->dimensions; c++) {
    __builtin_prefetch(block + c * TSN_OPTICS_LANES, 1);
  }
}

/* First leaf of the second half of [begin, end). */
static inline size_t tsn_optics_middle(size_t begin, size_t end) {
  return begin + (end - begin + 1) / 2;
}

/* The right child of a node whose left child has leaves [begin, middle). */
static inline size_t tsn_optics_right(size_t node, size_t begin, size_t middle) {
  return node + 2 * (middle - begin);
}

#endif
