/* SPDX-License-Identifier: BSD-3-Clause */
/* The bound in 16-bit integers: it removes no candidate within the cut-off, and nearly
 * all that are beyond it. */
#include "search/coarse.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "search/calls.h"
#include "search/naive.h"

enum { LONGEST = 260, COUNT = TSN_SEARCH_BATCH };

/* A batch in memory of its own. */
typedef struct {
  double query[LONGEST], samples[COUNT][LONGEST], distances[COUNT];
  tsn_search_watch watch;
  tsn_search_watcher watcher;
  tsn_search_batch batch;
  tsn_search_dtw dtw;
  tsn_search_pairs pairs;
  tsanom_exec exec;
} fixture;

typedef struct {
  const fixture *f;
  tsn_search_work work;
  bool *removed, finished;
} call;

static void layout(tsn_arena *arena, void *context) {
  call *c = context;
  tsn_search_work_layout(arena, &c->f->dtw, &c->work);
}

static tsanom_status run(void *context) {
  call *c = context;
  c->finished = tsn_search_coarse(&c->f->pairs, &c->f->batch, &c->work, c->removed);
  return TSANOM_OK;
}

static bool coarse(const fixture *f, bool *removed) {
  call c = {.f = f, .removed = removed};
  CHECK_STATUS(tsn_workspace_run(&f->exec, layout, NULL, run, &c), TSANOM_OK);
  return c.finished;
}

static void begin(fixture *f, size_t n, size_t count, size_t radius, int32_t cost) {
  CHECK_STATUS(tsn_exec_read(&f->exec, NULL), TSANOM_OK);
  f->watch.exec = &f->exec;
  f->watch.stop = 0;
  f->watcher = (tsn_search_watcher){.watch = &f->watch, .calling = 1};
  f->batch.count = count;
  f->batch.watcher = &f->watcher;
  for (size_t i = 0; i < count; i++) f->batch.series[i] = f->samples[i];
  f->dtw = (tsn_search_dtw){.n = n, .radius = radius, .cost = cost, .exec = f->exec};
  f->pairs = (tsn_search_pairs){.dtw = &f->dtw, .query = f->query};
}

static void measure(fixture *f) {
  const tsn_search_dtw *d = &f->dtw;
  for (size_t i = 0; i < f->batch.count; i++) {
    f->distances[i] = naive_dtw(f->query, f->samples[i], d->n, d->radius, d->cost);
  }
}

/* Ties within a few units of the grid: copies of the query with small differences. */
static void fill_near(fixture *f, size_t n, uint64_t *seed) {
  double size = exp2(-(double)random_between(seed, 0, 60));
  for (size_t i = 0; i < f->batch.count; i++) {
    for (size_t k = 0; k < n; k++) {
      f->samples[i][k] = f->query[k] + size * (random_unit(seed) - 0.5);
    }
  }
}

static void scale_all(fixture *f, size_t n, double factor) {
  for (size_t k = 0; k < n; k++) f->query[k] *= factor;
  for (size_t i = 0; i < f->batch.count; i++) {
    for (size_t k = 0; k < n; k++) f->samples[i][k] *= factor;
  }
}

/* One of the distances, or the number before or after it, or any. */
static double choose_cutoff(const fixture *f, uint64_t *seed) {
  double one = f->distances[random_between(seed, 0, f->batch.count - 1)];
  switch (random_bits(seed) % 6) {
    case 0:
      return one * random_unit(seed);
    case 1:
      return nextafter(one, 0);
    case 2:
      return nextafter(one, INFINITY);
    default:
      return one;
  }
}

static void check_removed(const fixture *f, const bool *removed, int trial) {
  for (size_t i = 0; i < f->batch.count; i++) {
    cr_assert(!removed[i] || f->distances[i] > f->pairs.cutoff,
              "trial %d: %zu of %zu at %.17g, cut-off %.17g, n %zu, radius %zu, cost %d",
              trial, i, f->batch.count, f->distances[i], f->pairs.cutoff, f->dtw.n,
              f->dtw.radius, f->dtw.cost);
  }
}

Test(search_coarse, removes_no_candidate_within_the_cutoff) {
  static fixture f;
  uint64_t seed = 1;
  for (int trial = 0; trial < CASES(6000); trial++) {
    size_t n = random_between(&seed, 1, trial % 16 ? 40 : LONGEST);
    size_t radius = random_bits(&seed) % 4 ? random_between(&seed, 0, n / 3) : SIZE_MAX;
    begin(&f, n, random_between(&seed, 1, COUNT), radius, trial % 2);
    fill(f.query, n, &seed);
    if (trial % 3 == 0) {
      fill_near(&f, n, &seed);
    } else {
      for (size_t i = 0; i < f.batch.count; i++) fill(f.samples[i], n, &seed);
    }
    if (trial % 5 == 0) {
      scale_all(&f, n, pow(10, (double)random_between(&seed, 0, 300) - 150));
    }
    measure(&f);
    f.pairs.cutoff = choose_cutoff(&f, &seed);
    bool removed[COUNT], first[COUNT];
    FOR_EACH_ISA (isa) {
      f.dtw.exec.isa = isa;
      cr_assert(coarse(&f, removed));
      check_removed(&f, removed, trial);
      if (isa == TSANOM_ISA_BASE) memcpy(first, removed, sizeof first);
      cr_assert(memcmp(removed, first, f.batch.count * sizeof *removed) == 0);
    }
  }
}

static void fill_white(fixture *f, size_t n, uint64_t *seed) {
  for (size_t k = 0; k < n; k++) f->query[k] = random_unit(seed);
  for (size_t i = 0; i < f->batch.count; i++) {
    for (size_t k = 0; k < n; k++) f->samples[i][k] = random_unit(seed);
  }
}

/* In white noise no other bound removes anything. */
Test(search_coarse, removes_white_noise_two_percent_beyond_the_cutoff) {
  static fixture f;
  uint64_t seed = 2;
  for (int trial = 0; trial < 40; trial++) {
    size_t n = random_between(&seed, 60, LONGEST), beyond = 0;
    size_t radius = trial % 3 ? random_between(&seed, 0, n / 5) : n;
    begin(&f, n, COUNT, radius, trial % 2);
    fill_white(&f, n, &seed);
    measure(&f);
    f.pairs.cutoff = f.distances[0];
    for (size_t i = 1; i < COUNT; i++) {
      f.pairs.cutoff = fmin(f.pairs.cutoff, f.distances[i]);
    }
    bool removed[COUNT];
    cr_assert(coarse(&f, removed));
    for (size_t i = 0; i < COUNT; i++) {
      if (f.distances[i] <= 1.02 * f.pairs.cutoff) continue;
      cr_assert(removed[i], "trial %d: %zu at %g, cut-off %g", trial, i, f.distances[i],
                f.pairs.cutoff);
      beyond++;
    }
    cr_assert(beyond > COUNT / 2);
  }
}

/* A grid needs a range of the query that is neither 0 nor beyond the squares of doubles,
 * and a cut-off. */
Test(search_coarse, without_a_grid_or_a_cutoff_nothing_is_removed) {
  static fixture f;
  const double ranges[] = {0, 1e-310, 1e-160, 1e160, DBL_MAX, 1};
  uint64_t seed = 3;
  for (int32_t cost = 0; cost < 2; cost++) {
    for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++) {
      enum { N = 30 };
      begin(&f, N, COUNT, 3, cost);
      for (size_t k = 0; k < N; k++) f.query[k] = k % 2 ? ranges[r] : -ranges[r];
      for (size_t i = 0; i < COUNT; i++) {
        for (size_t k = 0; k < N; k++) f.samples[i][k] = 1e3 * random_unit(&seed);
      }
      f.pairs.cutoff = ranges[r] == 1 ? INFINITY : 1e-300;
      bool removed[COUNT], none[COUNT] = {false};
      cr_assert(coarse(&f, removed));
      cr_assert_arr_eq(removed, none, sizeof none);
    }
  }
}

static int32_t stop_now(void *user, uint64_t done, uint64_t total) {
  size_t *calls = user;
  ++*calls;
  return done == total;
}

Test(search_coarse, the_poll_stops_it) {
  static fixture f;
  uint64_t seed = 4;
  begin(&f, LONGEST, COUNT, SIZE_MAX, TSANOM_COST_ABSOLUTE);
  fill_white(&f, LONGEST, &seed);
  measure(&f);
  f.pairs.cutoff = f.distances[0];
  size_t calls = 0;
  f.exec.poll = stop_now;
  f.exec.poll_user = &calls;
  bool removed[COUNT];
  size_t batches = 0;
  while (batches < 1000 && coarse(&f, removed)) batches++;
  cr_assert(calls == 1 && batches > 0 && batches < 1000, "%zu calls, %zu batches", calls,
            batches);
}
