/* SPDX-License-Identifier: BSD-3-Clause */
/* What the watch reads of a thread of this machine. */
#include <criterion/criterion.h>
#include <math.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "task_sample.h"

static double cpu_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

Test(watch_task, a_thread_that_runs_has_its_processor_time) {
  tsanom_hsa_vital v = {.time = 3, .thread = 5, .stream = 7, .beats = 9, .resident = 1};
  double before = cpu_now();
  while (cpu_now() < before + 0.05) continue;
  cr_assert(task_sample(getpid(), getpid(), &v));
  cr_assert(v.cpu_s > 0.03 && v.cpu_s <= cpu_now() && v.wait_s >= 0, "%g", v.cpu_s);
  cr_assert(v.state == 'R' && v.task == getpid());
  cr_assert(v.time == 3 && v.thread == 5 && v.stream == 7 && v.beats == 9);
  cr_assert(isnan(v.resident) && isnan(v.minor_faults) && isnan(v.threads));
}

Test(watch_task, a_program_that_was_stopped_is_stopped) {
  tsanom_hsa_vital v = {.time = 0};
  pid_t child = fork();
  if (child == 0) {
    for (;;) pause();
  }
  kill(child, SIGSTOP);
  cr_assert(waitpid(child, NULL, WUNTRACED) == child);
  cr_assert(task_sample(child, child, &v) && v.state == 'T');
  kill(child, SIGKILL);
  cr_assert(waitpid(child, NULL, 0) == child);
  cr_assert(!task_sample(child, child, &v));
}
