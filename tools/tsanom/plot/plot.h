/* SPDX-License-Identifier: BSD-3-Clause */
/* Pictures by gnuplot, as SVG. */
#ifndef TSANOM_COMMAND_PLOT_H
#define TSANOM_COMMAND_PLOT_H

#include <stdio.h>

#include "failure.h"

typedef struct {
  const char *path;
  FILE *script; /* what gnuplot is to do: write commands and data here */
} plot;

/* Begin a script: the SVG terminal and the title of the picture. */
int plot_open(plot *p, const char *path, const char *title, failure *why);

/* Define the datablock $name: rows "x y". x NULL: 0, 1, 2, ... A series too
 * dense to be seen is thinned to the least and the greatest of each stretch. */
void plot_series(const plot *p, const char *name, const double *x, const double *y,
                 size_t count);

/* Write text inside double quotes of a gnuplot command, with nothing special. */
void plot_text(const plot *p, const char *text);

/* Have gnuplot draw, and put the picture in its place; on failure leave none. */
int plot_close(plot *p, failure *why);

/* Draw nothing after all. */
void plot_abandon(plot *p);

#endif
