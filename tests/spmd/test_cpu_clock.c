/* SPDX-License-Identifier: BSD-3-Clause */
/* The recorder's CPU time against the kernel's own, whatever happens to the thread. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <tsanom/record.h>
#include <tsanom/spmd.h>
#include <unistd.h>

#include "record/clock.h"
#include "support/check.h"

enum { REGION, REGIONS };

static double kernel_time(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static tsanom_spmd_recorder *make(void) {
  tsanom_spmd_recorder_options options;
  tsanom_spmd_recorder *r = NULL;
  CHECK_STATUS(tsanom_spmd_recorder_options_init(&options, sizeof options), TSANOM_OK);
  options.clock = TSANOM_SPMD_CLOCK_CPU;
  CHECK_STATUS(tsanom_spmd_recorder_create(REGIONS, 1, &options, NULL, &r), TSANOM_OK);
  return r;
}

static double time_of(const tsanom_spmd_recorder *r) {
  double time[REGIONS];
  CHECK_STATUS(tsanom_spmd_recorder_read(r, time, NULL, NULL), TSANOM_OK);
  return time[REGION];
}

static void work(double seconds) {
  double end = kernel_time() + seconds;
  while (kernel_time() < end) {
  }
}

static void doze(void) {
  struct timespec pause = {.tv_nsec = 2000000};
  nanosleep(&pause, NULL);
}

/* Visits with work and waiting in them; the kernel's time of the whole is noted. */
static double record(tsanom_spmd_recorder *r, int visits, int waits) {
  double start = kernel_time();
  for (int i = 0; i < visits; i++) {
    CHECK_STATUS(tsanom_spmd_begin(r, REGION), TSANOM_OK);
    work(1e-3);
    for (int w = 0; w < waits; w++) doze();
    CHECK_STATUS(tsanom_spmd_end(r, REGION), TSANOM_OK);
  }
  return kernel_time() - start;
}

/* Of `kernel` seconds, which interrupts and what lies between visits may be part of. */
static void check_time(double time, double kernel, double least) {
  cr_assert(time >= least, "%g s of at least %g s", time, least);
  cr_assert(time <= 1.5 * kernel + 1e-3, "%g s of %g s", time, kernel);
}

Test(spmd_cpu_clock, waiting_does_not_count) {
  tsanom_spmd_recorder *r = make();
  double kernel = record(r, 5, 20);
  check_time(time_of(r), kernel, 5e-3);
  tsanom_spmd_recorder_destroy(r);
}

static void *share_a_processor(void *kernel) {
  tsanom_spmd_recorder *r = make();
  double *result = kernel;
  result[0] = record(r, 60, 0);
  result[1] = time_of(r);
  tsanom_spmd_recorder_destroy(r);
  return NULL;
}

/* More threads than processors: the elapsed time is a multiple. */
Test(spmd_cpu_clock, what_other_threads_take_does_not_count) {
  long processors = sysconf(_SC_NPROCESSORS_ONLN);
  int threads = processors < 1 ? 4 : processors > 16 ? 64 : 4 * (int)processors;
  pthread_t thread[64];
  double result[64][2];
  for (int t = 0; t < threads; t++) {
    cr_assert_eq(pthread_create(&thread[t], NULL, share_a_processor, result[t]), 0);
  }
  for (int t = 0; t < threads; t++) {
    pthread_join(thread[t], NULL);
    check_time(result[t][1], result[t][0], 60e-3);
  }
}

static void on_alarm(int number) {
  (void)number;
}

Test(spmd_cpu_clock, signals_do_no_harm) {
  tsanom_spmd_recorder *r = make();
  struct sigaction action = {.sa_handler = on_alarm};
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
  struct itimerspec often = {.it_interval.tv_nsec = 200000, .it_value.tv_nsec = 200000};
  timer_t timer;
  sigaction(SIGALRM, &action, NULL);
  cr_assert_eq(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
  timer_settime(timer, 0, &often, NULL);
  double kernel = record(r, 20, 0);
  timer_delete(timer);
  check_time(time_of(r), kernel, 20e-3);
  tsanom_spmd_recorder_destroy(r);
}

/* The child's CPU time begins at 0, which must not stop the recorder. */
Test(spmd_cpu_clock, goes_on_in_a_forked_child) {
  tsanom_spmd_recorder *r = make();
  record(r, 50, 0);
  double before = time_of(r);
  pid_t child = fork();
  cr_assert_geq(child, 0);
  if (child == 0) {
    double kernel = record(r, 5, 2);
    double time = time_of(r) - before;
    _exit(time >= 5e-3 && time <= 1.5 * kernel + 1e-3 ? 0 : 1);
  }
  int ended;
  cr_assert_eq(waitpid(child, &ended, 0), child);
  cr_assert(WIFEXITED(ended) && WEXITSTATUS(ended) == 0, "%d", ended);
  tsanom_spmd_recorder_destroy(r);
}

static void run_at(size_t processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  (void)sched_setaffinity(0, sizeof set, &set);
}

/* The thread moves to another processor, in a visit and between two. */
Test(spmd_cpu_clock, a_move_to_another_processor_is_noticed) {
  tsanom_spmd_recorder *r = make();
  double start = kernel_time();
  for (int i = 0; i < 40; i++) {
    CHECK_STATUS(tsanom_spmd_begin(r, REGION), TSANOM_OK);
    work(5e-4);
    run_at((size_t)i % 2);
    work(5e-4);
    CHECK_STATUS(tsanom_spmd_end(r, REGION), TSANOM_OK);
    if (i % 4 == 0) run_at(1 - (size_t)i % 2);
  }
  check_time(time_of(r), kernel_time() - start, 40e-3);
  tsanom_spmd_recorder_destroy(r);
}

Test(spmd_cpu_clock, two_recorders_of_a_thread_agree) {
  tsanom_spmd_recorder *a = make(), *b = make();
  double start = kernel_time();
  CHECK_STATUS(tsanom_spmd_begin(a, REGION), TSANOM_OK);
  for (int i = 0; i < 10; i++) {
    doze();
    record(b, 1, 1);
  }
  CHECK_STATUS(tsanom_spmd_end(a, REGION), TSANOM_OK);
  check_time(time_of(a), kernel_time() - start, time_of(b));
  check_time(time_of(b), time_of(a), 10e-3);
  tsanom_spmd_recorder_destroy(a);
  tsanom_spmd_recorder_destroy(b);
}

Test(spmd_cpu_clock, says_how_it_is_read) {
  bool answer = tsn_cpu_clock_is_in_user_space();
  cr_assert_eq(tsn_cpu_clock_is_in_user_space(), answer);
  const char *tunables = getenv("GLIBC_TUNABLES");
  if (tunables && strstr(tunables, "rseq=0")) cr_assert(!answer);
}

static long waits(void) {
  struct rusage used;
  (void)getrusage(RUSAGE_THREAD, &used);
  return used.ru_nvcsw;
}

/* A thread that waited has another stretch of the processor behind it, one that was not switched
 * out the same. A short sleep may be over before the thread leaves its processor. */
Test(spmd_cpu_clock, a_wait_ends_a_stretch) {
  enum { ROUNDS = 200 };
  const struct timespec pause = {.tv_nsec = 20000};
  int same = 0, known = 0;
  bool is_known = tsn_cpu_clock_is_in_user_space();
  for (int i = 0; i < ROUNDS; i++) {
    (void)tsn_cpu_clock_now();
    int64_t before = tsn_cpu_clock_stretch();
    known += before != 0;
    same += before && before == tsn_cpu_clock_stretch();
    long waited = waits();
    nanosleep(&pause, NULL);
    waited = waits() - waited;
    cr_assert(!before || !waited || tsn_cpu_clock_stretch() != before, "%d", i);
  }
  cr_assert(is_known ? known > 0 && same > 0 : known == 0, "%d, %d", known, same);
}
