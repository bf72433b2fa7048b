/* SPDX-License-Identifier: BSD-3-Clause */
/* Signs against their definitions, evaluated naively, on random samples in which numbers
 * are missing and tasks change. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tsanom/diagnosis.h>

#include "diagnosis/living.h"
#include "support/check.h"
#include "support/exec.h"
#include "support/random.h"

enum { THREADS = 6, BEATS = 400, SAMPLES = 60 };

static double times[THREADS][BEATS];
static tsanom_hsa_vital vital[THREADS + 1][SAMPLES];
static tsanom_hsa_series series[THREADS];

/* The signs of a run alone, whatever it is compared with. */
static tsanom_status measure(const tsanom_hsa_run *run, const tsanom_exec *exec,
                             tsanom_diagnosis_signs *signs) {
  static tsanom_hsa_range ranges[TSANOM_DIAGNOSIS_PARTS * TSANOM_DIAGNOSIS_SIGNS];
  const tsanom_diagnosis_normal nothing = {.struct_size = sizeof nothing,
                                           .thread_count = 1,
                                           .run_count = 1,
                                           .range = ranges,
                                           .range_count = sizeof ranges / sizeof *ranges};
  tsanom_diagnosis_finding found[4 * THREADS + 8];
  size_t count;
  return tsanom_diagnosis_find_causes(&nothing, run, exec, signs, found,
                                      sizeof found / sizeof *found, &count);
}

static double sometimes(uint64_t *seed, double value) {
  return random_between(seed, 0, 9) ? value : NAN;
}

static void make_samples(uint64_t *seed, size_t row, const tsanom_hsa_series *s) {
  double time = 0, cpu = 0, wait = 0, faults = 0;
  int32_t task = 7;
  size_t count = random_between(seed, 0, SAMPLES);
  for (size_t i = 0; i < count; i++) {
    time += random_unit(seed) * 0.1;
    cpu += random_unit(seed) * 0.05;
    wait += random_unit(seed) * 0.02;
    faults += (double)random_between(seed, 0, 50);
    if (!random_between(seed, 0, 20)) task++;
    tsanom_hsa_vital *v = &vital[row][i];
    *v = (tsanom_hsa_vital){.time = sometimes(seed, time),
                            .cpu_s = sometimes(seed, cpu),
                            .wait_s = sometimes(seed, wait),
                            .minor_faults = sometimes(seed, faults),
                            .major_faults = 1,
                            .anonymous = sometimes(seed, 1e6 * random_unit(seed)),
                            .task = task};
    for (size_t b = 0; s && b < s->beats; b++) v->beats += s->time[b] <= time;
  }
  if (s) {
    ((tsanom_hsa_series *)s)->vital = vital[row];
    ((tsanom_hsa_series *)s)->vital_count = count;
  }
}

static tsanom_hsa_run make_run(uint64_t *seed) {
  tsanom_hsa_run run = {.threads = series,
                        .thread_count = random_between(seed, 1, THREADS),
                        .state = (int32_t)random_between(seed, 0, 1),
                        .exit_code = (int32_t)random_between(seed, 0, 20) - 10,
                        .end = random_between(seed, 0, 1) ? 10 : 0};
  for (size_t t = 0; t < run.thread_count; t++) {
    double now = 0;
    series[t] = (tsanom_hsa_series){
        .time = times[t],
        .beats = random_between(seed, 0, 3) ? random_between(seed, 1, BEATS) : 0};
    for (size_t i = 0; i < series[t].beats; i++) {
      times[t][i] = now += random_unit(seed) * 0.01;
    }
    make_samples(seed, t, &series[t]);
  }
  tsanom_hsa_series process = {0};
  make_samples(seed, THREADS, &process);
  run.vital = vital[THREADS];
  run.vital_count = process.vital_count;
  return run;
}

/* ---- the naive reference */

static double faults_of(const tsanom_hsa_vital *v) {
  return v->minor_faults + v->major_faults;
}

/* Samples that know page faults, and the sums over neighbors of one task. */
static void sums(const tsanom_hsa_series *s, size_t first, double *amount,
                 double *beats) {
  const tsanom_hsa_vital *known[SAMPLES];
  size_t n = 0;
  for (size_t i = first; i < s->vital_count; i++) {
    const tsanom_hsa_vital *v = &s->vital[i];
    if (!isnan(v->time) && !isnan(faults_of(v))) known[n++] = v;
  }
  *amount = *beats = 0;
  for (size_t i = 1; i < n; i++) {
    if (known[i]->task != known[i - 1]->task) continue;
    *amount += faults_of(known[i]) - faults_of(known[i - 1]);
    *beats += (double)(known[i]->beats - known[i - 1]->beats);
  }
}

static void naive_samples(const tsanom_hsa_series *s, double *value) {
  double faults, beats;
  size_t base = s->vital_count;
  /* From the first sample after a fifth of the beats of the last one; from the one before if that is
   * after two fifths. */
  double all = s->vital_count ? (double)s->vital[s->vital_count - 1].beats : 0;
  double fifth = floor(0.2 * all);
  for (size_t i = s->vital_count; i-- > 0;) {
    if ((double)s->vital[i].beats >= fifth) base = i;
  }
  if (base > 0 && base < s->vital_count &&
      (double)s->vital[base - 1].beats >= fifth / 2 &&
      (double)s->vital[base].beats > 0.4 * all) {
    base--;
  }
  sums(s, base, &faults, &beats);
  if (beats > 0) value[TSANOM_DIAGNOSIS_SIGN_FAULTS] = faults / beats;
}

static void naive_beats(const tsanom_hsa_run *run, size_t t, double *value) {
  const tsanom_hsa_series *busiest = &run->threads[0], *s = &run->threads[t];
  for (size_t i = 0; i < run->thread_count; i++) {
    if (run->threads[i].beats > busiest->beats) busiest = &run->threads[i];
  }
  if (!busiest->beats) return;
  double after = 0;
  for (size_t i = 0; i < busiest->beats && s->beats; i++) {
    after += busiest->time[i] > s->time[s->beats - 1];
  }
  value[TSANOM_DIAGNOSIS_SIGN_TAIL] = s->beats ? after / (double)busiest->beats : 1;
  if (run->thread_count > 1) {
    value[TSANOM_DIAGNOSIS_SIGN_SHARE] = (double)s->beats / (double)busiest->beats;
  }
  for (size_t i = 1; i < s->beats; i++) {
    value[TSANOM_DIAGNOSIS_SIGN_GAP] =
        fmax(value[TSANOM_DIAGNOSIS_SIGN_GAP], s->time[i] - s->time[i - 1]);
  }
}

static void naive_growth(const tsanom_hsa_run *run, tsanom_diagnosis_signs *naive) {
  const tsanom_hsa_series *s = &run->threads[0];
  for (size_t t = 1; t < run->thread_count; t++) {
    if (run->threads[t].beats > s->beats) s = &run->threads[t];
  }
  if (!s->beats) return;
  const tsanom_hsa_vital *known[SAMPLES];
  size_t n = 0, after = 0;
  double fifth = s->time[(size_t)((double)(s->beats - 1) * 0.2)];
  double tenth = s->time[(size_t)((double)(s->beats - 1) * 0.1)];
  double late = s->time[(size_t)((double)(s->beats - 1) * 0.4)];
  for (size_t i = 0; i < run->vital_count; i++) {
    const tsanom_hsa_vital *v = &run->vital[i];
    if (!isnan(v->time) && !isnan(v->anonymous)) known[n++] = v;
  }
  for (size_t i = 0; i < n; i++) after += known[i]->time >= fifth;
  const tsanom_hsa_vital *early = after && after < n ? known[n - after - 1] : NULL;
  if (early && early->time >= tenth && (after == 1 || known[n - after]->time > late)) {
    after++;
  }
  if (after < 2) return;
  double base = known[n - after]->anonymous, most = 0;
  for (size_t i = n - after + 1; i < n; i++) most = fmax(most, known[i]->anonymous);
  for (size_t t = 0; t < run->thread_count && !isnan(most); t++) {
    naive[t].value[TSANOM_DIAGNOSIS_SIGN_GROWTH] = most > base ? most - base : 0;
  }
}

static void naive_early(const tsanom_hsa_run *run, tsanom_diagnosis_signs *naive) {
  const tsanom_hsa_series *s = &run->threads[0];
  const tsanom_hsa_vital *known[SAMPLES];
  size_t n = 0, before = 0;
  for (size_t t = 1; t < run->thread_count; t++) {
    if (run->threads[t].beats > s->beats) s = &run->threads[t];
  }
  if (!s->beats) return;
  double fifth = s->time[(size_t)((double)(s->beats - 1) * 0.2)];
  for (size_t i = 0; i < run->vital_count; i++) {
    const tsanom_hsa_vital *v = &run->vital[i];
    if (!isnan(v->time) && !isnan(v->anonymous) && v->time >= s->time[0]) known[n++] = v;
  }
  while (before < n && known[before]->time < fifth) before++;
  if (before < n) before++;
  if (before < 2) return;
  double most = 0;
  for (size_t i = 1; i < before; i++) most = fmax(most, known[i]->anonymous);
  for (size_t t = 0; t < run->thread_count; t++) {
    naive[t].value[TSANOM_DIAGNOSIS_SIGN_EARLY] = fmax(0, most - known[0]->anonymous);
  }
}

static bool differ(double a, double b) {
  if (isnan(a) || isnan(b)) return isnan(a) != isnan(b);
  return fabs(a - b) > 1e-9 * fmax(fabs(a), 1e-3);
}

Test(diagnosis_signs, they_are_those_of_the_definitions) {
  uint64_t seed = 11;
  size_t available[TSANOM_DIAGNOSIS_SIGNS] = {0};
  for (int round = 0; round < 3000; round++) {
    tsanom_hsa_run run = make_run(&seed);
    tsanom_diagnosis_signs signs[THREADS], naive[THREADS];
    CHECK_STATUS(measure(&run, NULL, signs), TSANOM_OK);
    for (size_t t = 0; t < run.thread_count; t++) {
      for (size_t i = 0; i < TSANOM_DIAGNOSIS_SIGN_SLOTS; i++) naive[t].value[i] = NAN;
      naive_beats(&run, t, naive[t].value);
      naive_samples(&run.threads[t], naive[t].value);
      if (run.state == TSANOM_RUN_FINISHED && run.exit_code >= 0) {
        naive[t].value[TSANOM_DIAGNOSIS_SIGN_EXIT] = run.exit_code;
      }
    }
    naive_growth(&run, naive);
    naive_early(&run, naive);
    for (size_t t = 0; t < run.thread_count; t++) {
      cr_assert(signs[t].beats == run.threads[t].beats);
      for (int32_t i = 0; i < TSANOM_DIAGNOSIS_SIGN_SLOTS; i++) {
        cr_assert(!differ(signs[t].value[i], naive[t].value[i]),
                  "round %d, thread %zu of %zu: %s is %.17g, not %.17g", round, t,
                  run.thread_count, tsanom_diagnosis_sign_name(i), signs[t].value[i],
                  naive[t].value[i]);
        if (i < TSANOM_DIAGNOSIS_SIGNS && !isnan(signs[t].value[i])) available[i]++;
      }
    }
  }
  for (int32_t i = 0; i <= TSANOM_DIAGNOSIS_SIGN_EXIT; i++) {
    cr_assert(available[i] > 1000, "%s: %zu", tsanom_diagnosis_sign_name(i),
              available[i]);
  }
}

Test(diagnosis_signs, a_run_without_vital_signs_has_those_of_its_beats) {
  uint64_t seed = 5;
  living_kind k = living_normal();
  k.every = 0;
  tsanom_hsa_run run = living_run(&k, &seed);
  tsanom_diagnosis_signs signs[2];
  CHECK_STATUS(measure(&run, NULL, signs), TSANOM_OK);
  for (int32_t i = 0; i < TSANOM_DIAGNOSIS_SIGN_SLOTS; i++) {
    bool known = i <= TSANOM_DIAGNOSIS_SIGN_SHARE || i == TSANOM_DIAGNOSIS_SIGN_EXIT;
    cr_assert(known == !isnan(signs[1].value[i]), "%s", tsanom_diagnosis_sign_name(i));
  }
  living_free(&run);
}

Test(diagnosis_signs, invalid_runs_are_rejected) {
  uint64_t seed = 6;
  living_kind k = living_normal();
  tsanom_hsa_run run = living_run(&k, &seed), bad = run;
  tsanom_diagnosis_signs signs[2] = {{.beats = 99}};
  tsanom_fault fault;
  tsanom_exec exec = exec_at(TSANOM_ISA_AUTO, 1);
  fault = (tsanom_fault){.struct_size = sizeof fault};
  exec.fault = &fault;
  bad.state = 4;
  CHECK_STATUS(measure(&bad, &exec, signs), TSANOM_E_OPTION);
  cr_assert_str_eq(fault.argument, "run.state");
  bad = run;
  bad.end = NAN;
  CHECK_STATUS(measure(&bad, &exec, signs), TSANOM_E_NONFINITE);
  bad = run;
  bad.vital = NULL;
  CHECK_STATUS(measure(&bad, &exec, signs), TSANOM_E_NULL);
  cr_assert_str_eq(fault.argument, "run.vital");
  bad = run;
  bad.reserved[0] = 1;
  CHECK_STATUS(measure(&bad, &exec, signs), TSANOM_E_VERSION);
  tsanom_hsa_vital *sample = (tsanom_hsa_vital *)run.threads[1].vital + 2, kept = *sample;
  double *numbers[] = {&sample->time,      &sample->cpu_s,        &sample->wait_s,
                       &sample->voluntary, &sample->involuntary,  &sample->minor_faults,
                       &sample->resident,  &sample->major_faults, &sample->spun_s,
                       &sample->anonymous, &sample->threads};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    *numbers[i] = i % 2 ? INFINITY : -INFINITY;
    CHECK_STATUS(measure(&run, &exec, signs), TSANOM_E_NONFINITE);
    cr_assert_str_eq(fault.argument, "run.threads.vital");
    cr_assert(fault.element == 1 && fault.second == 2);
    *sample = kept;
  }
  ((tsanom_hsa_vital *)run.threads[1].vital)[3].time = 1e-9;
  CHECK_STATUS(measure(&run, &exec, signs), TSANOM_E_ORDER);
  cr_assert_str_eq(fault.argument, "run.threads.vital");
  cr_assert(fault.element == 1 && fault.second == 3 && signs[0].beats == 99);
  living_free(&run);
}
