/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread that works for a channel from time to time, until it is stopped. It is started
 * inside of a guard, so that all signals are blocked in it. */
#ifndef TSN_RECORD_HELPER_H
#define TSN_RECORD_HELPER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct {
  _Atomic bool runs;
  bool stop; /* under lock */
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t wake;
} tsn_helper;

/* Start the thread; helper->runs: it could be started. */
void tsn_helper_start(tsn_helper *helper, void *(*body)(void *), void *argument);
/* Stop the thread, if it runs, and wait for its end. */
void tsn_helper_stop(tsn_helper *helper);
/* Of the thread: wait; false when it is time to stop. */
bool tsn_helper_sleep(tsn_helper *helper, int64_t nanoseconds);

#endif
