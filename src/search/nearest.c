/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom_search_nearest(): a cascade of bounds for each query (T. Rakthanmanon et al.,
 * KDD 2012, 262-270, with the means of segments of Y. Zhu and D. Shasha, SIGMOD 2003,
 * 181-192). Cheap bounds come first, and DTW is computed for what is left:
 *
 *   all series     means of segments       the `first` smallest: DTW, which yields the
 *                                          limit of the others
 *   other series   means        > limit    removed (means)
 *                  LB_KimFL     > limit    removed (kim)
 *                  LB_Keogh     > limit    removed (keogh)
 *                  otherwise               DTW in batches, which begin with a bound in
 *                                          integers (coarse.h)
 *
 * The limit is the distance of the last neighbor so far, plus rounding. Series are only
 * removed above it, so the result is that of brute force, whatever the order. The order
 * decides how soon the limit is low: hence DTW of the most promising series first,
 * without which the row `nearest` of the benchmarks takes 1.3 (v4) to 1.4 (base) times
 * as long (Zen 5). Copies of the query end the search early: `nearest_of_period` takes
 * 0.2 ms instead of 600.
 *
 * Threads share the queries. All counts are the same for every thread count. */
#include <float.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>
#include <tsanom/lbkeogh.h>

#include "core/environment.h"
#include "core/fault.h"
#include "core/parallel.h"
#include "core/series.h"
#include "core/size.h"
#include "search/search_internal.h"
#include "search/separated.h"

/* An index: the series as they are compared, and the sums of their segments.
 *
 * LB_Keogh from sums over segments of samples, after Y. Zhu and D. Shasha (SIGMOD 2003,
 * 181-192): since the cost is convex, a segment of L samples costs at least L times the
 * cost of its mean against the mean of the envelope.
 *
 *     samples   | segment | segment | ... | segment | rest |
 *     bound       mean      mean            mean      none
 *
 * For a segment S of L samples, with c', l', u' the means over S,
 *
 *   sum_S d(c_i - clip(c_i, l_i, u_i)) >= L d(c' - clip(c', l', u'))
 *
 * by Jensen, since the distance of c from [l, u] is convex in (c, l, u). Sums replace the
 * means; both sides are scaled by L. A series of any length has at most 16 segments, so
 * that the bound is O(1); L is a power of 2, so that sums are pairwise. Without it the
 * row `nearest` takes 2.1 (base) to 3.1 (v3) times as long (Zen 5).
 *
 * Sums of a segment are contiguous by series, so that one vector holds 8 series: segment
 * s of series i is sums[s * count + i]. An index is never modified after its
 * construction, so threads may share it. */

/* Building an index: for each series its normalized copy and the sums of its segments, in
 * O(count * length). Series are independent of each other, so that threads share them.
 *
 * The object and the temporary buffers of its construction are one block, since an object
 * is one block; the latter are a small part of it. The object itself is written last,
 * when no series has been rejected. */

enum { TSN_SEARCH_SEGMENTS = 16 };

/* The object; all pointers but borrowed samples are into its own block. */
struct tsanom_search_index {
  tsn_object owner;
  tsanom_series series; /* copies, or the caller's samples */
  size_t count, length;
  size_t segments, segment; /* of each series, and the samples of one: a power of 2 */
  double *sums;             /* of each segment, `count` of them */
  double largest;           /* |sample| */
  size_t radius;
  int32_t cost, z_normalize;
};

/* Samples between two polls, which is what a thread takes at a time. */
enum { GRAIN = 1 << 16 };

/* One call of _create. */
typedef struct {
  tsanom_search_options options;
  tsanom_exec exec, quiet; /* without the fault, which is that of the first series */
  tsanom_series series;    /* the caller's */
  const tsn_search_kernels *kernels;
  tsanom_search_index **to;   /* the caller's */
  tsanom_search_index *index; /* its place in the block */
  tsanom_search_index made;   /* what will be written there */
  double *copy;               /* NULL if the samples are borrowed */
  size_t row;                 /* elements from one copy to the next */
  double *largest;            /* |sample| of each series */
  double *sums;               /* one row for each thread */
  _Atomic size_t rejected;    /* the first series with a bad sample; TSANOM_NONE: none */
} build;

/* Take count rows of doubles. */
static void *take_rows(tsn_arena *arena, size_t count, size_t row) {
  return tsn_arena_take(arena, tsn_product(count, row), sizeof(double));
}

static void layout_index(tsn_arena *arena, void *context) {
  build *b = context;
  tsanom_search_index *made = &b->made;
  size_t count = made->count;
  b->index = tsn_arena_take(arena, 1, sizeof *b->index);
  b->copy = b->options.borrow ? NULL : take_rows(arena, count, b->row);
  made->sums = take_rows(arena, count, TSN_SEARCH_SEGMENTS);
  b->largest = take_rows(arena, count, 1);
  b->sums = take_rows(arena, (size_t)b->exec.threads, b->row);
}

/* The smallest rejected series is the same for every thread count, since all series are
 * checked. */
static void reject_series(build *b, size_t i) {
  size_t before = atomic_load(&b->rejected);
  while (i < before && !atomic_compare_exchange_weak(&b->rejected, &before, i)) continue;
}

/* Column i of each array of the index, from series i. */
static void build_one(build *b, size_t i, int thread) {
  const tsanom_search_index *made = &b->made;
  const double *x = tsn_series_at(&b->series, i);
  size_t n = made->length;
  if (tsn_search_check(&b->quiet, "series", i, x, n, made->z_normalize) < 0) {
    reject_series(b, i);
    return;
  }
  if (b->copy) {
    double *copy = b->copy + i * b->row;
    tsn_search_prepare(b->kernels, x, n, made->z_normalize, copy);
    x = copy;
  }
  double *sums = b->sums + (size_t)thread * b->row;
  b->kernels->segment_sums(x, made->segments, made->segment, sums);
  for (size_t s = 0; s < made->segments; s++) made->sums[s * made->count + i] = sums[s];
  b->largest[i] = b->kernels->largest(x, n);
}

static void build_some(void *context, size_t begin, size_t end, int thread) {
  for (size_t i = begin; i < end; i++) build_one(context, i, thread);
}

/* Build all series, then report the first bad one, or complete the object and put it into
 * its place. */
static tsanom_status build_all(build *b) {
  tsanom_search_index *made = &b->made;
  b->kernels = tsn_search_kernels_at(b->exec.isa);
  b->quiet = tsn_exec_for_object(&b->exec);
  atomic_init(&b->rejected, TSANOM_NONE);
  tsanom_status status = tsn_parallel_for(&b->exec, made->count, 1 + GRAIN / made->length,
                                          build_some, b, NULL);
  if (status != TSANOM_OK) return status;
  size_t i = atomic_load(&b->rejected);
  if (i != TSANOM_NONE) {
    return tsn_search_check(&b->exec, "series", i, tsn_series_at(&b->series, i),
                            made->length, made->z_normalize);
  }
  made->largest = b->kernels->largest(b->largest, made->count);
  made->series = b->series;
  if (b->copy) {
    made->series.data = b->copy;
    made->series.ld = b->row;
    made->series.pointers = NULL;
  }
  *b->index = *made;
  return TSANOM_OK;
}

/* The samples of the shortest segments of which a series of n samples has at most 16. A few
 * samples at the end belong to none, which only loosens the bound. */
static size_t segment_of(size_t n) {
  size_t length = 1;
  while (n / length > TSN_SEARCH_SEGMENTS) length *= 2;
  return length;
}

/* Read a set of univariate series with contiguous samples, all of `length` samples (0: of
 * one length). Afterwards own->length is the length of each. The samples may be missing:
 * see tsn_series_require(). */
static tsanom_status read_series(tsanom_series *own, const tsanom_series *caller,
                                 const char *name, size_t length,
                                 const tsanom_exec *exec) {
  tsanom_status status = tsn_series_read(own, caller, name, exec);
  if (status < 0) return status;
  if (own->dimensions != 1) {
    return tsn_reject_field_is(exec, TSANOM_E_OPTION, name, "dimensions", TSANOM_NONE,
                               "%zu; 1 is expected", own->dimensions);
  }
  if (own->stride != 1) {
    return tsn_reject_field_is(exec, TSANOM_E_OPTION, name, "stride", TSANOM_NONE,
                               "%zu; 1 is expected, contiguous samples", own->stride);
  }
  const char *has = length ? "the index has series of" : "the first series has";
  /* Lengths given one by one are accepted if all are equal; the copy has one length. */
  if (length == 0) length = tsn_series_length(own, 0);
  size_t lengths = own->lengths ? own->count : 1;
  for (size_t i = 0; i < lengths; i++) {
    size_t samples = tsn_series_length(own, i);
    if (samples == length) continue;
    return tsn_reject_field_is(
        exec, TSANOM_E_COUNT, name, own->lengths ? "lengths" : "length",
        own->lengths ? i : TSANOM_NONE, "%zu; %s %zu samples", samples, has, length);
  }
  own->length = length;
  own->lengths = NULL;
  return TSANOM_OK;
}

/* Reject options that an index does not use. */
static tsanom_status check_use(const tsanom_search_options *o, const tsanom_exec *exec) {
  if (o->neighbors != 1) {
    return tsn_reject_is(exec, TSANOM_E_OPTION, "options.neighbors", TSANOM_NONE,
                         "%zu; an index does not use it, and 1 is expected",
                         o->neighbors);
  }
  if (o->exclusion != TSANOM_NONE) {
    return tsn_reject_is(exec, TSANOM_E_OPTION, "options.exclusion", TSANOM_NONE,
                         "%zu; an index does not use it, and TSANOM_NONE is expected",
                         o->exclusion);
  }
  if (o->borrow && o->z_normalize) {
    return tsn_reject_is(exec, TSANOM_E_OPTION, "options.borrow", TSANOM_NONE,
                         "1; 0 is expected with z_normalize 1");
  }
  return TSANOM_OK;
}

/* Everything but the samples: exec is read. Rows begin with a cache line, so that vectors
 * of a row do not cross two. */
static tsanom_status describe_index(build *b, const tsanom_series *series,
                                    const tsanom_search_options *options) {
  enum { LINE = TSN_ARENA_ALIGN / sizeof(double) };
  tsanom_search_options *own = &b->options;
  tsanom_status status = read_series(&b->series, series, "series", 0, &b->exec);
  if (status < 0 || (status = tsn_search_read_options(own, options, &b->exec)) < 0 ||
      (status = check_use(own, &b->exec)) < 0) {
    return status;
  }
  size_t length = b->series.length;
  b->row = tsn_round_up(length, LINE);
  b->made = (tsanom_search_index){.count = b->series.count,
                                  .length = length,
                                  .segment = segment_of(length),
                                  .segments = length / segment_of(length),
                                  .radius = own->radius,
                                  .cost = own->cost,
                                  .z_normalize = own->z_normalize};
  return TSANOM_OK;
}

static tsanom_status check_series(void *context) {
  const build *b = context;
  tsanom_status status = tsn_require(&b->exec, b->to, "index");
  return status < 0 ? status : tsn_series_require(&b->series, "series", &b->exec);
}

/* An index that is not finished is released. */
static void release_unfinished(build *const *unfinished) {
  if (*unfinished) tsn_object_release(&(*unfinished)->made.owner);
}

tsanom_status tsanom_search_index_create(const tsanom_series *series,
                                         const tsanom_search_options *options,
                                         const tsanom_exec *exec,
                                         tsanom_search_index **index) {
  build b = {.to = index};
  tsn_object owner;
  tsanom_status status = tsn_exec_read(&b.exec, exec);
  if (status < 0 || (status = describe_index(&b, series, options)) < 0 ||
      (status = tsn_object_create(&b.exec, layout_index, check_series, &b, &owner)) < 0) {
    return status;
  }
  b.made.owner = owner;
  TSN_CLEANUP(release_unfinished) build *unfinished = &b;
  TSN_IN_ENVIRONMENT(before);
  status = build_all(&b);
  if (status != TSANOM_OK) return status;
  *index = b.index;
  unfinished = NULL;
  return TSANOM_OK;
}

void tsanom_search_index_destroy(tsanom_search_index *index) {
  if (!index) return;
  tsn_object owner = index->owner;
  tsn_object_release(&owner);
}

/* Samples of the index between two polls, and of a part of it that is bounded at a time;
 * a part is short, since copies of the query may end the search soon. */
enum { SAMPLES_PER_POLL = 1 << 20, PART_SAMPLES = 1 << 14 };

/* The first DTWs are two vectors of doubles at level v4, or in a small index one of this
 * many series: they run without a limit, hence there must be few. */
enum { FIRST_SHARE = 32, FIRST_MOST = 16 };

/* Buffers of one thread. */
typedef struct {
  double *query, *lower, *upper; /* normalized if requested, and its envelope */
  double *sums;                  /* half a series: scratch */
  double *bounds;                /* of each series; negative: its distance is known */
  tsn_separated first;           /* series of the first DTWs, by bound */
  tsn_search_work work;
  tsn_search_watcher watcher;
} buffers;

/* One call. */
typedef struct {
  const tsanom_search_index *index;
  tsanom_series queries;
  size_t neighbors;
  tsanom_exec exec;
  size_t first; /* number of series whose DTW comes first */
  tsn_search_dtw dtw;
  size_t *indices;
  double *distances;
  tsanom_search_report *reports;
  buffers *buffers;
  tsn_search_watch watch;
} search;

/* One query in progress. */
typedef struct {
  const search *s;
  buffers *b;
  tsn_separated first, best; /* for the first DTWs; neighbors so far */
  double limit;              /* a bound above it removes a candidate */
  tsanom_search_report report;
  tsn_search_batch batch;
} progress;

/* Whether no series from `id` on is a neighbor: all neighbors so far have distance 0, and
 * ties go to the smaller index. */
static bool is_too_late(const progress *p, size_t id) {
  return tsn_separated_threshold(&p->best) == 0 && id > p->best.id[0];
}

/* Whether a series equals the query, so that its distance is 0. */
static bool is_copy(const progress *p, size_t id) {
  const tsanom_search_index *index = p->s->index;
  const double *series = tsn_series_at(&index->series, id);
  return memcmp(series, p->b->query, index->length * sizeof *series) == 0;
}

/* What the query has in common with all series. */
static tsn_search_pairs pairs_of(const progress *p) {
  return (tsn_search_pairs){.dtw = &p->s->dtw,
                            .query = p->b->query,
                            .cutoff = tsn_separated_threshold(&p->best)};
}

/* DTW of a batch; updates the neighbors and the limit. An infinite distance is an
 * abandoned one only if there was a cut-off; else it is the distance of series whose sum
 * overflows, and counts as computed. */
static void run_batch(progress *p) {
  tsn_search_batch *batch = &p->batch;
  double distances[TSN_SEARCH_BATCH];
  tsn_search_pairs pairs = pairs_of(p);
  size_t count = batch->count;
  if (!tsn_search_distances(&pairs, batch, &p->b->work, distances)) count = 0;
  for (size_t i = 0; i < count; i++) {
    if (isinf(distances[i]) && !isinf(pairs.cutoff)) {
      p->report.abandoned++;
    } else {
      p->report.computed++;
      tsn_separated_insert(&p->best, batch->id[i], distances[i]);
    }
  }
  batch->count = 0;
  p->limit = tsn_search_limit(pairs.dtw, tsn_separated_threshold(&p->best), 0);
}

static void add_to_batch(progress *p, size_t id) {
  tsn_search_batch *batch = &p->batch;
  batch->series[batch->count] = tsn_series_at(&p->s->index->series, id);
  batch->id[batch->count++] = id;
  if (batch->count == TSN_SEARCH_BATCH) run_batch(p);
}

/* Sums of the query's envelope, widened to intervals that hold the exact sums in spite of
 * rounding, of the series' sums too: the bound then needs no margin of its own. The error
 * of a pairwise sum of m samples is at most m log2(m) u M, where M is the largest sample
 * and u the unit roundoff; the sum of the series has the same error. No segments where sums
 * might overflow. */
static tsn_search_segments sum_envelope(const progress *p,
                                        const tsn_search_kernels *kernels, double *low,
                                        double *high) {
  const tsanom_search_index *index = p->s->index;
  const buffers *b = p->b;
  size_t count = index->segments, samples = index->segment;
  tsn_search_segments segments = {.sums = index->sums,
                                  .low = low,
                                  .high = high,
                                  .stride = index->count,
                                  .length = samples};
  double largest = fmax(index->largest, kernels->largest(b->query, index->length));
  if (largest > DBL_MAX / 4 / (double)index->length) return segments;
  double levels = 4;
  for (size_t length = samples; length > 1; length /= 2) levels++;
  double margin = 2 * levels * DBL_EPSILON * (double)samples * largest;
  kernels->segment_sums(b->lower, count, samples, b->sums);
  for (size_t k = 0; k < count; k++) low[k] = b->sums[k] - margin;
  kernels->segment_sums(b->upper, count, samples, b->sums);
  for (size_t k = 0; k < count; k++) high[k] = b->sums[k] + margin;
  segments.count = count;
  return segments;
}

/* Bound the series, recognize copies of the query, and choose the first of the others.
 * After as many copies as neighbors, later series cannot be neighbors: returns the number
 * of series before these. */
static size_t bound_series(progress *p) {
  const search *s = p->s;
  const tsanom_search_index *index = s->index;
  const tsn_search_kernels *kernels = tsn_search_kernels_at(s->exec.isa);
  double low[TSN_SEARCH_SEGMENTS], high[TSN_SEARCH_SEGMENTS];
  tsn_search_segments segments = sum_envelope(p, kernels, low, high);
  double *bounds = p->b->bounds;
  size_t part = 1 + PART_SAMPLES / index->length;
  for (size_t i = 0, end = 0; i < index->count; i++) {
    if (i == end) {
      if (p->best.count == s->neighbors) return i;
      end = tsn_smaller(i + part, index->count);
      kernels->segments[index->cost](&segments, i, end - i, bounds + i);
    }
    if (bounds[i] == 0 && p->best.count < s->neighbors && is_copy(p, i)) {
      bounds[i] = -1;
      p->report.computed++;
      tsn_separated_insert(&p->best, i, 0);
    } else if (tsn_separated_admits(&p->first, bounds[i])) {
      tsn_separated_insert(&p->first, i, bounds[i]);
    }
  }
  return index->count;
}

/* DTW of the series with the smallest bounds; it yields the limit of the others. */
static void take_first(progress *p) {
  tsn_separated_sort(&p->first);
  for (size_t i = 0; i < p->first.count; i++) {
    p->b->bounds[p->first.id[i]] = -1;
    add_to_batch(p, p->first.id[i]);
  }
}

/* LB_KimFL precedes LB_Keogh: it takes O(1), and is most of what is left of the bounds if
 * the radius is not limited. */
static void filter(progress *p, size_t id) {
  if (p->b->bounds[id] > p->limit || is_too_late(p, id)) {
    p->report.means++;
    return;
  }
  const double *series = tsn_series_at(&p->s->index->series, id);
  const buffers *b = p->b;
  const tsn_search_dtw *dtw = &p->s->dtw;
  double bound = 0;
  (void)tsanom_lbkeogh_kim(series, dtw->n, b->query, dtw->n, dtw->cost, &dtw->exec,
                           &bound);
  if (bound > p->limit) {
    p->report.kim++;
    return;
  }
  (void)tsanom_lbkeogh_bound(series, b->lower, b->upper, dtw->n, dtw->cost, &dtw->exec,
                             &bound);
  if (bound > p->limit) {
    p->report.keogh++;
  } else {
    add_to_batch(p, id);
  }
}

/* Set the query as it is compared, and its envelope. */
static void prepare(const progress *p, const double *query) {
  const search *s = p->s;
  const buffers *b = p->b;
  tsn_search_prepare(tsn_search_kernels_at(s->exec.isa), query, s->dtw.n,
                     s->index->z_normalize, b->query);
  tsn_search_envelope(&s->dtw, b->query, s->dtw.n, &b->work, b->lower, b->upper);
}

static void search_one(const search *s, size_t number, buffers *b) {
  size_t count = s->index->count;
  progress p = {.s = s,
                .b = b,
                .first = b->first,
                .best = {.id = s->indices + number * s->neighbors,
                         .distance = s->distances + number * s->neighbors,
                         .wanted = s->neighbors},
                .report = {.candidates = count, .found = s->neighbors},
                .batch = {.watcher = &b->watcher}};
  prepare(&p, tsn_series_at(&s->queries, number));
  size_t end = bound_series(&p);
  if (p.best.count < s->neighbors) take_first(&p);
  run_batch(&p);
  p.report.means += count - end;
  for (size_t i = 0; i < end && !tsn_search_stopped(&b->watcher); i++) {
    if (b->bounds[i] >= 0) filter(&p, i);
  }
  run_batch(&p);
  tsn_separated_sort(&p.best);
  while (p.report.found > 0 && isinf(p.best.distance[p.report.found - 1])) {
    p.best.id[--p.report.found] = TSANOM_NONE;
  }
  if (s->reports) s->reports[number] = p.report;
}

static void search_some(void *context, size_t begin, size_t end, int thread) {
  search *s = context;
  buffers *b = s->buffers + thread;
  b->watcher = (tsn_search_watcher){.watch = &s->watch, .calling = thread == 0};
  for (size_t q = begin; q < end; q++) search_one(s, q, b);
}

/* While the arena measures, there are no buffers to write addresses to. */
static void layout(tsn_arena *arena, void *context) {
  search *s = context;
  size_t length = s->index->length, threads = (size_t)s->exec.threads;
  s->buffers = tsn_arena_take(arena, threads, sizeof *s->buffers);
  for (size_t t = 0; t < threads; t++) {
    buffers b = {.query = tsn_arena_take(arena, length, sizeof(double)),
                 .lower = tsn_arena_take(arena, length, sizeof(double)),
                 .upper = tsn_arena_take(arena, length, sizeof(double)),
                 .sums = tsn_arena_take(arena, length, sizeof(double)),
                 .bounds = tsn_arena_take(arena, s->index->count, sizeof(double))};
    tsn_separated_layout(arena, s->first, 0, &b.first);
    tsn_search_work_layout(arena, &s->dtw, &b.work);
    if (s->buffers) s->buffers[t] = b;
  }
}

/* Everything but the samples: exec is read. */
static tsanom_status describe(search *s, const tsanom_search_index *index,
                              const tsanom_series *queries, size_t neighbors) {
  const tsanom_exec *exec = &s->exec;
  if (!index) return tsn_reject_null(exec, "index", TSANOM_NONE);
  if (neighbors == 0 || neighbors > index->count) {
    return tsn_reject_is(exec, TSANOM_E_COUNT, "neighbors", TSANOM_NONE,
                         "%zu; at least 1 is expected, and the index has %zu series",
                         neighbors, index->count);
  }
  tsanom_status status =
      read_series(&s->queries, queries, "queries", index->length, exec);
  if (status < 0) return status;
  if (!tsn_array_fits(tsn_product(s->queries.count, neighbors), sizeof *s->reports)) {
    return tsn_reject_is(exec, TSANOM_E_OVERFLOW, "neighbors", TSANOM_NONE,
                         "%zu; the results of %zu queries exceed the address space",
                         neighbors, s->queries.count);
  }
  s->index = index;
  s->neighbors = neighbors;
  s->first = tsn_smaller(1 + index->count / FIRST_SHARE, FIRST_MOST);
  s->first = tsn_larger(s->first, neighbors);
  s->dtw =
      (tsn_search_dtw){.n = index->length, .radius = index->radius, .cost = index->cost};
  status = tsn_search_dtw_begin(&s->dtw, index->length, exec);
  if (status == TSANOM_OK) return TSANOM_OK;
  return tsn_reject_text(exec, status, "index", TSANOM_NONE,
                         "the workspace for series of %zu samples exceeds the address "
                         "space",
                         index->length);
}

/* All queries are checked before the search: a rejected call modifies no output. */
static tsanom_status check(void *context) {
  const search *s = context;
  const tsanom_exec *exec = &s->exec;
  size_t results = s->queries.count * s->neighbors;
  tsanom_status status = tsn_require_array(exec, s->indices, results, "indices");
  if (status < 0 ||
      (status = tsn_require_array(exec, s->distances, results, "distances")) < 0 ||
      (status = tsn_series_require(&s->queries, "queries", exec)) < 0) {
    return status;
  }
  for (size_t i = 0; i < s->queries.count && status >= 0; i++) {
    status = tsn_search_check(exec, "queries", i, tsn_series_at(&s->queries, i), s->dtw.n,
                              s->index->z_normalize);
  }
  return status;
}

static tsanom_status run(void *context) {
  search *s = context;
  tsanom_exec watched = tsn_search_watch_begin(&s->watch, &s->exec, s->queries.count);
  size_t grain = 1 + SAMPLES_PER_POLL / s->index->length / s->index->count;
  return tsn_parallel_for(&watched, s->queries.count, grain, search_some, s, NULL);
}

tsanom_status tsanom_search_nearest(const tsanom_search_index *index,
                                    const tsanom_series *queries, size_t neighbors,
                                    const tsanom_exec *exec, size_t *indices,
                                    double *distances, tsanom_search_report *reports) {
  search s = {.indices = indices, .distances = distances, .reports = reports};
  tsanom_status status = tsn_exec_read(&s.exec, exec);
  if (status < 0 || (status = describe(&s, index, queries, neighbors)) < 0) return status;
  return tsn_workspace_run(&s.exec, layout, check, run, &s);
}
