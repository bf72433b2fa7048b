/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints a number. "teams": sixty iterations of two regions, of three threads in every
 * twentieth iteration and otherwise of two. "places": ten iterations of two hundred
 * regions, each in a place of its own. */
#include <stdio.h>
#include <string.h>

static long sum;

static void teams(void) {
  for (int i = 0; i < 60; i++) {
    int threads = i % 20 == 19 ? 3 : 2;
#pragma omp parallel num_threads(threads) reduction(+ : sum)
    sum += i;
#pragma omp parallel num_threads(threads) reduction(+ : sum)
    sum += 2 * i;
  }
}

#define REGION                                                        \
  _Pragma("omp parallel num_threads(2) reduction(+ : sum)") sum += i; \
  i++;
#define TEN(x) x x x x x x x x x x

static void places(void) {
  for (long i = 0; i < 2000;) {
    TEN(TEN(REGION REGION))
  }
}

int main(int argc, char **argv) {
  if (argc > 1 && !strcmp(argv[1], "teams")) teams();
  if (argc > 1 && !strcmp(argv[1], "places")) places();
  printf("%ld\n", sum);
  return 0;
}
