/* SPDX-License-Identifier: BSD-3-Clause */
/* A kd-tree from which points are removed. A leaf is a block of 8 points, one vector lane
 * each. A node halves its leaves [begin, end) along its widest coordinate; nodes are in
 * preorder, so that no child pointers are stored:
 *
 *     node i over [begin, end), middle = tsn_optics_middle(begin, end)
 *       left child   i + 1                        over [begin, middle)
 *       right child  i + 2 (middle - begin)       over [middle, end)
 *
 * For 5 leaves, node: [begin, end), a single number being a leaf:
 *
 *                    0: [0, 5)
 *              /                  \
 *         1: [0, 3)            6: [3, 5)
 *         /       \             /     \
 *     2: [0, 2)   5: 2        7: 3    8: 4
 *      /    \
 *    3: 0   4: 1
 *
 * Every leaf but the last is full, because splits are between leaves; the free lanes of
 * the last one have infinite coordinates, as those of removed points have. Their distance
 * exceeds every finite limit, so that a search tests for them only while it has none.
 *
 * Each node knows the smallest index of its remaining points, so that searches skip empty
 * subtrees and resolve ties by index without visiting them. The place of a point is its
 * lane in the sequence of leaves.
 *
 * Blocks of 8 serve the vectors, and make the tree small: 2 n / 8 nodes. */
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
  double *rows; /* by place: coordinates, also of removed points, which still search */
} tsn_optics_tree;

/* First leaf of the second half of [begin, end). The left half is the larger one, so that
 * a node of 2 or more leaves has no empty child. */
static inline size_t tsn_optics_middle(size_t begin, size_t end) {
  return begin + (end - begin + 1) / 2;
}

/* The right child of a node whose left child has leaves [begin, middle): the left
 * subtree, of 2 (middle - begin) - 1 nodes, lies between. */
static inline size_t tsn_optics_right(size_t node, size_t begin, size_t middle) {
  return node + 2 * (middle - begin);
}

#endif
