/* SPDX-License-Identifier: BSD-3-Clause */
/* For dtw_kernel.c: the sweep of a batch, column by column. All lanes have one window,
 * hence a limit of a row is one number. */
#ifndef TSN_DTW_BATCH_H
#define TSN_DTW_BATCH_H

/* Rows of a strip: as many as the registers of the level hold. */
enum { BATCH_DEPTH = VECTOR_BYTES == 64 ? DEEP : DEPTH };

/* Whether row u has its limit in column begin + u, as in a window of one radius. Then
 * the columns of the triangle are written out with the rows they have, not masked. */
static inline bool is_aslant(const tick *limits, size_t begin, size_t end) {
  bool aslant = end - begin == BATCH_DEPTH - 1;
  for (size_t u = 0; u < BATCH_DEPTH; u++) aslant &= limits[u] == (tick)(begin + u);
  return aslant;
}

/* A column of a batch, of which rows from ... to-1 have cells. */
INLINE void batch_column(kind k, const strip *s, const factor *c, size_t j, size_t from,
                         size_t to, vec cells[BATCH_DEPTH], vec *previous) {
  k.traced = false; /* as in all batches, which static analysis does not see */
  vec above = vec_load(s->boundary + j * LANES), up = above, diagonal = *previous;
  *previous = above;
  UNROLL
  for (size_t u = 0; u < from; u++) {
    diagonal = cells[u];
    up = cells[u] = vec_all((real)INFINITY);
  }
  column(k, s, c, j, s->y + j * LANES, from, to, cells, diagonal, up, NULL);
  vec_store(s->boundary + j * LANES, cells[BATCH_DEPTH - 1]);
}

/* state: the cells, and the boundary of the column before. */
INLINE void sweep_batch(kind k, const strip *s, size_t begin, size_t end) {
  vec cells[BATCH_DEPTH];
  for (size_t u = 0; u < BATCH_DEPTH; u++) cells[u] = vec_load(s->state + u * LANES);
  vec previous = vec_load(s->state + (size_t)BATCH_DEPTH * LANES);
  const factor c = factor_of(s->squared);
  kind bare = {
      .squared = k.squared, .any_cost = k.any_cost, .batch = true, .depth = BATCH_DEPTH};
  if (k.outside == NOT_BEGUN && is_aslant(s->first, begin, end)) {
    UNROLL
    for (size_t f = 0; f < BATCH_DEPTH - 1; f++) {
      batch_column(bare, s, &c, begin + f, 0, f + 1, cells, &previous);
    }
  } else if (k.outside == ENDED && is_aslant(s->last, begin, end)) {
    UNROLL
    for (size_t f = 0; f < BATCH_DEPTH - 1; f++) {
      batch_column(bare, s, &c, begin + f, f + 1, BATCH_DEPTH, cells, &previous);
    }
  } else {
    for (size_t j = begin; j < end; j++) {
      batch_column(k, s, &c, j, 0, BATCH_DEPTH, cells, &previous);
    }
  }
  for (size_t u = 0; u < BATCH_DEPTH; u++) vec_store(s->state + u * LANES, cells[u]);
  vec_store(s->state + (size_t)BATCH_DEPTH * LANES, previous);
}

#endif
