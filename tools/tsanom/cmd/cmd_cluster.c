/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom cluster: OPTICS of the rows of a table.
 *
 *   rows ──▶ order, reachability ──▶ labels by one of
 *                                      --cut E    DBSCAN with that radius
 *                                      --xi X     steepness of the reachability plot
 *                                      neither    significant valleys, or one class
 *
 * The picture has the reachability plot, and the points themselves if they have two
 * coordinates. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "number.h"
#include "plot.h"
#include "reserve.h"
#include "rows.h"
#include "series.h"

enum { BY_SPLIT, BY_CUT, BY_XI };

typedef struct {
  shared_options shared;
  tsanom_optics_options optics;
  tsanom_optics_xi_options xi;
  double cut;
  int extraction, by_cut, by_xi;
  const char *columns;
} request;

typedef struct {
  points data;
  tsanom_optics_ordering ordering;
  int32_t *label;
  size_t clusters;
  double cut, probability; /* of BY_SPLIT */
} clustering;

static const option_row options[] = {
    {"min-pts", 'k', "K",
     "Points that make a neighborhood dense, including the point itself (default: the "
     "larger of 5 and half the square root of the number of points; 1 of fewer than 10 "
     "points)",
     COUNT(optics.min_points, 1, 0)},
    {"eps", 0, "E", "Points farther apart are not neighbors (default: any are)",
     NUMBER(optics.eps, 0, INFINITY, 0)},
    {"metric", 0, "euclidean|manhattan|chebyshev",
     "Distance of two points (default: euclidean)", WORD(optics.metric)},
    {"columns", 0, "NAME,...",
     "Coordinates are these columns of the header (default: all columns)", TEXT(columns)},
    {"cut", 0, "E", "Clusters of DBSCAN with this radius", NUMBER(cut, 0, INFINITY, 0),
     GIVEN(by_cut), .group = 1},
    {"xi", 0, "X", "Clusters by steepness of the reachability plot, 0 <= X < 1",
     NUMBER(xi.xi, 0, 1, HIGH_OPEN), GIVEN(by_xi), .group = 1},
};

static void make_ordering(clustering *c) {
  size_t n = c->data.count;
  tsanom_optics_ordering *o = &c->ordering;
  *o = (tsanom_optics_ordering){.struct_size = sizeof *o};
  o->order = allocate(n, sizeof *o->order);
  o->predecessor = allocate(n, sizeof *o->predecessor);
  o->reachability = allocate(n, sizeof *o->reachability);
  o->core_distance = allocate(n, sizeof *o->core_distance);
  c->label = allocate(n, sizeof *c->label);
}

static void clustering_free(clustering *c) {
  points_free(&c->data);
  free(c->ordering.order);
  free(c->ordering.predecessor);
  free(c->ordering.reachability);
  free(c->ordering.core_distance);
  free(c->label);
}

/* A value that is too large is reported by its line and column, which the table keeps
 * for this. */
static int order(request *r, clustering *c, failure *why) {
  const points *data = &c->data;
  const char *file = file_title(r->shared.argument[0]);
  if (data->count < r->optics.min_points) {
    return fail(why, "%s: %zu points, fewer than the %zu of --min-pts", file, data->count,
                r->optics.min_points);
  }
  tsanom_fault fault;
  tsanom_exec exec = exec_with_fault(&r->shared.exec, &fault);
  tsanom_status status =
      tsanom_optics_order(data->value, data->count, data->dimensions, data->dimensions,
                          &r->optics, &exec, &c->ordering);
  if (status == TSANOM_E_VALUE) {
    return fail(why, "%s:%zu: column %zu: magnitudes up to 1e150 are expected", file,
                data->line[fault.element], data->at[fault.second] + 1);
  }
  return status == TSANOM_OK ? 0 : fail_status(why, file, status);
}

static tsanom_status extract_by_xi(const request *r, clustering *c) {
  tsanom_optics_xi_options xi = r->xi;
  xi.min_points = c->ordering.min_points;
  size_t found;
  tsanom_status status =
      tsanom_optics_xi(&c->ordering, &xi, &r->shared.exec, NULL, 0, &found, c->label);
  for (size_t i = 0; status == TSANOM_OK && i < c->data.count; i++) {
    if (c->label[i] >= (int32_t)c->clusters) c->clusters = (size_t)c->label[i] + 1;
  }
  return status;
}

/* Labels of all points; -1 is noise. */
static int extract(const request *r, clustering *c, failure *why) {
  tsanom_status status;
  if (r->extraction == BY_XI) {
    status = extract_by_xi(r, c);
  } else if (r->extraction == BY_CUT) {
    c->cut = r->cut;
    /* The analyzer believes that the call may forget what `c` owns. */
    /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
    status =
        tsanom_optics_cut(&c->ordering, r->cut, &r->shared.exec, c->label, &c->clusters);
  } else {
    tsanom_optics_split_options split;
    tsanom_optics_split_options_init(&split, sizeof split);
    status = tsanom_optics_split(&c->ordering, &split, &r->shared.exec, c->label,
                                 &c->clusters, &c->cut, &c->probability);
  }
  return status == TSANOM_OK
             ? 0
             : fail_status(why, file_title(r->shared.argument[0]), status);
}

/* Clusters in the colors of the palette, noise in gray, as gnuplot numbers colors. */
static int color_of(int32_t label) {
  static const int colors[] = {0x0072b2, 0xd55e00, 0x009e73,
                               0xcc79a7, 0xe69f00, 0x56b4e9};
  return label < 0 ? 0xbbbbbb : colors[label % 6];
}

static void draw_plot_data(const clustering *c, FILE *script) {
  double highest = 0;
  for (size_t k = 0; k < c->data.count; k++) {
    if (isfinite(c->ordering.reachability[k]) && c->ordering.reachability[k] > highest) {
      highest = c->ordering.reachability[k];
    }
  }
  /* What has no reachability stands out above everything. */
  double top = highest > 0 ? 1.1 * highest : 1;
  fprintf(script, "$plot << END\n");
  for (size_t k = 0; k < c->data.count; k++) {
    fprintf(script, "%zu %.9g %d\n", k, fmin(c->ordering.reachability[k], top),
            color_of(c->label[c->ordering.order[k]]));
  }
  fprintf(script, "END\n");
}

static int draw(const request *r, const clustering *c, failure *why) {
  plot p;
  int scatter = c->data.dimensions == 2;
  if (plot_open(&p, r->shared.plot, "Reachability plot", why)) return -1;
  draw_plot_data(c, p.script);
  if (scatter) {
    fprintf(p.script, "$points << END\n");
    for (size_t i = 0; i < c->data.count; i++) {
      fprintf(p.script, "%.9g %.9g %d\n", c->data.value[2 * i], c->data.value[2 * i + 1],
              color_of(c->label[i]));
    }
    fprintf(p.script, "END\nset multiplot layout 1,2\n");
  }
  fprintf(p.script,
          "set xlabel 'position in the order, points'\nset ylabel 'reachability, unit of "
          "the data'\n"
          "set yrange [0:*]\nunset key\n"
          "plot $plot using 1:2:3 with impulses linewidth %d linecolor rgb variable",
          c->data.count < 200 ? 3 : 1);
  if (r->extraction != BY_XI && isfinite(c->cut)) {
    fprintf(p.script, ", %.9g with lines linecolor rgb '#444444' dashtype 2", c->cut);
  }
  fprintf(p.script, "\n");
  if (scatter) {
    fprintf(p.script,
            "set title 'Points'\nset xlabel 'first coordinate, unit of the data'\n"
            "set ylabel 'second coordinate, unit of the data'\nset yrange [*:*]\n"
            "plot $points using 1:2:3 with points pointtype 7 pointsize 0.4 "
            "linecolor rgb variable\nunset multiplot\n");
  }
  return plot_close(&p, why);
}

static json_t *counts(const size_t *value, size_t count) {
  json_t *array = json_array();
  for (size_t i = 0; i < count; i++) {
    json_array_append_new(
        array, value[i] == SIZE_MAX ? json_null() : json_integer((json_int_t)value[i]));
  }
  return array;
}

static int print_json_of(const request *r, const clustering *c) {
  size_t n = c->data.count;
  json_t *labels = json_array();
  for (size_t i = 0; i < n; i++) {
    json_array_append_new(labels, json_integer(c->label[i]));
  }
  json_t *result = json_pack("{so so so so so sI}", "order", counts(c->ordering.order, n),
                             "reachability", json_numbers(c->ordering.reachability, n),
                             "predecessor", counts(c->ordering.predecessor, n),
                             "core_distance", json_numbers(c->ordering.core_distance, n),
                             "labels", labels, "clusters", (json_int_t)c->clusters);
  if (r->extraction != BY_XI) json_object_set_new(result, "cut", json_finite(c->cut));
  if (r->extraction == BY_SPLIT) {
    json_object_set_new(result, "probability", json_finite(c->probability));
  }
  return print_json(result);
}

/* A distance, or a dash where it is undefined. */
static void print_distance(double value) {
  if (isfinite(value)) {
    printf(" %12.6g", value);
  } else {
    printf(" %12s", "-");
  }
}

static int print(const request *r, const clustering *c) {
  if (r->shared.json) return print_json_of(r, c);
  size_t noise = 0;
  for (size_t i = 0; i < c->data.count; i++) noise += c->label[i] < 0;
  printf("%zu cluster%s of %zu points; %zu point%s noise", c->clusters,
         c->clusters == 1 ? "" : "s", c->data.count, noise, noise == 1 ? " is" : "s are");
  if (r->extraction == BY_SPLIT) {
    if (isfinite(c->cut)) printf("; cut at %.6g", c->cut);
    printf("; chance of such a plot in one class %.3g", c->probability);
  }
  printf("\n\n%8s %8s %12s %12s %11s\n", "point", "cluster", "reachability", "core",
         "predecessor");
  for (size_t k = 0; k < c->data.count; k++) {
    size_t p = c->ordering.order[k];
    printf("%8zu %8d", p, c->label[p]);
    print_distance(c->ordering.reachability[k]);
    print_distance(c->ordering.core_distance[p]);
    if (c->ordering.predecessor[k] == SIZE_MAX) {
      printf(" %11s\n", "-");
    } else {
      printf(" %11zu\n", c->ordering.predecessor[k]);
    }
  }
  return EXIT_DONE;
}

static int cluster(request *r, clustering *c, failure *why) {
  if (points_read(r->shared.argument[0], r->columns, &c->data, why)) return -1;
  make_ordering(c);
  if (order(r, c, why) || extract(r, c, why)) return -1;
  return r->shared.plot ? draw(r, c, why) : 0;
}

static void check_line(struct argp_state *state, void *request_) {
  request *r = request_;
  if (r->by_cut && r->by_xi) argp_error(state, "--cut and --xi exclude each other");
  if (r->by_cut && r->cut > r->optics.eps) {
    argp_error(state, "--cut is %s; at most %s is expected, the value of --eps",
               number_exact(r->cut).text, number_exact(r->optics.eps).text);
  }
  r->extraction = r->by_xi ? BY_XI : r->by_cut ? BY_CUT : BY_SPLIT;
}

static const syntax command_line = {
    ROWS(options),
    .arguments = "FILE",
    .help =
        "Clusters of points by density (OPTICS).\v"
        "FILE has one point per row, its coordinates in columns; a first row without "
        "any number is a header. \"-\" is standard input. Without --cut and --xi a "
        "test decides: one class or several.",
    .expected = "one table is",
    .least = 1,
    .most = 1,
    .check = check_line,
};

int command_cluster(int argc, char **argv) {
  request r = {0};
  tsanom_optics_options_init(&r.optics, sizeof r.optics);
  tsanom_optics_xi_options_init(&r.xi, sizeof r.xi);
  parse_command(&command_line, argc, argv, &r);
  clustering c = {0};
  failure why;
  int status = cluster(&r, &c, &why) ? report_failure(&why) : print(&r, &c);
  clustering_free(&c);
  return status;
}
