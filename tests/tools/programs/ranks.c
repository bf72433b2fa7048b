/* SPDX-License-Identifier: BSD-3-Clause */
/* An MPI program whose ranks exchange messages around a ring, where one rank does twice
 * the work of the others in solve().
 *
 * usage: ranks WHAT [ITERATIONS [STEPS [SLOW_RANK]]]
 *
 *   plain      the above; exit status 0
 *   hybrid     two threads share the work in solve(), in nested parallel regions
 *   split      communicators of even and odd ranks
 *   threads    another thread calls MPI_Wait at the same time
 *   inner      an iteration begins with a loop of 12 reductions
 *   abort      rank 1 calls MPI_Abort(5) at the end of the iterations
 *   kill       rank 1 kills itself there
 *   spawn      the ranks start twice two processes more, by MPI_Comm_spawn
 *   status     rank 1 returns 5; if all did, mpirun of Open MPI might end one of them
 *              before it has finished its run, because another one had ended with 5 */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size, hybrid, reductions = 1;

static double work(long steps) {
  volatile double sum = 0;
  for (long i = 0; i < steps; i++) sum += 1.0 / (double)(i + 1);
  return sum;
}

static void share(long steps) {
#pragma omp parallel num_threads(2)
  {
    work(steps / 2);
#pragma omp parallel num_threads(1)
    work(steps / 4);
  }
}

static void solve(MPI_Comm world, long steps, int slow) {
  double own = 0, all;
  if (hybrid) {
    share(steps);
  } else {
    own = work(rank == slow ? 2 * steps : steps);
  }
  for (int i = 0; i < reductions; i++) {
    MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, world);
  }
}

/* Even ranks send first, odd ones receive first. */
static void exchange(long steps) {
  int own = rank, other;
  work(steps / 2);
  if (rank % 2 == 0) MPI_Send(&own, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD);
  MPI_Recv(&other, 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD,
           MPI_STATUS_IGNORE);
  if (rank % 2) MPI_Send(&own, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD);
}

static void *test(void *argument) {
  (void)argument;
  for (int i = 0; i < 1000; i++) {
    MPI_Request none = MPI_REQUEST_NULL;
    MPI_Wait(&none, MPI_STATUS_IGNORE);
  }
  return NULL;
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "plain";
  int iterations = argc > 2 ? atoi(argv[2]) : 20, given;
  long steps = argc > 3 ? atol(argv[3]) : 100000;
  int slow = argc > 4 ? atoi(argv[4]) : -1;
  pthread_t thread;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm parent, part = MPI_COMM_WORLD, children;
  MPI_Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL) what = "plain";
  hybrid = strcmp(what, "hybrid") == 0;
  if (strcmp(what, "inner") == 0) reductions = 12;
  if (strcmp(what, "split") == 0) MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &part);
  for (int i = 0; i < 2 && strcmp(what, "spawn") == 0; i++) {
    MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                   MPI_ERRCODES_IGNORE);
  }
  int threads = strcmp(what, "threads") == 0 && given == MPI_THREAD_MULTIPLE;
  for (int i = 0; i < 60 && strcmp(what, "turns") == 0; i++) {
    pthread_create(&thread, NULL, test, NULL);
    pthread_join(thread, NULL);
  }
  if (threads) pthread_create(&thread, NULL, test, NULL);
  for (int i = 0; i < iterations; i++) {
    solve(part, steps, slow);
    exchange(steps);
  }
  if (threads) pthread_join(thread, NULL);
  if (rank == 1 && strcmp(what, "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 5);
  if (rank == 1 && strcmp(what, "kill") == 0) raise(SIGKILL);
  if (rank == 0) printf("%d ranks, %d iterations\n", size, iterations);
  MPI_Finalize();
  return rank == 1 && strcmp(what, "status") == 0 ? 5 : 0;
}
