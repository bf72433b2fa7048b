/* SPDX-License-Identifier: BSD-3-Clause */
/* tasks: explicit tasks of several kinds in one region; prints their sum. The barrier at
 * the end of the region executes some of them. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { LEAVES = 1 << 12, ROUNDS = 20, PARTS = 100 };

static long sum;

static void add(long value) {
#pragma omp atomic
  sum += value;
}

/* LEAVES - 1 times two tasks. */
static void divide(int leaves) {
  if (leaves == 1) return;
  for (int i = 0; i < 2; i++) {
#pragma omp task
    {
      add(1);
      divide(leaves / 2);
    }
  }
}

/* With data of its own, some at once, by an if clause. */
static void copied(void) {
  struct {
    char text[40];
    long value;
  } part = {"copied", 0};
  for (int i = 0; i < PARTS; i++) {
    part.value = i;
#pragma omp task firstprivate(part) if (i % 2)
    add(part.value);
  }
}

/* Each waits for the one before. */
static void in_order(long *last) {
  for (int i = 0; i < PARTS; i++) {
#pragma omp task depend(inout : *last) shared(last) firstprivate(i)
    {
      if (*last != i) abort();
      *last = i + 1;
    }
  }
#pragma omp taskwait
  add(*last);
}

static void nest(int depth) {
#pragma omp task if (0)
  {
    sum++;
    if (depth > 1) nest(depth - 1);
    sum++;
  }
}

int main(int argc, char **argv) {
  long last = 0;
  if (argc > 1) {
    int depth = atoi(argv[1]);
#pragma omp parallel num_threads(1)
    nest(depth);
    return sum == 2L * depth ? 0 : 1;
  }
#pragma omp parallel
#pragma omp single nowait
  {
    for (int i = 0; i < ROUNDS; i++) divide(LEAVES);
    copied();
    in_order(&last);
  }
  printf("%ld\n", sum);
  return sum == ROUNDS * 2L * (LEAVES - 1) + PARTS * (PARTS - 1) / 2 + PARTS ? 0 : 1;
}
