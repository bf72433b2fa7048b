/* SPDX-License-Identifier: BSD-3-Clause */
/* Findings in runs whose truth is known; what the entries of the ledger add up to; limits
 * against their definition. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diagnosis/causes.h"
#include "diagnosis/judge.h"
#include "diagnosis/piece.h"
#include "diagnosis/watch.h"
#include "support/check.h"
#include "support/random.h"
#include "team.h"

enum { RUNS = 6, CAPACITY = 4 * TEAM_THREADS + 8 };
enum { RANGES = TSANOM_DIAGNOSIS_PARTS * TSANOM_DIAGNOSIS_SIGNS * TEAM_THREADS };
enum {
  NUMBERS = TSANOM_DIAGNOSIS_LEDGER_RUN + TSANOM_DIAGNOSIS_LEDGER_THREAD * TEAM_THREADS
};

static team_run normal_run[RUNS], tested;
static tsanom_hsa_range range[RANGES];
static double ledger[NUMBERS];

static tsanom_diagnosis_normal learn_first(size_t count) {
  tsanom_hsa_run runs[RUNS];
  tsanom_diagnosis_normal normal;
  for (int i = 0; i < RUNS; i++) runs[i] = normal_run[i].run;
  normal = (tsanom_diagnosis_normal){.struct_size = sizeof normal};
  normal.range = range;
  normal.range_count = RANGES;
  normal.ledger = ledger;
  normal.ledger_count = NUMBERS;
  CHECK_STATUS(tsanom_diagnosis_learn_normal(runs, count, 0.99, NULL, &normal),
               count < 3 ? TSANOM_PARTIAL : TSANOM_OK);
  return normal;
}

static tsanom_diagnosis_normal learn_again(void) {
  return learn_first(RUNS);
}

static tsanom_diagnosis_normal learn(const team_kind *kind, uint64_t *seed) {
  for (int i = 0; i < RUNS; i++) team_make(&normal_run[i], kind, seed);
  return learn_again();
}

static size_t find(const tsanom_diagnosis_normal *normal,
                   tsanom_diagnosis_finding *found) {
  tsanom_diagnosis_signs signs[TEAM_THREADS];
  size_t count = 99;
  CHECK_STATUS(tsanom_diagnosis_find_causes(normal, &tested.run, NULL, signs, found,
                                            CAPACITY, &count),
               TSANOM_OK);
  return count;
}

static size_t judge(const tsanom_diagnosis_normal *normal, const team_kind *kind,
                    uint64_t *seed, tsanom_diagnosis_finding *found) {
  team_make(&tested, kind, seed);
  size_t count = find(normal, found);
  for (size_t i = 1; i < count; i++) cr_assert(found[i].lost_s <= found[i - 1].lost_s);
  return count;
}

/* The first finding of each of 20 runs. */
static void expect(const team_kind *base, const team_kind *kind, int32_t cause,
                   int32_t thread) {
  uint64_t seed = 31;
  tsanom_diagnosis_finding found[CAPACITY];
  tsanom_diagnosis_normal model = learn(base, &seed);
  for (int i = 0; i < 20; i++) {
    size_t count = judge(&model, kind, &seed, found);
    if (!cause) {
      cr_assert(count == 0, "%d: %s", i, tsanom_hsa_status_name(found[0].cause));
      continue;
    }
    cr_assert(count > 0, "%d: nothing", i);
    cr_assert(found[0].cause == cause && found[0].thread == thread, "%d: %s of %d", i,
              tsanom_hsa_status_name(found[0].cause), (int)found[0].thread);
    cr_assert(found[0].value > found[0].limit && found[0].begin < found[0].end);
  }
}

Test(diagnosis_judge, each_kind_of_lost_time_is_named) {
  for (size_t threads = 2; threads <= TEAM_THREADS; threads++) {
    team_kind base = team_normal(), k;
    base.threads = threads;
    base.who = threads - 1;
    k = base;
    expect(&base, &k, 0, 0);
    k.beats /= 2;
    expect(&base, &k, 0, 0);
    k = base;
    k.work *= 1.6;
    expect(&base, &k, TSANOM_HSA_SLOWDOWN, TSANOM_HSA_PROCESS);
    k = base;
    k.blocked += 0.006;
    expect(&base, &k, TSANOM_HSA_SLOWDOWN, TSANOM_HSA_PROCESS);
    k = base;
    k.ready += 0.006;
    expect(&base, &k, TSANOM_HSA_CONTENTION, TSANOM_HSA_PROCESS);
    k = base;
    k.heavy = 1.6;
    expect(&base, &k, TSANOM_HSA_IMBALANCE, (int32_t)base.who);
    k = base;
    base.turns = 0.0004;
    k.turns = 0.003;
    expect(&base, &k, TSANOM_HSA_SLOWDOWN, TSANOM_HSA_PROCESS);
  }
  /* Stopped between two samples: all samples have a thread that runs. */
  team_kind base = team_normal(), k;
  base.threads = 1;
  base.turns = 0.0004;
  k = base;
  expect(&base, &k, 0, 0);
  k.turns = 0.003;
  expect(&base, &k, TSANOM_HSA_SLOWDOWN, TSANOM_HSA_PROCESS);
}

/* Threads that lack processors in normal runs, too, lack no more of them. */
Test(diagnosis_judge, normal_contention_is_not_blamed) {
  team_kind base = team_normal(), k;
  base.ready = base.blocked = 0.002;
  k = base;
  k.blocked += 0.006;
  expect(&base, &k, TSANOM_HSA_SLOWDOWN, TSANOM_HSA_PROCESS);
}

Test(diagnosis_judge, the_most_lost_seconds_come_first) {
  uint64_t seed = 6;
  team_kind base = team_normal(), k = base;
  tsanom_diagnosis_finding found[CAPACITY];
  tsanom_diagnosis_normal model = learn(&base, &seed);
  k.work *= 1.4;
  k.ready += 0.008;
  cr_assert(judge(&model, &k, &seed, found) == 2);
  cr_assert(found[0].cause == TSANOM_HSA_CONTENTION &&
            found[1].detail != TSANOM_DIAGNOSIS_DETAIL_BLOCKED);
  k.work *= 1.6;
  k.ready = base.ready + 0.005;
  cr_assert(judge(&model, &k, &seed, found) == 2);
  cr_assert(found[0].cause == TSANOM_HSA_SLOWDOWN);
}

/* A thread that waits for the one that stopped or ran on is not named, whoever it is. */
Test(diagnosis_judge, the_thread_that_others_waited_for_hangs) {
  for (size_t who = 0; who < 2; who++) {
    team_kind base = team_normal(), k = base;
    k.who = who;
    k.pause = 2;
    expect(&base, &k, TSANOM_HSA_HANG, (int32_t)who);
    k.pause = 0;
    k.run_loop = 2;
    expect(&base, &k, TSANOM_HSA_HANG, (int32_t)who);
    k.run_loop = 0;
    k.lock = 2;
    expect(&base, &k, TSANOM_HSA_HANG, (int32_t)who);
  }
}

/* The hangs of a run. */
static size_t hangs_in(const tsanom_diagnosis_normal *model, const team_kind *k,
                       uint64_t *seed, tsanom_diagnosis_finding *found) {
  size_t count = judge(model, k, seed, found), hangs = 0;
  for (size_t i = 0; i < count; i++) {
    if (found[i].cause == TSANOM_HSA_HANG) found[hangs++] = found[i];
  }
  return hangs;
}

/* A pause as long as the checkpoints of the normal runs is found where they have none. */
Test(diagnosis_judge, a_known_pause_hides_no_other) {
  uint64_t seed = 8;
  tsanom_diagnosis_finding found[CAPACITY];
  for (int round = 0; round < 20; round++) {
    team_kind base = team_normal(), k;
    base.every = random_between(&seed, 12, 80);
    base.checkpoint = 0.4 + random_unit(&seed);
    base.who = random_between(&seed, 0, 1);
    tsanom_diagnosis_normal model = learn(&base, &seed);
    cr_assert(tsn_model_of(&model).pauses.period == (double)base.every);
    k = base;
    k.beats += random_between(&seed, 0, 100);
    cr_assert(hangs_in(&model, &k, &seed, found) == 0);
    while (fabs(remainder((double)(k.beats / 2), (double)k.every)) < 4) k.beats += 2;
    k.pause = base.checkpoint;
    cr_assert(hangs_in(&model, &k, &seed, found) == 1);
    cr_assert(found[0].thread == (int32_t)k.who && found[0].most < 0.2);
    cr_assert(found[0].iteration == k.beats / 2);
    k = base;
    k.checkpoint *= 1.5;
    cr_assert(hangs_in(&model, &k, &seed, found) == 0);
  }
}

/* One pause at the same iteration of all runs; not pauses anywhere, or of some runs. */
Test(diagnosis_judge, pauses_of_all_normal_runs_have_a_place) {
  enum { SETS = 200 };
  uint64_t seed = 9;
  for (int set = 0; set < SETS; set++) {
    static tsn_gap gap[RUNS * TSN_GAPS];
    size_t count[RUNS], kind = (size_t)set % 4;
    double at = (double)random_between(&seed, 20, 200);
    for (size_t r = 0; r < RUNS; r++) {
      count[r] = 2 + random_between(&seed, 0, TSN_GAPS - 2);
      for (size_t i = 0; i < count[r]; i++) {
        gap[r * TSN_GAPS + i] = (tsn_gap){.length = 0.1 / (double)(i + 1),
                                          .beats = (double)random_between(&seed, 1, 400)};
      }
      gap[r * TSN_GAPS].length = kind == 2 && r == 1 ? 0.1 : 1 + 0.4 * random_unit(&seed);
      gap[r * TSN_GAPS].beats = at + (double)random_between(&seed, 0, 1);
      if (kind == 1) gap[r * TSN_GAPS].beats += 7 * (double)r;
    }
    tsn_pauses p = tsn_find_pauses(gap, count, kind == 3 ? 2 : RUNS);
    cr_assert((p.first > 0) == (kind == 0), "%d", set);
    if (kind) continue;
    cr_assert(p.period == 0 && p.longest >= 1);
    cr_assert(tsn_pauses_at(&p, at) && tsn_pauses_at(&p, at + 1));
    cr_assert(!tsn_pauses_at(&p, at + 5) && !tsn_pauses_at(&p, at - 3) &&
              !tsn_pauses_at(&p, 0));
  }
}

/* The tested run goes on, and has that many beats. */
static void cut_tested(size_t beats) {
  tested.run.state = TSANOM_RUN_RUNNING;
  tested.run.end = tested.time[0][beats - 1] + 1e-4;
  for (size_t t = 0; t < tested.run.thread_count; t++) {
    tsanom_hsa_series *s = &tested.series[t];
    s->beats = beats;
    while (tested.vital[t][s->vital_count - 1].time > tested.run.end) s->vital_count--;
  }
}

/* Half of a run is compared with the half of the normal runs. */
Test(diagnosis_judge, a_part_of_a_run_is_judged_alike) {
  uint64_t seed = 5;
  team_kind base = team_normal(), slow = base;
  tsanom_diagnosis_finding found[CAPACITY];
  size_t count;
  tsanom_diagnosis_normal model = learn(&base, &seed);
  slow.work *= 1.6;
  for (int i = 0; i < 40; i++) {
    team_make(&tested, i % 2 ? &slow : &base, &seed);
    size_t beats = random_between(&seed, 80, 290);
    cut_tested(beats);
    count = find(&model, found);
    cr_assert((count > 0) == (i % 2), "%d: %zu findings after %zu beats", i, count,
              beats);
    if (count) cr_assert(found[0].cause == TSANOM_HSA_SLOWDOWN);
  }
}

/* Rare long iterations lie in one or another eighth. */
Test(diagnosis_judge, an_eighth_that_takes_long_in_each_normal_run_is_none_to_name) {
  uint64_t seed = 25;
  team_kind base = team_normal(), k = base;
  tsanom_diagnosis_finding found[CAPACITY];
  k.factor = 2.5;
  for (size_t i = 0; i < RUNS; i++) {
    k.part = i;
    team_make(&normal_run[i], &k, &seed);
  }
  tsanom_diagnosis_normal model = learn_again();
  for (size_t i = 0; i < 40; i++) {
    k.part = i % 8;
    team_make(&tested, &k, &seed);
    if (i / 8 % 2) cut_tested(random_between(&seed, 60, 290));
    size_t count = find(&model, found);
    cr_assert(!count, "%zu: %s", i, tsanom_hsa_status_name(found[0].cause));
  }
  k = base;
  k.work *= 3;
  for (size_t i = 0; i < 10; i++) {
    cr_assert(judge(&model, &k, &seed, found) > 0, "%zu", i);
    cr_assert(found[0].cause == TSANOM_HSA_SLOWDOWN);
  }
}

/* Someone runs in all samples but `asleep` of them, in the first half of the run. */
static void set_states(team_run *made, size_t asleep) {
  for (size_t t = 0; t < made->run.thread_count; t++) {
    for (size_t i = 0; i < made->series[t].vital_count; i++) {
      bool sleeps = i >= 5 && i < 5 + asleep;
      made->vital[t][i].state = sleeps ? 'S' : 'R';
      made->vital[t][i].waits =
          sleeps ? TSANOM_HSA_WAITS_THREAD : TSANOM_HSA_WAITS_UNKNOWN;
    }
  }
}

/* That all sleep in one sample is chance: of a short program it is a third of an eighth. */
Test(diagnosis_judge, one_sample_in_which_nobody_runs_is_no_alarm) {
  uint64_t seed = 23;
  tsanom_diagnosis_finding found[CAPACITY];
  team_kind base = team_normal();
  base.blocked = 0.006;
  base.beats = 40;
  for (int i = 0; i < RUNS; i++) {
    team_make(&normal_run[i], &base, &seed);
    set_states(&normal_run[i], 0);
  }
  tsanom_diagnosis_normal model = learn_again();
  for (size_t asleep = 0; asleep < 8; asleep++) {
    team_make(&tested, &base, &seed);
    set_states(&tested, asleep);
    cut_tested(25);
    size_t count = find(&model, found);
    cr_assert(count == (asleep > 2), "%zu: %zu", asleep, count);
    if (count) cr_assert(found[0].detail == TSANOM_DIAGNOSIS_DETAIL_BLOCKED);
  }
}

/* A lack of processors shifts work between threads: what loses less is no alarm before the
 * end. */
Test(diagnosis_judge, a_lack_of_processors_excuses_until_the_end) {
  static const double heavy[] = {1.3, 1.8};
  uint64_t seed = 24;
  team_kind base = team_normal();
  tsanom_diagnosis_finding found[CAPACITY];
  base.ready = 0.004;
  tsanom_diagnosis_normal model = learn(&base, &seed);
  for (int i = 0; i < 40; i++) {
    team_kind k = base;
    bool goes_on = i / 2 % 2, lost = false;
    k.heavy = heavy[i % 2];
    team_make(&tested, &k, &seed);
    if (goes_on) cut_tested(200);
    size_t count = find(&model, found);
    for (size_t f = 0; f < count; f++)
      lost = lost || found[f].cause == TSANOM_HSA_IMBALANCE;
    cr_assert(lost == (!goes_on || i % 2), "%d", i);
  }
}

/* ---- a running run and a watch of it */

enum { FOUND_MOST = 2 * CAPACITY };

static tsanom_hsa_vital process[TEAM_SAMPLES];

/* Add what the process takes to a run, at the times of the first thread's samples; bytes per
 * second between two times. */
static void add_process(team_run *r, tsanom_hsa_vital *vital, double growth, double from,
                        double until) {
  const tsanom_hsa_series *s = &r->series[0];
  for (size_t i = 0; i < s->vital_count; i++) {
    vital[i] = (tsanom_hsa_vital){
        .time = s->vital[i].time,
        .cpu_s = NAN,
        .wait_s = NAN,
        .minor_faults = NAN,
        .major_faults = NAN,
        .anonymous = 1e8 + growth * (fmin(fmax(s->vital[i].time, from), until) - from),
        .thread = TSANOM_HSA_PROCESS,
        .task = 99};
  }
  r->run.vital = vital;
  r->run.vital_count = s->vital_count;
}

/* What a watch knows after random updates, without the rule for hangs. */
static size_t watch_until(const tsanom_diagnosis_normal *normal, double until,
                          bool is_over, size_t updates, uint64_t *seed,
                          tsanom_diagnosis_finding *found) {
  tsanom_diagnosis_watch *watch;
  const tsanom_diagnosis_anomaly *a;
  size_t count = 0, kept = 0;
  double at = -1;
  CHECK_STATUS(
      tsanom_diagnosis_watch_create(tested.run.thread_count, normal, NULL, NULL, &watch),
      TSANOM_OK);
  for (size_t k = 1; k <= updates; k++) {
    tsanom_hsa_series series[TEAM_THREADS];
    double next =
        k < updates
            ? fmax(at, until * sqrt(random_unit(seed)) * (double)k / (double)updates)
            : until;
    tsanom_hsa_run news = run_piece(&tested.run, at, next, series);
    if (is_over && k == updates) news.state = TSANOM_RUN_FINISHED;
    CHECK_STATUS(tsanom_diagnosis_watch_update(watch, &news, NULL, &a, &count),
                 TSANOM_OK);
    at = next;
  }
  for (size_t i = 0; i < count; i++) {
    if (a[i].phase == TSANOM_DIAGNOSIS_ANOMALY_RECOVERED) continue;
    if (a[i].cause.cause != TSANOM_HSA_HANG) found[kept++] = a[i].cause;
  }
  tsanom_diagnosis_watch_destroy(watch);
  return kept;
}

static bool is_in(const tsanom_diagnosis_finding *one,
                  const tsanom_diagnosis_finding *all, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (memcmp(one, &all[i], sizeof *one) == 0) return true;
  }
  return false;
}

static void make_any(const team_kind *base, uint64_t *seed) {
  team_kind k = *base;
  switch (random_between(seed, 0, 5)) {
    case 0:
      k.work *= 1.6;
      break;
    case 1:
      k.heavy = 1.8;
      break;
    case 2:
      k.ready += 0.006;
      break;
    case 3:
      k.blocked += 0.006;
      break;
    case 4:
      k.pause = 0.6;
      break;
    default:
      break;
  }
  k.who = random_between(seed, 0, k.threads - 1);
  team_make(&tested, &k, seed);
  add_process(&tested, process, random_between(seed, 0, 2) ? 0 : 2e7, 0, INFINITY);
}

/* A leak that ends before a fifth of the beats; the same before the first beat is none. */
Test(diagnosis_judge, a_leak_at_the_beginning_is_named) {
  static tsanom_hsa_vital normal_process[RUNS][TEAM_SAMPLES];
  uint64_t seed = 15;
  tsanom_diagnosis_finding found[CAPACITY];
  team_kind base = team_normal();
  (void)learn(&base, &seed);
  for (int i = 0; i < RUNS; i++) add_process(&normal_run[i], normal_process[i], 0, 0, 1);
  tsanom_diagnosis_normal model = learn_again();
  for (int round = 0; round < 60; round++) {
    int kind = round % 3;
    team_make(&tested, &base, &seed);
    double fifth = 0.2 * tested.run.end, from = 0.3 * fifth * random_unit(&seed);
    double bytes = kind == 1 ? 2e6 : 6e6 + 5e7 * random_unit(&seed);
    double until = from + (fifth - from) * random_unit(&seed);
    if (kind == 2) from = -1, until = 0;
    add_process(&tested, process, bytes / (until - from), from, until);
    size_t count = find(&model, found);
    cr_assert(count == (kind == 0), "%d: %zu", round, count);
    if (!count) continue;
    cr_assert(found[0].cause == TSANOM_HSA_MEMORY_LEAK &&
              found[0].sign == TSANOM_DIAGNOSIS_SIGN_EARLY &&
              found[0].thread == TSANOM_HSA_PROCESS && found[0].value <= bytes + 1);
  }
}

/* A watch that got all data of a run says what is found in the run, until any time and at
 * its end, and however it got them. */
Test(diagnosis_judge, a_run_is_judged_alike_whole_and_in_updates) {
  static tsanom_hsa_vital normal_process[RUNS][TEAM_SAMPLES];
  uint64_t seed = 77;
  size_t with = 0;
  for (size_t threads = 2; threads <= TEAM_THREADS; threads++) {
    team_kind base = team_normal();
    base.threads = threads;
    base.beats = 200;
    (void)learn(&base, &seed);
    for (int i = 0; i < RUNS; i++)
      add_process(&normal_run[i], normal_process[i], 0, 0, 1);
    tsanom_diagnosis_normal model = learn_again();
    for (int round = 0; round < 60; round++) {
      tsanom_diagnosis_finding whole[CAPACITY], split[FOUND_MOST];
      tsanom_hsa_series series[TEAM_THREADS];
      make_any(&base, &seed);
      tsanom_hsa_run all = tested.run;
      bool is_over = round % 3 == 0;
      double last = all.end, until = is_over ? last : last * random_unit(&seed);
      if (!is_over) tested.run = run_piece(&tested.run, -1, until, series);
      size_t count = find(&model, whole), kept = 0;
      tested.run = all;
      for (size_t i = 0; i < count; i++) {
        int32_t cause = whole[i].cause;
        if (cause != TSANOM_HSA_HANG && cause != TSANOM_HSA_UNKNOWN)
          whole[kept++] = whole[i];
      }
      with += kept > 0;
      for (size_t updates = 1; updates < 40; updates += random_between(&seed, 1, 20)) {
        size_t seen = watch_until(&model, until, is_over, updates, &seed, split);
        cr_assert(seen == kept, "%d: %zu findings, %zu in %zu updates", round, kept, seen,
                  updates);
        for (size_t i = 0; i < kept; i++) cr_assert(is_in(&whole[i], split, seen));
      }
    }
  }
  cr_assert(with > 60 && with < 160, "%zu", with);
}

/* The run as a whole takes hardly longer than normal ones. */
Test(diagnosis_judge, a_slow_eighth_of_a_run_is_found) {
  uint64_t seed = 8;
  team_kind base = team_normal(), slow = base;
  tsanom_diagnosis_finding found[CAPACITY];
  base.noise = 0.06;
  tsanom_diagnosis_normal model = learn(&base, &seed);
  slow.factor = 2.2;
  for (slow.part = 0; slow.part < 8; slow.part++) {
    size_t count = judge(&model, &slow, &seed, found);
    cr_assert(count == 1 && found[0].cause == TSANOM_HSA_SLOWDOWN, "%zu: %zu findings",
              slow.part, count);
    double begin = slow.part ? tested.time[0][slow.part * slow.beats / 8 - 1] : 0;
    double end = tested.time[0][(slow.part + 1) * slow.beats / 8 - 1], slack = 0.1;
    cr_assert(found[0].begin > begin - slack && found[0].end < end + slack,
              "%zu: %g to %g instead of %g to %g", slow.part, found[0].begin,
              found[0].end, begin, end);
    cr_assert(found[0].value > found[0].limit);
  }
}

/* Of the samples in the first eighth, keep `inside`. */
static void thin_samples(team_run *r, double until, size_t inside) {
  for (size_t t = 0; t < r->run.thread_count; t++) {
    tsanom_hsa_series *s = &r->series[t];
    tsanom_hsa_vital *v = r->vital[t];
    size_t count = 0, kept = 1;
    while (v[count + 1].time < until) count++;
    for (size_t i = 1; i < s->vital_count; i++) {
      size_t at = i <= count ? i * (inside + 1) / (count + 1) : inside + 1;
      size_t before = (i - 1) * (inside + 1) / (count + 1);
      if (i > count || at > before) v[kept++] = v[i];
    }
    s->vital_count = kept;
  }
}

/* Time between two samples may be that of one which came late. */
Test(diagnosis_judge, two_samples_between_are_needed) {
  enum { EIGHTH = TEAM_BEATS / 8 };
  uint64_t seed = 51;
  team_kind base = team_normal(), slow = base;
  tsanom_diagnosis_finding found[CAPACITY];
  tsanom_diagnosis_normal model = learn(&base, &seed);
  slow.work *= 1.6;
  for (size_t round = 0; round < 40; round++) {
    size_t inside = round % 4;
    team_make(&tested, &slow, &seed);
    tested.run.state = TSANOM_RUN_RUNNING;
    for (size_t t = 0; t < tested.run.thread_count; t++) {
      tested.series[t].beats = EIGHTH + 8;
    }
    tested.run.end = tested.time[0][EIGHTH + 7] + 1e-4;
    thin_samples(&tested, tested.time[0][EIGHTH], inside);
    for (size_t t = 0; t < tested.run.thread_count; t++) {
      tsanom_hsa_series *s = &tested.series[t];
      while (s->vital[s->vital_count - 1].time > tested.run.end) s->vital_count--;
    }
    size_t count = find(&model, found);
    cr_assert((count > 0) == (inside >= 2), "%zu: %zu findings", inside, count);
  }
}

/* Slowdown, the largest imbalance, contention and blocked time are what the run took
 * longer than the normal runs. */
Test(diagnosis_judge, the_entries_add_up_to_the_lost_time) {
  for (int round = 0; round < 60; round++) {
    uint64_t seed = 100 + (uint64_t)round;
    team_kind base = team_normal(), k;
    base.threads = 2 + (size_t)round % 3;
    base.turns = round % 4 ? 0 : 0.0004;
    k = base;
    k.turns += base.turns > 0 ? 0.008 * random_unit(&seed) : 0;
    k.work *= 1 + random_unit(&seed);
    k.heavy = 1 + (round % 2 ? random_unit(&seed) : 0);
    k.who = random_between(&seed, 0, base.threads - 1);
    k.ready += base.turns > 0 ? 0 : 0.004 * random_unit(&seed);
    k.blocked += 0.004 * random_unit(&seed);
    tsanom_diagnosis_normal learned = learn(&base, &seed);
    tsn_model m = tsn_model_of(&learned);
    team_make(&tested, &k, &seed);
    static double rows[5][TEAM_THREADS + 6];
    static tsn_trace trace[TEAM_THREADS];
    tsn_grid grid = {.thread = trace};
    tsn_sign_scratch scratch = {.sums = {.cpu = rows[0], .ready = rows[1]},
                                .expected = rows[2],
                                .ratio = rows[3],
                                .sorted = rows[4]};
    tsn_sign sign[TSN_IMBALANCE + TEAM_THREADS];
    tsn_grid_begin(&grid, &tested.run, (double)k.beats, 1);
    tsn_grid_fill(&grid);
    double normal = tsn_measure_signs(&m, &grid, 1, 0, &scratch, sign), most = 0;
    for (size_t t = 0; t < base.threads; t++) {
      most = fmax(most, sign[TSN_IMBALANCE + t].lost);
    }
    double sum = sign[TSN_SLOWDOWN].lost + sign[TSN_CONTENTION].lost +
                 sign[TSN_BLOCKED].lost + most;
    double lost = scratch.sums.wall - normal;
    cr_assert(fabs(sum - lost) < 0.04 * normal, "%d: %g of %g, normally %g", round, sum,
              lost, normal);
  }
}

/* ---- limits */

Test(diagnosis_judge, limits_are_prediction_limits) {
  double v[2][RUNS] = {{1, 2, 3, 4, 5, 6}, {2, 2.5, 3, 3.5, 4, 4.5}};
  tsn_limit l[2];
  tsn_learn_limits(v[0], 2, RUNS, TSN_BLOCKED, true, l);
  double s = sqrt((17.5 + 4.375 + 3 * 0.04 * 0.04) / 13);
  cr_assert(l[0].freedom == 13 && l[0].most == 6 && fabs(l[0].mean - 3.5) < 1e-12);
  cr_assert(fabs(l[1].scale - s * sqrt(1 + 1.0 / 6)) < 1e-12);
  /* t(13, 0.975) = 2.160369 */
  cr_assert(fabs(tsn_limit_at(&l[0], 0.025) - (3.5 + 2.160369 * l[0].scale)) < 1e-5);
  double own = tsn_own_variance(&l[0], TSN_BLOCKED, 1 + 1.0 / 6);
  cr_assert(fabs(own - (17.5 + 4.375) / 10) < 1e-12);
  /* t(10, 0.95) = 1.812461 */
  cr_assert(fabs(tsn_limit_margin(&l[0], TSN_BLOCKED, 1 + 1.0 / 6, 0.05) -
                 1.812461 * sqrt(own * 7 / 6)) < 1e-5);
}

/* One disturbed run of six neither raises the limits nor the limit of gaps. */
Test(diagnosis_judge, a_disturbed_training_run_is_named_and_dropped) {
  uint64_t seed = 8;
  team_kind base = team_normal(), k = base;
  tsanom_diagnosis_finding found[CAPACITY];
  k.ready += 0.008;
  for (int i = 0; i < RUNS; i++) team_make(&normal_run[i], i == 2 ? &k : &base, &seed);
  tsanom_diagnosis_normal model = learn_again();
  cr_assert(model.misfit == 2);
  for (int i = 0; i < 10; i++) {
    cr_assert(judge(&model, &k, &seed, found) > 0);
    cr_assert(found[0].cause == TSANOM_HSA_CONTENTION);
    cr_assert(judge(&model, &base, &seed, found) == 0);
  }
  model = learn(&base, &seed);
  cr_assert(model.misfit == TSANOM_NONE);
}

/* A short run may have too few samples: the others count nevertheless. */
Test(diagnosis_judge, a_training_run_without_samples_leaves_the_others) {
  uint64_t seed = 26;
  team_kind base = team_normal(), k = base;
  tsanom_diagnosis_finding found[CAPACITY];
  base.blocked = k.blocked = 0.006; /* beats alone would say that it takes longer */
  k.work *= 1.6;
  (void)learn(&base, &seed);
  for (size_t t = 0; t < base.threads; t++) normal_run[4].series[t].vital_count = 1;
  tsanom_diagnosis_normal model = learn_again();
  cr_assert(tsn_has_ledger(&model) && model.misfit == TSANOM_NONE);
  for (int i = 0; i < 10; i++) {
    cr_assert(judge(&model, &k, &seed, found) > 0);
    cr_assert(found[0].cause == TSANOM_HSA_SLOWDOWN);
    cr_assert(judge(&model, &base, &seed, found) == 0);
  }
}

/* The waiting of half of a run is counted in one sample: its eighth has less than no work. */
static void wait_late(team_run *made) {
  for (size_t t = 0; t < made->run.thread_count; t++) {
    tsanom_hsa_vital *v = made->vital[t];
    size_t count = made->series[t].vital_count;
    for (size_t i = count * 9 / 16; i < count; i++)
      v[i].spun_s = 0.25 * v[count - 1].cpu_s;
  }
}

Test(diagnosis_judge, waiting_that_is_counted_late_leaves_the_model_valid) {
  uint64_t seed = 27;
  team_kind base = team_normal(), k = base;
  tsanom_diagnosis_finding found[CAPACITY];
  k.blocked += 0.006;
  (void)learn(&base, &seed);
  for (int i = 0; i < RUNS; i++) wait_late(&normal_run[i]);
  tsanom_diagnosis_normal model = learn_again();
  cr_assert(tsn_has_ledger(&model));
  for (int i = 0; i < 10; i++) {
    team_make(&tested, i % 2 ? &k : &base, &seed);
    wait_late(&tested);
    size_t count = find(&model, found);
    cr_assert((count > 0) == i % 2, "%d: %zu", i, count);
  }
}

/* Whether an effect that a model should find is found in a run. */
static bool is_found(const tsanom_diagnosis_normal *model,
                     const tsanom_diagnosis_power *power, const team_kind *base,
                     size_t kind, uint64_t *seed) {
  static const int32_t causes[] = {TSANOM_HSA_SLOWDOWN, TSANOM_HSA_IMBALANCE,
                                   TSANOM_HSA_SLOWDOWN, TSANOM_HSA_CONTENTION};
  team_kind k = *base;
  tsanom_diagnosis_finding found[CAPACITY];
  double wall = base->work + base->ready + base->blocked;
  if (kind == 0) k.work *= power->slowdown;
  if (kind == 1) k.heavy = power->imbalance;
  if (kind == 2) k.blocked += power->blocked * wall;
  if (kind == 3) k.ready += power->contention * wall;
  size_t count = judge(model, &k, seed, found);
  for (size_t i = 0; i < count; i++) {
    if (found[i].cause != causes[kind]) continue;
    if ((found[i].detail == TSANOM_DIAGNOSIS_DETAIL_BLOCKED) == (kind == 2)) return true;
  }
  return false;
}

/* Of programs, some of which scatter more than others do: what `learn` prints is found in
 * 95 % of the runs, whatever the scatter and the number of normal runs. */
Test(diagnosis_judge, the_power_is_found_in_95_percent) {
  static const double noises[] = {0.005, 0.12, 0.2};
  enum { KINDS = 4, MODELS = 20, EACH = 5 };
  uint64_t seed = 22;
  for (size_t kind = 0; kind < KINDS; kind++) {
    size_t named = 0, all = 0;
    for (size_t at = 0; at < 3 * MODELS; at++) {
      team_kind base = team_normal();
      tsanom_diagnosis_power power;
      base.beats = 100;
      base.noise = noises[at % 3];
      (void)learn(&base, &seed);
      tsanom_diagnosis_normal model = learn_first(at % 2 ? RUNS : 4);
      CHECK_STATUS(tsanom_diagnosis_normal_power(&model, &power), TSANOM_OK);
      for (int i = 0; i < EACH; i++) {
        named += is_found(&model, &power, &base, kind, &seed);
        all++;
      }
    }
    cr_assert(100 * named >= 95 * all, "%zu: %zu of %zu", kind, named, all);
  }
}

/* How many more runs a model of few needs. */
Test(diagnosis_judge, more_runs_find_smaller_slowdowns) {
  uint64_t seed = 21;
  team_kind base = team_normal();
  base.noise = 0.08;
  tsanom_diagnosis_power power, few;
  tsanom_diagnosis_normal model = learn(&base, &seed);
  CHECK_STATUS(tsanom_diagnosis_normal_power(&model, &power), TSANOM_OK);
  cr_assert(power.slowdown > 1.2 && power.slowdown < 2, "%g", power.slowdown);
  cr_assert(isinf(power.more_runs)); /* the scatter stays */
  model = learn_first(2);
  CHECK_STATUS(tsanom_diagnosis_normal_power(&model, &few), TSANOM_OK);
  cr_assert(few.more_runs >= 1 && few.more_runs < 20, "%g", few.more_runs);
  base.noise = 0.001;
  model = learn(&base, &seed);
  CHECK_STATUS(tsanom_diagnosis_normal_power(&model, &power), TSANOM_OK);
  cr_assert(power.contention >= 0.1 && power.blocked >= 0.1 && isfinite(power.hang));
  /* Almost without scatter, little more than what costs a tenth of the run. */
  cr_assert(power.imbalance > 1.1 && power.imbalance < 1.2, "%g", power.imbalance);
}

/* Its gap lasts until the last beat of any thread. */
Test(diagnosis_judge, the_gap_of_a_thread_that_stopped) {
  enum { BEATS = 10, STOPPED = 3 };
  double time[BEATS];
  for (int i = 0; i < BEATS; i++) time[i] = i;
  const tsanom_hsa_series thread[] = {{.time = time, .beats = STOPPED},
                                      {.time = time, .beats = BEATS},
                                      {.time = time, .beats = 1}};
  const tsanom_hsa_run run = {
      .threads = thread, .thread_count = 3, .state = TSANOM_RUN_FINISHED};
  tsn_gap gaps[TSN_GAPS];
  tsanom_diagnosis_watch *watch;
  const tsanom_diagnosis_anomaly *found;
  size_t count;
  CHECK_STATUS(tsanom_diagnosis_watch_create(3, NULL, NULL, NULL, &watch), TSANOM_OK);
  CHECK_STATUS(tsanom_diagnosis_watch_update(watch, &run, NULL, &found, &count),
               TSANOM_OK);
  cr_assert(tsn_watch_gaps(watch, &run, gaps) > 0);
  tsanom_diagnosis_watch_destroy(watch);
  cr_assert(gaps[0].thread == 2 && gaps[0].begin == 0 && gaps[0].end == BEATS - 1);
}

Test(diagnosis_judge, gaps_of_checkpoints_are_normal) {
  double v[] = {1, 1.2, 0.9, 1.1, 1.05, 1.15, 0.95, 1, 0.01, 0.02, 0.01, 0.03};
  double few[] = {1, 0};
  cr_assert(fabs(tsn_gap_limit(v, 12, 4) - 2.4) < 1e-12, "%g", tsn_gap_limit(v, 12, 4));
  cr_assert(isinf(tsn_gap_limit(few, 2, 2)));
}

/* ---- invalid input */

Test(diagnosis_judge, a_damaged_ledger_is_rejected) {
  uint64_t seed = 9;
  team_kind base = team_normal();
  tsanom_diagnosis_finding found[CAPACITY];
  tsanom_diagnosis_signs signs[TEAM_THREADS];
  tsanom_diagnosis_normal model = learn(&base, &seed), bad = model;
  size_t count = 7;
  team_make(&tested, &base, &seed);
#define REJECTED(status)                                                           \
  CHECK_STATUS(tsanom_diagnosis_find_causes(&bad, &tested.run, NULL, signs, found, \
                                            CAPACITY, &count),                     \
               status)
  bad.ledger_count = NUMBERS / 2;
  REJECTED(TSANOM_E_COUNT);
  bad = model;
  bad.ledger = NULL;
  REJECTED(TSANOM_E_NULL);
  bad.ledger_count = 0;
  REJECTED(TSANOM_OK);
  bad = model;
  static const struct {
    size_t at;
    double value;
  } damage[] = {{0, -1},  {0, NAN},      {1, 0},  {3, -1},
                {4, NAN}, {9, INFINITY}, {6, -1}, {5, -1}};
  for (size_t i = 0; i < sizeof damage / sizeof *damage; i++) {
    double before = ledger[damage[i].at];
    ledger[damage[i].at] = damage[i].value;
    REJECTED(TSANOM_E_FORMAT);
    ledger[damage[i].at] = before;
  }
  REJECTED(TSANOM_OK);
}

/* Time is not judged if it cannot be learned. */
Test(diagnosis_judge, runs_of_different_teams_have_no_ledger) {
  uint64_t seed = 10;
  team_kind base = team_normal(), k = base;
  tsanom_diagnosis_finding found[CAPACITY];
  k.threads = 3;
  for (int i = 0; i < RUNS; i++) team_make(&normal_run[i], i ? &k : &base, &seed);
  tsanom_diagnosis_normal model = learn_again();
  cr_assert(ledger[0] == 0);
  k.work *= 2;
  cr_assert(judge(&model, &k, &seed, found) == 0);
}

/* What cost more comes first only among causes of one kind. */
Test(diagnosis_judge, causes_have_an_order) {
  static const int32_t order[] = {TSANOM_HSA_NOT_COMPARABLE, TSANOM_HSA_SHUTDOWN,
                                  TSANOM_HSA_MEMORY_LEAK,    TSANOM_HSA_SLOWDOWN,
                                  TSANOM_HSA_UNKNOWN,        TSANOM_HSA_WAITING};
  enum { CAUSES = sizeof order / sizeof *order };
  for (int first = 0; first < CAUSES; first++) {
    for (int second = 0; second < CAUSES; second++) {
      tsanom_diagnosis_finding pair[2] = {
          {.cause = order[first], .lost_s = first < second ? 1 : 9, .thread = 3},
          {.cause = order[second], .lost_s = first < second ? 9 : 1, .thread = 3}};
      tsn_diagnosis_sort_causes(pair, 2);
      cr_assert(pair[0].cause == order[first < second ? first : second], "%d %d", first,
                second);
    }
  }
}

/* In a gap of both threads from 1 s to 3 s, each sleeps, runs, or is ready. */
static size_t owners_of(double ran_0, double ready_1, tsn_silence *silence) {
  enum { SAMPLES = 17 };
  static const double time[] = {0.5, 1, 3}, share[] = {1, 1};
  static tsanom_hsa_vital vital[2][SAMPLES];
  tsanom_hsa_series series[2];
  for (size_t t = 0; t < 2; t++) {
    for (size_t i = 0; i < SAMPLES; i++) {
      double now = 0.25 * (double)i;
      vital[t][i] = (tsanom_hsa_vital){.time = now,
                                       .cpu_s = t ? 0 : ran_0 * now,
                                       .wait_s = t ? ready_1 * now : 0,
                                       .thread = (int32_t)t,
                                       .task = 7,
                                       .state = 'S',
                                       .waits = TSANOM_HSA_WAITS_UNKNOWN};
    }
    series[t] = (tsanom_hsa_series){
        .time = time, .beats = 3, .vital = vital[t], .vital_count = SAMPLES};
  }
  tsanom_hsa_run run = {.threads = series, .thread_count = 2};
  tsn_gap gap = {2, 1, 3, 0, 2};
  return tsn_gap_owners(&run, &gap, share, silence);
}

Test(diagnosis_judge,
     a_thread_that_ran_in_a_gap_owns_it_while_another_lacked_a_processor) {
  tsn_silence silence[2];
  cr_assert(owners_of(0, 0, silence) == 2);
  cr_assert(owners_of(0, 0.9, silence) == 0);
  cr_assert(owners_of(0.9, 0.9, silence) == 1 && silence[0].is_owner);
}
