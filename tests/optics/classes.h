/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSANOM_TEST_OPTICS_CLASSES_H
#define TSANOM_TEST_OPTICS_CLASSES_H

#include <math.h>
#include <tsanom/optics.h>

#include "optics/naive.h"
#include "support/check.h"

/* How many classes points fall in without an eps, and which; min_points of 0 is the default. */
static inline size_t classes_of(const double *points, size_t n, size_t dimensions,
                                size_t min_points, double resolution, int32_t *labels) {
  tsanom_optics_options options = optics_options(min_points, INFINITY, 0);
  tsanom_optics_split_options split;
  tsanom_optics_split_options_init(&split, sizeof split);
  split.resolution = resolution;
  plot p = plot_new(n);
  size_t clusters = 0;
  double cut = -1, probability = -1;
  tsanom_optics_ordering ordering = plot_ordering(&p);
  CHECK_STATUS(
      tsanom_optics_order(points, n, dimensions, dimensions, &options, NULL, &ordering),
      TSANOM_OK);
  CHECK_STATUS(
      tsanom_optics_split(&ordering, &split, NULL, labels, &clusters, &cut, &probability),
      TSANOM_OK);
  bool valleys = ordering.min_points > 1 && clusters > 1;
  cr_assert(valleys ? isnan(cut) : cut >= resolution);
  cr_assert(probability >= 0 && probability <= (clusters > 1 ? 0.05 : 1));
  plot_free(&p);
  return clusters;
}

#endif
