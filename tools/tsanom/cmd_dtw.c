/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom dtw: the warping distance of two series. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "plot.h"
#include "rows.h"
#include "series.h"

enum { KEY_RADIUS = 'r', KEY_COST = KEY_OWN, KEY_COLUMN };

typedef struct {
  shared_options shared;
  tsanom_dtw_options dtw;
  const char *column;
  const char *path[2];
} request;

static const struct argp_option options[] = {
    {"radius", KEY_RADIUS, "R", 0, "Pair samples at most R places apart (default: any)",
     0},
    {"cost", KEY_COST, "absolute|squared", 0, "Cost of a pair (default: absolute)", 0},
    {"column", KEY_COLUMN, "NAME", 0, "Read this column of CSV files with a header", 0},
    {0}};

static error_t parse(int key, char *text, struct argp_state *state) {
  request *r = state->input;
  switch (key) {
    case ARGP_KEY_INIT:
      state->child_inputs[0] = &r->shared;
      tsanom_dtw_options_init(&r->dtw, sizeof r->dtw);
      return 0;
    case KEY_RADIUS:
      r->dtw.radius = count_argument(state, "--radius", text);
      return 0;
    case KEY_COST:
      if (strcmp(text, "absolute") != 0 && strcmp(text, "squared") != 0)
        argp_error(state, "--cost: absolute or squared is expected");
      r->dtw.cost = *text == 's' ? TSANOM_DTW_SQUARED : TSANOM_DTW_ABSOLUTE;
      return 0;
    case KEY_COLUMN:
      r->column = text;
      return 0;
    case ARGP_KEY_ARG:
      if (state->arg_num == 2) argp_error(state, "two series are expected");
      r->path[state->arg_num] = text;
      return 0;
    case ARGP_KEY_END:
      if (state->arg_num != 2) argp_error(state, "two series are expected");
      if (strcmp(r->path[0], "-") == 0 && strcmp(r->path[1], "-") == 0)
        argp_error(state, "only one of the series can be the standard input");
      return 0;
    default:
      return ARGP_ERR_UNKNOWN;
  }
}

static int draw(const request *r, const columns *a, const columns *b, failure *why) {
  plot p;
  if (plot_open(&p, r->shared.plot, "Series compared by dynamic time warping", why))
    return -1;
  plot_series(&p, "a", NULL, a->column[0], a->count);
  plot_series(&p, "b", NULL, b->column[0], b->count);
  fprintf(p.script, "set xlabel 'sample'\nplot $a with lines title \"");
  plot_text(&p, file_title(r->path[0]));
  fprintf(p.script, "\", $b with lines title \"");
  plot_text(&p, file_title(r->path[1]));
  fprintf(p.script, "\"\n");
  return plot_close(&p, why);
}

static int print(const request *r, const columns *a, const columns *b, double distance) {
  if (r->shared.json)
    return print_json(json_pack("{so}", "distance", json_finite(distance)));
  printf("%-10s %s: %zu samples\n", "a", file_title(r->path[0]), a->count);
  printf("%-10s %s: %zu samples\n", "b", file_title(r->path[1]), b->count);
  if (isinf(distance)) {
    size_t least = a->count > b->count ? a->count - b->count : b->count - a->count;
    printf("%-10s infinity: no path within radius %zu; %zu is the least\n", "distance",
           r->dtw.radius, least);
  } else {
    printf("%-10s %.17g\n", "distance", distance);
  }
  return EXIT_DONE;
}

static int compare(const request *r, columns *a, columns *b, double *distance,
                   failure *why) {
  if (series_read(r->path[0], r->column, a, why) ||
      series_read(r->path[1], r->column, b, why))
    return -1;
  tsanom_status status =
      tsanom_dtw_distance(a->column[0], a->count, b->column[0], b->count, &r->dtw,
                          &r->shared.exec, NULL, 0, distance);
  if (status < 0) return fail_status(why, "the two series", status);
  return r->shared.plot ? draw(r, a, b, why) : 0;
}

int command_dtw(int argc, char **argv) {
  static const struct argp_child children[] = {{&shared_argp, 0, NULL, 0}, {0}};
  static const struct argp argp = {options,
                                   parse,
                                   "A B",
                                   "Warping distance of two series.\v"
                                   "A series is a file with one number a line, or with "
                                   "--column a column of a CSV file "
                                   "that has a header; \"-\" is the standard input.",
                                   children,
                                   NULL,
                                   NULL};
  request r = {0};
  argp_parse(&argp, argc, argv, 0, NULL, &r);
  columns a = {0}, b = {0};
  double distance;
  failure why;
  int status =
      compare(&r, &a, &b, &distance, &why) ? refuse(&why) : print(&r, &a, &b, distance);
  columns_free(&a);
  columns_free(&b);
  return status;
}
