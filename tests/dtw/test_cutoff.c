/* SPDX-License-Identifier: BSD-3-Clause */
/* A cut-off decides by the distance alone, and is felt before the end. */
#include <math.h>
#include <tsanom/dtw.h>

#include "support/check.h"
#include "support/exec.h"
#include "support/random.h"

enum { N = 2600, M = 2700 };

static double x[N], y[M];

static void walk(double *to, size_t count, uint64_t seed) {
  double level = 0;
  for (size_t k = 0; k < count; k++) to[k] = level += random_unit(&seed) - 0.5;
}

static int32_t count_poll(void *user, uint64_t done, uint64_t total) {
  (void)done;
  (void)total;
  ++*(uint64_t *)user;
  return 0;
}

static tsanom_exec counted(int32_t isa, int32_t threads, uint64_t *polls) {
  tsanom_exec exec = exec_at(isa, threads);
  exec.poll = count_poll;
  exec.poll_user = polls;
  *polls = 0;
  return exec;
}

static double distance_of(const tsanom_dtw_options *o, const tsanom_exec *exec) {
  double distance;
  tsanom_status status = tsanom_dtw_distance(x, N, y, M, o, exec, &distance);
  cr_assert(status == (isinf(distance) ? TSANOM_CUTOFF : TSANOM_OK));
  return distance;
}

static double path_distance_of(const tsanom_dtw_options *o, const tsanom_exec *exec) {
  static size_t path[2 * (N + M)];
  size_t length;
  double distance;
  tsanom_status status = tsanom_dtw_path(x, N, y, M, o, exec, path, &length, &distance);
  cr_assert(status == (isinf(distance) ? TSANOM_CUTOFF : TSANOM_OK));
  cr_assert((length == 0) == (status == TSANOM_CUTOFF));
  return distance;
}

/* Cut-offs around the distance, and one that stops it part of the way. */
static void check_cutoffs(tsanom_dtw_options o, double distance, int32_t isa,
                          int32_t threads) {
  const double cutoffs[] = {distance, nextafter(distance, 0), distance * 0.999,
                            distance * 0.3, 0};
  for (size_t c = 0; c < sizeof cutoffs / sizeof *cutoffs; c++) {
    uint64_t polls;
    tsanom_exec exec = counted(isa, threads, &polls);
    o.cutoff = cutoffs[c];
    double expected = c == 0 ? distance : INFINITY;
    cr_assert(distance_of(&o, &exec) == expected);
    if (threads == 1 && isa == TSANOM_ISA_AUTO) {
      cr_assert(path_distance_of(&o, &exec) == expected);
    }
  }
}

Test(dtw_cutoff, decides_by_the_distance_on_every_number_of_threads) {
  walk(x, N, 1);
  walk(y, M, 2);
  for (int trial = 0; trial < 4; trial++) {
    tsanom_dtw_options o;
    tsanom_dtw_options_init(&o, sizeof o);
    o.window = trial % 2;
    if (trial > 1) o.radius = 1000;
    double distance = distance_of(&o, NULL);
    cr_assert(isfinite(distance));
    for (int32_t threads = 1; threads <= 4; threads++) {
      FOR_EACH_ISA (isa) check_cutoffs(o, distance, isa, threads);
      check_cutoffs(o, distance, TSANOM_ISA_AUTO, threads);
    }
  }
}

/* The calling thread asks the poll as it goes. At a cut-off of nothing the first strip
 * is the last. */
Test(dtw_cutoff, abandons_early) {
  enum { POLLS_OF_TWO_STRIPS = 8 };
  walk(x, N, 1);
  walk(y, M, 2);
  tsanom_dtw_options o;
  tsanom_dtw_options_init(&o, sizeof o);
  uint64_t whole, part;
  tsanom_exec exec = counted(TSANOM_ISA_BASE, 1, &whole);
  cr_assert(isfinite(distance_of(&o, &exec)));
  o.cutoff = 0;
  exec = counted(TSANOM_ISA_BASE, 1, &part);
  cr_assert(isinf(distance_of(&o, &exec)));
  cr_assert(part < whole);
  part = 0;
  cr_assert(isinf(path_distance_of(&o, &exec)));
  cr_assert(part < whole);
  for (int32_t threads = 2; threads <= 4; threads++) {
    exec = counted(TSANOM_ISA_BASE, threads, &part);
    cr_assert(isinf(distance_of(&o, &exec)));
    cr_assert(part <= POLLS_OF_TWO_STRIPS, "threads %d: %d", threads, (int)part);
  }
}

/* A penalty needs a sweep of strips. */
Test(dtw_cutoff, strips_are_polled_about_every_million_cells) {
  enum { CELLS_PER_POLL = 1 << 20 };
  walk(x, N, 1);
  walk(y, M, 2);
  tsanom_dtw_options o;
  tsanom_dtw_options_init(&o, sizeof o);
  o.penalty = 1;
  FOR_EACH_ISA (isa) {
    uint64_t polls;
    tsanom_exec exec = counted(isa, 1, &polls);
    cr_assert(isfinite(distance_of(&o, &exec)));
    cr_assert(polls >= (uint64_t)N * M / CELLS_PER_POLL / 2, "%d", (int)polls);
  }
}

/* The path runs beside the diagonal, at exactly the cut-off from its first pair on: all
 * cells that are not above it lie on diagonals of odd i + j. */
Test(dtw_cutoff, a_path_beside_the_diagonal_that_costs_the_cutoff_is_not_abandoned) {
  static const size_t radii[] = {1, 2, 7, 30, 200, SIZE_MAX};
  tsanom_dtw_options o;
  tsanom_dtw_options_init(&o, sizeof o);
  o.cutoff = 1;
  FOR_EACH_ISA (isa) {
    for (size_t n = 3; n < 700; n += 1 + n / 8) {
      for (size_t k = 0; k < n; k++) x[k] = (double)(10 * (k < n - 1 ? k : n - 2));
      y[0] = x[0] - 1;
      for (size_t k = 1; k < n; k++) y[k] = x[k - 1];
      for (size_t r = 0; r < sizeof radii / sizeof *radii; r++) {
        uint64_t polls;
        double distance = 0;
        tsanom_exec exec = counted(isa, 1, &polls);
        o.radius = radii[r];
        CHECK_STATUS(tsanom_dtw_distance(x, n, y, n, &o, &exec, &distance), TSANOM_OK);
        cr_assert(distance == 1, "n %zu, radius %zu", n, o.radius);
      }
    }
  }
}
