/* SPDX-License-Identifier: BSD-3-Clause */
/* run_test PROGRAM [ARGUMENT...]: run a test, and kill what it leaves behind.
 *
 * A program that a test started and that was stopped, or waits for ever, would keep the
 * output of ctest open until the time limit, and live on after it. Orphans below this
 * process become its children (PR_SET_CHILD_SUBREAPER), in whatever session they are. So
 * it kills its children at the end until there are none; and ctest, which kills a process
 * with its children at the time limit, finds all of them. SIGKILL ends a stopped program
 * too. */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
  BAD_USE = 2,
  SIGNALLED = 128, /* plus the signal: the status, as in a shell */
  PAUSE_NS = 5000000,
  LONGEST_PAUSES = 2000 /* children that this user may not kill */
};

static pid_t start(char **arguments, const sigset_t *mask) {
  pid_t parent = getpid(), child = fork();
  if (child != 0) return child;
  (void)sigprocmask(SIG_SETMASK, mask, NULL);
  /* Should this process alone be killed. */
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) _exit(BAD_USE);
  (void)execvp(*arguments, arguments);
  (void)fprintf(stderr, "run_test: %s: %s\n", *arguments, strerror(errno));
  _exit(BAD_USE);
}

/* Wait for the end of the child, or for a signal that ends this process. Orphans that end
 * meanwhile are waited for, as the first process of the system does. */
static int wait_for(pid_t child, const sigset_t *awaited) {
  for (;;) {
    int received = sigwaitinfo(awaited, NULL), status = 0;
    if (received > 0 && received != SIGCHLD) return SIGNALLED + received;
    for (pid_t ended; (ended = waitpid(-1, &status, WNOHANG)) > 0;) {
      if (ended != child) continue;
      if (!WIFSIGNALED(status)) return WEXITSTATUS(status);
      (void)fprintf(stderr, "run_test: the test was ended by signal %d (%s)\n",
                    WTERMSIG(status), strsignal(WTERMSIG(status)));
      return SIGNALLED + WTERMSIG(status);
    }
  }
}

static void kill_children(void) {
  char *number = NULL;
  size_t capacity = 0;
  FILE *children = fopen("/proc/thread-self/children", "re");
  while (children && getdelim(&number, &capacity, ' ', children) > 0) {
    long child = strtol(number, NULL, 10);
    if (child > 0) (void)kill((pid_t)child, SIGKILL);
  }
  free(number);
  if (children) (void)fclose(children);
}

/* The children of a child that ends become children of this process. */
static void end_children(void) {
  for (int i = 0; i < LONGEST_PAUSES; i++) {
    kill_children();
    pid_t ended;
    do ended = waitpid(-1, NULL, WNOHANG);
    while (ended > 0);
    if (ended < 0) return;
    (void)nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
  }
}

int main(int argc, char **argv) {
  static const int ending[] = {SIGCHLD, SIGHUP, SIGINT, SIGTERM};
  sigset_t awaited, mask;
  if (argc < 2 || prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) return BAD_USE;
  (void)sigemptyset(&awaited);
  for (size_t i = 0; i < sizeof ending / sizeof *ending; i++) {
    (void)sigaddset(&awaited, ending[i]);
  }
  (void)sigprocmask(SIG_BLOCK, &awaited, &mask);
  pid_t child = start(argv + 1, &mask);
  int status = child > 0 ? wait_for(child, &awaited) : BAD_USE;
  end_children();
  return status;
}
