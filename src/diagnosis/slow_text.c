/* SPDX-License-Identifier: BSD-3-Clause */
/* Slow iterations as sentences: which, by how much, where, and why. */
#include <math.h>

#include "diagnosis/slow.h"

/* What slow iterations show: 0: what runs beside the program, or the processor, may be why;
 * 2: processor times have them, too, which what runs beside it does not change. */
static int evidence_of(const tsanom_diagnosis_slow *s) {
  if (s->reason == TSANOM_DIAGNOSIS_REASON_READY || s->of_machine) return 0;
  return s->of_processor ? 2 : 1;
}

tsanom_status tsn_slow_check(const tsanom_diagnosis_summary *s) {
  if (s->slow_count > s->slow_capacity) return TSANOM_E_COUNT;
  return s->slow || !s->slow_count ? TSANOM_OK : TSANOM_E_NULL;
}

tsn_slow_shown tsn_slow_show(const tsanom_diagnosis_summary *s) {
  tsn_slow_shown shown = {.first = NULL};
  int most = -1;
  for (size_t i = 0; i < s->slow_count; i++) {
    int evidence = evidence_of(&s->slow[i]);
    if (evidence > most) {
      shown = (tsn_slow_shown){.first = &s->slow[i]};
      most = evidence;
    }
    if (evidence == most) shown.lost_s += s->slow[i].lost_s;
  }
  shown.is_ready = most == 0;
  shown.is_of_processor = most == 2;
  return shown;
}

/* "3, 7-9, 20, 31 and 2 more" */
static void put_ranges(tsn_sentence *t, const tsanom_diagnosis_slow *s) {
  for (uint64_t i = 0; i < s->ranges && i < TSANOM_DIAGNOSIS_RANGES; i++) {
    unsigned long long first = s->range[i][0], last = s->range[i][1];
    tsn_put(t, i ? ", %llu" : "%llu", first);
    if (last > first) tsn_put(t, "-%llu", last);
  }
  if (s->ranges > TSANOM_DIAGNOSIS_RANGES)
    tsn_put(t, " and %llu more", (unsigned long long)s->ranges - TSANOM_DIAGNOSIS_RANGES);
}

/* 3.57, and 3571 in place of 3.57e+03. */
static void put_ratio(tsn_sentence *t, double ratio, const char *of) {
  tsn_put(t, ratio < 1000 ? "%.3g times %s" : "%.0f times %s", ratio, of);
}

static void put_which(tsn_sentence *t, const tsanom_diagnosis_slow *s) {
  unsigned long long first = s->first, last = s->last, count = s->count,
                     of = s->iterations;
  bool since = s->kind == TSANOM_DIAGNOSIS_SLOW_SINCE;
  if (since || s->kind == TSANOM_DIAGNOSIS_SLOW_UNTIL) {
    tsn_put(t, since ? "since iteration %llu" : "until iteration %llu",
            since ? first : last + 1);
    if (s->place_low < s->place_high)
      tsn_put(t, " (between %zu and %zu)", s->place_low, s->place_high);
    tsn_put(t, " of %llu, iterations %s ", of, since ? "take" : "took");
    put_ratio(t, s->ratio, s->of_processor ? "the processor time" : "as long");
    return;
  }
  tsn_put(t, "%llu of %llu iterations (", count, of);
  if (s->kind == TSANOM_DIAGNOSIS_SLOW_RECURRING) {
    tsn_put(t, "every %llu from %llu", (unsigned long long)s->period, first);
  } else {
    put_ranges(t, s);
  }
  tsn_put(t, ") took ");
  put_ratio(t, s->ratio,
            s->of_processor ? "the processor time" : "as long as the others");
}

void tsn_put_slow(tsn_sentence *t, const tsanom_diagnosis_slow *s) {
  static const char *const reasons[] = {
      [TSANOM_DIAGNOSIS_REASON_WORK] = "they had a processor",
      [TSANOM_DIAGNOSIS_REASON_READY] = "they waited for a processor",
      [TSANOM_DIAGNOSIS_REASON_READING] = "they waited for page faults with input",
      [TSANOM_DIAGNOSIS_REASON_BLOCKED] = "they slept or were blocked",
      [TSANOM_DIAGNOSIS_REASON_STOPPED] = "the program was stopped"};
  put_which(t, s);
  if (!isnan(s->low)) tsn_put(t, " (%.3g to %.3g)", s->low, s->high);
  if (s->rank >= 0) tsn_put(t, ", on rank %d", s->rank);
  if (s->rank >= 0 && s->ranks > 1)
    tsn_put(t, " and %llu more", (unsigned long long)s->ranks - 1);
  if (s->region[0]) tsn_put(t, ", in %s", s->region);
  if (s->thread >= 0) tsn_put(t, " of thread %d", s->thread);
  if (s->reason == TSANOM_DIAGNOSIS_REASON_FAULTS) {
    tsn_put(t, "; each had %.0f page faults more", s->faults);
  } else if (s->reason > TSANOM_DIAGNOSIS_REASON_UNKNOWN &&
             s->reason <= TSANOM_DIAGNOSIS_REASON_STOPPED) {
    tsn_put(t, "; %s", reasons[s->reason]);
  }
}
