/* SPDX-License-Identifier: BSD-3-Clause */
/* What two threads did in iterations, beside sums of what a random script wrote. */
#include <math.h>
#include <string.h>
#include <tsanom/runs.h>

#include "record/regions.h"
#include "runs/grown_run.h"
#include "support/check.h"
#include "support/random.h"
#include "support/run_directory.h"

enum { MOST = 40, THREADS = 2, PLACES = 3, KINDS = 4, CLASSES = 3 };

TestSuite(runs_activities, .init = make_directory, .fini = remove_directory);

typedef struct {
  grown_run grown;
  uint64_t seed;
  size_t n;
  double begin[MOST + 1], beat[MOST + 1], processor_s[MOST];
  int32_t class_of[MOST];
  double seconds[2][THREADS][KINDS][PLACES][CLASSES]; /* passed, of processors */
  bool done[2][THREADS][KINDS][PLACES][MOST];
  double worked_s, processors_s;
  double in_regions_s; /* of thread 0, since the last call */
  struct {
    double last, begin,
        processor_s; /* the end of the call before, and what the code between had */
  } call[MOST + 1];
} script;

static void create(script *s) {
  grown_create_regions(&s->grown, directory,
                       "tsanom places 3\n0\trf\t10\t-\t/a\n1\trc\t20\t-\t/a\n"
                       "2\tmc\t31\t-\t/a\tMPI_Send\t1\n");
  grown_add_stream(&s->grown, 1);
}

/* An event after some time; when it was. */
static double event(script *s, uint32_t thread, uint32_t kind, uint32_t place) {
  uint64_t ticks = random_between(&s->seed, 1000, 200000);
  grown_append(&s->grown, thread, ticks,
               kind | place << TSN_REGIONS_KIND_BITS | 2u << 16);
  return (double)s->grown.now * 1e-9;
}

/* Thread, activity and place had `seconds` in iteration i. */
static void expect(script *s, size_t i, int of_processor, uint32_t thread, int what,
                   uint32_t place, double seconds) {
  if (i == s->n) return;
  if (of_processor) s->processor_s[i] += seconds / THREADS;
  if (s->class_of[i] < 0) return;
  s->done[of_processor][thread][what][place][i] = true;
  s->seconds[of_processor][thread][what][place][s->class_of[i]] += seconds;
}

/* The end of a region that began at `begin`; its work took part of it. */
static double end(script *s, size_t i, uint32_t thread, uint32_t place, double begin) {
  double work = event(s, thread, TSN_REGIONS_WORK, place);
  uint32_t had = (uint32_t)((work - begin) * 1e9 * 0.9);
  grown_append(&s->grown, thread, 0, TSN_REGIONS_CPU | had << 8);
  double time = event(s, thread, TSN_REGIONS_END, place);
  expect(s, i, 0, thread, TSANOM_RUNS_ACTIVITY_REGION, place, work - begin);
  expect(s, i, 0, thread, TSANOM_RUNS_ACTIVITY_WAIT, place, time - work);
  expect(s, i, 1, thread, TSANOM_RUNS_ACTIVITY_REGION, place, had * 1e-9);
  s->worked_s += work - begin;
  s->processors_s += had * 1e-9;
  if (!thread) s->in_regions_s += had * 1e-9;
  return time;
}

/* A call behind what ended at `before`. The processor time since the last call comes a moment
 * before it. */
static double call(script *s, size_t i, double before) {
  uint64_t ticks = random_between(&s->seed, 1000, 200000);
  double own = (double)ticks * 0.5e-9;
  uint32_t had = (uint32_t)((s->in_regions_s + own) * 1e9 + 0.5);
  grown_append(&s->grown, 0, ticks, TSN_REGIONS_CPU | had << 8);
  double begin = event(s, 0, TSN_REGIONS_BEGIN, 2),
         time = event(s, 0, TSN_REGIONS_END, 2);
  expect(s, i, 0, 0, TSANOM_RUNS_ACTIVITY_BEFORE, 2, begin - before);
  expect(s, i, 0, 0, TSANOM_RUNS_ACTIVITY_CALL, 2, time - begin);
  s->call[i].begin = begin;
  s->call[i].processor_s = had * 1e-9 - s->in_regions_s;
  if (i < s->n) s->call[i + 1].last = time;
  s->in_regions_s = 0;
  return time;
}

/* The code between two calls is in the iteration that has its middle, or in none. */
static void expect_between_calls(script *s) {
  for (size_t k = 1; k <= s->n; k++) {
    double last = s->call[k].last, begin = s->call[k].begin, middle = (last + begin) / 2;
    size_t i = middle < s->begin[k] ? k - 1 : k;
    if (i == s->n || begin - last > 1.5 * (s->begin[i + 1] - s->begin[i])) continue;
    expect(s, i, 1, 0, TSANOM_RUNS_ACTIVITY_BEFORE, 2, s->call[k].processor_s);
  }
}

/* Iterations of two regions, the first one of a team of two, and a call. Thread 0 beats a little
 * after their begin. */
static void write_run(script *s, size_t n) {
  double before = 0;
  s->n = n;
  for (size_t i = 0; i < n; i++)
    s->class_of[i] = (int32_t)random_between(&s->seed, 0, CLASSES) - 1;
  for (size_t i = 0; i <= n; i++) {
    double first = event(s, 0, TSN_REGIONS_BEGIN, 0);
    double other = event(s, 1, TSN_REGIONS_BEGIN, 0);
    if (i) expect(s, i - 1, 0, 0, TSANOM_RUNS_ACTIVITY_BEFORE, 0, first - before);
    s->begin[i] = first;
    s->beat[i] = first + 0.5 * (other - first);
    (void)end(s, i, 1, 0, other);
    before = end(s, i, 0, 0, first);
    double second = event(s, 0, TSN_REGIONS_BEGIN, 1);
    expect(s, i, 0, 0, TSANOM_RUNS_ACTIVITY_BEFORE, 1, second - before);
    before = call(s, i, end(s, i, 0, 1, second));
  }
  expect_between_calls(s);
  grown_finish(&s->grown);
}

static int32_t take_time(void *user, const tsanom_runs_visit *v) {
  *(double *)user = v->time;
  return 1;
}

static void check_sums(const script *s, const tsanom_runs_loop *loop) {
  double sum[THREADS][KINDS][PLACES][CLASSES] = {0};
  for (size_t k = 0; k < loop->count; k++) {
    const tsanom_runs_activity *a = &loop->activity[k];
    static const char *const names[] = {"a+0x10", "a+0x1f", "MPI_Send in a+0x30"};
    cr_assert(!strcmp(a->name, names[a->place]), "%s", a->name);
    double done[CLASSES] = {0};
    for (size_t i = 0; i < s->n; i++)
      if (s->done[loop->of_processor][a->thread][a->what][a->place][i])
        done[s->class_of[i]]++;
    for (size_t c = 0; c < CLASSES; c++) {
      sum[a->thread][a->what][a->place][c] += a->seconds[c];
      cr_assert(a->iterations[c] == done[c], "%zu: %g, not %g", c, a->iterations[c],
                done[c]);
    }
  }
  const double *found = &sum[0][0][0][0];
  const double *expected = &s->seconds[loop->of_processor][0][0][0][0];
  for (size_t k = 0; k < THREADS * KINDS * PLACES * CLASSES; k++)
    cr_assert(fabs(found[k] - expected[k]) < 1e-9, "%zu: %g, not %g", k, found[k],
              expected[k]);
}

Test(runs_activities, sums_are_those_of_the_script) {
  static script s;
  for (uint64_t round = 0; round < 20; round++) {
    s = (script){.seed = 7 * round + 1};
    create(&s);
    write_run(&s, random_between(&s.seed, 1, MOST));
    tsanom_runs *run = open_run(directory);
    double origin, begin[MOST + 1], processor_s[MOST];
    const tsanom_runs_visitor first = {take_time, &origin};
    CHECK_STATUS(tsanom_runs_visits(run, 0, NULL, &first), TSANOM_STOPPED);
    origin -= s.begin[0];
    for (size_t i = 0; i <= s.n; i++) begin[i] = s.beat[i] + origin;
    tsanom_runs_loop loop = {.iterations = s.n, .begin = begin};
    CHECK_STATUS(tsanom_runs_activities(run, NULL, &loop), TSANOM_OK);
    for (size_t i = 0; i <= s.n; i++)
      cr_assert(fabs(begin[i] - s.begin[i] - origin) < 1e-9, "%zu: %g", i,
                begin[i] - s.begin[i] - origin);
    cr_assert(loop.waited == 0);
    loop.classes = CLASSES;
    for (int what = 0; what < 5; what++) { /* sums by iteration, by class, or both */
      loop.of_processor = what % 2;
      loop.class_of = what < 4 ? s.class_of : NULL;
      loop.processor_s = what < 2 ? NULL : processor_s;
      memset(processor_s, 0xff, sizeof processor_s);
      CHECK_STATUS(tsanom_runs_activities(run, NULL, &loop), TSANOM_OK);
      if (loop.class_of) check_sums(&s, &loop);
      for (size_t i = 0; i < s.n && loop.processor_s; i++)
        cr_assert(fabs(processor_s[i] - s.processor_s[i]) < 1e-9, "%zu: %g, not %g", i,
                  processor_s[i], s.processor_s[i]);
      double waited = loop.processor_s ? s.worked_s / s.processors_s : 0;
      cr_assert(fabs(loop.waited - waited) < 1e-6, "%g", loop.waited);
    }
    tsanom_runs_destroy(run);
    remove_directory();
    make_directory();
  }
}

/* Place 8191 stands for those of which there is no line, and one may be written after places.tsv was
 * read. */
Test(runs_activities, a_place_without_a_line_is_unknown) {
  const uint32_t places[] = {0, 3, TSANOM_RUNS_PLACES_MAX - 1};
  static script s;
  for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
    s = (script){.seed = 1, .n = 1};
    create(&s);
    double begin = event(&s, 0, TSN_REGIONS_BEGIN, places[k]);
    (void)end(&s, 0, 0, places[k] ? 1 : 0, begin);
    (void)event(&s, 0, TSN_REGIONS_BEGIN, places[k]);
    grown_finish(&s.grown);
    tsanom_runs *run = open_run(directory);
    double iteration[] = {0, 1};
    int32_t class_of[] = {0};
    tsanom_runs_loop loop = {
        .iterations = 1, .begin = iteration, .class_of = class_of, .classes = 1};
    CHECK_STATUS(tsanom_runs_activities(run, NULL, &loop), TSANOM_OK);
    cr_assert(loop.count > 0);
    for (size_t i = 0; i < loop.count; i++) {
      const tsanom_runs_activity *a = &loop.activity[i];
      cr_assert_str_eq(a->name, a->place < PLACES ? "a+0x10" : "unknown place");
    }
    tsanom_runs_destroy(run);
    remove_directory();
    make_directory();
  }
}

/* The middle of a region may be in an earlier iteration than that of one in it, which ended
 * before. */
Test(runs_activities, a_region_is_in_the_iteration_of_its_own_middle) {
  enum { ITERATIONS = 4, LENGTH = 1000000 };
  uint64_t seed = 5;
  for (int round = 0; round < 100; round++) {
    uint64_t time[4], had[2]; /* begin of the outer and the inner one, and their ends */
    double processor_s[ITERATIONS], expected[ITERATIONS] = {0}, begin[ITERATIONS + 1];
    grown_run grown;
    for (size_t i = 0; i < 4; i++) time[i] = random_between(&seed, 1, 600000);
    for (size_t i = 1; i < 4; i++) time[i] += time[i - 1];
    had[1] = random_between(&seed, 1, 1000);
    had[0] = had[1] + random_between(&seed, 1, 1000);
    grown_create_regions(&grown, directory, "tsanom places 3\n0\trf\t10\t-\t/a\n");
    for (size_t i = 0; i < 4; i++) {
      if (i >= 2)
        grown_append(&grown, 0, 0, TSN_REGIONS_CPU | (uint32_t)had[i == 2] << 8);
      grown_append(&grown, 0, time[i] - (i ? time[i - 1] : 0),
                   (i < 2 ? TSN_REGIONS_BEGIN : TSN_REGIONS_END) | 2u << 16);
    }
    grown_finish(&grown);
    for (size_t i = 0; i <= ITERATIONS; i++) begin[i] = 1e-9 * (double)(i * LENGTH);
    for (size_t k = 0; k < 2; k++) {
      double from = (double)time[k], to = (double)time[3 - k];
      size_t i = (size_t)((from + to) / 2 / LENGTH);
      if (to - from > 1.5 * LENGTH) continue;
      expected[i] += 1e-9 * (double)(k ? had[1] : had[0] - had[1]);
    }
    tsanom_runs *run = open_run(directory);
    tsanom_runs_loop loop = {
        .iterations = ITERATIONS, .begin = begin, .processor_s = processor_s};
    CHECK_STATUS(tsanom_runs_activities(run, NULL, &loop), TSANOM_OK);
    for (size_t i = 0; i < ITERATIONS; i++)
      cr_assert(fabs(processor_s[i] - expected[i]) < 1e-12, "%d: %zu: %g, not %g", round,
                i, processor_s[i], expected[i]);
    tsanom_runs_destroy(run);
    remove_directory();
    make_directory();
  }
}

Test(runs_activities, invalid_input_is_rejected) {
  static script s;
  s = (script){.seed = 3};
  create(&s);
  write_run(&s, 4);
  tsanom_runs *run = open_run(directory);
  double begin[5] = {0, 1, 2, 3, 4};
  int32_t class_of[4] = {0, -1, 1, 2};
  tsanom_runs_loop loop = {.begin = begin, .class_of = class_of, .classes = 2};
  CHECK_STATUS(tsanom_runs_activities(run, NULL, &loop), TSANOM_E_COUNT);
  loop.iterations = 4;
  CHECK_STATUS(tsanom_runs_activities(run, NULL, &loop), TSANOM_E_INDEX);
  class_of[3] = -2;
  CHECK_STATUS(tsanom_runs_activities(run, NULL, &loop), TSANOM_E_INDEX);
  class_of[3] = 1;
  CHECK_STATUS(tsanom_runs_activities(run, NULL, &loop), TSANOM_OK);
  loop.classes = 0;
  CHECK_STATUS(tsanom_runs_activities(run, NULL, &loop), TSANOM_E_COUNT);
  begin[2] = 0;
  CHECK_STATUS(tsanom_runs_activities(run, NULL, &loop), TSANOM_E_ORDER);
  begin[2] = NAN;
  CHECK_STATUS(tsanom_runs_activities(run, NULL, &loop), TSANOM_E_NONFINITE);
  loop.begin = NULL;
  CHECK_STATUS(tsanom_runs_activities(run, NULL, &loop), TSANOM_E_NULL);
  tsanom_runs_destroy(run);
}
