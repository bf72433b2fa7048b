/* SPDX-License-Identifier: BSD-3-Clause */
/* One row for each thread, and one for each region within those around it:
 *
 *   thread 0 ─┬─ loop ─── loop inside it        all visits
 *             ├─ before MPI_Recv ─── loop       the computations that a call ends, and
 *             └─ before MPI_Send ─── loop       their share of the regions in them
 *
 * To which computation a region belongs is known only at the call that ends it. So a
 * region is added to its row in the thread, and what was added there since the last
 * computation is carried over to the row in the computation, as src/runs/process_times.c
 * does for events.
 *
 * A thread may begin to add up inside of regions. Each of them then has an END in the
 * events, and goes on in its row without a further visit. */
#include "profile.h"

#include <pthread.h>
#include <stdatomic.h>
#include <tsanom/heartbeat.h>

#include "own.h"
#include "places.h"
#include "profile_beats.h"
#include "profile_rows.h"
#include "record/guard.h"
#include "record/inside.h"
#include "record/regions.h"
#include "thread.h"
#include "ticks.h"
#include "usage.h"

enum { NONE = ICP_NO_ROW };

typedef tsn_regions_row row;
typedef icp_row_links row_links;

typedef struct {
  uint64_t begin, excluded, cpu; /* `excluded` of the thread when it began */
  uint32_t row; /* of a call of MPI: its place. NONE: the table is full */
  bool is_call;
  bool continues;      /* its visit is in the events: */
  uint64_t cpu_before; /* processor time of the thread until then */
} open_region;

typedef struct {
  uint32_t root, depth, pending; /* rows; the first of the list */
  bool watched, has_cpu;
  uint32_t computation; /* row of the latest */
  uint32_t behind;      /* place of the call that ended last; NONE: a region came since */
  uint64_t started,
      before; /* ticks, and ns from the first event of its rows until then */
  uint64_t cpu, began, excluded, excluded_before;
  open_region open[ICP_DEPTH_MOST];
} profile_thread;

/* That of the calling thread, which adds up: icp_profile_start() made it. */
static profile_thread *own_profile(void) {
  return icp_me.own->part_of[ICP_OWN_PROFILE];
}

_Atomic bool icp_has_totals;

static pthread_once_t once = PTHREAD_ONCE_INIT;

static double tick = 1; /* ns */

/* Nanoseconds of a duration; 0 of one in which the counter restarted. */
static inline uint64_t nanoseconds(uint64_t ticks) {
  return (int64_t)ticks > 0 ? (uint64_t)((double)ticks * tick) : 0;
}

static void create(void) {
  icp_rows_create();
  tick = icp_tick_length();
}

static void begin(profile_thread *t, uint32_t place, uint64_t now);

/* The regions in which the thread is go on. */
static void go_on(profile_thread *t, const uint16_t *places, uint32_t count,
                  uint64_t now) {
  for (uint32_t i = 0; i < count; i++) {
    begin(t, places[i], now);
    if (t->depth > ICP_DEPTH_MOST) continue;
    open_region *o = &t->open[t->depth - 1];
    o->continues = true;
    o->cpu_before = icp_usage_now().cpu;
  }
}

bool icp_profile_start(uint32_t number, bool watched, const uint16_t *open,
                       uint32_t count) {
  tsn_guard guard;
  tsn_guard_enter(&guard);
  pthread_once(&once, create);
  uint64_t now = icp_ticks();
  uint32_t root = icp_row_of_thread(number, watched);
  tsn_guard_leave(&guard);
  profile_thread *t = icp_own_part(ICP_OWN_PROFILE, sizeof *t);
  if (root == NONE || !t) return false;
  atomic_store_explicit(&icp_has_totals, true, memory_order_relaxed);
  uint64_t moment = icp_now();
  if (!icp_rows[root].useful) icp_rows[root].useful = moment;
  *t = (profile_thread){.root = root,
                        .behind = NONE,
                        .watched = watched,
                        .began = now,
                        .started = now,
                        .before = moment - icp_rows[root].useful};
  go_on(t, open, count, now);
  return true;
}

/* The row of a region in a computation; `at` is that in the thread. */
static uint32_t row_in_computation(const profile_thread *t, uint32_t within,
                                   uint32_t at) {
  uint32_t outer = icp_rows[at].parent;
  uint32_t parent = outer == t->root ? within : row_in_computation(t, within, outer);
  return icp_row_in(parent, TSN_REGIONS_ROW_REGION, icp_rows[at].place);
}

/* Regions since the last computation, which belong to `within`, or to nothing. */
static void settle(profile_thread *t, uint32_t within, double scale) {
  for (uint32_t at = t->pending; at != NONE; at = icp_links[at].pending) {
    row_links *l = &icp_links[at];
    uint32_t to = within == NONE ? NONE : row_in_computation(t, within, at);
    if (to != NONE) {
      uint64_t elapsed = icp_rows[at].elapsed - l->elapsed;
      icp_rows[to].visits += icp_rows[at].visits - l->visits;
      icp_rows[to].elapsed += elapsed;
      icp_rows[to].useful += (uint64_t)((double)elapsed * scale);
    }
    l->visits = icp_rows[at].visits;
    l->elapsed = icp_rows[at].elapsed;
    l->is_pending = false;
  }
  t->pending = NONE;
}

/* There is no computation in front of the first call, which is MPI_Init. */
static void end_computation(profile_thread *t, uint32_t place, uint64_t now) {
  uint64_t elapsed = nanoseconds(now - t->began - (t->excluded - t->excluded_before));
  uint64_t useful = t->has_cpu && t->cpu < elapsed ? t->cpu : elapsed;
  bool has_cpu = t->has_cpu;
  t->has_cpu = false;
  t->computation = icp_row_in(t->root, TSN_REGIONS_ROW_COMPUTATION, place);
  if (t->computation != NONE) {
    row *r = &icp_rows[t->computation];
    r->visits++;
    r->elapsed += elapsed;
    r->useful += useful;
    if (has_cpu) r->cpu += t->cpu;
  }
  settle(t, t->computation, elapsed ? (double)useful / (double)elapsed : 1);
}

static void begin(profile_thread *t, uint32_t place, uint64_t now) {
  bool is_call = icp_place_is_call(place);
  if (is_call && t->depth == 0 && t->watched) end_computation(t, place, now);
  if (t->depth++ >= ICP_DEPTH_MOST) return;
  open_region *o = &t->open[t->depth - 1];
  *o = (open_region){.begin = now, .excluded = t->excluded, .is_call = is_call};
  t->behind = NONE;
  if (is_call) {
    o->row = place;
    icp_rows[t->root].cpu = 1;
    return;
  }
  uint32_t outer = t->depth > 1 && !o[-1].is_call ? o[-1].row : t->root;
  o->row = icp_row_in(outer, TSN_REGIONS_ROW_REGION, place);
}

static void end_call(profile_thread *t, const open_region *o, uint64_t now) {
  uint64_t elapsed = now - o->begin;
  t->excluded += elapsed;
  icp_rows[t->root].waiting += nanoseconds(elapsed);
  icp_rows[t->root].cpu = 0;
  if (t->depth != 0) return;
  if (t->computation != NONE) {
    icp_rows[t->computation].waiting += nanoseconds(elapsed);
  }
  t->began = now;
  t->behind = o->row;
  t->excluded_before = t->excluded;
}

/* A visit that was measured stands for those since the one before, which were not. */
static void add_cpu(const open_region *o) {
  row_links *l = &icp_links[o->row];
  l->unmeasured += !o->cpu && !o->continues;
  if (!o->cpu) return;
  icp_rows[o->row].cpu += o->cpu * (1 + l->unmeasured);
  l->unmeasured = 0;
}

static void end(profile_thread *t, uint64_t now) {
  if (t->depth == 0 || --t->depth >= ICP_DEPTH_MOST) return;
  const open_region *o = &t->open[t->depth];
  if (o->is_call) {
    end_call(t, o, now);
    return;
  }
  if (o->row == NONE) return;
  uint64_t elapsed = nanoseconds(now - o->begin - (t->excluded - o->excluded));
  row *r = &icp_rows[o->row];
  r->visits += !o->continues;
  r->elapsed += elapsed;
  r->useful += o->cpu ? o->cpu : elapsed;
  add_cpu(o);
  r->waiting += nanoseconds(t->excluded - o->excluded);
  if (!t->watched || icp_links[o->row].is_pending) return;
  icp_links[o->row].is_pending = true;
  icp_links[o->row].pending = t->pending;
  t->pending = o->row;
}

static void note_event(const profile_thread *t, uint64_t now) {
  row *root = &icp_rows[t->root];
  root->visits++;
  root->elapsed = t->before + nanoseconds(now - t->started);
}

/* The child of a fork shares the file. */
void icp_profile_event(uint32_t kind, uint32_t place) {
  if (!icp_recording()) return;
  profile_thread *t = own_profile();
  uint64_t now = icp_ticks();
  note_event(t, now);
  if (kind == TSN_REGIONS_BEGIN) begin(t, place, now);
  if (kind == TSN_REGIONS_END) end(t, now);
}

bool icp_profile_continue(uint32_t place, uint64_t age) {
  if (!icp_recording()) return false;
  profile_thread *t = own_profile();
  uint64_t now = icp_ticks();
  if (t->depth || t->behind != place || now - t->began >= age) return false;
  note_event(t, now);
  t->open[t->depth++] = (open_region){
      .begin = t->began, .excluded = t->excluded, .row = place, .is_call = true};
  icp_rows[t->root].cpu = 1;
  return true;
}

void icp_profile_cpu(uint64_t nanoseconds) {
  profile_thread *t = own_profile();
  if (t->depth == 0) {
    t->cpu = nanoseconds;
    t->has_cpu = true;
  } else if (t->depth <= ICP_DEPTH_MOST) {
    open_region *o = &t->open[t->depth - 1];
    o->cpu = o->continues ? icp_usage_now().cpu - o->cpu_before : nanoseconds;
  }
}

bool icp_profile_beat(bool anew) {
  uint64_t now = icp_now();
  if (!icp_recording()) return true;
  uint32_t root = own_profile()->root;
  if (anew) icp_sample_anew(root, now);
  return icp_sample_beat(root, now);
}
