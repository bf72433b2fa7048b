/* SPDX-License-Identifier: BSD-3-Clause */
/* Workspaces, rejected arguments, the floating-point environment, and streams. */
#include <fenv.h>
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "support/exec.h"
#include "support/faults.h"
#include "support/workspace.h"

/* Each function that uses a workspace, by number. */
enum { FUNCTIONS = 4 };

static tsanom_status call(int function, const double *x, const float *single, size_t n,
                          size_t radius, const tsanom_exec *exec, double *out,
                          double *out2) {
  tsanom_lbkeogh_options options = options_of(radius, 0);
  switch (function) {
    case 0:
      return tsanom_lbkeogh_envelope(x, n, radius, exec, out, out2);
    case 1:
      return tsanom_lbkeogh_envelope_f32(single, n, radius, exec, (float *)out,
                                         (float *)out2);
    case 2:
      return tsanom_lbkeogh_pair(x, n, x, n, &options, exec, out);
    default:
      return tsanom_lbkeogh_improved(x, x, x, x, n, &options, exec, out);
  }
}

/* What a call without arrays reports that it needs; on another error bytes stay 7. */
static tsanom_status ask(int function, size_t n, size_t radius, const tsanom_exec *exec,
                         size_t *bytes) {
  *bytes = 7;
  tsanom_exec asking = ask_exec(exec, bytes);
  return call(function, NULL, NULL, n, radius, &asking, NULL, NULL);
}

Test(lbkeogh, a_workspace_of_the_size_asked_for_means_no_allocation) {
  uint64_t seed = 6;
  static const float single[LONGEST] = {1, 2};
  for (int trial = 0; trial < CASES(400); trial++) {
    double x[LONGEST], out[LONGEST], out2[LONGEST], own[LONGEST] = {0}, own2[LONGEST];
    size_t n = random_between(&seed, 1, LONGEST), bytes = 0, radius = some_radius(&seed);
    fill(x, n, &seed);
    int function = trial % FUNCTIONS;
    test_allocator allocator = {0};
    tsanom_exec exec = test_exec(&allocator), heap = exec;
    CHECK_STATUS(ask(function, n, radius, &exec, &bytes), TSANOM_E_WORKSPACE);
    unsigned char *block = malloc(bytes + 1);
    memset(block, 0xFF, bytes + 1);
    memset(out, 0, sizeof out);
    exec.work = block + trial % 3 % 2;
    exec.work_bytes = bytes;
    CHECK_STATUS(call(function, x, single, n, radius, &exec, out, out2), TSANOM_OK);
    cr_assert(allocator.calls == 0);
    CHECK_STATUS(call(function, x, single, n, radius, &heap, own, own2), TSANOM_OK);
    cr_assert(allocator.live == 0 && memcmp(out, own, sizeof out) == 0);
    out[0] = -7;
    exec.work_bytes = bytes - 1;
    CHECK_STATUS(call(function, x, single, n, radius, &exec, out, out2),
                 TSANOM_E_WORKSPACE);
    allocator = (test_allocator){.fail_at = 1};
    CHECK_STATUS(call(function, x, single, n, radius, &heap, out, out2), TSANOM_E_MEMORY);
    cr_assert(out[0] == -7);
    free(block);
  }
}

Test(lbkeogh, workspaces_are_monotone_and_checked) {
  for (int function = 0; function < FUNCTIONS; function++) {
    size_t bytes, longer, wide, all = SIZE_MAX;
    for (size_t radius = 0; radius < 40; radius++) {
      for (size_t n = 1; n < 40; n++) {
        CHECK_STATUS(ask(function, n, radius, NULL, &bytes), TSANOM_E_WORKSPACE);
        CHECK_STATUS(ask(function, n + 1, radius, NULL, &longer), TSANOM_E_WORKSPACE);
        CHECK_STATUS(ask(function, n, radius + 1, NULL, &wide), TSANOM_E_WORKSPACE);
        cr_assert(longer >= bytes && wide >= bytes);
      }
    }
    CHECK_STATUS(ask(function, SIZE_MAX, all, NULL, &bytes), TSANOM_E_OVERFLOW);
    cr_assert(bytes == 7);
    CHECK_STATUS(ask(function, 0, all, NULL, &bytes), TSANOM_E_COUNT);
    cr_assert(bytes == 7);
  }
}

static tsanom_fault fault;

Test(lbkeogh, samples_that_are_not_finite_are_reported_by_index) {
  double x[50] = {0}, bad[50] = {0}, out[51] = {-1}, out2[50];
  float single[50] = {0};
  tsanom_exec e = exec_reporting(&fault);
  bad[31] = NAN, bad[40] = INFINITY;
  single[49] = (float)NAN;
  FOR_EACH_ISA (isa) {
    e.isa = isa;
    REJECTED_AT(&fault, tsanom_lbkeogh_envelope(bad, 50, 3, &e, out, out2),
                TSANOM_E_NONFINITE, "x", 31, TSANOM_NONE);
    REJECTED_AT(
        &fault,
        tsanom_lbkeogh_envelope_f32(single, 50, 3, &e, (float *)out, (float *)out2),
        TSANOM_E_NONFINITE, "x", 49, TSANOM_NONE);
    REJECTED_AT(&fault, tsanom_lbkeogh_pair(bad, 50, x, 50, NULL, &e, out),
                TSANOM_E_NONFINITE, "x", 31, TSANOM_NONE);
    REJECTED_AT(&fault, tsanom_lbkeogh_pair(x, 50, bad, 50, NULL, &e, out),
                TSANOM_E_NONFINITE, "y", 31, TSANOM_NONE);
    REJECTED_AT(&fault, tsanom_lbkeogh_bound(bad, x, x, 50, 0, &e, out),
                TSANOM_E_NONFINITE, "c", 31, TSANOM_NONE);
    REJECTED_AT(&fault, tsanom_lbkeogh_tail(bad, x, x, 50, 0, &e, out),
                TSANOM_E_NONFINITE, "c", 31, TSANOM_NONE);
    REJECTED_AT(&fault, tsanom_lbkeogh_improved(x, bad, x, x, 50, NULL, &e, out),
                TSANOM_E_NONFINITE, "q", 31, TSANOM_NONE);
    REJECTED_AT(&fault, tsanom_lbkeogh_enhanced(bad, x, x, x, 50, NULL, &e, out),
                TSANOM_E_NONFINITE, "c", 31, TSANOM_NONE);
  }
  /* Kim reads three samples at each end. */
  CHECK_STATUS(tsanom_lbkeogh_kim(bad, 50, x, 50, 0, &e, out), TSANOM_OK);
  out[0] = -1;
  bad[48] = -INFINITY;
  REJECTED_AT(&fault, tsanom_lbkeogh_kim(bad, 50, x, 50, 0, &e, out), TSANOM_E_NONFINITE,
              "x", 48, TSANOM_NONE);
  REJECTED_AT(&fault, tsanom_lbkeogh_kim(x, 50, bad + 31, 19, 0, &e, out),
              TSANOM_E_NONFINITE, "y", 0, TSANOM_NONE);
  cr_assert(out[0] == -1);
}

Test(lbkeogh, bad_arguments_are_rejected_by_name) {
  double x[] = {1, 2}, out[3] = {-1, -1, -1};
  tsanom_exec e = exec_reporting(&fault);
  tsanom_lbkeogh_options unknown = options_of(1, 7), reserved = options_of(1, 0),
                         bands = options_of(1, 0);
  reserved.reserved0 = 1;
  bands.bands = 3;
  REJECTED(&fault, tsanom_lbkeogh_envelope(x, (size_t)1 << 61, 1, &e, out, out),
           TSANOM_E_OVERFLOW, "n");
  REJECTED(&fault, tsanom_lbkeogh_pair(x, 2, x, 2, &unknown, &e, out), TSANOM_E_OPTION,
           "options.cost");
  REJECTED(&fault, tsanom_lbkeogh_pair(x, 2, x, 2, &reserved, &e, out), TSANOM_E_OPTION,
           "options.reserved0");
  REJECTED(&fault, tsanom_lbkeogh_pair(x, 2, x, 2, &bands, &e, out), TSANOM_E_OPTION,
           "options.bands");
  REJECTED(&fault, tsanom_lbkeogh_improved(x, x, x, x, 2, &bands, &e, out),
           TSANOM_E_OPTION, "options.bands");
  REJECTED(&fault, tsanom_lbkeogh_bound(x, x, x, 2, 2, &e, out), TSANOM_E_OPTION, "cost");
  REJECTED(&fault, tsanom_lbkeogh_tail(x, x, x, SIZE_MAX, 0, &e, out), TSANOM_E_OVERFLOW,
           "n");
  REJECTED(&fault, tsanom_lbkeogh_kim(x, 2, x, 2, -1, &e, out), TSANOM_E_OPTION, "cost");
  e.isa = 99;
  REJECTED(&fault, tsanom_lbkeogh_kim(x, 2, x, 2, 0, &e, out), TSANOM_E_EXEC, "exec.isa");
  cr_assert(out[0] == -1 && out[1] == -1 && out[2] == -1);
  double huge[] = {DBL_MAX, DBL_MAX}, low[] = {-DBL_MAX, -DBL_MAX};
  CHECK_STATUS(tsanom_lbkeogh_bound(huge, low, low, 2, 0, NULL, out), TSANOM_OK);
  cr_assert(isinf(out[0]));
}

Test(lbkeogh, an_infeasible_window_is_reported) {
  double x[] = {1, 2, 3, 4}, bounds[2];
  tsanom_lbkeogh_options options = options_of(1, 0);
  CHECK_STATUS(tsanom_lbkeogh_pair(x, 4, x, 2, &options, NULL, bounds),
               TSANOM_INFEASIBLE);
  cr_assert(isinf(bounds[0]) && isinf(bounds[1]));
}

/* The caller's rounding mode changes no bound. */
Test(lbkeogh, rounding_does_not_change_bounds) {
  double c[LONGEST], q[LONGEST], lower[LONGEST], upper[LONGEST], tail[LONGEST + 1],
      other_tail[LONGEST + 1], usual[6], upward[6];
  uint64_t seed = 8;
  fill_walk(c, LONGEST, &seed);
  fill_walk(q, LONGEST, &seed);
  tsanom_lbkeogh_options o = options_of(9, TSANOM_COST_SQUARED);
  CHECK_STATUS(tsanom_lbkeogh_envelope(q, LONGEST, 9, NULL, lower, upper), TSANOM_OK);
  for (int round = 0; round < 2; round++) {
    double *to = round ? upward : usual;
    cr_assert(fesetround(round ? FE_UPWARD : FE_TONEAREST) == 0);
    tsanom_lbkeogh_kim(c, LONGEST, q, LONGEST, o.cost, NULL, to);
    tsanom_lbkeogh_bound(c, lower, upper, LONGEST, o.cost, NULL, to + 1);
    tsanom_lbkeogh_improved(c, q, lower, upper, LONGEST, &o, NULL, to + 2);
    tsanom_lbkeogh_enhanced(c, q, lower, upper, LONGEST, &o, NULL, to + 3);
    tsanom_lbkeogh_pair(c, LONGEST, q, LONGEST, &o, NULL, to + 4);
    tsanom_lbkeogh_tail(c, lower, upper, LONGEST, o.cost, NULL,
                        round ? other_tail : tail);
    tsanom_lbkeogh_stream *stream = NULL;
    double low[LONGEST], high[LONGEST];
    size_t produced = 0, taken = 0;
    tsanom_lbkeogh_stream_create(9, NULL, &stream);
    tsanom_lbkeogh_stream_push(stream, q, LONGEST, low, high, &produced, &taken);
    tsanom_lbkeogh_stream_finish(stream, low, high, &produced);
    tsanom_lbkeogh_stream_destroy(stream);
    cr_assert(fegetround() == (round ? FE_UPWARD : FE_TONEAREST));
  }
  fesetround(FE_TONEAREST);
  cr_assert(memcmp(usual, upward, sizeof usual) == 0);
  cr_assert(memcmp(tail, other_tail, sizeof tail) == 0);
}

Test(lbkeogh, a_stream_gives_the_envelope) {
  uint64_t seed = 7;
  for (int trial = 0; trial < CASES(3000); trial++) {
    double x[LONGEST], lower[LONGEST], upper[LONGEST], low[LONGEST], high[LONGEST];
    size_t radius = random_between(&seed, 0, trial % 2 ? 8 : LONGEST);
    tsanom_lbkeogh_stream *stream;
    CHECK_STATUS(tsanom_lbkeogh_stream_create(radius, NULL, &stream), TSANOM_OK);
    for (int series = 0; series < 2; series++) {
      size_t n = random_between(&seed, 0, LONGEST), done = 0, out = 0, produced, taken;
      fill(x, n, &seed);
      naive_envelope(x, n, radius, n, lower, upper);
      while (done < n) {
        size_t piece = random_between(&seed, 0, n - done);
        CHECK_STATUS(tsanom_lbkeogh_stream_push(stream, x + done, piece, low + out,
                                                high + out, &produced, &taken),
                     TSANOM_OK);
        cr_assert(taken == piece);
        done += piece;
        out += produced;
        cr_assert(out == (done > radius ? done - radius : 0));
      }
      double last_low[LONGEST], last_high[LONGEST];
      CHECK_STATUS(tsanom_lbkeogh_stream_finish(stream, last_low, last_high, &produced),
                   TSANOM_OK);
      cr_assert(out + produced == n);
      memcpy(low + out, last_low, produced * sizeof *low);
      memcpy(high + out, last_high, produced * sizeof *high);
      for (size_t i = 0; i < n; i++) {
        cr_assert(low[i] == lower[i] && high[i] == upper[i]);
        cr_assert(low[i] != 0 || !signbit(low[i]));
      }
    }
    tsanom_lbkeogh_stream_destroy(stream);
  }
}

Test(lbkeogh, a_stream_takes_the_samples_before_one_that_is_not_finite) {
  double x[] = {1, 3, 2, NAN, 5}, y[] = {1, INFINITY}, low[5], high[5];
  size_t produced, taken;
  test_allocator allocator = {0};
  tsanom_exec exec = test_exec(&allocator);
  tsanom_lbkeogh_stream *stream;
  CHECK_STATUS(tsanom_lbkeogh_stream_create(1, &exec, &stream), TSANOM_OK);
  cr_assert(allocator.live == 1);
  CHECK_STATUS(tsanom_lbkeogh_stream_push(stream, x, 5, low, high, &produced, &taken),
               TSANOM_PARTIAL);
  cr_assert(taken == 3 && produced == 2);
  cr_assert(low[0] == 1 && high[0] == 3 && low[1] == 1 && high[1] == 3);
  CHECK_STATUS(tsanom_lbkeogh_stream_push(stream, y, 2, low, high, &produced, &taken),
               TSANOM_PARTIAL);
  cr_assert(taken == 1 && produced == 1);
  cr_assert(low[0] == 1 && high[0] == 3);
  CHECK_STATUS(tsanom_lbkeogh_stream_finish(stream, low, high, &produced), TSANOM_OK);
  cr_assert(produced == 1 && low[0] == 1 && high[0] == 2);
  tsanom_lbkeogh_stream_destroy(stream);
  tsanom_lbkeogh_stream_destroy(NULL);
  cr_assert(allocator.live == 0);
}

static tsanom_status create_stream(const tsanom_exec *exec, bool inputs, void **object) {
  (void)inputs;
  return tsanom_lbkeogh_stream_create(1, exec, (tsanom_lbkeogh_stream **)object);
}

static void destroy_stream(void *object) {
  tsanom_lbkeogh_stream_destroy(object);
}

Test(lbkeogh, bad_arguments_of_a_stream_are_rejected) {
  double x[] = {1, 2}, low[2] = {-1, -1}, high[2];
  size_t produced = 7, taken = 7, bytes = 7;
  tsanom_lbkeogh_stream *stream, *none = NULL;
  CHECK_STATUS(tsanom_lbkeogh_stream_create(1, NULL, &stream), TSANOM_OK);
  CHECK_STATUS(
      tsanom_lbkeogh_stream_push(stream, x, SIZE_MAX / 2, low, high, &produced, &taken),
      TSANOM_E_OVERFLOW);
  cr_assert(produced == 7 && taken == 7 && low[0] == -1);
  CHECK_STATUS(tsanom_lbkeogh_stream_push(stream, NULL, 0, NULL, NULL, &produced, &taken),
               TSANOM_OK);
  CHECK_STATUS(tsanom_lbkeogh_stream_finish(stream, low, high, &produced), TSANOM_OK);
  cr_assert(produced == 0);
  tsanom_lbkeogh_stream_destroy(stream);
  tsanom_exec e = exec_reporting(&fault), asking = ask_exec(&e, &bytes);
  REJECTED(&fault, tsanom_lbkeogh_stream_create(SIZE_MAX / 64, &asking, &none),
           TSANOM_E_OVERFLOW, "exec.alloc");
  cr_assert(bytes == 7 && !none);
  check_object(create_stream, destroy_stream);
}
