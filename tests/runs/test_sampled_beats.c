/* SPDX-License-Identifier: BSD-3-Clause */
/* Beats in a file of totals that the test writes: those that are kept, in any order, and
 * those between them, read at once and by refreshes. */
#include <math.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <tsanom/hsa.h>
#include <tsanom/runs.h>

#include "record/regions.h"
#include "runs/grown_run.h"
#include "support/check.h"
#include "support/faults.h"

enum { ROWS = 4 };

#define MS 1000000u
static grown_run beats;

/* Row 0 is the header, row 1 the thread, and two are of beats. */
static tsn_regions_row rows[ROWS];

static uint64_t check_of(const tsn_regions_row *row) {
  uint64_t sum = 0xCBF29CE484222325u;
  unsigned char bytes[offsetof(tsn_regions_row, visits)];
  memcpy(bytes, row, sizeof bytes);
  for (size_t i = 0; i < sizeof bytes; i++) sum = (sum ^ bytes[i]) * 0x100000001B3u;
  return sum;
}

static void write_rows(void) {
  file_write(in_directory("regions/profile"), rows, sizeof rows);
}

/* A run with beats 1, 2 and 3 at 1, 2 and 3 ms, and no beats in the totals. */
static void make_run(void) {
  make_directory();
  grown_create(&beats, directory);
  for (uint32_t i = 1; i <= 3; i++) grown_append(&beats, 0, MS, i);
  cr_assert(mkdir(in_directory("regions"), 0777) == 0);
  file_write(in_directory("regions/places.tsv"), "", 0);
  const tsn_regions_profile head = {
      .magic = TSN_REGIONS_PROFILE_MAGIC, .version = 1, .row_bytes = sizeof *rows};
  memset(rows, 0, sizeof rows);
  memcpy(rows, &head, sizeof head);
  rows[1] = (tsn_regions_row){.kind = TSN_REGIONS_ROW_THREAD, .place = 1};
  for (uint32_t k = 2; k < ROWS; k++) {
    rows[k] =
        (tsn_regions_row){.kind = TSN_REGIONS_ROW_BEATS, .parent = 1, .place = k - 2};
  }
  for (size_t k = 1; k < ROWS; k++) rows[k].check = check_of(&rows[k]);
  write_rows();
}

TestSuite(runs_sampled_beats, .init = make_run, .fini = remove_directory);

/* `at` is a moment after the run began, as that of its header is. */
static void keep(size_t slot, uint64_t number, uint64_t at) {
  tsn_regions_row *row = &rows[2 + slot / 2];
  uint64_t moment = beats.header.first.nanoseconds + at;
  *(slot % 2 ? &row->useful : &row->visits) = number;
  *(slot % 2 ? &row->waiting : &row->elapsed) = moment;
}

/* The beats that the run has, in milliseconds. */
static void check_beats(const tsanom_runs *run, const double *ms, size_t count,
                        uint64_t interpolated) {
  const tsanom_hsa_run *found = NULL;
  tsanom_runs_info info;
  CHECK_STATUS(tsanom_runs_hsa(run, NULL, &found), TSANOM_OK);
  const tsanom_hsa_series *series = &found->threads[0];
  cr_assert(series->beats == count, "%zu beats", series->beats);
  for (size_t i = 0; i < count; i++) {
    double own = series->time[i] * 1e3;
    cr_assert(fabs(own - ms[i]) < 1e-9, "beat %zu at %g ms, not %g", i, own, ms[i]);
  }
  info = (tsanom_runs_info){.struct_size = sizeof info};
  CHECK_STATUS(tsanom_runs_describe(run, &info), TSANOM_OK);
  cr_assert(info.beats_interpolated == interpolated);
  cr_assert(fabs(info.last * 1e3 - ms[count - 1]) < 1e-9);
}

static tsanom_runs *open_beats(void) {
  tsanom_runs *run = NULL;
  tsanom_runs_options options;
  CHECK_STATUS(tsanom_runs_options_init(&options, sizeof options), TSANOM_OK);
  options.parts = TSANOM_RUNS_BEATS;
  CHECK_STATUS(tsanom_runs_open(directory, &options, NULL, &run), TSANOM_OK);
  return run;
}

Test(runs_sampled_beats, those_between_two_are_at_equal_distances) {
  static const double first[] = {1, 2, 3, 4, 5, 6},
                      then[] = {1, 2, 3, 4, 5, 6, 8, 10, 12, 14}, anew[] = {21, 22};
  tsanom_runs *run = open_beats();
  check_beats(run, first, 3, 0);
  keep(0, 3, 6 * MS); /* 4, 5 and 6 ms, of which the second is not kept */
  keep(1, 1, 4 * MS);
  keep(2, 1, 4 * MS);
  write_rows();
  for (int round = 0; round < 2; round++) {
    CHECK_STATUS(tsanom_runs_refresh(run, NULL, NULL), TSANOM_OK);
    check_beats(run, first, 6, 1);
  }
  keep(2, 7, 14 * MS);
  write_rows();
  CHECK_STATUS(tsanom_runs_refresh(run, NULL, NULL), TSANOM_OK);
  check_beats(run, then, 10, 4);
  tsanom_runs_destroy(run);
  run = open_beats();
  check_beats(run, then, 10, 4);
  for (size_t k = 0; k < 4; k++) keep(k, 0, 0);
  keep(0, 1, 21 * MS);
  keep(3, 2, 22 * MS);
  rows[2].cpu = beats.header.first.nanoseconds + 20 * MS;
  write_rows();
  CHECK_STATUS(tsanom_runs_refresh(run, NULL, NULL), TSANOM_OK);
  check_beats(run, anew, 2, 4);
  tsanom_runs_destroy(run);
}

/* The leader need not begin anew, if another thread had all chunks of a region before the
 * main loop. */
Test(runs_sampled_beats, another_thread_than_the_leader_begins_anew) {
  static const double anew[] = {21, 22};
  rows[1].place = 0;
  rows[1].check = check_of(&rows[1]);
  keep(0, 1, 21 * MS);
  keep(1, 2, 22 * MS);
  rows[2].cpu = beats.header.first.nanoseconds + 20 * MS;
  write_rows();
  tsanom_runs *run = open_beats();
  for (int round = 0; round < 2; round++) {
    check_beats(run, anew, 2, 0);
    CHECK_STATUS(tsanom_runs_refresh(run, NULL, NULL), TSANOM_OK);
  }
  tsanom_runs_destroy(run);
}

/* Those of the last 16 million that begin with a beat that was kept. */
Test(runs_sampled_beats, of_very_many_the_latest_are_shown) {
  const uint64_t last = 1000000000u;
  keep(0, 1, 4 * MS);
  keep(1, last - 16000000, 5 * MS);
  keep(2, last, 1000 * MS);
  write_rows();
  tsanom_runs *run = open_beats();
  const tsanom_hsa_run *found = NULL;
  CHECK_STATUS(tsanom_runs_hsa(run, NULL, &found), TSANOM_OK);
  cr_assert(found->threads[0].beats == 16000001);
  cr_assert(fabs(found->threads[0].time[0] - 0.005) < 1e-12);
  cr_assert(fabs(found->threads[0].time[16000000] - 1) < 1e-12);
  tsanom_runs_destroy(run);
}

/* Beats are in a thread, and nothing is in beats. */
Test(runs_sampled_beats, rows_that_do_not_fit_are_rejected) {
  tsanom_runs *run = NULL;
  tsanom_runs_options options;
  CHECK_STATUS(tsanom_runs_options_init(&options, sizeof options), TSANOM_OK);
  options.parts = TSANOM_RUNS_BEATS;
  for (uint32_t kind = 2; kind <= 4; kind++) {
    rows[3].kind = kind;
    rows[3].parent = 2;
    rows[3].check = check_of(&rows[3]);
    write_rows();
    CHECK_STATUS(tsanom_runs_open(directory, &options, NULL, &run), TSANOM_E_FORMAT);
  }
}

/* Names are "outer > inner", so that a chain of rows would take memory by the square of
 * its length. Recorders write at most 64 regions in each other. */
Test(runs_sampled_beats, rows_that_are_too_deep_are_damage) {
  enum { DEEP = 200 };
  static tsn_regions_row chain[DEEP];
  memcpy(chain, rows, sizeof rows);
  for (uint32_t k = 2; k < DEEP; k++) {
    chain[k] = (tsn_regions_row){.kind = TSN_REGIONS_ROW_REGION, .parent = k - 1};
    chain[k].check = check_of(&chain[k]);
  }
  file_write(in_directory("regions/profile"), chain, sizeof chain);
  tsanom_fault fault;
  tsanom_runs *run = NULL;
  tsanom_exec exec = exec_reporting(&fault);
  cr_assert(tsanom_runs_open(directory, NULL, &exec, &run) == TSANOM_E_FORMAT);
  cr_assert(strstr(fault.text, "row 67 is damaged"), "%s", fault.text);
}
