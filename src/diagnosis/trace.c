/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of a thread at any time. Samples count from the beginning of a task, and some
 * do not know a number:
 *
 *   task     7    7    7    9    9
 *   cpu      o----o---NaN   o----o       counted:  _/--/ from o to o of one task
 *
 * Between two samples of one task the number grows in proportion to the time; between the
 * last sample of a task and the first one of the next it does not. Processor time in which
 * the thread waited for its team is no work. */
#include <math.h>

#include "diagnosis/causes.h"
#include "diagnosis/ledger.h"

static double number_of(const tsanom_hsa_vital *v, int number) {
  return number == TSN_LEDGER_CPU ? v->cpu_s : v->wait_s;
}

static bool is_known(const tsanom_hsa_vital *v, int number) {
  return isfinite(number_of(v, number)) && isfinite(v->time);
}

/* The next sample from *at on that knows the number; NULL: there is none. */
static const tsanom_hsa_vital *next_known(const tsanom_hsa_series *s, int number,
                                          size_t *at) {
  while (*at < s->vital_count) {
    const tsanom_hsa_vital *v = &s->vital[(*at)++];
    if (is_known(v, number)) return v;
  }
  return NULL;
}

/* Of processor time only work, which may be counted a sample later. */
static double grown_between(const tsanom_hsa_vital *before, const tsanom_hsa_vital *after,
                            int number) {
  double grown = fmax(0, number_of(after, number) - number_of(before, number));
  double spun = number == TSN_LEDGER_CPU ? after->spun_s - before->spun_s : 0;
  return spun > 0 ? grown - spun : grown;
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

size_t tsn_ledger_ends(const tsanom_hsa_run *run, double *begin, double *end,
                       bool *knows_ready) {
  double span[2];
  size_t sampled = 0;
  *begin = *end = -INFINITY;
  *knows_ready = true;
  for (size_t t = 0; t < run->thread_count; t++) {
    const tsanom_hsa_series *s = &run->threads[t];
    if (!tsn_ledger_span(s, TSN_LEDGER_CPU, span)) continue;
    sampled++;
    *begin = fmax(*begin, span[0]);
    *end = fmax(*end, span[1]);
    if (!tsn_ledger_span(s, TSN_LEDGER_READY, span)) *knows_ready = false;
  }
  return sampled;
}

size_t tsn_samples_until(const tsanom_hsa_vital *vital, size_t count, double time) {
  size_t low = 0, high = count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (vital[middle].time <= time) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/* The last sample until a time that knows the number; 0: there is none. */
static size_t last_known(const tsanom_hsa_series *s, int number, double time) {
  size_t at = tsn_samples_until(s->vital, s->vital_count, time);
  while (at && !is_known(&s->vital[at - 1], number)) at--;
  return at ? at - 1 : 0;
}

void tsn_ledger_trace(const tsanom_hsa_series *s, int number, const double *time,
                      size_t count, double *value) {
  size_t at = last_known(s, number, time[0]), i = 0;
  double sum = 0;
  const tsanom_hsa_vital *before = next_known(s, number, &at), *after;
  while (i < count && !(before && time[i] > before->time)) value[i++] = 0;
  for (; i < count && (after = next_known(s, number, &at)); before = after) {
    double grown = after->task == before->task ? grown_between(before, after, number) : 0;
    for (; i < count && time[i] < after->time; i++) {
      value[i] = sum + grown * ((time[i] - before->time) / (after->time - before->time));
    }
    sum += grown;
  }
  while (i < count) value[i++] = sum;
}

/* ---- when nobody ran */

/* Of samples in the order of their times, the one that is nearest to a time. */
static const tsanom_hsa_vital *nearest(const tsanom_hsa_series *s, double time) {
  size_t after = tsn_samples_until(s->vital, s->vital_count, time);
  if (after == s->vital_count) return after ? &s->vital[after - 1] : NULL;
  bool later =
      after == 0 || s->vital[after].time - time < time - s->vital[after - 1].time;
  return &s->vital[later ? after : after - 1];
}

/* 1: nobody worked or was ready for it at a time; 0: somebody; NaN: not known. A thread that
 * waits for its team and is ready may be one that others wait for, as it comes back from a
 * region that is over: unless something else than a thread blocks one of these. */
static double is_nobody(const tsanom_hsa_run *run, double time) {
  bool comes_back = false, is_blocked = false;
  for (size_t t = 0; t < run->thread_count; t++) {
    const tsanom_hsa_vital *v = nearest(&run->threads[t], time);
    if (!v || !v->state) return NAN;
    bool ready = v->state == 'R';
    if (ready && v->waits != TSANOM_HSA_WAITS_TEAM) return 0;
    comes_back = comes_back || ready;
    is_blocked =
        is_blocked || v->waits == TSANOM_HSA_WAITS_OTHER || (!ready && v->state != 'S');
  }
  return is_blocked || !comes_back;
}

const tsanom_hsa_series *tsn_best_sampled(const tsanom_hsa_run *run) {
  const tsanom_hsa_series *best = &run->threads[0];
  for (size_t t = 1; t < run->thread_count; t++) {
    if (run->threads[t].vital_count > best->vital_count) best = &run->threads[t];
  }
  return best;
}

/* A sample stands for the time until half of the way to the ones beside it. */
void tsn_ledger_nobody(const tsanom_hsa_run *run, const double *time, size_t count,
                       double *value) {
  const tsanom_hsa_series *s = tsn_best_sampled(run);
  double sum = 0, begin = -INFINITY;
  size_t i = 0;
  for (size_t k = 0; k < s->vital_count && i < count; k++) {
    bool last = k + 1 == s->vital_count;
    double now = s->vital[k].time;
    double end = last ? INFINITY : 0.5 * (now + s->vital[k + 1].time);
    double share = is_nobody(run, now);
    if (!isfinite(begin)) begin = fmin(now, time[0]);
    for (; i < count && time[i] < end; i++)
      value[i] = sum + share * fmax(0, time[i] - begin);
    sum += share * (end - begin);
    begin = end;
  }
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
  size_t made = tsn_diagnosis_beats_until(s, time);
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

void tsn_ledger_cut(const tsanom_hsa_series *s, double total, double *cut) {
  enum { PARTS = TSANOM_DIAGNOSIS_WINDOWS - 1 };
  double begin = cut[0], end = cut[PARTS];
  for (size_t p = 1; p < PARTS; p++) {
    double share = (double)p / PARTS, time = end;
    if (!s->beats) time = begin + share * (end - begin);
    if (share * total < (double)s->beats) time = tsn_ledger_time_of(s, share * total);
    cut[p] = fmin(fmax(time, begin), end);
  }
}
