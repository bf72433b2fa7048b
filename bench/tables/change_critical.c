/* SPDX-License-Identifier: BSD-3-Clause */
/* change_critical [SEED [SERIES [LENGTH]]]: prints the rows of src/change/critical_table.h,
 * the critical gains of the module change, or those of one LENGTH, from SERIES simulated
 * series for each cell (default 20000, fewer of the long ones). Takes ten minutes of
 * processor time. The table is of seed 1, with 12000 series for 4000 samples and
 * 1500 for 16000.
 *
 * A cell is for series of one length and correlation that do not change; the largest is
 * taken of normal samples, of normal samples with 2 % outliers, and of a drift by a fifth
 * of the scatter. The gain that is exceeded with probability `level` depends on the
 * estimated correlation, by which the table is interpolated. So each pass moves the value
 * of a cell by the quantile of the excess over the interpolated value. */
#include <stdio.h>
#include <stdlib.h>

#include "change/change.h"
#include "change/critical.h"
#include "change/series.h"
#include "core/sort.h"

enum { KINDS = 3, PASSES = 8 };

/* No gain below this is called a change, also where drift_guard() alone keeps the error
 * rate; rows of lower levels are higher. */
#define LOWEST 14.0
#define STEP 1.0

typedef struct {
  double phi, gain; /* estimated; the largest: -infinity if there are too few samples */
} outcome;

static const change_kind kinds[KINDS] = {{.scatter = 0.05},
                                         {.scatter = 0.05, .outliers = 1},
                                         {.scatter = 0.05, .drift = 0.01}};

/* The largest threshold at which a change is reported, between `low` and the largest gain
 * of an interval: what an interval shows must be significant between its neighbors, too. */
static double largest_threshold(tsn_change_series *s, double gain) {
  double low = LOWEST - 4, high = gain;
  for (int i = 0; i < 7 && high > low; i++) {
    double middle = (low + high) / 2;
    tsn_change_search(s, middle);
    if (s->end_count > 2) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return high;
}

static void simulate(size_t n, double phi, int kind, size_t count, uint64_t seed,
                     outcome *outcomes) {
  tsn_arena arena = tsn_arena_measure();
  tsn_change_series s = {.n = n, .kernels = tsn_change_kernels_at(tsanom_isa_best())};
  tsn_change_layout(&arena, &s);
  size_t bytes = arena.used + TSN_ARENA_ALIGN;
  double *x = malloc(n * sizeof *x);
  void *block = malloc(bytes);
  if (!x || !block) abort();
  arena = (tsn_arena){.base = block, .capacity = bytes};
  tsn_change_layout(&arena, &s);
  change_kind series = kinds[kind];
  series.phi = phi;
  s.x = x;
  for (size_t i = 0; i < count; i++) {
    change_series(&seed, &series, x, n);
    bool enough = tsn_change_model(&s);
    double gain = enough ? tsn_change_search(&s, -100) : -INFINITY;
    outcomes[i].gain = gain > LOWEST - 4 ? largest_threshold(&s, gain) : gain;
    outcomes[i].phi = s.phi;
  }
  free(block);
  free(x);
}

/* The excess over the interpolated row that a share `level` of the outcomes has. */
static double excess(const outcome *outcomes, size_t count, const double *row,
                     double level, double *scratch) {
  for (size_t i = 0; i < count; i++) {
    scratch[i] = outcomes[i].gain - tsn_change_interpolate(row, outcomes[i].phi);
  }
  size_t k = count - 1 - (size_t)(level * (double)count);
  tsn_select(scratch, count, k);
  return scratch[k];
}

/* Cells without enough samples keep the value of the cell before them. */
static void fit(const outcome *outcomes, size_t count, double level, double *row,
                double *scratch) {
  for (int j = 0; j < TSN_CHANGE_PHIS; j++) row[j] = LOWEST;
  for (int pass = 0; pass < PASSES; pass++) {
    for (int j = 0; j < TSN_CHANGE_PHIS; j++) {
      double most = -INFINITY;
      for (int kind = 0; kind < KINDS; kind++) {
        const outcome *cell = outcomes + (size_t)(j * KINDS + kind) * count;
        most = fmax(most, excess(cell, count, row, level, scratch));
      }
      row[j] = isfinite(most) ? fmax(row[j] + most, LOWEST) : j ? row[j - 1] : LOWEST;
    }
  }
}

int main(int argc, char **argv) {
  uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
  size_t most = argc > 2 ? strtoull(argv[2], NULL, 10) : 20000;
  size_t only = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
  for (int i = 0; i < TSN_CHANGE_LENGTHS; i++) {
    size_t n = (size_t)tsn_change_lengths[i], count = most;
    if (only && n != only) continue;
    if (n > 1000) count = most * 2000 / n;
    outcome *outcomes = malloc(count * TSN_CHANGE_PHIS * KINDS * sizeof *outcomes);
    double *scratch = malloc(count * sizeof *scratch), rows[3][TSN_CHANGE_PHIS];
    if (!outcomes || !scratch) return 1;
    for (int j = 0; j < TSN_CHANGE_PHIS * KINDS; j++) {
      simulate(n, tsn_change_phis[j / KINDS], j % KINDS, count,
               seed + 1000 * (uint64_t)j + n, outcomes + (size_t)j * count);
    }
    for (int k = 0; k < TSN_CHANGE_LEVELS; k++) {
      fit(outcomes, count, tsn_change_levels[k], rows[k], scratch);
    }
    printf("    {");
    for (int k = 0; k < TSN_CHANGE_LEVELS; k++) {
      printf("%s{", k ? ",\n     " : "");
      for (int j = 0; j < TSN_CHANGE_PHIS; j++) {
        rows[k][j] = fmax(rows[k][j], k ? rows[k - 1][j] + STEP : LOWEST);
        printf("%s%.1f", j ? ", " : "", rows[k][j]);
      }
      printf("}");
    }
    printf("}, /* %zu */\n", n);
    free(scratch);
    free(outcomes);
  }
  return 0;
}
