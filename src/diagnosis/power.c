/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom_diagnosis_normal_power(): which effects a model finds. */
#include <math.h>

#include "diagnosis/causes.h"

/* More normal runs than anybody makes. */
enum { MOST_RUNS = 100 };

/* The mean of a sign, above that of normal runs, with which 95 % of the runs are above its
 * limit, and have lost enough: they scatter about it as normal runs do about theirs. */
static double found_from(const tsn_model *m, tsn_limit limit, size_t sign, double least,
                         double runs) {
  double alpha = tsn_model_chance(m, 0, sign, TSN_CHANCE);
  return fmax(tsn_limit_at(&limit, alpha), least) - limit.mean +
         tsn_limit_margin(&limit, sign, 1 + 1 / runs, 0.05);
}

/* As learned from further runs with the same scatter. */
static tsn_limit with_more(tsn_limit limit, double runs, double more) {
  double own = tsn_own_variance(&limit, TSN_SLOWDOWN, 1 + 1 / runs);
  double squares = limit.scale * limit.scale / (1 + 1 / runs) * limit.freedom;
  limit.freedom += more;
  limit.scale = sqrt((squares + more * own) / limit.freedom * (1 + 1 / (runs + more)));
  return limit;
}

/* Further normal runs until the factor of a slowdown exceeds 1 by half. */
static double runs_to_halve(const tsn_model *m, double runs, double least, double now) {
  tsn_limit limit = tsn_model_limit(m, 0, TSN_SLOWDOWN);
  for (size_t more = 1; more <= MOST_RUNS; more++) {
    tsn_limit next = with_more(limit, runs, (double)more);
    double from = found_from(m, next, TSN_SLOWDOWN, least, runs + (double)more);
    if (exp(from) - 1 <= (now - 1) / 2) return (double)more;
  }
  return INFINITY;
}

static void ledger_power(const tsanom_diagnosis_normal *normal,
                         tsanom_diagnosis_power *power) {
  double wall = 0, work = 0, runs = (double)normal->run_count;
  if (!tsn_has_ledger(normal)) return;
  tsn_model m = tsn_model_of(normal);
  for (size_t p = 0; p < TSN_PARTS; p++) {
    wall += tsn_rate(&m, p)[TSN_WALL];
    work += tsn_rate(&m, p)[TSN_CPU] + tsn_rate(&m, p)[TSN_READY];
  }
  double lost = work > 0 ? TSN_LEAST_LOST * wall / work : INFINITY;
  /* What a thread of a run loses that is faster as a whole is not lost against normal runs. */
  tsn_limit pace = tsn_model_limit(&m, 0, TSN_SLOWDOWN);
  double faster = tsn_limit_margin(&pace, TSN_SLOWDOWN, 1 + 1 / runs, 0.05);
  const double least[] = {[TSN_SLOWDOWN] = log1p(lost),
                          [TSN_CONTENTION] = TSN_LEAST_LOST,
                          [TSN_BLOCKED] = TSN_LEAST_LOST,
                          [TSN_IMBALANCE] = log1p(lost) + faster};
  double *levels[] = {[TSN_SLOWDOWN] = &power->slowdown,
                      [TSN_CONTENTION] = &power->contention,
                      [TSN_BLOCKED] = &power->blocked,
                      [TSN_IMBALANCE] = &power->imbalance};
  for (size_t s = 0; s < TSN_IMBALANCE + m.threads; s++) {
    size_t kind = s < TSN_IMBALANCE ? s : TSN_IMBALANCE;
    double from = found_from(&m, tsn_model_limit(&m, 0, s), s, least[kind], runs);
    if (kind == TSN_SLOWDOWN || kind == TSN_IMBALANCE) from = exp(from);
    *levels[kind] = s > TSN_IMBALANCE ? fmax(*levels[kind], from) : from;
  }
  power->more_runs = runs_to_halve(&m, runs, least[TSN_SLOWDOWN], power->slowdown);
  power->hang = m.gap_limit;
}

tsanom_status tsanom_diagnosis_normal_power(const tsanom_diagnosis_normal *normal,
                                            tsanom_diagnosis_power *power) {
  tsanom_diagnosis_normal own = {.thread_count = 0};
  if (!power) return TSANOM_E_NULL;
  tsanom_status status = tsn_diagnosis_read_normal(&own, normal, NULL);
  if (status == TSANOM_OK) status = tsn_diagnosis_check_normal(&own, NULL);
  if (status < 0) return status;
  *power = (tsanom_diagnosis_power){.slowdown = INFINITY,
                                    .imbalance = INFINITY,
                                    .contention = INFINITY,
                                    .blocked = INFINITY,
                                    .hang = INFINITY,
                                    .more_runs = INFINITY};
  ledger_power(&own, power);
  for (size_t t = 0; t < own.thread_count; t++) {
    const tsanom_hsa_range *r =
        tsn_diagnosis_ranges_at(&own, TSANOM_DIAGNOSIS_PARTS - 1, t);
    power->leak = fmax(power->leak, r[TSANOM_DIAGNOSIS_SIGN_GROWTH].high);
    power->early = fmax(power->early, r[TSANOM_DIAGNOSIS_SIGN_EARLY].high);
  }
  return TSANOM_OK;
}
