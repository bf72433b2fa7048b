/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSANOM_COMMAND_WATCH_PRINT_H
#define TSANOM_COMMAND_WATCH_PRINT_H

#include "watched.h"

/* How watched runs are shown. Zero it before use. */
typedef struct {
  int json, terminal;
  size_t lines; /* on the terminal, that the next look writes over */
} watch_screen;

/* Print what changed since the last look: the states of the runs, and what began or
 * recovered. On a terminal the states are written over, so that the age of the last beat
 * is that of now. Returns -1 without memory. */
int watch_print(watch_screen *screen, watch_list *list, failure *why);

#endif
