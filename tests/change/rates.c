/* SPDX-License-Identifier: BSD-3-Clause */
/* change_rates [SEED [SERIES]]: how often the module change is wrong, and what it finds, in
 * random series and sets of runs; a line for each number with its limit. Exit status 1 if
 * a number is beyond its limit by more than three standard errors of a sample of fewer
 * than 10000. SERIES is 10000 by default, which takes some minutes. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <tsanom/change.h>

#include "change/unusual.h"

static uint64_t seed = 1;
static size_t count = 10000;
static int failures;

enum { LONGEST = 4200, POINTS = 64 };

/* One number in percent that must lie between two limits, of `trials` trials. */
static void report(const char *name, size_t hits, size_t trials, double least,
                   double most) {
  double value = trials ? (double)hits / (double)trials : 0, allowed = 0;
  if (trials < 10000 && trials > 0) {
    double limit = most < 1 ? most : least;
    allowed = 3 * sqrt(limit * (1 - limit) / (double)trials);
  }
  bool fine = trials > 0 && value >= least - allowed && value <= most + allowed;
  printf("%-52s %7.2f %%  (%g to %g)%s\n", name, 100 * value, 100 * least, 100 * most,
         fine ? "" : "  FAILED");
  failures += !fine;
}

static size_t find(const double *x, size_t n, tsanom_change_point *points) {
  size_t found = 0;
  if (tsanom_change_find(x, n, NULL, NULL, points, POINTS, &found) < 0) abort();
  return found < POINTS ? found : POINTS;
}

static double limit_of(const change_kind *kind) {
  return kind->noise || kind->share > 0 ? 0.02 : 0.013;
}

static void false_alarms(size_t n, const change_kind *kind) {
  static double x[LONGEST];
  tsanom_change_point points[POINTS];
  size_t alarms = 0;
  char name[80];
  for (size_t i = 0; i < count; i++) {
    change_series(&seed, kind, x, n);
    alarms += find(x, n, points) > 0;
  }
  snprintf(name, sizeof name, "find, %zu samples, %s: reported", n, kind->name);
  report(name, alarms, count, 0, limit_of(kind));
}

static void steps(double phi, double least) {
  static double x[LONGEST];
  tsanom_change_point points[POINTS];
  change_kind kind = {.phi = phi, .scatter = 0.05, .step = 0.05};
  size_t found = 0, place = 0, size = 0;
  char name[80];
  for (size_t i = 0; i < count; i++) {
    kind.at = random_between(&seed, 40, 360);
    change_series(&seed, &kind, x, 400);
    size_t reported = find(x, 400, points);
    found += reported > 0;
    /* With more than one point the nearest counts. */
    const tsanom_change_point *best = points;
    for (size_t j = 1; j < reported; j++) {
      if (llabs((long long)points[j].at - (long long)kind.at) <
          llabs((long long)best->at - (long long)kind.at)) {
        best = &points[j];
      }
    }
    if (!reported) continue;
    place += best->low <= kind.at && kind.at <= best->high;
    size += best->size_low <= 0.05 && 0.05 <= best->size_high;
  }
  snprintf(name, sizeof name, "find, +5 %% in 5 %%, phi %g: found", phi);
  report(name, found, count, least, 1);
  snprintf(name, sizeof name, "  interval of its place contains it, phi %g", phi);
  report(name, place, found, 0.93, 1);
  snprintf(name, sizeof name, "  interval of its size contains it, phi %g", phi);
  report(name, size, found, 0.93, 0.97);
}

/* Levels 1, 1.1, 1.05 and 1.15, each at least 60 samples. */
static void several(void) {
  static double x[LONGEST];
  static const double levels[] = {0, 0.1, 0.05, 0.15};
  tsanom_change_point points[POINTS];
  change_kind kind = {.phi = 0.3, .scatter = 0.03};
  size_t right = 0, n = 400;
  for (size_t i = 0; i < count; i++) {
    size_t at[3] = {random_between(&seed, 60, 120), random_between(&seed, 180, 240),
                    random_between(&seed, 300, 340)};
    change_series(&seed, &kind, x, n);
    for (size_t k = 0; k < n; k++) {
      x[k] += levels[(k >= at[0]) + (k >= at[1]) + (k >= at[2])];
    }
    bool all = find(x, n, points) == 3;
    for (size_t j = 0; j < 3 && all; j++) {
      all = llabs((long long)points[j].at - (long long)at[j]) <= 10;
    }
    right += all;
  }
  report("find, three changes: all within 10, no other", right, count, 0.85, 1);
}

static void online_alarms(const change_kind *kind) {
  static double x[LONGEST];
  size_t alarms = 0, found, taken;
  char name[80];
  tsanom_change_point point;
  for (size_t i = 0; i < count; i++) {
    tsanom_change_detector *detector;
    change_series(&seed, kind, x, 4200);
    if (tsanom_change_create(NULL, NULL, &detector) < 0) abort();
    tsanom_change_push(detector, x, 4200, &point, 1, &found, &taken);
    alarms += found;
    tsanom_change_destroy(detector);
  }
  snprintf(name, sizeof name, "push, 4000 samples, %s: reported", kind->name);
  report(name, alarms, count, 0, limit_of(kind));
}

static void online_steps(double phi, double least) {
  static double x[LONGEST];
  size_t found = 0, place = 0, size = 0, reported, taken;
  char name[80];
  change_kind kind = {.phi = phi, .scatter = 0.03, .step = 0.1, .at = 300};
  tsanom_change_point point;
  for (size_t i = 0; i < count; i++) {
    tsanom_change_detector *detector;
    change_series(&seed, &kind, x, 315);
    if (tsanom_change_create(NULL, NULL, &detector) < 0) abort();
    tsanom_change_push(detector, x, 315, &point, 1, &reported, &taken);
    tsanom_change_destroy(detector);
    found += reported;
    if (!reported) continue;
    place += point.low <= 300 && 300 <= point.high;
    size += point.size_low <= 0.1 && 0.1 <= point.size_high;
  }
  snprintf(name, sizeof name, "push, +10 %% in 3 %%, phi %g: within 15", phi);
  report(name, found, count, least, 1);
  snprintf(name, sizeof name, "  interval of its place contains it, phi %g", phi);
  report(name, place, found, 0.93, 1);
  snprintf(name, sizeof name, "  interval of its size contains it, phi %g", phi);
  report(name, size, found, 0.93, 1);
}

/* Means of runs of one program that differ by `between`; half of them, or none, beside
 * another program, which makes them longer by 5 %. */
static void runs(double *x, size_t n, double between, bool mixed) {
  for (size_t i = 0; i < n; i++) {
    x[i] = 1 + between * change_normal(&seed) + 0.006 * change_normal(&seed);
    if (mixed && random_unit(&seed) < 0.5) x[i] *= 1.05;
  }
}

static tsanom_change_comparison compared(const double *a, const double *b, size_t n,
                                         int32_t paired, int32_t sequential) {
  tsanom_change_comparison c = {.struct_size = sizeof c};
  tsanom_change_options options;
  tsanom_change_options_init(&options, sizeof options);
  options.paired = paired;
  options.sequential = sequential;
  if (tsanom_change_compare(a, n, b, n, &options, NULL, &c) < 0) abort();
  return c;
}

static void comparisons(size_t n, double between, bool mixed, int32_t paired) {
  double a[32], b[32];
  size_t alarms = 0, inside = 0, found = 0;
  char name[100], what[80];
  for (size_t i = 0; i < count; i++) {
    runs(a, n, between, mixed);
    runs(b, n, between, mixed);
    tsanom_change_comparison c = compared(a, b, n, paired, 0);
    alarms += c.significance <= 0.01;
    inside += c.low <= 0 && 0 <= c.high;
    runs(a, n, between, mixed);
    runs(b, n, between, mixed);
    for (size_t k = 0; k < n; k++) b[k] += 1.5 * c.detectable;
    found += compared(a, b, n, paired, 0).significance <= 0.01;
  }
  snprintf(what, sizeof what, "compare, %zu %s, %g %%%s", n,
           paired ? "pairs" : "+ as many", 100 * between, mixed ? ", mixed" : "");
  snprintf(name, sizeof name, "%s: different", what);
  report(name, alarms, count, 0, 0.016);
  snprintf(name, sizeof name, "  interval contains the difference");
  report(name, inside, count, 0.93, n >= 10 ? 0.97 : 1);
  if (mixed) return;
  snprintf(name, sizeof name, "  1.5 x detectable is found");
  report(name, found, count, 0.95, 1);
}

/* Stop as soon as the significance is at most 1 %; look after each of 60 pairs. */
static void sequential(double effect, bool mixed, double least, double most) {
  double a[60], b[60];
  size_t stopped = 0, pairs = 0, inside = 0;
  char name[80];
  for (size_t i = 0; i < count; i++) {
    runs(a, 60, 0.02, mixed);
    runs(b, 60, 0.02, mixed);
    tsanom_change_comparison c = {.significance = 1};
    size_t n = 0;
    for (size_t k = 0; k < 60; k++) b[k] += effect;
    while (n < 60 && c.significance > 0.01) c = compared(a, b, ++n, 1, 1);
    stopped += c.significance <= 0.01;
    pairs += n;
    inside += c.low <= effect && effect <= c.high;
  }
  snprintf(name, sizeof name, "sequential, 2 %%%s, %+g %%: different (%.0f pairs)",
           mixed ? ", mixed" : "", 100 * effect, (double)pairs / (double)count);
  report(name, stopped, count, least, most);
  report("  interval contains the difference where it stops", inside, count, 0.95, 1);
}

int main(int argc, char **argv) {
  if (argc > 1) seed = strtoull(argv[1], NULL, 10);
  if (argc > 2) count = strtoull(argv[2], NULL, 10);
  static const change_kind kinds[] = {
      {.name = "independent", .scatter = 0.05},
      {.name = "outliers", .scatter = 0.05, .outliers = 1},
      {.name = "phi 0.5", .phi = 0.5, .scatter = 0.05},
      {.name = "phi 0.5, outliers", .phi = 0.5, .scatter = 0.05, .outliers = 1},
      {.name = "checkpoints", .scatter = 0.05, .period = 20},
      {.name = "drift 1 %", .scatter = 0.05, .drift = 0.01},
      {.name = "phi 0.9", .phi = 0.9, .scatter = 0.05},
      {.name = "phi 0.9, outliers", .phi = 0.9, .scatter = 0.05, .outliers = 1}};
  size_t number = sizeof kinds / sizeof *kinds;
  /* 400 samples with phi 0.9 are too few. */
  for (size_t i = 0; i + 2 < number; i++) false_alarms(400, &kinds[i]);
  for (size_t i = 0; i < number; i++) false_alarms(4000, &kinds[i]);
  for (int i = 0; i < CHANGE_UNUSUAL; i++) {
    false_alarms(60, &change_unusual[i]);
    false_alarms(400, &change_unusual[i]);
    false_alarms(4000, &change_unusual[i]);
    online_alarms(&change_unusual[i]);
  }
  steps(0, 0.95);
  steps(0.5, 0.65);
  several();
  for (size_t i = 0; i < number; i++) online_alarms(&kinds[i]);
  online_steps(0, 0.99);
  online_steps(0.5, 0.85);
  comparisons(5, 0.01, false, 0);
  comparisons(5, 0.03, false, 0);
  comparisons(5, 0.01, true, 0);
  comparisons(8, 0.02, false, 0);
  comparisons(10, 0.02, false, 0);
  comparisons(20, 0.01, true, 0);
  comparisons(10, 0.02, false, 1);
  comparisons(20, 0.02, false, 1);
  sequential(0, false, 0, 0.01);
  sequential(0, true, 0, 0.01);
  sequential(0.03, false, 0.95, 1);
  return failures > 0;
}
