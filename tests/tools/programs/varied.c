/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops whose iterations differ, as those of real programs do. The word says how:
 *
 *   triangle  6 steps of an outer loop of 48 by an inner one of 0 to 47: 1176 regions
 *   solver    25 steps, each with a solver that takes 3 to 9 iterations
 *   adapted   51 steps of which every fifth has regions more
 *   summary   87 steps of which every tenth has one region more
 *   late      an inner loop of one region 100 times before each of 40 steps */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double sum[16];

#define REGION(n)                                           \
  do {                                                      \
    _Pragma("omp parallel") _Pragma("omp atomic") sum[n]++; \
  } while (0)

static void step(void) {
  REGION(0);
  REGION(1);
  REGION(2);
  REGION(3);
  REGION(4);
  REGION(5);
}

static void triangle(int i) {
  for (int j = 0; i < 6 && j < 48; j++) {
    REGION(6);
    for (int k = 0; k < j; k++) REGION(7);
  }
}

static void solver(int i) {
  REGION(8);
  REGION(9);
  REGION(10);
  REGION(11);
  REGION(12);
  for (int k = 0; k < 3 + i * 5 % 7; k++) {
    REGION(13);
    REGION(14);
  }
}

static void run(const char *how, int i) {
  if (!strcmp(how, "triangle")) triangle(i);
  if (!strcmp(how, "solver") && i < 25) solver(i);
  if (!strcmp(how, "adapted") && i < 51) {
    step();
    if (i % 5 == 0) REGION(8);
    if (i % 10 == 0) REGION(9);
  }
  if (!strcmp(how, "summary") && i < 87) {
    step();
    if (i % 10 == 9) REGION(8);
  }
  if (!strcmp(how, "late") && i < 40) {
    for (int k = 0; k < 100; k++) REGION(6);
    step();
  }
}

int main(int argc, char **argv) {
  for (int i = 0; argc > 1 && i < 100; i++) run(argv[1], i);
  printf("%g\n", sum[0] + sum[6] + sum[8]);
  return 0;
}
