/* SPDX-License-Identifier: BSD-3-Clause */
/* Call the library from C: a warping distance. */
#include <stdio.h>
#include <tsanom/dtw.h>

int main(void) {
  const double usual[] = {10, 10, 11, 12, 12, 12, 11, 10};
  const double today[] = {10, 10, 10, 10, 11, 12, 12, 11};
  double distance;
  tsanom_dtw_options options;
  tsanom_dtw_options_init(&options, sizeof options); /* the defaults, of this version */
  options.radius = 3;

  tsanom_status status =
      tsanom_dtw_distance(usual, 8, today, 8, &options, NULL, &distance);
  if (status != TSANOM_OK) {
    fprintf(stderr, "%s\n", tsanom_status_text(status));
    return 1;
  }
  printf("distance %g\n", distance);
  return 0;
}
