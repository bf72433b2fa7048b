/* SPDX-License-Identifier: BSD-3-Clause */
/* The function that call.R calls: R passes all arguments by pointer. */
#include <tsanom/dtw.h>

void r_dtw_distance(const double *x, const int *n, const double *y, const int *m,
                    const int *radius, double *distance, int *status);

void r_dtw_distance(const double *x, const int *n, const double *y, const int *m,
                    const int *radius, double *distance, int *status) {
  tsanom_dtw_options options;
  *status = tsanom_dtw_options_init(&options, sizeof options);
  if (*status != TSANOM_OK) return;
  options.radius = (size_t)*radius;
  *status = tsanom_dtw_distance(x, (size_t)*n, y, (size_t)*m, &options, NULL, distance);
}
