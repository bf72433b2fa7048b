/* SPDX-License-Identifier: BSD-3-Clause */
/* Do eight threads behave the same in two regions? */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <tsanom/optics.h>

enum { THREADS = 8, REGIONS = 2 };

int main(void) {
  /* Seconds of each thread in each region: three threads had more work. */
  const double seconds[THREADS][REGIONS] = {
      {1.02, 0.51}, {1.01, 0.50}, {1.61, 0.52}, {1.03, 0.49},
      {1.60, 0.50}, {1.00, 0.50}, {1.02, 0.49}, {1.62, 0.51},
  };
  size_t order[THREADS], classes;
  double reachability[THREADS], core[THREADS], cut, probability;
  int32_t label[THREADS];

  tsanom_optics_ordering ordering = {.struct_size = sizeof ordering};
  ordering.order = order;
  ordering.reachability = reachability;
  ordering.core_distance = core;
  tsanom_optics_options options;
  tsanom_optics_options_init(&options, sizeof options);
  options.min_points = 1; /* a single thread may be a class */
  tsanom_status status = tsanom_optics_order(&seconds[0][0], THREADS, REGIONS, REGIONS,
                                             &options, NULL, &ordering);
  if (status == TSANOM_OK) {
    status =
        tsanom_optics_split(&ordering, NULL, NULL, label, &classes, &cut, &probability);
  }
  if (status != TSANOM_OK) {
    fprintf(stderr, "%s\n", tsanom_status_text(status));
    return 1;
  }
  printf("%zu classes; probability of such a gap in one class: at most %.2g\n", classes,
         probability);
  for (size_t k = 0; k < THREADS; k++) {
    printf("thread %zu: class %" PRId32, order[k], label[order[k]]);
    if (isfinite(reachability[k])) printf(", reachability %.2f s", reachability[k]);
    printf("\n");
  }
  return 0;
}
