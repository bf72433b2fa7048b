/* SPDX-License-Identifier: BSD-3-Clause */
/* For dtw_kernel.c: the sweep of a narrow band, diagonal by diagonal. dtw_sweep_band.h
 * has the diagram. */
#ifndef TSN_DTW_BAND_H
#define TSN_DTW_BAND_H

typedef tsn_dtw_band band;

/* `late` is the predecessor that is known last. */
INLINE vec band_cell(kind k, const factor *c, vec penalty, vec x, vec y, vec diagonal,
                     vec early, vec late) {
  return component_cost(k, c, x, y) +
         best_predecessor(k, penalty, diagonal, early, late, NULL, 0);
}

/* One pair of diagonals. The odd one follows the even one by a vector, because it
 * needs the first lane of the next. */
INLINE void band_pair(kind k, const band *r, const factor *c, size_t vectors,
                      const real *x, const real *y, vec *even, vec *odd) {
  vec penalty = vec_all(k.general ? r->penalty : 0), infinity = vec_all(INFINITY);
  vec even_wall = vec_load(r->even_wall), odd_wall = vec_load(r->odd_wall);
  vec above = infinity, last_even = infinity, last_y = infinity;
  for (size_t u = 0; u < vectors; u++) {
    vec passed = odd[u], x_even = vec_load(x + u * LANES),
        y_even = vec_load(y + u * LANES);
    if (u + 1 == vectors) x_even += even_wall;
    vec cell = band_cell(k, c, penalty, x_even, y_even, even[u], passed,
                         vec_shift_down(above, passed));
    if (u > 0) {
      vec x_odd = vec_load(x + 1 + (u - 1) * LANES);
      odd[u - 1] = band_cell(k, c, penalty, x_odd, last_y, above, last_even,
                             vec_shift_up(last_even, cell));
    }
    even[u] = cell;
    above = passed;
    last_even = cell;
    last_y = y_even;
  }
  vec x_odd = vec_load(x + 1 + (vectors - 1) * LANES) + odd_wall;
  odd[vectors - 1] = band_cell(k, c, penalty, x_odd, last_y, above, last_even,
                               vec_shift_up(last_even, infinity));
}

INLINE void sweep_band_of(kind k, const band *r, size_t vectors, vec *even, vec *odd,
                          size_t begin, size_t end) {
  ptrdiff_t odd_radius = r->radius % 2, half = r->radius / 2;
  const factor c = factor_of(r->squared);
  for (ptrdiff_t d = (ptrdiff_t)begin; d < (ptrdiff_t)end; d++) {
    band_pair(k, r, &c, vectors, r->x + d - odd_radius - half, r->y - d - half, even,
              odd);
  }
}

/* A few vectors of a diagonal are kept in registers, for which their number must be a
 * constant; more are in memory. With the 32 registers of level v4 eight are: 1.2 to 1.4
 * times as fast as in memory in double, 1.35 to 1.5 times in single precision. With 16
 * registers more than four are spilled: 0.9 times (double precision at level v3, n = 48 to
 * 600; AMD Zen 5). Penalties are rare: for them four, which saves 15 KB of code. */
enum { IN_REGISTERS = TSN_VECTOR_BYTES == 64 ? 8 : 4, WITH_PENALTY = 4 };

INLINE void sweep_short_band(kind k, const band *r, size_t vectors, size_t begin,
                             size_t end) {
  vec even[IN_REGISTERS], odd[IN_REGISTERS];
  for (size_t u = 0; u < vectors; u++) {
    even[u] = vec_load(r->even + u * LANES);
    odd[u] = vec_load(r->odd + u * LANES);
  }
  sweep_band_of(k, r, vectors, even, odd, begin, end);
  for (size_t u = 0; u < vectors; u++) {
    vec_store(r->even + u * LANES, even[u]);
    vec_store(r->odd + u * LANES, odd[u]);
  }
}

#define CASE(count)                                                      \
  case count:                                                            \
    if ((int)(count) > (k.general ? WITH_PENALTY : IN_REGISTERS)) break; \
    sweep_short_band(k, r, count, begin, end);                           \
    return

INLINE void sweep_band(kind k, const band *r, size_t begin, size_t end) {
  switch (r->vectors) {
    CASE(1);
    CASE(2);
    CASE(3);
    CASE(4);
    CASE(5);
    CASE(6);
    CASE(7);
    CASE(8);
  }
  sweep_band_of(k, r, r->vectors, (vec *)r->even, (vec *)r->odd, begin, end);
}

#undef CASE

#endif
