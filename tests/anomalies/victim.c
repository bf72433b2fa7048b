/* SPDX-License-Identifier: BSD-3-Clause */
/* victim SECONDS [FILE]: two threads that count, and what happened to them: a line
 *
 *   thread N: counted C, processor S s, faults F, longest gap S s
 *
 * for each thread that came to its end, and the growth of the resident memory. A gap is
 * the time between two looks at the clock, which are some microseconds apart.
 * FILE is created when both threads count. */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { BATCH = 1000 };

static double seconds;
static const char *file;
static atomic_int counting;

struct thread {
  uint64_t counted;
  double processor;
  long faults;
  double gap;
  int ended;
};

static double read_clock(clockid_t clock) {
  struct timespec now;
  (void)clock_gettime(clock, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void *work(void *result) {
  struct thread *me = result;
  const double end = read_clock(CLOCK_MONOTONIC) + seconds;
  volatile uint64_t number = 0;
  if (atomic_fetch_add(&counting, 1) == 1 && file) {
    (void)close(open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  }
  for (double before = end - seconds, now = before; now < end; before = now) {
    for (int i = 0; i < BATCH; ++i) {
      number = number + 1;
    }
    now = read_clock(CLOCK_MONOTONIC);
    me->gap = now - before > me->gap ? now - before : me->gap;
  }
  struct rusage usage;
  (void)getrusage(RUSAGE_THREAD, &usage);
  me->counted = number;
  me->faults = usage.ru_minflt;
  me->processor = read_clock(CLOCK_THREAD_CPUTIME_ID);
  me->ended = 1;
  return NULL;
}

static long resident(void) {
  long pages = 0;
  FILE *statm = fopen("/proc/self/statm", "r");
  if (!statm || fscanf(statm, "%*d %ld", &pages) != 1) {
    exit(1);
  }
  (void)fclose(statm);
  return pages * sysconf(_SC_PAGESIZE);
}

int main(int argc, char **argv) {
  static struct thread threads[2];
  pthread_t other;
  seconds = argc > 1 ? strtod(argv[1], NULL) : 1;
  file = argc > 2 ? argv[2] : NULL;
  const long before = resident();
  if (pthread_create(&other, NULL, work, &threads[1])) {
    return 1;
  }
  work(&threads[0]);
  (void)pthread_join(other, NULL);
  for (int t = 0; t < 2; ++t) {
    if (threads[t].ended) {
      printf(
          "thread %d: counted %llu, processor %.3f s, faults %ld, longest gap %.3f s\n",
          t, (unsigned long long)threads[t].counted, threads[t].processor,
          threads[t].faults, threads[t].gap);
    }
  }
  printf("grown by %ld bytes\n", resident() - before);
  return 0;
}
