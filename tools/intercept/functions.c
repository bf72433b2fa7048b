/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of a program that is built with -finstrument-functions: the compiler puts a
 * call of __cyg_profile_func_enter() at the beginning of each, and of _exit() at its end.
 *
 *   program   enter f   enter g              exit g         exit f
 *   events    ENTERED f ENTERED g            CPU  LEFT g    CPU  LEFT f
 *   frames    f         f g                  f              -
 *
 * A frame that is recorded has the processor time at which its function began. Functions
 * that longjmp() left are still on the stack when a function below them ends, and are
 * dropped then. A function that calls itself has one frame.
 *
 * A call that is recorded takes about 1 us, most of it for two readings of the processor
 * time. So calls are counted by function: one of which the latest COUNTED calls came
 * faster than RATE a second and thread is dropped: from now on its calls cost a lookup,
 * and the reader leaves it out as a whole. So is a function that is open already, since
 * its time would count twice, and one within DEEPEST others.
 *
 *   calls of f   1 ........ COUNTED ........ 2 COUNTED ........
 *   clock        read       read: at least COUNTED / RATE later?
 *
 * The first function begins the run, as a parallel region does. In a signal handler that
 * interrupts this code nothing is recorded: the lock of the places may be taken. */
#include <time.h>

#include "events.h"
#include "runtime.h"

enum { FRAMES = 256, DEEPEST = 32, COUNTED = 512, RATE = 10000 };

typedef struct {
  uintptr_t function;
  uint32_t place;
  uint32_t again; /* calls of itself that it is in */
  bool is_recorded;
} frame;

/* A frame that is recorded. */
typedef struct {
  uint32_t place;
  icp_usage began;
} open_function;

/* Frames above the FRAMES-th are counted only. */
typedef struct {
  bool is_busy;
  uint32_t depth, beyond, recorded;
  open_function open[DEEPEST];
  frame frame[FRAMES];
} function_stack;

/* By place. */
typedef struct {
  _Atomic uint32_t calls;
  _Atomic bool is_dropped;
  _Atomic int64_t since; /* coarse clock when they were counted last */
} call_count;

static call_count counts[TSN_REGIONS_PLACES_MAX];

static int64_t coarse_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void record(uint32_t place, uint32_t what) {
  icp_record(TSN_REGIONS_FUNCTION, place, what);
}

/* Whether this call is one too many; the last place stands for any number of functions.
 */
static bool is_dropped(uint32_t place) {
  call_count *c = &counts[place];
  if (atomic_load_explicit(&c->is_dropped, memory_order_relaxed)) return true;
  if (place == TSN_REGIONS_PLACES_MAX - 1) return true;
  uint32_t calls = atomic_fetch_add_explicit(&c->calls, 1, memory_order_relaxed);
  if (ICP_LIKELY(calls % COUNTED != 0)) return false;
  int64_t now = coarse_clock();
  int64_t elapsed = now - atomic_exchange_explicit(&c->since, now, memory_order_relaxed);
  int64_t team = icp_me.state.team ? icp_me.state.team : 1;
  if (calls == 0 || elapsed >= (int64_t)COUNTED * 1000000000 / RATE / team) return false;
  atomic_store_explicit(&c->is_dropped, true, memory_order_relaxed);
  record(place, TSN_REGIONS_DROPPED);
  return true;
}

static bool is_open(const function_stack *s, uint32_t place) {
  uint32_t i = 0;
  while (i < s->recorded && s->open[i].place != place) i++;
  return i < s->recorded;
}

static void enter(function_stack *s, uintptr_t function) {
  if (s->beyond) {
    s->beyond++;
    return;
  }
  if (s->depth && s->frame[s->depth - 1].function == function) {
    s->frame[s->depth - 1].again++;
    return;
  }
  if (s->depth == FRAMES) {
    s->beyond++;
    return;
  }
  uint32_t place = icp_place(function, TSN_REGIONS_BEGIN, false);
  if (is_dropped(place)) return;
  frame *f = &s->frame[s->depth++];
  *f = (frame){.function = function, .place = place};
  if (s->recorded == DEEPEST || is_open(s, place)) return;
  f->is_recorded = true;
  open_function *o = &s->open[s->recorded++];
  o->place = place;
  record(place, TSN_REGIONS_ENTERED);
  o->began = icp_usage_now();
}

/* A function that was dropped, or entered before the run began, has no frame. */
static void leave(function_stack *s, uintptr_t function) {
  uint32_t k = s->depth;
  if (s->beyond) {
    s->beyond--;
    return;
  }
  while (k > 0 && s->frame[k - 1].function != function) k--;
  if (k == 0) return;
  while (s->depth > k) s->recorded -= s->frame[--s->depth].is_recorded;
  frame *f = &s->frame[k - 1];
  if (f->again) {
    f->again--;
    return;
  }
  s->depth--;
  if (!f->is_recorded) return;
  icp_record_usage(&s->open[--s->recorded].began);
  record(f->place, TSN_REGIONS_LEFT);
}

/* The functions of a thread that is neither watched nor in a team must not look like
 * those of the watched thread. Its regions keep their numbers. */
typedef void take_step(function_stack *s, uintptr_t function);

static void take_outside(function_stack *s, const void *function, take_step *step) {
  uint32_t number = icp_me.state.number;
  icp_me.state.number = icp_foreign_number();
  step(s, (uintptr_t)function);
  icp_me.state.number = number;
}

static void take(const void *function, take_step *step) {
  if (!ICP_LIKELY(icp_wants_functions) || !icp_recording()) return;
  function_stack *s = icp_own_part(ICP_OWN_FUNCTIONS, sizeof *s);
  if (!s || s->is_busy) return;
  s->is_busy = true;
  atomic_signal_fence(memory_order_seq_cst);
  if (ICP_LIKELY(icp_me.watched || icp_me.state.depth)) {
    step(s, (uintptr_t)function);
  } else {
    take_outside(s, function, step);
  }
  atomic_signal_fence(memory_order_seq_cst);
  s->is_busy = false;
}

ENTRY void __cyg_profile_func_enter(void *function, void *site);
ENTRY void __cyg_profile_func_enter(void *function, void *site) {
  (void)site;
  take(function, enter);
}

ENTRY void __cyg_profile_func_exit(void *function, void *site);
ENTRY void __cyg_profile_func_exit(void *function, void *site) {
  (void)site;
  take(function, leave);
}
