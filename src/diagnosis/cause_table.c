/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of causes: their order, whether they are alarms, and what to do next. */
#include <math.h>
#include <string.h>

#include "core/sort.h"
#include "diagnosis/causes.h"

/* Causes of one rank are in the order of the seconds that they cost. `next` of the run, or
 * of a thread, whose number replaces %d. */
static const struct {
  int rank;
  bool is_alarm;
  const char *next;
} table[TSANOM_HSA_STATUSES] = {
    [TSANOM_HSA_NOT_COMPARABLE] = {0, false, "learn a model from runs like this one"},
    [TSANOM_HSA_SHUTDOWN] = {1, true,
                             "look at the output and exit status of the program"},
    [TSANOM_HSA_MEMORY_LEAK] = {2, true, "look at the allocations%s in an iteration"},
    [TSANOM_HSA_HANG] = {4, true, "look at where%s waits or loops, with a debugger"},
    [TSANOM_HSA_CONTENTION] =
        {4, false,
         "look for other programs, the binding of threads, and limits of "
         "the processor time"},
    [TSANOM_HSA_IMBALANCE] = {4, true, "look at the share of the work%s in an iteration"},
    [TSANOM_HSA_SLOWDOWN] = {4, true,
                             "compare regions with a normal run: tsanom compare"},
    [TSANOM_HSA_UNKNOWN] = {5, false, "let the program run for longer"},
    [TSANOM_HSA_WAITING] = {6, false, "look at the thread that hangs"},
    [TSANOM_HSA_NORMAL] = {7, false, ""}};

static const char blocked[] =
    "look at what the program waits for: files, connections, sleep";

tsanom_diagnosis_finding *tsn_add_finding(tsanom_diagnosis_finding *found, size_t *count,
                                          int32_t cause, int32_t thread, int32_t detail) {
  tsanom_diagnosis_finding *f = &found[(*count)++];
  *f = (tsanom_diagnosis_finding){.cause = cause,
                                  .thread = thread,
                                  .sign = -1,
                                  .detail = detail,
                                  .value = NAN,
                                  .most = NAN,
                                  .limit = NAN,
                                  .lost_s = NAN,
                                  .begin = NAN,
                                  .end = NAN,
                                  .faults = NAN,
                                  .faults_limit = NAN,
                                  .ready_s = NAN};
  return f;
}

static int rank_of(const tsanom_diagnosis_finding *f) {
  bool lasts = f->cause == TSANOM_HSA_HANG && f->detail != TSANOM_DIAGNOSIS_DETAIL_PAUSED;
  return lasts ? 3 : table[f->cause].rank;
}

/* Seconds that are not known cost nothing. */
static double lost_by(const tsanom_diagnosis_finding *f) {
  return isnan(f->lost_s) ? 0 : f->lost_s;
}

static bool comes_before(const tsanom_diagnosis_finding *a,
                         const tsanom_diagnosis_finding *b) {
  if (rank_of(a) != rank_of(b)) return rank_of(a) < rank_of(b);
  if (lost_by(a) != lost_by(b)) return lost_by(a) > lost_by(b);
  return a->thread < b->thread;
}

TSN_HEAPSORT(tsn_diagnosis_sort_causes, tsanom_diagnosis_finding, comes_before)

static bool concerns_all(const tsanom_diagnosis_finding *c) {
  return c->thread < 0 &&
         (c->cause == TSANOM_HSA_NOT_COMPARABLE || c->cause == TSANOM_HSA_SHUTDOWN ||
          c->cause == TSANOM_HSA_UNKNOWN);
}

tsanom_status tsanom_diagnosis_cause_status(const tsanom_diagnosis_finding *causes,
                                            size_t count, int32_t thread,
                                            int32_t *status) {
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

static bool is_cause(int32_t cause) {
  return cause > TSANOM_HSA_NORMAL && cause < TSANOM_HSA_STATUSES;
}

int32_t tsanom_diagnosis_cause_is_alarm(int32_t cause) {
  return is_cause(cause) && table[cause].is_alarm;
}

void tsn_put_next(tsn_sentence *s, const tsanom_diagnosis_finding *cause) {
  bool is_blocked = cause->detail == TSANOM_DIAGNOSIS_DETAIL_BLOCKED;
  const char *next = is_blocked ? blocked : table[cause->cause].next,
             *of = strstr(next, "%s");
  tsn_put(s, "%.*s", of ? (int)(of - next) : (int)strlen(next), next);
  if (of && cause->cause == TSANOM_HSA_HANG) {
    tsn_put(s, cause->thread < 0 ? " the program" : " thread %d", cause->thread);
  } else if (of && cause->thread >= 0) {
    tsn_put(s, " of thread %d", cause->thread);
  }
  if (of) tsn_put(s, "%s", of + 2);
}
