/* SPDX-License-Identifier: BSD-3-Clause */
/* The nearest of some series to a query, and the query's place in a stream. */
#include <math.h>
#include <stdio.h>
#include <tsanom/search.h>

enum { SERIES = 100, LENGTH = 64, SAMPLES = SERIES * LENGTH };

int main(void) {
  static double series[SAMPLES];
  double query[LENGTH];
  for (int i = 0; i < SAMPLES; i++) series[i] = sin(0.00004 * i * i);
  for (int i = 0; i < LENGTH; i++) query[i] = 1.01 * series[42 * LENGTH + i] + 0.01;

  tsanom_search_options options;
  tsanom_search_options_init(&options, sizeof options);
  options.radius = 5;
  options.z_normalize = 1;

  tsanom_search_index *index;
  size_t nearest[3], start, found;
  double distances[3], distance;
  tsanom_search_report report;
  tsanom_status status =
      tsanom_search_index_create(series, SERIES, LENGTH, LENGTH, &options, NULL, &index);
  if (status == TSANOM_OK) {
    status = tsanom_search_nearest(index, query, 1, LENGTH, 3, NULL, NULL, 0, nearest,
                                   distances, &report);
    tsanom_search_index_destroy(index);
  }
  if (status == TSANOM_OK) {
    printf("series %zu, %zu, %zu; DTW of %d of %d\n", nearest[0], nearest[1], nearest[2],
           (int)(report.abandoned + report.computed), (int)report.candidates);
    status = tsanom_search_stream(query, LENGTH, series, SAMPLES, &options, NULL, NULL, 0,
                                  &start, &distance, &found, &report);
  }
  if (status != TSANOM_OK) {
    (void)fprintf(stderr, "%s\n", tsanom_status_text(status));
    return 1;
  }
  printf("in the stream at %zu; DTW of %d of %d\n", start,
         (int)(report.abandoned + report.computed), (int)report.candidates);
  return nearest[0] == 42 && start == (size_t)42 * LENGTH ? 0 : 1;
}
