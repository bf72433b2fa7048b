/* SPDX-License-Identifier: BSD-3-Clause */
/* What the preloaded library of inject does in a thread of the program, as the handler of
 * a signal: it calls only what is safe there. */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "inject.h"

static atomic_size_t leaked;
static _Thread_local double last; /* end of the last act, on the clock of the act */

double inject_clock(clockid_t clock) {
  struct timespec now;
  (void)clock_gettime(clock, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void leak(void) {
  const double now = inject_clock(inject_plan.clock);
  const double seconds = last > 0 ? now - last : 1e-9 * (double)INJECT_TICK.tv_nsec;
  const size_t due = (size_t)((double)inject_plan.rate * seconds);
  const size_t before = atomic_fetch_add(&leaked, due);
  const size_t rest = before < inject_plan.bytes ? inject_plan.bytes - before : 0;
  const size_t bytes = due < rest ? due : rest;
  void *block = bytes ? mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                      : MAP_FAILED;
  if (block != MAP_FAILED) {
    (void)madvise(block, bytes, MADV_NOHUGEPAGE);
    memset(block, 1, bytes);
  }
  last = now;
}

/* Uses (factor - 1) times the processor time that the thread had since the last act. */
static void slow_down(void) {
  const double now = inject_clock(CLOCK_THREAD_CPUTIME_ID);
  const double until = last > 0 ? now + (inject_plan.factor - 1) * (now - last) : now;
  do {
    last = inject_clock(CLOCK_THREAD_CPUTIME_ID);
  } while (last < until);
}

static void end_thread(void) {
  (void)syscall(SYS_exit, 0);
}

static void violate(void) {
  const struct rlimit none = {0};
  (void)setrlimit(RLIMIT_CORE, &none);
  (void)raise(SIGSEGV);
}

void inject_act(int signal) {
  static void (*const acts[])(void) = {
      [INJECT_LEAK] = leak,          [INJECT_IMBALANCE] = slow_down,
      [INJECT_PAUSE] = inject_pause, [INJECT_DEADLOCK] = inject_deadlock,
      [INJECT_STALL] = inject_stall, [INJECT_THREAD_EXIT] = end_thread,
      [INJECT_SEGV] = violate};
  const int saved = errno;
  (void)signal;
  acts[inject_plan.kind]();
  errno = saved;
}
