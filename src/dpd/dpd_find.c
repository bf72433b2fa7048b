/* SPDX-License-Identifier: BSD-3-Clause */
/* The period of a whole series in noise: the dips of d(m) of the whitened series show it
 * (dips_choose()). The exact period is that by which the series itself, without its slow
 * part, folds best (dpd_fold()). All steps are a few Fourier transforms, O(n log n). */
#include "dpd/dpd_find.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/arena.h"
#include "core/chance.h"
#include "core/check.h"
#include "core/exec.h"
#include "core/fault.h"
#include "core/size.h"
#include "core/versioned.h"
#include "dpd/dpd_whiten.h"

/* Folding: a series minus its moving mean over p samples is cut into stretches of p
 * samples, and the mean stretch is the estimate of what repeats.
 *
 *     R^2(p) = sum_j count_j mean_j^2 / sum_t x[t]^2
 *
 * is the share of the variance that it explains. p means also explain p/N of the variance
 * of noise, which the adjusted R^2 = 1 - (1 - R^2) (N - 1) / (N - p) leaves out. All
 * samples count, so that the maximum is sharper than that of a dip of d(m), which
 * compares samples in pairs. */

/* Adjusted R^2 of the fold by p; sums[i] = x[0] + ... + x[i-1]. */
static double explained(const double *x, size_t n, size_t p, const double *sums,
                        double *bins) {
  size_t half = p / 2, count = n - 2 * half;
  double total = 0, fold = 0;
  for (size_t j = 0; j < p; j++) bins[j] = 0;
  for (size_t begin = half; begin + half < n; begin += p) {
    for (size_t j = 0; j < p && begin + j + half < n; j++) {
      size_t t = begin + j;
      double around = sums[t + half + 1] - sums[t - half];
      if (p % 2 == 0) around -= (x[t - half] + x[t + half]) / 2;
      double own = x[t] - around / (double)p;
      bins[j] += own;
      total += own * own;
    }
  }
  for (size_t j = 0; j < p; j++) {
    size_t number = count / p + (j < count % p);
    fold += bins[j] * bins[j] / (double)number;
  }
  if (!(total > 0)) return 0;
  return 1 - (1 - fold / total) * (double)(count - 1) / (double)(count - p);
}

/* The p of [low, high] whose fold explains most of x: ties go to the smallest. `sums` has
 * n + 1 elements, `bins` has `high`. 2 <= low <= high < n / 2. O(n (high - low + 1)). */
static size_t dpd_fold(const double *x, size_t n, size_t low, size_t high, double *sums,
                       double *bins) {
  size_t best = low;
  double most = 0;
  sums[0] = 0;
  for (size_t i = 0; i < n; i++) sums[i + 1] = sums[i] + x[i];
  for (size_t p = low; p <= high; p++) {
    double own = explained(x, n, p, sums, bins);
    if (own <= most && p > low) continue;
    most = own;
    best = p;
  }
  return best;
}

/* The period that the dips of d(m) show.
 *
 * The series is whitened (dpd_whiten.c), and rho(m) = sum_t e[t] e[t-m] / sum_t e[t]^2 is
 * computed for all delays. It is the dip of the mean squared difference: d(m) / (2 n var
 * e) = 1 - rho(m), up to the ends.
 *
 *   rho  |        .           .           .
 *        |       / \         / \         / \          contrast c(k) = rho(kp) minus the
 *        |--.---'---`---.---'---`---.---'---`---.--   mean of rho over one period around
 * kp |   `.'         `.'         `.'         `    (so that slopes cancel)
 *        +-------p----------2p----------3p-------> m
 *
 * In white noise rho(m) has variance (n - m) / n^2, and a contrast (1 - 1/p) of that. So
 *
 *   score(p) = sum_k c(k) / sqrt((1 - 1/p) sum_k (n - kp) / n^2),  kp <= n/2
 *
 * has mean 0 and variance 1 for a p chosen beforehand. Multiples of a period have fewer
 * dips of the same depth, divisors and neighbors have shallower ones: the period has the
 * highest score, unless it consists of parts that differ little
 * (dips_fundamental()). For a p that is chosen as the best of many, the chance is
 * multiplied by their number (Bonferroni).
 *
 * The score is a quadratic form of e, and skewed: two pairs of multiples, j p and k p,
 * share samples. Its third moment is 6 sum_k (k-1)(n-kp) over the 3/2-th power of
 * sum_k (n-kp); that of e adds to it, by which the dips of sparse pulses are skewed.
 * Pearson's type III, a shifted gamma, has this skewness: with it, stated chances of 20 %
 * down to 1 % were 0.73 to 1.12 of what 3800 series of noise showed. What whitening leaves
 * correlated has a larger variance, by Bartlett's formula.
 *
 * A resonance, and a cycle whose length varies, have deep dips too, but wide lines:
 * dips_lines().
 *
 * What the dips show. */
typedef struct {
  size_t candidate;
  double dip, score;
  double probability; /* that noise has such dips */
  double variation;   /* of the length of a period, relative */
} tsn_dips_choice;

enum {
  SHORT_LAGS = 8,        /* that count for the variance */
  RING = 8,              /* lines on both sides that one is compared with */
  LEAST_RING = 4,        /* with fewer, nothing can be said: fewer than 6 periods */
  MOST_PARTS = 16,       /* of a period, that differ little */
  DIPS_OF_VARIATION = 64 /* from which the variation is estimated */
};

/* By which a multiple must be deeper, in standard errors and relative to the others. */
static const double deeper_errors = 5, deeper_ratio = 1.05;
/* Mean of the largest of three neighbors in the logarithm, in units of one. */
static const double largest_of_three = 1.5;
/* The least skewness; a gamma of less is normal. */
static const double skewness_least = 0.01;

/* Take the buffers for series of at most n samples; `kernels` of its spectrum is set by the
 * caller. */
static void dips_layout(tsn_arena *arena, size_t n, tsn_dips *dips) {
  tsn_whitening_layout(arena, n, &dips->whitening);
  if (arena->overflow) return;
  dips->e = tsn_arena_take(arena, n, sizeof *dips->e);
  dips->rho = tsn_arena_take(arena, n, sizeof *dips->rho);
  dips->sum = tsn_arena_take(arena, n + 1, sizeof *dips->sum);
}

/* The prefix sums of rho give contrast() a mean over any p delays in O(1). */
static bool dips_correlate(tsn_dips *dips, size_t n, double *x) {
  tsn_dips *s = dips;
  s->n = n;
  tsn_whitening_prepare(&s->whitening, n);
  if (!tsn_whiten(&s->whitening, x, s->e)) return false;
  tsn_spectrum_products(&s->whitening.spectrum, s->e, s->rho);
  double norm = s->rho[0];
  s->sum[0] = 0;
  for (size_t m = 0; m < s->n; m++) {
    s->rho[m] /= norm;
    s->sum[m + 1] = s->sum[m] + s->rho[m];
  }
  return norm > 0;
}

/* rho(m) minus its mean over the p delays around m; an even p has half weights at the
 * ends. m + p/2 <= n - 2. */
static double contrast(const tsn_dips *s, size_t m, size_t p) {
  size_t half = p / 2;
  double around = s->sum[m + half + 1] - s->sum[m - half];
  if (p % 2 == 0) around -= (s->rho[m - half] + s->rho[m + half]) / 2;
  return s->rho[m] - around / (double)p;
}

/* Number of multiples of p >= 1 whose contrast is known, up to delay `most`. */
static size_t multiples(const tsn_dips *s, size_t p, size_t most) {
  return tsn_smaller(most, s->n - 2 - p / 2) / tsn_larger(p, 1);
}

/* Share of the n samples that have one m before them. */
static double weight(const tsn_dips *s, size_t m) {
  return (double)(s->n - m) / (double)s->n;
}

/* Multiples up to half of the series: those beyond rest on less than half of its samples.
 */
static double score_of(const tsn_dips *s, size_t p, double *dip) {
  size_t count = multiples(s, p, s->n / 2);
  double sum = 0, weights = 0;
  for (size_t k = 1; k <= count; k++) {
    sum += contrast(s, k * p, p);
    weights += weight(s, k * p);
  }
  if (count == 0) return 0;
  *dip = sum / weights;
  return sum / sqrt(weights / (double)s->n * (1 - 1 / (double)p));
}

/* Factor by which correlation of the whitened series increases the variance of rho. */
static double bartlett(const tsn_dips *s, size_t p) {
  double factor = 1;
  for (size_t k = 1; k <= SHORT_LAGS && 2 * k < p; k++) {
    factor += 2 * s->rho[k] * s->rho[k];
  }
  return factor;
}

/* The chance of such a score at p in noise. */
static double score_chance(const tsn_dips *s, size_t p, double score) {
  double square = 0, third = 0, pairs = 0, shared = 0, before = 0;
  for (size_t t = 0; t < s->n; t++) {
    square += s->e[t] * s->e[t] / (double)s->n;
    third += s->e[t] * s->e[t] * s->e[t] / (double)s->n;
  }
  for (size_t m = p; m <= s->n / 2; m += p) {
    pairs += (double)(s->n - m);
    shared += before++ * (double)(s->n - m);
  }
  double skewness = 6 * shared / pow(pairs, 1.5) +
                    third * third / (square * square * square) / sqrt(pairs);
  double skewed = fmax(skewness, skewness_least), shape = 4 / (skewed * skewed);
  double z = score / sqrt(bartlett(s, p));
  return tsn_gamma_tail(shape, shape + z * sqrt(shape));
}

/* Power of line k of the whole periods. */
static double power_at(const tsn_dips *s, size_t k) {
  tsn_complex line = s->whitening.line[k];
  return line.re * line.re + line.im * line.im;
}

/* -log of the chance that this line exceeds those beside it so much: of m lines of noise,
 * one exceeds r times the sum of the others by (1 + r)^-m. Negative: unknown. */
static double line_strength(const tsn_dips *s, size_t at, size_t width) {
  size_t last = s->whitening.spectrum.n / 2, others = 0;
  double sum = 0, own = 0;
  for (size_t k = at - width; k <= at + width && k <= last; k++) {
    bool is_own = k + 1 >= at && k <= at + 1;
    if (is_own) own = fmax(own, power_at(s, k));
    if (is_own || k <= TSN_WHITEN_LOWEST) continue;
    sum += power_at(s, k);
    others++;
  }
  return others > 1 ? (double)others * log1p(own / sum) : -1;
}

/* A period that repeats through the whole series has lines of one bin, a resonance or a
 * cycle of varying length wide ones, that do not stand out from the bins beside them:
 *
 *   |     |              |.:|:.
 *   |.....|....      |..:|||||:..
 *         c                 c
 *
 * The transform is that of c whole periods, so that the lines are at multiples of c. The
 * most unlikely line counts, or the product of all chances (Fisher), as often as there
 * are bins that could have been the line. */
static double dips_lines(tsn_dips *dips, size_t p) {
  tsn_dips *s = dips;
  tsn_spectrum *spectrum = &s->whitening.spectrum;
  size_t cycles = s->n / p, width = tsn_smaller(RING, cycles - 2); /* not to the next */
  double most = 0, sum = 0, lines = 0;
  if (width < LEAST_RING) return 0;
  tsn_spectrum_prepare(spectrum, cycles * p);
  tsn_spectrum_forward(spectrum, s->e, s->whitening.line);
  for (size_t j = 1; j <= p / 2; j++) {
    double own = line_strength(s, cycles * j, width);
    if (own < 0) continue;
    most = fmax(most, own);
    sum += own;
    lines++;
  }
  if (lines == 0) return 0;
  double one = lines * exp(-most), all = tsn_gamma_tail(lines, sum / largest_of_three);
  return fmin(1, 2 * (double)(2 * width + 1) * fmin(one, all));
}

/* Standard deviation of the length of a period, relative. If lengths vary independently
 * by v, the beat is off by sqrt(k) v after k periods, and the dip of a wave decreases as
 * exp(-2 pi^2 v^2 k). The line through the logarithms of the first dips, until one is in
 * the noise, has that slope. */
static double variation_of(const tsn_dips *s, size_t p) {
  double noise = 2 / sqrt((double)s->n), count = 0, x = 0, y = 0, xx = 0, xy = 0;
  size_t most = tsn_smaller(multiples(s, p, s->n / 2), DIPS_OF_VARIATION);
  for (size_t k = 1; k <= most; k++) {
    double dip = contrast(s, k * p, p) / weight(s, k * p);
    if (!(dip > noise)) break;
    double at = (double)k, own = log(dip);
    count++;
    x += at;
    y += own;
    xx += at * at;
    xy += at * own;
  }
  if (count < 2) return NAN;
  double slope = (count * xy - x * y) / (count * xx - x * x);
  return sqrt(fmax(0, -slope) / 2) / M_PI;
}

/* Whether the multiples of j p are significantly deeper than the others of p:
 *
 *     rho  |    .       .       |       .       .       |       p = 3 consists of parts
 *          +----p-------2p------3p------4p------5p------6p      that differ little */
static bool is_deeper(const tsn_dips *s, size_t p, size_t j) {
  size_t most = multiples(s, j * p, s->n / 2) * j;
  double deep = 0, deep_weights = 0, others = 0, other_weights = 0;
  for (size_t k = 1; k <= most; k++) {
    double dip = contrast(s, k * p, p), w = weight(s, k * p);
    if (k % j == 0) {
      deep += dip;
      deep_weights += w;
    } else {
      others += dip;
      other_weights += w;
    }
  }
  if (most < 2 * j) return false;
  deep /= deep_weights;
  others /= other_weights;
  double error = sqrt((1 / deep_weights + 1 / other_weights) / (double)s->n);
  return deep - others > deeper_errors * error && deep > deeper_ratio * others;
}

/* The multiples of parts that differ little have dips nearly as deep as those of the
 * period, but more of them. */
static size_t dips_fundamental(const tsn_dips *dips, size_t p) {
  for (size_t j = 2; j <= MOST_PARTS && j * p <= dips->n / 2; j++) {
    if (!is_deeper(dips, p, j)) continue;
    p *= j;
    j = 1;
  }
  return p;
}

/* A cycle whose length varies loses its beat: its first dip is deeper than those of its
 * multiples, which may have the higher score. */
static size_t dips_cycle(const tsn_dips *dips, size_t max_period, double *variation) {
  double most = 0;
  size_t cycle = 0;
  for (size_t p = TSN_DIPS_LEAST_PERIOD; p <= max_period; p++) {
    double dip = contrast(dips, p, p) / weight(dips, p);
    if (dip <= most) continue;
    most = dip;
    cycle = p;
  }
  *variation = cycle ? variation_of(dips, cycle) : NAN;
  return cycle;
}

/* The highest score of all p; ties go to the smallest. */
static tsn_dips_choice dips_choose(const tsn_dips *dips, size_t max_period) {
  tsn_dips_choice c = {.probability = 1, .variation = NAN};
  for (size_t p = TSN_DIPS_LEAST_PERIOD; p <= max_period; p++) {
    double dip = 0, score = score_of(dips, p, &dip);
    if (score <= c.score) continue;
    c.score = score;
    c.dip = dip;
    c.candidate = p;
  }
  if (!c.candidate) return c;
  double tests = (double)(max_period - TSN_DIPS_LEAST_PERIOD + 1);
  c.probability = fmin(1, score_chance(dips, c.candidate, c.score) * tests);
  c.variation = variation_of(dips, c.candidate);
  return c;
}

enum {
  DEFAULT_MAX_PERIOD = 16384,
  LARGEST_MAX_PERIOD = 1 << 20,
  /* Periods that differ by 1 or by less than 1/32 are distinguished by folding. */
  FOLD_SHARE = 32,
  STEPS = 3 /* between which the caller is polled */
};

static const tsanom_dpd_find_options default_options = {
    .struct_size = sizeof default_options, .significance = 0.01};

static const tsn_versioned options_type = {
    .size = sizeof(tsanom_dpd_find_options),
    .first_size = sizeof(tsanom_dpd_find_options),
    .defaults = &default_options,
};

static const tsanom_dpd_found no_period = {
    .struct_size = sizeof no_period, .probability = 1, .lines = 1, .variation = NAN};

static const tsn_versioned found_type = {
    .size = sizeof(tsanom_dpd_found),
    .first_size = sizeof(tsanom_dpd_found),
    .defaults = &no_period,
};

tsanom_status tsanom_dpd_find_options_init(tsanom_dpd_find_options *options,
                                           size_t struct_size) {
  return tsn_versioned_init(&options_type, options, struct_size);
}

void tsn_find_layout(tsn_arena *arena, size_t n, tsn_find *find) {
  find->value = tsn_arena_take(arena, n, sizeof *find->value);
  dips_layout(arena, n, &find->dips);
}

/* A power of two that brings the largest magnitude to about 1, so that no product
 * overflows and none vanishes; scaling by it is exact but for subnormal numbers. */
static double scale_of(const double *x, size_t n) {
  double largest = 0;
  for (size_t i = 0; i < n; i++) largest = fmax(largest, fabs(x[i]));
  int exponent;
  (void)frexp(largest, &exponent);
  return ldexp(1, exponent > 1000 ? -1000 : exponent < -1000 ? 1000 : -exponent);
}

/* Without their mean, whose sums would cost digits. */
static void take_values(tsn_find *s) {
  double scale = scale_of(s->x, s->n), mean = 0;
  for (size_t i = 0; i < s->n; i++) mean += s->x[i] * scale;
  mean /= (double)s->n;
  for (size_t i = 0; i < s->n; i++) s->value[i] = s->x[i] * scale - mean;
}

static bool is_constant(const tsn_find *s) {
  for (size_t i = 1; i < s->n; i++) {
    if (s->x[i] != s->x[0]) return false;
  }
  return true;
}

static size_t exact_period(tsn_find *s, size_t period) {
  size_t margin = 1 + period / FOLD_SHARE, least = TSN_DIPS_LEAST_PERIOD;
  size_t low = period > margin + least ? period - margin : least;
  return dpd_fold(s->value, s->n, low, period + margin, s->dips.sum, s->dips.rho);
}

tsanom_status tsn_find_run(tsn_find *find) {
  tsn_find *s = find;
  s->found = no_period;
  s->found.max_period = s->max_period;
  if (is_constant(s)) {
    s->found.period = s->found.candidate = 1;
    s->found.probability = s->found.lines = s->found.variation = 0;
    return TSANOM_OK;
  }
  if (tsn_exec_stop(s->exec, 0, STEPS)) return TSANOM_STOPPED;
  s->dips.whitening.spectrum.kernels = tsn_dpd_spectrum_kernels_at(s->exec->isa);
  take_values(s);
  if (!dips_correlate(&s->dips, s->n, s->value)) return TSANOM_OK;
  if (tsn_exec_stop(s->exec, 1, STEPS)) return TSANOM_STOPPED;
  tsn_dips_choice c = dips_choose(&s->dips, s->max_period);
  s->found.candidate = c.candidate;
  s->found.dip = c.dip;
  s->found.score = c.score;
  s->found.probability = c.probability;
  s->found.variation = c.variation;
  if (!(c.probability <= s->significance)) return TSANOM_OK;
  if (tsn_exec_stop(s->exec, 2, STEPS)) return TSANOM_STOPPED;
  double variation;
  size_t cycle = dips_cycle(&s->dips, s->max_period, &variation);
  size_t period = exact_period(s, dips_fundamental(&s->dips, c.candidate));
  s->found.lines = dips_lines(&s->dips, period);
  if (s->found.lines > s->significance) {
    s->found.candidate = cycle;
    s->found.variation = variation;
  } else if (period <= s->max_period) {
    s->found.period = period;
  }
  return TSANOM_OK;
}

typedef struct {
  tsn_find find;
  tsanom_exec exec;
  tsanom_dpd_found *found;
} call;

static void layout(tsn_arena *arena, void *context) {
  call *c = context;
  tsn_find_layout(arena, c->find.n, &c->find);
}

static tsanom_status run(void *context) {
  call *c = context;
  c->find.exec = &c->exec;
  return tsn_find_run(&c->find);
}

static tsanom_status read_call(call *c, size_t n, const tsanom_dpd_find_options *options,
                               const tsanom_exec *exec) {
  tsanom_dpd_find_options own;
  *c = (call){.find.n = n};
  tsanom_status status = tsn_exec_read(&c->exec, exec);
  if (status < 0) return status;
  status = tsn_struct_read(&c->exec, &options_type, &own, options, "options");
  if (status < 0) return status;
  if (!(isgreater(own.significance, 0) && islessequal(own.significance, 0.5))) {
    return tsn_reject_value(&c->exec, TSANOM_E_OPTION, "options.significance",
                            TSANOM_NONE, TSANOM_NONE, own.significance,
                            "more than 0 and at most 0.5 is expected");
  }
  if ((status = tsn_require_size(&c->exec, TSANOM_E_OPTION, "options.max_period",
                                 own.max_period, 0, LARGEST_MAX_PERIOD)) < 0 ||
      (status = tsn_require_size(&c->exec, TSANOM_E_COUNT, "n", n, TSN_FIND_LEAST,
                                 SIZE_MAX)) < 0 ||
      (status = tsn_require_size(&c->exec, TSANOM_E_OVERFLOW, "n", n, TSN_FIND_LEAST,
                                 PTRDIFF_MAX / sizeof *c->find.x)) < 0) {
    return status;
  }
  c->find.significance = own.significance;
  c->find.max_period = tsn_smaller(own.max_period ? own.max_period : DEFAULT_MAX_PERIOD,
                                   n / TSN_DIPS_PERIODS_NEEDED);
  return TSANOM_OK;
}

static tsanom_status check(void *context) {
  const call *c = context;
  const double *x = c->find.x;
  if (!x) return tsn_reject_null(&c->exec, "samples", c->find.n);
  tsanom_status status = tsn_struct_check(&c->exec, &found_type, c->found, "found");
  if (status < 0) return status;
  if (tsn_all_finite(x, c->find.n)) return TSANOM_OK;
  size_t i = tsn_first_nonfinite(x, c->find.n);
  return tsn_reject_value(&c->exec, TSANOM_E_NONFINITE, "samples", i, TSANOM_NONE, x[i],
                          TSN_FINITE);
}

tsanom_status tsanom_dpd_find(const double *samples, size_t n,
                              const tsanom_dpd_find_options *options,
                              const tsanom_exec *exec, tsanom_dpd_found *found) {
  call c;
  tsanom_status status = read_call(&c, n, options, exec);
  if (status < 0) return status;
  c.find.x = samples;
  c.found = found;
  status = tsn_workspace_run(&c.exec, layout, check, run, &c);
  if (status == TSANOM_OK) tsn_versioned_write(&found_type, found, &c.find.found);
  return status;
}
