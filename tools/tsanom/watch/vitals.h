/* SPDX-License-Identifier: BSD-3-Clause */
/* The latest vital signs of a watched run. */
#ifndef TSANOM_COMMAND_VITALS_H
#define TSANOM_COMMAND_VITALS_H

#include "watched.h"

/* NaN: not known. */
typedef struct {
  double resident; /* bytes in memory */
  double growth;   /* of them per second */
  double cpu;      /* processors that the process uses */
  double wait;     /* share of the time in which a thread is ready without a processor */
} vital_signs;

/* Of the last samples of the run, at most VITALS_WINDOW of the process and of each
 * thread. */
enum { VITALS_WINDOW = 16 };

vital_signs vitals_now(const watched *w);

#endif
