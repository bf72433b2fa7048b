/* SPDX-License-Identifier: BSD-3-Clause */
/* Vital signs of programs that allocate, compute, sleep, wait and die. A program runs
 * until the kernel itself reports the value that the samples must show. */
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <tsanom/heartbeat.h>
#include <tsanom/hsa.h>
#include <tsanom/record.h>
#include <unistd.h>

#include "record/beating.h"
#include "record/vital.h"
#include "support/check.h"
#include "support/random.h"
#include "support/skip.h"

enum { MEGABYTE = 1 << 20 };

static char path[RUN_PATH];
static pthread_barrier_t barrier;

static void set_up(void) {
  make_directory();
  (void)snprintf(path, sizeof path, "%s/run", directory);
  pthread_barrier_init(&barrier, NULL, 2);
}

TestSuite(vital, .init = set_up, .fini = remove_directory, .timeout = 120);

static tsanom_status start(int32_t threads, int32_t helper, int32_t period_ms) {
  tsanom_record_options options;
  CHECK_STATUS(tsanom_record_options_init(&options, sizeof options), TSANOM_OK);
  options.helper = helper;
  options.vital_ms = period_ms;
  return tsanom_heartbeat_init(path, threads, &options, NULL);
}

static size_t vitals(const tsanom_runs *run, int32_t thread,
                     const tsanom_hsa_vital **sample) {
  size_t count = 0;
  CHECK_STATUS(tsanom_runs_vitals(run, thread, NULL, sample, &count), TSANOM_OK);
  return count;
}

static tsanom_hsa_vital last_vital(const tsanom_runs *run, int32_t thread) {
  const tsanom_hsa_vital *sample;
  size_t count = vitals(run, thread, &sample);
  cr_assert(count > 0, "no sample of thread %d", thread);
  return sample[count - 1];
}

static double cpu_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static char *touch_new_memory(size_t bytes) {
  char *block =
      mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  cr_assert(block != MAP_FAILED);
  (void)madvise(block, bytes, MADV_NOHUGEPAGE);
  for (size_t i = 0; i < bytes; i += 4096) block[i] = 1;
  return block;
}

Test(vital, memory_that_is_allocated_is_anonymous_and_that_of_the_streams_is_not) {
  enum { BEATS = 2000000 }; /* 32 MB of stream */
  beat_counts *counts = new_counts();
  CHECK_STATUS(start(1, TSANOM_RECORD_HELPER_THREAD, 0), TSANOM_OK);
  beat(counts, BEATS);
  (void)touch_new_memory((size_t)64 * MEGABYTE);
  CHECK_STATUS(tsanom_heartbeat_finish(), TSANOM_OK);
  const tsanom_hsa_vital *sample;
  tsanom_runs *run = open_run(path);
  size_t count = vitals(run, TSANOM_RUNS_PROCESS, &sample);
  cr_assert(count >= 2);
  double grown = sample[count - 1].anonymous - sample[0].anonymous;
  cr_assert(grown >= 63.0 * MEGABYTE && grown < 80.0 * MEGABYTE, "%g bytes", grown);
  cr_assert(sample[0].resident >= sample[0].anonymous && sample[0].threads >= 1);
  cr_assert(sample[count - 1].minor_faults - sample[0].minor_faults >= 64 * 256);
  cr_assert(describe(run).vital == TSANOM_RUNS_VITAL_THREAD);
  tsanom_runs_destroy(run);
}

Test(vital, the_peak_of_memory_is_known_though_no_sample_is_taken_there) {
  enum { BYTES = 64 * MEGABYTE };
  CHECK_STATUS(start(1, TSANOM_RECORD_HELPER_NONE, 0), TSANOM_OK);
  (void)tsanom_heartbeat_beat(0, 0);
  cr_assert(munmap(touch_new_memory(BYTES), BYTES) == 0);
  CHECK_STATUS(tsanom_heartbeat_finish(), TSANOM_OK);
  const tsanom_hsa_vital *sample;
  const tsanom_hsa_run *beats;
  tsanom_runs *run = open_run(path);
  size_t count = vitals(run, TSANOM_RUNS_PROCESS, &sample);
  CHECK_STATUS(tsanom_runs_hsa(run, NULL, &beats), TSANOM_OK);
  double before = fmax(sample[0].resident, sample[count - 1].resident);
  cr_assert(beats->peak >= before + 0.9 * BYTES && beats->peak < before + 1.1 * BYTES,
            "%g and %g bytes", beats->peak, before);
  tsanom_runs_destroy(run);
}

static double since_boot(void) {
  struct timespec t;
  clock_gettime(CLOCK_BOOTTIME, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The kernel counts in hundredths of a second. */
Test(vital, the_run_knows_for_how_long_the_program_had_run) {
  enum { TRIALS = 5, MOST_MS = 400 };
  const double tick = 0.01;
  uint64_t seed = 5;
  for (int trial = 0; trial < TRIALS; trial++) {
    int status;
    (void)snprintf(path, sizeof path, "%s/run%d", directory, trial);
    double begin = since_boot(), slept = (double)random_between(&seed, 0, MOST_MS) / 1000;
    pid_t child = fork();
    if (child == 0) {
      usleep((useconds_t)(1e6 * slept));
      bool failed = start(1, TSANOM_RECORD_HELPER_NONE, 0) != TSANOM_OK ||
                    tsanom_heartbeat_beat(0, 0) != TSANOM_OK ||
                    tsanom_heartbeat_finish() != TSANOM_OK;
      _exit(failed);
    }
    cr_assert(waitpid(child, &status, 0) == child && status == 0);
    double most = since_boot() - begin + tick;
    const tsanom_hsa_run *beats;
    tsanom_runs *run = open_run(path);
    CHECK_STATUS(tsanom_runs_hsa(run, NULL, &beats), TSANOM_OK);
    cr_assert(beats->before_s >= slept - tick && beats->before_s <= most,
              "%g of %g to %g s", beats->before_s, slept, most);
    tsanom_runs_destroy(run);
  }
}

/* A child of this process that computes for some milliseconds, awaited. */
static void compute_in_child(int milliseconds) {
  pid_t child = fork();
  if (child == 0) {
    while (clock() < milliseconds * (CLOCKS_PER_SEC / 1000)) {
    }
    _exit(0);
  }
  (void)waitpid(child, NULL, 0);
}

/* Those that were awaited before the run do not count. */
Test(vital, the_run_knows_what_processes_of_the_program_took) {
  enum { TRIALS = 3, MOST_MS = 60 };
  const double slack = 0.01;
  uint64_t seed = 7;
  for (int trial = 0; trial < TRIALS; trial++) {
    int before = (int)random_between(&seed, 0, MOST_MS);
    int during = (int)random_between(&seed, 20, 80);
    (void)snprintf(path, sizeof path, "%s/run%d", directory, trial);
    compute_in_child(before);
    CHECK_STATUS(start(1, TSANOM_RECORD_HELPER_NONE, 0), TSANOM_OK);
    CHECK_STATUS(tsanom_heartbeat_beat(0, 0), TSANOM_OK);
    compute_in_child(during);
    for (int ended = 0; ended < 2; ended++) {
      const tsanom_hsa_run *beats;
      tsanom_runs *run = open_run(path);
      CHECK_STATUS(tsanom_runs_hsa(run, NULL, &beats), TSANOM_OK);
      double most = ended ? 1e-3 * during + slack : 0, least = ended ? 1e-3 * during : 0;
      cr_assert(beats->children_s >= least && beats->children_s <= most, "%g of %d ms",
                beats->children_s, during);
      tsanom_runs_destroy(run);
      if (!ended) CHECK_STATUS(tsanom_heartbeat_finish(), TSANOM_OK);
    }
  }
}

static void *sleep_once(void *argument) {
  (void)argument;
  (void)tsanom_heartbeat_beat(1, 0);
  pthread_barrier_wait(&barrier);
  pthread_barrier_wait(&barrier);
  return NULL;
}

/* The thread is asleep, as far as its state in /proc says. */
static void wait_until_asleep(pid_t task) {
  char name[64], text[256], state = 0;
  (void)snprintf(name, sizeof name, "/proc/self/task/%d/stat", (int)task);
  while (state != 'S') {
    FILE *file = fopen(name, "r");
    cr_assert(file && fgets(text, sizeof text, file));
    (void)fclose(file);
    state = strrchr(text, ')')[2];
  }
}

Test(vital, a_thread_that_computes_differs_from_one_that_sleeps) {
  pthread_t sleeper;
  clockid_t clock;
  CHECK_STATUS(start(2, TSANOM_RECORD_HELPER_THREAD, 0), TSANOM_OK);
  cr_assert(pthread_create(&sleeper, NULL, sleep_once, NULL) == 0);
  cr_assert(pthread_getcpuclockid(sleeper, &clock) == 0);
  pthread_barrier_wait(&barrier);
  uint64_t beats = 0;
  for (double begin = cpu_seconds(); cpu_seconds() - begin < 0.2; beats++) {
    (void)tsanom_heartbeat_beat(0, 0);
  }
  wait_until_asleep(~(clock >> 3));
  CHECK_STATUS(tsanom_heartbeat_finish(), TSANOM_OK);
  tsanom_runs *run = open_run(path);
  tsanom_hsa_vital busy = last_vital(run, 0), asleep = last_vital(run, 1);
  cr_assert(busy.cpu_s >= 0.19 && asleep.cpu_s < 0.1, "%g %g", busy.cpu_s, asleep.cpu_s);
  cr_assert(busy.task == (int32_t)syscall(SYS_gettid) && asleep.task == ~(clock >> 3));
  cr_assert(asleep.state == 'S' && busy.state == 'R');
  cr_assert(busy.beats == beats && asleep.beats == 1);
  cr_assert(asleep.voluntary >= 1 && busy.involuntary >= 0);
  cr_assert(isnan(busy.resident) && isnan(busy.threads));
  tsanom_hsa_vital process = last_vital(run, TSANOM_RUNS_PROCESS);
  cr_assert(process.cpu_s >= 0.19 && process.threads >= 2 && isnan(process.wait_s));
  cr_assert(process.task == (int32_t)getpid());
  pthread_barrier_wait(&barrier);
  pthread_join(sleeper, NULL);
  tsanom_runs_destroy(run);
}

/* A sample of the own thread, as the recorder reads it. */
Test(vital, the_processor_of_a_thread_is_known) {
  cpu_set_t one;
  int processor = sched_getcpu(), own = open("/proc/self", O_RDONLY | O_DIRECTORY);
  CPU_ZERO(&one);
  CPU_SET((size_t)processor, &one);
  cr_assert(own >= 0 && sched_setaffinity(0, sizeof one, &one) == 0);
  tsn_vital_record record = {.task = (int32_t)syscall(SYS_gettid)};
  tsn_proc_read_thread(own, NULL, false, &record);
  (void)close(own);
  cr_assert(record.processor == (uint32_t)processor + 1, "%u", record.processor);
}

static void *allocate(void *argument) {
  (void)argument;
  (void)tsanom_heartbeat_beat(1, 0);
  (void)touch_new_memory((size_t)16 * MEGABYTE);
  pthread_barrier_wait(&barrier);
  pthread_barrier_wait(&barrier);
  return NULL;
}

Test(vital, page_faults_are_those_of_the_thread_that_allocates) {
  pthread_t other;
  CHECK_STATUS(start(2, TSANOM_RECORD_HELPER_THREAD, 0), TSANOM_OK);
  (void)tsanom_heartbeat_beat(0, 0);
  cr_assert(pthread_create(&other, NULL, allocate, NULL) == 0);
  pthread_barrier_wait(&barrier);
  CHECK_STATUS(tsanom_heartbeat_finish(), TSANOM_OK);
  pthread_barrier_wait(&barrier);
  pthread_join(other, NULL);
  tsanom_runs *run = open_run(path);
  cr_assert(last_vital(run, 1).minor_faults >= 16 * 256);
  cr_assert(last_vital(run, 0).minor_faults < 16 * 256);
  tsanom_runs_destroy(run);
}

static double waited(void) {
  double cpu = 0, wait = -1;
  FILE *file = fopen("/proc/thread-self/schedstat", "r");
  if (!file) return -1;
  if (fscanf(file, "%lf %lf", &cpu, &wait) != 2) wait = -1;
  (void)fclose(file);
  return cpu > 0 ? 1e-9 * wait : -1;
}

/* Another process wants the same processor. */
Test(vital, a_competitor_makes_a_thread_wait) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET((size_t)sched_getcpu(), &one);
  if (sched_setaffinity(0, sizeof one, &one) != 0 || waited() < 0) {
    SKIP_TEST("the system does not count waiting");
  }
  pid_t competitor = fork();
  cr_assert(competitor >= 0);
  if (competitor == 0) {
    alarm(60);
    for (;;) continue;
  }
  CHECK_STATUS(start(1, TSANOM_RECORD_HELPER_THREAD, 0), TSANOM_OK);
  double before = waited();
  while (waited() - before < 0.2) (void)tsanom_heartbeat_beat(0, 0);
  CHECK_STATUS(tsanom_heartbeat_finish(), TSANOM_OK);
  cr_assert(kill(competitor, SIGKILL) == 0 && waitpid(competitor, NULL, 0) > 0);
  tsanom_runs *run = open_run(path);
  cr_assert(last_vital(run, 0).wait_s >= 0.2);
  cr_assert(last_vital(run, 0).involuntary >= 1);
  tsanom_runs_destroy(run);
}

/* Wait until a run has as many samples of thread 0. */
static void wait_for_samples(tsanom_runs *run, uint64_t samples) {
  const tsanom_hsa_vital *sample;
  do {
    (void)usleep(2000);
    CHECK_STATUS(tsanom_runs_refresh(run, NULL, NULL), TSANOM_OK);
  } while (describe(run).vital != TSANOM_RUNS_VITAL_THREAD ||
           vitals(run, 0, &sample) < samples);
}

Test(vital, a_killed_program_leaves_its_samples) {
  enum { SAMPLES = 12 };
  int ready[2];
  cr_assert(pipe(ready) == 0);
  pid_t child = fork();
  cr_assert(child >= 0);
  if (child == 0) {
    alarm(60);
    char byte = (char)(start(1, TSANOM_RECORD_HELPER_THREAD, 1) != TSANOM_OK);
    if (write(ready[1], &byte, 1) != 1) _exit(1);
    for (;;) (void)tsanom_heartbeat_beat(0, 0);
  }
  char failed = 1;
  cr_assert(read(ready[0], &failed, 1) == 1 && !failed);
  tsanom_runs *run = open_run(path);
  wait_for_samples(run, SAMPLES);
  cr_assert(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
  CHECK_STATUS(tsanom_runs_refresh(run, NULL, NULL), TSANOM_OK);
  tsanom_runs *fresh = open_run(path);
  cr_assert(describe(fresh).state == TSANOM_RUN_KILLED);
  cr_assert(describe(fresh).vital_samples == describe(run).vital_samples);
  const tsanom_hsa_vital *sample;
  size_t count = vitals(fresh, 0, &sample), with_switches = 0;
  cr_assert(count >= SAMPLES);
  for (size_t i = 0; i < count; i++) {
    cr_assert(sample[i].task == (int32_t)child && sample[i].state != 0);
    with_switches += isnan(sample[i].voluntary) ? 0 : 1;
    cr_assert(i == 0 || (sample[i].time > sample[i - 1].time &&
                         sample[i].beats >= sample[i - 1].beats &&
                         sample[i].cpu_s >= sample[i - 1].cpu_s));
  }
  cr_assert(with_switches > 0 && with_switches < count);
  tsanom_runs_destroy(fresh);
  tsanom_runs_destroy(run);
}

/* A number of descriptors that the program left free is free at any time, and a pipe that
 * it closed is closed. */
Test(vital, the_sampler_leaves_the_descriptors_alone) {
  enum { TRIES = 20000 };
  const tsanom_hsa_vital *sample;
  int ends[2];
  char byte;
  cr_assert(pipe(ends) == 0);
  int expected = open("/dev/null", O_RDONLY | O_CLOEXEC);
  cr_assert(close(expected) == 0);
  CHECK_STATUS(start(1, TSANOM_RECORD_HELPER_THREAD, 1), TSANOM_OK);
  (void)tsanom_heartbeat_beat(0, 0);
  tsanom_runs *run = open_run(path);
  wait_for_samples(run, 2);
  cr_assert(close(ends[1]) == 0 && read(ends[0], &byte, 1) == 0);
  cr_assert(close(ends[0]) == 0);
  cr_assert(open("/dev/null", O_RDONLY | O_CLOEXEC) == ends[0]);
  cr_assert(open("/dev/null", O_RDONLY | O_CLOEXEC) == ends[1]);
  cr_assert(open("/dev/null", O_RDONLY | O_CLOEXEC) == expected);
  for (size_t i = 0; i < TRIES || vitals(run, 0, &sample) < 8; i++) {
    cr_assert(close(expected) == 0);
    cr_assert(open("/dev/null", O_RDONLY | O_CLOEXEC) == expected);
    if (i >= TRIES) wait_for_samples(run, 8);
  }
  /* None is left: the last sample knows nothing, but the sampler does. */
  struct rlimit limit = {.rlim_cur = 64, .rlim_max = 64};
  cr_assert(setrlimit(RLIMIT_NOFILE, &limit) == 0);
  while (open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0) continue;
  size_t before = vitals(run, 0, &sample);
  CHECK_STATUS(tsanom_runs_refresh(run, NULL, NULL), TSANOM_E_IO);
  CHECK_STATUS(tsanom_heartbeat_finish(), TSANOM_OK);
  cr_assert(close(expected) == 0);
  tsanom_runs *whole = open_run(path);
  cr_assert(vitals(whole, 0, &sample) > before);
  tsanom_hsa_vital last = last_vital(whole, TSANOM_RUNS_PROCESS);
  cr_assert(isnan(last.anonymous) && isnan(last.cpu_s) && last.state == 0);
  tsanom_runs_destroy(whole);
  tsanom_runs_destroy(run);
}

Test(vital, they_can_be_switched_off) {
  char file[RUN_PATH + 32];
  (void)snprintf(file, sizeof file, "%s/heartbeat.vital", path);
  CHECK_STATUS(start(1, TSANOM_RECORD_HELPER_THREAD, TSANOM_RECORD_VITAL_OFF - 1),
               TSANOM_E_OPTION);
  CHECK_STATUS(start(1, TSANOM_RECORD_HELPER_THREAD, TSANOM_RECORD_VITAL_OFF), TSANOM_OK);
  (void)tsanom_heartbeat_beat(0, 0);
  CHECK_STATUS(tsanom_heartbeat_finish(), TSANOM_OK);
  cr_assert(access(file, F_OK) != 0);
  tsanom_runs *run = open_run(path);
  cr_assert(describe(run).vital == TSANOM_RUNS_VITAL_NONE);
  tsanom_runs_destroy(run);
}

Test(vital, the_exit_status_is_stored) {
  tsanom_record *record;
  const tsanom_hsa_run *beats;
  for (int32_t status = 0; status < 256; status += 51) {
    CHECK_STATUS(tsanom_record_create(path, 1, NULL, NULL, &record), TSANOM_OK);
    (void)tsanom_record_beat(record, 0, 0);
    CHECK_STATUS(tsanom_record_set_exit(record, status), TSANOM_OK);
    CHECK_STATUS(tsanom_record_finish(record), TSANOM_OK);
    tsanom_record_destroy(record);
    tsanom_runs *run = open_run(path);
    CHECK_STATUS(tsanom_runs_hsa(run, NULL, &beats), TSANOM_OK);
    cr_assert(beats->exit_code == status);
    tsanom_runs_destroy(run);
    directory_remove(path);
  }
}

/* One file for two channels; the first has it. */
Test(vital, a_recorder_object_samples_once) {
  tsanom_record_options options;
  tsanom_record *record;
  char file[RUN_PATH + 40];
  CHECK_STATUS(tsanom_record_options_init(&options, sizeof options), TSANOM_OK);
  for (int32_t channels = 1; channels <= 3; channels++) {
    options.channels = channels;
    CHECK_STATUS(tsanom_record_create(path, 1, &options, NULL, &record), TSANOM_OK);
    (void)tsanom_record_beat(record, 0, 0);
    (void)tsanom_record_region(record, 0, 0);
    CHECK_STATUS(tsanom_record_finish(record), TSANOM_OK);
    tsanom_record_destroy(record);
    bool of_beats = channels & TSANOM_RECORD_HEARTBEATS;
    (void)snprintf(file, sizeof file, "%s/heartbeat.vital", path);
    cr_assert((access(file, F_OK) == 0) == of_beats);
    (void)snprintf(file, sizeof file, "%s/regions/heartbeat.vital", path);
    cr_assert((access(file, F_OK) == 0) == !of_beats);
    if (channels & TSANOM_RECORD_REGIONS) {
      (void)snprintf(file, sizeof file, "%s/regions/places.tsv", path);
      file_write(file, "tsanom places 1\n", 16);
    }
    tsanom_runs *run = open_run(path);
    const tsanom_hsa_vital *sample;
    cr_assert(vitals(run, 0, &sample) >= 1);
    cr_assert(sample[0].beats == (of_beats ? 1 : 0));
    tsanom_runs_destroy(run);
    directory_remove(path);
  }
}

static void use_processor(double seconds) {
  double until = cpu_seconds() + seconds;
  while (cpu_seconds() < until) {
  }
}

/* The credit of a second is 0.8 ms. */
Test(vital, a_sampler_waits_when_its_advance_is_used) {
  static tsn_vital_sampler sampler;
  static tsn_vital_board board = {.period = 1000000};
  tsn_vital_begin(&sampler, &board, -1, -1);
  use_processor(0.0003);
  cr_assert(tsn_vital_pause(&sampler) == 1000000);
  for (int round = 0; round < 6;
       round++) { /* a round counts at most twice the one before */
    use_processor(0.002);
    if (tsn_vital_pause(&sampler) > 1000000) return;
  }
  cr_assert_fail("it does not wait after 12 ms");
}
