/* SPDX-License-Identifier: BSD-3-Clause */
/* Signs: numbers that say how a thread fares, from its own run alone. Sums over samples
 * are of pairs of consecutive samples of one task; where a number is not known in a
 * sample, the pair is that of its neighbors:
 *
 *   task    7    7    7    9    9        a pair: o--o
 *   cpu     o----o  (NaN)  o----o
 *
 * The first fifth of the beats does not count for memory: programs allocate while they
 * begin. */
#include <math.h>

#include "core/sort.h"
#include "diagnosis/causes.h"

/* Pairs of a quartile of processor time. Samples are taken at any point of a beat: a pair
 * of one beat may contain the time of two. With at least four beats in a pair, their
 * quartile compares a team better than the mean does, in which each disturbance counts.
 */
enum { LEAST_PAIRS = 4, MOST_PAIRS = 64, FEW_BEATS = 4 * MOST_PAIRS };

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

/* The next pair behind *at whose samples know the number and that has at least `beats`
 * beats; *at becomes its second sample. False: there is none. */
static bool next_pair(const tsanom_hsa_series *s,
                      double (*number)(const tsanom_hsa_vital *), uint64_t beats,
                      size_t *at, growth *found) {
  const tsanom_hsa_vital *first = NULL;
  for (size_t i = *at; i < s->vital_count; i++) {
    const tsanom_hsa_vital *v = &s->vital[i];
    if (isnan(number(v)) || isnan(v->time)) continue;
    if (!first || first->task != v->task) {
      first = v;
      continue;
    }
    if (v->beats < first->beats + beats) continue;
    *at = i;
    *found = (growth){number(v) - number(first), (double)(v->beats - first->beats),
                      v->time - first->time};
    return true;
  }
  return false;
}

/* The sum of all pairs from sample `at` on; no seconds: there is no pair. */
static growth sum_pairs(const tsanom_hsa_series *s,
                        double (*number)(const tsanom_hsa_vital *), size_t at) {
  growth sum = {0, 0, 0}, one;
  while (next_pair(s, number, 0, &at, &one)) {
    sum.amount += one.amount;
    sum.beats += one.beats;
    sum.seconds += one.seconds;
  }
  return sum;
}

/* Lower quartile of processor time per beat. Few beats between two samples say little, so
 * that pairs are as long as a part of the beats. */
static double cpu_quartile(const tsanom_hsa_series *s) {
  double value[MOST_PAIRS];
  size_t count = 0, at = 0;
  uint64_t least = s->beats / MOST_PAIRS + 1;
  growth one;
  while (count < MOST_PAIRS && next_pair(s, cpu_of, least, &at, &one)) {
    value[count++] = one.amount / one.beats;
  }
  if (count < LEAST_PAIRS) return NAN;
  tsn_sort(value, count);
  return value[(count - 1) / 4];
}

/* The first sample after the beginning. If it is late, as in a short run that has few
 * samples, the last one in the second half of the beginning. */
static size_t find_begun(const tsanom_hsa_series *s) {
  double beats = (double)s->beats, begun = floor(beats * TSN_HSA_BEGINNING);
  size_t early = TSANOM_NONE;
  for (size_t i = 0; i < s->vital_count; i++) {
    double own = (double)s->vital[i].beats;
    if (own >= begun) {
      return early != TSANOM_NONE && own > beats * TSN_HSA_LATE ? early : i;
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

/* The samples around a gap, of which each thread has fewer than beats: the last before
 * it, the first after it. One pass finds those of all gaps in turn. */
typedef struct {
  const tsanom_hsa_vital *before;
  size_t next, after;
} enclosure;

static bool knows_activity(const tsanom_hsa_vital *v) {
  return !isnan(v->time) && !isnan(v->cpu_s) && !isnan(v->wait_s);
}

/* A gap, which does not begin before that of an earlier call. */
static bool enclose_gap(const tsanom_hsa_series *s, const double gap[2], enclosure *e) {
  const tsanom_hsa_vital *v = s->vital;
  for (; e->next < s->vital_count && !(v[e->next].time > gap[0]); e->next++) {
    if (knows_activity(&v[e->next])) e->before = &v[e->next];
  }
  while (e->after < s->vital_count &&
         !(knows_activity(&v[e->after]) && v[e->after].time >= gap[1])) {
    e->after++;
  }
  return e->before && e->after < s->vital_count && v[e->after].task == e->before->task;
}

/* The gap before a beat, which is not the first. */
static bool enclose(const tsanom_hsa_series *s, size_t beat, enclosure *e) {
  return enclose_gap(s, (const double[]){s->time[beat - 1], s->time[beat]}, e);
}

/* The beat that ends the longest gap; 0: there is no gap. */
static size_t end_of_gap(const tsanom_hsa_series *s) {
  size_t gap = s->beats > 1;
  for (size_t i = 2; i < s->beats; i++) {
    if (s->time[i] - s->time[i - 1] > s->time[gap] - s->time[gap - 1]) gap = i;
  }
  return gap;
}

double tsn_hsa_wait_in_gap(const tsanom_hsa_series *s) {
  enclosure e = {NULL, 0, 0};
  size_t gap = end_of_gap(s);
  if (!gap || !enclose(s, gap, &e)) return NAN;
  return s->vital[e.after].wait_s - e.before->wait_s;
}

double tsn_hsa_wait_since_beat(const tsanom_hsa_series *s) {
  const tsanom_hsa_vital *before = NULL, *last = NULL;
  if (!s->time || !s->beats) return 0;
  for (size_t i = 0; i < s->vital_count; i++) {
    const tsanom_hsa_vital *v = &s->vital[i];
    if (!knows_activity(v)) continue;
    if (v->time <= s->time[s->beats - 1]) before = v;
    last = v;
  }
  return before && last->task == before->task ? last->wait_s - before->wait_s : 0;
}

double tsn_hsa_wait_share(const tsanom_hsa_series *s, const double gap[2]) {
  enclosure e = {NULL, 0, 0};
  if (!enclose_gap(s, gap, &e)) return NAN;
  const tsanom_hsa_vital *after = &s->vital[e.after];
  return (after->wait_s - e.before->wait_s) / (after->time - e.before->time);
}

/* A gap contains at most the activity between the samples around it: the thread was
 * blocked for at least the rest. *end: the beat that ends the gap; 0: it is not known. */
static double blocked_gap(const tsanom_hsa_series *s, size_t *end) {
  enclosure e = {NULL, 0, 0};
  double longest = NAN;
  *end = 0;
  for (size_t i = 1; i < s->beats; i++) {
    if (!enclose(s, i, &e)) continue;
    const tsanom_hsa_vital *after = &s->vital[e.after];
    double active = after->cpu_s - e.before->cpu_s + after->wait_s - e.before->wait_s;
    double blocked = fmax(0, s->time[i] - s->time[i - 1] - active);
    if (blocked <= longest) continue;
    longest = blocked;
    *end = i;
  }
  return longest;
}

void tsn_hsa_find_gap(const tsanom_hsa_series *s, int32_t sign, double gap[2]) {
  size_t end = end_of_gap(s);
  if (sign == TSANOM_HSA_SIGN_BLOCKED_GAP) (void)blocked_gap(s, &end);
  gap[0] = s->time[end - 1];
  gap[1] = s->time[end];
}

double tsn_hsa_waited(const tsanom_hsa_series *s, double *observed) {
  growth wait = sum_pairs(s, wait_of, 0);
  *observed = wait.seconds;
  return wait.amount;
}

void tsn_hsa_measure_samples(const tsanom_hsa_series *s, double *value) {
  growth cpu = sum_pairs(s, cpu_of, 0), wait = sum_pairs(s, wait_of, 0);
  growth faults = sum_pairs(s, faults_of, find_begun(s));
  if (cpu.beats > 0) value[TSANOM_HSA_SIGN_CPU] = cpu.amount / cpu.beats;
  if (faults.beats > 0) value[TSANOM_HSA_SIGN_FAULTS] = faults.amount / faults.beats;
  value[TSANOM_HSA_SIGN_CPU_QUARTILE] = cpu_quartile(s);
  if (wait.seconds > 0 && cpu.amount + wait.amount > 0) {
    value[TSANOM_HSA_SIGN_WAIT] = wait.amount / (cpu.amount + wait.amount);
    value[TSANOM_HSA_SIGN_BLOCKED] =
        fmax(0, 1 - (cpu.amount + wait.amount) / cpu.seconds);
  }
}

/* When the threads of a run beat, and which beats most. */
typedef struct {
  double first, last, end;
  size_t busiest;
} span;

static span find_span(const tsanom_hsa_run *run) {
  span s = {INFINITY, -INFINITY, run->end, 0};
  for (size_t t = 0; t < run->thread_count; t++) {
    const tsanom_hsa_series *one = &run->threads[t];
    if (!one->beats) continue;
    s.first = fmin(s.first, one->time[0]);
    s.last = fmax(s.last, one->time[one->beats - 1]);
    if (one->beats > run->threads[s.busiest].beats) s.busiest = t;
  }
  if (run->vital_count) s.end = fmax(s.end, run->vital[run->vital_count - 1].time);
  s.end = fmax(s.end, s.last);
  if (run->state == TSANOM_HSA_STATE_FINISHED || run->state == TSANOM_HSA_STATE_UNKNOWN) {
    s.end = s.last;
  }
  return s;
}

size_t tsn_hsa_beats_until(const tsanom_hsa_series *s, double time) {
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
  return (double)(s->beats - tsn_hsa_beats_until(s, time)) / (double)s->beats;
}

/* The others beat faster when a thread no longer needs its processor: what they did after
 * its last beat is counted in beats, not in time. */
static void measure_beats(const tsanom_hsa_series *s, const tsanom_hsa_series *busiest,
                          const span *all, double *value) {
  if (!s->beats) {
    if (!isfinite(all->last)) return;
    value[TSANOM_HSA_SIGN_SILENCE] = all->end - all->first;
    value[TSANOM_HSA_SIGN_TAIL] = 1;
    return;
  }
  double last = s->time[s->beats - 1];
  if (s->beats > 1) {
    value[TSANOM_HSA_SIGN_INTERVAL] = tsn_hsa_quartile_interval(s->time, s->beats);
  }
  value[TSANOM_HSA_SIGN_GAP] = longest_gap(s);
  value[TSANOM_HSA_SIGN_SILENCE] = all->end - last;
  value[TSANOM_HSA_SIGN_TAIL] = share_after(busiest, last);
}

/* From the first sample after the beginning. A short run, or one whose sampler got no
 * processor, has few samples: if that one is late, or the only one, the last sample in
 * the second half of the beginning stands for it. */
tsn_hsa_memory tsn_hsa_find_growth(const tsanom_hsa_vital *vital, size_t count,
                                   const double end[3]) {
  tsn_hsa_memory found = {NAN, NAN, NAN}, early = found;
  for (size_t i = 0; i < count; i++) {
    const tsanom_hsa_vital *v = &vital[i];
    if (isnan(v->anonymous) || !(v->time >= end[0])) continue;
    if (v->time < end[1]) {
      early = (tsn_hsa_memory){v->anonymous, v->time, NAN};
    } else if (isnan(found.base)) {
      found = (tsn_hsa_memory){v->anonymous, v->time, NAN};
    } else {
      found.most = fmax(found.most, v->anonymous);
    }
  }
  bool is_late = isnan(found.most) || found.since > end[2];
  if (!is_late || isnan(early.base)) return found;
  early.most = fmax(found.base, found.most);
  return early;
}

/* Growth of the process after the beginning, in bytes, and over the beats of the busiest
 * thread. */
static void measure_growth(const tsanom_hsa_run *run, const span *all,
                           double growth_and_rate[2]) {
  const tsanom_hsa_series *busiest = &run->threads[all->busiest];
  growth_and_rate[0] = growth_and_rate[1] = NAN;
  if (!busiest->beats) return;
  double most = (double)(busiest->beats - 1);
  const double end[3] = {busiest->time[(size_t)(most * TSN_HSA_BEGINNING / 2)],
                         busiest->time[(size_t)(most * TSN_HSA_BEGINNING)],
                         busiest->time[(size_t)(most * TSN_HSA_LATE)]};
  tsn_hsa_memory m = tsn_hsa_find_growth(run->vital, run->vital_count, end);
  if (isnan(m.most)) return;
  size_t before = 0;
  while (before < busiest->beats && busiest->time[before] <= m.since) before++;
  growth_and_rate[0] = fmax(0, m.most - m.base);
  if (before < busiest->beats) {
    growth_and_rate[1] = growth_and_rate[0] / (double)(busiest->beats - before);
  }
}

/* The value of each thread over the median of the others', for which the value of each is
 * already known. */
static void compare_team(tsanom_hsa_signs *signs, size_t threads, int32_t sign,
                         int32_t result) {
  tsn_hsa_medians medians = tsn_hsa_team_medians(signs, threads, sign);
  for (size_t t = 0; t < threads; t++) {
    double own = tsn_hsa_team_value(&signs[t], sign);
    double median = tsn_hsa_median_of_others(&medians, own);
    if (median > 0) signs[t].value[result] = own / median;
  }
}

/* Whether the quartiles of processor time compare the threads. The means do where a
 * thread has too few samples for a quartile, as in a short run. */
static bool has_quartiles(const tsanom_hsa_signs *signs, size_t threads, uint64_t most) {
  bool all = most >= FEW_BEATS;
  for (size_t t = 0; t < threads && all; t++) {
    all = !isnan(signs[t].value[TSANOM_HSA_SIGN_CPU_QUARTILE]) ||
          isnan(signs[t].value[TSANOM_HSA_SIGN_CPU]);
  }
  return all;
}

void tsn_hsa_measure_team(tsanom_hsa_signs *signs, size_t threads, uint64_t most) {
  compare_team(signs, threads, TSN_HSA_BEATS, TSANOM_HSA_SIGN_SHARE);
  compare_team(signs, threads, TSANOM_HSA_SIGN_INTERVAL, TSANOM_HSA_SIGN_TEAM_INTERVAL);
  compare_team(signs, threads,
               has_quartiles(signs, threads, most) ? TSANOM_HSA_SIGN_CPU_QUARTILE
                                                   : TSANOM_HSA_SIGN_CPU,
               TSANOM_HSA_SIGN_TEAM_CPU);
}

void tsn_hsa_measure(const tsanom_hsa_run *run, tsanom_hsa_signs *signs) {
  span all = find_span(run);
  double growth_and_rate[2];
  measure_growth(run, &all, growth_and_rate);
  for (size_t t = 0; t < run->thread_count; t++) {
    const tsanom_hsa_series *s = &run->threads[t];
    signs[t] = (tsanom_hsa_signs){.beats = s->beats};
    for (size_t i = 0; i < TSANOM_HSA_SIGN_SLOTS; i++) signs[t].value[i] = NAN;
    measure_beats(s, &run->threads[all.busiest], &all, signs[t].value);
    tsn_hsa_measure_samples(s, signs[t].value);
    size_t gap;
    signs[t].value[TSANOM_HSA_SIGN_BLOCKED_GAP] = blocked_gap(s, &gap);
    signs[t].value[TSANOM_HSA_SIGN_GROWTH] = growth_and_rate[0];
    signs[t].value[TSANOM_HSA_SIGN_GROWTH_PER_BEAT] = growth_and_rate[1];
    if (run->state == TSANOM_HSA_STATE_FINISHED && run->exit_code >= 0) {
      signs[t].value[TSANOM_HSA_SIGN_EXIT] = run->exit_code;
    }
  }
  tsn_hsa_measure_team(signs, run->thread_count, run->threads[all.busiest].beats);
}
