/* SPDX-License-Identifier: BSD-3-Clause */
/* A poll that tests of progress and of stopping share:
 *
 *   test_polls polls = {.stop_at = 3};
 *   tsanom_exec exec = exec_polled(test_poll, &polls); */
#ifndef TSANOM_TEST_POLLS_H
#define TSANOM_TEST_POLLS_H

#include <criterion/criterion.h>

#include "support/exec.h"

/* The user of test_poll(), which counts its calls, asks to stop at one of them, and expects progress
 * that does not move backwards. Zero it before each call. */
typedef struct {
  uint64_t calls, stop_at; /* 0: never */
  uint64_t done, total;    /* of the last call */
  int restarts;            /* each part of the work has a progress of its own */
} test_polls;

static inline int32_t test_poll(void *user, uint64_t done, uint64_t total) {
  test_polls *p = user;
  cr_assert(done <= total && (done >= p->done || p->restarts), "%llu of %llu after %llu",
            (unsigned long long)done, (unsigned long long)total,
            (unsigned long long)p->done);
  p->done = done;
  p->total = total;
  return ++p->calls == p->stop_at;
}

#endif
