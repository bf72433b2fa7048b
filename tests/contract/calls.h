/* SPDX-License-Identifier: BSD-3-Clause */
/* What the calls of modules need: memory, series, and the watch around a call. */
#ifndef TSANOM_TEST_CONTRACT_CALLS_H
#define TSANOM_TEST_CONTRACT_CALLS_H

#include <stdio.h>
#include <stdlib.h>
#include <tsanom/tsanom.h>

#include "contract/modules.h"
#include "support/ask.h"
#include "support/random.h"

/* Make the call between watch_begin() and watch_end(). */
#define WATCH(call)               \
  do {                            \
    watch_begin();                \
    tsanom_status result_ = call; \
    watch_end(#call, result_);    \
  } while (0)

/* Preparation that must succeed. */
#define NEED(condition)                                        \
  do {                                                         \
    if (!(condition)) {                                        \
      (void)fprintf(stderr, "%s does not hold\n", #condition); \
      abort();                                                 \
    }                                                          \
  } while (0)

static inline void *take(size_t count, size_t size) {
  void *block = calloc(count ? count : 1, size);
  NEED(block);
  return block;
}

/* `exec` with a workspace, which the caller frees. */
static inline tsanom_exec in_workspace(const tsanom_exec *exec, size_t bytes) {
  tsanom_exec own;
  tsanom_exec_init(&own, sizeof own);
  if (exec) own = *exec;
  own.work = take(bytes, 1);
  own.work_bytes = bytes;
  return own;
}

/* The call, which takes &own, in a workspace of exactly the size that it asks for. */
#define WATCH_IN_WORKSPACE(exec, call)          \
  do {                                          \
    size_t needed_;                             \
    tsanom_exec own = ask_exec(exec, &needed_); \
    NEED((call) == TSANOM_E_WORKSPACE);         \
    own = in_workspace(exec, needed_);          \
    WATCH(call);                                \
    free(own.work);                             \
  } while (0)

static inline double *random_series(size_t n, uint64_t seed) {
  double *series = take(n, sizeof *series), level = 0;
  for (size_t i = 0; i < n; i++) series[i] = level += random_unit(&seed) - 0.5;
  return series;
}

/* Calls of the modules that find classes, rules and causes. */
void call_analyses(const tsanom_exec *exec);

#endif
