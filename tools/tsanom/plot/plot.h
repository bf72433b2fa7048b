/* SPDX-License-Identifier: BSD-3-Clause */
/* Plots by gnuplot, as SVG or PNG. Lines have the colors of Okabe and Ito, which
 * color-blind readers distinguish, and end in their labels: `title 'NAME' at end`, in a
 * margin of PLOT_LABEL characters. */
#ifndef TSANOM_COMMAND_PLOT_H
#define TSANOM_COMMAND_PLOT_H

#include <stdio.h>

#include "failure.h"

#define PLOT_LABELS "set rmargin 16\n" /* space for labels at the ends of lines */

typedef struct {
  const char *path;
  FILE *script; /* commands and data for gnuplot */
  int png;      /* 1: PNG; 0: SVG */
} plot;

/* Colors of the palette that have a meaning in several plots. */
#define PLOT_BLUE "#0072B2"
#define PLOT_VERMILION "#D55E00"
#define PLOT_GREEN "#009E73"
#define PLOT_PURPLE "#CC79A7"
#define PLOT_ORANGE "#E69F00"
#define PLOT_GRAY "#999999"

/* Whether a file name ends in that of a format: .svg or .png, in any case. A name
 * without an extension is an SVG file. */
int plot_format_known(const char *path);

/* Begin a script: the terminal, the palette, and the title of the plot. */
int plot_open(plot *p, const char *path, const char *title, failure *why);

/* Define the datablock $name: rows "x y". x NULL: 0, 1, 2, ... A series too
 * dense to be seen is thinned to the least and the greatest of each stretch. */
void plot_series(const plot *p, const char *name, const double *x, const double *y,
                 size_t count);

/* A line of a plot over time; without points it is left out. */
typedef struct {
  size_t number, count;
  const double *time, *value;
} plot_line;

/* Draw lines, which are labelled with `member`, such as "thread", and their numbers. */
int plot_lines(const char *path, const char *title, const char *unit, const char *member,
               const plot_line *line, size_t lines, failure *why);

/* Change the size of the plot; before its first data. */
void plot_size(const plot *p, int width, int height);

/* Write text inside double quotes of a gnuplot command, with nothing special. */
void plot_text(const plot *p, const char *text);

/* Have gnuplot draw, and put the picture in its place; on failure leave none. */
int plot_close(plot *p, failure *why);

/* Draw nothing after all. */
void plot_abandon(plot *p);

/* Write a file completely or not at all. */
int file_write(const char *path, const char *text, size_t bytes, failure *why);

#endif
