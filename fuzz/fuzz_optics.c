/* SPDX-License-Identifier: BSD-3-Clause */
/* The order of points beside the definition, bit by bit, for every metric and search, of
 * points, of a square and of a condensed matrix; and the clusters of a cut. */
#include <tsanom/optics.h>

#include "input.h"
#include "optics/naive.h"
#include "support/ask.h"

enum { MOST = 40, MOST_DIMENSIONS = 5 };

typedef struct {
  size_t n, dimensions, ld;
  double points[MOST * (MOST_DIMENSIONS + 1)];
  tsanom_optics_options options;
} problem;

static void take_problem(fuzz_input *in, problem *p) {
  tsanom_optics_options_init(&p->options, sizeof p->options);
  p->n = take_between(in, 1, MOST);
  p->dimensions = take_between(in, 1, MOST_DIMENSIONS);
  p->ld = p->dimensions + take_between(in, 0, 1);
  p->options.metric = (int32_t)take_between(in, 0, 2);
  p->options.search = (int32_t)take_between(in, 0, 2);
  p->options.min_points = take_between(in, 1, p->n);
  take_samples(in, p->points, p->n * p->ld);
}

/* What the samples allow: success, or the error of one of them. */
static int accepts(const problem *p, tsanom_status status) {
  int nonfinite = 0, large = 0;
  for (size_t i = 0; i < p->n; i++) {
    nonfinite |= !all_finite(p->points + i * p->ld, p->dimensions);
    large |= largest_magnitude(p->points + i * p->ld, p->dimensions) > 1e150;
  }
  if (status == TSANOM_E_NONFINITE) return nonfinite;
  if (status == TSANOM_E_VALUE) return large;
  return status == TSANOM_OK && !nonfinite && !large;
}

/* Infinity, or a distance that occurs. */
static double take_eps(fuzz_input *in, const double *d, size_t n) {
  size_t kind = take_byte(in), at = take_byte(in) * n * n / 256;
  return kind < 100 ? INFINITY : kind < 200 ? d[at] : d[at] / 2;
}

static tsanom_status order(const problem *p, const tsanom_exec *exec, plot *found) {
  tsanom_optics_ordering ordering = plot_ordering(found);
  size_t bytes;
  tsanom_exec ask = ask_exec(exec, &bytes);
  demand(tsanom_optics_order(NULL, p->n, p->dimensions, p->ld, &p->options, &ask, NULL) ==
         TSANOM_E_WORKSPACE);
  tsanom_exec own = with_work(*exec, bytes);
  tsanom_status status = tsanom_optics_order(p->points, p->n, p->dimensions, p->ld,
                                             &p->options, &own, &ordering);
  drop_work(&own);
  return status;
}

static void check_matrices(const problem *p, const double *square, plot *found,
                           const plot *expected) {
  double condensed[MOST * MOST], *next = condensed;
  tsanom_optics_options options = p->options;
  tsanom_optics_ordering ordering = plot_ordering(found);
  options.metric = options.search = 0;
  for (size_t i = 0; i < p->n; i++) {
    for (size_t j = i + 1; j < p->n; j++) *next++ = square[i * p->n + j];
  }
  demand(tsanom_optics_order_matrix(square, p->n, p->n, &options, NULL, &ordering) ==
         TSANOM_OK);
  demand(plot_difference(found, expected) == p->n);
  demand(tsanom_optics_order_matrix(condensed, p->n, 0, &options, NULL, &ordering) ==
         TSANOM_OK);
  demand(plot_difference(found, expected) == p->n);
}

static void check_cut(const plot *found, double eps) {
  int32_t labels[MOST], current = TSANOM_NOISE, next = 0;
  size_t clusters = SIZE_MAX;
  tsanom_optics_ordering ordering = plot_ordering(found);
  demand(tsanom_optics_cut(&ordering, eps, NULL, labels, &clusters) == TSANOM_OK);
  for (size_t k = 0; k < found->n; k++) {
    size_t point = found->order[k];
    if (found->reachability[k] > eps) {
      current = found->core[point] <= eps ? next++ : TSANOM_NOISE;
    }
    demand(labels[point] == current);
  }
  demand(clusters == (size_t)next);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static problem p;
  fuzz_input in = {data, data + size};
  tsanom_exec exec = take_exec(&in);
  size_t height = take_byte(&in);
  take_problem(&in, &p);
  plot found = plot_new(p.n);
  double *d = naive_matrix(p.points, p.n, p.dimensions, p.ld, p.options.metric);
  tsanom_status status = order(&p, &exec, &found);
  demand(accepts(&p, status));
  if (status == TSANOM_OK) {
    p.options.eps = take_eps(&in, d, p.n);
    plot expected = naive_optics(d, p.n, p.options.min_points, p.options.eps);
    demand(order(&p, &exec, &found) == TSANOM_OK);
    demand(plot_difference(&found, &expected) == p.n);
    check_matrices(&p, d, &found, &expected);
    check_cut(&found, d[height * p.n * p.n / 256]);
    plot_free(&expected);
  }
  free(d);
  plot_free(&found);
  return 0;
}
