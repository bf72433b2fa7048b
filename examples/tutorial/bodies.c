/* SPDX-License-Identifier: BSD-3-Clause */
/* Bodies that attract each other: the slow program of the tutorial. Momentum is kept, by
 * which the program checks itself. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { BODIES = 3000, STEPS = 60 };

static double place[BODIES], speed[BODIES], force[BODIES];

/* Each pair is computed once, by the body with the larger number. */
static void attract(void) {
#pragma omp parallel for schedule(static) reduction(+ : force[:BODIES])
  for (int i = 0; i < BODIES; i++) {
    for (int k = 0; k < i; k++) {
      double apart = place[k] - place[i];
      double pull = apart / (1e-3 + fabs(apart * apart * apart));
      force[i] += pull;
      force[k] -= pull;
    }
  }
}

static void move(void) {
#pragma omp parallel for schedule(static)
  for (int i = 0; i < BODIES; i++) {
    speed[i] += 1e-9 * force[i];
    place[i] += speed[i];
    force[i] = 0;
  }
}

int main(void) {
  for (int i = 0; i < BODIES; i++) place[i] = fmod(i * 0.6180339887498949, 1);
  for (int step = 0; step < STEPS; step++) {
    attract();
    move();
  }
  double momentum = 0, most = 0;
  for (int i = 0; i < BODIES; i++) {
    momentum += speed[i];
    most += fabs(speed[i]);
  }
  printf("momentum %s\n", fabs(momentum) <= 1e-9 * most ? "kept" : "LOST");
  return fabs(momentum) <= 1e-9 * most ? EXIT_SUCCESS : EXIT_FAILURE;
}
