/* SPDX-License-Identifier: BSD-3-Clause */
/* The analyzer: which loops are going on, and when their iterations end. */
#include "speedup/speedup.h"

#include <math.h>
#include <string.h>

#include "core/arena.h"
#include "core/exec.h"
#include "core/versioned.h"

static const tsanom_speedup_options defaults = {
    .struct_size = sizeof defaults, .max_period = 1024, .capacity = 64};

static const tsn_versioned options_type = {
    .size = sizeof(tsanom_speedup_options),
    .first_size = sizeof(tsanom_speedup_options),
    .defaults = &defaults,
};

tsanom_status tsanom_speedup_options_init(tsanom_speedup_options *options,
                                          size_t struct_size) {
  return tsn_versioned_init(&options_type, options, struct_size);
}

static tsanom_status read_options(const tsanom_speedup_options *caller,
                                  tsanom_speedup_options *own) {
  tsanom_status status = tsn_versioned_read(&options_type, own, caller);
  if (status < 0) return status;
  if (own->max_period < 1 || own->max_period > TSANOM_SPEEDUP_PERIOD_MAX ||
      own->capacity < 1 || own->capacity > TSANOM_SPEEDUP_LOOPS_MAX ||
      own->baseline < 0 || own->reserved0 != 0) {
    return TSANOM_E_OPTION;
  }
  return TSANOM_OK;
}

/* What has an iteration of two regions is found in the third, as are longer ones. */
enum { LEAST_EVENTS = 6 };

/* The detector finds a loop when it has seen three iterations and six events, so
 * that four iterations reach back to where it began. */
static uint64_t history_of(size_t max_period) {
  uint64_t events = 64;
  while (events < 4 * (uint64_t)max_period) events *= 2;
  return events;
}

static tsanom_dpd_nest_options nest_options(const tsanom_speedup_options *options) {
  tsanom_dpd_nest_options own;
  tsanom_dpd_nest_options_init(&own, sizeof own);
  own.max_period = options->max_period;
  own.least_events = LEAST_EVENTS;
  return own;
}

/* The analyzer, then the detector, its history and the loops. */
typedef struct {
  tsanom_speedup *analyzer;
  void *nest;
  size_t nest_bytes;
  tsn_past_event *past;
  tsn_loop *loops;
} pieces;

static tsanom_status carve(const tsanom_speedup_options *options, tsn_arena *arena,
                           pieces *p) {
  tsanom_dpd_nest_options nest = nest_options(options);
  tsanom_status status = tsanom_dpd_nest_size(&nest, &p->nest_bytes);
  if (status < 0) return status;
  p->analyzer = tsn_arena_take(arena, 1, sizeof *p->analyzer);
  p->nest = tsn_arena_take(arena, p->nest_bytes, 1);
  p->past =
      tsn_arena_take(arena, (size_t)history_of(options->max_period), sizeof *p->past);
  p->loops = tsn_arena_take(arena, options->capacity, sizeof *p->loops);
  return TSANOM_OK;
}

tsanom_status tsanom_speedup_size(const tsanom_speedup_options *options, size_t *bytes) {
  tsanom_speedup_options own;
  pieces p;
  tsanom_status status = read_options(options, &own);
  if (status < 0) return status;
  if (!bytes) return TSANOM_E_NULL;
  tsn_arena arena = tsn_arena_measure();
  status = carve(&own, &arena, &p);
  return status < 0 ? status : tsn_arena_bytes(&arena, bytes);
}

tsanom_status tsanom_speedup_init(const tsanom_speedup_options *options, void *memory,
                                  size_t bytes, tsanom_speedup **analyzer) {
  tsanom_speedup_options own;
  tsn_workspace workspace;
  pieces p;
  tsanom_status status = read_options(options, &own);
  if (status < 0) return status;
  if (!memory || !analyzer) return TSANOM_E_NULL;
  tsn_arena arena = tsn_arena_measure();
  status = carve(&own, &arena, &p);
  if (status < 0) return status;
  status = tsn_workspace_borrow(&workspace, &arena, NULL, memory, bytes);
  if (status < 0) return status;
  status = carve(&own, &workspace.arena, &p);
  if (status < 0) return status;
  tsanom_dpd_nest_options nest = nest_options(&own);
  tsanom_speedup *made = p.analyzer;
  memset(made, 0, sizeof *made);
  made->options = own;
  made->past = p.past;
  made->past_mask = history_of(own.max_period) - 1;
  made->loops = p.loops;
  status = tsanom_dpd_nest_init(&nest, NULL, p.nest, p.nest_bytes, &made->nest);
  if (status == TSANOM_OK) *analyzer = made;
  return status;
}

tsanom_status tsanom_speedup_create(const tsanom_speedup_options *options,
                                    const tsanom_exec *exec, tsanom_speedup **analyzer) {
  tsanom_exec own;
  size_t bytes = 0;
  if (!analyzer) return TSANOM_E_NULL;
  tsanom_status status = tsn_exec_read(&own, exec);
  if (status < 0) return status;
  status = tsanom_speedup_size(options, &bytes);
  if (status < 0) return status;
  void *block = own.alloc(own.alloc_user, bytes);
  if (!block) return TSANOM_E_MEMORY;
  tsanom_speedup *made = NULL;
  status = tsanom_speedup_init(options, block, bytes, &made);
  if (!made) {
    own.dealloc(own.alloc_user, block);
    return status;
  }
  made->block = block;
  made->dealloc = own.dealloc;
  made->user = own.alloc_user;
  *analyzer = made;
  return TSANOM_OK;
}

void tsanom_speedup_destroy(tsanom_speedup *analyzer) {
  if (analyzer && analyzer->block) analyzer->dealloc(analyzer->user, analyzer->block);
}

static tsn_past_event *past_event(const tsanom_speedup *a, uint64_t index) {
  return &a->past[index & a->past_mask];
}

/* The loop of that start and period, made if need be; NULL where there is no room. */
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

/* The team of that many threads; where there is no room, that of fewest iterations
 * makes place. */
static tsn_team *team_of(tsn_loop *loop, int32_t threads) {
  tsn_team *least = loop->team;
  for (uint32_t i = 0; i < loop->teams; i++) {
    tsn_team *team = &loop->team[i];
    if (team->threads == threads) return team;
    if (team->count < least->count) least = team;
  }
  if (loop->teams < TSANOM_SPEEDUP_TEAMS) least = &loop->team[loop->teams++];
  *least = (tsn_team){.threads = threads};
  return least;
}

/* Put a time among the latest in order, where the oldest was or at the end. */
static void sort_in(tsn_team *team, double seconds) {
  double *sorted = team->sorted;
  size_t at = (size_t)team->count, last = at;
  if (team->count >= TSANOM_SPEEDUP_RECENT) {
    last = TSANOM_SPEEDUP_RECENT - 1;
    for (at = 0; sorted[at] != team->seconds[team->next];) at++;
  }
  for (; at > 0 && sorted[at - 1] > seconds; at--) sorted[at] = sorted[at - 1];
  for (; at < last && sorted[at + 1] < seconds; at++) sorted[at] = sorted[at + 1];
  sorted[at] = seconds;
}

static void add_to_team(tsn_team *team, double seconds) {
  sort_in(team, seconds);
  team->seconds[team->next] = seconds;
  team->next = (team->next + 1) % TSANOM_SPEEDUP_RECENT;
  team->count++;
  team->usual += fmin(seconds, TSN_USUAL * tsn_team_median(team));
  if ((team->count & (team->count - 1)) != 0) return;
  team->usual_at[0] = team->usual_at[1];
  team->usual_at[1] = team->usual;
}

/* The iteration that began with event `live->begun` ends at `time`, before event
 * `next`. */
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
    int32_t threads = past_event(a, i)->threads;
    if (threads > iteration.threads) iteration.threads = threads;
  }
  tsn_team *team = team_of(loop, iteration.threads);
  add_to_team(team, iteration.seconds);
  if (loop->iterations == 0) loop->first = iteration.begin;
  loop->last = time;
  loop->total += iteration.seconds;
  loop->parallel += iteration.parallel;
  loop->current_threads = iteration.threads;
  loop->iterations++;
  live->iterations++;
  live->begun = next;
  if (a->options.visit) a->options.visit(a->options.visit_user, &iteration);
}

/* Iterations that ended because event `index` begins the next one. */
static void advance(tsanom_speedup *a, tsn_live *live, uint64_t index) {
  while (index - live->begun >= live->period) {
    uint64_t next = live->begun + live->period;
    complete(a, live, next, past_event(a, next)->begin);
  }
}

/* The run of a loop is over; its last event is the one before `index`. What came
 * after an iteration's last region does not belong to the loop any more. */
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

static void begin_run(tsanom_speedup *a, const tsanom_dpd_loop *found, uint64_t index) {
  uint64_t oldest = index > a->past_mask ? index - a->past_mask : 0;
  uint64_t begun = found->first;
  while (begun < oldest) begun += found->period;
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

/* The detector found or lost a loop by event `index`. */
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

static tsanom_status check_event(const tsanom_speedup *a,
                                 const tsanom_speedup_event *event) {
  if (!isfinite(event->begin) || !isfinite(event->end)) return TSANOM_E_NONFINITE;
  if (event->end < event->begin) return TSANOM_E_ORDER;
  if (a->events && event->begin < past_event(a, a->events - 1)->end) {
    return TSANOM_E_ORDER;
  }
  if (event->threads < 1) return TSANOM_E_VALUE;
  return event->reserved0 == 0 ? TSANOM_OK : TSANOM_E_OPTION;
}

tsanom_status tsanom_speedup_push(tsanom_speedup *analyzer,
                                  const tsanom_speedup_event *event) {
  if (!analyzer || !event) return TSANOM_E_NULL;
  tsanom_speedup *a = analyzer;
  if (a->finished) return TSANOM_E_STATE;
  tsanom_status status = check_event(a, event);
  if (status < 0) return status;
  uint64_t index = a->events;
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

tsanom_status tsanom_speedup_finish(tsanom_speedup *analyzer) {
  if (!analyzer) return TSANOM_E_NULL;
  for (size_t i = 0; i < analyzer->live_count; i++) {
    end_run(analyzer, &analyzer->live[i], analyzer->events);
  }
  analyzer->live_count = 0;
  analyzer->finished = true;
  return TSANOM_OK;
}
