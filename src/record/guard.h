/* SPDX-License-Identifier: BSD-3-Clause */
/* A section in which no signal handler of the program runs in this thread, which is no
 * cancellation point, and which leaves errno as it was. Whatever takes a lock or makes system
 * calls is in one:
 *
 *   - a handler that interrupted the holder of a lock could wait for it for ever;
 *   - a thread that is cancelled in write() would never give the lock back;
 *   - a call that fails would leave its error to the program.
 *
 * It takes two system calls, and is entered at the first region of a place, when a stream
 * is created or grows, and so on: never in a beat. Sections may be nested. */
#ifndef TSN_RECORD_GUARD_H
#define TSN_RECORD_GUARD_H

#include <errno.h>
#include <pthread.h>
#include <signal.h>

typedef struct {
  sigset_t signals;
  int cancel, error;
} tsn_guard;

static inline void tsn_guard_enter(tsn_guard *guard) {
  sigset_t all;
  guard->error = errno;
  (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &guard->cancel);
  sigfillset(&all);
  (void)pthread_sigmask(SIG_BLOCK, &all, &guard->signals);
}

static inline void tsn_guard_leave(const tsn_guard *guard) {
  (void)pthread_sigmask(SIG_SETMASK, &guard->signals, NULL);
  (void)pthread_setcancelstate(guard->cancel, NULL);
  errno = guard->error;
}

/* Makes processes that share the memory of the program, inside of a guard. A thread sanitizer
 * intercepts clone(), and ends the program. */
/* NOLINTNEXTLINE(bugprone-reserved-identifier): the C library's other name of clone() */
extern int __clone(int (*function)(void *), void *stack, int flags, void *argument, ...);

#endif
