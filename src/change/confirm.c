/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether independent samples of any distribution explain a change. If they do, every
 * order of them is equally likely. That k of the n have a sum as far from its mean as before
 * the change has then about the probability exp(-D / 2), where D is the deviance that the
 * samples e_i explain of their side z_i, 0 before the change and 1 after it:
 *
 *   D = 2 sum log P(z_i | e_i) - 2 sum log P(z_i),  logit P(1 | e) = a + b e
 *
 * with the best a and b (J. Robinson, Saddlepoint approximations for permutation tests and
 * confidence intervals, J. R. Statist. Soc. B 44 (1982) 91-101: his equations are those of
 * logistic regression). Those of the linear discriminant are used, by which D is never larger,
 * and at gains of this size hardly smaller. Of normal samples D is about the gain of the
 * change. Of two modes, or of a long tail, it is less: some samples of a rare mode next to
 * each other are likelier than as many normal ones that far away. */
#include <math.h>
#include <string.h>

#include "change/change.h"
#include "core/size.h"
#include "core/sort.h"

/* Robust deviations to which samples are limited, so that outliers do not hide a change.
 * Each is limited by its value alone: every order stays equally likely. */
#define REACH 2.0

static void limit(double *e, double *scratch, size_t n) {
  memcpy(scratch, e, n * sizeof *e);
  double middle = tsn_median(scratch, n);
  for (size_t i = 0; i < n; i++) scratch[i] = fabs(e[i] - middle);
  double reach = REACH * tsn_change_deviation(scratch, n);
  for (size_t i = 0; i < n; i++) {
    e[i] = fmin(fmax(e[i] - middle, -reach), reach);
  }
}

/* The discriminant b e + a of samples whose variance on both sides is the same. */
static double discriminant(const double *e, size_t n, size_t k, double *a) {
  double before = 0, after = 0, squares = 0;
  for (size_t i = 0; i < k; i++) before += e[i] / (double)k;
  for (size_t i = k; i < n; i++) after += e[i] / (double)(n - k);
  for (size_t i = 0; i < n; i++) {
    double d = e[i] - (i < k ? before : after);
    squares += d * d;
  }
  double step = after - before;
  double b = step / (squares / (double)n + 1e-9 * step * step + 1e-300);
  *a = log((double)(n - k) / (double)k) - b * (before + after) / 2;
  return b;
}

double tsn_change_deviance(double *e, double *scratch, size_t n, size_t k) {
  double before = (double)k, after = (double)(n - k), a;
  double sum = before * log((double)n / before) + after * log((double)n / after);
  limit(e, scratch, n);
  double b = discriminant(e, n, k, &a);
  for (size_t i = 0; i < n; i++) {
    double logit = i < k ? -a - b * e[i] : a + b * e[i];
    sum += fmin(logit, 0) - log1p(exp(-fabs(logit)));
  }
  return 2 * sum;
}

/* D that noise exceeds in less than 1 % of series of 400 samples. Simulated
 * (tests/change/rates.c): with it, changes of normal samples are hardly ever dropped. */
#define DEVIANCE 10.0

/* Changes with few samples on one side can be at more places, as the scales of the search. */
double tsn_change_deviance_needed(size_t n, size_t shorter, double level) {
  double all = (double)n, places = all / (2 * (double)shorter);
  return DEVIANCE + log(all / 400) + 2 * log(places) - 2 * log(level / 0.01);
}

/* By how much the change at ends[j] exceeds what is needed. Correlation is left to the gain:
 * with it, D of the samples is larger, and drops nothing. */
static double excess(tsn_change_series *s, size_t j, double level) {
  size_t begin = s->ends[j - 1], k = s->ends[j] - begin, n = s->ends[j + 1] - begin;
  for (size_t i = 0; i < n; i++) s->moment[i] = s->x[begin + i] / s->unit;
  size_t shorter = tsn_smaller(k, n - k);
  double needed = tsn_change_deviance_needed(s->n, shorter, level);
  return tsn_change_deviance(s->moment, s->scratch, n, k) - needed;
}

bool tsn_change_confirm(tsn_change_series *s, double level) {
  size_t before = s->end_count;
  tsn_change_seed *of = s->seeds; /* of[j - 1].gain is the excess of ends[j] */
  for (size_t j = 1; j + 1 < s->end_count; j++) of[j - 1].gain = excess(s, j, level);
  while (s->end_count > 2) {
    size_t changes = s->end_count - 2, worst = 0;
    for (size_t j = 1; j < changes; j++) worst = of[j].gain < of[worst].gain ? j : worst;
    if (of[worst].gain > 0) break;
    memmove(of + worst, of + worst + 1, (changes - worst - 1) * sizeof *of);
    memmove(s->ends + worst + 1, s->ends + worst + 2,
            (changes - worst) * sizeof *s->ends);
    s->end_count--;
    if (worst) of[worst - 1].gain = excess(s, worst, level);
    if (worst + 1 < changes) of[worst].gain = excess(s, worst + 1, level);
  }
  return s->end_count < before;
}
