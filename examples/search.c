/* SPDX-License-Identifier: BSD-3-Clause */
/* The series nearest to a query, and the position of the query in a stream. */
#include <math.h>
#include <stdio.h>
#include <tsanom/search.h>

enum { SERIES = 100, LENGTH = 64, SAMPLES = SERIES * LENGTH };

int main(void) {
  static double samples[SAMPLES];
  double query[LENGTH];
  for (int i = 0; i < SAMPLES; i++) samples[i] = sin(0.00004 * i * i);
  for (int i = 0; i < LENGTH; i++) query[i] = 1.01 * samples[42 * LENGTH + i] + 0.01;

  tsanom_search_options options;
  tsanom_search_options_init(&options, sizeof options);
  options.radius = 5;
  options.z_normalize = 1;

  tsanom_series series, queries;
  series = (tsanom_series){.struct_size = sizeof series};
  series.count = SERIES;
  series.length = LENGTH;
  series.data = samples;
  queries = series;
  queries.count = 1;
  queries.data = query;

  tsanom_search_index *index;
  size_t nearest[3], start;
  double distances[3], distance;
  tsanom_search_report report;
  tsanom_status status = tsanom_search_index_create(&series, &options, NULL, &index);
  if (status == TSANOM_OK) {
    status = tsanom_search_nearest(index, &queries, 3, NULL, nearest, distances, &report);
    tsanom_search_index_destroy(index);
  }
  if (status == TSANOM_OK) {
    printf("series %zu, %zu, %zu; DTW of %d of %d\n", nearest[0], nearest[1], nearest[2],
           (int)(report.abandoned + report.computed), (int)report.candidates);
    status = tsanom_search_stream(query, LENGTH, samples, SAMPLES, &options, NULL, &start,
                                  &distance, &report);
  }
  if (status != TSANOM_OK) {
    (void)fprintf(stderr, "%s\n", tsanom_status_text(status));
    return 1;
  }
  printf("in the stream at %zu; DTW of %d of %d\n", start,
         (int)(report.abandoned + report.computed), (int)report.candidates);
  return nearest[0] == 42 && start == (size_t)42 * LENGTH ? 0 : 1;
}
