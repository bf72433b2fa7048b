/* SPDX-License-Identifier: BSD-3-Clause */
/* Execs: at a level and with a number of threads, with a poll, reporting to a fault. */
#ifndef TSANOM_TESTING_EXEC_H
#define TSANOM_TESTING_EXEC_H

#include "support/ask.h"
#include "support/isa.h"

/* The defaults, at a level and with a number of threads. */
static inline tsanom_exec exec_at(int32_t isa, int32_t threads) {
  tsanom_exec exec;
  (void)tsanom_exec_init(&exec, sizeof exec);
  exec.isa = isa;
  exec.threads = threads;
  return exec;
}

/* The defaults, which report to `fault`. */
static inline tsanom_exec exec_reporting(tsanom_fault *fault) {
  tsanom_exec exec = exec_at(TSANOM_ISA_AUTO, 1);
  *fault = (tsanom_fault){.struct_size = sizeof *fault};
  exec.fault = fault;
  return exec;
}

/* The defaults, with a poll. */
static inline tsanom_exec exec_polled(int32_t (*poll)(void *, uint64_t, uint64_t),
                                      void *user) {
  tsanom_exec exec = exec_at(TSANOM_ISA_AUTO, 1);
  exec.poll = poll;
  exec.poll_user = user;
  return exec;
}

#endif
