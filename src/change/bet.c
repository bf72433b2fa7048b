/* SPDX-License-Identifier: BSD-3-Clause */
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
#include <math.h>

#include "change/change.h"
#include "change/compare.h"

/* Small bets win on small differences, large ones quickly. */
enum { PLAYERS = 5 };
static const double bets[PLAYERS] = {0.25, 0.5, 1, 2, 4};

/* Capitals beyond this decide at every level. */
#define CAPITAL_MOST 1e12

/* Largest capital at any time of the players who bet on the sign `sign` of b - a - D. */
static double capital_of(const tsn_change_runs *r, double shift, double sign) {
  double capital[PLAYERS] = {1, 1, 1, 1, 1}, most = 1, squares = 0;
  for (size_t i = 0; i < r->a_count; i++) {
    double d = tsn_change_pair(r, i) - shift, sum = 0;
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
static double end_of(const tsn_change_runs *r, double mean, double spread, double sign) {
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

void tsn_change_bet(const tsn_change_runs *r, double level, tsanom_change_comparison *c) {
  double spread = 0, n = (double)r->a_count;
  for (size_t i = 0; i < r->a_count; i++) {
    spread = fmax(spread, fabs(tsn_change_pair(r, i) - c->difference));
  }
  spread = fmax(spread, 1e-12 * fabs(c->difference));
  double up = capital_of(r, 0, 1), down = capital_of(r, 0, -1);
  c->significance = fmin(1, 2 / fmax(up, down));
  c->low = spread > 0 ? end_of(r, c->difference, spread, -1) : c->difference;
  c->high = spread > 0 ? end_of(r, c->difference, spread, 1) : c->difference;
  /* Each player at most doubles the capital with a pair, and has a fifth of it. */
  if (exp2(n) / PLAYERS < 2 / level) c->detectable = INFINITY;
}
