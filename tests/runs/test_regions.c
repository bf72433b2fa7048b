/* SPDX-License-Identifier: BSD-3-Clause */
/* Events and times of parallel regions, from records that a test writes one by one. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <tsanom/runs.h>
#include <tsanom/speedup.h>
#include <tsanom/spmd.h>
#include <unistd.h>

#include "record/regions.h"
#include "runs/grown_run.h"
#include "support/check.h"
#include "support/random.h"

TestSuite(runs_regions, .init = make_directory, .fini = remove_directory);

/* A run of region events with two places, of thread 0 so far. */
static void create(grown_run *run) {
  grown_create_regions(run, directory, "tsanom places 1\n0\trf\t10\t/a\n1\trc\t20\t/a\n");
}

static uint32_t tag_of(uint32_t kind, uint32_t place) {
  return kind | place << TSN_REGIONS_KIND_BITS | 2u << 16;
}

/* `nanoseconds` of processor time. */
static uint32_t cpu_tag(uint32_t nanoseconds) {
  return TSN_REGIONS_CPU | nanoseconds << 8;
}

/* What comes before the first begin, or lies in an outermost region, is no event. */
Test(runs_regions, an_event_is_an_outermost_region) {
  static const struct {
    uint32_t kind, place;
  } records[] = {{TSN_REGIONS_SHARE, 1}, {TSN_REGIONS_END, 1},   {TSN_REGIONS_SHARE, 1},
                 {TSN_REGIONS_BEGIN, 1}, {TSN_REGIONS_SHARE, 0}, {TSN_REGIONS_BEGIN, 0},
                 {TSN_REGIONS_END, 0},   {TSN_REGIONS_END, 1},   {TSN_REGIONS_SHARE, 0},
                 {TSN_REGIONS_BEGIN, 0}};
  grown_run grown;
  create(&grown);
  for (size_t i = 0; i < sizeof records / sizeof *records; i++) {
    grown_append(&grown, 0, 1000, tag_of(records[i].kind, records[i].place));
  }
  grown_finish(&grown);
  tsanom_runs *run = open_run(directory);
  tsanom_speedup_event event;
  size_t count = 0;
  CHECK_STATUS(
      tsanom_runs_events(run, TSANOM_RUNS_LEVEL_REGIONS, 0, NULL, &event, 1, &count),
      TSANOM_OK);
  cr_assert(count == 1, "%zu events", count);
  cr_assert(event.region == 1 && event.threads == 2);
  cr_assert(fabs(event.end - event.begin - 4e-6) < 1e-12);
  tsanom_runs_destroy(run);
}

/* Tasks lie in regions, and are no events of either level. */
Test(runs_regions, tasks_are_no_events) {
  static const uint32_t kinds[] = {TSN_REGIONS_TASK,  TSN_REGIONS_BEGIN, TSN_REGIONS_TASK,
                                   TSN_REGIONS_SHARE, TSN_REGIONS_WORK,  TSN_REGIONS_END,
                                   TSN_REGIONS_TASK};
  grown_run grown;
  create(&grown);
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    grown_append(&grown, 0, 1000, tag_of(kinds[i], 1));
  }
  grown_finish(&grown);
  tsanom_runs *run = open_run(directory);
  for (int32_t level = 0; level < 2; level++) {
    tsanom_speedup_event event;
    size_t count = 0;
    CHECK_STATUS(tsanom_runs_events(run, level, 0, NULL, &event, 1, &count), TSANOM_OK);
    cr_assert(count == 1 && event.region == 1, "%zu events", count);
  }
  tsn_region_event tasks = tsn_region_decode(tag_of(TSN_REGIONS_TASK, 1));
  cr_assert(tasks.kind == TSN_REGIONS_TASK && tasks.place == 1 && tasks.threads == 2);
  const uint32_t alone =
      (uint32_t)TSN_REGIONS_WORK | 1 << TSN_REGIONS_KIND_BITS | 1 << 16;
  tasks = tsn_region_decode(tag_of(TSN_REGIONS_WORK, 1));
  cr_assert(tasks.kind == TSN_REGIONS_WORK && tasks.threads == 2);
  cr_assert(tsn_region_is_valid(tag_of(TSN_REGIONS_WORK, 1)) &&
            !tsn_region_is_valid(alone));
  tsanom_runs_destroy(run);
}

enum { SEEN_MOST = 16 };

typedef struct {
  tsanom_runs_visit visit[SEEN_MOST];
  size_t count, most;
} seen_visits;

static int32_t see(void *user, const tsanom_runs_visit *visit) {
  seen_visits *seen = user;
  cr_assert(seen->count < seen->most);
  seen->visit[seen->count++] = *visit;
  return seen->count == seen->most;
}

static void check_visit(const seen_visits *seen, size_t i, int32_t kind, int32_t place,
                        int32_t outer, size_t depth) {
  const tsanom_runs_visit *v = &seen->visit[i];
  cr_assert(
      v->kind == kind && v->place == place && v->outer == outer && v->depth == depth,
      "%zu: %d %d %d %zu", i, v->kind, v->place, v->outer, v->depth);
}

/* Ends have their begins, and times of processors are where they belong; the last region is
 * not closed. */
Test(runs_regions, visits_are_walked) {
  grown_run grown;
  create(&grown);
  const uint32_t tags[] = {tag_of(TSN_REGIONS_END, 0),
                           tag_of(TSN_REGIONS_BEGIN, 0),
                           cpu_tag(700),
                           tag_of(TSN_REGIONS_SHARE, 1),
                           tag_of(TSN_REGIONS_TASK, 1),
                           tag_of(TSN_REGIONS_BEGIN, 1),
                           tag_of(TSN_REGIONS_WORK, 1),
                           tag_of(TSN_REGIONS_END, 1),
                           cpu_tag(9000),
                           tag_of(TSN_REGIONS_END, 0),
                           tag_of(TSN_REGIONS_BEGIN, 1)};
  for (size_t i = 0; i < sizeof tags / sizeof *tags; i++) {
    grown_append(&grown, 0, 1000, tags[i]);
  }
  grown_finish(&grown);
  tsanom_runs *run = open_run(directory);
  seen_visits seen = {.most = SEEN_MOST};
  const tsanom_runs_visitor visitor = {see, &seen}, nothing = {0};
  CHECK_STATUS(tsanom_runs_visits(run, 0, NULL, &visitor), TSANOM_OK);
  cr_assert(seen.count == 11, "%zu visits", seen.count);
  check_visit(&seen, 0, TSANOM_RUNS_VISIT_BEGIN, 0, -1, 0);
  check_visit(&seen, 1, TSANOM_RUNS_VISIT_WORK, -1, 0, 1);
  check_visit(&seen, 2, TSANOM_RUNS_VISIT_PART, 1, 0, 1);
  check_visit(&seen, 3, TSANOM_RUNS_VISIT_TASKS, 1, 0, 1);
  check_visit(&seen, 4, TSANOM_RUNS_VISIT_BEGIN, 1, 0, 1);
  check_visit(&seen, 5, TSANOM_RUNS_VISIT_WORK, -1, 1, 2);
  check_visit(&seen, 6, TSANOM_RUNS_VISIT_END, 1, 0, 1);
  check_visit(&seen, 7, TSANOM_RUNS_VISIT_WORK, -1, 0, 1);
  check_visit(&seen, 8, TSANOM_RUNS_VISIT_END, 0, -1, 0);
  check_visit(&seen, 9, TSANOM_RUNS_VISIT_BEGIN, 1, -1, 0);
  check_visit(&seen, 10, TSANOM_RUNS_VISIT_END, 1, -1, 0);
  const tsanom_runs_visit *v = seen.visit;
  cr_assert_float_eq(v[2].cpu_s, 700e-9, 1e-15);
  cr_assert_float_eq(v[8].cpu_s, 9e-6, 1e-15);
  cr_assert(isnan(v[4].cpu_s) && isnan(v[6].cpu_s) && isnan(v[3].cpu_s));
  cr_assert_float_eq(v[8].time - v[8].begin, 8e-6, 1e-12);
  cr_assert(v[8].begin == v[0].time && v[8].is_known && !v[10].is_known &&
            v[10].begin > 0);
  cr_assert(v[8].threads == 2 && v[2].threads == 2 && v[3].threads == 2 && !v[8].is_call);
  seen = (seen_visits){.most = 3};
  CHECK_STATUS(tsanom_runs_visits(run, 0, NULL, &visitor), TSANOM_STOPPED);
  cr_assert(seen.count == 3);
  CHECK_STATUS(tsanom_runs_visits(run, 1, NULL, &visitor), TSANOM_E_INDEX);
  CHECK_STATUS(tsanom_runs_visits(run, 0, NULL, &nothing), TSANOM_E_NULL);
  tsanom_runs_destroy(run);
}

/* Visits of a stream, compared with its records. */
typedef struct {
  const tsanom_runs_stream *record;
  size_t at;
} compared;

static int32_t compare_visit(void *user, const tsanom_runs_visit *v) {
  compared *c = user;
  cr_assert(c->at < c->record->count);
  tsn_region_event event = tsn_region_decode(c->record->tag[c->at]);
  cr_assert(v->time == c->record->time[c->at] && v->place == event.place &&
                v->thread == c->record->thread,
            "visit %zu", c->at);
  c->at++;
  return 0;
}

static int32_t count_visit(void *user, const tsanom_runs_visit *v) {
  (void)v;
  ((compared *)user)->at++;
  return 0;
}

/* Events in pieces of any size are those of the records, two each. */
static void check_pieces(tsanom_runs *run, const tsanom_runs_stream *of, uint64_t *seed) {
  enum { LEVEL = TSANOM_RUNS_LEVEL_REGIONS, MOST = 4000 };
  static tsanom_speedup_event event[MOST];
  size_t all = of->count / 2, count = 0, first = 0;
  CHECK_STATUS(tsanom_runs_events(run, LEVEL, 0, NULL, NULL, 0, &count), TSANOM_OK);
  cr_assert(count == all);
  CHECK_STATUS(tsanom_runs_events(run, LEVEL, 7, NULL, NULL, 0, &count), TSANOM_OK);
  cr_assert(count == (all < 7 ? 0 : all - 7));
  for (int i = 0; first < all || i < 8; i++) {
    size_t capacity = random_between(seed, 0, MOST), left = all - first;
    tsanom_status status = left > capacity ? TSANOM_PARTIAL : TSANOM_OK;
    CHECK_STATUS(tsanom_runs_events(run, LEVEL, first, NULL, event, capacity, &count),
                 status);
    cr_assert(count == (left > capacity ? capacity : left));
    for (size_t k = 0; k < count; k++) {
      const double *time = of->time + 2 * (first + k);
      cr_assert(event[k].begin == time[0] && event[k].end == time[1]);
    }
    first += count;
    if (i < 8) first = random_between(seed, 0, all);
  }
}

/* All visits of thread 0 of `run` are the records of the same run, opened now. */
static void check_long(tsanom_runs *run, size_t records, uint64_t *seed) {
  tsanom_runs *fresh = open_run(directory);
  tsanom_runs_stream own, other;
  compared c = {.record = &other};
  const tsanom_runs_visitor visitor = {compare_visit, &c};
  CHECK_STATUS(tsanom_runs_stream_at(fresh, TSANOM_RUNS_REGIONS, 0, &other), TSANOM_OK);
  cr_assert(other.count == records);
  for (int pass = 0; pass < 2; pass++) {
    c.at = 0;
    CHECK_STATUS(tsanom_runs_visits(run, 0, NULL, &visitor), TSANOM_OK);
    cr_assert(c.at == records, "%zu visits of %zu records", c.at, records);
    check_pieces(run, &other, seed);
    CHECK_STATUS(tsanom_runs_stream_at(run, TSANOM_RUNS_REGIONS, 0, &own), TSANOM_OK);
    cr_assert(own.count == records);
    for (size_t k = 0; k < records; k++) {
      cr_assert(own.time[k] == other.time[k] && own.tag[k] == other.tag[k]);
    }
    cr_assert(describe(run).last_event == own.time[records - 1]);
  }
  tsanom_runs_destroy(fresh);
}

/* Records of a stream are stored up to 4096, and read again of longer ones, in pieces of
 * 1024; where the clock restarted, all are stored. */
Test(runs_regions, long_streams_are_read_again) {
  static const size_t steps[] = {4094, 2, 2, 1022, 1026, 6000, 2};
  uint64_t added, seed = 55;
  size_t records = 2;
  grown_run grown;
  create(&grown);
  grown_append(&grown, 0, 1000, tag_of(TSN_REGIONS_BEGIN, 1));
  grown_append(&grown, 0, 1000, tag_of(TSN_REGIONS_END, 1));
  tsanom_runs *run = open_run(directory);
  for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
    for (size_t i = 0; i < steps[s]; i++) {
      uint32_t kind = i % 2 ? TSN_REGIONS_END : TSN_REGIONS_BEGIN;
      grown_append(&grown, 0, 1000 + s, tag_of(kind, (uint32_t)(i / 2 % 2)));
    }
    records += steps[s];
    CHECK_STATUS(tsanom_runs_refresh(run, NULL, &added), TSANOM_OK);
    cr_assert(added == steps[s]);
    check_long(run, records, &seed);
  }
  grown.now -= UINT64_C(1) << 22;
  grown_append(&grown, 0, 1000, tag_of(TSN_REGIONS_BEGIN, 1));
  grown_append(&grown, 0, 1000, tag_of(TSN_REGIONS_END, 0));
  records += 2;
  tsanom_runs_destroy(run);
  run = open_run(directory);
  tsanom_runs_stream last;
  CHECK_STATUS(tsanom_runs_stream_at(run, TSANOM_RUNS_REGIONS, 0, &last), TSANOM_OK);
  cr_assert(describe(run).restarts == 1 && last.count == records);
  for (size_t k = 1; k < records; k++) cr_assert(last.time[k] >= last.time[k - 1]);
  tsanom_runs_destroy(run);
}

/* A failed refresh changes nothing; a file that changes or is removed is reported. */
Test(runs_regions, long_streams_that_change_are_rejected) {
  seen_visits seen = {.most = SEEN_MOST};
  const tsanom_runs_visitor visitor = {see, &seen};
  uint64_t added;
  grown_run grown;
  create(&grown);
  for (size_t i = 0; i < 9000; i++) {
    grown_append(&grown, 0, 1000, tag_of(i % 2 ? TSN_REGIONS_END : TSN_REGIONS_BEGIN, 1));
  }
  tsanom_runs *run = open_run(directory);
  const char *file = in_directory("regions/heartbeat.00000");
  size_t bytes;
  unsigned char *whole = file_read(file, &bytes);
  whole[4096 + 16 * 8000] ^= 1;
  file_write(file, whole, bytes);
  grown_append(&grown, 0, 1000, tag_of(TSN_REGIONS_BEGIN, 1));
  CHECK_STATUS(tsanom_runs_refresh(run, NULL, &added), TSANOM_OK);
  CHECK_STATUS(tsanom_runs_visits(run, 0, NULL, &visitor), TSANOM_STOPPED);
  compared c = {.record = &(tsanom_runs_stream){.count = 0}};
  const tsanom_runs_visitor counting = {count_visit, &c};
  CHECK_STATUS(tsanom_runs_visits(run, 0, NULL, &counting), TSANOM_E_FORMAT);
  size_t count = 77;
  CHECK_STATUS(
      tsanom_runs_events(run, TSANOM_RUNS_LEVEL_REGIONS, 0, NULL, NULL, 0, &count),
      TSANOM_E_FORMAT);
  cr_assert(count == 77);
  tsanom_runs_stream stream;
  CHECK_STATUS(tsanom_runs_stream_at(run, TSANOM_RUNS_REGIONS, 0, &stream),
               TSANOM_E_FORMAT);
  whole[4096 + 16 * 8000] ^= 1;
  file_write(file, whole, 4096 + 16 * 8500);
  c.at = 0;
  CHECK_STATUS(tsanom_runs_visits(run, 0, NULL, &counting), TSANOM_E_FORMAT);
  cr_assert(unlink(file) == 0);
  CHECK_STATUS(tsanom_runs_visits(run, 0, NULL, &counting), TSANOM_E_IO);
  free(whole);
  tsanom_runs_destroy(run);
}

Test(runs_regions, a_stream_that_cannot_be_read_again_leaves_the_count) {
  grown_run grown;
  create(&grown);
  grown_append(&grown, 0, 1000, tag_of(TSN_REGIONS_BEGIN, 1));
  grown_add_stream(&grown, 1);
  for (size_t i = 0; i < 5000; i++) {
    grown_append(&grown, 1, 1000, tag_of(i % 2 ? TSN_REGIONS_END : TSN_REGIONS_BEGIN, 1));
  }
  tsanom_runs *run = open_run(directory);
  double active;
  size_t count = 77;
  cr_assert(unlink(in_directory("regions/heartbeat.00001")) == 0);
  CHECK_STATUS(tsanom_runs_active(run, 1e-6, NULL, &active, 1, &count), TSANOM_E_IO);
  cr_assert(count == 77);
  tsanom_runs_destroy(run);
}

/* The number of a metric, an exponent and a mantissa; an exponent is no count. */
Test(runs_regions, metrics_are_decoded) {
  const uint32_t metric = TSN_REGIONS_METRIC | TSN_REGIONS_DISK_BYTES << 3;
  tsn_region_event e = tsn_region_decode(metric | 3 << 6 | 5u << 11);
  cr_assert(e.kind == TSN_REGIONS_METRIC && e.place == TSN_REGIONS_DISK_BYTES);
  cr_assert(e.count == 40 && e.cpu_s == 0 && e.threads == 0);
  e = tsn_region_decode(metric | 30 << 6 | 0x1FFFFFu << 11);
  cr_assert(e.count == 0x1FFFFFp30);
  e = tsn_region_decode(metric | TSN_REGIONS_NOT_COUNTED << 6 | 2u << 11);
  cr_assert(isnan(e.count));
}

/* The parts of a region between worksharing constructs are the samples of its time. */
Test(runs_regions, parts_are_samples_of_one_call) {
  enum { PARTS = 20 };
  grown_run grown;
  create(&grown);
  grown_add_stream(&grown, 1);
  for (uint32_t thread = 0; thread < 2; thread++) {
    grown_append(&grown, thread, 1000, tag_of(TSN_REGIONS_BEGIN, 0));
    for (uint32_t i = 0; i < PARTS; i++) {
      /* Two samples in each of 10 batches: a batch is 2000, or 2000 - 200 and + 200. */
      uint32_t more = thread && i % 4 == 0 ? 200 : 0,
               less = thread && i % 4 == 2 ? 200 : 0;
      grown_append(&grown, thread, 1000, cpu_tag(1000 + more - less));
      if (i < PARTS - 1) {
        grown_append(&grown, thread, 1000, tag_of(TSN_REGIONS_SHARE, 1));
      }
    }
    grown_append(&grown, thread, 1000, cpu_tag(PARTS * 1000));
    grown_append(&grown, thread, 1000, tag_of(TSN_REGIONS_END, 0));
  }
  grown_finish(&grown);
  tsanom_runs *run = open_run(directory);
  tsanom_runs_spmd_data spmd;
  CHECK_STATUS(tsanom_runs_spmd(run, NULL, &spmd), TSANOM_OK);
  cr_assert(spmd.data->processes == 2 && spmd.data->regions == 3);
  for (size_t i = 0; i < 6; i += 3) { /* the region; its parts follow it */
    cr_assert_float_eq(spmd.data->time[i], 20e-6, 1e-12);
    cr_assert(spmd.data->metric[i] == 1, "%g calls", spmd.data->metric[i]);
    /* Residuals of 100 ns, half of the difference to the other thread. */
    double expected = sqrt(2.0 * 10 / 9 * 10) * 1e-7;
    cr_assert_float_eq(spmd.data->error[i], expected, 1e-12);
  }
  tsanom_runs_destroy(run);
}

/* Threads 1 and 3 take a tenth longer, on processors of their own. The vital signs lie in
 * the directory of the run or in that of the regions. */
static void check_processors(bool of_run) {
  enum { VISITS = 10, THREADS = 4 };
  grown_run grown;
  create(&grown);
  for (int32_t t = 1; t < THREADS; t++) grown_add_stream(&grown, t);
  for (uint32_t i = 0; i < VISITS * THREADS; i++) {
    uint32_t thread = i % THREADS;
    grown_append(&grown, thread, 1000, tag_of(TSN_REGIONS_BEGIN, 0));
    grown_append(&grown, thread, 1000, cpu_tag(1000 + 100 * (thread % 2)));
    grown_append(&grown, thread, 1000, tag_of(TSN_REGIONS_END, 0));
  }
  grown_finish(&grown);
  if (of_run) (void)snprintf(grown.directory, sizeof grown.directory, "%s", directory);
  for (uint32_t thread = 0; thread < THREADS; thread++) {
    grown.processor = 1 + thread % 2;
    grown_sample(&grown, thread);
  }
  tsanom_runs *run = open_run(directory);
  tsanom_runs_spmd_data spmd;
  CHECK_STATUS(tsanom_runs_spmd(run, NULL, &spmd), TSANOM_OK);
  cr_assert(spmd.data->processes == THREADS && spmd.data->regions == 1);
  for (size_t i = 0; i < THREADS; i++) {
    cr_assert_float_eq(spmd.data->error[i], 0.5e-6, 1e-12);
  }
  tsanom_runs_destroy(run);
}

Test(runs_regions, processors_of_the_run_explain_differences) {
  check_processors(true);
}

Test(runs_regions, processors_of_its_regions_explain_differences) {
  check_processors(false);
}

/* From the first record of any thread to the last. */
Test(runs_regions, the_run_lasts_from_its_first_record_to_its_last) {
  grown_run grown;
  create(&grown);
  grown_add_stream(&grown, 1);
  grown_append(&grown, 1, 5000000, tag_of(TSN_REGIONS_BEGIN, 0));
  grown_append(&grown, 0, 1000, tag_of(TSN_REGIONS_BEGIN, 0));
  grown_append(&grown, 0, 1000, cpu_tag(700));
  grown_append(&grown, 0, 1000, tag_of(TSN_REGIONS_END, 0));
  grown_append(&grown, 1, 1000, cpu_tag(900));
  grown_append(&grown, 1, 1000, tag_of(TSN_REGIONS_END, 0));
  grown_finish(&grown);
  tsanom_runs *run = open_run(directory);
  tsanom_runs_spmd_data spmd;
  CHECK_STATUS(tsanom_runs_spmd(run, NULL, &spmd), TSANOM_OK);
  cr_assert(spmd.data->processes == 2 && spmd.data->regions == 1);
  cr_assert(fabs(spmd.data->elapsed - 5e-6) < 1e-12, "%g s", spmd.data->elapsed);
  cr_assert(fabs(spmd.data->time[0] - 7e-7) < 1e-15);
  cr_assert(fabs(spmd.data->time[1] - 9e-7) < 1e-15);
  tsanom_runs_destroy(run);
}

/* Write the header of a run of one record. */
static void begin_of(grown_run *run, const char *program, uint32_t number) {
  (void)snprintf(run->header.program, sizeof run->header.program, "%s", program);
  run->header.pid = number;
  run->header.start = (uint64_t)number * 1000000000;
  grown_append(run, 0, 1000, tag_of(TSN_REGIONS_BEGIN, 0));
  grown_calibrate(run, number);
}

static void check_begin(const char *program, uint32_t number) {
  tsanom_runs *run = open_run(directory);
  tsanom_runs_info info = describe(run);
  cr_assert_str_eq(info.program, program);
  cr_assert(info.pid == number && info.start == (int64_t)number * 1000000000);
  cr_assert(info.announced == 1 && info.state == TSANOM_RUN_KILLED);
  cr_assert(fabs(info.tick - 1e-9 * number) < 1e-15, "%g", info.tick);
  tsanom_runs_destroy(run);
}

Test(runs_regions, what_began_is_said_by_the_beats_or_else_by_the_regions) {
  grown_run regions, beats;
  create(&regions);
  begin_of(&regions, "regions", 7);
  check_begin("regions", 7);
  grown_create(&beats, directory);
  begin_of(&beats, "beats", 4);
  check_begin("beats", 4);
}
