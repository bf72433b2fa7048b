/* SPDX-License-Identifier: BSD-3-Clause */
/* How a call computes: the caller's tsanom_exec with its defaults resolved to a number of
 * threads and a level of instructions. */
#include "core/exec.h"

#include <omp.h>

#include "core/fault.h"
#include "core/fork.h"

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
