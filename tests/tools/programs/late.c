/* SPDX-License-Identifier: BSD-3-Clause */
/* Prepares its work for 0.4 s, and then ends, or comes to its regions. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int main(int count, char **argument) {
  const char *end = count > 1 ? argument[1] : "";
  struct timespec pause = {.tv_nsec = 400000000};
  int sum = 0;
  nanosleep(&pause, NULL);
  if (strcmp(end, "exit") == 0) return 3;
  if (strcmp(end, "_exit") == 0) _exit(4);
  if (strcmp(end, "quick") == 0) quick_exit(5);
  if (strcmp(end, "kill") == 0) raise(SIGKILL);
  for (int i = 0; i < 10; i++) {
#pragma omp parallel num_threads(2) reduction(+ : sum)
    sum += 1;
  }
  printf("%d\n", sum);
  return 0;
}
