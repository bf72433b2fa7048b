/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread of the recorder beside those of the program: it sleeps between its looks, wakes
 * at once when it is stopped, and is joined. */
#include "record/helper.h"

#include <time.h>

bool tsn_helper_sleep(tsn_helper *helper, int64_t nanoseconds) {
  enum { SECOND = 1000000000 };
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  nanoseconds += until.tv_nsec;
  until.tv_sec += nanoseconds / SECOND;
  until.tv_nsec = nanoseconds % SECOND;
  pthread_mutex_lock(&helper->lock);
  int error = 0;
  while (!helper->stop && !error) {
    error = pthread_cond_timedwait(&helper->wake, &helper->lock, &until);
  }
  bool stop = helper->stop;
  pthread_mutex_unlock(&helper->lock);
  return !stop;
}

void tsn_helper_start(tsn_helper *helper, void *(*body)(void *), void *argument) {
  enum { STACK = 256 << 10 };
  pthread_condattr_t clock;
  pthread_attr_t attributes;
  helper->stop = false;
  pthread_mutex_init(&helper->lock, NULL);
  pthread_condattr_init(&clock);
  pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
  pthread_cond_init(&helper->wake, &clock);
  pthread_condattr_destroy(&clock);
  pthread_attr_init(&attributes);
  (void)pthread_attr_setstacksize(&attributes, STACK);
  /* The program's thread-local variables may not fit the small stack. */
  helper->runs = pthread_create(&helper->thread, &attributes, body, argument) == 0 ||
                 pthread_create(&helper->thread, NULL, body, argument) == 0;
  pthread_attr_destroy(&attributes);
}

void tsn_helper_stop(tsn_helper *helper) {
  if (!helper->runs) return;
  pthread_mutex_lock(&helper->lock);
  helper->stop = true;
  pthread_cond_signal(&helper->wake);
  pthread_mutex_unlock(&helper->lock);
  pthread_join(helper->thread, NULL);
  pthread_cond_destroy(&helper->wake);
  pthread_mutex_destroy(&helper->lock);
  helper->runs = false;
}
