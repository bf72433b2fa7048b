/* SPDX-License-Identifier: BSD-3-Clause */
/* Few attributes of two values that discern all rows. The chosen attributes put the
 * rows into classes of rows that agree. With k attributes to come,
 *
 *     a class has at most 2^k rows, or they cannot be discerned;
 *     so an attribute to come has either value in at most 2^(k - 1) rows of each class
 *
 *     k = 2    class of 3    0 1 1        every attribute to come varies in it
 *              class of 4    0 0 1 1      ... and has each value twice
 *
 * Attributes without that property for some class are no candidates. For 200 rows of 60
 * random attributes, three attributes before the last most nodes have fewer candidates
 * left than attributes to come. A node branches on the attributes that discern one pair
 * of rows, that pair of a class with the fewest candidates; an attribute that was tried
 * is out for the branches after it, so that every set is met once.
 *
 * The values of all attributes are counted at once: bit a of planes 0, 1, ... is the
 * number, in binary, of the rows of a class with bit a. */
#include "roughset/split_kernel.h"

/* Bits of the number of rows. */
enum { PLANES = 13 };
_Static_assert(TSN_RS_SPLIT_ROWS < 1 << PLANES, "counts of rows fit");

static inline size_t size_of(const uint64_t *set, const size_t words) {
  size_t size = 0;
  for (size_t w = 0; w < words; w++) size += (size_t)__builtin_popcountll(set[w]);
  return size;
}

/* Count word w of the rows of a class into `planes` planes. */
static inline void count_bits(const tsn_rs_split *s, tsn_rs_class c, size_t w,
                              const size_t words, size_t planes, uint64_t *plane) {
  for (size_t b = 0; b < planes; b++) plane[b] = 0;
  for (size_t i = c.begin; i < c.begin + c.size; i++) {
    uint64_t carry = s->row[i * words + w];
    for (size_t b = 0; b < planes; b++) {
      uint64_t both = plane[b] & carry;
      plane[b] ^= carry;
      carry = both;
    }
  }
}

/* The bits whose count is from `least` to `most`. */
static inline uint64_t between(const uint64_t *plane, size_t planes, size_t least,
                               size_t most) {
  uint64_t less = 0, more = 0, is_least = ~(uint64_t)0, is_most = ~(uint64_t)0;
  for (size_t b = planes; b-- > 0;) {
    if (least >> b & 1) {
      less |= is_least & ~plane[b];
      is_least &= plane[b];
    } else {
      is_least &= ~plane[b];
    }
    if (most >> b & 1) {
      is_most &= plane[b];
    } else {
      more |= is_most & plane[b];
      is_most &= ~plane[b];
    }
  }
  return ~(less | more);
}

/* Drop the candidates that leave a class with too many rows. Returns whether enough are
 * left. */
static inline bool filter(tsn_rs_split *s, size_t left, const size_t words) {
  uint64_t *candidates = s->candidates + s->depth * words;
  uint64_t plane[PLANES];
  size_t most = (size_t)1 << (left - 1);
  for (size_t k = s->first[s->depth]; k < s->first[s->depth + 1]; k++) {
    tsn_rs_class c = s->class[k];
    if (c.size <= most) continue;
    if (c.size > 2 * most) return false;
    size_t planes = 64 - (size_t)__builtin_clzll(c.size);
    for (size_t w = 0; w < words; w++) {
      count_bits(s, c, w, words, planes, plane);
      candidates[w] &= between(plane, planes, c.size - most, most);
    }
    if (size_of(candidates, words) < left) return false;
  }
  return size_of(candidates, words) >= left;
}

/* The fewest candidates that discern a pair of a class: into `branch`. */
static inline void find_branch(const tsn_rs_split *s, const uint64_t *candidates,
                               const size_t words, uint64_t *branch) {
  const uint64_t *x = s->row, *y = s->row;
  size_t least = SIZE_MAX;
  for (size_t k = s->first[s->depth]; k < s->first[s->depth + 1] && least > 0; k++) {
    size_t end = (size_t)s->class[k].begin + s->class[k].size;
    for (size_t i = s->class[k].begin; i < end; i++) {
      const uint64_t *a = s->row + i * words;
      for (size_t j = i + 1; j < end; j++) {
        const uint64_t *b = s->row + j * words;
        size_t size = 0;
        for (size_t w = 0; w < words; w++) {
          size += (size_t)__builtin_popcountll((a[w] ^ b[w]) & candidates[w]);
        }
        if (size >= least) continue;
        least = size;
        x = a;
        y = b;
      }
    }
  }
  for (size_t w = 0; w < words; w++) branch[w] = (x[w] ^ y[w]) & candidates[w];
}

/* The last attribute: the candidates that discern every pair, which is all of a class. */
static inline void find_last(const tsn_rs_split *s, const uint64_t *candidates,
                             const size_t words, uint64_t *branch) {
  for (size_t w = 0; w < words; w++) branch[w] = candidates[w];
  for (size_t k = s->first[s->depth]; k < s->first[s->depth + 1]; k++) {
    const uint64_t *a = s->row + s->class[k].begin * words, *b = a + words;
    uint64_t any = 0;
    for (size_t w = 0; w < words; w++) any |= branch[w] &= a[w] ^ b[w];
    if (!any) return;
  }
}

static inline void open_node(tsn_rs_split *s, const size_t words) {
  uint64_t *candidates = s->candidates + s->depth * words;
  uint64_t *branch = s->branch + s->depth * words;
  size_t left = s->limit - s->depth;
  s->nodes++;
  if (left == 0 || !filter(s, left, words)) {
    for (size_t w = 0; w < words; w++) branch[w] = 0;
  } else if (left == 1) {
    find_last(s, candidates, words, branch);
  } else {
    find_branch(s, candidates, words, branch);
  }
}

/* The next attribute of the branch, which is no candidate from now on; SIZE_MAX: none. */
static inline size_t take(tsn_rs_split *s, const size_t words) {
  uint64_t *branch = s->branch + s->depth * words;
  for (size_t w = 0; w < words; w++) {
    if (branch[w] == 0) continue;
    uint64_t bit = branch[w] & -branch[w];
    branch[w] ^= bit;
    s->candidates[s->depth * words + w] &= ~bit;
    return 64 * w + (size_t)__builtin_ctzll(bit);
  }
  return SIZE_MAX;
}

/* Put the rows of a class without bit `a` first. Returns their number. */
static inline size_t halve(tsn_rs_split *s, tsn_rs_class c, size_t a,
                           const size_t words) {
  uint64_t *to = s->row + c.begin * words;
  size_t count = 0;
  for (size_t i = 0; i < c.size; i++) {
    uint64_t *from = s->row + (c.begin + i) * words;
    size_t is_low = ~from[a / 64] >> (a % 64) & 1;
    for (size_t w = 0; w < words; w++) {
      uint64_t word = from[w];
      from[w] = to[w];
      to[w] = word;
    }
    to += is_low * words;
    count += is_low;
  }
  return count;
}

/* Choose an attribute. A class stays where it is, in another order. */
static inline void choose(tsn_rs_split *s, size_t a, const size_t words) {
  size_t end = s->first[s->depth + 1], next = end;
  for (size_t k = s->first[s->depth]; k < end; k++) {
    tsn_rs_class c = s->class[k];
    uint32_t low = (uint32_t)halve(s, c, a, words);
    s->class[next] = (tsn_rs_class){c.begin, low};
    next += low > 1;
    s->class[next] = (tsn_rs_class){c.begin + low, c.size - low};
    next += c.size - low > 1;
  }
  const uint64_t *candidates = s->candidates + s->depth * words;
  s->chosen[s->depth++] = (uint32_t)a;
  s->first[s->depth + 1] = next;
  for (size_t w = 0; w < words; w++) {
    s->candidates[s->depth * words + w] = candidates[w];
  }
}

static inline int search(tsn_rs_split *s, const size_t words, uint64_t budget) {
  uint64_t stop = s->nodes + budget;
  for (;;) {
    size_t a = take(s, words);
    if (a == SIZE_MAX) {
      if (s->depth == s->base) return TSN_RS_SPLIT_DONE;
      s->depth--;
      continue;
    }
    choose(s, a, words);
    if (s->first[s->depth] == s->first[s->depth + 1]) {
      for (size_t w = 0; w < words; w++) s->branch[s->depth * words + w] = 0;
      return TSN_RS_SPLIT_FOUND;
    }
    open_node(s, words);
    if (s->nodes >= stop) return TSN_RS_SPLIT_NODES;
  }
}

static void open(tsn_rs_split *s) {
  if (s->words == 1) {
    open_node(s, 1);
  } else {
    open_node(s, s->words);
  }
}

static int run(tsn_rs_split *s, uint64_t budget) {
  return s->words == 1 ? search(s, 1, budget) : search(s, s->words, budget);
}

static void choose_attribute(tsn_rs_split *s, size_t a) {
  choose(s, a, s->words);
}

const tsn_rs_split_kernels TSN_LEVEL(tsn_rs_split_kernels) = {
    .open = open, .run = run, .choose = choose_attribute};
