/* SPDX-License-Identifier: BSD-3-Clause */
/* The analyzer: object, active loops, ends of iterations, answers. The nest detector of dpd
 * reports when a loop is found or ends; in between, an iteration ends after each `period`
 * events:
 *
 *   events     A B C A B C A B C A B C D
 *   iteration  |0    |1    |2    |3    |
 *                         ^ found here: iterations 0 and 1 are taken from the history
 *   time       |region|serial|region|serial|...        an iteration includes serial code
 *
 * Per event: one push to the detector, expected O(log M), and one comparison per active
 * loop; only where a loop begins or ends are the lists of active loops compared. The
 * history of events, in a ring, gives the times of iterations that ended before their
 * loop was known.
 *
 * Source: F. Freitag, J. Corbalan and J. Labarta, section 5. */
#include "speedup/speedup.h"

#include <math.h>
#include <string.h>

#include "core/environment.h"
#include "core/exec.h"
#include "core/fault.h"
#include "core/size.h"
#include "core/versioned.h"

/* The saved state of an analyzer: its events, loops and active runs, then that of the
 * nest. Pointers to loops are saved as their indices; the sorted times follow from the
 * times. */

static void exchange_past(tsn_state *state, tsanom_speedup *a) {
  uint64_t places = a->past_mask + 1, used = a->events < places ? a->events : places;
  tsn_state_field(state, a->past, used * sizeof *a->past);
  if (state->from) memset(a->past + used, 0, (places - used) * sizeof *a->past);
}

static void exchange_loop(tsn_state *state, tsn_loop *loop) {
  tsn_state_field(state, loop, offsetof(tsn_loop, times));
  if (loop->thread_counts > TSANOM_SPEEDUP_THREAD_COUNTS) {
    state->damaged = true;
    return;
  }
  for (uint32_t i = 0; i < loop->thread_counts; i++) {
    tsn_state_field(state, &loop->times[i], offsetof(tsn_times, sorted));
  }
}

static void exchange_live(tsn_state *state, tsanom_speedup *a, tsn_live *live) {
  uint64_t index = live->loop ? (uint64_t)(live->loop - a->loops) : 0;
  tsn_state_field(state, live, offsetof(tsn_live, loop));
  tsn_state_field(state, &index, sizeof index);
  if (index >= a->loop_count) {
    state->damaged = true;
    return;
  }
  live->loop = &a->loops[index];
}

static void exchange(tsn_state *state, void *object) {
  tsanom_speedup *a = object;
  uint64_t flags[2] = {a->lost, a->finished};
  tsn_state_field(state, &a->events, sizeof a->events);
  tsn_state_field(state, &a->parallel, sizeof a->parallel);
  tsn_state_field(state, flags, sizeof flags);
  tsn_state_field(state, &a->loop_count, sizeof a->loop_count);
  tsn_state_field(state, &a->live_count, sizeof a->live_count);
  a->lost = flags[0] != 0;
  a->finished = flags[1] != 0;
  if (a->loop_count > a->options.capacity || a->live_count > TSN_LIVE_MAX) {
    state->damaged = true;
    return;
  }
  exchange_past(state, a);
  for (size_t i = 0; i < a->loop_count && !state->damaged; i++) {
    exchange_loop(state, &a->loops[i]);
  }
  for (size_t i = 0; i < a->live_count && !state->damaged; i++) {
    exchange_live(state, a, &a->live[i]);
  }
  tsn_state_exchange(state, a->nest);
}

/* A median needs a time, and an insertion finds the oldest time among the sorted. */
static bool start_times(tsn_times *times) {
  uint64_t count = times->count;
  if (count < 1) return false;
  times->next = (uint32_t)(count % TSANOM_SPEEDUP_RECENT);
  uint64_t kept = count < TSANOM_SPEEDUP_RECENT ? count : TSANOM_SPEEDUP_RECENT;
  for (uint64_t i = 0; i < kept; i++) {
    if (!isfinite(times->seconds[i])) return false;
    times->count = i;
    tsn_times_insert(times, times->seconds[i]);
  }
  times->count = count;
  return true;
}

/* A loop with iterations has times with its current number of threads. */
static bool start_loop(tsn_loop *loop) {
  for (uint32_t i = 0; i < loop->thread_counts; i++) {
    if (!start_times(&loop->times[i])) return false;
  }
  return loop->iterations == 0 || tsn_loop_current(loop);
}

static bool are_times(const tsanom_speedup *a) {
  for (uint64_t i = 0; i <= a->past_mask; i++) {
    const tsn_past_event *past = &a->past[i];
    if (!isfinite(past->begin) || !isfinite(past->end) || !isfinite(past->parallel)) {
      return false;
    }
  }
  return true;
}

/* The current iteration of an active run is not longer than its period. */
static bool resume(void *object) {
  tsanom_speedup *a = object;
  if (a->events > INT64_MAX || !are_times(a)) return false;
  for (size_t i = 0; i < a->loop_count; i++) {
    if (!start_loop(&a->loops[i])) return false;
  }
  for (size_t i = 0; i < a->live_count; i++) {
    const tsn_live *live = &a->live[i];
    if (live->period < 1 || live->period > a->options.max_period) return false;
    if (live->begun > a->events || a->events - live->begun > live->period) return false;
  }
  return tsn_state_resume(a->nest);
}

/* The visitor and its argument, the last options, belong to the object. */
static const tsn_saved saved_type = {
    .kind = UINT64_C(0x50554445455053), /* "SPEEDUP" */
    .options = offsetof(tsanom_speedup, options),
    .options_bytes = offsetof(tsanom_speedup_options, visit),
    .exchange = exchange,
    .resume = resume,
};

static const tsanom_speedup_options defaults = {
    .struct_size = sizeof defaults, .max_period = 1024, .capacity = 64};

static const tsn_versioned options_type = {
    .size = sizeof(tsanom_speedup_options),
    .first_size = offsetof(tsanom_speedup_options, next),
    .defaults = &defaults,
};

tsanom_status tsanom_speedup_options_init(tsanom_speedup_options *options,
                                          size_t struct_size) {
  return tsn_versioned_init(&options_type, options, struct_size);
}

/* A loop whose body has two regions is found during its third iteration, like longer
 * ones. */
enum { LEAST_EVENTS = 6 };

/* Events of the history, a power of two. The detector finds a loop after three iterations
 * and at least LEAST_EVENTS events, so that four iterations contain its beginning. */
static uint64_t history_of(size_t max_period) {
  uint64_t events = 64;
  while (events < 4 * (uint64_t)max_period) events *= 2;
  return events;
}

/* The block of an analyzer: the struct, the detector, its history and the loops. */
typedef struct {
  tsanom_exec exec;
  tsanom_speedup_options options;
  tsanom_speedup *placed, **analyzer;
  tsn_piece nest;
  tsn_past_event *past;
  tsn_loop *loops;
} speedup_block;

static tsanom_dpd_nest_options nest_options(const tsanom_speedup_options *options) {
  tsanom_dpd_nest_options own;
  tsanom_dpd_nest_options_init(&own, sizeof own);
  own.max_period = options->max_period;
  own.least_events = LEAST_EVENTS;
  return own;
}

tsanom_status tsn_speedup_options_read(tsanom_speedup_options *own,
                                       const tsanom_speedup_options *caller,
                                       const tsanom_exec *exec) {
  enum { BAD = TSANOM_E_OPTION };
  tsanom_status status = tsn_struct_read(exec, &options_type, own, caller, "options");
  if (status < 0) return status;
  if ((status = tsn_require_size(exec, BAD, "options.max_period", own->max_period, 1,
                                 TSANOM_SPEEDUP_PERIOD_MAX)) < 0 ||
      (status = tsn_require_size(exec, BAD, "options.capacity", own->capacity, 1,
                                 TSANOM_SPEEDUP_LOOPS_MAX)) < 0 ||
      (status = tsn_require_int(exec, BAD, "options.baseline", own->baseline, 0,
                                INT32_MAX)) < 0) {
    return status;
  }
  return tsn_require_int(exec, BAD, "options.reserved0", own->reserved0, 0, 0);
}

static void layout(tsn_arena *arena, void *context) {
  speedup_block *block = context;
  block->placed = tsn_arena_take(arena, 1, sizeof *block->placed);
  block->nest.memory = tsn_arena_take(arena, block->nest.bytes, 1);
  block->past = tsn_arena_take(arena, (size_t)history_of(block->options.max_period),
                               sizeof *block->past);
  block->loops = tsn_arena_take(arena, block->options.capacity, sizeof *block->loops);
}

static tsanom_status check(void *context) {
  const speedup_block *block = context;
  return tsn_require(&block->exec, block->analyzer, "analyzer");
}

/* The options, and the bytes of the detector. */
static tsanom_status prepare(speedup_block *block,
                             const tsanom_speedup_options *options) {
  const tsanom_exec *exec = &block->exec;
  tsanom_status status = tsn_speedup_options_read(&block->options, options, exec);
  if (status < 0) return status;
  tsanom_dpd_nest_options nest = nest_options(&block->options);
  tsanom_exec ask = tsn_exec_asking(exec, &block->nest.bytes);
  status = tsn_asked(tsanom_dpd_nest_create(&nest, &ask, NULL));
  if (status < 0 || !block->options.next) return status;
  return tsn_reject_is(exec, TSANOM_E_OPTION, "options.next", TSANOM_NONE,
                       "set; NULL is expected, since this function does not use it");
}

/* The detector is in the block of the analyzer, and ends with it. */
static tsanom_status start(speedup_block *block) {
  tsanom_dpd_nest_options nest = nest_options(&block->options);
  tsanom_exec inside = tsn_exec_in_piece(&block->exec, &block->nest);
  tsanom_speedup *made = block->placed;
  memset(made, 0, sizeof *made);
  made->options = block->options;
  made->past = block->past;
  made->past_mask = history_of(block->options.max_period) - 1;
  made->loops = block->loops;
  return tsanom_dpd_nest_create(&nest, &inside, &made->nest);
}

tsanom_status tsanom_speedup_create(const tsanom_speedup_options *options,
                                    const tsanom_exec *exec, tsanom_speedup **analyzer) {
  speedup_block block = {.analyzer = analyzer};
  tsn_object owner;
  tsanom_status status = tsn_exec_read(&block.exec, exec);
  if (status < 0) return status;
  if ((status = prepare(&block, options)) < 0) return status;
  status = tsn_object_create(&block.exec, layout, check, &block, &owner);
  if (status < 0) return status;
  if ((status = start(&block)) < 0) {
    tsn_object_release(&owner);
    return status;
  }
  owner.saved = &saved_type;
  block.placed->owner = owner;
  *analyzer = block.placed;
  return TSANOM_OK;
}

void tsanom_speedup_destroy(tsanom_speedup *analyzer) {
  if (analyzer) tsn_object_release(&analyzer->owner);
}

static tsn_past_event *past_event(const tsanom_speedup *a, uint64_t index) {
  return &a->past[index & a->past_mask];
}

/* The loop with this start and period, created if necessary; NULL if the capacity is
 * exhausted. A linear search, once per run of a loop. */
static tsn_loop *loop_of(tsanom_speedup *a, uint64_t start, size_t period) {
  for (size_t i = 0; i < a->loop_count; i++) {
    tsn_loop *loop = &a->loops[i];
    if (loop->start == start && loop->period == period) return loop;
  }
  if (a->loop_count == a->options.capacity) {
    a->lost = true;
    return NULL;
  }
  tsn_loop *loop = &a->loops[a->loop_count++];
  memset(loop, 0, sizeof *loop);
  loop->start = start;
  loop->period = period;
  loop->first = NAN;
  return loop;
}

/* The iteration that began with event `live->begun` ends at `time`, before event `next`.
 * Its number of threads is the largest of its regions. The time in regions is the
 * difference of two prefix sums, which events carry. */
static void complete(tsanom_speedup *a, tsn_live *live, uint64_t next, double time) {
  tsn_loop *loop = live->loop;
  const tsn_past_event *first = past_event(a, live->begun);
  const tsn_past_event *last = past_event(a, next - 1);
  tsanom_speedup_iteration iteration = {
      .start = loop->start,
      .period = loop->period,
      .number = loop->iterations,
      .begin = first->begin,
      .seconds = time - first->begin,
      .parallel = last->parallel + (last->end - last->begin) - first->parallel,
      .threads = 1,
  };
  for (uint64_t i = live->begun; i < next; i++) {
    int32_t threads = (int32_t)past_event(a, i)->threads;
    if (threads > iteration.threads) iteration.threads = threads;
  }
  tsn_loop_add(loop, &iteration, time);
  live->iterations++;
  live->begun = next;
  if (a->options.visit) a->options.visit(a->options.visit_user, &iteration);
}

/* Complete the iterations that end because event `index` begins the next one. */
static void advance(tsanom_speedup *a, tsn_live *live, uint64_t index) {
  while (index - live->begun >= live->period) {
    uint64_t next = live->begun + live->period;
    complete(a, live, next, past_event(a, next)->begin);
  }
}

/* A run of a loop has ended; its last event is the one before `index`. Its last iteration
 * ends with its last region: the time after it does not belong to the loop. */
static void end_run(tsanom_speedup *a, tsn_live *live, uint64_t index) {
  while (index - live->begun > live->period) {
    uint64_t next = live->begun + live->period;
    complete(a, live, next, past_event(a, next)->begin);
  }
  if (index - live->begun == live->period) {
    complete(a, live, index, past_event(a, index - 1)->end);
  }
  live->loop->last_run = live->iterations;
}

static bool is_same(const tsn_live *live, const tsanom_dpd_loop *loop) {
  return live->period == loop->period && live->first == loop->first;
}

/* Follow a loop that the detector found. If its first iterations have left the history,
 * it begins with the first complete one that has not. */
static void begin_run(tsanom_speedup *a, const tsanom_dpd_loop *found, uint64_t index) {
  uint64_t oldest = index > a->past_mask ? index - a->past_mask : 0;
  uint64_t begun = found->first;
  if (begun < oldest) begun += tsn_round_up(oldest - begun, found->period);
  if (a->live_count == TSN_LIVE_MAX || begun > index) {
    a->lost = true;
    return;
  }
  tsn_loop *loop = loop_of(a, past_event(a, begun)->region, found->period);
  if (!loop) return;
  if (loop->runs++) loop->between += fmax(0, past_event(a, begun)->begin - loop->last);
  a->live[a->live_count++] = (tsn_live){
      .period = found->period, .first = found->first, .begun = begun, .loop = loop};
}

/* The detector found or ended a loop at event `index`: compare its loops with the active
 * runs, end those that are gone, then begin the new ones. Ended first, so that the end of
 * a run is the time from which `between` counts. */
static void follow(tsanom_speedup *a, uint64_t index) {
  tsanom_dpd_loop going[TSN_LIVE_MAX];
  size_t count = 0;
  (void)tsanom_dpd_nest_loops(a->nest, going, TSN_LIVE_MAX, &count);
  if (count > TSN_LIVE_MAX) count = TSN_LIVE_MAX;
  size_t kept = 0;
  for (size_t i = 0; i < a->live_count; i++) {
    bool goes_on = false;
    for (size_t k = 0; k < count && !goes_on; k++)
      goes_on = is_same(&a->live[i], &going[k]);
    if (goes_on) {
      a->live[kept++] = a->live[i];
    } else {
      end_run(a, &a->live[i], index);
    }
  }
  a->live_count = kept;
  for (size_t k = 0; k < count; k++) {
    bool known = false;
    for (size_t i = 0; i < kept && !known; i++) known = is_same(&a->live[i], &going[k]);
    if (!known) begin_run(a, &going[k], index);
  }
}

/* The regions of one thread do not overlap: an event begins no earlier than the one
 * before it ended. */
static tsanom_status speedup_check(const tsanom_speedup_event *event, double earliest) {
  if (!isfinite(event->begin) || !isfinite(event->end)) return TSANOM_E_NONFINITE;
  if (event->end < event->begin || event->begin < earliest) return TSANOM_E_ORDER;
  if (event->threads < 1) return TSANOM_E_VALUE;
  return event->reserved0 == 0 ? TSANOM_OK : TSANOM_E_OPTION;
}

tsanom_status tsn_speedup_check_all(const tsanom_exec *exec,
                                    const tsanom_speedup_event *events, size_t first,
                                    size_t count, double earliest) {
  static const char name[] = "events";
  for (size_t k = 0; k < count; k++) {
    size_t i = first + k;
    const tsanom_speedup_event *event = &events[k];
    if (k) earliest = events[k - 1].end;
    tsanom_status status = speedup_check(event, earliest);
    if (status == TSANOM_OK) continue;
    if (status == TSANOM_E_VALUE) {
      return tsn_reject_is(exec, status, name, i, "of %d threads; at least 1 is expected",
                           event->threads);
    }
    if (status == TSANOM_E_OPTION) {
      return tsn_reject_is(exec, status, name, i,
                           "one with reserved0 = %d; 0 is expected", event->reserved0);
    }
    if (status == TSANOM_E_NONFINITE) {
      double time = isfinite(event->begin) ? event->end : event->begin;
      return tsn_reject_value(exec, status, name, i, TSANOM_NONE, time,
                              "finite times are expected");
    }
    return tsn_reject_is(
        exec, status, name, i,
        "from %.9g to %.9g; %.9g or later is expected, and no end before "
        "the begin",
        event->begin, event->end, earliest);
  }
  return TSANOM_OK;
}

static tsanom_status push(tsanom_speedup *a, const tsanom_speedup_event *event) {
  if (a->finished) return TSANOM_E_STATE;
  uint64_t index = a->events;
  double earliest = index ? past_event(a, index - 1)->end : -INFINITY;
  tsanom_status status = speedup_check(event, earliest);
  if (status < 0) return status;
  *past_event(a, index) = (tsn_past_event){.region = event->region,
                                           .begin = event->begin,
                                           .end = event->end,
                                           .parallel = a->parallel,
                                           .threads = event->threads};
  a->parallel += event->end - event->begin;
  int32_t changed = 0;
  status = tsanom_dpd_nest_push(a->nest, event->region, &changed);
  if (status < 0) return status;
  a->events = index + 1;
  if (changed) follow(a, index);
  for (size_t i = 0; i < a->live_count; i++) advance(a, &a->live[i], index);
  return TSANOM_OK;
}

tsanom_status tsanom_speedup_push(tsanom_speedup *analyzer,
                                  const tsanom_speedup_event *event) {
  if (!analyzer || !event) return TSANOM_E_NULL;
  tsn_environment before = tsn_environment_enter();
  tsanom_status status = push(analyzer, event);
  tsn_environment_leave(before);
  return status;
}

tsanom_status tsanom_speedup_finish(tsanom_speedup *analyzer) {
  if (!analyzer) return TSANOM_E_NULL;
  tsn_environment before = tsn_environment_enter();
  for (size_t i = 0; i < analyzer->live_count; i++) {
    end_run(analyzer, &analyzer->live[i], analyzer->events);
  }
  analyzer->live_count = 0;
  analyzer->finished = true;
  tsn_environment_leave(before);
  return TSANOM_OK;
}

tsanom_status tsanom_speedup_loops(const tsanom_speedup *analyzer,
                                   tsanom_speedup_loop *loops, size_t capacity,
                                   size_t *count) {
  if (!analyzer || !count || (!loops && capacity)) return TSANOM_E_NULL;
  tsn_environment before = tsn_environment_enter();
  for (size_t i = 0; i < analyzer->loop_count && i < capacity; i++) {
    tsn_loop_describe(&analyzer->loops[i], analyzer->options.baseline, &loops[i]);
  }
  tsn_environment_leave(before);
  *count = analyzer->loop_count;
  return analyzer->lost || *count > capacity ? TSANOM_PARTIAL : TSANOM_OK;
}

/* The loop whose end is predicted: of those that take at least 0.9 of the longest total,
 * the one with the longest period. An outer loop and the loop that fills it take about
 * the same time; the outer one determines the end. */
static const tsn_loop *main_loop(const tsanom_speedup *analyzer) {
  const tsn_loop *best = NULL;
  double most = 0;
  for (size_t i = 0; i < analyzer->loop_count; i++) {
    most = fmax(most, analyzer->loops[i].total);
  }
  for (size_t i = 0; i < analyzer->loop_count; i++) {
    const tsn_loop *loop = &analyzer->loops[i];
    if (loop->iterations && loop->total >= 0.9 * most &&
        (!best || loop->period > best->period)) {
      best = loop;
    }
  }
  return best;
}

/* Complete iterations of the active run of a loop; 0: no run is active. */
static uint64_t under_way(const tsanom_speedup *analyzer, const tsn_loop *loop) {
  for (size_t i = 0; i < analyzer->live_count; i++) {
    if (analyzer->live[i].loop == loop) return analyzer->live[i].iterations;
  }
  return 0;
}

/* The remaining time counts from the end of the latest event. */
static tsanom_status predict(const tsanom_speedup *analyzer, uint64_t iterations,
                             tsanom_speedup_prediction *prediction) {
  const tsn_loop *loop = main_loop(analyzer);
  if (!loop) return TSANOM_INFEASIBLE;
  double latest = past_event(analyzer, analyzer->events - 1)->end;
  return tsn_loop_predict(loop, under_way(analyzer, loop), iterations, latest,
                          prediction);
}

tsanom_status tsanom_speedup_predict(const tsanom_speedup *analyzer, uint64_t iterations,
                                     tsanom_speedup_prediction *prediction) {
  tsanom_speedup_prediction own;
  if (!analyzer) return TSANOM_E_NULL;
  tsanom_status status = tsn_versioned_check(&tsn_prediction_type, prediction);
  if (status < 0) return status;
  tsn_environment before = tsn_environment_enter();
  status = predict(analyzer, iterations, &own);
  tsn_environment_leave(before);
  if (status == TSANOM_OK) tsn_versioned_write(&tsn_prediction_type, prediction, &own);
  return status;
}
