/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that may load an OpenMP runtime: loads DEED THREADS MS. It starts threads that
 * work for MS ms, waits for half of that, and then does DEED: "load" calls a library with regions,
 * "fork" does so in a child, "execute" in this program executed again; "never", "leave" and
 * "kill" do not, and end by exit(), _exit() or SIGKILL. With WORK: that library. */
#ifdef WORK

int work(void);
int work(void) {
  int n = 0;
  for (int i = 0; i < 20; i++) {
#pragma omp parallel
#pragma omp atomic
    n++;
  }
  return n > 0 ? 7 : 0;
}

#else

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void *spin(void *ms) {
  const double end = 1e-3 * (double)(intptr_t)ms;
  struct timespec now;
  do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  while ((double)now.tv_sec + 1e-9 * (double)now.tv_nsec < end);
  return NULL;
}

static int call_work(void) {
  void *found = dlsym(dlopen("./work.so", RTLD_NOW), "work");
  int (*work)(void);
  memcpy(&work, &found, sizeof work);
  return work();
}

static int in_child(void) {
  int status = 0;
  pid_t child = fork();
  if (child == 0) exit(call_work());
  waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

int main(int argc, char **argv) {
  enum { MOST = 16 };
  pthread_t thread[MOST];
  if (argc < 4) return 1;
  int threads = atoi(argv[2]), ms = atoi(argv[3]), status = 7;
  for (int i = 0; i < threads && i < MOST; i++) {
    pthread_create(&thread[i], NULL, spin, (void *)(intptr_t)ms);
  }
  usleep((useconds_t)ms * 500);
  puts(argv[1]);
  fflush(stdout);
  if (strcmp(argv[1], "load") == 0) status = call_work();
  if (strcmp(argv[1], "fork") == 0) status = in_child();
  if (strcmp(argv[1], "execute") == 0) execl(argv[0], argv[0], "load", "1", "0", NULL);
  if (strcmp(argv[1], "leave") == 0) {
    if (vfork() == 0) _exit(3); /* its parent goes on */
    wait(NULL);
  }
  if (strcmp(argv[1], "kill") == 0) raise(SIGKILL);
  for (int i = 0; i < threads && i < MOST; i++) pthread_join(thread[i], NULL);
  if (strcmp(argv[1], "leave") == 0) _exit(status);
  return status;
}

#endif
