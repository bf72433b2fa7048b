/* SPDX-License-Identifier: BSD-3-Clause */
/* Which thread is watched for iterations: at first the one that opens the first region. It
 * may only have been a warm-up, and sleep or end, while another thread runs the main loop.
 *
 *   the watched thread        visits odd, is `owner` me?  region   visits even
 *   another one that opens    `visits` stays even and the same: REGIONS times, for a PAUSE
 *   an outermost region       owner = me; a SETTLE later still even: it is watched
 *                                                        odd:        owner = the one before
 *
 * Only the watched thread writes icp_watched, but for `owner`. The one before shows that it
 * is in a region before it reads `owner`. So whoever takes its place sees either that, or
 * that it will find the new owner, as soon as the processor has made its store visible, which
 * takes less than a microsecond: no fence burdens each region for what is needed once a run.
 *
 * Once iterations were found, they are left after a second only. In a program that calls MPI
 * iterations are those of the calls too: there the watched thread must have ended.
 *
 * Iterations are counted in the outermost regions of the watched thread; where these show no
 * loop, in the worksharing constructs of the region that it is in. --heartbeat-every replaces the
 * search by a count.
 *
 * --baseline P:K runs the K first iterations that are found with P threads. The number
 * is put into each region's request, so that the program's own settings return by
 * themselves; by OMPT, which cannot change a request, it is set in the runtime and
 * restored. */

#include "asked.h"
#include "intercept.h"
#include "runtime.h"
#include "section.h"

/* Threads of the baseline, and iterations to measure; 0: none. */
static unsigned baseline_threads, baseline_left;
/* LLVM: what the program had, and the runtime in which it is changed; 0: nothing to restore. */
static int restore_threads;
static uint16_t changed;
/* Regions since the last beat, with --heartbeat-every. */
static uint32_t regions_since;
/* The main loop was named, and its place has not been met. */
static bool expects_loop;
/* The runtime of the latest region to which a baseline may apply: the number of threads is
 * changed and restored in one runtime. */
static uint16_t latest;

/* The number of the thread whose regions readers show: of the one that is watched, and when the program
 * ends of the one that was busiest in its regions. */
static uint32_t shown_opener;

static void show_opener(uint32_t opener) {
  if (opener == shown_opener) return;
  shown_opener = opener;
  tsn_record_set_opener(icp_set.record, opener);
}

void icp_watch_start(uint16_t runtime) {
  if (!icp_me.own->opener) icp_own_opener();
  if (!runtime) { /* calls of MPI are in the first stream */
    icp_me.own->opener = 1;
    icp_me.state.number = 0;
  }
  show_opener(icp_me.own->opener - 1);
  latest = runtime;
  baseline_threads = icp_asked.baseline;
  baseline_left = icp_asked.baseline_iterations;
  expects_loop = *icp_asked.loop != '\0';
  if (expects_loop) {
    icp_places_expect(icp_asked.loop);
    icp_iterations_name(&icp_watched.of_regions, ICP_NO_ANCHOR);
    icp_iterations_name(&icp_watched.of_shares, ICP_NO_ANCHOR);
  }
  icp_set.beats_at_tasks = !icp_asked.heartbeat_every && !expects_loop;
  icp_watched.special = icp_asked.heartbeat_every || baseline_threads || expects_loop;
  atomic_store(&icp_watched.owner, &icp_me);
}

enum { REGIONS = 16, PAUSE = 2000000, LONG_PAUSE = 1000000000, SETTLE = 1000000 };

/* Readers take the iterations from the events, unless they are named or counted. */
static void recount(void *unused) {
  (void)unused;
  if (!icp_asked.heartbeat_every && !*icp_asked.loop) icp_mark_run("recount");
}

/* Another thread is shown, which opened regions before: its beats, and the events that were looked at, lack
 * these. */
static void change_opener(void *opener) {
  show_opener(*(const uint32_t *)opener);
  icp_watched.of_regions.left_out = icp_watched.of_shares.left_out = true;
  recount(NULL);
}

static bool take(const char *why) {
  static atomic_flag has_reported = ATOMIC_FLAG_INIT;
  uint32_t opener = icp_me.own->opener - 1;
  if (opener != shown_opener) icp_section(change_opener, &opener);
  if (icp_iteration()) icp_watched.of_regions.restarts = true;
  icp_me.own->before_me = NULL;
  icp_me.watched = true;
  if (why && icp_me.own->beside < REGIONS && !atomic_flag_test_and_set(&has_reported)) {
    ICP_REPORT(0,
               "iterations are looked for in another thread than the first that opened a "
               "region, which %s",
               why);
  }
  return icp_watch_begins();
}

/* Not of one that goes on where another one paused or ended. */
static void report_several(icp_own *own) {
  static atomic_flag has_reported = ATOMIC_FLAG_INIT;
  if (++own->beside != REGIONS || atomic_flag_test_and_set(&has_reported)) return;
  ICP_REPORT(0,
             "several threads open regions of their own: iterations and regions are "
             "those of the one that works most in its regions");
}

void icp_sample_me(void) {
  icp_own *own = icp_me.own;
  if (own->sampled == icp_me.state.number) return;
  own->sampled = icp_me.state.number;
  tsn_record_enter(icp_set.record, (int32_t)own->sampled);
}

bool icp_watch_moves(void) {
  icp_own *own = icp_me.own;
  icp_thread *owner = atomic_load(&icp_watched.owner), *nobody = NULL;
  if (!owner) {
    return atomic_compare_exchange_strong(&icp_watched.owner, &nobody, &icp_me) &&
           take("has ended");
  }
  if (icp_watched.has_calls || icp_me.is_lost) return false;
  uint32_t visits = atomic_load(&icp_watched.visits);
  bool is_mine = owner == &icp_me;
  if (is_mine && !own->before_me) return take(NULL); /* another one gave it back */
  if (visits & 1 || visits != own->visits) {
    if (is_mine) atomic_store(&icp_watched.owner, own->before_me);
    own->before_me = NULL;
    own->visits = visits;
    own->alone = 0;
    own->since = tsn_clock_monotonic();
    report_several(own);
    return false;
  }
  if (++own->alone < REGIONS) return false;
  uint64_t pause = tsn_clock_monotonic() - own->since;
  if (is_mine) return pause >= SETTLE && take("opens none any more");
  if (pause < (icp_iteration() ? LONG_PAUSE : PAUSE)) return false;
  own->before_me = owner;
  own->since += pause;
  (void)atomic_compare_exchange_strong(&icp_watched.owner, &owner, &icp_me);
  return false;
}

void icp_watch_ends(void) {
  icp_thread *me = &icp_me;
  (void)atomic_compare_exchange_strong(&icp_watched.owner, &me, NULL);
}

/* The parts of a region that the watched thread opened lie between its barriers, at
 * which the thread waits. Those of nested regions are not recorded, so that this state
 * needs no stack. */
icp_usage icp_begin_parts(void) {
  icp_usage now = icp_usage_now();
  if (icp_me.state.role != ICP_OTHER) {
    icp_me.own->part = now;
    icp_me.has_parts = false;
  }
  return now;
}

/* At the end of a region: its last part, if it has several, then the whole. */
uint64_t icp_record_work(const icp_usage *began) {
  icp_usage now = icp_usage_now();
  if (icp_me.state.role != ICP_OTHER && icp_me.has_parts) {
    icp_record_between(&icp_me.own->part, &now);
  }
  icp_record_between(began, &now);
  return now.cpu;
}

/* By OMPT the frames are those of callbacks, which say nothing; so does another stack, which
 * is far away. */
void icp_end_left_regions(const char *here) {
  enum { FAR = 1 << 26 };
  if (icp_set.by_ompt || here <= icp_me.frame || here - icp_me.frame >= FAR) return;
  for (uint32_t n = icp_me.state.depth; n > 0; n--) {
    bool is_known = icp_me.open > 0 && icp_me.open <= ICP_DEPTH_MOST;
    uint32_t place = is_known ? icp_me.own->place[icp_me.open - 1] : 0;
    if (icp_me.open > 0) icp_record(TSN_REGIONS_END, place, icp_me.state.team);
  }
  icp_me.state = icp_me.own->outside;
}

/* Run the first iterations that are found with the baseline's threads. Before the first
 * of them begins, nothing is changed: the regions in front of the loop are not part of
 * it. */
static void measure_baseline(bool begins, unsigned *threads) {
  if (begins) {
    baseline_left--;
    if (icp_set.by_ompt && !restore_threads) {
      changed = latest;
      restore_threads = icp_runtimes[changed].max_threads();
      icp_runtimes[changed].set_threads((int)baseline_threads);
    }
  }
  if (baseline_left < icp_asked.baseline_iterations) *threads = baseline_threads;
}

void icp_restart(icp_iterations *iterations) {
  iterations->restarts = false;
  if (icp_iteration() > 1) {
    atomic_store_explicit(&icp_watched.iteration, 0, memory_order_relaxed);
  }
  icp_watched.first = icp_iteration() + 1;
  icp_watched.early = iterations->early;
  /* Totals have no beats from before a restart; then no thread gets early ones. */
  if (atomic_load_explicit(&icp_has_totals, memory_order_relaxed)) {
    icp_watched.early.count = 0;
  }
  if (!icp_asked.baseline_iterations || icp_asked.heartbeat_every) return;
  baseline_threads = icp_asked.baseline;
  baseline_left = icp_asked.baseline_iterations;
  icp_watched.special = true;
}

/* The moment of an iteration is that of its first event in the watched thread. A record
 * with a time in the past would look like a restart of the clock, so that the tag says
 * how long ago it was: before `now`, one reading of the clock for all, so that a thread that loses
 * its processor here shifts all of them and not one behind the next. */
static bool write_passed(uint64_t moment, uint64_t now) {
  enum { MICROSECOND = 1000 };
  const uint32_t bit = UINT32_C(1) << TSN_REGIONS_EARLY_BIT;
  uint64_t ago = (now - moment) / MICROSECOND;
  return ago < bit && icp_may_write() &&
         tsanom_record_beat(icp_set.record, (int32_t)icp_me.state.number,
                            bit | (uint32_t)ago) == TSANOM_OK;
}

void icp_write_early(uint32_t iteration) {
  const icp_early *early = &icp_watched.early;
  if (iteration != icp_watched.first || icp_me.is_over) return;
  uint64_t first = early->count > ICP_EARLY ? early->count - ICP_EARLY : 0;
  uint64_t now = tsn_clock_monotonic();
  bool is_written = true;
  for (uint64_t k = first; k < early->count; k++) {
    is_written &= write_passed(early->moment[k % ICP_EARLY], now);
  }
  if (!is_written) icp_section(recount, NULL);
}

/* An iteration of worksharing begins. */
static void note_visit(void) {
  uint32_t visit = atomic_load_explicit(&icp_watched.visits, memory_order_relaxed);
  if (icp_watched.of_shares.restarts) icp_watched.begun = icp_watched.apart = 0;
  icp_watched.apart += icp_watched.begun++ && visit != icp_watched.visit;
  icp_watched.visit = visit;
}

/* The iterations that the events as a whole show, of the level that tsanom_speedup_choose_level()
 * chooses. If half of those of worksharing begin in regions of their own, they are those of regions,
 * or none. False: what the whole shows is not known. */
static bool look_at_whole(icp_whole *whole) {
  const icp_iterations *regions = &icp_watched.of_regions,
                       *shares = &icp_watched.of_shares;
  bool has_shares = 2 * icp_watched.apart < icp_watched.begun;
  icp_whole share = {.count = 0};
  *whole = share;
  if (regions->count && !icp_iterations_look_last(regions, whole)) return false;
  if (has_shares && !icp_iterations_look_last(shares, &share)) return false;
  if (share.covered > 2 * whole->covered) *whole = share;
  return true;
}

/* Iterations of the watched thread that readers show. */
static size_t count_shown(void) {
  uint64_t early = icp_watched.early.count;
  return (early < ICP_EARLY ? early : ICP_EARLY) + icp_iteration() + 1 -
         icp_watched.first;
}

/* Beats of the watched thread that replace all before. Those of other threads are not known; readers
 * take them from the events, as all if some are too old. */
static void write_anew(const icp_whole *whole) {
  uint64_t now = tsn_clock_monotonic();
  for (size_t i = 0; i < whole->count; i++) {
    if (!write_passed((uint64_t)whole->moment[whole->iteration[i].first], now)) return;
  }
}

/* Whether the beats may be of several loops: a loop that ended is followed by the next one. */
static bool has_moved(void) {
  return icp_watched.of_regions.moved || icp_watched.of_shares.moved;
}

/* One more or less is the last one, which ended or did not. Totals lack the iterations from before
 * the loop was found, so that their number does not compare, and can have no others. */
static void look_last(void *unused) {
  (void)unused;
  icp_whole whole;
  size_t shown = count_shown();
  if (icp_asked.heartbeat_every || *icp_asked.loop) return;
  if (!look_at_whole(&whole)) {
    if (has_moved()) icp_mark_run("recount");
    return;
  }
  if (whole.count && whole.count <= shown + 1 && shown <= whole.count + 1) return;
  if (whole.count && (icp_me.is_over || atomic_load(&icp_has_totals))) return;
  if (whole.count) {
    write_anew(&whole);
    icp_mark_run("recount");
    ICP_REPORT(
        0,
        "%zu iterations replace the %zu that were counted: the events of the whole "
        "run show another main loop (--beat-at FUNCTION names one)",
        whole.count, shown);
    return;
  }
  icp_mark_run("time-beats");
  ICP_REPORT(
      0,
      "the %zu iterations that were counted are taken back: the events of the whole run "
      "do not show that their loop is the main loop (--beat-at FUNCTION names one)",
      shown);
}

/* The number of the thread that was busiest in its regions; of equal ones the one that is shown. */
static uint32_t find_busiest(void) {
  uint32_t busiest = shown_opener;
  for (uint32_t i = 0; i + 1 < TSN_REGIONS_OPENERS; i++) {
    if (atomic_load(&icp_openers[i].cpu) > atomic_load(&icp_openers[busiest].cpu))
      busiest = i;
  }
  return busiest;
}

/* Not in the child of a fork; and not where --max-size has ended the recording: the run ends
 * there, and what the program did later is not in it. The watched thread alone may look. */
void icp_watch_last(void) {
  if (atomic_load(&icp_set.phase) != ICP_RECORDING) return;
  uint32_t busiest = icp_watched.has_calls ? shown_opener : find_busiest();
  if (busiest != shown_opener) icp_section(change_opener, &busiest);
  if (icp_iteration()) icp_section(icp_me.watched ? look_last : recount, NULL);
}

static void end_baseline(void) {
  baseline_threads = 0;
  icp_watched.special = icp_asked.heartbeat_every != 0;
  if (restore_threads) icp_runtimes[changed].set_threads(restore_threads);
  restore_threads = 0;
}

/* Follow the place of --loop, which this is, and nothing else. */
static void meet_loop(icp_iterations *iterations, uint32_t place) {
  if (place != atomic_load(&icp_expected_place)) return;
  icp_iterations_name(iterations, place);
  expects_loop = false;
}

/* A region of the watched thread where icp_watched.special is set. */
void icp_open_specially(uint32_t place, unsigned *threads) {
  if (icp_asked.heartbeat_every) {
    if (regions_since == 0) icp_next_iteration();
    if (++regions_since == icp_asked.heartbeat_every) regions_since = 0;
    if (!baseline_threads) return;
  }
  if (expects_loop) {
    meet_loop(&icp_watched.of_regions, place);
    icp_watched.special = icp_asked.heartbeat_every || baseline_threads || expects_loop;
  }
  bool begins = icp_iterations_push(&icp_watched.of_regions, place);
  if (begins && !icp_asked.heartbeat_every) icp_begin_iteration(&icp_watched.of_regions);
  if (!baseline_threads) return;
  if (icp_place_runtime[place]) latest = icp_place_runtime[place];
  if (begins && baseline_left == 0) {
    end_baseline();
  } else {
    measure_baseline(begins, threads);
  }
}

/* An optimizer turns the last call of a region's function into a jump (gcc -O2: that of
 * GOMP_barrier, GOMP_loop_end). Then the call returns to whatever called that function:
 * this library, or the runtime. So the place is the function instead, and the construct:
 * address + 1 + construct, because a call is looked up one byte before the address that
 * it returns to, which lies in the function. */
static uint32_t place_of_share(const void *return_address, int construct) {
  uintptr_t address = (uintptr_t)return_address;
  if (icp_is_own(return_address) ||
      icp_is_in(&icp_runtimes[icp_me.state.runtime].code, return_address)) {
    address = icp_watched.region + 1 + (uintptr_t)construct;
  }
  return icp_place(address, TSN_REGIONS_SHARE, true);
}

void icp_share(const void *return_address, int construct) {
  bool is_leader = icp_me.state.role == ICP_LEADER;
  if (icp_me.state.role == ICP_OTHER || !icp_recording()) return;
  icp_waits();
  if (!is_leader && !icp_set.want_cpu) return;
  uint32_t place = place_of_share(return_address, construct);
  if (icp_set.want_cpu) {
    icp_record_usage(&icp_me.own->part);
    icp_me.has_parts = true;
  }
  icp_record(TSN_REGIONS_SHARE, place, icp_me.state.team);
  if (!is_leader || icp_asked.heartbeat_every) return;
  if (expects_loop) meet_loop(&icp_watched.of_shares, place);
  /* Worksharing shows the iterations where the regions do not: this one is not of a loop
   * of regions. */
  bool begins = icp_iterations_push(&icp_watched.of_shares, place);
  bool is_of_regions = icp_set_has(icp_watched.of_regions.member, icp_watched.place);
  if (!begins || is_of_regions) return;
  note_visit();
  icp_begin_iteration(&icp_watched.of_shares);
}

/* Behind the barrier at which a part ended, the next one begins. */
void icp_shared(void) {
  if (icp_me.state.role == ICP_OTHER || !icp_recording()) return;
  icp_waited();
  icp_beat(icp_iteration());
  if (icp_set.want_cpu) icp_me.own->part = icp_usage_now();
}

/* ---- tasks and chunks
 *
 * Explicit tasks are counted by their functions, by the thread that executes them. A
 * record for each would take longer than a small task. So a thread adds up, for the
 * latest function, and writes the sum before it starts with another function, or when it
 * is a 64th of all tasks of the thread, at least one and at most 64: the sums of a run
 * that ends lack less than that.
 *
 * Where no main loop is followed, a thread beats every 64 tasks that it creates, and
 * every 16 chunks of dynamic loops that it takes in one region: its progress in a program
 * that has one region around everything. The tags of these beats are the thread's own, and
 * say that they are no iterations. When a loop is found, they begin anew as those of an inner
 * loop do. */

enum { TASKS_A_BEAT = 64, CHUNKS_A_BEAT = 16, TASKS_A_RECORD = 64 };

typedef struct {
  uint32_t place, pending; /* tasks of that place without a record yet */
  uint64_t count;          /* of all places */
  uint32_t beats;
} task_counts;

/* NULL: there is no memory for the thread. */
static task_counts *own_counts(void) {
  return icp_own_part(ICP_OWN_TASKS, sizeof(task_counts));
}

static void write_pending(task_counts *t) {
  if (t->pending) icp_record(TSN_REGIONS_TASK, t->place, t->pending);
  t->pending = 0;
}

static void beat(task_counts *t) {
  if (icp_set.beats_at_tasks && !icp_iteration()) {
    icp_write_beat(UINT32_C(1) << TSN_REGIONS_STEP_BIT | ++t->beats);
  }
}

static void count_task(task_counts *t, uint32_t place) {
  uint64_t enough = ++t->count / TASKS_A_RECORD;
  if (place != t->place) write_pending(t);
  t->place = place;
  t->pending++;
  if (t->pending >= TASKS_A_RECORD || t->pending >= enough) write_pending(t);
  if (t->count % TASKS_A_BEAT == 0) beat(t);
}

/* At the end of a region, threads execute tasks, which may create others, after they have
 * left it: there the number of a member is the runtime's. */
uint16_t icp_task(const void *function, int family) {
  uint16_t runtime;
  if (!icp_recording_at(function, family)) return icp_runtime_at(function, family);
  uint32_t place = icp_place((uintptr_t)function, TSN_REGIONS_TASK, false);
  if (!icp_use_runtime(place, function, family, &runtime)) return runtime;
  icp_state before = icp_me.state;
  if (before.depth == 0) {
    icp_me.state.number = (uint32_t)icp_runtimes[runtime].thread_number() |
                          (icp_me.own->sampled & ~(uint32_t)UINT16_MAX);
  }
  task_counts *t = own_counts();
  if (t) count_task(t, place);
  icp_me.state = before;
  return runtime;
}

/* Of the team of the watched thread, as iterations are. */
void icp_chunk(void) {
  if (icp_me.state.role == ICP_OTHER || !icp_recording()) return;
  if (++icp_me.chunks % CHUNKS_A_BEAT != 0) return;
  task_counts *t = own_counts();
  if (t) beat(t);
}
