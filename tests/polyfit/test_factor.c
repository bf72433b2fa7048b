/* SPDX-License-Identifier: BSD-3-Clause */
/* The factorization of a few terms beside that of any number: the same bits. */
#include <math.h>
#include <string.h>

#include "polyfit/polyfit_kernel.h"
#include "polyfit/polyfit_solve.h"
#include "support/check.h"
#include "support/isa.h"
#include "support/random.h"

enum { MOST = TSN_POLYFIT_FEW_TERMS, LD = TSN_POLYFIT_ROW, SUMS = 3 * MOST };

typedef struct {
  _Alignas(64) double inverse[MOST * LD];
  double z[MOST];
  int done;
} factors;

/* Sums of the moments of random samples; few of them give a singular matrix. */
static void make_sums(double *sums, int terms, uint64_t *seed) {
  int powers = 2 * terms - 1, samples = 1 + (int)(random_bits(seed) % 8);
  for (int k = 0; k < 3 * terms; k++) sums[k] = 0;
  for (int i = 0; i < samples; i++) {
    double angle = acos(2 * random_unit(seed) - 1), y = random_unit(seed) - 0.5;
    for (int k = 0; k < powers; k++) sums[k] += cos(k * angle);
    for (int k = 0; k < terms; k++) sums[powers + k] += cos(k * angle) * y;
  }
}

static void check_equal(const factors *few, const factors *any, int terms) {
  cr_assert(few->done == any->done);
  if (!few->done) return;
  cr_assert(memcmp(few->z, any->z, (size_t)terms * sizeof *few->z) == 0);
  for (int k = 0; k < terms; k++) {
    size_t above = (size_t)(k + 1) * sizeof *few->inverse;
    const double *column = few->inverse + (ptrdiff_t)k * LD;
    cr_assert(memcmp(column, any->inverse + (ptrdiff_t)k * LD, above) == 0,
              "%d terms, column %d", terms, k);
  }
}

Test(polyfit_factor, few_terms_have_the_bits_of_any_number) {
  uint64_t seed = 1;
  int done = 0, singular = 0;
  for (int trial = 0; trial < CASES(5000); trial++) {
    _Alignas(64) double rows[MOST * LD];
    double sums[SUMS];
    int terms = 1 + trial % MOST;
    factors few, any;
    make_sums(sums, terms, &seed);
    few.done = tsn_polyfit_factor_few(sums, terms, 0x1p-30, LD, rows, few.inverse, few.z);
    few.done ? done++ : singular++;
    FOR_EACH_ISA (isa) {
      any.done = tsn_polyfit_kernels_at(isa)->factor(sums, terms, 0x1p-30, LD, rows,
                                                     any.inverse, any.z);
      check_equal(&few, &any, terms);
    }
  }
  cr_assert(done > CASES(1000) && singular > CASES(500), "%d, %d", done, singular);
}
