/* SPDX-License-Identifier: BSD-3-Clause */
/* values COUNT: what the functions of each module return for COUNT random calls, one line each:
 *
 *     FUNCTION CALL VALUE...        numbers with all bits (%a)
 *
 * compare.py compares the lines of two machines. Random numbers are those of integers alone, so that
 * every machine makes the same calls. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <tsanom/tsanom.h>

#include "roughset/tables.h"
#include "support/random.h"
#include "support/rows.h"

enum { LONGEST = 300, DIMENSIONS = 3, ATTRIBUTES = 12, NEIGHBORS = 3 };

static uint64_t state;

static size_t between(size_t low, size_t high) {
  return random_between(&state, low, high);
}

static void walk(size_t n, double *x) {
  double level = 0;
  for (size_t i = 0; i < n; i++) x[i] = level += random_unit(&state) - 0.5;
}

static void begin(const char *function, size_t call, tsanom_status status) {
  printf("%s %zu %d", function, call, (int)status);
}

static void put(double value) {
  printf(" %a", value);
}

static void end(void) {
  putchar('\n');
}

static void dtw(size_t call) {
  double x[LONGEST], y[LONGEST], distance = 0;
  float x32[LONGEST], y32[LONGEST], distance32 = 0;
  size_t n = between(1, LONGEST), m = between(1, LONGEST), path[2 * (2 * LONGEST)],
         length = 0;
  tsanom_dtw_options options;
  tsanom_dtw_options_init(&options, sizeof options);
  options.radius = between(0, 3) ? between(0, LONGEST) : SIZE_MAX;
  options.cost = (int32_t)between(0, 1);
  walk(n, x);
  walk(m, y);
  for (size_t i = 0; i < n; i++) x32[i] = (float)x[i];
  for (size_t i = 0; i < m; i++) y32[i] = (float)y[i];
  begin("tsanom_dtw_distance", call,
        tsanom_dtw_distance(x, n, y, m, &options, NULL, &distance));
  put(distance);
  end();
  begin("tsanom_dtw_distance_f32", call,
        tsanom_dtw_distance_f32(x32, n, y32, m, &options, NULL, &distance32));
  put(distance32);
  end();
  begin("tsanom_dtw_path", call,
        tsanom_dtw_path(x, n, y, m, &options, NULL, path, &length, &distance));
  put((double)length);
  for (size_t k = 0; k < length; k += 7) put((double)path[2 * k + 1]);
  end();
}

static void bounds(size_t call) {
  double x[LONGEST], y[LONGEST], lower[LONGEST], upper[LONGEST], bound = 0;
  size_t n = between(1, LONGEST);
  tsanom_lbkeogh_options options;
  tsanom_lbkeogh_options_init(&options, sizeof options);
  options.radius = between(0, LONGEST);
  options.cost = (int32_t)between(0, 1);
  walk(n, x);
  walk(n, y);
  begin("tsanom_lbkeogh_envelope", call,
        tsanom_lbkeogh_envelope(x, n, options.radius, NULL, lower, upper));
  for (size_t i = 0; i < n; i += 5) put(lower[i] - upper[i]);
  end();
  begin("tsanom_lbkeogh_bound", call,
        tsanom_lbkeogh_bound(y, lower, upper, n, options.cost, NULL, &bound));
  put(bound);
  end();
  begin("tsanom_lbkeogh_improved", call,
        tsanom_lbkeogh_improved(y, x, lower, upper, n, &options, NULL, &bound));
  put(bound);
  end();
}

static void search(size_t call) {
  enum { COUNT = 12 };
  double data[COUNT * LONGEST], query[LONGEST], distances[NEIGHBORS] = {0};
  size_t indices[NEIGHBORS] = {0};
  tsanom_search_index *index = NULL;
  tsanom_search_options options;
  size_t length = between(2, LONGEST);
  const tsanom_series set = rows_of(data, COUNT, length, 0),
                      one = rows_of(query, 1, length, 0);
  tsanom_search_options_init(&options, sizeof options);
  options.radius = between(0, length - 1);
  options.z_normalize = (int32_t)between(0, 1);
  for (size_t i = 0; i < COUNT; i++) walk(length, data + i * length);
  walk(length, query);
  tsanom_status status = tsanom_search_index_create(&set, &options, NULL, &index);
  if (status == TSANOM_OK) {
    status =
        tsanom_search_nearest(index, &one, NEIGHBORS, NULL, indices, distances, NULL);
  }
  tsanom_search_index_destroy(index);
  begin("tsanom_search_nearest", call, status);
  for (size_t k = 0; k < NEIGHBORS; k++) {
    put((double)indices[k]);
    put(distances[k]);
  }
  end();
}

static void periods(size_t call) {
  double x[4 * LONGEST];
  size_t n = between(8, 4 * LONGEST), period = between(1, n / 4);
  walk(period, x);
  for (size_t i = period; i < n; i++)
    x[i] = x[i - period] + 0.2 * (random_unit(&state) - 0.5);
  tsanom_dpd_found found = {.struct_size = sizeof found};
  begin("tsanom_dpd_find", call, tsanom_dpd_find(x, n, NULL, NULL, &found));
  put((double)found.period);
  put(found.dip);
  put(found.score);
  /* exp() multiplies the rounding errors of a small chance by its logarithm. */
  put(log(found.probability));
  end();
}

static void optics(size_t call) {
  double points[LONGEST * DIMENSIONS], reachability[LONGEST];
  size_t n = between(1, LONGEST), dimensions = between(1, DIMENSIONS), order[LONGEST];
  tsanom_optics_options options;
  tsanom_optics_ordering ordering;
  tsanom_optics_options_init(&options, sizeof options);
  ordering = (tsanom_optics_ordering){.struct_size = sizeof ordering};
  ordering.order = order;
  ordering.reachability = reachability;
  options.min_points = between(1, 8);
  walk(n * dimensions, points);
  tsanom_status status =
      tsanom_optics_order(points, n, dimensions, dimensions, &options, NULL, &ordering);
  begin("tsanom_optics_order", call, status);
  for (size_t k = 0; status >= 0 && k < n; k += 11) {
    put((double)order[k]);
    put(reachability[k]);
  }
  end();
}

static void roughset(size_t call) {
  int32_t values[LONGEST * ATTRIBUTES], decision[LONGEST];
  size_t rows = between(1, LONGEST), attributes = between(1, ATTRIBUTES), size = 0,
         found = 0;
  uint64_t reduct = 0, core = 0, smallest = 0;
  const tsanom_roughset_table table = table_of(values, decision, rows, attributes);
  tsanom_roughset_bounds limits = {0};
  for (size_t i = 0; i < rows * attributes; i++) values[i] = (int32_t)between(0, 2);
  for (size_t i = 0; i < rows; i++) decision[i] = (int32_t)between(0, 1);
  begin("tsanom_roughset_greedy", call,
        tsanom_roughset_greedy(&table, NULL, NULL, &reduct, &size));
  (void)tsanom_roughset_core(&table, NULL, NULL, &core);
  (void)tsanom_roughset_minimum(&table, NULL, NULL, NULL, &limits, &smallest, &found);
  put((double)reduct);
  put((double)core);
  put((double)smallest);
  end();
}

static void polyfit(size_t call) {
  double x[LONGEST], y[LONGEST], value = 0;
  size_t n = between(2, LONGEST);
  tsanom_polyfit_options options;
  static tsanom_polyfit_model model;
  tsanom_polyfit_options_init(&options, sizeof options);
  model = (tsanom_polyfit_model){.struct_size = sizeof model};
  options.degree = (int32_t)between(0, n < 16 ? n - 1 : 15);
  double scale = between(0, 2) ? 1 : 1e-6; /* crowded at one end: by QR */
  for (size_t i = 0; i < n; i++) x[i] = i + 1 < n ? scale * (double)i : (double)n;
  walk(n, y);
  tsanom_status status = tsanom_polyfit_fit(x, y, NULL, n, &options, NULL, &model);
  begin("tsanom_polyfit_fit", call, status);
  for (int32_t k = 0; status >= 0 && k <= model.degree; k++) put(model.high[k]);
  put(model.rss);
  put(model.condition);
  end();
  if (status < 0) return;
  begin("tsanom_polyfit_evaluate", call,
        tsanom_polyfit_evaluate(&model, x + n / 2, 1, NULL, &value, NULL));
  put(value);
  end();
}

static void change(size_t call) {
  double x[LONGEST];
  size_t n = between(40, LONGEST), at = between(1, n), count = 0;
  tsanom_change_point points[4];
  tsanom_change_comparison comparison = {.struct_size = sizeof comparison};
  for (size_t i = 0; i < n; i++) x[i] = random_unit(&state) + (i >= at ? 2 : 0);
  begin("tsanom_change_find", call,
        tsanom_change_find(x, n, NULL, NULL, points, 4, &count));
  for (size_t k = 0; k < count && k < 4; k++) put((double)points[k].at);
  end();
  begin("tsanom_change_compare", call,
        tsanom_change_compare(x, 10, x + n - 10, 10, NULL, NULL, &comparison));
  put(comparison.difference);
  put(comparison.low);
  put(comparison.significance);
  end();
}

int main(int argc, char **argv) {
  size_t count = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
  static void (*const modules[])(size_t call) = {dtw,    bounds,   search,  periods,
                                                 optics, roughset, polyfit, change};
  for (size_t i = 0; i < sizeof modules / sizeof *modules; i++) {
    state = 57 + i;
    for (size_t call = 0; call < count; call++) modules[i](call);
  }
  return count == 0 || fflush(stdout) != 0;
}
