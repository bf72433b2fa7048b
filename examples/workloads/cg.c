/* SPDX-License-Identifier: BSD-3-Clause */
/* Conjugate gradients on a sparse symmetric positive definite matrix, in the
 * manner of NPB CG: random pattern, a fixed number of iterations per solve.
 *
 * Row i holds columns i +- o for random offsets o, so that symmetry needs no
 * sorting and each thread makes its own rows; the value at (i, j) is a hash of
 * the pair, and the diagonal dominates by one to four times, which sets the
 * condition number. The right-hand side is made from a known solution, which every
 * solve must find again. */
#include <math.h>
#include <stdlib.h>

#include "workload.h"

enum { OFFSETS = 256, PER_ROW = 2 * OFFSETS, ITERATIONS = 25, TAG_PRODUCT = 1 };
enum { SUM_STRIDE = 16 }; /* doubles from one thread's sum to the next */

static const struct workload_program program = {
    .name = "cg",
    .purpose = "Conjugate gradients on a sparse symmetric positive definite matrix",
    .iteration = "one row of the product of matrix and vector",
    .cycle = 10,
    .sizes = {{1000, 2}, {20000, 2}, {20000, 6}, {40000, 30}, {80000, 90}}};

struct system {
  int n;
  uint64_t seed;
  int32_t *column; /* n rows of PER_ROW */
  double *value;
  double *x, *r, *p, *q;
  double *sum; /* one partial dot product a thread, a cache line apart */
};

static double entry(int i, int j, uint64_t seed) {
  const uint64_t low = (uint64_t)(i < j ? i : j);
  const uint64_t high = (uint64_t)(i < j ? j : i);
  uint64_t state = seed ^ (low << 32 | high);
  return workload_uniform(&state, -1, 1);
}

static double diagonal(int i, uint64_t seed) {
  return PER_ROW * (2.5 + 1.5 * entry(i, i, seed));
}

static int compare(const void *a, const void *b) {
  const int32_t x = *(const int32_t *)a;
  const int32_t y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

/* Distinct offsets below n / 2, so that no pair (i, j) comes twice. */
static void choose_offsets(int32_t offset[OFFSETS], int n, uint64_t seed) {
  const int32_t stratum = (n / 2 - 1) / OFFSETS;
  for (int k = 0; k < OFFSETS; ++k) {
    offset[k] = 1 + k * stratum + (int32_t)(workload_random(&seed) % (uint64_t)stratum);
  }
}

static void make_row(struct system *s, int i, const int32_t offset[OFFSETS]) {
  int32_t *column = s->column + (size_t)i * PER_ROW;
  double *value = s->value + (size_t)i * PER_ROW;
  for (int k = 0; k < OFFSETS; ++k) {
    column[k] = (i + offset[k]) % s->n;
    column[OFFSETS + k] = (i - offset[k] + s->n) % s->n;
  }
  qsort(column, PER_ROW, sizeof *column, compare);
  for (int k = 0; k < PER_ROW; ++k) value[k] = entry(i, column[k], s->seed);
}

static double row_product(const struct system *s, int i, const double *x) {
  const int32_t *column = s->column + (size_t)i * PER_ROW;
  const double *value = s->value + (size_t)i * PER_ROW;
  double sum = diagonal(i, s->seed) * x[i];
  for (int k = 0; k < PER_ROW; ++k) sum += value[k] * x[column[k]];
  return sum;
}

/* The whole team's sum, added in thread order so that it is reproducible. */
static double team_sum(const struct workload_thread *me, double *sums, double mine) {
  sums[(size_t)me->number * SUM_STRIDE] = mine;
#pragma omp barrier
  double total = 0;
  for (int t = 0; t < me->team; ++t) total += sums[(size_t)t * SUM_STRIDE];
  return total;
}

/* One iteration; two arrays of partial sums in turn spare a barrier each. */
static double iterate(struct workload_thread *me, struct system *s, double rho) {
  const struct workload_share rows = workload_share(me, s->n);
  double *second = s->sum + (size_t)me->team * SUM_STRIDE;
  double pq = 0;
  for (int i = rows.first; i < rows.last; ++i) {
    s->q[i] = row_product(s, i, s->p);
    pq += s->p[i] * s->q[i];
    if (!workload_advance(me, 1, TAG_PRODUCT)) break;
  }
  const double alpha = rho / team_sum(me, s->sum, pq);
  double rr = 0;
  for (int i = rows.first; i < rows.last; ++i) {
    s->x[i] += alpha * s->p[i];
    s->r[i] -= alpha * s->q[i];
    rr += s->r[i] * s->r[i];
  }
  const double next = team_sum(me, second, rr);
  for (int i = rows.first; i < rows.last; ++i) s->p[i] = s->r[i] + next / rho * s->p[i];
#pragma omp barrier
  return next;
}

/* Solves A x = b from x = 0; b lies in r. */
static void solve(struct workload_thread *me, struct system *s) {
  const struct workload_share rows = workload_share(me, s->n);
  double rr = 0;
  for (int i = rows.first; i < rows.last; ++i) {
    s->x[i] = 0;
    s->p[i] = s->r[i];
    rr += s->r[i] * s->r[i];
  }
  double rho = team_sum(me, s->sum, rr);
#pragma omp barrier
  for (int k = 0; k < ITERATIONS; ++k) rho = iterate(me, s, rho);
}

/* The known solution of one solve. */
static double known(int i, int step) {
  return cos(0.001 * i * (step + 1)) + 0.1 * step;
}

static void right_hand_side(struct workload_thread *me, struct system *s, int step) {
  const struct workload_share rows = workload_share(me, s->n);
  for (int i = rows.first; i < rows.last; ++i) s->p[i] = known(i, step);
#pragma omp barrier
  for (int i = rows.first; i < rows.last; ++i) s->r[i] = row_product(s, i, s->p);
#pragma omp barrier
}

static double my_error(const struct workload_thread *me, const struct system *s,
                       int step) {
  const struct workload_share rows = workload_share(me, s->n);
  double error = 0;
  for (int i = rows.first; i < rows.last; ++i) {
    error = workload_worse(error, fabs(s->x[i] - known(i, step)));
  }
  return error;
}

static struct system make_system(const struct workload *w) {
  const int n = w->size.points;
  const size_t rows = (size_t)n;
  struct system s = {.n = n, .seed = w->seed};
  s.column = workload_allocate(w, rows * PER_ROW, sizeof *s.column);
  s.value = workload_allocate(w, rows * PER_ROW, sizeof *s.value);
  s.x = workload_allocate(w, 4 * rows, sizeof *s.x);
  s.r = s.x + rows;
  s.p = s.r + rows;
  s.q = s.p + rows;
  s.sum = workload_allocate(w, 2 * (size_t)w->threads * SUM_STRIDE, sizeof *s.sum);
  int32_t offset[OFFSETS];
  choose_offsets(offset, n, w->seed);
#pragma omp parallel for num_threads(w->threads)
  for (int i = 0; i < n; ++i) make_row(&s, i, offset);
  return s;
}

int main(int argc, char **argv) {
  struct workload w;
  workload_open(&w, &program, argc, argv);
  struct system s = make_system(&w);
  double error = 0;
  workload_start(&w, s.n,
                 (uint64_t)w.size.steps * ITERATIONS * (uint64_t)(s.n / w.threads));
#pragma omp parallel num_threads(w.threads) reduction(worse : error)
  {
    struct workload_thread *me = workload_enter(&w);
    for (int step = 0; step < w.size.steps; ++step) {
      right_hand_side(me, &s, step);
      solve(me, &s);
      error = workload_worse(error, my_error(me, &s, step));
    }
  }
  workload_stop(&w);
  free(s.column);
  free(s.value);
  free(s.x);
  free(s.sum);
  return workload_close(&w, error, 1e-9);
}
