/* SPDX-License-Identifier: BSD-3-Clause */
/* Series of one length in the rows of a matrix. */
#ifndef TSANOM_TESTING_ROWS_H
#define TSANOM_TESTING_ROWS_H

#include <string.h>
#include <tsanom/base.h>

/* `ld`: samples from one row to the next; 0: `length`. */
static inline tsanom_series rows_of(const double *data, size_t count, size_t length,
                                    size_t ld) {
  tsanom_series series;
  memset(&series, 0, sizeof series);
  series.struct_size = sizeof series;
  series.count = count;
  series.data = data;
  series.length = length;
  series.ld = ld;
  return series;
}

#endif
