/* SPDX-License-Identifier: BSD-3-Clause */
/* The distance of processes that noise alone explains.
 *
 * Noise is independent in each region of each process; a fault of the program lies in few
 * regions, or equally in all of them, if a process has more of all work. Let m_k be the
 * median time of region k and a_i the median of T_ik / m_k, the share of process i in all
 * work. Then T_ik / m_k - a_i is noise in most regions, and its median absolute
 * deviation, in a region over the processes, of these over the regions, is that of the
 * noise, whatever the others hold:
 *
 *     nu = 1.4826 median_k median_i |T_ik / (m_k a_i) - 1| * max_i a_i / correction
 *
 * Medians, because up to half of the regions, or of the processes in a region, may have
 * anything in them. The correction is for m_k and a_i, which are estimated from the same
 * times and take part of the noise with them.
 *
 * eps' must be so large that noise does not separate a process. The process most likely
 * to be separated is the outermost one: eps' is the distance from it to its nearest
 * neighbor among n points with normal coordinates of deviations nu m_k, exceeded with a
 * given probability only (tsn_spmd_noise_reach()). O(processes * regions).
 *
 * If the standard errors of the times are known, they are a second estimate of the
 * deviations s_k, in the same units as m_k: the largest of a region, because the process
 * with the most noise must not be separated either. Noise is a sum of disturbances, which
 * a region meets in proportion to its time, so that a region without errors has those of
 * the region with the largest s_k^2 / m_k:
 *
 *     s_k^2 = m_k max_j s_j^2 / m_j
 *
 * A region that is visited once may be disturbed otherwise than one that repeats, such as
 * by its page faults. What shows is the scatter of the processes. So it is s_k if it is
 * larger, but at most m_k / 5, so that a process that takes twice as long is separated.
 *
 * A disturbance lasts longer than a visit, and so meets the regions of a process
 * together. Their errors z s_k then have one common z, and the distance of two points
 * is that of points with one coordinate, of the deviation sqrt(sum s_k^2). */
#include <math.h>

#include "core/sort.h"
#include "spmd/spmd_internal.h"

/* A normal distribution's standard deviation over its median absolute deviation. */
static const double deviation_of_median = 1.4826;

/* The most that the scatter of a region without errors counts, by its time. */
static const double scatter_most = 0.2;

/* The median of the values without the `least` smallest. */
static double median_above(double *values, size_t count, size_t least) {
  size_t left = count - least, upper = least + left / 2;
  tsn_select(values, count, upper);
  if (left % 2) return values[upper];
  double below = values[0];
  for (size_t i = 1; i < upper; i++) below = fmax(below, values[i]);
  return (below + values[upper]) / 2;
}

static double median(double *values, size_t count) {
  return median_above(values, count, 0);
}

/* Median of |T_ik / (m_k a_i) - 1| over the processes. With an odd number of processes
 * m_k is the time of one of them, and with an odd number of columns a_i is one of the
 * ratios: these deviations are almost 0 whatever the noise, and as many of the smallest
 * are left out. */
static double deviation_of_column(double *key, size_t count, size_t columns) {
  size_t zeros = count % 2;
  if (columns % 2) zeros += (2 * (count - zeros) + columns) / (2 * columns);
  return median_above(key, count, zeros);
}

/* The part of the variance that remains after the median of `count` is taken out. */
static double without_center(size_t count) {
  return count % 2 ? 1 : 1 - 1 / (double)count;
}

/* Whether the poll ended the call, before each median of `count` numbers from rows. */
static bool is_ended(const tsn_spmd_points *p, size_t count) {
  return tsn_spmd_poll(p->watch, 8 * count);
}

static double median_of_column(const tsn_spmd_points *p, size_t column, double *key) {
  if (is_ended(p, p->count)) return 0;
  for (size_t i = 0; i < p->count; i++) key[i] = p->at[i * p->stride + column];
  return median(key, p->count);
}

/* a_i; the columns whose median is 0 are left out. */
static double share(const tsn_spmd_points *p, size_t i, const double *middle,
                    size_t columns, double *key) {
  size_t count = 0;
  if (is_ended(p, columns)) return 0;
  for (size_t k = 1; k <= columns; k++) {
    if (middle[k] > 0) key[count++] = p->at[i * p->stride + k] / middle[k];
  }
  return median(key, count);
}

void tsn_spmd_noise_deviations(tsn_spmd_points *p, size_t columns, double level,
                               double *key) {
  for (size_t k = 1; k <= columns; k++) {
    p->centroid[k] = level * median_of_column(p, k, key);
  }
}

/* s_k^2 of a column without errors. */
static double unknown_square(const tsn_spmd_points *p, size_t column, double rate,
                             double *key) {
  double middle = median_of_column(p, column, key), mean = 0, squares = 0;
  double count = (double)p->count, most = scatter_most * middle;
  for (size_t i = 0; i < p->count; i++) mean += key[i] / count;
  for (size_t i = 0; i < p->count; i++) squares += (key[i] - mean) * (key[i] - mean);
  return fmax(rate * middle, fmin(squares / fmax(count - 1, 1), most * most));
}

bool tsn_spmd_noise_errors(tsn_spmd_points *p, size_t columns, double *key) {
  double *error = p->centroid, rate = 0, squares = 0;
  bool known = false;
  for (size_t k = 1; k <= columns; k++) {
    double middle = median_of_column(p, k, key);
    if (isnan(error[k])) continue;
    known = true;
    squares += error[k] * error[k];
    if (middle > 0) rate = fmax(rate, error[k] * error[k] / middle);
  }
  for (size_t k = 1; k <= columns; k++) {
    if (isnan(error[k])) squares += unknown_square(p, k, rate, key);
  }
  error[1] = sqrt(squares);
  return known;
}

double tsn_spmd_noise_level(const tsn_spmd_points *p, size_t columns, double *key) {
  double *middle = p->centroid, *shares = p->away;
  size_t used = 0;
  for (size_t k = 1; k <= columns; k++) {
    middle[k] = median_of_column(p, k, key);
    used += middle[k] > 0;
  }
  if (used < TSN_SPMD_NOISE_COLUMNS || p->count < 2) return 0;
  for (size_t i = 0; i < p->count; i++) shares[i] = share(p, i, middle, columns, key);
  size_t count = 0;
  for (size_t k = 1; k <= columns; k++) {
    if (!(middle[k] > 0)) continue;
    if (is_ended(p, p->count)) return 0;
    for (size_t i = 0; i < p->count; i++) {
      double value = p->at[i * p->stride + k] / middle[k];
      key[i] = shares[i] > 0 ? fabs(value / shares[i] - 1) : 0;
    }
    /* before those still needed */
    middle[count++] = deviation_of_column(key, p->count, used);
  }
  double n = (double)p->count, columns_used = (double)used;
  double taken_out = without_center(p->count) * without_center(used);
  double largest = 0;
  for (size_t i = 0; i < p->count; i++) largest = fmax(largest, shares[i]);
  /* An estimate from few values is often too small. Raised by the root of their number,
   * 1 % of balanced programs have several kinds (bench/tables/spmd_cuts). */
  double raised = 1 + 1 / sqrt((n - 1) * (columns_used - 1));
  return raised * largest * deviation_of_median * median(middle, count) / sqrt(taken_out);
}

/* Standard normal quantile, to 5e-4 (Abramowitz and Stegun 26.2.23): far more exact than
 * the model of the noise. */
static double normal_quantile(double chance) {
  double tail = fmin(chance, 1 - chance), t = sqrt(-2 * log(tail));
  double above = t - (2.515517 + t * (0.802853 + t * 0.010328)) /
                         (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
  return chance > 0.5 ? above : -above;
}

/* Of chi squared (Wilson and Hilferty 1931): the cube root is nearly normal, also for the
 * fractional degrees of freedom below. */
static double chi_squared_quantile(double freedom, double chance) {
  double part = 2 / (9 * freedom);
  return freedom * pow(1 - part + normal_quantile(chance) * sqrt(part), 3);
}

/* How far the outermost of n points has its nearest neighbor, squared, if coordinates are
 * standard normal: its squared norm is some quantile of chi squared; the squared distance
 * of another point to it has the mean norm^2 + freedom and the variance 2 freedom + 4
 * norm^2, and the nearest of n - 1 is some quantile of that. */
static double nearest_of_outermost(double freedom, double n, double significance) {
  double norm = chi_squared_quantile(freedom, 1 - significance / n);
  double quantile = normal_quantile(1 - pow(significance, 1 / (n - 1)));
  return fmax(0, norm + freedom + quantile * sqrt(2 * freedom + 4 * norm));
}

/* Coordinates have the deviations s_k; F of one size s, which have the same sum s_k^2 and
 * sum s_k^4, stand for them (Satterthwaite 1946):
 *
 *     F = (sum s_k^2)^2 / sum s_k^4,      s^2 = sum s_k^2 / F
 *
 * F, the degrees of freedom, is the number of regions if all are equal, and near 1 if one
 * region has nearly all of the noise. */
double tsn_spmd_noise_reach(const tsn_spmd_points *p, size_t columns,
                            double significance) {
  double squares = 0, fourths = 0;
  for (size_t k = 1; k <= columns; k++) {
    double square = p->centroid[k] * p->centroid[k];
    squares += square;
    fourths += square * square;
  }
  if (!(fourths > 0) || p->count < 2) return 0;
  double freedom = squares * squares / fourths;
  return sqrt(squares / freedom *
              nearest_of_outermost(freedom, (double)p->count, significance));
}
