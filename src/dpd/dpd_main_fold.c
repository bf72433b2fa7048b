/* SPDX-License-Identifier: BSD-3-Clause */
/* Iterations that only the times tell. A program that exchanges with several neighbors by one
 * function, or on each level of a multigrid cycle, has one kind of event, which does not say
 * where an iteration begins. But its pauses repeat:
 *
 *   |a a a a a a|                      |a a a a a a|                      |a a a a a a|
 *
 * Equation 1 of the dpd-selfanalyzer paper for y_i, the logarithm of the time from the i-th
 * begin to the next: d(m) = mean |y_i - y_(i-m)|. The period is the smallest p whose d(p) is
 * near the least one, if that is far below the mean of all d(m).
 *
 * A period alone is no iteration: each tenth step of a simulation may write a file. The parts
 * must take next to nothing: at least half of the p places in a period take less than an eighth
 * of the longest one, by lower quartiles, and all these take a sixth of the time at most.
 *
 * An iteration of several such groups, as of positions and then of forces, may differ from one of
 * a single group only in the long pauses. There are m groups if d(mp) is far below d(p), of all
 * pauses or of the long ones alone. */
#include "core/logarithm.h"
#include "core/size.h"
#include "core/sort.h"
#include "dpd/dpd_main.h"
#include "dpd/dpd_slide_kernel.h"

/* A period is at least 3: of short iterations, a busy processor makes each second one wait. */
enum { SHORTEST = 3, LONGEST = 256, LEAST_PERIODS = 10 /* that must be there */ };
enum { GROUPS = 3 }; /* of exchanges in an iteration, at most */

static const double near_least = .15, of_mean = .75; /* of the mean of all d(m) */
/* Of the least d(m) of fewer groups, and of what it differs by by chance. */
static const double of_fewer = .7, chance = 3;
static const double shorter = 8; /* times that a part is shorter */
static const double most_parts = 1 / 6.;
static const double instant = 1 / 16.; /* of the mean time: shorter is as short */

void tsn_main_fold_layout(tsn_arena *arena, tsn_main_search *s) {
  s->pause = tsn_arena_take(arena, TSN_MAIN_PAUSES, sizeof *s->pause);
  s->distance = tsn_arena_take(arena, LONGEST + 1, sizeof *s->distance);
  s->sorted = tsn_arena_take(arena, TSN_MAIN_PAUSES, sizeof *s->sorted);
  s->place = tsn_arena_take(arena, LONGEST, sizeof *s->place);
}

static double pause_at(const tsn_main_search *s, const uint32_t *begin, size_t i) {
  return tsn_main_time(s, begin[i + 1]) - tsn_main_time(s, begin[i]);
}

/* Write the logarithms of the first n times from one begin to the next. */
static void take_pauses(tsn_main_search *s, const uint32_t *begin, size_t n) {
  double all = tsn_main_time(s, begin[n]) - tsn_main_time(s, begin[0]);
  double least = instant * all / (double)n;
  for (size_t i = 0; i < n; i++) {
    double pause = pause_at(s, begin, i);
    s->pause[i] = tsn_log2(pause > least ? pause : least);
  }
}

/* The lower quartile of each p-th time from number k on: if others wait for a processor, up to
 * three quarters of the short ones are long. */
static double quartile_at(tsn_main_search *s, const uint32_t *begin, size_t n, size_t p,
                          size_t k) {
  size_t count = 0;
  for (size_t i = k; i < n; i += p) s->sorted[count++] = pause_at(s, begin, i);
  tsn_select(s->sorted, count, count / 4);
  return s->sorted[count / 4];
}

/* Whether at least half of the places of a period are parts. *phase: behind the longest. */
static bool has_parts(tsn_main_search *s, const uint32_t *begin, size_t n, size_t p,
                      size_t *phase) {
  size_t longest = 0, parts = 0;
  double time = 0, all = 0;
  for (size_t k = 0; k < p; k++) {
    s->place[k] = quartile_at(s, begin, n, p, k);
    if (s->place[k] > s->place[longest]) longest = k;
  }
  for (size_t k = 0; k < p; k++) {
    bool is_part = shorter * s->place[k] < s->place[longest];
    parts += is_part;
    all += s->place[k];
    time += is_part ? s->place[k] : 0;
  }
  if (2 * parts < p || time > most_parts * all) return false;
  *phase = longest + 1 < p ? longest + 1 : 0;
  return true;
}

/* The mean distance of the n values to those m before. */
static double distance(const tsn_main_search *s, const double *value, size_t n,
                       size_t m) {
  const tsn_dpd_slide_kernels *kernels = tsn_dpd_slide_kernels_at(s->exec.isa);
  return kernels->distance_f64(value + m, value, n - m) / (double)(n - m);
}

/* Whether a distance d(m) is far below that of fewer groups: by .3 of it, and by more than chance, which
 * is 1 / sqrt(count) of it. */
static bool is_far_below(double d, double fewer, size_t count) {
  double less = fewer - d;
  return less > (1 - of_fewer) * fewer &&
         less * less * (double)count > chance * chance * fewer * fewer;
}

/* How many groups of p begins an iteration has, by all pauses, or by the long ones alone: each p-th
 * from number k on. */
static size_t count_groups(tsn_main_search *s, size_t n, size_t p, size_t k,
                           size_t longest) {
  size_t count = 0, groups = 1;
  double alone[GROUPS + 1], *all = s->distance;
  for (size_t i = k; i < n; i += p) s->sorted[count++] = s->pause[i];
  alone[1] = distance(s, s->sorted, count, 1);
  for (size_t m = 2; m <= GROUPS && m * p <= longest; m++) {
    alone[m] = distance(s, s->sorted, count, m);
    bool is_less = is_far_below(alone[m], alone[groups], count) ||
                   is_far_below(all[m * p], all[groups * p], count);
    if (is_less) groups = m;
  }
  return groups;
}

/* Whether places of any period may be parts: the longest place has at least 10 times, 8 of which
 * are no shorter than its quartile; the quartiles of the parts leave a tenth of all below. */
static bool may_have_parts(tsn_main_search *s, const uint32_t *begin, size_t n) {
  for (size_t i = 0; i < n; i++) s->sorted[i] = pause_at(s, begin, i);
  tsn_select(s->sorted, n, n / 10);
  double part = s->sorted[n / 10];
  tsn_select(s->sorted, n, n - 8);
  return shorter * part < s->sorted[n - 8];
}

size_t tsn_main_fold(tsn_main_search *s, const uint32_t *begin, size_t count,
                     size_t *phase) {
  double sum = 0, least = 0, *d = s->distance;
  if (!s->time || count <= SHORTEST * LEAST_PERIODS ||
      tsn_main_time(s, begin[count - 1]) <= tsn_main_time(s, begin[0])) {
    return 1;
  }
  size_t n = tsn_smaller(count - 1, TSN_MAIN_PAUSES);
  size_t longest = tsn_smaller(n / LEAST_PERIODS, LONGEST);
  if (!may_have_parts(s, begin, n)) return 1;
  take_pauses(s, begin, n);
  for (size_t m = 1; m <= longest; m++) {
    d[m] = distance(s, s->pause, n, m);
    sum += d[m];
    least = m == 1 || d[m] < least ? d[m] : least;
  }
  double mean = sum / (double)longest, most = least + near_least * mean;
  if (least >= of_mean * mean) return 1;
  size_t p = 1;
  while (d[p] > most) p++;
  if (p < SHORTEST || !has_parts(s, begin, n, p, phase)) return 1;
  size_t groups = count_groups(s, n, p, (*phase + p - 1) % p, longest), all = p * groups;
  /* Two of three groups may have been taken for one. */
  if (groups == GROUPS && p % 2 == 0 && of_fewer * d[all / 2] <= d[all]) all /= 2;
  return all == p || has_parts(s, begin, n, all, phase) ? all : p;
}
