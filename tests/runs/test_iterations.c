/* SPDX-License-Identifier: BSD-3-Clause */
/* Beats of recorded programs: those of an inner loop, before the main loop was found, are
 * left out. Their tags begin anew. */
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <tsanom/hsa.h>
#include <tsanom/runs.h>

#include "record/regions.h"
#include "runs/grown_run.h"
#include "support/check.h"
#include "support/random.h"

TestSuite(runs_iterations, .init = make_directory, .fini = remove_directory);

/* The file that only `tsanom record` writes. */
static void write_places(void) {
  cr_assert(mkdir(in_directory("regions"), 0777) == 0);
  file_write(in_directory("regions/places.tsv"), "tsanom places 2\n", 16);
}

static tsanom_runs *open_beats(void) {
  tsanom_runs *run = NULL;
  tsanom_runs_options options;
  tsanom_runs_options_init(&options, sizeof options);
  options.parts = TSANOM_RUNS_BEATS;
  CHECK_STATUS(tsanom_runs_open(directory, &options, NULL, &run), TSANOM_OK);
  return run;
}

static void check_beats(const tsanom_runs *run, size_t first, size_t second,
                        size_t third) {
  const tsanom_hsa_run *beats;
  CHECK_STATUS(tsanom_runs_hsa(run, NULL, &beats), TSANOM_OK);
  cr_assert(beats->thread_count == 3);
  cr_assert(beats->threads[0].beats == first, "%zu", beats->threads[0].beats);
  cr_assert(beats->threads[1].beats == second, "%zu", beats->threads[1].beats);
  cr_assert(beats->threads[2].beats == third, "%zu", beats->threads[2].beats);
}

/* Two threads beat together; the first `count` tags from 1 on. A third one has left. */
static void beat(grown_run *grown, uint32_t count) {
  for (uint32_t tag = 1; tag <= count; tag++) {
    grown_append(grown, 0, 1000, tag);
    grown_append(grown, 1, 10, tag);
  }
}

/* Seven iterations of an inner loop; a refresh later, three of the main loop. */
static void check_run(bool is_recorded) {
  grown_run grown;
  grown_create(&grown, directory);
  for (int32_t thread = 1; thread < 3; thread++) grown_add_stream(&grown, thread);
  if (is_recorded) write_places();
  beat(&grown, 7);
  grown_append(&grown, 2, 1, 7);
  tsanom_runs *run = open_beats();
  check_beats(run, 7, 7, 1);
  beat(&grown, 3);
  CHECK_STATUS(tsanom_runs_refresh(run, NULL, NULL), TSANOM_OK);
  if (is_recorded) {
    check_beats(run, 3, 3, 0);
  } else {
    check_beats(run, 10, 10, 1);
  }
  tsanom_runs_stream all;
  CHECK_STATUS(tsanom_runs_stream_at(run, TSANOM_RUNS_BEATS, 0, &all), TSANOM_OK);
  cr_assert(all.count == 10);
  tsanom_runs_destroy(run);
  run = open_beats();
  check_beats(run, is_recorded ? 3 : 10, is_recorded ? 3 : 10, !is_recorded);
  tsanom_runs_destroy(run);
}

Test(runs_iterations, beats_of_an_inner_loop_are_left_out) {
  check_run(true);
}

/* Microseconds before its record at which an early beat was. */
static uint32_t early(uint32_t ago) {
  return UINT32_C(1) << TSN_REGIONS_EARLY_BIT | ago;
}

static void check_times(const tsanom_runs *run, size_t thread, const double *microseconds,
                        size_t count) {
  const tsanom_hsa_run *beats;
  CHECK_STATUS(tsanom_runs_hsa(run, NULL, &beats), TSANOM_OK);
  const tsanom_hsa_series *s = &beats->threads[thread];
  cr_assert(s->beats == count, "thread %zu: %zu", thread, s->beats);
  for (size_t i = 0; i < count; i++) {
    cr_assert(fabs(1e6 * s->time[i] - microseconds[i]) < 1e-3, "%zu: %g", i, s->time[i]);
  }
}

/* Two threads beat in an inner loop, every 10 us from 10 to 70; one of them goes on. The
 * main loop is found at 100: its iterations began at 5, 40 and 70 and, by a record that
 * is rounded, before that. A third thread comes at 200. */
Test(runs_iterations, beats_before_the_main_loop_was_found_are_shown) {
  const uint32_t tags[] = {early(95), early(60), early(30), early(31), 1};
  enum { TAGS = sizeof tags / sizeof *tags };
  static const double shown[] = {5, 40, 70, 70, 100, 200}, others[] = {200};
  for (int before = 0; before <= TAGS; before++) { /* the refresh */
    grown_run grown;
    tsanom_runs *run = NULL;
    grown_create(&grown, directory);
    for (int32_t thread = 1; thread < 3; thread++) grown_add_stream(&grown, thread);
    write_places();
    for (uint32_t tag = 1; tag <= 7; tag++) {
      grown_append(&grown, 0, 10000, tag);
      grown_append(&grown, 1, 0, tag);
    }
    for (int i = 0; i <= TAGS; i++) {
      if (i == before) run = open_beats();
      if (i < TAGS) grown_append(&grown, 0, i == 0 ? 30000 : 0, tags[i]);
    }
    grown_append(&grown, 0, 100000, 2);
    grown_append(&grown, 2, 0, 2);
    CHECK_STATUS(tsanom_runs_refresh(run, NULL, NULL), TSANOM_OK);
    for (int again = 0; again < 2; again++) {
      check_times(run, 0, shown, 6);
      check_times(run, 1, NULL, 0);
      check_times(run, 2, others, 1);
      tsanom_runs_destroy(run);
      run = open_beats();
    }
    tsanom_runs_destroy(run);
    remove_directory();
    make_directory();
  }
}

static uint64_t steps_of(const tsanom_runs *run) {
  tsanom_runs_info info = {.struct_size = sizeof info};
  CHECK_STATUS(tsanom_runs_describe(run, &info), TSANOM_OK);
  cr_assert(info.beats_of_steps == 0 || info.beats_of_steps == info.beats);
  return info.beats_of_steps;
}

/* A thread beats at its tasks until a main loop is found; another one did so before and has
 * no part in the loop. */
Test(runs_iterations, beats_at_tasks_are_no_iterations) {
  const uint32_t step = UINT32_C(1) << TSN_REGIONS_STEP_BIT;
  grown_run grown;
  grown_create(&grown, directory);
  grown_add_stream(&grown, 1);
  write_places();
  for (uint32_t k = 1; k <= 3; k++) {
    grown_append(&grown, 0, 10000, step | k);
    grown_append(&grown, 1, 0, step | k);
  }
  tsanom_runs *run = open_beats();
  cr_assert(steps_of(run) == 6);
  grown_append(&grown, 0, 10000, 1);
  CHECK_STATUS(tsanom_runs_refresh(run, NULL, NULL), TSANOM_OK);
  static const double shown[] = {40};
  check_times(run, 0, shown, 1);
  cr_assert(steps_of(run) == 0);
  tsanom_runs_destroy(run);
  run = open_beats();
  cr_assert(steps_of(run) == 0);
  tsanom_runs_destroy(run);
}

/* A loop that is found without an inner one. */
Test(runs_iterations, early_beats_may_be_the_first_records) {
  static const double shown[] = {10, 20, 30, 40};
  grown_run grown;
  grown_create(&grown, directory);
  grown_add_stream(&grown, 1);
  write_places();
  for (uint32_t stream = 0; stream < 2; stream++) {
    grown_append(&grown, stream, stream ? 0 : 30000, early(20));
    grown_append(&grown, stream, 0, early(10));
    grown_append(&grown, stream, 0, 1);
  }
  grown_append(&grown, 0, 10000, 2);
  grown_append(&grown, 1, 0, 2);
  tsanom_runs *run = open_beats();
  check_times(run, 0, shown, 4);
  check_times(run, 1, shown, 4);
  tsanom_runs_destroy(run);
}

/* The tags of a program's own beats mean what the program likes. */
Test(runs_iterations, beats_of_a_program_of_its_own_are_kept) {
  check_run(false);
}

/* The second thread that opens regions is shown, and its team; what the first one has comes behind it, with its
 * samples. */
Test(runs_iterations, the_team_of_one_thread_that_opens_regions_is_shown) {
  enum { SECOND = 1 << TSN_REGIONS_OPENER_SHIFT };
  grown_run grown;
  grown_create(&grown, directory);
  grown_add_stream(&grown, SECOND | 1);
  grown_add_stream(&grown, SECOND);
  for (uint32_t stream = 0; stream < 3; stream++) {
    for (uint32_t i = 0; i <= stream; i++) grown_append(&grown, stream, 1000, i + 1);
    grown_sample(&grown, stream);
  }
  for (uint32_t opener = 0; opener < 2; opener++) {
    static const size_t beats[2][3] = {{1, 2, 3}, {3, 2, 1}};
    grown.header.opener = opener;
    grown_calibrate(&grown, 1);
    tsanom_runs *run = open_beats();
    const tsanom_hsa_run *shown;
    CHECK_STATUS(tsanom_runs_hsa(run, NULL, &shown), TSANOM_OK);
    cr_assert(shown->thread_count == 3);
    for (size_t t = 0; t < 3; t++) {
      const tsanom_hsa_series *s = &shown->threads[t];
      cr_assert(s->beats == beats[opener][t] && s->vital_count == 1);
      cr_assert(s->vital[0].thread == (int32_t)t && s->vital[0].beats == s->beats);
    }
    tsanom_runs_destroy(run);
  }
}

/* Threads beat, and the main loop begins anew, with early beats or without. Numbers have
 * one stream or several, and of some the second one comes late. */
static void grow(grown_run *grown, uint64_t *seed, uint32_t *tag, size_t streams) {
  uint32_t stream = (uint32_t)random_between(seed, 0, streams - 1);
  uint32_t longest = (uint32_t)random_between(seed, 0, 1) ? 20 : 2000;
  if (random_between(seed, 0, 19) == 0) {
    tag[stream] = 0;
    for (uint64_t n = random_between(seed, 0, 3); n > 0; n--) {
      uint32_t ago = (uint32_t)random_between(seed, 0, longest);
      grown_append(grown, stream, random_between(seed, 0, 1), early(ago));
    }
  }
  grown_append(grown, stream, 1000 * random_between(seed, 0, longest), ++tag[stream]);
  if (random_between(seed, 0, 9) == 0) grown_sample(grown, stream);
}

static void check_same(const tsanom_runs *run, const tsanom_runs *other) {
  const tsanom_hsa_run *a, *b;
  CHECK_STATUS(tsanom_runs_hsa(run, NULL, &a), TSANOM_OK);
  CHECK_STATUS(tsanom_runs_hsa(other, NULL, &b), TSANOM_OK);
  cr_assert(a->thread_count == b->thread_count);
  for (size_t t = 0; t < a->thread_count; t++) {
    const tsanom_hsa_series *s = &a->threads[t], *o = &b->threads[t];
    cr_assert(s->beats == o->beats && s->vital_count == o->vital_count);
    cr_assert(!s->beats || memcmp(s->time, o->time, s->beats * sizeof *s->time) == 0);
    for (size_t i = 0; i < s->vital_count; i++) {
      cr_assert(s->vital[i].beats == o->vital[i].beats, "thread %zu, sample %zu", t, i);
    }
    for (size_t i = 1; i < s->beats; i++) cr_assert(s->time[i - 1] <= s->time[i]);
  }
}

Test(runs_iterations, refreshes_show_what_a_run_opened_anew_shows) {
  for (uint64_t round = 0; round < 60; round++) {
    grown_run grown;
    uint64_t seed = round + 1;
    uint32_t tag[GROWN_STREAMS] = {0};
    size_t streams = 1, records = round % 10 ? 200 : 9000;
    tsanom_runs *run = NULL;
    grown_create(&grown, directory);
    write_places();
    for (size_t i = 0; i < records; i++) {
      if (streams < GROWN_STREAMS && random_between(&seed, 0, records / 8) == 0) {
        int32_t opener = (int32_t)random_between(&seed, 0, 9) == 0;
        grown_add_stream(&grown, opener << TSN_REGIONS_OPENER_SHIFT |
                                     (int32_t)random_between(&seed, 0, 4));
        streams++;
        if (opener && random_between(&seed, 0, 1)) {
          grown.header.opener = 1;
          grown_calibrate(&grown, 1);
        }
      }
      grow(&grown, &seed, tag, streams);
      if (random_between(&seed, 0, records / 8)) continue;
      if (run) {
        CHECK_STATUS(tsanom_runs_refresh(run, NULL, NULL), TSANOM_OK);
      } else {
        run = open_beats();
      }
    }
    if (!run) run = open_beats();
    CHECK_STATUS(tsanom_runs_refresh(run, NULL, NULL), TSANOM_OK);
    tsanom_runs *anew = open_beats();
    check_same(run, anew);
    tsanom_runs_destroy(anew);
    tsanom_runs_destroy(run);
    remove_directory();
    make_directory();
  }
}
