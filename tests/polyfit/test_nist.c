/* SPDX-License-Identifier: BSD-3-Clause */
/* NIST StRD. A fit by default must be the nearest double to the exact solution
 * of the data as doubles have them: no program that reads doubles has a higher
 * log relative error against the certified values. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tsanom/polyfit.h>

#include "reference.h"
#include "support/check.h"
#include "support/exec.h"

enum { LINE = 200 };

static void read_set(const char *name, dataset *set) {
  char path[512], line[LINE];
  (void)snprintf(path, sizeof path, "%s/nist/%s.csv", TSANOM_TEST_DATA, name);
  FILE *file = fopen(path, "r");
  cr_assert_not_null(file, "%s", path);
  set->n = 0;
  cr_assert_not_null(fgets(line, sizeof line, file));
  while (fgets(line, sizeof line, file)) {
    char *end;
    set->y[set->n] = strtod(line, &end);
    cr_assert(*end == ',');
    set->x[set->n++] = strtod(end + 1, &end);
  }
  (void)fclose(file);
}

static double log_relative_error(double got, long double certified) {
  long double error = fabsl(got - certified);
  if (error == 0) return INFINITY;
  return (double)-log10l(certified == 0 ? error : error / fabsl(certified));
}

static double quantity_of(const tsanom_polyfit_model *model, const char *quantity,
                          int index) {
  if (strcmp(quantity, "coefficient") == 0) return model->monomial[index];
  if (strcmp(quantity, "standard_error") == 0) return model->monomial_sd[index];
  if (strcmp(quantity, "residual_sd") == 0) return model->residual_sd;
  cr_assert_str_eq(quantity, "r2");
  return model->r2;
}

static void check_quantity(const tsanom_polyfit_model *model, const char *set,
                           const char *quantity, int index, const char *certified,
                           const char *rounded) {
  double got = quantity_of(model, quantity, index);
  long double truth = strtold(certified, NULL);
  if (*rounded) {
    double nearest = strtod(rounded, NULL);
    /* Wampler 2 leaves only what rounding the y left: 1e-16 of them. */
    double allowed = nearest > 0 && nearest < 1e-15 ? 1e-9 * nearest : 0;
    cr_assert(fabs(got - nearest) <= allowed, "%s %s %d: %.17g, not %.17g", set, quantity,
              index, got, nearest);
  } else {
    double digits = log_relative_error(got, truth);
    cr_assert(digits > 13, "%s %s %d: %.1f digits", set, quantity, index, digits);
  }
}

static void check_certified(int32_t isa, int through_stream) {
  static dataset set;
  char path[512], line[LINE], loaded[32] = "";
  tsanom_polyfit_model model = new_model();
  tsanom_exec exec = exec_at(isa, 1);
  (void)snprintf(path, sizeof path, "%s/nist/certified.csv", TSANOM_TEST_DATA);
  FILE *file = fopen(path, "r");
  cr_assert_not_null(file, "%s", path);
  int checked = 0;
  while (fgets(line, sizeof line, file)) {
    char name[32], quantity[32], certified[64], rounded[64] = "";
    int degree, index;
    int fields = sscanf(line, /* NOLINT: the file is ours */
                        "%31[a-z0-9],%d,%31[a-z0-9_],%d,%63[^,\n],%63[^,\n]", name,
                        &degree, quantity, &index, certified, rounded);
    if (fields < 5) continue;
    if (strcmp(name, loaded) != 0) {
      tsanom_polyfit_options options = options_of(degree, TSANOM_POLYFIT_FIXED, 1);
      (void)snprintf(loaded, sizeof loaded, "%s", name);
      read_set(name, &set);
      if (through_stream) {
        tsanom_polyfit_stream *stream;
        tsanom_polyfit_stream_create(&options, &exec, &stream);
        tsanom_polyfit_stream_push(stream, set.x, set.y, NULL, set.n, &exec);
        CHECK_STATUS(tsanom_polyfit_stream_fit(stream, NULL, &exec, &model), TSANOM_OK);
        tsanom_polyfit_stream_destroy(stream);
      } else {
        CHECK_STATUS(
            tsanom_polyfit_fit(set.x, set.y, NULL, set.n, &options, &exec, &model),
            TSANOM_OK);
      }
    }
    /* A stream knows RSS to 1e-30 of the squares of y, not to 1e-30 of itself. */
    int exact_fit = strcmp(name, "wampler1") == 0 || strcmp(name, "wampler2") == 0;
    if (through_stream && exact_fit && strcmp(quantity, "coefficient") != 0) continue;
    check_quantity(&model, name, quantity, index, certified, rounded);
    checked++;
  }
  (void)fclose(file);
  cr_assert(checked >= 80, "only %d values checked", checked);
}

Test(nist, every_certified_value_by_default) {
  FOR_EACH_ISA (isa) check_certified(isa, 0);
}

Test(nist, every_certified_value_through_a_stream) {
  FOR_EACH_ISA (isa) check_certified(isa, 1);
}
