/* SPDX-License-Identifier: BSD-3-Clause */
/* Interface of the loops that evaluate the recurrence of dynamic time warping
 * (H. Sakoe and S. Chiba, IEEE Trans. ASSP 26 (1978) 43-49):
 *
 *   D(i,j) = c(x_i, y_j) + min{ D(i-1,j-1), D(i-1,j) + p, D(i,j-1) + p }
 *
 * The textbook order, row by row, waits in every cell for the minimum and the sum
 * of the cell before. The kernels use three other orders. All of them evaluate each
 * cell by the same operations, minima are exact in any order, and no product is fused
 * with a sum, so their results are the same bits.
 *
 *   strip   the lanes of a vector are blocks of rows of one pair
 *   batch   the lanes are different pairs of the same two lengths
 *   band    the lanes are the cells of an anti-diagonal of a narrow band
 *
 * Strip. A strip has LANES blocks of `depth` rows. Lane LANES-1 holds the top
 * block; each lane below runs `delay` columns behind the one above it, so that at
 * step s block b is at column s - delay*b, and all that its first row needs of the
 * block above was computed `delay` steps ago. Within a block the rows of one column
 * follow each other; columns of successive steps overlap in the pipeline. State is
 * in registers during a call and in memory between calls, so that a sweep can stop
 * after any multiple of `delay` steps.
 *
 * Columns of a strip. At step delay*q + f block b is at column delay*(q-b) + f. To
 * make the samples of all lanes one vector in memory, column j is element j / delay
 * of the array number j % delay (here delay = 4, LANES = 4):
 *
 *   array 0    y0  y4  y8  y12  y16 ...      step 12 loads y0 y4 y8 y12:
 *   array 1    y1  y5  y9  y13  y17 ...      lane 0, block 3, is at column 0,
 *   array 2    y2  y6  y10 y14  y18 ...      lane 3, block 0, at column 12;
 *   array 3    y3  y7  y11 y15  y19 ...      step 13 loads y1 y5 y9 y13
 *
 * Windows. A row computes cells only between two steps, `first` and `last`. Outside
 * of them its lane keeps a state instead: before `first` what D has left of the
 * window (infinity, or an edge of the matrix), from `last` on its last cell plus
 * `after`. Since infinity is the neutral element of the minimum, no other code has
 * to know where a window ends.
 *
 * Batch. Each lane holds a pair of its own, so there is neither delay nor shift. */
#ifndef TSN_DTW_KERNEL_H
#define TSN_DTW_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/isa.h"
#include "dtw/dtw_precision.h"

/* Six rows a block fit the registers of every level, and eight nearly; four columns in
 * flight cover the latency of a minimum and an addition in each of them. At level v4
 * four columns of six vectors are 124 vector operations for 192 cells, 62 cycles on
 * a processor with two 512-bit ports, while the longest chain of dependent
 * operations is about 51 cycles: ports, not latency, are the bound, so more columns
 * in flight gain nothing (docs/measurements.md, "What bounds the speed"). */
enum { DEPTH = 6, DEEP = 8, DELAY = 4, STAGGERED_DELAY = 8 };

/* Turns, of STAGGERED_DELAY steps, of which a general chain keeps the costs. */
enum { TURNS_KEPT = 4 };

/* A strip, or the same rows of a batch. The caller owns all arrays.
 *
 * Arrays marked [depth] hold depth vectors; row u of block b is lane LANES-1-b of
 * vector u. The order is reversed, since block b needs column j after block b-1:
 * ascending lanes then read ascending addresses of y, and the last lane is the one
 * that takes the boundary. */
typedef struct {
  size_t dimensions;
  real penalty;
  bool squared;        /* the cost, for sweeps that compute any */
  const real *x;       /* [dimensions][depth] samples of the rows */
  const real *x_below; /* of a handover: those of the strip below */
  /* Of a handover in a chain: columns of the strip below; the lanes that are there, by
   * turn; and where rows are outside of their windows, infinite, else 0: vector
   * step - u + depth - 1 for row u. */
  const real *y_below;
  const uint16_t *below;
  const real *walls;
  real *costs; /* of a general chain: memory of the sweep */
  /* Columns. Strip: column j is element j / delay of the array number j % delay
   * of its dimension, arrays `column_stride` apart. Batch: a vector a column. */
  const real *y;
  size_t column_stride;    /* elements from array to array */
  size_t dimension_stride; /* elements from dimension to dimension */
  /* In: the row above the strip, out: the last row of the strip, by column (a
   * vector a column in a batch). One array serves both, because the last block
   * writes a column delay*(LANES-1) steps after the first has read it.
   * Up to delay*LANES elements before column 0 are overwritten. */
  real *boundary;
  real *state; /* [depth] the cells of the last step; then what the kernel adds */
  /* [depth] each, in a batch an element a row. A row holds its state before step
   * `first`; from step `last` on its state has `after` (0 or infinity) added: 0
   * where the window ends at the right edge of an open end, whose cell is read
   * after the sweep, infinity where the row below must not use it. */
  const tick *first, *last;
  const real *after;
  size_t base;          /* the step from which `first` and `last` count */
  unsigned char *trace; /* of a traced sweep: [depth] choices of each step */
  size_t traced;        /* the step whose choices come first */
} tsn_dtw_strip;

/* Steps begin <= s < end, both multiples of delay. */
typedef void tsn_dtw_sweep(const tsn_dtw_strip *strip, size_t begin, size_t end);

/* A Sakoe-Chiba band narrow enough for its diagonals to stay in the first cache.
 * Of every pair of diagonals the first, `even`, holds in lane k the cell with
 * i-j = 2k - radius, the second, `odd`, that with i-j = 2k + 1 - radius. On the
 * diagonal i+j = s lane k of `even` is at
 *
 *   i = (s - radius) / 2 + k,   j = (s + radius) / 2 - k
 *
 * so that vectors of x ascend and, with y stored in reverse, vectors of y do too.
 *
 * Whatever lies outside of the matrix costs infinity, by the samples it is given.
 * Those of x and y have opposite signs, since inf - inf would be a NaN. */
typedef struct {
  const real *x; /* sample i at index i; infinity outside of 0 ... n-1 */
  const real *y; /* sample j at index -j; minus infinity outside of 0 ... m-1 */
  ptrdiff_t radius;
  size_t vectors;   /* of a diagonal */
  real *even, *odd; /* [vectors] the cells of the last pair of diagonals */
  const real *even_wall, *odd_wall; /* [1] added to the last vector: 0 or infinity */
  real penalty;
  bool squared; /* the cost, for a sweep with penalty */
} tsn_dtw_band;

/* Pairs of diagonals begin <= d < end; the pair number d is the diagonals
 * i+j = 2d - radius % 2 and the next. */
typedef void tsn_dtw_band_sweep(const tsn_dtw_band *band, size_t begin, size_t end);

/* Sweeps of one dimension without penalty. They differ in which of `first`, `last` and
 * `after` they read: `inner` needs five vector operations for a vector of cells (a
 * difference, its absolute value, two minima, a sum), one comparison with a window
 * adds a sixth. Most steps of a strip are inner ones. Strips have `masked` at both ends: at
 * most 1.09 times as long, traced 1.12. In a batch it would be 1.31 times (matrix of 200
 * series of 500 with radius 50, v4; AMD EPYC Zen 4). */
typedef struct {
  tsn_dtw_sweep *beginning; /* no row has ended */
  tsn_dtw_sweep *inner;     /* all rows have begun, and none has ended */
  tsn_dtw_sweep *ending;    /* all have begun; rows that end turn to infinity */
  tsn_dtw_sweep *masked;    /* any */
} tsn_dtw_plain_sweeps;

/* Sweeps of strips one after another, where all rows reach from edge to edge: the
 * lanes go over to the strip below one by one, as each has passed the last column.
 * dtw_sweeps.h has the diagram. NULL at a level that is kept small. */
typedef struct {
  size_t depth;
  tsn_dtw_sweep *inner; /* all lanes are in the same strip */
  /* Steps 0 ... delay lanes - 1 of the strip below. What lanes that are still above
   * pass down goes before column 0. */
  tsn_dtw_sweep *handover;
} tsn_dtw_full_sweeps;

/* Staggered sweeps of strips one after another: dtw_sweeps.h. NULL at levels that
 * have none. */
typedef struct {
  tsn_dtw_sweep *inner;    /* all lanes are in the same strip, between their limits */
  tsn_dtw_sweep *handover; /* lanes go over to the strip below; rows have windows */
  tsn_dtw_sweep *penalty;  /* as `inner` */
  tsn_dtw_sweep *general;  /* both, by x_below; any dimensions and penalty */
} tsn_dtw_chain_sweeps;

/* The sweeps of one cost; `traced` are the same for both. */
typedef struct {
  tsn_dtw_plain_sweeps strip, traced, batch;
  tsn_dtw_full_sweeps full, deep;
  tsn_dtw_chain_sweeps chain;
  tsn_dtw_sweep *batch_staggered;     /* instead of batch.inner, where there is a chain */
  tsn_dtw_plain_sweeps strip_general; /* any dimensions and penalty */
  tsn_dtw_plain_sweeps strip_penalty; /* one dimension */
  tsn_dtw_sweep *traced_general;
  tsn_dtw_sweep *batch_general;
  tsn_dtw_band_sweep *band; /* without penalty */
  tsn_dtw_band_sweep *band_penalty;
} tsn_dtw_sweeps;

/* Sweep from `begin` to `end` where all rows have begun at `begun`, and none has ended
 * before `ending`. The steps are cut where another sweep is the cheapest correct one:
 *
 *   begin ---- beginning ---- begun ---- inner ---- ending ---- ending ---- end
 *
 * In a narrow window the first rows end before the last ones begin (ending < begun);
 * then `masked` takes the steps in between. All four steps are multiples of `delay`
 * in a strip: `begun` is rounded up and `ending` down, which is safe, since the
 * sweeps at the ends also compute inner steps correctly. */
static inline void tsn_dtw_sweep_plain(const tsn_dtw_plain_sweeps *sweeps,
                                       const tsn_dtw_strip *strip, size_t begin,
                                       size_t begun, size_t ending, size_t end) {
  size_t low = begun < ending ? begun : ending, high = begun < ending ? ending : begun;
  low = low < begin ? begin : low < end ? low : end;
  high = high < begin ? begin : high < end ? high : end;
  if (begin < low) sweeps->beginning(strip, begin, low);
  if (low < high) (begun < ending ? sweeps->inner : sweeps->masked)(strip, low, high);
  if (high < end) sweeps->ending(strip, high, end);
}

/* The kernels of one level and one precision.
 *
 * Choices of a vector of cells: bit k says that the diagonal predecessor of the cell
 * in lane k is not the best, bit lanes + k that the left one is better than that
 * above. Two bits rather than one of three values, because they are the masks of two
 * comparisons and go to memory without packing; they imply the order of ties, which
 * is diagonal, above, left. */
typedef struct {
  size_t lanes;
  size_t batch_depth;  /* rows of a strip of a batch */
  size_t choice_bytes; /* of a vector */
  /* Complete the state for a sweep from `begin`; its first [depth] are set. */
  void (*start)(const tsn_dtw_strip *strip, size_t begin);
  /* Samples of the rows of a strip, `stride` apart, in the order of the sweeps. */
  void (*place)(const real *samples, size_t stride, real *x);
  /* `count` vectors of one value. */
  void (*fill)(real *vectors, size_t count, real value);
  /* Element first + k stride of the series of each lane to vector k < count. */
  void (*interleave)(const real *const *series, size_t first, size_t stride, size_t count,
                     real *vectors);
  /* The least of each lane in `count` >= 1 vectors. */
  void (*least)(const real *vectors, size_t count, real *lanes);
  tsn_dtw_sweeps cost[2]; /* by TSANOM_COST_ABSOLUTE, TSANOM_COST_SQUARED */
} tsn_dtw_kernels;

/* Whether staggered sweeps exist at the level and suit the processor. */
static inline bool tsn_dtw_staggers(const tsn_dtw_kernels *kernels) {
  return kernels->cost[0].chain.inner && tsn_isa_minimum_of_bits_is_fast();
}

/* The name is a macro in single precision: an outer macro expands it first. */
#define DECLARE_TABLE(type) TSN_KERNEL_TABLE(type)
DECLARE_TABLE(tsn_dtw_kernels);
#undef DECLARE_TABLE

#endif
