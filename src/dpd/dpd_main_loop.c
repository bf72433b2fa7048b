/* SPDX-License-Identifier: BSD-3-Clause */
/* One candidate for the main loop: its iterations begin with the events of one kind, the
 * anchor.
 *
 *   events     x  a b c c d  a b c d  a b c c c d e  a b c d  y z  a b ...
 *   segments      |0         |1       |2             |3            |4
 *   kinds          a b c d    a b c d  a b c d e      a b c d y z
 *
 * An inner loop of any number of iterations has the same kinds of events, so that a
 * segment is described by its set of kinds and by the order of their first occurrences:
 *
 * - The usual kinds U are those of at least half of the segments; the usual order is that
 *   of a segment in the middle that has all of U.
 * - A segment S is a near copy if |S \ U| + |U \ S| <= |U| / 3, and extended if it has
 * all of U in the usual order and |S \ U| <= 2 |U|, of kinds that other segments have
 * too: a mesh that is adapted in each fifth step. Consecutive ones of both are a run. A
 * run begins and ends with clean segments: what came with the first or the last one alone
 * is not part of the loop.
 * - Behind the last segment of a run (3), the next event of the anchor begins one more
 *   iteration if all of U follows, with at most |U| / 2 other kinds in between. That
 *   iteration ends before a kind that no other segment has, and before more other kinds
 *   than a near copy may have. It is also complete as a near copy of an extended segment
 *   of the run that ends with the same kind: the last step adapts the mesh.
 *
 * Five passes over the events of the segments, two of them for inner loops. */
#include <string.h>

#include "core/size.h"
#include "dpd/dpd_main.h"

/* Of few kinds, random sequences have such extensions too. */
enum { LEAST_ITERATIONS = 3, LEAST_EXTENDED = 6 };

/* A program of one or two regions in a step that has a further one in each tenth or less
 * of them: fewer equal iterations of one or two kinds are an inner loop. The further kind
 * is in at most a ninth of the segments, because the first or the last one may lack. */
enum { LEAST_GROUPED = 10, RARE = 9 };

/* A stamp that no kind has. */
static uint32_t fresh(tsn_main_search *s) {
  if (s->next_stamp == UINT32_MAX) {
    memset(s->stamp, 0, s->options.kinds * sizeof *s->stamp);
    s->next_stamp = 0;
  }
  return ++s->next_stamp;
}

/* The number of kinds of events [first, end), with a stamp of their own. */
static size_t stamp_kinds(tsn_main_search *s, size_t first, size_t end) {
  uint32_t stamp = fresh(s);
  size_t size = 0;
  for (size_t at = first; at < end; at++) {
    size += s->stamp[s->event[at]] != stamp;
    s->stamp[s->event[at]] = stamp;
  }
  return size;
}

/* An iteration of the inner loop that begins with the anchor: what has the fewest kinds
 * between two anchors. */
static void find_inner(tsn_main_search *s, tsn_main_loop *loop) {
  size_t fewest = SIZE_MAX;
  for (uint32_t i = s->start[loop->anchor]; i + 1 < s->start[loop->anchor + 1]; i++) {
    size_t size = stamp_kinds(s, s->at[i], s->at[i + 1]);
    if (size >= fewest) continue;
    fewest = size;
    loop->inner = (tsanom_dpd_iteration){s->at[i], s->at[i + 1]};
  }
}

/* Whether events [first, end) have only kinds of the latest stamp. */
static bool are_stamped(const tsn_main_search *s, size_t first, size_t end) {
  while (first < end && s->stamp[s->event[first]] == s->next_stamp) first++;
  return first == end;
}

/* The begins of a candidate that folds. If the inner loop has other kinds than the
 * anchor, at least half of the iterations must begin with it: what has the fewest kinds
 * by chance is no inner loop. */
static void fold_begins(tsn_main_search *s, tsn_main_loop *loop) {
  size_t inner = 0, first = s->start[loop->anchor], end = s->start[loop->anchor + 1];
  bool begins = true, goes_on = false;
  find_inner(s, loop);
  bool is_alone = stamp_kinds(s, loop->inner.first, loop->inner.end) == 1;
  for (size_t i = first; i < end; i++, begins = !goes_on) {
    goes_on = i + 1 < end && are_stamped(s, s->at[i], s->at[i + 1]);
    if (!begins) continue;
    s->begin[s->begins++] = s->at[i];
    inner += goes_on;
  }
  if (!is_alone && 2 * inner < s->begins) s->begins = 0;
}

/* The begins of the candidate. */
static void collect_begins(tsn_main_search *s, tsn_main_loop *loop) {
  s->begins = 0;
  if (loop->folds) {
    fold_begins(s, loop);
    return;
  }
  for (uint32_t i = s->start[loop->anchor]; i < s->start[loop->anchor + 1]; i++) {
    s->begin[s->begins++] = s->at[i];
  }
}

/* In how many segments each kind is. */
static void count_kinds(tsn_main_search *s) {
  memset(s->seen, 0, s->options.kinds * sizeof *s->seen);
  for (size_t i = 0; i + 1 < s->begins; i++) {
    uint32_t stamp = fresh(s);
    for (uint32_t at = s->begin[i]; at < s->begin[i + 1]; at++) {
      uint32_t kind = s->event[at];
      if (s->stamp[kind] == stamp) continue;
      s->stamp[kind] = stamp;
      s->seen[kind]++;
    }
  }
}

/* Rank the usual kinds by their order in segment i. False: it lacks one. */
static bool rank_by(tsn_main_search *s, size_t i, size_t size) {
  uint32_t stamp = fresh(s), next = 0;
  for (uint32_t at = s->begin[i]; at < s->begin[i + 1] && next < size; at++) {
    uint32_t kind = s->event[at];
    if (s->stamp[kind] == stamp || s->rank[kind] == TSN_MAIN_OTHER) continue;
    s->stamp[kind] = stamp;
    s->rank[kind] = next++;
  }
  return next == size;
}

/* The usual kinds and their order. False: no segment has all of them. */
static bool find_usual(tsn_main_search *s, tsn_main_loop *loop) {
  size_t segments = s->begins - 1, middle = segments / 2;
  loop->size = 0;
  for (size_t k = 0; k < s->options.kinds; k++) {
    bool is_usual = s->seen[k] && 2 * (size_t)s->seen[k] >= segments;
    s->rank[k] = is_usual ? 0 : TSN_MAIN_OTHER;
    loop->size += is_usual;
  }
  for (size_t i = 0; i <= segments; i++) {
    /* middle, middle + 1, middle - 1, ...: each segment once. */
    size_t step = (i + 1) / 2, at = i % 2 ? middle + step : middle - step;
    if (at < segments && rank_by(s, at, loop->size)) return true;
  }
  return false;
}

/* Compare a segment with the usual one. A third of one or two usual kinds is none: such a
 * segment is a near copy with one rare kind more, too. */
static unsigned char fit_of(tsn_main_search *s, size_t i, size_t size) {
  uint32_t stamp = fresh(s);
  size_t usual = 0, others = 0, segments = s->begins - 1;
  bool is_ordered = true, is_known = true, is_rare = true, goes_on = false;
  for (uint32_t at = s->begin[i]; at < s->begin[i + 1]; at++) {
    uint32_t kind = s->event[at];
    if (s->stamp[kind] == stamp) continue;
    s->stamp[kind] = stamp;
    if (s->rank[kind] == TSN_MAIN_OTHER) {
      others++;
      is_known = is_known && s->seen[kind] > 1;
      is_rare = is_rare && RARE * (size_t)s->seen[kind] <= segments;
    } else {
      is_ordered = is_ordered && s->rank[kind] == usual;
      goes_on = others != 0;
      usual++;
    }
  }
  unsigned char fit = 0;
  bool adds_one = size < TSN_MAIN_NEAR && usual == size && others == 1 && is_rare;
  if (TSN_MAIN_NEAR * (size - usual + others) <= size || adds_one) {
    fit |= TSN_MAIN_NEAR_COPY;
  }
  if (usual == size && is_ordered) fit |= TSN_MAIN_USUAL;
  if (fit == (TSN_MAIN_NEAR_COPY | TSN_MAIN_USUAL) && is_known) fit |= TSN_MAIN_CLEAN;
  bool has_most = TSN_MAIN_NEAR * (size - usual) <= size && size >= LEAST_EXTENDED;
  if (has_most && others <= 2 * size && is_known) fit |= TSN_MAIN_EXTENDED;
  if (others) fit |= TSN_MAIN_OTHERS;
  if (goes_on && usual < size && 2 * others >= size) fit |= TSN_MAIN_REPLACES;
  return fit;
}

/* Whether an iteration behind the last segment of a run ends before an event of another
 * kind than the usual ones, of which this is number `others`. */
static bool ends_before(const tsn_main_search *s, uint32_t kind, size_t others,
                        bool is_complete, size_t size) {
  if (!is_complete) return 2 * others > size;
  return s->seen[kind] < 2 || TSN_MAIN_NEAR * others > size;
}

/* The end of an iteration that begins with begin number i and is followed by something
 * else; 0: it is not complete. At the end of the sequence it is complete only if the
 * stream has ended, for otherwise it may go on. `reach`: how far it goes; if it is not
 * complete, up to its last usual kind, because what follows may be the end of the
 * program. */
static size_t end_of_last(tsn_main_search *s, const tsn_main_loop *loop, size_t i,
                          size_t *reach) {
  uint32_t stamp = fresh(s);
  size_t usual = 0, others = 0, at = s->begin[i];
  size_t next = i + 1 < s->begins ? s->begin[i + 1] : s->n;
  for (; at < next; at++) {
    uint32_t kind = s->event[at];
    if (s->rank[kind] != TSN_MAIN_OTHER) *reach = at + 1;
    if (s->stamp[kind] == stamp) continue;
    if (s->rank[kind] != TSN_MAIN_OTHER) {
      usual++;
    } else if (ends_before(s, kind, ++others, usual == loop->size, loop->size)) {
      break;
    }
    s->stamp[kind] = stamp;
  }
  bool goes_on = at == s->n && !s->options.ended;
  if (usual < loop->size || goes_on) return 0;
  *reach = at;
  return at;
}

/* The end of the same iteration if it is a near copy of segment k and ends with the same
 * kind; 0: it does not. */
static size_t end_like(tsn_main_search *s, size_t i, size_t k) {
  size_t size = stamp_kinds(s, s->begin[k], s->begin[k + 1]);
  uint32_t missing = s->next_stamp, found = fresh(s);
  uint32_t last_kind = s->event[s->begin[k + 1] - 1];
  size_t differ = size, others = 0, end = 0, at = s->begin[i];
  size_t next = i + 1 < s->begins ? s->begin[i + 1] : s->n;
  for (; at < next && TSN_MAIN_NEAR * others <= size; at++) {
    uint32_t *stamp = &s->stamp[s->event[at]];
    if (*stamp == missing) {
      differ--;
    } else if (*stamp != found) {
      differ++;
      others++;
    }
    *stamp = found;
    if (s->event[at] == last_kind && TSN_MAIN_NEAR * differ <= size) end = at + 1;
  }
  return at == s->n && !s->options.ended ? 0 : end;
}

/* The end of the iteration that follows segments [first, i) of a run. */
static size_t end_of_next(tsn_main_search *s, const tsn_main_loop *loop, size_t first,
                          size_t i, size_t *reach) {
  size_t end = end_of_last(s, loop, i, reach);
  for (size_t k = i; k > first && !end; k--) {
    if (s->fit[k - 1] & TSN_MAIN_NEAR_COPY) continue;
    end = end_like(s, i, k - 1);
    if (end) *reach = end;
  }
  return end;
}

/* A run of a loop: segments [first, last), and the iteration behind them, which ends with
 * the event before `end`; 0: there is none, but it has begun and goes to `reach`. */
typedef struct {
  size_t first, last, end, reach;
} run;

static bool has_any(const tsn_main_search *s, const tsn_main_loop *loop, size_t i,
                    unsigned char fits) {
  return loop->named || (s->fit[i] & fits) != 0;
}

/* The next run from segment `from` on; false: there is none. */
static bool next_run(tsn_main_search *s, const tsn_main_loop *loop, size_t from, run *r) {
  size_t segments = s->begins - 1;
  while (from < segments) {
    while (from < segments && !has_any(s, loop, from, TSN_MAIN_CLEAN)) from++;
    size_t last = from, next = from;
    while (next < segments &&
           has_any(s, loop, next, TSN_MAIN_NEAR_COPY | TSN_MAIN_EXTENDED)) {
      if (has_any(s, loop, next++, TSN_MAIN_CLEAN)) last = next;
    }
    size_t reach = 0, end = from < next ? end_of_next(s, loop, from, next, &reach) : 0;
    if (end) {
      last = next; /* a complete iteration is a clean end */
    } else if (from < last) {
      end = end_of_next(s, loop, from, last, &reach);
    }
    *r = (run){from, last, end, reach};
    if (last - from + (r->end != 0) >= LEAST_ITERATIONS) return true;
    from = next > from ? next : from + 1;
  }
  return false;
}

/* A run that the sequence ends in: no more than two of its longest iterations ago its
 * last one began. */
static bool is_active(const tsn_main_search *s, const run *r) {
  size_t longest = 0;
  for (size_t i = r->first; i < r->last; i++) {
    longest = tsn_larger(longest, s->begin[i + 1] - s->begin[i]);
  }
  return s->n - s->begin[r->last] <= 2 * longest;
}

static void add_run(tsn_main_search *s, tsn_main_loop *loop, const run *r,
                    size_t *usual) {
  size_t end = r->end ? r->end : s->begin[r->last];
  if (s->options.active && !is_active(s, r)) return;
  if (!loop->runs++) loop->first = s->begin[r->first];
  loop->end = end;
  loop->iterations += r->last - r->first + (r->end != 0);
  loop->events += end - s->begin[r->first];
  loop->covered += tsn_main_time(s, end) - tsn_main_time(s, s->begin[r->first]);
  loop->reach = loop->covered + tsn_main_time(s, r->reach) - tsn_main_time(s, end);
  for (size_t i = r->first; i < r->last; i++) {
    bool has_others = s->fit[i] & TSN_MAIN_OTHERS;
    bool is_odd = !(s->fit[i] & TSN_MAIN_NEAR_COPY);
    loop->by_others[has_others]++;
    loop->events_by[has_others] += s->begin[i + 1] - s->begin[i];
    *usual += !!(s->fit[i] & TSN_MAIN_USUAL);
    loop->odd += is_odd;
    loop->replacing += is_odd && (s->fit[i] & TSN_MAIN_REPLACES);
  }
  *usual += r->end != 0;
}

void tsn_main_examine(tsn_main_search *s, tsn_main_loop *loop) {
  run r;
  size_t usual = 0;
  *loop = (tsn_main_loop){.anchor = loop->anchor,
                          .folds = loop->folds,
                          .named = s->options.anchor != TSANOM_NONE};
  collect_begins(s, loop);
  if (s->begins < LEAST_ITERATIONS) return;
  count_kinds(s);
  if (!find_usual(s, loop) && !loop->named) return;
  for (size_t i = 0; i + 1 < s->begins; i++) s->fit[i] = fit_of(s, i, loop->size);
  for (size_t from = 0; next_run(s, loop, from, &r); from = r.last) {
    add_run(s, loop, &r, &usual);
  }
  /* Two thirds of the iterations must be usual: otherwise the order is left to chance, or
   * two different parts of an iteration begin with the anchor. */
  loop->accepted = loop->iterations && (loop->named || 3 * usual >= 2 * loop->iterations);
}

bool tsn_main_has_equal_groups(tsn_main_search *s, const tsn_main_loop *one,
                               const tsn_main_loop *other) {
  tsn_main_loop around = *other;
  size_t usual = 0, votes = 0, equal = 0;
  uint32_t from = s->start[one->anchor], end = s->start[one->anchor + 1];
  collect_begins(s, &around);
  for (int pass = 0; pass < 2; pass++) {
    for (size_t i = 0, at = from; i + 1 < s->begins; i++) {
      size_t count = 0;
      for (; at < end && s->at[at] < s->begin[i + 1]; at++) {
        count += s->at[at] >= s->begin[i];
      }
      if (pass == 1) {
        equal += count == usual;
      } else if (votes == 0) { /* the majority: Boyer and Moore 1981 */
        usual = count;
        votes = 1;
      } else {
        votes += count == usual ? 1 : (size_t)-1;
      }
    }
  }
  return s->begins > 1 && usual >= LEAST_GROUPED &&
         10 * (equal + 1) >= 9 * (s->begins - 1);
}

void tsn_main_list(tsn_main_search *s, const tsn_main_loop *loop) {
  run r;
  size_t listed = 0;
  for (size_t from = 0; next_run(s, loop, from, &r); from = r.last) {
    if (s->options.active && !is_active(s, &r)) continue;
    for (size_t i = r.first; i < r.last + (r.end != 0) && listed < s->capacity; i++) {
      size_t end = i < r.last ? s->begin[i + 1] : r.end;
      s->iterations[listed++] = (tsanom_dpd_iteration){s->begin[i], end};
    }
  }
}
