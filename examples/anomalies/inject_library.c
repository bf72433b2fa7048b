/* SPDX-License-Identifier: BSD-3-Clause */
/* The preloaded library of inject: a thread of its own waits for the time of the anomaly
 * and interrupts threads of the program by a signal, whose handler acts in them and calls only
 * what is safe there. The signal is SIGURG, which programs ignore by default. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "inject.h"

/* Between repeated acts, and between looks at the time. */
#define TICK ((struct timespec){.tv_nsec = 5000000})

enum { NUMBERS = 8, MOST_THREADS = 1024, LOOK_AGAIN = 20 }; /* the last in ticks */

static struct inject_plan plan;

/* Whether there is a plan in the environment. */
static bool read_plan(void) {
  const char *text = getenv(INJECT_PLAN);
  double numbers[NUMBERS];
  for (int i = 0; text && i < NUMBERS; ++i) {
    char *end = NULL;
    numbers[i] = strtod(text, &end);
    text = end == text ? NULL : end;
  }
  if (!text || !(numbers[0] >= 0 && numbers[0] < INJECT_KINDS)) return false;
  plan = (struct inject_plan){(int)numbers[0],     (int)numbers[1],
                              numbers[2],          numbers[3],
                              numbers[4],          (size_t)numbers[5],
                              (size_t)numbers[6],  (clockid_t)numbers[7],
                              getenv(INJECT_WHEN), getenv(INJECT_FOLDER)};
  (void)unsetenv(INJECT_PLAN); /* for the processes that the program starts */
  return true;
}

static double now(clockid_t clock) {
  struct timespec time;
  (void)clock_gettime(clock, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int blocks_signal(const char *thread) {
  char path[64];
  char line[256];
  (void)snprintf(path, sizeof path, "/proc/self/task/%.20s/status", thread);
  FILE *file = fopen(path, "re");
  unsigned long long blocked = ~0ULL; /* a thread that ended meanwhile */
  while (file && fgets(line, sizeof line, file)) {
    if (!strncmp(line, "SigBlk:", strlen("SigBlk:"))) {
      blocked = strtoull(line + strlen("SigBlk:"), NULL, 16);
    }
  }
  if (file) (void)fclose(file);
  return blocked >> (SIGURG - 1) & 1;
}

/* The threads of the program, in the order in which the kernel lists them, which is that
 * of their start. Threads that block the signal, such as the recorder's and the library's
 * own, do not count. */
static int find_threads(pid_t *threads) {
  DIR *tasks = opendir("/proc/self/task");
  int count = 0;
  const struct dirent *entry = NULL;
  while (tasks && count < MOST_THREADS && (entry = readdir(tasks))) {
    if (entry->d_name[0] != '.' && !blocks_signal(entry->d_name)) {
      threads[count++] = (pid_t)strtol(entry->d_name, NULL, 10);
    }
  }
  if (tasks) (void)closedir(tasks);
  return count;
}

/* Acts that block a thread for --for seconds; the mutexes are locked nowhere else. */
static pthread_mutex_t mutex[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static atomic_int arrived, holding;

static struct timespec at(double time) {
  const time_t seconds = (time_t)time;
  return (struct timespec){.tv_sec = seconds,
                           .tv_nsec = (long)(1e9 * (time - (double)seconds))};
}

static void pause_thread(void) {
  const struct timespec end = at(now(CLOCK_MONOTONIC) + plan.seconds);
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL) == EINTR) {
  }
}

static void lock_both(void) {
  const double end = now(CLOCK_REALTIME) + plan.seconds;
  const struct timespec end_time = at(end);
  const int mine = atomic_fetch_add(&arrived, 1) & 1;
  (void)pthread_mutex_lock(&mutex[mine]);
  (void)atomic_fetch_add(&holding, 1);
  while (atomic_load(&holding) < 2 && now(CLOCK_REALTIME) < end) {
    (void)nanosleep(&TICK, NULL);
  }
  if (!pthread_mutex_timedlock(&mutex[1 - mine], &end_time)) {
    (void)pthread_mutex_unlock(&mutex[1 - mine]);
  }
  (void)pthread_mutex_unlock(&mutex[mine]);
}

static void stall(void) {
  static const char block[1 << 16];
  const double end = now(CLOCK_MONOTONIC) + plan.seconds;
  const int file = open(plan.folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  while (file >= 0 && now(CLOCK_MONOTONIC) < end &&
         pwrite(file, block, sizeof block, 0) > 0 && !fsync(file)) {
  }
  (void)close(file);
}

static atomic_size_t leaked;
static _Thread_local double last; /* end of the last act, on the clock of the act */

static void leak(void) {
  const double time = now(plan.clock);
  const double seconds = last > 0 ? time - last : 1e-9 * (double)TICK.tv_nsec;
  const size_t due = (size_t)((double)plan.rate * seconds);
  const size_t before = atomic_fetch_add(&leaked, due);
  const size_t rest = before < plan.bytes ? plan.bytes - before : 0;
  const size_t bytes = due < rest ? due : rest;
  void *block = bytes ? mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                      : MAP_FAILED;
  if (block != MAP_FAILED) {
    (void)madvise(block, bytes, MADV_NOHUGEPAGE);
    memset(block, 1, bytes);
  }
  last = time;
}

/* Uses (factor - 1) times the processor time that the thread had since the last act. */
static void slow_down(void) {
  const double time = now(CLOCK_THREAD_CPUTIME_ID);
  const double until = last > 0 ? time + (plan.factor - 1) * (time - last) : time;
  do {
    last = now(CLOCK_THREAD_CPUTIME_ID);
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

static void act(int signal) {
  static void (*const acts[])(void) = {
      [INJECT_LEAK] = leak,          [INJECT_IMBALANCE] = slow_down,
      [INJECT_PAUSE] = pause_thread, [INJECT_DEADLOCK] = lock_both,
      [INJECT_STALL] = stall,        [INJECT_THREAD_EXIT] = end_thread,
      [INJECT_SEGV] = violate};
  const int saved = errno;
  (void)signal;
  acts[plan.kind]();
  errno = saved;
}

static double started;

static void tick(void) {
  (void)nanosleep(&TICK, NULL);
}

static void announce(void) {
  (void)fprintf(stderr, "inject: began after %.6f s\n", now(CLOCK_MONOTONIC) - started);
}

static void strike(void) {
  pid_t threads[MOST_THREADS];
  const int first = plan.thread < 0 ? 0 : plan.thread;
  const int least = first + (plan.kind == INJECT_DEADLOCK ? 2 : 1);
  int count = 0;
  while ((count = find_threads(threads)) < least) tick();
  const bool repeats = plan.kind <= INJECT_IMBALANCE;
  const double end = now(CLOCK_MONOTONIC) + plan.seconds;
  announce();
  for (int ticks = 0; !ticks || (repeats && now(CLOCK_MONOTONIC) < end); ++ticks) {
    if (plan.thread < 0 && ticks % LOOK_AGAIN == 0) count = find_threads(threads);
    for (int t = first; t < (plan.thread < 0 ? count : least); ++t) {
      (void)syscall(SYS_tgkill, getpid(), threads[t], SIGURG);
    }
    tick();
  }
}

static void *run(void *unused) {
  while (plan.when && access(plan.when, F_OK)) tick();
  const double begin = now(plan.clock) + plan.after;
  while (now(plan.clock) < begin) tick();
  if (plan.kind < INJECT_KILL) {
    strike();
    return unused;
  }
  announce();
  if (plan.kind == INJECT_KILL) (void)kill(getpid(), SIGKILL);
  exit(EXIT_FAILURE);
}

__attribute__((constructor)) static void start(void) {
  if (!read_plan()) return;
  started = now(CLOCK_MONOTONIC);
  const struct sigaction action = {.sa_handler = act, .sa_flags = SA_RESTART};
  sigset_t all, before;
  pthread_t thread;
  (void)sigaction(SIGURG, &action, NULL);
  (void)sigfillset(&all);
  (void)pthread_sigmask(SIG_BLOCK, &all, &before);
  if (!pthread_create(&thread, NULL, run, NULL)) (void)pthread_detach(thread);
  (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}
