/* SPDX-License-Identifier: BSD-3-Clause */
/* An OpenMP program of two regions: in one all threads have as much to do, in the other,
 * a triangle dealt out by rows, they have not. */
#include <stdio.h>

enum { ROWS = 3000, SWEEPS = 20 };

static double x[ROWS], y[ROWS];

static void even(void) {
#pragma omp parallel for schedule(static)
  for (int i = 0; i < ROWS; i++) {
    for (int j = 0; j < ROWS / 4; j++) x[i] += 1.0 / (1 + i + j);
  }
}

static void triangle(void) {
#pragma omp parallel for schedule(static)
  for (int i = 0; i < ROWS; i++) {
    for (int j = 0; j <= i; j++) y[i] += x[j] / (1 + i + j);
  }
}

int main(void) {
  for (int sweep = 0; sweep < SWEEPS; sweep++) {
    even();
    triangle();
  }
  printf("%g\n", y[ROWS - 1]);
  return 0;
}
