/* SPDX-License-Identifier: BSD-3-Clause */
/* A library that has each kind of construct once. NAME_run(k, hits, other) executes the
 * k-th, counts in hits[i] how often iteration i was executed, and returns the size of
 * the team; 0: there is no k-th.
 *   cc -DNAME=x -fopenmp -shared ...     the library
 *   cc -DNAME=x -DBEHIND ...             a plug-in that hands on to the library of that name
 */
#include <omp.h>
#include <pthread.h>

#define JOINED(a, b) a##b
#define JOIN(a, b) JOINED(a, b)
#define RUN JOIN(NAME, _run)
#define ORPHAN JOIN(NAME, _orphan)
#define BEHIND_RUN JOIN(NAME, _behind_run)
#define BEHIND_ORPHAN JOIN(NAME, _behind_orphan)

enum { SIZE = 100, THREADS = 2 };
typedef void orphan(int *hits);

int RUN(int kind, int *hits, orphan *other);
void ORPHAN(int *hits);

#ifdef BEHIND
int BEHIND_RUN(int kind, int *hits, orphan *other) {
  return RUN(kind, hits, other);
}

void BEHIND_ORPHAN(int *hits) {
  ORPHAN(hits);
}
#else
static void hit(int *count) {
  __atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
}

/* Worksharing outside of a region of this library: called in one of another library. */
void ORPHAN(int *hits) {
#pragma omp for schedule(dynamic, 7)
  for (int i = 0; i < SIZE; i++) hit(&hits[i]);
#pragma omp barrier
  hit(&hits[0]);
}

static int parallel(int *hits) {
  int team = 0;
#pragma omp parallel num_threads(THREADS)
  {
    hit(&hits[omp_get_thread_num()]);
    if (omp_get_thread_num() == 0) team = omp_get_num_threads();
  }
  return team;
}

static int loops(int *hits) {
  int team = 0;
#pragma omp parallel num_threads(THREADS)
  {
#pragma omp for schedule(static)
    for (int i = 0; i < SIZE; i++) hit(&hits[i]);
#pragma omp for schedule(dynamic, 3)
    for (int i = 0; i < SIZE; i++) hit(&hits[i]);
#pragma omp for schedule(guided) nowait
    for (int i = 0; i < SIZE; i++) hit(&hits[i]);
#pragma omp single
    team = omp_get_num_threads();
  }
#pragma omp parallel for num_threads(THREADS) schedule(dynamic, 3)
  for (int i = 0; i < SIZE; i++) hit(&hits[i]);
  return team;
}

static void share_sections(int *hits) {
#pragma omp sections
  {
#pragma omp section
    hit(&hits[0]);
#pragma omp section
    hit(&hits[1]);
#pragma omp section
    hit(&hits[2]);
  }
}

static int sections(int *hits) {
#pragma omp parallel num_threads(THREADS)
  share_sections(hits);
#pragma omp parallel sections num_threads(THREADS)
  {
#pragma omp section
    hit(&hits[3]);
#pragma omp section
    hit(&hits[4]);
  }
  return 1;
}

static int reductions(int *hits) {
  int sum = 0, product = 1;
#pragma omp parallel for num_threads(THREADS) reduction(+ : sum)
  for (int i = 0; i < SIZE; i++) sum += i;
#pragma omp parallel num_threads(THREADS) reduction(* : product)
  product *= 3;
  hits[0] = sum;
  hits[1] = product;
  return 1;
}

static int tasks(int *hits) {
#pragma omp parallel num_threads(THREADS)
#pragma omp single
  {
    for (int i = 0; i < SIZE; i++) {
#pragma omp task firstprivate(i)
      hit(&hits[i]);
    }
#pragma omp taskwait
#pragma omp taskloop
    for (int i = 0; i < SIZE; i++) hit(&hits[i]);
  }
  return 1;
}

/* Not atomic: a critical section of another runtime does not exclude. */
static int critical(int *hits) {
#pragma omp parallel num_threads(THREADS)
  for (int i = 0; i < 1000; i++) {
#pragma omp critical
    hits[0]++;
  }
  return 1;
}

static int nested(int *hits) {
  int before = omp_get_max_active_levels();
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(THREADS)
#pragma omp parallel num_threads(THREADS)
  {
    hit(&hits[10 * (omp_get_ancestor_thread_num(1) > 0) + omp_get_thread_num()]);
#pragma omp barrier
    hit(&hits[50 + omp_get_num_threads()]);
  }
  omp_set_max_active_levels(before);
  return 1;
}

/* Regions whose opening call, and whose last call, are jumps. */
__attribute__((noinline)) static void jump_into_region(int *hits) {
#pragma omp parallel num_threads(THREADS) firstprivate(hits)
  {
#pragma omp for schedule(dynamic, 3)
    for (int i = 0; i < SIZE; i++) hit(&hits[i]);
  }
}

__attribute__((noinline)) static void jump_into_barrier(int *hits) {
#pragma omp parallel num_threads(THREADS) firstprivate(hits)
  {
    hit(&hits[omp_get_thread_num()]);
#pragma omp barrier
  }
}

/* A jump from a function that the C library called. */
static int *counted;

static void hit_and_wait(void) {
  hit(counted);
#pragma omp barrier
}

static int tails(int *hits) {
  jump_into_region(hits);
  jump_into_barrier(hits);
  counted = hits;
#pragma omp parallel num_threads(THREADS)
  {
    pthread_once_t own = PTHREAD_ONCE_INIT;
    pthread_once(&own, hit_and_wait);
  }
  return 1;
}

static int serialized(int *hits) {
  volatile int many = 0;
#pragma omp parallel num_threads(THREADS) if (many)
  hit(&hits[omp_get_thread_num()]);
  return 1;
}

static int foreign(int *hits, orphan *other) {
#pragma omp parallel num_threads(THREADS)
  {
    other(hits);
#pragma omp barrier
    hit(&hits[omp_get_thread_num()]);
  }
  return 1;
}

int RUN(int kind, int *hits, orphan *other) {
  int (*const kinds[])(int *) = {parallel, loops,  sections, reductions, tasks,
                                 critical, nested, tails,    serialized};
  enum { KINDS = sizeof kinds / sizeof *kinds };
  if (kind < KINDS) return kinds[kind](hits);
  return kind == KINDS ? foreign(hits, other) : 0;
}
#endif
