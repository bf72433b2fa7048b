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

#include "intercept.h"
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
  uint32_t number; /* of a thread outside of teams; 0: none yet */
  open_function open[DEEPEST];
  frame frame[FRAMES];
} function_stack;

static _Thread_local function_stack mine ICP_INITIAL_EXEC;

/* By place. */
typedef struct {
  _Atomic uint32_t calls;
  _Atomic bool is_dropped;
  _Atomic int64_t since; /* coarse clock when they were counted last */
} call_count;

static call_count counts[TSANOM_REGIONS_PLACES_MAX];

static int64_t coarse_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void record(uint32_t place, uint32_t what) {
  icp_record(TSANOM_REGIONS_FUNCTION, place, what);
}

/* Whether this call is one too many; the last place stands for any number of functions.
 */
static bool is_dropped(uint32_t place) {
  call_count *c = &counts[place];
  if (atomic_load_explicit(&c->is_dropped, memory_order_relaxed)) return true;
  if (place == TSANOM_REGIONS_PLACES_MAX - 1) return true;
  uint32_t calls = atomic_fetch_add_explicit(&c->calls, 1, memory_order_relaxed);
  if (ICP_LIKELY(calls % COUNTED != 0)) return false;
  int64_t now = coarse_clock();
  int64_t elapsed = now - atomic_exchange_explicit(&c->since, now, memory_order_relaxed);
  int64_t team = icp_me.state.team ? icp_me.state.team : 1;
  if (calls == 0 || elapsed * RATE * team >= (int64_t)COUNTED * 1000000000) return false;
  atomic_store_explicit(&c->is_dropped, true, memory_order_relaxed);
  record(place, TSANOM_REGIONS_DROPPED);
  return true;
}

static bool is_open(uint32_t place) {
  uint32_t i = 0;
  while (i < mine.recorded && mine.open[i].place != place) i++;
  return i < mine.recorded;
}

static void enter(uintptr_t function) {
  if (mine.depth && mine.frame[mine.depth - 1].function == function) {
    mine.frame[mine.depth - 1].again++;
    return;
  }
  uint32_t place = icp_place(function, TSANOM_REGIONS_BEGIN, false);
  if (is_dropped(place)) return;
  if (mine.depth == FRAMES) {
    mine.beyond++;
    return;
  }
  frame *f = &mine.frame[mine.depth++];
  *f = (frame){.function = function, .place = place};
  if (mine.recorded == DEEPEST || is_open(place)) return;
  f->is_recorded = true;
  open_function *o = &mine.open[mine.recorded++];
  o->place = place;
  record(place, TSANOM_REGIONS_ENTERED);
  o->began = icp_usage_now();
}

/* A function that was dropped, or entered before the run began, has no frame. */
static void leave(uintptr_t function) {
  uint32_t k = mine.depth;
  if (mine.beyond) {
    mine.beyond--;
    return;
  }
  while (k > 0 && mine.frame[k - 1].function != function) k--;
  if (k == 0) return;
  while (mine.depth > k) mine.recorded -= mine.frame[--mine.depth].is_recorded;
  frame *f = &mine.frame[k - 1];
  if (f->again) {
    f->again--;
    return;
  }
  mine.depth--;
  if (!f->is_recorded) return;
  icp_record_usage(&mine.open[--mine.recorded].began);
  record(f->place, TSANOM_REGIONS_LEFT);
}

/* The functions of a thread that is neither watched nor in a team must not look like
 * those of the watched thread. Its regions keep their numbers. */
static void take_outside(const void *function, void (*step)(uintptr_t)) {
  uint32_t number = icp_me.state.number;
  if (!mine.number) mine.number = icp_foreign_number();
  icp_me.state.number = mine.number;
  step((uintptr_t)function);
  icp_me.state.number = number;
}

static void take(const void *function, void (*step)(uintptr_t)) {
  if (!ICP_LIKELY(icp_wants_functions) || mine.is_busy) return;
  mine.is_busy = true;
  atomic_signal_fence(memory_order_seq_cst);
  if (icp_recording()) {
    if (ICP_LIKELY(icp_me.watched || icp_me.state.depth)) {
      step((uintptr_t)function);
    } else {
      take_outside(function, step);
    }
  }
  atomic_signal_fence(memory_order_seq_cst);
  mine.is_busy = false;
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
