/* SPDX-License-Identifier: BSD-3-Clause */
/* What programs do that a recorder in their process must not change: guest DEED [NUMBER]. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <omp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static double sum;

__attribute__((noinline)) static void region(int threads) {
#pragma omp parallel for reduction(+ : sum) num_threads(threads) schedule(static)
  for (int i = 0; i < 100; i++) sum += i;
}

/* A second and a third place. */
__attribute__((noinline)) static void another(void) {
#pragma omp parallel num_threads(2)
  {
#pragma omp atomic
    sum += 1;
  }
}

__attribute__((noinline)) static void third(void) {
#pragma omp parallel num_threads(2)
  {
#pragma omp atomic
    sum += 2;
  }
}

static void loop(int steps) {
  for (int i = 0; i < steps; i++) region(2);
}

/* The data file has the number of a standard descriptor. */
static int files(int number) {
  close(0);
  close(1);
  close(2);
  for (int i = 0; i < number; i++) (void)open("/dev/null", O_RDWR);
  int data = open("data", O_CREAT | O_TRUNC | O_RDWR, 0644);
  if (data != number) return 3;
  loop(3000);
  return write(data, &sum, sizeof sum) == sizeof sum ? 0 : 1;
}

static void end(int signal) {
  (void)signal;
  exit(7);
}

/* The signal comes at a random moment: in a beat, or in a section of the recorder. */
__attribute__((noreturn)) static void end_in_handler(int microseconds) {
  struct itimerval timer = {.it_value = {.tv_usec = microseconds}};
  signal(SIGALRM, end);
  setitimer(ITIMER_REAL, &timer, NULL);
  for (;;) {
    region(1);
    another();
  }
}

static void open_region(int signal) {
  (void)signal;
  third();
}

/* The first region of a place is opened by a handler. */
static int region_in_handler(void) {
  struct sigaction action = {.sa_handler = open_region};
  sigaction(SIGUSR1, &action, NULL);
  for (int i = 0; i < 50; i++) {
    if (i == 10) raise(SIGUSR1);
    region(1);
  }
  printf("%g\n", sum);
  return 0;
}

static volatile int is_open, may_go;

/* A thread with a pending cancellation opens the first region of a place. */
static void *cancelled(void *unused) {
  (void)unused;
  is_open = 1;
  while (!may_go) usleep(100);
  another();
  pthread_testcancel();
  return NULL;
}

static int cancel(void) {
  pthread_t thread;
  void *result;
  region(1);
  pthread_create(&thread, NULL, cancelled, NULL);
  while (!is_open) usleep(100);
  pthread_cancel(thread);
  may_go = 1;
  pthread_join(thread, &result);
  third();
  printf("%d\n", result == PTHREAD_CANCELED);
  return 0;
}

/* The same where the region is the first of all. */
static int cancel_first(void) {
  pthread_t thread;
  void *result;
  pthread_create(&thread, NULL, cancelled, NULL);
  while (!is_open) usleep(100);
  pthread_cancel(thread);
  may_go = 1;
  pthread_join(thread, &result);
  loop(20);
  printf("%d\n", result == PTHREAD_CANCELED);
  return 0;
}

static int child(int how) {
  if (how == 0) {
    pid_t first = fork();
    if (first == 0) exit(0);
    waitpid(first, NULL, 0);
  }
  region(2);
  pid_t forked = how == 2 ? _Fork() : fork();
  if (forked == 0) {
    omp_set_num_threads(1);
    for (int i = 0; i < 20; i++) region(1);
    printf("child %g\n", sum);
    fflush(stdout);
    _exit(3);
  }
  int status = 0; /* where there is no child, too */
  waitpid(forked, &status, 0);
  printf("parent %d\n", WEXITSTATUS(status));
  return 0;
}

static int clear(void) {
  clearenv();
  loop(20);
  printf("%g\n", sum);
  return 0;
}

/* The descriptors that the program may open, with that many threads. */
static int descriptors(int threads) {
  struct rlimit limit;
  int count = 0;
  region(threads);
  getrlimit(RLIMIT_NOFILE, &limit);
  while ((rlim_t)count < limit.rlim_cur && open("/dev/null", O_RDONLY) >= 0) count++;
  region(threads);
  printf("%d\n", count);
  return 0;
}

static void *small(void *unused) {
  region(1);
  another();
  third();
  return unused;
}

/* Threads with small stacks open the first regions of their places. */
static int stacks(int bytes) {
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  if (pthread_attr_setstacksize(&attributes, (size_t)bytes) != 0) return 3;
  for (int i = 0; i < 3; i++) {
    int error = pthread_create(&thread, &attributes, small, NULL);
    if (error) {
      printf("%s\n", strerror(error));
      return 4;
    }
    pthread_join(thread, NULL);
  }
  printf("%g\n", sum);
  return 0;
}

/* Threads that come and go, each of which opens a region; the last ones are together. */
static void *comes_and_goes(void *unused) {
  region(1);
  return unused;
}

static int threads_in_turn(int count) {
  enum { TOGETHER = 40 };
  pthread_t thread[TOGETHER];
  int error = 0;
  loop(20);
  for (int i = 0; i < count && !error; i++) {
    error = pthread_create(&thread[0], NULL, comes_and_goes, NULL);
    if (!error) pthread_join(thread[0], NULL);
  }
  for (int i = 0; i < TOGETHER && !error; i++) {
    error = pthread_create(&thread[i], NULL, comes_and_goes, NULL);
  }
  for (int i = 0; i < TOGETHER && !error; i++) pthread_join(thread[i], NULL);
  printf("%d\n", error);
  return error != 0;
}

/* Threads that are there together, each with a team of its own if it gets one. */
static int threads_together(int count) {
  enum { MOST = 64 };
  pthread_t thread[MOST];
  int started = 0;
  loop(20);
  while (started < count && started < MOST &&
         pthread_create(&thread[started], NULL, comes_and_goes, NULL) == 0) {
    started++;
  }
  for (int i = 0; i < started; i++) pthread_join(thread[i], NULL);
  printf("%d %g\n", started, sum);
  return started != count;
}

/* A limit of the size of files that the events reach. */
static int full(int kilobytes) {
  struct rlimit limit = {(rlim_t)kilobytes << 10, (rlim_t)kilobytes << 10};
  region(1);
  setrlimit(RLIMIT_FSIZE, &limit);
  for (int i = 0; i < 30000; i++) region(1);
  printf("%g\n", sum);
  return 0;
}

/* Another user or another root while threads come that have no stream yet. */
static int other_user(int number) {
  region(2);
  if (number == 1 && chroot("/usr") != 0) return 5;
  if (number != 1 && setuid(65534) != 0) return 5;
  region(8);
  loop(20);
  printf("%g\n", sum);
  return 0;
}

static sigjmp_buf out;

static void jump(int signal) {
  (void)signal;
  siglongjmp(out, 1);
}

/* A handler leaves whatever it interrupted; after that the loop goes on. */
static int jump_out(int times) {
  signal(SIGALRM, jump);
  for (volatile int i = 0; i < times; i++) {
    struct itimerval timer = {.it_value = {.tv_usec = 200 + 37 * i}};
    if (sigsetjmp(out, 1) == 0) {
      setitimer(ITIMER_REAL, &timer, NULL);
      for (;;) getppid();
    }
  }
  loop(20);
  printf("%g\n", sum);
  return 0;
}

static jmp_buf left;

/* A region is left by a jump. OpenMP does not allow it, but it works with a team of one. */
static int leave_regions(int times) {
  for (volatile int i = 0; i < times; i++) {
    if (setjmp(left) == 0) {
#pragma omp parallel num_threads(1)
      longjmp(left, 1);
    }
  }
  loop(20);
  printf("%g\n", sum);
  return 0;
}

/* Places, and with 0 the end of the run, beyond a limit of the size of files; the signal would end
 * the program. */
static int limited(int kilobytes) {
  struct rlimit limit = {(rlim_t)kilobytes << 10, (rlim_t)kilobytes << 10};
  if (kilobytes == 0) {
    loop(100);
    printf("%g\n", sum);
    fflush(stdout);
  }
  setrlimit(RLIMIT_FSIZE, &limit);
  loop(2000);
  another();
  third();
  if (kilobytes > 0) printf("%g\n", sum);
  return 0;
}

/* The errors of earlier calls are still there, at the start, after each region, and after
 * each barrier. */
static int keep_errors(int steps, int first) {
  int changed = 0;
  for (int i = 0; i < steps; i++) {
    errno = EDOM;
    region(2);
    if (i % 3 == 1) another();
    if (i % 5 == 2) third();
    changed += errno != EDOM;
#pragma omp parallel num_threads(2) reduction(+ : changed)
    {
      errno = ERANGE;
#pragma omp barrier
#pragma omp for schedule(dynamic)
      for (int k = 0; k < 4; k++) changed += errno != ERANGE;
      changed += errno != ERANGE;
    }
  }
  printf("%d %d\n", first, changed);
  return 0;
}

/* The file "count" has the number of regions that have ended. */
static int count_regions(int regions) {
  int file = open("count", O_RDWR);
  volatile long *count =
      mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (count == MAP_FAILED) return 3;
  close(file);
  for (int i = 0; i < regions; i++) {
    region(2);
    *count += 1;
  }
  return 0;
}

int main(int argc, char **argv) {
  int error = errno;
  const char *deed = argc > 1 ? argv[1] : "";
  int number = argc > 2 ? atoi(argv[2]) : 0;
  if (!strcmp(deed, "files")) return files(number);
  if (!strcmp(deed, "end")) end_in_handler(number);
  if (!strcmp(deed, "handler")) return region_in_handler();
  if (!strcmp(deed, "cancel")) return cancel();
  if (!strcmp(deed, "cancel-first")) return cancel_first();
  if (!strcmp(deed, "child")) return child(number);
  if (!strcmp(deed, "count")) return count_regions(number);
  if (!strcmp(deed, "errors")) return keep_errors(number, error);
  if (!strcmp(deed, "clear")) return clear();
  if (!strcmp(deed, "descriptors")) return descriptors(number);
  if (!strcmp(deed, "stacks")) return stacks(number);
  if (!strcmp(deed, "threads")) return threads_together(number);
  if (!strcmp(deed, "turns")) return threads_in_turn(number);
  if (!strcmp(deed, "full")) return full(number);
  if (!strcmp(deed, "nothing")) return 7;
  if (!strcmp(deed, "user")) return other_user(number);
  if (!strcmp(deed, "jump")) return jump_out(number);
  if (!strcmp(deed, "leave")) return leave_regions(number);
  if (!strcmp(deed, "limited")) return limited(number);
  return 2;
}
