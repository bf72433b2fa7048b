/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom_dpd_main_loop() from its definition: sets of at most 64 kinds as bits, every
 * segment compared event by event, no index. For at most 24 kinds, n < NAIVE_MAIN_MOST.
 */
#ifndef TSANOM_TESTING_DPD_NAIVE_MAIN_H
#define TSANOM_TESTING_DPD_NAIVE_MAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tsanom/dpd.h>

enum { NAIVE_MAIN_MOST = 4096, NAIVE_MAIN_KINDS = 24 };

typedef struct {
  uint32_t anchor;
  bool folds;
  size_t iterations, runs, first, end;
  double covered, reach;
  uint64_t usual;
  /* Iterations without and with other kinds, and their events; those that are no near
   * copies, and of these the ones in which other kinds replace usual ones. */
  size_t by_others[2], events_by[2], odd, replacing;
} naive_loop;

static inline int naive_size(uint64_t set) {
  return __builtin_popcountll(set);
}

/* The kinds of events [from, to), and their order of first occurrences. */
static inline uint64_t naive_set(const uint32_t *event, size_t from, size_t to) {
  uint64_t set = 0;
  for (size_t i = from; i < to; i++) set |= (uint64_t)1 << event[i];
  return set;
}

/* The order of those kinds of [from, to) that are in `wanted`. */
static inline size_t naive_order(const uint32_t *event, size_t from, size_t to,
                                 uint64_t wanted, uint32_t *order) {
  size_t count = 0;
  for (size_t i = from; i < to; i++) {
    if (!(wanted >> event[i] & 1)) continue;
    wanted &= ~((uint64_t)1 << event[i]);
    order[count++] = event[i];
  }
  return count;
}

static inline bool naive_has_order(const uint32_t *event, size_t from, size_t to,
                                   uint64_t usual, const uint32_t *order) {
  uint32_t own[64];
  size_t count = naive_order(event, from, to, usual, own);
  for (size_t i = 0; i < count; i++) {
    if (own[i] != order[i]) return false;
  }
  return count == (size_t)naive_size(usual);
}

/* Whether a segment has one kind more than one or two usual ones, which at most a ninth
 * of the m segments have. */
static inline bool naive_adds_one(const uint64_t *set, size_t m, size_t i,
                                  uint64_t usual) {
  uint64_t others = set[i] & ~usual;
  size_t seen = 0;
  for (size_t k = 0; k < m; k++) seen += (set[k] & others) != 0;
  return naive_size(usual) < 3 && !(usual & ~set[i]) && naive_size(others) == 1 &&
         9 * seen <= m;
}

/* Whether a segment lacks usual kinds, and has a first one behind another kind. */
static inline bool naive_replaces(const uint32_t *event, size_t from, size_t to,
                                  uint64_t usual) {
  uint64_t set = naive_set(event, from, to);
  size_t last = from;
  for (size_t i = from; i < to; i++) {
    bool is_first = !(naive_set(event, from, i) >> event[i] & 1);
    if (is_first && usual >> event[i] & 1) last = i;
  }
  return (usual & ~set) && (naive_set(event, from, last) & ~usual) &&
         2 * naive_size(set & ~usual) >= naive_size(usual);
}

/* The end of an iteration behind the last segment of a run; 0: incomplete. */
static inline size_t naive_end(const uint32_t *event, size_t from, size_t to,
                               uint64_t usual, uint64_t known, size_t *reach) {
  size_t end = from;
  for (; end < to; end++) {
    uint64_t before = naive_set(event, from, end), own = (uint64_t)1 << event[end];
    int others = naive_size((before | own) & ~usual);
    if (own & (usual | before)) continue;
    if ((before & usual) != usual) {
      if (2 * others > naive_size(usual)) break;
    } else if (!(own & known) || 3 * others > naive_size(usual)) {
      break;
    }
  }
  bool is_complete = (naive_set(event, from, end) & usual) == usual;
  *reach = end;
  while (!is_complete && !(usual >> event[*reach - 1] & 1)) --*reach;
  return is_complete ? end : 0;
}

/* The begins of a loop; returns their number. */
static inline size_t naive_begins(const uint32_t *event, size_t n, const naive_loop *loop,
                                  size_t *begin) {
  static size_t at[NAIVE_MAIN_MOST + 1];
  static uint64_t set[NAIVE_MAIN_MOST + 1]; /* from one anchor to the next */
  uint64_t inner = ~(uint64_t)0;
  size_t m = 0, count = 0, with_inner = 0;
  for (size_t i = 0; i < n; i++) {
    if (event[i] == loop->anchor) at[m++] = i;
  }
  for (size_t i = 0; i + 1 < m; i++) {
    set[i] = naive_set(event, at[i], at[i + 1]);
    if (i == 0 || naive_size(set[i]) < naive_size(inner)) inner = set[i];
  }
  for (size_t i = 0; i < m; i++) {
    if (loop->folds && i > 0 && !(set[i - 1] & ~inner)) continue;
    begin[count++] = at[i];
    with_inner += i + 1 < m && !(set[i] & ~inner);
  }
  bool is_chance = naive_size(inner) > 1 && 2 * with_inner < count;
  return loop->folds && is_chance ? 0 : count;
}

/* The usual kinds of m segments, and those that more than one has. */
static inline void naive_usual(const uint64_t *set, size_t m, uint64_t *usual,
                               uint64_t *known) {
  *usual = *known = 0;
  for (int k = 0; k < 64; k++) {
    size_t seen = 0;
    for (size_t i = 0; i < m; i++) seen += set[i] >> k & 1;
    if (seen > 1) *known |= (uint64_t)1 << k;
    if (seen && 2 * seen >= m) *usual |= (uint64_t)1 << k;
  }
}

/* The order of the usual kinds, by the segment next to the middle that has all. */
static inline bool naive_usual_order(const uint32_t *event, const size_t *begin,
                                     const uint64_t *set, size_t m, uint64_t usual,
                                     uint32_t *order) {
  for (size_t i = 0; i <= m; i++) {
    size_t at = i % 2 ? m / 2 + (i + 1) / 2 : m / 2 - (i + 1) / 2;
    if (at >= m || (set[at] & usual) != usual) continue;
    (void)naive_order(event, begin[at], begin[at + 1], usual, order);
    return true;
  }
  return false;
}

/* Count segment [from, to) of a run. */
static inline void naive_count_segment(const uint32_t *event, size_t from, size_t to,
                                       bool is_near, naive_loop *loop) {
  bool has_others = naive_set(event, from, to) & ~loop->usual;
  loop->by_others[has_others]++;
  loop->events_by[has_others] += to - from;
  loop->odd += !is_near;
  loop->replacing += !is_near && naive_replaces(event, from, to, loop->usual);
}

/* The loop that begins with an anchor; false: there is none. The stream has ended. */
static inline bool naive_examine(const uint32_t *event, size_t n, naive_loop *loop) {
  static size_t begin[NAIVE_MAIN_MOST + 1];
  static uint64_t set[NAIVE_MAIN_MOST];
  static bool near[NAIVE_MAIN_MOST], goes[NAIVE_MAIN_MOST], usual[NAIVE_MAIN_MOST],
      clean[NAIVE_MAIN_MOST];
  size_t m = naive_begins(event, n, loop, begin), all_usual = 0;
  if (m < 3) return false;
  m--;
  begin[m + 1] = n;
  for (size_t i = 0; i < m; i++) set[i] = naive_set(event, begin[i], begin[i + 1]);
  uint64_t known;
  naive_usual(set, m, &loop->usual, &known);
  uint32_t order[64] = {0};
  if (!naive_usual_order(event, begin, set, m, loop->usual, order)) return false;
  for (size_t i = 0; i < m; i++) {
    int size = naive_size(loop->usual), others = naive_size(set[i] & ~loop->usual);
    near[i] = 3 * naive_size(set[i] ^ loop->usual) <= size ||
              naive_adds_one(set, m, i, loop->usual);
    bool is_known = !(set[i] & ~loop->usual & ~known);
    goes[i] = near[i] || (is_known && size >= 6 && others <= 2 * size &&
                          3 * naive_size(loop->usual & ~set[i]) <= size);
    usual[i] = naive_has_order(event, begin[i], begin[i + 1], loop->usual, order);
    clean[i] = near[i] && usual[i] && is_known;
  }
  for (size_t i = 0; i < m;) {
    if (!clean[i]) {
      i++;
      continue;
    }
    size_t next = i, last = i;
    while (next < m && goes[next]) next++;
    for (size_t k = i; k < next; k++) last = clean[k] ? k + 1 : last;
    size_t reach,
        end = naive_end(event, begin[next], begin[next + 1], loop->usual, known, &reach);
    if (end) {
      last = next;
    } else {
      end = naive_end(event, begin[last], begin[last + 1], loop->usual, known, &reach);
    }
    size_t iterations = last - i + (end != 0);
    if (iterations < 3) {
      i = next;
      continue;
    }
    if (!end) end = begin[last];
    if (!loop->runs++) loop->first = begin[i];
    loop->end = end;
    loop->covered += (double)(end - begin[i]);
    loop->reach = loop->covered + (double)reach - (double)end;
    loop->iterations += iterations;
    all_usual += iterations - (last - i);
    for (size_t k = i; k < last; k++) {
      all_usual += usual[k];
      naive_count_segment(event, begin[k], begin[k + 1], near[k], loop);
    }
    i = last;
  }
  return loop->iterations && 3 * all_usual >= 2 * loop->iterations;
}

static inline size_t naive_count(const uint32_t *event, size_t n, uint32_t kind) {
  size_t count = 0;
  for (size_t i = 0; i < n; i++) count += event[i] == kind;
  return count;
}

/* Whether the events of a and b are a b a b ..., others left out. */
static inline bool naive_alternate(const uint32_t *event, size_t n, uint32_t a,
                                   uint32_t b) {
  uint32_t expected = a;
  for (size_t i = 0; i < n; i++) {
    if (event[i] != a && event[i] != b) continue;
    if (event[i] != expected) return false;
    expected = expected == a ? b : a;
  }
  return expected == a;
}

/* Whether loop a has the usual kinds of loop b, but for a third. */
static inline bool naive_contains(const naive_loop *a, const naive_loop *b) {
  return 3 * naive_size(b->usual & ~a->usual) <= naive_size(b->usual);
}

/* Whether nine tenths of the segments of loop b, but for one, have the same number of anchors of loop a,
 * at least ten. */
static inline bool naive_has_equal_groups(const uint32_t *event, size_t n,
                                          const naive_loop *a, const naive_loop *b) {
  static size_t begin[NAIVE_MAIN_MOST + 1], tally[NAIVE_MAIN_MOST + 1];
  size_t m = naive_begins(event, n, b, begin);
  for (size_t i = 0; i <= n; i++) tally[i] = 0;
  for (size_t i = 0; i + 1 < m; i++) {
    size_t count = 0;
    for (size_t e = begin[i]; e < begin[i + 1]; e++) count += event[e] == a->anchor;
    if (10 * (++tally[count] + 1) >= 9 * (m - 1) && count >= 10) return true;
  }
  return false;
}

/* Whether loop b groups the iterations of loop a, which is one of `count`. */
static inline bool naive_grouped(const uint32_t *event, size_t n, const naive_loop *loop,
                                 size_t count, const naive_loop *a, const naive_loop *b) {
  int x = naive_size(a->usual), y = naive_size(b->usual);
  if ((double)a->events_by[1] * (double)a->by_others[0] >
          2.5 * (double)a->events_by[0] * (double)a->by_others[1] ||
      2 * a->replacing < a->odd || a->covered < .9 * b->covered) {
    return false;
  }
  if (3 * naive_size(a->usual ^ b->usual) <= (x < y ? x : y)) return true;
  if (x < 3 && !a->folds && y == x + 1 && !(a->usual & ~b->usual) &&
      naive_has_equal_groups(event, n, a, b)) {
    return true;
  }
  for (size_t i = 0; i < count; i++) {
    if (loop[i].usual == a->usual && loop[i].first < a->first) return false;
  }
  return a->odd && naive_contains(b, a);
}

/* The loops of one kind of each class: of consecutive kinds, in the order of their first
 * events, with as many events, one that alternates with the latest one is of its class.
 */
static inline size_t naive_loops(const uint32_t *event, size_t n, naive_loop *loop) {
  uint32_t latest[NAIVE_MAIN_KINDS];
  size_t count = 0, known = 0;
  for (size_t i = 0; i < n; i++) {
    uint32_t kind = event[i];
    size_t events = naive_count(event, n, kind), k = 0;
    bool repeats = false;
    if (naive_set(event, 0, i) >> kind & 1 || events < 2) continue;
    while (k < known && naive_count(event, n, latest[k]) != events) k++;
    if (k < known && naive_alternate(event, n, latest[k], kind)) continue;
    latest[k] = kind;
    if (k == known) known++;
    for (size_t t = 1; t < n; t++) repeats |= event[t] == kind && event[t - 1] == kind;
    for (int folds = 0; folds <= 1; folds++) {
      naive_loop *next = &loop[count];
      *next = (naive_loop){.anchor = kind, .folds = folds};
      if (naive_examine(event, n, next) &&
          !(repeats && !folds && naive_size(next->usual) > 1)) {
        count++;
      }
    }
  }
  return count;
}

/* Whether a loop covers enough to be the main loop, beside the one that covers most. */
static inline bool naive_enough(const naive_loop *one, const naive_loop *best, size_t n) {
  if (one->reach >= .9 * best->reach) return true;
  return naive_contains(one, best) && one->reach >= .9 * (double)(n - one->first) &&
         (one->reach >= .5 * best->reach || one->covered >= .9 * best->covered);
}

/* The main loop; anchor UINT32_MAX: there is none. */
static inline naive_loop naive_main(const uint32_t *event, size_t n) {
  naive_loop loop[2 * NAIVE_MAIN_KINDS], none = {.anchor = UINT32_MAX};
  size_t count = naive_loops(event, n, loop), chosen = SIZE_MAX, most = 0;
  for (size_t i = 0; i < count; i++) {
    if (loop[i].reach > loop[most].reach) most = i;
  }
  if (!count ||
      (loop[most].reach < .2 * (double)n && loop[most].covered < .2 * (double)n)) {
    return none;
  }
  for (size_t i = 0; i < count; i++) {
    if (!naive_enough(&loop[i], &loop[most], n)) continue;
    const naive_loop *best = &loop[chosen == SIZE_MAX ? i : chosen];
    bool outer = loop[i].iterations < best->iterations;
    bool equal = loop[i].iterations == best->iterations;
    bool more = loop[i].covered > best->covered;
    bool earlier = loop[i].covered >= best->covered && loop[i].first < best->first;
    if (chosen == SIZE_MAX || outer || (equal && (more || earlier))) chosen = i;
  }
  for (size_t from = SIZE_MAX; from != chosen;) {
    from = chosen;
    for (size_t i = 0; i < count; i++) {
      const naive_loop *one = &loop[i], *now = &loop[chosen];
      if (!naive_enough(one, &loop[most], n) ||
          !naive_grouped(event, n, loop, count, one, &loop[from])) {
        continue;
      }
      if (one->iterations > now->iterations ||
          (one->iterations == now->iterations && one->first < now->first)) {
        chosen = i;
      }
    }
  }
  return loop[chosen];
}

#endif
