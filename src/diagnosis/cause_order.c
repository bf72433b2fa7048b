/* SPDX-License-Identifier: BSD-3-Clause */
/* The order of causes, and the status that follows from them. What stops a thread comes
 * before what slows it; what the kernel counted before what is inferred from pace. */
#include "core/sort.h"
#include "diagnosis/causes.h"

static int rank_of(const tsanom_hsa_cause *c) {
  static const int ranks[TSANOM_HSA_STATUSES] = {
      [TSANOM_HSA_NOT_COMPARABLE] = 0, [TSANOM_HSA_HANG] = 1,
      [TSANOM_HSA_SHUTDOWN] = 2,       [TSANOM_HSA_MEMORY_LEAK] = 3,
      [TSANOM_HSA_CONTENTION] = 5,     [TSANOM_HSA_IMBALANCE] = 6,
      [TSANOM_HSA_SLOWDOWN] = 7,       [TSANOM_HSA_UNKNOWN] = 8,
      [TSANOM_HSA_WAITING] = 9,        [TSANOM_HSA_NORMAL] = 10};
  bool paused = c->cause == TSANOM_HSA_HANG && c->detail == TSANOM_HSA_DETAIL_PAUSED;
  return paused ? 4 : ranks[c->cause];
}

static bool comes_before(const tsanom_hsa_cause *a, const tsanom_hsa_cause *b) {
  if (rank_of(a) != rank_of(b)) return rank_of(a) < rank_of(b);
  if (a->strength != b->strength) return a->strength > b->strength;
  return a->thread < b->thread;
}

TSN_HEAPSORT(tsn_hsa_sort_causes, tsanom_hsa_cause, comes_before)

static bool concerns_all(const tsanom_hsa_cause *c) {
  return c->thread < 0 &&
         (c->cause == TSANOM_HSA_NOT_COMPARABLE || c->cause == TSANOM_HSA_SHUTDOWN ||
          c->cause == TSANOM_HSA_UNKNOWN);
}

tsanom_status tsanom_hsa_cause_status(const tsanom_hsa_cause *causes, size_t count,
                                      int32_t thread, int32_t *status) {
  if ((!causes && count) || !status) return TSANOM_E_NULL;
  int32_t found = TSANOM_HSA_NORMAL;
  bool is_own = false;
  for (size_t i = 0; i < count && !is_own; i++) {
    is_own = thread < 0 || causes[i].thread == thread;
    if (is_own || (concerns_all(&causes[i]) && found == TSANOM_HSA_NORMAL)) {
      found = causes[i].cause;
    }
  }
  *status = found;
  return TSANOM_OK;
}
