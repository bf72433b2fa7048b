/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tsanom/hsa.h>

#include "support/check.h"
#include "support/random.h"
#include "hsa/synthetic.h"

enum { RUNS = 4 };

/* A model of synthetic runs; free() takes it back. */
static tsanom_hsa_model *learned(const tsanom_hsa_options *options, size_t *bytes) {
  uint64_t seed = 21;
  synthetic_kind kind = synthetic_steady();
  tsanom_hsa_run runs[RUNS];
  for (int i = 0; i < RUNS; i++) runs[i] = synthetic_run(&kind, &seed);
  CHECK_STATUS(tsanom_hsa_model_size(kind.threads, options, bytes), TSANOM_OK);
  tsanom_hsa_model *model = malloc(*bytes);
  tsanom_status status =
      tsanom_hsa_learn(runs, RUNS, options, NULL, NULL, 0, model, *bytes);
  CHECK_STATUS(status, TSANOM_OK);
  for (int i = 0; i < RUNS; i++) synthetic_free(&runs[i]);
  return model;
}

static double through_text(double value) {
  char text[64];
  (void)snprintf(text, sizeof text, "%.17g", value);
  return strtod(text, NULL);
}

static double *array_through_text(const double *values, size_t count) {
  double *copy = malloc(count * sizeof *copy);
  for (size_t i = 0; i < count; i++) copy[i] = through_text(values[i]);
  return copy;
}

Test(hsa_model, comes_back_from_text_bit_for_bit) {
  size_t bytes;
  tsanom_hsa_model *model = learned(NULL, &bytes), *copy = malloc(bytes);
  memset(copy, 0xA5, bytes);
  tsanom_hsa_options options;
  tsanom_hsa_options_init(&options, sizeof options);
  CHECK_STATUS(tsanom_hsa_model_options(model, &options), TSANOM_OK);
  cr_assert(options.points == 256 && options.struct_size == sizeof options);
  cr_assert(tsanom_hsa_model_threads(model) == 2 && tsanom_hsa_model_runs(model) == RUNS);
  CHECK_STATUS(tsanom_hsa_model_init(copy, bytes, 2, RUNS, &options), TSANOM_OK);
  for (size_t t = 0; t < 2; t++) {
    tsanom_hsa_reference r;
    CHECK_STATUS(tsanom_hsa_model_get(model, t, &r), TSANOM_OK);
    double *time = array_through_text(r.time, r.windows + 1);
    double *rate = array_through_text(r.rate, r.windows + 1);
    double *window_rate = array_through_text(r.window_rate, r.windows);
    double *coefficient = array_through_text(r.coefficient, r.degree + 1);
    r.time = time;
    r.rate = rate;
    r.window_rate = window_rate;
    r.coefficient = coefficient;
    double *scalars[] = {&r.completion, &r.mean_rate, &r.interval, &r.r2,   &r.domain[0],
                         &r.domain[1],  &r.unit,      &r.center,   &r.scale};
    for (size_t k = 0; k < sizeof scalars / sizeof *scalars; k++) {
      *scalars[k] = through_text(*scalars[k]);
    }
    for (size_t f = 0; f < TSANOM_HSA_SLOTS; f++) {
      r.range[f].low = through_text(r.range[f].low);
      r.range[f].high = through_text(r.range[f].high);
    }
    CHECK_STATUS(tsanom_hsa_model_set(copy, t, &r), TSANOM_OK);
    free(time);
    free(rate);
    free(window_rate);
    free(coefficient);
  }
  cr_assert(memcmp(model, copy, bytes) == 0);
  free(copy);
  free(model);
}

/* Get, change and set: the arrays written are those of the model itself. */
Test(hsa_model, takes_back_its_own_arrays) {
  size_t bytes;
  tsanom_hsa_model *model = learned(NULL, &bytes), *before = malloc(bytes);
  memcpy(before, model, bytes);
  tsanom_hsa_reference r, other, changed;
  for (size_t t = 0; t < 2; t++) {
    CHECK_STATUS(tsanom_hsa_model_get(model, t, &r), TSANOM_OK);
    CHECK_STATUS(tsanom_hsa_model_set(model, t, &r), TSANOM_OK);
  }
  cr_assert(memcmp(model, before, bytes) == 0, "setting what was there changed it");
  tsanom_hsa_range wide = {0.5, 2};
  r.range[TSANOM_HSA_GTR] = wide;
  CHECK_STATUS(tsanom_hsa_model_set(model, 1, &r), TSANOM_OK);
  CHECK_STATUS(tsanom_hsa_model_check(model, bytes), TSANOM_OK);
  CHECK_STATUS(tsanom_hsa_model_get(before, 1, &other), TSANOM_OK);
  CHECK_STATUS(tsanom_hsa_model_get(model, 1, &r), TSANOM_OK);
  cr_assert(memcmp(&r.range[TSANOM_HSA_GTR], &wide, sizeof wide) == 0);
  cr_assert(memcmp(r.time, other.time, (r.windows + 1) * sizeof *r.time) == 0);
  cr_assert(memcmp(r.rate, other.rate, (r.windows + 1) * sizeof *r.rate) == 0);
  cr_assert(memcmp(r.window_rate, other.window_rate, r.windows * sizeof *r.rate) == 0);
  cr_assert(memcmp(r.coefficient, other.coefficient,
                   (r.degree + 1) * sizeof *r.coefficient) == 0);

  /* What thread 0 has, given to thread 1 through the same model. */
  CHECK_STATUS(tsanom_hsa_model_get(model, 0, &r), TSANOM_OK);
  CHECK_STATUS(tsanom_hsa_model_set(model, 1, &r), TSANOM_OK);
  CHECK_STATUS(tsanom_hsa_model_get(model, 1, &other), TSANOM_OK);
  cr_assert(memcmp(r.time, other.time, (r.windows + 1) * sizeof *r.time) == 0);
  cr_assert(memcmp(r.rate, other.rate, (r.windows + 1) * sizeof *r.rate) == 0);

  /* Arrays in each other's places cannot be stored one after the other. */
  memcpy(before, model, bytes);
  changed = other;
  changed.window_rate = other.rate + 1;
  CHECK_STATUS(tsanom_hsa_model_set(model, 1, &changed), TSANOM_E_FORMAT);
  changed = other;
  changed.rate = other.time;
  changed.time = other.rate;
  cr_assert(tsanom_hsa_model_set(model, 1, &changed) < 0);
  changed = other;
  changed.coefficient = other.rate;
  CHECK_STATUS(tsanom_hsa_model_set(model, 1, &changed), TSANOM_E_FORMAT);
  cr_assert(memcmp(model, before, bytes) == 0);
  free(before);
  free(model);
}

/* A diagnosis with whatever stands in the memory of a model must end in a status;
 * under the sanitizers this also shows that nothing is read out of bounds. */
Test(hsa_model, damage_is_refused_or_harmless) {
  size_t bytes;
  tsanom_hsa_model *model = learned(NULL, &bytes), *damaged = malloc(bytes);
  uint64_t seed = 22;
  synthetic_kind kind = synthetic_steady();
  tsanom_hsa_run run = synthetic_run(&kind, &seed);
  size_t refused = 0;
  for (int trial = 0; trial < 3000; trial++) {
    memcpy(damaged, model, bytes);
    /* Half of the hits go to the header and the scalars, where they hurt. */
    size_t reach = trial % 2 ? bytes : 512;
    size_t at = random_between(&seed, 0, reach - 1);
    ((unsigned char *)damaged)[at] ^= (unsigned char)(1u << random_bits(&seed) % 8);
    tsanom_hsa_verdict verdict[2];
    tsanom_status status =
        tsanom_hsa_diagnose(damaged, bytes, &run, NULL, NULL, 0, verdict, 2);
    if (tsanom_hsa_model_check(damaged, bytes) < 0) {
      CHECK_STATUS(status, TSANOM_E_FORMAT);
      refused++;
    }
  }
  cr_assert(refused > 500);
  for (size_t size = 0; size < bytes; size += 97) {
    CHECK_STATUS(tsanom_hsa_model_check(model, size), TSANOM_E_FORMAT);
  }
  CHECK_STATUS(tsanom_hsa_model_check(model, bytes), TSANOM_OK);
  CHECK_STATUS(tsanom_hsa_model_check(NULL, bytes), TSANOM_E_NULL);
  synthetic_free(&run);
  free(damaged);
  free(model);
}

Test(hsa_model, parts_that_disagree_are_refused_and_leave_the_model) {
  size_t bytes;
  tsanom_hsa_model *model = learned(NULL, &bytes), *before = malloc(bytes);
  memcpy(before, model, bytes);
  tsanom_hsa_reference good, bad;
  CHECK_STATUS(tsanom_hsa_model_get(model, 1, &good), TSANOM_OK);
#define REFUSE(field, value, status)                            \
  do {                                                          \
    bad = good;                                                 \
    bad.field = value;                                          \
    CHECK_STATUS(tsanom_hsa_model_set(model, 1, &bad), status); \
  } while (0)
  REFUSE(beats, good.window, TSANOM_E_FORMAT);
  REFUSE(window, 0, TSANOM_E_FORMAT);
  REFUSE(local_window, good.local_window + 1, TSANOM_E_FORMAT);
  REFUSE(windows, good.windows + 1, TSANOM_E_FORMAT);
  REFUSE(degree, 9, TSANOM_E_FORMAT);
  REFUSE(run, RUNS, TSANOM_E_FORMAT);
  REFUSE(sample_runs, 0, TSANOM_E_FORMAT);
  REFUSE(silent_runs, 1, TSANOM_E_FORMAT);
  REFUSE(completion, 0, TSANOM_E_FORMAT);
  REFUSE(mean_rate, -1, TSANOM_E_FORMAT);
  REFUSE(interval, -1, TSANOM_E_FORMAT);
  REFUSE(mean_rate, NAN, TSANOM_E_NONFINITE);
  REFUSE(scale, INFINITY, TSANOM_E_NONFINITE);
  REFUSE(domain[0], good.domain[1] + 1, TSANOM_E_FORMAT);
  REFUSE(time, NULL, TSANOM_E_NULL);
  REFUSE(rate, NULL, TSANOM_E_NULL);
  REFUSE(window_rate, NULL, TSANOM_E_NULL);
  REFUSE(coefficient, NULL, TSANOM_E_NULL);
  REFUSE(range[0].low, NAN, TSANOM_E_NONFINITE);
  REFUSE(range[0].low, INFINITY, TSANOM_E_FORMAT);
  double *falling = calloc(good.windows + 1, sizeof *falling);
  REFUSE(time, falling, TSANOM_E_FORMAT);
  REFUSE(rate, falling, TSANOM_E_FORMAT);
  free(falling);
  CHECK_STATUS(tsanom_hsa_model_set(model, 2, &good), TSANOM_E_COUNT);
  CHECK_STATUS(tsanom_hsa_model_set(model, 0, NULL), TSANOM_E_NULL);
  CHECK_STATUS(tsanom_hsa_model_get(model, 2, &bad), TSANOM_E_COUNT);
  CHECK_STATUS(tsanom_hsa_model_get(NULL, 0, &bad), TSANOM_E_NULL);
  cr_assert(memcmp(model, before, bytes) == 0);
  bad = good;
  bad.range[TSANOM_HSA_GTR] = (tsanom_hsa_range){-INFINITY, INFINITY};
  CHECK_STATUS(tsanom_hsa_model_set(model, 1, &bad), TSANOM_OK);
  CHECK_STATUS(tsanom_hsa_model_check(model, bytes), TSANOM_OK);
  free(before);
  free(model);
}

Test(hsa_model, what_is_no_model_is_refused) {
  size_t bytes;
  tsanom_hsa_model *model = learned(NULL, &bytes);
  double zeros[64] = {0};
  tsanom_hsa_model *none = (tsanom_hsa_model *)zeros;
  tsanom_hsa_options options;
  tsanom_hsa_reference reference;
  tsanom_hsa_options_init(&options, sizeof options);
  cr_assert(tsanom_hsa_model_threads(none) == 0 && tsanom_hsa_model_runs(none) == 0);
  cr_assert(tsanom_hsa_model_threads(NULL) == 0 && tsanom_hsa_model_runs(NULL) == 0);
  CHECK_STATUS(tsanom_hsa_model_options(none, &options), TSANOM_E_FORMAT);
  CHECK_STATUS(tsanom_hsa_model_options(NULL, &options), TSANOM_E_NULL);
  CHECK_STATUS(tsanom_hsa_model_get(none, 0, &reference), TSANOM_E_FORMAT);
  CHECK_STATUS(tsanom_hsa_diagnose_workspace(none, NULL, &bytes), TSANOM_E_FORMAT);
  CHECK_STATUS(tsanom_hsa_model_init(model, 100, 1, 1, NULL), TSANOM_E_WORKSPACE);
  CHECK_STATUS(tsanom_hsa_model_init(model, bytes, 0, 1, NULL), TSANOM_E_COUNT);
  CHECK_STATUS(tsanom_hsa_model_init(model, bytes, 1, 0, NULL), TSANOM_E_COUNT);
  CHECK_STATUS(tsanom_hsa_model_init(NULL, bytes, 1, 1, NULL), TSANOM_E_NULL);
  free(model);
}
