/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom dtw: the warping distance of two series. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "plot.h"
#include "reserve.h"
#include "rows.h"
#include "series.h"

typedef struct {
  shared_options shared;
  tsanom_dtw_options dtw;
  const char *column;
  int path;
} request;

/* What was found. */
typedef struct {
  columns series[2];
  double distance;
  size_t *path;  /* pairs of sample numbers, if asked for */
  size_t length; /* pairs */
} warping;

static const option_row options[] = {
    RADIUS_ROW(dtw.radius),
    COST_ROW(dtw.cost),
    {"path", 0, NULL, "Print the pairs of samples too", FLAG(path)},
    COLUMN_ROW(column),
};

static void draw_series(const request *r, const warping *w, const plot *p) {
  plot_series(p, "a", NULL, w->series[0].column[0], w->series[0].count);
  plot_series(p, "b", NULL, w->series[1].column[0], w->series[1].count);
  fprintf(p->script, PLOT_LABELS
          "set xlabel 'sample'\nset ylabel 'value'\nplot $a with lines title \"");
  plot_text(p, file_title(r->shared.argument[0]));
  fprintf(p->script, "\" at end, $b with lines title \"");
  plot_text(p, file_title(r->shared.argument[1]));
  fprintf(p->script, "\" at end\n");
}

/* How far the second series is drawn below the first, for a gap of a fifth of both. */
static double drop(const warping *w) {
  double low[2], high[2];
  for (size_t k = 0; k < 2; k++) {
    const double *y = w->series[k].column[0];
    low[k] = high[k] = y[0];
    for (size_t i = 1; i < w->series[k].count; i++) {
      low[k] = fmin(low[k], y[i]);
      high[k] = fmax(high[k], y[i]);
    }
  }
  double gap = 0.2 * (high[0] - low[0] + high[1] - low[1]);
  double distance = high[1] - low[0] + (gap > 0 ? gap : 1);
  return isfinite(distance) ? distance : 0;
}

/* The series one above the other, joined by some of the pairs. */
static void draw_joined(const request *r, const warping *w, const plot *p) {
  enum { JOINS = 150 };
  size_t step = w->length / JOINS + 1;
  double below = drop(w);
  const double *a = w->series[0].column[0], *b = w->series[1].column[0];
  plot_series(p, "a", NULL, a, w->series[0].count);
  plot_series(p, "b", NULL, b, w->series[1].count);
  fprintf(p->script, "$joins << END\n");
  for (size_t k = 0; k < w->length; k += step) {
    size_t i = w->path[2 * k], j = w->path[2 * k + 1];
    fprintf(p->script, "%zu %.9g\n%zu %.9g\n\n", i, a[i], j, b[j] - below);
  }
  fprintf(p->script,
          "END\n" PLOT_LABELS
          "set xlabel 'sample'\nset ylabel 'value, second series below'\nunset ytics\n"
          "plot $joins with lines linecolor rgb '#bbbbbb' notitle, "
          "$a with lines linewidth 2 linetype 1 title \"");
  plot_text(p, file_title(r->shared.argument[0]));
  fprintf(p->script,
          "\" at end, $b using 1:($2-(%.17g)) with lines linewidth 2 linetype 2 title \"",
          below);
  plot_text(p, file_title(r->shared.argument[1]));
  fprintf(p->script, "\" at end\n");
}

/* The path in the matrix of all pairs. */
static void draw_path(const request *r, const warping *w, const plot *p) {
  fprintf(p->script, "$path << END\n");
  for (size_t k = 0; k < w->length; k++) {
    fprintf(p->script, "%zu %zu\n", w->path[2 * k], w->path[2 * k + 1]);
  }
  fprintf(p->script, "END\nunset title\nset ytics\nset xlabel \"sample of ");
  plot_text(p, file_title(r->shared.argument[0]));
  fprintf(p->script, "\" noenhanced\nset ylabel \"sample of ");
  plot_text(p, file_title(r->shared.argument[1]));
  fprintf(p->script,
          "\" noenhanced\nset xrange [0:%zu]\nset yrange [0:%zu]\n"
          "plot $path with lines linewidth 2 notitle\n",
          w->series[0].count, w->series[1].count);
}

/* Both views of the alignment. */
static void draw_alignment(const request *r, const warping *w, const plot *p) {
  plot_size(p, 960, 1000);
  fprintf(p->script, "set multiplot layout 2,1\n");
  draw_joined(r, w, p);
  draw_path(r, w, p);
  fprintf(p->script, "unset multiplot\n");
}

static int draw(const request *r, const warping *w, failure *why) {
  plot p;
  if (r->path && !w->length) return fail(why, "there is no warping path to draw");
  if (plot_open(&p, r->shared.plot, r->path ? "Warping path" : "Series compared", why)) {
    return -1;
  }
  if (r->path) {
    draw_alignment(r, w, &p);
  } else {
    draw_series(r, w, &p);
  }
  return plot_close(&p, why);
}

static int print_json_of(const request *r, const warping *w) {
  json_t *result = json_pack("{so}", "distance", json_finite(w->distance));
  if (r->path) {
    json_t *path = json_array();
    for (size_t k = 0; k < w->length; k++) {
      json_array_append_new(path, json_pack("[II]", (json_int_t)w->path[2 * k],
                                            (json_int_t)w->path[2 * k + 1]));
    }
    json_object_set_new(result, "path", path);
  }
  return print_json(result);
}

/* Why there is no distance: no path, or one of costs that no double holds. */
static void print_infinite(const request *r, size_t n, size_t m) {
  size_t least = n > m ? n - m : m - n;
  printf("%-10s infinity: ", "distance");
  if (r->dtw.radius < least) {
    printf("no path within radius %zu; %zu is the least\n", r->dtw.radius, least);
  } else {
    printf("the costs add up to more than the largest number, 1.79e308\n");
  }
}

static int print(const request *r, const warping *w) {
  if (r->shared.json) return print_json_of(r, w);
  size_t n = w->series[0].count, m = w->series[1].count;
  printf("%-10s %s: %zu samples\n", "a", file_title(r->shared.argument[0]), n);
  printf("%-10s %s: %zu samples\n", "b", file_title(r->shared.argument[1]), m);
  if (isinf(w->distance)) {
    print_infinite(r, n, m);
  } else {
    printf("%-10s %.17g\n", "distance", w->distance);
  }
  if (!w->length) return EXIT_DONE;
  printf("\n%10s %10s  paired samples, from 0\n", "a", "b");
  for (size_t k = 0; k < w->length; k++) {
    printf("%10zu %10zu\n", w->path[2 * k], w->path[2 * k + 1]);
  }
  return EXIT_DONE;
}

static int compute(const request *r, warping *w, failure *why) {
  const columns *a = &w->series[0], *b = &w->series[1];
  tsanom_status status;
  if (r->path) {
    w->path = allocate(a->count + b->count, 2 * sizeof *w->path);
    status = tsanom_dtw_path(a->column[0], a->count, b->column[0], b->count, &r->dtw,
                             &r->shared.exec, w->path, &w->length, &w->distance);
  } else {
    status = tsanom_dtw_distance(a->column[0], a->count, b->column[0], b->count, &r->dtw,
                                 &r->shared.exec, &w->distance);
  }
  return status < 0 ? fail_status(why, "the two series", status) : 0;
}

static int compare(const request *r, warping *w, failure *why) {
  for (size_t k = 0; k < 2; k++) {
    if (series_read(r->shared.argument[k], r->column, &w->series[k], why)) return -1;
  }
  if (compute(r, w, why)) return -1;
  return r->shared.plot ? draw(r, w, why) : 0;
}

static void check_line(struct argp_state *state, void *request_) {
  const request *r = request_;
  if (strcmp(r->shared.argument[0], "-") == 0 &&
      strcmp(r->shared.argument[1], "-") == 0) {
    argp_error(state, "only one of the series can be standard input");
  }
}

static const syntax command_line = {
    ROWS(options),
    .arguments = "A B",
    .help =
        "Warping distance of two series.\v"
        "A series is a file with one number per line, or with --column a column of a "
        "CSV file that has a header; \"-\" is standard input.",
    .expected = "two series are",
    .least = 2,
    .most = 2,
    .check = check_line,
};

int command_dtw(int argc, char **argv) {
  request r = {0};
  tsanom_dtw_options_init(&r.dtw, sizeof r.dtw);
  parse_command(&command_line, argc, argv, &r);
  warping w = {0};
  failure why;
  int status = compare(&r, &w, &why) ? report_failure(&why) : print(&r, &w);
  free(w.path);
  columns_free(&w.series[0]);
  columns_free(&w.series[1]);
  return status;
}
