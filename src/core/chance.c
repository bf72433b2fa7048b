/* SPDX-License-Identifier: BSD-3-Clause */
/* The incomplete gamma and beta functions, by series where these converge quickly, and by
 * continued fractions elsewhere (Abramowitz and Stegun, 6.5.29, 6.5.31, 26.5.8),
 * evaluated by the method of Lentz. Both need about sqrt(shape) terms. */
#include "core/chance.h"

#include <math.h>

#include "core/logarithm.h"

static const double tiny = 1e-300, enough = 1e-15;

enum { TERMS_MOST = 100000 };

static double log_gamma(double x) {
  return M_LN2 * tsn_log2_gamma(x);
}

/* One step of Lentz's method for a continued fraction: numerator `a`, denominator `b`. */
typedef struct {
  double value, c, d, factor;
} fraction;

static void next(fraction *f, double a, double b) {
  double d = b + a * f->d, c = b + a / f->c;
  f->d = 1 / (fabs(d) < tiny ? tiny : d);
  f->c = fabs(c) < tiny ? tiny : c;
  f->factor = f->c * f->d;
  f->value *= f->factor;
}

static double lower_series(double shape, double x) {
  double term = 1 / shape, sum = term;
  for (int k = 1; k < TERMS_MOST && term > enough * sum; k++) {
    term *= x / (shape + k);
    sum += term;
  }
  return sum;
}

static double upper_fraction(double shape, double x) {
  double first = x + 1 - shape;
  fraction f = {.value = 1 / first, .c = 1 / tiny, .d = 1 / first};
  for (int k = 1; k < TERMS_MOST; k++) {
    next(&f, -k * (k - shape), first + 2 * k);
    if (fabs(f.factor - 1) < enough) break;
  }
  return f.value;
}

double tsn_gamma_tail(double shape, double x) {
  if (!(x > 0)) return 1;
  double scale = exp(shape * log(x) - x - log_gamma(shape));
  if (x < shape + 1) return fmax(0, 1 - scale * lower_series(shape, x));
  return scale * upper_fraction(shape, x);
}

/* The regularized incomplete beta function for x < (a + 1) / (a + b + 2). */
static double beta_below(double a, double b, double x) {
  fraction f = {.value = 1, .c = 1, .d = 0};
  for (int k = 1; k < TERMS_MOST; k++) {
    double m = floor(k / 2.);
    next(&f,
         k % 2 ? -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
               : m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
         1);
    if (fabs(f.factor - 1) < enough) break;
  }
  double scale =
      log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log1p(-x);
  return exp(scale) / a / f.value;
}

double tsn_student_tail(double t, double freedom) {
  double square = t * t, a = freedom / 2, b = .5, tail;
  double x = freedom / (freedom + square), y = square / (freedom + square);
  if (t == 0) return .5;
  if (x < (a + 1) / (a + b + 2)) {
    tail = beta_below(a, b, x) / 2;
  } else {
    tail = .5 - beta_below(b, a, y) / 2;
  }
  return t > 0 ? tail : 1 - tail;
}

/* Bisection of log t: the tail falls with t. Below 1e-8 and above 1e150 the answer is the
 * limit. */
double tsn_student_quantile(double tail, double freedom) {
  if (!(tail < .5)) return 0;
  double low = log(1e-8), high = log(1e150);
  for (int step = 0; step < 64; step++) {
    double middle = (low + high) / 2;
    if (tsn_student_tail(exp(middle), freedom) > tail) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return exp((low + high) / 2);
}
