/* SPDX-License-Identifier: BSD-3-Clause */
/* Signs of a thread from its own run alone. Page faults are those between two consecutive
 * samples of one task; where a sample does not know them, the pair is that of its neighbors:
 *
 *   task    7    7    7    9    9        a pair: o--o
 *   faults  o----o  (NaN)  o----o
 *
 * The first fifth of the beats does not count for memory: programs allocate while they
 * begin. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/chance.h"
#include "core/names.h"
#include "core/sort.h"
#include "diagnosis/causes.h"

/* The part of the beats that does not count for memory, and the one after which its first
 * sample is late. */
static const double beginning = 0.2, late = 0.4;

static double faults_of(const tsanom_hsa_vital *v) {
  return v->minor_faults + v->major_faults;
}

/* The first sample after the beginning. If it is late, as in a short run that has few
 * samples, the last one in the second half of the beginning. */
static size_t find_begun(const tsanom_hsa_series *s) {
  double beats = s->vital_count ? (double)s->vital[s->vital_count - 1].beats : 0;
  double begun = floor(beats * beginning);
  size_t early = TSANOM_NONE;
  for (size_t i = 0; i < s->vital_count; i++) {
    double own = (double)s->vital[i].beats;
    if (own >= begun) {
      return early != TSANOM_NONE && own > beats * late ? early : i;
    }
    if (own >= begun / 2) early = i;
  }
  return s->vital_count;
}

/* Page faults per beat after the beginning; NaN: not known. */
static double measure_faults(const tsanom_hsa_series *s) {
  double faults = 0, beats = 0;
  const tsanom_hsa_vital *before = NULL;
  for (size_t i = find_begun(s); i < s->vital_count; i++) {
    const tsanom_hsa_vital *v = &s->vital[i];
    if (isnan(faults_of(v)) || isnan(v->time)) continue;
    if (before && before->task == v->task) {
      faults += faults_of(v) - faults_of(before);
      beats += (double)(v->beats - before->beats);
    }
    before = v;
  }
  return beats > 0 ? faults / beats : NAN;
}

/* Of `count` times that do not decrease, each `stride` bytes behind the one before, those that
 * are not after one. */
static size_t times_until(const double *first, size_t stride, size_t count, double time) {
  size_t low = 0, high = count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    const void *at = (const char *)first + middle * stride;
    if (*(const double *)at <= time) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

size_t tsn_diagnosis_beats_until(const tsanom_hsa_series *s, double time) {
  return times_until(s->time, sizeof *s->time, s->beats, time);
}

size_t tsn_samples_until(const tsanom_hsa_vital *vital, size_t count, double time) {
  return count ? times_until(&vital->time, sizeof *vital, count, time) : 0;
}

static bool knows_memory(const tsanom_hsa_vital *v) {
  return !isnan(v->anonymous) && !isnan(v->time);
}

/* The first sample from one on that knows the memory, at a time or after it. */
static size_t sample_at(const tsanom_hsa_run *run, size_t from, double time) {
  while (from < run->vital_count &&
         !(knows_memory(&run->vital[from]) && run->vital[from].time >= time)) {
    from++;
  }
  return from;
}

/* The most memory after a sample, until the first one at or after a time, less what that has;
 * NaN: not known. */
static double grown_from(const tsanom_hsa_run *run, size_t sample, double until) {
  double most = NAN;
  for (size_t i = sample + 1; i < run->vital_count; i++) {
    const tsanom_hsa_vital *v = &run->vital[i];
    if (!knows_memory(v)) continue;
    most = fmax(most, v->anonymous);
    if (v->time >= until) break;
  }
  return isnan(most) ? NAN : fmax(0, most - run->vital[sample].anonymous);
}

/* The time at which a thread has made a share of its beats. */
static double time_of_share(const tsanom_hsa_series *s, double share) {
  return s->time[(size_t)((double)(s->beats - 1) * share)];
}

/* Growth of the process from the first sample after the beginning. A short run, or one whose
 * sampler got no processor, has few samples: if that one is late, or the only one, the last
 * sample in the second half of the beginning stands for it. */
double tsn_diagnosis_growth(const tsanom_hsa_run *run) {
  const tsanom_hsa_series *busiest = &run->threads[tsn_diagnosis_busiest(run)];
  if (!busiest->beats) return NAN;
  double over = time_of_share(busiest, beginning);
  size_t first = sample_at(run, 0, over), early = first;
  if (first == run->vital_count) return NAN;
  while (early-- > 0 && !knows_memory(&run->vital[early])) continue;
  bool has_early =
      early < first && run->vital[early].time >= time_of_share(busiest, beginning / 2);
  bool is_late = run->vital[first].time > time_of_share(busiest, late) ||
                 sample_at(run, first + 1, over) == run->vital_count;
  return grown_from(run, is_late && has_early ? early : first, INFINITY);
}

/* Growth of the process from its first beat until the beginning is over, and the first sample
 * after that. */
static double early_of(const tsanom_hsa_run *run, const tsanom_hsa_series *busiest) {
  if (!busiest->beats) return NAN;
  size_t first = sample_at(run, 0, busiest->time[0]);
  double over = time_of_share(busiest, beginning);
  bool is_over = first == run->vital_count || run->vital[first].time >= over;
  return is_over ? NAN : grown_from(run, first, over);
}

/* When the least memory from then on passes an amount, which the samples have before. */
static double time_of_amount(const tsanom_hsa_vital *vital, size_t count, double amount) {
  double least = INFINITY, next = NAN;
  for (size_t i = count; i-- > 0;) {
    double has = vital[i].anonymous, time = vital[i].time;
    if (!knows_memory(&vital[i])) continue;
    if (has <= amount) return time + (next - time) * ((amount - has) / (least - has));
    least = fmin(least, has);
    next = time;
  }
  return NAN;
}

/* Temporary memory hides where a leak began, but not in the least memory from a time on, L:
 *
 *     memory     |  | /|/ |/             L has grown by a quarter and three quarters of its growth
 *              __|__|/ |  |              at a and b: the line through these begins at a - (b - a) / 2
 *     L        ______/---/
 */
double tsn_leak_onset(const tsanom_hsa_run *run, int32_t sign) {
  const tsanom_hsa_series *busiest = &run->threads[tsn_diagnosis_busiest(run)];
  bool is_early = sign == TSANOM_DIAGNOSIS_SIGN_EARLY;
  size_t first = sample_at(run, 0, time_of_share(busiest, is_early ? 0 : beginning));
  double least = INFINITY, last = NAN;
  for (size_t i = first; i < run->vital_count; i++) {
    if (!knows_memory(&run->vital[i])) continue;
    last = run->vital[i].anonymous;
    least = fmin(least, last);
  }
  if (!(last > least)) return NAN;
  double growth = last - least;
  double time = time_of_amount(run->vital, run->vital_count, least + 0.25 * growth);
  double a = tsn_beats_at(busiest, time);
  double b = tsn_beats_at(
      busiest, time_of_amount(run->vital, run->vital_count, least + 0.75 * growth));
  double begin = fmax(0, a - (b - a) / 2);
  if (begin < (double)busiest->beats) time = tsn_time_of_beats(busiest, begin);
  return fmax(run->vital[first].time, time);
}

/* The others beat faster when a thread no longer needs its processor: what they did after
 * its last beat is counted in beats, not in time. */
static double tail_of(const tsanom_hsa_series *s, const tsanom_hsa_series *busiest) {
  if (!s->beats) return busiest->beats ? 1 : NAN;
  size_t until = tsn_diagnosis_beats_until(busiest, s->time[s->beats - 1]);
  return (double)(busiest->beats - until) / (double)busiest->beats;
}

void tsn_diagnosis_measure(const tsanom_hsa_run *run, tsanom_diagnosis_signs *signs) {
  const tsanom_hsa_series *busiest = &run->threads[tsn_diagnosis_busiest(run)];
  bool has_status = run->state == TSANOM_RUN_FINISHED && run->exit_code >= 0;
  double growth = tsn_diagnosis_growth(run), early = early_of(run, busiest);
  for (size_t t = 0; t < run->thread_count; t++) {
    const tsanom_hsa_series *s = &run->threads[t];
    double *value = signs[t].value;
    signs[t] = (tsanom_diagnosis_signs){.beats = s->beats};
    for (size_t i = 0; i < TSANOM_DIAGNOSIS_SIGN_SLOTS; i++) value[i] = NAN;
    value[TSANOM_DIAGNOSIS_SIGN_TAIL] = tail_of(s, busiest);
    value[TSANOM_DIAGNOSIS_SIGN_FAULTS] = measure_faults(s);
    if (run->thread_count > 1 && busiest->beats) {
      value[TSANOM_DIAGNOSIS_SIGN_SHARE] = (double)s->beats / (double)busiest->beats;
    }
    value[TSANOM_DIAGNOSIS_SIGN_GROWTH] = growth;
    value[TSANOM_DIAGNOSIS_SIGN_EARLY] = early;
    if (has_status) value[TSANOM_DIAGNOSIS_SIGN_EXIT] = run->exit_code;
  }
}

/* The table of signs, and their normal ranges. There are three kinds:
 *
 *   ratio   scatters about a value: prediction interval of the logarithms by Student's t,
 *           and at least a factor to each side of their mean
 *   level   is small when nothing is wrong, and rises without a bound: from 0 to the
 *           greatest normal level and an amount, and `spread` times the difference of the
 *           extremes
 *   fact    has no range: it is known, or the ledger has its limit (learn.c) */

enum { FACT, RATIO, LEVEL };

static const struct {
  int rule;
  double factor; /* of a ratio: least width to each side */
  double amount; /* of a level */
  double spread;
} table[TSANOM_DIAGNOSIS_SIGNS] = {
    [TSANOM_DIAGNOSIS_SIGN_TAIL] = {LEVEL, 0, 0.05, 0},
    [TSANOM_DIAGNOSIS_SIGN_SHARE] = {RATIO, 1.02, 0, 0},
    [TSANOM_DIAGNOSIS_SIGN_FAULTS] = {LEVEL, 0, 1e-4, 2},
    [TSANOM_DIAGNOSIS_SIGN_GROWTH] = {LEVEL, 0, 3 << 20, 1},
    [TSANOM_DIAGNOSIS_SIGN_EXIT] = {LEVEL, 0, 0, 0},
    [TSANOM_DIAGNOSIS_SIGN_EARLY] = {LEVEL, 0, 3 << 20, 1}};

const char *tsanom_diagnosis_sign_name(int32_t sign) {
  static const char *const names[] = {TSN_DIAGNOSIS_SIGN_NAMES};
  _Static_assert(sizeof names / sizeof *names == TSANOM_DIAGNOSIS_SIGNS, "names");
  return sign >= 0 && sign < TSANOM_DIAGNOSIS_SIGNS ? names[sign] : "?";
}

static size_t keep_known(double *samples, size_t count, bool positive) {
  size_t known = 0;
  for (size_t i = 0; i < count; i++) {
    if (positive ? samples[i] > 0 : samples[i] >= 0) samples[known++] = samples[i];
  }
  return known;
}

/* Two samples say too little about the scatter for Student's t: they have the least
 * width. */
static tsanom_hsa_range ratio_range(double *samples, size_t count, double coverage,
                                    double factor) {
  double n = (double)count, sum = 0, squares = 0, reach = 0;
  for (size_t i = 0; i < count; i++) sum += log(samples[i]);
  double mean = sum / n, low = log(samples[0]), high = log(samples[count - 1]);
  for (size_t i = 0; i < count; i++) {
    squares += (log(samples[i]) - mean) * (log(samples[i]) - mean);
  }
  if (count > 2) {
    reach = tsn_student_quantile((1 - coverage) / 2, n - 1) *
            sqrt(squares / (n - 1) * (1 + 1 / n));
    low = high = mean;
  }
  reach = fmax(reach, log(factor));
  return (tsanom_hsa_range){exp(low - reach), exp(high + reach)};
}

tsanom_hsa_range tsn_diagnosis_sign_range(int32_t sign, double *samples, size_t count,
                                          double coverage) {
  count = keep_known(samples, count, table[sign].rule == RATIO);
  if (!count || table[sign].rule == FACT) {
    return (tsanom_hsa_range){-INFINITY, INFINITY};
  }
  tsn_sort(samples, count);
  if (table[sign].rule == RATIO) {
    return ratio_range(samples, count, coverage, table[sign].factor);
  }
  double most = samples[count - 1];
  return (tsanom_hsa_range){
      0, most + table[sign].amount + table[sign].spread * (most - samples[0])};
}

/* ---- the checks of a run with vital signs */

/* A time that is NaN has no order. */
static size_t first_disorder(const tsanom_hsa_vital *vital, size_t count) {
  double last = -INFINITY;
  for (size_t i = 0; i < count; i++) {
    if (vital[i].time < last) return i;
    if (!isnan(vital[i].time)) last = vital[i].time;
  }
  return count;
}

/* The first sample with an infinite number; NaN: one is not known. */
static size_t first_infinite(const tsanom_hsa_vital *vital, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const tsanom_hsa_vital *v = &vital[i];
    const double numbers[] = {v->time,         v->cpu_s,       v->wait_s,
                              v->voluntary,    v->involuntary, v->minor_faults,
                              v->major_faults, v->resident,    v->anonymous,
                              v->threads,      v->spun_s};
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
      if (isinf(numbers[k])) return i;
    }
  }
  return count;
}

static tsanom_status check_samples(const tsanom_hsa_vital *vital, size_t count,
                                   const char *name, size_t thread,
                                   const tsanom_exec *exec) {
  if (!count) return TSANOM_OK;
  if (!vital) {
    return tsn_reject_is(exec, TSANOM_E_NULL, name, thread,
                         "NULL; an array of %zu is expected", count);
  }
  size_t i = first_infinite(vital, count);
  if (i < count) {
    return tsn_reject_pair_is(exec, TSANOM_E_NONFINITE, name, thread, i,
                              "an infinite number; a finite one, or NaN, is expected");
  }
  i = first_disorder(vital, count);
  if (i == count) return TSANOM_OK;
  return tsn_reject_pair_is(exec, TSANOM_E_ORDER, name, thread, i,
                            "at %.9g; a time that is not before the last sample is "
                            "expected",
                            vital[i].time);
}

tsanom_status tsn_diagnosis_check_vitals(const tsanom_hsa_run *run, const char *name,
                                         size_t i, const tsanom_exec *exec) {
  char argument[64], threads[64];
  tsanom_status status = tsn_hsa_check_run(run, name, i, exec);
  if (status == TSANOM_OK &&
      (run->state < TSANOM_RUN_UNKNOWN || run->state > TSANOM_RUN_RUNNING)) {
    status = tsn_reject_field_is(exec, TSANOM_E_OPTION, name, "state", i,
                                 "%d; %d to %d is expected", run->state,
                                 TSANOM_RUN_UNKNOWN, TSANOM_RUN_RUNNING);
  }
  if (status == TSANOM_OK && !isfinite(run->end)) {
    status = tsn_reject_field_is(exec, TSANOM_E_NONFINITE, name, "end", i,
                                 "%s; a finite time is expected",
                                 isnan(run->end) ? "NaN" : "infinite");
  }
  if (status < 0) return status;
  (void)snprintf(argument, sizeof argument, "%s.vital", name);
  status = check_samples(run->vital, run->vital_count, argument, i, exec);
  (void)snprintf(threads, sizeof threads, "%s.threads", name);
  if (i == TSANOM_NONE) {
    (void)snprintf(argument, sizeof argument, "%s.threads.vital", name);
  } else {
    (void)snprintf(argument, sizeof argument, "%s[%zu].threads.vital", name, i);
  }
  for (size_t t = 0; t < run->thread_count && status == TSANOM_OK; t++) {
    const tsanom_hsa_series *s = &run->threads[t];
    tsn_hsa_place place = {exec, i == TSANOM_NONE ? threads : name, i, t};
    status = tsn_hsa_check_series(&place, s, run->start, SIZE_MAX);
    if (status == TSANOM_OK) {
      status = check_samples(s->vital, s->vital_count, argument, t, exec);
    }
  }
  return status;
}

size_t tsn_diagnosis_processors(const char *machine, const char **name) {
  static const char separator[] = " x ";
  char *end;
  *name = machine;
  if (!machine || *machine < '0' || *machine > '9') return 0;
  unsigned long count = strtoul(machine, &end, 10);
  if (strncmp(end, separator, strlen(separator)) != 0) return 0;
  *name = end + strlen(separator);
  return (size_t)count;
}
