/* SPDX-License-Identifier: BSD-3-Clause */
/* The equations of the heartbeat-hsa paper, read naively. */
#ifndef TSANOM_TESTING_HSA_NAIVE_H
#define TSANOM_TESTING_HSA_NAIVE_H

#include <math.h>
#include <stdlib.h>
#include <tsanom/hsa.h>

#include "lbkeogh/naive.h"

#define REAL double
#define NAIVE(name) f64_##name
#include "dtw/naive.h"

enum { MOST = 400, POINTS = 64 };

typedef struct {
  size_t n;
  double t[MOST]; /* since the start of the run */
} beats;

/* Times and heart rates in windows of w beats. */
typedef struct {
  size_t count;
  double x[MOST], y[MOST];
} rate_series;

static inline rate_series rates(const beats *b, size_t w) {
  rate_series r = {.count = 0};
  for (size_t i = w; i < b->n; i++) {
    r.x[r.count] = b->t[i];
    r.y[r.count++] = (double)w / (b->t[i] - b->t[i - w]);
  }
  return r;
}

static inline double mean(const double *values, size_t count) {
  double sum = 0;
  for (size_t i = 0; i < count; i++) sum += values[i];
  return sum / (double)count;
}

/* Eq. 1-3: polynomials orthogonal on the samples (three-term recurrence in long
 * double), terms added until R^2 exceeds the threshold; evaluated at `at`. */
static inline void naive_fit(const double *x, const double *y, size_t n,
                             size_t max_degree, double r2, const double *at,
                             double *value) {
  static long double p[2][MOST], q[2][POINTS], residual[MOST];
  long double sum = 0, total = 0, fitted[POINTS] = {0}, previous_norm = 1;
  for (size_t i = 0; i < n; i++) sum += y[i];
  for (size_t i = 0; i < n; i++) {
    total += (y[i] - sum / n) * (y[i] - sum / n);
    residual[i] = y[i];
    p[0][i] = 0;
    p[1][i] = 1;
  }
  for (size_t i = 0; i < POINTS; i++) q[0][i] = 0, q[1][i] = 1;
  for (size_t degree = 0; degree <= max_degree && degree < n; degree++) {
    long double *now = p[(degree + 1) % 2], *old = p[degree % 2];
    long double norm = 0, projection = 0, shift = 0, rss = 0;
    for (size_t i = 0; i < n; i++) {
      norm += now[i] * now[i];
      projection += now[i] * residual[i];
      shift += x[i] * now[i] * now[i];
    }
    long double c = projection / norm, a = shift / norm;
    long double b = degree ? norm / previous_norm : 0;
    for (size_t i = 0; i < n; i++) {
      residual[i] -= c * now[i];
      rss += residual[i] * residual[i];
      old[i] = (x[i] - a) * now[i] - b * old[i];
    }
    long double *now_at = q[(degree + 1) % 2], *old_at = q[degree % 2];
    for (size_t i = 0; i < POINTS; i++) {
      fitted[i] += c * now_at[i];
      old_at[i] = (at[i] - a) * now_at[i] - b * old_at[i];
    }
    previous_norm = norm;
    if (1 - rss / total > r2) break;
  }
  for (size_t i = 0; i < POINTS; i++) value[i] = (double)fitted[i];
}

/* Eq. 8, either way, and eq. 6 over windows of `length` beats. */
static inline void naive_local(const beats *c, const beats *q, size_t w, size_t length,
                               int literal, double *ltr, double *lhr,
                               size_t *literal_windows) {
  double times = 0, ratios = 0;
  size_t k = 0, used = 0;
  for (size_t i = 0; i + length < c->n && i + length < q->n; i += length, k++) {
    times += (c->t[i + length] - c->t[i]) / (q->t[i + length] - q->t[i]);
    double r[2];
    for (int which = 0; which < 2; which++) {
      const beats *b = which ? q : c;
      double sum = 0;
      size_t count = 0, first = i > w ? i : w;
      for (size_t j = i + 1; j <= i + length; j++) {
        if (j < w) continue;
        sum += (double)w / (b->t[j] - b->t[j - w]);
        count++;
      }
      r[which] = sum / (double)count;
      if (literal) {
        r[which] = (double)w / (b->t[i + length] - b->t[i + length - w]) -
                   (double)w / (b->t[first] - b->t[first - w]);
      }
    }
    if (!isfinite(r[0] / r[1])) continue;
    ratios += r[0] / r[1];
    used++;
  }
  *ltr = times / (double)k;
  *lhr = ratios / (double)used;
  *literal_windows = used;
}

static inline int compare_doubles(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static inline double naive_quartile(const beats *b) {
  static double interval[MOST];
  for (size_t i = 0; i + 1 < b->n; i++) interval[i] = b->t[i + 1] - b->t[i];
  qsort(interval, b->n - 1, sizeof *interval, compare_doubles);
  return interval[(b->n - 2) / 4];
}

/* DTW and LB_Keogh (eq. 9 to 13, the second case of eq. 13 read as c_i < l_i) of the
 * polynomials of two heart rates, at POINTS common times. */
static inline void naive_distances(const rate_series *c, const rate_series *q,
                                   const tsanom_hsa_options *options, double *dtw,
                                   double *bound) {
  double first = fmax(c->x[0], q->x[0]);
  double last = fmin(c->x[c->count - 1], q->x[q->count - 1]);
  double at[POINTS], cv[POINTS], qv[POINTS];
  for (size_t i = 0; i < POINTS; i++) {
    at[i] = first + (last - first) * (double)i / (POINTS - 1);
  }
  naive_fit(c->x, c->y, c->count, options->max_degree, options->r2, at, cv);
  naive_fit(q->x, q->y, q->count, options->max_degree, options->r2, at, qv);
  double unit = sqrt(mean(c->y, c->count) * mean(q->y, q->count));
  double lower[POINTS], upper[POINTS];
  tsanom_dtw_options window;
  tsanom_dtw_options_init(&window, sizeof window);
  window.radius = options->radius;
  naive_envelope(qv, POINTS, options->radius, POINTS, lower, upper);
  *dtw = f64_distance(cv, POINTS, qv, POINTS, &window) / (POINTS * unit);
  *bound =
      naive_bound(cv, lower, upper, POINTS, TSANOM_COST_SQUARED) / (POINTS * unit * unit);
}

#endif
