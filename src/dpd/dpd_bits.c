/* SPDX-License-Identifier: BSD-3-Clause */
/* Two stories for the numbers c of events b between two events a:
 *
 *   (b b b b a) (b b b b a) (b b b b a)       a loop around b, four times each
 *   b b (a) b (a) b b b b b b (a) b b (a)     a part that is taken by chance
 *
 * Chance leaves geometric numbers: with m of them and p = m / sum c,
 *
 *   L_geo = -m log2 p - sum (c - 1) log2 (1 - p).
 *
 * The loop is the story if one of four codes is shorter by two bits or more, one for the
 * choice among them each: the logistic law of c, or of log c, each with log2(m) / 2 bits for
 * its second parameter; the frequencies of the numbers (constant, few different ones), or of
 * their changes (growing trip counts), in the adaptive code
 *
 *   P(x | n numbers before, n_x of them x) = (n_x + 1/2) / (n + size / 2),
 *
 * whose length does not depend on the order of the numbers.
 *
 * Source of that code: R. Krichevsky and V. Trofimov, IEEE Trans. Inf. Theory 27 (1981)
 * 199-207. */
#include "dpd/dpd_bits.h"

#include <string.h>

#include "core/logarithm.h"

/* Numbers below EXACT have a bin each; above, HALF bins between two powers of two. */
enum { EXACT = 4096, HALF = EXACT / 2, EXACT_BITS = 12 };

enum { NEAR = 64 }; /* numbers that differ by less than this part are as good as equal */

static const double choice_bits = 2;   /* to say which of four codes */
static const double least_width = .05; /* of a logistic law, in mean intervals */
static const double least_chance = 1e-9;
static const double ln2 = 0.69314718055994530942;
static const double pi = 3.14159265358979323846;

/* e^x for x <= 0: 2^k times the series of what remains. */
static double exponential(double x) {
  if (x < -700) return 0;
  int k = (int)(x / ln2 - .5);
  double rest = x - k * ln2, sum = 1;
  for (int i = 14; i > 0; i--) sum = 1 + sum * rest / i;
  uint64_t bits = (uint64_t)(k + 1023) << 52;
  double power;
  memcpy(&power, &bits, sizeof power);
  return sum * power;
}

double tsn_bits_choices(uint64_t n, uint64_t k) {
  return tsn_log2_gamma((double)n + 1) + tsn_log2(pi) - tsn_log2_gamma((double)k + .5) -
         tsn_log2_gamma((double)(n - k) + .5);
}

static uint32_t bin_of(uint32_t number) {
  if (number < EXACT) return number;
  uint32_t shift = 32 - EXACT_BITS - (uint32_t)__builtin_clz(number);
  return EXACT + (shift - 1) * HALF + (number >> shift) - HALF;
}

static uint32_t number_of(uint32_t bin) {
  if (bin < EXACT) return bin;
  uint32_t shift = (bin - EXACT) / HALF + 1;
  return ((bin - EXACT) % HALF + HALF) << shift;
}

static void lay_out(tsn_arena *arena, size_t bins, tsn_histogram *h) {
  h->count = tsn_arena_take(arena, bins, sizeof *h->count);
  h->used = tsn_arena_take(arena, bins, sizeof *h->used);
}

static size_t bins_for(size_t most) {
  return (size_t)bin_of((uint32_t)most) + 1;
}

void tsn_trips_layout(tsn_arena *arena, size_t most, tsn_trips *trips) {
  lay_out(arena, bins_for(most), &trips->counts);
  lay_out(arena, bins_for(most), &trips->rises);
  lay_out(arena, bins_for(most), &trips->falls);
}

static void clear(tsn_histogram *h, size_t bins) {
  memset(h->count, 0, bins * sizeof *h->count);
  h->distinct = 0;
  h->total = 0;
}

void tsn_trips_clear(tsn_trips *trips, size_t most) {
  clear(&trips->counts, bins_for(most));
  clear(&trips->rises, bins_for(most));
  clear(&trips->falls, bins_for(most));
  trips->zeros = 0;
  trips->first = trips->last = 0;
}

static void empty(tsn_histogram *h) {
  for (size_t i = 0; i < h->distinct; i++) h->count[h->used[i]] = 0;
  h->distinct = 0;
  h->total = 0;
}

void tsn_trips_start(tsn_trips *trips) {
  empty(&trips->counts);
  empty(&trips->rises);
  empty(&trips->falls);
  trips->zeros = 0;
  trips->first = trips->last = 0;
}

static void add(tsn_histogram *h, uint32_t number) {
  uint32_t bin = bin_of(number);
  if (!h->count[bin]++) h->used[h->distinct++] = bin;
  h->total++;
}

void tsn_trips_add(tsn_trips *trips, uint32_t count) {
  if (!count) {
    trips->zeros++;
    return;
  }
  add(&trips->counts, count);
  if (!trips->first) trips->first = trips->last = count;
  if (count >= trips->last) {
    add(&trips->rises, count - trips->last);
  } else {
    add(&trips->falls, trips->last - count);
  }
  trips->last = count;
}

uint32_t tsn_trips_median(const tsn_trips *trips) {
  const tsn_histogram *h = &trips->counts;
  uint64_t seen = trips->zeros, total = h->total + trips->zeros;
  uint32_t bin = 0;
  while (2 * seen < total) seen += h->count[++bin];
  return number_of(bin);
}

double tsn_trips_usual(const tsn_trips *trips) {
  const tsn_histogram *h = &trips->counts;
  uint32_t usual = tsn_trips_median(trips);
  uint64_t near = usual ? 0 : trips->zeros, total = h->total + trips->zeros;
  for (size_t i = 0; i < h->distinct; i++) {
    uint32_t number = number_of(h->used[i]);
    uint32_t apart = number > usual ? number - usual : usual - number;
    if (apart <= usual / NEAR) near += h->count[h->used[i]];
  }
  return total ? (double)near / (double)total : 0;
}

/* The bits of the numbers x that occurred n_x times each, but for those of their range. */
static double bits_of_frequencies(const tsn_histogram *h) {
  double bits = 0;
  for (size_t i = 0; i < h->distinct; i++) {
    bits -= tsn_log2_gamma(h->count[h->used[i]] + .5) - tsn_log2(pi) / 2;
  }
  return bits;
}

/* The bits of m numbers from `least` to `most`, with those of the range. */
static double bits_of_range(double m, double least, double most) {
  double size = most - least + 1;
  return tsn_log2_gamma(m + size / 2) - tsn_log2_gamma(size / 2) + 2 * tsn_log2(size) +
         2 * tsn_log2(1 + (least < 0 ? -least : least));
}

static void range_of(const tsn_histogram *h, double sign, double *least, double *most) {
  for (size_t i = 0; i < h->distinct; i++) {
    double number = sign * number_of(h->used[i]);
    if (number < *least) *least = number;
    if (number > *most) *most = number;
  }
}

/* The two ends of the interval that a number stands for, in the scale of the law. */
static void interval(uint32_t number, int is_logarithm, double *low, double *high) {
  *low = number - .5;
  *high = number + .5;
  if (!is_logarithm) return;
  *low = ln2 * tsn_log2(*low);
  *high = ln2 * tsn_log2(*high);
}

/* P(X < x) of the logistic law of mean 0 and width 1. */
static double logistic(double x) {
  return x < 0 ? exponential(x) / (1 + exponential(x)) : 1 / (1 + exponential(-x));
}

/* From half of the exponent, by Newton's method. */
static double square_root(double x) {
  uint64_t bits;
  if (!(x > 0)) return 0;
  memcpy(&bits, &x, sizeof bits);
  bits = (bits >> 1) + (UINT64_C(0x1ff) << 52) + (UINT64_C(1) << 51);
  double root;
  memcpy(&root, &bits, sizeof root);
  for (int i = 0; i < 5; i++) root = (root + x / root) / 2;
  return root;
}

/* Bits of m numbers by a logistic law fitted to them by its moments. */
static double bits_of_law(const tsn_histogram *h, double m, int is_logarithm) {
  double sum = 0, squares = 0, widths = 0, low, high, bits = 0;
  for (size_t i = 0; i < h->distinct; i++) {
    uint32_t number = number_of(h->used[i]), count = h->count[h->used[i]];
    interval(number, is_logarithm, &low, &high);
    sum += count * (low + high) / 2;
    widths += count * (high - low);
  }
  double mean = sum / m;
  for (size_t i = 0; i < h->distinct; i++) {
    uint32_t number = number_of(h->used[i]), count = h->count[h->used[i]];
    interval(number, is_logarithm, &low, &high);
    double apart = (low + high) / 2 - mean;
    squares += count * apart * apart;
  }
  double width = square_root(3 * squares / m) / pi, least = least_width * widths / m;
  if (width < least) width = least;
  for (size_t i = 0; i < h->distinct; i++) {
    uint32_t number = number_of(h->used[i]), count = h->count[h->used[i]];
    interval(number, is_logarithm, &low, &high);
    double chance = logistic((high - mean) / width) - logistic((low - mean) / width);
    bits -= count * tsn_log2(chance > least_chance ? chance : least_chance);
  }
  return bits + tsn_log2(m) / 2 + 1;
}

static double smaller(double a, double b) {
  return a < b ? a : b;
}

double tsn_trips_regularity(const tsn_trips *trips) {
  const tsn_histogram *h = &trips->counts;
  double m = (double)h->total, sum = 0, least = trips->first, most = trips->first;
  for (size_t i = 0; i < h->distinct; i++) {
    sum += (double)h->count[h->used[i]] * number_of(h->used[i]);
  }
  if (sum <= m) return 0;
  double p = m / sum;
  double chance = -m * tsn_log2(p) - (sum - m) * tsn_log2(1 - p);
  range_of(h, 1, &least, &most);
  double counts = bits_of_range(m, least, most) + bits_of_frequencies(h);
  double down = 0, up = 0;
  range_of(&trips->rises, 1, &down, &up);
  range_of(&trips->falls, -1, &down, &up);
  double changes = bits_of_range(m, down, up) + bits_of_frequencies(&trips->rises) +
                   bits_of_frequencies(&trips->falls) + 2 * tsn_log2(trips->first);
  double loop = smaller(smaller(bits_of_law(h, m, 0), bits_of_law(h, m, 1)),
                        smaller(counts, changes));
  return chance - loop - choice_bits;
}
