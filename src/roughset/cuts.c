/* SPDX-License-Identifier: BSD-3-Clause */
/* Cuts of a numeric column: of equal width, of equal frequency, or by recursive minimal
 * entropy (U. Fayyad and K. Irani, IJCAI 1993); and codes by them.
 *
 * Entropy: of the n samples S, with k decisions, the cut T that minimizes the mean
 * entropy of the two sides, E = |S1|/n Ent(S1) + |S2|/n Ent(S2), is accepted if it
 * shortens the description of the decisions (minimum description length):
 *
 *     Ent(S) - E  >  (log2(n - 1) + D) / n
 *     D = log2(3^k - 2) - (k Ent(S) - k1 Ent(S1) - k2 Ent(S2))
 *
 * and the sides are cut in turn. Intervals are taken from a queue and not by recursion:
 * so a limit of `bins` keeps the cuts of the coarse levels, and the depth needs no stack.
 *
 * Ent(S) = log2 n - (sum of c log2 c) / n over the counts c of decisions: moving a sample
 * from one side to the other changes one term of each sum, O(1). All cuts of an interval
 * are tried in one pass, O(n log n) in all for the sort and O(n) for each level.
 *
 * All methods cut only between different samples, so that equal samples get one code. */
#include <math.h>
#include <string.h>
#include <tsanom/roughset.h>

#include "core/check.h"
#include "core/environment.h"
#include "core/exec.h"
#include "core/size.h"
#include "roughset/table.h"

/* Buffers for one column; what is indexed by rank belongs to the sorted samples. */
typedef struct {
  tsn_rs_index index;
  uint64_t *key, *scratch; /* samples as integers of the same order */
  double *sorted;
  uint32_t *place;         /* of the next sample of a rank */
  uint32_t *class_of;      /* decision of each sorted sample */
  uint32_t *decision;      /* of each sample */
  uint32_t *below, *above; /* counts of each decision */
  uint32_t *queue;         /* intervals of sorted samples: begin, end */
  uint8_t *cut;            /* whether there is a cut before a sorted sample */
} cut_buffers;

typedef struct {
  double *cuts;
  size_t capacity, count;
} cut_list;

typedef struct {
  tsanom_exec exec;
  size_t count;
  cut_buffers buffers;
  const double *samples;
  const int32_t *decision;
  int32_t method;
  size_t bins;
  cut_list list;
  size_t *found;
} cuts_call;

static void layout(tsn_arena *arena, void *context) {
  cuts_call *c = context;
  size_t count = c->count;
  cut_buffers *b = &c->buffers;
  tsn_rs_index_layout(arena, count, 1, &b->index);
  b->key = tsn_arena_take(arena, count, sizeof *b->key);
  b->scratch = tsn_arena_take(arena, count, sizeof *b->scratch);
  b->sorted = tsn_arena_take(arena, count, sizeof *b->sorted);
  b->place = tsn_arena_take(arena, count + 1, sizeof *b->place);
  b->class_of = tsn_arena_take(arena, count, sizeof *b->class_of);
  b->decision = tsn_arena_take(arena, count, sizeof *b->decision);
  b->below = tsn_arena_take(arena, count, sizeof *b->below);
  b->above = tsn_arena_take(arena, count, sizeof *b->above);
  b->queue = tsn_arena_take(arena, 2 * count + 1, 2 * sizeof *b->queue);
  b->cut = tsn_arena_take(arena, count, sizeof *b->cut);
}

/* ---- sorting; -0 and 0 are one sample
 *
 * The bits of a double, as an integer, have the order of positive numbers and the reverse
 * order of negative ones: inverting the bits of negative numbers, and setting the sign
 * bit of the others, gives integers for the radix sort of table.c. Adding 0.0 turns -0
 * into 0. */

static uint64_t key_of(double sample) {
  uint64_t bits;
  sample += 0.0;
  memcpy(&bits, &sample, sizeof bits);
  return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

static double sample_of(uint64_t key) {
  uint64_t bits = key >> 63 ? key & ~((uint64_t)1 << 63) : ~key;
  double sample;
  memcpy(&sample, &bits, sizeof sample);
  return sample;
}

static void sort_samples(const double *samples, size_t count, cut_buffers *b) {
  for (size_t i = 0; i < count; i++) b->key[i] = key_of(samples[i]);
  tsn_rs_sort(b->key, b->scratch, count);
  for (size_t i = 0; i < count; i++) b->sorted[i] = sample_of(b->key[i]);
}

/* The first of the sorted keys that equals `key`. */
static size_t rank_of(const uint64_t *sorted, size_t count, uint64_t key) {
  size_t low = 0, high = count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (sorted[middle] < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/* ---- the methods; each marks the sorted samples that open an interval */

/* A boundary is a place p with a sample below it that is less than sample p. The wanted
 * places move to the nearest boundary, of two equally near to the lower. Several may move
 * to one boundary: then there are fewer bins than asked for. With as many bins as samples all
 * places are wanted. */
static void mark_equal_frequency(size_t count, size_t bins, cut_buffers *b) {
  bins = tsn_smaller(bins, count);
  uint32_t *before = b->below, *after = b->above; /* the nearest, or 0 and count */
  before[0] = 0;
  for (size_t p = 1; p < count; p++) {
    before[p] = b->key[p - 1] < b->key[p] ? (uint32_t)p : before[p - 1];
  }
  for (size_t p = count; p-- > 1;) {
    bool last = p + 1 == count;
    after[p] = before[p] == p ? (uint32_t)p : last ? (uint32_t)count : after[p + 1];
  }
  for (size_t k = 1; k < bins; k++) {
    size_t wanted = (size_t)((double)count * (double)k / (double)bins + 0.5);
    if (wanted == 0 || wanted >= count) continue;
    size_t down = before[wanted], up = after[wanted];
    size_t place = down > 0 && (up == count || wanted - down <= up - wanted) ? down : up;
    if (place < count) b->cut[place] = 1;
  }
}

/* x log2 x, which sums to entropies; 0 at 0, its limit. */
static double bits(double x) {
  return x > 0 ? x * log2(x) : 0;
}

/* One side of a cut: enough to compute its entropy. */
typedef struct {
  double sum; /* of bits(count) over the classes */
  size_t classes;
} class_counts;

/* Add a sample of a class to a side, or take one from it. */
static void move_class(uint32_t *count, class_counts *counts, int step) {
  double before = *count;
  if (step > 0 && *count == 0) counts->classes++;
  *count = step > 0 ? *count + 1 : *count - 1;
  if (step < 0 && *count == 0) counts->classes--;
  counts->sum += bits(*count) - bits(before);
}

static double entropy(const class_counts *counts, double size) {
  return log2(size) - counts->sum / size;
}

/* The best cut of the sorted samples begin ... end - 1 if it shortens the description;
 * else 0. Of equally good cuts the lowest. */
static size_t best_cut(cut_buffers *b, size_t begin, size_t end) {
  class_counts below = {0, 0}, above = {0, 0};
  double size = (double)(end - begin), least = INFINITY, total;
  size_t best = 0;
  class_counts left = below, right = below;
  for (size_t i = begin; i < end; i++) b->below[b->class_of[i]] = 0;
  for (size_t i = begin; i < end; i++) b->above[b->class_of[i]] = 0;
  for (size_t i = begin; i < end; i++) move_class(&b->above[b->class_of[i]], &above, 1);
  class_counts all = above;
  total = entropy(&all, size);
  for (size_t i = begin; i + 1 < end; i++) {
    move_class(&b->below[b->class_of[i]], &below, 1);
    move_class(&b->above[b->class_of[i]], &above, -1);
    if (b->key[i] == b->key[i + 1]) continue;
    double n = (double)(i + 1 - begin);
    double mean =
        (n * entropy(&below, n) + (size - n) * entropy(&above, size - n)) / size;
    if (mean < least) {
      least = mean;
      best = i + 1;
      left = below;
      right = above;
    }
  }
  if (best == 0) return 0;
  double n = (double)(best - begin);
  double k = (double)all.classes;
  /* log2(3^k - 2), safe for any k. */
  double choices = k * log2(3) + log2(1 - 2 * pow(3, -k));
  double delta = choices - (k * total - (double)left.classes * entropy(&left, n) -
                            (double)right.classes * entropy(&right, size - n));
  return total - least > (log2(size - 1) + delta) / size ? best : 0;
}

/* Decisions are brought into the order of the samples by looking each sample up among the
 * sorted ones, because the radix sort moves keys alone; `place` counts equal samples.
 * Their order does not matter, as no cut separates them. */
static tsanom_status mark_entropy(const tsanom_exec *exec, const int32_t *decision,
                                  const double *samples, size_t count, size_t bins,
                                  cut_buffers *b) {
  enum { SAMPLES_BETWEEN_POLLS = 1 << 14 };
  const tsn_rs_watch watch = {exec, 0, 1};
  tsn_rs_projection p = {
      .values = decision, .stride = 1, .count = 1, .rows = count, .watch = &watch};
  if (tsn_rs_group(&p, &b->index, b->decision) == TSN_RS_STOPPED) return TSANOM_STOPPED;
  memset(b->place, 0, (count + 1) * sizeof *b->place);
  for (size_t i = 0; i < count; i++) {
    if (i % SAMPLES_BETWEEN_POLLS == SAMPLES_BETWEEN_POLLS - 1 &&
        tsn_exec_stop(exec, 0, 1)) {
      return TSANOM_STOPPED;
    }
    size_t rank = rank_of(b->key, count, key_of(samples[i]));
    b->class_of[rank + b->place[rank]++] = b->decision[i];
  }
  size_t head = 0, tail = 1, cuts = 0;
  b->queue[0] = 0;
  b->queue[1] = (uint32_t)count;
  for (; head < tail && (bins == 0 || cuts + 1 < bins); head++) {
    if (tsn_exec_stop(exec, head, tail)) return TSANOM_STOPPED;
    size_t begin = b->queue[2 * head], end = b->queue[2 * head + 1];
    size_t at = best_cut(b, begin, end);
    if (at == 0) continue;
    b->cut[at] = 1;
    cuts++;
    uint32_t parts[] = {(uint32_t)begin, (uint32_t)at, (uint32_t)at, (uint32_t)end};
    memcpy(b->queue + 2 * tail, parts, sizeof parts);
    tail += 2;
  }
  return TSANOM_OK;
}

/* ---- cuts */

static void add_cut(cut_list *list, double cut) {
  if (list->count < list->capacity) list->cuts[list->count] = cut;
  list->count++;
}

/* A cut is a mean of the ends, weighted, so that the width of the range cannot overflow.
 * Cuts that rounding makes equal are dropped. */
static tsanom_status add_equal_widths(const tsanom_exec *exec, const double *samples,
                                      size_t count, size_t bins, cut_list *list) {
  enum { BINS_BETWEEN_POLLS = 1 << 20 };
  double least = samples[0], largest = samples[0];
  for (size_t i = 1; i < count; i++) {
    least = samples[i] < least ? samples[i] : least;
    largest = samples[i] > largest ? samples[i] : largest;
  }
  double last = least;
  for (size_t k = 1; k < bins && least < largest; k++) {
    double t = (double)k / (double)bins, cut = least * (1 - t) + largest * t;
    if (k % BINS_BETWEEN_POLLS == 0 && tsn_exec_stop(exec, k, bins)) {
      return TSANOM_STOPPED;
    }
    if (cut > last && cut <= largest) add_cut(list, last = cut);
  }
  return TSANOM_OK;
}

/* A number above a and not above b that is far from both: a new sample close to one of
 * them gets its code. The halves are added, since the sum may overflow. */
static double between(double a, double b) {
  double middle = a / 2 + b / 2;
  return middle > a && middle <= b ? middle : b;
}

/* Equal widths need no sort: only the ends of the range. */
static tsanom_status find_cuts(cuts_call *c) {
  const double *samples = c->samples;
  cut_buffers *b = &c->buffers;
  size_t count = c->count;
  if (tsn_exec_stop(&c->exec, 0, count)) return TSANOM_STOPPED;
  if (c->method == TSANOM_ROUGHSET_EQUAL_WIDTH) {
    return add_equal_widths(&c->exec, samples, count, c->bins, &c->list);
  }
  sort_samples(samples, count, b);
  memset(b->cut, 0, count);
  if (c->method == TSANOM_ROUGHSET_EQUAL_FREQUENCY) {
    mark_equal_frequency(count, c->bins, b);
  } else if (mark_entropy(&c->exec, c->decision, samples, count, c->bins, b) !=
             TSANOM_OK) {
    return TSANOM_STOPPED;
  }
  for (size_t i = 1; i < count; i++) {
    if (b->cut[i]) add_cut(&c->list, between(b->sorted[i - 1], b->sorted[i]));
  }
  return TSANOM_OK;
}

static tsanom_status cuts_body(void *context) {
  cuts_call *c = context;
  tsanom_status status = find_cuts(c);
  *c->found = c->list.count;
  if (status != TSANOM_OK) return status;
  return c->list.count > c->list.capacity ? TSANOM_PARTIAL : TSANOM_OK;
}

static tsanom_status read_call(cuts_call *c, const tsanom_exec *exec) {
  tsanom_status status = tsn_exec_read(&c->exec, exec);
  if (status < 0) return status;
  const tsanom_exec *own = &c->exec;
  bool entropic = c->method == TSANOM_ROUGHSET_ENTROPY;
  if ((status = tsn_require_int(own, TSANOM_E_OPTION, "method", c->method,
                                TSANOM_ROUGHSET_EQUAL_WIDTH, TSANOM_ROUGHSET_ENTROPY)) <
          0 ||
      (status = tsn_require_size(own, TSANOM_E_COUNT, "count", c->count, 1, INT32_MAX)) <
          0) {
    return status;
  }
  return tsn_require_size(own, TSANOM_E_OPTION, "bins", c->bins, !entropic, INT32_MAX);
}

static tsanom_status check(void *context) {
  const cuts_call *c = context;
  const tsanom_exec *exec = &c->exec;
  bool entropic = c->method == TSANOM_ROUGHSET_ENTROPY;
  if (!c->samples) return tsn_reject_null(exec, "samples", c->count);
  if (entropic && !c->decision) return tsn_reject_null(exec, "decision", c->count);
  tsanom_status status = tsn_require(exec, c->found, "found");
  if (status < 0) return status;
  if (c->list.capacity > 0 && !c->list.cuts) {
    return tsn_reject_null(exec, "cuts", c->list.capacity);
  }
  if (tsn_all_finite(c->samples, c->count)) return TSANOM_OK;
  size_t i = tsn_first_nonfinite(c->samples, c->count);
  return tsn_reject_value(exec, TSANOM_E_NONFINITE, "samples", i, TSANOM_NONE,
                          c->samples[i], TSN_FINITE);
}

tsanom_status tsanom_roughset_cuts(const double *samples, const int32_t *decision,
                                   size_t count, int32_t method, size_t bins,
                                   const tsanom_exec *exec, double *cuts, size_t capacity,
                                   size_t *found) {
  cuts_call c = {.count = count,
                 .samples = samples,
                 .decision = decision,
                 .method = method,
                 .bins = bins,
                 .list = {.cuts = cuts, .capacity = capacity},
                 .found = found};
  tsanom_status status = read_call(&c, exec);
  return status < 0 ? status : tsn_workspace_run(&c.exec, layout, check, cuts_body, &c);
}

/* ---- codes by cuts: intervals are closed below, so that a cut has the code above it */

tsanom_status tsanom_roughset_code(const double *samples, size_t count,
                                   const double *cuts, size_t cut_count, int32_t *codes,
                                   size_t ld) {
  if (!samples || !codes || (cut_count > 0 && !cuts)) return TSANOM_E_NULL;
  if (count == 0) return TSANOM_E_COUNT;
  if (ld == 0 || cut_count > INT32_MAX) return TSANOM_E_OPTION;
  if (!tsn_array_fits(count, sizeof *samples) || !tsn_array_fits(ld, sizeof *codes) ||
      !tsn_array_fits(count, ld * sizeof *codes)) {
    return TSANOM_E_OVERFLOW;
  }
  if (!tsn_all_finite(cuts, cut_count)) return TSANOM_E_NONFINITE;
  for (size_t k = 1; k < cut_count; k++) {
    if (!(cuts[k - 1] < cuts[k])) return TSANOM_E_ORDER;
  }
  tsn_environment before = tsn_environment_enter();
  for (size_t i = 0; i < count; i++) {
    size_t low = 0, high = cut_count;
    while (low < high) {
      size_t middle = low + (high - low) / 2;
      if (samples[i] >= cuts[middle]) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    codes[i * ld] = isnan(samples[i]) ? TSANOM_ROUGHSET_MISSING : (int32_t)low;
  }
  tsn_environment_leave(before);
  return TSANOM_OK;
}
