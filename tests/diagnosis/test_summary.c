/* SPDX-License-Identifier: BSD-3-Clause */
/* Summaries: what a page begins with, and that any page fits. */
#include <criterion/criterion.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "scripted.h"
#include "support/allocator.h"
#include "support/check.h"
#include "support/random.h"

enum { LINES = 24, COLUMNS = 100, PAGE_BYTES = 8192 };

static const char *const busy[] = {"cccccccccccccccccccc", "cccccccccccccccccccc"};
static const char *const asleep[] = {"cccccccccc----------", "cccccccccc----------"};

/* Runs are larger than a stack should be. */
static scripted_run r;

static tsanom_diagnosis_summary summary_of(const char *const *scripts) {
  tsanom_diagnosis_summary s = {.path = "run"};
  scripted_make(&r, scripts, 2, 100, 0.1);
  CHECK_STATUS(tsanom_diagnosis_summarize(&r.run, -1, -1, NULL, 0, NULL, &s), TSANOM_OK);
  return s;
}

static void expect_answer(const tsanom_diagnosis_summary *s, int32_t answer,
                          int32_t alarm, const char *verdict) {
  char text[PAGE_BYTES];
  int32_t found, alarms;
  CHECK_STATUS(tsanom_diagnosis_summary_answer(s, &found, &alarms), TSANOM_OK);
  CHECK_STATUS(tsanom_diagnosis_summary_text(s, TSANOM_DIAGNOSIS_SUMMARY_VERDICT, text,
                                             sizeof text, NULL),
               TSANOM_OK);
  cr_assert_str_eq(text, verdict);
  cr_assert(found == answer && alarms == alarm, "%d %d", found, alarms);
}

static int32_t alarm_of(const tsanom_diagnosis_summary *s) {
  int32_t answer, alarm;
  CHECK_STATUS(tsanom_diagnosis_summary_answer(s, &answer, &alarm), TSANOM_OK);
  return alarm;
}

static void expect_part(const tsanom_diagnosis_summary *s, int32_t part,
                        const char *expected) {
  char text[PAGE_BYTES];
  CHECK_STATUS(tsanom_diagnosis_summary_text(s, part, text, sizeof text, NULL),
               TSANOM_OK);
  cr_assert_str_eq(text, expected);
}

static void expect_next(const tsanom_diagnosis_summary *s, const char *next) {
  expect_part(s, TSANOM_DIAGNOSIS_SUMMARY_NEXT, next);
}

/* The page, which must fit, begin with the verdict and end with what to do next. */
static const char *page_of(const tsanom_diagnosis_summary *s) {
  static char text[PAGE_BYTES];
  size_t lines = 0, length;
  CHECK_STATUS(tsanom_diagnosis_summary_text(s, TSANOM_DIAGNOSIS_SUMMARY_PAGE, text,
                                             sizeof text, &length),
               TSANOM_OK);
  cr_assert_eq(length, strlen(text));
  for (const char *line = text; *line; line = strchr(line, '\n') + 1, lines++) {
    size_t columns = 0;
    for (const char *c = line; *c != '\n'; c++) columns += (*c & 0xC0) != 0x80;
    cr_assert(columns <= COLUMNS, "%zu columns: %s", columns, text);
  }
  cr_assert(lines <= LINES, "%zu lines:\n%s", lines, text);
  cr_assert(strstr(text, "\nnext         "), "%s", text);
  return text;
}

/* Give a summary slow iterations, `count` of 200 from `first` on. */
static tsanom_diagnosis_slow planted;

static void plant(tsanom_diagnosis_summary *s, int32_t kind, uint64_t first,
                  uint64_t count, double ratio) {
  planted = (tsanom_diagnosis_slow){.kind = kind,
                                    .rank = -1,
                                    .thread = -1,
                                    .first = first,
                                    .last = first + count - 1,
                                    .count = count,
                                    .iterations = 200,
                                    .place_low = TSANOM_NONE,
                                    .place_high = TSANOM_NONE,
                                    .range = {{first, first + count - 1}},
                                    .ranges = 1,
                                    .ratio = ratio,
                                    .low = NAN,
                                    .high = NAN};
  s->slow = &planted;
  s->slow_count = s->slow_capacity = s->searched = 1;
}

Test(diagnosis_summary, of_a_run_in_which_nothing_is_wrong) {
  tsanom_diagnosis_summary s = summary_of(busy);
  cr_assert(s.runs == 1 && s.ended == 1 && s.threads == 2 && s.iterations == 200 &&
            s.accounted == 1 && s.rank == -1 && isnan(s.peak));
  cr_assert(fabs(s.iteration_s - 0.01) < 1e-12 && fabs(s.seconds - 2) < 1e-12);
  expect_answer(&s, TSANOM_DIAGNOSIS_QUIET, 0,
                "The program ended normally after 2 s: 200 iterations of 10 ms.");
  s.searched = 1;
  s.team.processes = 2;
  expect_answer(&s, TSANOM_DIAGNOSIS_QUIET, 0,
                "The program ended normally after 2 s: 200 iterations of 10 ms, none of "
                "them slow; its 2 threads do the same.");
  expect_next(&s, "tsanom compare --against OTHER-RUN run");
  const char *text = page_of(&s);
  cr_assert(strstr(text, "\ntime         of 2 s 2 s on a processor, 0 s ready"), "%s",
            text);
  cr_assert(strstr(text, "\nthreads      2, which do not differ"), "%s", text);
}

/* What a program did before its run began is counted and said, unless it is short. */
Test(diagnosis_summary, of_a_run_that_began_late) {
  for (int way = 0; way < 4; way++) {
    const double before[] = {0, .49, .51, 4.1};
    tsanom_diagnosis_summary s = {.path = "run"};
    scripted_make(&r, busy, 2, 100, 0.1);
    r.run.before_s = before[way];
    CHECK_STATUS(tsanom_diagnosis_summarize(&r.run, -1, -1, NULL, 0, NULL, &s),
                 TSANOM_OK);
    cr_assert(s.before_s == before[way] && fabs(s.seconds - 2) < 1e-12);
    expect_answer(
        &s, TSANOM_DIAGNOSIS_QUIET, 0,
        way == 3   ? "The program ended normally after 6.1 s (recorded: the last 2 "
                     "s): 200 iterations of 10 ms."
        : way == 2 ? "The program ended normally after 2.51 s (recorded: the last 2 s): "
                     "200 iterations of 10 ms."
                   : "The program ended normally after 2 s: 200 iterations of 10 ms.");
    cr_assert(!strstr(page_of(&s), "normally, after 2 s;") == (way > 1));
  }
}

/* What recurs from the begin to the end, and computes, is no alarm, but said; from the middle on, or
 * asleep, it is one. */
Test(diagnosis_summary, of_a_run_whose_work_recurs) {
  static const char *const said = "9 of 200 iterations (every 20";
  for (int way = 0; way < 3; way++) {
    tsanom_diagnosis_summary s = summary_of(busy);
    plant(&s, TSANOM_DIAGNOSIS_SLOW_RECURRING, way == 1 ? 99 : 19, 9, 5);
    planted.last = 179;
    planted.period = 20;
    planted.lost_s = 0.4;
    planted.reason =
        way == 2 ? TSANOM_DIAGNOSIS_REASON_BLOCKED : TSANOM_DIAGNOSIS_REASON_WORK;
    int32_t answer, alarm;
    CHECK_STATUS(tsanom_diagnosis_summary_answer(&s, &answer, &alarm), TSANOM_OK);
    cr_assert(alarm == (way > 0) && (answer == TSANOM_DIAGNOSIS_SLOW) == (way > 0));
    const char *page = page_of(&s), *at = strstr(page, said);
    cr_assert(at && at < strstr(page, "\n\n"), "%s", page);
  }
}

Test(diagnosis_summary, of_a_program_that_failed) {
  tsanom_diagnosis_summary s = summary_of(busy);
  s.exit_code = 3;
  expect_answer(&s, TSANOM_DIAGNOSIS_ENDED, 1,
                "The program exited with status 3 after 2 s.");
  s.exit_code += TSANOM_EXIT_INSIDE;
  expect_answer(&s, TSANOM_DIAGNOSIS_ENDED, 1,
                "The program exited inside a parallel region with status 3 after 2 s.");
  s.exit_code = -SIGSEGV;
  s.state = TSANOM_RUN_KILLED;
  expect_answer(&s, TSANOM_DIAGNOSIS_ENDED, 1,
                "The program was killed by signal 11 (SIGSEGV) after 2 s.");
  expect_next(&s, "tsanom rate --vitals run");
  s.iterations = 0;
  expect_next(&s, "read what the program printed; a recording does not have it");
}

/* Thread 1 stops after half of the time; the program still runs, or was killed then. */
Test(diagnosis_summary, of_a_program_that_hangs) {
  const int32_t states[] = {TSANOM_RUN_RUNNING, TSANOM_RUN_KILLED};
  for (int i = 0; i < 2; i++) {
    tsanom_diagnosis_summary s = {.path = "run"};
    scripted_make(&r, asleep, 2, 100, 0.1);
    r.series[0].beats = 101;
    r.series[1].beats = 100;
    r.run.state = states[i];
    r.run.exit_code = i ? -SIGTERM : 0;
    r.run.end = 20;
    CHECK_STATUS(tsanom_diagnosis_summarize(&r.run, -1, -1, NULL, 0, NULL, &s),
                 TSANOM_OK);
    cr_assert(s.finding.cause == TSANOM_HSA_HANG && s.finding.thread == 1);
    char text[PAGE_BYTES];
    CHECK_STATUS(tsanom_diagnosis_summary_text(&s, TSANOM_DIAGNOSIS_SUMMARY_VERDICT, text,
                                               sizeof text, NULL),
                 TSANOM_OK);
    const char *begin =
        i ? "The program was killed by signal 15 (SIGTERM) after 20 s; hang "
            "in thread 1: the thread has made no beat for 19 s"
          : "The program has run for 20 s and hangs; hang in thread 1: ";
    cr_assert(!strncmp(text, begin, strlen(begin)), "%s", text);
    expect_next(&s, i ? "see where thread 1 waits or loops, with a debugger (gdb -p PID)"
                      : "tsanom watch run");
    (void)page_of(&s);
  }
  scripted_make(&r, busy, 2, 100, 0.1);
  r.run.state = TSANOM_RUN_RUNNING;
  tsanom_diagnosis_summary s = {.path = "run"};
  CHECK_STATUS(tsanom_diagnosis_summarize(&r.run, -1, -1, NULL, 0, NULL, &s), TSANOM_OK);
  expect_answer(
      &s, TSANOM_DIAGNOSIS_QUIET, 0,
      "The program has run for 2 s and makes progress: 200 iterations of 10 ms.");
  s.silent_s = 1.4;
  expect_answer(
      &s, TSANOM_DIAGNOSIS_QUIET, 0,
      "The program has run for 2 s and continues, without an iteration for 1.4 s: 200 "
      "iterations of 10 ms.");
}

/* The time since the last beat of a run that has not ended. */
Test(diagnosis_summary, of_a_program_that_is_stopped) {
  static const char *const stopped[] = {"cccccccc------------", "cccccccc------------"};
  for (size_t beats = 80; beats <= 100; beats += 20) {
    tsanom_diagnosis_summary s = {.path = "run"};
    scripted_make(&r, stopped, 2, 100, 0.1);
    r.series[0].beats = r.series[1].beats = beats;
    r.run.state = TSANOM_RUN_RUNNING;
    CHECK_STATUS(tsanom_diagnosis_summarize(&r.run, -1, -1, NULL, 0, NULL, &s),
                 TSANOM_OK);
    double last = r.series[0].time[beats - 1];
    cr_assert(fabs(s.silent_s - (2 - last)) < 0.1, "%g %g", s.silent_s, last);
  }
}

Test(diagnosis_summary, time_in_which_nobody_ran_or_had_a_processor) {
  static const char *const waiting[] = {"crcrcrcrcrcrcrcrcrcr", "crcrcrcrcrcrcrcrcrcr"};
  tsanom_diagnosis_summary s = summary_of(asleep);
  expect_answer(&s, TSANOM_DIAGNOSIS_NOBODY, 0,
                "The program ended normally after 2 s; nobody ran for 1 of 2 s: asleep, "
                "blocked or stopped.");
  expect_next(&s, "tsanom rate --cpu run");
  s.children_s = 0.09;
  expect_next(&s, "tsanom rate --cpu run");
  s.children_s = 0.1;
  expect_answer(
      &s, TSANOM_DIAGNOSIS_NOBODY, 0,
      "The program ended normally after 2 s; of 2 s it rested for 1 s, in which "
      "processes that it started took 0.1 s of processor time, and are not "
      "recorded.");
  expect_next(&s, "tsanom record -o OTHER-RUN -- PROGRAM, of a process that took long");
  s = summary_of(waiting);
  expect_answer(
      &s, TSANOM_DIAGNOSIS_READY, 0,
      "The program ended normally after 2 s; work was ready without a processor "
      "for 1 of 2 s.");
  tsanom_diagnosis_window *whole = &s.ledger.window[0];
  whole->nobody_s = 0.12;
  whole->cpu_s -= 0.12;
  expect_answer(
      &s, TSANOM_DIAGNOSIS_NOBODY, 0,
      "The program ended normally after 2 s; nobody ran for 0.12 of 2 s: asleep, "
      "blocked or stopped; for 1 s work was ready without a processor.");
  /* Less than a tenth of the other time, or than 5 % of the run. */
  for (int i = 0; i < 2; i++) {
    whole->nobody_s = i ? 0.09 : 0.08;
    whole->ready_s = i ? 1.8 : 1;
    expect_next(&s, "tsanom rate --cpu run");
    cr_assert(strstr(page_of(&s), "after 2 s; work was ready without a processor for"));
  }
}

/* Processor time of the process before each sample; none: it is not known. */
static double busy_s[64];

static tsanom_diagnosis_summary summarize_memory(const double *bytes, size_t count) {
  tsanom_hsa_vital vital[64];
  tsanom_diagnosis_summary s = {.path = "run"};
  double cpu_s = 0, most = 0;
  scripted_make(&r, busy, 2, 100, 0.1);
  for (size_t i = 0; i < count; i++) {
    most = fmax(most, bytes[i]);
    vital[i] = (tsanom_hsa_vital){.time = 2.0 * (double)i / (double)count,
                                  .cpu_s = cpu_s += busy_s[i],
                                  .anonymous = bytes[i],
                                  .resident = bytes[i] + (1 << 20),
                                  .thread = TSANOM_HSA_PROCESS};
  }
  r.run.vital = vital;
  r.run.vital_count = count;
  CHECK_STATUS(tsanom_diagnosis_summarize(&r.run, -1, -1, NULL, 0, NULL, &s), TSANOM_OK);
  cr_assert(s.peak == most + (1 << 20) && s.growth >= 0);
  r.run.peak = 2 * most;
  tsanom_diagnosis_summary with_peak = {.path = "run"};
  CHECK_STATUS(tsanom_diagnosis_summarize(&r.run, -1, -1, NULL, 0, NULL, &with_peak),
               TSANOM_OK);
  cr_assert(with_peak.peak == fmax(2 * most, s.peak));
  for (int32_t state = TSANOM_RUN_FINISHED; state <= TSANOM_RUN_RUNNING; state++) {
    with_peak.state = state;
    bool is_least = strstr(page_of(&with_peak), "peak at least ") != NULL;
    cr_assert(is_least == (state != TSANOM_RUN_FINISHED));
  }
  r.run.peak = 0;
  return s;
}

/* Whether memory grows that does so by `step` bytes in each sample but some. */
static bool is_growing(double step, size_t from, size_t until) {
  double bytes[64], now = 32 << 20;
  for (size_t i = 0; i < 64; i++) bytes[i] = now += i >= from && i < until ? 0 : step;
  tsanom_diagnosis_summary s = summarize_memory(bytes, 64);
  int32_t answer, alarm;
  CHECK_STATUS(tsanom_diagnosis_summary_answer(&s, &answer, &alarm), TSANOM_OK);
  cr_assert(alarm == s.grows && (answer == TSANOM_DIAGNOSIS_GROWS) == s.grows);
  cr_assert(!s.grows || strstr(page_of(&s), "s; memory grows until the end, by"));
  return s.grows;
}

Test(diagnosis_summary, memory_that_grows_until_the_end) {
  cr_assert(is_growing(1 << 20, 0, 0) && is_growing(1 << 20, 0, 16));
  cr_assert(is_growing(1 << 20, 0, 32) && !is_growing(1 << 20, 0, 48));
  cr_assert(!is_growing(1 << 20, 38, 56) && !is_growing(0, 0, 0));
  /* What waits for a processor does not grow. */
  for (size_t i = 0; i < 64; i++) busy_s[i] = i >= 38 && i < 56 ? 0 : 1;
  cr_assert(is_growing(1 << 20, 38, 56));
  memset(busy_s, 0, sizeof busy_s);
  /* Less than 3 MiB, and less than a tenth. */
  cr_assert(!is_growing(1 << 15, 0, 0) && !is_growing(72 << 10, 0, 0));
}

/* It grows with the processor time, of which the first fifth of the beats has more than half: what the
 * page says is less than a tenth of the peak, or more. */
Test(diagnosis_summary, growth_that_is_said_is_a_tenth) {
  for (int is_tenth = 0; is_tenth < 2; is_tenth++) {
    double bytes[64], now = (is_tenth ? 24 : 48) << 20;
    for (size_t i = 0; i < 64; i++) {
      busy_s[i] = i < 13 ? 4 : 1;
      bytes[i] = now += busy_s[i] * (84 << 10);
    }
    cr_assert(summarize_memory(bytes, 64).grows == is_tenth);
  }
}

/* Memory of iterations that hold `temporary` bytes for a part of their time: of samples that
 * meet them anywhere. */
static void add_temporary(double *bytes, size_t count, double temporary, uint64_t *seed) {
  double period = 0.005 + 0.15 * random_unit(seed), part = 0.05 + 0.9 * random_unit(seed);
  for (size_t i = 0; i < count; i++) {
    double iteration = (double)i / (double)(count - 1) / period + random_unit(seed) / 4;
    if (iteration - floor(iteration) < part) bytes[i] += temporary;
  }
}

enum { LEAK, LATE_LEAK, SATURATES, ONLY_TEMPORARY, COLLECTED, STEPS, MEMORIES };

/* In MiB, at a share of the time. */
static double memory_at(int kind, double share, double base, double size, double shape) {
  switch (kind) {
    case LEAK:
      return base + size * share;
    case LATE_LEAK:
      return base + size * fmax(0, 2 * share - 1);
    case SATURATES:
      return base + size * (1 - exp(-share / (0.01 + 0.15 * shape)));
    case COLLECTED:
      return base + size * fmod(share / (0.03 + 0.3 * shape), 1);
    case STEPS:
      return base + size * (share > shape) + size / 2 * (share > 0.3);
    default:
      return base;
  }
}

/* The share of the processor time at a sample: of short runs most are taken at the beginning. */
static double share_at(size_t i, size_t count, bool is_short) {
  return pow((double)i / (double)(count - 1), is_short ? 2.5 : 1);
}

/* Random programs of 13 to 64 samples with temporary memory, and short ones of 9 to 13, whose few
 * samples of the last half do not show a leak that begins there. */
static void name_growth(bool is_short) {
  enum { TRIALS = 400 };
  uint64_t seed = 7;
  for (int kind = 0; kind < MEMORIES; kind++) {
    size_t named = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
      double bytes[64], base = 20 + 180 * random_unit(&seed), shape = random_unit(&seed);
      double size = base * (0.3 + 2 * random_unit(&seed)), before = 0;
      size_t count =
          is_short ? random_between(&seed, 9, 13) : random_between(&seed, 13, 64);
      for (size_t i = 0; i < count; i++) {
        double share = share_at(i, count, is_short);
        bytes[i] = 1048576 * memory_at(kind, share, base, size, shape);
        busy_s[i] = share - before;
        before = share;
      }
      bool is_leak = kind == LEAK || kind == LATE_LEAK;
      double most = kind == ONLY_TEMPORARY ? 4 : is_short && is_leak ? 0 : 1;
      add_temporary(bytes, count, 1048576 * size * most * random_unit(&seed), &seed);
      named += (size_t)summarize_memory(bytes, count).grows;
    }
    bool is_named = kind == LEAK || (kind == LATE_LEAK && !is_short);
    cr_assert(is_named ? 10 * named >= 8 * TRIALS : 100 * named <= TRIALS,
              "kind %d: %zu of %d", kind, named, TRIALS);
  }
}

Test(diagnosis_summary, temporary_memory_does_not_hide_growth_nor_look_like_it) {
  name_growth(false);
}

Test(diagnosis_summary, growth_of_short_runs) {
  name_growth(true);
}

/* Four threads in two regions, the second one within the first. */
static const double times[] = {10, 4, 10, 4, 16, 10, 10, 4};
static const int32_t parents[] = {-1, 0};

enum { THREADS_MOST = 12, REGIONS_MOST = 2 };

static void compare_visits(tsanom_diagnosis_summary *s, size_t threads, size_t regions,
                           const int32_t *parent, const double *time,
                           const double *visits, double elapsed) {
  int32_t class_of[THREADS_MOST];
  tsanom_spmd_region region[REGIONS_MOST];
  tsanom_spmd_data data;
  tsanom_spmd_report report;
  data = (tsanom_spmd_data){.struct_size = sizeof data};
  report = (tsanom_spmd_report){.struct_size = sizeof report};
  data.processes = threads;
  data.regions = regions;
  data.parent = parent;
  data.time = time;
  data.elapsed = elapsed;
  data.metrics = visits != NULL;
  data.metric = visits;
  report.class_of = class_of;
  report.region = region;
  cr_assert(tsanom_spmd_analyze(&data, NULL, NULL, &report) >= 0);
  CHECK_STATUS(tsanom_diagnosis_summarize_team(&data, &report, s), TSANOM_OK);
}

static void compare_threads(tsanom_diagnosis_summary *s, size_t threads, size_t regions,
                            const int32_t *parent, const double *time, double elapsed) {
  compare_visits(s, threads, regions, parent, time, NULL, elapsed);
}

static void compare_regions(tsanom_diagnosis_summary *s, const int32_t *parent,
                            const double *time, double elapsed) {
  compare_threads(s, 4, 2, parent, time, elapsed);
}

static void compare(tsanom_diagnosis_summary *s, const double *time, double elapsed) {
  compare_regions(s, parents, time, elapsed);
}

/* Different threads are late in two regions: without the elapsed time, all wait after each. */
Test(diagnosis_summary, what_balance_saves) {
  static const double late[] = {10, 8, 10, 4, 16, 4, 10, 4};
  static const int32_t flat[] = {-1, -1};
  tsanom_diagnosis_summary s = {.path = "run"};
  compare_regions(&s, flat, late, 0);
  cr_assert(s.team.members && fabs(s.team.saved_s - 7.5) < 1e-12);
  compare_regions(&s, flat, late, 40);
  cr_assert(s.team.members && fabs(s.team.saved_s - 3.5) < 1e-12);
}

/* Kinds that no region explains, as each has a little of the difference: of 3 + 3 and 4 + 5. */
Test(diagnosis_summary, a_thread_that_takes_longer_everywhere) {
  static const double time[] = {3, 3, 9, 4, 5, 9}, error[] = {0.3, 0.4, 9, 0.6, 0.8, 9};
  static const int32_t parent[] = {-1, -1, 1}, class_of[] = {0, 1};
  tsanom_spmd_region region[] = {{.level = 1}, {.level = 1}, {.level = 2}};
  tsanom_spmd_data data = {.struct_size = sizeof data};
  tsanom_spmd_report report = {.struct_size = sizeof report};
  tsanom_diagnosis_summary s = summary_of(busy);
  data.processes = 2;
  data.regions = 3;
  data.parent = parent;
  data.time = time;
  data.error = error;
  report.classes = 2;
  report.class_of = (int32_t *)class_of;
  report.region = region;
  report.verdict_region = TSANOM_SPMD_NONE;
  report.verdict_class = 1;
  report.region_total = 9;
  report.mean_total = 7.5;
  CHECK_STATUS(tsanom_diagnosis_summarize_team(&data, &report, &s), TSANOM_OK);
  cr_assert(s.team.members == 1 && s.team.first == 1 && s.team.region == TSANOM_NONE);
  double least = s.team.ratio - s.team.half_width, gap = 9 - 6 * least;
  cr_assert(fabs(s.team.ratio - 1.5) < 1e-12 && least > 1);
  cr_assert(fabs(gap * gap - 4 * (1 + 0.25 * least * least)) < 1e-12);
  expect_answer(&s, TSANOM_DIAGNOSIS_TEAM, 1,
                "The program ended normally after 2 s; thread 1 takes 1.5 (1.12 to 1.88) "
                "times as long as the other, and ideal balance would save 1.5 s.");
  /* An interval from 0.9 on names nobody. */
  static const double wide[] = {0.3, 0.9, 9, 0.6, 1.8, 9};
  data.error = wide;
  CHECK_STATUS(tsanom_diagnosis_summarize_team(&data, &report, &s), TSANOM_OK);
  cr_assert(s.team.processes == 2 && s.team.members == 0);
}

/* Members are named if they take longer than the others by twice the standard error of the
 * difference, also where the others hardly work and their time is known by 1000 % only. */
Test(diagnosis_summary, the_difference_decides_whether_members_take_longer) {
  enum { TRIALS = 2000, MOST = 5 };
  static const int32_t parent[] = {-1};
  uint64_t seed = 17;
  int named = 0;
  for (int i = 0; i < TRIALS; i++) {
    double time[MOST], error[MOST], mean[2] = {0, 0}, square[2] = {0, 0}, most = 0;
    int32_t class_of[MOST];
    size_t processes = random_between(&seed, 2, MOST);
    size_t slow = random_between(&seed, 1, processes - 1);
    double little = pow(10, -4 * random_unit(&seed)), extra = 2 * random_unit(&seed);
    for (size_t k = 0; k < processes; k++) {
      class_of[k] = k < slow;
      double members = (double)(class_of[k] ? slow : processes - slow);
      time[k] = little + class_of[k] * extra;
      error[k] = random_unit(&seed) * (1 + 9 * random_unit(&seed) * little);
      mean[class_of[k]] = time[k];
      square[class_of[k]] += error[k] * error[k] / members / members;
      most = fmax(most, time[k]);
    }
    tsanom_spmd_region region = {.level = 1};
    tsanom_spmd_data data = {.struct_size = sizeof data,
                             .processes = processes,
                             .regions = 1,
                             .parent = parent,
                             .time = time,
                             .error = error};
    tsanom_spmd_report report = {.struct_size = sizeof report,
                                 .classes = 2,
                                 .class_of = class_of,
                                 .region = &region,
                                 .verdict_class = 1,
                                 .region_total = most};
    tsanom_diagnosis_summary s = summary_of(busy);
    CHECK_STATUS(tsanom_diagnosis_summarize_team(&data, &report, &s), TSANOM_OK);
    double away = (mean[1] - mean[0]) / 2 / sqrt(square[0] + square[1]);
    if (fabs(away - 1) < 1e-9) continue;
    cr_assert((s.team.members > 0) == (away > 1), "%d: %g", i, away);
    named += s.team.members > 0;
  }
  cr_assert(named > TRIALS / 4 && named < TRIALS * 3 / 4, "%d", named);
}

/* The interval around the ratio of an outermost region contains 1, that of the inner one in it
 * does not, or is not known. */
Test(diagnosis_summary, the_interval_of_an_inner_region) {
  static const double time[] = {10, 4, 20, 14};
  static const int32_t parent[] = {-1, 0}, class_of[] = {0, 1};
  tsanom_spmd_region region[] = {{.level = 1}, {.level = 2}};
  tsanom_spmd_data data = {.struct_size = sizeof data};
  tsanom_spmd_report report = {.struct_size = sizeof report};
  tsanom_diagnosis_summary s = summary_of(busy);
  data.processes = data.regions = 2;
  data.parent = parent;
  data.time = time;
  report.classes = 2;
  report.class_of = (int32_t *)class_of;
  report.region = region;
  report.verdict_region = 1;
  report.verdict_class = 1;
  report.region_total = 20;
  report.mean_total = 15;
  for (int i = 0; i < 2; i++) {
    const double error[] = {9, i ? NAN : 0.1, 9, i ? NAN : 0.1};
    data.error = error;
    CHECK_STATUS(tsanom_diagnosis_summarize_team(&data, &report, &s), TSANOM_OK);
    cr_assert(s.team.members == (i ? 0 : 1));
    cr_assert(i || (s.team.region == 1 && fabs(s.team.ratio - 3.5) < 1e-12));
  }
}

/* ---- what a slower processor may explain */

enum { MEMBERS = 4, REGIONS = 8 };

/* Times of member 0, who takes factor[k] times as long in region k, and of others. */
static tsanom_diagnosis_summary of_factors(size_t members, const double *share,
                                           const double *factor, size_t regions) {
  double time[MEMBERS * REGIONS], most = 0, sum = 0;
  int32_t parent[REGIONS], class_of[MEMBERS] = {0, 1, 1, 1};
  tsanom_spmd_region region[REGIONS];
  tsanom_spmd_data data = {.struct_size = sizeof data};
  tsanom_spmd_report report = {.struct_size = sizeof report};
  tsanom_diagnosis_summary s = summary_of(busy);
  size_t worst = 0;
  for (size_t i = 0; i < members; i++) {
    double total = 0;
    for (size_t k = 0; k < regions; k++) {
      total += time[i * regions + k] = share[k] * (i ? 1 : factor[k]);
    }
    sum += total;
    most = fmax(most, total);
  }
  for (size_t k = 0; k < regions; k++) {
    parent[k] = TSANOM_SPMD_NONE;
    region[k] = (tsanom_spmd_region){.level = 1};
    double excess = share[k] * (factor[k] - 1);
    if (excess > share[worst] * (factor[worst] - 1)) worst = k;
  }
  data.processes = members;
  data.regions = regions;
  data.parent = parent;
  data.time = time;
  report.classes = 2;
  report.class_of = class_of;
  report.region = region;
  report.verdict_region = (int32_t)worst;
  report.verdict_class = 0;
  report.region_total = most;
  report.mean_total = sum / (double)members;
  CHECK_STATUS(tsanom_diagnosis_summarize_team(&data, &report, &s), TSANOM_OK);
  cr_assert(s.team.members == 1 && s.team.first == 0 && s.team.processor_s >= 0 &&
            s.team.processor_s <= s.team.saved_s * (1 + 1e-12));
  s.ledger.window[0].wall_s = most;
  s.ledger.window[0].ready_s = 0;
  return s;
}

/* Of two, a factor up to 1.35 in all regions is that of a processor, whatever their times; more
 * time in one of them is not. Of four, of which three are equal, it is not either. */
Test(diagnosis_summary, a_slower_processor) {
  uint64_t random = 91;
  for (int round = 0; round < 2000; round++) {
    double share[REGIONS], factor[REGIONS];
    double all = 1.05 + 0.29 * random_unit(&random);
    size_t regions = random_between(&random, 1, REGIONS);
    for (size_t k = 0; k < regions; k++) {
      share[k] = 0.2 + random_unit(&random);
      factor[k] = all;
    }
    tsanom_diagnosis_summary s = of_factors(2, share, factor, regions);
    cr_assert(!alarm_of(&s), "%d: %zu regions, %g", round, regions, all);
    cr_assert(s.team.processor_s > (1 - 1e-9) * s.team.saved_s);
    s = of_factors(4, share, factor, regions);
    cr_assert(s.team.processor_s == 0 && alarm_of(&s) == (0.75 * (all - 1) >= 0.1 * all));
    size_t slow = random_between(&random, 0, regions - 1);
    factor[slow] *= 1 + 2.0 * (double)regions;
    s = of_factors(2, share, factor, regions);
    cr_assert(alarm_of(&s), "%d: region %zu of %zu, %g", round, slow, regions, all);
    double lost = 0, of_all = 0;
    for (size_t k = 0; k < regions; k++) {
      lost += share[k] * (factor[k] - 1);
      of_all += share[k] * (all - 1);
    }
    double part = share[slow] * (factor[slow] - 1) / lost;
    cr_assert(s.team.region == (part >= 0.5 ? slow : TSANOM_NONE));
    cr_assert(regions == 1 ||
              fabs(s.team.processor_s / s.team.saved_s - of_all / lost) < 1e-9);
  }
}

/* The page has it, and the verdict says what may be why. */
Test(diagnosis_summary, a_slower_processor_is_no_alarm) {
  static const double share[] = {1, 1, 1}, factor[] = {1.3, 1.3, 1.3};
  tsanom_diagnosis_summary s = of_factors(2, share, factor, 3);
  cr_assert(s.team.region == TSANOM_NONE); /* no region has half of it */
  expect_answer(
      &s, TSANOM_DIAGNOSIS_QUIET, 0,
      "The program ended normally after 2 s: 200 iterations of 10 ms; thread 0 takes "
      "1.3 times as long as the other, and ideal balance would save 450 ms, as on a "
      "slower processor.");
  expect_part(
      &s, TSANOM_DIAGNOSIS_SUMMARY_TEAM,
      "thread 0 takes 1.3 times as long as the other, and ideal balance would save "
      "450 ms, as on a slower processor");
  expect_next(&s, "tsanom compare --against OTHER-RUN run");
}

Test(diagnosis_summary, a_thread_that_takes_longer) {
  static const double equal[8] = {10, 4, 10, 4, 10, 4, 10, 4};
  tsanom_diagnosis_summary s = summary_of(busy);
  compare(&s, times, 0);
  cr_assert(s.team.processes == 4 && s.team.members == 1 && s.team.first == 2 &&
            s.team.region == 0);
  cr_assert(fabs(s.team.ratio - 1.6) < 1e-12 && fabs(s.team.saved_s - 4.5) < 1e-12);
  s.team_region = "compute (a.c:12)";
  expect_answer(
      &s, TSANOM_DIAGNOSIS_TEAM, 1,
      "The program ended normally after 2 s; thread 2 takes 1.6 times as long as "
      "the others in compute (a.c:12), and ideal balance would save 4.5 s.");
  expect_next(&s, "tsanom similar run");
  /* What lost more seconds comes first. */
  plant(&s, TSANOM_DIAGNOSIS_SLOW_SINCE, 50, 150, 2);
  planted.lost_s = 1;
  expect_next(&s, "tsanom similar run");
  planted.lost_s = 9;
  expect_next(&s, "tsanom slow run");
  cr_assert(strstr(page_of(&s), "take 2 times as long (9 s lost)\n"));
  expect_answer(
      &s, TSANOM_DIAGNOSIS_SLOW, 1,
      "The program ended normally after 2 s; since iteration 50 of 200, iterations "
      "take 2 times as long; thread 2 takes 1.6 times as long as the others in "
      "compute (a.c:12), and ideal balance would save 4.5 s.");
  cr_assert(strstr(page_of(&s), "\nthreads      thread 2 takes 1.6 times"));
  planted.of_machine = 1;
  expect_next(&s, "tsanom similar run");
  cr_assert(strstr(page_of(&s), "times as long; the machine\n"));
  tsanom_diagnosis_slow both[] = {planted, planted}, *before = s.slow;
  both[1].of_machine = 0;
  s.slow = both;
  s.slow_capacity = s.slow_count = 2;
  both[1].lost_s = planted.lost_s / 10; /* little beside what the machine may explain */
  cr_assert(strstr(page_of(&s), "times as long; the machine\n"));
  both[1].lost_s = planted.lost_s / 2;
  cr_assert(!strstr(page_of(&s), "times as long; the machine\n"));
  s.slow = before;
  s.slow_count = 1;
  s.grows = 1;
  s.growth = 4 << 20;
  cr_assert(strstr(page_of(&s), "; memory grows until the end, by"));
  s.grows = 0;
  compare(&s, equal, 20);
  expect_next(&s, "tsanom compare --against OTHER-RUN run");
  cr_assert(s.team.processes == 4 && s.team.members == 0);
}

/* A pool whose threads start with one function: 1 to 3 roles, of which the rarer ones have a share
 * of the work, and threads of a role nearly the same. One of a single role may have more. */
Test(diagnosis_summary, threads_of_a_pool_with_several_roles_are_no_fault) {
  enum { ROUNDS = 500 };
  uint64_t seed = 7;
  for (int i = 0; i < ROUNDS; i++) {
    double time[THREADS_MOST];
    size_t roles = random_between(&seed, 1, 3);
    size_t threads = roles + random_between(&seed, 1, 8);
    for (size_t t = 0; t < threads; t++) {
      double share = t + 1 < roles ? 0.02 + 0.03 * (double)t : 1;
      time[t] = 10 * share * (1 + 0.01 * random_unit(&seed));
    }
    double factor = roles == 1 && i % 2 ? 1.5 : 1;
    time[threads - 1] *= factor;
    tsanom_diagnosis_summary s = summary_of(busy);
    s.iterations = 0;
    compare_threads(&s, threads, 1, parents, time, 0);
    cr_assert(alarm_of(&s) == (factor > 1), "%zu roles of %zu threads, %g: %s", roles,
              threads, factor, page_of(&s));
    cr_assert(roles == 1 || strstr(page_of(&s), ", perhaps of different work"));
    s.ledger.window[0].ready_s = 0.5 * s.ledger.window[0].wall_s;
    compare_threads(&s, threads, 1, parents, time, 0);
    cr_assert(!alarm_of(&s));
  }
}

/* Work is distributed on demand, and one had a processor more often; or each visit takes it longer. */
Test(diagnosis_summary, who_had_a_processor_asked_for_more) {
  enum { ROUNDS = 300, TEAM = 4 };
  uint64_t seed = 8;
  for (int i = 0; i < ROUNDS; i++) {
    double time[TEAM], visits[TEAM], factor = 1.5 + 4 * random_unit(&seed);
    bool on_demand = i % 2, has_waited = i / 2 % 2;
    for (size_t t = 0; t < TEAM; t++) {
      bool is_slow = t + 1 == TEAM;
      time[t] = 10 * (is_slow ? factor : 1) * (1 + 0.01 * random_unit(&seed));
      visits[t] = on_demand && is_slow ? 1000 * factor : 1000;
    }
    if (on_demand) time[0] = visits[0] = 0; /* the master has none */
    tsanom_diagnosis_summary s = summary_of(busy);
    if (has_waited) s.ledger.window[0].ready_s = 0.3 * s.ledger.window[0].wall_s;
    compare_visits(&s, TEAM, 1, parents, time, visits, 0);
    cr_assert(s.team.members == 1 && s.team.other_work == (on_demand && has_waited));
  }
}

/* A tenth of the time with a processor, saved by balance, decides whether a difference is the
 * answer; the page has it anyway. */
Test(diagnosis_summary, threads_that_hardly_differ) {
  tsanom_diagnosis_summary s = summary_of(busy);
  compare(&s, times, 0);
  tsanom_diagnosis_window *whole = &s.ledger.window[0];
  whole->wall_s = 3 + 10 * s.team.saved_s * 1.01;
  whole->ready_s = 3;
  s.team_region = "compute (a.c:12)";
  expect_answer(&s, TSANOM_DIAGNOSIS_QUIET, 0,
                "The program ended normally after 2 s: 200 iterations of 10 ms; its 4 "
                "threads hardly differ.");
  cr_assert(
      strstr(page_of(&s), "\nthreads      ideal balance would save only 4.5 s of "));
  expect_part(&s, TSANOM_DIAGNOSIS_SUMMARY_TEAM,
              "ideal balance would save only 4.5 s of 45.5 s: thread 2 takes 1.6 times "
              "as long as the others in compute (a.c:12)");
  whole->wall_s = 3 + 10 * s.team.saved_s * 0.99;
  expect_next(&s, "tsanom similar run");
  s.accounted = 0;
  s.seconds = 10 * s.team.saved_s * 1.01;
  expect_next(&s, "tsanom compare --against OTHER-RUN run");
}

/* Slow iterations that lost less than a tenth of the run are on the page, and no answer. */
Test(diagnosis_summary, slow_iterations_that_lost_little) {
  tsanom_diagnosis_summary s = summary_of(busy);
  int32_t answer, alarm;
  plant(&s, TSANOM_DIAGNOSIS_SLOW_SINGLE, 90, 3, 4);
  for (int i = 0; i < 2; i++) {
    planted.lost_s = (i ? 0.11 : 0.09) * s.seconds;
    CHECK_STATUS(tsanom_diagnosis_summary_answer(&s, &answer, &alarm), TSANOM_OK);
    cr_assert(answer == (i ? TSANOM_DIAGNOSIS_SLOW : TSANOM_DIAGNOSIS_QUIET) &&
              alarm == i);
    cr_assert(strstr(page_of(&s), "3 of 200 iterations (90-92) took 4 times as"));
    cr_assert(!strstr(page_of(&s), "none of them slow"));
  }
}

/* Where processors are waited for, processor times show what the program does. */
Test(diagnosis_summary, slow_iterations_beside_other_programs) {
  tsanom_diagnosis_summary s = summary_of(busy);
  plant(&s, TSANOM_DIAGNOSIS_SLOW_UNTIL, 0, 15, 10);
  planted.lost_s = 0.4 * s.seconds;
  for (int i = 0; i < 4; i++) {
    planted.of_processor = i & 1;
    s.ledger.window[0].ready_s = (i & 2 ? 0.2 : 0.05) * s.ledger.window[0].wall_s;
    cr_assert(alarm_of(&s) == (i != 2));
    bool explained = strstr(page_of(&s), " of 2 s; this may");
    cr_assert(explained == (i == 2));
  }
}

/* Beside other programs, a second of the processor is several of the run: threads that differ all
 * the time are named before iterations that lost a smaller share. */
Test(diagnosis_summary, slow_iterations_and_threads_beside_other_programs) {
  tsanom_diagnosis_summary s = summary_of(busy);
  compare(&s, times, 0);
  plant(&s, TSANOM_DIAGNOSIS_SLOW_UNTIL, 0, 15, 10);
  planted.of_processor = 1;
  tsanom_diagnosis_window *whole = &s.ledger.window[0];
  s.seconds = whole->wall_s = 20 * s.team.saved_s;
  whole->ready_s = 0.8 * whole->wall_s; /* balance saves a quarter of the rest */
  for (int i = 0; i < 2; i++) {
    int32_t answer, alarm;
    planted.lost_s = (i ? 0.26 : 0.24) * s.seconds;
    CHECK_STATUS(tsanom_diagnosis_summary_answer(&s, &answer, &alarm), TSANOM_OK);
    cr_assert(answer == (i ? TSANOM_DIAGNOSIS_SLOW : TSANOM_DIAGNOSIS_TEAM) && alarm);
  }
}

/* What cost the largest share is named, and the exit status is that of all. */
Test(diagnosis_summary, rest_that_costs_more_than_slow_iterations) {
  tsanom_diagnosis_summary s = summary_of(asleep);
  plant(&s, TSANOM_DIAGNOSIS_SLOW_SINGLE, 50, 1, 4);
  int32_t answer, alarm;
  for (int i = 0; i < 2; i++) {
    planted.lost_s = i ? 1.5 : 0.5;
    CHECK_STATUS(tsanom_diagnosis_summary_answer(&s, &answer, &alarm), TSANOM_OK);
    cr_assert(answer == (i ? TSANOM_DIAGNOSIS_SLOW : TSANOM_DIAGNOSIS_NOBODY) && alarm);
  }
}

Test(diagnosis_summary, findings_of_a_model_come_first) {
  tsanom_diagnosis_summary s = {.path = "run"};
  tsanom_diagnosis_finding f = {.cause = TSANOM_HSA_IMBALANCE,
                                .thread = 1,
                                .sign = TSANOM_DIAGNOSIS_SIGN_IMBALANCE,
                                .value = 1.5,
                                .most = 1.02,
                                .limit = 1.1,
                                .lost_s = 0.5,
                                .begin = NAN,
                                .end = INFINITY};
  scripted_make(&r, busy, 2, 100, 0.1);
  CHECK_STATUS(tsanom_diagnosis_summarize(&r.run, -1, -1, &f, 1, NULL, &s), TSANOM_OK);
  compare(&s, times, 0);
  expect_answer(
      &s, TSANOM_DIAGNOSIS_FINDING, 1,
      "The program ended normally after 2 s; imbalance in thread 1: compared "
      "with the other threads, it takes 1.5 times as much processor time as in normal "
      "runs; normal runs: at most 1.02; reported above 1.1; it cost 500 ms.");
  expect_next(&s, "look at the share of the work of thread 1 in an iteration");
  f.cause = TSANOM_HSA_CONTENTION;
  s = (tsanom_diagnosis_summary){.path = "run"};
  CHECK_STATUS(tsanom_diagnosis_summarize(&r.run, -1, -1, &f, 1, NULL, &s), TSANOM_OK);
  int32_t answer, alarm;
  CHECK_STATUS(tsanom_diagnosis_summary_answer(&s, &answer, &alarm), TSANOM_OK);
  cr_assert(answer == TSANOM_DIAGNOSIS_FINDING && !alarm);
  s = (tsanom_diagnosis_summary){.path = "run"};
  CHECK_STATUS(tsanom_diagnosis_summarize(&r.run, -1, -1, &f, 0, NULL, &s), TSANOM_OK);
  cr_assert(s.judged && strstr(page_of(&s), "\nfound        normal by the model\n"));
  s.ledger.window[0].ready_s = 1;
  expect_answer(
      &s, TSANOM_DIAGNOSIS_READY, 0,
      "The program ended normally after 2 s; work was ready without a processor for 1 "
      "of 2 s; normal by the model.");
}

/* ---- jobs */

static void add_rank(tsanom_diagnosis_summary *s, int32_t rank, int32_t state,
                     int32_t exit_code, int32_t in_call) {
  scripted_make(&r, rank ? asleep : busy, 2, 100, 0.1);
  r.run.state = state;
  r.run.exit_code = exit_code;
  if (in_call >= 0) {
    r.series[0].beats = r.series[1].beats = 100 - (size_t)rank;
    r.run.end = 20;
  }
  CHECK_STATUS(tsanom_diagnosis_summarize(&r.run, rank, in_call, NULL, 0, NULL, s),
               TSANOM_OK);
}

Test(diagnosis_summary, of_a_job_whose_ranks_ended) {
  tsanom_diagnosis_summary s = {.path = "run"};
  for (int32_t rank = 0; rank < 4; rank++) {
    add_rank(&s, rank, TSANOM_RUN_FINISHED, 0, -1);
  }
  cr_assert(s.runs == 4 && s.ended == 4 && s.accounted == 4 && s.rank == 0);
  cr_assert(fabs(s.ledger.window[0].nobody_s - 0.75) < 1e-9 &&
            fabs(s.ledger.window[0].wall_s - 2) < 1e-9);
  cr_assert(strstr(page_of(&s), "The 4 ranks ended normally after 2 s; nobody ran"));
  cr_assert(strstr(page_of(&s), "4 of 4 ranks ended"));
}

/* MPI_Init() sleeps; a program without ranks that rests for as long does not work. */
Test(diagnosis_summary, the_start_of_ranks_is_no_rest) {
  for (int32_t rank = -1; rank < 1; rank++) {
    tsanom_diagnosis_summary s = {.path = "run"};
    scripted_make(&r, busy, 2, 100, 0.1);
    CHECK_STATUS(tsanom_diagnosis_summarize(&r.run, rank, -1, NULL, 0, NULL, &s),
                 TSANOM_OK);
    for (int i = 0; i < 3; i++) {
      const double rest[] = {0.19, 0.21, 0.46};
      int32_t answer, alarm;
      s.ledger.window[0].nobody_s = rest[i];
      CHECK_STATUS(tsanom_diagnosis_summary_answer(&s, &answer, &alarm), TSANOM_OK);
      bool is_told = rank < 0 ? i > 0 : i > 1;
      cr_assert((answer == TSANOM_DIAGNOSIS_NOBODY) == is_told, "%d %d", rank, i);
    }
  }
}

/* The rank that crashed, although others were killed before it is read. */
Test(diagnosis_summary, of_a_job_with_a_rank_that_crashed) {
  const int32_t codes[] = {-SIGTERM, -SIGKILL, -SIGABRT, 1, -SIGTERM};
  tsanom_diagnosis_summary s = {.path = "run"};
  for (int32_t rank = 0; rank < 5; rank++) {
    add_rank(&s, rank, codes[rank] < 0 ? TSANOM_RUN_KILLED : TSANOM_RUN_FINISHED,
             codes[rank], -1);
  }
  cr_assert(s.rank == 2 && s.exit_code == -SIGABRT);
  s.finding.cause = TSANOM_HSA_NORMAL;
  expect_answer(&s, TSANOM_DIAGNOSIS_ENDED, 1,
                "Rank 2 of 5 was killed by signal 6 (SIGABRT) after 2 s.");
}

/* Rank 2 is killed after 2 s, the others by the launcher after 5 s, silent since then. One that is
 * silent for longer than the others hangs by itself. */
Test(diagnosis_summary, of_a_job_with_a_rank_that_was_killed) {
  for (int before = 0; before < 2; before++) {
    for (int32_t first = 0; first < 4; first++) {
      tsanom_diagnosis_summary s = {.path = "run"};
      for (int32_t k = 0; k < 4; k++) {
        int32_t rank = (first + k) % 4;
        double end = rank != 2 ? 5 : before ? 4.5 : 2.01;
        /* 200 beats until 2 s, or until nearly 4.5 s */
        scripted_make(&r, busy, 1, 100, 0.1);
        for (size_t i = 0; i < 200; i++) {
          r.time[0][i] *= rank == 2 && before ? 2.2 : 1;
        }
        r.run.state = TSANOM_RUN_KILLED;
        r.run.exit_code = rank == 2 ? -SIGKILL : -SIGTERM;
        r.run.end = end;
        CHECK_STATUS(tsanom_diagnosis_summarize(&r.run, rank, -1, NULL, 0, NULL, &s),
                     TSANOM_OK);
      }
      cr_assert(s.rank == 2 && s.exit_code == -SIGKILL, "%d", s.rank);
      cr_assert((s.finding.cause == TSANOM_HSA_HANG) == (before == 1), "%d: %d", before,
                s.finding.cause);
      const char *page = page_of(&s), *killed = before ? "(SIGKILL) after 4.5 s; hang on"
                                                       : "(SIGKILL) after 2.01 s.";
      cr_assert(
          strstr(page, "Rank 2 of 4 was killed by signal 9") && strstr(page, killed),
          "%s", page);
    }
  }
}

/* Ranks 0 and 3 wait in a call; of the others, 2 stopped first. */
Test(diagnosis_summary, of_a_job_with_a_rank_that_hangs) {
  tsanom_diagnosis_summary s = {.path = "run"};
  const int32_t in_call[] = {1, 0, 0, 1};
  for (int32_t rank = 0; rank < 4; rank++) {
    add_rank(&s, rank, TSANOM_RUN_RUNNING, 0, in_call[rank]);
  }
  cr_assert(s.finding.cause == TSANOM_HSA_HANG && s.finding_rank == 2 && !s.waits);
  cr_assert(strstr(page_of(&s), "hang on rank 2 in thread "), "%s", page_of(&s));
}

static bool is_unchanged(const tsanom_diagnosis_summary *s,
                         const tsanom_diagnosis_summary *before) {
  return s->runs == before->runs && s->ended == before->ended &&
         s->accounted == before->accounted && s->iterations == before->iterations &&
         s->judged == before->judged && s->finding.cause == before->finding.cause &&
         s->team.processes == before->team.processes;
}

/* The watch is the only memory. */
Test(diagnosis_summary, without_memory_nothing_changes) {
  test_allocator allocator = {.fail_at = 1};
  tsanom_exec exec = test_exec(&allocator);
  tsanom_diagnosis_summary s = summary_of(busy), before = s;
  r.run.state = TSANOM_RUN_RUNNING;
  CHECK_STATUS(tsanom_diagnosis_summarize(&r.run, -1, -1, NULL, 0, &exec, &s),
               TSANOM_E_MEMORY);
  cr_assert(is_unchanged(&s, &before) && allocator.live == 0);
  CHECK_STATUS(tsanom_diagnosis_summarize(&r.run, -1, -1, NULL, 0, &exec, &s), TSANOM_OK);
  cr_assert(allocator.calls == 2 && allocator.live == 0 && s.runs == 2);
}

/* ---- any page */

Test(diagnosis_summary, long_names_and_many_sentences_fit) {
  enum { MISSING = 40, NAME = 700 };
  char name[NAME + 1], sentence[NAME + 1];
  const char *missing[MISSING];
  for (size_t i = 0; i < NAME; i++) {
    name[i] = (char)(i % 2 ? 0xA9 : 0xC3); /* a letter of two bytes */
    sentence[i] = i % 9 ? 'x' : ' ';
  }
  name[NAME] = sentence[NAME] = '\0';
  for (size_t i = 0; i < MISSING; i++) missing[i] = sentence;
  tsanom_diagnosis_summary s = summary_of(busy);
  compare(&s, times, 0);
  s.team_region = name;
  plant(&s, TSANOM_DIAGNOSIS_SLOW_SINGLE, 50, 1, 4);
  memcpy(planted.region, name, sizeof planted.region - 1);
  planted.lost_s = 100;
  s.bytes = 1 << 20;
  s.missing = missing;
  s.missing_count = MISSING;
  const char *text = page_of(&s);
  cr_assert(strstr(text, "..."), "%s", text);
  char start[10];
  size_t length;
  CHECK_STATUS(tsanom_diagnosis_summary_text(&s, TSANOM_DIAGNOSIS_SUMMARY_PAGE, start,
                                             sizeof start, &length),
               TSANOM_PARTIAL);
  cr_assert(!strcmp(start, "The progr") && length == strlen(text));
}

/* Of runs of seconds to months. */
Test(diagnosis_summary, large_numbers_have_no_exponents) {
  uint64_t seed = 8;
  for (int i = 0; i < 200; i++) {
    double factor = pow(10, 7 * random_unit(&seed)), children = i % 3 * factor;
    tsanom_diagnosis_summary s = summary_of(i % 2 ? busy : asleep);
    if (i % 5) compare(&s, times, 0);
    plant(&s, TSANOM_DIAGNOSIS_SLOW_SINGLE, 50, 1, 2 + factor);
    planted.low = 1 + factor;
    planted.high = 3 + factor;
    planted.lost_s = i % 7 ? 0 : factor;
    s.seconds = factor * 10;
    s.iteration_s = factor / 10;
    s.peak = factor * 1e6;
    s.children_s = children;
    s.team.saved_s *= factor;
    s.team.ratio *= factor;
    for (size_t w = 0; w < TSANOM_DIAGNOSIS_WINDOWS; w++) {
      tsanom_diagnosis_window *of = &s.ledger.window[w];
      double *numbers[] = {&of->begin, &of->end,     &of->wall_s,
                           &of->cpu_s, &of->ready_s, &of->nobody_s};
      for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) *numbers[k] *= factor;
    }
    const char *text = page_of(&s);
    cr_assert(!strstr(text, "e+"), "%s", text);
    /* Of bytes and seconds, there are at most three digits in front of a larger unit. */
    cr_assert(!strstr(text, "000 ms") && !strstr(text, "000 KiB"), "%s", text);
  }
}

Test(diagnosis_summary, invalid_input_changes_nothing) {
  tsanom_diagnosis_summary s = summary_of(busy), before = s;
  tsanom_spmd_data data;
  tsanom_spmd_report report;
  char text[8];
  data = (tsanom_spmd_data){.struct_size = sizeof data};
  report = (tsanom_spmd_report){.struct_size = sizeof report};
#define REJECTED(status, ...) \
  CHECK_STATUS(tsanom_diagnosis_summarize(__VA_ARGS__), status)
  REJECTED(TSANOM_E_NULL, &r.run, -1, -1, NULL, 1, NULL, &s);
  CHECK_STATUS(tsanom_diagnosis_summarize_team(&data, &report, &s), TSANOM_E_COUNT);
  data.processes = data.regions = 2;
  CHECK_STATUS(tsanom_diagnosis_summarize_team(&data, &report, &s), TSANOM_E_NULL);
  CHECK_STATUS(tsanom_diagnosis_summary_text(&s, -1, text, 8, NULL), TSANOM_E_OPTION);
  CHECK_STATUS(
      tsanom_diagnosis_summary_text(&s, TSANOM_DIAGNOSIS_SUMMARY_SLOW, text, 8, NULL),
      TSANOM_E_OPTION);
  r.vital[1][3].time = 0;
  REJECTED(TSANOM_E_ORDER, &r.run, -1, -1, NULL, 0, NULL, &s);
  cr_assert(is_unchanged(&s, &before));
  s.finding.cause = TSANOM_HSA_STATUSES;
  CHECK_STATUS(
      tsanom_diagnosis_summary_text(&s, TSANOM_DIAGNOSIS_SUMMARY_NEXT, text, 8, NULL),
      TSANOM_E_OPTION);
}
