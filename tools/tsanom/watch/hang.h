/* SPDX-License-Identifier: BSD-3-Clause */
/* When a thread that does not beat hangs: from the intervals of its own beats. */
#ifndef TSANOM_COMMAND_HANG_H
#define TSANOM_COMMAND_HANG_H

#include <stddef.h>
#include <stdint.h>

/* Intervals that are looked at, and those that are needed. */
enum { HANG_INTERVALS = 512, HANG_INTERVALS_LEAST = 8 };

typedef struct {
  double typical; /* median of the latest intervals in seconds; 0: none */
  double limit;   /* a longer silence is a hang; infinity: not known */
  double since;   /* when its silence began; NaN: not known */
  int32_t status; /* TSANOM_HSA_NORMAL, _HANG or _WAITING */
} hang_thread;

/* Set the typical interval and the limit from the latest HANG_INTERVALS intervals. The
 * limit is `fixed` if that is above 0, otherwise max(3·q, 1 s) with the 0.99 quantile q,
 * and infinity with fewer than HANG_INTERVALS_LEAST intervals. A thread that never beat
 * has no limit. */
void hang_learn(hang_thread *thread, const double *time, size_t beats, double fixed);

/* Set the status of each thread at `now`. Of those that are silent for longer than their
 * limits, the one that is silent longest hangs, and each other one whose silence began
 * within half of a typical interval after it. The rest waits: it beat after that thread
 * stopped. */
void hang_find(hang_thread *thread, size_t threads, double now);

#endif
