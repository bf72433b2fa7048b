/* SPDX-License-Identifier: BSD-3-Clause */
/* Compare heart rates that went through the same phases at different speeds. */
#include <stdio.h>
#include <tsanom/dtw.h>

int main(void) {
  const double reference[] = {1, 1, 2, 3, 4, 4, 3, 2, 1};
  const double delayed[] = {1, 1, 1, 1, 2, 3, 4, 4, 3, 2, 1};
  const double leaking[] = {1, 1, 2, 2, 2, 2, 2, 2, 1};
  tsanom_dtw_options options;
  tsanom_dtw_options_init(&options, sizeof options);
  options.radius = 3;

  const double *runs[] = {delayed, leaking};
  const size_t lengths[] = {11, 9};
  tsanom_series series = {.struct_size = sizeof series};
  series.count = 2;
  series.pointers = runs;
  series.lengths = lengths;
  double distances[2];
  tsanom_status status =
      tsanom_dtw_one_to_many(reference, 9, &series, &options, NULL, distances, NULL);
  if (status != TSANOM_OK) {
    fprintf(stderr, "%s\n", tsanom_status_text(status));
    return 1;
  }
  printf("delayed run: %g, leaking run: %g\n", distances[0], distances[1]);

  size_t path[2 * (9 + 11 - 1)], length;
  status =
      tsanom_dtw_path(reference, 9, delayed, 11, &options, NULL, path, &length, NULL);
  if (status != TSANOM_OK) return 1;
  for (size_t k = 0; k < length; k++) {
    printf("%zu-%zu%c", path[2 * k], path[2 * k + 1], k + 1 < length ? ' ' : '\n');
  }
  return 0;
}
