/* SPDX-License-Identifier: BSD-3-Clause */
/* Valid C11 and C++17: the smallest program that uses the installed library. */
#include <stdio.h>
#include <tsanom/tsanom.h>

int main(void) {
  const double x[] = {1, 2, 3}, y[] = {1, 3};
  double distance = -1;
  tsanom_status status = tsanom_dtw_distance(x, 3, y, 2, NULL, NULL, &distance);
  printf("libtsanom %s: %s, distance %g\n", tsanom_version(), tsanom_status_text(status),
         distance);
  return status == TSANOM_OK && distance == 1 ? 0 : 1;
}
