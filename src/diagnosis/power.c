/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom_hsa_normal_power(): which effects a model finds. */
#include <math.h>

#include "core/chance.h"
#include "diagnosis/causes.h"

/* More normal runs than anybody makes. */
enum { MOST_RUNS = 100 };

/* What 95 % of the runs that have it are above the limit with: the sign scatters about it as
 * about zero in normal runs. */
static double found_from(tsn_limit limit, double alpha) {
  return tsn_limit_at(&limit, alpha) +
         tsn_student_quantile(0.05, limit.freedom) * limit.scale;
}

/* The factor of a slowdown that is found; `least`: the factor that costs a tenth. */
static double slowdown_from(const tsn_model *m, tsn_limit limit, double least) {
  return fmax(least,
              exp(found_from(limit, tsn_model_chance(m, 0, TSN_SLOWDOWN, TSN_CHANCE))));
}

/* Further normal runs with the same scatter until the factor exceeds 1 by half. */
static double runs_to_halve(const tsn_model *m, size_t runs, double least) {
  tsn_limit limit = tsn_model_limit(m, 0, TSN_SLOWDOWN);
  double now = slowdown_from(m, limit, least), n = (double)runs;
  double deviation = limit.scale / sqrt(1 + 1 / n);
  for (size_t more = 1; more <= MOST_RUNS; more++) {
    tsn_limit next = limit;
    next.freedom += (double)more;
    next.scale = deviation * sqrt(1 + 1 / (n + (double)more));
    if (slowdown_from(m, next, least) - 1 <= (now - 1) / 2) return (double)more;
  }
  return INFINITY;
}

static void ledger_power(const tsanom_hsa_normal *normal, tsanom_hsa_power *power) {
  double wall = 0, work = 0;
  if (!tsn_has_ledger(normal)) return;
  tsn_model m = tsn_model_of(normal);
  for (size_t p = 0; p < TSN_PARTS; p++) {
    wall += tsn_rate(&m, p)[TSN_WALL];
    work += tsn_rate(&m, p)[TSN_CPU] + tsn_rate(&m, p)[TSN_READY];
  }
  double least = work > 0 ? 1 + TSN_LEAST_LOST * wall / work : INFINITY;
  power->slowdown = slowdown_from(&m, tsn_model_limit(&m, 0, TSN_SLOWDOWN), least);
  power->more_runs = runs_to_halve(&m, normal->run_count, least);
  power->hang = m.gap_limit;
  double *levels[] = {&power->contention, &power->blocked};
  for (size_t s = TSN_CONTENTION; s <= TSN_BLOCKED; s++) {
    double from =
        found_from(tsn_model_limit(&m, 0, s), tsn_model_chance(&m, 0, s, TSN_CHANCE));
    *levels[s - TSN_CONTENTION] = fmax(TSN_LEAST_LOST, from);
  }
  power->imbalance = least;
  for (size_t t = 0; t < m.threads; t++) {
    size_t s = TSN_IMBALANCE + t;
    double from =
        found_from(tsn_model_limit(&m, 0, s), tsn_model_chance(&m, 0, s, TSN_CHANCE));
    power->imbalance = fmax(power->imbalance, exp(from));
  }
}

tsanom_status tsanom_hsa_normal_power(const tsanom_hsa_normal *normal,
                                      tsanom_hsa_power *power) {
  tsanom_hsa_normal own = {.thread_count = 0};
  if (!power) return TSANOM_E_NULL;
  tsanom_status status = tsn_hsa_read_normal(&own, normal, NULL);
  if (status < 0) return status;
  *power = (tsanom_hsa_power){.slowdown = INFINITY,
                              .imbalance = INFINITY,
                              .contention = INFINITY,
                              .blocked = INFINITY,
                              .hang = INFINITY,
                              .more_runs = INFINITY};
  ledger_power(&own, power);
  for (size_t t = 0; t < own.thread_count; t++) {
    const tsanom_hsa_range *r = tsn_hsa_ranges_at(&own, TSANOM_HSA_PARTS - 1, t);
    power->leak = fmax(power->leak, r[TSANOM_HSA_SIGN_GROWTH].high);
  }
  return TSANOM_OK;
}
