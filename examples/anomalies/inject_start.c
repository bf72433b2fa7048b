/* SPDX-License-Identifier: BSD-3-Clause */
/* The preloaded library of inject: a thread of its own waits for the time of the anomaly
 * and interrupts threads of the program by a signal with the handler inject_act(). The
 * signal is SIGURG, which programs ignore by default. */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "inject.h"

enum { MOST_THREADS = 1024, LOOK_AGAIN = 20 }; /* the last in ticks */

static double started;

static void tick(void) {
  (void)nanosleep(&INJECT_TICK, NULL);
}

static void announce(void) {
  (void)fprintf(stderr, "inject: began after %.6f s\n",
                inject_clock(CLOCK_MONOTONIC) - started);
}

static void strike(void) {
  pid_t threads[MOST_THREADS];
  const int first = inject_plan.thread < 0 ? 0 : inject_plan.thread;
  const int least = first + (inject_plan.kind == INJECT_DEADLOCK ? 2 : 1);
  int count = 0;
  while ((count = inject_find_threads(threads, MOST_THREADS, SIGURG)) < least) {
    tick();
  }
  const bool repeats = inject_plan.kind <= INJECT_IMBALANCE;
  const double end = inject_clock(CLOCK_MONOTONIC) + inject_plan.seconds;
  announce();
  for (int ticks = 0; !ticks || (repeats && inject_clock(CLOCK_MONOTONIC) < end);
       ++ticks) {
    if (inject_plan.thread < 0 && ticks % LOOK_AGAIN == 0) {
      count = inject_find_threads(threads, MOST_THREADS, SIGURG);
    }
    for (int t = first; t < (inject_plan.thread < 0 ? count : least); ++t) {
      (void)syscall(SYS_tgkill, getpid(), threads[t], SIGURG);
    }
    tick();
  }
}

static void *run(void *unused) {
  while (inject_plan.when && access(inject_plan.when, F_OK)) {
    tick();
  }
  const double begin = inject_clock(inject_plan.clock) + inject_plan.after;
  while (inject_clock(inject_plan.clock) < begin) {
    tick();
  }
  if (inject_plan.kind < INJECT_KILL) {
    strike();
    return unused;
  }
  announce();
  if (inject_plan.kind == INJECT_KILL) {
    (void)kill(getpid(), SIGKILL);
  }
  exit(EXIT_FAILURE);
}

__attribute__((constructor)) static void start(void) {
  if (!inject_read_plan()) {
    return;
  }
  started = inject_clock(CLOCK_MONOTONIC);
  const struct sigaction action = {.sa_handler = inject_act, .sa_flags = SA_RESTART};
  sigset_t all, before;
  pthread_t thread;
  (void)sigaction(SIGURG, &action, NULL);
  (void)sigfillset(&all);
  (void)pthread_sigmask(SIG_BLOCK, &all, &before);
  if (!pthread_create(&thread, NULL, run, NULL)) {
    (void)pthread_detach(thread);
  }
  (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}
