/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom_dpd_main_loop() of events without times, from its definition: no index, every
 * count by a pass over the events, the functions of the C library. For fewer than
 * NAIVE_MAIN_MOST events of at most NAIVE_MAIN_KINDS kinds. */
#ifndef TSANOM_TESTING_DPD_NAIVE_MAIN_H
#define TSANOM_TESTING_DPD_NAIVE_MAIN_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <tsanom/dpd.h>

enum {
  NAIVE_MAIN_MOST = 1024,
  NAIVE_MAIN_KINDS = 48,
  NAIVE_MAIN_LISTS = 256, /* also pairs, and entries */
  NAIVE_MAIN_LEVELS = 64
};

/* A kind: whether each event is one of it. */
typedef struct {
  bool has[NAIVE_MAIN_MOST];
  size_t count, begin;
  uint32_t event;
  bool is_entry;
  int level;
} naive_kind;

typedef struct {
  size_t n;
  naive_kind kind[NAIVE_MAIN_LISTS];
  int kinds, levels;
  int anchor[NAIVE_MAIN_LISTS], own[NAIVE_MAIN_LISTS], first[NAIVE_MAIN_LISTS];
  size_t events[NAIVE_MAIN_LISTS], in_turns[NAIVE_MAIN_LISTS], turns[NAIVE_MAIN_LISTS];
  bool contains[NAIVE_MAIN_LISTS][NAIVE_MAIN_LISTS], is_loop[NAIVE_MAIN_LISTS];
} naive_model;

typedef struct {
  uint32_t anchor; /* UINT32_MAX: there is no loop */
  size_t iterations, runs, first, end, places;
} naive_loop;

/* The events of b in each segment of a; returns the number of segments. */
static inline size_t naive_counts(const naive_model *m, int a, int b, size_t *count) {
  size_t segments = 0;
  bool is_in = false;
  for (size_t i = 0; i < m->n; i++) {
    if (m->kind[a].has[i]) {
      segments += is_in;
      is_in = true;
      count[segments] = 0;
    }
    if (is_in) count[segments] += m->kind[b].has[i];
  }
  return segments;
}

static inline bool naive_in_nearly_all(const naive_model *m, int a, int b) {
  size_t count[NAIVE_MAIN_MOST], segments = naive_counts(m, a, b, count), with = 0;
  for (size_t i = 0; i < segments; i++) with += count[i] > 0;
  return 10 * with >= 9 * segments;
}

static inline bool naive_same_level(const naive_model *m, int a, int b) {
  double x = (double)m->kind[a].count, y = (double)m->kind[b].count;
  return fmin(x, y) >= .9 * fmax(x, y) - 1 - 1e-9 && naive_in_nearly_all(m, a, b) &&
         naive_in_nearly_all(m, b, a);
}

static inline void naive_place(naive_model *m, int k) {
  for (int i = 0; i < m->levels; i++) {
    if (!naive_same_level(m, m->first[i], k)) continue;
    m->kind[k].level = i;
    return;
  }
  m->first[m->levels] = k;
  m->kind[k].level = m->levels++;
}

static inline int naive_level_at(const naive_model *m, size_t i) {
  for (int k = 0; k < m->kinds; k++) {
    if (!m->kind[k].is_entry && m->kind[k].has[i]) return m->kind[k].level;
  }
  return -1;
}

static inline void naive_entries(naive_model *m) {
  int levels = m->levels, kinds = m->kinds;
  for (int i = 0; i < levels; i++) {
    naive_kind *entry = &m->kind[m->kinds], *first = &m->kind[m->first[i]];
    memset(entry, 0, sizeof *entry);
    entry->is_entry = true;
    entry->event = first->event;
    for (size_t at = 0; at < m->n; at++) {
      /* Entries that were added before are not asked. */
      entry->has[at] =
          naive_level_at(m, at) == i && (at == 0 || naive_level_at(m, at - 1) != i);
      entry->count += entry->has[at];
    }
    if (entry->count < 3 || 1.2 * (double)entry->count >= (double)first->count) continue;
    m->kinds++;
  }
  for (int k = kinds; k < m->kinds; k++) naive_place(m, k);
}

static inline bool naive_may_begin(const naive_model *m, int level, bool real, int k) {
  return m->kind[k].level == level && !(real && m->kind[k].is_entry);
}

/* How often most kinds of a level occur; of equally many, the larger number. */
static inline size_t naive_usual_count(const naive_model *m, int level, bool real) {
  size_t best = 0;
  int best_votes = 0;
  for (int k = 0; k < m->kinds; k++) {
    int votes = 0;
    for (int i = 0; i < m->kinds; i++) {
      size_t own = m->kind[i].count, count = m->kind[k].count;
      if (!naive_may_begin(m, level, real, i)) continue;
      votes += own == count ? 10001 : own + 1 == count || own == count + 1 ? 10000 : 0;
    }
    if (!naive_may_begin(m, level, real, k)) continue;
    if (votes > best_votes || (votes == best_votes && m->kind[k].count > best)) {
      best = m->kind[k].count;
      best_votes = votes;
    }
  }
  return best;
}

static inline size_t naive_last(const naive_model *m, int k) {
  size_t last = m->n - 1;
  while (!m->kind[k].has[last]) last--;
  return last;
}

/* The first of the kinds that occur as often, or once more or less, behind whose last event
 * most kinds of the level come; or the first one that occurs as often. */
static inline int naive_anchor(const naive_model *m, int level, bool real) {
  size_t usual = naive_usual_count(m, level, real);
  int as_often = -1;
  for (int k = 0; k < m->kinds; k++) {
    int kinds = 0, behind = 0;
    if (!naive_may_begin(m, level, real, k) || m->kind[k].count > usual + 1 ||
        m->kind[k].count + 1 < usual) {
      continue;
    }
    for (int i = 0; i < m->kinds; i++) {
      kinds += m->kind[i].level == level;
      behind += m->kind[i].level == level && naive_last(m, i) >= naive_last(m, k);
    }
    if (2 * behind > kinds) return k;
    if (as_often < 0 && m->kind[k].count == usual) as_often = k;
  }
  return as_often;
}

/* Bits of numbers by their frequencies so far. */
static inline double naive_adaptive(const double *x, size_t n) {
  double least = x[0], most = x[0], bits = 0;
  for (size_t i = 0; i < n; i++) {
    least = fmin(least, x[i]);
    most = fmax(most, x[i]);
  }
  double size = most - least + 1;
  for (size_t i = 0; i < n; i++) {
    double same = 0;
    for (size_t k = 0; k < i; k++) same += x[k] == x[i];
    bits -= log2((same + .5) / ((double)i + size / 2));
  }
  return bits + 2 * log2(size) + 2 * log2(1 + fabs(least));
}

static inline double naive_law(const double *c, size_t n, bool of_logarithms) {
  double mean = 0, square = 0, width = 0, bits = 0;
  double low[NAIVE_MAIN_MOST], high[NAIVE_MAIN_MOST];
  for (size_t i = 0; i < n; i++) {
    low[i] = of_logarithms ? log(c[i] - .5) : c[i] - .5;
    high[i] = of_logarithms ? log(c[i] + .5) : c[i] + .5;
    mean += (low[i] + high[i]) / 2 / (double)n;
    width += (high[i] - low[i]) / (double)n;
  }
  for (size_t i = 0; i < n; i++)
    square += pow((low[i] + high[i]) / 2 - mean, 2) / (double)n;
  width = fmax(sqrt(3 * square) / acos(-1), .05 * width);
  for (size_t i = 0; i < n; i++) {
    double chance =
        .5 * (tanh((high[i] - mean) / (2 * width)) - tanh((low[i] - mean) / (2 * width)));
    bits -= log2(fmax(chance, 1e-9));
  }
  return bits + .5 * log2((double)n) + 1;
}

static inline double naive_regularity(const naive_model *m, int a, int b) {
  size_t count[NAIVE_MAIN_MOST], n = 0;
  size_t segments = naive_counts(m, m->anchor[a], m->anchor[b], count);
  double c[NAIVE_MAIN_MOST], change[NAIVE_MAIN_MOST], sum = 0;
  for (size_t i = 0; i < segments; i++) {
    if (!count[i]) continue;
    c[n] = (double)count[i];
    change[n] = n ? c[n] - c[n - 1] : 0;
    sum += c[n++];
  }
  double p = (double)n / sum;
  if (p >= 1) return 0;
  double chance = -((double)n * log2(p) + (sum - (double)n) * log2(1 - p));
  double loop = fmin(naive_law(c, n, false), naive_law(c, n, true));
  loop = fmin(loop, naive_adaptive(c, n));
  return chance - fmin(loop, naive_adaptive(change, n) + 2 * log2(c[0])) - 2;
}

static inline bool naive_is_child(const naive_model *m, int a, int b) {
  return m->contains[a][b] && m->is_loop[b] && m->own[b];
}

/* Whether b is a loop in a, and in no other loop in a. */
static inline bool naive_is_inside(const naive_model *m, int a, int b) {
  bool is = naive_is_child(m, a, b);
  for (int c = 0; c < m->levels; c++)
    is = is && !(naive_is_child(m, a, c) && m->contains[c][b]);
  return is;
}

static inline bool naive_is_option(const naive_model *m, int a, int b) {
  return m->contains[b][a] && !m->is_loop[b] && m->own[b];
}

static inline double naive_weight(const naive_model *m, int a) {
  double weight = (double)(m->events[a] + m->in_turns[a]);
  for (int b = 0; b < m->levels; b++)
    weight += m->contains[a][b] ? (double)m->events[b] : 0;
  return fmax(1, weight);
}

static inline int naive_kinds_within(const naive_model *m, int a) {
  int kinds = m->own[a];
  for (int b = 0; b < m->levels; b++) kinds += m->contains[a][b] ? m->own[b] : 0;
  return kinds;
}

static inline size_t naive_count_of(const naive_model *m, int a) {
  return m->kind[m->anchor[a]].count;
}

/* The runs of segments of b with a, if nearly all have one event of a or of another level; else 0. */
static inline size_t naive_turns(const naive_model *m, int a, int b) {
  size_t x[NAIVE_MAIN_MOST], z[NAIVE_MAIN_MOST];
  size_t segments = naive_counts(m, m->anchor[b], m->anchor[a], x);
  for (int c = 0; c < m->levels; c++) {
    double both = (double)(m->kind[m->anchor[a]].count + m->kind[m->anchor[c]].count);
    size_t one = 0, runs = 0;
    if (c == a || !m->contains[c][b] || !m->own[c] ||
        both < .9 * (double)segments - 1e-9 ||
        both > (double)(segments + 2) / .9 + 1e-9) {
      continue;
    }
    (void)naive_counts(m, m->anchor[b], m->anchor[c], z);
    for (size_t i = 0; i < segments; i++) one += x[i] + z[i] == 1;
    for (size_t i = 0; i < segments; i++) runs += x[i] && !(i && x[i - 1]);
    if (10 * one >= 9 * segments && 3 * runs <= 2 * naive_count_of(m, a)) return runs;
  }
  return 0;
}

static inline bool naive_judge(naive_model *m, int a) {
  double total = 0;
  for (int b = 0; b < m->levels; b++)
    total += naive_is_inside(m, a, b) ? naive_weight(m, b) : 0;
  for (int b = 0; b < m->levels; b++) {
    if (!naive_is_inside(m, a, b) || naive_weight(m, b) <= 2 / 3. * total) continue;
    size_t turns = naive_turns(m, a, b);
    if (turns) m->in_turns[b] += m->events[a];
    if (turns) m->turns[b] = turns;
    if (turns || naive_regularity(m, a, b) <=
                     (m->own[a] >= 2 * naive_kinds_within(m, b) ? -4 : 0)) {
      return false;
    }
  }
  return true;
}

/* Sort the levels by their events, descending, then by their order; the last ones go. */
static inline void naive_sort(naive_model *m) {
  int place[NAIVE_MAIN_LISTS];
  size_t events[NAIVE_MAIN_LISTS] = {0};
  for (int k = 0; k < m->kinds; k++) {
    if (!m->kind[k].is_entry) events[m->kind[k].level] += m->kind[k].count;
  }
  for (int a = 0; a < m->levels; a++) {
    place[a] = 0;
    for (int b = 0; b < m->levels; b++) {
      place[a] += events[b] > events[a] || (events[b] == events[a] && b < a);
    }
  }
  memset(m->own, 0, sizeof m->own);
  for (int a = 0; a < m->levels; a++) m->events[place[a]] = events[a];
  for (int k = 0; k < m->kinds; k++) {
    int level = place[m->kind[k].level];
    m->kind[k].level = level < NAIVE_MAIN_LEVELS ? level : -1;
    if (level < NAIVE_MAIN_LEVELS) m->own[level] += !m->kind[k].is_entry;
  }
  if (m->levels > NAIVE_MAIN_LEVELS) m->levels = NAIVE_MAIN_LEVELS;
}

/* Whether b has more events than a, but not from its first to its last one. */
static inline bool naive_has_more_outside(const naive_model *m, int a, int b) {
  size_t count[NAIVE_MAIN_MOST], segments = naive_counts(m, a, b, count), inside = 0;
  for (size_t i = 0; i < segments; i++) inside += count[i];
  return m->kind[b].count > m->kind[a].count && !naive_in_nearly_all(m, b, a) &&
         inside <= m->kind[a].count;
}

static inline void naive_relations(naive_model *m) {
  bool is_known[NAIVE_MAIN_LISTS] = {false};
  memset(m->is_loop, 0, sizeof m->is_loop);
  for (int a = 0; a < m->levels; a++) m->anchor[a] = naive_anchor(m, a, m->own[a] > 0);
  for (int a = 0; a < m->levels; a++) {
    for (int b = 0; b < m->levels; b++) {
      bool has_more = (double)naive_count_of(m, b) > 1.2 * (double)naive_count_of(m, a) ||
                      naive_has_more_outside(m, m->anchor[a], m->anchor[b]);
      m->contains[a][b] = has_more && naive_in_nearly_all(m, m->anchor[a], m->anchor[b]);
    }
  }
  for (int i = 0; i < m->levels; i++) {
    int next = -1;
    for (int a = 0; a < m->levels; a++) {
      if (!is_known[a] && (next < 0 || naive_count_of(m, a) > naive_count_of(m, next)))
        next = a;
    }
    is_known[next] = true;
    m->is_loop[next] = naive_judge(m, next);
  }
}

static inline void naive_model_make(naive_model *m, const uint32_t *event, size_t n) {
  memset(m, 0, sizeof *m);
  m->n = n;
  for (size_t i = 0; i < n; i++) {
    size_t before = 0, all = 0;
    for (size_t k = 0; k < n; k++) {
      before += k < i && event[k] == event[i];
      all += event[k] == event[i];
    }
    if (before || all < 3) continue;
    naive_kind *kind = &m->kind[m->kinds++];
    kind->event = event[i];
    kind->count = all;
    for (size_t k = 0; k < n; k++) kind->has[k] = event[k] == event[i];
  }
  int single = m->kinds;
  for (int k = 0; k < single; k++) naive_place(m, k);
  naive_entries(m);
  naive_sort(m);
  naive_relations(m);
}

/* Whether loop a explains level p: its own, one in it, or one that contains one of these. */
static inline bool naive_explains(const naive_model *m, int a, int p) {
  bool does = p == a || m->contains[a][p];
  for (int b = 0; b < m->levels; b++) {
    does = does || (m->contains[p][b] && (b == a || m->contains[a][b]));
  }
  return does;
}

static inline bool naive_is_part(const naive_model *m, int a, int p) {
  return p == a || m->contains[a][p] || (!m->is_loop[p] && naive_explains(m, a, p));
}

/* The begins of the segments of a level. */
static inline size_t naive_begins(const naive_model *m, int a, size_t *begin) {
  size_t count = 0;
  for (size_t i = 0; i < m->n; i++) {
    if (m->kind[m->anchor[a]].has[i]) begin[count++] = i;
  }
  return count;
}

/* The least length that half of the segments have at most. */
static inline size_t naive_usual(const size_t *begin, size_t count) {
  for (size_t length = 1;; length++) {
    size_t at_most = 0;
    for (size_t i = 1; i < count; i++) at_most += begin[i] - begin[i - 1] <= length;
    if (2 * at_most >= count - 1) return length;
  }
}

typedef struct {
  size_t first, end;
  double inside, share;
  bool is_good;
} naive_extent;

static inline bool naive_known(const naive_model *m, int a, size_t i) {
  int level = naive_level_at(m, i);
  return level >= 0 && naive_explains(m, a, level);
}

static inline naive_extent naive_measure(const naive_model *m, int a) {
  size_t begin[NAIVE_MAIN_MOST], count = naive_begins(m, a, begin), inside = 0;
  naive_extent e = {.first = begin[0]};
  e.end = begin[count - 1] + naive_usual(begin, count);
  if (e.end > m->n) e.end = m->n;
  for (size_t i = e.first; i < e.end; i++) inside += naive_known(m, a, i);
  e.inside = (double)inside / (double)(e.end - e.first);
  bool begins_before = 2 * (naive_kinds_within(m, a) - m->own[a]) <= m->own[a];
  for (size_t i = 0; i < e.first && begins_before; i++) {
    inside += e.first - i <= naive_usual(begin, count) && naive_known(m, a, i);
  }
  e.share = (double)inside / (double)m->n;
  return e;
}

/* The first event of a level in events [from, to]; none: the number of events. */
static inline size_t naive_first_in(const naive_model *m, int a, size_t from, size_t to) {
  for (size_t i = from; i <= to; i++) {
    if (m->kind[m->anchor[a]].has[i]) return i;
  }
  return m->n;
}

static inline double naive_bits_of_level(const naive_model *m, int a) {
  double k = m->own[a], n = (double)naive_count_of(m, a);
  if (k < 2) return 0;
  return (lgamma(k * n + 1) - k * lgamma(n + 1)) / log(2) - k * log2(m->kinds + 1);
}

/* Bits of the kinds of a level of which nearly each segment of a has one event. */
static inline double naive_bits_of_once(const naive_model *m, int a, int b) {
  size_t count[NAIVE_MAIN_MOST], once = 0;
  size_t segments = naive_counts(m, m->anchor[a], m->anchor[b], count);
  for (size_t i = 0; i < segments; i++) once += count[i] == 1;
  if (10 * once < 9 * segments) return 0;
  double n = (double)naive_count_of(m, a);
  return m->own[b] *
         ((lgamma(2 * n + 1) - 2 * lgamma(n + 1)) / log(2) - log2(m->kinds + 1));
}

/* The parts of a loop whose order counts: loops in it, then options; at most 16. */
static inline int naive_parts(const naive_model *m, int a, int *part) {
  int parts = 0;
  for (int b = 0; b < m->levels; b++) {
    if (naive_is_inside(m, a, b)) part[parts++] = b;
  }
  for (int b = 0; b < m->levels; b++) {
    if (naive_is_option(m, a, b)) part[parts++] = b;
  }
  return parts < 16 ? parts : 16;
}

/* The share of pairs in the rarer order, and the bits that the order saves. */
static inline double naive_disorder(const naive_model *m, int a, double *bits) {
  int part[2 * NAIVE_MAIN_LISTS], parts = naive_parts(m, a, part);
  size_t begin[NAIVE_MAIN_MOST], count = naive_begins(m, a, begin);
  double rare = 0, total = 0, saved = 0;
  for (int i = 0; i < parts; i++) {
    for (int j = 0; j < i; j++) {
      double both = 0, before = 0;
      for (size_t s = 0; s + 1 < count; s++) {
        size_t x = naive_first_in(m, part[i], begin[s], begin[s + 1]);
        size_t y = naive_first_in(m, part[j], begin[s], begin[s + 1]);
        both += x < m->n && y < m->n;
        before += x < y && y < m->n;
      }
      if (both <= 0) continue;
      if (both >= 4) rare += fmin(before, both - before) + .5;
      if (both >= 4) total += both + 1;
      saved += both + (lgamma(before + .5) + lgamma(both - before + .5) - log(acos(-1)) -
                       lgamma(both + 1)) /
                          log(2);
    }
  }
  double p = parts;
  *bits = parts > 1 ? saved * lgamma(p + 1) / log(2) / (p * (p - 1) / 2) : 0;
  return total > 0 ? rare / total : 0;
}

static inline bool naive_is_good(const naive_model *m, int a, const naive_extent *e,
                                 bool has_pairs) {
  double bits;
  if (!m->is_loop[a] || !m->own[a] || e->inside < .7) return false;
  if (naive_disorder(m, a, &bits) > .2) return false;
  if (has_pairs && naive_bits_of_level(m, a) < 10 - 1e-6) return false;
  bits += fmax(0, naive_bits_of_level(m, a));
  for (int b = 0; b < m->levels; b++) {
    if (naive_is_option(m, a, b)) bits += fmax(0, naive_bits_of_level(m, b));
    if (!naive_is_inside(m, a, b)) continue;
    bits += fmax(0, naive_regularity(m, a, b)) + fmax(0, naive_bits_of_once(m, a, b));
  }
  return bits >= 10 - 1e-6 ||
         (double)(m->events[a] + m->in_turns[a]) >= .9 * (double)(e->end - e->first);
}

/* Whether an event that the iterations of b have once, or an entry if it has entries only, comes
 * between each anchor of a, or nearly each, and the next one of b; or, if b is most of a, one
 * lacks in the iteration of b. */
static inline bool naive_has_in(const naive_model *m, int k, size_t from, size_t to) {
  bool has = false;
  for (size_t i = from; i < to; i++) has = has || m->kind[k].has[i];
  return has;
}

/* Whether kinds of level b that came before its anchor have no whole first segment. */
static inline bool naive_begin_known(const naive_model *m, int b) {
  for (int k = 0; k < m->anchor[b]; k++) {
    if (m->kind[k].level != b) continue;
    size_t from = 0, to;
    while (!m->kind[k].has[from]) from++;
    for (to = from + 1; !m->kind[k].has[to];) to++;
    bool is_whole = true;
    for (int i = 0; i < m->kinds; i++) {
      is_whole = is_whole && (m->kind[i].level != b || naive_has_in(m, i, from, to));
    }
    if (is_whole) return false;
  }
  return true;
}

/* Whether nearly all events x are in the middle of iterations of b, or instead of a part. */
static inline bool naive_come_within(const naive_model *m, int x, int b, bool is_known,
                                     bool replaces) {
  size_t all = 0, within = 0, left = m->kind[x].count;
  int y = m->anchor[b];
  for (size_t i = 0; i < m->n; i++) {
    if (!m->kind[x].has[i]) continue;
    bool has = false;
    size_t at = i, from = i;
    left--;
    while (from > 0 && !m->kind[y].has[--from]) {
    }
    for (; at < m->n && !m->kind[y].has[at]; at++) {
      for (int k = 0; k < m->kinds; k++) {
        double apart = (double)m->kind[k].count - (double)m->kind[y].count;
        bool is_once =
            m->own[b] ? !m->kind[k].is_entry && fabs(apart) < 1.5 : m->kind[k].is_entry;
        bool is = is_known && m->kind[k].level == b && is_once && m->kind[k].has[at];
        has = has || is;
      }
    }
    if (at == m->n && !left) break; /* the last one may be behind the loop */
    for (int k = 0; k < m->kinds && replaces; k++) {
      has = has || (m->kind[k].level == b && !naive_has_in(m, k, from, at));
    }
    all++;
    within += has;
  }
  return (double)within >= .9 * (double)all;
}

static inline bool naive_within(const naive_model *m, int a, int b) {
  bool replaces = naive_weight(m, b) >= .9 * naive_weight(m, a), within = false;
  bool is_known = naive_begin_known(m, b);
  for (int x = 0; x < m->kinds; x++) {
    if (m->kind[x].level != a) continue;
    within = within || naive_come_within(m, x, b, is_known, replaces);
  }
  return within;
}

static inline bool naive_groups(const naive_model *m, int a, int b) {
  int own = 0, further = 0;
  size_t count[NAIVE_MAIN_MOST], usual = 0, others = 0;
  for (int p = 0; p < m->levels; p++) {
    own += naive_is_part(m, b, p) ? m->own[p] : 0;
    further += naive_is_part(m, a, p) && !naive_is_part(m, b, p) ? m->own[p] : 0;
  }
  double ratio = (double)naive_count_of(m, b) / (double)naive_count_of(m, a);
  if (ratio < (own < 3 ? 2.5 : 4.2)) return false;
  if (naive_within(m, a, b)) return true;
  if (further > (own / 4 > 1 ? own / 4 : 1)) return false;
  if (m->turns[b] && m->turns[b] <= 2 * naive_count_of(m, a)) return false;
  if (naive_weight(m, b) < (own < 3 ? .7 : .9) * naive_weight(m, a)) return false;
  size_t segments = naive_counts(m, m->anchor[a], m->anchor[b], count);
  for (size_t at_most = 0; 2 * at_most < segments; usual += 2 * at_most < segments) {
    at_most = 0;
    for (size_t i = 0; i < segments; i++) at_most += count[i] <= usual;
  }
  for (size_t i = 0; i < segments; i++) {
    others += fabs((double)count[i] - (double)usual) > floor((double)usual / 64);
  }
  return others < 2 || (double)others <= .1 * (double)segments + 1e-9;
}

/* Whether a quarter of the events in loop a are of levels that come only there. */
static inline bool naive_begins_most(const naive_model *m, int a, const naive_extent *e) {
  size_t all = 0, only = 0;
  for (int b = 0; b < m->levels; b++) {
    size_t outside = 0, count = naive_count_of(m, b);
    for (size_t i = 0; i < m->n; i++) {
      outside += (i < e->first || i >= e->end) && m->kind[m->anchor[b]].has[i];
    }
    all += m->contains[a][b] ? m->events[b] : 0;
    only += m->contains[a][b] && 50 * outside <= count ? m->events[b] : 0;
  }
  return 4 * only > all;
}

static inline int naive_choose(const naive_model *m, const naive_extent *extent,
                               bool has_pairs, int *outer) {
  int chosen = -1, best = -1;
  for (int a = 0; a < m->levels; a++) {
    if (extent[a].is_good && (best < 0 || extent[a].share > extent[best].share)) best = a;
  }
  for (int a = 0; a < m->levels; a++) {
    if (!extent[a].is_good) continue;
    double of_best = extent[a].share / extent[best].share;
    if (of_best < .9 &&
        !(m->contains[a][best] && of_best >= .5 && naive_begins_most(m, a, &extent[a]))) {
      continue;
    }
    bool is_better = chosen < 0 || naive_count_of(m, a) < naive_count_of(m, chosen) ||
                     (naive_count_of(m, a) == naive_count_of(m, chosen) &&
                      extent[a].share > extent[chosen].share);
    if (is_better) chosen = a;
  }
  if (chosen < 0 || extent[chosen].share < (has_pairs ? .8 : .2)) return -1;
  *outer = chosen;
  for (int next = chosen; next >= 0;) {
    chosen = next;
    next = -1;
    for (int b = 0; b < m->levels; b++) {
      if (!m->contains[chosen][b] || !m->is_loop[b] || !naive_groups(m, chosen, b))
        continue;
      double more = next < 0 ? 1 : naive_weight(m, b) - naive_weight(m, next);
      if (more > 0 || (more >= 0 && naive_count_of(m, b) < naive_count_of(m, next)))
        next = b;
    }
  }
  return chosen;
}

/* Whether events [from, to) have half, or more, of the kinds of a level. */
static inline bool naive_has(const naive_model *m, int a, size_t from, size_t to,
                             int of_four) {
  int kinds = 0, seen = 0;
  for (int k = 0; k < m->kinds; k++) {
    if (m->kind[k].level != a) continue;
    bool has = false;
    for (size_t i = from; i < to; i++) has = has || m->kind[k].has[i];
    kinds++;
    seen += has;
  }
  return 4 * seen >= of_four * kinds;
}

/* Whether events [from, to) have a loop of those in a level, or it has none. */
static inline bool naive_has_inner(const naive_model *m, int a, size_t from, size_t to) {
  bool has = false, has_any = false;
  for (int b = 0; b < m->levels; b++) {
    has_any = has_any || m->contains[a][b];
    for (size_t i = from; i < to; i++) {
      has = has || (m->contains[a][b] && m->kind[m->anchor[b]].has[i]);
    }
  }
  return has || !has_any;
}

/* Segments first, ..., last of a level are iterations; begin[count] is n. */
static inline void naive_segments(const naive_model *m, int a, const size_t *begin,
                                  size_t count, size_t *first, size_t *last) {
  size_t with_inner = 0;
  for (*first = 0; *first + 2 < count; ++*first) {
    if (naive_has(m, a, begin[*first], begin[*first + 1], 2)) break;
  }
  for (with_inner = *first; with_inner + 2 < count; with_inner++) {
    size_t from = begin[with_inner], to = begin[with_inner + 1];
    if (naive_has(m, a, from, to, 2) && naive_has_inner(m, a, from, to)) break;
  }
  if (with_inner > *first + 1) *first = with_inner;
  size_t to = *first, longest = 0;
  for (; to < *first + 4 && to + 2 < count; to++) {
    size_t length = begin[to + 1] - begin[to];
    if (4 * length >= naive_usual(begin, count)) break;
    if (length > longest) longest = length;
  }
  if (to + 1 < count && 4 * longest < begin[to + 1] - begin[to]) *first = to;
  *last = naive_has(m, a, begin[count - 1], m->n, 2) ? count - 1 : count - 2;
}

/* How many anchors of the level of an event are from the first of `begin` to the last. */
static inline size_t naive_like(const naive_model *m, size_t i, const size_t *begin,
                                size_t count) {
  int level = naive_level_at(m, i);
  size_t like = 0;
  for (size_t at = begin[0]; at < begin[count - 1]; at++) {
    like += level >= 0 && m->kind[m->anchor[level]].has[at];
  }
  return like;
}

static inline size_t naive_end_of(const naive_model *m, int a, size_t from, size_t to,
                                  const size_t *begin, size_t count) {
  size_t end = to;
  bool has_rare = false;
  for (; end > from + 1; end--) {
    size_t like = naive_like(m, end - 1, begin, count);
    if (naive_known(m, a, end - 1) && like > 1) break;
    has_rare = has_rare || like <= 1 || 8 * like <= count;
  }
  return has_rare || 2 * (to - end) > naive_usual(begin, count) ? end : to;
}

static inline size_t naive_last_end(const naive_model *m, int a, size_t from,
                                    size_t longest) {
  size_t end = from + 1;
  for (size_t i = from + 1; i < m->n && i < from + longest; i++) {
    if (naive_known(m, a, i)) {
      end = i + 1;
    } else if (naive_has(m, a, from, i, 3)) {
      break;
    }
  }
  return end;
}

static inline void naive_list(const naive_model *m, int a, naive_loop *loop) {
  size_t begin[NAIVE_MAIN_MOST + 1], count = naive_begins(m, a, begin), first, last;
  size_t end[NAIVE_MAIN_MOST], longest = 1;
  begin[count] = m->n;
  naive_segments(m, a, begin, count, &first, &last);
  for (size_t i = 0; i + 1 < count; i++) {
    end[i] = naive_end_of(m, a, begin[i], begin[i + 1], begin, count);
    if (end[i] - begin[i] > longest) longest = end[i] - begin[i];
  }
  end[count - 1] = naive_last_end(m, a, begin[count - 1], longest);
  /* Warm-ups are left out, unless nothing longer follows. */
  size_t longest_run = 0;
  for (size_t i = first, run = 0; i <= last; i++) {
    run++;
    if (run > longest_run) longest_run = run;
    if (end[i] < begin[i + 1]) run = 0;
  }
  for (size_t i = first, to; i <= last; i = to) {
    for (to = i + 1; to <= last && end[to - 1] == begin[to];) to++;
    if (!loop->iterations && to - i < 3 && to - i < longest_run) continue;
    if (!loop->iterations) loop->first = begin[i];
    loop->iterations += to - i;
    loop->runs++;
    loop->end = end[to - 1];
  }
}

static inline size_t naive_places(const naive_model *m, int a, const uint32_t *event) {
  bool is_place[NAIVE_MAIN_KINDS] = {false};
  size_t count[NAIVE_MAIN_MOST], places = 0;
  for (int k = 0; k < m->kinds; k++) {
    if (m->kind[k].is_entry) continue;
    size_t segments = naive_counts(m, m->anchor[a], k, count), with = 0, at = 0;
    for (size_t i = 0; i < segments; i++) with += count[i] > 0;
    while (!m->kind[k].has[at]) at++;
    if (with && 2 * with >= segments) is_place[event[at]] = true;
  }
  for (int k = 0; k < NAIVE_MAIN_KINDS; k++) places += is_place[k];
  return places;
}

/* The same with two events in succession as kinds, each at the second of them. */
static inline void naive_pairs(const uint32_t *event, size_t n, uint32_t *pair) {
  for (size_t i = 0; i < n; i++) {
    pair[i] = (uint32_t)i;
    for (size_t k = 1; k < i; k++) {
      if (event[k] == event[i] && event[k - 1] == event[i - 1]) {
        pair[i] = pair[k];
        break;
      }
    }
  }
}

/* The main loop of one model, listed; `share`: of the events that it explains. */
static inline naive_loop naive_find(const naive_model *m, const uint32_t *event,
                                    bool has_pairs, double *share, size_t *anchors) {
  naive_loop loop = {.anchor = UINT32_MAX};
  static naive_extent extent[NAIVE_MAIN_LISTS];
  int outer = -1;
  for (int a = 0; a < m->levels; a++) {
    extent[a] = naive_measure(m, a);
    extent[a].is_good = naive_is_good(m, a, &extent[a], has_pairs);
  }
  int chosen = naive_choose(m, extent, has_pairs, &outer);
  if (chosen < 0) return loop;
  size_t at = 0;
  while (!m->kind[m->anchor[chosen]].has[at]) at++;
  loop.anchor = event[at];
  naive_list(m, chosen, &loop);
  loop.places = naive_places(m, chosen, event);
  *share = extent[chosen].share;
  *anchors = naive_count_of(m, chosen);
  return loop;
}

static inline naive_loop naive_main(const uint32_t *event, size_t n) {
  static naive_model m;
  static uint32_t pair[NAIVE_MAIN_MOST];
  size_t counts[NAIVE_MAIN_LISTS], anchors = 0;
  double share = 0, of_pairs = 0;
  naive_model_make(&m, event, n);
  naive_loop loop = naive_find(&m, event, false, &share, &anchors);
  int levels = 0;
  for (int a = 0; a < m.levels; a++) {
    if (m.own[a]) counts[levels++] = naive_count_of(&m, a);
  }
  naive_pairs(event, n, pair);
  naive_model_make(&m, pair, n);
  naive_loop outer = naive_find(&m, event, true, &of_pairs, &anchors);
  if (outer.anchor == UINT32_MAX || loop.anchor == UINT32_MAX) {
    return outer.anchor == UINT32_MAX ? loop : outer;
  }
  bool is_known = false;
  for (int a = 0; a < levels; a++) {
    size_t eighth = counts[a] / 8;
    is_known = is_known ||
               (anchors + 1 + eighth >= counts[a] && anchors <= counts[a] + eighth + 1);
  }
  bool is_around = 2 * anchors <= loop.iterations && of_pairs >= .9 * share;
  return is_around && !is_known ? outer : loop;
}

#endif
