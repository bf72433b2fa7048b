/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom_diagnosis_watch: runs that never happened, fed piece by piece, against
 * tsanom_diagnosis_find_causes() for the run so far; onsets and recoveries; runs that are
 * longer than what a watch keeps. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tsanom/diagnosis.h>

#include "diagnosis/living.h"
#include "diagnosis/piece.h"
#include "support/check.h"
#include "support/random.h"

enum { RUNS = 6, THREADS = 4, CAPACITY = 4 * THREADS + 8 };
enum { NUMBERS = TSANOM_DIAGNOSIS_LEDGER_RUN + TSANOM_DIAGNOSIS_LEDGER_THREAD * THREADS };
enum { RANGES = TSANOM_DIAGNOSIS_PARTS * TSANOM_DIAGNOSIS_SIGNS * THREADS };

static tsanom_hsa_range ranges[RANGES];
static double ledger[NUMBERS];

static tsanom_diagnosis_normal learn(const living_kind *kind, uint64_t *seed) {
  tsanom_hsa_run runs[RUNS];
  tsanom_diagnosis_normal normal = {.struct_size = sizeof normal};
  normal.range = ranges;
  normal.range_count = RANGES;
  normal.ledger = ledger;
  normal.ledger_count = NUMBERS;
  for (size_t i = 0; i < RUNS; i++) runs[i] = living_run(kind, seed);
  CHECK_STATUS(tsanom_diagnosis_learn_normal(runs, RUNS, 0.99, NULL, &normal), TSANOM_OK);
  for (size_t i = 0; i < RUNS; i++) living_free(&runs[i]);
  return normal;
}

static tsanom_diagnosis_watch *create(size_t threads,
                                      const tsanom_diagnosis_normal *normal) {
  tsanom_diagnosis_watch *watch;
  CHECK_STATUS(tsanom_diagnosis_watch_create(threads, normal, NULL, NULL, &watch),
               TSANOM_OK);
  return watch;
}

/* Feed what is after `from`; returns the anomalies that hold. */
static const tsanom_diagnosis_anomaly *feed(tsanom_diagnosis_watch *watch,
                                            const tsanom_hsa_run *run, double from,
                                            double to, size_t *count) {
  tsanom_hsa_series threads[THREADS];
  const tsanom_diagnosis_anomaly *found = NULL;
  tsanom_hsa_run p = run_piece(run, from, to, threads);
  CHECK_STATUS(tsanom_diagnosis_watch_update(watch, &p, NULL, &found, count), TSANOM_OK);
  return found;
}

static const tsanom_diagnosis_anomaly *find(const tsanom_diagnosis_anomaly *found,
                                            size_t count, int32_t cause, int32_t thread) {
  for (size_t i = 0; i < count; i++) {
    if (found[i].cause.cause == cause && found[i].cause.thread == thread &&
        found[i].phase != TSANOM_DIAGNOSIS_ANOMALY_RECOVERED) {
      return &found[i];
    }
  }
  return NULL;
}

static size_t most_beats(const tsanom_hsa_run *run) {
  size_t most = 0;
  for (size_t t = 0; t < run->thread_count; t++) {
    if (run->threads[t].beats > most) most = run->threads[t].beats;
  }
  return most;
}

/* That a program paused is no anomaly of a watch; its end is known without a model. */
static int is_compared(const tsanom_diagnosis_finding *c) {
  return c->detail != TSANOM_DIAGNOSIS_DETAIL_PAUSED && c->cause != TSANOM_HSA_UNKNOWN &&
         !(c->cause == TSANOM_HSA_SHUTDOWN && c->thread < 0);
}

static int is_same(const tsanom_diagnosis_finding *a, const tsanom_diagnosis_finding *b) {
  return memcmp(a, b, sizeof *a) == 0; /* NOLINT: bits are compared, NaN among them */
}

static size_t count_compared(const tsanom_diagnosis_finding *cause, size_t count) {
  size_t compared = 0;
  for (size_t i = 0; i < count; i++) compared += is_compared(&cause[i]) != 0;
  return compared;
}

/* What was found until now is what is found in the run so far; returns their number. */
static size_t compare(const tsanom_diagnosis_normal *normal, const tsanom_hsa_run *run,
                      double now, const tsanom_diagnosis_anomaly *found, size_t count) {
  tsanom_hsa_series threads[THREADS];
  tsanom_diagnosis_signs signs[THREADS];
  tsanom_diagnosis_finding cause[CAPACITY];
  size_t causes, compared = 0;
  tsanom_hsa_run so_far = run_piece(run, -INFINITY, now, threads);
  CHECK_STATUS(tsanom_diagnosis_find_causes(normal, &so_far, NULL, signs, cause, CAPACITY,
                                            &causes),
               TSANOM_OK);
  for (size_t i = 0; i < count; i++) {
    if (found[i].phase == TSANOM_DIAGNOSIS_ANOMALY_RECOVERED) continue;
    if (!is_compared(&found[i].cause)) continue;
    size_t k = 0;
    while (k < causes && !is_same(&cause[k], &found[i].cause)) k++;
    cr_assert(k < causes, "%s of %d at %g was found",
              tsanom_hsa_status_name(found[i].cause.cause), found[i].cause.thread, now);
    cr_assert(found[i].onset <= now && found[i].iteration <= most_beats(run));
    compared++;
  }
  cr_assert(compared == count_compared(cause, causes), "%zu of %zu at %g", compared,
            count_compared(cause, causes), now);
  return compared;
}

static void spoil(living_kind *kind, uint64_t *seed) {
  living_thread *t = &kind->thread[random_between(seed, 0, kind->threads - 1)];
  switch (random_between(seed, 0, 6)) {
    case 0:
      t->leak = 20000;
      t->faults = 5;
      break;
    case 1:
      t->wait = 0.4;
      break;
    case 2:
      t->cpu = 0.9;
      break;
    case 3:
      for (size_t i = 0; i < kind->threads; i++) kind->thread[i].pace = 2;
      break;
    case 4:
      t->stop = 300;
      break;
    case 5:
      kind->beats = 2 * kind->beats;
      break;
    default:
      break;
  }
}

/* Pieces of any length, of runs that a watch keeps completely: bit by bit. */
Test(diagnosis_watch, findings_are_those_of_the_run_so_far) {
  uint64_t seed = 11;
  size_t compared = 0;
  for (int trial = 0; trial < 60; trial++) {
    living_kind kind = living_normal();
    kind.threads = random_between(&seed, 1, THREADS);
    kind.beats = 500;
    kind.every = 0.01;
    tsanom_diagnosis_normal normal = learn(&kind, &seed);
    tsanom_diagnosis_watch *watch = create(kind.threads, &normal);
    spoil(&kind, &seed);
    tsanom_hsa_run run = living_run(&kind, &seed);
    double from = -INFINITY, to = 0, longest = trial % 2 ? 0.3 : 0.03;
    while (from < run.end) {
      size_t count;
      to += longest * random_unit(&seed) * random_unit(&seed);
      const tsanom_diagnosis_anomaly *found = feed(watch, &run, from, to, &count);
      if (beats_until(&run.threads[0], to) >= 16) {
        compared += compare(&normal, &run, to, found, count);
      }
      from = to;
    }
    tsanom_diagnosis_watch_destroy(watch);
    living_free(&run);
  }
  cr_assert(compared > 500, "%zu", compared);
}

/* Ten times as many samples and beats as a watch keeps: those of a run without a fault, of
 * one that leaks, of a slow one. */
Test(diagnosis_watch, long_runs_are_judged_from_what_is_kept) {
  static const int32_t causes[] = {0, TSANOM_HSA_MEMORY_LEAK, TSANOM_HSA_SLOWDOWN};
  uint64_t seed = 12;
  for (int fault = 0; fault < 3; fault++) {
    living_kind kind = living_normal();
    kind.beats = 20000;
    kind.every = 0.0075;
    tsanom_diagnosis_normal normal = learn(&kind, &seed);
    tsanom_diagnosis_watch *watch = create(kind.threads, &normal);
    if (fault == 1) kind.thread[1].leak = 2000, kind.thread[1].faults = 0.5;
    for (int t = 0; t < 2 && fault == 2; t++) {
      kind.thread[t].pace = 1.5;
      kind.thread[t].cpu = 1;
    }
    tsanom_hsa_run run = living_run(&kind, &seed);
    cr_assert(run.vital_count > 10 * TSANOM_DIAGNOSIS_WATCH_SAMPLES);
    size_t began = 0, count = 0;
    for (int step = 0; 0.1 * step < run.end; step++) {
      double from = 0.1 * step, to = 0.1 * (step + 1);
      const tsanom_diagnosis_anomaly *found = feed(watch, &run, from, to, &count);
      for (size_t i = 0; i < count; i++) {
        began += found[i].phase == TSANOM_DIAGNOSIS_ANOMALY_BEGAN;
        cr_assert(found[i].cause.cause == causes[fault] &&
                      found[i].cause.thread == (fault == 1 ? 1 : -1),
                  "%s at %g", tsanom_hsa_status_name(found[i].cause.cause), to);
        cr_assert_str_eq(found[i].cause.name, fault == 1 ? "n1" : "");
      }
    }
    cr_assert(began == (size_t)(fault > 0) && count == began, "%zu, %zu", began, count);
    if (fault ==
        2) { /* twice the processor time, of which one in 500 beats is not known */
      const tsanom_diagnosis_anomaly *found = feed(watch, &run, run.end, run.end, &count);
      cr_assert(fabs(found->cause.value - 2) < 0.05, "%g", found->cause.value);
    }
    tsanom_diagnosis_watch_destroy(watch);
    living_free(&run);
  }
}

/* Memory of the process grows from some beat on, by 20 KiB per beat, and is later freed.
 */
static void leak_between(tsanom_hsa_run *run, double from, double to) {
  tsanom_hsa_vital *v = (tsanom_hsa_vital *)run->vital;
  for (size_t i = 0; i < run->vital_count; i++) {
    if (v[i].time > from && v[i].time < to) v[i].anonymous += 2e7 * (v[i].time - from);
  }
}

/* Of a run of 1024 beats and more, each second one is kept. */
static bool is_close(uint64_t iteration, uint64_t beats) {
  return iteration <= beats && beats <= iteration + 1;
}

Test(diagnosis_watch, a_leak_has_the_onset_at_which_memory_began_to_grow) {
  uint64_t seed = 13;
  living_kind kind = living_normal();
  tsanom_diagnosis_normal normal = learn(&kind, &seed);
  for (int trial = 0; trial < 40; trial++) {
    double onset = 0.6 + random_unit(&seed), found_at = INFINITY;
    tsanom_diagnosis_watch *watch = create(kind.threads, &normal);
    tsanom_hsa_run run = living_run(&kind, &seed);
    leak_between(&run, onset, INFINITY);
    for (int step = 0; 0.02 * step < run.end && isinf(found_at); step++) {
      size_t count;
      double from = 0.02 * step, to = 0.02 * (step + 1);
      const tsanom_diagnosis_anomaly *found = feed(watch, &run, from, to, &count);
      const tsanom_diagnosis_anomaly *a = find(found, count, TSANOM_HSA_MEMORY_LEAK, -1);
      if (!a) continue;
      found_at = to;
      cr_assert(a->phase == TSANOM_DIAGNOSIS_ANOMALY_BEGAN);
      cr_assert(fabs(a->onset - onset) <= kind.every, "%g, not %g", a->onset, onset);
      cr_assert(is_close(a->iteration, beats_until(&run.threads[0], a->onset)) ||
                    is_close(a->iteration, beats_until(&run.threads[1], a->onset)),
                "%zu at %g, not %zu", (size_t)a->iteration, a->onset,
                (size_t)beats_until(&run.threads[0], a->onset));
    }
    cr_assert(found_at < onset + 0.5, "%g, began at %g", found_at, onset);
    tsanom_diagnosis_watch_destroy(watch);
    living_free(&run);
  }
}

/* Beats until 2 s, and from 5 s on. */
Test(diagnosis_watch, a_hang_ends_and_returns_once_as_recovered) {
  static const int32_t phases[] = {-1,
                                   -1,
                                   TSANOM_DIAGNOSIS_ANOMALY_BEGAN,
                                   TSANOM_DIAGNOSIS_ANOMALY_LASTS,
                                   TSANOM_DIAGNOSIS_ANOMALY_RECOVERED,
                                   -1};
  tsanom_diagnosis_watch *watch = create(1, NULL);
  double time[200], from = 0;
  for (size_t i = 0; i < 200; i++) time[i] = 0.02 * (double)i + (i < 100 ? 0 : 3);
  tsanom_hsa_series beats = {.time = time, .beats = 200};
  tsanom_hsa_run run = {.threads = &beats, .thread_count = 1, .end = 100};
  for (size_t i = 0; i < sizeof phases / sizeof *phases; i++) {
    size_t count;
    double to = (double[]){1, 2.9, 3.1, 4, 5.5, 6}[i];
    const tsanom_diagnosis_anomaly *found = feed(watch, &run, from, to, &count);
    from = to;
    cr_assert(count == (phases[i] >= 0), "%g: %zu", to, count);
    tsanom_diagnosis_pulse pulse;
    CHECK_STATUS(tsanom_diagnosis_watch_pulse(watch, 0, &pulse), TSANOM_OK);
    int hangs = phases[i] == TSANOM_DIAGNOSIS_ANOMALY_BEGAN ||
                phases[i] == TSANOM_DIAGNOSIS_ANOMALY_LASTS;
    cr_assert(pulse.status == (hangs ? TSANOM_HSA_HANG : TSANOM_HSA_NORMAL));
    cr_assert(hangs ? pulse.rate == 0 : pulse.rate > 5, "%g", pulse.rate);
    cr_assert(pulse.beats == beats_until(&beats, to) - 1);
    if (!count) continue;
    cr_assert(found->phase == phases[i] && found->iteration == 99, "%zu",
              (size_t)found->iteration);
    cr_assert(fabs(found->onset - 1.98) < 1e-9 && found->cause.limit == 1);
    cr_assert(fabs(found->confidence - (1 - 1. / 99)) < 1e-9, "%g", found->confidence);
  }
  tsanom_diagnosis_watch_destroy(watch);
}

Test(diagnosis_watch, a_killed_program_is_a_fact) {
  tsanom_diagnosis_watch *watch = create(1, NULL);
  double time = 1;
  char text[512];
  tsanom_hsa_series beats = {.time = &time, .beats = 1};
  tsanom_hsa_run run = {
      .threads = &beats, .thread_count = 1, .end = 2, .state = TSANOM_RUN_KILLED};
  size_t count;
  const tsanom_diagnosis_anomaly *found = feed(watch, &run, 0, 3, &count);
  cr_assert(count == 1 && found->cause.cause == TSANOM_HSA_SHUTDOWN &&
            found->confidence == 1 && isnan(found->cause.limit));
  CHECK_STATUS(tsanom_diagnosis_cause_text(&found->cause, TSANOM_DIAGNOSIS_CAUSE_EVIDENCE,
                                           text, sizeof text, NULL),
               TSANOM_OK);
  cr_assert_str_eq(text, "the program ended without ending its recording, after 1 beats");
  tsanom_diagnosis_watch_destroy(watch);
}

/* A million iterations, a few of them disturbed, as on a quiet machine. */
Test(diagnosis_watch, a_long_normal_run_has_no_anomaly) {
  enum { BEATS = 1000000, PIECE = 500 };
  uint64_t seed = 14;
  tsanom_diagnosis_watch *watch = create(2, NULL);
  double time[2][PIECE], now = 0;
  tsanom_hsa_series threads[2] = {{.time = time[0], .beats = PIECE},
                                  {.time = time[1], .beats = PIECE}};
  tsanom_hsa_run news = {.threads = threads, .thread_count = 2};
  for (size_t i = 0; i < BEATS; i += PIECE) {
    for (size_t k = 0; k < PIECE; k++) {
      now += 0.001 * (1 + random_unit(&seed)) * (random_unit(&seed) < 0.001 ? 100 : 1);
      time[0][k] = now;
      time[1][k] = now + 1e-5 * random_unit(&seed);
    }
    const tsanom_diagnosis_anomaly *found;
    size_t count = 1;
    news.end = now + 0.5 * random_unit(&seed);
    CHECK_STATUS(tsanom_diagnosis_watch_update(watch, &news, NULL, &found, &count),
                 TSANOM_OK);
    cr_assert(count == 0, "%zu beats: %s", i, tsanom_hsa_status_name(found->cause.cause));
  }
  tsanom_diagnosis_watch_destroy(watch);
}
