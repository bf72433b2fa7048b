/* SPDX-License-Identifier: BSD-3-Clause */
/* Signs of a thread from its own run alone. Sums over samples are of pairs of consecutive
 * samples of one task; where a number is not known in a sample, the pair is that of its
 * neighbors:
 *
 *   task    7    7    7    9    9        a pair: o--o
 *   cpu     o----o  (NaN)  o----o
 *
 * The first fifth of the beats does not count for memory: programs allocate while they
 * begin. */
#include <math.h>

#include "diagnosis/causes.h"

/* The part of the beats that does not count for memory, and the one after which its first
 * sample is late. */
static const double beginning = 0.2, late = 0.4;

static double cpu_of(const tsanom_hsa_vital *v) {
  return v->cpu_s;
}

static double wait_of(const tsanom_hsa_vital *v) {
  return v->wait_s;
}

static double faults_of(const tsanom_hsa_vital *v) {
  return v->minor_faults + v->major_faults;
}

/* What happened between two samples of one task. */
typedef struct {
  double amount, beats, seconds;
} growth;

/* The sum of all pairs from sample `at` on whose samples know the number; no seconds: there
 * is no pair. */
static growth sum_pairs(const tsanom_hsa_series *s,
                        double (*number)(const tsanom_hsa_vital *), size_t at) {
  growth sum = {0, 0, 0};
  const tsanom_hsa_vital *before = NULL;
  for (; at < s->vital_count; at++) {
    const tsanom_hsa_vital *v = &s->vital[at];
    if (isnan(number(v)) || isnan(v->time)) continue;
    if (before && before->task == v->task) {
      sum.amount += number(v) - number(before);
      sum.beats += (double)(v->beats - before->beats);
      sum.seconds += v->time - before->time;
    }
    before = v;
  }
  return sum;
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

static double longest_gap(const tsanom_hsa_series *s) {
  double longest = NAN;
  for (size_t i = 1; i < s->beats; i++) {
    longest = fmax(longest, s->time[i] - s->time[i - 1]);
  }
  return longest;
}

static void measure_samples(const tsanom_hsa_series *s, double *value) {
  growth cpu = sum_pairs(s, cpu_of, 0), wait = sum_pairs(s, wait_of, 0);
  growth faults = sum_pairs(s, faults_of, find_begun(s));
  if (cpu.beats > 0) value[TSANOM_DIAGNOSIS_SIGN_CPU] = cpu.amount / cpu.beats;
  if (faults.beats > 0)
    value[TSANOM_DIAGNOSIS_SIGN_FAULTS] = faults.amount / faults.beats;
  if (wait.seconds > 0 && cpu.amount + wait.amount > 0) {
    value[TSANOM_DIAGNOSIS_SIGN_WAIT] = wait.amount / (cpu.amount + wait.amount);
    value[TSANOM_DIAGNOSIS_SIGN_BLOCKED] =
        fmax(0, 1 - (cpu.amount + wait.amount) / cpu.seconds);
  }
}

size_t tsn_diagnosis_beats_until(const tsanom_hsa_series *s, double time) {
  size_t low = 0, high = s->beats;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (s->time[middle] <= time) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/* The share of the beats of a series that are after a time. */
static double share_after(const tsanom_hsa_series *s, double time) {
  return (double)(s->beats - tsn_diagnosis_beats_until(s, time)) / (double)s->beats;
}

/* The others beat faster when a thread no longer needs its processor: what they did after
 * its last beat is counted in beats, not in time. */
static void measure_beats(const tsanom_hsa_series *s, const tsanom_hsa_series *busiest,
                          double *value) {
  if (!s->beats && busiest->beats) value[TSANOM_DIAGNOSIS_SIGN_TAIL] = 1;
  if (!s->beats) return;
  value[TSANOM_DIAGNOSIS_SIGN_GAP] = longest_gap(s);
  value[TSANOM_DIAGNOSIS_SIGN_TAIL] = share_after(busiest, s->time[s->beats - 1]);
}

/* The sample that memory grows from, and the most memory after it; NaN: not known. */
typedef struct {
  double base, since, most;
} memory;

/* Of samples of the process. `end`: times by which half of the beginning, and all of it,
 * are over, and after which the next sample is late. From the first sample after the
 * beginning. A short run, or one whose sampler got no processor, has few samples: if that
 * one is late, or the only one, the last sample in the second half of the beginning stands
 * for it. */
static memory find_growth(const tsanom_hsa_vital *vital, size_t count,
                          const double end[3]) {
  memory found = {NAN, NAN, NAN}, early = found;
  for (size_t i = 0; i < count; i++) {
    const tsanom_hsa_vital *v = &vital[i];
    if (isnan(v->anonymous) || !(v->time >= end[0])) continue;
    if (v->time < end[1]) {
      early = (memory){v->anonymous, v->time, NAN};
    } else if (isnan(found.base)) {
      found = (memory){v->anonymous, v->time, NAN};
    } else {
      found.most = fmax(found.most, v->anonymous);
    }
  }
  bool is_late = isnan(found.most) || found.since > end[2];
  if (!is_late || isnan(early.base)) return found;
  early.most = fmax(found.base, found.most);
  return early;
}

/* Growth of the process after the beginning, in bytes. */
double tsn_diagnosis_growth(const tsanom_hsa_run *run) {
  const tsanom_hsa_series *busiest = &run->threads[tsn_diagnosis_busiest(run)];
  if (!busiest->beats) return NAN;
  double most = (double)(busiest->beats - 1);
  const double end[3] = {busiest->time[(size_t)(most * beginning / 2)],
                         busiest->time[(size_t)(most * beginning)],
                         busiest->time[(size_t)(most * late)]};
  memory m = find_growth(run->vital, run->vital_count, end);
  return isnan(m.most) ? NAN : fmax(0, m.most - m.base);
}

/* Growth of the process from its first beat until the beginning is over, and the first sample
 * after that. */
static double early_of(const tsanom_hsa_run *run) {
  const tsanom_hsa_series *busiest = &run->threads[tsn_diagnosis_busiest(run)];
  double first = NAN, most = NAN;
  if (!busiest->beats) return NAN;
  double over = busiest->time[(size_t)((double)(busiest->beats - 1) * beginning)];
  for (size_t i = 0; i < run->vital_count; i++) {
    const tsanom_hsa_vital *v = &run->vital[i];
    if (isnan(v->anonymous) || !(v->time >= busiest->time[0])) continue;
    if (isnan(first)) {
      first = v->anonymous;
    } else {
      most = fmax(most, v->anonymous);
    }
    if (v->time >= over) break;
  }
  return isnan(most) ? NAN : fmax(0, most - first);
}

void tsn_diagnosis_measure(const tsanom_hsa_run *run, tsanom_diagnosis_signs *signs) {
  const tsanom_hsa_series *busiest = &run->threads[tsn_diagnosis_busiest(run)];
  double taken = tsn_diagnosis_growth(run), early = early_of(run);
  for (size_t t = 0; t < run->thread_count; t++) {
    const tsanom_hsa_series *s = &run->threads[t];
    signs[t] = (tsanom_diagnosis_signs){.beats = s->beats};
    for (size_t i = 0; i < TSANOM_DIAGNOSIS_SIGN_SLOTS; i++) signs[t].value[i] = NAN;
    measure_beats(s, busiest, signs[t].value);
    measure_samples(s, signs[t].value);
    if (run->thread_count > 1 && busiest->beats) {
      signs[t].value[TSANOM_DIAGNOSIS_SIGN_SHARE] =
          (double)s->beats / (double)busiest->beats;
    }
    signs[t].value[TSANOM_DIAGNOSIS_SIGN_GROWTH] = taken;
    signs[t].value[TSANOM_DIAGNOSIS_SIGN_EARLY] = early;
    if (run->state == TSANOM_RUN_FINISHED && run->exit_code >= 0) {
      signs[t].value[TSANOM_DIAGNOSIS_SIGN_EXIT] = run->exit_code;
    }
  }
}
