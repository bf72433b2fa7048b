/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of a thread at any time. Samples count from the beginning of a task, and some
 * do not know a number:
 *
 *   task     7    7    7    9    9
 *   cpu      o----o---NaN   o----o       counted:  _/--/ from o to o of one task
 *
 * Between two samples of one task the number grows in proportion to the time; between the
 * last sample of a task and the first one of the next it does not. */
#include <math.h>

#include "diagnosis/causes.h"
#include "diagnosis/ledger.h"

static double number_of(const tsanom_hsa_vital *v, int number) {
  return number == TSN_LEDGER_CPU ? v->cpu_s : v->wait_s;
}

/* The next sample from *at on that knows the number; NULL: there is none. */
static const tsanom_hsa_vital *next_known(const tsanom_hsa_series *s, int number,
                                          size_t *at) {
  while (*at < s->vital_count) {
    const tsanom_hsa_vital *v = &s->vital[(*at)++];
    if (isfinite(number_of(v, number)) && isfinite(v->time)) return v;
  }
  return NULL;
}

bool tsn_ledger_span(const tsanom_hsa_series *s, int number, double span[2]) {
  size_t at = 0;
  const tsanom_hsa_vital *first = next_known(s, number, &at), *last = first;
  if (!first) return false;
  for (const tsanom_hsa_vital *v; (v = next_known(s, number, &at));) last = v;
  span[0] = first->time;
  span[1] = last->time;
  return last != first;
}

void tsn_ledger_trace(const tsanom_hsa_series *s, int number, const double *time,
                      size_t count, double *value) {
  size_t at = 0, i = 0;
  double sum = 0;
  const tsanom_hsa_vital *before = next_known(s, number, &at), *after;
  while (i < count && !(before && time[i] > before->time)) value[i++] = 0;
  for (; i < count && (after = next_known(s, number, &at)); before = after) {
    double grown = 0;
    if (after->task == before->task) {
      grown = fmax(0, number_of(after, number) - number_of(before, number));
    }
    for (; i < count && time[i] < after->time; i++) {
      value[i] = sum + grown * ((time[i] - before->time) / (after->time - before->time));
    }
    sum += grown;
  }
  while (i < count) value[i++] = sum;
}

uint64_t tsn_ledger_samples(const tsanom_hsa_series *s, const double times[2]) {
  size_t at = 0;
  uint64_t count = 0;
  for (const tsanom_hsa_vital *v; (v = next_known(s, TSN_LEDGER_CPU, &at));) {
    count += v->time > times[0] && v->time <= times[1];
  }
  return count;
}

double tsn_ledger_beats_at(const tsanom_hsa_series *s, double time) {
  size_t made = tsn_hsa_beats_until(s, time);
  if (made == 0 || made == s->beats) return (double)made;
  double last = s->time[made - 1];
  return (double)made + (time - last) / (s->time[made] - last);
}

double tsn_ledger_time_of(const tsanom_hsa_series *s, double beats) {
  if (beats < 1) return s->time[0];
  size_t made = (size_t)beats;
  double last = s->time[made - 1];
  return last + (beats - (double)made) * (s->time[made] - last);
}
