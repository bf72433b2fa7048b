/* SPDX-License-Identifier: BSD-3-Clause */
/* silent_ranks ITERATIONS THREADS KIND RANK AT: ranks compute, in a parallel region if
 * THREADS > 1, and exchange a number with both neighbors in a ring. Before iteration AT
 * one of them writes its process number to the file `pid`, and does what KIND names:
 *
 *   none    nothing             kill    SIGKILL
 *   stop    SIGSTOP             leak    keeps 1 MiB, and in each later iteration
 *   loop    its last thread computes until the process gets SIGCONT */
#include <mpi.h>
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LEAK = 1 << 20, PAGE = 4096, PAUSE_US = 2000 };

static volatile sig_atomic_t goes_on;

static void resume(int signal) {
  (void)signal;
  goes_on = 0;
}

static void leak(void) {
  volatile char *block = malloc(LEAK);
  for (size_t i = 0; block && i < LEAK; i += PAGE) block[i] = 1;
}

static void act(const char *kind) {
  FILE *out = fopen("pid.new", "w");
  if (!out || fprintf(out, "%d\n", (int)getpid()) < 0 || fclose(out) != 0) abort();
  if (rename("pid.new", "pid") != 0) abort();
  if (strcmp(kind, "stop") == 0) (void)raise(SIGSTOP);
  if (strcmp(kind, "kill") == 0) (void)raise(SIGKILL);
  goes_on = strcmp(kind, "loop") == 0;
}

static void compute(int endless) {
  volatile double x = 0.5;
  for (int i = 0; i < 50000; i++) x = x * x - 1.25;
  while (endless && goes_on) x = x * x - 1.25;
  usleep(PAUSE_US);
}

static void compute_all(int threads) {
  if (threads == 1) {
    compute(1);
    return;
  }
#pragma omp parallel num_threads(threads)
  compute(omp_get_thread_num() == threads - 1);
}

static void exchange(int to, int from) {
  double sent = 1, got;
  MPI_Sendrecv(&sent, 1, MPI_DOUBLE, to, 0, &got, 1, MPI_DOUBLE, from, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
  int rank, size;
  if (argc != 6) return EXIT_FAILURE;
  int iterations = atoi(argv[1]), threads = atoi(argv[2]), at = atoi(argv[5]);
  (void)signal(SIGCONT, resume);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int acts = rank == atoi(argv[4]), leaks = strcmp(argv[3], "leak") == 0;
  for (int i = 0; i < iterations; i++) {
    if (acts && i == at) act(argv[3]);
    if (acts && leaks && i >= at) leak();
    compute_all(threads);
    exchange((rank + 1) % size, (rank + size - 1) % size);
    exchange((rank + size - 1) % size, (rank + 1) % size);
  }
  MPI_Finalize();
  return EXIT_SUCCESS;
}
