/* SPDX-License-Identifier: BSD-3-Clause */
#include "dtw/dtw_matrix.h"

#include <math.h>

#include "core/parallel.h"
#include "core/size.h"

typedef NAME(tsn_dtw_set) set;
typedef NAME(tsn_dtw_matrix) matrix;

/* Where lengths differ, rows are cut into blocks of columns, at least so many in all,
 * whose columns are taken in order of length, so many of them in one unit of work: a
 * run that is stopped counts whole blocks. */
enum { BLOCKS = 16, UNIT_COLUMNS = 64 };

typedef struct {
  NAME(tsn_dtw_batch_buffers) batch;
  tsn_arena single; /* carved anew for every pair */
} thread_buffers;

typedef struct {
  matrix *matrix;
  tsn_dtw_call call; /* of one pair: one thread */
  const tsanom_exec *exec;
  thread_buffers *threads;
  size_t *order; /* columns of each block by length; NULL: all pairs have the same two */
  size_t block, unit; /* columns of a block and of a unit */
  size_t lanes, pairs, units;
  _Atomic size_t next, done; /* unit, pairs */
  _Atomic size_t unfinished; /* the first unit that was left */
  _Atomic int stop;
} job;

/* Pairs of a batch, not yet run. */
typedef struct {
  NAME(tsn_dtw_batch) batch;
  real *to[TSN_DTW_BATCH_LANES];
  size_t count;
} pending;

tsanom_status NAME(tsn_dtw_set_check)(set *s) {
  if (!s->series || !s->lengths) return TSANOM_E_NULL;
  if (s->count == 0) return TSANOM_E_COUNT;
  s->longest = 0;
  s->one_length = true;
  for (size_t k = 0; k < s->count; k++) {
    if (!s->series[k]) return TSANOM_E_NULL;
    if (s->lengths[k] == 0) return TSANOM_E_COUNT;
    if (s->lengths[k] > s->longest) s->longest = s->lengths[k];
    if (s->lengths[k] != s->lengths[0]) s->one_length = false;
  }
  return TSANOM_OK;
}

bool NAME(tsn_dtw_set_finite)(const set *s, const tsanom_dtw_options *options) {
  for (size_t k = 0; k < s->count; k++) {
    if (!NAME(tsn_dtw_finite)(s->series[k], s->lengths[k], options)) return false;
  }
  return true;
}

static tsanom_status layout(tsn_arena *arena, const matrix *m, const tsn_dtw_call *call,
                            job *j) {
  tsn_arena single;
  tsn_dtw_call one = *call;
  size_t bytes, threads = (size_t)call->exec.threads;
  one.exec.threads = 1;
  tsanom_status status =
      NAME(tsn_dtw_single_measure)(m->xs.longest, m->ys.longest, &one, &single);
  if (status < 0) return status;
  if ((status = tsn_arena_bytes(&single, &bytes)) < 0) return status;
  j->order = tsn_arena_take(arena, m->ys.count, sizeof *j->order);
  j->threads = tsn_arena_take(arena, threads, sizeof *j->threads);
  for (size_t t = 0; t < threads; t++) {
    thread_buffers b = {.single = tsn_arena_measure()};
    NAME(tsn_dtw_batch_layout)
    (arena, tsn_smaller(m->xs.longest, TSN_DTW_BATCH_LONGEST),
     tsn_smaller(m->ys.longest, TSN_DTW_BATCH_LONGEST), call, &b.batch);
    b.single.base = tsn_arena_take(arena, bytes, 1);
    if (j->threads) j->threads[t] = b;
  }
  return TSANOM_OK;
}

tsanom_status NAME(tsn_dtw_matrix_measure)(const matrix *m, const tsn_dtw_call *call,
                                           tsn_arena *arena) {
  job j;
  *arena = tsn_arena_measure();
  return layout(arena, m, call, &j);
}

/* Columns of row a: [first, count). */
static size_t first_column(const matrix *m, size_t a) {
  return m->condensed ? a + 1 : 0;
}

/* Pairs in the rows before row a. */
static size_t pairs_before(const matrix *m, size_t a) {
  if (!m->condensed) return a * m->ys.count;
  size_t even = a % 2 == 0 ? a / 2 : a, other = 2 * m->xs.count - a - 1;
  return even * (a % 2 == 0 ? other : other / 2);
}

static real *place(const matrix *m, size_t a, size_t b) {
  return m->condensed ? m->distances + pairs_before(m, a) + b - a - 1
                      : m->distances + a * m->leading + b;
}

static size_t row_of(const matrix *m, size_t pair) {
  size_t low = 0, high = m->xs.count; /* pairs_before(low) <= pair < ...(high) */
  while (high - low > 1) {
    size_t middle = low + (high - low) / 2;
    if (pairs_before(m, middle) <= pair) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

static bool run_single(const job *j, thread_buffers *own, const tsn_dtw_watch *watch,
                       const pending *p, size_t lane) {
  tsn_dtw_call call = j->call;
  call.options.tail = p->batch.tail[lane];
  return NAME(tsn_dtw_single_run)(p->batch.x[lane], p->batch.n, p->batch.y[lane],
                                  p->batch.m, &call, own->single, watch,
                                  p->to[lane]) != TSANOM_STOPPED;
}

/* Run what is pending: as a batch, if that is faster. */
static bool flush(const job *j, thread_buffers *own, const tsn_dtw_watch *watch,
                  pending *p) {
  size_t count = p->count;
  p->count = 0;
  bool fits = p->batch.n <= TSN_DTW_BATCH_LONGEST && p->batch.m <= TSN_DTW_BATCH_LONGEST;
  if (!fits || 2 * count <= j->lanes) {
    for (size_t lane = 0; lane < count; lane++) {
      if (!run_single(j, own, watch, p, lane)) return false;
    }
    return true;
  }
  for (size_t lane = count; lane < j->lanes; lane++) {
    p->batch.x[lane] = p->batch.x[0];
    p->batch.y[lane] = p->batch.y[0];
    p->batch.tail[lane] = p->batch.tail[0];
  }
  real distances[TSN_DTW_BATCH_LANES];
  tsanom_status status =
      NAME(tsn_dtw_batch_run)(&p->batch, &j->call, &own->batch, watch, distances);
  if (status != TSANOM_OK) return false;
  for (size_t lane = 0; lane < count; lane++) *p->to[lane] = distances[lane];
  return true;
}

static bool add_pair(const job *j, thread_buffers *own, const tsn_dtw_watch *watch,
                     pending *p, size_t a, size_t b) {
  const matrix *m = j->matrix;
  size_t n = m->xs.lengths[a], columns = m->ys.lengths[b], lane = p->count;
  if (lane > 0 && (p->batch.n != n || p->batch.m != columns)) {
    if (!flush(j, own, watch, p)) return false;
    lane = 0;
  }
  p->batch.n = n;
  p->batch.m = columns;
  p->batch.x[lane] = m->xs.series[a];
  p->batch.y[lane] = m->ys.series[b];
  p->batch.tail[lane] = m->tails ? m->tails[b] : NULL;
  p->to[lane] = place(m, a, b);
  p->count = lane + 1;
  return p->count < j->lanes || flush(j, own, watch, p);
}

/* Units of pairs of the same two lengths: one batch each, across rows. */
static bool run_batch_unit(const job *j, thread_buffers *own, const tsn_dtw_watch *watch,
                           size_t unit, size_t *pairs) {
  size_t begin = unit * j->lanes, end = tsn_smaller(begin + j->lanes, j->pairs);
  size_t a = row_of(j->matrix, begin);
  size_t b = first_column(j->matrix, a) + begin - pairs_before(j->matrix, a);
  pending p = {.count = 0};
  *pairs = end - begin;
  for (size_t k = begin; k < end; k++) {
    if (!add_pair(j, own, watch, &p, a, b)) return false;
    if (++b == j->matrix->ys.count) b = first_column(j->matrix, ++a);
  }
  return flush(j, own, watch, &p);
}

static size_t divide_up(size_t a, size_t b) {
  return a / b + (a % b != 0);
}

/* A block is a whole number of units, and a unit of batches or all there is. */
static void cut_rows(job *j) {
  size_t columns = j->matrix->ys.count;
  size_t share = divide_up(columns, divide_up(BLOCKS, j->matrix->xs.count));
  size_t batches = divide_up(share, j->lanes) * j->lanes;
  j->unit = tsn_smaller(UNIT_COLUMNS, batches);
  j->block = divide_up(batches, j->unit) * j->unit;
}

static size_t units_per_row(const job *j) {
  return divide_up(j->matrix->ys.count, j->unit);
}

static bool run_row_unit(const job *j, thread_buffers *own, const tsn_dtw_watch *watch,
                         size_t unit, size_t *pairs) {
  const matrix *m = j->matrix;
  size_t a = unit / units_per_row(j), begin = unit % units_per_row(j) * j->unit;
  size_t end = tsn_smaller(begin + j->unit, m->ys.count), first = first_column(m, a);
  pending p = {.count = 0};
  *pairs = 0;
  for (size_t k = begin; k < end; k++) {
    size_t b = j->order[k];
    if (b < first) continue;
    ++*pairs;
    if (!add_pair(j, own, watch, &p, a, b)) return false;
  }
  return flush(j, own, watch, &p);
}

/* Leading pairs in the blocks before that of a unit. */
static size_t pairs_before_unit(const job *j, size_t unit) {
  size_t a = unit / units_per_row(j), first = first_column(j->matrix, a);
  size_t column = unit % units_per_row(j) * j->unit / j->block * j->block;
  return pairs_before(j->matrix, a) + (column > first ? column - first : 0);
}

static void leave_unit(job *j, size_t unit) {
  size_t first = atomic_load(&j->unfinished);
  while (unit < first && !atomic_compare_exchange_weak(&j->unfinished, &first, unit)) {
  }
}

static void run_units(void *context, int thread, int threads) {
  job *j = context;
  (void)threads;
  tsn_dtw_watch watch = {
      .exec = j->exec, .stop = &j->stop, .polls = thread == 0, .total = j->pairs};
  for (;;) {
    watch.done = atomic_load_explicit(&j->done, memory_order_relaxed);
    if (tsn_dtw_watch_stop(&watch)) return;
    size_t unit = atomic_fetch_add_explicit(&j->next, 1, memory_order_relaxed), pairs;
    if (unit >= j->units) return;
    thread_buffers *own = &j->threads[thread];
    bool finished = j->order ? run_row_unit(j, own, &watch, unit, &pairs)
                             : run_batch_unit(j, own, &watch, unit, &pairs);
    if (!finished) {
      leave_unit(j, unit);
      return;
    }
    atomic_fetch_add_explicit(&j->done, pairs, memory_order_relaxed);
  }
}

/* Stable order of columns by length: a heap of (length, index). */
static bool before(const size_t *lengths, size_t a, size_t b) {
  return lengths[a] != lengths[b] ? lengths[a] < lengths[b] : a < b;
}

static void sift_down(const size_t *lengths, size_t *heap, size_t root, size_t count) {
  for (;;) {
    size_t child = 2 * root + 1;
    if (child >= count) return;
    if (child + 1 < count && before(lengths, heap[child], heap[child + 1])) child++;
    if (!before(lengths, heap[root], heap[child])) return;
    size_t swap = heap[root];
    heap[root] = heap[child];
    heap[child] = swap;
    root = child;
  }
}

static void order_by_length(const size_t *lengths, size_t *order, size_t count) {
  for (size_t root = count / 2; root-- > 0;) sift_down(lengths, order, root, count);
  while (count-- > 1) {
    size_t swap = order[0];
    order[0] = order[count];
    order[count] = swap;
    sift_down(lengths, order, 0, count);
  }
}

static void order_blocks(const set *s, size_t block, size_t *order) {
  for (size_t k = 0; k < s->count; k++) order[k] = k;
  for (size_t k = 0; k < s->count; k += block) {
    order_by_length(s->lengths, order + k, tsn_smaller(block, s->count - k));
  }
}

tsanom_status NAME(tsn_dtw_matrix_run)(matrix *m, const tsn_dtw_call *call,
                                       tsn_arena *arena) {
  job j = {.matrix = m, .call = *call, .exec = &call->exec, .unfinished = SIZE_MAX};
  tsanom_status status = layout(arena, m, call, &j);
  if (status < 0) return status;
  j.call.exec.threads = 1;
  j.lanes = tsn_dtw_call_kernels(call)->lanes;
  j.pairs = pairs_before(m, m->xs.count - (m->condensed ? 1 : 0));
  if (m->xs.one_length && m->ys.one_length) {
    j.order = NULL;
    j.units = (j.pairs + j.lanes - 1) / j.lanes;
  } else {
    cut_rows(&j);
    order_blocks(&m->ys, j.block, j.order);
    j.units = m->xs.count * units_per_row(&j);
  }
  size_t threads = tsn_smaller((size_t)call->exec.threads, j.units);
  tsn_team_run(threads > 1 ? (int)threads : 1, run_units, &j);
  bool stopped = atomic_load(&j.stop) != 0;
  size_t unit = tsn_smaller(atomic_load(&j.unfinished), atomic_load(&j.next));
  unit = tsn_smaller(unit, j.units);
  m->computed = !stopped  ? j.pairs
                : j.order ? pairs_before_unit(&j, unit)
                          : tsn_smaller(unit * j.lanes, j.pairs);
  return stopped ? TSANOM_STOPPED : TSANOM_OK;
}
