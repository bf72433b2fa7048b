/* SPDX-License-Identifier: BSD-3-Clause */
/* The onset of a leak: memory is constant, and grows from some sample k on.
 *
 *     y_i = a + b max(0, x_i - x_k)                          a ________/ b
 *                                                                     k
 * For each k, least squares in a and b explain the share S_uy^2 / (S_uu S_yy) of the
 * scatter of y, where u_i = max(0, x_i - x_k), and S are the sums of products about the
 * means. The k is chosen for which it is greatest, and b > 0.
 *
 * Programs allocate while they begin, so that the two lines fit only what is behind that:
 * the first samples are left out, until the lines explain enough. O(samples^2), once for
 * a leak: less than 0.1 ms. */
#include <math.h>

#include "diagnosis/watch.h"

static const double enough = 0.95;

enum { FEWEST = 4 };

typedef tsn_watch_sums sums;

/* The share that growth from x on explains; `all`: the sums from the first sample on. */
static double explained(const sums *all, const sums *after, double x) {
  double u = after->x - after->n * x;
  double uu = after->xx - 2 * x * after->x + after->n * x * x - u * u / all->n;
  double uy = after->xy - x * after->y - u * all->y / all->n;
  double yy = all->yy - all->y * all->y / all->n;
  return uu > 0 && uy > 0 && yy > 0 ? uy * uy / (uu * yy) : 0;
}

/* Sums from each sample on, about the latest one. Returns the number of samples that are
 * known, the indices of which are set. */
static size_t add_up(const tsn_watch_samples *s, uint16_t *index, sums *from) {
  const tsanom_hsa_vital *origin = NULL;
  size_t first = TSANOM_HSA_WATCH_SAMPLES;
  sums sum = {0, 0, 0, 0, 0, 0};
  for (size_t i = s->count; i-- > 0;) {
    const tsanom_hsa_vital *v = &s->kept[i];
    if (isnan(v->anonymous) || isnan(v->time)) continue;
    if (!origin) origin = v;
    double x = v->time - origin->time, y = v->anonymous - origin->anonymous;
    sum = (sums){sum.n + 1,      sum.x + x,      sum.y + y,
                 sum.xx + x * x, sum.xy + x * y, sum.yy + y * y};
    from[--first] = sum;
    index[first] = (uint16_t)i;
  }
  return TSANOM_HSA_WATCH_SAMPLES - first;
}

const tsanom_hsa_vital *tsn_watch_leak_onset(const tsanom_hsa_watch *w) {
  const tsn_watch_samples *s = &w->vital;
  uint16_t index[TSANOM_HSA_WATCH_SAMPLES];
  size_t end = TSANOM_HSA_WATCH_SAMPLES;
  sums *from = w->sums;
  size_t known = add_up(s, index, from);
  for (size_t first = end - known; first + FEWEST <= end; first++) {
    double best = 0;
    size_t found = first;
    for (size_t k = first; k < end; k++) {
      double x = s->kept[index[k]].time - s->kept[index[end - 1]].time;
      double share = explained(&from[first], &from[k], x);
      if (share <= best) continue;
      best = share;
      found = k;
    }
    if (best >= enough) return &s->kept[index[found]];
  }
  return NULL;
}
