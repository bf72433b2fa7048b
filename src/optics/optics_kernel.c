/* SPDX-License-Identifier: BSD-3-Clause */
#include "optics/optics_kernel.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

typedef double lanes __attribute__((vector_size(TSN_OPTICS_LANES * sizeof(double))));
typedef int64_t mask __attribute__((vector_size(TSN_OPTICS_LANES * sizeof(double))));

static inline lanes load(const double *from) {
  lanes v;
  memcpy(&v, from, sizeof v);
  return v;
}

static inline lanes magnitude(lanes v) {
  return (lanes)((mask)v & INT64_MAX);
}

static inline lanes smaller(lanes a, lanes b) {
  mask first = a < b;
  return (lanes)(((mask)a & first) | ((mask)b & ~first));
}

static inline lanes larger(lanes a, lanes b) {
  mask first = a > b;
  return (lanes)(((mask)a & first) | ((mask)b & ~first));
}

/* One more coordinate in each of the metrics. */
#define EUCLIDEAN(sum, difference) ((sum) + (difference) * (difference))
#define MANHATTAN(sum, difference) ((sum) + magnitude(difference))
#define CHEBYSHEV(sum, difference) larger(sum, magnitude(difference))

#define ROW(name, ADD)                                                         \
  static void name(const double *blocks, size_t count, size_t dimensions,      \
                   const double *query, double *distance) {                    \
    for (size_t b = 0; b < count; b++) {                                       \
      lanes sum = {0};                                                         \
      for (size_t c = 0; c < dimensions; c++) {                                \
        lanes difference =                                                     \
            load(blocks + (b * dimensions + c) * TSN_OPTICS_LANES) - query[c]; \
        sum = ADD(sum, difference);                                            \
      }                                                                        \
      memcpy(distance + b * TSN_OPTICS_LANES, &sum, sizeof sum);               \
    }                                                                          \
  }

ROW(row_euclidean, EUCLIDEAN)
ROW(row_manhattan, MANHATTAN)
ROW(row_chebyshev, CHEBYSHEV)

static void root(double *values, size_t count) {
#pragma omp simd
  for (size_t i = 0; i < count; i++) values[i] = sqrt(values[i]);
}

static double minimum(const double *values, size_t count) {
  double least = values[0];
  size_t i = 0;
  if (count >= TSN_OPTICS_LANES) {
    lanes best = load(values);
    for (; i + TSN_OPTICS_LANES <= count; i += TSN_OPTICS_LANES) {
      best = smaller(load(values + i), best);
    }
    for (int k = 0; k < TSN_OPTICS_LANES; k++) least = best[k] < least ? best[k] : least;
  }
  for (; i < count; i++) least = values[i] < least ? values[i] : least;
  return least;
}

/* The lanes at most `limit`, as bits. */
static inline unsigned at_most(lanes v, double limit) {
#if defined(__AVX512F__)
  return _mm512_cmp_pd_mask((__m512d)v, _mm512_set1_pd(limit), _CMP_LE_OQ);
#else
  unsigned bits = 0;
  for (int k = 0; k < TSN_OPTICS_LANES; k++) bits |= (unsigned)(v[k] <= limit) << k;
  return bits;
#endif
}

/* A search under way: the best found so far, sorted by key, then by number. */
typedef struct {
  double core, eps;
  size_t room, held;
  double *key;
  uint32_t *number;
  double limit; /* raw distances above cannot belong to what is sought */
} search;

/* A raw distance such that larger ones have a larger root than `distance`, with a
 * margin for rounding and for squares too small to be normal. */
static inline double raw_limit(double distance, int is_squared) {
  return is_squared ? distance * distance * (1 + 0x1p-50) + 1e-300 : distance;
}

static inline void offer(search *s, double distance, uint32_t number, int is_squared) {
  double key = distance > s->core ? distance : s->core;
  size_t i = s->held;
  if (distance > s->eps) return;
  if (i == s->room) {
    i--;
    if (key > s->key[i] || (key == s->key[i] && number > s->number[i])) return;
  } else {
    s->held++;
  }
  for (; i > 0 &&
         (s->key[i - 1] > key || (s->key[i - 1] == key && s->number[i - 1] > number));
       i--) {
    s->key[i] = s->key[i - 1];
    s->number[i] = s->number[i - 1];
  }
  s->key[i] = key;
  s->number[i] = number;
  if (s->held == s->room) s->limit = raw_limit(s->key[s->room - 1], is_squared);
}

/* Whether no point of a subtree at the raw distance, with this smallest number,
 * can be found. Where all keys are core distances only numbers decide. */
static inline int hopeless(const search *s, double raw, uint32_t first) {
  return first == UINT32_MAX || raw > s->limit ||
         (s->held == s->room && s->key[s->room - 1] == s->core &&
          first > s->number[s->room - 1]);
}

typedef struct {
  double raw;
  size_t node, begin, end;
} subtree;

#define AWAY(low, high, x) ((x) < (low) ? (low) - (x) : (x) > (high) ? (x) - (high) : 0)
#define BOX_EUCLIDEAN(sum, away) ((sum) + (away) * (away))
#define BOX_MANHATTAN(sum, away) ((sum) + (away))
#define BOX_CHEBYSHEV(sum, away) ((away) > (sum) ? (away) : (sum))

#define NEAREST(metric, ADD, BOX_ADD, IS_SQUARED)                                    \
  static double box_##metric(const tsn_optics_tree *tree, size_t node,               \
                             const double *query) {                                  \
    size_t d = tree->dimensions;                                                     \
    const double *low = tree->box + 2 * node * d, *high = low + d;                   \
    double sum = 0;                                                                  \
    for (size_t c = 0; c < d; c++) {                                                 \
      double away = AWAY(low[c], high[c], query[c]);                                 \
      sum = BOX_ADD(sum, away);                                                      \
    }                                                                                \
    return sum;                                                                      \
  }                                                                                  \
                                                                                     \
  static void leaf_##metric(const tsn_optics_tree *tree, size_t leaf,                \
                            const double *query, search *s) {                        \
    const double *block = tree->blocks + leaf * tree->dimensions * TSN_OPTICS_LANES; \
    lanes sum = {0};                                                                 \
    for (size_t c = 0; c < tree->dimensions; c++) {                                  \
      lanes difference = load(block + c * TSN_OPTICS_LANES) - query[c];              \
      sum = ADD(sum, difference);                                                    \
    }                                                                                \
    for (unsigned bits = at_most(sum, s->limit); bits; bits &= bits - 1) {           \
      int k = __builtin_ctz(bits);                                                   \
      uint32_t number = tree->number[leaf * TSN_OPTICS_LANES + (size_t)k];           \
      if (number == UINT32_MAX) continue;                                            \
      offer(s, (IS_SQUARED) ? sqrt(sum[k]) : sum[k], number, IS_SQUARED);            \
    }                                                                                \
  }                                                                                  \
                                                                                     \
  static size_t nearest_##metric(const tsn_optics_tree *tree, const double *query,   \
                                 double core, double eps, size_t room, double *key,  \
                                 uint32_t *number) {                                 \
    search s = {core, eps, room, 0, key, number, raw_limit(eps, IS_SQUARED)};        \
    subtree stack[64];                                                               \
    size_t height = 0;                                                               \
    stack[height++] = (subtree){0, 0, 0, tree->leaves};                              \
    while (height) {                                                                 \
      subtree t = stack[--height];                                                   \
      if (hopeless(&s, t.raw, tree->first[t.node])) continue;                        \
      if (t.end - t.begin == 1) {                                                    \
        leaf_##metric(tree, t.begin, query, &s);                                     \
        continue;                                                                    \
      }                                                                              \
      size_t middle = tsn_optics_middle(t.begin, t.end);                             \
      size_t second = tsn_optics_right(t.node, t.begin, middle);                     \
      subtree left = {box_##metric(tree, t.node + 1, query), t.node + 1, t.begin,    \
                      middle};                                                       \
      subtree right = {box_##metric(tree, second, query), second, middle, t.end};    \
      int left_first = left.raw <= right.raw;                                        \
      stack[height++] = left_first ? right : left;                                   \
      stack[height++] = left_first ? left : right;                                   \
    }                                                                                \
    return s.held;                                                                   \
  }

NEAREST(euclidean, EUCLIDEAN, BOX_EUCLIDEAN, 1)
NEAREST(manhattan, MANHATTAN, BOX_MANHATTAN, 0)
NEAREST(chebyshev, CHEBYSHEV, BOX_CHEBYSHEV, 0)

const tsn_optics_kernels TSN_LEVEL(tsn_optics_kernels) = {
    .row = {row_euclidean, row_manhattan, row_chebyshev},
    .root = root,
    .minimum = minimum,
    .nearest = {nearest_euclidean, nearest_manhattan, nearest_chebyshev},
};
