/* SPDX-License-Identifier: BSD-3-Clause */
/* The plan that the command inject passes, in the environment, to the library that it
 * preloads. */
#ifndef INJECT_H
#define INJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <time.h>

#define INJECT_LIBRARY "libtsanom-inject.so"
#define INJECT_PLAN "TSANOM_INJECT"
#define INJECT_WHEN "TSANOM_INJECT_WHEN"
#define INJECT_FOLDER "TSANOM_INJECT_FOLDER"
/* In the order of the fields. */
#define INJECT_FORMAT "%d %d %.9f %.9f %.9f %zu %zu %d"

enum inject_kind {
  INJECT_LEAK,
  INJECT_IMBALANCE, /* this and the one before are repeated until --for */
  INJECT_PAUSE,
  INJECT_DEADLOCK,
  INJECT_STALL,
  INJECT_THREAD_EXIT,
  INJECT_SEGV,
  INJECT_KILL, /* this and the next need no thread of the program */
  INJECT_EXIT,
  INJECT_KINDS
};

struct inject_plan {
  int kind;
  int thread; /* -1: all */
  double after;
  double seconds;
  double factor;
  size_t bytes;
  size_t rate;
  clockid_t clock;    /* of `after` and `rate` */
  const char *when;   /* NULL: at the start */
  const char *folder; /* of a stall's file */
};

#endif
