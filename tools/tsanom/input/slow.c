/* SPDX-License-Identifier: BSD-3-Clause */
/* Where iterations are slow. Against normal iterations of the same run: what the thread of
 * the iterations did longer; where it waited for its team, what the thread did longer that
 * the team waited for. Why: the account of the time of a thread around them. */
#include "slow.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tsanom/diagnosis.h>
#include <tsanom/hsa.h>

#include "run_open.h"

/* The account of the time of a thread (tsanom_diagnosis_account()). Samples rarely fall on their
 * ends:
 *
 *              sample        slow iterations          sample
 *              o---------[=========================]---o
 *              |<------------------ wall ------------->|
 *
 * less what normal iterations have in wall - lost: of the lost seconds c on a processor, r
 * ready without one, and the rest off it. */

/* Page faults explain processor time of this many seconds each at most. */
static const double fault_s = 2e-6;

/* Times that the time between samples that is not slow may exceed the lost time. */
static const double most_blurred = 10;

/* Normal iterations have at least this share of the time, or are taken to have had a
 * processor. */
static const double least_normal = 0.2;

typedef struct {
  double wall, cpu, ready, off, faults, major;
  size_t stopped;
} account;

/* Add what a thread did between two of its samples. */
static void add_samples(const tsanom_hsa_series *s, size_t first, size_t last,
                        account *to) {
  tsanom_hsa_series part = {.vital = s->vital + first, .vital_count = last - first + 1};
  tsanom_hsa_run run = {.threads = &part, .thread_count = 1};
  tsanom_diagnosis_ledger ledger;
  if (last <= first || tsanom_diagnosis_account(&run, NULL, &ledger, NULL, 0) < 0 ||
      !ledger.sampled)
    return;
  const tsanom_hsa_vital *a = &s->vital[first], *b = &s->vital[last];
  to->wall += ledger.window[0].wall_s;
  to->cpu += ledger.window[0].cpu_s;
  to->ready += ledger.window[0].ready_s;
  to->off += ledger.window[0].nobody_s;
  to->faults += b->minor_faults - a->minor_faults;
  to->major += b->major_faults - a->major_faults;
  for (size_t i = first; i <= last; i++) to->stopped += s->vital[i].state == 'T';
}

/* The last sample until a time, or the first; the first one after it, or the last. */
static size_t sample_until(const tsanom_hsa_series *s, double time) {
  size_t low = 0, high = s->vital_count;
  while (high - low > 1) {
    size_t middle = low + (high - low) / 2;
    if (s->vital[middle].time <= time) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

static size_t sample_from(const tsanom_hsa_series *s, double time) {
  size_t i = sample_until(s, time);
  while (i + 1 < s->vital_count && s->vital[i].time < time) i++;
  return i;
}

/* The samples around all iterations of a class. */
static account account_for(const iterations *it, const tsanom_hsa_series *s,
                           const int32_t *class_of, int32_t class) {
  account sum = {0};
  size_t first = TSANOM_NONE, last = 0;
  for (size_t i = 0; i < it->count; i++) {
    if (class_of[i] != class) continue;
    size_t end = i;
    while (end + 1 < it->count && class_of[end + 1] == class) end++;
    size_t from = sample_until(s, it->begin[i]), to = sample_from(s, it->begin[end + 1]);
    if (first != TSANOM_NONE && from < last) {
      last = to;
    } else {
      if (first != TSANOM_NONE) add_samples(s, first, last, &sum);
      first = from;
      last = to;
    }
    i = end;
  }
  if (first != TSANOM_NONE) add_samples(s, first, last, &sum);
  return sum;
}

static int32_t reason_of(const slow_iterations *s, const account *slow, double major) {
  double lost = s->found.lost_s;
  double most = fmax(s->cpu_s, fmax(s->ready_s, s->off_s));
  if (!(most >= 0.5 * lost)) return SLOW_UNKNOWN;
  if (s->ready_s >= s->cpu_s && s->ready_s >= s->off_s) return SLOW_READY;
  if (s->off_s > s->cpu_s) {
    if (slow->stopped) return SLOW_STOPPED;
    return major >= (double)s->found.count ? SLOW_READING : SLOW_BLOCKED;
  }
  double faults = s->faults * (double)s->found.count;
  return faults * fault_s >= 0.5 * lost ? SLOW_FAULTS : SLOW_WORK;
}

/* Fill the reason of finding `index`, its seconds and its page faults, by the samples of
 * its thread. */
static void slow_find_reason(const iterations *it, const slow_series *series,
                             size_t index, slow_iterations *s) {
  size_t thread = s->thread < 0 ? it->thread : (size_t)s->thread;
  s->cpu_s = s->ready_s = s->off_s = s->faults = NAN;
  if (thread >= it->beats->thread_count) return;
  const tsanom_hsa_series *samples = &it->beats->threads[thread];
  if (samples->vital_count < 2) return;
  account slow = account_for(it, samples, series->class_of, (int32_t)index + 1);
  account rest = {0};
  add_samples(samples, 0, samples->vital_count - 1, &rest);
  double lost = s->found.lost_s, normal = slow.wall - lost;
  double slow_s = lost + (double)s->found.count * series->median_s;
  rest.wall -= slow.wall;
  if (!(slow.wall > 0) || slow.wall - slow_s > most_blurred * lost) return;
  account usual = {.cpu = normal};
  if (rest.wall >= least_normal * normal) {
    double part = normal / rest.wall;
    usual = (account){.cpu = part * (rest.cpu - slow.cpu),
                      .ready = part * (rest.ready - slow.ready),
                      .off = part * (rest.off - slow.off),
                      .faults = part * (rest.faults - slow.faults),
                      .major = part * (rest.major - slow.major)};
  }
  s->cpu_s = slow.cpu - usual.cpu;
  s->ready_s = slow.ready - usual.ready;
  s->off_s = slow.off - usual.off;
  s->faults = (slow.faults - usual.faults) / (double)s->found.count;
  s->reason = reason_of(s, &slow, slow.major - usual.major);
}

/* A thread takes longer than the others if its excess is as many times theirs. */
static const double thread_differs = 1.5;

/* Ratios of levels that processors and memory do not reach which others use, too. */
static const double highest = 1.2, highest_if_short = 1.75;

/* Ratios that they hardly ever reach: less is no alarm. */
static const double certain = 1.4, certain_if_short = 2.5;

/* Times as much of the excess as of the time that a region has. */
static const double concentrated = 1.5, certainly_concentrated = 3;

/* The time in which threads wait for processors over that in which they have one, by their
 * visits of regions or by their samples. */
static const double is_busy = 0.05, least_if_busy = 1.4;

/* Share of the time of what only waited for a processor there: each run has some. */
static const double least_waited = 0.05;

/* ---- where */

/* More seconds in an iteration of the class than in a normal one. */
static double excess_of(const activities *a, size_t item, size_t class,
                        const size_t *counts) {
  const double *seconds = a->seconds + item * a->classes;
  double normal = counts[0] ? seconds[0] / (double)counts[0] : 0;
  return seconds[class] / (double)counts[class] - normal;
}

/* The item with the greatest excess: of the thread of the iterations or of the others, in
 * place `place` or in any (TSANOM_NONE). */
enum { OTHERS, OWN, ALL };

static size_t most_of(const iterations *it, const activities *a, size_t class,
                      const size_t *counts, int whose, size_t place, double *most) {
  size_t best = TSANOM_NONE;
  *most = 0;
  for (size_t k = 0; k < a->count; k++) {
    const activity *item = &a->item[k];
    int own = item->thread == (int32_t)it->thread;
    if (whose != ALL && own != (whose == OWN)) continue;
    if (place != TSANOM_NONE && item->place != place) continue;
    if (whose == OTHERS && item->what == ACTIVITY_WAIT) continue;
    double excess = excess_of(a, k, class, counts);
    if (excess <= *most) continue;
    *most = excess;
    best = k;
  }
  return best;
}

/* Whether other threads do the same longer, too. */
static int is_shared(const activities *a, size_t item, size_t class,
                     const size_t *counts) {
  double excess = excess_of(a, item, class, counts);
  for (size_t k = 0; k < a->count; k++) {
    if (a->item[k].thread == a->item[item].thread ||
        a->item[k].place != a->item[item].place || a->item[k].what != a->item[item].what)
      continue;
    if (excess < thread_differs * excess_of(a, k, class, counts)) return 1;
  }
  return 0;
}

static void find_place(const iterations *it, const activities *a, size_t class,
                       const size_t *counts, slow_iterations *s) {
  double most, others;
  char text[ACTIVITY_BYTES];
  int whose = s->of_processor ? ALL : OWN;
  size_t best = most_of(it, a, class, counts, whose, TSANOM_NONE, &most);
  s->thread = -1;
  if (best == TSANOM_NONE) return;
  size_t place = a->item[best].place;
  int waits = a->item[best].what == ACTIVITY_WAIT;
  if (whose == OWN && (a->item[best].what <= ACTIVITY_REGION || waits)) {
    size_t other = most_of(it, a, class, counts, OTHERS, place, &others);
    if (other == TSANOM_NONE)
      other = most_of(it, a, class, counts, OTHERS, TSANOM_NONE, &others);
    if (other != TSANOM_NONE && (waits || others > most)) best = other;
  }
  if (it->beats->thread_count > 1 && a->item[best].what == ACTIVITY_REGION &&
      !is_shared(a, best, class, counts)) {
    s->thread = a->item[best].thread;
  }
  (void)snprintf(s->region, sizeof s->region, "%s",
                 activity_name(it, &a->item[best], text));
  s->computing_s = 0;
  for (size_t k = 0; k < a->count; k++) {
    if (whose == OWN &&
        (a->item[k].thread != (int32_t)it->thread || a->item[k].what == ACTIVITY_CALL))
      continue;
    s->computing_s += excess_of(a, k, class, counts) * (double)counts[class];
  }
}

/* What a processor or memory that others slow down takes longer, all regions do: of the
 * excess, the one with most has the share that it has of the time. Whether it has `more`
 * times as much. */
static int is_concentrated(const iterations *it, const activities *a, size_t class,
                           const size_t *counts, int whose, double more) {
  double most, excess = 0, normal = 0;
  size_t best = most_of(it, a, class, counts, whose, TSANOM_NONE, &most);
  if (best == TSANOM_NONE || !counts[0]) return 0;
  for (size_t k = 0; k < a->count; k++) {
    if (whose == OWN && a->item[k].thread != (int32_t)it->thread) continue;
    excess += excess_of(a, k, class, counts);
    normal += a->seconds[k * a->classes];
  }
  return most / excess > more * a->seconds[best * a->classes] / normal;
}

/* What threads waited for a processor, in units of what they had one. */
static double waiting_share(const tsanom_hsa_run *run) {
  double waited = 0, had = 0;
  for (size_t t = 0; t < run->thread_count; t++) {
    const tsanom_hsa_series *s = &run->threads[t];
    if (!s->vital_count || isnan(s->vital[s->vital_count - 1].wait_s)) continue;
    waited += s->vital[s->vital_count - 1].wait_s;
    had += s->vital[s->vital_count - 1].cpu_s;
  }
  return had > 0 ? waited / had : 0;
}

/* Of iterations that are slow for a while: whether the slow ones, or all others, take so little
 * time that processors change by more. */
static int is_brief(const slow_run *s, const slow_series *series, const slow_finding *f) {
  double slow_s = f->lost_s + (double)f->count * series->median_s;
  double rest_s = (double)(s->it.count - f->count) * series->median_s;
  return fmin(slow_s, rest_s) < SLOW_SHORT_S;
}

/* Whether a level is so high, or so concentrated in a region, that the program changed. What
 * shares a core slows regions down that others are not. */
static int is_of_program(const slow_run *s, const slow_series *series,
                         const activities *a, size_t index, const size_t *counts) {
  const slow_finding *f = &series->finding[index];
  if (f->kind == SLOW_SINGLE || f->kind == SLOW_RECURRING) return 1;
  if (f->ratio < least_if_busy && waiting_share(s->it.beats) >= is_busy) return 0;
  return f->ratio >= (is_brief(s, series, f) ? highest_if_short : highest) ||
         is_concentrated(&s->it, a, index + 1, counts, OWN, concentrated);
}

/* Whether one that is listed may be of the machine all the same. Where ranks only communicate
 * longer, now and then, none of them is the reason. */
static int is_of_machine(const slow_run *s, const slow_series *series,
                         const activities *a, size_t index, const size_t *counts,
                         const slow_iterations *one) {
  const slow_finding *f = &series->finding[index];
  if (f->kind == SLOW_SINGLE) return one->rank >= 0 && one->computing_s < 0.5 * f->lost_s;
  return f->kind != SLOW_RECURRING &&
         f->ratio < (is_brief(s, series, f) ? certain_if_short : certain) &&
         !is_concentrated(&s->it, a, index + 1, counts, OWN, certainly_concentrated);
}

/* The same of processor times, which double where others use the same core. */
static int is_of_work(const slow_run *s, const slow_series *series, const activities *a,
                      size_t index, const size_t *counts) {
  const slow_finding *f = &series->finding[index];
  if (f->kind == SLOW_SINGLE || f->kind == SLOW_RECURRING) return 1;
  return f->ratio >= least_if_busy &&
         is_concentrated(&s->it, a, index + 1, counts, ALL, concentrated);
}

/* ---- a process, and all of them */

/* The findings of a series, with their reasons. Of a series of processor times, each second
 * is `waited` seconds of the run. */
static int explain(slow_run *s, const slow_series *series, int32_t seconds, double waited,
                   int32_t rank, failure *why) {
  size_t counts[SLOW_MOST + 1] = {0};
  activities a = {0};
  slow_iterations *item = realloc(s->item, (s->count + series->count + 1) * sizeof *item);
  if (!item) return fail(why, "out of memory");
  s->item = item;
  if (!series->count) return 0;
  int failed =
      activities_read(&s->it, seconds, series->class_of, series->count + 1, &a, why);
  for (size_t i = 0; i < s->it.count; i++) {
    if (series->class_of[i] >= 0) counts[series->class_of[i]]++;
  }
  for (size_t k = 0; k < series->count && !failed; k++) {
    if (!(seconds == SECONDS_PASSED ? is_of_program : is_of_work)(s, series, &a, k,
                                                                  counts))
      continue;
    slow_iterations *one = &s->item[s->count++];
    *one = (slow_iterations){.found = series->finding[k],
                             .of_processor = seconds == SECONDS_OF_PROCESSOR,
                             .rank = rank,
                             .of = s->iterations,
                             .computing_s = NAN};
    slow_ranges(series, k, s->it.count, one->ranges);
    find_place(&s->it, &a, k + 1, counts, one);
    one->of_machine = !one->of_processor && is_of_machine(s, series, &a, k, counts, one);
    slow_find_reason(&s->it, series, k, one);
    if (!one->of_processor) continue;
    one->found.lost_s *= waited;
    if (one->reason != SLOW_FAULTS) one->reason = SLOW_WORK;
  }
  activities_free(&a);
  return failed;
}

/* Whether two findings are of the same iterations: they overlap by half of the shorter. */
static int is_same(const slow_finding *a, const slow_finding *b) {
  size_t first = a->first > b->first ? a->first : b->first;
  size_t last = a->last < b->last ? a->last : b->last;
  size_t one = a->last - a->first + 1, other = b->last - b->first + 1;
  size_t shorter = one < other ? one : other;
  return last + 1 > first && 2 * (last + 1 - first) >= shorter;
}

static int by_loss(const void *a, const void *b) {
  double x = ((const slow_iterations *)a)->found.lost_s;
  double y = ((const slow_iterations *)b)->found.lost_s;
  return x < y ? 1 : x > y ? -1 : 0;
}

/* Whether a finding is one of the processor time, too, or only of how long threads waited
 * for a processor, which is as uneven as what runs beside them. */
static int is_replaced(const slow_run *s, size_t k) {
  const slow_iterations *one = &s->item[k];
  int is_level = one->found.kind != SLOW_SINGLE && one->found.kind != SLOW_RECURRING;
  if (one->reason == SLOW_READY && (one->found.lost_s < least_waited * s->total_s ||
                                    (is_level && one->found.ratio < highest_if_short)))
    return 1;
  for (size_t j = 0; j < s->count; j++) {
    if (s->item[j].of_processor && is_same(&s->item[j].found, &one->found)) return 1;
  }
  return 0;
}

/* Where threads wait for processors, the processor times of regions show what the program
 * does more than before: the times of iterations show what runs beside it. */
static int take_processor(slow_run *s, int32_t rank, failure *why) {
  slow_series series = {0};
  double waited = 0, *mean = calloc(s->it.count + 1, sizeof *mean);
  int failed = mean ? iterations_processor(&s->it, mean, &waited, why)
                    : fail(why, "out of memory");
  if (!failed && waited > 0 && fmax(waited - 1, waiting_share(s->it.beats)) >= is_busy) {
    failed = slow_find(mean, s->it.count, &series, why) ||
             explain(s, &series, SECONDS_OF_PROCESSOR, waited, rank, why);
    size_t kept = 0;
    for (size_t k = 0; k < s->count && !failed; k++) {
      if (!s->item[k].of_processor && is_replaced(s, k)) continue;
      s->item[kept++] = s->item[k];
    }
    if (!failed) s->count = kept;
    s->is_short &= series.is_short;
    s->single = series.single;
    s->lasting = fmax(series.lasting, least_if_busy);
    qsort(s->item, s->count, sizeof *s->item, by_loss);
  }
  slow_free(&series);
  free(mean);
  return failed;
}

static int search(const char *path, int32_t rank, slow_run *s, failure *why) {
  s->iterations = s->it.count + 1;
  if (s->it.count < SLOW_FEWEST) {
    return fail(why, "%s: too few iterations: %zu; at least %d are needed", path,
                s->iterations, SLOW_FEWEST + 1);
  }
  if (slow_find(s->it.seconds, s->it.count, &s->series, why)) return -1;
  s->median_s = s->series.median_s;
  s->total_s = s->it.begin[s->it.count] - s->it.begin[0];
  s->is_short = s->series.is_short;
  s->single = s->series.single;
  s->lasting = s->series.lasting;
  return explain(s, &s->series, SECONDS_PASSED, 1, rank, why) ||
         take_processor(s, rank, why);
}

static int read_process(const char *path, const tsanom_exec *exec, int salvage,
                        slow_run *s, failure *why) {
  return iterations_read(path, exec, salvage, &s->it, why) || search(path, -1, s, why);
}

int slow_read_open(tsanom_runs *run, const char *path, slow_run *s, failure *why) {
  return iterations_of(run, path, &s->it, why) || search(path, -1, s, why);
}

static double computing(const slow_iterations *s) {
  return isnan(s->computing_s) ? 0 : s->computing_s;
}

/* Add the findings of a rank. Of the same iterations, the one that computed longer stays:
 * the others waited for it. */
static int merge(slow_run *all, const slow_run *one, failure *why) {
  size_t most = all->count + one->count + 1;
  slow_iterations *longer = realloc(all->item, most * sizeof *longer);
  if (!longer) return fail(why, "out of memory");
  all->item = longer;
  size_t before = all->count;
  for (size_t k = 0; k < one->count; k++) {
    const slow_iterations *now = &one->item[k];
    size_t j = 0;
    while (j < before && !is_same(&all->item[j].found, &now->found)) j++;
    if (j == before) {
      all->item[all->count++] = *now;
    } else if (now->of_processor > all->item[j].of_processor ||
               (now->of_processor == all->item[j].of_processor &&
                computing(now) > computing(&all->item[j]))) {
      all->item[j] = *now;
    }
  }
  if (one->iterations > all->iterations) {
    all->iterations = one->iterations;
    all->median_s = one->median_s;
    all->total_s = one->total_s;
  }
  all->is_short |= one->is_short;
  all->single = fmax(all->single, one->single);
  all->lasting = fmax(all->lasting, one->lasting);
  return 0;
}

int slow_add_rank(tsanom_runs *run, const char *path, int32_t rank, slow_run *all,
                  failure *why) {
  slow_run one = {0};
  int failed = iterations_of(run, path, &one.it, why) || search(path, rank, &one, why) ||
               merge(all, &one, why);
  slow_run_free(&one);
  return failed ? -1 : 0;
}

void slow_sort(slow_run *s) {
  if (s->count) qsort(s->item, s->count, sizeof *s->item, by_loss);
}

int slow_read(const char *path, const tsanom_exec *exec, int salvage, slow_run *s,
              failure *why) {
  int32_t *ranks;
  size_t count;
  if (run_ranks(path, &ranks, &count, why)) return -1;
  if (!count) return read_process(path, exec, salvage, s, why);
  int failed = 0;
  for (size_t i = 0; i < count && !failed; i++) {
    tsanom_runs *run = NULL;
    char *own = run_rank_path(path, ranks[i]);
    failed = own ? run_open(own, 0, exec, salvage, &run, why) ||
                       slow_add_rank(run, own, ranks[i], s, why)
                 : fail(why, "out of memory");
    tsanom_runs_destroy(run);
    free(own);
  }
  free(ranks);
  if (!failed) slow_sort(s);
  return failed;
}

void slow_run_free(slow_run *s) {
  free(s->item);
  slow_free(&s->series);
  iterations_free(&s->it);
  *s = (slow_run){0};
}
