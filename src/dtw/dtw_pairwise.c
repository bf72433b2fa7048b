/* SPDX-License-Identifier: BSD-3-Clause */
/* Units of work.
 *
 * Where all series of a side have one length, a unit is one batch: the next `lanes` pairs
 * in row-major order. Else each row is cut into blocks of columns; within a block the
 * columns are taken in order of length, so that pairs of equal lengths meet and form
 * batches, UNIT_COLUMNS of them in one unit:
 *
 *   row a   |  block 0          |  block 1          | ...
 *           | unit 0  | unit 1  | unit 2  | unit 3  |
 *
 * Within a block the order is by length, so a run that is stopped cannot count single
 * units of it: it counts the leading units that are done, or the leading blocks. At least
 * 16 blocks in all let a stopped row of one to many have something to show.
 *
 * Threads take units from one counter: the lengths, cut-offs and abandoned pairs make the
 * units unequal, and a division in advance would leave threads without work. */
#include "dtw/dtw_pairwise.h"

#include <math.h>

#include "core/parallel.h"
#include "core/size.h"

typedef tsn_dtw_pairwise pairwise;

/* Rows are cut into BLOCKS blocks in all, at least. */
enum { BLOCKS = 16, UNIT_COLUMNS = 64 };

/* What a thread makes of its block. */
typedef struct {
  tsn_dtw_batch_buffers batch;
  tsn_arena rest; /* carved anew for every single pair */
} thread_buffers;

/* The units of one call; threads share it. */
typedef struct {
  pairwise *pairwise;
  size_t *order; /* columns of each block by length; NULL: all pairs have the same two */
  size_t block, unit; /* columns of a block and of a unit */
  size_t lanes, pairs, units;
  _Atomic size_t next, done; /* unit, pairs */
  _Atomic size_t unfinished; /* the first unit that was left */
  _Atomic int stop;
} job;

/* Pairs of a batch, not yet run. */
typedef struct {
  tsn_dtw_batch batch;
  real *to[TSN_DTW_BATCH_LANES];
  size_t count;
} pending;

/* Tails refer to the samples of x, so that x must stay the rows of every pair. */
static bool keeps_order(const pairwise *m) {
  return m->settings->options.tails != NULL;
}

tsanom_status tsn_dtw_pairwise_init(pairwise *m) {
  tsn_dtw_operand x = {.count = tsn_series_longest(&m->xs), .stride = m->xs.stride};
  tsn_dtw_operand y = {.count = tsn_series_longest(&m->ys), .stride = m->ys.stride};
  size_t row = tsn_larger(m->ld, m->ys.count);
  if (!tsn_array_fits(m->xs.count, tsn_product(row, sizeof(real))))
    return TSANOM_E_OVERFLOW;
  return tsn_dtw_pair_init(&m->largest, &x, &y, m->settings, keeps_order(m), 1);
}

/* A batch of the longest series that batches take; longer pairs run one by one. */
static void batch_layout(tsn_arena *arena, const pairwise *m,
                         tsn_dtw_batch_buffers *batch) {
  size_t n = tsn_series_longest(&m->xs), columns = tsn_series_longest(&m->ys);
  tsn_dtw_batch_layout(arena, tsn_smaller(n, TSN_DTW_BATCH_LONGEST),
                       tsn_smaller(columns, TSN_DTW_BATCH_LONGEST), m->settings, batch);
}

void tsn_dtw_pairwise_layout(tsn_arena *arena, void *pairs) {
  pairwise *m = pairs;
  tsn_arena one = tsn_arena_measure();
  tsn_dtw_batch_buffers batch;
  batch_layout(&one, m, &batch);
  tsn_dtw_pair_layout(&one, &m->largest);
  m->order = tsn_arena_take(arena, m->ys.count, sizeof *m->order);
  m->blocks = tsn_dtw_take_blocks(arena, (size_t)m->settings->exec.threads, &one);
  m->block_bytes = one.used;
}

/* Columns of row a: [first, count). */
static size_t first_column(const pairwise *m, size_t a) {
  return m->condensed ? a + 1 : 0;
}

/* Pairs in the rows before row a. */
static size_t pairs_before(const pairwise *m, size_t a) {
  if (!m->condensed) return a * m->ys.count;
  size_t even = a % 2 == 0 ? a / 2 : a, other = 2 * m->xs.count - a - 1;
  return even * (a % 2 == 0 ? other : other / 2);
}

/* Where the distance of pair (a,b) belongs. */
static real *place(const pairwise *m, size_t a, size_t b) {
  return m->condensed ? m->distances + pairs_before(m, a) + b - a - 1
                      : m->distances + a * m->ld + b;
}

/* The row that holds a pair, by bisection. */
static size_t row_of(const pairwise *m, size_t pair) {
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

/* Compute one pending pair alone; false if the call was stopped. */
static bool run_single(const job *j, thread_buffers *own, const tsn_dtw_watch *watch,
                       const pending *p, size_t lane) {
  const pairwise *m = j->pairwise;
  tsn_dtw_operand x = {p->batch.x[lane], p->batch.n, m->xs.stride};
  tsn_dtw_operand y = {p->batch.y[lane], p->batch.m, m->ys.stride};
  tsn_arena arena = own->rest;
  tsn_dtw_pair pair;
  tsn_dtw_pair_init(&pair, &x, &y, m->settings, keeps_order(m), 1);
  tsn_dtw_pair_layout(&arena, &pair);
  return tsn_dtw_pair_run(&pair, p->batch.tail[lane], watch, p->to[lane]) !=
         TSANOM_STOPPED;
}

/* Run what is pending, as a batch if more than half of its lanes would be used: a batch
 * takes the same time for any number of pairs. Unused lanes repeat the first pair. */
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
      tsn_dtw_batch_run(&p->batch, j->pairwise->settings, &own->batch, watch, distances);
  if (status != TSANOM_OK) return false;
  for (size_t lane = 0; lane < count; lane++) *p->to[lane] = distances[lane];
  return true;
}

/* Add a pair; run those before it if its lengths differ, or all if the lanes are full. */
static bool add_pair(const job *j, thread_buffers *own, const tsn_dtw_watch *watch,
                     pending *p, size_t a, size_t b) {
  const pairwise *m = j->pairwise;
  const double *const *tails = m->settings->options.tails;
  size_t n = tsn_series_length(&m->xs, a), columns = tsn_series_length(&m->ys, b);
  size_t lane = p->count;
  if (lane > 0 && (p->batch.n != n || p->batch.m != columns)) {
    if (!flush(j, own, watch, p)) return false;
    lane = 0;
  }
  p->batch.n = n;
  p->batch.m = columns;
  p->batch.stride_x = m->xs.stride;
  p->batch.stride_y = m->ys.stride;
  p->batch.x[lane] = tsn_series_at(&m->xs, a);
  p->batch.y[lane] = tsn_series_at(&m->ys, b);
  p->batch.tail[lane] = tails ? tails[b] : NULL;
  p->to[lane] = place(m, a, b);
  p->count = lane + 1;
  return p->count < j->lanes || flush(j, own, watch, p);
}

/* Units of pairs of the same two lengths: one batch each, across rows. */
static bool run_batch_unit(const job *j, thread_buffers *own, const tsn_dtw_watch *watch,
                           size_t unit, size_t *pairs) {
  size_t begin = unit * j->lanes, end = tsn_smaller(begin + j->lanes, j->pairs);
  size_t a = row_of(j->pairwise, begin);
  size_t b = first_column(j->pairwise, a) + begin - pairs_before(j->pairwise, a);
  pending p = {.count = 0};
  *pairs = end - begin;
  for (size_t k = begin; k < end; k++) {
    if (!add_pair(j, own, watch, &p, a, b)) return false;
    if (++b == j->pairwise->ys.count) b = first_column(j->pairwise, ++a);
  }
  return flush(j, own, watch, &p);
}

static size_t divide_up(size_t a, size_t b) {
  return a / b + (a % b != 0);
}

/* A block is a whole number of units, and a unit of batches or all there is. */
static void cut_rows(job *j) {
  size_t columns = j->pairwise->ys.count;
  size_t share = divide_up(columns, divide_up(BLOCKS, j->pairwise->xs.count));
  size_t batches = divide_up(share, j->lanes) * j->lanes;
  j->unit = tsn_smaller(UNIT_COLUMNS, batches);
  j->block = divide_up(batches, j->unit) * j->unit;
}

static size_t units_per_row(const job *j) {
  return divide_up(j->pairwise->ys.count, j->unit);
}

static bool run_row_unit(const job *j, thread_buffers *own, const tsn_dtw_watch *watch,
                         size_t unit, size_t *pairs) {
  const pairwise *m = j->pairwise;
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

/* What a stopped run can count. Leading pairs in the blocks before that of a unit. */
static size_t pairs_before_unit(const job *j, size_t unit) {
  size_t a = unit / units_per_row(j), first = first_column(j->pairwise, a);
  size_t column = unit % units_per_row(j) * j->unit / j->block * j->block;
  return pairs_before(j->pairwise, a) + (column > first ? column - first : 0);
}

/* Several threads may leave a unit unfinished; the first of these counts. */
static void leave_unit(job *j, size_t unit) {
  size_t first = atomic_load(&j->unfinished);
  while (unit < first && !atomic_compare_exchange_weak(&j->unfinished, &first, unit)) {
  }
}

/* Body of a thread. A stopped call returns from the unit under way, whose distances may
 * be incomplete; `unfinished` excludes them from what is counted. */
static void run_units(void *context, int thread, int threads) {
  job *j = context;
  pairwise *m = j->pairwise;
  (void)threads;
  thread_buffers own = {.rest = tsn_dtw_block(m->blocks, (size_t)thread, m->block_bytes)};
  batch_layout(&own.rest, m, &own.batch);
  tsn_dtw_watch watch = {.exec = &m->settings->exec,
                         .stop = &j->stop,
                         .polls = thread == 0,
                         .total = j->pairs};
  for (;;) {
    watch.done = atomic_load_explicit(&j->done, memory_order_relaxed);
    if (tsn_dtw_watch_stop(&watch)) return;
    size_t unit = atomic_fetch_add_explicit(&j->next, 1, memory_order_relaxed), pairs;
    if (unit >= j->units) return;
    bool finished = j->order ? run_row_unit(j, &own, &watch, unit, &pairs)
                             : run_batch_unit(j, &own, &watch, unit, &pairs);
    if (!finished) {
      leave_unit(j, unit);
      return;
    }
    atomic_fetch_add_explicit(&j->done, pairs, memory_order_relaxed);
  }
}

/* Order of columns by length and index, by heapsort: it needs no memory, and the index as
 * second key makes the order, hence the batches, unique. */
static bool before(const series_view *set, size_t a, size_t b) {
  size_t n = tsn_series_length(set, a), m = tsn_series_length(set, b);
  return n != m ? n < m : a < b;
}

static void sift_down(const series_view *set, size_t *heap, size_t root, size_t count) {
  for (;;) {
    size_t child = 2 * root + 1;
    if (child >= count) return;
    if (child + 1 < count && before(set, heap[child], heap[child + 1])) child++;
    if (!before(set, heap[root], heap[child])) return;
    size_t swap = heap[root];
    heap[root] = heap[child];
    heap[child] = swap;
    root = child;
  }
}

static void order_by_length(const series_view *set, size_t *order, size_t count) {
  for (size_t root = count / 2; root-- > 0;) sift_down(set, order, root, count);
  while (count-- > 1) {
    size_t swap = order[0];
    order[0] = order[count];
    order[count] = swap;
    sift_down(set, order, 0, count);
  }
}

static void order_blocks(const series_view *set, size_t block, size_t *order) {
  for (size_t k = 0; k < set->count; k++) order[k] = k;
  for (size_t k = 0; k < set->count; k += block) {
    order_by_length(set, order + k, tsn_smaller(block, set->count - k));
  }
}

/* Lengths that are given one by one may still be equal. */
static bool has_one_length(const series_view *set) {
  for (size_t k = 1; set->lengths && k < set->count; k++) {
    if (set->lengths[k] != set->lengths[0]) return false;
  }
  return true;
}

/* With one length on each side batches cross the ends of rows, so that all lanes are used
 * but in the last unit. */
static void cut_into_units(job *j) {
  pairwise *m = j->pairwise;
  if (has_one_length(&m->xs) && has_one_length(&m->ys)) {
    j->units = divide_up(j->pairs, j->lanes);
    return;
  }
  cut_rows(j);
  j->order = m->order;
  order_blocks(&m->ys, j->block, j->order);
  j->units = m->xs.count * units_per_row(j);
}

tsanom_status tsn_dtw_pairwise_run(pairwise *m) {
  const tsn_dtw_settings *settings = m->settings;
  job j = {.pairwise = m,
           .lanes = tsn_dtw_kernels_of(settings)->lanes,
           .pairs = pairs_before(m, m->xs.count - (m->condensed ? 1 : 0)),
           .unfinished = SIZE_MAX};
  cut_into_units(&j);
  size_t threads = tsn_smaller((size_t)settings->exec.threads, j.units);
  tsn_team_run(threads > 1 ? (int)threads : 1, run_units, &j);
  bool stopped = atomic_load(&j.stop) != 0;
  size_t unit = tsn_smaller(atomic_load(&j.unfinished), atomic_load(&j.next));
  unit = tsn_smaller(unit, j.units);
  m->computed = !stopped  ? j.pairs
                : j.order ? pairs_before_unit(&j, unit)
                          : tsn_smaller(unit * j.lanes, j.pairs);
  return stopped ? TSANOM_STOPPED : TSANOM_OK;
}
