/* SPDX-License-Identifier: BSD-3-Clause */
/* Eight threads, two regions: do they behave alike? */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <tsanom/optics.h>

enum { THREADS = 8, REGIONS = 2 };

int main(void) {
  /* Seconds of each thread in each region: three threads had more to do. */
  const double seconds[THREADS][REGIONS] = {
      {1.02, 0.51}, {1.01, 0.50}, {1.61, 0.52}, {1.03, 0.49},
      {1.60, 0.50}, {1.00, 0.50}, {1.02, 0.49}, {1.62, 0.51},
  };
  size_t order[THREADS], classes;
  double reachability[THREADS], core[THREADS], cut, probability;
  int32_t label[THREADS];

  tsanom_optics_options options;
  tsanom_optics_options_init(&options, sizeof options);
  options.min_points = 1; /* a thread alone is a class of its own */
  tsanom_status status =
      tsanom_optics_order(&seconds[0][0], THREADS, REGIONS, REGIONS, &options, NULL, NULL,
                          0, order, reachability, NULL, core, NULL);
  if (status == TSANOM_OK) {
    status = tsanom_optics_split(order, reachability, core, THREADS, NULL, NULL, NULL, 0,
                                 label, &classes, &cut, &probability);
  }
  if (status != TSANOM_OK) {
    fprintf(stderr, "%s\n", tsanom_status_text(status));
    return 1;
  }
  printf("%zu classes; were there one, chance would do this at most %.2g of the time\n",
         classes, probability);
  for (size_t k = 0; k < THREADS; k++) {
    printf("thread %zu: class %" PRId32, order[k], label[order[k]]);
    if (isfinite(reachability[k])) printf(", reached over %.2f s", reachability[k]);
    printf("\n");
  }
  return 0;
}
