/* SPDX-License-Identifier: BSD-3-Clause */
/* The period of a whole series in noise.
 *
 * The series is whitened, e[t] = x[t] - phi x[t-1] with phi its lag-1 autocorrelation,
 * and rho(m) = sum_t e[t] e[t-m] / sum_t e[t]^2 is computed for all delays m <= L. It is
 * the dip of the mean squared difference: d(m) / (2 n var e) = 1 - rho(m), up to the
 * ends.
 *
 *   rho  |        .           .           .
 *        |       / \         / \         / \          contrast c(k) = rho(kp) minus the
 *        |--.---'---`---.---'---`---.---'---`---.--   mean of rho over one period around
 * kp |   `.'         `.'         `.'         `    (so that slopes cancel)
 *        +-------p----------2p----------3p-------> m
 *
 * In white noise rho(m) is nearly normal with variance (n - m) / n^2, and a contrast has
 * (1 - 1/p) of that. So
 *
 *   score(p) = sum_k c(k) / sqrt((1 - 1/p) sum_k (n - kp) / n^2)
 *
 * is standard normal for a p chosen beforehand. Multiples of a period have fewer dips of
 * the same depth, divisors and neighbors have shallower ones: the fundamental has the
 * highest score. For a p that is chosen as the best of many, the chance is multiplied by
 * their number (Bonferroni).
 *
 * Order of computation: whiten() O(n), correlate() O(n L) with L = min(n, 4 max_period),
 * in chunks of delays by several threads, choose() O(L log L) from prefix sums of rho.
 * The products dominate: 10^6 samples with the default limit take 5.4 s on one core of an
 * AMD EPYC (Zen 3, AVX2).
 *
 * Whitening by one coefficient leaves other kinds of correlation, and sparse pulses do
 * not have a normal rho. Three conditions reject them: the c(k) must agree with each
 * other (Student's statistic over k), also for the far two thirds of the multiples, and
 * each half of the series must show the period. */
#include <math.h>
#include <tsanom/dpd.h>

#include "core/arena.h"
#include "core/check.h"
#include "core/exec.h"
#include "core/fault.h"
#include "core/parallel.h"
#include "core/size.h"
#include "core/versioned.h"
#include "dpd/dpd_products_kernel.h"

enum {
  LEAST_SAMPLES = 8,
  LEAST_PERIOD = 2,
  PERIODS_NEEDED = 4, /* of a period, in the series */
  DEFAULT_MAX_PERIOD = 16384,
  LARGEST_MAX_PERIOD = 1 << 20,
  LEAST_MULTIPLES = 3,   /* for an estimate of their scatter */
  MULTIPLES_OF_HALF = 64 /* tested in each half */
};

/* Chosen on random series (bench/tables/periods_in_noise): with 4, random walks, pulses
 * and autoregressive noise pass in fewer than 1 % of the cases; true periods exceed it by
 * far. */
static const double least_consistency = 4;
/* In each half, where the period is given: one test, at 2.5 standard errors. */
static const double least_half_score = 2.5;

static const tsanom_dpd_find_options default_options = {
    .struct_size = sizeof default_options, .significance = 0.01};

static const tsn_versioned options_type = {
    .size = sizeof(tsanom_dpd_find_options),
    .first_size = sizeof(tsanom_dpd_find_options),
    .defaults = &default_options,
};

static const tsanom_dpd_found no_period = {.struct_size = sizeof no_period,
                                           .probability = 1};

static const tsn_versioned found_type = {
    .size = sizeof(tsanom_dpd_found),
    .first_size = sizeof(tsanom_dpd_found),
    .defaults = &no_period,
};

size_t tsanom_dpd_find_options_size(void) {
  return sizeof(tsanom_dpd_find_options);
}

tsanom_status tsanom_dpd_find_options_init(tsanom_dpd_find_options *options,
                                           size_t struct_size) {
  return tsn_versioned_init(&options_type, options, struct_size);
}

size_t tsanom_dpd_found_size(void) {
  return sizeof(tsanom_dpd_found);
}

tsanom_status tsanom_dpd_found_init(tsanom_dpd_found *found, size_t struct_size) {
  return tsn_versioned_init(&found_type, found, struct_size);
}

/* A call: its inputs, its buffers and its result. */
typedef struct {
  const double *x;
  size_t n;
  tsanom_exec exec;
  double significance;
  size_t max_period, delays; /* longest tested; delays of rho, from 1 */
  size_t before;             /* zeros ahead of the whitened series */
  double *padded;            /* zeros, the whitened series, zeros */
  double *e;                 /* the whitened series */
  double *rho;               /* [0, delays], then up to a full chunk */
  double *sum;               /* sum[m] = rho(0) + ... + rho(m-1) */
  double norm;               /* sum of e^2 */
  tsanom_dpd_found found;
} search;

static size_t chunks_of(size_t delays) {
  return delays / TSN_PRODUCTS_DELAYS + 1;
}

/* The kernel reads whole chunks of delays and blocks of samples: zeros before and after
 * the series stand for samples that do not exist, and add nothing to a product. */
static void layout(tsn_arena *arena, void *context) {
  search *s = context;
  size_t chunk_delays = chunks_of(s->delays) * TSN_PRODUCTS_DELAYS;
  s->before = chunk_delays + TSN_PRODUCTS_DELAYS;
  size_t length;
  if (__builtin_add_overflow(s->n, s->before + TSN_PRODUCTS_BLOCK, &length)) {
    arena->overflow = true;
    return;
  }
  s->padded = tsn_arena_take(arena, length, sizeof *s->padded);
  s->rho = tsn_arena_take(arena, chunk_delays + 1, sizeof *s->rho);
  s->sum = tsn_arena_take(arena, chunk_delays + 2, sizeof *s->sum);
}

static tsanom_status read_call(search *s, size_t n,
                               const tsanom_dpd_find_options *options,
                               const tsanom_exec *exec) {
  tsanom_dpd_find_options own;
  *s = (search){.n = n};
  tsanom_status status = tsn_exec_read(&s->exec, exec);
  if (status < 0) return status;
  status = tsn_versioned_read(&options_type, &own, options);
  if (status < 0) return tsn_reject(&s->exec, status, "options.struct_size");
  if (!(own.significance > 0 && own.significance <= 0.5)) {
    return tsn_reject_text(&s->exec, TSANOM_E_OPTION, "options.significance", TSANOM_NONE,
                           "%g; expected above 0 and at most 0.5", own.significance);
  }
  if (own.max_period > LARGEST_MAX_PERIOD) {
    return tsn_reject_text(&s->exec, TSANOM_E_OPTION, "options.max_period", TSANOM_NONE,
                           "%zu; expected at most %d", own.max_period,
                           LARGEST_MAX_PERIOD);
  }
  if (n < LEAST_SAMPLES) {
    return tsn_reject_text(&s->exec, TSANOM_E_COUNT, "n", TSANOM_NONE,
                           "%zu samples; expected at least %d", n, LEAST_SAMPLES);
  }
  if (!tsn_array_fits(n, sizeof *s->x)) {
    return tsn_reject(&s->exec, TSANOM_E_OVERFLOW, "n");
  }
  s->significance = own.significance;
  s->max_period = own.max_period ? own.max_period : DEFAULT_MAX_PERIOD;
  s->max_period = tsn_smaller(s->max_period, n / PERIODS_NEEDED);
  s->delays = tsn_smaller(n - 2, PERIODS_NEEDED * s->max_period);
  return TSANOM_OK;
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

/* e[t] = x[t] - phi x[t-1] without its mean; phi, the lag-1 autocorrelation, is limited
 * to [0, 1]: 1 turns a random walk into its steps. n - 1 samples remain. Returns false if
 * x is constant. */
static bool whiten(search *s) {
  size_t n = s->n;
  double scale = scale_of(s->x, n), mean = 0, square = 0, product = 0;
  for (size_t i = 0; i < n; i++) mean += s->x[i] * scale;
  mean /= (double)n;
  bool constant = true;
  for (size_t i = 0; i < n; i++) {
    double own = s->x[i] * scale - mean;
    square += own * own;
    if (i > 0) product += own * (s->x[i - 1] * scale - mean);
    constant &= s->x[i] == s->x[0];
  }
  if (constant || !(square > 0)) return false;
  double phi = fmin(fmax(product / square, 0), 1);
  double *e = s->e = s->padded + s->before, e_mean = 0;
  s->n = n - 1;
  for (size_t t = 0; t < s->n; t++) {
    e[t] = (s->x[t + 1] * scale - mean) - phi * (s->x[t] * scale - mean);
    e_mean += e[t];
  }
  e_mean /= (double)s->n;
  for (size_t t = 0; t < s->n; t++) {
    e[t] -= e_mean;
    s->norm += e[t] * e[t];
  }
  for (size_t i = 0; i < s->before; i++) s->padded[i] = 0;
  for (size_t t = s->n; t < s->n + TSN_PRODUCTS_BLOCK; t++) e[t] = 0;
  return true;
}

static void compute_chunks(void *context, size_t begin, size_t end, int thread) {
  const search *s = context;
  const tsn_dpd_products_kernels *kernels = tsn_dpd_products_kernels_at(s->exec.isa);
  (void)thread;
  for (size_t c = begin; c < end; c++) {
    size_t first = 1 + c * TSN_PRODUCTS_DELAYS;
    kernels->products(s->e, s->n, first, TSN_PRODUCTS_DELAYS, s->rho + first);
  }
}

/* rho(m) and its prefix sums, from which contrast() takes a mean over any p delays in
 * O(1). */
static tsanom_status correlate(search *s) {
  tsanom_status status =
      tsn_parallel_for(&s->exec, chunks_of(s->delays), 1, compute_chunks, s, NULL);
  if (status != TSANOM_OK) return status;
  s->rho[0] = 1;
  s->sum[0] = 0;
  s->sum[1] = 1;
  for (size_t m = 1; m <= s->delays; m++) {
    s->rho[m] /= s->norm;
    s->sum[m + 1] = s->sum[m] + s->rho[m];
  }
  return TSANOM_OK;
}

/* rho(m) minus its mean over the p delays around m; an even p has half weights at the
 * ends. m + p/2 <= delays. */
static double contrast(const search *s, size_t m, size_t p) {
  size_t half = p / 2;
  double around = s->sum[m + half + 1] - s->sum[m - half];
  if (p % 2 == 0) around -= (s->rho[m - half] + s->rho[m + half]) / 2;
  return s->rho[m] - around / (double)p;
}

/* Number of multiples of p whose contrast is known, up to delay `most`. */
static size_t multiples(const search *s, size_t p, size_t most) {
  size_t last = tsn_smaller(most, s->delays - tsn_smaller(s->delays, p / 2));
  return last / p;
}

/* Share of the n samples that have one m before them. */
static double weight(const search *s, size_t m) {
  return (double)(s->n - m) / (double)s->n;
}

/* Multiples up to half of the series: those beyond rest on less than half of its samples.
 */
static double score_of(const search *s, size_t p, double *dip) {
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

/* Student's statistic of the dips from multiple `first` on: their weighted mean in units
 * of its standard error, estimated from their own scatter. */
static double consistency_of(const search *s, size_t p, size_t first) {
  size_t count = multiples(s, p, s->n - 2);
  double sum = 0, weights = 0, squares = 0;
  if (count + 1 < first + LEAST_MULTIPLES) return INFINITY;
  for (size_t k = first; k <= count; k++) {
    sum += contrast(s, k * p, p);
    weights += weight(s, k * p);
  }
  double mean = sum / weights;
  for (size_t k = first; k <= count; k++) {
    double w = weight(s, k * p), off = contrast(s, k * p, p) / w - mean;
    squares += w * off * off;
  }
  double variance = squares / (double)(count - first);
  return mean * sqrt(weights) / sqrt(fmax(variance, 1e-30));
}

/* Whether a part of the whitened series shows the period by itself; what happened in one
 * part only does not. Only products at multiples of p are needed, O(n MULTIPLES_OF_HALF).
 */
static bool part_shows(const double *e, size_t n, size_t p) {
  double mean = 0, norm = 0, sum = 0, variance = 0;
  for (size_t t = 0; t < n; t++) mean += e[t];
  mean /= (double)n;
  for (size_t t = 0; t < n; t++) norm += (e[t] - mean) * (e[t] - mean);
  size_t most = tsn_smaller(n / 2, MULTIPLES_OF_HALF * p);
  for (size_t m = p; m <= most; m += p) {
    double product = 0;
    for (size_t t = m; t < n; t++) product += (e[t] - mean) * (e[t - m] - mean);
    sum += product;
    variance += (double)(n - m) / ((double)n * (double)n);
  }
  return sum >= least_half_score * norm * sqrt(variance) && variance > 0;
}

static bool is_period(const search *s) {
  const tsanom_dpd_found *f = &s->found;
  size_t p = f->candidate, half = s->n / 2;
  size_t far = 1 + multiples(s, p, s->n - 2) / 3;
  return f->probability <= s->significance && f->consistency >= least_consistency &&
         consistency_of(s, p, far) >= least_consistency && part_shows(s->e, half, p) &&
         part_shows(s->e + half, half, p);
}

/* The highest score of all p; ties go to the smallest. Bonferroni: `tail` is the chance
 * of such a score at one p, of which max_period - 1 were tested. */
static void choose(search *s) {
  tsanom_dpd_found *f = &s->found;
  for (size_t p = LEAST_PERIOD; p <= s->max_period; p++) {
    double dip = 0, score = score_of(s, p, &dip);
    if (score <= f->score) continue;
    f->score = score;
    f->dip = dip;
    f->candidate = p;
  }
  if (!f->candidate) return;
  double tail = erfc(f->score * M_SQRT1_2) / 2;
  f->probability = fmin(1, tail * (double)(s->max_period - 1));
  f->consistency = consistency_of(s, f->candidate, 1);
  if (is_period(s)) f->period = f->candidate;
}

static tsanom_status search_period(void *context) {
  search *s = context;
  s->found = no_period;
  s->found.max_period = s->max_period;
  if (!whiten(s)) {
    s->found.period = s->found.candidate = 1;
    s->found.probability = 0;
    return TSANOM_OK;
  }
  if (!(s->norm > 0)) return TSANOM_OK;
  tsanom_status status = correlate(s);
  if (status == TSANOM_OK) choose(s);
  return status;
}

tsanom_status tsanom_dpd_find_workspace(size_t n, const tsanom_dpd_find_options *options,
                                        const tsanom_exec *exec, size_t *bytes) {
  search s;
  tsanom_status status = read_call(&s, n, options, exec);
  return status < 0 ? status : tsn_workspace_query(&s.exec, layout, &s, bytes);
}

tsanom_status tsanom_dpd_find(const double *samples, size_t n,
                              const tsanom_dpd_find_options *options,
                              const tsanom_exec *exec, tsanom_dpd_found *found) {
  search s;
  tsanom_status status = read_call(&s, n, options, exec);
  if (status < 0) return status;
  if (!samples) return tsn_reject(&s.exec, TSANOM_E_NULL, "samples");
  status = tsn_versioned_check(&found_type, found);
  if (status < 0) return tsn_reject(&s.exec, status, "found");
  if (!tsn_all_finite(samples, n)) {
    return tsn_reject_at(&s.exec, TSANOM_E_NONFINITE, "samples",
                         tsn_first_nonfinite(samples, n));
  }
  s.x = samples;
  status = tsn_workspace_run(&s.exec, layout, search_period, &s);
  if (status == TSANOM_OK) tsn_versioned_write(&found_type, found, &s.found);
  return status;
}
