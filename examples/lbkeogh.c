/* SPDX-License-Identifier: BSD-3-Clause */
/* Lower bounds of a DTW distance, from the fastest to the tightest. */
#include <math.h>
#include <stdio.h>
#include <tsanom/dtw.h>
#include <tsanom/lbkeogh.h>

enum { SAMPLES = 200, RADIUS = 10 };

int main(void) {
  double query[SAMPLES], candidate[SAMPLES], lower[SAMPLES], upper[SAMPLES];
  for (int i = 0; i < SAMPLES; i++) {
    query[i] = sin(0.1 * i);
    candidate[i] = 1.5 * sin(0.1 * i + 0.5) + 0.001 * i;
  }
  tsanom_lbkeogh_options options;
  tsanom_lbkeogh_options_init(&options, sizeof options);
  options.radius = RADIUS;
  tsanom_dtw_options dtw;
  tsanom_dtw_options_init(&dtw, sizeof dtw);
  dtw.radius = RADIUS;

  double kim, keogh, enhanced, improved, distance;
  if (tsanom_lbkeogh_envelope(query, SAMPLES, RADIUS, NULL, lower, upper) ||
      tsanom_lbkeogh_kim(candidate, SAMPLES, query, SAMPLES, TSANOM_COST_ABSOLUTE, NULL,
                         &kim) ||
      tsanom_lbkeogh_bound(candidate, lower, upper, SAMPLES, TSANOM_COST_ABSOLUTE, NULL,
                           &keogh) ||
      tsanom_lbkeogh_enhanced(candidate, query, lower, upper, SAMPLES, &options, NULL,
                              &enhanced) ||
      tsanom_lbkeogh_improved(candidate, query, lower, upper, SAMPLES, &options, NULL,
                              &improved) ||
      tsanom_dtw_distance(query, SAMPLES, candidate, SAMPLES, &dtw, NULL, &distance)) {
    return 1;
  }
  printf("LB_Kim %.3f  LB_Keogh %.3f  LB_Enhanced %.3f  LB_Improved %.3f  DTW %.3f\n",
         kim, keogh, enhanced, improved, distance);
  return kim <= distance && keogh <= improved && improved <= distance ? 0 : 1;
}
