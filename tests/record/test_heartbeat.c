/* SPDX-License-Identifier: BSD-3-Clause */
/* The emitter, by what the reader finds of it. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <tsanom/heartbeat.h>
#include <tsanom/hsa.h>
#include <tsanom/runs.h>
#include <unistd.h>

#include "support/check.h"
#include "support/run_directory.h"

TestSuite(heartbeat, .init = make_directory, .fini = remove_directory);

static double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

Test(heartbeat, beats_only_within_a_run) {
  CHECK_STATUS(tsanom_heartbeat_beat(0, 0), TSANOM_E_STATE);
  CHECK_STATUS(tsanom_heartbeat_finish(), TSANOM_E_STATE);
  CHECK_STATUS(tsanom_heartbeat_init(directory, 1, NULL, NULL), TSANOM_OK);
  CHECK_STATUS(tsanom_heartbeat_init(directory, 1, NULL, NULL), TSANOM_E_STATE);
  CHECK_STATUS(tsanom_heartbeat_beat(0, 7), TSANOM_OK);
  CHECK_STATUS(tsanom_heartbeat_beat(-1, 7), TSANOM_E_INDEX);
  CHECK_STATUS(tsanom_heartbeat_finish(), TSANOM_OK);
  CHECK_STATUS(tsanom_heartbeat_finish(), TSANOM_E_STATE);
  CHECK_STATUS(tsanom_heartbeat_beat(0, 0), TSANOM_E_STATE);
}

/* Each clock: tags come back, times are those of the beats. */
Test(heartbeat, comes_back_as_recorded) {
  enum { BEATS = 1000 };
  for (int32_t clock = TSANOM_RECORD_CLOCK_AUTO; clock <= TSANOM_RECORD_CLOCK_MONOTONIC;
       clock++) {
    static double expected[BEATS], times[BEATS];
    static uint32_t tags[BEATS];
    char path[DIRECTORY_CAPACITY + 16];
    (void)snprintf(path, sizeof path, "%s/run%d", directory, clock);
    tsanom_record_options options;
    CHECK_STATUS(tsanom_record_options_init(&options, sizeof options), TSANOM_OK);
    options.clock = clock;
    tsanom_status status = tsanom_heartbeat_init(path, 2, &options, NULL);
#if !defined(__x86_64__)
    if (clock == TSANOM_RECORD_CLOCK_TSC) {
      CHECK_STATUS(status, TSANOM_E_OPTION);
      continue;
    }
#endif
    CHECK_STATUS(status, TSANOM_OK);
    for (uint32_t i = 0; i < BEATS; i++) {
      expected[i] = seconds_now();
      CHECK_STATUS(tsanom_heartbeat_beat(1, i * i), TSANOM_OK);
      if (i % 100 == 0) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    CHECK_STATUS(tsanom_heartbeat_finish(), TSANOM_OK);
    tsanom_runs *run = open_run(path);
    tsanom_runs_info info = describe(run);
    cr_assert(info.beats == BEATS && info.beat_streams == 2 && info.announced == 2);
    cr_assert(info.state == TSANOM_RUN_FINISHED && info.beats_dropped == 0 &&
              info.pid == getpid());
    cr_assert(clock == TSANOM_RECORD_CLOCK_AUTO || info.clock == clock);
    read_beats(run, 1, 0, BEATS, times, tags);
    for (uint32_t i = 0; i < BEATS; i++) {
      cr_assert(tags[i] == i * i);
      double error = (times[i] - times[0]) - (expected[i] - expected[0]);
      /* Another process may take the processor between the two readings. */
      cr_assert(error > -0.05 && error < 0.05, "beat %u is off by %g s", i, error);
      cr_assert(i == 0 || times[i] > times[i - 1]);
    }
    cr_assert(describe_stream(run, 0).count == 0);
    cr_assert(describe_stream(run, 1).time[0] == times[0]);
    cr_assert(describe(run).last == times[BEATS - 1]);
    tsanom_runs_destroy(run);
  }
}

static void *beat_hundred(void *number) {
  for (uint32_t i = 0; i < 100; i++) {
    CHECK_STATUS(tsanom_heartbeat_beat(*(int32_t *)number, i), TSANOM_OK);
  }
  return NULL;
}

static void in_thread(void *(*body)(void *), void *argument) {
  pthread_t thread;
  cr_assert(pthread_create(&thread, NULL, body, argument) == 0);
  cr_assert(pthread_join(thread, NULL) == 0);
}

/* A thread pool that is made anew goes on in the streams of the old one. */
Test(heartbeat, a_stream_goes_on_in_the_next_thread_of_its_number) {
  CHECK_STATUS(tsanom_heartbeat_init(directory, 2, NULL, NULL), TSANOM_OK);
  for (int i = 0; i < 50; i++) {
    int32_t numbers[] = {0, 1, 7};
    for (int k = 0; k < 3; k++) in_thread(beat_hundred, &numbers[k]);
  }
  CHECK_STATUS(tsanom_heartbeat_finish(), TSANOM_OK);
  tsanom_runs *run = open_run(directory);
  cr_assert(describe(run).beat_streams == 3 && describe(run).announced == 2);
  for (uint32_t i = 0; i < 3; i++) cr_assert(describe_stream(run, i).count == 5000);
  cr_assert(describe_stream(run, 2).thread == 7);
  tsanom_runs_destroy(run);
}

static pthread_barrier_t both;

/* Streams are allocated in blocks of 256. */
Test(heartbeat, a_thread_ends_when_blocks_of_streams_are_full) {
  for (int32_t threads = 255; threads <= 257; threads++) {
    int32_t number = threads - 1;
    char path[DIRECTORY_CAPACITY + 16];
    (void)snprintf(path, sizeof path, "%s/run%d", directory, (int)threads);
    CHECK_STATUS(tsanom_heartbeat_init(path, threads, NULL, NULL), TSANOM_OK);
    in_thread(beat_hundred, &number);
    in_thread(beat_hundred, &number);
    CHECK_STATUS(tsanom_heartbeat_finish(), TSANOM_OK);
    tsanom_runs *run = open_run(path);
    cr_assert(describe(run).beat_streams == (size_t)threads);
    cr_assert(describe_stream(run, (uint32_t)number).count == 200);
    tsanom_runs_destroy(run);
  }
}

static void *beat_beside(void *number) {
  for (uint32_t i = 0; i < 100; i++) {
    CHECK_STATUS(tsanom_heartbeat_beat(*(int32_t *)number, i), TSANOM_OK);
    if (i % 10 == 0) pthread_barrier_wait(&both);
  }
  return NULL;
}

/* What nested parallel regions do. */
Test(heartbeat, threads_of_one_number_have_streams_of_their_own) {
  pthread_t thread[2];
  int32_t number = 0;
  pthread_barrier_init(&both, NULL, 2);
  CHECK_STATUS(tsanom_heartbeat_init(directory, 1, NULL, NULL), TSANOM_OK);
  for (int i = 0; i < 2; i++) pthread_create(&thread[i], NULL, beat_beside, &number);
  for (int i = 0; i < 2; i++) pthread_join(thread[i], NULL);
  /* Both streams are free by now; no third one is made. */
  in_thread(beat_hundred, &number);
  CHECK_STATUS(tsanom_heartbeat_finish(), TSANOM_OK);
  tsanom_runs *run = open_run(directory);
  cr_assert(describe(run).beat_streams == 2 && describe(run).beats == 300);
  cr_assert(describe_stream(run, 1).thread == 0);
  tsanom_runs_destroy(run);
}

Test(heartbeat, one_thread_beats_by_several_numbers) {
  CHECK_STATUS(tsanom_heartbeat_init(directory, 2, NULL, NULL), TSANOM_OK);
  for (uint32_t i = 0; i < 300; i++) {
    CHECK_STATUS(tsanom_heartbeat_beat((int32_t)(i % 3), i), TSANOM_OK);
  }
  CHECK_STATUS(tsanom_heartbeat_finish(), TSANOM_OK);
  tsanom_runs *run = open_run(directory);
  cr_assert(describe(run).beat_streams == 3);
  for (uint32_t i = 0; i < 3; i++) {
    uint32_t tags[2];
    cr_assert(describe_stream(run, i).count == 100);
    read_beats(run, i, 98, 2, NULL, tags);
    cr_assert(tags[0] == 294 + i && tags[1] == 297 + i);
  }
  tsanom_runs_destroy(run);
}

/* Past several steps of growth, and past the end of a window. */
static void grow_a_stream(int32_t helper) {
  enum { BEATS = (1 << 24) + (1 << 20) };
  tsanom_record_options options;
  tsanom_record_options_init(&options, sizeof options);
  options.helper = helper;
  CHECK_STATUS(tsanom_heartbeat_init(directory, 1, &options, NULL), TSANOM_OK);
  for (uint32_t i = 0; i < BEATS; i++) {
    if (tsanom_heartbeat_beat(0, i) != TSANOM_OK) cr_assert_fail("beat %u", i);
  }
  CHECK_STATUS(tsanom_heartbeat_finish(), TSANOM_OK);
  tsanom_runs *run = open_run(directory);
  uint32_t tag;
  cr_assert(describe_stream(run, 0).count == BEATS);
  for (uint32_t i = 0; i < BEATS; i += 99991) {
    read_beats(run, 0, i, 1, NULL, &tag);
    cr_assert(tag == i);
  }
  tsanom_runs_destroy(run);
}

Test(heartbeat, streams_grow_without_a_limit) {
  grow_a_stream(TSANOM_RECORD_HELPER_THREAD);
}

Test(heartbeat, streams_grow_without_a_helper) {
  grow_a_stream(TSANOM_RECORD_HELPER_NONE);
}

static unsigned threads_of_this_process(void) {
  unsigned threads = 0;
  char line[256];
  FILE *status = fopen("/proc/self/status", "r");
  cr_assert(status);
  while (fgets(line, sizeof line, status)) (void)sscanf(line, "Threads: %u", &threads);
  fclose(status);
  return threads;
}

Test(heartbeat, without_a_helper_no_thread_is_started) {
  tsanom_record_options options;
  tsanom_record_options_init(&options, sizeof options);
  unsigned before = threads_of_this_process();
  options.helper = TSANOM_RECORD_HELPER_NONE;
  CHECK_STATUS(tsanom_heartbeat_init(directory, 1, &options, NULL), TSANOM_OK);
  CHECK_STATUS(tsanom_heartbeat_beat(0, 1), TSANOM_OK);
  cr_assert(before > 0 && threads_of_this_process() == before);
  CHECK_STATUS(tsanom_heartbeat_finish(), TSANOM_OK);
}

/* A signal to the program is left to the threads of the program. */
Test(heartbeat, the_helper_takes_no_signals) {
  sigset_t set, before;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigprocmask(SIG_UNBLOCK, &set, NULL);
  CHECK_STATUS(tsanom_heartbeat_init(directory, 1, NULL, NULL), TSANOM_OK);
  sigprocmask(SIG_BLOCK, &set, &before);
  kill(getpid(), SIGUSR1);
  nanosleep(&(struct timespec){.tv_nsec = 50000000},
            NULL); /* another thread may take it */
  cr_assert(sigtimedwait(&set, NULL, &(struct timespec){.tv_sec = 20}) == SIGUSR1);
  sigprocmask(SIG_SETMASK, &before, NULL);
  CHECK_STATUS(tsanom_heartbeat_finish(), TSANOM_OK);
}

/* A child would write into its parent's run. */
Test(heartbeat, mappings_are_not_inherited_by_children) {
  CHECK_STATUS(tsanom_heartbeat_init(directory, 1, NULL, NULL), TSANOM_OK);
  CHECK_STATUS(tsanom_heartbeat_beat(0, 0), TSANOM_OK);
  FILE *maps = fopen("/proc/self/smaps", "r");
  cr_assert(maps);
  char line[4096];
  int of_stream = 0, streams = 0;
  while (fgets(line, sizeof line, maps)) {
    if (strstr(line, directory)) of_stream = 1;
    if (strncmp(line, "VmFlags:", 8) != 0) continue;
    if (of_stream) cr_assert(strstr(line, " dc"), "%s", line);
    streams += of_stream;
    of_stream = 0;
  }
  (void)fclose(maps);
  cr_assert(streams > 0);
  CHECK_STATUS(tsanom_heartbeat_finish(), TSANOM_OK);
}

/* The header keeps the beginning of a long name. */
Test(heartbeat, a_program_may_have_a_long_name) {
  char name[200] = {0}, *before = program_invocation_short_name;
  memset(name, 'n', sizeof name - 1);
  program_invocation_short_name = name;
  CHECK_STATUS(tsanom_heartbeat_init(directory, 1, NULL, NULL), TSANOM_OK);
  CHECK_STATUS(tsanom_heartbeat_beat(0, 0), TSANOM_OK);
  CHECK_STATUS(tsanom_heartbeat_finish(), TSANOM_OK);
  program_invocation_short_name = before;
  tsanom_runs *run = open_run(directory);
  cr_assert(describe(run).beats == 1);
  tsanom_runs_destroy(run);
}

Test(heartbeat, a_run_names_its_program_and_its_machine) {
  const tsanom_hsa_run *beats;
  char count[16];
  cpu_set_t usable;
  CHECK_STATUS(tsanom_heartbeat_init(directory, 1, NULL, NULL), TSANOM_OK);
  CHECK_STATUS(tsanom_heartbeat_beat(0, 0), TSANOM_OK);
  CHECK_STATUS(tsanom_heartbeat_finish(), TSANOM_OK);
  tsanom_runs *run = open_run(directory);
  CHECK_STATUS(tsanom_runs_hsa(run, NULL, &beats), TSANOM_OK);
  cr_assert(sched_getaffinity(0, sizeof usable, &usable) == 0);
  (void)snprintf(count, sizeof count, "%d x ", CPU_COUNT(&usable));
  cr_assert(strncmp(beats->machine, count, strlen(count)) == 0, "%s", beats->machine);
  cr_assert(strlen(beats->machine) > strlen(count));
  cr_assert_str_eq(beats->program, program_invocation_short_name);
  tsanom_runs_destroy(run);
}

Test(heartbeat, runs_follow_each_other) {
  for (int i = 0; i < 20; i++) {
    char path[DIRECTORY_CAPACITY + 16];
    (void)snprintf(path, sizeof path, "%s/%d", directory, i);
    CHECK_STATUS(tsanom_heartbeat_init(path, 1 + i % 3, NULL, NULL), TSANOM_OK);
    for (int32_t k = 0; k < 4; k++) in_thread(beat_hundred, &k);
    CHECK_STATUS(tsanom_heartbeat_beat(i % 2, 0), TSANOM_OK);
    CHECK_STATUS(tsanom_heartbeat_finish(), TSANOM_OK);
    tsanom_runs *run = open_run(path);
    cr_assert(describe(run).beats == 401 && describe(run).beat_streams == 4);
    tsanom_runs_destroy(run);
  }
}
