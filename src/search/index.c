/* SPDX-License-Identifier: BSD-3-Clause */
/* Building an index. */
#include "search/index.h"

#include <stdatomic.h>
#include <string.h>
#include <tsanom/lbkeogh.h>

#include "core/exec.h"
#include "core/parallel.h"

/* Samples between two looks at the poll. */
enum { GRAIN = 1 << 16 };

typedef struct {
  tsanom_search_index *index;
  double *copy;                     /* NULL if the series are borrowed */
  double *end[2 * TSN_SEARCH_ENDS]; /* the front ones, then those at the back */
  double *largest;                  /* |sample| of every series */
  double *sums;                     /* one row a thread */
  unsigned char *scratch;           /* for envelopes, scratch_bytes a thread */
  size_t scratch_bytes;
} parts;

static size_t padded(size_t length) {
  enum { LINE = TSN_ARENA_ALIGN / sizeof(double) };
  return length > SIZE_MAX - LINE ? SIZE_MAX : (length + LINE - 1) / LINE * LINE;
}

static void *take_rows(tsn_arena *arena, size_t count, size_t row) {
  size_t samples;
  if (__builtin_mul_overflow(count, row, &samples)) arena->overflow = true;
  return tsn_arena_take(arena, samples, sizeof(double));
}

static tsanom_status layout(tsn_arena *arena, size_t count, size_t length,
                            const tsanom_search_options *options, const tsanom_exec *exec,
                            parts *p) {
  tsanom_exec alone = tsn_search_alone(exec, NULL, 0);
  tsanom_status status = tsanom_lbkeogh_envelope_workspace(length, options->radius,
                                                           &alone, &p->scratch_bytes);
  if (status < 0) return status;
  p->index = tsn_arena_take(arena, 1, sizeof *p->index);
  size_t row = padded(length);
  p->copy = options->borrow ? NULL : take_rows(arena, count, row);
  double *lower = take_rows(arena, count, row), *upper = take_rows(arena, count, row);
  for (int k = 0; k < 2 * TSN_SEARCH_ENDS; k++) p->end[k] = take_rows(arena, count, 1);
  double *zeros = take_rows(arena, count, 1), *ones = take_rows(arena, count, 1);
  double *sums = take_rows(arena, count, TSN_SEARCH_SEGMENTS);
  double *lower_sums = take_rows(arena, count, TSN_SEARCH_SEGMENTS);
  double *upper_sums = take_rows(arena, count, TSN_SEARCH_SEGMENTS);
  p->largest = take_rows(arena, count, 1);
  p->sums = take_rows(arena, (size_t)exec->threads, row);
  p->scratch = tsn_arena_take(arena, (size_t)exec->threads, p->scratch_bytes);
  if (arena->overflow) return TSANOM_E_OVERFLOW;
  if (p->index) {
    *p->index = (tsanom_search_index){.count = count,
                                      .length = length,
                                      .row = row,
                                      .lower = lower,
                                      .upper = upper,
                                      .zeros = zeros,
                                      .ones = ones,
                                      .cut = tsn_search_cut_of(length),
                                      .sums = sums,
                                      .lower_sums = lower_sums,
                                      .upper_sums = upper_sums,
                                      .radius = options->radius,
                                      .cost = options->cost,
                                      .z_normalize = options->z_normalize};
  }
  return TSANOM_OK;
}

typedef struct {
  const parts *parts;
  const double *series;
  size_t stride;
  tsanom_exec exec;
  _Atomic tsanom_status status;
} build;

/* Of several faults one answer, whichever thread comes first: a sample that is
 * not finite before one that is too large. */
static void note_status(build *b, tsanom_status status) {
  tsanom_status none = TSANOM_OK;
  if (status == TSANOM_E_NONFINITE) {
    atomic_store(&b->status, status);
  } else {
    atomic_compare_exchange_strong(&b->status, &none, status);
  }
}

/* Sums of segments of series i, a column of `to`. */
static void sum_segments(const build *b, const tsn_search_kernels *kernels,
                         const double *x, size_t i, int thread, double *to) {
  const tsanom_search_index *index = b->parts->index;
  double *sums = b->parts->sums + (size_t)thread * index->row;
  kernels->segment_sums(x + index->cut.first, index->cut.count, index->cut.length, sums);
  for (size_t s = 0; s < index->cut.count; s++) to[s * index->count + i] = sums[s];
}

static void build_one(build *b, const tsn_search_kernels *kernels, size_t i, int thread) {
  const parts *p = b->parts;
  const tsanom_search_index *index = p->index;
  const double *x = b->series + i * b->stride;
  size_t n = index->length;
  tsanom_status status = tsn_search_check(kernels, x, n, index->z_normalize);
  if (status < 0) {
    note_status(b, status);
    return;
  }
  if (p->copy) {
    double *copy = p->copy + i * index->row;
    if (index->z_normalize) {
      tsn_search_normalize(kernels, x, n, copy);
    } else {
      memcpy(copy, x, n * sizeof *x);
    }
    x = copy;
  }
  tsanom_exec alone = tsn_search_alone(
      &b->exec, p->scratch + (size_t)thread * p->scratch_bytes, p->scratch_bytes);
  tsanom_lbkeogh_envelope(x, n, index->radius, &alone, index->lower + i * index->row,
                          index->upper + i * index->row);
  for (size_t k = 0; k < TSN_SEARCH_ENDS; k++) {
    p->end[k][i] = x[k < n ? k : 0];
    p->end[TSN_SEARCH_ENDS + k][i] = x[k < n ? n - 1 - k : 0];
  }
  sum_segments(b, kernels, x, i, thread, index->sums);
  sum_segments(b, kernels, index->lower + i * index->row, i, thread, index->lower_sums);
  sum_segments(b, kernels, index->upper + i * index->row, i, thread, index->upper_sums);
  p->largest[i] = kernels->largest(x, n);
  index->zeros[i] = 0;
  index->ones[i] = 1;
}

static void build_some(void *context, size_t begin, size_t end, int thread) {
  build *b = context;
  const tsn_search_kernels *kernels = tsn_search_kernels_at(b->exec.isa);
  for (size_t i = begin; i < end; i++) build_one(b, kernels, i, thread);
}

static tsanom_status build_all(const parts *p, const double *series, size_t stride,
                               const tsanom_exec *exec) {
  tsanom_search_index *index = p->index;
  build b = {.parts = p,
             .series = series,
             .stride = stride,
             .exec = tsn_search_alone(exec, NULL, 0)};
  size_t grain = 1 + GRAIN / index->length;
  tsanom_status status =
      tsn_parallel_for(exec, index->count, grain, build_some, &b, NULL);
  if (status != TSANOM_OK) return status;
  status = atomic_load(&b.status);
  if (status < 0) return status;
  index->largest = tsn_search_kernels_at(exec->isa)->largest(p->largest, index->count);
  index->series = p->copy ? p->copy : series;
  index->stride = p->copy ? index->row : stride;
  index->ends.front_count = tsn_search_front(index->length);
  index->ends.back_count = tsn_search_back(index->length);
  for (size_t k = 0; k < TSN_SEARCH_ENDS; k++) {
    index->ends.front[k] = p->end[k];
    index->ends.back[k] = p->end[TSN_SEARCH_ENDS + k];
  }
  return TSANOM_OK;
}

/* What _size, _init and _create check alike; the size is measured. */
static tsanom_status prepare(size_t count, size_t length,
                             const tsanom_search_options *options,
                             const tsanom_exec *exec, tsanom_search_options *own_options,
                             tsanom_exec *own_exec, tsn_arena *measured) {
  tsanom_status status = tsn_search_read_options(own_options, options);
  if (status < 0) return status;
  if (own_options->borrow && own_options->z_normalize) return TSANOM_E_OPTION;
  if ((status = tsn_exec_read(own_exec, exec)) < 0) return status;
  if (count == 0 || length == 0) return TSANOM_E_COUNT;
  *measured = tsn_arena_measure();
  parts p;
  return layout(measured, count, length, own_options, own_exec, &p);
}

tsanom_status tsanom_search_index_size(size_t count, size_t length,
                                       const tsanom_search_options *options,
                                       const tsanom_exec *exec, size_t *bytes) {
  tsanom_search_options own_options;
  tsanom_exec own_exec;
  tsn_arena measured;
  if (!bytes) return TSANOM_E_NULL;
  tsanom_status status =
      prepare(count, length, options, exec, &own_options, &own_exec, &measured);
  return status < 0 ? status : tsn_arena_bytes(&measured, bytes);
}

tsanom_status tsanom_search_index_init(void *memory, size_t bytes, const double *series,
                                       size_t count, size_t length, size_t stride,
                                       const tsanom_search_options *options,
                                       const tsanom_exec *exec,
                                       tsanom_search_index **index) {
  tsanom_search_options own_options;
  tsanom_exec own_exec;
  tsn_arena measured;
  if (!memory || !series || !index) return TSANOM_E_NULL;
  tsanom_status status =
      prepare(count, length, options, exec, &own_options, &own_exec, &measured);
  if (status < 0) return status;
  if (stride < length) return TSANOM_E_COUNT;
  tsn_workspace workspace;
  status = tsn_workspace_borrow(&workspace, &measured, &own_exec, memory, bytes);
  if (status < 0) return status;
  parts p;
  layout(&workspace.arena, count, length, &own_options, &own_exec, &p);
  status = build_all(&p, series, stride, &own_exec);
  if (status == TSANOM_OK) *index = p.index;
  return status;
}

tsanom_status tsanom_search_index_create(const double *series, size_t count,
                                         size_t length, size_t stride,
                                         const tsanom_search_options *options,
                                         const tsanom_exec *exec,
                                         tsanom_search_index **index) {
  tsanom_exec own_exec;
  size_t bytes;
  if (!series || !index) return TSANOM_E_NULL;
  tsanom_status status = tsanom_search_index_size(count, length, options, exec, &bytes);
  if (status < 0) return status;
  if ((status = tsn_exec_read(&own_exec, exec)) < 0) return status;
  void *block = own_exec.alloc(own_exec.alloc_user, bytes);
  if (!block) return TSANOM_E_MEMORY;
  tsanom_search_index *built;
  status = tsanom_search_index_init(block, bytes, series, count, length, stride, options,
                                    exec, &built);
  if (status != TSANOM_OK) {
    own_exec.dealloc(own_exec.alloc_user, block);
    return status;
  }
  built->block = block;
  built->dealloc = own_exec.dealloc;
  built->alloc_user = own_exec.alloc_user;
  *index = built;
  return TSANOM_OK;
}

void tsanom_search_index_destroy(tsanom_search_index *index) {
  if (index && index->block) index->dealloc(index->alloc_user, index->block);
}
