/* SPDX-License-Identifier: BSD-3-Clause */
/* What the ledger learned, as plain numbers that a program may save and load. */
#include <math.h>

#include "core/size.h"
#include "diagnosis/judge.h"

/* A thread with at most this share of the beats of the busiest one is silent. */
static const double silent_share = 1e-6;

enum { HEAD = 10, LIMIT = 4, RATES = TSN_THREAD_CPU, SIGNS = TSN_IMBALANCE };

_Static_assert(HEAD + TSN_PARTS * RATES + TSN_WINDOWS * SIGNS * LIMIT ==
                   TSANOM_DIAGNOSIS_LEDGER_RUN,
               "numbers of a run");
_Static_assert(1 + TSN_PARTS + TSN_WINDOWS * LIMIT == TSANOM_DIAGNOSIS_LEDGER_THREAD,
               "numbers of a thread");

size_t tsn_ledger_numbers(size_t threads) {
  size_t count;
  if (__builtin_mul_overflow(threads, (size_t)TSANOM_DIAGNOSIS_LEDGER_THREAD, &count) ||
      __builtin_add_overflow(count, (size_t)TSANOM_DIAGNOSIS_LEDGER_RUN, &count)) {
    return SIZE_MAX;
  }
  return count;
}

tsn_model tsn_model_of(const tsanom_diagnosis_normal *normal) {
  double *v = normal->ledger;
  size_t threads = normal->thread_count;
  return (tsn_model){.threads = threads,
                     .processors = v[0],
                     .beats = v[1],
                     .longest_gap = v[2],
                     .gap_limit = v[3] > 0 ? v[3] : INFINITY,
                     .is_sampled = v[4] > 0,
                     .longest_start = v[5],
                     .pauses = {v[6], v[7], v[8], v[9] > 0 ? v[9] : INFINITY},
                     .share = v + HEAD,
                     .rate = v + HEAD + threads,
                     .limit = v + HEAD + threads + TSN_PARTS * (RATES + threads)};
}

void tsn_model_write(const tsn_model *m, tsanom_diagnosis_normal *normal) {
  normal->ledger[0] = m->processors;
  normal->ledger[1] = m->beats;
  normal->ledger[2] = m->longest_gap;
  normal->ledger[3] = isfinite(m->gap_limit) ? m->gap_limit : 0;
  normal->ledger[4] = m->is_sampled;
  normal->ledger[5] = m->longest_start;
  normal->ledger[6] = m->pauses.first;
  normal->ledger[7] = m->pauses.period;
  normal->ledger[8] = m->pauses.longest;
  normal->ledger[9] = isfinite(m->pauses.limit) ? m->pauses.limit : 0;
}

bool tsn_is_waited_for(const tsanom_diagnosis_normal *normal, size_t thread) {
  if (!tsn_has_ledger(normal)) return true;
  tsn_model m = tsn_model_of(normal);
  return m.share[thread] > silent_share;
}

static double *limit_at(const tsn_model *m, size_t window, size_t sign) {
  return m->limit + (window * (SIGNS + m->threads) + sign) * LIMIT;
}

tsn_limit tsn_model_limit(const tsn_model *m, size_t window, size_t sign) {
  const double *v = limit_at(m, window, sign);
  return (tsn_limit){.mean = v[0], .scale = v[1], .most = v[2], .freedom = v[3]};
}

void tsn_model_set_limit(tsn_model *m, size_t window, size_t sign, tsn_limit limit) {
  double *v = limit_at(m, window, sign);
  v[0] = limit.mean;
  v[1] = limit.scale;
  v[2] = limit.most;
  v[3] = limit.freedom;
}

double tsn_scale_of_mean(const tsn_model *m, size_t sign, size_t parts) {
  double squares = 0;
  for (size_t w = 1; w <= parts; w++) {
    double scale = tsn_model_limit(m, w, sign).scale;
    squares += scale * scale;
  }
  return sqrt(squares) / (double)parts;
}

/* Half of it for the whole and half for the eighths; one part each of slowdown, contention,
 * blocked and imbalance. */
double tsn_model_chance(const tsn_model *m, size_t window, size_t sign, double alpha) {
  double tests = 8.0 * (window ? TSN_PARTS : 1);
  return alpha / (sign < SIGNS ? tests : tests * (double)m->threads);
}

static bool is_known(const tsanom_diagnosis_normal *n) {
  size_t count = tsn_ledger_numbers(n->thread_count);
  for (size_t i = 0; i < count; i++) {
    if (!isfinite(n->ledger[i])) return false;
  }
  for (size_t i = 5; i < HEAD; i++) {
    if (n->ledger[i] < 0) return false;
  }
  return n->ledger[3] >= 0;
}

bool tsn_model_is_valid(const tsanom_diagnosis_normal *n) {
  tsn_model m = tsn_model_of(n);
  if (!is_known(n) || m.processors < 0) return false;
  if (m.processors > 0 && !(m.processors >= 1 && m.beats >= 1)) return false;
  for (size_t t = 0; t < m.threads; t++) {
    if (m.share[t] < 0) return false;
  }
  for (size_t i = 0; i < TSN_PARTS * (TSN_THREAD_CPU + m.threads); i++) {
    if (m.rate[i] < 0) return false;
  }
  for (size_t w = 0; w < TSN_WINDOWS; w++) {
    for (size_t s = 0; s < TSN_IMBALANCE + m.threads; s++) {
      tsn_limit limit = tsn_model_limit(&m, w, s);
      if (m.processors > 0 && !(limit.freedom >= 1 && limit.scale >= 0)) return false;
    }
  }
  return true;
}
