/* SPDX-License-Identifier: BSD-3-Clause */
/* The detectors and the search for a period, straight from their definitions. */
#ifndef TSANOM_TEST_NAIVE_DPD_H
#define TSANOM_TEST_NAIVE_DPD_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  NAIVE_PERIODS = 130, /* most delays of a value detector */
  NAIVE_SAMPLES = 2400 /* most samples of a search */
};

/* Equation 2: the smallest m <= max_period with d(m) = 0. */
static inline size_t naive_event_period(const uint64_t *event, size_t newest,
                                        size_t window, size_t max_period) {
  for (size_t m = 1; m <= max_period && window + m <= newest + 1; m++) {
    size_t equal = 0;
    while (equal < window && event[newest - equal] == event[newest - equal - m]) equal++;
    if (equal == window) return m;
  }
  return 0;
}

/* A value detector by the rule of tsanom_dpd_value; set x, window, most and depth. */
typedef struct {
  const double *x;
  size_t window, most;
  double depth, mean;
  size_t period, constant;
  size_t lags;                 /* delays whose window is complete */
  double d[NAIVE_PERIODS + 1]; /* N d(m) */
} naive_value;

static inline void naive_distances(naive_value *naive, size_t newest) {
  size_t complete = newest + 1 > naive->window ? newest + 1 - naive->window : 0;
  naive->lags = complete < naive->most ? complete : naive->most;
  for (size_t m = 1; m <= naive->lags; m++) {
    const double *x = naive->x + newest;
    naive->d[m] = 0;
    for (size_t i = 0; i < naive->window; i++) {
      naive->d[m] += fabs(*(x - i) - *(x - i - m));
    }
  }
}

static inline size_t naive_valley(const naive_value *naive, double threshold) {
  size_t m = 1, lowest = 0;
  while (m <= naive->lags && naive->d[m] <= threshold) m++;
  while (m <= naive->lags && naive->d[m] > threshold) m++;
  for (; m <= naive->lags && naive->d[m] <= threshold; m++) {
    if (!lowest || naive->d[m] < naive->d[lowest]) lowest = m;
  }
  bool open = m > naive->lags && naive->lags < naive->most;
  return open ? 0 : lowest;
}

static inline size_t naive_period(const naive_value *naive) {
  double least = INFINITY;
  for (size_t m = 1; m <= naive->lags; m++) least = fmin(least, naive->d[m]);
  if (naive->constant >= naive->window + naive->most) return 1;
  if (least > (1 - naive->depth) * naive->mean) return 0;
  double threshold = 0.75 * least + 0.25 * naive->mean;
  bool known = naive->period && naive->period <= naive->lags;
  if (known && naive->d[naive->period] <= threshold) return naive->period;
  return naive_valley(naive, threshold);
}

static inline void naive_push(naive_value *naive, size_t newest) {
  const double *x = naive->x + newest;
  naive->constant = newest && x[0] == *(x - 1) ? naive->constant + 1 : 1;
  naive_distances(naive, newest);
  bool all = newest + 1 > naive->window + naive->most;
  if (!all || naive->most < 64 || (newest + 1) % 8 == 0) {
    double total = 0;
    for (size_t m = 1; m <= naive->lags; m++) total += naive->d[m];
    naive->mean = naive->lags ? total / (double)naive->lags : 0;
  }
  naive->period = naive_period(naive);
}

/* rho(m) of the whitened series, m < n - 1, by its definition, in extended precision, and
 * its skewness. Returns the part of the variance that whitening leaves. */
static inline long double naive_rho(const double *x, size_t n, long double *rho,
                                    long double *skewness) {
  static long double e[NAIVE_SAMPLES];
  long double mean = 0, square = 0, product = 0, phi, norm = 0;
  for (size_t i = 0; i < n; i++) mean += x[i];
  mean /= (long double)n;
  for (size_t i = 0; i < n; i++) {
    square += (x[i] - mean) * (x[i] - mean);
    if (i) product += (x[i] - mean) * (x[i - 1] - mean);
  }
  phi = product / square;
  if (phi < 0) phi = 0;
  if (phi > 1) phi = 1;
  long double e_mean = 0;
  for (size_t t = 0; t + 1 < n; t++) {
    e[t] = (x[t + 1] - mean) - phi * (x[t] - mean);
    e_mean += e[t] / (long double)(n - 1);
  }
  for (size_t t = 0; t + 1 < n; t++) {
    e[t] -= e_mean;
    norm += e[t] * e[t];
  }
  for (size_t m = 0; m + 1 < n; m++) {
    rho[m] = 0;
    for (size_t t = m; t + 1 < n; t++) rho[m] += e[t] * e[t - m] / norm;
  }
  long double sd = sqrtl(norm / (long double)(n - 1));
  *skewness = 0;
  for (size_t t = 0; t + 1 < n; t++) {
    *skewness += powl(e[t] / sd, 3) / (long double)(n - 1);
  }
  return norm / square;
}

/* Means of `block` consecutive samples. Returns their number. */
static inline size_t naive_means(const double *x, size_t n, size_t block, double *means) {
  for (size_t i = 0; i < n / block; i++) {
    long double sum = 0;
    for (size_t j = 0; j < block; j++) sum += x[i * block + j];
    means[i] = (double)(sum / (long double)block);
  }
  return n / block;
}

/* The score of p: the definition at the head of dpd_dips.c. */
static inline long double naive_score(const long double *rho, size_t n, size_t p) {
  long double sum = 0, variance = 0;
  for (size_t m = p; m <= n / 2 && m + p / 2 <= n - 1; m += p) {
    long double around = 0;
    for (size_t j = m - p / 2; j <= m + p / 2; j++) {
      bool end = p % 2 == 0 && (j == m - p / 2 || j == m + p / 2);
      around += rho[j] / (end ? 2 : 1);
    }
    sum += rho[m] - around / (long double)p;
    variance += (long double)(n - m) / ((long double)n * (long double)n) *
                (1 - 1 / (long double)p);
  }
  return variance > 0 ? sum / sqrtl(variance) : 0;
}

/* The chance of the score of p: the definition at deviate_of() in dpd_dips.c. */
static inline long double naive_chance(const long double *rho, size_t n, size_t p,
                                       long double score, long double skewness) {
  long double factor = 1, pairs = 0;
  for (size_t k = 1; k <= 8 && 2 * k < p; k++) factor += 2 * rho[k] * rho[k];
  for (size_t m = p; m <= n / 2 && m + p / 2 <= n - 1; m += p) {
    pairs += (long double)(n - m);
  }
  long double a = skewness * skewness / sqrtl(pairs) / 6, z = score / sqrtl(factor);
  long double y = a > 1e-9L ? (sqrtl(1 + 4 * a * (z + a)) - 1) / (2 * a) : z;
  return erfcl(y / sqrtl(2)) / 2;
}

typedef struct {
  size_t candidate;
  long double score, probability;
} naive_choice;

/* The highest score of means of `block` samples. */
static inline naive_choice naive_choose(const double *x, size_t n, size_t block) {
  static double means[NAIVE_SAMPLES];
  static long double rho[NAIVE_SAMPLES];
  size_t count = naive_means(x, n, block, means), least = block > 1 ? 4 : 2;
  long double skewness;
  naive_choice best = {0};
  (void)naive_rho(means, count, rho, &skewness);
  for (size_t p = least; p <= n / 4 / block; p++) {
    long double own = naive_score(rho, count - 1, p);
    if (!(own > best.score)) continue;
    best.score = own;
    best.candidate = p * block;
  }
  if (!best.candidate) return best;
  long double chance =
      naive_chance(rho, count - 1, best.candidate / block, best.score, skewness);
  long double tests = (long double)(n / 4 / block - least + 1);
  best.probability = fminl(1, chance * tests * 2 * (long double)block);
  return best;
}

/* Adjusted R^2 of the fold by p: the definition at the head of dpd_fold.c. */
static inline long double naive_explained(const double *x, size_t n, size_t p) {
  long double total = 0, fold = 0, count = 0;
  size_t half = p / 2;
  for (size_t phase = 0; phase < p; phase++) {
    long double sum = 0, number = 0;
    for (size_t t = half; t + half < n; t++) {
      if ((t - half) % p != phase) continue;
      long double own = x[t];
      for (size_t i = t - half; i <= t + half; i++) {
        bool end = p % 2 == 0 && (i == t - half || i == t + half);
        own -= x[i] / (end ? 2.L : 1.L) / (long double)p;
      }
      sum += own;
      total += own * own;
      number++;
    }
    fold += sum * sum / number;
    count += number;
  }
  return 1 - (1 - fold / total) * (count - 1) / (count - (long double)p);
}

#endif
