/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSANOM_COMMAND_WATCH_PRINT_H
#define TSANOM_COMMAND_WATCH_PRINT_H

#include "onset.h"

/* How a watched run is shown. Zero it before use. */
typedef struct {
  int json, terminal;
  int shown; /* a line was printed, with these: */
  size_t beats;
  int32_t state;
} watch_screen;

/* Print what changed since the last look: the state of the run, and what began or ended.
 * On a terminal the line of the state is written over, so that the age of the last beat
 * is that of now. Returns -1 without memory. */
int watch_print(watch_screen *screen, const watched *w, const onsets *o, failure *why);

/* Messages after this begin on a line of their own. */
void watch_print_end(const watch_screen *screen);

#endif
