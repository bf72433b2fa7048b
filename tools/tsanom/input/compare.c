/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs are the units: each has one value of a number, whose logarithms
 * tsanom_change_compare() compares. Only the number that decides is tested at the level;
 * the others are tested each for itself, and explain a change that this one shows. */
#include "compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const double compare_level = 0.01;

static const run_number *find(const run_numbers *n, const run_number *like) {
  for (size_t i = 0; i < n->count; i++) {
    if (n->item[i].kind == like->kind && !strcmp(n->item[i].name, like->name))
      return &n->item[i];
  }
  return NULL;
}

/* Logarithms of a number of all runs; 0: a run lacks it, or has none. */
static int take(const run_sets *sets, const run_number *like, double *x) {
  for (size_t i = 0; i < sets->a + sets->b; i++) {
    const run_number *one = find(&sets->run[i], like);
    if (!one || !(one->value > 0)) return 0;
    x[i] = log(one->value);
  }
  return 1;
}

static double mean_of(const double *x, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += x[i];
  return sum / (double)n;
}

static int compare_one(const run_sets *sets, const tsanom_change_options *options,
                       const run_number *like, const double *x, compared *row,
                       failure *why) {
  tsanom_change_comparison c = {.struct_size = sizeof c};
  tsanom_status status =
      tsanom_change_compare(x, sets->a, x + sets->a, sets->b, options, NULL, &c);
  if (status < 0) return fail_status(why, like->name, status);
  *row = (compared){.name = like->name,
                    .kind = like->kind,
                    .changed = c.significance <= options->level,
                    .a = exp(mean_of(x, sets->a)),
                    .b = exp(mean_of(x + sets->a, sets->b)),
                    .ratio = exp(c.difference),
                    .low = exp(c.low),
                    .high = exp(c.high),
                    .significance = c.significance,
                    .detectable = exp(c.detectable)};
  return 0;
}

/* The number that decides; regions, threads and ranks by what they add to the difference;
 * signs. */
static int by_weight(const void *a, const void *b) {
  const compared *x = a, *y = b;
  if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
  if (x->kind == NUMBER_LOOP) return strcmp(x->name, y->name);
  double one = fabs(x->b - x->a), other = fabs(y->b - y->a);
  return one < other ? 1 : one > other ? -1 : strcmp(x->name, y->name);
}

int compare_sets(const run_sets *sets, const tsanom_change_options *options,
                 comparison *c, failure *why) {
  size_t runs = sets->a + sets->b;
  double *x = calloc(runs, sizeof *x);
  compared *row = calloc(sets->run[0].count + 1, sizeof *row);
  if (!x || !row) {
    free(x);
    free(row);
    return fail(why, "out of memory");
  }
  int failed = 0;
  *c = (comparison){.row = row,
                    .a = sets->a,
                    .b = sets->b,
                    .paired = options->paired,
                    .sequential = options->sequential};
  for (size_t k = 0; k < sets->run[0].count && !failed; k++) {
    const run_number *like = &sets->run[0].item[k];
    if (!take(sets, like, x)) continue;
    failed = compare_one(sets, options, like, x, &row[c->rows], why);
    c->rows += !failed;
  }
  if (!failed) qsort(row, c->rows, sizeof *row, by_weight);
  if (!failed && (!c->rows || row[0].kind != NUMBER_LOOP)) {
    failed = fail(why, "the runs have no iterations in common");
  }
  free(x);
  return failed;
}

void comparison_free(comparison *c) {
  free(c->row);
  run_labels_free(&c->labels);
  *c = (comparison){0};
}

int comparison_is_slower(const comparison *c, double threshold) {
  return c->row[0].changed && c->row[0].ratio > 1 + threshold;
}
