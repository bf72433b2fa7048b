/* SPDX-License-Identifier: BSD-3-Clause */
/* Beats from processor time, compared with the definition, on files that are written by
 * the format. */
#include <math.h>
#include <sys/stat.h>
#include <time.h>
#include <tsanom/hsa.h>
#include <tsanom/runs.h>
#include <unistd.h>

#include "record/identity.h"
#include "runs/grown_run.h"
#include "support/check.h"
#include "support/random.h"

enum { MOST = 4096 };

#define MS 1000000u
#define PERIOD (50 * (uint64_t)MS)
static grown_run grown;

/* A run by `tsanom record` of a program with two threads, which has been killed. */
static void make_run(void) {
  make_directory();
  grown_create(&grown, directory);
  grown_add_stream(&grown, 1);
  cr_assert(mkdir(in_directory("regions"), 0777) == 0);
  file_write(in_directory("regions/places.tsv"), "", 0);
}

TestSuite(runs_time_beats, .init = make_run, .fini = remove_directory);

static void sample(uint32_t stream, uint64_t ticks, int32_t task, uint64_t cpu) {
  grown.now += ticks;
  grown.task = task;
  grown.cpu = cpu;
  grown_sample(&grown, stream);
}

/* Beats of both threads. */
static size_t count_beats(const tsanom_runs *run) {
  const tsanom_hsa_run *found = NULL;
  CHECK_STATUS(tsanom_runs_hsa(run, NULL, &found), TSANOM_OK);
  cr_assert(found->thread_count == 2);
  return found->threads[0].beats + found->threads[1].beats;
}

typedef struct {
  double time[MOST];
  size_t count, after[MOST], samples; /* beats until each sample */
} expected_beats;

static void check_thread(const tsanom_runs *run, size_t thread,
                         const expected_beats *expected) {
  const tsanom_hsa_run *found = NULL;
  CHECK_STATUS(tsanom_runs_hsa(run, NULL, &found), TSANOM_OK);
  const tsanom_hsa_series *s = &found->threads[thread];
  cr_assert(s->beats == expected->count, "%zu of %zu", s->beats, expected->count);
  for (size_t i = 0; i < s->beats; i++) {
    double difference = fabs(s->time[i] - expected->time[i]);
    cr_assert(difference < 1e-9, "beat %zu: %g", i, difference);
  }
  cr_assert(s->vital_count == expected->samples);
  for (size_t i = 0; i < s->vital_count; i++) {
    cr_assert(s->vital[i].beats == expected->after[i]);
  }
}

/* The definition: beat k is where the thread had used k * 50 ms. Tasks change, times are
 * not known, and samples are read at once and by refreshes. */
Test(runs_time_beats, beats_are_50_ms_of_processor_time) {
  enum { SAMPLES = 600 };
  static expected_beats expected[2];
  uint64_t seed = 9, cpu[2] = {70 * MS, 0}, total[2] = {0}, at[2] = {0};
  int32_t task[2] = {0};
  sample(0, 10, 7, cpu[0]);
  tsanom_runs *run = open_run(directory);
  expected[0].samples++;
  at[0] = grown.now;
  task[0] = 7;
  for (int i = 0; i < SAMPLES; i++) {
    uint32_t t = (uint32_t)random_between(&seed, 0, 1);
    uint64_t ticks = random_between(&seed, 1, 200) * MS;
    uint64_t used = (grown.now + ticks - at[t]) * random_between(&seed, 0, 100) / 100;
    bool is_new = !task[t] || random_between(&seed, 0, 19) == 0;
    expected_beats *e = &expected[t];
    if (is_new) {
      task[t] += 2;
      used = 0;
      cpu[t] = random_between(&seed, 0, 1000) * MS;
    }
    sample(t, ticks, task[t], cpu[t] + used);
    for (uint64_t k = total[t] / PERIOD + 1; k * PERIOD <= total[t] + used; k++) {
      double part = (double)(k * PERIOD - total[t]) / (double)used;
      double since = (double)(at[t] - grown.header.first.ticks) * 1e-9;
      e->time[e->count++] = since + part * (double)(grown.now - at[t]) * 1e-9;
    }
    e->after[e->samples++] = e->count;
    cpu[t] += used;
    total[t] += used;
    at[t] = grown.now;
    if (i % 50 == 7) CHECK_STATUS(tsanom_runs_refresh(run, NULL, NULL), TSANOM_OK);
  }
  CHECK_STATUS(tsanom_runs_refresh(run, NULL, NULL), TSANOM_OK);
  cr_assert(expected[0].count > 100 && expected[1].count > 100);
  for (size_t t = 0; t < 2; t++) check_thread(run, t, &expected[t]);
  tsanom_runs_info info = describe(run);
  cr_assert(info.beats == 0 && info.beats_by_time == count_beats(run));
  tsanom_runs_destroy(run);
  run = open_run(directory);
  for (size_t t = 0; t < 2; t++) check_thread(run, t, &expected[t]);
  tsanom_runs_destroy(run);
}

/* A sample without processor time, and a time that goes back. */
Test(runs_time_beats, samples_that_show_nothing_are_left_out) {
  sample(0, 100 * MS, 7, 0);
  sample(0, 100 * MS, 7, UINT64_MAX);
  sample(0, 100 * MS, 7, 100 * MS);
  tsanom_runs *run = open_run(directory);
  cr_assert(count_beats(run) == 2);
  tsanom_runs_destroy(run);
  sample(0, 100 * MS, 7, 60 * MS);
  sample(0, 100 * MS, 7, UINT64_MAX - 1);
  run = open_run(directory);
  cr_assert(count_beats(run) == 2 + 4095);
  tsanom_runs_destroy(run);
}

/* A program that runs may still find its main loop. */
Test(runs_time_beats, they_replace_no_other_beats) {
  sample(0, 100 * MS, 7, 0);
  sample(0, 100 * MS, 7, 100 * MS);
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  grown.header.pid = (uint64_t)getpid();
  tsn_identify(&grown.header);
  uint64_t first = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
  grown.header.first.nanoseconds = first;
  grown_pair(&grown, grown.header.latest.ticks, first + 1000000000);
  tsanom_runs *run = open_run(directory);
  cr_assert(count_beats(run) == 0 && describe(run).beats_by_time == 0);
  file_write(in_directory("regions/time-beats"), "", 0);
  CHECK_STATUS(tsanom_runs_refresh(run, NULL, NULL), TSANOM_OK);
  cr_assert(count_beats(run) == 2 && describe(run).beats_by_time == 2);
  sample(0, 100 * MS, 7, 200 * MS);
  uint64_t added = 0;
  CHECK_STATUS(tsanom_runs_refresh(run, NULL, &added), TSANOM_OK);
  cr_assert(count_beats(run) == 4 && added == 2);
  tsanom_runs_destroy(run);
}

/* Beats of iterations that were taken back are not shown, also to a reader that has shown
 * them; those that are recorded later neither. */
Test(runs_time_beats, they_replace_beats_that_are_taken_back) {
  sample(0, 100 * MS, 7, 0);
  sample(0, 100 * MS, 7, 100 * MS);
  for (uint32_t i = 1; i <= 3; i++) grown_append(&grown, 1, MS, i);
  tsanom_runs *run = open_run(directory);
  cr_assert(count_beats(run) == 3 && describe(run).beats_by_time == 0);
  file_write(in_directory("regions/time-beats"), "", 0);
  CHECK_STATUS(tsanom_runs_refresh(run, NULL, NULL), TSANOM_OK);
  cr_assert(count_beats(run) == 2 && describe(run).beats_by_time == 2);
  grown_append(&grown, 1, MS, 4);
  sample(0, 100 * MS, 7, 200 * MS);
  CHECK_STATUS(tsanom_runs_refresh(run, NULL, NULL), TSANOM_OK);
  cr_assert(count_beats(run) == 4 && describe(run).beats_by_time == 4);
  tsanom_runs_destroy(run);
  run = open_run(directory);
  cr_assert(count_beats(run) == 4 && describe(run).beats_by_time == 4);
  tsanom_runs_destroy(run);
}

/* A program that has ended without beats has no file that says so: beats that are found later
 * replace those by time. */
Test(runs_time_beats, other_beats_replace_them) {
  sample(0, 100 * MS, 7, 0);
  sample(0, 100 * MS, 7, 100 * MS);
  tsanom_runs *run = open_run(directory);
  cr_assert(count_beats(run) == 2 && describe(run).beats_by_time == 2);
  grown_append(&grown, 1, MS, 1);
  CHECK_STATUS(tsanom_runs_refresh(run, NULL, NULL), TSANOM_OK);
  cr_assert(count_beats(run) == 1 && describe(run).beats_by_time == 0);
  tsanom_runs_destroy(run);
}
