/* SPDX-License-Identifier: BSD-3-Clause */
/* A run that is refreshed must equal the same run opened anew, at every step. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <tsanom/heartbeat.h>
#include <tsanom/hsa.h>
#include <tsanom/runs.h>
#include <tsanom/speedup.h>
#include <unistd.h>

#include "record/regions.h"
#include "runs/grown_run.h"
#include "support/allocator.h"
#include "support/check.h"
#include "support/faults.h"
#include "support/random.h"

TestSuite(runs_refresh, .init = make_directory, .fini = remove_directory);

/* Equal, or within the tolerance of the clock's period. */
static bool same_time(double a, double b, bool exact) {
  return exact ? a == b : fabs(a - b) <= 1.5e-7 * fabs(b);
}

static void check_streams(const tsanom_runs *a, const tsanom_runs *b, int32_t part,
                          size_t count, bool exact) {
  for (size_t i = 0; i < count; i++) {
    tsanom_runs_stream s, t;
    CHECK_STATUS(tsanom_runs_stream_at(a, part, i, &s), TSANOM_OK);
    CHECK_STATUS(tsanom_runs_stream_at(b, part, i, &t), TSANOM_OK);
    cr_assert(s.count == t.count && s.thread == t.thread && s.dropped == t.dropped);
    for (size_t k = 0; k < s.count; k++) {
      cr_assert(same_time(s.time[k], t.time[k], exact) && s.tag[k] == t.tag[k]);
    }
  }
}

static void check_events(tsanom_runs *a, tsanom_runs *b, bool exact) {
  for (int32_t level = 0; level < 2; level++) {
    enum { MOST = 1 << 15 };
    static tsanom_speedup_event e[MOST], f[MOST];
    size_t m, n;
    CHECK_STATUS(tsanom_runs_events(a, level, 0, NULL, e, MOST, &m), TSANOM_OK);
    CHECK_STATUS(tsanom_runs_events(b, level, 0, NULL, f, MOST, &n), TSANOM_OK);
    cr_assert(m == n);
    for (size_t i = 0; i < n; i++) {
      cr_assert(e[i].region == f[i].region && e[i].threads == f[i].threads);
      cr_assert(same_time(e[i].begin, f[i].begin, exact));
      cr_assert(same_time(e[i].end, f[i].end, exact));
    }
  }
}

static uint64_t count_vitals(const tsanom_runs *run, int32_t thread,
                             const tsanom_hsa_vital **sample) {
  size_t count = 0;
  if (describe(run).vital == TSANOM_RUNS_VITAL_NONE) return 0;
  CHECK_STATUS(tsanom_runs_vitals(run, thread, NULL, sample, &count), TSANOM_OK);
  return count;
}

/* The series refer to the samples that tsanom_runs_vitals() returns. */
static void check_samples(const tsanom_runs *run, const tsanom_hsa_run *beats) {
  const tsanom_hsa_vital *s = NULL;
  uint64_t count = count_vitals(run, TSANOM_RUNS_PROCESS, &s);
  cr_assert(beats->vital_count == count && (!count || beats->vital == s));
  for (size_t t = 0; t < beats->thread_count; t++) {
    count = count_vitals(run, (int32_t)t, &s);
    cr_assert(beats->threads[t].vital_count == count);
    cr_assert(!count || beats->threads[t].vital == s);
  }
}

/* NaN is the same as NaN. */
static void check_vitals(const tsanom_runs *a, const tsanom_runs *b, bool exact) {
  tsanom_runs_info i = describe(a), k = describe(b);
  cr_assert(i.vital == k.vital && i.vital_samples == k.vital_samples);
  cr_assert(i.vital_threads == k.vital_threads);
  uint64_t samples = 0;
  for (int32_t t = TSANOM_RUNS_PROCESS; t < (int32_t)i.vital_threads; t++) {
    const tsanom_hsa_vital *s, *u;
    uint64_t count = count_vitals(a, t, &s);
    cr_assert(count == count_vitals(b, t, &u));
    for (uint64_t n = 0; n < count; n++) {
      tsanom_hsa_vital one = s[n];
      cr_assert(same_time(one.time, u[n].time, exact) && one.thread == t);
      one.time = u[n].time;
      cr_assert(memcmp(&one, &u[n], sizeof one) == 0);
    }
    samples += count;
  }
  cr_assert(samples == i.vital_samples);
}

static void check_series(const tsanom_runs *a, const tsanom_runs *b, bool exact) {
  const tsanom_hsa_run *r, *s;
  CHECK_STATUS(tsanom_runs_hsa(a, NULL, &r), TSANOM_OK);
  CHECK_STATUS(tsanom_runs_hsa(b, NULL, &s), TSANOM_OK);
  cr_assert(r->thread_count == s->thread_count && r->start == s->start);
  check_samples(a, r);
  check_samples(b, s);
  for (size_t t = 0; t < r->thread_count; t++) {
    cr_assert(r->threads[t].beats == s->threads[t].beats);
    for (size_t k = 0; k < r->threads[t].beats; k++) {
      cr_assert(same_time(r->threads[t].time[k], s->threads[t].time[k], exact));
      cr_assert(k == 0 || r->threads[t].time[k] >= r->threads[t].time[k - 1]);
    }
  }
}

static void check_equal(tsanom_runs *a, tsanom_runs *b, bool exact) {
  tsanom_runs_info i = describe(a), k = describe(b);
  cr_assert(i.parts == k.parts && i.state == k.state && i.beats == k.beats);
  cr_assert(i.events == k.events && i.places == k.places);
  cr_assert(i.beat_streams == k.beat_streams && i.event_streams == k.event_streams);
  check_streams(a, b, TSANOM_RUNS_BEATS, i.beat_streams, exact);
  check_streams(a, b, TSANOM_RUNS_REGIONS, i.event_streams, exact);
  check_vitals(a, b, exact);
  if (i.parts & TSANOM_RUNS_BEATS) check_series(a, b, exact);
  if (i.parts & TSANOM_RUNS_REGIONS) check_events(a, b, exact);
}

/* A run that was refreshed is the one that is opened now. */
static void check_as_opened(tsanom_runs *run, const char *path) {
  tsanom_runs *opened = open_run(path);
  check_equal(run, opened, true);
  tsanom_runs_destroy(opened);
}

static uint32_t event_tag(uint64_t *seed) {
  uint32_t kind = (uint32_t)random_between(seed, 0, 3);
  return kind | (uint32_t)random_between(seed, 0, 2) << 3 |
         (uint32_t)random_between(seed, 0, 3) << 16;
}

/* One random step; returns whether times stay exact. */
static bool grow(grown_run *run, uint64_t *seed, bool events) {
  uint32_t streams = run->header.streams;
  uint64_t what = random_between(seed, 0, 30);
  if (what == 0 && streams < GROWN_STREAMS) {
    grown_add_stream(run, (int32_t)random_between(seed, 0, 2));
  }
  if (what == 1) run->stream[0].dropped++; /* shows with the next header */
  uint64_t records =
      what < 26 ? random_between(seed, 0, 6) : random_between(seed, 0, 900);
  for (uint64_t i = 0; i < records; i++) {
    uint32_t stream = (uint32_t)random_between(seed, 0, streams - 1);
    uint32_t tag = events ? event_tag(seed) : (uint32_t)random_bits(seed);
    grown_append(run, stream, random_between(seed, 0, 5000), tag);
  }
  for (uint64_t i = random_between(seed, 0, 6); what % 2 && i > 0; i--) {
    grown_sample(
        run, i % 2 ? TSN_VITAL_PROCESS : (uint32_t)random_between(seed, 0, streams - 1));
  }
  if (what == 2) {
    grown_calibrate(run, 1 + 5e-8 * (random_unit(seed) - 0.5)); /* ignored */
    return false;
  }
  if (what == 3) grown_calibrate(run, 1 + 1e-3 * random_unit(seed)); /* read anew */
  return true;
}

static void grow_and_compare(uint64_t seed, int steps, bool events) {
  grown_run grown;
  const char *path = in_directory("r%d", (int)seed);
  cr_assert(mkdir(path, 0777) == 0);
  if (events) {
    grown_create_regions(
        &grown, path, "tsanom places 1\n0\trf\t10\t/a\n1\trc\t20\t/a\n2\tsf\t30\t/b\n");
  } else {
    grown_create(&grown, path);
  }
  tsanom_runs *run = open_run(path);
  bool exact = true;
  for (int step = 0; step <= steps; step++) {
    uint64_t before = describe(run).beats + describe(run).events, added = 0;
    if (step == steps) {
      grown_finish(&grown);
    } else {
      exact = grow(&grown, &seed, events) && exact;
    }
    CHECK_STATUS(tsanom_runs_refresh(run, NULL, &added), TSANOM_OK);
    cr_assert(before + added == describe(run).beats + describe(run).events);
    tsanom_runs *fresh = open_run(path);
    check_equal(run, fresh, exact || step == steps);
    tsanom_runs_destroy(fresh);
  }
  cr_assert(describe(run).state == TSANOM_RUN_FINISHED);
  tsanom_runs_destroy(run);
}

Test(runs_refresh, heartbeats_equal_those_of_a_run_opened_anew) {
  for (uint64_t seed = 1; seed <= CASES(8); seed++) grow_and_compare(seed, 250, false);
}

Test(runs_refresh, region_events_equal_those_of_a_run_opened_anew) {
  for (uint64_t seed = 1; seed <= CASES(8); seed++) grow_and_compare(seed, 250, true);
}

/* Damage in what is new is found, whatever was verified before, and changes nothing. */
Test(runs_refresh, damage_is_found_and_leaves_the_run_as_it_was) {
  grown_run grown;
  grown_create(&grown, directory);
  grown_add_stream(&grown, 0);
  for (uint32_t i = 0; i < 3000; i++) grown_append(&grown, i % 2, 100, i);
  tsanom_runs *run = open_run(directory), *before = open_run(directory);
  for (uint32_t i = 0; i < 9000; i++) grown_append(&grown, i % 2, 100, i);
  const char *path = in_directory("heartbeat.00001");
  size_t bytes;
  unsigned char *intact = file_read(path, &bytes);
  uint64_t seed = 9;
  for (int trial = 0; trial < 300; trial++) {
    size_t at = random_between(&seed, TSN_STREAM_HEADER + 1500 * TSN_RECORD,
                               TSN_STREAM_HEADER + 6000 * TSN_RECORD - 1);
    unsigned char saved = intact[at];
    intact[at] ^= (unsigned char)(1u << random_between(&seed, 0, 7));
    file_write(path, intact, bytes);
    intact[at] = saved;
    tsanom_fault fault;
    uint64_t added = 5;
    tsanom_exec exec = exec_reporting(&fault);
    CHECK_STATUS(tsanom_runs_refresh(run, &exec, &added), TSANOM_E_FORMAT);
    cr_assert(strcmp(fault.file, path) == 0 && fault.offset == at / 16 * 16);
    cr_assert(added == 5);
    check_equal(run, before, true);
  }
  file_write(path, intact, bytes);
  CHECK_STATUS(tsanom_runs_refresh(run, NULL, NULL), TSANOM_OK);
  check_as_opened(run, directory);
  tsanom_runs_destroy(before);
  tsanom_runs_destroy(run);
  free(intact);
}

/* The latest event, a call that was not over, is written again later; another stream is damaged. */
static void replace_and_damage(const char *path, uint32_t events) {
  const uint32_t end = TSN_REGIONS_END | 2u << 16;
  grown_run grown;
  cr_assert(mkdir(path, 0777) == 0);
  grown_create_regions(&grown, path, "tsanom places 1\n0\trf\t10\t/a\n");
  grown_add_stream(&grown, 1);
  for (uint32_t i = 0; i < events; i++)
    grown_append(&grown, 0, 100, i % 2 ? end : TSN_REGIONS_BEGIN);
  tsanom_runs *run = open_run(path), *before = open_run(path);
  if (events < 4096) check_equal(run, before, true);
  grown.records[0]--;
  grown_append(&grown, 0, 5000000, end);
  grown_append(&grown, 0, 100, TSN_REGIONS_BEGIN);
  grown_append(&grown, 1, 100, TSN_REGIONS_BEGIN);
  grown_append(&grown, 1, 100, end);
  char file[DIRECTORY_CAPACITY + 64];
  (void)snprintf(file, sizeof file, "%s/regions/heartbeat.00001", path);
  size_t bytes;
  unsigned char *intact = file_read(file, &bytes);
  intact[TSN_STREAM_HEADER] ^= 1;
  file_write(file, intact, bytes);
  CHECK_STATUS(tsanom_runs_refresh(run, NULL, NULL), TSANOM_E_FORMAT);
  cr_assert(describe(run).last == describe(before).last);
  if (events < 4096) check_equal(run, before, true);
  intact[TSN_STREAM_HEADER] ^= 1;
  file_write(file, intact, bytes);
  CHECK_STATUS(tsanom_runs_refresh(run, NULL, NULL), TSANOM_OK);
  check_as_opened(run, path);
  tsanom_runs_destroy(before);
  tsanom_runs_destroy(run);
  free(intact);
}

Test(runs_refresh, an_event_that_is_replaced_is_shown_by_a_refresh_that_succeeds) {
  static const uint32_t events[] = {2, 100, 6000};
  for (size_t i = 0; i < sizeof events / sizeof *events; i++)
    replace_and_damage(in_directory("r%d", (int)i), events[i]);
}

Test(runs_refresh, failing_allocations_leave_the_run_as_it_was) {
  grown_run grown;
  test_allocator allocator = {0};
  tsanom_exec exec = test_exec(&allocator);
  tsanom_runs *run = NULL;
  grown_create(&grown, directory);
  for (uint32_t i = 0; i < 100; i++) grown_append(&grown, 0, 100, i);
  CHECK_STATUS(tsanom_runs_open(directory, NULL, &exec, &run), TSANOM_OK);
  tsanom_runs *before = open_run(directory);
  grown_add_stream(&grown, 0);
  grown_add_stream(&grown, 5);
  for (uint32_t i = 0; i < 9000; i++) grown_append(&grown, i % 3, 100, i);
  for (uint32_t i = 0; i < 9; i++) grown_sample(&grown, i % 3);
  tsanom_status status = TSANOM_E_MEMORY;
  for (size_t n = 1; status != TSANOM_OK; n++) {
    allocator.calls = 0;
    allocator.fail_at = n;
    status = tsanom_runs_refresh(run, &exec, NULL);
    cr_assert(status == TSANOM_OK || status == TSANOM_E_MEMORY);
    if (status != TSANOM_OK) check_equal(run, before, true);
    cr_assert(n < 100);
  }
  check_as_opened(run, directory);
  tsanom_runs_destroy(before);
  tsanom_runs_destroy(run);
  cr_assert(allocator.live == 0);
}

Test(runs_refresh, another_run_in_the_directory_is_reported) {
  grown_run grown;
  grown_create(&grown, directory);
  tsanom_runs *run = open_run(directory);
  grown_create(&grown, directory);
  grown.header.run_id = 78;
  grown.header.streams = 0;
  grown_add_stream(&grown, 0);
  CHECK_STATUS(tsanom_runs_refresh(run, NULL, NULL), TSANOM_E_STATE);
  tsanom_runs_destroy(run);
}

/* The recorder itself: no beat is lost or doubled between looks. */
Test(runs_refresh, follows_a_program_that_records) {
  enum { LOOKS = 200, BEATS = 500 };
  const char *path = in_directory("live");
  CHECK_STATUS(tsanom_heartbeat_init(path, 1, NULL, NULL), TSANOM_OK);
  tsanom_runs *run = open_run(path);
  uint32_t tag = 0;
  for (int look = 0; look < LOOKS; look++) {
    for (int i = 0; i < BEATS; i++) tsanom_heartbeat_beat(0, tag++);
    CHECK_STATUS(tsanom_runs_refresh(run, NULL, NULL), TSANOM_OK);
    cr_assert(describe(run).beats == tag);
  }
  CHECK_STATUS(tsanom_heartbeat_finish(), TSANOM_OK);
  CHECK_STATUS(tsanom_runs_refresh(run, NULL, NULL), TSANOM_OK);
  tsanom_runs_stream stream = describe_stream(run, 0);
  for (uint32_t i = 0; i < tag; i++) cr_assert(stream.tag[i] == i);
  tsanom_runs *fresh = open_run(path);
  check_equal(run, fresh, true);
  tsanom_runs_destroy(fresh);
  tsanom_runs_destroy(run);
}

/* The tag that makes the check of a record 0: its upper half of the product must be the
 * sequence number, and the factor is odd, so that its low half has an inverse. */
static uint32_t tag_of_check_zero(uint64_t time, uint32_t sequence) {
  const uint64_t factor = 0x9E3779B97F4A7C15u;
  uint32_t inverse = (uint32_t)factor;
  for (int i = 0; i < 5; i++) inverse *= 2 - (uint32_t)factor * inverse;
  uint32_t carried = (uint32_t)((uint32_t)time * factor >> 32);
  return (sequence - carried) * inverse ^ (uint32_t)(time >> 32);
}

/* Only a record of zeros ends a stream. */
Test(runs_refresh, a_check_of_zero_is_not_the_end) {
  enum { RECORDS = 50, TICKS = 1000 };
  grown_run grown;
  grown_create(&grown, directory);
  grown_add_stream(&grown, 0);
  for (uint32_t i = 0; i < RECORDS; i++) {
    uint32_t tag = i % 3 ? 0 : tag_of_check_zero(grown.now + TICKS, i);
    cr_assert(i % 3 || tsn_record_check(grown.now + TICKS, tag, i) == 0);
    grown_append(&grown, 0, TICKS, tag);
  }
  grown_finish(&grown);
  tsanom_runs *run = open_run(directory);
  cr_assert(describe(run).beats == RECORDS);
  tsanom_runs_destroy(run);
}

/* ---- a program that ends while its run is read */

enum { EARLIER = 9, LATER = 6 };

/* Ends its program at the `at`-th question of a poll. */
typedef struct {
  uint64_t at, asked;
  pid_t program;
  int wake; /* what it waits for */
} ending;

/* A program of two threads that beats, waits, beats again, and ends. */
static ending start_program(const char *path, bool finishes) {
  int begun[2], wake[2];
  char byte = 0;
  cr_assert(pipe(begun) == 0 && pipe(wake) == 0);
  ending e = {.program = fork(), .wake = wake[1]};
  if (e.program == 0) {
    (void)tsanom_heartbeat_init(path, 2, NULL, NULL);
    for (int i = 0; i < EARLIER; i++) (void)tsanom_heartbeat_beat(i % 2, 0);
    (void)!write(begun[1], &byte, 1);
    (void)!read(wake[0], &byte, 1);
    for (int i = 0; i < LATER; i++) (void)tsanom_heartbeat_beat(i % 2, 0);
    if (finishes) (void)tsanom_heartbeat_finish();
    _exit(0);
  }
  cr_assert(read(begun[0], &byte, 1) == 1);
  (void)close(begun[0]);
  (void)close(begun[1]);
  (void)close(wake[0]);
  return e;
}

static void end_program(ending *e) {
  cr_assert(write(e->wake, "", 1) == 1 && close(e->wake) == 0);
  cr_assert(waitpid(e->program, NULL, 0) == e->program);
  e->program = 0;
}

static int32_t poll_of_end(void *user, uint64_t done, uint64_t total) {
  ending *e = user;
  (void)done;
  (void)total;
  if (e->asked++ == e->at && e->program) end_program(e);
  return 0;
}

/* Whatever is read when it ends: its last beats and its end are known. */
static void end_while_reading(bool finishes, bool opened, uint64_t at, bool *asked) {
  const char *path = in_directory("%d.%d.%d", finishes, opened, (int)at);
  ending e = start_program(path, finishes);
  e.at = at;
  tsanom_runs *run = NULL;
  tsanom_exec exec = exec_polled(poll_of_end, &e);
  if (opened) CHECK_STATUS(tsanom_runs_open(path, NULL, NULL, &run), TSANOM_OK);
  CHECK_STATUS(opened ? tsanom_runs_refresh(run, &exec, NULL)
                      : tsanom_runs_open(path, NULL, &exec, &run),
               TSANOM_OK);
  *asked = !e.program;
  if (*asked) {
    const tsanom_hsa_run *beats;
    CHECK_STATUS(tsanom_runs_hsa(run, NULL, &beats), TSANOM_OK);
    cr_assert_eq(beats->state, finishes ? TSANOM_RUN_FINISHED : TSANOM_RUN_KILLED);
    cr_assert(beats->threads[0].beats + beats->threads[1].beats == EARLIER + LATER);
  } else {
    end_program(&e);
  }
  tsanom_runs_destroy(run);
}

Test(runs_refresh, a_program_that_ends_while_it_is_read) {
  for (int way = 0; way < 4; way++) {
    bool asked = true;
    uint64_t at = 0;
    for (; asked; at++) end_while_reading(way & 1, way & 2, at, &asked);
    cr_assert(at > 2, "%d", (int)at);
  }
}
