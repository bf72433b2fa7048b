/* SPDX-License-Identifier: BSD-3-Clause */
/* Prediction limits of signs: mean + t(freedom, 1 - alpha) s sqrt(1 + 1/n). The scatter of
 * few runs says little, so that it is joined with one that foreign programs have, which
 * counts as PRIOR runs: two runs give a finite limit. One run that the others exclude was
 * disturbed, and does not count. */
#include <math.h>

#include "core/chance.h"
#include "core/sort.h"
#include "diagnosis/causes.h"
#include "diagnosis/judge.h"

enum { PRIOR = 3, FEW = 5 };

/* Scatter of normal runs that is assumed before any is seen: of log c, of R and U over W, of
 * the log of a thread's c over the others'. Medians over three programs are 0.038, 0.006,
 * 0.011 and 0.013; R and U are wider, since they grow with the load. */
static const double priors[TSN_IMBALANCE + 1] = {0.04, 0.03, 0.04, 0.03};

static double mean_of(const double *v, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += v[i];
  return sum / (double)n;
}

static double squares_of(const double *v, size_t n) {
  double mean = mean_of(v, n), sum = 0;
  for (size_t i = 0; i < n; i++) sum += (v[i] - mean) * (v[i] - mean);
  return sum;
}

size_t tsn_find_outlier(const double *v, size_t n) {
  if (n < FEW) return TSANOM_NONE;
  double median = 0.5 * (v[(n - 1) / 2] + v[n / 2]);
  bool high = v[n - 1] - median > median - v[0];
  const double *rest = high ? v : v + 1;
  size_t far = high ? n - 1 : 0, m = n - 1;
  double wide = tsn_student_quantile(0.005 / (double)n, (double)(m - 1)) *
                sqrt(squares_of(rest, m) / (double)(m - 1) * (1 + 1 / (double)m));
  return fabs(v[far] - mean_of(rest, m)) > wide ? far : TSANOM_NONE;
}

/* Move those that are known to the front, and sort them. Without any, no deviation is. */
static size_t sort_known(double *v, size_t count) {
  size_t n = 0;
  for (size_t i = 0; i < count; i++) {
    if (!isnan(v[i])) v[n++] = v[i];
  }
  if (!n) v[n++] = 0;
  tsn_sort(v, n);
  return n;
}

void tsn_learn_limits(double *value, size_t groups, size_t count, size_t sign, bool drops,
                      tsn_limit *limits) {
  double squares = PRIOR * priors[sign] * priors[sign];
  size_t freedom = PRIOR;
  for (size_t g = 0; g < groups; g++) {
    double *v = value + g * count;
    size_t n = sort_known(v, count), far = drops ? tsn_find_outlier(v, n) : TSANOM_NONE;
    if (far == 0) v++;
    if (far != TSANOM_NONE) n--;
    squares += squares_of(v, n);
    freedom += n - 1;
    limits[g] = (tsn_limit){
        .mean = mean_of(v, n), .scale = sqrt(1 + 1 / (double)n), .most = v[n - 1]};
  }
  for (size_t g = 0; g < groups; g++) {
    limits[g].scale *= sqrt(squares / (double)freedom);
    limits[g].freedom = (double)freedom;
  }
}

/* The freedom stays that of one eighth: rare long iterations are not normally distributed. */
void tsn_join_eighths(tsn_model *m, size_t sign) {
  double mean = tsn_scale_of_mean(m, sign, TSN_PARTS);
  for (size_t w = 0; w < TSN_WINDOWS; w++) {
    tsn_limit limit = tsn_model_limit(m, w, sign);
    limit.scale = fmax(limit.scale, w ? mean * sqrt(TSN_PARTS) : mean);
    tsn_model_set_limit(m, w, sign, limit);
  }
}

double tsn_limit_at(const tsn_limit *l, double alpha) {
  return l->mean + tsn_student_quantile(alpha, l->freedom) * l->scale;
}

double tsn_own_variance(const tsn_limit *l, size_t sign, double widening) {
  double prior = priors[sign < TSN_IMBALANCE ? sign : TSN_IMBALANCE];
  double own = l->freedom - PRIOR;
  double squares = l->scale * l->scale / widening * l->freedom - PRIOR * prior * prior;
  return own > 0 ? fmax(0, squares / own) : l->scale * l->scale / widening;
}

double tsn_limit_margin(const tsn_limit *l, size_t sign, double widening, double tail) {
  double joint = tsn_student_quantile(tail, l->freedom) * l->scale;
  if (!(l->freedom > PRIOR)) return joint;
  double own = tsn_student_quantile(tail, l->freedom - PRIOR) *
               sqrt(widening * tsn_own_variance(l, sign, widening));
  return fmax(joint, own);
}
