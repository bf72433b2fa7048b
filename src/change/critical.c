/* SPDX-License-Identifier: BSD-3-Clause */
/* Critical gains. A gain is the square of a normalized difference of means, the largest of
 * many: its tail falls like exp(-gain / 2) for known noise, and more slowly for noise that
 * is estimated from the same samples. So the critical gains are simulated; they are
 * interpolated by phi, log n and log level. bench/tables/change_critical.c prints the
 * table. Its values beyond 16000 samples are those of 16000. */
#include "change/critical.h"

#include <math.h>

#include "change/change.h"

const double tsn_change_lengths[TSN_CHANGE_LENGTHS] = {30,  50,   100,  200,
                                                       400, 1000, 4000, 16000};
const double tsn_change_phis[TSN_CHANGE_PHIS] = {0, 0.3, 0.5, 0.7, 0.8, 0.9};
const double tsn_change_levels[TSN_CHANGE_LEVELS] = {0.05, 0.01, 0.001};

#include "change/critical_table.h"

/* The cell of the axis in which the value lies, and where in it: 0 to 1. */
static int cell(const double *axis, int count, double value, double *part) {
  int i = 0;
  while (i < count - 2 && value >= axis[i + 1]) i++;
  *part = fmin(fmax((value - axis[i]) / (axis[i + 1] - axis[i]), 0), 1);
  return i;
}

double tsn_change_interpolate(const double *row, double phi) {
  double part;
  int j = cell(tsn_change_phis, TSN_CHANGE_PHIS, phi, &part);
  return (1 - part) * row[j] + part * row[j + 1];
}

/* Critical gain of one of the levels. */
static double gain_of(size_t n, double phi, int level) {
  double axis[TSN_CHANGE_LENGTHS], part;
  for (int i = 0; i < TSN_CHANGE_LENGTHS; i++) axis[i] = log(tsn_change_lengths[i]);
  int i = cell(axis, TSN_CHANGE_LENGTHS, log((double)n), &part);
  return (1 - part) * tsn_change_interpolate(critical[i][level], phi) +
         part * tsn_change_interpolate(critical[i + 1][level], phi);
}

double tsn_change_critical(size_t n, double phi, double level) {
  const double *levels = tsn_change_levels;
  int k = level < levels[1] ? 1 : 0;
  double low = gain_of(n, phi, k), high = gain_of(n, phi, k + 1);
  return low + (high - low) * log(level / levels[k]) / log(levels[k + 1] / levels[k]);
}

double tsn_change_significance(size_t n, double phi, double gain) {
  const double *levels = tsn_change_levels;
  int k = gain > gain_of(n, phi, 1) ? 1 : 0;
  double low = gain_of(n, phi, k), high = gain_of(n, phi, k + 1);
  double part = (gain - low) / (high - low);
  return fmin(1, levels[k] * pow(levels[k + 1] / levels[k], part));
}
