/* SPDX-License-Identifier: BSD-3-Clause */
/* Slow iterations of a summary: planted kinds with random sizes and places; where they are, by
 * activities that a function of the test makes; ranks; memory. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tsanom/diagnosis.h>
#include <tsanom/runs.h>

#include "support/allocator.h"
#include "support/check.h"
#include "support/random.h"

enum { MOST = 2000, KINDS = 5, SLOW = 16, PLACES = 3 };

static const double median_s = 0.02, scatter = 0.02;

/* A run of one thread, and which of its iterations are slow. */
typedef struct {
  double time[MOST + 1], seconds[MOST];
  bool slow[MOST];
  size_t n, first, last, count, period;
  int32_t kind;
  double ratio;
  tsanom_hsa_series series;
  tsanom_hsa_run run;
} planted;

static double noise(uint64_t *seed) {
  double sum = 0;
  for (int k = 0; k < 12; k++) sum += (double)random_between(seed, 0, 1000000) * 1e-6;
  return sum - 6;
}

static void plant_ratio(planted *p, int32_t kind, double ratio, uint64_t *seed) {
  size_t n = (size_t)random_between(seed, 300, MOST);
  size_t first = (size_t)random_between(seed, n / 7, n / 2);
  size_t length = (size_t)random_between(seed, 8, n / 4);
  size_t period = (size_t)random_between(seed, 20, 40);
  *p = (planted){.n = n, .kind = kind, .last = 0, .first = n, .ratio = ratio};
  if (kind == TSANOM_DIAGNOSIS_SLOW_RECURRING) p->period = period;
  for (size_t i = 0; i < n; i++) {
    bool inside = i >= first && i < first + length;
    p->slow[i] = kind == TSANOM_DIAGNOSIS_SLOW_SINGLE ? i == first || i == first + n / 3
                 : kind == TSANOM_DIAGNOSIS_SLOW_STRETCH   ? inside
                 : kind == TSANOM_DIAGNOSIS_SLOW_RECURRING ? i % period == period / 2
                 : kind == TSANOM_DIAGNOSIS_SLOW_SINCE     ? i >= first
                                                           : i < first;
    p->seconds[i] = median_s * (p->slow[i] ? p->ratio : 1) * (1 + scatter * noise(seed));
    p->time[i + 1] = p->time[i] + p->seconds[i];
    if (!p->slow[i]) continue;
    if (i < p->first) p->first = i;
    p->last = i;
    p->count++;
  }
  p->series = (tsanom_hsa_series){.time = p->time, .beats = n + 1};
  p->run = (tsanom_hsa_run){.threads = &p->series,
                            .thread_count = 1,
                            .state = TSANOM_RUN_FINISHED,
                            .end = p->time[n]};
}

/* Of the iterations, whose number or seconds have changed. */
static void take_times(planted *p) {
  for (size_t i = 0; i < p->n; i++) p->time[i + 1] = p->time[i] + p->seconds[i];
  p->series.beats = p->n + 1;
  p->run.end = p->time[p->n];
}

static void plant(planted *p, int32_t kind, uint64_t *seed) {
  plant_ratio(p, kind, 2 + (double)random_between(seed, 0, 100) / 25, seed);
}

/* Of all time, what is lost: less than a hundredth is not named. */
static double lost_share(const planted *p) {
  return (double)p->count * (p->ratio - 1) * median_s / p->time[p->n];
}

static bool is_planted(const planted *p, const tsanom_diagnosis_summary *s) {
  const tsanom_diagnosis_slow *f = s->slow;
  double lost = (double)p->count * (p->ratio - 1) * median_s;
  bool same = s->slow_count == 1 && f->kind == p->kind && f->first == p->first &&
              f->last == p->last && f->count == p->count && f->period == p->period;
  for (size_t i = 0; i < p->n && same; i++) {
    same = (s->slow_of[i] == 1) == p->slow[i] && s->slow_of[i] >= -1;
  }
  return same && fabs(f->ratio / p->ratio - 1) < 0.1 &&
         fabs(f->lost_s / lost - 1) < 0.15 && f->rank == -1 && f->thread == -1 &&
         f->iterations == p->n + 1 && !f->region[0] && isnan(f->cpu_s) &&
         isnan(f->computing_s) && f->reason == TSANOM_DIAGNOSIS_REASON_UNKNOWN;
}

/* Each kind is found where it was planted; but one in some hundred series seems to have a period
 * (tsanom_dpd_find()), whose phases have parts of both levels. */
Test(diagnosis_slow, planted_kinds_are_found) {
  static planted p;
  uint64_t seed = 53;
  size_t found = 0, all = 0;
  for (int round = 0; round < 500; round++) {
    tsanom_diagnosis_slow slow[SLOW];
    int32_t slow_of[MOST];
    tsanom_diagnosis_summary s = {
        .slow = slow, .slow_capacity = SLOW, .slow_of = slow_of};
    plant(&p, round % KINDS, &seed);
    CHECK_STATUS(tsanom_diagnosis_summarize(&p.run, -1, -1, NULL, 0, NULL, &s),
                 TSANOM_OK);
    cr_assert(s.searched == 1 && s.slow_beats == p.n + 1 && !s.slow_few);
    cr_assert(fabs(s.slow_whole_s - p.time[p.n]) < 1e-9);
    if (lost_share(&p) < 0.012) continue;
    found += is_planted(&p, &s);
    all++;
  }
  cr_assert(all > 400 && 100 * found >= 99 * all, "%zu of %zu", found, all);
}

/* Rare iterations recur in noise that lasts, beside some others and what half of their period, a
 * third or a quarter repeats a little; tsanom_dpd_find() finds a part of the period of some. */
Test(diagnosis_slow, what_recurs_has_its_whole_period) {
  enum { ROUNDS = 1000 };
  static planted p;
  uint64_t seed = 58;
  size_t whole = 0, parts = 0;
  for (int round = 0; round < ROUNDS; round++) {
    tsanom_diagnosis_slow slow[SLOW];
    tsanom_diagnosis_summary s = {.slow = slow, .slow_capacity = SLOW};
    double ratio = 1.6 + (double)random_between(&seed, 0, 34) / 10;
    plant_ratio(&p, TSANOM_DIAGNOSIS_SLOW_RECURRING, ratio, &seed);
    p.n = (size_t)random_between(&seed, 6 * p.period, 299);
    size_t part = p.period / (size_t)random_between(&seed, 2, 4);
    double lasts = 0, keeps = (double)random_between(&seed, 0, 9) / 10;
    for (size_t i = 0; i < p.n; i++) {
      bool more = p.period % part == 0 && i % part == p.period / 2 % part;
      lasts = keeps * lasts + scatter * noise(&seed);
      p.seconds[i] *= exp(lasts + (more ? 0.07 : 0));
      if (i == p.n / 3 || i == p.n / 2) p.seconds[i] *= 3;
    }
    take_times(&p);
    CHECK_STATUS(tsanom_diagnosis_summarize(&p.run, -1, -1, NULL, 0, NULL, &s),
                 TSANOM_OK);
    for (size_t k = 0; k < s.slow_count; k++) {
      whole += slow[k].period == p.period;
      parts += slow[k].period && slow[k].period < p.period;
    }
  }
  cr_assert(100 * whole >= 98 * ROUNDS && parts < 3, "%zu, %zu parts", whole, parts);
}

/* One iteration of those that recur, or of a stretch, waits for something: 15 to 100 times as long as
 * usual, while the others hardly take longer. It does not make them slow. */
Test(diagnosis_slow, one_that_waits_stands_alone) {
  static planted p;
  uint64_t seed = 61;
  size_t alone = 0, all = 400;
  for (size_t round = 0; round < all; round++) {
    tsanom_diagnosis_slow slow[SLOW];
    tsanom_diagnosis_summary s = {.slow = slow, .slow_capacity = SLOW};
    int32_t kind =
        round % 2 ? TSANOM_DIAGNOSIS_SLOW_RECURRING : TSANOM_DIAGNOSIS_SLOW_STRETCH;
    plant_ratio(&p, kind, 1.15 + (double)random_between(&seed, 0, 45) / 100, &seed);
    size_t at = (p.first + p.last) / 2;
    while (!p.slow[at]) at++;
    p.seconds[at] = median_s * (double)random_between(&seed, 15, 100);
    take_times(&p);
    CHECK_STATUS(tsanom_diagnosis_summarize(&p.run, -1, -1, NULL, 0, NULL, &s),
                 TSANOM_OK);
    for (size_t k = 0; k < s.slow_count; k++) {
      alone += slow[k].count == 1 && slow[k].first == at && slow[k].ratio > 10;
    }
  }
  cr_assert(100 * alone >= 98 * all, "%zu of %zu", alone, all);
}

/* A program that does less at its start, or end, for less than an eighth of its iterations, is not
 * slow in between. */
Test(diagnosis_slow, a_fast_end_is_no_base) {
  static planted p;
  uint64_t seed = 59;
  for (int round = 0; round < 100; round++) {
    tsanom_diagnosis_slow slow[SLOW];
    tsanom_diagnosis_summary s = {.slow = slow, .slow_capacity = SLOW};
    bool is_short = round % 2, at_end = round / 2 % 2;
    plant_ratio(&p, TSANOM_DIAGNOSIS_SLOW_SINCE, 1, &seed);
    size_t fast = p.n * (is_short ? 10 : 15) / 100;
    for (size_t i = 0; i < p.n; i++) {
      if (at_end ? i >= p.n - fast : i < fast) p.seconds[i] /= 1.5;
      p.time[i + 1] = p.time[i] + p.seconds[i];
    }
    CHECK_STATUS(tsanom_diagnosis_summarize(&p.run, -1, -1, NULL, 0, NULL, &s),
                 TSANOM_OK);
    cr_assert(is_short ? !s.slow_count
                       : s.slow_count == 1 &&
                             slow[0].kind == (at_end ? TSANOM_DIAGNOSIS_SLOW_UNTIL
                                                     : TSANOM_DIAGNOSIS_SLOW_SINCE),
              "round %d", round);
  }
}

/* ---- where */

static planted *recorded;

/* Processor times of the iterations that wait, and their samples. */
static double worked[MOST];
static tsanom_hsa_vital sampled[MOST + 1];

static tsanom_status busy(struct tsanom_runs *source, const tsanom_exec *exec,
                          tsanom_runs_loop *loop) {
  (void)source;
  (void)exec;
  if (!loop->processor_s) return TSANOM_OK;
  memcpy(loop->processor_s, worked, loop->iterations * sizeof *worked);
  loop->waited = 3;
  return TSANOM_OK;
}

/* Some iterations wait for a processor for up to many times what the others take, and two, far apart,
 * have three times as much work. Returns the longest. */
static double plant_waiting(planted *p, uint64_t *seed) {
  double longest = 0, share = (double)random_between(seed, 10, 60) / 100;
  double size = (double)random_between(seed, 2, 30);
  plant_ratio(p, TSANOM_DIAGNOSIS_SLOW_SINCE, 1, seed);
  for (size_t i = 0; i < p->n; i++) {
    bool waits = random_unit(seed) < share;
    worked[i] = p->seconds[i];
    if (waits) p->seconds[i] *= 1 - size * log(1 - random_unit(seed));
    if (i == p->n / 5 || i == p->n - 3) worked[i] *= 3;
    p->seconds[i] = fmax(p->seconds[i], worked[i]);
    longest = fmax(longest, p->seconds[i]);
  }
  return longest;
}

/* What the iteration at `at` does not work, it sleeps; the others wait. */
static void take_samples(planted *p, size_t at) {
  double worked_s = 0, waited_s = 0;
  take_times(p);
  for (size_t i = 0; i <= p->n; i++) {
    sampled[i] = (tsanom_hsa_vital){.time = p->time[i],
                                    .cpu_s = worked_s,
                                    .wait_s = waited_s,
                                    .task = 1,
                                    .resident = NAN,
                                    .anonymous = NAN,
                                    .threads = NAN};
    if (i < p->n) worked_s += worked[i];
    if (i < p->n && i != at) waited_s += p->seconds[i] - worked[i];
  }
  p->series.vital = sampled;
  p->series.vital_count = p->n + 1;
}

static tsanom_diagnosis_summary search_busy(const planted *p, tsanom_diagnosis_slow *slow,
                                            bool is_busy) {
  tsanom_diagnosis_summary s = {
      .slow = slow, .slow_capacity = SLOW, .activities = is_busy ? busy : NULL};
  CHECK_STATUS(tsanom_diagnosis_summarize(&p->run, -1, -1, NULL, 0, NULL, &s), TSANOM_OK);
  return s;
}

/* The finding that has only this iteration; NULL: none. */
static const tsanom_diagnosis_slow *alone(const tsanom_diagnosis_summary *s, size_t at) {
  for (size_t k = 0; k < s->slow_count; k++) {
    if (s->slow[k].count == 1 && s->slow[k].first == at) return &s->slow[k];
  }
  return NULL;
}

/* However long iterations wait, one that sleeps for several times as long stands alone, with
 * processor times and without. */
Test(diagnosis_slow, one_that_sleeps_is_found_whatever_others_wait) {
  static planted p;
  uint64_t seed = 67;
  tsanom_diagnosis_slow slow[SLOW];
  size_t found = 0, all = 400;
  for (size_t round = 0; round < all; round++) {
    double longest = plant_waiting(&p, &seed), sum = 0;
    size_t at = (size_t)random_between(&seed, p.n / 10, p.n - 10);
    for (size_t i = 0; i < p.n; i++) sum += p.seconds[i];
    p.seconds[at] =
        fmax(longest * (double)random_between(&seed, 5, 50), 0.015 * sum) + worked[at];
    take_samples(&p, at);
    tsanom_diagnosis_summary s = search_busy(&p, slow, round % 2);
    const tsanom_diagnosis_slow *one = alone(&s, at);
    found += one && !one->of_processor && one->reason == TSANOM_DIAGNOSIS_REASON_BLOCKED;
    cr_assert((s.slow_worked_single > 0) == (round % 2));
  }
  cr_assert(100 * found >= 99 * all, "%zu of %zu", found, all);
}

/* From an iteration on there is as many times the work, or as many times the waiting, with processor
 * times of iterations, and by samples. */
Test(diagnosis_slow, more_work_is_found_whatever_all_wait) {
  static planted p;
  uint64_t seed = 69;
  tsanom_diagnosis_slow slow[SLOW];
  size_t found = 0, all = 200;
  for (size_t round = 0; round < 2 * all; round++) {
    double factor = 2 + 1.5 * random_unit(&seed);
    bool is_work = round % 2;
    plant_ratio(&p, TSANOM_DIAGNOSIS_SLOW_SINCE, 1, &seed);
    for (size_t i = 0; i < p.n; i++) {
      double more = p.slow[i] ? factor : 1;
      worked[i] = p.seconds[i] * (is_work ? more : 1);
      p.seconds[i] = worked[i] * (2 + random_unit(&seed)) * (is_work ? 1 : more);
    }
    take_samples(&p, TSANOM_NONE);
    tsanom_diagnosis_summary s = search_busy(&p, slow, round / 2 % 2);
    bool is_found = false;
    for (size_t k = 0; k < s.slow_count; k++) {
      cr_assert(is_work || !slow[k].of_processor, "round %zu", round);
      bool is_within = slow[k].low <= slow[k].ratio && slow[k].ratio <= slow[k].high;
      cr_assert(isnan(slow[k].low) || is_within, "%g (%g to %g)", slow[k].ratio,
                slow[k].low, slow[k].high);
      is_found |= slow[k].of_processor && slow[k].kind == TSANOM_DIAGNOSIS_SLOW_SINCE &&
                  fabs(slow[k].ratio - factor) < 0.15 * factor;
    }
    found += is_found;
  }
  cr_assert(100 * found >= 95 * all, "%zu of %zu", found, all);
}

/* Iterations that mostly sleep and wait lose by more work what this takes of the time that the run
 * takes for its work, and not all by which they are longer. */
Test(diagnosis_slow, a_little_more_work_loses_little) {
  enum { ROUNDS = 100 };
  static planted p;
  uint64_t seed = 70;
  tsanom_diagnosis_slow slow[SLOW];
  int found = 0;
  for (int round = 0; round < ROUNDS; round++) {
    double work = 0.01 + 0.02 * random_unit(&seed),
           share = 0.1 + 0.2 * random_unit(&seed);
    double sum = 0, waited = 0, more = 0;
    plant_ratio(&p, TSANOM_DIAGNOSIS_SLOW_SINCE, 1, &seed);
    for (size_t i = 0; i < p.n; i++) {
      worked[i] = work * p.seconds[i] * (p.slow[i] ? 2.5 : 1);
      if (p.slow[i]) more += 0.6 * worked[i];
      p.seconds[i] *= p.slow[i] ? 2.2 : 1;
      sum += worked[i];
      waited += share * (p.seconds[i] - worked[i]);
    }
    take_samples(&p, TSANOM_NONE);
    for (size_t i = 0; i <= p.n; i++) sampled[i].wait_s *= share;
    tsanom_diagnosis_summary s = search_busy(&p, slow, false);
    for (size_t k = 0; k < s.slow_count; k++) {
      if (!slow[k].of_processor) continue;
      found++;
      cr_assert(slow[k].lost_s < 1.2 * more * (1 + waited / sum), "round %d: %g of %g",
                round, slow[k].lost_s, more);
    }
  }
  cr_assert(found > ROUNDS / 2, "%d", found);
}

/* What one rank waits for here and there is not the same as what sleeps once in another. */
Test(diagnosis_slow, one_that_sleeps_is_found_beside_those_of_other_ranks) {
  static planted p;
  uint64_t seed = 69;
  tsanom_diagnosis_slow slow[SLOW];
  for (int round = 0; round < 200; round++) {
    tsanom_diagnosis_summary s = {.slow = slow, .slow_capacity = SLOW};
    size_t n = (size_t)random_between(&seed, 400, MOST), at = 0;
    int32_t sleeps = (int32_t)random_between(&seed, 0, 1);
    for (int32_t rank = 0; rank < 2; rank++) {
      plant_ratio(&p, TSANOM_DIAGNOSIS_SLOW_SINCE, 1, &seed);
      while (p.n < n) p.seconds[p.n++] = median_s * (1 + scatter * noise(&seed));
      p.n = n;
      for (size_t i = n / 20; i < n; i += (size_t)random_between(&seed, 20, 60)) {
        p.seconds[i] *= 2 + random_unit(&seed);
      }
      if (rank == sleeps) {
        at = (size_t)random_between(&seed, n / 4, 3 * n / 4);
        p.seconds[at] =
            median_s * (double)n * (double)random_between(&seed, 20, 100) / 100;
      }
      take_times(&p);
      CHECK_STATUS(tsanom_diagnosis_summarize(&p.run, rank, 0, NULL, 0, NULL, &s),
                   TSANOM_OK);
    }
    const tsanom_diagnosis_slow *one = alone(&s, at);
    cr_assert(one && one->rank == sleeps && s.slow_count > 1, "round %d", round);
    for (size_t k = 0; k < s.slow_count; k++)
      cr_assert(slow[k].ranks <= 2, "round %d", round);
  }
}

/* Where none is found, one is that takes somewhat longer than what is said to be seen. */
Test(diagnosis_slow, what_is_said_to_be_seen_is_found) {
  static planted p;
  uint64_t seed = 68;
  tsanom_diagnosis_slow slow[SLOW];
  size_t all = 0, found = 0;
  for (int round = 0; round < 400; round++) {
    (void)plant_waiting(&p, &seed);
    size_t at = (size_t)random_between(&seed, p.n / 10, p.n - 10);
    take_samples(&p, at);
    tsanom_diagnosis_summary s = search_busy(&p, slow, false);
    if (s.slow_count) continue;
    s = search_busy(&p, slow, round % 2);
    p.seconds[at] = 1.2 * s.slow_single * s.slow_median_s;
    take_samples(&p, at);
    s = search_busy(&p, slow, round % 2);
    all++;
    found += alone(&s, at) != NULL;
  }
  cr_assert(all > 100 && 100 * found >= 98 * all, "%zu of %zu", found, all);
}
static double sums[2 * PLACES][SLOW + 1], visited[2 * PLACES][SLOW + 1];

/* Places of thread 1: the share that each has of the time that slow iterations take longer, and of
 * that of normal ones; the distance of iterations with those that come only in slow ones. */
static double longer[PLACES], usual[PLACES] = {0.25, 0.25, 0.25};
static size_t only_slow[PLACES];

/* Places take longer in slow iterations, in thread 1 of two, and thread 0 waits for it. */
static tsanom_status activities(struct tsanom_runs *source, const tsanom_exec *exec,
                                tsanom_runs_loop *loop) {
  static tsanom_runs_activity item[2 * PLACES + 1];
  static double waits[SLOW + 1];
  static const char *const names[] = {"setup (a.c:1)", "compute (a.c:2)", "sum (a.c:3)"};
  (void)source;
  (void)exec;
  cr_assert(loop->iterations == recorded->n && loop->thread == 0);
  if (!loop->class_of) return TSANOM_OK;
  memset(sums, 0, sizeof sums);
  memset(visited, 0, sizeof visited);
  memset(waits, 0, sizeof waits);
  for (size_t i = 0; i < loop->iterations; i++) {
    if (loop->class_of[i] < 0) continue;
    for (size_t k = 0; k < 2 * PLACES; k++) {
      size_t place = k % PLACES, each = k < PLACES ? 0 : only_slow[place];
      double more = recorded->slow[i] ? recorded->seconds[i] - median_s : 0;
      double share = k < PLACES ? 0 : longer[place];
      if (each && (!recorded->slow[i] || i % each)) continue;
      sums[k][loop->class_of[i]] +=
          (usual[place] * median_s + share * more) * (double)(each ? each : 1);
      visited[k][loop->class_of[i]]++;
    }
    waits[loop->class_of[i]] += fmax(0, recorded->seconds[i] - median_s);
  }
  for (size_t k = 0; k < 2 * PLACES; k++) {
    item[k] = (tsanom_runs_activity){.thread = (int32_t)(k / PLACES),
                                     .place = k % PLACES,
                                     .name = names[k % PLACES],
                                     .seconds = sums[k],
                                     .iterations = visited[k]};
  }
  item[2 * PLACES] = (tsanom_runs_activity){.what = TSANOM_RUNS_ACTIVITY_WAIT,
                                            .place = 1,
                                            .name = names[1],
                                            .seconds = waits,
                                            .iterations = visited[1]};
  loop->activity = item;
  loop->count = 2 * PLACES + 1;
  return TSANOM_OK;
}

static tsanom_status failing(struct tsanom_runs *source, const tsanom_exec *exec,
                             tsanom_runs_loop *loop) {
  (void)source;
  (void)exec;
  return loop->class_of ? TSANOM_E_FORMAT : TSANOM_OK;
}

static void make_team(planted *p, tsanom_hsa_series series[2]) {
  recorded = p;
  series[0] = p->series;
  series[1] = (tsanom_hsa_series){.time = p->time, .beats = p->n};
  p->run.threads = series;
  p->run.thread_count = 2;
}

Test(diagnosis_slow, the_region_and_the_thread_that_others_wait_for) {
  static planted p;
  uint64_t seed = 54;
  tsanom_hsa_series series[2];
  tsanom_diagnosis_slow slow[SLOW];
  tsanom_diagnosis_summary s = {
      .slow = slow, .slow_capacity = SLOW, .activities = activities};
  plant(&p, TSANOM_DIAGNOSIS_SLOW_SINCE, &seed);
  make_team(&p, series);
  memcpy(longer, (double[PLACES]){0, 1, 0}, sizeof longer);
  CHECK_STATUS(tsanom_diagnosis_summarize(&p.run, -1, -1, NULL, 0, NULL, &s), TSANOM_OK);
  cr_assert(s.slow_count == 1 && slow[0].thread == 1);
  cr_assert_str_eq(slow[0].region, "compute (a.c:2)");
  char text[256];
  CHECK_STATUS(tsanom_diagnosis_summary_text(&s, TSANOM_DIAGNOSIS_SUMMARY_SLOW, text,
                                             sizeof text, NULL),
               TSANOM_OK);
  cr_assert(!strncmp(text, "since iteration ", 16) &&
                strstr(text, ", in compute (a.c:2) of thread 1"),
            "%s", text);
  CHECK_STATUS(tsanom_diagnosis_summary_text(&s, TSANOM_DIAGNOSIS_SUMMARY_SLOW + 1, text,
                                             sizeof text, NULL),
               TSANOM_E_OPTION);
  /* What the function fails by is what the call fails by. */
  tsanom_diagnosis_summary before = s;
  s.activities = failing;
  CHECK_STATUS(tsanom_diagnosis_summarize(&p.run, -1, -1, NULL, 0, NULL, &s),
               TSANOM_E_FORMAT);
  cr_assert(s.runs == before.runs && s.slow_count == 1 && s.searched == 1);
}

/* Half of the rounds: a processor that is slower for a while makes all places longer, by factors that
 * differ, also by one that is large of a place with little of the time; what comes so rarely that
 * normal iterations need not have it shows nothing. The others: a program that does more, in one
 * place, which normal iterations may not have. */
Test(diagnosis_slow, a_slower_processor_makes_all_places_longer) {
  static planted p;
  uint64_t seed = 58;
  tsanom_hsa_series series[2];
  tsanom_diagnosis_slow slow[SLOW];
  static const int32_t kinds[] = {TSANOM_DIAGNOSIS_SLOW_STRETCH,
                                  TSANOM_DIAGNOSIS_SLOW_SINCE,
                                  TSANOM_DIAGNOSIS_SLOW_UNTIL};
  enum { SCATTERED, LITTLE, RARE, ONE_PLACE, NEW_PLACE, CASES };
  for (int round = 0; round < 60 * CASES; round++) {
    tsanom_diagnosis_summary s = {
        .slow = slow, .slow_capacity = SLOW, .activities = activities};
    int which = round % CASES;
    bool of_machine = which < ONE_PLACE;
    size_t place = (size_t)random_between(&seed, 0, PLACES - 1);
    do {
      double ratio = 1.3 + (double)random_between(&seed, 0, 40) / 100;
      plant_ratio(&p, which == RARE ? TSANOM_DIAGNOSIS_SLOW_SINCE : kinds[round % 3],
                  ratio, &seed);
    } while (lost_share(&p) < 0.012);
    make_team(&p, series);
    for (size_t k = 0; k < PLACES; k++) {
      double scattered = (double)random_between(&seed, 80, 120) / 100 / PLACES;
      longer[k] = which == SCATTERED ? scattered
                  : which == LITTLE  ? (k == place ? 0.4 : 0.3)
                                     : k == place;
      usual[k] = which == LITTLE && k == place ? 0.04 : 0.25;
      only_slow[k] = k != place           ? 0
                     : which == RARE      ? (p.n - p.count) / 3
                     : which == NEW_PLACE ? 1
                                          : 0;
    }
    CHECK_STATUS(tsanom_diagnosis_summarize(&p.run, -1, -1, NULL, 0, NULL, &s),
                 TSANOM_OK);
    cr_assert(s.slow_count && slow[0].of_machine == of_machine, "round %d, case %d",
              round, which);
  }
}

/* ---- ranks */

/* The same iterations of several ranks are one finding; those that lost most stay. */
Test(diagnosis_slow, of_ranks_those_that_lost_most_stay) {
  static planted p;
  enum { RANKS = 6, KEPT = 3 };
  uint64_t seed = 55;
  tsanom_diagnosis_slow slow[KEPT], all[SLOW];
  tsanom_diagnosis_summary s = {.slow = slow, .slow_capacity = KEPT};
  tsanom_diagnosis_summary whole = {.slow = all, .slow_capacity = SLOW};
  for (int32_t rank = 0; rank < RANKS; rank++) {
    plant(&p, TSANOM_DIAGNOSIS_SLOW_STRETCH, &seed);
    CHECK_STATUS(tsanom_diagnosis_summarize(&p.run, rank, 0, NULL, 0, NULL, &s),
                 TSANOM_OK);
    CHECK_STATUS(tsanom_diagnosis_summarize(&p.run, rank, 0, NULL, 0, NULL, &whole),
                 TSANOM_OK);
    CHECK_STATUS(tsanom_diagnosis_summarize(&p.run, rank + RANKS, 0, NULL, 0, NULL, &s),
                 TSANOM_OK);
  }
  cr_assert(s.searched == 2 * RANKS && whole.searched == RANKS);
  cr_assert(s.slow_count <= KEPT && whole.slow_count >= s.slow_count);
  for (size_t i = 0; i < whole.slow_count; i++) {
    cr_assert(!i || all[i - 1].lost_s >= all[i].lost_s);
    if (i >= s.slow_count) continue;
    cr_assert(slow[i].lost_s == all[i].lost_s && slow[i].rank == all[i].rank);
    cr_assert(slow[i].ranks == 2 * all[i].ranks);
  }
}

/* Ranks whose own code took about as long are counted, others waited for them. */
Test(diagnosis_slow, ranks_that_computed_less_waited) {
  static const double ratio[] = {3, 1.5, 2.9, 1.4};
  static planted p;
  tsanom_hsa_series series[2];
  tsanom_diagnosis_slow slow[SLOW];
  tsanom_diagnosis_summary s = {
      .slow = slow, .slow_capacity = SLOW, .activities = activities};
  for (int32_t rank = 0; rank < 4; rank++) {
    uint64_t seed = 57;
    plant_ratio(&p, TSANOM_DIAGNOSIS_SLOW_SINCE, ratio[rank], &seed);
    make_team(&p, series);
    CHECK_STATUS(tsanom_diagnosis_summarize(&p.run, rank, 0, NULL, 0, NULL, &s),
                 TSANOM_OK);
  }
  char text[256];
  CHECK_STATUS(tsanom_diagnosis_summary_text(&s, TSANOM_DIAGNOSIS_SUMMARY_SLOW, text,
                                             sizeof text, NULL),
               TSANOM_OK);
  cr_assert(s.slow_count == 1 && slow[0].rank == 0 && slow[0].ranks == 2, "%s", text);
  cr_assert(strstr(text, ", on rank 0 and 1 more, in "), "%s", text);
}

/* ---- memory */

Test(diagnosis_slow, one_block_or_the_callers_workspace) {
  static planted p;
  uint64_t seed = 56;
  test_allocator allocator = {0};
  tsanom_exec exec = test_exec(&allocator);
  tsanom_diagnosis_slow slow[SLOW], again[SLOW];
  tsanom_diagnosis_summary s = {.slow = slow, .slow_capacity = SLOW}, other = s;
  size_t needed = 0;
  plant(&p, TSANOM_DIAGNOSIS_SLOW_UNTIL, &seed);
  CHECK_STATUS(tsanom_diagnosis_summarize(&p.run, -1, -1, NULL, 0, &exec, &s), TSANOM_OK);
  cr_assert(allocator.calls == 1 && allocator.live == 0 && s.slow_count == 1);
  exec.work = &seed;
  exec.work_bytes = 0;
  exec.work_needed = &needed;
  CHECK_STATUS(tsanom_diagnosis_summarize(&p.run, -1, -1, NULL, 0, &exec, &other),
               TSANOM_E_WORKSPACE);
  exec.work = malloc(needed);
  exec.work_bytes = needed;
  other.slow = again;
  CHECK_STATUS(tsanom_diagnosis_summarize(&p.run, -1, -1, NULL, 0, &exec, &other),
               TSANOM_OK);
  cr_assert(allocator.calls == 1 && other.slow_count == 1);
  cr_assert(slow[0].lost_s == again[0].lost_s && slow[0].ratio == again[0].ratio);
  free(exec.work);
}

/* Without memory for them, or with too few beats, they are not searched for. */
Test(diagnosis_slow, too_few_iterations) {
  static planted p;
  uint64_t seed = 57;
  tsanom_diagnosis_slow slow[SLOW];
  for (size_t beats = 1; beats < 30; beats++) {
    tsanom_diagnosis_summary s = {.slow = slow, .slow_capacity = SLOW};
    plant(&p, TSANOM_DIAGNOSIS_SLOW_SINGLE, &seed);
    p.series.beats = beats;
    CHECK_STATUS(tsanom_diagnosis_summarize(&p.run, -1, -1, NULL, 0, NULL, &s),
                 TSANOM_OK);
    cr_assert(s.searched == (beats > 20) && s.slow_count == 0);
  }
  tsanom_diagnosis_summary s = {0};
  CHECK_STATUS(tsanom_diagnosis_summarize(&p.run, -1, -1, NULL, 0, NULL, &s), TSANOM_OK);
  cr_assert(s.searched == 0);
}
