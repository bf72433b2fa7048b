/* SPDX-License-Identifier: BSD-3-Clause */
/* The content of models: it comes back from text with the same bits. Content with one
 * changed bit is rejected, or diagnoses without harm; parts that contradict each other
 * are rejected by name. tests/runs/test_model.c has the files. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tsanom/hsa.h>

#include "hsa/synthetic.h"
#include "learned.h"
#include "support/check.h"
#include "support/faults.h"
#include "support/random.h"
#include "support/workspace.h"

enum { RUNS = 4, THREADS = 2, ARRAYS = 4 };

static tsanom_hsa_model *learned(const tsanom_hsa_options *options) {
  uint64_t seed = 21;
  synthetic_kind kind = synthetic_steady();
  tsanom_hsa_run runs[RUNS];
  make_runs(runs, RUNS, &kind, &seed);
  tsanom_hsa_model *model = learn(runs, RUNS, options, TSANOM_OK);
  free_runs(runs, RUNS);
  return model;
}

static tsanom_hsa_model_data content_of(const tsanom_hsa_model *model) {
  tsanom_hsa_model_data data = {.struct_size = sizeof data};
  CHECK_STATUS(tsanom_hsa_model_read(model, &data), TSANOM_OK);
  return data;
}

/* A content that a test may change: references and arrays are copies. */
typedef struct {
  tsanom_hsa_model_data data;
  tsanom_hsa_reference reference[THREADS];
  double *array[THREADS][ARRAYS];
} copied;

static double *duplicate(const double **values, size_t count) {
  double *copy = malloc(count * sizeof *copy);
  memcpy(copy, *values, count * sizeof *copy);
  *values = copy;
  return copy;
}

static void copy_content(copied *c, const tsanom_hsa_model *model) {
  c->data = content_of(model);
  memcpy(c->reference, c->data.references, sizeof c->reference);
  c->data.references = c->reference;
  for (size_t t = 0; t < THREADS; t++) {
    tsanom_hsa_reference *r = &c->reference[t];
    c->array[t][0] = duplicate(&r->time, r->windows + 1);
    c->array[t][1] = duplicate(&r->rate, r->windows + 1);
    c->array[t][2] = duplicate(&r->window_rate, r->windows);
    c->array[t][3] = duplicate(&r->coefficient, r->degree + 1);
  }
}

static void free_content(copied *c) {
  for (size_t t = 0; t < THREADS; t++) {
    for (size_t a = 0; a < ARRAYS; a++) free(c->array[t][a]);
  }
}

static void check_same(const tsanom_hsa_model *a, const tsanom_hsa_model *b) {
  tsanom_hsa_model_data x = content_of(a), y = content_of(b);
  cr_assert(x.thread_count == y.thread_count && x.run_count == y.run_count);
  /* NOLINTNEXTLINE: bits are compared */
  cr_assert(memcmp(x.options, y.options, sizeof *x.options) == 0);
  for (size_t t = 0; t < x.thread_count; t++) {
    check_same_reference(x.references[t], y.references[t]);
  }
}

static void through_text(double *values, size_t count) {
  for (size_t i = 0; i < count; i++) {
    char text[64];
    (void)snprintf(text, sizeof text, "%.17g", values[i]);
    values[i] = strtod(text, NULL);
  }
}

Test(hsa_model, comes_back_from_text_bit_for_bit) {
  tsanom_hsa_model *model = learned(NULL), *copy = NULL;
  copied c;
  copy_content(&c, model);
  cr_assert(c.data.thread_count == THREADS && c.data.run_count == RUNS);
  cr_assert(c.data.options->points == 256 &&
            c.data.options->struct_size == sizeof *c.data.options);
  for (size_t t = 0; t < THREADS; t++) {
    tsanom_hsa_reference *r = &c.reference[t];
    through_text(c.array[t][0], r->windows + 1);
    through_text(c.array[t][1], r->windows + 1);
    through_text(c.array[t][2], r->windows);
    through_text(c.array[t][3], r->degree + 1);
    double *scalars[] = {&r->completion, &r->mean_rate, &r->interval, &r->r2,   r->domain,
                         r->domain + 1,  &r->unit,      &r->center,   &r->scale};
    for (size_t k = 0; k < sizeof scalars / sizeof *scalars; k++) {
      through_text(scalars[k], 1);
    }
    through_text(&r->range[0].low, 2 * TSANOM_HSA_SLOTS);
  }
  CHECK_STATUS(tsanom_hsa_model_create(&c.data, NULL, &copy), TSANOM_OK);
  free_content(&c); /* the model owns what it was created from */
  check_same(model, copy);
  tsanom_hsa_model_destroy(copy);
  tsanom_hsa_model_destroy(model);
}

static tsanom_hsa_model_data content;

static tsanom_status create_model(const tsanom_exec *exec, bool inputs, void **object) {
  tsanom_hsa_model_data data = content;
  tsanom_hsa_reference hollow[THREADS];
  memcpy(hollow, data.references, sizeof hollow);
  for (size_t t = 0; t < THREADS; t++) {
    hollow[t].time = hollow[t].rate = hollow[t].window_rate = hollow[t].coefficient =
        NULL;
  }
  if (!inputs) data.references = hollow;
  return tsanom_hsa_model_create(&data, exec, (tsanom_hsa_model **)object);
}

static void destroy_model(void *object) {
  tsanom_hsa_model_destroy(object);
}

Test(hsa_model, is_one_block) {
  tsanom_hsa_model *model = learned(NULL), *made = NULL;
  content = content_of(model);
  check_object(create_model, destroy_model);
  CHECK_STATUS(tsanom_hsa_model_create(&content, NULL, &made), TSANOM_OK);
  check_same(model, made);
  tsanom_hsa_model_destroy(made);
  tsanom_hsa_model_destroy(model);
}

/* A diagnosis by whatever content is accepted must end in a status; under the sanitizers
 * this also shows that nothing is read out of bounds. */
Test(hsa_model, damaged_content_is_rejected_or_harmless) {
  tsanom_hsa_model *model = learned(NULL);
  uint64_t seed = 22;
  synthetic_kind kind = synthetic_steady();
  tsanom_hsa_run run = synthetic_run(&kind, &seed);
  size_t rejected = 0, words = offsetof(tsanom_hsa_reference, time) / 8;
  for (int trial = 0; trial < 3000; trial++) {
    copied c;
    copy_content(&c, model);
    size_t t = random_between(&seed, 0, THREADS - 1), bits = random_bits(&seed) % 64;
    uint64_t *word = (uint64_t *)(void *)&c.reference[t];
    if (trial % 2) {
      word = (uint64_t *)(void *)c.array[t][random_between(&seed, 0, 1)];
      words = c.reference[t].windows;
    }
    word[random_between(&seed, 0, words - 1)] ^= UINT64_C(1) << bits;
    tsanom_hsa_model *damaged = NULL;
    if (tsanom_hsa_model_create(&c.data, NULL, &damaged) < 0) {
      cr_assert(damaged == NULL);
      rejected++;
    } else {
      tsanom_hsa_verdict verdict[THREADS];
      *verdict = (tsanom_hsa_verdict){.struct_size = sizeof *verdict};
      tsanom_hsa_diagnose(damaged, &run, NULL, verdict, THREADS, NULL);
      tsanom_hsa_model_destroy(damaged);
    }
    free_content(&c);
    words = offsetof(tsanom_hsa_reference, time) / 8;
  }
  cr_assert(rejected > 500);
  synthetic_free(&run);
  tsanom_hsa_model_destroy(model);
}

Test(hsa_model, parts_that_contradict_each_other_are_rejected_by_name) {
  tsanom_hsa_model *model = learned(NULL), *made = NULL;
  copied c;
  copy_content(&c, model);
  tsanom_hsa_reference good = c.reference[1];
  test_report report;
  test_report_init(&report);
#define REJECT_AT(field, name, index, value, status)                             \
  do {                                                                           \
    c.reference[1] = good;                                                       \
    c.reference[1].field = value;                                                \
    CHECK_STATUS(tsanom_hsa_model_create(&c.data, &report.exec, &made), status); \
    CHECK_FAULT(report, "data.references." name, 1, index);                      \
  } while (0)
#define REJECT(field, value, status) REJECT_AT(field, #field, TSANOM_NONE, value, status)
  REJECT(beats, good.window, TSANOM_E_FORMAT);
  REJECT(window, 0, TSANOM_E_FORMAT);
  REJECT(local_window, good.local_window + 1, TSANOM_E_FORMAT);
  REJECT(local_window, 0, TSANOM_E_FORMAT);
  REJECT(windows, good.windows + 1, TSANOM_E_FORMAT);
  REJECT(degree, 9, TSANOM_E_FORMAT);
  REJECT(run, RUNS, TSANOM_E_FORMAT);
  REJECT(sample_runs, 0, TSANOM_E_FORMAT);
  REJECT_AT(silent_runs, "sample_runs", TSANOM_NONE, 1, TSANOM_E_FORMAT);
  REJECT(silent_runs, RUNS + 1, TSANOM_E_FORMAT);
  REJECT(completion, 0, TSANOM_E_FORMAT);
  REJECT(mean_rate, -1, TSANOM_E_FORMAT);
  REJECT(interval, -1, TSANOM_E_FORMAT);
  REJECT(mean_rate, NAN, TSANOM_E_NONFINITE);
  REJECT(scale, INFINITY, TSANOM_E_NONFINITE);
  REJECT_AT(domain[0], "domain", 1, good.domain[1] + 1, TSANOM_E_FORMAT);
  REJECT(time, NULL, TSANOM_E_NULL);
  REJECT(rate, NULL, TSANOM_E_NULL);
  REJECT(window_rate, NULL, TSANOM_E_NULL);
  REJECT(coefficient, NULL, TSANOM_E_NULL);
  REJECT_AT(range[3].low, "range", 3, NAN, TSANOM_E_NONFINITE);
  REJECT_AT(range[3].low, "range", 3, INFINITY, TSANOM_E_FORMAT);
  REJECT_AT(reserved[7], "reserved", 7, 1, TSANOM_E_VERSION);
  double *falling = calloc(good.windows + 1, sizeof *falling);
  REJECT_AT(time, "time", 1, falling, TSANOM_E_FORMAT);
  REJECT_AT(rate, "rate", 0, falling, TSANOM_E_FORMAT);
  falling[2] = falling[1] = NAN;
  REJECT_AT(time, "time", 1, falling, TSANOM_E_NONFINITE);
  free(falling);
  cr_assert(made == NULL);
  c.reference[1] = good;
  c.reference[1].range[TSANOM_HSA_GTR] = (tsanom_hsa_range){-INFINITY, INFINITY};
  CHECK_STATUS(tsanom_hsa_model_create(&c.data, NULL, &made), TSANOM_OK);
  cr_assert(content_of(made).references[1].range[TSANOM_HSA_GTR].high == INFINITY);
  tsanom_hsa_model_destroy(made);
  free_content(&c);
  tsanom_hsa_model_destroy(model);
}

Test(hsa_model, content_needs_counts_references_and_options) {
  tsanom_hsa_model *model = learned(NULL), *made = NULL;
  const tsanom_hsa_model_data good = content_of(model);
  tsanom_hsa_model_data data = good;
  tsanom_hsa_options options = *good.options;
  test_report report;
  test_report_init(&report);
#define REJECT_DATA(field, value, status, argument)                                      \
  do {                                                                                   \
    data = good;                                                                         \
    data.field = value;                                                                  \
    REJECTED(&report.fault, tsanom_hsa_model_create(&data, &report.exec, &made), status, \
             argument);                                                                  \
  } while (0)
  REJECT_DATA(thread_count, 0, TSANOM_E_COUNT, "data.thread_count");
  REJECT_DATA(thread_count, SIZE_MAX / 64, TSANOM_E_OVERFLOW, "data.thread_count");
  REJECT_DATA(run_count, 0, TSANOM_E_COUNT, "data.run_count");
  REJECT_DATA(references, NULL, TSANOM_E_NULL, "data.references");
  options.points = 1;
  REJECT_DATA(options, &options, TSANOM_E_OPTION, "data.options.points");
  cr_assert(made == NULL);
  tsanom_hsa_model_destroy(model);
}
