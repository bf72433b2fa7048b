/* SPDX-License-Identifier: BSD-3-Clause */
/* How a call computes: the caller's tsanom_exec with its defaults resolved to a number of
 * threads and a level of instructions. */
#include "core/exec.h"

#include <fcntl.h>
#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/fault.h"

/* Two handlers of pthread_atfork(): the first counts the threads before the fork, the
 * second marks the child. Counting in the child would be too late, since it has one
 * thread in any case. The kernel's count includes threads that are not OpenMP's; then one
 * thread is correct, too. */

static _Atomic bool several_at_fork; /* as the prepare handler found it */
static _Atomic bool child_of_threads;

/* Field 20 of /proc/self/stat. It stands 18 spaces after the program's name, which is in
 * parentheses and may contain any character. Returns 2 if it cannot be read: one thread
 * in the child is correct, only slower. */
static long count_threads(void) {
  enum { FIELDS_TO_SKIP = 18, TEXT = 1024 };
  char text[TEXT];
  int file = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 2;
  ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  if (length <= 0) return 2;
  text[length] = 0;
  const char *at = strrchr(text, ')');
  for (int i = 0; i < FIELDS_TO_SKIP && at; i++) at = strchr(at + 1, ' ');
  return at ? strtol(at, NULL, 10) : 2;
}

static void prepare(void) {
  atomic_store_explicit(&several_at_fork, count_threads() > 1, memory_order_relaxed);
}

static void in_child(void) {
  if (atomic_load_explicit(&several_at_fork, memory_order_relaxed)) {
    atomic_store_explicit(&child_of_threads, true, memory_order_relaxed);
  }
}

__attribute__((constructor)) static void watch_forks(void) {
  (void)pthread_atfork(prepare, NULL, in_child);
}

bool tsn_fork_of_threads(void) {
  return atomic_load_explicit(&child_of_threads, memory_order_relaxed);
}

/* No problem is large enough for more; workspace queries take time proportional to the
 * number of threads. */
enum { MOST_THREADS = 4096 };

/* Weak, so that a program that uses only modules without parallel loops (dpd, speedup)
 * can be linked with the static library and without OpenMP. */
#pragma weak omp_get_max_threads

/* 0 requests the default of OpenMP; a child of a process with threads has one. */
static int32_t choose_threads(int32_t wanted) {
  if (wanted == 1 || tsn_fork_of_threads()) return 1;
  int32_t most = omp_get_max_threads ? omp_get_max_threads() : 1;
  int32_t threads = wanted ? wanted : most;
  return threads < MOST_THREADS ? threads : MOST_THREADS;
}

tsanom_status tsn_exec_read(tsanom_exec *own, const tsanom_exec *caller) {
  tsanom_status status = tsn_exec_read_base(own, caller);
  if (status < 0) return status;
  if (own->isa == TSANOM_ISA_AUTO) {
    own->isa = tsanom_isa_best();
  } else if (!tsanom_isa_available(own->isa)) {
    return tsn_reject_is(own, TSANOM_E_EXEC, "exec.isa", TSANOM_NONE,
                         "%d; 0 to %d is expected on this machine", (int)own->isa,
                         (int)tsanom_isa_best());
  }
  own->threads = choose_threads(own->threads);
  return TSANOM_OK;
}
