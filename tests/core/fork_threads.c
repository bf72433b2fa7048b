/* SPDX-License-Identifier: BSD-3-Clause */
/* Number of threads of a call in a forked child. A plain program: Criterion's workers
 * have threads of their own. */
#include <omp.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/exec.h"

static int32_t threads_in_child(void) {
  int ends[2];
  int32_t threads = -1;
  if (pipe(ends) != 0) return -1;
  pid_t child = fork();
  if (child == 0) {
    tsanom_exec caller, own;
    tsanom_exec_init(&caller, sizeof caller);
    caller.threads = 2;
    tsanom_status status = tsn_exec_read(&own, &caller);
    threads = status == TSANOM_OK ? own.threads : status;
    _exit(write(ends[1], &threads, sizeof threads) != sizeof threads);
  }
  if (read(ends[0], &threads, sizeof threads) != sizeof threads) threads = -1;
  (void)waitpid(child, NULL, 0);
  return threads;
}

static int expect(const char *what, int32_t got, int32_t expected) {
  if (got == expected) return 0;
  (void)fprintf(stderr, "%s: %d threads, expected %d\n", what, (int)got, (int)expected);
  return 1;
}

int main(void) {
  int failures = expect("child of one thread", threads_in_child(), 2);
  int started = 0;
#pragma omp parallel num_threads(2)
#pragma omp atomic
  started++;
  if (started != 2) {
    puts("skipped: OpenMP gave one thread");
    return 77;
  }
  failures += expect("child of two threads", threads_in_child(), 1);
  failures += expect("parent", tsn_fork_of_threads() ? 1 : 2, 2);
  return failures != 0;
}
