/* SPDX-License-Identifier: BSD-3-Clause */
/* The search for few attributes of two values that discern all rows: see
 * split_kernel.c. */
#ifndef TSN_ROUGHSET_SPLIT_KERNEL_H
#define TSN_ROUGHSET_SPLIT_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/isa.h"

/* Rows that agree in the attributes chosen so far, and have to be discerned. */
typedef struct {
  uint32_t begin, size;
} tsn_rs_class;

/* A depth-first search for the sets of at most `limit` attributes. The node of depth d
 * has d chosen attributes, and the classes first[d] ... first[d + 1] - 1; a class of one
 * row is none. */
typedef struct {
  size_t words; /* of a set of attributes, and of a row */
  size_t rows;
  uint64_t *row; /* the values of each row as bits; those of a class are together */
  tsn_rs_class *class;
  size_t *first;
  uint64_t *candidates; /* words a depth, as the next */
  uint64_t *branch;     /* attributes still to be tried */
  uint32_t *chosen;
  size_t depth, limit;
  size_t base;    /* the depth of the node at which the search ends */
  uint64_t nodes; /* counted up */
} tsn_rs_split;

/* Rows and depth that fit; of more rows, the pairs alone take long. */
enum { TSN_RS_SPLIT_ROWS = 1 << 12, TSN_RS_SPLIT_DEPTH = 40 };

enum {
  TSN_RS_SPLIT_DONE,  /* every set was tried */
  TSN_RS_SPLIT_NODES, /* the node budget is used up */
  TSN_RS_SPLIT_FOUND  /* chosen[0 ... depth - 1] discerns all rows */
};

typedef struct {
  /* Open the node at `depth`, which has classes: its row of branch. */
  void (*open)(tsn_rs_split *split);
  /* Search on from an opened node; about `budget` nodes. After a set that was found,
   * call it again for the next. */
  int (*run)(tsn_rs_split *split, uint64_t budget);
  /* Choose an attribute: the classes and candidates of the next depth. */
  void (*choose)(tsn_rs_split *split, size_t attribute);
} tsn_rs_split_kernels;

TSN_KERNEL_TABLE(tsn_rs_split_kernels);

#endif
