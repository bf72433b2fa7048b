/* SPDX-License-Identifier: BSD-3-Clause */
/* Each rejection names its argument and element, and modifies no output. */
#include <fenv.h>
#include <math.h>
#include <string.h>
#include <tsanom/dtw.h>

#include "series.h"
#include "support/exec.h"
#include "support/faults.h"
#include "support/random.h"

static tsanom_fault fault;

static tsanom_dtw_options defaults(void) {
  tsanom_dtw_options o;
  tsanom_dtw_options_init(&o, sizeof o);
  return o;
}

Test(dtw_arguments, pointers_and_counts_of_a_pair) {
  double x[] = {1, 2}, d = -1;
  size_t path[8] = {9}, length = 9;
  tsanom_exec e = exec_reporting(&fault);
  REJECTED(&fault, tsanom_dtw_distance(x, (size_t)1 << 61, x, 2, NULL, &e, &d),
           TSANOM_E_OVERFLOW, "n");
  REJECTED(&fault, tsanom_dtw_path(x, 2, x, (size_t)1 << 62, NULL, &e, path, &length, &d),
           TSANOM_E_OVERFLOW, "m");
  cr_assert(d == -1 && path[0] == 9 && length == 9);
}

/* Products of sizes that wrap around to small ones: the bytes of a sample to the next; and
 * strips by steps, which are 2^12 and 2^52, of which the band has choices of 6 m bytes at least,
 * beside 16 m of columns and boundary. */
Test(dtw_arguments, products_that_wrap_around_are_not_small) {
  enum { DEPTH = 6, DELAY = 4 };
  double x[] = {1, 2}, d = -1;
  size_t path[8] = {9}, length = 9, bytes = 9;
  tsanom_exec e = exec_reporting(&fault), asking = ask_exec(&e, &bytes);
  tsanom_dtw_options o = defaults();
  o.stride = SIZE_MAX / 8 + 2;
  REJECTED(&fault, tsanom_dtw_distance(x, 2, x, 2, &o, &e, &d), TSANOM_E_OVERFLOW, "n");
  static const size_t components[] = {SIZE_MAX / 8 + 2, SIZE_MAX / 4, SIZE_MAX / 2 + 1};
  for (size_t k = 0; k < 3 * (sizeof components / sizeof *components); k++) {
    o = defaults();
    o.dimensions = components[k / 3];
    o.radius =
        k % 3 == 0 ? 0 : SIZE_MAX; /* every window and end that a few samples may have */
    o.open_end_x = k % 3 == 2;
    REJECTED(&fault, tsanom_dtw_distance(x, 2, x, 2, &o, &e, &d), TSANOM_E_OVERFLOW, "n");
  }
  o = defaults();
  o.radius = 10;
  FOR_EACH_ISA (isa) {
    size_t lanes = (size_t)1 << isa, n = (DEPTH * lanes) << 12,
           m = ((size_t)1 << 52) - DELAY * (lanes + 1);
    asking.isa = isa;
    REJECTED(&fault, tsanom_dtw_path(x, n, x, m, &o, &asking, path, &length, &d),
             TSANOM_E_WORKSPACE, "exec.work_bytes");
    cr_assert_gt(bytes, 21 * m);
  }
  cr_assert(d == -1 && path[0] == 9 && length == 9);
}

Test(dtw_arguments, fields_of_options) {
  double x[] = {1, 2}, d = -1, tail[] = {0, 0};
  const double *tails[] = {tail};
  tsanom_exec e = exec_reporting(&fault);
  static const struct {
    const char *name;
    size_t offset;
    int32_t value;
  } integers[] = {{"options.cost", offsetof(tsanom_dtw_options, cost), 2},
                  {"options.window", offsetof(tsanom_dtw_options, window), -1},
                  {"options.path_memory", offsetof(tsanom_dtw_options, path_memory), 2},
                  {"options.reserved0", offsetof(tsanom_dtw_options, reserved0), 1}};
  for (size_t k = 0; k < sizeof integers / sizeof *integers; k++) {
    tsanom_dtw_options o = defaults();
    memcpy((char *)&o + integers[k].offset, &integers[k].value, sizeof(int32_t));
    REJECTED(&fault, tsanom_dtw_distance(x, 2, x, 2, &o, &e, &d), TSANOM_E_OPTION,
             integers[k].name);
  }
  tsanom_dtw_options o = defaults();
  o.cutoff = NAN;
  REJECTED(&fault, tsanom_dtw_distance(x, 2, x, 2, &o, &e, &d), TSANOM_E_OPTION,
           "options.cutoff");
  o = defaults();
  o.penalty = INFINITY;
  REJECTED(&fault, tsanom_dtw_distance(x, 2, x, 2, &o, &e, &d), TSANOM_E_OPTION,
           "options.penalty");
  o = defaults();
  o.dimensions = 2;
  o.stride = 1;
  REJECTED(&fault, tsanom_dtw_distance(x, 1, x, 1, &o, &e, &d), TSANOM_E_OPTION,
           "options.stride");
  o = defaults();
  o.tails = tails;
  o.open_end_x = 1;
  REJECTED(&fault, tsanom_dtw_distance(x, 2, x, 2, &o, &e, &d), TSANOM_E_OPTION,
           "options.tails");
  cr_assert(d == -1);
}

/* An option that a function does not use must be the default. */
Test(dtw_arguments, options_that_are_not_used) {
  double x[] = {1, 2, 3, 4}, d[4] = {-1}, tail[] = {0, 0, 0, 0};
  const double *tails[] = {tail, tail};
  size_t path[8], length, medoid;
  tsanom_exec e = exec_reporting(&fault);
  tsanom_series set = {.struct_size = sizeof set};
  set.data = x;
  set.count = 2;
  set.length = 2;
  tsanom_dtw_options o = defaults();
  o.path_memory = TSANOM_DTW_PATH_LINEAR;
  const char *name = "options.path_memory";
  REJECTED(&fault, tsanom_dtw_distance(x, 2, x, 2, &o, &e, d), TSANOM_E_OPTION, name);
  REJECTED(&fault, tsanom_dtw_condensed(&set, &o, &e, d, NULL), TSANOM_E_OPTION, name);
  REJECTED(&fault, tsanom_dtw_medoid(&set, &o, &e, &medoid, NULL), TSANOM_E_OPTION, name);
  o = defaults();
  o.tails = tails;
  name = "options.tails";
  REJECTED(&fault, tsanom_dtw_path(x, 2, x, 2, &o, &e, path, &length, d), TSANOM_E_OPTION,
           name);
  REJECTED(&fault, tsanom_dtw_condensed(&set, &o, &e, d, NULL), TSANOM_E_OPTION, name);
  REJECTED(&fault, tsanom_dtw_medoid(&set, &o, &e, &medoid, NULL), TSANOM_E_OPTION, name);
  o = defaults();
  o.dimensions = 2;
  name = "options.dimensions";
  REJECTED(&fault, tsanom_dtw_one_to_many(x, 2, &set, &o, &e, d, NULL), TSANOM_E_OPTION,
           name);
  REJECTED(&fault, tsanom_dtw_cross(&set, &set, &o, &e, d, 2, NULL), TSANOM_E_OPTION,
           name);
  o = defaults();
  o.stride = 1;
  REJECTED(&fault, tsanom_dtw_barycenter(&set, 2, 1, 0, &o, &e, d, NULL), TSANOM_E_OPTION,
           "options.stride");
  cr_assert(d[0] == -1);
}

Test(dtw_arguments, sets) {
  double x[] = {1, 2, 3, 4, 5, 6}, d[4] = {-1};
  size_t bytes = 9, computed = 9, medoid = 9;
  tsanom_exec e = exec_reporting(&fault);
  tsanom_series set, plane;
  set = (tsanom_series){.struct_size = sizeof set};
  set.data = x;
  set.count = 2;
  set.length = 2;
  plane = set;
  plane.dimensions = 2;
  plane.length = 1;
  REJECTED(&fault, tsanom_dtw_cross(&set, &plane, NULL, &e, d, 2, NULL), TSANOM_E_OPTION,
           "ys.dimensions");
  REJECTED(&fault, tsanom_dtw_cross(&set, &set, NULL, &e, d, 1, NULL), TSANOM_E_OPTION,
           "ld");
  REJECTED(&fault, tsanom_dtw_cross(&set, &set, NULL, &e, d, SIZE_MAX / 4, NULL),
           TSANOM_E_OVERFLOW, "distances");
  set.count = 1;
  REJECTED(&fault, tsanom_dtw_condensed(&set, NULL, &e, d, &computed), TSANOM_E_COUNT,
           "series.count");
  set.count = (size_t)1 << 61;
  REJECTED(&fault, tsanom_dtw_condensed(&set, NULL, &e, d, &computed), TSANOM_E_OVERFLOW,
           "series.ld");
  set.count = (size_t)1 << 40;
  set.ld = 1;
  tsanom_exec asking = ask_exec(&e, &bytes);
  REJECTED(&fault, tsanom_dtw_condensed(&set, NULL, &asking, d, NULL), TSANOM_E_OVERFLOW,
           "distances");
  REJECTED(&fault, tsanom_dtw_medoid(&set, NULL, &asking, &medoid, NULL),
           TSANOM_E_OVERFLOW, "series.count");
  REJECTED(&fault,
           tsanom_dtw_barycenter(&set, (size_t)1 << 30, 1, 0, NULL, &asking, d, NULL),
           TSANOM_E_OVERFLOW, "exec.work_bytes");
  cr_assert(d[0] == -1 && bytes == 9 && computed == 9 && medoid == 9);
}

/* The position of the first sample that is not finite, for every number of threads. */
Test(dtw_arguments, samples_that_are_not_finite) {
  uint64_t seed = 7;
  enum { COUNT = 20, LENGTH = 40 };
  double x[COUNT * LENGTH], d[COUNT * COUNT] = {-1};
  float single[COUNT * LENGTH], d32[COUNT * COUNT] = {-1};
  for (size_t i = 0; i < COUNT * LENGTH; i++)
    single[i] = (float)(x[i] = random_unit(&seed));
  tsanom_exec e = exec_reporting(&fault);
  tsanom_series set;
  tsanom_series_f32 set32;
  set = (tsanom_series){.struct_size = sizeof set};
  set32 = (tsanom_series_f32){.struct_size = sizeof set32};
  set.data = x, set32.data = single;
  set.count = set32.count = COUNT;
  set.length = set32.length = LENGTH;
  x[7 * LENGTH + 33] = NAN, x[9 * LENGTH] = INFINITY;
  single[7 * LENGTH + 33] = (float)NAN, single[9 * LENGTH] = -(float)INFINITY;
  for (int32_t threads = 1; threads <= 3; threads++) {
    e.threads = threads;
    FOR_EACH_ISA (isa) {
      e.isa = isa;
      REJECTED_AT(&fault,
                  tsanom_dtw_distance(x + 7 * LENGTH, LENGTH, x, LENGTH, NULL, &e, d),
                  TSANOM_E_NONFINITE, "x", 33, TSANOM_NONE);
      REJECTED_AT(&fault,
                  tsanom_dtw_distance_f32(single, LENGTH, single + 9 * LENGTH, LENGTH,
                                          NULL, &e, d32),
                  TSANOM_E_NONFINITE, "y", 0, TSANOM_NONE);
      REJECTED_AT(&fault, tsanom_dtw_condensed(&set, NULL, &e, d, NULL),
                  TSANOM_E_NONFINITE, "series", 7, 33);
      REJECTED_AT(&fault,
                  tsanom_dtw_cross_f32(&set32, &set32, NULL, &e, d32, COUNT, NULL),
                  TSANOM_E_NONFINITE, "xs", 7, 33);
      REJECTED_AT(&fault, tsanom_dtw_one_to_many(x, LENGTH, &set, NULL, &e, d, NULL),
                  TSANOM_E_NONFINITE, "series", 7, 33);
    }
  }
  tsanom_dtw_options o = defaults();
  o.dimensions = 3;
  o.stride = 4;
  double points[] = {1, 2, 3, NAN, 1, 2, INFINITY, NAN};
  REJECTED_AT(&fault, tsanom_dtw_distance(points, 2, points, 2, &o, &e, d),
              TSANOM_E_NONFINITE, "x", 1, 2);
  cr_assert(d[0] == -1 && d32[0] == -1);
}

Test(dtw_arguments, options_of_a_newer_caller_are_accepted) {
  double x[] = {1, 2, 5}, y[] = {1, 5}, d = -1;
  struct {
    tsanom_dtw_options known;
    size_t unknown;
  } newer = {.known = defaults()};
  newer.known.struct_size = sizeof newer;
  CHECK_STATUS(tsanom_dtw_distance(x, 3, y, 2, &newer.known, NULL, &d), TSANOM_OK);
  cr_assert(d == 1);
  newer.unknown = 1;
  CHECK_STATUS(tsanom_dtw_distance(x, 3, y, 2, &newer.known, NULL, &d), TSANOM_E_VERSION);
}

/* The caller's rounding mode changes no result. */
Test(dtw_arguments, rounding_does_not_change_distances) {
  uint64_t seed = 9;
  enum { LENGTH = 100 };
  double x[LENGTH], y[LENGTH], usual, upward;
  for (size_t i = 0; i < LENGTH; i++)
    x[i] = random_unit(&seed), y[i] = random_unit(&seed);
  CHECK_STATUS(tsanom_dtw_distance(x, LENGTH, y, LENGTH, NULL, NULL, &usual), TSANOM_OK);
  cr_assert(fesetround(FE_UPWARD) == 0);
  tsanom_status status = tsanom_dtw_distance(x, LENGTH, y, LENGTH, NULL, NULL, &upward);
  cr_assert(fegetround() == FE_UPWARD && fesetround(FE_TONEAREST) == 0);
  CHECK_STATUS(status, TSANOM_OK);
  cr_assert(usual == upward);
}
