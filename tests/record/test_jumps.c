/* SPDX-License-Identifier: BSD-3-Clause */
/* A signal handler leaves beats by siglongjmp(), as interpreters do. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <tsanom/heartbeat.h>

#include "record/beating.h"
#include "support/check.h"
#include "support/run_directory.h"

static sigjmp_buf out;

static void jump(int number) {
  (void)number;
  siglongjmp(out, 1);
}

static void after(long microseconds) {
  struct itimerval timer = {.it_value = {.tv_usec = microseconds}};
  setitimer(ITIMER_REAL, &timer, NULL);
}

__attribute__((noinline)) static tsanom_status deeper(int depth) {
  volatile int left = depth;
  return left ? deeper(left - 1) : tsanom_heartbeat_beat(0, 2);
}

static char path[RUN_PATH];

static void begin(void) {
  make_directory();
  (void)snprintf(path, sizeof path, "%s/run", directory);
  CHECK_STATUS(tsanom_heartbeat_init(path, 1, NULL, NULL), TSANOM_OK);
  signal(SIGALRM, jump);
}

/* Whoever finishes the run after a jump out of a beat need not beat before. */
Test(record_jumps, a_run_ends_after_a_beat_that_was_left, .timeout = 120) {
  enum { JUMPS = 30 };
  for (volatile int i = 0; i < JUMPS; i++) {
    begin();
    if (sigsetjmp(out, 1) == 0) {
      after(100 + 77 * i);
      for (;;) (void)tsanom_heartbeat_beat(0, 1);
    }
    CHECK_STATUS(tsanom_heartbeat_finish(), TSANOM_OK);
    remove_directory();
  }
}

/* Nearly all of the time is in beats; the thread beats again after each of them. */
Test(record_jumps, the_thread_beats_after_a_beat_that_was_left, .timeout = 120) {
  enum { JUMPS = 300 };
  begin();
  for (volatile int i = 0; i < JUMPS; i++) {
    if (sigsetjmp(out, 1) == 0) {
      after(100 + 7 * i);
      for (;;) (void)tsanom_heartbeat_beat(0, 1);
    }
    CHECK_STATUS(tsanom_heartbeat_beat(0, 1), TSANOM_OK);
    CHECK_STATUS(deeper(3), TSANOM_OK);
  }
  CHECK_STATUS(tsanom_heartbeat_finish(), TSANOM_OK);
  remove_directory();
}
