/* SPDX-License-Identifier: BSD-3-Clause */
/* Building an index: for each series its normalized copy and the sums of its segments, in
 * O(count * length). Series are independent of each other, so that threads share them.
 *
 * The object and the temporary buffers of its construction are one block, since an object
 * is one block; the latter are a small part of it. The object itself is written last,
 * when no series has been rejected. */
#include "search/index.h"

#include <stdatomic.h>
#include <string.h>

#include "core/environment.h"
#include "core/fault.h"
#include "core/parallel.h"
#include "core/size.h"

/* Samples between two polls, which is what a thread takes at a time. */
enum { GRAIN = 1 << 16 };

/* One call of _create. */
typedef struct {
  tsanom_search_options options;
  tsanom_exec exec;
  tsanom_series series; /* the caller's */
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
  size_t samples;
  if (__builtin_mul_overflow(count, row, &samples)) arena->overflow = true;
  return tsn_arena_take(arena, samples, sizeof(double));
}

static void layout(tsn_arena *arena, void *context) {
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

/* The samples of series i as they are compared. */
static const double *prepare(const build *b, size_t i) {
  const double *x = tsn_series_at(&b->series, i);
  size_t n = b->made.length;
  if (!b->copy) return x;
  double *copy = b->copy + i * b->row;
  if (b->made.z_normalize) {
    tsn_search_normalize(b->kernels, x, n, copy);
  } else {
    memcpy(copy, x, n * sizeof *x);
  }
  return copy;
}

/* Column i of each array of the index, from series i. */
static void build_one(build *b, size_t i, int thread) {
  const tsanom_search_index *made = &b->made;
  size_t n = made->length;
  if (tsn_search_first_bad(b->kernels, tsn_series_at(&b->series, i), n,
                           made->z_normalize) < n) {
    reject_series(b, i);
    return;
  }
  const double *x = prepare(b, i);
  double *sums = b->sums + (size_t)thread * b->row;
  b->kernels->segment_sums(x, made->cut.count, made->cut.length, sums);
  for (size_t s = 0; s < made->cut.count; s++) made->sums[s * made->count + i] = sums[s];
  b->largest[i] = b->kernels->largest(x, n);
}

static void build_some(void *context, size_t begin, size_t end, int thread) {
  for (size_t i = begin; i < end; i++) build_one(context, i, thread);
}

/* Complete the object and put it into its place. */
static void finish(build *b) {
  tsanom_search_index *made = &b->made;
  made->largest = b->kernels->largest(b->largest, made->count);
  made->series = b->series;
  if (b->copy) {
    made->series.data = b->copy;
    made->series.ld = b->row;
    made->series.pointers = NULL;
  }
  *b->index = *made;
}

/* Build all series, then report the first bad one. */
static tsanom_status build_all(build *b) {
  b->kernels = tsn_search_kernels_at(b->exec.isa);
  atomic_init(&b->rejected, TSANOM_NONE);
  size_t n = b->made.length;
  tsanom_status status =
      tsn_parallel_for(&b->exec, b->made.count, 1 + GRAIN / n, build_some, b, NULL);
  if (status != TSANOM_OK) return status;
  size_t i = atomic_load(&b->rejected);
  if (i == TSANOM_NONE) {
    finish(b);
    return TSANOM_OK;
  }
  const double *x = tsn_series_at(&b->series, i);
  size_t k = tsn_search_first_bad(b->kernels, x, n, b->made.z_normalize);
  return tsn_search_reject_sample(&b->exec, "series", i, k, x[k]);
}

/* The cut of a series of n samples: the shortest segments of which there are at most 16.
 * A few samples at the end belong to none, which only loosens the bound. */
static tsn_search_cut cut_of(size_t n) {
  size_t length = 1;
  while (n / length > TSN_SEARCH_SEGMENTS) length *= 2;
  return (tsn_search_cut){n / length, length};
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
static tsanom_status describe(build *b, const tsanom_series *series,
                              const tsanom_search_options *options) {
  enum { LINE = TSN_ARENA_ALIGN / sizeof(double) };
  tsanom_search_options *own = &b->options;
  tsanom_status status =
      tsn_search_read_series(&b->series, series, "series", 0, &b->exec);
  if (status < 0 || (status = tsn_search_read_options(own, options, &b->exec)) < 0 ||
      (status = check_use(own, &b->exec)) < 0) {
    return status;
  }
  size_t length = b->series.length;
  b->row = tsn_round_up(length, LINE);
  b->made = (tsanom_search_index){.count = b->series.count,
                                  .length = length,
                                  .cut = cut_of(length),
                                  .radius = own->radius,
                                  .cost = own->cost,
                                  .z_normalize = own->z_normalize};
  return TSANOM_OK;
}

static tsanom_status check(void *context) {
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
  if (status < 0 || (status = describe(&b, series, options)) < 0 ||
      (status = tsn_object_create(&b.exec, layout, check, &b, &owner)) < 0) {
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
