/* SPDX-License-Identifier: BSD-3-Clause */
/* What the emitter stands: being killed, forks, full disks, bad directories. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <tsanom/heartbeat.h>
#include <tsanom/runs.h>
#include <unistd.h>

#include "record/beating.h"
#include "support/check.h"
#include "support/random.h"
#include "support/run_directory.h"
#include "support/sanitized.h"
#include "support/skip.h"

TestSuite(heartbeat_faults, .init = make_directory, .fini = remove_directory);

/* Beats that a child's threads know to be done, seen by its parent; and whether it left
 * fork(): the OpenMP runtime of clang 14 takes shared memory by the number of the process
 * there, and ends a later process of that number if it was killed before it set the size. */
enum { BEATERS = 2, STARTED = BEATERS, BEATS_AT_MOST = 300000 };
static _Atomic uint32_t *done;

static void *beat_and_tell(void *argument) {
  int32_t thread = (int32_t)(intptr_t)argument;
  for (uint32_t i = 0; i < BEATS_AT_MOST; i++) {
    if (tsanom_heartbeat_beat(thread, i) != TSANOM_OK) _exit(3);
    atomic_store_explicit(&done[thread], i + 1, memory_order_release);
  }
  return NULL;
}

static void beat_until_killed(const char *path, int32_t helper) {
  pthread_t beater[BEATERS];
  tsanom_record_options options;
  done[STARTED] = 1;
  tsanom_record_options_init(&options, sizeof options);
  options.helper = helper;
  if (tsanom_heartbeat_init(path, BEATERS, &options, NULL) != TSANOM_OK) _exit(2);
  for (intptr_t i = 0; i < BEATERS; i++) {
    pthread_create(&beater[i], NULL, beat_and_tell, (void *)i);
  }
  for (int i = 0; i < BEATERS; i++) pthread_join(beater[i], NULL);
  (void)tsanom_heartbeat_finish();
  for (;;) pause();
}

static void check_killed_run(const char *path) {
  tsanom_runs *run;
  if (!done[0] && !done[1]) {
    /* Killed during init: a run or none, but no crash. */
    if (tsanom_runs_open(path, NULL, NULL, &run) == TSANOM_OK) {
      tsanom_runs_destroy(run);
    }
    return;
  }
  run = open_run(path);
  for (uint32_t i = 0; i < BEATERS; i++) {
    uint64_t beats = describe_stream(run, i).count;
    cr_assert(beats == done[i] || beats == done[i] + 1, "%llu beats, but %u were done",
              (unsigned long long)beats, done[i]);
    for (uint64_t k = 0; k < beats; k += beats / 16 + 1) {
      uint32_t tag;
      read_beats(run, i, k, 1, NULL, &tag);
      cr_assert(tag == k);
    }
  }
  tsanom_runs_destroy(run);
}

Test(heartbeat_faults, no_beat_is_lost_to_sigkill) {
  enum { RUNS = CASES(200), LONGEST_LIFE = 16000 /* us */ };
  uint64_t seed = 2;
  done = mmap(NULL, (BEATERS + 1) * sizeof *done, PROT_READ | PROT_WRITE,
              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  for (int i = 0; i < RUNS; i++) {
    char path[DIRECTORY_CAPACITY + 16];
    (void)snprintf(path, sizeof path, "%s/%d", directory, i);
    for (int k = 0; k <= STARTED; k++) done[k] = 0;
    pid_t child = fork();
    cr_assert(child >= 0);
    if (child == 0) beat_until_killed(path, i % 2); /* by a helper or not */
    while (!done[STARTED]) (void)sched_yield();
    (void)usleep((useconds_t)random_between(&seed, 0, LONGEST_LIFE));
    kill(child, SIGKILL);
    cr_assert(waitpid(child, NULL, 0) == child);
    check_killed_run(path);
    directory_remove(path);
  }
}

enum { MANY = 200000 };

static char full_run[DIRECTORY_CAPACITY + 16];
static int32_t full_helper = TSANOM_RECORD_HELPER_THREAD;
static bool full_is_killed;

static int beat_into_a_full_disk(void) {
  int dropped = 0;
  tsanom_record_options options;
  tsanom_record_options_init(&options, sizeof options);
  options.helper = full_helper;
  if (tsanom_heartbeat_init(full_run, 1, &options, NULL) != TSANOM_OK) return 1;
  for (uint32_t i = 0; i < MANY; i++) {
    tsanom_status status = tsanom_heartbeat_beat(0, i);
    if (status != TSANOM_OK && status != TSANOM_E_IO) return 2;
    dropped += status != TSANOM_OK;
  }
  if (!dropped) return 3;
  if (full_is_killed) raise(SIGKILL);
  return tsanom_heartbeat_finish() == TSANOM_PARTIAL ? 0 : 4;
}

static void check_full_run(uint64_t bytes) {
  tsanom_runs *run = open_run(full_run);
  tsanom_runs_info info = describe(run);
  cr_assert(info.beats + info.beats_dropped == MANY && info.state == TSANOM_RUN_FINISHED);
  cr_assert(info.beats * 16 + 16384 > bytes, "only %llu beats",
            (unsigned long long)info.beats);
  uint32_t tag;
  read_beats(run, 0, info.beats - 1, 1, NULL, &tag);
  cr_assert(tag == info.beats - 1);
  tsanom_runs_destroy(run);
}

enum { LIMIT = 1 << 20 };

static int limited(void) {
  struct rlimit limit = {.rlim_cur = LIMIT, .rlim_max = LIMIT};
  return setrlimit(RLIMIT_FSIZE, &limit) != 0 ? 9 : beat_into_a_full_disk();
}

/* SIGXFSZ would kill the child. */
Test(heartbeat_faults, a_limit_of_file_sizes_drops_beats_and_says_so) {
  (void)snprintf(full_run, sizeof full_run, "%s/run", directory);
  int status = in_child(limited);
  cr_assert(status == 0, "the child ended with %#x", (unsigned)status);
  check_full_run(LIMIT);
}

Test(heartbeat_faults, a_limit_of_file_sizes_without_a_helper) {
  (void)snprintf(full_run, sizeof full_run, "%s/run", directory);
  full_helper = TSANOM_RECORD_HELPER_NONE;
  int status = in_child(limited);
  cr_assert(status == 0, "the child ended with %#x", (unsigned)status);
  check_full_run(LIMIT);
}

/* Without a helper nobody writes the count as beats are dropped, but that some were. */
Test(heartbeat_faults, a_killed_run_without_a_helper_reports_that_beats_were_dropped) {
  (void)snprintf(full_run, sizeof full_run, "%s/run", directory);
  full_helper = TSANOM_RECORD_HELPER_NONE;
  full_is_killed = true;
  (void)in_child(limited);
  tsanom_runs *run = open_run(full_run);
  tsanom_runs_info info = describe(run);
  cr_assert(info.state == TSANOM_RUN_KILLED && info.beats > 0 && info.beats_dropped > 0);
  cr_assert(info.beats + info.beats_dropped <= MANY);
  tsanom_runs_destroy(run);
}

enum { NO_PRIVILEGE = 77 };

static int on_a_small_disk(void) {
  if (!leave_mount_namespace()) return NO_PRIVILEGE;
  if (mount("none", directory, "tmpfs", 0, "size=1m") != 0) return NO_PRIVILEGE;
  int failed = beat_into_a_full_disk();
  if (failed) return failed;
  check_full_run((1 << 20) - 16384);
  return 0;
}

Test(heartbeat_faults, a_full_disk_drops_beats_and_says_so) {
  (void)snprintf(full_run, sizeof full_run, "%s/run", directory);
  int status = in_child(on_a_small_disk);
  if (WIFEXITED(status) && WEXITSTATUS(status) == NO_PRIVILEGE) {
    SKIP_TEST("mounting a small disk is not possible here");
  }
  cr_assert(status == 0, "the child ended with %#x", (unsigned)status);
}

static int limited_from_the_start(void) {
  struct rlimit limit = {.rlim_cur = 5000, .rlim_max = 5000};
  if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 9;
  return tsanom_heartbeat_init(directory, 1, NULL, NULL) == TSANOM_E_IO ? 0 : 1;
}

Test(heartbeat_faults, init_reports_a_full_disk_and_leaves_nothing) {
  int status = in_child(limited_from_the_start);
  cr_assert(status == 0, "the child ended with %#x", (unsigned)status);
  cr_assert(rmdir(directory) == 0);
  cr_assert(mkdir(directory, 0777) == 0);
}

Test(heartbeat_faults, init_leaves_a_run_that_is_there_as_it_is) {
  CHECK_STATUS(tsanom_heartbeat_init(directory, 1, NULL, NULL), TSANOM_OK);
  for (uint32_t i = 0; i < 10; i++) tsanom_heartbeat_beat(0, i);
  CHECK_STATUS(tsanom_heartbeat_finish(), TSANOM_OK);
  CHECK_STATUS(tsanom_heartbeat_init(directory, 1, NULL, NULL), TSANOM_E_IO);
  CHECK_STATUS(tsanom_heartbeat_init(directory, 3, NULL, NULL), TSANOM_E_IO);
  tsanom_runs *run = open_run(directory);
  cr_assert(describe(run).beats == 10 && describe(run).beat_streams == 1);
  tsanom_runs_destroy(run);
  char path[DIRECTORY_CAPACITY + 32];
  static const char *const removed[] = {"run", "00000"};
  for (size_t i = 0; i < sizeof removed / sizeof *removed; i++) {
    (void)snprintf(path, sizeof path, "%s/heartbeat.%s", directory, removed[i]);
    cr_assert(unlink(path) == 0);
  }
  CHECK_STATUS(tsanom_heartbeat_init(directory, 1, NULL, NULL), TSANOM_E_IO);
  (void)snprintf(path, sizeof path, "%s/heartbeat.vital", directory);
  cr_assert(access(path, F_OK) == 0);
}

static _Atomic int stop;

static void *beat_until_stopped(void *argument) {
  int32_t thread = (int32_t)(intptr_t)argument;
  while (!stop) {
    tsanom_status status = tsanom_heartbeat_beat(thread, 0);
    cr_assert(status == TSANOM_OK || status == TSANOM_E_STATE);
  }
  return NULL;
}

Test(heartbeat_faults, finish_may_come_while_threads_beat) {
  enum { RUNS = 30 };
  pthread_t beater[3];
  for (intptr_t i = 0; i < 3; i++) {
    pthread_create(&beater[i], NULL, beat_until_stopped, (void *)i);
  }
  for (int i = 0; i < RUNS; i++) {
    char path[DIRECTORY_CAPACITY + 16];
    (void)snprintf(path, sizeof path, "%s/%d", directory, i);
    CHECK_STATUS(tsanom_heartbeat_init(path, 2, NULL, NULL), TSANOM_OK);
    (void)usleep(2000);
    CHECK_STATUS(tsanom_heartbeat_finish(), TSANOM_OK);
    tsanom_runs_destroy(open_run(path));
    directory_remove(path);
  }
  stop = 1;
  for (int i = 0; i < 3; i++) pthread_join(beater[i], NULL);
}

static void *beat_as_new_threads(void *argument) {
  for (int32_t thread = (int32_t)(intptr_t)argument; !stop; thread += 2) {
    (void)tsanom_heartbeat_beat(thread, 0);
  }
  return NULL;
}

/* The lock of a thread that makes a stream is not taken for good in a child that is forked
 * meanwhile. */
Test(heartbeat_faults, a_child_may_begin_a_run_while_threads_get_streams,
     .timeout = 120) {
  enum { FORKS = CASES(100), SECONDS = 20, LONGEST = 3000 /* us */ };
  char path[DIRECTORY_CAPACITY + 16];
  pthread_t beater[2];
  uint64_t seed = 4;
  if (SANITIZED) return; /* its allocator has locks of its own */
  struct rlimit limit;
  cr_assert(getrlimit(RLIMIT_NOFILE, &limit) == 0);
  limit.rlim_cur = 256; /* a stream's descriptor is above */
  cr_assert(setrlimit(RLIMIT_NOFILE, &limit) == 0);
  (void)snprintf(path, sizeof path, "%s/run", directory);
  CHECK_STATUS(tsanom_heartbeat_init(path, 1, NULL, NULL), TSANOM_OK);
  for (intptr_t i = 0; i < 2; i++) {
    pthread_create(&beater[i], NULL, beat_as_new_threads, (void *)(i + 1));
  }
  for (int i = 0; i < FORKS; i++) {
    int status;
    (void)usleep((useconds_t)random_between(&seed, 0, LONGEST));
    pid_t child = fork();
    if (child == 0) {
      alarm(SECONDS);
      (void)snprintf(path, sizeof path, "%s/%d", directory, i);
      _exit(tsanom_heartbeat_init(path, 1, NULL, NULL) == TSANOM_OK &&
                    tsanom_heartbeat_finish() == TSANOM_OK
                ? 0
                : 1);
    }
    cr_assert(waitpid(child, &status, 0) == child && status == 0, "%#x",
              (unsigned)status);
  }
  stop = 1;
  for (int i = 0; i < 2; i++) pthread_join(beater[i], NULL);
  (void)tsanom_heartbeat_finish();
}

/* A program closes all descriptors, as a daemon does, and has files of its own at their numbers. Its
 * run is elsewhere by then. */
static int use_descriptors_of_the_recorder(void) {
  enum { FIRST = 3, MOST = 2048 };
  char moved[sizeof full_run + 8];
  struct stat null;
  tsanom_record_options options;
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || stat("/dev/null", &null) != 0) return 2;
  if (limit.rlim_max < 2 * MOST) return 0; /* none is above those of the program */
  limit.rlim_cur = MOST / 4;
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) return 2;
  tsanom_record_options_init(&options, sizeof options);
  options.helper = full_helper;
  if (tsanom_heartbeat_init(full_run, 1, &options, NULL) != TSANOM_OK) return 1;
  (void)tsanom_heartbeat_beat(0, 0);
  limit.rlim_cur = MOST;
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) return 2;
  (void)snprintf(moved, sizeof moved, "%s.moved", full_run);
  if (rename(full_run, moved) != 0) return 3;
  for (int file = FIRST; file < MOST; file++) (void)close(file);
  int first = open("/dev/null", O_RDONLY);
  for (int file = first + 1; file < MOST; file++) {
    if (dup2(first, file) != file) return 4;
  }
  for (uint32_t i = 0; i < MANY; i++) (void)tsanom_heartbeat_beat(0, i);
  (void)tsanom_heartbeat_beat(1, 0);
  (void)tsanom_heartbeat_finish();
  for (int file = first; file < MOST; file++) {
    struct stat facts;
    if (fstat(file, &facts) != 0 || facts.st_rdev != null.st_rdev) return 5;
  }
  return rename(moved, full_run);
}

Test(heartbeat_faults, descriptors_of_the_program_stay_open) {
  static const int32_t helpers[] = {TSANOM_RECORD_HELPER_NONE,
                                    TSANOM_RECORD_HELPER_THREAD};
  for (size_t i = 0; i < sizeof helpers / sizeof *helpers; i++) {
    full_helper = helpers[i];
    (void)snprintf(full_run, sizeof full_run, "%s/%zu", directory, i);
    int status = in_child(use_descriptors_of_the_recorder);
    cr_assert(status == 0, "helper %d: %#x", full_helper, (unsigned)status);
  }
}

/* While it goes on, and by a reader that is not its process. */
static int read_living_run(void) {
  while (done[0] == 0) (void)usleep(100);
  for (int i = 0; i < 50; i++) {
    uint64_t before = done[0];
    tsanom_runs *run = open_run(full_run);
    cr_assert(describe(run).state == TSANOM_RUN_RUNNING);
    cr_assert(describe_stream(run, 0).count >= before);
    tsanom_runs_destroy(run);
  }
  return 0;
}

Test(heartbeat_faults, a_run_may_be_read_while_it_goes_on) {
  (void)snprintf(full_run, sizeof full_run, "%s/run", directory);
  done = mmap(NULL, BEATERS * sizeof *done, PROT_READ | PROT_WRITE,
              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  /* The reader is forked before the recorder starts its helper thread: in a child of a
     process of several threads the allocator of AddressSanitizer may stay locked for
     ever. */
  pid_t reader = fork();
  cr_assert(reader >= 0);
  if (reader == 0) _exit(read_living_run());
  CHECK_STATUS(tsanom_heartbeat_init(full_run, 1, NULL, NULL), TSANOM_OK);
  int status;
  uint32_t i = 0;
  do {
    CHECK_STATUS(tsanom_heartbeat_beat(0, i++), TSANOM_OK);
    done[0] = i;
  } while (waitpid(reader, &status, WNOHANG) == 0);
  cr_assert(status == 0);
  CHECK_STATUS(tsanom_heartbeat_finish(), TSANOM_OK);
}
