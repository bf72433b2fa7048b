/* SPDX-License-Identifier: BSD-3-Clause */
/* Vital signs of a program without a helper thread: the process that takes them is not
 * seen by the program, and ends with it. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <tsanom/heartbeat.h>
#include <tsanom/hsa.h>
#include <unistd.h>

#include "record/beating.h"
#include "support/check.h"

static char path[RUN_PATH];
static volatile sig_atomic_t children_ended;

static void set_up(void) {
  make_directory();
  (void)snprintf(path, sizeof path, "%s/run", directory);
  cr_assert(setenv("TSANOM_RECORD_SAMPLER", TSANOM_TEST_SAMPLER, 1) == 0);
}

TestSuite(vital_process, .init = set_up, .fini = remove_directory, .timeout = 120);

static tsanom_status start(void) {
  tsanom_record_options options;
  (void)tsanom_record_options_init(&options, sizeof options);
  options.helper = TSANOM_RECORD_HELPER_NONE;
  options.vital_ms = 1;
  return tsanom_heartbeat_init(path, 1, &options, NULL);
}

static size_t vitals(const tsanom_runs *run, int32_t thread,
                     const tsanom_hsa_vital **sample) {
  size_t count = 0;
  CHECK_STATUS(tsanom_runs_vitals(run, thread, NULL, sample, &count), TSANOM_OK);
  return count;
}

/* Beat, if the process is the one that records, until there are samples of thread 0. */
static void wait_for_samples(tsanom_runs *run, size_t samples, bool beats) {
  const tsanom_hsa_vital *sample;
  do {
    (void)usleep(1000);
    if (beats) (void)tsanom_heartbeat_beat(0, 0);
    CHECK_STATUS(tsanom_runs_refresh(run, NULL, NULL), TSANOM_OK);
    cr_assert(describe(run).vital == TSANOM_RUNS_VITAL_PROCESS);
  } while (vitals(run, 0, &sample) < samples);
}

static void count_child(int signal_number) {
  (void)signal_number;
  children_ended++;
}

Test(vital_process, samples_a_program_that_never_sees_it) {
  enum { SAMPLES = 10 };
  const tsanom_hsa_vital *sample;
  int ends[2];
  char byte;
  cr_assert(pipe(ends) == 0 && signal(SIGCHLD, count_child) != SIG_ERR);
  CHECK_STATUS(start(), TSANOM_OK);
  cr_assert(wait(NULL) == -1 && errno == ECHILD);
  cr_assert(close(ends[1]) == 0 && read(ends[0], &byte, 1) == 0);
  tsanom_runs *run = open_run(path);
  wait_for_samples(run, SAMPLES, true);
  cr_assert(wait(NULL) == -1 && errno == ECHILD && children_ended == 0);
  CHECK_STATUS(tsanom_heartbeat_finish(), TSANOM_OK);
  CHECK_STATUS(tsanom_runs_refresh(run, NULL, NULL), TSANOM_OK);
  cr_assert(wait(NULL) == -1 && errno == ECHILD && children_ended == 0);
  size_t count = vitals(run, 0, &sample);
  cr_assert(count > SAMPLES);
  for (size_t i = 0; i < count; i++) {
    cr_assert(sample[i].task == (int32_t)getpid() && sample[i].state && sample[i].beats);
    cr_assert(i == 0 || sample[i].beats >= sample[i - 1].beats);
  }
  count = vitals(run, TSANOM_RUNS_PROCESS, &sample);
  for (size_t i = 0; i < count; i++) {
    cr_assert(sample[i].task == (int32_t)getpid() && sample[i].anonymous > 0);
    cr_assert(sample[i].cpu_s > 0 && sample[i].threads >= 1 && sample[i].state != 0);
  }
  tsanom_runs_destroy(run);
}

Test(vital_process, samples_one_run_after_another) {
  for (int i = 0; i < 3; i++) {
    CHECK_STATUS(start(), TSANOM_OK);
    tsanom_runs *run = open_run(path);
    wait_for_samples(run, 2, true);
    CHECK_STATUS(tsanom_heartbeat_finish(), TSANOM_OK);
    tsanom_runs_destroy(run);
    run = open_run(path);
    cr_assert(describe(run).vital == TSANOM_RUNS_VITAL_PROCESS);
    tsanom_runs_destroy(run);
    directory_remove(path);
  }
}

/* Start a run in a child and, when there are samples, go on there; the test process
 * adopts what it leaves. Returns the child. */
static pid_t start_child(void (*go_on)(void)) {
  int ready[2], sampled[2];
  char byte;
  cr_assert(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0);
  cr_assert(pipe(ready) == 0 && pipe(sampled) == 0);
  pid_t child = fork();
  cr_assert(child >= 0);
  if (child == 0) {
    alarm(60);
    if (start() != TSANOM_OK || tsanom_heartbeat_beat(0, 0) != TSANOM_OK) _exit(1);
    if (write(ready[1], "", 1) != 1 || read(sampled[0], &byte, 1) != 1) _exit(1);
    go_on();
    _exit(1);
  }
  cr_assert(close(ready[1]) == 0 && read(ready[0], &byte, 1) == 1);
  tsanom_runs *run = open_run(path);
  wait_for_samples(run, 3, false);
  tsanom_runs_destroy(run);
  cr_assert(write(sampled[1], "", 1) == 1);
  return child;
}

static void beat_for_ever(void) {
  for (;;) (void)tsanom_heartbeat_beat(0, 0);
}

Test(vital_process, ends_when_the_program_is_killed) {
  pid_t child = start_child(beat_for_ever);
  cr_assert(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
  /* The sampler, and nothing else. */
  int status = -1;
  cr_assert(wait(&status) > 0 && status == 0 && wait(NULL) == -1 && errno == ECHILD);
  tsanom_runs *run = open_run(path);
  const tsanom_hsa_vital *sample;
  cr_assert(describe(run).state == TSANOM_RUN_KILLED);
  cr_assert(describe(run).vital == TSANOM_RUNS_VITAL_PROCESS);
  cr_assert(vitals(run, 0, &sample) >= 3);
  tsanom_runs_destroy(run);
}

static void execute_another_program(void) {
  (void)execlp("sleep", "sleep", "60", (char *)NULL);
}

Test(vital_process, ends_when_another_program_is_executed) {
  pid_t child = start_child(execute_another_program);
  int status = -1;
  pid_t first = wait(&status);
  cr_assert(first > 0 && first != child && status == 0);
  cr_assert(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
}

static void close_all(void) {
  for (int i = 3; i < 4096; i++) (void)close(i);
  (void)tsanom_heartbeat_beat(0, 0);
  _exit(tsanom_heartbeat_finish() == TSANOM_OK ? 0 : 1);
}

/* The pipe breaks: the sampler ends, and the last sample remains. */
Test(vital_process, a_program_may_close_all_descriptors) {
  int status = -1;
  pid_t child = start_child(close_all);
  cr_assert(waitpid(child, &status, 0) == child && status == 0, "%#x", (unsigned)status);
  cr_assert(wait(&status) > 0 && status == 0);
  tsanom_runs *run = open_run(path);
  const tsanom_hsa_vital *sample;
  cr_assert(describe(run).state == TSANOM_RUN_FINISHED);
  size_t count = vitals(run, 0, &sample);
  cr_assert(count >= 4 && sample[count - 1].beats == 2);
  tsanom_runs_destroy(run);
}

static void check_ends_only(void) {
  const tsanom_hsa_vital *sample;
  CHECK_STATUS(start(), TSANOM_OK);
  (void)tsanom_heartbeat_beat(0, 0);
  CHECK_STATUS(tsanom_heartbeat_finish(), TSANOM_OK);
  cr_assert(wait(NULL) == -1 && errno == ECHILD);
  tsanom_runs *run = open_run(path);
  cr_assert(describe(run).vital == TSANOM_RUNS_VITAL_ENDS);
  cr_assert(vitals(run, TSANOM_RUNS_PROCESS, &sample) == 2);
  cr_assert(sample[0].anonymous > 0 && sample[1].anonymous > 0);
  cr_assert(vitals(run, 0, &sample) == 1 && !isnan(sample[0].cpu_s));
  tsanom_runs_destroy(run);
}

Test(vital_process, without_it_init_and_finish_sample) {
  cr_assert(setenv("TSANOM_RECORD_SAMPLER", "/nonexistent", 1) == 0);
  check_ends_only();
}

/* Such a program would see it as a child. */
Test(vital_process, a_program_that_adopts_processes_has_none) {
  cr_assert(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0);
  check_ends_only();
}

/* What is no sampler ends at once, or is not even executed. */
Test(vital_process, another_program_in_its_place_does_no_harm) {
  char file[RUN_PATH];
  (void)snprintf(file, sizeof file, "%s/sampler", directory);
  file_write(file, "no program", 10);
  cr_assert(chmod(file, 0777) == 0 && setenv("TSANOM_RECORD_SAMPLER", file, 1) == 0);
  check_ends_only();
}
