/* SPDX-License-Identifier: BSD-3-Clause */
/* Results of established implementations: see tests/data/optics/README.md. */
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tsanom/optics.h>

#include "optics/naive.h"
#include "support/check.h"

#define FOLDER TSANOM_TEST_DATA "/optics/"

typedef struct {
  size_t rows, columns;
  double *value;
} table;

static table read_table(const char *path) {
  table t = {0, 0, NULL};
  FILE *file = fopen(path, "r");
  cr_assert(file, "%s is missing", path);
  char line[4096];
  size_t capacity = 0;
  while (fgets(line, sizeof line, file)) {
    if (strncmp(line, "point", 5) == 0 || strncmp(line, "start", 5) == 0) continue;
    size_t columns = 0;
    for (char *at = line, *end; *at && *at != '\n'; at = end + (*end == ',')) {
      if (t.rows * t.columns + columns + 8 > capacity) {
        t.value = realloc(t.value, (capacity = 2 * capacity + 64) * sizeof *t.value);
      }
      t.value[t.rows * t.columns + columns++] = strtod(at, &end);
    }
    t.columns = columns;
    t.rows++;
  }
  fclose(file);
  return t;
}

typedef struct {
  table points;
  plot p;
  size_t min_points;
} golden;

/* Compute the case in the name of a golden file. */
static golden compute(const char *path) {
  golden g;
  const char *name = strrchr(path, '/') + 1, *parameters = strstr(name, "_mp");
  char data[512], *rest;
  snprintf(data, sizeof data, FOLDER "%.*s.csv", (int)(parameters - name), name);
  g.points = read_table(data);
  tsanom_optics_options options;
  tsanom_optics_options_init(&options, sizeof options);
  options.min_points = strtoul(parameters + 3, &rest, 10);
  options.eps = strtod(rest + 4, NULL);
  g.min_points = options.min_points;
  size_t n = g.points.rows, d = g.points.columns;
  g.p = plot_new(n);
  tsanom_optics_ordering ordering = plot_ordering(&g.p);
  CHECK_STATUS(tsanom_optics_order(g.points.value, n, d, d, &options, NULL, &ordering),
               TSANOM_OK);
  return g;
}

static void release(golden *g, table *t) {
  plot_free(&g->p);
  free(g->points.value);
  free(t->value);
}

static int close_to(double a, double b) {
  return isinf(a) || isinf(b) ? a == b : fabs(a - b) <= 1e-9 * (1 + fabs(b));
}

static void check_orders(const char *pattern, size_t least) {
  glob_t files;
  cr_assert(glob(pattern, 0, NULL, &files) == 0 && files.gl_pathc >= least);
  for (size_t f = 0; f < files.gl_pathc; f++) {
    const char *path = files.gl_pathv[f];
    golden g = compute(path);
    table t = read_table(path);
    cr_assert(t.rows == g.points.rows);
    for (size_t k = 0; k < t.rows; k++) {
      const double *row = t.value + k * t.columns;
      double predecessor =
          g.p.predecessor[k] == SIZE_MAX ? -1 : (double)g.p.predecessor[k];
      cr_assert((double)g.p.order[k] == row[0] && predecessor == row[2] &&
                    close_to(g.p.reachability[k], row[1]) &&
                    (t.columns < 4 || close_to(g.p.core[g.p.order[k]], row[3])),
                "%s, place %zu: %zu %.17g %g %.17g", path, k, g.p.order[k],
                g.p.reachability[k], predecessor, g.p.core[g.p.order[k]]);
    }
    release(&g, &t);
  }
  globfree(&files);
}

Test(optics_golden, order_reachability_predecessor_and_core_are_those_of_the_definition) {
  check_orders(FOLDER "*_exact.csv", 11);
}

Test(optics_golden, order_reachability_and_predecessor_are_those_of_elki) {
  check_orders(FOLDER "*_elki.csv", 11);
}

Test(optics_golden, labels_at_a_cut_are_those_of_scikit_learn) {
  glob_t files;
  cr_assert(glob(FOLDER "*_dbscan*_labels.csv", 0, NULL, &files) == 0 &&
            files.gl_pathc >= 16);
  for (size_t f = 0; f < files.gl_pathc; f++) {
    const char *path = files.gl_pathv[f];
    golden g = compute(path);
    table t = read_table(path);
    /* scikit-learn rounds reachabilities to 15 decimals. */
    double eps = strtod(strstr(path, "_dbscan") + 7, NULL) * (1 + 1e-12);
    int32_t *labels = malloc(t.rows * sizeof *labels);
    tsanom_optics_ordering ordering = plot_ordering(&g.p);
    CHECK_STATUS(tsanom_optics_cut(&ordering, eps, NULL, labels, NULL), TSANOM_OK);
    for (size_t i = 0; i < t.rows; i++) {
      cr_assert(labels[i] == t.value[i], "%s, point %zu: %d, not %g", path, i, labels[i],
                t.value[i]);
    }
    free(labels);
    release(&g, &t);
  }
  globfree(&files);
}

Test(optics_golden, clusters_by_steepness_are_those_of_elki) {
  glob_t files;
  cr_assert(glob(FOLDER "*_elki_xi*.csv", 0, NULL, &files) == 0 && files.gl_pathc >= 22);
  for (size_t f = 0; f < files.gl_pathc; f++) {
    const char *path = files.gl_pathv[f];
    golden g = compute(path);
    table t = read_table(path);
    size_t n = g.points.rows, found[256], count = 0;
    tsanom_optics_xi_options options;
    tsanom_optics_xi_options_init(&options, sizeof options);
    options.xi = strtod(strstr(path, "_xi") + 3, NULL);
    options.min_points = g.min_points;
    options.keep_tails = strstr(path, "nocorrect") != NULL;
    tsanom_optics_ordering ordering = plot_ordering(&g.p);
    CHECK_STATUS(tsanom_optics_xi(&ordering, &options, NULL, found, 128, &count, NULL),
                 TSANOM_OK);
    /* ELKI adds a cluster of all points if some are in no cluster. */
    size_t k = 0;
    for (size_t i = 0; i < t.rows; i++) {
      const double *row = t.value + i * t.columns;
      if (k < count && (double)found[2 * k] == row[0] &&
          (double)found[2 * k + 1] == row[1]) {
        k++;
        continue;
      }
      cr_assert(row[0] == 0 && row[1] == (double)(n - 1),
                "%s: no cluster %g to %g; the next is %zu to %zu", path, row[0], row[1],
                k < count ? found[2 * k] : n, k < count ? found[2 * k + 1] : n);
    }
    cr_assert(k == count, "%s: %zu to %zu is not in the file", path, found[2 * k],
              found[2 * k + 1]);
    release(&g, &t);
  }
  globfree(&files);
}
