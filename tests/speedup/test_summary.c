/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops whose iterations are known: against the analyzer that finds them itself, and
 * predictions against ends that are known. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>
#include <tsanom/speedup.h>

#include "support/exec.h"
#include "support/random.h"

enum { MOST = 2000 };

typedef struct {
  tsanom_speedup_event event[3 * MOST];
  tsanom_dpd_iteration iteration[MOST];
  size_t events, iterations;
} loop;

/* One more iteration of `regions` regions, each `seconds` long and half of it serial. */
static void add(loop *l, size_t regions, double seconds, int32_t threads) {
  double now = l->events ? l->event[l->events - 1].end : 0;
  if (l->events) now += seconds / 2;
  l->iteration[l->iterations++] = (tsanom_dpd_iteration){l->events, l->events + regions};
  for (size_t k = 0; k < regions; k++) {
    l->event[l->events++] = (tsanom_speedup_event){
        .region = k, .begin = now, .end = now + seconds / 2, .threads = threads};
    now += k + 1 < regions ? seconds : 0;
  }
}

static void ten_equal_iterations(loop *l) {
  l->events = l->iterations = 0;
  for (int i = 0; i < 10; i++) add(l, 2, 1, 2);
}

static tsanom_status summarize(const loop *l, size_t n, uint64_t expected,
                               tsanom_speedup_loop *about, tsanom_speedup_prediction *p) {
  *p = (tsanom_speedup_prediction){.struct_size = sizeof *p};
  return tsanom_speedup_summarize(l->event, l->iteration[n - 1].end, l->iteration, n,
                                  NULL, expected, NULL, about, p);
}

Test(speedup_summary, equals_the_analyzer_where_iterations_are_equal) {
  static loop l;
  uint64_t seed = 1;
  for (int trial = 0; trial < 200; trial++) {
    size_t regions = random_between(&seed, 1, 3), n = random_between(&seed, 6, 300);
    l.events = l.iterations = 0;
    for (size_t i = 0; i < n; i++) {
      add(&l, regions, 1 + random_unit(&seed), i < n / 3 ? 1 : 4);
    }
    tsanom_speedup *analyzer = NULL;
    cr_assert(tsanom_speedup_create(NULL, NULL, &analyzer) == TSANOM_OK);
    for (size_t i = 0; i < l.events; i++) {
      cr_assert(tsanom_speedup_push(analyzer, &l.event[i]) == TSANOM_OK);
    }
    tsanom_speedup_finish(analyzer);
    tsanom_speedup_loop found, own;
    tsanom_speedup_prediction p, q;
    size_t count = 0;
    q = (tsanom_speedup_prediction){.struct_size = sizeof q};
    cr_assert(tsanom_speedup_loops(analyzer, &found, 1, &count) == TSANOM_OK &&
              count == 1);
    cr_assert(tsanom_speedup_predict(analyzer, 2 * n, &q) == TSANOM_OK);
    cr_assert(summarize(&l, n, 2 * n, &own, &p) == TSANOM_OK);
    cr_assert(own.start == found.start && own.period == found.period);
    cr_assert(own.iterations == found.iterations && own.runs == found.runs);
    cr_assert(own.first == found.first && own.last == found.last);
    cr_assert(own.total_s == found.total_s);
    cr_assert(fabs(own.parallel_s - found.parallel_s) < 1e-9 * own.parallel_s);
    cr_assert(own.speedup == found.speedup && own.efficiency == found.efficiency);
    cr_assert(own.serial_fraction == found.serial_fraction);
    cr_assert(own.baseline_mean_s == found.baseline_mean_s &&
              own.current_mean_s == found.current_mean_s);
    cr_assert(p.expected == q.expected && isnan(q.low_s) && isnan(q.high_s));
    cr_assert(p.drifts || p.total_s == q.total_s);
    tsanom_speedup_destroy(analyzer);
  }
}

/* A normal variate, by the sum of uniform ones. */
static double normal(uint64_t *seed) {
  double sum = -6;
  for (int i = 0; i < 12; i++) sum += random_unit(seed);
  return sum;
}

/* How the seconds of iterations vary. `state` is kept from one to the next, 0 at first.
 */
typedef double variation(uint64_t *seed, double *state);

static double uniform(uint64_t *seed, double *state) {
  (void)state;
  return 1 + .5 * random_unit(seed);
}

/* The coefficient is that of the state. */
static double correlated(uint64_t *seed, double *state, double coefficient) {
  *state = coefficient * *state + sqrt(1 - coefficient * coefficient) * normal(seed);
  return fmax(.2, 1 + .1 * *state);
}

static double correlated_half(uint64_t *seed, double *state) {
  return correlated(seed, state, .5);
}

static double correlated_long(uint64_t *seed, double *state) {
  return correlated(seed, state, .9);
}

static double lognormal(uint64_t *seed, double *state) {
  (void)state;
  return exp(.3 * normal(seed));
}

static double alternating(uint64_t *seed, double *state) {
  *state = 1 - *state;
  return (1 + .5 * *state) * (1 + .05 * normal(seed));
}

/* Of Student, with 3 degrees of freedom. */
static double heavy(uint64_t *seed, double *state) {
  (void)state;
  double squares = 0;
  for (int i = 0; i < 3; i++) squares += pow(normal(seed), 2);
  return fmax(.1, 1 + .1 * normal(seed) / sqrt(squares));
}

static double two_speeds(uint64_t *seed, double *state) {
  if (random_unit(seed) < .1) *state = 1 - *state;
  return (1 + .5 * *state) * (1 + .03 * normal(seed));
}

static double rare(uint64_t *seed, double *state) {
  (void)state;
  return (1 + .03 * normal(seed)) * (random_unit(seed) < .02 ? 10 : 1);
}

/* Half as long again after 150 iterations. */
static double rising(uint64_t *seed, double *state) {
  *state += 1. / 300;
  return 1 + *state + .03 * random_unit(seed);
}

/* An iteration of one region, without serial code. */
static void add_region(loop *l, double seconds) {
  double now = l->events ? l->event[l->events - 1].end : 0;
  l->iteration[l->iterations++] = (tsanom_dpd_iteration){l->events, l->events + 1};
  l->event[l->events++] =
      (tsanom_speedup_event){.begin = now, .end = now + seconds, .threads = 2};
}

/* Known iterations, and the half width of the interval at most, in parts of the remaining
 * time, the mean. The former rule had half widths of 13 to 60 % at 100. */
static const struct {
  const char *name;
  variation *vary;
  size_t known;
  double least, unknown, narrow;
} variations[] = {
    {"uniform", uniform, 120, .93, .01, .04},
    {"half", correlated_half, 120, .93, .02, .07},
    {"long", correlated_long, 120, .93, .1, .23},
    {"lognormal", lognormal, 120, .93, .05, .11},
    {"heavy", heavy, 120, .93, .02, .04},
    {"alternating", alternating, 120, .9, .01, .02},
    {"rising", rising, 120, .9, 1, 1},
    {"two speeds", two_speeds, 400, .9, .3, .1},
    {"rare", rare, 400, .93, .3, .2},
    {"uniform", uniform, 30, .9, .2, .3},
    {"half", correlated_half, 30, .9, .5, .3},
    {"long", correlated_long, 30, .9, .5, .3},
};

/* The end is unknown, or the interval contains it in 95 %; as many iterations are known
 * as are missing. */
Test(speedup_summary, intervals_contain_the_end) {
  static loop l;
  uint64_t seed = 2;
  for (size_t v = 0; v < sizeof variations / sizeof *variations; v++) {
    int contained = 0, unknown = 0, trials = 200;
    double width = 0;
    for (int trial = 0; trial < trials; trial++) {
      size_t known = variations[v].known, n = 2 * known;
      double state = 0;
      l.events = l.iterations = 0;
      for (size_t i = 0; i < n; i++) add_region(&l, variations[v].vary(&seed, &state));
      tsanom_speedup_loop about;
      tsanom_speedup_prediction p;
      cr_assert(summarize(&l, known, n, &about, &p) == TSANOM_OK);
      double end = l.event[l.events - 1].end;
      unknown += isnan(p.low_s);
      if (isnan(p.low_s)) continue;
      contained += p.low_s <= end && end <= p.high_s;
      width += (p.high_s - p.low_s) / 2 / (end - l.event[known - 1].end);
      cr_assert(p.low_s <= p.total_s && p.total_s <= p.high_s);
    }
    int stated = trials - unknown;
    cr_expect(contained >= variations[v].least * stated, "%s: %d of %d",
              variations[v].name, contained, stated);
    cr_expect(unknown <= variations[v].unknown * trials, "%s: %d", variations[v].name,
              unknown);
    cr_expect(width <= variations[v].narrow * stated, "%s: %g", variations[v].name,
              width / stated);
  }
}

/* Of long iterations that come at random, hundreds are known, and a multiple of them is to come. */
Test(speedup_summary, intervals_count_many_long_iterations) {
  static const struct {
    double often;
    size_t times;
  } cases[] = {{.02, 100}, {.1, 50}, {.2, 30}, {.05, 5000}};
  static loop l;
  uint64_t seed = 17;
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    int contained = 0, trials = 40;
    double often = cases[c].often;
    for (int trial = 0; trial < trials; trial++) {
      tsanom_speedup_loop about;
      tsanom_speedup_prediction p;
      l.events = l.iterations = 0;
      for (size_t i = 0; i < MOST; i++)
        add_region(&l, random_unit(&seed) < often ? 11 : 1 + .1 * random_unit(&seed));
      size_t left = cases[c].times * MOST;
      cr_assert(summarize(&l, MOST, MOST + left, &about, &p) == TSANOM_OK);
      double rest = (double)left * (11 * often + 1.05 * (1 - often));
      double end = l.event[l.events - 1].end + rest;
      contained += p.low_s <= end && end <= p.high_s;
      cr_assert(p.high_s - p.low_s < rest / 2, "%g: %g to %g", end, p.low_s, p.high_s);
    }
    cr_expect(contained >= .9 * trials, "%g: %d", often, contained);
  }
}

/* An iteration of `seconds` and `behind` its region, after `gap` of another. */
static void add_parts(loop *l, double seconds, double *behind, double gap) {
  double now = l->events ? l->event[l->events - 1].end + *behind : 0;
  if (gap > 0) {
    l->event[l->events++] =
        (tsanom_speedup_event){.region = 1, .begin = now, .end = now + gap, .threads = 1};
    now += gap;
  }
  l->iteration[l->iterations++] = (tsanom_dpd_iteration){l->events, l->events + 1};
  l->event[l->events++] =
      (tsanom_speedup_event){.begin = now, .end = now + seconds, .threads = 2};
}

/* Each K-th iteration is long, within its region or behind it, or the loop has runs of K
 * iterations: the interval contains the end, and its half width is at most `narrow` of
 * the remaining time. */
static const struct {
  const char *name;
  double within, behind, gap, vary; /* the deviation of these */
  double narrow;
} repeated[] = {
    {"within", 2, 0, 0, 0, .02},  {"behind", 0, 2, 0, 0, .02},
    {"varied", 2, 0, 0, .5, .08}, {"gap", 0, 0, 20, 0, .02},
    {"gaps", 0, 0, 20, 4, .17},
};

Test(speedup_summary, intervals_count_cycles_and_runs) {
  static loop l;
  uint64_t seed = 12;
  for (size_t c = 0; c < sizeof repeated / sizeof *repeated; c++) {
    int contained = 0, stated = 0, trials = 200;
    double width = 0;
    for (int trial = 0; trial < trials; trial++) {
      bool runs = repeated[c].gap > 0;
      size_t cycle = random_between(&seed, runs ? 15 : 4, runs ? 20 : 12);
      size_t phase = runs ? 0 : random_between(&seed, 0, cycle - 1);
      size_t known = random_between(&seed, 100, 140), n = 2 * known;
      double behind = 0, last = 0, end;
      tsanom_speedup_loop about;
      tsanom_speedup_prediction p;
      l.events = l.iterations = 0;
      for (size_t i = 0; i < n; i++) {
        bool own = i % cycle == phase;
        double more = 1 + .02 * normal(&seed), vary = repeated[c].vary * normal(&seed);
        double gap = own && runs && i ? repeated[c].gap + vary : 0;
        if (own && repeated[c].within > 0) more += repeated[c].within + vary;
        add_parts(&l, more, &behind, gap);
        behind = own ? repeated[c].behind : 0;
        if (i + 1 == known) last = l.event[l.events - 1].end;
      }
      end = l.event[l.events - 1].end;
      cr_assert(summarize(&l, known, n, &about, &p) == TSANOM_OK);
      if (isnan(p.low_s)) continue;
      stated++;
      contained += p.low_s <= end && end <= p.high_s;
      width += (p.high_s - p.low_s) / 2 / (end - last);
    }
    cr_expect(stated >= .97 * trials, "%s: %d", repeated[c].name, stated);
    cr_expect(contained >= .93 * stated, "%s: %d of %d", repeated[c].name, contained,
              stated);
    cr_expect(width <= repeated[c].narrow * stated, "%s: %g", repeated[c].name,
              width / stated);
  }
}

/* Every tenth iteration takes 5 instead of 1, until the end; or one iteration takes 50,
 * which does not come again. */
Test(speedup_summary, outliers_that_recur_are_expected) {
  static loop l;
  tsanom_speedup_loop about;
  tsanom_speedup_prediction p;
  for (int recur = 0; recur < 2; recur++) {
    l.events = l.iterations = 0;
    for (size_t i = 0; i < 800; i++) {
      add(&l, 1, recur ? (i % 10 == 5 ? 5 : 1) : (i == 140 ? 50 : 1), 2);
    }
    double end = l.event[l.events - 1].end;
    cr_assert(summarize(&l, 200, 800, &about, &p) == TSANOM_OK);
    cr_expect(fabs(p.total_s / end - 1) < .01, "%d: %g, not %g", recur, p.total_s, end);
    bool contains = p.low_s <= (1 + 1e-9) * end && (1 - 1e-9) * end <= p.high_s;
    /* Two long iterations, of which none comes again, are at the limit of 2.5 %. */
    contains = contains || (!recur && (isnan(p.low_s) || p.low_s <= 1.01 * end));
    cr_expect(contains, "%g: %g to %g", end, p.low_s, p.high_s);
    cr_expect(fabs(p.total_s - p.remaining_s - l.event[199].end) < 1e-9 * end);
  }
}

/* Of 400 iterations, every 20th takes 3 instead of 1, or has 6 regions instead of 2, each
 * as long as others; a quarter of them is known, or three. */
Test(speedup_summary, long_iterations_of_the_program_itself_are_expected) {
  static loop l;
  tsanom_speedup_loop about;
  tsanom_speedup_prediction p;
  static const struct {
    bool regions;
    size_t known, all;
    double off;
  } cases[] = {{false, 100, 400, 1e-9}, {true, 100, 400, .02}, {true, 25, 100, .03}};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    l.events = l.iterations = 0;
    for (size_t i = 0; i < cases[c].all; i++) {
      bool is_long = i % 20 == 19;
      add(&l, is_long && cases[c].regions ? 6 : 2, is_long && !cases[c].regions ? 3 : 1,
          2);
    }
    double end = l.event[l.events - 1].end;
    cr_assert(summarize(&l, cases[c].known, cases[c].all, &about, &p) == TSANOM_OK);
    cr_expect(fabs(p.total_s / end - 1) <= cases[c].off, "%zu: %g, not %g", c, p.total_s,
              end);
    bool contains = p.low_s <= (1 + 1e-9) * end && (1 - 1e-9) * end <= p.high_s;
    cr_expect(contains || (c == 2 && isnan(p.low_s)), "%zu, %g: %g to %g", c, end,
              p.low_s, p.high_s);
  }
}

/* The first region of iteration i takes longer. */
static void interrupt(loop *l, size_t i, double seconds) {
  for (size_t e = l->iteration[i].first; e < l->events; e++) {
    if (e > l->iteration[i].first) l->event[e].begin += seconds;
    l->event[e].end += seconds;
  }
}

/* Three long interruptions at equal distances are not expected again if a fourth of that
 * distance is missing. */
Test(speedup_summary, a_cycle_has_no_exception) {
  static loop l;
  tsanom_speedup_loop about;
  tsanom_speedup_prediction p;
  for (size_t i = 0; i < 400; i++) add(&l, 2, 1, 2);
  for (size_t i = 40; i <= 60; i += 10) interrupt(&l, i, 10);
  double end = l.event[l.events - 1].end;
  cr_assert(summarize(&l, 100, 400, &about, &p) == TSANOM_OK);
  cr_expect(fabs(p.total_s / end - 1) < .03, "%g, not %g", p.total_s, end);
}

/* Another loop than meant: it has more iterations than are expected. */
Test(speedup_summary, the_end_of_more_iterations_than_expected_is_unknown) {
  static loop l;
  tsanom_speedup_loop about;
  tsanom_speedup_prediction p;
  ten_equal_iterations(&l);
  cr_assert(summarize(&l, 10, 9, &about, &p) == TSANOM_OK);
  cr_assert(isnan(p.low_s) && isnan(p.high_s) && !p.drifts);
  cr_assert(summarize(&l, 10, 10, &about, &p) == TSANOM_OK);
  cr_assert(p.low_s == p.total_s && p.high_s == p.total_s);
}

Test(speedup_summary, the_end_of_a_drift_is_unknown) {
  static loop l;
  uint64_t seed = 3;
  tsanom_speedup_loop about;
  tsanom_speedup_prediction p;
  for (int rises = 0; rises < 2; rises++) {
    l.events = l.iterations = 0;
    for (size_t i = 0; i < 100; i++) {
      add(&l, 2, 1 + .01 * (double)(rises ? i : 100 - i) + .05 * random_unit(&seed), 2);
    }
    cr_assert(summarize(&l, 100, 400, &about, &p) == TSANOM_OK);
    cr_assert(p.drifts == 1 && isnan(p.total_s) && isnan(p.low_s) && isnan(p.high_s));
  }
}

Test(speedup_summary, runs_and_ends) {
  static loop l;
  tsanom_speedup_loop about;
  tsanom_speedup_prediction p;
  ten_equal_iterations(&l);
  /* Going on, without a number: nothing determines its length. */
  cr_assert(summarize(&l, 10, 0, &about, &p) == TSANOM_INFEASIBLE);
  cr_assert(about.iterations == 10 && about.runs == 1 && about.last_run == 0);
  /* Three others follow: it has ended. */
  for (int i = 0; i < 3; i++) add(&l, 1, 1, 2);
  l.iterations = 10;
  p = (tsanom_speedup_prediction){.struct_size = sizeof p};
  cr_assert(tsanom_speedup_summarize(l.event, l.events, l.iteration, 10, NULL, 0, NULL,
                                     &about, &p) == TSANOM_OK);
  cr_assert(about.last_run == 10 && p.expected == 10 && p.remaining_s == 0);
  cr_assert(p.low_s == p.total_s && p.high_s == p.total_s);
  /* A second run of 4 iterations so far: 6 are expected. */
  for (int i = 0; i < 4; i++) add(&l, 2, 1, 2);
  cr_assert(summarize(&l, 14, 0, &about, &p) == TSANOM_OK);
  cr_assert(about.runs == 2 && about.last_run == 10 && p.expected == 20);
}

/* The events of a loop in pieces of random sizes, each at another place. */
typedef struct {
  const loop *of;
  size_t at, most;
  uint64_t *seed;
  tsanom_speedup_event piece[2][40];
  int which;
} pieces;

static size_t next_piece(void *user, const tsanom_speedup_event **events) {
  pieces *p = user;
  size_t left = p->of->events - p->at, n = random_between(p->seed, 1, p->most);
  if (n > left) n = left;
  p->which = !p->which;
  memset(p->piece, 0xA5, sizeof p->piece);
  memcpy(p->piece[p->which], p->of->event + p->at, n * sizeof *p->of->event);
  *events = p->piece[p->which];
  p->at += n;
  return n;
}

static tsanom_status by_pieces(pieces *p, size_t n, const tsanom_exec *exec,
                               tsanom_speedup_loop *about,
                               tsanom_speedup_prediction *end) {
  tsanom_speedup_options options;
  tsanom_speedup_options_init(&options, sizeof options);
  options.next = next_piece;
  options.next_user = p;
  p->at = 0;
  *end = (tsanom_speedup_prediction){.struct_size = sizeof *end};
  return tsanom_speedup_summarize(NULL, p->of->events, p->of->iteration, n, &options,
                                  2 * n, exec, about, end);
}

Test(speedup_summary, pieces_equal_the_array) {
  static loop l;
  uint64_t seed = 7;
  pieces p = {.of = &l, .seed = &seed};
  for (int trial = 0; trial < 300; trial++) {
    size_t n = random_between(&seed, 1, 300);
    l.events = l.iterations = 0;
    p.most = random_between(&seed, 1, 40);
    for (size_t i = 0; i < n; i++) {
      double slow = random_unit(&seed) < .05 ? 5 : 1;
      add(&l, random_between(&seed, 1, 4), slow + random_unit(&seed), i % 3 ? 4 : 2);
      if (random_unit(&seed) < .1) { /* events between runs of the loop */
        add(&l, 2, 1, 8);
        l.iterations--;
      }
    }
    tsanom_speedup_loop array, other;
    tsanom_speedup_prediction a, b;
    a = (tsanom_speedup_prediction){.struct_size = sizeof a};
    tsanom_status status =
        tsanom_speedup_summarize(l.event, l.events, l.iteration, l.iterations, NULL,
                                 2 * l.iterations, NULL, &array, &a);
    cr_assert(by_pieces(&p, l.iterations, NULL, &other, &b) == status && status >= 0);
    cr_assert(memcmp(&array, &other, sizeof array) == 0 && memcmp(&a, &b, sizeof a) == 0,
              "trial %d", trial);
    cr_assert(p.at == l.events);
  }
}

Test(speedup_summary, pieces_are_checked) {
  static loop l;
  uint64_t seed = 8;
  pieces p = {.of = &l, .most = 5, .seed = &seed};
  tsanom_fault fault = {.struct_size = sizeof fault};
  tsanom_exec exec;
  tsanom_speedup_loop about = {.runs = 77};
  tsanom_speedup_prediction end;
  static double work[64];
  size_t needed = 0;
  tsanom_exec_init(&exec, sizeof exec);
  exec.fault = &fault;
  for (int i = 0; i < 20; i++) add(&l, 2, 1, 2);
  l.event[23].end = l.event[23].begin - 1;
  cr_assert(by_pieces(&p, 20, &exec, &about, &end) == TSANOM_E_ORDER &&
            fault.element == 23 && about.runs == 77);
  l.event[23].end = l.event[23].begin;
  l.event[30].begin = l.event[29].end - .1; /* across pieces, too */
  p.most = 1;
  cr_assert(by_pieces(&p, 20, &exec, &about, &end) == TSANOM_E_ORDER &&
            fault.element == 30 && about.runs == 77);
  l.event[30].begin = l.event[29].end;
  exec.work = work;
  exec.work_needed = &needed;
  cr_assert(by_pieces(&p, 20, &exec, &about, &end) == TSANOM_E_WORKSPACE &&
            needed >= 20 * 16 && needed <= sizeof work);
  exec.work_bytes = needed;
  exec.work_needed = NULL;
  cr_assert(by_pieces(&p, 20, &exec, &about, &end) == TSANOM_OK && about.runs == 1);
  l.events -= 5; /* fewer than the iterations have */
  tsanom_speedup_options options;
  tsanom_speedup_options_init(&options, sizeof options);
  options.next = next_piece;
  options.next_user = &p;
  p.at = 0;
  cr_assert(tsanom_speedup_summarize(NULL, l.events + 5, l.iteration, 20, &options, 0,
                                     NULL, &about, NULL) == TSANOM_E_COUNT);
  tsanom_speedup *analyzer = NULL;
  cr_assert(tsanom_speedup_create(&options, NULL, &analyzer) == TSANOM_E_OPTION);
}

static tsanom_status rejected(const loop *l, size_t n, const tsanom_dpd_iteration *it,
                              tsanom_fault *fault) {
  tsanom_speedup_loop about;
  tsanom_exec exec = exec_at(TSANOM_ISA_AUTO, 1);
  *fault = (tsanom_fault){.struct_size = sizeof *fault};
  exec.fault = fault;
  return tsanom_speedup_summarize(l->event, 9, it, n, NULL, 0, &exec, &about, NULL);
}

Test(speedup_summary, invalid_iterations_are_rejected) {
  static loop l;
  tsanom_fault fault;
  for (int i = 0; i < 3; i++) add(&l, 3, 1, 2);
  const tsanom_dpd_iteration empty[] = {{0, 3}, {3, 3}}, late[] = {{0, 3}, {6, 10}},
                             mixed[] = {{3, 6}, {0, 3}};
  cr_assert(rejected(&l, 2, empty, &fault) == TSANOM_E_INDEX && fault.element == 1);
  cr_assert(rejected(&l, 2, late, &fault) == TSANOM_E_INDEX && fault.element == 1);
  cr_assert(rejected(&l, 2, mixed, &fault) == TSANOM_E_INDEX && fault.element == 1);
  cr_assert(rejected(&l, 0, mixed, &fault) == TSANOM_E_COUNT);
  cr_assert(rejected(&l, 2, NULL, &fault) == TSANOM_E_NULL);
  cr_assert(rejected(&l, 1, late, &fault) == TSANOM_OK);
  l.event[4].threads = 0;
  cr_assert(rejected(&l, 1, late, &fault) == TSANOM_E_VALUE && fault.element == 4);
}
