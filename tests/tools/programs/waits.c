/* SPDX-License-Identifier: BSD-3-Clause */
/* 25 iterations of a region, each of which sleeps for as many milliseconds as the argument
 * says. */
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
  int milliseconds = argc > 1 ? atoi(argv[1]) : 1;
  for (int i = 0; i < 25; i++) {
#pragma omp parallel num_threads(2)
    usleep((useconds_t)milliseconds * 1000);
  }
  return 0;
}
