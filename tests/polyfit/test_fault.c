/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports of rejected calls, older callers, overflow, floating-point environment. */
#include <fenv.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tsanom/polyfit.h>

#include "reference.h"
#include "support/faults.h"
#include "support/random.h"

Test(polyfit_fault, names_argument_and_smallest_element) {
  enum { MANY = 100000 };
  double *x = malloc(MANY * sizeof *x), *y = malloc(MANY * sizeof *y);
  double *weights = malloc(MANY * sizeof *weights);
  for (int i = 0; i < MANY; i++) x[i] = y[i] = weights[i] = i + 1;
  double *array[] = {x, y, weights};
  static const char *const names[] = {"x", "y", "weights"};
  tsanom_fault fault;
  tsanom_exec exec = exec_reporting(&fault);
  tsanom_polyfit_model model = new_model(), untouched = new_model();
  FOR_EACH_ISA (isa) {
    exec.isa = isa;
    for (exec.threads = 1; exec.threads <= 3; exec.threads++) {
      for (int a = 0; a < 3; a++) {
        double good = array[a][70001];
        array[a][70001] = array[a][99999] = NAN;
        REJECTED_AT(&fault, tsanom_polyfit_fit(x, y, weights, MANY, NULL, &exec, &model),
                    TSANOM_E_NONFINITE, names[a], 70001, TSANOM_NONE);
        array[a][70001] = good;
        array[a][99999] = MANY;
      }
      weights[33] = exec.threads == 1 ? 0 : -1;
      REJECTED_AT(&fault, tsanom_polyfit_fit(x, y, weights, MANY, NULL, &exec, &model),
                  TSANOM_E_VALUE, "weights", 33, TSANOM_NONE);
      weights[33] = 34;
      double out[3] = {7}, far[] = {1, 2, -1e300}, endless[] = {1, INFINITY, NAN};
      tsanom_polyfit_options square = options_of(2, TSANOM_POLYFIT_FIXED, 1);
      tsanom_polyfit_model parabola = new_model();
      tsanom_polyfit_fit(x, y, NULL, 10, &square, NULL, &parabola);
      REJECTED_AT(&fault, tsanom_polyfit_evaluate(&parabola, far, 3, &exec, out, NULL),
                  TSANOM_E_VALUE, "x", 2, TSANOM_NONE);
      REJECTED_AT(&fault,
                  tsanom_polyfit_evaluate(&parabola, endless, 3, &exec, out, NULL),
                  TSANOM_E_NONFINITE, "x", 1, TSANOM_NONE);
      cr_assert(out[0] == 7);
    }
  }
  cr_assert(same_model(&model, &untouched));
  free(weights);
  free(y);
  free(x);
}

Test(polyfit_fault, names_fields_and_sizes) {
  double x[] = {1, 2, 3}, y[] = {1, 3, 2};
  tsanom_fault fault;
  tsanom_exec exec = exec_reporting(&fault);
  tsanom_polyfit_model model = new_model();
  tsanom_polyfit_options options = options_of(64, TSANOM_POLYFIT_FIXED, 1);
  REJECTED(&fault, tsanom_polyfit_fit(x, y, NULL, 3, &options, &exec, &model),
           TSANOM_E_OPTION, "options.degree");
  options = options_of(3, TSANOM_POLYFIT_FIXED, 1);
  REJECTED(&fault, tsanom_polyfit_fit(x, y, NULL, 3, &options, &exec, &model),
           TSANOM_E_COUNT, "n");
  REJECTED(&fault, tsanom_polyfit_fit(x, y, NULL, (size_t)1 << 61, NULL, &exec, &model),
           TSANOM_E_OVERFLOW, "n");
  CHECK_STATUS(tsanom_polyfit_evaluate(&model, x, (size_t)1 << 61, &exec, y, NULL),
               TSANOM_E_OVERFLOW);
  unsigned char work[8];
  exec.work = work;
  exec.work_bytes = sizeof work;
  REJECTED(&fault, tsanom_polyfit_fit(x, y, NULL, 3, NULL, &exec, &model),
           TSANOM_E_WORKSPACE, "exec.work_bytes");
  tsanom_polyfit_stream *stream = NULL;
  CHECK_STATUS(tsanom_polyfit_stream_create(NULL, NULL, &stream), TSANOM_OK);
  CHECK_STATUS(tsanom_polyfit_stream_push(stream, x, y, NULL, SIZE_MAX / 4, NULL),
               TSANOM_E_OVERFLOW);
  CHECK_STATUS(tsanom_polyfit_stream_push(stream, x, y, NULL, 3, NULL), TSANOM_OK);
  options = options_of(1, TSANOM_POLYFIT_FIXED, 0);
  CHECK_STATUS(tsanom_polyfit_stream_fit(stream, &options, NULL, &model),
               TSANOM_E_OPTION); /* refine cannot be changed */
  tsanom_polyfit_stream_destroy(stream);
}

/* A caller whose model ends before degree_rss receives all other fields. */
Test(polyfit_fault, a_smaller_model_is_accepted) {
  enum { SMALL = offsetof(tsanom_polyfit_model, degree_rss) };
  double x[] = {1, 2, 3, 4}, y[] = {1, 3, 2, 5}, at = 2.5, small_value, value;
  tsanom_polyfit_model small, full = new_model();
  memset(&small, 0x5A, sizeof small);
  memset(&small, 0, SMALL);
  small.struct_size = SMALL - 1;
  CHECK_STATUS(tsanom_polyfit_fit(x, y, NULL, 4, NULL, NULL, &small), TSANOM_E_VERSION);
  small.struct_size = SMALL;
  CHECK_STATUS(tsanom_polyfit_fit(x, y, NULL, 4, NULL, NULL, &small), TSANOM_OK);
  CHECK_STATUS(tsanom_polyfit_fit(x, y, NULL, 4, NULL, NULL, &full), TSANOM_OK);
  cr_assert(small.struct_size == SMALL);
  size_t prefix = offsetof(tsanom_polyfit_model, samples);
  /* NOLINTNEXTLINE: compares bits */
  cr_assert(memcmp(&small.samples, &full.samples, SMALL - prefix) == 0);
  const unsigned char *bytes = (const unsigned char *)&small;
  for (size_t i = SMALL; i < sizeof small; i++) cr_assert(bytes[i] == 0x5A);
  CHECK_STATUS(tsanom_polyfit_evaluate(&small, &at, 1, NULL, &small_value, NULL),
               TSANOM_OK);
  CHECK_STATUS(tsanom_polyfit_evaluate(&full, &at, 1, NULL, &value, NULL), TSANOM_OK);
  cr_assert(small_value == value);
}

typedef struct {
  tsanom_polyfit_model fitted, streamed;
  double value, slope;
} results;

/* Fills padding too, so that results can be compared as bytes. */
static void compute(const dataset *set, int32_t isa, results *r) {
  tsanom_exec exec = exec_at(isa, 1);
  memset(r, 0, sizeof *r);
  r->fitted = r->streamed = new_model();
  tsanom_polyfit_options options = options_of(9, TSANOM_POLYFIT_BIC, 1);
  tsanom_polyfit_stream *stream = NULL;
  cr_assert(tsanom_polyfit_fit(set->x, set->y, set->weights, set->n, &options, &exec,
                               &r->fitted) >= 0);
  cr_assert(tsanom_polyfit_stream_create(&options, NULL, &stream) >= 0);
  cr_assert(tsanom_polyfit_stream_push(stream, set->x, set->y, set->weights, set->n,
                                       &exec) >= 0);
  cr_assert(tsanom_polyfit_stream_fit(stream, NULL, &exec, &r->streamed) >= 0);
  tsanom_polyfit_stream_destroy(stream);
  CHECK_STATUS(
      tsanom_polyfit_evaluate(&r->fitted, set->x, 1, &exec, &r->value, &r->slope),
      TSANOM_OK);
}

/* Rounding upwards once gave other bits at the base level than with FMA. */
Test(polyfit_fault, rounding_mode_of_the_caller_does_not_matter) {
  static dataset set;
  static results expected, got;
  uint64_t seed = 5;
  for (int trial = 0; trial < 40; trial++) {
    fill_dataset(&set, random_between(&seed, 20, 5000), &seed);
    for (size_t i = 0; trial % 2 && i + 9 < set.n; i++) set.x[i] *= 1e-5; /* QR */
    compute(&set, TSANOM_ISA_BASE, &expected);
    static const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    for (int m = 0; m < 3; m++) {
      FOR_EACH_ISA (isa) {
        cr_assert(fesetround(modes[m]) == 0);
        compute(&set, isa, &got);
        int after = fegetround();
        cr_assert(fesetround(FE_TONEAREST) == 0 && after == modes[m]);
        /* NOLINTNEXTLINE: compares bits */
        cr_assert(memcmp(&got, &expected, sizeof got) == 0, "trial %d isa %d", trial,
                  (int)isa);
      }
    }
  }
}
