/* SPDX-License-Identifier: BSD-3-Clause */
/* What the array clauses of OpenMP cost, in the manner of EPCC's arraybench: a
 * parallel region whose threads write and sum an array of their own is timed with
 * the array given by private, firstprivate and copyin, and without a clause.
 *
 * Every thread checks the array it is given: its own scratch, or its copy of the
 * master's values, of which the first changes from region to region. */
#include <math.h>
#include <omp.h>
#include <stdio.h>

#include "workload.h"

/* EPCC's largest default, 3^10. */
enum { LENGTH = 59049, LANES = 8 };

/* The clauses; one above is the tag of their beats. */
enum { NO_CLAUSE, PRIVATE, FIRSTPRIVATE, COPYIN, CLAUSES };

static const char *const clause_names[CLAUSES] = {"none", "private", "firstprivate",
                                                  "copyin"};

static const struct workload_program program = {
    .name = "arraybench",
    .purpose = "Costs of OpenMP's array clauses, in the manner of EPCC",
    .iteration = "one parallel region, in each of its threads",
    .cycle = 1,
    .sizes = {
        {LENGTH, 20}, {LENGTH, 4000}, {LENGTH, 8000}, {LENGTH, 30000}, {LENGTH, 150000}}};

static double array[LENGTH]; /* the master's, for private and firstprivate */
static double copied[LENGTH];
#pragma omp threadprivate(copied)

/* Kept out of line, so that no array is optimised away. */
__attribute__((noinline)) static void fill(double *a, double value) {
  for (int i = 0; i < LENGTH; ++i) a[i] = value;
}

/* All values are whole numbers, so that sums are exact in any order. */
__attribute__((noinline)) static double sum(const double *a) {
  double lane[LANES] = {0};
  double total = 0;
  const int whole = LENGTH / LANES * LANES;
  for (int i = 0; i < whole; i += LANES) {
    for (int l = 0; l < LANES; ++l) lane[l] += a[i + l];
  }
  for (int l = 0; l < LANES; ++l) total += lane[l];
  for (int i = whole; i < LENGTH; ++i) total += a[i];
  return total;
}

/* An array without values of its own: write, then sum. */
static double use_scratch(struct workload_thread *me, double *a, uint32_t clause) {
  double error = 0;
  if (!me->stopped) {
    const double value = me->number + 1;
    fill(a, value);
    error = fabs(sum(a) - value * LENGTH);
    workload_advance(me, 1, clause + 1);
  }
  return error;
}

/* A copy of the master's array, all 1 but the first: sum, then write. */
static double use_copy(struct workload_thread *me, double *a, uint32_t clause,
                       double first) {
  double error = 0;
  if (!me->stopped) {
    error = fabs(sum(a) - (first + LENGTH - 1));
    fill(a, me->number + 2);
    workload_advance(me, 1, clause + 1);
  }
  return error;
}

static double no_clause(struct workload *w, double first) {
  double error = 0;
  (void)first;
#pragma omp parallel num_threads(w->threads) reduction(worse : error)
  error = use_scratch(workload_enter(w), copied, NO_CLAUSE);
  return error;
}

static double private_clause(struct workload *w, double first) {
  double error = 0;
  (void)first;
#pragma omp parallel num_threads(w->threads) private(array) reduction(worse : error)
  error = use_scratch(workload_enter(w), array, PRIVATE);
  return error;
}

static double firstprivate_clause(struct workload *w, double first) {
  double error = 0;
  array[0] = first;
#pragma omp parallel num_threads(w->threads) firstprivate(array) reduction(worse : error)
  error = use_copy(workload_enter(w), array, FIRSTPRIVATE, first);
  return error;
}

/* The master's copy is the original: it is written again for the next region. */
static double copyin_clause(struct workload *w, double first) {
  double error = 0;
  fill(copied, 1);
  copied[0] = first;
#pragma omp parallel num_threads(w->threads) copyin(copied) reduction(worse : error)
  error = use_copy(workload_enter(w), copied, COPYIN, first);
  return error;
}

static double (*const region[CLAUSES])(struct workload *, double) = {
    no_clause, private_clause, firstprivate_clause, copyin_clause};

int main(int argc, char **argv) {
  struct workload w;
  workload_open(&w, &program, argc, argv);
  double seconds[CLAUSES] = {0};
  double error = 0;
  fill(array, 1);
  workload_start(&w, WORKLOAD_MAX_THREADS, (uint64_t)w.size.steps * CLAUSES);
  for (int repetition = 0; repetition < w.size.steps; ++repetition) {
    for (int clause = 0; clause < CLAUSES; ++clause) {
      const double start = omp_get_wtime();
      error = workload_worse(error, region[clause](&w, repetition));
      seconds[clause] += omp_get_wtime() - start;
    }
  }
  workload_stop(&w);

  for (int clause = 0; clause < CLAUSES; ++clause) {
    printf("%s: %-12s %8.2f us per region, %+8.2f us over none\n", program.name,
           clause_names[clause], 1e6 * seconds[clause] / w.size.steps,
           1e6 * (seconds[clause] - seconds[NO_CLAUSE]) / w.size.steps);
  }
  /* The master's array must have come through all its private copies unchanged. */
  error = workload_worse(error, fabs(sum(array) - (w.size.steps - 1 + LENGTH - 1)));
  return workload_close(&w, error, 0);
}
