/* SPDX-License-Identifier: BSD-3-Clause */
/* Pictures by gnuplot, as SVG. */
#ifndef TSANOM_COMMAND_PLOT_H
#define TSANOM_COMMAND_PLOT_H

#include <stdio.h>
#include <sys/types.h>

#include "failure.h"
#include "output.h"

typedef struct {
  FILE *script; /* gnuplot's input: write commands and data here */
  output_file file;
  pid_t gnuplot;
} plot;

/* Start gnuplot with the SVG terminal set up and the title of the picture. */
int plot_open(plot *p, const char *path, const char *title, failure *why);

/* Define the datablock $name: rows "x y". x NULL: 0, 1, 2, ... A series too
 * dense to be seen is thinned to the least and the greatest of each stretch. */
void plot_series(const plot *p, const char *name, const double *x, const double *y,
                 size_t count);

/* Write text inside double quotes of a gnuplot command, with nothing special. */
void plot_text(const plot *p, const char *text);

/* Wait for gnuplot and put the picture in its place; on failure leave none. */
int plot_close(plot *p, failure *why);

#endif
