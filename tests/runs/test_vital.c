/* SPDX-License-Identifier: BSD-3-Clause */
/* The reader of vital signs, on files that are written by the format. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <tsanom/hsa.h>
#include <tsanom/runs.h>
#include <unistd.h>

#include "record/identity.h"
#include "runs/grown_run.h"
#include "support/check.h"
#include "support/faults.h"
#include "support/random.h"
static grown_run grown;

static void set_up(void) {
  make_directory();
  grown_create(&grown, directory);
}

TestSuite(runs_vital, .init = set_up, .fini = remove_directory);

static size_t vitals(const tsanom_runs *run, int32_t thread,
                     const tsanom_hsa_vital **sample) {
  size_t count = 7;
  CHECK_STATUS(tsanom_runs_vitals(run, thread, NULL, sample, &count), TSANOM_OK);
  return count;
}

/* Sample n of the process was written by grown_sample(). */
Test(runs_vital, numbers_have_their_units_and_those_not_known_are_nan) {
  for (int n = 0; n < 3; n++) {
    grown_append(&grown, 0, 1000, 0);
    grown_sample(&grown, n == 1 ? 0 : TSN_VITAL_PROCESS);
  }
  grown.has_ended = true;
  grown_sample(&grown, TSN_VITAL_PROCESS);
  const tsanom_hsa_vital *s;
  tsanom_runs *run = open_run(directory);
  tsanom_runs_info info = describe(run);
  cr_assert(info.vital == TSANOM_RUNS_VITAL_THREAD && info.vital_period_s == 0.05);
  cr_assert(info.vital_samples == 4 && info.vital_lost == 0 && info.vital_threads == 1);
  cr_assert(vitals(run, TSANOM_RUNS_PROCESS, &s) == 3);
  cr_assert(fabs(s[1].time - 3e-6) < 1e-12 && fabs(s[1].cpu_s - 2e-6) < 1e-15);
  cr_assert(isnan(s[1].wait_s) && s[1].voluntary == 3 && s[1].involuntary == 4);
  cr_assert(s[1].minor_faults == 5 && s[1].major_faults == 6 && s[1].resident == 7);
  cr_assert(s[1].anonymous == 8 && s[1].threads == 9 && s[1].beats == 0);
  cr_assert(isnan(s[2].resident) && isnan(s[2].anonymous) && s[2].threads == 10);
  cr_assert(s[1].thread == -1 && s[1].stream == -1 && s[1].task == 40);
  cr_assert(s[0].state == 0 && s[1].state == 'R' && s[1].waits == 0);
  cr_assert(vitals(run, 0, &s) == 1 && s[0].beats == 2 && s[0].thread == 0);
  cr_assert(s[0].stream == 0 && s[0].waits == TSANOM_HSA_WAITS_OTHER);
  cr_assert(vitals(run, 1, &s) == 0 && vitals(run, 65535, &s) == 0);
  const tsanom_hsa_run *beats;
  CHECK_STATUS(tsanom_runs_hsa(run, NULL, &beats), TSANOM_OK);
  cr_assert(beats->peak == 48, "%g", beats->peak); /* one of two samples knows it */
  tsanom_runs_destroy(run);
}

/* Those of the program are not shown; the kernel cuts at 15 bytes. */
Test(runs_vital, names_of_threads_are_text) {
  static const char *const name[][2] = {
      {"loader", "loader"},
      {"l) S 1 (r", "l) S 1 (r"},
      {"a\nb\tc\x1b\x7f", "a?b?c??"},
      {"Ladef\xc3\xa4hig", "Ladef\xc3\xa4hig"},
      {"12345678901234\xc3", "12345678901234"},
      {"12345678901\xf0\x9f\x98\x80", "12345678901\xf0\x9f\x98\x80"},
      {"123456789012\xf0\x9f\x98", "123456789012"},
      {"1234567890123\xc3", "1234567890123?"},
      {"\xff\xc3\xa4", "???"},
      {"", ""},
      {"grown by a test", ""},
  };
  enum { NAMES = sizeof name / sizeof *name };
  const tsanom_hsa_vital *s;
  (void)snprintf(grown.header.program, sizeof grown.header.program,
                 "grown by a test of the reader");
  grown_calibrate(&grown, 1);
  grown_append(&grown, 0, 1000, 0);
  for (size_t i = 0; i < NAMES; i++) {
    (void)snprintf(grown.name, sizeof grown.name, "%s", name[i][0]);
    grown_sample(&grown, 0);
  }
  memset(grown.name, 0xff, sizeof grown.name);
  grown_sample(&grown, 0);
  grown_sample(&grown, TSN_VITAL_PROCESS);
  tsanom_runs *run = open_run(directory);
  cr_assert(vitals(run, 0, &s) == NAMES + 1);
  for (size_t i = 0; i <= NAMES; i++) {
    const char *expected = i < NAMES ? name[i][1] : "";
    cr_assert(strcmp(s[i].name, expected) == 0, "%zu: %s", i, s[i].name);
    cr_assert(isnan(s[i].anonymous) && isnan(s[i].threads));
  }
  cr_assert(vitals(run, TSANOM_RUNS_PROCESS, &s) == 1 && !*s->name && s->threads > 0);
  tsanom_runs_destroy(run);
}

/* Two streams of a number, and samples at any time. */
Test(runs_vital, beats_are_those_until_the_sample) {
  enum { STEPS = 2000 };
  uint64_t seed = 4, beats[2] = {0};
  static uint64_t expected[2][STEPS];
  size_t samples[2] = {0};
  grown_add_stream(&grown, 1);
  grown_add_stream(&grown, 0);
  for (int i = 0; i < STEPS; i++) {
    uint32_t stream = (uint32_t)random_between(&seed, 0, 2), thread = stream % 2;
    if (random_between(&seed, 0, 3)) {
      grown_append(&grown, stream, random_between(&seed, 1, 50), 0);
      beats[thread]++;
    } else {
      grown_sample(&grown, stream);
      expected[thread][samples[thread]++] = beats[thread];
    }
  }
  tsanom_runs *run = open_run(directory);
  for (int32_t thread = 0; thread < 2; thread++) {
    const tsanom_hsa_vital *s;
    cr_assert(vitals(run, thread, &s) == samples[thread]);
    for (size_t i = 0; i < samples[thread]; i++) {
      cr_assert(s[i].beats == expected[thread][i]);
    }
  }
  tsanom_runs_destroy(run);
}

/* The grown run began so long ago. */
static double begun_before_s;

static int32_t state_now(void) {
  const tsanom_hsa_run *beats;
  tsanom_runs *run = open_run(directory);
  CHECK_STATUS(tsanom_runs_hsa(run, NULL, &beats), TSANOM_OK);
  int32_t state = beats->state;
  if (state == TSANOM_RUN_RUNNING) {
    cr_assert(beats->end >= begun_before_s && beats->end < begun_before_s + 3600, "%g",
              beats->end);
  } else {
    cr_assert(beats->end == 0);
  }
  cr_assert_str_eq(beats->program, "grown");
  tsanom_runs_destroy(run);
  return state;
}

static int64_t clock_now(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return t.tv_sec * 1000000000 + t.tv_nsec;
}

/* The run began at that time since the machine started, and `passed` ns ago by the time of day. */
static void set_begin(int64_t began, int64_t passed) {
  grown.header.start = (uint64_t)(clock_now(CLOCK_REALTIME) - passed);
  grown.header.first.nanoseconds = (uint64_t)began;
  grown.header.latest.nanoseconds = (uint64_t)began + 1000000000;
  grown_pair(&grown, grown.header.latest.ticks, grown.header.latest.nanoseconds);
}

/* A process with that number that began after the run is another; whatever the time of day, which
 * may be set meanwhile. */
Test(runs_vital, the_state_is_that_of_the_process) {
  const int64_t second = 1000000000, passed[] = {second, -3600 * second, 3600 * second};
  strcpy(grown.header.program, "grown");
  grown_append(&grown, 0, 1000, 0);
  grown_calibrate(&grown, 1);
  cr_assert(state_now() == TSANOM_RUN_KILLED);
  tsn_identify(&grown.header);
  grown.header.pid = (uint64_t)getpid();
  begun_before_s = 1;
  for (size_t i = 0; i < sizeof passed / sizeof *passed; i++) {
    int64_t now = clock_now(CLOCK_MONOTONIC);
    set_begin(now - second, passed[i]);
    cr_assert(state_now() == TSANOM_RUN_RUNNING, "%zu", i);
    set_begin(1000, passed[i]);
    cr_assert(state_now() == TSANOM_RUN_KILLED, "%zu", i);
  }
  pid_t child = fork();
  if (child == 0) _exit(0);
  siginfo_t info;
  cr_assert(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT) == 0);
  grown.header.pid = (uint64_t)child;
  set_begin(clock_now(CLOCK_MONOTONIC) - second, second);
  cr_assert(state_now() == TSANOM_RUN_KILLED, "a zombie");
  cr_assert(waitpid(child, NULL, 0) == child);
  grown_finish(&grown);
  cr_assert(state_now() == TSANOM_RUN_FINISHED);
}

/* The run is that of a process, whose first thread beats. */
static void set_process(pid_t process) {
  tsn_identify(&grown.header);
  grown.header.pid = (uint64_t)process;
  grown.header.start = (uint64_t)clock_now(CLOCK_REALTIME);
  grown.header.first.nanoseconds = (uint64_t)clock_now(CLOCK_MONOTONIC) - 1000000000;
  grown.header.latest.nanoseconds = grown.header.first.nanoseconds + 1000000000;
  grown.task = process;
  grown_append(&grown, 0, 1000, 0);
  grown_sample(&grown, 0);
  grown_pair(&grown, grown.header.latest.ticks, grown.header.latest.nanoseconds);
}

Test(runs_vital, a_thread_is_sampled_now) {
  tsanom_hsa_vital v;
  const tsanom_hsa_run *beats;
  set_process(getpid());
  tsanom_runs *run = open_run(directory);
  double before = 1e-9 * (double)clock_now(CLOCK_THREAD_CPUTIME_ID);
  while (1e-9 * (double)clock_now(CLOCK_THREAD_CPUTIME_ID) < before + 0.05) continue;
  CHECK_STATUS(tsanom_runs_hsa(run, NULL, &beats), TSANOM_OK);
  CHECK_STATUS(tsanom_runs_sample(run, 0, NULL, &v), TSANOM_OK);
  double after = 1e-9 * (double)clock_now(CLOCK_THREAD_CPUTIME_ID);
  cr_assert(v.cpu_s > before + 0.03 && v.cpu_s <= after, "%g", v.cpu_s);
  cr_assert(v.time == beats->end && v.beats == 1 && v.thread == 0 && v.stream == 0);
  cr_assert(v.state == 'R' && v.task == getpid() && v.wait_s >= 0 && v.minor_faults > 0);
  cr_assert(isnan(v.resident) && isnan(v.threads) && isnan(v.spun_s));
  CHECK_STATUS(tsanom_runs_sample(run, 1, NULL, &v), TSANOM_INFEASIBLE);
  CHECK_STATUS(tsanom_runs_sample(run, -1, NULL, &v), TSANOM_E_INDEX);
  CHECK_STATUS(tsanom_runs_sample(run, 65536, NULL, &v), TSANOM_E_INDEX);
  tsanom_runs_destroy(run);
}

static int32_t life_now(const tsanom_runs *run) {
  return describe(run).state;
}

/* A thread that has ended, and one of another machine, are not sampled. */
Test(runs_vital, only_a_thread_that_is_there_is_sampled) {
  tsanom_hsa_vital v;
  pid_t child = fork();
  if (child == 0) {
    for (;;) pause();
  }
  kill(child, SIGSTOP);
  cr_assert(waitpid(child, NULL, WUNTRACED) == child);
  set_process(child);
  tsanom_runs *run = open_run(directory);
  CHECK_STATUS(tsanom_runs_sample(run, 0, NULL, &v), TSANOM_OK);
  cr_assert(v.state == 'T' && life_now(run) == TSANOM_RUN_RUNNING);
  tsanom_runs_destroy(run);
  grown.header.boot[5] ^= 1;
  grown_pair(&grown, grown.header.latest.ticks, grown.header.latest.nanoseconds);
  run = open_run(directory);
  CHECK_STATUS(tsanom_runs_sample(run, 0, NULL, &v), TSANOM_INFEASIBLE);
  tsanom_runs_destroy(run);
  set_process(child);
  run = open_run(directory);
  kill(child, SIGKILL);
  cr_assert(waitpid(child, NULL, 0) == child);
  CHECK_STATUS(tsanom_runs_sample(run, 0, NULL, &v), TSANOM_INFEASIBLE);
  cr_assert(life_now(run) == TSANOM_RUN_KILLED);
  tsanom_runs_destroy(run);
}

/* In another namespace, on another boot or host, the number is that of any process. */
static void leave_process_space(int how) {
  tsn_identify(&grown.header);
  if (how == 0) grown.header.pid_namespace++;
  if (how == 1) grown.header.boot[5] ^= 1;
  if (how == 2) memset(grown.header.boot, 0, sizeof grown.header.boot);
  if (how == 3) grown.header.pid_namespace = 0;
}

Test(runs_vital, elsewhere_the_latest_record_says_whether_it_runs) {
  const uint64_t pids[] = {1, (uint64_t)getpid(), 0x7FFFFFFF};
  strcpy(grown.header.program, "grown");
  grown_append(&grown, 0, 1000000000, 0); /* a second after the beginning */
  begun_before_s = 0;
  for (int how = 0; how < 4; how++) {
    leave_process_space(how);
    for (size_t i = 0; i < sizeof pids / sizeof *pids; i++) {
      grown.header.pid = pids[i];
      grown.header.first.nanoseconds = (uint64_t)clock_now(CLOCK_MONOTONIC);
      grown.header.latest.nanoseconds = grown.header.first.nanoseconds + 1000000000;
      grown.header.start = (uint64_t)clock_now(CLOCK_REALTIME) - 2000000000;
      if (how == 0) grown.header.first.nanoseconds -= 2000000000;
      if (how == 0) grown.header.latest.nanoseconds -= 2000000000;
      grown_pair(&grown, grown.header.latest.ticks, grown.header.latest.nanoseconds);
      cr_assert(state_now() == TSANOM_RUN_RUNNING, "%d %zu", how, i);
      grown.header.start -= 1000000000000;
      grown.header.first.nanoseconds -= 1000000000000;
      grown.header.latest.nanoseconds -= 1000000000000;
      grown_pair(&grown, grown.header.latest.ticks, grown.header.latest.nanoseconds);
      cr_assert(state_now() == TSANOM_RUN_KILLED, "%d %zu", how, i);
    }
  }
}

/* A restored checkpoint, or a time namespace: the age is by the time of day. */
Test(runs_vital, the_age_does_not_depend_on_another_monotonic_clock) {
  strcpy(grown.header.program, "grown");
  tsn_identify(&grown.header);
  grown.header.time_namespace++;
  grown.header.pid = (uint64_t)getpid();
  grown_append(&grown, 0, 1000, 0);
  begun_before_s = 0;
  const uint64_t other[] = {1000, (uint64_t)clock_now(CLOCK_MONOTONIC) + 5000000000000};
  for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
    grown.header.first.nanoseconds = other[i];
    grown.header.latest.nanoseconds = other[i] + 1000000000;
    grown.header.start = (uint64_t)clock_now(CLOCK_REALTIME);
    grown_pair(&grown, grown.header.latest.ticks, grown.header.latest.nanoseconds);
    cr_assert(state_now() == TSANOM_RUN_RUNNING);
  }
}

Test(runs_vital, a_run_without_them_says_so) {
  const tsanom_hsa_vital *s = NULL;
  size_t count = 5;
  tsanom_runs *run = open_run(directory);
  tsanom_runs_info info = describe(run);
  cr_assert(info.vital == TSANOM_RUNS_VITAL_NONE && info.vital_period_s == 0);
  CHECK_STATUS(tsanom_runs_vitals(run, 0, NULL, &s, &count), TSANOM_E_STATE);
  cr_assert(!s && count == 5);
  /* They appear later. */
  grown_sample(&grown, 0);
  CHECK_STATUS(tsanom_runs_refresh(run, NULL, NULL), TSANOM_OK);
  cr_assert(vitals(run, 0, &s) == 1);
  CHECK_STATUS(tsanom_runs_vitals(run, -2, NULL, &s, &count), TSANOM_E_INDEX);
  CHECK_STATUS(tsanom_runs_vitals(run, 65536, NULL, &s, &count), TSANOM_E_INDEX);
  tsanom_runs_destroy(run);
}

/* A caller of the release before knows a shorter description. */
Test(runs_vital, an_older_description_is_filled) {
  tsanom_runs_info info = {.struct_size = offsetof(tsanom_runs_info, vital), .vital = 9};
  grown_sample(&grown, 0);
  tsanom_runs *run = open_run(directory);
  CHECK_STATUS(tsanom_runs_describe(run, &info), TSANOM_OK);
  cr_assert(info.announced == 1 && info.vital == 9);
  tsanom_runs_destroy(run);
}

static void check_damage(const char *path, const unsigned char *bytes, size_t count,
                         const char *text) {
  tsanom_fault fault;
  tsanom_runs *run = NULL;
  tsanom_exec exec = exec_reporting(&fault);
  file_write(path, bytes, count);
  CHECK_STATUS(tsanom_runs_open(directory, NULL, &exec, &run), TSANOM_E_FORMAT);
  cr_assert(strcmp(fault.file, path) == 0 && strstr(fault.text, text), "%s", fault.text);
}

Test(runs_vital, damage_is_found) {
  const char *path = in_directory(TSN_VITAL_FILE);
  size_t bytes;
  for (int i = 0; i < 3; i++) grown_sample(&grown, 0);
  unsigned char *whole = file_read(path, &bytes);
  cr_assert(bytes == 4 * TSN_VITAL_RECORD);
  /* The end of a sample for which the disk had no space. */
  file_write(path, whole, bytes - 5);
  tsanom_runs *run = open_run(directory);
  cr_assert(describe(run).vital_samples == 2);
  tsanom_runs_destroy(run);
  check_damage(path, whole, 100, "the file ends here");
  for (size_t at = 0; at < bytes; at++) {
    whole[at] ^= 1;
    check_damage(path, whole, bytes, "");
    whole[at] ^= 1;
  }
  /* A hole takes no memory, however long. */
  tsanom_fault fault;
  tsanom_exec exec = exec_reporting(&fault);
  file_write(path, whole, bytes);
  cr_assert(truncate(path, (off_t)1 << 42) == 0);
  CHECK_STATUS(tsanom_runs_open(directory, NULL, &exec, &run), TSANOM_E_FORMAT);
  cr_assert(strstr(fault.text, "sample "), "%s", fault.text);
  /* Samples that changed places. */
  unsigned char *second = whole + 2 * TSN_VITAL_RECORD, saved[TSN_VITAL_RECORD];
  memcpy(saved, second, TSN_VITAL_RECORD);
  memcpy(second, whole + TSN_VITAL_RECORD, TSN_VITAL_RECORD);
  memcpy(whole + TSN_VITAL_RECORD, saved, TSN_VITAL_RECORD);
  check_damage(path, whole, bytes, "sample 0 is damaged");
  free(whole);
}

Test(runs_vital, a_finished_file_has_all_samples_and_belongs_to_its_run) {
  const char *path = in_directory(TSN_VITAL_FILE);
  size_t bytes;
  for (int i = 0; i < 3; i++) grown_sample(&grown, 0);
  grown_finish(&grown);
  unsigned char *whole = file_read(path, &bytes);
  check_damage(path, whole, bytes - TSN_VITAL_RECORD, "must contain 3 samples");
  check_damage(path, whole, bytes - 1, "must contain 3 samples");
  free(whole);
  grown_run other = grown;
  other.samples = other.vital.version = 0;
  other.header.run_id++;
  grown_sample(&other, 0);
  whole = file_read(path, &bytes);
  check_damage(path, whole, TSN_VITAL_RECORD * 2, "another run");
  free(whole);
}
