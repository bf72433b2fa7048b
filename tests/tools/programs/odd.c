/* SPDX-License-Identifier: BSD-3-Clause */
/* What programs do besides: no region at all, regions in regions, before and in a forked
 * child, before and after exec, in a thread of the program's own, regions of one thread,
 * cancelled ones, and exit inside one. */
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int work(int regions) {
  int sum = 0;
  for (int i = 0; i < regions; i++) {
#pragma omp parallel num_threads(2) reduction(+ : sum)
    sum += 1;
  }
  return sum;
}

static int nested(int regions) {
  int sum = 0;
  omp_set_max_active_levels(2);
  for (int i = 0; i < regions; i++) {
#pragma omp parallel num_threads(2) reduction(+ : sum)
    {
#pragma omp parallel num_threads(2) reduction(+ : sum)
      sum += 1;
    }
  }
  return sum;
}

/* Regions that an if clause leaves to one thread, in which there are others. */
static int conditional(int regions) {
  int sum = 0;
  for (int i = 0; i < regions; i++) {
#pragma omp parallel if (i < 0) reduction(+ : sum)
    sum += work(1);
  }
  return sum;
}

/* Cancelled or not: that is up to OMP_CANCELLATION. */
static int cancelled(int regions) {
  int sum = 0;
  for (int i = 0; i < regions; i++) {
#pragma omp parallel num_threads(2) reduction(+ : sum)
    {
      sum += 1;
#pragma omp cancel parallel
#pragma omp barrier
      sum += 0;
    }
  }
  return sum;
}

static int twenty(void) {
  return work(20);
}

static int alone(void) {
  int sum = 0;
  for (int i = 0; i < 9; i++) {
#pragma omp parallel reduction(+ : sum)
    sum += 1;
  }
  return sum;
}

/* What the function gives, run in a child. */
static int in_child(int (*function)(void)) {
  int ended = 0;
  pid_t child = fork();
  if (child == 0) exit(function());
  waitpid(child, &ended, 0);
  return WEXITSTATUS(ended);
}

static void *in_thread(void *argument) {
  (void)argument;
  work(20);
  return NULL;
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  int sum = 0;
  if (!strcmp(what, "nested")) sum = nested(20);
  if (!strcmp(what, "if")) sum = conditional(20);
  if (!strcmp(what, "cancel")) sum = cancelled(20);
  if (!strcmp(what, "thread")) {
    pthread_t thread;
    sum = work(20);
    if (pthread_create(&thread, NULL, in_thread, NULL) == 0) pthread_join(thread, NULL);
  }
  if (!strcmp(what, "fork")) {
    sum = work(20);
    pid_t child = fork();
    if (child == 0) {
      printf("child\n");
      fflush(stdout);
      _exit(4);
    }
    int ended = 0;
    waitpid(child, &ended, 0);
    sum += WEXITSTATUS(ended) + work(20);
  }
  if (!strcmp(what, "child")) {
    sum = work(20);
    omp_set_num_threads(1); /* more may hang in a child of a program with threads */
    sum += in_child(alone) + work(20);
  }
  if (!strcmp(what, "early")) sum = in_child(twenty) + work(7);
  if (!strcmp(what, "exec")) {
    work(20);
    execl(argv[0], argv[0], "after", (char *)NULL);
  }
  if (!strcmp(what, "after")) sum = work(7);
  if (!strcmp(what, "exit")) {
    work(20);
#pragma omp parallel num_threads(2)
    {
#pragma omp master
      exit(6);
    }
  }
  printf("sum %d\n", sum);
  return 0;
}
