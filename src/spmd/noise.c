/* SPDX-License-Identifier: BSD-3-Clause */
/* Which processes differ by more than noise, and the distance that noise explains.
 *
 * Process i has the time T_ik in region k, with the standard error s_ik, which comes from
 * blocks of the run. c_ik is the median of the other processes, S_k the typical error:
 *
 *     u_i = max_k |T_ik - c_ik| / sqrt(max(f s_ik, S_k)^2 + (pi/2) S_k^2 / (P - 1))
 *
 * A process differs if u_i exceeds Student's quantile for an error of 1 % in all of the P
 * processes and K regions, of (P - 1) (B - 1) degrees of freedom because errors are
 * scatter beside the mean of the processes, and its distance from c_i the resolution. So a region sets
 * only its own scale: what scatters in regions of microseconds says nothing about the one
 * region that takes the time. Its own error counts if it is larger than the typical one,
 * because a disturbance lies in one block, which raises T and s alike; a smaller one is
 * chance. f = 1 + 8 / (B - 1)^2 allows for the few blocks B.
 *
 * A region without errors has those of the region with the largest S_k^2 / m_k, m_k the
 * median of its times, because a region meets disturbances in proportion to its time:
 * S_k^2 = m_k max_j S_j^2 / m_j. It may be disturbed otherwise than one that repeats,
 * such as by its page faults. What shows is the scatter of the processes, so that S_k is
 * this if it is larger, but at most m_k / 5: a process that takes twice as long differs.
 *
 * Without any errors, S_k is .08 m_k: one measurement of a few processes cannot tell
 * less. From 64 processes on it is their median absolute deviation, or three times
 * what the densest fifth of them has if that is less, because they may be of several kinds; each value knows as much of it as 0.37 degrees of
 * freedom. The noise may be lognormal: |T - c| or c |log(T / c)| counts, whichever is less.
 *
 * From 64 processes on, the 30 largest values below those that would be named show whether
 * the tail is heavier than a normal one. If it is, the gap above the j-th largest u must be
 * improbable in any power-law tail, where g_m = m log(u_m / u_m+1) are exponential
 * variables of one mean (A. Renyi, Acta Math. Hung. 4 (1953) 191-231):
 *
 *     (1 + g_j / sum of the 30 g below)^-30 <= 0.01 / (j (j + 1))
 *
 * O(processes * regions). */
#include <math.h>

#include "core/chance.h"
#include "core/sort.h"
#include "spmd/noise.h"

/* A normal distribution's standard deviation over its median absolute deviation. */
static const double deviation_of_median = 1.4826;

/* The most that the scatter of a region without errors counts, by its time. */
static const double scatter_most = 0.2;

/* The scatter that is assumed of one measurement, by its time. */
static const double scatter_assumed = 0.08;

/* The chance that a process of a run is said to differ though none does. */
static const double error_rate = 0.01;

/* Degrees of freedom that a process adds to a median absolute deviation. */
static const double freedom_of_median = 0.37;

/* Degrees of freedom of an error, B - 1. */
static const double freedom_of_error = 9;

/* f. */
static const double own_factor = 1 + 8 / 81.0;

/* Values that show a tail, and the processes from which on there are enough of them. */
enum { TAIL = 30, MANY = 64 };

/* The median of the values without the `least` smallest. */
static double median_above(double *values, size_t count, size_t least) {
  size_t left = count - least, upper = least + left / 2;
  tsn_select(values, count, upper);
  if (left % 2) return values[upper];
  double below = values[0];
  for (size_t i = 1; i < upper; i++) below = fmax(below, values[i]);
  return (below + values[upper]) / 2;
}

/* Whether the poll ended the call, before each median of `count` numbers from rows. */
static bool is_ended(const tsn_spmd_points *p, size_t count) {
  return tsn_spmd_poll(p->watch, 8 * count);
}

static void copy_column(const tsn_spmd_points *p, size_t column, double *to) {
  for (size_t i = 0; i < p->count; i++) to[i] = p->at[i * p->stride + column];
}

/* `key` keeps the column, permuted; 0: the poll ended the call. */
static double median_of_column(const tsn_spmd_points *p, size_t column, double *key) {
  if (is_ended(p, p->count)) return 0;
  copy_column(p, column, key);
  return tsn_median(key, p->count);
}

static double error_of(const tsn_spmd_noise *n, size_t i, size_t column) {
  if (!n->error) return NAN;
  double error = ldexp(n->error[i * n->error_ld + n->column[column - 1]], n->exponent);
  return error > 1 ? 1 : error;
}

/* The values of a column that are in the middle without one of them. */
typedef struct {
  double low, middle, high;
} center;

static center center_of(double *values, size_t count) {
  size_t at = (count - 2) / 2 + 1;
  tsn_select(values, count, at);
  center c = {values[0], values[at], INFINITY};
  for (size_t i = 1; i < at; i++) c.low = fmax(c.low, values[i]);
  for (size_t i = at + 1; i < count; i++) c.high = fmin(c.high, values[i]);
  if (count == 2) c.high = c.middle;
  return c;
}

/* The median without one of the values: of an even number left both in the middle. */
static double median_of_others(const center *c, size_t count, double value) {
  if (count % 2 == 0) return value <= c->low ? c->middle : c->low;
  if (value <= c->low) return (c->middle + c->high) / 2;
  return value <= c->middle ? (c->low + c->high) / 2 : (c->low + c->middle) / 2;
}

/* S_k^2 from the known errors of a column; NaN: there is none. The median of chi squared
 * with B - 1 degrees of freedom is less than its mean (E. Wilson, M. Hilferty 1931). */
static double typical_square(const tsn_spmd_noise *n, size_t count, size_t column,
                             double *key) {
  size_t known = 0;
  double sum = 0;
  for (size_t i = 0; i < count; i++) {
    double error = error_of(n, i, column);
    if (isnan(error)) continue;
    sum += error * error;
    key[known++] = error * error;
  }
  if (known == 0) return NAN;
  if (known < 4) return sum / (double)known;
  return tsn_median(key, known) / pow(1 - 2 / (9 * freedom_of_error), 3);
}

/* The square of the standard deviation of the times, at most that of scatter_most. */
static double scatter_square(const double *time, size_t count, double middle) {
  double mean = 0, squares = 0, most = scatter_most * middle;
  for (size_t i = 0; i < count; i++) mean += time[i] / (double)count;
  for (size_t i = 0; i < count; i++) squares += (time[i] - mean) * (time[i] - mean);
  return fmin(squares / fmax((double)count - 1, 1), most * most);
}

/* S_k into the centroid, of all columns; false: no error is known. */
static bool known_deviations(tsn_spmd_points *p, const tsn_spmd_noise *n, double *key) {
  double *typical = p->centroid, rate = 0;
  bool is_known = false;
  for (size_t k = 1; k <= n->columns && !is_ended(p, p->count); k++) {
    typical[k] = typical_square(n, p->count, k, key);
    if (isnan(typical[k])) continue;
    is_known = true;
    double middle = median_of_column(p, k, key);
    if (middle > 0) rate = fmax(rate, typical[k] / middle);
  }
  for (size_t k = 1; is_known && k <= n->columns; k++) {
    if (isnan(typical[k])) {
      double middle = median_of_column(p, k, key);
      typical[k] = fmax(rate * middle, scatter_square(key, p->count, middle));
    }
    typical[k] = sqrt(typical[k]);
  }
  return is_known;
}

/* Three times the deviation of normal variables whose middle fifth is as wide as the
 * densest fifth of these: of up to four far kinds it is that of one. */
static double wide_deviation(const double *ascending, size_t count) {
  size_t fifth = count / 5;
  double least = INFINITY;
  for (size_t i = 0; i + fifth < count; i++) {
    least = fmin(least, ascending[i + fifth] - ascending[i]);
  }
  return 3 * least / (2 * 0.2533);
}

/* The same without errors, of many processes. */
static void scatter_of_processes(tsn_spmd_points *p, size_t columns, double *key) {
  for (size_t k = 1; k <= columns && !is_ended(p, p->count); k++) {
    copy_column(p, k, key);
    tsn_sort(key, p->count);
    double middle = tsn_median(key, p->count), most = wide_deviation(key, p->count);
    for (size_t i = 0; i < p->count; i++) key[i] = fabs(key[i] - middle);
    p->centroid[k] = fmin(deviation_of_median * tsn_median(key, p->count), most);
  }
}

/* |T - c| over its standard deviation; `square` is that of c. */
static double deviation(tsn_spmd_evidence evidence, double time, double others,
                        double error, double typical, double square) {
  double away = fabs(time - others);
  if (evidence == TSN_SPMD_SCATTER && time > 0 && others > 0) {
    away = fmin(away, others * fabs(log(time / others)));
  }
  double own = error > 0 ? error * own_factor : 0;
  double scale = sqrt(fmax(own, typical) * fmax(own, typical) + square);
  return away > 0 ? away / scale : 0;
}

/* u_i, and the squared distances of processes from the medians of the others. */
static void compare(const tsn_spmd_points *p, const tsn_spmd_noise *n,
                    tsn_spmd_evidence evidence, double *key, double *u,
                    double *distance) {
  double others = (double)(p->count - 1), of_center = p->count < 4 ? 1 : M_PI / 2;
  for (size_t i = 0; i < p->count; i++) u[i] = distance[i] = 0;
  for (size_t k = 1; k <= n->columns && !is_ended(p, p->count); k++) {
    copy_column(p, k, key);
    center c = center_of(key, p->count);
    double typical = p->centroid[k], square = of_center * typical * typical / others;
    for (size_t i = 0; i < p->count; i++) {
      double time = p->at[i * p->stride + k];
      double middle = median_of_others(&c, p->count, time);
      double score =
          deviation(evidence, time, middle, error_of(n, i, k), typical, square);
      u[i] = fmax(u[i], score);
      distance[i] += (time - middle) * (time - middle);
    }
  }
}

/* m log(u_m / u_m+1) of ascending values, m from 1. */
static double spacing(const double *ascending, size_t count, size_t m) {
  double upper = ascending[count - m], lower = ascending[count - m - 1];
  return lower > 0 ? (double)m * log(fmin(upper, 1e300) / lower) : 0;
}

static double sum_below(const double *ascending, size_t count, size_t j) {
  double sum = 0;
  for (size_t m = j + 1; m <= j + TAIL; m++) sum += spacing(ascending, count, m);
  return sum;
}

/* The m-th largest of count maxima of `columns` absolute standard normal variables. */
static double normal_largest(size_t m, size_t count, size_t columns) {
  double below = log1p(-((double)m - 0.5) / (double)count) / (double)columns;
  return tsn_student_quantile(-expm1(below) / 2, 1e9);
}

/* Whether the values below the j-th largest scatter more than 2 standard errors more than
 * normal ones. */
static bool is_heavy(const double *ascending, size_t count, size_t j, size_t columns) {
  double normal = 0;
  for (size_t m = j + 1; m <= j + TAIL; m++) {
    normal += (double)m * log(normal_largest(m, count, columns) /
                              normal_largest(m + 1, count, columns));
  }
  return sum_below(ascending, count, j) > normal * (1 + 2 / sqrt(TAIL));
}

/* The least u that lies above a gap that a power-law tail does not explain. */
static double least_above_gap(const double *ascending, size_t count) {
  for (size_t j = count / 2 - 1; j > 0; j--) {
    if (count - 1 - j < TAIL) continue;
    double gap = spacing(ascending, count, j), sum = sum_below(ascending, count, j);
    if (sum > 0 && pow(1 + gap / sum, -TAIL) <= error_rate / (double)(j * (j + 1))) {
      return ascending[count - j];
    }
  }
  return INFINITY;
}

/* The least u that counts, by the tail of all; `named` exceed the quantile. */
static double least_in_tail(const double *u, size_t count, size_t named, size_t columns,
                            double *key) {
  for (size_t i = 0; i < count; i++) key[i] = u[i];
  tsn_sort(key, count);
  return is_heavy(key, count, named, columns) ? least_above_gap(key, count) : 0;
}

/* S_k into the centroid; *freedom: of the quantile of u. */
static tsn_spmd_evidence typical_deviations(tsn_spmd_points *p, const tsn_spmd_noise *n,
                                            double *key, double *freedom) {
  double count = (double)p->count;
  if (n->error && known_deviations(p, n, key)) {
    *freedom = freedom_of_error * (count - 1);
    return TSN_SPMD_ERRORS;
  }
  if (p->count >= MANY) {
    scatter_of_processes(p, n->columns, key);
    *freedom = freedom_of_median * count;
    return TSN_SPMD_SCATTER;
  }
  tsn_spmd_noise_deviations(p, n->columns, scatter_assumed, key);
  *freedom = INFINITY;
  return TSN_SPMD_ASSUMED;
}

tsn_spmd_evidence tsn_spmd_differ(tsn_spmd_points *p, const tsn_spmd_noise *n,
                                  double resolution, double *key, double *distance,
                                  int32_t *differs, size_t *different) {
  double *u = p->away, freedom, tests = 2 * (double)p->count * (double)n->columns;
  *different = 0;
  if (p->count < 2) return TSN_SPMD_ERRORS;
  tsn_spmd_evidence evidence = typical_deviations(p, n, key, &freedom);
  compare(p, n, evidence, key, u, distance);
  double least = tsn_student_quantile(error_rate / tests, fmin(freedom, 1e9));
  size_t named = 0;
  for (size_t i = 0; i < p->count; i++) named += u[i] > least;
  bool is_tail = named && named < p->count / 2; /* half of the processes are no tail */
  if (is_tail && p->count >= MANY) {
    least = fmax(least, least_in_tail(u, p->count, named, n->columns, key) * (1 - 1e-15));
  }
  for (size_t i = 0; i < p->count; i++) {
    differs[i] = u[i] > least && distance[i] > resolution * resolution;
    *different += differs[i] != 0;
  }
  return evidence;
}

/* The squared distance of process i from the nearest one that does not differ. */
static double nearest_alike(const tsn_spmd_points *p, const int32_t *differs, size_t i) {
  double nearest = INFINITY;
  for (size_t j = 0; j < p->count; j++) {
    if (differs[j]) continue;
    double square = tsn_spmd_square_distance(p->at + i * p->stride, p->at + j * p->stride,
                                             p->weight, p->stride, nearest);
    nearest = fmin(nearest, square);
  }
  return nearest;
}

double tsn_spmd_noise_cut(const tsn_spmd_points *p, size_t columns,
                          const int32_t *differs, double resolution, double reach) {
  size_t alike = 0;
  double square = reach * reach, least = 0;
  for (size_t i = 0; i < p->count; i++) alike += !differs[i];
  if (2 * alike <= p->count) return fmax(resolution, reach);
  for (size_t k = 1; k <= columns; k++) least += 2 * p->centroid[k] * p->centroid[k];
  least = fmax(least, resolution * resolution);
  for (size_t i = 0; i < p->count; i++) {
    if (!differs[i] || tsn_spmd_poll(p->watch, p->count)) continue;
    double nearest = nearest_alike(p, differs, i) * (1 - 1e-12);
    if (nearest > least) square = fmin(square, nearest);
  }
  return fmax(resolution, sqrt(square));
}

/* Metrics have no standard errors. Noise is independent in each region of each process; a
 * fault of the program lies in few regions, or equally in all of them, if a process has
 * more of all work. Let m_k be the median value of region k and a_i the median of T_ik /
 * m_k, the share of process i in all. Then T_ik / m_k - a_i is noise in most regions, and
 * its median absolute deviation, in a region over the processes, of these over the
 * regions, is that of the noise, whatever the others hold:
 *
 *     nu = 1.4826 median_k median_i |T_ik / (m_k a_i) - 1| * max_i a_i / correction
 *
 * The correction is for m_k and a_i, which are estimated from the same values and take
 * part of the noise with them. */

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

/* a_i; the columns whose median is 0 are left out. */
static double share(const tsn_spmd_points *p, size_t i, const double *middle,
                    size_t columns, double *key) {
  size_t count = 0;
  if (is_ended(p, columns)) return 0;
  for (size_t k = 1; k <= columns; k++) {
    if (middle[k] > 0) key[count++] = p->at[i * p->stride + k] / middle[k];
  }
  return tsn_median(key, count);
}

void tsn_spmd_noise_deviations(tsn_spmd_points *p, size_t columns, double level,
                               double *key) {
  for (size_t k = 1; k <= columns; k++) {
    p->centroid[k] = level * median_of_column(p, k, key);
  }
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
   * 1 % of balanced programs have several kinds (docs/measurements.md). */
  double raised = 1 + 1 / sqrt((n - 1) * (columns_used - 1));
  return raised * largest * deviation_of_median * tsn_median(middle, count) /
         sqrt(taken_out);
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
