/* SPDX-License-Identifier: BSD-3-Clause */
/* The lines of text about runs that are watched. */
#ifndef TSANOM_COMMAND_WATCH_LINES_H
#define TSANOM_COMMAND_WATCH_LINES_H

#include <stdio.h>

#include "watch_list.h"

/* The time, and which of several runs. */
void print_head(FILE *out, const watch_list *list, const watched *w);

/* The rest of a line: the state of the run, and an anomaly of it. */
void print_state(FILE *out, const watched *w);
void print_anomaly(FILE *out, const watched *w, const tsanom_diagnosis_anomaly *a);

/* The slowest of several runs, on a line of its own. */
void print_slowest(FILE *out, const watch_list *list);

#endif
