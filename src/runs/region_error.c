/* SPDX-License-Identifier: BSD-3-Clause */
/* Standard errors of the region times of threads, from the samples that each time is the
 * sum of: the visits of the region, or the parts of these.
 *
 * On a busy machine neighboring samples are alike, because a thread keeps its processor
 * and that processor's load for a while. So the samples are put into 10 batches, in
 * order:
 *
 *     samples   | 1 2 3 4 | 5 6 7 8 | ...           thread i
 *     batches   |  b_i1   |  b_i2   | ...           T_i = sum_q b_iq
 *
 * Iterations that are longer in all threads are no noise of the differences of threads.
 * With B_q, the mean over the n threads of b_iq, the residuals are e_iq = b_iq - T_i B_q
 * / sum B, and
 *
 *     error_i^2 = n / (n - 1) * 10 / 9 * sum_q e_iq^2 * (1 + r) / (1 - r)
 *
 * Here r is the correlation of neighboring batches: sum e_iq e_i,q+1 / sum e_iq^2 over
 * all threads, and 1/10, because residuals of independent batches have -1/10. It counts
 * if it is positive (batch means: Law and Kelton, Simulation Modeling and Analysis,
 * section 9.5). */
#include <math.h>
#include <tsanom/base.h>

#include "runs/spmd.h"

enum { BATCHES = TSN_SPMD_BATCHES };

/* Beyond, 10 batches cannot show how far a correlation reaches. */
static const double correlation_most = 0.8;

bool tsn_spmd_take_samples(tsn_spmd_samples *samples, tsn_pool *pool, size_t cells) {
  samples->count = tsn_pool_take(pool, cells, sizeof *samples->count);
  samples->seen = tsn_pool_take(pool, cells, sizeof *samples->seen);
  samples->batch = tsn_pool_take(pool, cells, BATCHES * sizeof *samples->batch);
  return samples->count && samples->seen && samples->batch;
}

void tsn_spmd_add_sample(const tsn_spmd_samples *samples, size_t cell, double value) {
  size_t batch = samples->seen[cell]++ * BATCHES / samples->count[cell];
  samples->batch[cell * BATCHES + batch] += value;
}

static double sum(const double *batch) {
  double total = 0;
  for (size_t q = 0; q < BATCHES; q++) total += batch[q];
  return total;
}

/* The residuals of one row, in place of its batches. */
static void take_residuals(double *batch, const double *all, double part) {
  for (size_t q = 0; q < BATCHES; q++) batch[q] -= part * all[q];
}

/* sum_q e_q e_q+lag. */
static double product(const double *residual, size_t lag) {
  double total = 0;
  for (size_t q = 0; q + lag < BATCHES; q++) total += residual[q] * residual[q + lag];
  return total;
}

static double factor_of_correlation(double products, double squares) {
  double r = squares > 0 ? products / squares + 1.0 / BATCHES : 0;
  r = fmin(fmax(r, 0), correlation_most);
  return (1 + r) / (1 - r);
}

/* One column: cells k, k + regions, ... */
static void errors_of_region(const tsn_spmd_samples *s, size_t rows, size_t regions,
                             size_t k, double *error) {
  double all[BATCHES] = {0}, products = 0, squares = 0;
  size_t known = 0;
  for (size_t i = 0; i < rows; i++) {
    size_t cell = i * regions + k;
    if (s->count[cell] < BATCHES) continue;
    known++;
    for (size_t q = 0; q < BATCHES; q++) all[q] += s->batch[cell * BATCHES + q];
  }
  double total = sum(all), others = known > 1 ? (double)(known - 1) : 1;
  for (size_t i = 0; i < rows; i++) {
    size_t cell = i * regions + k;
    double *batch = s->batch + cell * BATCHES;
    error[cell] = NAN;
    if (s->count[cell] < BATCHES || known < 2) continue;
    take_residuals(batch, all, total > 0 ? sum(batch) / total : 0);
    error[cell] =
        sqrt((others + 1) / others * product(batch, 0) * BATCHES / (BATCHES - 1));
    squares += product(batch, 0);
    products += product(batch, 1);
  }
  double factor = sqrt(factor_of_correlation(products, squares));
  for (size_t i = 0; i < rows; i++) error[i * regions + k] *= factor;
}

void tsn_spmd_errors(const tsn_spmd_samples *samples, size_t rows, size_t regions,
                     double *error) {
  for (size_t k = 0; k < regions; k++) {
    errors_of_region(samples, rows, regions, k, error);
  }
}
