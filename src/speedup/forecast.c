/* SPDX-License-Identifier: BSD-3-Clause */
/* The mean of the next H values of a series of n that varies as it did.
 *
 *   x[t] = mean + a[t] + w[t],   a[t+1] = phi a[t] + ...,   w white
 *
 * Each of 90 models has another phi, -0.997 to 0.987, and share of w in the variance. With
 * flat priors on the mean and on the logarithm of the deviation, the mean of the next H
 * has exactly Student's distribution with n - 1 degrees of freedom; its location and scale
 * follow from a Kalman filter (A. C. Harvey, Forecasting, Structural Time Series Models
 * and the Kalman Filter, 3.4). The interval is that of the mixture, weighted by the
 * likelihoods: the data decide how much the past is remembered, and where they cannot, it
 * is wide. A line is added to all models if that is 20 times as likely.
 *
 * Long iterations, such as those that write a file, are counted apart. Their number among
 * H more is negative binomial: Poisson of a rate with Jeffreys' prior.
 *
 * What did not happen yet is not covered: a drift that is too slow to be seen, another
 * load of the machine, and long iterations of which fewer than about 5 are known. */
#include "speedup/forecast.h"

#include <math.h>

#include "core/chance.h"

enum { MODELS = 90, PHIS = 30, COUNTS = 16, STEPS = 48, LEAST = 20 };

/* phi in equal steps of its inverse hyperbolic tangent: flat in phi, the interval of a
 * series of memory 0.9 was too narrow. */
static const double first_phi = -3.2, step_phi = .2;
static const double whites[] = {0, .1, .5}, odds[] = {.45, .45, .1};
/* Odds that show a line. */
static const double line_odds = 20;
/* With fewer than 100 values the memory is not known well: the scale is larger by up to
 * this over their number, without which series of memory 0.9 had 88 % at 20. */
static const double unsure_memory = 8, enough_values = 100;
/* An interval of more than this ratio is of no use. */
static const double factor_most = 2;
/* What a model weighs at least, relative to the heaviest. */
static const double weight_least = 1e-4;

typedef struct {
  double location, scale, weight; /* the logarithm of the weight first */
  double likelihood;              /* the largest of this model, its logarithm */
} model;

typedef struct {
  model of[MODELS];
  double freedom, likelihood;
} mixture;

/* Sums over the innovations of the series (0), of 1 (1) and of t (2), and the state
 * behind the last. */
typedef struct {
  double product[3][3], state[3], variance, determinant;
} filtered;

static filtered filter(const tsn_forecast *s, double phi, double white, double mean) {
  filtered f = {.variance = 1 - white};
  double n = (double)s->count;
  for (size_t i = 0; i < s->count; i++) {
    double scale = f.variance + white, gain = phi * f.variance / scale, off[3];
    double column[] = {s->value[i] - mean, 1, ((double)i - (n - 1) / 2) / n};
    for (int c = 0; c < 3; c++) {
      off[c] = column[c] - f.state[c];
      f.state[c] = phi * f.state[c] + gain * off[c];
    }
    for (int c = 0; c < 3; c++) {
      for (int d = 0; d < 3; d++) f.product[c][d] += off[c] * off[d] / scale;
    }
    f.determinant -= log(scale) / 2;
    f.variance =
        phi * phi * f.variance * (1 - f.variance / scale) + (1 - phi * phi) * (1 - white);
  }
  return f;
}

/* What one model says of the next `ahead` values. */
static model fit(const tsn_forecast *s, double phi, double white, bool line, double ahead,
                 double mean) {
  filtered f = filter(s, phi, white, mean);
  double n = (double)s->count, h = fmax(1, round(ahead)), power = pow(phi, h - 1);
  double last = (1 - power * phi) / (1 - phi) / h, a = f.product[1][1],
         b = f.product[1][2], c = f.product[2][2], coefficient[2], inverse[3];
  double determinant = line ? a * c - b * b : a;
  inverse[0] = line ? c / determinant : 1 / a;
  inverse[1] = line ? -b / determinant : 0;
  inverse[2] = line ? a / determinant : 0;
  coefficient[0] = inverse[0] * f.product[0][1] + inverse[1] * f.product[0][2];
  coefficient[1] = inverse[1] * f.product[0][1] + inverse[2] * f.product[0][2];
  double rss = f.product[0][0] - coefficient[0] * f.product[0][1] -
               coefficient[1] * f.product[0][2];
  rss = fmax(rss, 1e-28 * mean * mean * n);
  double g0 = 1 - last * f.state[1], g1 = line ? .5 + h / 2 / n - last * f.state[2] : 0;
  double steps = (h - 1 - 2 * phi * (1 - power) / (1 - phi) +
                  phi * phi * (1 - power * power) / (1 - phi * phi)) /
                 ((1 - phi) * (1 - phi));
  double future = f.variance * last * last +
                  steps * (1 - phi * phi) * (1 - white) / (h * h) + white / ahead;
  double unsure = g0 * g0 * inverse[0] + 2 * g0 * g1 * inverse[1] + g1 * g1 * inverse[2];
  double freedom = n - (line ? 2 : 1);
  double wider = fmax(1, 1 + unsure_memory * (1 / n - 1 / enough_values));
  return (model){
      .location = mean + coefficient[0] * g0 + coefficient[1] * g1 + last * f.state[0],
      .scale = wider * sqrt(rss / freedom * (future + unsure)),
      .weight = f.determinant - log(determinant) / 2 - freedom / 2 * log(rss),
      .likelihood = f.determinant - n / 2 * log(rss)};
}

static mixture mix(const tsn_forecast *s, bool line, double ahead) {
  mixture m = {.freedom = (double)s->count - (line ? 2 : 1), .likelihood = -INFINITY};
  double mean = 0, heaviest = -INFINITY, sum = 0;
  for (size_t i = 0; i < s->count; i++) mean += s->value[i] / (double)s->count;
  for (int k = 0; k < MODELS; k++) {
    double phi = tanh(first_phi + step_phi * (k % PHIS));
    m.of[k] = fit(s, phi, whites[k / PHIS], line, ahead, mean);
    m.of[k].weight += log(odds[k / PHIS]);
    heaviest = fmax(heaviest, m.of[k].weight);
    m.likelihood = fmax(m.likelihood, m.of[k].likelihood);
  }
  for (int k = 0; k < MODELS; k++) {
    double weight = exp(m.of[k].weight - heaviest);
    m.of[k].weight = weight < weight_least ? 0 : weight;
    sum += m.of[k].weight;
  }
  for (int k = 0; k < MODELS; k++) m.of[k].weight /= sum;
  return m;
}

/* P(T <= t); the normal approximation is exact to 1e-4 above 30 degrees of freedom. */
static double student_below(double t, double freedom) {
  if (freedom <= 30) return 1 - tsn_student_tail(t, freedom);
  double z = t * (1 - 1 / (4 * freedom)) / sqrt(1 + t * t / (2 * freedom));
  return erfc(-z * M_SQRT1_2) / 2;
}

/* Numbers of long iterations to come, COUNTS of equal chance. */
static int count_longs(const tsn_forecast *s, double left, double count[COUNTS]) {
  count[0] = 0;
  if (!(s->longs > 0)) return 1;
  double size = s->longs + .5, chance = s->number / (s->number + left);
  double term = pow(chance, size), sum = term, k = 0;
  for (int i = 0; i < COUNTS; i++) {
    while (sum < (i + .5) / COUNTS && k < 1e6) {
      term *= (1 - chance) * (size + k) / (k + 1);
      sum += term;
      k++;
    }
    count[i] = k;
  }
  return COUNTS;
}

/* Chance that the mean is at most q. */
static double below(const tsn_forecast *s, const mixture *m, const double *count,
                    int counts, double left, double q) {
  double sum = 0;
  for (int k = 0; k < MODELS; k++) {
    const model *own = &m->of[k];
    if (!(own->weight > 0)) continue;
    for (int i = 0; i < counts; i++) {
      double extra = count[i] * s->size / left, spread = 0;
      if (count[i] > 0) {
        spread = s->deviation * sqrt(count[i] + count[i] * count[i] / s->longs) / left;
      }
      double scale = sqrt(own->scale * own->scale + spread * spread);
      double t = (q - own->location - extra) / fmax(scale, 1e-300);
      sum += own->weight / counts * student_below(t, m->freedom);
    }
  }
  return sum;
}

bool tsn_forecast_limits(const tsn_forecast *known, double left, double *low,
                         double *high) {
  const tsn_forecast *s = known;
  if (s->count < LEAST) return false;
  double ahead = left / s->each, count[COUNTS], limit[2];
  mixture m = mix(s, false, ahead);
  mixture line = mix(s, true, ahead);
  double shown = line.likelihood - m.likelihood - log((double)s->count) / 2;
  if (shown > log(line_odds)) m = line;
  int counts = count_longs(s, left, count);
  double least = INFINITY, most = -INFINITY;
  for (int k = 0; k < MODELS; k++) {
    double reach = 400 * m.of[k].scale;
    if (!(m.of[k].weight > 0)) continue;
    least = fmin(least, m.of[k].location - reach);
    most = fmax(most, m.of[k].location + reach + count[counts - 1] * 40 * s->size / left);
  }
  for (int side = 0; side < 2; side++) {
    double from = least, to = most;
    for (int step = 0; step < STEPS; step++) {
      double middle = (from + to) / 2;
      if (below(s, &m, count, counts, left, middle) < (side ? .975 : .025)) {
        from = middle;
      } else {
        to = middle;
      }
    }
    limit[side] = (from + to) / 2;
  }
  *low = limit[0];
  *high = limit[1];
  return limit[1] <= factor_most * limit[0];
}
