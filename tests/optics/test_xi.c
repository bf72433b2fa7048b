/* SPDX-License-Identifier: BSD-3-Clause */
/* Steep areas of plots made for the purpose. */
#include <math.h>
#include <tsanom/optics.h>

#include "support/check.h"

/* A fall with flat steps inside is one, unless there are more than min_points. */
static size_t clusters_after_flat_steps(size_t flat) {
  enum { MOST = 20 };
  size_t order[MOST], predecessor[MOST];
  double reachability[MOST], core[MOST];
  size_t n = flat + 8, count = 0;
  for (size_t i = 0; i < n; i++) {
    order[i] = i;
    predecessor[i] = i ? i - 1 : TSANOM_NONE;
    reachability[i] = i == 0 ? INFINITY : i <= flat + 1 ? 1 : 0.2;
    core[i] = 0.1;
  }
  tsanom_optics_ordering ordering = {.struct_size = sizeof ordering};
  ordering.n = n;
  ordering.order = order;
  ordering.predecessor = predecessor;
  ordering.reachability = reachability;
  ordering.core_distance = core;
  tsanom_optics_xi_options options;
  tsanom_optics_xi_options_init(&options, sizeof options);
  options.min_points = 3;
  CHECK_STATUS(tsanom_optics_xi(&ordering, &options, NULL, NULL, 0, &count, NULL),
               TSANOM_OK);
  return count;
}

Test(optics_xi, a_steep_area_has_at_most_min_points_flat_steps_in_a_row) {
  cr_assert(clusters_after_flat_steps(3) == 1);
  cr_assert(clusters_after_flat_steps(4) == 2);
}
