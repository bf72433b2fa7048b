/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that open regions of their own, each with a team. One argument for each, TURNS:WORK:WAIT:JOBS:
 * turns of two regions, work in the first of these, milliseconds until it begins; and how many threads, one
 * after the other, have these turns. All have opened a region, unless they have JOBS, before one begins. The
 * first argument is the size of the teams. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST = 8 };

typedef struct {
  int turns, wait, jobs;
  long work;
  pthread_t thread;
} opener;

static int team;
static pthread_barrier_t all;

static void spin(long work) {
  for (volatile long i = 0; i < work; i++) continue;
}

static void *turn(void *argument) {
  const opener *o = argument;
  for (int i = 0; i < o->turns; i++) {
#pragma omp parallel num_threads(team)
    spin(o->work);
#pragma omp parallel num_threads(team)
    spin(o->work / 2);
  }
  return NULL;
}

static void *run(void *argument) {
  const opener *o = argument;
  if (o->jobs == 1) {
#pragma omp parallel num_threads(team)
    spin(1);
  }
  pthread_barrier_wait(&all);
  usleep(1000 * (unsigned)o->wait);
  for (int i = 0; i < o->jobs; i++) {
    pthread_t job;
    if (o->jobs == 1) return turn(argument);
    if (pthread_create(&job, NULL, turn, argument) != 0) return NULL;
    pthread_join(job, NULL);
  }
  return NULL;
}

int main(int count, char **word) {
  static opener of[MOST];
  team = atoi(word[1]);
  if (pthread_barrier_init(&all, NULL, (unsigned)count - 2) != 0) return 1;
  for (int i = 2; i < count; i++) {
    opener *o = &of[i - 2];
    if (sscanf(word[i], "%d:%ld:%d:%d", &o->turns, &o->work, &o->wait, &o->jobs) != 4)
      return 1;
    if (pthread_create(&o->thread, NULL, run, o) != 0) return 1;
  }
  for (int i = 2; i < count; i++) pthread_join(of[i - 2].thread, NULL);
}
