/* SPDX-License-Identifier: BSD-3-Clause */
/* Two sets of runs. A run is one number: the iterations of a run share what makes this run
 * slow, so that they are no sample of the program.
 *
 * Small sets: if both programs are the same, each permutation of the runs (each exchange
 * within a pair) is equally likely. If runs S of a and as many runs T of b are exchanged,
 * and b is slower by D, then the difference of the means becomes larger exactly if
 *
 *   D(S, T) = mean of T - mean of S <= D,     of pairs: mean of b - a over S <= D
 *
 * so that D is too low by the K-th permutation if it is below the K-th smallest of all
 * D(S, T): their order statistics are an exact interval (D. Tritchler, J. Amer. Statist.
 * Assoc. 79 (1984) 200-207), and the number of those at most 0 is the significance. Large
 * sets: Student's t (B. L. Welch, Biometrika 34 (1947) 28-35). */

#include <math.h>

#include "change/change.h"
#include "core/chance.h"
#include "core/check.h"
#include "core/environment.h"
#include "core/exec.h"
#include "core/fault.h"
#include "core/size.h"
#include "core/versioned.h"

typedef struct {
  const double *a, *b;
  size_t a_count, b_count;
  int32_t paired;
  double factor; /* a power of two by which all are at most 1: no square overflows */
} run_sets;

/* The difference b - a of a pair. */
static inline double pair_at(const run_sets *r, size_t i) {
  return r->b[i] * r->factor - r->a[i] * r->factor;
}

/* A test of pairs that may be looked at after each of them. A player with capital 1 bets
 * on the sign of the next difference d = b - a, more on those that are large beside the
 * earlier ones:
 *
 *   capital *= 1 + tanh(bet d / s),    s^2 = mean of the squares of d so far
 *
 * If both programs are the same, both signs of a pair are equally likely, whatever its
 * size, so that the capital is expected to stay as it is. It ever reaches C with
 * probability 1/C at most (J. Ville, 1939), for any distribution and any number of looks:
 * 1 / capital is a significance. The means of several players and of both directions are
 * such a capital, too. (G. Shafer, J. Roy. Statist. Soc. A 184 (2021) 407-431; A. Ramdas et
 * al., Statist. Sci. 38 (2023) 576-601.)
 *
 * The interval contains each difference D that no player with d - D has refuted. */

/* Small bets win on small differences, large ones quickly. */
enum { PLAYERS = 5 };
static const double bets[PLAYERS] = {0.25, 0.5, 1, 2, 4};

/* Capitals beyond this decide at every level. */
#define CAPITAL_MOST 1e12

/* Largest capital at any time of the players who bet on the sign `sign` of b - a - D. */
static double capital_of(const run_sets *r, double shift, double sign) {
  double capital[PLAYERS] = {1, 1, 1, 1, 1}, most = 1, squares = 0;
  for (size_t i = 0; i < r->a_count; i++) {
    double d = pair_at(r, i) - shift, sum = 0;
    if (d == 0) continue;
    squares += d * d;
    double part = sign * d / sqrt(squares / (double)(i + 1));
    for (int k = 0; k < PLAYERS; k++) {
      capital[k] *= 1 + tanh(bets[k] * part);
      sum += capital[k] / PLAYERS;
    }
    most = fmax(most, sum);
    if (most > CAPITAL_MOST) break;
  }
  return most;
}

/* The last shift in the direction of `sign` that is not refuted: bisection between the
 * mean and a shift beyond all differences. Infinite if that is not refuted either. */
static double end_of(const run_sets *r, double mean, double spread, double sign) {
  double limit = 2 / 0.05, inside = mean, outside = mean + sign * 1e3 * spread;
  if (capital_of(r, outside, -sign) < limit) return sign * INFINITY;
  for (int i = 0; i < 64; i++) {
    double middle = inside / 2 + outside / 2;
    if (capital_of(r, middle, -sign) < limit) {
      inside = middle;
    } else {
      outside = middle;
    }
  }
  return inside;
}

/* The most capital that n pairs can give: each is much larger than all before it. */
static double capital_limit(size_t n) {
  double sum = 0;
  for (int k = 0; k < PLAYERS; k++) {
    double capital = 1;
    for (size_t i = 1; i <= n && capital < CAPITAL_MOST; i++) {
      capital *= 1 + tanh(bets[k] * sqrt((double)i));
    }
    sum += capital / PLAYERS;
  }
  return sum;
}

static void bet_on_pairs(const run_sets *r, double level, tsanom_change_comparison *c) {
  double spread = 1e-12;
  for (size_t i = 0; i < r->a_count; i++) {
    spread = fmax(spread, fabs(pair_at(r, i) - c->difference));
  }
  double up = capital_of(r, 0, 1), down = capital_of(r, 0, -1);
  c->significance = fmin(1, 2 / fmax(up, down));
  c->low = end_of(r, c->difference, spread, -1);
  c->high = end_of(r, c->difference, spread, 1);
  if (capital_limit(r->a_count) < 2 / level) c->detectable = INFINITY;
}

/* Up to here all permutations are looked at, which takes a millisecond. Runs are bits. */
enum { ORDERS_MOST = 16384, PAIRS_MOST = 14, RUNS_MOST = 62, TAIL_MOST = 416 };

/* Share of permutations beyond each end of an interval of 95 %. */
#define TAIL 0.025

/* The K smallest values of all, in ascending order; of the largest, the negatives. */
typedef struct {
  size_t capacity, count;
  double values[TAIL_MOST];
} tail;

static void insert(tail *t, double value) {
  if (t->capacity == 0) return;
  if (t->count == t->capacity && value >= t->values[t->count - 1]) return;
  size_t i = t->count < t->capacity ? t->count++ : t->count - 1;
  for (; i > 0 && t->values[i - 1] > value; i--) t->values[i] = t->values[i - 1];
  t->values[i] = value;
}

/* All permutations but the one that was measured. */
typedef struct {
  double total;                /* permutations */
  double not_above, not_below; /* number of D(S, T) <= 0, >= 0 */
  tail low, high;
} permutations;

static void begin(permutations *p, double total) {
  *p = (permutations){.total = total};
  p->low.capacity = p->high.capacity = (size_t)(TAIL * total);
}

/* Runs are at most 1: differences of their means up to ROUNDING are equal. */
#define ROUNDING 1e-14

static void add(permutations *p, double difference) {
  if (difference <= ROUNDING) p->not_above++;
  if (difference >= -ROUNDING) p->not_below++;
  insert(&p->low, difference);
  insert(&p->high, -difference);
}

/* The significance is that of two one-sided tests; the measured order counts in both. */
static void finish(const permutations *p, tsanom_change_comparison *c) {
  size_t k = p->low.capacity;
  c->significance = fmin(1, 2 * (1 + fmin(p->not_above, p->not_below)) / p->total);
  c->low = k ? p->low.values[k - 1] : -INFINITY;
  c->high = k ? -p->high.values[k - 1] : INFINITY;
}

/* The next larger number with as many bits (R. W. Gosper, HAKMEM 175). */
static uint64_t next_subset(uint64_t set) {
  uint64_t ripple = set + (set & -set);
  return ripple | (set ^ ripple) >> (__builtin_ctzll(set) + 2);
}

/* Bit i of a subset: run i of a and b together is in the first set. */
static void permute_sets(const run_sets *r, double total, tsanom_change_comparison *c) {
  permutations p;
  uint64_t measured = (UINT64_C(1) << r->a_count) - 1;
  uint64_t end = UINT64_C(1) << (r->a_count + r->b_count);
  begin(&p, total);
  for (uint64_t set = next_subset(measured); set < end; set = next_subset(set)) {
    double from_a = 0, from_b = 0, exchanged = 0;
    for (size_t i = 0; i < r->a_count; i++) {
      if (set >> i & 1) continue;
      from_a += r->a[i] * r->factor;
      exchanged++;
    }
    for (size_t i = 0; i < r->b_count; i++) {
      if (set >> (r->a_count + i) & 1) from_b += r->b[i] * r->factor;
    }
    add(&p, (from_b - from_a) / exchanged);
  }
  finish(&p, c);
}

static void permute_pairs(const run_sets *r, double total, tsanom_change_comparison *c) {
  permutations p;
  uint32_t end = 1u << r->a_count;
  begin(&p, total);
  for (uint32_t set = 1; set < end; set++) {
    double sum = 0, exchanged = 0;
    for (size_t i = 0; i < r->a_count; i++) {
      if (!(set >> i & 1)) continue;
      sum += pair_at(r, i);
      exchanged++;
    }
    add(&p, sum / exchanged);
  }
  finish(&p, c);
}

static double mean_of(const double *x, size_t n, double factor) {
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += x[i] * factor;
  return sum / (double)n;
}

static double variance_of(const double *x, size_t n, double factor) {
  double mean = mean_of(x, n, factor), sum = 0;
  for (size_t i = 0; i < n; i++) {
    sum += (x[i] * factor - mean) * (x[i] * factor - mean);
  }
  return n > 1 ? sum / (double)(n - 1) : 0;
}

static double pair_variance(const run_sets *r, double mean) {
  double sum = 0;
  for (size_t i = 0; i < r->a_count; i++) {
    double d = pair_at(r, i) - mean;
    sum += d * d;
  }
  return r->a_count > 1 ? sum / (double)(r->a_count - 1) : 0;
}

/* Standard error of the difference, and its degrees of freedom: at least 1. Few runs of a set
 * may be alike by chance, and those of one program may scatter more: the error is the larger
 * one of one scatter for all runs, and of one for each set. */
static double error_of(const run_sets *r, double difference, double *freedom) {
  double a = (double)r->a_count, b = (double)r->b_count, f, square;
  if (r->paired) {
    f = a - 1;
    square = pair_variance(r, difference) / a;
  } else {
    double u = variance_of(r->a, r->a_count, r->factor) / a;
    double v = variance_of(r->b, r->b_count, r->factor) / b;
    square = u + v;
    f = square > 0 ? square * square /
                         ((a > 1 ? u * u / (a - 1) : 0) + (b > 1 ? v * v / (b - 1) : 0))
                   : a + b - 2;
    double pooled = (u * a * (a - 1) + v * b * (b - 1)) / (a + b - 2);
    square = fmax(square, pooled / a + pooled / b);
  }
  *freedom = fmax(f, 1);
  return sqrt(square);
}

static void student(double error, double freedom, tsanom_change_comparison *c) {
  double reach = error * tsn_student_quantile(TAIL, freedom);
  c->low = c->difference - reach;
  c->high = c->difference + reach;
  double t = fabs(c->difference) / error;
  c->significance = c->difference == 0 ? 1
                    : error > 0        ? 2 * tsn_student_tail(t, freedom)
                                       : 0;
}

/* A difference of (t + u) errors is found with 95 %, where t is the critical value of the
 * test and u that of 95 %; the factor allows for the estimated scatter. */
static double detectable(double error, double freedom, double level) {
  double factor = 1 + 4 / freedom;
  return factor / 1.5 * error *
         (tsn_student_quantile(level / 2, freedom) + tsn_student_quantile(0.05, freedom));
}

/* Number of permutations; 0: too many for all to be looked at. */
static double permutations_of(const run_sets *r) {
  if (r->paired) return r->a_count <= PAIRS_MOST ? (double)(1u << r->a_count) : 0;
  if (r->a_count > RUNS_MOST || r->a_count + r->b_count > RUNS_MOST) return 0;
  double total = 1;
  for (size_t i = 1; i <= r->a_count; i++)
    total = total * (double)(r->b_count + i) / (double)i;
  return total <= ORDERS_MOST ? total : 0;
}

static void compare(const run_sets *r, const tsanom_change_options *options,
                    tsanom_change_comparison *c) {
  double freedom;
  c->a = mean_of(r->a, r->a_count, r->factor);
  c->b = mean_of(r->b, r->b_count, r->factor);
  c->difference = fabs(c->b - c->a) > ROUNDING ? c->b - c->a : 0;
  double error = error_of(r, c->difference, &freedom), total = permutations_of(r);
  c->detectable = detectable(error, freedom, options->level);
  if (options->sequential) {
    bet_on_pairs(r, options->level, c);
  } else if (total > 0) {
    if (2 > options->level * total) c->detectable = INFINITY;
    (r->paired ? permute_pairs : permute_sets)(r, total, c);
  } else {
    student(error, freedom, c);
  }
  double *results[] = {&c->a, &c->b, &c->difference, &c->low, &c->high, &c->detectable};
  for (size_t i = 0; i < sizeof results / sizeof *results; i++) *results[i] /= r->factor;
}

static double factor_of(const run_sets *r) {
  double largest = 0;
  int exponent = 0;
  for (size_t i = 0; i < r->a_count; i++) largest = fmax(largest, fabs(r->a[i]));
  for (size_t i = 0; i < r->b_count; i++) largest = fmax(largest, fabs(r->b[i]));
  (void)frexp(largest, &exponent);
  return ldexp(1, -(exponent < -1000 ? -1000 : exponent > 1000 ? 1000 : exponent));
}

static const tsanom_change_comparison nothing = {.struct_size = sizeof nothing};
static const tsn_versioned comparison_type = {
    .size = sizeof nothing, .first_size = sizeof nothing, .defaults = &nothing};

static tsanom_status check_runs(const tsanom_exec *exec, const double *x, size_t n,
                                const char *name, const char *count_name) {
  if (n == 0) return tsn_change_count(n, count_name, exec);
  tsanom_status status = tsn_change_count(n, count_name, exec);
  if (status == TSANOM_OK) status = tsn_require_array(exec, x, n, name);
  return status < 0 ? status : tsn_change_finite(x, n, name, exec);
}

tsanom_status tsanom_change_compare(const double *a, size_t a_count, const double *b,
                                    size_t b_count, const tsanom_change_options *options,
                                    const tsanom_exec *exec,
                                    tsanom_change_comparison *comparison) {
  tsanom_exec copy;
  tsanom_change_options own;
  tsanom_status status = tsn_exec_read(&copy, exec);
  if (status < 0) return status;
  status = tsn_change_options_read(&own, options, TSN_CHANGE_COMPARE, &copy);
  if (status < 0) return status;
  status = tsn_struct_check(&copy, &comparison_type, comparison, "comparison");
  if (status < 0) return status;
  status = check_runs(&copy, a, a_count, "a", "a_count");
  if (status == TSANOM_OK) status = check_runs(&copy, b, b_count, "b", "b_count");
  if (status < 0 || !a || !b) return status; /* a NULL has been rejected */
  if (own.paired && a_count != b_count) {
    return tsn_reject_is(&copy, TSANOM_E_COUNT, "b_count", TSANOM_NONE,
                         "%zu; a_count, %zu, is expected of pairs", b_count, a_count);
  }
  tsanom_change_comparison made = nothing;
  run_sets runs = {a, b, a_count, b_count, own.paired, 1};
  tsn_environment before = tsn_environment_enter();
  runs.factor = factor_of(&runs);
  compare(&runs, &own, &made);
  tsn_environment_leave(before);
  tsn_versioned_write(&comparison_type, comparison, &made);
  return TSANOM_OK;
}
