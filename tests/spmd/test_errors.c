/* SPDX-License-Identifier: BSD-3-Clause */
/* The cut by noise: the processes that differ beside their definition, and how often a
 * balanced program has several kinds and one that differs is named. */
#include <math.h>
#include <stdlib.h>
#include <tsanom/spmd.h>

#include "core/chance.h"
#include "runs.h"
#include "spmd/noise.h"
#include "support/check.h"
#include "support/polls.h"
#include "support/random.h"

enum { LARGE = 200, COLUMNS = 6, BLOCKS = 10 };

static double normal(uint64_t *state) {
  double u = 1 - random_unit(state), v = random_unit(state);
  return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

/* Times as points, beside their errors. */
typedef struct {
  tsn_spmd_points points;
  tsn_spmd_noise noise;
  double at[LARGE * 8], weight[8], centroid[8], away[LARGE], key[LARGE], distance[LARGE];
  double time[LARGE * COLUMNS], error[LARGE * COLUMNS];
  uint32_t column[COLUMNS];
  int32_t differs[LARGE];
  size_t different;
} sample;

static void begin(sample *s, size_t count, size_t columns, bool has_errors) {
  *s = (sample){.different = 77};
  s->points = (tsn_spmd_points){.count = count,
                                .stride = 8,
                                .at = s->at,
                                .weight = s->weight,
                                .centroid = s->centroid,
                                .away = s->away};
  s->noise = (tsn_spmd_noise){.columns = columns,
                              .error = has_errors ? s->error : NULL,
                              .error_ld = columns,
                              .column = s->column};
  for (size_t k = 0; k < columns; k++) s->column[k] = (uint32_t)k, s->weight[k + 1] = 1;
}

static tsn_spmd_evidence differ(sample *s, double resolution) {
  size_t columns = s->noise.columns;
  for (size_t i = 0; i < s->points.count; i++) {
    for (size_t k = 0; k < columns; k++) s->at[i * 8 + k + 1] = s->time[i * columns + k];
  }
  return tsn_spmd_differ(&s->points, &s->noise, resolution, s->key, s->distance,
                         s->differs, &s->different);
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *values, size_t count) {
  qsort(values, count, sizeof *values, ascending);
  return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

/* S_k where all errors are known. */
static double typical(const sample *s, size_t k) {
  double squares[LARGE], sum = 0;
  size_t count = s->points.count, columns = s->noise.columns;
  for (size_t i = 0; i < count; i++) {
    double error = s->error[i * columns + k];
    sum += squares[i] = error * error;
  }
  if (count < 4) return sqrt(sum / (double)count);
  return sqrt(median(squares, count) / pow(1 - 2.0 / 81, 3));
}

/* u_i, by its definition. */
static double score(const sample *s, size_t i) {
  size_t count = s->points.count, columns = s->noise.columns;
  double largest = 0, factor = count < 4 ? 1 : M_PI / 2;
  for (size_t k = 0; k < columns; k++) {
    double others[LARGE];
    size_t left = 0;
    for (size_t j = 0; j < count; j++) {
      if (j != i) others[left++] = s->time[j * columns + k];
    }
    double away = fabs(s->time[i * columns + k] - median(others, left));
    double own = s->error[i * columns + k] * (1 + 8.0 / 81), common = typical(s, k);
    double scale =
        fmax(own * own, common * common) + factor * common * common / ((double)count - 1);
    largest = fmax(largest, away / sqrt(scale));
  }
  return largest;
}

Test(spmd_errors, processes_differ_as_defined) {
  static sample s;
  uint64_t state = 1;
  size_t all = 0;
  for (int trial = 0; trial < 3000; trial++) {
    begin(&s, random_between(&state, 2, 20), random_between(&state, 1, COLUMNS), true);
    size_t cells = s.points.count * s.noise.columns;
    double spread = 0.1 * random_unit(&state);
    for (size_t c = 0; c < cells; c++) {
      s.time[c] = 1 + spread * floor(6 * random_unit(&state));
      s.error[c] = 0.05 * random_unit(&state);
    }
    cr_assert_eq(differ(&s, 0), TSN_SPMD_ERRORS);
    size_t found = 0;
    double tests = 2 * (double)cells, freedom = 9 * ((double)s.points.count - 1);
    double least = tsn_student_quantile(0.01 / tests, freedom);
    for (size_t i = 0; i < s.points.count; i++) {
      double u = score(&s, i);
      cr_assert_float_eq(s.points.away[i], u, 1e-9 * (1 + u), "%g, not %g",
                         s.points.away[i], u);
      cr_assert((s.differs[i] != 0) == (s.points.away[i] > least && s.distance[i] > 0));
      found += s.differs[i] != 0;
    }
    cr_assert_eq(found, s.different);
    all += found;
  }
  cr_assert_gt(all, 1000);
}

/* Times of blocks with noise of this law, 0.03 of the time of a region: normal, Student's
 * t with 3 degrees of freedom, or a spike of 10 deviations in 1 %. */
static double noise_of(int law, uint64_t *state) {
  double z = normal(state);
  if (law == 0) return z;
  if (law == 2) return z + (random_unit(state) < 0.01 ? 10 : 0);
  double squares = 0;
  for (int f = 0; f < 3; f++) {
    double other = normal(state);
    squares += other * other;
  }
  return z / sqrt(squares);
}

static void draw(sample *s, int law, double more, uint64_t *state) {
  size_t columns = s->noise.columns;
  size_t blocks = s->noise.error ? BLOCKS : 1;
  for (size_t c = 0; c < s->points.count * columns; c++) {
    double block[BLOCKS] = {0}, mean = 0, squares = 0,
           length = 1.0 / (double)(1 + c % columns);
    double extra = c == 0 ? more : 0, deviation = 0.03 * sqrt((double)blocks) * length;
    for (size_t q = 0; q < blocks; q++) {
      block[q] = length * (1 + extra) + deviation * noise_of(law, state);
      mean += block[q] / (double)blocks;
    }
    for (size_t q = 0; q < blocks; q++) squares += pow(block[q] - mean, 2);
    s->time[c] = mean;
    s->error[c] = sqrt(squares / (BLOCKS - 1) / BLOCKS);
  }
}

/* Of 1000 programs, how many have a process that differs; *right: only the first does. */
static size_t several(size_t processes, int law, double more, bool has_errors,
                      size_t *right) {
  static sample s;
  uint64_t state = processes + 7 * (uint64_t)law;
  size_t found = 0;
  *right = 0;
  for (int run = 0; run < 1000; run++) {
    begin(&s, processes, 4, has_errors);
    draw(&s, law, more, &state);
    differ(&s, 0.05);
    found += s.different > 0;
    *right += s.different > 0 && s.differs[0] && s.different <= (processes == 2 ? 2 : 1);
  }
  return found;
}

Test(spmd_errors, balanced_programs_seldom_have_several_kinds) {
  static const size_t processes[] = {2, 3, 4, 7, 16, 64, 200};
  for (size_t p = 0; p < sizeof processes / sizeof *processes; p++) {
    for (int law = 0; law < 3; law++) {
      size_t right, found = several(processes[p], law, 0, true, &right);
      cr_assert_leq(found, 18, "%zu processes, law %d: %zu", processes[p], law, found);
    }
  }
}

Test(spmd_errors, one_that_differs_is_named_alone) {
  static const size_t processes[] = {2, 4, 16, 64, 200};
  for (size_t p = 0; p < sizeof processes / sizeof *processes; p++) {
    size_t right;
    (void)several(processes[p], 0, 0.25, true, &right);
    cr_assert_geq(right, 700, "%zu processes: %zu", processes[p], right);
  }
}

Test(spmd_errors, without_errors_many_processes_show_the_noise) {
  size_t right;
  for (int law = 0; law < 2; law++) {
    size_t found = several(LARGE, law, 0, false, &right);
    cr_assert_leq(found, 18, "law %d: %zu", law, found);
  }
  (void)several(LARGE, 0, 0.3, false, &right);
  cr_assert_geq(right, 900, "%zu", right);
}

static spmd_run r;
static double error[PROCESSES * REGIONS];

/* All times are 1 and all errors `value`. */
static tsanom_spmd_options start(size_t processes, size_t regions, double value) {
  tsanom_spmd_options o;
  tsanom_spmd_options_init(&o, sizeof o);
  o.cut = TSANOM_SPMD_CUT_NOISE;
  o.combination_limit = 0;
  prepare(&r, processes, regions, 0);
  for (size_t i = 0; i < processes; i++) {
    for (size_t k = 0; k < regions; k++) {
      *time_of(&r, i, k) = 1;
      error[i * r.data.time_ld + k] = value;
    }
  }
  r.data.error = error;
  return o;
}

static size_t kinds(const tsanom_spmd_options *o) {
  CHECK_STATUS(tsanom_spmd_analyze(&r.data, o, NULL, &r.report), TSANOM_OK);
  return r.report.classes;
}

/* In any unit of time. */
Test(spmd_errors, large_errors_explain_a_difference) {
  for (double unit = 1e-200; unit < 1e300; unit *= 1e100) {
    for (int loud = 0; loud < 2; loud++) {
      tsanom_spmd_options o = start(8, 2, (loud ? 0.1 : 0.01) * unit);
      for (size_t i = 0; i < 8; i++) {
        for (size_t k = 0; k < 2; k++)
          *time_of(&r, i, k) = (i == 5 && k ? 1.3 : 1) * unit;
      }
      cr_assert_eq(kinds(&o), loud ? 1 : 2, "%g", unit);
      cr_assert(loud || r.class_of[5] == 1);
    }
  }
}

/* Two halves are two kinds, although each half differs from the median of the others. */
Test(spmd_errors, halves_are_two_kinds) {
  uint64_t state = 4;
  for (size_t processes = 2; processes <= PROCESSES; processes *= 2) {
    size_t right = 0;
    for (int trial = 0; trial < 100; trial++) {
      tsanom_spmd_options o = start(processes, 3, 0.02);
      for (size_t i = 0; i < processes; i++) {
        for (size_t k = 0; k < 3; k++) *time_of(&r, i, k) += 0.02 * normal(&state);
        if (2 * i >= processes) *time_of(&r, i, 1) += 0.4;
      }
      bool is_right = kinds(&o) == 2;
      for (size_t i = 0; i < processes; i++) {
        is_right = is_right && r.class_of[i] == (2 * i >= processes);
      }
      right += is_right;
    }
    cr_assert_geq(right, 90, "%zu processes: %zu", processes, right);
  }
}

/* A region without errors has those of the other, in proportion to the root of its time.
 */
Test(spmd_errors, unknown_errors_are_completed) {
  static sample s;
  begin(&s, 8, 2, true);
  for (size_t i = 0; i < 8; i++) {
    s.time[2 * i] = 1;
    s.time[2 * i + 1] = 4;
    s.error[2 * i] = 0.1;
    s.error[2 * i + 1] = NAN;
  }
  cr_assert_eq(differ(&s, 0), TSN_SPMD_ERRORS);
  cr_assert_float_eq(s.centroid[2], 2 * s.centroid[1], 1e-12);
}

/* The scatter of a region that was measured once is noise, unless it is large. */
Test(spmd_errors, the_scatter_of_a_region_without_errors_counts) {
  tsanom_spmd_options o = start(8, 2, 0.001);
  for (size_t i = 0; i < 8; i++) {
    error[i * r.data.time_ld + 1] = NAN;
    *time_of(&r, i, 1) = i == 5 ? 1.35 : 1 + 0.02 * (double)i;
  }
  cr_assert_eq(kinds(&o), 1);
  *time_of(&r, 5, 1) = 2.2;
  cr_assert(kinds(&o) == 2 && r.class_of[5] == 1);
}

/* A process that takes twice as long differs; for less one measurement is not enough. */
Test(spmd_errors, without_errors_few_processes_differ_by_large_factors) {
  for (size_t processes = 2; processes < PROCESSES; processes += 5) {
    tsanom_spmd_options o = start(processes, 2, NAN);
    *time_of(&r, 1, 0) = 1.2;
    for (int no_errors = 0; no_errors < 2; no_errors++) {
      if (no_errors) r.data.error = NULL;
      cr_assert_eq(kinds(&o), 1);
      cr_assert_eq(r.report.search, TSANOM_SPMD_UNKNOWN);
    }
    *time_of(&r, 1, 0) = 3;
    cr_assert(kinds(&o) == 2 && r.class_of[1] == 1 && r.class_of[0] == 0);
    o.cut = TSANOM_SPMD_CUT_TOLERANCE;
    *time_of(&r, 1, 0) = 1.2;
    cr_assert_eq(kinds(&o), 2, "noise is looked at by the cut by noise only");
  }
}

/* A chain of processes whose ends differ: its largest step is sought in an order of all,
 * and the poll stops that as everything else. */
Test(spmd_errors, the_largest_step_of_a_chain_separates) {
  static const double chain[] = {1, 1.2, 1.4, 1.65, 1.85, 2.05};
  tsanom_spmd_options o = start(6, 1, NAN);
  test_polls c = {.restarts = 1};
  tsanom_exec exec = exec_polled(test_poll, &c);
  for (size_t i = 0; i < 6; i++) *time_of(&r, i, 0) = chain[i];
  cr_assert_eq(kinds(&o), 2);
  for (size_t i = 0; i < 6; i++) cr_assert_eq(r.class_of[i], i > 2);
  CHECK_STATUS(tsanom_spmd_analyze(&r.data, &o, &exec, &r.report), TSANOM_OK);
  uint64_t calls = c.calls;
  for (uint64_t stop = 1; stop < calls; stop++) {
    c = (test_polls){.stop_at = stop, .restarts = 1};
    CHECK_STATUS(tsanom_spmd_analyze(&r.data, &o, &exec, &r.report), TSANOM_STOPPED);
    cr_assert_eq(c.calls, stop);
  }
}
