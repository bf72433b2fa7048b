/* SPDX-License-Identifier: BSD-3-Clause */
/* Acts of inject that block a thread of the program for --for seconds. They run in the
 * handler of a signal; the mutexes are locked nowhere else. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "inject.h"

static pthread_mutex_t mutex[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static atomic_int arrived, holding;

static struct timespec at(double time) {
  const time_t seconds = (time_t)time;
  return (struct timespec){.tv_sec = seconds,
                           .tv_nsec = (long)(1e9 * (time - (double)seconds))};
}

void inject_pause(void) {
  const struct timespec end = at(inject_clock(CLOCK_MONOTONIC) + inject_plan.seconds);
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL) == EINTR) {
  }
}

void inject_deadlock(void) {
  const double end = inject_clock(CLOCK_REALTIME) + inject_plan.seconds;
  const struct timespec end_time = at(end);
  const int mine = atomic_fetch_add(&arrived, 1) & 1;
  (void)pthread_mutex_lock(&mutex[mine]);
  (void)atomic_fetch_add(&holding, 1);
  while (atomic_load(&holding) < 2 && inject_clock(CLOCK_REALTIME) < end) {
    (void)nanosleep(&INJECT_TICK, NULL);
  }
  if (!pthread_mutex_timedlock(&mutex[1 - mine], &end_time)) {
    (void)pthread_mutex_unlock(&mutex[1 - mine]);
  }
  (void)pthread_mutex_unlock(&mutex[mine]);
}

void inject_stall(void) {
  static const char block[1 << 16];
  const double end = inject_clock(CLOCK_MONOTONIC) + inject_plan.seconds;
  const int file = open(inject_plan.folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  while (file >= 0 && inject_clock(CLOCK_MONOTONIC) < end &&
         pwrite(file, block, sizeof block, 0) > 0 && !fsync(file)) {
  }
  (void)close(file);
}
