/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs whose time-stamp counter restarted. One tick is one nanosecond, so that the true
 * time of each record is known. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <tsanom/heartbeat.h>
#include <tsanom/runs.h>

#include "runs/grown_run.h"
#include "support/check.h"
#include "support/random.h"

enum { STREAMS = 3, RECORDS = 4096 };

#define START (UINT64_C(1) << 44) /* ticks and nanoseconds when the run begins */

TestSuite(runs_restart, .init = make_directory, .fini = remove_directory);

/* A machine: the time since the run began, and its counter. */
typedef struct {
  grown_run run;
  uint64_t time, restarts;
  uint64_t record[STREAMS][RECORDS]; /* true times */
  uint64_t last_record, gaps;        /* time without records at restarts */
  bool is_gap;
} machine;

static machine *boot(int streams) {
  machine *m = calloc(1, sizeof *m);
  cr_assert(m);
  grown_create(&m->run, directory);
  m->run.header.clock = TSANOM_RECORD_CLOCK_TSC;
  m->run.header.first = (tsn_moment){START, START};
  m->run.now = START;
  grown_pair(&m->run, START + 1, START + 1);
  for (int32_t i = 1; i < streams; i++) grown_add_stream(&m->run, i);
  return m;
}

static void pass(machine *m, uint64_t nanoseconds) {
  m->time += nanoseconds;
  m->run.now += nanoseconds;
}

static void note_gap(machine *m) {
  if (m->is_gap) m->gaps += m->time - m->last_record;
  m->is_gap = false;
}

static void beat(machine *m, uint32_t stream) {
  uint64_t index = m->run.records[stream];
  note_gap(m);
  cr_assert(index < RECORDS);
  m->record[stream][index] = m->last_record = m->time;
  grown_append(&m->run, stream, 0, (uint32_t)index);
}

/* The counter begins anew, well below all that it was. */
static void restart(machine *m) {
  m->run.now = START >> ++m->restarts;
  m->is_gap = true;
}

static void calibrate(machine *m) {
  note_gap(m);
  m->last_record = m->time;
  grown_pair(&m->run, m->run.now, START + m->time);
}

static void finish(machine *m) {
  calibrate(m);
  grown_finish(&m->run);
}

/* All records, in order, at their true times but for the gaps. */
static tsanom_runs *check(const machine *m, uint64_t restarts) {
  tsanom_runs *run = open_run(directory);
  cr_assert(describe(run).restarts == restarts && describe(run).skipped == 0);
  for (uint32_t i = 0; i < m->run.header.streams; i++) {
    tsanom_runs_stream s = describe_stream(run, i);
    cr_assert(s.count == m->run.records[i]);
    for (size_t k = 0; k < s.count; k++) {
      cr_assert(s.tag[k] == k && (k == 0 || s.time[k] >= s.time[k - 1]));
      double is = (double)m->record[i][k] * 1e-9, most = (double)m->gaps * 1e-9 + 1e-12;
      cr_assert(fabs(s.time[k] - is) <= most + 1e-12 * is,
                "stream %u, record %zu: %.9f, not %.9f within %.9f", i, k, s.time[k], is,
                most);
    }
  }
  return run;
}

static void record_some(machine *m, uint64_t *seed, uint32_t streams) {
  for (uint32_t i = 0; i < streams; i++) beat(m, i);
  for (uint64_t n = random_between(seed, 0, 200); n > 0; n--) {
    pass(m, random_between(seed, 1, 1 << 22));
    beat(m, (uint32_t)random_between(seed, 0, streams - 1));
  }
  pass(m, random_between(seed, 1, 1 << 26));
}

Test(runs_restart, times_are_true_but_for_the_gaps) {
  uint64_t seed = 1;
  for (int trial = 0; trial < 120; trial++) {
    machine *m = boot(STREAMS);
    uint64_t restarts = random_between(&seed, 0, 4);
    pass(m, 1 << 22);
    record_some(m, &seed, STREAMS);
    for (uint64_t i = 0; i < restarts; i++) {
      restart(m);
      pass(m, random_between(&seed, 1, 1 << 24));
      record_some(m, &seed, STREAMS);
    }
    if (random_between(&seed, 0, 1)) {
      finish(m);
    } else {
      calibrate(m);
    }
    tsanom_runs *run = check(m, restarts);
    tsanom_runs_info info = describe(run);
    double ticks = (double)(m->time - m->gaps), all = (double)m->time;
    cr_assert(fabs(info.tick / (1e-9 * all / ticks) - 1) < 1e-12);
    tsanom_runs_destroy(run);
    free(m);
    remove_directory();
    make_directory();
  }
}

/* The first pair is before the restart, the latest behind it, and no record is. */
Test(runs_restart, behind_the_last_record) {
  machine *m = boot(1);
  for (int i = 0; i < 1000; i++) {
    pass(m, 1000000);
    beat(m, 0);
  }
  restart(m);
  pass(m, 20000000);
  finish(m);
  tsanom_runs_destroy(check(m, 1));
  free(m);
}

/* The program was killed before it compared the clocks again: the length of a tick is
 * that of before the restart, and the records behind it follow those before it. */
Test(runs_restart, behind_the_latest_pair) {
  machine *m = boot(2);
  for (int i = 0; i < 1000; i++) {
    pass(m, 1000000);
    beat(m, (uint32_t)i % 2);
    if (i == 990) calibrate(m);
  }
  restart(m);
  for (int i = 0; i < 50; i++) {
    pass(m, 1000000);
    beat(m, (uint32_t)i % 2);
  }
  tsanom_runs *run = check(m, 1);
  cr_assert(fabs(describe(run).tick / 1e-9 - 1) < 1e-12);
  tsanom_runs_stream s = describe_stream(run, 0);
  cr_assert(fabs(s.time[s.count - 1] - (1.05 - 0.002)) < 1e-9, "%.9f",
            s.time[s.count - 1]);
  tsanom_runs_destroy(run);
  free(m);
}

/* A stream that begins behind the restart. */
Test(runs_restart, before_the_first_record_of_a_stream) {
  machine *m = boot(2);
  for (int i = 0; i < 2000; i++) {
    if (i == 1000) restart(m);
    pass(m, 1000000);
    beat(m, 0);
    if (i >= 1500) beat(m, 1);
  }
  finish(m);
  tsanom_runs_destroy(check(m, 1));
  free(m);
}

Test(runs_restart, a_little_disorder_is_none) {
  machine *m = boot(1);
  for (uint64_t i = 0; i < 100; i++) {
    pass(m, 5000000);
    m->run.now -= i % 2 ? 1000000 : 0;
    beat(m, 0);
    m->run.now += i % 2 ? 1000000 : 0;
  }
  finish(m);
  tsanom_runs *run = open_run(directory);
  cr_assert(describe(run).restarts == 0);
  cr_assert(describe_stream(run, 0).time[1] == 9e6 * describe(run).tick);
  tsanom_runs_destroy(run);
  free(m);
}

static void check_same(const tsanom_runs *a, const tsanom_runs *b) {
  cr_assert(describe(a).restarts == describe(b).restarts);
  cr_assert(describe(a).tick == describe(b).tick &&
            describe(a).beats == describe(b).beats);
  for (uint32_t i = 0; i < describe(a).beat_streams; i++) {
    tsanom_runs_stream s = describe_stream(a, i), t = describe_stream(b, i);
    cr_assert(s.count == t.count);
    for (size_t k = 0; k < s.count; k++) cr_assert(s.time[k] == t.time[k]);
  }
}

Test(runs_restart, a_program_is_followed_across_a_restart) {
  uint64_t seed = 2;
  machine *m = boot(2);
  pass(m, 1 << 22);
  calibrate(m);
  tsanom_runs *run = open_run(directory);
  for (int step = 0; step < 12; step++) {
    uint64_t before = describe(run).beats, added = 0;
    record_some(m, &seed, 2);
    if (step % 5 == 3) restart(m);
    if (step % 3 == 2) calibrate(m);
    if (step == 11) finish(m);
    CHECK_STATUS(tsanom_runs_refresh(run, NULL, &added), TSANOM_OK);
    cr_assert(describe(run).beats == before + added && added > 0);
    tsanom_runs *fresh = open_run(directory);
    check_same(run, fresh);
    tsanom_runs_destroy(fresh);
  }
  cr_assert(describe(run).restarts == m->restarts);
  tsanom_runs_destroy(run);
  free(m);
}

/* CLOCK_MONOTONIC does not restart, and two pairs cannot have the same ticks. */
Test(runs_restart, what_is_no_restart_is_rejected) {
  tsanom_runs *run = NULL;
  machine *m = boot(1);
  m->run.header.clock = TSANOM_RECORD_CLOCK_MONOTONIC;
  grown_pair(&m->run, START - 1, START + 1000);
  CHECK_STATUS(tsanom_runs_open(directory, NULL, NULL, &run), TSANOM_E_FORMAT);
  m->run.header.clock = TSANOM_RECORD_CLOCK_TSC;
  grown_pair(&m->run, START, START + 1000);
  CHECK_STATUS(tsanom_runs_open(directory, NULL, NULL, &run), TSANOM_E_FORMAT);
  grown_pair(&m->run, START - 1, START);
  CHECK_STATUS(tsanom_runs_open(directory, NULL, NULL, &run), TSANOM_E_FORMAT);
  grown_pair(&m->run, START - 1, START + 1000);
  CHECK_STATUS(tsanom_runs_open(directory, NULL, NULL, &run), TSANOM_OK);
  cr_assert(describe(run).restarts == 1);
  tsanom_runs_destroy(run);
  free(m);
}
