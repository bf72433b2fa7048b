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

#define NAIVE_PI 3.14159265358979323846264338327950288L

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
  size_t doubted;              /* samples at the last doubt of naive_certain() */
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
  if (!all || naive->window < 64 || (newest + 1) % 8 == 0) {
    double total = 0;
    for (size_t m = 1; m <= naive->lags; m++) total += naive->d[m];
    naive->mean = naive->lags ? total / (double)naive->lags : 0;
  }
  naive->period = naive_period(naive);
}

/* Whether noise would hardly have this valley: the definition at is_certain() in
 * dpd_value.c. */
static inline bool naive_certain(naive_value *naive, size_t newest, double significance) {
  size_t p = naive->period, n = naive->window + naive->most, times = naive->most / p;
  if (n < 128) return true;
  if (newest + 1 < n) n = newest + 1;
  if (times > 8) times = 8;
  bool deep = naive->d[p] <= (1 - naive->depth) * naive->mean / 2;
  if (!deep && times * p > naive->lags) return false;
  if (!deep && naive->d[times * p] > (1 - naive->depth / 2) * naive->mean) return false;
  if (newest + 1 - naive->doubted < n / 128) return false;
  const double *x = naive->x + newest;
  double sum = 0, squares = 0;
  for (size_t i = 0; i + 1 < n; i++) {
    sum += fabs(*(x - i) - *(x - i - 1));
    squares += pow(*(x - i) - *(x - i - 1), 2);
  }
  double k = sum * sum / squares / 2, miss = fmax(naive->d[p] / naive->mean, 1e-9);
  double depth = 1 - miss, chance = pow(k / (double)n / depth, depth) / pow(miss, miss);
  double met = (double)naive->most * pow(chance, k);
  double deviated = (double)naive->most * exp(-k * depth * depth);
  if (fmin(met, deviated) <= significance / 1024) return true;
  naive->doubted = newest + 1;
  return false;
}

/* x without its least-squares fit by 1, t and cos(pi k (t + 1/2) / n), k <= 3. */
static inline void naive_subtract(const double *x, size_t n, long double *y) {
  static long double column[5][NAIVE_SAMPLES];
  for (size_t t = 0; t < n; t++) y[t] = x[t];
  for (int k = 0; k < 5; k++) {
    for (size_t t = 0; t < n; t++) {
      long double at = ((long double)t + .5L) / (long double)n;
      column[k][t] = k < 4 ? cosl(NAIVE_PI * k * at) : at;
    }
    for (int twice = 0; twice < 2; twice++) { /* Gram and Schmidt */
      for (int j = 0; j < k; j++) {
        long double product = 0;
        for (size_t t = 0; t < n; t++) product += column[k][t] * column[j][t];
        for (size_t t = 0; t < n; t++) column[k][t] -= product * column[j][t];
      }
    }
    long double norm = 0, product = 0;
    for (size_t t = 0; t < n; t++) norm += column[k][t] * column[k][t];
    for (size_t t = 0; t < n; t++) column[k][t] /= sqrtl(norm);
    for (size_t t = 0; t < n; t++) product += column[k][t] * y[t];
    for (size_t t = 0; t < n; t++) y[t] -= product * column[k][t];
  }
}

/* One step of the fit of the background by least absolute deviations: its `count`
 * coefficients, by Cramer's rule, and the weights of the next step. Whether it is the
 * last one. */
static inline bool naive_refit(long double (*term)[3], const long double *y, size_t lines,
                               int count, long double *weight, long double *c) {
  long double a[3][4] = {{0}};
  for (size_t k = 0; k < lines; k++) {
    for (int i = 0; i < count; i++) {
      for (int j = 0; j < count; j++) a[i][j] += weight[k] * term[k][i] * term[k][j];
      a[i][3] += weight[k] * term[k][i] * y[k];
    }
  }
  for (int i = 0; i < 3; i++) a[i][i] += i < count ? 1e-9L : 1;
#define NAIVE_DETERMINANT(p, q, r)                     \
  (a[0][p] * (a[1][q] * a[2][r] - a[1][r] * a[2][q]) - \
   a[0][q] * (a[1][p] * a[2][r] - a[1][r] * a[2][p]) + \
   a[0][r] * (a[1][p] * a[2][q] - a[1][q] * a[2][p]))
  long double all = NAIVE_DETERMINANT(0, 1, 2), change = 0;
  const long double before[3] = {c[0], c[1], c[2]};
  c[0] = NAIVE_DETERMINANT(3, 1, 2) / all;
  c[1] = NAIVE_DETERMINANT(0, 3, 2) / all;
  c[2] = NAIVE_DETERMINANT(0, 1, 3) / all;
#undef NAIVE_DETERMINANT
  for (int i = 0; i < count; i++) change = fmaxl(change, fabsl(c[i] - before[i]));
  for (size_t k = 0; k < lines; k++) {
    long double off = y[k] - c[0] - c[1] * term[k][1] - c[2] * term[k][2];
    if (weight[k] > 0) weight[k] = 1 / fmaxl(fabsl(off), .05L);
  }
  return change < .01;
}

/* Cosine and sine of the n parts of a turn. */
static inline void naive_circle(size_t n, long double *cosine, long double *sine) {
  for (size_t i = 0; i < n; i++) {
    cosine[i] = cosl(2 * NAIVE_PI * (long double)i / (long double)n);
    sine[i] = sinl(2 * NAIVE_PI * (long double)i / (long double)n);
  }
}

/* The whitened series e, by direct transforms. */
static inline void naive_whiten(const double *x, size_t n, long double *e) {
  static long double y[NAIVE_SAMPLES], cosine[NAIVE_SAMPLES], sine[NAIVE_SAMPLES],
      re[NAIVE_SAMPLES], im[NAIVE_SAMPLES], logarithm[NAIVE_SAMPLES],
      power[NAIVE_SAMPLES], weight[NAIVE_SAMPLES], term[NAIVE_SAMPLES][3];
  naive_subtract(x, n, y);
  long double largest = 0, c[3] = {0}, turn = 2 * NAIVE_PI / (long double)n;
  size_t lines = n / 2 - 2;
  for (size_t t = 0; t < n; t++) largest = fmaxl(largest, fabsl(y[t]));
  naive_circle(n, cosine, sine);
  for (size_t k = 0; k <= n / 2; k++) {
    re[k] = im[k] = 0;
    for (size_t t = 0; t < n; t++) {
      re[k] += y[t] / largest * cosine[k * t % n];
      im[k] -= y[t] / largest * sine[k * t % n];
    }
    power[k] = re[k] * re[k] + im[k] * im[k];
  }
  largest = 0;
  for (size_t i = 0; i < lines; i++) largest = fmaxl(largest, power[i + 3]);
  for (size_t i = 0; i < lines; i++) {
    logarithm[i] = logl(power[i + 3] + 36.L / (long double)(n * n) * largest);
    term[i][0] = weight[i] = 1;
    term[i][1] = logl((long double)(i + 3) / (long double)n);
    term[i][2] = cosl(turn * (long double)(i + 3));
  }
  for (int r = 0; r < 25 && !naive_refit(term, logarithm, lines, 2, weight, c); r++) {
  }
  for (size_t i = 0; i < lines; i++) {
    weight[i] = logarithm[i] - c[0] - c[1] * term[i][1] < 3;
  }
  for (int r = 0; r < 25 && !naive_refit(term, logarithm, lines, 3, weight, c); r++) {
  }
  for (size_t k = 0; k <= n / 2; k++) {
    long double level = 0;
    if (k >= 3) level = c[0] + c[1] * term[k - 3][1] + c[2] * term[k - 3][2];
    long double factor = k < 3 ? 0 : sqrtl(logl(2) / expl(level));
    re[k] *= factor;
    im[k] *= factor;
  }
  for (size_t t = 0; t < n; t++) {
    e[t] = 0;
    for (size_t k = 3; k <= n / 2; k++) {
      size_t at = k * t % n;
      long double twice = 2 * k == n ? 1 : 2;
      e[t] += twice * (re[k] * cosine[at] - im[k] * sine[at]) / (long double)n;
    }
  }
}

/* The score of p: the definition in dpd_find.c. */
static inline long double naive_score(const long double *rho, size_t n, size_t p) {
  long double sum = 0, variance = 0;
  for (size_t m = p; m <= n / 2 && m + p / 2 <= n - 2; m += p) {
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

/* P(X > x) of a gamma variate, by Simpson's rule over 60 deviations above x. */
static inline long double naive_gamma_tail(long double shape, long double x) {
  enum { STEPS = 20000 };
  if (x <= 0) return 1;
  long double sum = 0, width = 60 * (sqrtl(shape) + 1) / STEPS;
  for (int i = 0; i <= STEPS; i++) {
    long double at = x + width * i;
    long double density = expl((shape - 1) * logl(at) - at - lgammal(shape));
    sum += density * (i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2);
  }
  return fminl(1, sum * width / 3);
}

/* The chance of the score of p: the definition in dpd_find.c. */
static inline long double naive_chance(const long double *e, const long double *rho,
                                       size_t n, size_t p, long double score) {
  long double factor = 1, pairs = 0, shared = 0, square = 0, third = 0, fourth = 0;
  size_t end = n / 32, used = n - 2 * end;
  for (size_t k = 1; k <= 8 && 2 * k < p; k++) factor += 2 * rho[k] * rho[k];
  for (size_t m = p; m <= n / 2; m += p) {
    shared += (long double)(m / p - 1) * (long double)(n - m);
    pairs += (long double)(n - m);
  }
  for (size_t t = end; t < n - end; t++) {
    square += e[t] * e[t] / (long double)used;
    third += powl(e[t], 3) / (long double)used;
    fourth += powl(e[t], 4) / (long double)used;
  }
  long double skewness =
      6 * shared / powl(pairs, 1.5L) + third * third / powl(square, 3) / sqrtl(pairs);
  long double as_long = fourth / (square * square) / sqrtl(1.5L * pairs);
  long double shape = 4 / powl(fmaxl(fmaxl(skewness, as_long), .01L), 2);
  return naive_gamma_tail(shape, shape + score / sqrtl(factor) * sqrtl(shape));
}

/* The chance of the lines of p: the definition at dips_lines() in dpd_find.c. */
static inline long double naive_lines(const long double *e, size_t n, size_t p) {
  static long double power[NAIVE_SAMPLES], cosine[NAIVE_SAMPLES], sine[NAIVE_SAMPLES];
  size_t cycles = n / p, whole = cycles * p, width = cycles < 10 ? cycles - 2 : 8;
  long double most = 0, sum = 0, lines = 0;
  if (width < 4) return 0;
  naive_circle(whole, cosine, sine);
  for (size_t k = 0; k <= whole / 2; k++) {
    long double re = 0, im = 0;
    for (size_t t = 0; t < whole; t++) {
      re += e[t] * cosine[k * t % whole];
      im += e[t] * sine[k * t % whole];
    }
    power[k] = re * re + im * im;
  }
  for (size_t at = cycles; at <= p / 2 * cycles; at += cycles) {
    long double own = 0, others = 0, number = 0;
    for (size_t k = at - width; k <= at + width && k <= whole / 2; k++) {
      bool near = k + 1 >= at && k <= at + 1;
      if (near) own = fmaxl(own, power[k]);
      if (near || k <= 3) continue;
      others += power[k];
      number++;
    }
    if (number < 2) continue;
    long double strength = number * log1pl(own / others);
    most = fmaxl(most, strength);
    sum += strength;
    lines++;
  }
  if (lines == 0) return 0;
  long double chance = fminl(lines * expl(-most), naive_gamma_tail(lines, sum / 1.5L));
  return fminl(1, 2 * (2 * (long double)width + 1) * chance);
}

typedef struct {
  size_t candidate;
  long double score, probability;
} naive_choice;

/* The highest score of the whitened series e. */
static inline naive_choice naive_choose(const long double *e, size_t n) {
  static long double rho[NAIVE_SAMPLES];
  naive_choice best = {0};
  for (size_t m = n; m-- > 0;) {
    rho[m] = 0;
    for (size_t t = m; t < n; t++) rho[m] += e[t] * e[t - m];
  }
  for (size_t m = n; m-- > 0;) rho[m] /= m > 0 ? rho[0] : 1;
  long double norm = rho[0];
  rho[0] = 1;
  for (size_t p = 2; p <= n / 4 && norm > 0; p++) {
    long double own = naive_score(rho, n, p);
    if (!(own > best.score)) continue;
    best.score = own;
    best.candidate = p;
  }
  if (!best.candidate) return best;
  long double chance = naive_chance(e, rho, n, best.candidate, best.score);
  best.probability = fminl(1, chance * (long double)(n / 4 - 1));
  return best;
}

/* Adjusted R^2 of the fold by p: the definition in dpd_find.c. */
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
