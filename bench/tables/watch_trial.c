/* SPDX-License-Identifier: BSD-3-Clause */
/* watch_trial RUN ITERATIONS MICROSECONDS KIND AT: two threads that beat and then meet
 * at a barrier. Before beat AT thread 1 does what KIND names:
 *
 *   none       nothing            deadlock   locks a mutex that it has locked
 *   stop       SIGSTOP            loop       does not end
 *   leak       keeps 128 KiB, and in each later iteration */
#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <tsanom/heartbeat.h>
#include <unistd.h>

enum { THREADS = 2, LEAK = 128 << 10, PAGE = 4096, LONGEST_S = 7200 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void leak(void) {
  volatile char *block = malloc(LEAK);
  for (size_t i = 0; block && i < LEAK; i += PAGE) block[i] = 1;
}

/* So that processor time per beat is not only that of the recorder. */
static void work(void) {
  volatile double x = 0.5;
  for (int i = 0; i < 50000; i++) x = x * x - 1.25;
}

static void act(const char *kind, long i, long at) {
  volatile int goes_on = 1;
  if (i >= at && strcmp(kind, "leak") == 0) leak();
  if (i != at) return;
  if (strcmp(kind, "stop") == 0) (void)raise(SIGSTOP);
  if (strcmp(kind, "deadlock") == 0) {
    (void)pthread_mutex_lock(&mutex);
    (void)pthread_mutex_lock(&mutex);
  }
  while (strcmp(kind, "loop") == 0 && goes_on) continue;
}

int main(int count, char **argument) {
  if (count != 6) return EXIT_FAILURE;
  long iterations = atol(argument[2]), us = atol(argument[3]), at = atol(argument[5]);
  (void)alarm(LONGEST_S);
  if (tsanom_heartbeat_init(argument[1], THREADS, NULL, NULL) != TSANOM_OK)
    return EXIT_FAILURE;
#pragma omp parallel num_threads(THREADS)
  for (long i = 0; i < iterations; i++) {
    int t = omp_get_thread_num();
    if (t == 1) act(argument[4], i, at);
    (void)tsanom_heartbeat_beat(t, 0);
    if (us) work();
    if (us) (void)nanosleep(&(struct timespec){.tv_nsec = us * 1000}, NULL);
#pragma omp barrier
  }
  return tsanom_heartbeat_finish() == TSANOM_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
