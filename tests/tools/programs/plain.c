/* SPDX-License-Identifier: BSD-3-Clause */
/* A program without OpenMP and MPI: plain THREADS TENTHS [c11|NAME]. Threads do the same, but the
 * second TENTHS tenths of it; another one does something else, and ends by pthread_exit(). Then a
 * thread that does the same as they comes and goes as many times. With c11 the former are threads
 * of thrd_create(); else NAME is the name of the second. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <threads.h>

static void spin(intptr_t rounds) {
  volatile double sum = 0;
  for (intptr_t i = 0; i < rounds; i++) sum = sum + (double)i;
}

static const char *name;

static void *worker(void *tenths) {
  if (name && (intptr_t)tenths != 10) prctl(PR_SET_NAME, name);
  for (int i = 0; i < 20; i++) spin((intptr_t)tenths * 100000);
  return tenths;
}

static int worker_of_c11(void *tenths) {
  return (int)(intptr_t)worker(tenths);
}

__attribute__((noreturn)) static void *other(void *unused) {
  spin(1000);
  pthread_exit(unused);
}

int main(int argc, char **argv) {
  enum { MOST = 16 };
  int threads = argc > 1 ? atoi(argv[1]) : 3, tenths = argc > 2 ? atoi(argv[2]) : 10;
  int is_c11 = argc > 3 && strcmp(argv[3], "c11") == 0, result;
  name = argc > 3 && !is_c11 ? argv[3] : NULL;
  pthread_t thread[MOST + 1];
  thrd_t of_c11[MOST];
  void *done;
  long sum = 0;
  pthread_create(&thread[MOST], NULL, other, NULL);
  for (intptr_t i = 0; i < threads && i < MOST; i++) {
    void *own = (void *)(i == 1 ? tenths : 10L);
    if (is_c11) {
      thrd_create(&of_c11[i], worker_of_c11, own);
    } else {
      pthread_create(&thread[i], NULL, worker, own);
    }
  }
  for (int i = 0; i < threads && i < MOST; i++) {
    if (is_c11) {
      thrd_join(of_c11[i], &result);
      sum += result;
    } else {
      pthread_join(thread[i], &done);
      sum += (intptr_t)done;
    }
  }
  pthread_join(thread[MOST], NULL);
  for (int i = 0; i < threads; i++) {
    pthread_create(&thread[0], NULL, other, NULL);
    pthread_join(thread[0], NULL);
  }
  printf("%ld tenths\n", sum);
  return 4;
}
