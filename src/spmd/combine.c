/* SPDX-License-Identifier: BSD-3-Clause */
/* Step 3 of the search: combinations of n = 2, 3, ... regions.
 *
 * If several regions separate the same classes, leaving out any one of them changes
 * nothing, so that step 2 finds none. Left out together they change the classes:
 *
 *     regions    A      B      C        without A: still {0}, {1}, by B
 *     process 0  1      1      5        without B: still {0}, {1}, by A
 *     process 1  9      9      5        without A and B: {0, 1}; the critical combination
 *
 * All combinations of the first n at which some are critical are tried; the core is what
 * they have in common, or, if that is nothing, all of their regions. This is exponential:
 * C(r, n) re-clusterings for r regions. Hence the limits of the options, and only regions
 * whose times differ between processes are candidates: the others add 0 to every
 * distance. */
#include "spmd/search.h"

/* Re-cluster with these regions left out, or put in; whether they are critical. */
typedef bool try_members(tsn_spmd_searcher *s, const uint32_t *member, size_t n);

/* At hierarchy 1: without the members. */
static bool leave_out(tsn_spmd_searcher *s, const uint32_t *member, size_t n) {
  tsn_spmd_buffers *b = s->b;
  for (size_t m = 0; m < n; m++) b->points.weight[b->slot[member[m]]] = 0;
  bool critical = tsn_spmd_decide(s, 3, 1, member, n);
  for (size_t m = 0; m < n; m++) b->points.weight[b->slot[member[m]]] = 1;
  return critical;
}

/* Combined to one region, as the paper says: its time is the sum. */
static bool put_in(tsn_spmd_searcher *s, const uint32_t *member, size_t n) {
  const tsanom_spmd_data *d = &s->input->data;
  tsn_spmd_points *points = &s->b->points;
  tsn_spmd_set_free(points, d->time + member[0], d->time_ld, s->exponent);
  for (size_t m = 1; m < n; m++) {
    tsn_spmd_add_free(points, d->time + member[m], d->time_ld, s->exponent);
  }
  return tsn_spmd_decide(s, 3, s->b->level[member[0]], member, n);
}

/* The next n of `count` in lexicographic order: the last index that is not at its end
 * advances, those after it follow. False: it was the last combination. */
static bool next_combination(uint32_t *index, size_t n, size_t count) {
  size_t m = n;
  while (m > 0 && index[m - 1] == count - n + m - 1) m--;
  if (m == 0) return false;
  index[m - 1]++;
  for (; m < n; m++) index[m] = index[m - 1] + 1;
  return true;
}

/* Try all combinations of n candidates; count the critical ones, in all and by member. A
 * region is in all of them iff its count is the number of them, which needs no list. */
static size_t combinations(tsn_spmd_searcher *s, try_members *try,
                           const uint32_t *candidate, size_t count, size_t n) {
  uint32_t *index = s->b->list, *member = s->b->list + s->input->data.regions;
  size_t found = 0;
  for (size_t m = 0; m < n; m++) index[m] = (uint32_t)m;
  do {
    if (s->left == 0) {
      s->report->limited = 1;
      return found;
    }
    if (tsn_spmd_stopped(s)) return found;
    s->left--;
    for (size_t m = 0; m < n; m++) member[m] = candidate[index[m]];
    bool critical = try(s, member, n);
    for (size_t m = 0; m < n; m++) s->b->meet[member[m]] += critical;
    found += critical;
  } while (next_combination(index, n, count));
  return found;
}

/* Set roles by the `found` combinations that are critical: their regions are CCRs, those
 * in all of them cores; if no region is in all, each is. Returns the number of regions in
 * all of them. */
static size_t intersect(tsn_spmd_buffers *b, const uint32_t *candidate, size_t count,
                        size_t found) {
  size_t common = 0;
  for (size_t c = 0; c < count; c++) common += b->meet[candidate[c]] == found;
  for (size_t c = 0; c < count; c++) {
    uint32_t k = candidate[c];
    if (b->meet[k] == 0) continue;
    bool core = common == 0 || b->meet[k] == found;
    b->role[k] |= (uint8_t)(TSN_SPMD_CCR | (core ? TSN_SPMD_CCCR : 0));
  }
  return common;
}

/* The number of critical combinations of the smallest size that has any, and this size.
 * Larger sizes are not tried: the algorithm of the paper ends there. */
static size_t smallest(tsn_spmd_searcher *s, try_members *try, const uint32_t *candidate,
                       size_t count, size_t *size) {
  size_t most = s->input->options.combination_size;
  for (size_t c = 0; c < count; c++) s->b->meet[candidate[c]] = 0;
  for (size_t n = 2; n <= count && n <= most; n++) {
    size_t found = combinations(s, try, candidate, count, n);
    if (s->report->search == TSANOM_SPMD_UNFINISHED) return 0;
    *size = n;
    if (found || s->report->limited) return found;
  }
  return 0;
}

void tsn_spmd_combine_outermost(tsn_spmd_searcher *s) {
  tsn_spmd_buffers *b = s->b;
  size_t count = 0;
  for (uint32_t k = 0; k < s->input->data.regions; k++) {
    if (b->level[k] == 1 && (b->role[k] & TSN_SPMD_VARIES)) b->pick[count++] = k;
  }
  s->report->search = TSANOM_SPMD_NOT_FOUND;
  size_t found = smallest(s, leave_out, b->pick, count, &s->report->combination);
  if (!found) return;
  size_t common = intersect(b, b->pick, count, found);
  s->report->search = common ? TSANOM_SPMD_COMBINED : TSANOM_SPMD_DISJOINT;
}

size_t tsn_spmd_combine_nested(tsn_spmd_searcher *s, const uint32_t *candidate,
                               size_t count) {
  size_t size = 0, found = smallest(s, put_in, candidate, count, &size);
  if (found) intersect(s->b, candidate, count, found);
  return found;
}
